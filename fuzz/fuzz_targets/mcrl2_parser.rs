//! Any text is read or refused, every place of an error is inside it, and what was read survives being printed and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_mcrl2::syntax::{Parentheses, Symbols, parse_data_expression, parse_specification};

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let (specification, diagnostics) = parse_specification(&source);
    for diagnostic in &diagnostics {
        let range = diagnostic.span.clone().expect("every error has a place").range;
        assert!(source.get(range).is_some(), "{diagnostic:?}");
    }
    if diagnostics.is_empty() {
        let all = specification.text(Parentheses::All);
        for parentheses in [Parentheses::Needed, Parentheses::All] {
            let (again, diagnostics) = parse_specification(&specification.text(parentheses));
            assert_eq!(diagnostics, []);
            assert_eq!(again.text(Parentheses::All), all);
        }
    }
    if let (Some(expression), _) = parse_data_expression(&source, &Symbols::default()) {
        let all = expression.tree.data_text(expression.root, Parentheses::All);
        let needed = expression.tree.data_text(expression.root, Parentheses::Needed);
        let (again, _) = parse_data_expression(&needed, &Symbols::default());
        let again = again.expect("what was printed can be read");
        assert_eq!(again.tree.data_text(again.root, Parentheses::All), all);
    }
});
