//! What threads did last to locks, queues and other objects, and what memory then held, as values of the states of a program's run.

use std::borrow::Cow;

use indexmap::IndexMap;
use turnpike_model::{StateValues, Step, Trace};

/// What stands for an object that nobody has used yet.
const UNUSED: &str = "-";

/// The trace with a value for each object that its threads use: what was done last, and by whom. The states of
/// programs have no values of variables. Traces that have nothing to add are given back as they are.
pub fn with_objects(trace: &Trace) -> Cow<'_, Trace> {
    let mut values: IndexMap<String, String> = IndexMap::new();
    for (object, _) in uses(trace).into_iter().flatten() {
        values.insert(object.to_owned(), UNUSED.to_owned());
    }
    if values.is_empty() {
        return Cow::Borrowed(trace);
    }
    let uses = uses(trace);
    let mut complete = trace.clone();
    complete.initial = Some(joined(trace.initial.as_ref(), &values));
    for (step, used) in complete.steps.iter_mut().zip(uses) {
        for (object, what) in used {
            values.insert(object.to_owned(), what);
        }
        step.state = Some(joined(step.state.as_ref(), &values));
    }
    Cow::Owned(complete)
}

/// For each step the objects that it uses, with what is done.
fn uses(trace: &Trace) -> Vec<Vec<(&str, String)>> {
    trace.steps.iter().map(|step| uses_of_step(step, &trace.components)).collect()
}

fn uses_of_step<'a>(step: &'a Step, threads: &[String]) -> Vec<(&'a str, String)> {
    let mut found = Vec::new();
    for part in step.parts.iter().flatten() {
        // Threads that are created or joined have values of their own.
        if let Some((verb, object)) = part.action.split_once(' ')
            && !threads.iter().any(|name| name == object)
        {
            let what = format!("{verb} by {}", part.component);
            found.push((object, part.value.iter().fold(what, |what, value| format!("{value} ({what})"))));
        }
    }
    found
}

fn joined(own: Option<&StateValues>, objects: &IndexMap<String, String>) -> StateValues {
    let own = own.into_iter().flat_map(StateValues::iter);
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    own.chain(objects.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::timeline_chart;
    use super::*;
    use turnpike_model::Participant;

    #[test]
    fn objects_show_what_was_done_last() {
        let step = |component: &str, action: &str| Step {
            parts: Some(vec![Participant {
                component: component.into(),
                action: action.into(),
                ..Participant::default()
            }]),
            ..Step::new(action)
        };
        let trace = Trace {
            components: vec!["main".into(), "main.0".into()],
            steps: vec![
                step("main", "create main.0"),
                step("main.0", "lock m<1>"),
                step("main.0", "unlock m<1>"),
                step("main", "lock m<1>"),
            ],
            ..Trace::default()
        };
        let complete = with_objects(&trace);
        let value = |at: usize| {
            complete.steps[at].state.as_ref().and_then(|state| state.get("m<1>")).map(str::to_owned)
        };
        assert_eq!(complete.initial.as_ref().map(StateValues::len), Some(1), "threads are not objects");
        let values: Vec<String> = (0..4).filter_map(value).collect();
        assert_eq!(values, ["-", "lock by main.0", "unlock by main.0", "lock by main"]);
        let chart = timeline_chart(&trace, &[], None).expect("drawn").file();
        assert!(chart.contains("m&lt;1&gt;") && chart.contains("lock by main.0"), "{chart}");
        let mut read = step("main", "read count");
        read.parts.iter_mut().flatten().for_each(|part| part.value = Some("-3".into()));
        let known = Trace { steps: vec![read], ..Trace::default() };
        let known = with_objects(&known).into_owned();
        let shown = known.steps[0].state.as_ref().and_then(|state| state.get("count"));
        assert_eq!(shown, Some("-3 (read by main)"));
        let plain = Trace { steps: vec![Step::new("a")], ..Trace::default() };
        assert!(matches!(with_objects(&plain), Cow::Borrowed(_)));
    }
}
