//! Pictures of runs: who does what with whom, and when, and why nothing can happen at the end.
//!
//! - [`sequence_chart`] is a message sequence chart: time flows down, a line for every component, an
//!   arrow for every communication and for everything that is handed over.
//! - [`gantt_chart`] has time from left to right, and a bar for every stay of a process in a location.
//! - [`timeline_chart`] has a row for each of some variables, with a bar for each value.
//! - [`wait_chart`] shows which component waits for which in a deadlock.
//! - [`automata_chart`] shows the automata of a system, and where they are; it needs the model.
//!
//! For the others a trace is enough, its model is not needed. The data of a chart ([`Run`], [`Timeline`],
//! [`WaitGraph`]) are apart from its drawing. A [`Drawing`] is a file that stands alone, or an element
//! of a page that has the stylesheet [`CHART_STYLE`]. Every step of the trace is a group
//! `<g class="step" data-step="K">`, so that a page can react to it. Only the end of a long run is
//! drawn, because that is where the error is.

mod automata;
mod canvas;
mod gantt;
mod labels;
mod objects;
mod run;
mod sequence;
mod style;
mod timeline;
mod waits;

use turnpike_model::{Diagnostic, Trace};

pub use automata::{Situation, automata_chart};
pub use canvas::Drawing;
pub use objects::with_objects;
pub use run::{Arrow, ArrowKind, Event, Lane, MAX_CHARTED_STEPS, Part, Run};
pub use style::CHART_STYLE;
pub use timeline::{Bar, Timeline, TimelineRow, TimelineStep};
pub(super) use timeline::{draw_axis, draw_row, gutter};
pub use waits::{Wait, WaitGraph, WaitKind, WaitNode};

/// A message sequence chart: a line for every component, an arrow for every communication and
/// handover, the places in between, and the times of the steps where they are known. Of more than
/// [`MAX_CHARTED_STEPS`] steps the last are drawn, with a note that says so. Systems without
/// components have one line. Lanes move closer together to fit a width, as far as that can be read.
pub fn sequence_chart(trace: &Trace, width: Option<u32>) -> Drawing {
    sequence::draw(trace, &Run::of(trace), width)
}

/// A chart of the locations of every process over time, perhaps as wide as a window. Refuses traces without times, and cuts long
/// ones as [`sequence_chart`] does.
pub fn gantt_chart(trace: &Trace, width: Option<u32>) -> Result<Drawing, Diagnostic> {
    let run = Run::of(trace);
    if run.events.iter().any(|event| event.time.is_none()) {
        return Err(Diagnostic::error("the steps of this trace have no times")
            .help("witnesses of timed automata have them when they are written as .json"));
    }
    Ok(gantt::draw(trace, &run, width))
}

/// The values of some variables over the steps of a trace, or over time if its steps have times; of
/// all that change if none are named. Cuts long traces as [`sequence_chart`] does. Traces without values show
/// what was done last to each object ([`with_objects`]). With a width, the picture is about that wide.
pub fn timeline_chart(trace: &Trace, names: &[String], width: Option<u32>) -> Result<Drawing, Diagnostic> {
    if trace.initial.is_none() {
        let complete = with_objects(trace);
        return Timeline::of(&complete, names).map(|timeline| timeline::draw(&timeline, width));
    }
    Timeline::of(trace, names).map(|timeline| timeline::draw(&timeline, width))
}

/// Which component waits for which in a deadlock. Refuses traces that do not say it.
pub fn wait_chart(trace: &Trace) -> Result<Drawing, Diagnostic> {
    if trace.stuck.is_empty() {
        return Err(Diagnostic::error("this trace does not say what its components wait for")
            .help("witnesses of deadlocks do, when they are written as .json"));
    }
    Ok(waits::draw(&WaitGraph::of(&trace.stuck)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::{Role, StateValues, Step};

    /// A run of `steps` steps in which two processes greet each other once per unit of time.
    pub(super) fn greetings(steps: usize) -> Trace {
        let values = |at: usize| -> StateValues {
            let name = |place: &str| format!("{place}{}", at % 3);
            [("A<1>", name("here")), ("B", name("there")), ("still", "put".into()), ("count", at.to_string())]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect()
        };
        let step = |at: usize| Step {
            label: "A<1>@hello!,B@hello?".to_owned(),
            state: Some(values(at)),
            delay: Some("1".to_owned()),
            time: Some(at.to_string()),
            ..Step::default()
        };
        Trace { initial: Some(values(0)), steps: (1..=steps).map(step).collect(), ..Trace::default() }
    }

    #[test]
    fn processes_are_those_with_locations_and_long_runs_lose_their_beginning() {
        let trace = greetings(3);
        let run = Run::of(&trace);
        assert_eq!(run.lanes.iter().map(|lane| lane.name).collect::<Vec<_>>(), ["A<1>", "B", "still"]);
        assert_eq!(run.events[1].places, [Some("here2"), Some("there2"), Some("put")]);
        assert_eq!(run.events[0].parts[0], Part { lane: 0, action: "hello!", role: Role::Sends });
        assert!(run.note().is_none());
        let trace = greetings(1000);
        let run = Run::of(&trace);
        assert_eq!((run.events.len(), run.events[0].step, run.start_time), (400, 601, 600.0));
        assert_eq!(run.lanes[0].start, Some("here0"));
        assert_eq!(run.note().as_deref(), Some("the last 400 steps; 600 before them are not drawn"));
    }

    #[test]
    fn times_are_numbers() {
        assert_eq!(run::value("3/4"), Some(0.75));
        assert_eq!(run::value("12"), Some(12.0));
        for other in ["", "1/0", "x", "inf", "NaN", "1/"] {
            assert_eq!(run::value(other), None, "{other}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let untimed = Trace { steps: vec![Step::new("P@a"), Step::new("P@b,Q@c")], ..Trace::default() };
        assert!(gantt_chart(&untimed, None).expect_err("no times").message.contains("no times"));
        assert!(timeline_chart(&untimed, &[], None).expect_err("no values").message.contains("no values"));
        assert!(wait_chart(&untimed).expect_err("no deadlock").message.contains("wait for"));
        let unknown = timeline_chart(&greetings(2), &["cuont".to_owned()], None).expect_err("unknown");
        assert!(unknown.help.is_some_and(|help| help.contains("count")));
    }

    #[test]
    fn a_width_is_kept() {
        let width = |drawing: Drawing| -> f64 {
            let text = drawing.file();
            let (_, rest) = text.split_once(" width=\"").expect("a width");
            rest.split('"').next().expect("a number").parse().expect("a number")
        };
        let trace = greetings(30);
        for asked in [500, 900, 1700] {
            for drawing in [gantt_chart(&trace, Some(asked)), timeline_chart(&trace, &[], Some(asked))] {
                let found = width(drawing.expect("drawn"));
                assert!((found - f64::from(asked)).abs() < 12.0, "{found} for {asked}");
            }
        }
        let long = Step::new("first_process@an_action_with_a_long_name,second_process@another_action");
        let long = Trace { steps: vec![long], ..Trace::default() };
        let [narrow, usual, wide] =
            [Some(0), None, Some(5000)].map(|asked| width(sequence_chart(&long, asked)));
        assert!(narrow < usual && usual == wide, "{narrow} {usual} {wide}");
        assert!(width(gantt_chart(&trace, Some(0)).expect("drawn")) > 200.0, "still readable");
    }
}
