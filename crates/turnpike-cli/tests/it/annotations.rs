//! `.ci/annotate`, which the GitHub action runs: findings as annotations, the exit code as it is.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

fn annotate(arguments: &str) -> Option<(i32, String, serde_json::Value)> {
    if ["bash", "jq", "xargs"].iter().any(|tool| Command::new(tool).arg("--version").output().is_err()) {
        eprintln!("skipped: bash, jq or xargs is not installed");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let sarif = folder.path().join("found.sarif");
    let ran = Command::new("bash")
        .arg(".ci/annotate")
        .current_dir(&root)
        .env("ARGUMENTS", arguments)
        .env("SARIF", &sarif)
        .env("PATH_TO_TURNPIKE", Path::new(env!("CARGO_BIN_EXE_turnpike")).parent().expect("a folder"))
        .env_remove("GITHUB_OUTPUT")
        .output()
        .expect("bash runs");
    let log = std::fs::read_to_string(&sarif).expect("findings are written");
    let log = serde_json::from_str(&log).expect("findings are JSON");
    Some((ran.status.code().unwrap_or(-1), String::from_utf8_lossy(&ran.stdout).into_owned(), log))
}

#[test]
fn findings_become_annotations() {
    let Some((code, lines, log)) = annotate("search models/lift.mcrl2 --find 'action protocol_error'") else {
        return;
    };
    assert_eq!(code, 1, "{lines}");
    assert!(lines.starts_with("::error file=models/lift.mcrl2,line="), "{lines}");
    assert!(
        lines.contains("protocol_error") && lines.lines().count() == 1,
        "one line, whatever it says: {lines}"
    );
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn nothing_found_is_nothing_to_say() {
    let Some((code, lines, log)) = annotate("search models/abp.mcrl2 --find deadlock") else { return };
    assert_eq!((code, lines.as_str()), (0, ""));
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
}

/// Words behind `--` belong to the program.
#[test]
fn arguments_of_programs_stay_theirs() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("args.c");
    let text = "#include <assert.h>\nint main(int n, char **w) { (void)w; assert(n != 2); return n != 2; }\n";
    std::fs::write(&source, text).expect("writes");
    let program = folder.path().join("args");
    let compiled = Command::new("cc").arg("-g").arg(&source).arg("-o").arg(&program).output();
    if !compiled.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no compiler");
        return;
    }
    let Some((code, lines, _)) = annotate(&format!("search --program {} -- one", program.display())) else {
        return;
    };
    assert_eq!(code, 1, "{lines}");
    assert!(lines.contains("args.c,line=2::"), "{lines}");
}

#[test]
fn mistakes_have_a_place() {
    let Some((code, lines, _)) = annotate("search models/lift.mcrl2 --find 'action nothing'") else { return };
    assert_eq!(code, 2, "{lines}");
    assert!(lines.starts_with("::error file=models/lift.mcrl2,line=1::"), "{lines}");
    let Some((code, lines, _)) = annotate("search builtin:philosophers --find 'action nothing'") else {
        return;
    };
    assert_eq!(code, 2, "{lines}");
    assert!(lines.starts_with("::error::"), "{lines}");
}
