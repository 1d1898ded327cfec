//! The public `.tck` files: exactly those that TChecker rejects while parsing are rejected.

use crate::public_files::tck_files;
use turnpike_timed::tck;

/// All files below a folder, in a fixed order.
#[test]
#[expect(clippy::print_stderr, reason = "says what was refused, or that nothing was tested")]
fn exactly_the_faulty_files_are_refused() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let oracle = corpus.read("oracle/timed.jsonl");
    let mut refused = Vec::new();
    for line in oracle.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("one object a line");
        if entry["reach_bfs"]["outcome"] == "error" {
            let file = entry["file"].as_str().expect("a name").to_owned();
            // These two fail only when explored: an assignment leaves its range.
            if !["tck-tests/expr-05.tck", "tck-tests/expr-08.tck"].contains(&file.as_str()) {
                refused.push(file);
            }
        }
    }
    refused.sort();
    let folder = corpus.path("models/timed");
    let paths = tck_files(&folder);
    let mut found = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("readable");
        let name = path.strip_prefix(&folder).expect("below").to_string_lossy().replace('\\', "/");
        match tck::read(&text) {
            Ok((network, _)) => assert!(!network.processes.is_empty(), "{name}"),
            Err(diagnostics) => {
                for diagnostic in &diagnostics {
                    let place = diagnostic.span.clone().expect("every error has a place").range;
                    eprintln!("{name}: {diagnostic}: `{}`", &text[place]);
                }
                found.push(name);
            }
        }
    }
    found.sort();
    assert_eq!(found, refused);
    assert!(paths.len() > 90, "{} files", paths.len());
    assert!(refused.len() >= 5, "{refused:?}");
}
