//! Any text is read or refused, every place of an error is inside it, and what was read survives being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_timed::tck;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let (network, diagnostics) = match tck::read(&source) {
        Ok((network, warnings)) => (Some(network), warnings),
        Err(errors) => (None, errors),
    };
    for diagnostic in &diagnostics {
        let range = diagnostic.span.clone().expect("every error has a place").range;
        assert!(source.get(range).is_some(), "{diagnostic:?}");
    }
    let Some(network) = network else {
        assert!(!diagnostics.is_empty());
        return;
    };
    let written = match tck::write(&network) {
        Ok(written) => written,
        Err(refusals) => {
            let too_long = |message: &str| message.starts_with("an expression that becomes this long");
            assert!(refusals.iter().all(|refusal| too_long(&refusal.message)), "{refusals:?}");
            return;
        }
    };
    match tck::read(&written) {
        Ok((again, _)) => {
            let twice = tck::write(&again);
            // What TChecker has no words for may need more of them.
            assert!(twice.is_err() || twice.as_deref() == Ok(&written), "{written}");
        }
        Err(errors) => {
            let limit = |message: &str| {
                message.starts_with("this is nested more than")
                    || message == "this expression is too long"
                    || message.starts_with("more than 500 conditions")
            };
            assert!(errors.iter().all(|error| limit(&error.message)), "{errors:?}\n{written}");
        }
    }
});
