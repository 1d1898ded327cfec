//! Litmus tests in Rust, under RC11: exhaustive search shows exactly the outcomes that the axioms allow, those of
//! the tests from the literature each graph once.
//! The enumerator of graphs is that of the tests of the scheduler, which it shares no code with.

#[path = "../../../turnpike-scheduler/tests/it/weak/axioms.rs"]
mod axioms;
#[path = "../../../turnpike-scheduler/tests/it/weak/generate.rs"]
mod generate;
mod program;

use turnpike::Memory;

use Code::{Add, Exchange, Fence, Load, Store};
use program::{Code, Outcome, Program, allowed, executed, trials};

/// Relaxed.
const R: u32 = 0;
/// Acquire.
const A: u32 = 2;
/// Release.
const L: u32 = 3;
/// Acquire and release.
const B: u32 = 4;
/// Sequentially consistent.
const S: u32 = 5;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// Compares with the axioms, and checks whether the outcome that the test is about is `possible`, as the literature says.
#[track_caller]
fn litmus(threads: &[&[Code]], possible: bool, weak: impl Fn(&[Vec<u64>], &[u64]) -> bool) {
    let program: Program = threads.iter().map(|code| code.to_vec()).collect();
    let (found, executions) = executed(&program, Memory::Rc11);
    let (right, graphs) = allowed(&program);
    assert_eq!(found, right);
    assert_eq!(executions, graphs + trials(Memory::Rc11), "each graph is executed once");
    let is_weak = |(reads, last): &Outcome| weak(reads, last);
    assert_eq!(found.iter().any(is_weak), possible, "{found:?}");
    // What is sequentially consistent is allowed.
    assert!(executed(&program, Memory::Sc).0.is_subset(&right));
}

fn sb(store: u32, load: u32) -> [Vec<Code>; 2] {
    [vec![Store(X, 1, store), Load(Y, load)], vec![Store(Y, 1, store), Load(X, load)]]
}

#[test]
fn store_buffering() {
    let both_old = |reads: &[Vec<u64>], _: &[u64]| reads[0] == [0] && reads[1] == [0];
    for (store, load, possible) in [(R, R, true), (L, A, true), (S, R, true), (R, S, true), (S, S, false)] {
        let [one, two] = sb(store, load);
        litmus(&[&one, &two], possible, both_old);
    }
    for (first, second, possible) in [(S, S, false), (S, B, true), (B, B, true)] {
        litmus(
            &[&[Store(X, 1, R), Fence(first), Load(Y, R)], &[Store(Y, 1, R), Fence(second), Load(X, R)]],
            possible,
            both_old,
        );
    }
    // Read-modify-writes of one variable order what is around them; of two variables nothing.
    let last_is_old =
        |reads: &[Vec<u64>], _: &[u64]| reads[0].last() == Some(&0) && reads[1].last() == Some(&0);
    litmus(&[&[Add(X, 1, B), Load(Y, A)], &[Add(Y, 1, B), Load(X, A)]], true, last_is_old);
    litmus(
        &[&[Store(X, 1, R), Add(Z, 1, B), Load(Y, R)], &[Store(Y, 1, R), Add(Z, 1, B), Load(X, R)]],
        false,
        last_is_old,
    );
    litmus(&[&[Add(X, 1, S), Load(Y, S)], &[Add(Y, 1, S), Load(X, S)]], false, last_is_old);
}

#[test]
fn message_passing() {
    let stale = |reads: &[Vec<u64>], _: &[u64]| reads[1] == [1, 0];
    for (store, load, possible) in [(R, R, true), (L, R, true), (R, A, true), (L, A, false), (S, S, false)] {
        litmus(&[&[Store(X, 1, R), Store(Y, 1, store)], &[Load(Y, load), Load(X, R)]], possible, stale);
    }
    for (release, acquire, possible) in
        [(L, A, false), (B, B, false), (S, S, false), (A, A, true), (L, L, true)]
    {
        litmus(
            &[&[Store(X, 1, R), Fence(release), Store(Y, 1, R)], &[Load(Y, R), Fence(acquire), Load(X, R)]],
            possible,
            stale,
        );
    }
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L)], &[Load(Y, R), Fence(A), Load(X, R)]], false, stale);
    litmus(&[&[Store(X, 1, R), Fence(L), Store(Y, 1, R)], &[Load(Y, A), Load(X, R)]], false, stale);
}

