//! Times in witnesses of models that know time.

use std::sync::atomic::AtomicBool;

use crate::intervals::{Edge, Intervals};
use turnpike_model::Trace;
use turnpike_search::strategy::Rdfs;
use turnpike_search::{RunReport, SearchError, SearchOptions, WitnessReport, replay, search};

fn line() -> Intervals {
    let edge = |from| Edge { from, action: 0, guard: (0, 9), reset: None, slack: 1, to: from + 1 };
    Intervals::new((0..5).map(edge).collect(), vec![[0, 0, 0]])
}

fn asking(objective: &str, runs: u64) -> SearchOptions {
    let objectives = vec![objective.parse().expect("an objective")];
    SearchOptions { objectives, runs, ..SearchOptions::new(Rdfs::default()) }
}

fn searched(model: &Intervals, options: &SearchOptions) -> Result<Vec<RunReport>, SearchError> {
    search(model, options, &|_| {}, &AtomicBool::new(false)).map(|report| report.runs)
}

fn times(witness: &WitnessReport) -> Vec<&str> {
    witness.steps.iter().filter_map(|step| step.time.as_deref()).collect()
}

#[test]
fn steps_tell_when_they_are_taken() {
    let model = line();
    for (objective, last_delay) in [("state high == 3", Some("3")), ("label l3", None), ("deadlock", None)] {
        let runs = searched(&model, &asking(objective, 1)).expect("a report");
        let witness = runs[0].witness.as_ref().expect("a witness");
        assert_eq!(times(witness)[..3], ["1/2", "1", "3/2"]);
        assert_eq!(witness.steps[1].delay.as_deref(), Some("1/2"));
        assert_eq!(
            witness.steps[1].clocks.as_ref().map(|clocks| clocks["x"].to_owned()),
            Some("1".to_owned())
        );
        // Only a condition on the last state may need more time there.
        assert_eq!(witness.last_delay.as_deref(), last_delay, "{objective}");
        let mut text = Vec::new();
        witness.trace.write_json(&mut text).expect("writes");
        let trace = Trace::parse(&text).expect("reads");
        assert_eq!(trace, witness.trace);
        // Times are told anew when it is replayed.
        let replayed = replay(&model, &trace).expect("replays");
        assert_eq!((replayed.trace.steps, replayed.trace.last_delay), (trace.steps, trace.last_delay));
    }
}

#[test]
fn of_many_runs_the_shortest_witness_is_told() {
    let runs = searched(&line(), &asking("label l4", 5)).expect("a report");
    let told: Vec<usize> =
        runs.iter().filter_map(|run| run.witness.as_ref()).map(|w| times(w).len()).collect();
    assert_eq!(told, [4, 0, 0, 0, 0]);
}

#[test]
fn a_witness_without_a_schedule_is_an_internal_error() {
    let mut model = line();
    model.schedules = false;
    for runs in [1, 3] {
        match searched(&model, &asking("label l2", runs)) {
            Err(SearchError::Replay(message)) => assert!(message.contains("no delay fits"), "{message}"),
            other => panic!("{}", other.is_ok()),
        }
    }
}
