//! Any bytes are read or refused, and what was read survives being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_lts::{AutDialect, read_lts, write_lts};

fuzz_target!(|bytes: &[u8]| {
    for dialect in [AutDialect::Mcrl2, AutDialect::Cadp] {
        let Ok(lts) = read_lts(bytes, dialect) else { continue };
        let mut written = Vec::new();
        // Every label came out of a line, so every label fits in one.
        write_lts(&lts, &mut written, dialect).expect("what was read can be written");
        assert_eq!(read_lts(&written[..], dialect).expect("what was written can be read"), lts);
    }
});
