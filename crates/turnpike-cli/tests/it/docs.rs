//! The README's and the book's shell blocks are run, and print what the pages say.
//!
//! In a `console` block, a line `$ COMMAND` is run by `bash` in a folder of the page's own; the lines after it are what it
//! prints. Times and sizes of memory may differ. `[..]` stands for anything within a line, a line `...` for any lines. A line
//! `? CODE` tells the exit code where it means an error. `TURNPIKE_BLESS=1` writes what is printed into the pages.

#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a page, the lines of the page that tell its output, and the exit code it must have, if told.
struct Example {
    command: String,
    /// Line numbers of the expected output in the page.
    lines: std::ops::Range<usize>,
    code: Option<i32>,
}

fn examples(page: &[&str]) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    let mut open: Option<Example> = None;
    for (number, line) in page.iter().enumerate() {
        let fence = line.starts_with("```");
        let command = line.strip_prefix("$ ").filter(|_| inside && !fence);
        if (fence || command.is_some())
            && let Some(mut example) = open.take()
        {
            example.lines.end = number;
            found.push(example);
        }
        if fence {
            inside = !inside && line.trim_end() == "```console";
        } else if let Some(command) = command {
            open = Some(Example { command: command.to_owned(), lines: number + 1..number + 1, code: None });
        } else if let (Some(example), Some(code)) = (open.as_mut(), line.strip_prefix("? ")) {
            example.code = Some(code.trim().parse().expect("an exit code"));
            example.lines.start = number + 1;
        }
    }
    found
}

/// Whether a printed line fits an expected one, in which `[..]` stands for anything.
fn line_fits(expected: &str, printed: &str) -> bool {
    let mut parts = expected.trim_end().split("[..]");
    let Some(mut rest) = printed.trim_end().strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn fits(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", more @ ..] => (0..=printed.len()).any(|skip| fits(more, &printed[skip..])),
        [line, more @ ..] => printed.first().is_some_and(|first| {
            line_fits(&normalised(line), &normalised(first)) && fits(more, &printed[1..])
        }),
    }
}

/// Replaces what differs from run to run.
fn normalised(line: &str) -> String {
    for field in ["\"seconds\": ", "\"peak_bytes\": "] {
        if let Some(at) = line.find(field) {
            return format!("{}{field}[..]", &line[..at]);
        }
    }
    let words: Vec<&str> = line.split(' ').collect();
    let mut out: Vec<String> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let unit = words.get(index + 1).copied().unwrap_or_default().trim_end_matches([',', ')', ':']);
        let measured = ["s", "B", "KiB", "MiB", "GiB", "transitions/s"].contains(&unit)
            && word.trim_start_matches('(').replace(',', "").parse::<f64>().is_ok();
        let unit_of_memory = ["KiB", "MiB", "GiB"].contains(&word.trim_end_matches([',', ')']));
        out.push(if measured || unit_of_memory { "[..]".to_owned() } else { (*word).to_owned() });
    }
    out.join(" ")
}