#[test]
fn load_buffering_is_excluded() {
    let from_the_future = |reads: &[Vec<u64>], _: &[u64]| reads.iter().all(|read| read == &[1]);
    litmus(&[&[Load(X, R), Store(Y, 1, R)], &[Load(Y, R), Store(X, 1, R)]], false, from_the_future);
    litmus(
        &[&[Load(X, R), Store(Y, 1, R)], &[Load(Y, R), Store(Z, 1, R)], &[Load(Z, R), Store(X, 1, R)]],
        false,
        from_the_future,
    );
}

#[test]
fn independent_reads_of_independent_writes() {
    let disagree = |reads: &[Vec<u64>], _: &[u64]| reads[2] == [1, 0] && reads[3] == [1, 0];
    for (store, load, possible) in [(R, R, true), (L, A, true), (S, A, true), (L, S, true), (S, S, false)] {
        litmus(
            &[
                &[Store(X, 1, store)],
                &[Store(Y, 1, store)],
                &[Load(X, load), Load(Y, load)],
                &[Load(Y, load), Load(X, load)],
            ],
            possible,
            disagree,
        );
    }
    litmus(
        &[
            &[Store(X, 1, R)],
            &[Store(Y, 1, R)],
            &[Load(X, R), Fence(S), Load(Y, R)],
            &[Load(Y, R), Fence(S), Load(X, R)],
        ],
        false,
        disagree,
    );
}

#[test]
fn two_plus_two_writes() {
    let crossed = |_: &[Vec<u64>], last: &[u64]| last == [1, 1];
    for (order, possible) in [(R, true), (L, true), (S, false)] {
        litmus(
            &[&[Store(X, 1, order), Store(Y, 2, order)], &[Store(Y, 1, order), Store(X, 2, order)]],
            possible,
            crossed,
        );
    }
    litmus(
        &[&[Store(X, 1, R), Fence(S), Store(Y, 2, R)], &[Store(Y, 1, R), Fence(S), Store(X, 2, R)]],
        false,
        crossed,
    );
}

#[test]
fn causality_over_three_threads() {
    // WRC: a write, a reader that passes it on, and a second reader.
    let stale = |reads: &[Vec<u64>], _: &[u64]| reads[1] == [1] && reads[2] == [1, 0];
    for (store, load, possible) in [(R, R, true), (R, A, true), (L, R, true), (L, A, false)] {
        litmus(
            &[&[Store(X, 1, R)], &[Load(X, load), Store(Y, 1, store)], &[Load(Y, load), Load(X, R)]],
            // The first write need not be a release: what its reader does is ordered by coherence.
            possible,
            stale,
        );
    }
    // ISA2: a message over two hops.
    let lost = |reads: &[Vec<u64>], _: &[u64]| reads[1] == [1] && reads[2] == [1, 0];
    for (middle, possible) in [(L, false), (R, true)] {
        litmus(
            &[
                &[Store(X, 1, R), Store(Y, 1, L)],
                &[Load(Y, A), Store(Z, 1, middle)],
                &[Load(Z, A), Load(X, R)],
            ],
            possible,
            lost,
        );
    }
    // RWC: the reader of a write, and a writer that does not see it.
    let missed = |reads: &[Vec<u64>], _: &[u64]| reads[1] == [1, 0] && reads[2] == [0];
    for (order, possible) in [(R, true), (S, false)] {
        litmus(
            &[
                &[Store(X, 1, order)],
                &[Load(X, order), Load(Y, order)],
                &[Store(Y, 1, order), Load(X, order)],
            ],
            possible,
            missed,
        );
    }
    litmus(
        &[&[Store(X, 1, R)], &[Load(X, R), Fence(S), Load(Y, R)], &[Store(Y, 1, R), Fence(S), Load(X, R)]],
        false,
        missed,
    );
    // W+RWC.
    let missed = |reads: &[Vec<u64>], _: &[u64]| reads[1] == [1, 0] && reads[2] == [0];
    for (order, possible) in [(B, true), (S, false)] {
        litmus(
            &[
                &[Store(X, 1, R), Store(Y, 1, L)],
                &[Load(Y, A), Fence(order), Load(Z, R)],
                &[Store(Z, 1, R), Fence(order), Load(X, R)],
            ],
            possible,
            missed,
        );
    }
}

