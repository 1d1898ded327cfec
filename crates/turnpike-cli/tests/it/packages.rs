//! `action.yml` and `Dockerfile`: every step of the action is executed, with a `cargo` that installs the
//! program under test; what the image is made of exists.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{read, root};

/// A step of the action that runs a script.
#[derive(Debug, Default)]
struct Step {
    name: String,
    script: String,
    environment: BTreeMap<String, String>,
}

/// The steps of the action that run scripts, as far as this needs to understand its language.
fn steps() -> Vec<Step> {
    let text = read(&root().join("action.yml"));
    let (_, steps) = text.split_once("\n  steps:\n").expect("the action has steps");
    let steps = steps.split("\n    - ").map(|step| step.trim_start_matches("    - "));
    let mut found = Vec::new();
    for step in steps {
        let (mut one, mut block) = (Step::default(), "");
        for line in step.lines() {
            let indent = line.len() - line.trim_start().len();
            match (block, line.trim().split_once(": ")) {
                ("run", _) if indent > 6 => {
                    one.script.push_str(line.trim());
                    one.script.push('\n');
                }
                ("env", Some((name, value))) if indent > 6 => {
                    one.environment.insert(name.to_owned(), value.to_owned());
                }
                (_, Some(("run", "|"))) => block = "run",
                (_, Some(("run", script))) => one.script = script.to_owned(),
                (_, Some(("name", name))) => one.name = name.to_owned(),
                _ => block = if line.trim() == "env:" { "env" } else { "" },
            }
        }
        found.push(one);
    }
    found.retain(|step| !step.script.is_empty());
    found
}

/// A text with its `${{ … }}` replaced. One that is not known fails the test.
fn expand(text: &str, known: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{ ") {
        let (name, after) = after.split_once(" }}").expect("an expression ends");
        let value = known.iter().find(|(one, _)| *one == name);
        let (_, value) = value.unwrap_or_else(|| panic!("the action uses `{name}`, which is not known here"));
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

fn run(step: &Step, known: &[(&str, &str)], folder: &Path) -> Output {
    let path = format!("{}:{}", folder.join("tools").display(), std::env::var("PATH").unwrap_or_default());
    let environment = step.environment.iter().map(|(name, value)| (name, expand(value, known)));
    Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", &expand(&step.script, known)])
        .current_dir(root())
        .env("PATH", path)
        .env("GITHUB_OUTPUT", folder.join("output"))
        .env("TURNPIKE_UNDER_TEST", env!("CARGO_BIN_EXE_turnpike"))
        .envs(environment)
        .output()
        .expect("bash runs")
}

#[test]
fn every_step_of_the_action_runs() {
    if ["bash", "jq", "xargs"].iter().any(|tool| Command::new(tool).arg("--version").output().is_err()) {
        eprintln!("skipped: bash, jq or xargs is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).expect("a folder");
    // Installs what was built for the tests, and notes how it was called.
    let cargo = "#!/usr/bin/env bash\necho \"$*\" >>\"$(dirname \"$0\")/called\"\n\
        root=\"${@: -1}\"\nmkdir -p \"$root/bin\"\ncp \"$TURNPIKE_UNDER_TEST\" \"$root/bin/turnpike\"\n";
    let written = tools.join("cargo");
    std::fs::write(&written, cargo).expect("writes");
    assert!(Command::new("chmod").arg("+x").arg(&written).status().is_ok_and(|status| status.success()));
    let (root, temp) = (root().display().to_string(), folder.path().display().to_string());
    let sarif = folder.path().join("found.sarif").display().to_string();
    let known = [
        ("github.action_path", root.as_str()),
        ("github.action_ref", "main"),
        ("runner.temp", temp.as_str()),
        ("inputs.arguments", "search models/lift.mcrl2 --find 'action protocol_error'"),
        ("inputs.sarif", sarif.as_str()),
    ];
    let steps = steps();
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["Find out what is installed", "Install turnpike", "Search"]);
    let output = || read(&folder.path().join("output"));

    let version = run(&steps[0], &known, folder.path());
    assert!(version.status.success(), "{version:?}");
    assert!(output().starts_with("hash=") && output().trim() != "hash=", "{}", output());
    // A cached program is not installed again.
    for _ in 0..2 {
        let install = run(&steps[1], &known, folder.path());
        assert!(install.status.success(), "{install:?}");
    }
    let called = read(&tools.join("called"));
    assert_eq!(
        called.trim(),
        format!("install --locked --path {root}/crates/turnpike-cli --root {temp}/turnpike")
    );
    let search = run(&steps[2], &known, folder.path());
    let lines = String::from_utf8_lossy(&search.stdout);
    assert_eq!(search.status.code(), Some(1), "{search:?}");
    assert!(lines.starts_with("::error file=models/lift.mcrl2,line="), "{lines}");
    assert!(output().ends_with("exit-code=1\n"), "{}", output());
    let log: serde_json::Value = serde_json::from_str(&read(Path::new(&sarif))).expect("findings are JSON");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_image_is_made_of_what_exists() {
    let text = read(&root().join("Dockerfile"));
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("the Dockerfile has no line `{start}`")).to_owned()
    };
    let toolchain = read(&root().join("rust-toolchain.toml"));
    let channel = toolchain.split('"').nth(1).expect("a channel");
    let (minor, _) = channel.rsplit_once('.').expect("a version of three numbers");
    assert!(line("FROM rust:").starts_with(&format!("FROM rust:{minor}-")), "built by the pinned compiler");
    let install = line("RUN cargo install");
    let words: Vec<&str> = install.split(' ').collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag).unwrap_or_else(|| panic!("{flag}: {install}"));
        words[at + 1]
    };
    assert!(root().join(after("--path")).join("Cargo.toml").is_file());
    let copied = line("COPY --from=build");
    assert!(
        copied.contains(&format!(" {}/bin/turnpike /usr/local/bin/turnpike", after("--root"))),
        "{copied}"
    );
    assert_eq!(line("ENTRYPOINT"), "ENTRYPOINT [\"turnpike\"]");
    // Gigabytes that would be sent to the engine otherwise.
    assert!(read(&root().join(".dockerignore")).lines().any(|line| line == "target"));
}
