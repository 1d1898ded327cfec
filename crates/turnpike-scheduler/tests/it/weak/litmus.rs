//! Litmus tests from the literature, with numbers of executions counted by hand.

use turnpike_scheduler::Memory;

use super::axioms::consistent;
use super::buffers::reachable;
use super::program::{Code, Program, built, built_with_sleep_sets};
use Code::{Add, Fence, Load, Store};

const RELAXED: u32 = 0;
const ACQUIRE: u32 = 2;
const RELEASE: u32 = 3;
const SC: u32 = 5;

/// Checks the number of executions under RC11, and under total store order.
#[track_caller]
fn count(program: &[&[Code]], rc11: usize, tso: usize) {
    let program: Program = program.iter().map(|code| code.to_vec()).collect();
    let graphs = built(&program, Memory::Rc11);
    assert_eq!(graphs.len(), rc11);
    assert_eq!(graphs, consistent(&program));
    assert_eq!(graphs, built_with_sleep_sets(&program, Memory::Rc11));
    let graphs = built(&program, Memory::Tso);
    assert_eq!(graphs.len(), tso);
    assert_eq!(graphs, reachable(&program));
    assert_eq!(graphs, built_with_sleep_sets(&program, Memory::Tso));
}

#[test]
fn store_buffering() {
    let test = |order| {
        count(
            &[&[Store(0, 1, order), Load(1, order)], &[Store(1, 1, order), Load(0, order)]],
            if order == SC { 3 } else { 4 },
            if order == SC { 3 } else { 4 },
        )
    };
    test(RELAXED);
    test(SC);
    count(
        &[
            &[Store(0, 1, RELAXED), Fence(SC), Load(1, RELAXED)],
            &[Store(1, 1, RELAXED), Fence(SC), Load(0, RELAXED)],
        ],
        3,
        3,
    );
    // Read-modify-writes drain the buffer, but relaxed ones order nothing in RC11.
    count(&[&[Add(0, 1, RELAXED), Load(1, RELAXED)], &[Add(1, 1, RELAXED), Load(0, RELAXED)]], 4, 3);
}

#[test]
fn message_passing() {
    count(&[&[Store(0, 1, RELAXED), Store(1, 1, RELAXED)], &[Load(1, RELAXED), Load(0, RELAXED)]], 4, 3);
    count(&[&[Store(0, 1, RELAXED), Store(1, 1, RELEASE)], &[Load(1, ACQUIRE), Load(0, RELAXED)]], 3, 3);
    count(
        &[
            &[Store(0, 1, RELAXED), Fence(RELEASE), Store(1, 1, RELAXED)],
            &[Load(1, RELAXED), Fence(ACQUIRE), Load(0, RELAXED)],
        ],
        3,
        3,
    );
}

#[test]
fn load_buffering_has_no_values_out_of_thin_air() {
    count(&[&[Load(0, RELAXED), Store(1, 1, RELAXED)], &[Load(1, RELAXED), Store(0, 1, RELAXED)]], 3, 3);
}

#[test]
fn two_writes_each() {
    count(
        &[&[Store(0, 1, RELAXED), Store(1, 2, RELAXED)], &[Store(1, 1, RELAXED), Store(0, 2, RELAXED)]],
        4,
        3,
    );
    count(&[&[Store(0, 1, SC), Store(1, 2, SC)], &[Store(1, 1, SC), Store(0, 2, SC)]], 3, 3);
}

#[test]
fn independent_reads_of_independent_writes() {
    let readers: [&[Code]; 2] =
        [&[Load(0, ACQUIRE), Load(1, ACQUIRE)], &[Load(1, ACQUIRE), Load(0, ACQUIRE)]];
    count(&[&[Store(0, 1, SC)], &[Store(1, 1, SC)], readers[0], readers[1]], 16, 15);
    let readers: [&[Code]; 2] = [&[Load(0, SC), Load(1, SC)], &[Load(1, SC), Load(0, SC)]];
    count(&[&[Store(0, 1, SC)], &[Store(1, 1, SC)], readers[0], readers[1]], 15, 15);
}

#[test]
fn no_read_goes_back() {
    count(&[&[Store(0, 1, RELAXED)], &[Load(0, RELAXED), Load(0, RELAXED)]], 3, 3);
}

#[test]
fn updates_are_adjacent_to_what_they_read() {
    count(&[&[Add(0, 1, RELAXED)], &[Add(0, 1, RELAXED)], &[Add(0, 1, RELAXED)]], 6, 6);
    count(&[&[Add(0, 1, RELAXED)], &[Store(0, 5, RELAXED)]], 2, 2);
}