#[test]
fn reads_and_writes_in_a_cycle() {
    // S.
    let behind = |reads: &[Vec<u64>], last: &[u64]| reads[1] == [1] && last[X] == 2;
    for (store, load, possible) in [(R, R, true), (L, A, false)] {
        litmus(&[&[Store(X, 2, R), Store(Y, 1, store)], &[Load(Y, load), Store(X, 1, R)]], possible, behind);
    }
    // R.
    let overtaken = |reads: &[Vec<u64>], last: &[u64]| reads[1] == [0] && last[Y] == 2;
    for (order, possible) in [(R, true), (S, false)] {
        litmus(
            &[&[Store(X, 1, order), Store(Y, 1, order)], &[Store(Y, 2, order), Load(X, order)]],
            possible,
            overtaken,
        );
    }
    litmus(
        &[&[Store(X, 1, R), Fence(S), Store(Y, 1, R)], &[Store(Y, 2, R), Fence(S), Load(X, R)]],
        false,
        overtaken,
    );
    // Z6: releases that nobody acquires order nothing.
    let lost = |reads: &[Vec<u64>], last: &[u64]| reads[2] == [1, 0] && last[Y] == 2;
    for (store, load, possible) in [(R, R, true), (L, A, true), (S, S, false)] {
        litmus(
            &[
                &[Store(X, 1, store), Store(Y, 1, store)],
                &[Store(Y, 2, store), Store(Z, 1, store)],
                &[Load(Z, load), Load(X, load)],
            ],
            possible,
            lost,
        );
    }
}

#[test]
fn coherence() {
    let never = |threads: &[&[Code]], weak: fn(&[Vec<u64>], &[u64]) -> bool| litmus(threads, false, weak);
    // CoRR: reads of one variable do not go back.
    never(&[&[Store(X, 1, R)], &[Load(X, R), Load(X, R)]], |reads, _| reads[1] == [1, 0]);
    // CoRR2: nor do two readers disagree about the order of two writes.
    never(
        &[&[Store(X, 1, R)], &[Store(X, 2, R)], &[Load(X, R), Load(X, R)], &[Load(X, R), Load(X, R)]],
        |reads, _| reads[2] == [1, 2] && reads[3] == [2, 1],
    );
    // CoWW, CoWR: a thread's own writes are in order, and seen by itself.
    never(&[&[Store(X, 1, R), Store(X, 2, R)], &[Load(X, R)]], |_, last| last == [1]);
    never(&[&[Store(X, 1, R), Load(X, R)], &[Store(X, 2, R)]], |reads, _| reads[0] == [0]);
    never(&[&[Store(X, 1, R), Load(X, R)], &[Store(X, 2, R)]], |reads, last| reads[0] == [2] && last == [1]);
    // CoRW: what is read comes before what is written later.
    never(&[&[Load(X, R), Store(X, 1, R)]], |reads, _| reads[0] == [1]);
    never(&[&[Load(X, R), Store(X, 1, R)], &[Store(X, 2, R)]], |reads, last| reads[0] == [2] && last == [2]);
}

