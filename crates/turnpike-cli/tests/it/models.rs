//! The models of the folders `models` and `models/timed` do what their heads say.
//!
//! The head of a model states figures in comments that are read here, so that neither can change without the other:
//!
//! ```text
//! % expect: N=3 states=35 transitions=66 deadlocks=1
//! % search: N=3 --find 'label eat(2)' => steps=3
//! ```
//!
//! Words in capitals are set as parameters of the model. A search is breadth-first and ends in `none` (nothing, and
//! everything was covered), `found`, or `steps=K` (the shortest witness has K steps).

use std::path::{Path, PathBuf};

use crate::common::{json, turnpike};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// Paths of all models, in order of their names.
fn models() -> Vec<String> {
    let mut paths: Vec<String> = [folder(), folder().join("timed")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("the folder"))
        .map(|entry| entry.expect("an entry").path().to_str().expect("text").to_owned())
        .filter(|path| path.ends_with(".mcrl2") || path.ends_with(".xta"))
        .collect();
    paths.sort();
    paths
}

fn is_timed(path: &str) -> bool {
    path.ends_with(".xta")
}

fn name(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).expect("a name")
}

/// What follows the keyword in the lines of the head that begin with it.
fn stated(path: &str, keyword: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a model");
    let comment = if is_timed(path) { "// " } else { "% " };
    text.lines()
        .filter_map(|line| line.strip_prefix(comment)?.strip_prefix(keyword)?.strip_prefix(": "))
        .map(str::to_owned)
        .collect()
}

/// The words of a line; a quoted part belongs to one word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(character),
        }
    }
    assert!(!quoted, "a quote is open in: {line}");
    words.retain(|word| !word.is_empty());
    words
}

/// A word such as `N=3` sets a parameter, all others stay as they are.
fn arguments(words: &[String]) -> Vec<&str> {
    let sets_parameter =
        |word: &str| word.contains('=') && word.starts_with(|c: char| c.is_ascii_uppercase());
    words
        .iter()
        .flat_map(|word| if sets_parameter(word) { vec!["--set", word] } else { vec![word.as_str()] })
        .collect()
}

#[test]
fn every_model_is_checked_without_complaint_and_described() {
    let models = models();
    assert!(models.len() >= 19, "{models:?}");
    let readme =
        |folder: PathBuf| std::fs::read_to_string(folder.join("README.md")).expect("the table of models");
    let (plain, timed) = (readme(folder()), readme(folder().join("timed")));
    for path in &models {
        let ran = turnpike(&["check", path]).expect(0, &["ok: "]);
        assert!(!ran.text().contains("warning"), "{}", ran.text());
        assert!(!stated(path, "expect").is_empty(), "{path} states no sizes");
        assert!(!stated(path, "search").is_empty(), "{path} states no searches");
        let (row, table) = match is_timed(path) {
            true => (format!("[{0}]({0}.xta)", name(path)), &timed),
            false => (format!("[{0}]({0}.mcrl2)", name(path)), &plain),
        };
        assert!(table.contains(&row), "{row} is missing in the table of models");
    }
}

#[test]
fn every_model_has_the_stated_size() {
    for path in models() {
        for line in stated(&path, "expect") {
            let words = words(&line);
            let (figures, parameters): (Vec<String>, Vec<String>) =
                words.into_iter().partition(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            assert_eq!(figures.len(), 3, "{path}: {line}");
            let mut all = vec!["generate", &path];
            all.extend(arguments(&parameters));
            let report = json(0, &all);
            let measured = ["states", "transitions", "deadlocks"].map(|of| format!("{of}={}", report[of]));
            assert_eq!(figures, measured, "{}: {line}", name(&path));
        }
    }
}

#[test]
fn every_model_has_the_stated_witnesses() {
    for path in models() {
        for line in stated(&path, "search") {
            let (flags, outcome) =
                line.split_once(" => ").unwrap_or_else(|| panic!("no outcome in {path}: {line}"));
            let words = words(flags);
            let mut all = vec!["search", &path, "--strategy", "bfs"];
            all.extend(arguments(&words));
            let found = outcome != "none";
            let report = json(i32::from(found), &all);
            let measured = match (&report["verdict"], &report["witness"]["length"]) {
                (Value::String(verdict), Value::Number(length)) if outcome.starts_with("steps=") => {
                    assert_eq!(verdict, "found", "{}: {line}", name(&path));
                    format!("steps={length}")
                }
                (verdict, _) => verdict.as_str().expect("a verdict").to_owned(),
            };
            assert_eq!(measured, outcome, "{}: {line}", name(&path));
        }
    }
}
