//! Any file is read or refused, and every place of an error or a query is inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_timed::syntax::uppaal::{parse_query, parse_xml};

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let diagnostics = match parse_xml(&source) {
        Ok((model, warnings)) => {
            for query in &model.queries {
                assert!(source.get(query.span.clone()).is_some(), "{query:?}");
                let _ = parse_query(&query.text);
            }
            for edge in model.templates.iter().flat_map(|template| &template.edges) {
                let guard = edge.guard.as_ref().map(|guard| guard.span.clone());
                assert!(source.get(guard.unwrap_or(edge.span.clone())).is_some(), "{edge:?}");
            }
            warnings
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            diagnostics
        }
    };
    for diagnostic in diagnostics {
        let range = diagnostic.span.clone().expect("every error has a place").range;
        assert!(source.get(range).is_some(), "{diagnostic:?}");
    }
});
