//! The detector against all pairs of accesses.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec::Vec;

/// What threads of a test do.
#[derive(Clone, Copy, Debug)]
enum Event {
    Touch {
        address: u64,
        size: u64,
        write: bool,
    },
    /// Atomic access to one of two variables, which synchronises with all others to it.
    Atomic {
        variable: u64,
        write: bool,
    },
    Lock(usize),
    /// An operation on an object, which orders nothing.
    Object {
        address: u64,
    },
    Spawnlike {
        other: usize,
    },
}

fn events() -> impl Strategy<Value = Vec<(usize, Event)>> {
    let event = prop_oneof![
        6 => (0u64..24, prop_oneof![Just(1u64), Just(2), Just(4), Just(8), Just(11)], any::<bool>())
            .prop_map(|(address, size, write)| Event::Touch { address, size, write }),
        1 => (0u64..2, any::<bool>()).prop_map(|(variable, write)| Event::Atomic { variable, write }),
        2 => (0usize..3).prop_map(Event::Lock),
        2 => (0u64..24).prop_map(|address| Event::Object { address }),
        1 => (0usize..4).prop_map(|other| Event::Spawnlike { other }),
    ];
    proptest::collection::vec((0usize..4, event), 0..60)
}

struct Past {
    thread: usize,
    epoch: u32,
    access: Access,
}

