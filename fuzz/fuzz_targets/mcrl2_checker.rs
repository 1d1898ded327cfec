//! Whatever the parser makes of a text, the type checker answers: a program, or errors with a place inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_mcrl2::typed::check_specification;
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_model::Severity;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let (specification, errors) = parse_specification(&source);
    let (program, diagnostics) = check_specification(&specification);
    for diagnostic in &diagnostics {
        let range = diagnostic.span.clone().expect("every message has a place").range;
        assert!(source.get(range).is_some(), "{diagnostic:?}");
    }
    let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert!(refused != program.is_some() || !errors.is_empty(), "errors, or a program");
});
