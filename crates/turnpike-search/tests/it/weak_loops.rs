//! C programs under weak memory: loops that wait, atomic variables that are accessed in parts, plain accesses, and variables
//! without a value.

#![cfg(target_os = "linux")]

use turnpike_model::Model;
use turnpike_program::ProgramOptions;
use turnpike_scheduler::Memory;
use turnpike_search::Verdict;

use crate::native;
use crate::scripts::one;
use crate::scripts::outcomes::exhaustive;

const WEAK: [Memory; 2] = [Memory::Rc11, Memory::Tso];

/// What exhaustive search says of a part of the program, and what it left out.
fn search(part: &str, memory: Memory) -> Option<(Verdict, String)> {
    let path = native::guest("weak_loops.c")?;
    let options = ProgramOptions { memory, ..ProgramOptions::default() };
    let model = native::model(&path, &[part], options);
    let mut options = exhaustive(true);
    options.limits.executions = Some(20_000);
    let report = one(&model, &options);
    Some((report.verdict, model.left_out().unwrap_or_default()))
}

/// A thread that pauses in such a loop must not take the value from before the pause for the present one.
#[test]
fn loops_that_wait_are_proved() {
    for memory in WEAK {
        for part in ["message", "ticket", "compare", "test and set"] {
            let Some((verdict, left_out)) = search(part, memory) else { return };
            assert_eq!((verdict, left_out.as_str()), (Verdict::None, ""), "{part} {memory:?}");
        }
    }
}

#[test]
fn a_message_without_release_is_found() {
    let Some((verdict, _)) = search("relaxed message", Memory::Rc11) else { return };
    assert_eq!(verdict, Verdict::Found);
    // Stores keep their order there.
    assert_eq!(search("relaxed message", Memory::Tso).unwrap().0, Verdict::None);
}

#[test]
fn variables_that_are_accessed_in_parts_prove_nothing() {
    for memory in WEAK {
        let Some((verdict, left_out)) = search("halves", memory) else { return };
        assert_eq!(verdict, Verdict::Inconclusive, "{memory:?}");
        assert!(left_out.contains("accessed in parts"), "{left_out}");
    }
    assert_eq!(search("halves", Memory::Sc).unwrap().0, Verdict::None);
}

/// x86 reorders these: nothing that is found without that is a proof.
#[test]
fn plain_accesses_that_race_prove_nothing() {
    for memory in WEAK {
        let Some((verdict, left_out)) = search("plain", memory) else { return };
        assert_eq!(verdict, Verdict::Inconclusive, "{memory:?}");
        assert!(left_out.contains("plain accesses that race"), "{left_out}");
        assert!(!left_out.contains("are not steps"), "{left_out}");
    }
}

#[test]
fn reads_of_what_was_never_written_are_found() {
    for memory in WEAK {
        let Some((verdict, _)) = search("unwritten", memory) else { return };
        assert_eq!(verdict, Verdict::Found, "{memory:?}");
        assert_eq!(search("written", memory).unwrap().0, Verdict::None, "{memory:?}");
    }
}
