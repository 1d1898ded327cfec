//! Random programs: the scheduler builds what the axioms allow, and what the machine with store
//! buffers does.
//!
//! `TURNPIKE_LITMUS=5000 cargo test -p turnpike-scheduler --test it weak -- --nocapture` tries that
//! many. The first 2,000 have up to 8 operations, the others up to 6.

#![allow(clippy::print_stdout)]

use turnpike_scheduler::Memory;

use super::axioms::consistent;
use super::buffers::reachable;
use super::generate::random_program;
use super::program::{Code, Program, built, built_with_sleep_sets};

/// Number of programs.
const PROGRAMS: u64 = 5_000;
/// This many of them are larger than the others.
const LARGE: u64 = 2_000;

#[test]
fn random_programs_have_the_graphs_that_the_models_allow() {
    let count =
        std::env::var("TURNPIKE_LITMUS").ok().and_then(|count| count.parse().ok()).unwrap_or(PROGRAMS);
    let mut graphs = 0;
    for seed in 0..count {
        let program = random_program(seed, if seed < LARGE { 8 } else { 6 });
        let rc11 = consistent(&program);
        assert_eq!(built(&program, Memory::Rc11), rc11, "{seed}: {program:?}");
        assert_eq!(built_with_sleep_sets(&program, Memory::Rc11), rc11, "{seed}: {program:?}");
        let tso = reachable(&program);
        assert_eq!(built(&program, Memory::Tso), tso, "{seed}: {program:?}");
        assert_eq!(built_with_sleep_sets(&program, Memory::Tso), tso, "{seed}: {program:?}");
        assert!(tso.is_subset(&rc11) || !is_plain(&program), "{seed}: {program:?}");
        graphs += rc11.len();
    }
    println!("{count} programs with {graphs} graphs");
}

/// Whether the program has no operations that order more on x86 than RC11 requires.
fn is_plain(program: &Program) -> bool {
    program.iter().flatten().all(|code| matches!(code, Code::Load(..) | Code::Store(..)))
}
