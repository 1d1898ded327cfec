//! The witness of a livelock has few turns of its loops.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, dead_code)]

use crate::native::{end, guest, model};
use crate::scripts::one;
use turnpike_program::ProgramOptions;
use turnpike_search::strategy::{Auto, Exhaustive};
use turnpike_search::{SearchOptions, Strategy};

#[test]
fn a_livelock_is_shown_by_a_handful_of_steps() {
    let Some(path) = guest("waiters.c") else { return };
    for case in ["waits", "keeps"] {
        let model = model(&path, &[case], ProgramOptions::default());
        for strategy in [Strategy::from(Exhaustive { depth: u32::MAX }), Strategy::from(Auto)] {
            let mut options = SearchOptions::new(strategy);
            options.objectives.push("livelock".parse().unwrap());
            options.limits.executions = Some(2_000);
            let report = one(&model, &options);
            assert!(end(&report).starts_with("livelock"), "{case}: {:?}", report.verdict);
            let witness = report.witness.as_ref().unwrap();
            assert!(witness.length <= 16, "{case}: {} steps", witness.length);
        }
    }
}
