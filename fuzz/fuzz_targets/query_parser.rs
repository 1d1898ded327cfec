//! Any query file is split or refused, its queries lie inside it, and every query that is read survives being printed and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_timed::syntax::uppaal::{parse_condition, parse_query, split_queries};

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let queries = match split_queries(&source) {
        Ok(queries) => queries,
        Err(error) => {
            assert!(source.get(error.span.expect("a place").range).is_some());
            return;
        }
    };
    for query in queries {
        assert_eq!(source.get(query.span.clone()).expect("inside").len(), query.text.len());
        let _ = parse_condition(&query.text);
        match parse_query(&query.text) {
            Ok(formula) => {
                let text = formula.to_string();
                match parse_query(&text) {
                    Ok(again) => assert_eq!(again.to_string(), text),
                    // More parentheses may be printed than were needed.
                    Err(error) => assert_eq!(error.message, "this is nested too deeply", "{text}"),
                }
            }
            Err(error) => {
                let range = error.span.clone().expect("every error has a place").range;
                assert!(query.text.get(range).is_some(), "{error:?}");
            }
        }
    }
});
