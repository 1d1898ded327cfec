//! The bug of the bakery: its distance, and that only the tickets cause it.

use crate::common::{build, count, violation};
use rustc_hash::FxHashSet;
use turnpike_model::Successors;

#[test]
fn the_bug_moves_away_with_the_limit() {
    let depth = |n: u64, limit: u64| {
        count(&*build("bakery", &[("n", n), ("limit", limit)])).first_violation.expect("a violation")
    };
    // Two processes: six steps for each customer, and a last one that overtakes.
    for limit in 2..20 {
        assert_eq!(depth(2, limit), 6 * limit as usize + 4);
    }
    assert!(depth(3, 4) < depth(3, 8) && depth(3, 8) < depth(3, 16));
}

/// Without the step that wraps around, mutual exclusion holds in the complete state space.
#[test]
fn only_wrapped_tickets_break_it() {
    for (n, limit) in [(2, 12), (3, 6)] {
        let model = build("bakery", &[("n", n), ("limit", limit)]);
        let info = model.info();
        let mut explorer = model.explorer();
        let mut successors = Successors::new(info.width);
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("an initial state");
        let mut seen = FxHashSet::from_iter([state.clone()]);
        let mut stack = vec![state];
        let (mut wraps, mut values) = (0, Vec::new());
        while let Some(state) = stack.pop() {
            assert_eq!(violation(&mut *explorer, &state), None);
            explorer.successors(&state, &mut successors).expect("successors");
            explorer.state_values(&state, &mut values);
            for (label, target) in successors.iter() {
                let label = explorer.label(label);
                let action = &label.actions[0];
                if action.name == "ticket" && action.arguments[1] == "1" {
                    let at =
                        info.parameters.iter().position(|p| *p == format!("highest{}", action.arguments[0]));
                    if values[at.expect("a parameter")] == limit.to_string() {
                        wraps += 1;
                        continue;
                    }
                }
                if seen.insert(target.to_vec()) {
                    stack.push(target.to_vec());
                }
            }
        }
        assert!(wraps > 0, "the limit was never reached");
    }
}

#[test]
fn a_search_in_depth_gets_there() {
    let model = build("bakery", &[]);
    let mut explorer = model.explorer();
    let mut successors = Successors::new(model.info().width);
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let found = (0..100_000u64).any(|step| {
        explorer.successors(&state, &mut successors).expect("successors");
        let choice = turnpike_model::hash::mix(1, step) as usize % successors.len();
        state = successors.state(choice).to_vec();
        violation(&mut *explorer, &state).is_some()
    });
    assert!(found);
    let message = violation(&mut *explorer, &state).expect("a violation").message;
    assert!(message.ends_with("are both in the critical section"), "{message}");
}
