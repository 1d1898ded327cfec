//! A state as the page shows it.

use std::sync::Arc;

use serde::Serialize;
use turnpike_lts::trace::{Stuckness, hindered_lines};
use turnpike_model::{Outlook, SourcePlace, StateValues, StepError, Trace, Window};
use turnpike_program::{Incident, ProgramModel, stack};
use turnpike_session::{Enabled, Pattern, Simulation, Visit, add_participants, replay};

use crate::automata;
use crate::refusal::Refusal;

/// Transitions that are listed at most; a pattern finds the others.
const LISTED: usize = 200;
/// Transitions for which it is said who takes part, and when they can be taken: that takes longer.
const EXPLAINED: usize = 40;
/// Lines of source before and after the one at which a thread is.
const AROUND: usize = 6;
/// Source files that are larger are not shown.
const LARGEST_SOURCE: u64 = 4 << 20;

/// A state, the way to it and the ways on.
#[derive(Serialize)]
pub(crate) struct Details {
    visit: u32,
    /// The same for all visits of a state.
    hash: String,
    /// The way from the initial state, that one included.
    path: Vec<Passed>,
    values: Vec<Value>,
    enabled: Vec<Way>,
    /// How many transitions match the pattern, listed or not.
    matching: usize,
    deadlock: bool,
    /// What components could do alone but not now, and why not, line by line.
    stuck: Vec<String>,
    /// For models with time: when it is in one possible run, the clocks, and how long one can wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    moment: Option<Moment>,
    /// For specifications: the line of the source at which each component is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<ComponentPlace>,
    /// For programs: where the threads are.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<Situation>,
}

