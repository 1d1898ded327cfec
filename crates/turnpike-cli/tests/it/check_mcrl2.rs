//! `turnpike check` on mCRL2 specifications.

use crate::common::{json, turnpike};

#[test]
fn a_specification_without_mistakes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ok.mcrl2");
    std::fs::write(&path, "act a, b; proc P = a . P; init P;\n").expect("a file");
    let path = path.to_str().expect("text");
    turnpike(&["check", path])
        .expect(0, &["ok: ", "0 equations, 2 actions, 1 process", "1 summand", "1 initial transition"]);
    let value = json(0, &["check", path]);
    assert_eq!((&value["ok"], &value["summands"]), (&true.into(), &1.into()));
}

#[test]
fn all_mistakes_are_shown_where_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mistakes.mcrl2");
    std::fs::write(&path, "act a;\nproc P = a .;\ninit (x = 1) -> P;\n").expect("a file");
    let path = path.to_str().expect("text");
    turnpike(&["check", path]).expect(
        2,
        &[
            "expected a process, found `;`",
            "mistakes.mcrl2:2:13",
            "mistakes.mcrl2:3:9",
            "(x = 1) -> P",
            "to compare, write `==`",
        ],
    );
    let value = json(2, &["check", path]);
    let lines: Vec<_> =
        value["errors"].as_array().expect("errors").iter().map(|error| &error["line"]).collect();
    assert_eq!(lines, [2, 3]);
    turnpike(&["check", "no-such.mcrl2"]).expect(2, &["no-such.mcrl2"]);
}

#[test]
fn mistakes_of_sorts_are_shown_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sorts.mcrl2");
    std::fs::write(&path, "act a: Nat;\nproc P(n: Nat) = a(n == 1) . P(n + 1);\ninit P(0);\n")
        .expect("a file");
    let path = path.to_str().expect("text");
    turnpike(&["check", path]).expect(2, &["must have sort Nat, but has sort Bool", "sorts.mcrl2:2:20"]);
    turnpike(&["search", path]).expect(2, &["must have sort Nat, but has sort Bool", "sorts.mcrl2:2:20"]);
}

#[test]
fn equations_that_contradict_each_other_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.mcrl2");
    let text =
        "act a: Nat;\nmap f: Nat -> Nat;\nvar n: Nat;\neqn f(0) = 2;\n    f(n) = 1;\ninit a(f(0)) . delta;\n";
    std::fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("text");
    turnpike(&["check", path]).expect(0, &["ok: ", "warning: ", "disagrees", "odd.mcrl2:5:"]);
    assert_eq!(json(0, &["check", path])["warnings"].as_array().map(Vec::len), Some(1));
}
