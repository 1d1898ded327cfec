//! Witnesses: paths from the initial state, with enough information to replay them years later.
//!
//! There are three formats. A reader recognises them by their content, a writer chooses one by the
//! name of the file:
//!
//! - **JSON** (`.json`): everything. The first keys are `"format": "turnpike-trace"` and
//!   `"version": 1`; readers refuse newer versions. Numbers of 64 bits are hexadecimal strings,
//!   which survive every JSON library. One step a line.
//! - **Text** (`.txt`): one label a line, as other tools print traces; lines that start with `#`
//!   are comments.
//! - **`.aut`**: the path as a transition system, for drawing and comparing; the crate
//!   `turnpike-lts` reads and writes it.
//!
//! ```
//! use turnpike_model::{Step, Trace};
//!
//! let trace = Trace { model: "abp.mcrl2".into(), steps: vec![Step::new("send(1)"), Step::new("tau")], ..Trace::default() };
//! let mut text = Vec::new();
//! trace.write_text(&mut text)?;
//! let again = Trace::parse(&text)?;
//! assert_eq!(again.labels().collect::<Vec<_>>(), ["send(1)", "tau"]);
//! # Ok::<(), turnpike_model::Diagnostic>(())
//! ```

mod json;
mod loops;
mod text;
mod values;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::facets::{Participant, Schedule, StuckComponent};

pub use loops::fold_loops;
pub use values::{Describer, StateValues};

/// The version of the JSON format that is written, and the newest that can be read.
pub const VERSION: u64 = 1;

/// One transition of a trace and the state it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The text of its label.
    pub label: String,
    /// The position of the transition among those of its source state, in the front-end's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<u32>,
    /// The components that take part, if the system has components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<Participant>>,
    /// The state reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateValues>,
    /// For models with time: the delay since the previous step, as an exact rational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// The time since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The clock values right after it, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<StateValues>,
}

impl Step {
    /// A step with nothing but a label.
    pub fn new(label: impl Into<String>) -> Self {
        Step { label: label.into(), ..Step::default() }
    }
}

/// A path from the initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The model's name.
    pub model: String,
    /// The model's content hash; 0 if unknown.
    pub fingerprint: u64,
    /// The objective that the trace meets, in the syntax of `--find`; empty if unknown.
    pub objective: String,
    /// The strategy that found it; empty if unknown.
    pub strategy: String,
    /// The seed of the run that found it.
    pub seed: Option<u64>,
    /// For a lasso: the index of the state that the last step returns to (0 is the initial state).
    pub loop_start: Option<usize>,
    /// The names of all components, in the order of the model, if the system has components.
    pub components: Vec<String>,
    /// Values of the initial state.
    pub initial: Option<StateValues>,
    /// The transitions.
    pub steps: Vec<Step>,
    /// For models with time: the delay after the last step until the objective is met, unless it is
    /// zero.
    pub last_delay: Option<String>,
    /// If it ends in a deadlock: why each component cannot continue, as far as it is known.
    pub stuck: Vec<StuckComponent>,
    /// The source of the search and its options, as the JSON of a request's source; empty if
    /// unknown.
    pub source: String,
    /// The lines that the search printed about it in place of the bare steps.
    pub notes: Vec<String>,
}

impl Trace {
    /// Number of transitions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether the trace ends in the initial state.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The labels of all steps.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.steps.iter().map(|step| step.label.as_str())
    }

    /// Adds the times of the steps.
    pub fn set_times(&mut self, schedule: Schedule) {
        for (step, moment) in self.steps.iter_mut().zip(schedule.moments) {
            step.delay = Some(moment.delay);
            step.time = Some(moment.time);
            step.clocks = Some(moment.clocks);
        }
        self.last_delay = schedule.last_delay;
    }

    /// Reads a trace in JSON or as text with one label per line: `{` starts JSON, anything else is
    /// text.
    ///
    /// Refuses the third format, an `.aut` path (see [`is_aut`]), which needs a reader for
    /// transition systems.
    pub fn parse(bytes: &[u8]) -> Result<Self, Diagnostic> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if is_aut(bytes) {
            return Err(Diagnostic::error("this is an .aut file, not a trace in JSON or text"));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to()))?;
        if bytes.trim_ascii_start().first() == Some(&b'{') { json::read(text) } else { text::read(text) }
    }

    /// Writes everything as JSON. The output should be buffered.
    pub fn write_json(&self, out: impl Write) -> Result<(), Diagnostic> {
        self.check()?;
        json::write(self, out).map_err(write_failed)
    }

    /// Writes one label per line, after comments about the origin of the trace. Refuses labels that
    /// cannot be read back: empty ones, and those with blanks at their ends, with a line end or NUL
    /// inside, or with `#` at the start.
    pub fn write_text(&self, out: impl Write) -> Result<(), Diagnostic> {
        self.check()?;
        text::write(self, out)
    }

    /// Checks that a loop leads back to a state of the trace.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match self.loop_start {
            Some(index) if index >= self.steps.len() => Err(Diagnostic::error(format!(
                "the loop leads back to state {index}, but the trace has {} steps",
                self.steps.len()
            ))
            .help("the last step can return to any state before it: 0 is the initial one")),
            _ => Ok(()),
        }
    }
}

/// Whether a text starts with the header of an `.aut` file, rather than with an action whose name
/// starts in the same way.
pub fn is_aut(text: &[u8]) -> bool {
    let line = text.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(b"des") else { return false };
    let rest = rest.trim_ascii();
    // `des` alone is the header of an interrupted run. `des(1)` is an action, since a header has
    // three numbers.
    (rest.is_empty() && line.trim_ascii_end().len() < line.len().saturating_sub(1))
        || (rest.starts_with(b"(") && rest.iter().filter(|&&byte| byte == b',').count() == 2)
}

fn not_text(bytes: &[u8], valid: usize) -> Diagnostic {
    let line = 1 + bytes[..valid].iter().filter(|&&byte| byte == b'\n').count() as u64;
    Diagnostic::error("the trace is not UTF-8 text").on_line(line).help(
        "traces are JSON, text with one label a line, or .aut; binary .trc files must be converted to text first",
    )
}

fn write_failed(error: io::Error) -> Diagnostic {
    Diagnostic::error(format!("cannot write the trace: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_steps_survive() {
        // Miri executes a thousand times slower.
        const STEPS: u32 = if cfg!(miri) { 100 } else { 1_000_000 };
        let step = |index: u32| Step {
            label: format!("send({},{})", index % 7, index % 11),
            choice: Some(index % 5),
            state: Some([("s".to_owned(), index.to_string())].into_iter().collect()),
            ..Step::default()
        };
        let trace = Trace { seed: Some(u64::MAX), steps: (0..STEPS).map(step).collect(), ..Trace::default() };
        let mut bytes = Vec::new();
        trace.write_json(&mut bytes).expect("memory");
        assert!(Trace::parse(&bytes).expect("reads") == trace);
    }
}