/// A state on the way.
#[derive(Serialize)]
struct Passed {
    visit: u32,
    /// Which of the transitions before led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<u32>,
    /// The transition that led to it; empty for the initial state.
    label: String,
    /// Who took part, where the label does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    who: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

#[derive(Serialize)]
struct Value {
    name: String,
    value: String,
    /// The value in the state before, if it was another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// A transition that can be taken.
#[derive(Serialize)]
struct Way {
    choice: u32,
    label: String,
    /// Who takes part, where the label does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    who: String,
    /// The values that it changes.
    changes: Vec<Value>,
    /// For models with time: after which delays it can be taken in the run that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    windows: Option<Vec<Delays>>,
    /// For automata: the edges that it takes, each as an automaton and one of its edges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<(u32, u32)>,
}

#[derive(Serialize)]
struct Moment {
    time: String,
    clocks: Vec<Clock>,
    waits: Vec<Delays>,
}

#[derive(Serialize)]
struct Clock {
    name: String,
    value: String,
    runs: bool,
}

/// An interval of delays.
#[derive(Serialize)]
struct Delays {
    text: String,
    from: String,
    /// Whether the least one is left out.
    after: bool,
    to: Option<String>,
    /// Whether the greatest one is left out.
    before: bool,
}

impl From<&Window> for Delays {
    fn from(window: &Window) -> Self {
        let Window { from, after, to, before } = window.clone();
        Delays { text: window.to_string(), from, after, to, before }
    }
}

/// The line at which a component is.
#[derive(Serialize)]
struct ComponentPlace {
    component: String,
    number: usize,
    text: String,
}

/// Where the threads of a program are.
#[derive(Serialize)]
pub(crate) struct Situation {
    /// What happened, in one sentence.
    message: String,
    threads: Vec<Thread>,
    output: String,
}

#[derive(Serialize)]
struct Thread {
    name: String,
    frames: Vec<Frame>,
    /// What it waits for, and who holds that.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
    /// The locks that it holds, and since when.
    holds: Vec<String>,
    source: Vec<SourceLine>,
}

#[derive(Serialize)]
struct Frame {
    function: String,
    place: Option<String>,
    user: bool,
}

#[derive(Serialize)]
struct SourceLine {
    number: usize,
    text: String,
    here: bool,
}

/// Describes a visited state. Transitions are listed if their label matches.
pub(crate) fn describe(
    simulation: &mut Simulation<'_>,
    visit: Visit,
    pattern: Option<&Pattern>,
    program: Option<&Arc<ProgramModel>>,
    text: Option<&str>,
) -> Result<Details, Refusal> {
    let (enabled, matching) = simulation.enabled(visit, pattern, LISTED)?;
    let deadlock = simulation.is_deadlock(visit)?;
    let stuckness = Stuckness::of(deadlock, simulation.enabled_count(visit)?);
    let here = simulation.values(visit);
    let before = simulation.parent(visit).map(|(before, _)| simulation.values(before));
    let stuck = if matching <= LISTED && pattern.is_none() && program.is_none() {
        simulation.hindered(visit)?
    } else {
        Vec::new()
    };
    let mut ways = Vec::with_capacity(enabled.len());
    for (index, Enabled { choice, label, target }) in enabled.into_iter().enumerate() {
        let who = match text {
            Some(_) if index < EXPLAINED => simulation.participants(visit, choice)?,
            _ => String::new(),
        };
        let changes = changed_values(Some(&here), &target);
        ways.push(Way { choice, label, who, changes, windows: None, edges: Vec::new() });
    }
    let last = ways.iter().map(|way| way.choice as usize + 1).max().unwrap_or(0);
    let edges = automata::enabled(simulation, visit, last)?;
    for way in &mut ways {
        way.edges = edges.get(way.choice as usize).cloned().unwrap_or_default();
    }
    let mut details = Details {
        visit: visit.0,
        hash: format!("{:016x}", simulation.content_hash(visit)),
        path: Vec::new(),
        values: all_values(before.as_ref(), &here),
        enabled: ways,
        matching,
        deadlock,
        stuck: hindered_lines(&stuck, stuckness),
        moment: None,
        places: Vec::new(),
        program: None,
    };
    if let Some(text) = text {
        details.places = component_places(simulation, visit, text);
    }
    let mut times = Vec::new();
    if let Some(program) = program {
        details.program = Some(situation(&incident(program, &simulation.choices(visit))?));
    } else if let Some(schedule) = simulation.schedule(visit)? {
        times = schedule.moments.into_iter().map(|moment| moment.time).collect();
        details.moment = look_ahead(simulation, visit, &mut details.enabled)?;
    }
    for (index, visit) in simulation.path(visit).into_iter().enumerate() {
        details.path.push(Passed {
            visit: visit.0,
            choice: simulation.parent(visit).map(|(_, choice)| choice),
            label: simulation.label(visit).to_owned(),
            who: if text.is_some() { simulation.who(visit)?.to_owned() } else { String::new() },
            time: index.checked_sub(1).and_then(|step| times.get(step).cloned()),
        });
    }
    Ok(details)
}

/// When it is, and when the listed transitions can be taken.
fn look_ahead(
    simulation: &Simulation<'_>,
    visit: Visit,
    ways: &mut [Way],
) -> Result<Option<Moment>, StepError> {
    let next: Vec<u32> = ways.iter().take(EXPLAINED).map(|way| way.choice).collect();
    let Some(Outlook { time, clocks, waits, windows }) = simulation.outlook(visit, &next)? else {
        return Ok(None);
    };
    for (way, windows) in ways.iter_mut().zip(&windows) {
        way.windows = Some(windows.iter().map(Delays::from).collect());
    }
    let clock = |clock: turnpike_model::ClockReading| Clock {
        name: clock.name,
        value: clock.value,
        runs: clock.runs,
    };
    let clocks = clocks.into_iter().map(clock).collect();
    Ok(Some(Moment { time, clocks, waits: waits.iter().map(Delays::from).collect() }))
}

/// The way to a state, with who takes its steps, with times, and with what keeps components from going
/// on.
pub(crate) fn complete_trace(
    simulation: &mut Simulation<'_>,
    visit: Visit,
    program: Option<&Arc<ProgramModel>>,
) -> Result<Trace, Refusal> {
    let mut trace = simulation.trace(visit);
    let Some(program) = program else {
        let mut complete = replay(simulation.model(), &trace)?.trace;
        if let Some(schedule) = simulation.schedule(visit)? {
            complete.set_times(schedule);
        }
        return Ok(complete);
    };
    add_participants(simulation.model(), &mut trace)?;
    if simulation.is_deadlock(visit)? {
        trace.stuck = incident(program, &simulation.choices(visit))?.stuck_components();
    }
    Ok(trace)
}

fn incident(program: &ProgramModel, choices: &[u32]) -> Result<Incident, Refusal> {
    program.incident(choices).map_err(|error| Refusal::wrong(error.to_string()))
}

fn component_places(simulation: &mut Simulation<'_>, visit: Visit, text: &str) -> Vec<ComponentPlace> {
    let state = simulation.state(visit).to_vec();
    let Some(places) = simulation.explorer().source_places() else { return Vec::new() };
    let line = |SourcePlace { component, range }: SourcePlace| {
        let before = text.get(..range.start)?;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[start..].lines().next()?.trim();
        let number = before.matches('\n').count() + 1;
        Some(ComponentPlace { component, number, text: line.to_owned() })
    };
    places.source_places(&state).into_iter().filter_map(line).collect()
}

fn all_values(before: Option<&StateValues>, here: &StateValues) -> Vec<Value> {
    let old = |name: &str, value: &str| {
        before.and_then(|before| before.get(name)).filter(|old| *old != value).map(str::to_owned)
    };
    let value = |(name, value): (&str, &str)| Value {
        name: name.to_owned(),
        value: value.to_owned(),
        before: old(name, value),
    };
    here.iter().map(value).collect()
}

fn changed_values(before: Option<&StateValues>, after: &StateValues) -> Vec<Value> {
    all_values(before, after).into_iter().filter(|value| value.before.is_some()).collect()
}

fn situation(incident: &Incident) -> Situation {
    let waits = |thread: &str| {
        let waiting = incident.waiting.iter().find(|waiting| waiting.thread == thread)?;
        let holder = waiting.holder.iter().zip(&waiting.since);
        let holder = holder.map(|(holder, since)| format!(", which {holder} has had since {since}"));
        Some(format!("waits {}{}", waiting.what, holder.collect::<String>()))
    };
    let holds = |thread: &str| -> Vec<String> {
        let own = incident.held.iter().filter(|held| held.thread == thread);
        let text = |held: &turnpike_program::HeldLock| match &held.since {
            Some(since) => format!("{} since {since}", held.object),
            None => held.object.clone(),
        };
        own.map(text).collect()
    };
    let thread = |stack: &turnpike_program::Stack| {
        let user = stack.frames.iter().find(|frame| frame.is_user());
        Thread {
            name: stack.thread.clone(),
            waits: waits(&stack.thread),
            holds: holds(&stack.thread),
            source: user.and_then(|frame| frame.source.as_ref()).map_or_else(Vec::new, source_lines),
            frames: stack::user_part(&stack.frames).iter().map(frame).collect(),
        }
    };
    Situation {
        message: incident.message.clone(),
        threads: incident.stacks.iter().map(thread).collect(),
        output: incident.output.clone(),
    }
}

fn frame(frame: &stack::Frame) -> Frame {
    Frame {
        function: frame.function.clone().unwrap_or_else(|| frame.code.clone()),
        place: frame.place.clone(),
        user: frame.is_user(),
    }
}

/// What files of source code are called. Debug information names any file that whoever compiled the program
/// likes: others are not read.
const SOURCE_ENDINGS: [&str; 14] =
    ["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "inl", "ipp", "rs", "s", "S"];

/// Whether a file that debug information names is shown.
fn is_source(path: &std::path::Path) -> bool {
    // What counts is the file that is read, whatever links lead to it.
    let Ok(path) = path.canonicalize() else { return false };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let special = ["/proc", "/sys", "/dev", "/etc"].iter().any(|folder| path.starts_with(folder));
    ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
        && !special
        && std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST_SOURCE)
}

/// The lines around the one at which a thread is. Only files that the program was compiled from are
/// read: debug information names them.
fn source_lines(at: &stack::SourceLine) -> Vec<SourceLine> {
    let small = is_source(std::path::Path::new(&at.file));
    let Some(text) = small.then(|| std::fs::read(&at.file).ok()).flatten() else { return Vec::new() };
    let text = String::from_utf8_lossy(&text);
    let line = at.line as usize;
    let first = line.saturating_sub(AROUND).max(1);
    let lines = text.lines().enumerate().skip(first - 1).take(line + AROUND + 1 - first);
    lines
        .map(|(index, text)| SourceLine { number: index + 1, text: text.to_owned(), here: index + 1 == line })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_source_code_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "one\ntwo\nthree\n").expect("writes");
            path
        };
        let lines = |path: &std::path::Path| {
            source_lines(&stack::SourceLine { file: path.display().to_string(), line: 2 }).len()
        };
        assert_eq!(lines(&file("a.c")), 3);
        assert_eq!(lines(&file("secret.txt")), 0, "not a source file");
        assert_eq!(lines(&file("id_rsa")), 0, "not a source file");
        assert_eq!(lines(folder.path()), 0, "not a file");
        let link = folder.path().join("link.c");
        std::os::unix::fs::symlink(folder.path().join("secret.txt"), &link).expect("a link");
        assert_eq!(lines(&link), 0, "a link to another file");
        let large = file("large.c");
        std::fs::write(&large, vec![b' '; LARGEST_SOURCE as usize + 1]).expect("writes");
        assert_eq!(lines(&large), 0, "too large");
    }
}