fn check(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).expect("a readable page");
    let lines: Vec<&str> = text.lines().collect();
    let folder = tempfile::tempdir().expect("a folder");
    // The bundled models are where a reader in the project's root has them.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for subfolder in ["", "timed", "programs", "requirements", "requirements/abp", "requirements/lift"] {
        let copies = folder.path().join("models").join(subfolder);
        std::fs::create_dir(&copies).expect("a folder");
        for model in std::fs::read_dir(models.join(subfolder)).expect("the bundled models") {
            let model = model.expect("a model").path();
            if model.extension().is_some_and(|extension| {
                ["mcrl2", "xta", "q", "mcf", "c", "cpp", "sh"].iter().any(|known| extension == *known)
            }) {
                std::fs::copy(&model, copies.join(model.file_name().expect("a name"))).expect("a copy");
            }
        }
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_turnpike")).parent().expect("the program is in a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut complaints = Vec::new();
    let mut replacements: Vec<(std::ops::Range<usize>, Vec<String>)> = Vec::new();
    for example in examples(&lines) {
        if example.command.starts_with("cargo ") {
            // Building and testing the project is what runs this test.
            continue;
        }
        if example.command.starts_with("gcc ") && Command::new("gcc").arg("--version").output().is_err() {
            eprintln!("skipped: {} needs gcc, which is not there", page.display());
            return complaints;
        }
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1; {}", example.command)])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .expect("bash runs");
        let code = output.status.code().unwrap_or(-1);
        let acceptable = example.code.map_or([0, 1, 3].contains(&code), |told| told == code);
        if !acceptable {
            complaints.push(format!("{}: `{}` exits with {code}", page.display(), example.command));
        }
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed: Vec<&str> = printed.trim_end().lines().collect();
        let expected = &lines[example.lines.clone()];
        if !fits(expected, &printed) {
            complaints.push(format!(
                "{}: `{}` prints\n{}\ninstead of\n{}",
                page.display(),
                example.command,
                printed.join("\n"),
                expected.join("\n")
            ));
            replacements.push((example.lines, printed.iter().map(|&line| line.to_owned()).collect()));
        }
    }
    if std::env::var_os("TURNPIKE_BLESS").is_some() && !replacements.is_empty() {
        let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        for (range, new) in replacements.into_iter().rev() {
            lines.splice(range, new);
        }
        std::fs::write(page, lines.join("\n") + "\n").expect("a writable page");
    }
    complaints
}

#[test]
fn shell_blocks_print_what_the_pages_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> = vec![root.join("README.md")];
    let book = std::fs::read_dir(root.join("docs/book/src")).expect("the book");
    pages.extend(
        book.map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    pages.sort();
    let commands: usize = pages
        .iter()
        .map(|page| {
            examples(&std::fs::read_to_string(page).expect("a page").lines().collect::<Vec<_>>()).len()
        })
        .sum();
    assert!(commands > 20, "only {commands} commands were found: is the extraction broken?");
    let complaints: Vec<String> = pages.iter().flat_map(|page| check(page)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn the_checker_notices_differences() {
    assert!(fits(&["a", "...", "z"], &["a", "b", "c", "z"]));
    assert!(!fits(&["a", "...", "z"], &["a", "b", "c"]));
    assert!(line_fits("in [..] s and [..]", "in 0.01 s and 3 MiB"));
    assert!(!line_fits("in [..] s", "in 0.01 m"));
    assert!(!fits(&["a"], &["a", "b"]));
    assert!(fits(&["3 states in 0.01 s and 2.0 MiB"], &["3 states in 1.25 s and 11.5 MiB"]));
    assert!(!fits(&["3 states in 0.01 s and 2.0 MiB"], &["4 states in 0.01 s and 2.0 MiB"]));
    assert_eq!(normalised("counted in 0.01 s and 11.4 MiB"), "counted in [..] s and [..] [..]");
    let page = ["```console", "$ one", "x", "$ two", "? 2", "y", "```", "```", "$ not a command", "```"];
    let found = examples(&page);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].lines.clone(), found[1].lines.clone(), found[1].code), (2..3, 5..6, Some(2)));
}

/// What pages include is there, so that what tests compile is what readers see.
#[test]
fn included_sources_exist() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src");
    let mut included = 0;
    for page in std::fs::read_dir(&book).expect("the book").map(|entry| entry.expect("a page").path()) {
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        for rest in text.split("{{#include ").skip(1) {
            let (target, _) = rest.split_once("}}").expect("an include that ends");
            // Without an anchor the whole file is included.
            let (file, anchor) =
                target.rsplit_once(':').map_or((target, None), |(file, it)| (file, Some(it)));
            let source =
                std::fs::read_to_string(book.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            for mark in
                anchor.into_iter().flat_map(|it| [format!("ANCHOR: {it}\n"), format!("ANCHOR_END: {it}\n")])
            {
                assert!(source.contains(&mark), "{file} has no {mark}");
            }
            included += 1;
        }
    }
    assert!(included >= 2, "the chapters on extending turnpike include their examples");
}
