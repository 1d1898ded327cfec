//! C programs whose errors hide where few look, each with a correct twin.

#![cfg(target_os = "linux")]

use std::path::Path;

use crate::native::{compile, end, guest, model, search};
use turnpike_program::ProgramOptions;
use turnpike_scheduler::Timeouts;
use turnpike_search::strategy::{Auto, Exhaustive};
use turnpike_search::{Strategy, Verdict};

const EXHAUSTIVE: Exhaustive = Exhaustive { depth: u32::MAX };

fn verdict(path: &Path, arguments: &[&str], strategy: Strategy) -> (Verdict, String) {
    let options = ProgramOptions { timeouts: Timeouts::Always, ..ProgramOptions::default() };
    let report = search(&model(path, arguments, options), strategy, 20_000);
    (report.verdict, end(&report))
}

#[test]
fn errors_that_hide_are_found_and_correct_twins_are_not_flagged() {
    let Some(path) = guest("hostile.c") else { return };
    let found = [
        ("asks", "assertion", Verdict::None),
        ("ends", "assertion", Verdict::None),
        ("waits", "assertion", Verdict::None),
        ("twice", "deadlock", Verdict::None),
        // The moment at which a signal arrives is not under control.
        ("interrupts", "assertion", Verdict::Inconclusive),
        ("environment", "assertion", Verdict::None),
        ("specific", "deadlock", Verdict::None),
        ("leaving", "assertion", Verdict::None),
    ];
    for (name, error, twin) in found {
        for strategy in [EXHAUSTIVE.into(), Strategy::from(Auto)] {
            let by = strategy.name();
            let (found, end) = verdict(&path, &[name], strategy.clone());
            assert_eq!(found, Verdict::Found, "{name} by {by}");
            assert!(end.starts_with(error), "{name} by {by}: {end}");
            let (correct, end) = verdict(&path, &[name, "right"], strategy);
            assert_eq!(correct, twin, "{name}, correct, by {by}: {end}");
        }
    }
}

/// Nothing reports what the expanded comparison reads, so nothing is proved while it is there.
#[test]
fn reads_that_compilers_expand_prove_nothing() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/expanded.c");
    let Some(path) = compile(&source, &["-O2"]) else { return };
    let (verdict, _) = verdict(&path, &[], EXHAUSTIVE.into());
    assert_eq!(verdict, Verdict::Inconclusive);
}
