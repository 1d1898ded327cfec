//! Runs the real program, and finds the files of the workspace.
#![allow(dead_code, reason = "not every test file uses every helper")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run of the program left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ran {
    /// Both outputs, for patterns that may be in either.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    /// The run ended with this code, and without a panic.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        self.expect(code, &[])
    }

    /// The run ended with this code, without a panic, and said all of these.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, words: &[&str]) -> Self {
        let text = self.text();
        assert_eq!(self.code, code, "{text}");
        assert!(!text.contains("panicked"), "{text}");
        for word in words {
            assert!(text.contains(word), "'{word}' is missing in:\n{text}");
        }
        self
    }
}

/// The program with these arguments and no input, ready to run.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnpike"));
    command.args(arguments).stdin(Stdio::null()).env("NO_COLOR", "1").env_remove("COLUMNS");
    // Programs that tests search are not remembered for the user who runs the tests.
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs turnpike without input, wherever the test is.
pub(crate) fn turnpike(arguments: &[&str]) -> Ran {
    command(arguments).output().expect("the program starts").into()
}

/// Runs turnpike in a folder with this standard input.
pub(crate) fn turnpike_in(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut child = command(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that ends early closes its input: that is its right.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends").into()
}

/// Runs with `--format json`.
#[track_caller]
pub(crate) fn json(code: i32, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    turnpike(&all).exits(code).json()
}

/// Without what may differ between repeated runs.
pub(crate) fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !["seconds", "peak_bytes"].contains(&name.as_str()));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("writes");
    }
    folder
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    crates.parent().expect("the folder of the workspace").to_owned()
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder whose names end in one of these, but for what was built, and what is hidden.
pub(crate) fn sources(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let hidden = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with('.') || name == "target" || name == "node_modules"
    };
    let below = |path: PathBuf| match path.is_dir() {
        true => sources(&path, endings),
        false if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) => {
            vec![path]
        }
        false => Vec::new(),
    };
    entries.filter(|path| !hidden(path)).flat_map(below).collect()
}
