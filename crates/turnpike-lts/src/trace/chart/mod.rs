//! Pictures of runs of several processes: who does what with whom, and when.
//!
//! Two drawings of the same run, both self-contained SVG. [`sequence_chart`] is a message sequence
//! chart: time flows down, a line for every process, an arrow for every synchronisation.
//! [`gantt_chart`] has time from left to right, and a bar for every stay of a process in a
//! location.
//!
//! A trace is enough, its model is not needed: labels such as `Train(0)@stop!,Gate@stop?` name the
//! processes that take part, the values of a state hold their locations under the same names, and
//! steps of timed models have times. Only the end of a long run is drawn, because that is where the
//! error is.

mod canvas;
mod gantt;
mod sequence;

use turnpike_model::{Diagnostic, StateValues, Trace};

/// Steps that are drawn at most; of longer runs the last ones.
pub const MAX_CHARTED_STEPS: usize = 400;

/// What a process does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It sends: the arrow starts here.
    Sends,
    /// It receives.
    Receives,
    /// Neither: it moves alone, or as one of equals.
    Moves,
}

/// The part of one process in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part<'a> {
    process: usize,
    /// The name of what it does: an event or a channel.
    event: &'a str,
    role: Role,
}

/// A step as it is drawn.
#[derive(Debug)]
struct Event<'a> {
    /// Number of the step in the whole trace; the first is 1.
    number: usize,
    label: &'a str,
    parts: Vec<Part<'a>>,
    /// Where every process is afterwards, if known.
    locations: Vec<Option<&'a str>>,
    /// Text of the time, and its value.
    time: Option<(&'a str, f64)>,
    /// How long after the step before.
    delay: Option<&'a str>,
}

/// The part of a trace that is drawn.
#[derive(Debug)]
struct Run<'a> {
    processes: Vec<&'a str>,
    /// Where the processes are before the first event that is drawn.
    start: Vec<Option<&'a str>>,
    /// When that is.
    start_time: f64,
    events: Vec<Event<'a>>,
    /// Steps before the first event that is drawn.
    left_out: usize,
}

/// A message sequence chart: a line for every process, an arrow for every synchronisation, the
/// locations in between, and the times of the steps where they are known. Of more than
/// [`MAX_CHARTED_STEPS`] steps the last are drawn, with a note that says so.
///
/// Refuses traces whose labels do not name processes.
pub fn sequence_chart(trace: &Trace) -> Result<String, Diagnostic> {
    Ok(sequence::draw(trace, &Run::of(trace)?))
}

/// A chart of the locations of every process over time. Refuses traces without times, and cuts long
/// ones as [`sequence_chart`] does.
pub fn gantt_chart(trace: &Trace) -> Result<String, Diagnostic> {
    let run = Run::of(trace)?;
    if run.events.iter().any(|event| event.time.is_none()) {
        return Err(Diagnostic::error("the steps of this trace have no times")
            .help("witnesses of timed automata have them when they are written as .json"));
    }
    Ok(gantt::draw(trace, &run))
}

impl<'a> Run<'a> {
    fn of(trace: &'a Trace) -> Result<Self, Diagnostic> {
        let parts: Vec<Vec<(&str, &str)>> = trace.labels().map(named_parts).collect();
        // Some steps are nobody's, such as the one that begins a model with several initial states.
        if parts.iter().all(Vec::is_empty)
            && let Some(first) = trace.steps.first()
        {
            let message = format!("step 1 does not say which processes take it: {}", first.label);
            return Err(Diagnostic::error(message).help("charts are drawn of witnesses of timed automata"));
        }
        let mut processes: Vec<&str> = trace
            .initial
            .as_ref()
            .map_or(Vec::new(), |values| located(values).map(|(name, _)| name).collect());
        for (name, _) in parts.iter().flatten() {
            if !processes.contains(name) {
                processes.push(name);
            }
        }
        if processes.is_empty() {
            return Err(Diagnostic::error("this trace has no processes to draw")
                .help("charts are drawn of witnesses of timed automata, written as .json"));
        }
        let places = |values: Option<&'a StateValues>| -> Vec<Option<&'a str>> {
            processes.iter().map(|&name| values?.get(name)).collect()
        };
        let left_out = trace.len().saturating_sub(MAX_CHARTED_STEPS);
        let before = left_out.checked_sub(1).map(|last| &trace.steps[last]);
        let start = places(before.map_or(trace.initial.as_ref(), |step| step.state.as_ref()));
        let start_time = before.and_then(|step| value(step.time.as_deref()?)).unwrap_or(0.0);
        let events = (left_out..trace.len())
            .map(|index| {
                let step = &trace.steps[index];
                Event {
                    number: index + 1,
                    label: &step.label,
                    parts: parts[index]
                        .iter()
                        .filter_map(|&(name, event)| part(&processes, name, event))
                        .collect(),
                    locations: places(step.state.as_ref()),
                    time: step.time.as_deref().and_then(|text| Some((text, value(text)?))),
                    delay: step.delay.as_deref(),
                }
            })
            .collect();
        Ok(Run { start, start_time, events, left_out, processes })
    }

