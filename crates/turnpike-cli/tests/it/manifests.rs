//! Crates whose manifest skips their library's tests have none that would be skipped.

use std::path::{Path, PathBuf};

use crate::common::{read, root, sources};

/// The crates whose manifest has this line in its section `[lib]`.
fn crates_with(line: &str) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("crates")).expect("a folder");
    let mut found: Vec<PathBuf> = folders.map(|folder| folder.expect("an entry").path()).collect();
    found.retain(|folder| {
        let manifest = read(&folder.join("Cargo.toml"));
        let section = manifest.split_once("[lib]\n").and_then(|(_, after)| after.split("\n[").next());
        section.is_some_and(|section| section.lines().any(|one| one == line))
    });
    found.sort();
    assert!(!found.is_empty(), "`{line}` is in no manifest");
    found
}

/// Names of the modules of `src` that the integration tests of a crate contain.
fn included(folder: &Path) -> Vec<String> {
    let main = folder.join("tests/it/main.rs");
    let text = if main.is_file() { read(&main) } else { String::new() };
    let modules = text.split_once("#[path = \"../../src\"]").map_or("", |(_, after)| after);
    modules
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix("mod ")?.strip_suffix(';')?.to_owned()))
        .collect()
}

#[test]
fn unit_tests_are_executed() {
    for folder in crates_with("test = false") {
        let included = included(&folder);
        for path in sources(&folder.join("src"), &["rs"]) {
            let is_tested = read(&path).lines().any(|line| line.trim() == "#[test]");
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let is_included =
                path.parent() == Some(&folder.join("src")) && included.iter().any(|one| one == name);
            assert!(!is_tested || is_included, "nothing executes the unit tests of {}", path.display());
        }
    }
}

#[test]
fn examples_in_documentation_are_executed() {
    for folder in crates_with("doctest = false") {
        let mut texts: Vec<(PathBuf, String)> = sources(&folder.join("src"), &["rs"])
            .into_iter()
            .map(|path| {
                let text = read(&path);
                let lines = text.lines().filter_map(|line| {
                    let line = line.trim_start();
                    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
                });
                (path, lines.map(|line| format!("{}\n", line.trim())).collect())
            })
            .collect();
        if read(&folder.join("src/lib.rs")).contains("include_str!(\"../README.md\")") {
            texts.push((folder.join("README.md"), read(&folder.join("README.md"))));
        }
        for (path, text) in texts {
            let fences = text.lines().filter_map(|line| line.trim().strip_prefix("```"));
            // Every second fence ends a block. Blocks of other languages are named after them.
            let is_rust = |kind: &str| {
                kind.is_empty()
                    || ["rust", "no_run", "should_panic", "compile_fail", "ignore"]
                        .iter()
                        .any(|one| kind.contains(one))
            };
            let example = fences.step_by(2).any(is_rust);
            assert!(!example, "nothing executes the examples in the documentation of {}", path.display());
        }
    }
}
