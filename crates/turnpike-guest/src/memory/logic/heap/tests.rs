//! The heap against a list of blocks.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const BASE: u64 = 1 << 40;

fn heap() -> Heap {
    let mut heap = Heap::new();
    heap.open(BASE, 1 << 30);
    heap.begin();
    heap
}

#[derive(Clone, Debug)]
enum Call {
    Allocate {
        size: u64,
        align: u64,
        thread: u32,
    },
    /// The n-th block that was ever allocated, live or not, and an offset into it.
    Free {
        block: usize,
        offset: u64,
    },
    Touch {
        block: usize,
        offset: i64,
        size: u64,
    },
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let size = prop_oneof![0u64..64, 0u64..2000, 4000u64..300_000, 1_000_000u64..30_000_000];
    let align = prop_oneof![4 => Just(16u64), 1 => (5u32..16).prop_map(|bits| 1 << bits)];
    let call = prop_oneof![
        4 => (size, align, 0u32..3).prop_map(|(size, align, thread)| Call::Allocate { size, align, thread }),
        3 => (0usize..80, prop_oneof![9 => Just(0u64), 1 => 1u64..40]).prop_map(|(block, offset)| Call::Free { block, offset }),
        4 => (0usize..80, -20i64..200, 1u64..17).prop_map(|(block, offset, size)| Call::Touch { block, offset, size }),
    ];
    proptest::collection::vec(call, 0..160)
}

/// What the slow version knows of a block.
#[derive(Clone, Copy)]
struct Known {
    start: u64,
    size: u64,
    thread: u32,
    index: u32,
    state: State,
}

proptest! {
    #[test]
    fn agrees_with_a_list_of_blocks(calls in calls()) {
        let mut heap = heap();
        let mut known: Vec<Known> = Vec::new();
        let mut counts = [0u32; 3];
        for call in calls {
            match call {
                Call::Allocate { size, align, thread } => {
                    let Some(block) = heap.allocate(size, align, thread, 7) else {
                        prop_assert!(size > 1_000_000, "a gigabyte holds many small blocks");
                        continue;
                    };
                    prop_assert!(block.start % align == 0 && heap.contains(block.start));
                    prop_assert_eq!(block.index, counts[thread as usize]);
                    counts[thread as usize] += 1;
                    for other in known.iter().filter(|other| other.state != State::Unused) {
                        let apart = block.start + size < other.start || other.start + other.size < block.start;
                        prop_assert!(apart, "one byte between {:#x}+{} and {:#x}+{}", block.start, size, other.start, other.size);
                    }
                    // Memory that was used before is marked as such.
                    let again = known.iter().any(|other| {
                        other.state == State::Unused && block.start < other.start + other.size.max(1) && other.start < block.start + size.max(1)
                    });
                    prop_assert!(!again || block.used);
                    known.push(Known { start: block.start, size, thread, index: block.index, state: State::Live });
                }
                Call::Free { block, offset } => {
                    let Some(&target) = known.get(block) else { continue };
                    let address = target.start + offset;
                    let found = known.iter_mut().find(|other| {
                        other.state != State::Unused && (other.start..other.start + other.size.max(1)).contains(&address)
                    });
                    match (heap.free(address, 1, 9, 0), found) {
                        (Ok(freed), Some(block)) => {
                            prop_assert_eq!((freed.start, freed.size, freed.thread, freed.index), (block.start, block.size, block.thread, block.index));
                            prop_assert_eq!((block.state, block.start), (State::Live, address));
                            block.state = State::Freed;
                        }
                        (Err(Misuse::Double(freed)), Some(block)) => {
                            prop_assert_eq!(block.state, State::Freed);
                            prop_assert_eq!((freed.start, freed.freed, freed.freed_by), (block.start, 9, 1));
                        }
                        (Err(Misuse::Inside(_)), Some(block)) => {
                            prop_assert_eq!(block.state, State::Live);
                            prop_assert!(block.start != address);
                        }
                        // The bytes after the end of a block still belong to it.
                        (Err(Misuse::Unknown | Misuse::Inside(_) | Misuse::Double(_)), None) => {}
                        (result, _) => prop_assert!(false, "{:?}", result),
                    }
                    while let Some(released) = heap.release() {
                        let block = known.iter_mut().find(|block| block.start == released.start && block.state == State::Freed);
                        prop_assert!(block.is_some());
                        if let Some(block) = block {
                            block.state = State::Unused;
                        }
                    }
                }
                Call::Touch { block, offset, size } => {
                    let Some(&target) = known.get(block) else { continue };
                    let address = target.start.wrapping_add_signed(offset);
                    let found = known.iter().find(|other| {
                        other.state != State::Unused && (other.start..other.start + other.size).contains(&address)
                    });
                    match (heap.touch(address, size), found) {
                        (Touch::Fine, Some(block)) => {
                            prop_assert!(block.state == State::Live && address + size <= block.start + block.size);
                        }
                        (Touch::Freed(_), Some(block)) => prop_assert_eq!(block.state, State::Freed),
                        (Touch::Beyond(_), Some(block)) => prop_assert!(address + size > block.start + block.size),
                        // Between blocks: fine if nothing is known, else the block before it.
                        (Touch::Fine, None) => {}
                        (Touch::Freed(block) | Touch::Beyond(block), None) => prop_assert!(address >= block.start + block.size),
                    }
                }
            }
        }
    }
}

