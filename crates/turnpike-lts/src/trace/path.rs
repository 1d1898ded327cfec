//! A trace as a transition system that is a single path, possibly with a loop at its end.

use rustc_hash::FxHashMap;
use turnpike_model::{Diagnostic, LabelId, Step, Trace};

use crate::aut::{AutDialect, read_lts};
use crate::outgoing::Outgoing;
use crate::system::{Lts, Transition};

/// A trace as a system: step `k` leads from state `k` to state `k + 1`, and the last step of a
/// lasso to the start of the loop.
pub fn to_lts(trace: &Trace) -> Result<Lts, Diagnostic> {
    trace.check()?;
    let length = u32::try_from(trace.len()).ok().filter(|&length| length < u32::MAX);
    let Some(length) = length else {
        return Err(Diagnostic::error("the trace has more steps than an .aut file can number"));
    };
    let mut labels: Vec<String> = Vec::new();
    let mut ids: FxHashMap<&str, LabelId> = FxHashMap::default();
    let mut transitions = Vec::with_capacity(trace.len());
    for (from, text) in (0..length).zip(trace.labels()) {
        let label = *ids.entry(text).or_insert_with(|| {
            labels.push(text.to_owned());
            LabelId(labels.len() as u32 - 1)
        });
        let to = match trace.loop_start {
            Some(start) if from + 1 == length => start as u32,
            _ => from + 1,
        };
        transitions.push(Transition { from, label, to });
    }
    // The last step of a lasso ends in a state that exists already.
    let states = if trace.loop_start.is_some() { length } else { length + 1 };
    Ok(Lts { initial: 0, states, labels, transitions })
}

pub(super) fn read(bytes: &[u8]) -> Result<Trace, Diagnostic> {
    let lts = read_lts(bytes, AutDialect::Mcrl2)?;
    let not_a_path = |why: String| {
        Diagnostic::error(format!("this .aut file is not a single path: {why}")).help(
            "a trace is one path from the initial state; to search the whole system, give it as the model",
        )
    };
    let outgoing = lts.outgoing();
    let mut trace = Trace::default();
    let mut state = lts.initial;
    // Every state of a path has one successor, so the walk ends after as many steps as there are
    // transitions.
    while trace.len() < lts.transitions.len() {
        match outgoing.of(state) {
            [(label, to)] => {
                trace.steps.push(Step::new(lts.label(*label)));
                state = *to;
            }
            [] => {
                let left = lts.transitions.len() - trace.len();
                let are = if left == 1 { "transition is" } else { "transitions are" };
                return Err(not_a_path(format!("state {state} is the end, but {left} {are} elsewhere")));
            }
            several => return Err(not_a_path(format!("state {state} has {} transitions", several.len()))),
        }
    }
    // If the last step returned, `state` is on the path already and has a successor.
    if !outgoing.of(state).is_empty() {
        let mut at = lts.initial;
        let mut index = 0;
        while at != state {
            at = outgoing.of(at)[0].1;
            index += 1;
        }
        if trace.len() - index > 0 && loop_closes_once(&outgoing, state, trace.len() - index) {
            trace.loop_start = Some(index);
        } else {
            return Err(not_a_path("it goes round a loop, but some transitions are elsewhere".to_owned()));
        }
    }
    Ok(trace)
}

/// Whether a round from `start` takes exactly `length` steps. Otherwise the walk went round more
/// than once, and other transitions remain.
fn loop_closes_once(outgoing: &Outgoing, start: u32, length: usize) -> bool {
    let mut state = start;
    for step in 1..=length {
        state = outgoing.of(state)[0].1;
        if state == start {
            return step == length;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::{parse, write_aut};
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> String {
        parse(text.as_bytes()).expect_err(text).to_string()
    }

    #[test]
    fn lassos_return() {
        let trace =
            Trace { loop_start: Some(1), steps: ["a", "b", "c"].map(Step::new).to_vec(), ..Trace::default() };
        let mut out = Vec::new();
        write_aut(&trace, &mut out).expect("memory");
        let expected = "des (0,3,3)\n(0,\"a\",1)\n(1,\"b\",2)\n(2,\"c\",1)\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        assert_eq!(parse(expected.as_bytes()), Ok(trace));
    }

    #[test]
    fn traces_are_lines_or_lassos() {
        let steps: Vec<Step> = ["a", "b", "a"].map(Step::new).to_vec();
        let line = to_lts(&Trace { steps: steps.clone(), ..Trace::default() }).expect("a line");
        assert_eq!((line.states, line.labels.len(), line.deadlocks()), (4, 2, 1));
        let lasso = to_lts(&Trace { steps, loop_start: Some(1), ..Trace::default() }).expect("a lasso");
        assert_eq!((lasso.states, lasso.transitions[2].to, lasso.deadlocks()), (3, 1, 0));
        assert_eq!(to_lts(&Trace::default()).expect("one state").states, 1);
        assert!(to_lts(&Trace { loop_start: Some(0), ..Trace::default() }).is_err(), "a loop without steps");
    }

    #[test]
    fn paths_may_be_in_any_order() {
        let trace = parse(b"des (5,2,9)   \n(3,\"b\",0)\n(5,\"a\",3)\n").expect("reads");
        assert_eq!(trace.labels().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(parse(b"des (0,0,1)\n"), Ok(Trace::default()));
    }

    #[test]
    fn branching_systems_are_not_traces() {
        assert!(refused("des (0,2,3)\n(0,\"a\",1)\n(0,\"b\",2)\n").contains("state 0 has 2 transitions"));
        assert!(refused("des (0,2,4)\n(0,\"a\",1)\n(2,\"b\",3)\n").contains("1 transition is elsewhere"));
        assert!(refused("des (0,2,2)\n(0,\"a\",0)\n(1,\"b\",1)\n").contains("loop"));
        assert!(
            refused("des (0,4,4)\n(0,\"a\",1)\n(1,\"b\",0)\n(2,\"b\",3)\n(3,\"b\",2)\n").contains("loop")
        );
        assert!(refused("des (0,1,2)\n(0,\"a\",7)\n").contains("line 2"));
        assert!(refused("des                        \n(0,\"a\",7)\n").contains("interrupted"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(labels in prop::collection::vec("[^\n\u{4}]{0,9}", 0..20), turn in any::<Option<usize>>()) {
            let loop_start = turn.filter(|_| !labels.is_empty()).map(|turn| turn % labels.len());
            let trace = Trace { loop_start, steps: labels.iter().map(Step::new).collect(), ..Trace::default() };
            let mut out = Vec::new();
            write_aut(&trace, &mut out).expect("writable labels");
            prop_assert_eq!(parse(&out).expect("reads"), trace);
        }
    }
}
