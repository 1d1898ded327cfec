//! Trace files in every format, and pictures of traces.
//!
//! The content of a file determines how it is read, its name how it is written:
//!
//! ```
//! use turnpike_lts::trace;
//! use turnpike_model::{Step, Trace};
//!
//! let steps = ["send(1)", "tau"].map(Step::new).to_vec();
//! let mut aut = Vec::new();
//! trace::write_aut(&Trace { steps: steps.clone(), ..Trace::default() }, &mut aut)?;
//! assert_eq!(trace::read(&aut[..])?.steps, steps);
//! assert_eq!(trace::read(&b"send(1)\ntau\n"[..])?.steps, steps);
//! # Ok::<(), turnpike_model::Diagnostic>(())
//! ```

mod chart;
mod page;
mod path;
mod stuck;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use turnpike_model::trace::is_aut;
use turnpike_model::{Diagnostic, Trace};

use crate::aut::{AutDialect, write_lts};
use crate::gzip;

pub use chart::{
    Arrow, ArrowKind, Bar, CHART_STYLE, Drawing, Event, Lane, MAX_CHARTED_STEPS, Part, Run, Situation,
    Timeline, TimelineRow, TimelineStep, Wait, WaitGraph, WaitKind, WaitNode, automata_chart, gantt_chart,
    sequence_chart, timeline_chart, wait_chart, with_objects,
};
pub use page::html_page;
pub use path::to_lts;
pub use stuck::{Stuckness, hindered_lines, stuck_lines};

/// The format of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// All information.
    Json,
    /// One label per line.
    Text,
    /// A path in the `.aut` format.
    Aut,
}

impl TraceFormat {
    /// The format for the name of a file.
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

/// Reads a trace in any of the formats, compressed or not.
///
/// The content determines the format: `{` starts JSON, `des` an `.aut` path, anything else is text.
pub fn read(input: impl Read) -> Result<Trace, Diagnostic> {
    let mut bytes = Vec::new();
    gzip::decompressed(input)
        .and_then(|mut input| input.read_to_end(&mut bytes))
        .map_err(|error| gzip::read_failed(&error))?;
    parse(&bytes)
}

/// Reads a trace in memory; see [`read`].
pub fn parse(bytes: &[u8]) -> Result<Trace, Diagnostic> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if is_aut(bytes) { path::read(bytes) } else { Trace::parse(bytes) }
}

/// Reads a trace from a file. Its content determines the format, not its name.
pub fn read_file(path: impl AsRef<Path>) -> Result<Trace, Diagnostic> {
    let path = path.as_ref();
    let file = File::open(path)
        .map_err(|error| Diagnostic::error(format!("cannot open `{}`: {error}", path.display())))?;
    read(file)
}

/// Writes the system of [`to_lts`] in the `.aut` format.
pub fn write_aut(trace: &Trace, out: impl Write) -> Result<(), Diagnostic> {
    write_lts(&to_lts(trace)?, out, AutDialect::Mcrl2)
}

/// Writes a file in the format for its name. An existing file is replaced.
pub fn write_file(trace: &Trace, path: impl AsRef<Path>) -> Result<(), Diagnostic> {
    let path = path.as_ref();
    let format = TraceFormat::of_path(path)?;
    trace.check()?;
    let file = File::create(path)
        .map_err(|error| Diagnostic::error(format!("cannot create `{}`: {error}", path.display())))?;
    let mut out = BufWriter::new(file);
    match format {
        TraceFormat::Json => trace.write_json(&mut out)?,
        TraceFormat::Text => trace.write_text(&mut out)?,
        TraceFormat::Aut => write_aut(trace, &mut out)?,
    }
    out.flush().map_err(|error| Diagnostic::error(format!("cannot write the trace: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::Step;

    #[test]
    fn the_name_of_a_file_decides_how_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = Trace { steps: ["a", "b(1)"].map(Step::new).to_vec(), ..Trace::default() };
        for (name, start) in [("w.json", "{"), ("w.txt", "#"), ("w.AUT", "des (0,2,3)\n")] {
            let path = folder.path().join(name);
            write_file(&trace, &path).expect("writes");
            assert!(std::fs::read_to_string(&path).expect("text").starts_with(start));
            assert_eq!(read_file(&path).as_ref(), Ok(&trace));
        }
        for name in ["w", "w.trc", "w.json.gz"] {
            let error = write_file(&trace, folder.path().join(name)).expect_err("no format");
            assert!(error.help.is_some_and(|help| help.contains(".json")));
        }
        assert!(write_file(&trace, folder.path().join("no/such/w.json")).is_err());
        assert!(read_file("no/such/witness.json").expect_err("missing").message.contains("witness.json"));
    }

    #[test]
    fn a_broken_trace_replaces_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("w.json");
        std::fs::write(&path, "precious").expect("writes");
        let broken = Trace { loop_start: Some(3), ..Trace::default() };
        assert!(write_file(&broken, &path).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "precious");
    }
}
