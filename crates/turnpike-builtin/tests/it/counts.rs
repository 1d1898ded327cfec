//! Compares numbers of states with formulas and independent computations.

use crate::common::{build, count, explore, measure};

#[test]
fn diamond() {
    for n in [1, 2, 3, 9, 40] {
        let counts = count(&*build("diamond", &[("n", n)]));
        let n = n as usize;
        assert_eq!(counts.states, (n + 1).pow(2));
        // Two steps from each state except for the two far sides and the corner, and the n+1
        // reports.
        assert_eq!(counts.transitions, 2 * n * (n + 1) + n + 1);
        assert_eq!((counts.deadlocks, counts.first_deadlock), (1, Some(2 * n)));
    }
}

#[test]
fn backloops() {
    for n in 1..30 {
        let counts = count(&*build("backloops", &[("n", n)]));
        let n = n as usize;
        assert_eq!(counts.states, (n + 1) + n * (n - 1) / 2 + 1);
        assert_eq!((counts.deadlocks, counts.first_deadlock), (1, Some(n + 1)));
    }
    assert_eq!(count(&*build("backloops", &[])).states, 47);
}

#[test]
fn scc() {
    for (number, size) in [(1, 1), (5, 5), (3, 8), (7, 2)] {
        let counts = count(&*build("scc", &[("number", number), ("size", size)]));
        let (number, size) = (number as usize, size as usize);
        assert_eq!(counts.states, 1 + number * (size + 1));
        assert_eq!(counts.transitions, number + number * size * (size - 1) + number);
        assert_eq!(counts.deadlocks, number);
    }
}

/// The trace of the n-th power: the number of ways to seat n people around a table such that all
/// neighbours are compatible.
fn seatings<const K: usize>(agree: impl Fn(usize, usize) -> bool, n: usize) -> usize {
    let mut power = [[0usize; K]; K];
    for (i, row) in power.iter_mut().enumerate() {
        row[i] = 1;
    }
    for _ in 0..n {
        power = power.map(|row| {
            std::array::from_fn(|b| (0..K).filter(|&c| agree(c, b)).map(|c| row[c]).sum::<usize>())
        });
    }
    (0..K).map(|i| power[i][i]).sum()
}

#[test]
fn philosophers() {
    // The local states in the order of a round. A fork has at most one owner. Only one compatible
    // seating is unreachable: all philosophers have eaten and hold only the right fork. The last
    // one to put down the left fork would have held a fork that the philosopher before holds.
    let holds_left = |state: usize| (1..=3).contains(&state);
    let holds_right = |state: usize| (2..=4).contains(&state);
    for n in 2..=10 {
        let counts = count(&*build("philosophers", &[("n", n as u64)]));
        assert_eq!(counts.states, seatings::<5>(|a, b| !(holds_right(a) && holds_left(b)), n) - 1);
        assert_eq!((counts.deadlocks, counts.first_deadlock), (1, Some(n)));
    }
    assert_eq!(count(&*build("philosophers", &[("n", 3)])).states, 35);
    // According to the mCRL2 tools.
    let eight = count(&*build("philosophers", &[("n", 8)]));
    assert_eq!((eight.states, eight.transitions, eight.deadlocks), (14_158, 72_336, 1));
}

#[test]
fn philosophers_across_words() {
    // With more than ten philosophers there are several words, and the count covers all boundaries
    // between them.
    let counts = count(&*build("philosophers", &[("n", 11)]));
    let (mut a, mut b) = (2usize, 3);
    for _ in 1..11 {
        (a, b) = (b, 3 * b + a);
    }
    assert_eq!(counts.states, b - 1);
    assert_eq!(counts.deadlocks, 1);
}

#[test]
fn philosophers_who_toss() {
    // Thinking, wants left, wants right, has left, has right, has both, returns right.
    let holds_left = |state: usize| matches!(state, 3 | 5);
    let holds_right = |state: usize| matches!(state, 4..=6);
    for n in 2..=6 {
        // As above, it is impossible that all philosophers return the right fork.
        let expected = seatings::<7>(|a, b| !(holds_right(a) && holds_left(b)), n) - 1;
        for name in ["philosophers-either", "philosophers-parity"] {
            let model = build(name, &[("n", n as u64)]);
            let counts = count(&*model);
            assert_eq!(counts.states, expected, "{}", model.info().name);
            assert_eq!((counts.deadlocks, counts.first_deadlock), (2, Some(2 * n)));
        }
        let (mut a, mut b) = (2usize, 6);
        for _ in 1..n {
            (a, b) = (b, 6 * b + a);
        }
        assert_eq!(b - 1, expected, "closed form for {n}");
    }
}

#[test]
fn two_phase_commit() {
    // According to the TLA+ and Stateright versions.
    for (n, states) in [(3, 288), (5, 8_832), (7, 296_448)] {
        let counts = count(&*build("two-phase-commit", &[("n", n)]));
        assert_eq!(counts.states, states);
        assert_eq!((counts.deadlocks, counts.first_violation), (0, None));
    }
    // TLC counts the initial state as generated: 1146.
    assert_eq!(count(&*build("two-phase-commit", &[("n", 3)])).transitions + 1, 1_146);
}

#[test]
fn sliding_puzzle() {
    for (width, height, states) in [(2, 2, 12), (3, 2, 360), (2, 3, 360), (3, 3, 181_440)] {
        for instance in [0, 1, 2, u64::MAX] {
            if instance > 1 && states > 1000 {
                continue;
            }
            let model =
                build("sliding-puzzle", &[("width", width), ("height", height), ("instance", instance)]);
            let mut solved = 0;
            let counted = explore(&*model, |explorer, state, _, successors| {
                let here = measure(explorer, state, 0);
                if explorer.label(successors.label(0)).text == "solved" {
                    solved += 1;
                    assert_eq!(successors.state(0), state);
                    assert_eq!(
                        (here, measure(explorer, state, 1), measure(explorer, state, 2)),
                        (0.0, 0.0, 0.0)
                    );
                    return;
                }
                assert!(here >= measure(explorer, state, 1) && measure(explorer, state, 1) > 0.0);
                // A slide moves one tile by one cell.
                for (_, target) in successors.iter() {
                    assert_eq!((measure(explorer, target, 0) - here).abs(), 1.0);
                }
            });
            assert_eq!(counted, states);
            assert_eq!(solved, 1);
        }
    }
}

#[test]
fn puzzle_instances_differ() {
    let start = |instance: u64| {
        let model = build("sliding-puzzle", &[("width", 4), ("height", 4), ("instance", instance)]);
        let mut state = Vec::new();
        model.explorer().initial(&mut state).expect("an initial state");
        state
    };
    let mut starts: Vec<Vec<u32>> = (0..50).map(start).collect();
    starts.sort();
    starts.dedup();
    assert_eq!(starts.len(), 50);
    // These instances must not change, because recorded witnesses start from them.
    assert_eq!(start(0), [0x8765_4321, 0x0fed_cba9]);
}
