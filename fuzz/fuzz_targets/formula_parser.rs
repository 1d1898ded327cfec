//! Whatever a text is, the reader of formulas answers: a formula, or errors with a place inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_mcrl2::syntax::{Symbols, parse_formula};
use turnpike_mcrl2::typed::Program;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let (file, errors) = parse_formula(&source, &Symbols::default());
    let errors = match file {
        Some(file) => Program::default().check_formula(&file).err().unwrap_or_default(),
        None => {
            assert!(!errors.is_empty(), "a formula, or errors");
            errors
        }
    };
    for diagnostic in &errors {
        let range = diagnostic.span.clone().expect("every message has a place").range;
        assert!(source.get(range).is_some(), "{diagnostic:?}");
    }
});
