//! `completions` and `man`: one script a shell, one page a command.

use crate::common::{folder, turnpike, turnpike_in};

const COMMANDS: [&str; 17] = [
    "search",
    "generate",
    "replay",
    "show",
    "simulate",
    "reduce",
    "compare",
    "check",
    "lab",
    "linearise",
    "info",
    "strategies",
    "bench",
    "completions",
    "convert",
    "header",
    "man",
];

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = turnpike(&["completions", shell]).expect(0, &COMMANDS);
        assert!(ran.stderr.is_empty());
    }
    turnpike(&["completions", "bush"]).expect(2, &["bash"]);
    turnpike(&["completions"]).expect(2, &["SHELL"]);
    let report = turnpike(&["completions", "bash", "--format", "json"]).expect(0, &[]).json();
    assert!(report["script"].as_str().expect("text").contains("turnpike"));
}

#[test]
fn every_command_has_a_page() {
    let folder = folder(&[("file", "")]);
    turnpike_in(folder.path(), &["man", "-o", "pages/man1"], "").expect(0, &["wrote 28 pages"]);
    for command in COMMANDS {
        let path = folder.path().join(format!("pages/man1/turnpike-{command}.1"));
        let page = std::fs::read_to_string(&path).expect("a page");
        assert!(page.contains(".SH NAME") && page.contains(&format!("turnpike\\-{command}")), "{page}");
    }
    turnpike(&["man"]).expect(0, &[".TH", "turnpike", "Exit codes"]);
    turnpike_in(folder.path(), &["man", "-o", "file/pages"], "").expect(2, &["file/pages"]);
}

#[test]
fn the_header_for_programs_is_written() {
    let folder = folder(&[]);
    turnpike_in(folder.path(), &["header", "-o", "turnpike.h"], "").expect(0, &["wrote turnpike.h"]);
    let written = std::fs::read_to_string(folder.path().join("turnpike.h")).expect("the header");
    let printed = turnpike(&["header"]).expect(0, &["tp_toss", "VS_assert"]).stdout;
    assert_eq!(written, printed);
    let report = turnpike(&["header", "--format", "json"]).expect(0, &[]).json();
    assert_eq!(report["header"], written);
    turnpike_in(folder.path(), &["header", "-o", "no/such/folder"], "").expect(2, &["no/such/folder"]);
}
