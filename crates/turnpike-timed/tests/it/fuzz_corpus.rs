//! The inputs of the fuzz targets for UPPAAL's languages, without the fuzzer.

use std::path::Path;

use turnpike_model::Diagnostic;
use turnpike_timed::syntax::uppaal::tree::Dialect;
use turnpike_timed::syntax::uppaal::{parse_query, parse_xml, parse_xta, split_queries};

const TOO_DEEP: &str = "this is nested too deeply";

/// Name and text of every input of a target.
fn corpus(target: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| {
            let entry = entry.expect("an entry");
            let bytes = std::fs::read(entry.path()).expect("a file");
            (entry.file_name().to_string_lossy().into_owned(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect();
    all.sort();
    all
}

fn check_places(name: &str, text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let range = diagnostic.span.clone().expect("every error has a place").range;
        assert!(text.get(range).is_some(), "{name}: {diagnostic:?}");
    }
}

#[test]
fn xta_files_are_read_or_refused_and_survive_printing() {
    let mut read = Vec::new();
    for (name, text) in corpus("xta_parser") {
        match parse_xta(&text) {
            Ok((model, warnings)) => {
                check_places(&name, &text, &warnings);
                if model.dialect == Dialect::New {
                    let printed = model.to_string();
                    match parse_xta(&printed) {
                        Ok((again, _)) => assert_eq!(again.to_string(), printed, "{name}"),
                        Err(errors) => assert_eq!(errors[0].message, TOO_DEEP, "{name}: {printed}"),
                    }
                }
                read.push(name);
            }
            Err(errors) => {
                assert!(!errors.is_empty(), "{name}");
                check_places(&name, &text, &errors);
            }
        }
    }
    for name in [
        "everything.xta",
        "csp.xta",
        "old.ta",
        "old_words.ta",
        "cr_lf.xta",
        "byte_order_mark.xta",
        "long_chain.xta",
    ] {
        assert!(read.iter().any(|other| other == name), "{name} should be read");
    }
    for name in ["unclosed_brace.xta", "deep_parentheses.xta", "not_utf8.xta", "branchpoints.xta"] {
        assert!(read.iter().all(|other| other != name), "{name} should be refused");
    }
}

#[test]
fn xml_files_are_read_or_refused() {
    let mut read = Vec::new();
    for (name, text) in corpus("uppaal_xml") {
        match parse_xml(&text) {
            Ok((model, warnings)) => {
                check_places(&name, &text, &warnings);
                for query in &model.queries {
                    assert!(text.get(query.span.clone()).is_some(), "{name}: {query:?}");
                }
                read.push(name);
            }
            Err(errors) => {
                assert!(!errors.is_empty(), "{name}");
                check_places(&name, &text, &errors);
            }
        }
    }
    assert_eq!(
        read,
        [
            "byte_order_mark.xml",
            "everything.xml",
            "old.xml",
            "open_comment_in_query.xml",
            "project.xml",
            "small.xml"
        ]
    );
}

#[test]
fn queries_are_read_or_refused_and_survive_printing() {
    let mut counts = Vec::new();
    for (name, text) in corpus("query_parser") {
        let Ok(queries) = split_queries(&text) else {
            assert_eq!(name, "open_comment.q");
            continue;
        };
        let mut read = 0;
        for query in &queries {
            assert_eq!(text[query.span.clone()].len(), query.text.len(), "{name}");
            match parse_query(&query.text) {
                Ok(formula) => {
                    read += 1;
                    let printed = formula.to_string();
                    match parse_query(&printed) {
                        Ok(again) => assert_eq!(again.to_string(), printed, "{name}"),
                        Err(error) => assert_eq!(error.message, TOO_DEEP, "{name}: {printed}"),
                    }
                }
                Err(error) => check_places(&name, &query.text, &[error]),
            }
        }
        counts.push((name, read, queries.len()));
    }
    for (name, read, all) in
        [("all.q", 8, 8), ("refused.q", 0, 15), ("mistakes.q", 0, 13), ("continued.q", 2, 2)]
    {
        assert!(counts.contains(&(name.to_owned(), read, all)), "{name}: {counts:?}");
    }
}
