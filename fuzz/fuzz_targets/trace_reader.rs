//! Any bytes are read or refused, and what was read survives being written and read again, in every format that can
//! hold it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_lts::trace;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = trace::read(bytes) else { return };
    let mut json = Vec::new();
    trace.write_json(&mut json).expect("memory");
    assert_eq!(trace::read(&json[..]).expect("what was written can be read"), trace);

    let mut text = Vec::new();
    if trace.write_text(&mut text).is_ok() {
        let again = trace::read(&text[..]).expect("what was written can be read");
        assert!(again.labels().eq(trace.labels()));
    }
    let mut path = Vec::new();
    if trace::write_aut(&trace, &mut path).is_ok() {
        let again = trace::read(&path[..]).expect("what was written can be read");
        assert!(again.labels().eq(trace.labels()));
        assert_eq!(again.loop_start, trace.loop_start);
    }
});
