//! Any bytes are read or refused, and what was read survives being written and read again, in every format that can
//! hold it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_model::Trace;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = Trace::read(bytes) else { return };
    let mut json = Vec::new();
    trace.write_json(&mut json).expect("memory");
    assert_eq!(Trace::read(&json[..]).expect("what was written can be read"), trace);

    let mut text = Vec::new();
    if trace.write_text(&mut text).is_ok() {
        let again = Trace::read(&text[..]).expect("what was written can be read");
        assert!(again.labels().eq(trace.labels()));
    }
    let mut path = Vec::new();
    if trace.write_aut(&mut path).is_ok() {
        let again = Trace::read(&path[..]).expect("what was written can be read");
        assert!(again.labels().eq(trace.labels()));
        assert_eq!(again.loop_start, trace.loop_start);
    }
});