    /// A note on steps that are not drawn.
    fn note(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!("the last {} steps; {} before them are not drawn", self.events.len(), self.left_out)
        })
    }
}

/// The processes among the values of a state: they come first, and are in locations, whose names
/// are no numbers.
fn located(values: &StateValues) -> impl Iterator<Item = (&str, &str)> {
    values.iter().take_while(|&(name, value)| {
        name != "zone" && !value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    })
}

/// `P@e` for all processes in a label; nothing when it has another form. Commas within brackets
/// belong to names.
fn named_parts(label: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i64, 0);
    let ends = label.char_indices().filter_map(|(at, c)| match c {
        '(' | '[' => {
            depth += 1;
            None
        }
        ')' | ']' => {
            depth -= 1;
            None
        }
        ',' => (depth == 0).then_some(at),
        _ => None,
    });
    for end in ends.chain([label.len()]) {
        match label[start..end].split_once('@') {
            Some((name, event)) if !name.is_empty() => parts.push((name, event)),
            _ => return Vec::new(),
        }
        start = end + 1;
    }
    parts
}

fn part<'a>(processes: &[&str], name: &str, event: &'a str) -> Option<Part<'a>> {
    let process = processes.iter().position(|&known| known == name)?;
    let sends = event.strip_suffix('!').map(|event| (event, Role::Sends));
    let (event, role) = sends
        .or_else(|| event.strip_suffix('?').map(|event| (event, Role::Receives)))
        .unwrap_or((event, Role::Moves));
    Some(Part { process, event, role })
}

/// A time as a number: whole, decimal, or a fraction.
fn value(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let time = match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    };
    time.is_finite().then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::Step;

    #[test]
    fn labels_are_taken_apart() {
        assert_eq!(named_parts("P(1,2)@go[3,4]!,Q@go?"), [("P(1,2)", "go[3,4]!"), ("Q", "go?")]);
        assert_eq!(named_parts("P@tau"), [("P", "tau")]);
        for other in ["", "send(1)", "@a", "P@a,", "P@a,b"] {
            assert!(named_parts(other).is_empty(), "{other}");
        }
        assert_eq!(value("3/4"), Some(0.75));
        assert_eq!(value("12"), Some(12.0));
        for other in ["", "1/0", "x", "inf", "NaN", "1/"] {
            assert_eq!(value(other), None, "{other}");
        }
    }

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
        let run = Run::of(&trace).expect("drawn");
        assert_eq!(run.processes, ["A<1>", "B", "still"]);
        assert_eq!(run.events[1].locations, [Some("here2"), Some("there2"), Some("put")]);
        assert_eq!(run.events[0].parts[0], Part { process: 0, event: "hello", role: Role::Sends });
        assert!(run.note().is_none());
        let trace = greetings(1000);
        let run = Run::of(&trace).expect("drawn");
        assert_eq!((run.events.len(), run.events[0].number, run.start_time), (400, 601, 600.0));
        assert_eq!(run.start[0], Some("here0"));
        assert_eq!(run.note().as_deref(), Some("the last 400 steps; 600 before them are not drawn"));
    }

    #[test]
    fn other_traces_are_refused() {
        let untimed = Trace { steps: vec![Step::new("P@a"), Step::new("P@b,Q@c")], ..Trace::default() };
        assert!(sequence_chart(&untimed).is_ok());
        assert!(gantt_chart(&untimed).expect_err("no times").message.contains("no times"));
        let other = Trace { steps: vec![Step::new("send(1)"), Step::new("tau")], ..Trace::default() };
        assert!(sequence_chart(&other).expect_err("no processes").message.contains("step 1"));
        assert!(sequence_chart(&Trace::default()).is_err());
    }
}
