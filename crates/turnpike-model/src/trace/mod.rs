//! Witnesses: paths from the initial state, with enough inside to replay them years later.
//!
//! Three formats, told apart by content when reading and by the file's name when writing:
//!
//! - **JSON** (`.json`): everything. The first keys are `"format": "turnpike-trace"` and `"version": 1`; readers refuse
//!   newer versions. Numbers of 64 bits are hexadecimal strings, which survive every JSON library. One step a line.
//! - **Text** (`.txt`): one label a line, as other tools print traces; lines that start with `#` are comments.
//! - **`.aut`**: the path as a transition system, for drawing and comparing.
//!
//! ```
//! use turnpike_model::{Step, Trace};
//!
//! let trace = Trace { model: "abp.mcrl2".into(), steps: vec![Step::new("send(1)"), Step::new("tau")], ..Trace::default() };
//! let mut text = Vec::new();
//! trace.write_text(&mut text)?;
//! let again = Trace::read(&text[..])?;
//! assert_eq!(again.labels().collect::<Vec<_>>(), ["send(1)", "tau"]);
//! # Ok::<(), turnpike_model::Diagnostic>(())
//! ```

mod chart;
mod json;
mod path;
mod text;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::gzip;
use crate::system::Schedule;

pub use chart::MAX_CHARTED_STEPS;

/// The version of the JSON format that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Values of a state by parameter name, in the model's order.
pub type StateValues = IndexMap<String, String>;

/// One transition of a trace and the state it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The label's text.
    pub label: String,
    /// Position of the transition among those of its source state, in the front-end's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<u32>,
    /// The state reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateValues>,
    /// For models with time: how long after the step before it is taken, as an exact rational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// When it is taken, since the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Clock values right after it, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<StateValues>,
}

impl Step {
    /// A step of which only the label is known.
    pub fn new(label: impl Into<String>) -> Self {
        Step { label: label.into(), ..Step::default() }
    }
}

/// A path from the initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The model's name.
    pub model: String,
    /// The model's content hash; 0 when unknown.
    pub fingerprint: u64,
    /// What the trace shows, in the syntax of `--find`; empty when unknown.
    pub objective: String,
    /// The strategy that found it; empty when unknown.
    pub strategy: String,
    /// The seed of the run that found it.
    pub seed: Option<u64>,
    /// For a lasso: the index of the state that the last step returns to (0 is the initial state).
    pub loop_start: Option<usize>,
    /// Values of the initial state.
    pub initial: Option<StateValues>,
    /// The transitions.
    pub steps: Vec<Step>,
    /// For models with time: how long after the last step the objective is met, if not at once.
    pub last_delay: Option<String>,
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// Everything that is known.
    Json,
    /// One label a line.
    Text,
    /// A path in the `.aut` format.
    Aut,
}

