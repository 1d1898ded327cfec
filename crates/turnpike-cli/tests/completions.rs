//! `completions` and `man`: one script a shell, one page a command.

mod common;

use common::{folder, turnpike, turnpike_in};

const COMMANDS: [&str; 15] = [
    "search",
    "generate",
    "replay",
    "show",
    "simulate",
    "reduce",
    "compare",
    "check",
    "linearise",
    "info",
    "strategies",
    "bench",
    "completions",
    "convert",
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
    turnpike_in(folder.path(), &["man", "-o", "pages/man1"], "").expect(0, &["wrote 16 pages"]);
    for command in COMMANDS {
        let path = folder.path().join(format!("pages/man1/turnpike-{command}.1"));
        let page = std::fs::read_to_string(&path).expect("a page");
        assert!(page.contains(".SH NAME") && page.contains(&format!("turnpike\\-{command}")), "{page}");
    }
    turnpike(&["man"]).expect(0, &[".TH", "turnpike", "Exit codes"]);
    turnpike_in(folder.path(), &["man", "-o", "file/pages"], "").expect(2, &["file/pages"]);
}
