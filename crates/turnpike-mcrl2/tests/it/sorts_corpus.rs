//! The sorts of all public models are correct, except where the recorded results of other tools
//! have errors.

use crate::public_models;
use crate::sorts_support;

use std::path::{Path, PathBuf};

use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::check_specification;
use turnpike_model::diagnostic::Severity;

/// Files whose sorts other tools refuse, according to the recorded message.
fn refused(corpus: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(corpus.join("oracle/mcrl2.jsonl")).expect("the recorded results");
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("one object a line"))
        .filter(|one| one["outcome"].as_str().is_some_and(|text| text.contains("type")))
        .filter_map(|one| one["file"].as_str().map(str::to_owned))
        .collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was tested")]
fn public_models_type_check() {
    let Some(corpus) = public_models::folder() else { return };
    let root = corpus.join("models/mcrl2");
    let found = public_models::below(&root);
    assert!(!found.is_empty(), "no models below {}", root.display());
    let refused = refused(&corpus);
    let mut wrong = Vec::new();
    let (mut warnings, mut slowest) = (0, (std::time::Duration::ZERO, PathBuf::new()));
    for path in &found {
        let source = std::fs::read_to_string(path).expect("a readable model");
        let (specification, diagnostics) = parse_specification(&source);
        assert!(
            diagnostics.iter().all(|one| one.severity == Severity::Warning),
            "{}: {diagnostics:?}",
            path.display()
        );
        let start = std::time::Instant::now();
        let (program, diagnostics) = check_specification(&specification);
        slowest = slowest.max((start.elapsed(), path.clone()));
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        warnings += diagnostics.iter().filter(|one| one.severity == Severity::Warning).count();
        if let Some(program) = &program {
            sorts_support::well_sorted(program);
        }
        if program.is_none() && !refused.contains(&name) {
            for one in diagnostics.iter().filter(|one| one.severity == Severity::Error) {
                let at = one.span.as_ref().map_or(0, |span| span.range.start);
                let line = source[..at].lines().count().max(1);
                wrong.push(format!("{name}:{line}: {one}"));
            }
        }
    }
    eprintln!(
        "{} models, {warnings} warnings, slowest {:?} ({})",
        found.len(),
        slowest.0,
        slowest.1.display()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