fn join(into: &mut [u32], from: &[u32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

fn sure(clock: &[u32]) -> Clocks<'_> {
    Clocks { sure: clock, perhaps: None }
}

/// Pairs of sites.
type Pairs = BTreeSet<(u64, u64)>;

/// Runs the events with clocks as the kernel keeps them. Returns the bytes and pairs of sites that
/// race by the definition, and by the detector.
fn run(events: &[(usize, Event)]) -> [(BTreeSet<u64>, Pairs); 2] {
    let mut clocks = [[0u32; 4]; 4];
    let mut locks = [[0u32; 4]; 3];
    let mut atomics = [[0u32; 4]; 2];
    let mut past: Vec<Past> = Vec::new();
    let mut slow = (BTreeSet::new(), BTreeSet::new());
    let mut fast = (BTreeSet::new(), BTreeSet::new());
    let mut detector = Detector::new();
    for (number, &(thread, event)) in events.iter().enumerate() {
        let site = number as u64 + 1;
        let access = match event {
            Event::Touch { address, size, write } => Access { address, size, write, how: How::Plain, site },
            Event::Atomic { variable, write } => {
                clocks[thread][thread] += 1;
                let variable = variable as usize;
                join(&mut clocks[thread], &atomics[variable]);
                atomics[variable] = clocks[thread];
                Access { address: variable as u64 * 8, size: 4, write, how: How::Atomic, site }
            }
            Event::Object { address } => Access { address, size: 4, write: true, how: How::Object, site },
            Event::Lock(lock) => {
                // Acquire and release in one step.
                clocks[thread][thread] += 1;
                join(&mut clocks[thread], &locks[lock]);
                locks[lock] = clocks[thread];
                continue;
            }
            Event::Spawnlike { other } => {
                // Like the creation of a thread: what came before is ordered before all that
                // `other` does from now on.
                clocks[thread][thread] += 1;
                let from = clocks[thread];
                join(&mut clocks[other], &from);
                continue;
            }
        };
        let clock = clocks[thread];
        let epoch = clock[thread] + u32::from(access.how != How::Atomic);
        for old in &past {
            let ordered = old.thread == thread || clock[old.thread] >= old.epoch;
            let conflict = (old.access.write || access.write)
                && (old.access.how != access.how || access.how == How::Plain);
            if ordered || !conflict {
                continue;
            }
            let from = old.access.address.max(access.address);
            let to = (old.access.address + old.access.size).min(access.address + access.size);
            if from < to {
                slow.0.extend(from..to);
                slow.1.insert((old.access.site, site));
            }
        }
        past.push(Past { thread, epoch, access });
        detector.access(thread as u32, sure(&clock), &access, |race| {
            fast.0.insert(race.address & !7);
            fast.1.insert((race.first, race.second));
        });
    }
    [slow, fast]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Never a false alarm, and a variable that has a race is reported.
    #[test]
    fn agrees_with_all_pairs(events in events()) {
        let [slow, fast] = run(&events);
        prop_assert!(fast.1.is_subset(&slow.1), "false alarm: {:?} of {:?}", fast.1, slow.1);
        let granules: BTreeSet<u64> = slow.0.iter().map(|byte| byte & !7).collect();
        prop_assert_eq!(&fast.0, &granules);
    }

    /// The first race of an execution is found with both its sites.
    #[test]
    fn finds_the_first_race(events in events()) {
        let [slow, fast] = run(&events);
        let first = |pairs: &BTreeSet<(u64, u64)>| pairs.iter().map(|pair| pair.1).min();
        prop_assert_eq!(first(&slow.1), first(&fast.1));
    }
}

fn touch(address: u64, size: u64, write: bool, site: u64) -> Access {
    Access { address, size, write, how: How::Plain, site }
}

#[test]
fn neighbouring_bytes_do_not_race() {
    let mut detector = Detector::new();
    let mut races = Vec::new();
    detector.access(0, sure(&[0, 0]), &touch(16, 1, true, 1), |race| races.push(race));
    detector.access(1, sure(&[0, 0]), &touch(17, 1, true, 2), |race| races.push(race));
    assert!(races.is_empty());
    detector.access(1, sure(&[0, 0]), &touch(12, 8, false, 3), |race| races.push(race));
    assert_eq!(
        races,
        [Race {
            first: 1,
            first_writes: true,
            first_thread: 0,
            second: 3,
            second_writes: false,
            address: 16,
            object: false,
            doubtful: false
        }]
    );
}

#[test]
fn memory_that_is_new_has_no_past() {
    let mut detector = Detector::new();
    let mut races = 0;
    detector.access(0, sure(&[0, 0]), &touch(4096 - 8, 32, true, 1), |_| races += 1);
    detector.forget(4096 - 8, 24);
    detector.access(1, sure(&[0, 0]), &touch(4096 - 8, 24, true, 2), |_| races += 1);
    assert_eq!(races, 0);
    detector.access(1, sure(&[0, 0]), &touch(4096 + 16, 1, false, 2), |_| races += 1);
    assert_eq!(races, 1);
}

#[test]
fn memory_is_shared_when_a_second_thread_comes_and_somebody_writes() {
    let mut detector = Detector::new();
    assert!(!detector.shared(0, 64, 4, true));
    detector.access(0, sure(&[0, 0]), &touch(64, 4, false, 1), |_| ());
    assert!(!detector.shared(0, 64, 4, true), "only this thread was there");
    assert!(!detector.shared(1, 64, 4, false), "both only read");
    assert!(detector.shared(1, 64, 4, true));
    detector.access(1, sure(&[5, 5]), &touch(64, 4, true, 1), |_| ());
    assert!(detector.shared(0, 64, 4, false));
    assert!(detector.shared(1, 60, 8, false));
    assert!(!detector.shared(1, 72, 8, true));
}

/// Many accesses of many threads to one place neither grow without bound nor lose the latest.
#[test]
fn a_crowded_place_stays_small() {
    let mut detector = Detector::new();
    for thread in 0..400 {
        detector.access(thread, sure(&[]), &touch(8, 8, false, u64::from(thread)), |_| ());
    }
    let mut races = 0;
    detector.access(1000, sure(&[]), &touch(8, 8, true, 1000), |_| races += 1);
    assert!((100..=400).contains(&races), "{races}");
}

#[test]
fn what_may_be_ordered_is_told_as_doubtful() {
    let mut detector = Detector::new();
    detector.access(0, sure(&[3, 0]), &touch(8, 4, true, 1), |_| ());
    for (perhaps, doubtful) in [([3, 1], false), ([4, 1], true)] {
        let mut told = Vec::new();
        let clocks = Clocks { sure: &[0, 1], perhaps: Some(&perhaps) };
        detector.access(1, clocks, &touch(8, 4, false, 2), |race| told.push(race.doubtful));
        assert_eq!(told, [doubtful]);
        detector.forget(8, 8);
        detector.access(0, sure(&[3, 0]), &touch(8, 4, true, 1), |_| ());
    }
}