#[test]
fn release_sequences() {
    let stale = |reads: &[Vec<u64>], _: &[u64]| reads.last().is_some_and(|reads| *reads == [2, 0]);
    let reader: &[Code] = &[Load(Y, A), Load(X, R)];
    // Read-modify-writes of any thread continue the sequence. Other writes do not, since C++20 also those of the same
    // thread.
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L), Store(Y, 2, R)], reader], true, stale);
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L)], &[Add(Y, 1, R)], reader], false, stale);
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L)], &[Exchange(Y, 1, 2, R, R)], reader], false, stale);
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L)], &[Store(Y, 2, R)], reader], true, stale);
    litmus(&[&[Store(X, 1, R), Store(Y, 1, R)], &[Add(Y, 1, R)], reader], true, stale);
    // A fence begins a sequence, too.
    litmus(&[&[Store(X, 1, R), Fence(L), Store(Y, 1, R)], &[Add(Y, 1, R)], reader], false, stale);
    // A chain of two.
    let stale = |reads: &[Vec<u64>], _: &[u64]| reads.last().is_some_and(|reads| *reads == [3, 0]);
    litmus(&[&[Store(X, 1, R), Store(Y, 1, L)], &[Add(Y, 1, R)], &[Add(Y, 1, R)], reader], false, stale);
}

#[test]
fn read_modify_writes() {
    // None is lost, whatever the order.
    for order in [R, B, S] {
        let lost = |_: &[Vec<u64>], last: &[u64]| last != [3];
        litmus(&[&[Add(X, 1, order)], &[Add(X, 1, order)], &[Add(X, 1, order)]], false, lost);
    }
    // One of two exchanges fails, and acquires only if its failure does.
    let both = |reads: &[Vec<u64>], _: &[u64]| reads[0] == [0] && reads[1] == [0];
    litmus(&[&[Exchange(X, 0, 1, R, R)], &[Exchange(X, 0, 2, R, R)]], false, both);
    for (failure, possible) in [(A, false), (R, true), (S, false)] {
        litmus(
            &[&[Store(X, 1, R), Store(Y, 1, L)], &[Exchange(Y, 5, 6, S, failure), Load(X, R)]],
            possible,
            |reads, _| reads[1] == [1, 0],
        );
    }
    // A lock by exchange: acquire and release suffice.
    let section: &[Code] = &[Exchange(X, 0, 1, A, R), Add(Y, 1, R), Store(X, 0, L)];
    litmus(&[section, section], false, |_, last| last[Y] != 2);
}

#[test]
fn mixed_orders() {
    // Sequentially consistent operations in a program with weaker ones: Peterson's entry with one weak store.
    let both_old = |reads: &[Vec<u64>], _: &[u64]| reads[0] == [0] && reads[1] == [0];
    litmus(&[&[Store(X, 1, S), Load(Y, S)], &[Store(Y, 1, L), Load(X, S)]], true, both_old);
    // A relaxed write between a sequentially consistent write and read of the same variable.
    litmus(&[&[Store(X, 1, S), Store(X, 2, R), Load(Y, S)], &[Store(Y, 1, S), Load(X, S)]], false, both_old);
    // Three threads in a ring.
    let all_old = |reads: &[Vec<u64>], _: &[u64]| reads.iter().all(|reads| *reads == [0]);
    for (order, possible) in [(R, true), (S, false)] {
        litmus(
            &[
                &[Store(X, 1, order), Load(Y, order)],
                &[Store(Y, 1, order), Load(Z, order)],
                &[Store(Z, 1, order), Load(X, order)],
            ],
            possible,
            all_old,
        );
    }
}

/// With `--nocapture`, tells how many graphs are executed more than once.
#[test]
#[allow(clippy::print_stdout, reason = "a result for those who ask")]
fn random_programs_have_the_outcomes_that_the_axioms_allow() {
    let (trials, mut all, mut again) = (trials(Memory::Rc11), 0, Vec::new());
    for seed in 0..400 {
        let program = generate::random_program(seed, if seed < 100 { 8 } else { 6 });
        let (right, graphs) = allowed(&program);
        let (found, executions) = executed(&program, Memory::Rc11);
        assert_eq!(found, right, "{seed}: {program:?}");
        assert!(executions >= graphs + trials, "{seed}: {program:?}");
        all += graphs;
        if executions > graphs + trials {
            again.push((seed, graphs, executions - trials));
        }
    }
    println!("{all} graphs; program, graphs and executions where some were repeated: {again:?}");
}
