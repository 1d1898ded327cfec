//! The corpus of the fuzz target runs as an ordinary test.

use std::path::Path;

use turnpike_cluster::Hosts;

#[test]
fn lists_of_hosts_are_read_or_refused_with_a_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/hosts_reader");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        match Hosts::parse(&text) {
            Ok(hosts) => {
                let written: Vec<&str> = hosts.addresses().collect();
                assert_eq!(Hosts::parse(&written.join("\n")), Ok(hosts.clone()));
            }
            Err(errors) => {
                for error in errors {
                    let place = error.span.expect("every error has a place").range;
                    assert!(text.get(place).is_some());
                }
            }
        }
        seen += 1;
    }
    assert!(seen >= 3);
}
