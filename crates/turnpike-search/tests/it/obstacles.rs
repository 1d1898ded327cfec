//! Explanations of deadlocks in witnesses of models that give them.

use std::sync::atomic::AtomicBool;

use crate::intervals::{Edge, Intervals};
use turnpike_model::{Obstacle, Offer, StuckComponent, Trace};
use turnpike_search::strategy::Rdfs;
use turnpike_search::{SearchOptions, WitnessReport, replay, search};

/// Two steps, then an edge whose guard the value never meets.
fn line() -> Intervals {
    let edge = |from, guard| Edge { from, action: 0, guard, reset: Some(0), slack: 1, to: from + 1 };
    Intervals::new(vec![edge(0, (0, 9)), edge(1, (0, 9)), edge(2, (5, 7))], vec![[0, 0, 0]])
}

fn explained() -> Vec<StuckComponent> {
    let obstacle = Obstacle::Condition { condition: "in 5..7".to_owned(), actual: None };
    vec![StuckComponent {
        component: "interval".to_owned(),
        position: "l2".to_owned(),
        offers: vec![Offer { action: "a".to_owned(), obstacles: vec![obstacle] }],
        stops_time: None,
    }]
}

fn witness(objective: &str, runs: u64) -> WitnessReport {
    let objectives = vec![objective.parse().expect("an objective")];
    let options = SearchOptions { objectives, runs, ..SearchOptions::new(Rdfs::default()) };
    let report = search(&line(), &options, &|_| {}, &AtomicBool::new(false)).expect("a report");
    report.witness().expect("a witness").clone()
}

#[test]
fn a_deadlock_is_explained() {
    // Of many runs the shortest witness is.
    for runs in [1, 3] {
        for objective in ["deadlock", "any-error"] {
            let witness = witness(objective, runs);
            assert_eq!(witness.stuck, explained(), "{objective}, {runs} runs");
            let mut text = Vec::new();
            witness.trace.write_json(&mut text).expect("writes");
            let trace = Trace::parse(&text).expect("reads");
            assert_eq!(trace.stuck, explained());
            // Replaying explains it afresh.
            let bare = Trace { stuck: Vec::new(), ..trace };
            assert_eq!(replay(&line(), &bare).expect("replays").trace.stuck, explained());
        }
    }
}

#[test]
fn nothing_else_is_explained() {
    // The last state is a deadlock, but that was not asked.
    assert!(witness("label l2", 1).stuck.is_empty());
    assert!(witness("state high == 1", 1).stuck.is_empty());
    let cut = Trace { steps: witness("deadlock", 1).trace.steps[..1].to_vec(), ..Trace::default() };
    assert!(replay(&line(), &cut).expect("replays").trace.stuck.is_empty());
}
