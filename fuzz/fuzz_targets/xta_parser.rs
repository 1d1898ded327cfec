//! Any text is read or refused, every place of an error is inside it, and what was read survives being printed and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_timed::syntax::uppaal::parse_xta;
use turnpike_timed::syntax::uppaal::tree::Dialect;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    match parse_xta(&source) {
        // Names of old models may be words of the new syntax.
        Ok((model, _)) if model.dialect == Dialect::New => {
            let text = model.to_string();
            match parse_xta(&text) {
                Ok((again, _)) => assert_eq!(again.to_string(), text),
                // More parentheses may be printed than were needed.
                Err(errors) => assert_eq!(errors[0].message, "this is nested too deeply", "{text}"),
            }
        }
        Ok(_) => {}
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                let range = diagnostic.span.clone().expect("every error has a place").range;
                assert!(source.get(range).is_some(), "{diagnostic:?}");
            }
        }
    }
});
