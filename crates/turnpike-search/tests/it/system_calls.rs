//! Calls that C programs make of the operating system do what they do without turnpike.

#![cfg(target_os = "linux")]

use crate::native::{end, guest, model, search};
use turnpike_program::ProgramOptions;
use turnpike_search::Verdict;
use turnpike_search::strategy::Exhaustive;

/// Each program asserts what the operating system promises.
#[test]
fn calls_do_what_the_system_promises() {
    let Some(path) = guest("system_calls.c") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("writes");
    std::os::unix::fs::symlink("file", folder.path().join("link")).expect("a link");
    let place = folder.path().to_str().expect("a path in UTF-8");
    let cases: [(&[&str], Verdict); 5] = [
        (&["replaced"], Verdict::None),
        // Time limits prove nothing.
        (&["limits"], Verdict::Inconclusive),
        (&["large"], Verdict::Inconclusive),
        // What follows from these is not controlled.
        (&["compares"], Verdict::Inconclusive),
        (&["link", place], Verdict::Inconclusive),
    ];
    for (arguments, verdict) in cases {
        let strategy = Exhaustive { depth: u32::MAX };
        let report = search(&model(&path, arguments, ProgramOptions::default()), strategy.into(), 20_000);
        assert_eq!(report.verdict, verdict, "{arguments:?}: {}", end(&report));
    }
    // Each execution removes the link, and finds it again.
    assert!(folder.path().join("file").exists() && folder.path().join("link").is_symlink());
}
