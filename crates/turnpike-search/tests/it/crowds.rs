//! What `auto` finds where many threads wait for their turn.

use crate::scripts::outcomes::quiet;
use crate::scripts::{Op, World, one};
use turnpike_search::{SearchOptions, Strategy, Verdict};

/// Threads that set two variables one after the other, and one that finds the first set and the second not.
fn reorder(setters: usize) -> Vec<Vec<Op>> {
    let mut threads = vec![vec![Op::Store(0, 1), Op::Store(1, 1)]; setters];
    threads.push(vec![Op::Load(0), Op::SkipIfZero(2), Op::Load(1), Op::FailIf(0)]);
    threads
}

/// Executions until `auto` finds the error, by seed.
fn executions(setters: usize, seeds: u64) -> Vec<u64> {
    let world = World { variables: 2, ..World::default() };
    let model = world.with(&reorder(setters), quiet());
    let find = |seed| {
        let mut options = SearchOptions::new(Strategy::by_name("auto").unwrap());
        options.objectives.push("any-error".parse().unwrap());
        options.seed = seed;
        options.shorten = false;
        options.limits.executions = Some(2_000);
        let report = one(&model, &options);
        assert_eq!(report.verdict, Verdict::Found, "{setters} setters, seed {seed}");
        report.executions.unwrap().executions
    };
    (0..seeds).map(find).collect()
}

#[test]
fn one_reader_among_many_writers_is_let_in_early() {
    let mut crowd = executions(99, 10);
    crowd.sort_unstable();
    assert!(crowd[5] <= 300, "{crowd:?}");
    // Where there is no crowd, systematic search comes first, and finds it.
    assert!(executions(2, 10).iter().all(|&count| count <= 32));
}