#[test]
fn the_same_calls_give_the_same_addresses() {
    let run = || {
        let mut heap = heap();
        let mut all = Vec::new();
        for i in 0..5000u64 {
            let block = heap.allocate(i * 37 % 5000, 16, 0, i).expect("room");
            all.push(block.start);
            if i % 3 == 0 {
                heap.free(block.start, 0, i, 0).expect("live");
                while heap.release().is_some() {}
            }
        }
        all
    };
    assert_eq!(run(), run());
}

#[test]
fn what_was_allocated_before_the_execution_does_not_count() {
    let first_of_the_program = |early: u32| {
        let mut heap = Heap::new();
        heap.open(BASE, 1 << 30);
        for i in 0..early {
            let block = heap.allocate(24, 16, 0, 7).expect("room");
            assert_eq!(block.index, EARLY + i);
        }
        heap.begin();
        [0, 0, 1].map(|thread| heap.allocate(24, 16, thread, 7).expect("room").index)
    };
    assert_eq!(first_of_the_program(0), [0, 1, 0]);
    assert_eq!(first_of_the_program(107), first_of_the_program(0));
}

#[test]
fn memory_is_used_again_after_quarantine() {
    let mut heap = heap();
    // A gigabyte would be full after 1024 rounds.
    for round in 0..5000u64 {
        let block = heap.allocate(1 << 20, 16, 0, round).expect("room");
        heap.free(block.start, 0, round, 0).expect("live");
        while heap.release().is_some() {}
        for _ in 0..20 {
            let small = heap.allocate(1000, 16, 0, round).expect("room");
            heap.free(small.start, 0, round, 0).expect("live");
            while heap.release().is_some() {}
        }
    }
    assert!(heap.pages.len() < 40_000, "{} pages", heap.pages.len());
}

#[test]
fn no_room_is_no_block() {
    let mut heap = heap();
    assert!(heap.allocate(u64::MAX, 16, 0, 0).is_none());
    assert!(heap.allocate(u64::MAX - 1, 16, 0, 0).is_none());
    assert!(heap.allocate(2 << 30, 16, 0, 0).is_none());
    assert!(heap.allocate(16, 1 << 40, 0, 0).is_none());
    assert!(heap.allocate(512 << 20, 16, 0, 0).is_some());
    assert!(matches!(heap.free(12, 0, 0, 0), Err(Misuse::Unknown)));
    assert!(matches!(Heap::new().touch(12, 8), Touch::Fine));
}

#[test]
fn what_is_live_is_limited() {
    let mut heap = heap();
    heap.allocate(1000, 16, 0, 0).expect("room");
    heap.limit_to(5000);
    let block = heap.allocate(4000, 16, 0, 0).expect("within the limit");
    assert!(heap.allocate(1001, 16, 0, 0).is_none());
    assert!(heap.allocate(1000, 16, 0, 0).is_some());
    heap.free(block.start, 0, 0, 0).expect("live");
    assert!(heap.allocate(4000, 16, 0, 0).is_some());
}
