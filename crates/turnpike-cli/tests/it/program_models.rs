//! The programs of the folder `models/programs` do what their heads say.
//!
//! They are compiled by the folder's own script. The head of a program states searches that are made here, so that neither can
//! change without the other:
//!
//! ```text
//!  * search: --strategy bfs -- 3 => deadlock steps=6
//!  * hooks: --strategy pos => assertion
//! ```
//!
//! `search` is about the plain program, `hooks` about the one in which memory is visible. The outcome is the kind of error that is
//! looked for and found, with the length of the witness where it is told; or `nothing`: no error of any kind was found; or `none`: there
//! is none, which was proved; or `anything`: turnpike only has to survive.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use crate::common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{json, turnpike};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/programs")
}

/// Where the compiled programs are; nothing when there is no compiler.
fn built() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        for compiler in ["gcc", "g++"] {
            if Command::new(compiler).arg("--version").output().is_err() {
                eprintln!("skipped: there is no {compiler}");
                return None;
            }
        }
        let target = tempfile::tempdir().expect("a folder");
        let output = Command::new(folder().join("build.sh")).arg(target.path()).output().expect("a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{told}");
        Some(target)
    });
    built.as_ref().map(tempfile::TempDir::path)
}

/// Names of all programs, and their sources, in order of their names.
fn programs() -> Vec<(String, PathBuf)> {
    let mut programs: Vec<(String, PathBuf)> = [folder(), folder().join("robust")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("the folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
        .map(|path| {
            let name = path.strip_prefix(folder()).expect("inside").with_extension("");
            (name.to_str().expect("text").to_owned(), path)
        })
        .collect();
    programs.sort();
    programs
}

/// What follows the keyword in the lines of the head that begin with it.
fn stated(source: &Path, keyword: &str) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("a program");
    let head = text.split("*/").next().unwrap_or_default();
    head.lines()
        .filter_map(|line| line.trim_start().strip_prefix("* ")?.strip_prefix(keyword)?.strip_prefix(": "))
        .map(str::to_owned)
        .collect()
}

/// Makes the search that a line states, and compares.
fn check(program: &Path, line: &str) {
    let here = format!("{}: {line}", program.display());
    let (options, outcome) = line.split_once("=> ").unwrap_or_else(|| panic!("{here}: no outcome"));
    let (flags, arguments) = options.trim().split_once("-- ").unwrap_or((options.trim(), ""));
    let mut outcome = outcome.split_whitespace();
    let kind = outcome.next().unwrap_or_else(|| panic!("{here}: no outcome"));
    let fine = ["nothing", "none", "anything"].contains(&kind);
    let mut all = vec!["search", "--program", program.to_str().expect("text")];
    all.extend(["--find", if fine { "any-error" } else { kind }]);
    all.extend(["--format", "json"]);
    all.extend(flags.split_whitespace());
    all.push("--");
    all.extend(arguments.split_whitespace());
    let ran = turnpike(&all);
    let report = ran.json();
    let verdict = report["verdict"].as_str().expect("a verdict");
    let expected: &[&str] = match kind {
        "nothing" => &["none", "inconclusive"],
        "none" => &["none"],
        "anything" => &["none", "inconclusive", "found"],
        _ => &["found"],
    };
    assert!(expected.contains(&verdict), "{here}: {}", ran.text());
    if let Some(steps) = outcome.next() {
        assert_eq!(steps, format!("steps={}", report["witness"]["length"]), "{here}");
    }
}

fn check_all(chosen: impl Fn(&str) -> bool) {
    let Some(built) = built() else { return };
    let mut lines = 0;
    for (name, source) in programs().into_iter().filter(|(name, _)| chosen(name)) {
        for (keyword, suffix) in [("search", ""), ("hooks", ".hooks")] {
            for line in stated(&source, keyword) {
                check(&built.join(format!("{name}{suffix}")), &line);
                lines += 1;
            }
        }
    }
    assert!(lines > 5, "only {lines} searches were found: is the extraction broken?");
}

#[test]
fn errors_are_found_as_stated() {
    check_all(|name| !name.ends_with("_ok") && !name.starts_with("robust"));
}

#[test]
fn nothing_is_found_in_fixed_twins() {
    check_all(|name| name.ends_with("_ok"));
}

#[test]
fn misbehaving_programs_are_outcomes() {
    check_all(|name| name.starts_with("robust"));
}

#[test]
fn every_program_is_described_and_every_error_has_a_twin() {
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("the table of programs");
    let programs = programs();
    assert!(programs.len() >= 29, "{programs:?}");
    for (name, source) in &programs {
        assert!(
            !stated(source, "search").is_empty() || !stated(source, "hooks").is_empty(),
            "{name} states no searches"
        );
        if name.starts_with("robust") {
            continue;
        }
        let file = source.file_name().and_then(|file| file.to_str()).expect("a name");
        assert!(readme.contains(&format!("({file})")), "{name} is missing in the table of programs");
        if let Some(stem) = name.strip_suffix("_bug") {
            assert!(programs.iter().any(|(other, _)| *other == format!("{stem}_ok")), "{name} has no twin");
        }
    }
}

#[test]
fn a_schedule_that_was_found_is_repeated() {
    let Some(built) = built() else { return };
    let program = built.join("lock_order_bug");
    let program = program.to_str().expect("text");
    let arguments = ["search", "--program", program, "--find", "deadlock", "--seed", "7"];
    let first = common::timeless(json(1, &arguments));
    let second = common::timeless(json(1, &arguments));
    assert_eq!(first, second);
}
