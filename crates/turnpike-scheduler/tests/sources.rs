//! The source text that the crate carries is all of it.
#![cfg(feature = "sources")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn files(folder: &Path, prefix: &str, out: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the crate has sources") {
        let entry = entry.expect("readable");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{name}/"), out);
        } else {
            out.insert(name);
        }
    }
}

#[test]
fn every_file_is_listed() {
    let mut there = BTreeSet::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut there);
    there.remove("sources.rs");
    let listed: BTreeSet<String> = turnpike_scheduler::SOURCES.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(listed, there);
}