impl TraceFormat {
    /// The format that a file's name asks for.
    pub fn of_path(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let path = path.as_ref();
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "json" => Ok(TraceFormat::Json),
            "txt" => Ok(TraceFormat::Text),
            "aut" => Ok(TraceFormat::Aut),
            _ => Err(Diagnostic::error(format!("no trace format is known for `{}`", path.display()))
                .help("the name must end in .json (everything), .txt (labels) or .aut (a path)")),
        }
    }
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

    /// Writes down when the steps are taken.
    pub fn set_times(&mut self, schedule: Schedule) {
        for (step, moment) in self.steps.iter_mut().zip(schedule.moments) {
            step.delay = Some(moment.delay);
            step.time = Some(moment.time);
            step.clocks = Some(moment.clocks.into_iter().collect());
        }
        self.last_delay = schedule.last_delay;
    }

    /// Reads a trace in any of the formats, compressed or not.
    ///
    /// The content decides: `{` opens JSON, `des` an `.aut` path, anything else is text.
    pub fn read(input: impl Read) -> Result<Self, Diagnostic> {
        let mut bytes = Vec::new();
        gzip::decompressed(input)
            .and_then(|mut input| input.read_to_end(&mut bytes))
            .map_err(|error| gzip::read_failed(&error))?;
        Self::parse(&bytes)
    }

    /// Reads a trace that is in memory; see [`read`](Self::read).
    pub fn parse(bytes: &[u8]) -> Result<Self, Diagnostic> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = bytes.trim_ascii_start();
        if is_aut(start) {
            return path::read(bytes);
        }
        let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to()))?;
        if start.first() == Some(&b'{') { json::read(text) } else { text::read(text) }
    }

    /// Reads a trace from a file; the content decides on the format, not the name.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let path = path.as_ref();
        let file = File::open(path)
            .map_err(|error| Diagnostic::error(format!("cannot open `{}`: {error}", path.display())))?;
        Self::read(file)
    }

    /// Writes everything as JSON. The output should be buffered.
    pub fn write_json(&self, out: impl Write) -> Result<(), Diagnostic> {
        self.check()?;
        json::write(self, out).map_err(write_failed)
    }

    /// Writes one label a line, after comments that say where the trace comes from. Labels that would not read back
    /// (empty, with blanks at their ends, with a line end or NUL inside, or starting with `#`) are refused.
    pub fn write_text(&self, out: impl Write) -> Result<(), Diagnostic> {
        self.check()?;
        text::write(self, out)
    }

    /// Writes a path in the `.aut` format: step `k` leads from state `k` to state `k + 1`, and the last step of a lasso
    /// back to where the loop starts.
    pub fn write_aut(&self, out: impl Write) -> Result<(), Diagnostic> {
        self.check()?;
        path::write(self, out)
    }

    /// Writes a file in the format that its name asks for; an existing file is replaced.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Diagnostic> {
        let path = path.as_ref();
        let format = TraceFormat::of_path(path)?;
        self.check()?;
        let file = File::create(path)
            .map_err(|error| Diagnostic::error(format!("cannot create `{}`: {error}", path.display())))?;
        let mut out = BufWriter::new(file);
        match format {
            TraceFormat::Json => self.write_json(&mut out)?,
            TraceFormat::Text => self.write_text(&mut out)?,
            TraceFormat::Aut => self.write_aut(&mut out)?,
        }
        out.flush().map_err(write_failed)
    }

    /// Checks that a loop leads back to a state of the trace.
    fn check(&self) -> Result<(), Diagnostic> {
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

/// Whether this is the header of an `.aut` file rather than an action whose name starts in the same way.
fn is_aut(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(b"des") else { return false };
    let rest = rest.trim_ascii();
    // `des` alone is the header of an interrupted run; `des(1)` is an action, a header has three numbers.
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
    fn the_name_of_a_file_decides_how_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = Trace { steps: ["a", "b(1)"].map(Step::new).to_vec(), ..Trace::default() };
        for (name, start) in [("w.json", "{"), ("w.txt", "#"), ("w.AUT", "des (0,2,3)\n")] {
            let path = folder.path().join(name);
            trace.write_file(&path).expect("writes");
            assert!(std::fs::read_to_string(&path).expect("text").starts_with(start));
            assert_eq!(Trace::read_file(&path).as_ref(), Ok(&trace));
        }
        for name in ["w", "w.trc", "w.json.gz"] {
            let error = trace.write_file(folder.path().join(name)).expect_err("no format");
            assert!(error.help.is_some_and(|help| help.contains(".json")));
        }
        assert!(trace.write_file(folder.path().join("no/such/w.json")).is_err());
        assert!(
            Trace::read_file("no/such/witness.json").expect_err("missing").message.contains("witness.json")
        );
    }

    #[test]
    fn a_broken_trace_replaces_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("w.json");
        std::fs::write(&path, "precious").expect("writes");
        assert!(Trace { loop_start: Some(3), ..Trace::default() }.write_file(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "precious");
    }

    #[test]
    fn a_million_steps_survive() {
        let step = |index: u32| Step {
            label: format!("send({},{})", index % 7, index % 11),
            choice: Some(index % 5),
            state: Some([("s".to_owned(), index.to_string())].into_iter().collect()),
            ..Step::default()
        };
        let trace =
            Trace { seed: Some(u64::MAX), steps: (0..1_000_000).map(step).collect(), ..Trace::default() };
        let mut bytes = Vec::new();
        trace.write_json(&mut bytes).expect("memory");
        assert!(Trace::parse(&bytes).expect("reads") == trace);
    }
}
