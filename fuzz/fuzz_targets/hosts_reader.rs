//! Any list of hosts is read or refused, every place of an error is inside it, and what was read survives being written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnpike_cluster::Hosts;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Hosts::parse(&text) {
        Ok(hosts) => {
            let written: Vec<&str> = hosts.addresses().collect();
            assert_eq!(Hosts::parse(&written.join("\n")), Ok(hosts.clone()));
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                let place = error.span.expect("every error has a place").range;
                assert!(text.get(place).is_some());
            }
        }
    }
});
