//! The inputs of the fuzz target for `.tck` files without the fuzzer, and random mutations of one
//! of them.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use turnpike_timed::tck;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/tck_parser")
}

/// The checks of the fuzz target; returns whether the text is valid.
fn check(text: &str) -> Result<bool, String> {
    let (network, diagnostics) = match tck::read(text) {
        Ok((network, warnings)) => (Some(network), warnings),
        Err(errors) => (None, errors),
    };
    for diagnostic in &diagnostics {
        let range = diagnostic.span.clone().ok_or("an error without a place")?.range;
        text.get(range).ok_or_else(|| format!("{diagnostic:?}"))?;
    }
    let Some(network) = network else {
        return if diagnostics.is_empty() { Err("refused without a reason".to_owned()) } else { Ok(false) };
    };
    let written = tck::write(&network).map_err(|errors| format!("{errors:?}"))?;
    let (again, _) = tck::read(&written).map_err(|errors| format!("{errors:?}\n{written}"))?;
    match tck::write(&again) {
        Ok(same) if same == written => Ok(true),
        other => Err(format!("{written}\nbecame {other:?}")),
    }
}

#[test]
fn every_input_is_read_or_refused_and_survives_writing() {
    let entries = std::fs::read_dir(folder()).expect("a corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut read = Vec::new();
    for path in &paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(path).expect("a file");
        if check(&String::from_utf8_lossy(&bytes)).unwrap_or_else(|message| panic!("{name}: {message}")) {
            read.push(name);
        }
    }
    assert_eq!(read, ["crlf.tck", "dollar.tck", "everything.tck", "odd_but_legal.tck"]);
    assert_eq!(paths.len(), 12);
}

/// Text that mutations insert.
const PIECES: [&str; 41] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ";",
    "?",
    "@",
    "#",
    "\n",
    " ",
    "é",
    "-",
    "!",
    "<",
    "<=",
    "==",
    "=",
    "&&",
    "+",
    "*",
    "/",
    "%",
    "0",
    "1",
    "2147483648",
    "n",
    "x",
    "t",
    "c[0]",
    "if ",
    " then ",
    " else ",
    " end",
    "while ",
    "local q",
    "nop",
    "sync:",
    "$",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn changed_files_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..6usize, any::<prop::sample::Index>(), any::<bool>()), 1..4)
    ) {
        let mut text: Vec<char> = std::fs::read_to_string(folder().join("everything.tck")).expect("a file").chars().collect();
        for (place, removed, piece, insert) in changes {
            let start = place.index(text.len());
            let end = (start + removed).min(text.len());
            let piece = if insert { *piece.get(&PIECES) } else { "" };
            text.splice(start..end, piece.chars());
        }
        let text: String = text.into_iter().collect();
        check(&text).map_err(TestCaseError::fail)?;
    }
}
