//! Parses public specifications, if they are available, and parses their printed text again.

use crate::public_models;

use std::path::Path;

use turnpike_mcrl2::syntax::{Parentheses, parse_specification};

/// The specifications that have syntax errors according to the oracle.
fn refused(corpus: &Path) -> Vec<String> {
    let oracle = std::fs::read_to_string(corpus.join("oracle/mcrl2.jsonl")).expect("the oracle");
    oracle
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one object a line"))
        .filter(|row| {
            let outcome = row["outcome"].as_str().unwrap_or_default().to_lowercase();
            outcome.contains("syntax error") || outcome.contains("parse")
        })
        .map(|row| row["file"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn public_specifications_are_read_and_printed() {
    let Some(corpus) = public_models::folder() else { return };
    let models = corpus.join("models/mcrl2");
    let refused = refused(&corpus);
    let files = public_models::below(&models);
    assert!(files.len() >= 100, "{} files", files.len());
    for file in files {
        let name = file.strip_prefix(&models).expect("found there").to_string_lossy().replace('\\', "/");
        let source = String::from_utf8_lossy(&std::fs::read(&file).expect("a file")).into_owned();
        let (specification, diagnostics) = parse_specification(&source);
        if refused.contains(&name) {
            assert!(!diagnostics.is_empty(), "{name} should be refused");
            continue;
        }
        assert_eq!(diagnostics, [], "{name}");
        let all = specification.text(Parentheses::All);
        for parentheses in [Parentheses::Needed, Parentheses::All] {
            let (again, diagnostics) = parse_specification(&specification.text(parentheses));
            assert_eq!(diagnostics, [], "{name}");
            assert!(again.text(Parentheses::All) == all, "{name}");
            // Printing preserves everything except for locations.
            let (first, second) = (&specification.tree, &again.tree);
            assert_eq!(first.data_ids().len(), second.data_ids().len(), "{name}");
            assert_eq!(first.process_ids().len(), second.process_ids().len(), "{name}");
            assert_eq!(first.sort_ids().len(), second.sort_ids().len(), "{name}");
            let kinds = |tree: &turnpike_mcrl2::syntax::Tree| -> Vec<_> {
                tree.data_ids().map(|id| std::mem::discriminant(tree.data(id))).collect()
            };
            assert!(kinds(first) == kinds(second), "{name}");
        }
    }
}
