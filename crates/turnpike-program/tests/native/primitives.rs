//! Each primitive does what it should, in every schedule that is tried.

use turnpike_scheduler::Policy;

use super::support::{ends, guest, launch, run, word};

#[test]
fn two_locks() {
    let Some(program) = guest("two_locks.c") else { return };
    let mut executor = launch(&program);
    let out = run(&mut executor, Policy::First);
    assert_eq!(word(&out.end), "finished");
    let ends = ends(&mut executor, 300);
    assert_eq!(ends.iter().map(|(word, _)| *word).collect::<Vec<_>>(), ["deadlock", "finished"], "{ends:?}");
}
