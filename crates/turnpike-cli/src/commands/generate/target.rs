//! The output of `generate`: a streamed `.aut` file, a picture, standard output, or nothing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use turnpike_lts::{
    AutDialect, AutFileWriter, Lts, MAX_DRAWN_STATES, MAX_DRAWN_TRANSITIONS, Transition, dot, svg, write_lts,
};
use turnpike_model::{Diagnostic, Explorer, LabelId, Model};
use turnpike_session::generate::{GenerateReport, TransitionSink};

use crate::commands::search::writable;
use crate::failure::{Failure, Outcome};
use crate::output;

/// What `-o` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Only counts.
    Nothing,
    /// `.aut` on standard output.
    Standard,
    /// A streamed `.aut` or `.aut.gz` file.
    Aut(PathBuf),
    /// A picture of a small system.
    Drawing(PathBuf, Picture),
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    Dot,
    Svg,
}

impl Target {
    /// Reads the name after `-o`; the extension decides. Files that cannot be written are refused now.
    pub(crate) fn of(output: Option<&str>) -> Outcome<Self> {
        let Some(name) = output else { return Ok(Target::Nothing) };
        if name == "-" {
            return Ok(Target::Standard);
        }
        let path = PathBuf::from(name);
        let lower = name.to_ascii_lowercase();
        let target = if lower.ends_with(".aut") || lower.ends_with(".aut.gz") {
            Target::Aut(path.clone())
        } else if lower.ends_with(".dot") {
            Target::Drawing(path.clone(), Picture::Dot)
        } else if lower.ends_with(".svg") {
            Target::Drawing(path.clone(), Picture::Svg)
        } else {
            return Err(Diagnostic::error(format!("{name}: unknown file extension"))
                .help("use .aut, .aut.gz, .dot or .svg; - writes .aut to standard output")
                .into());
        };
        writable(&path)?;
        Ok(target)
    }

    /// Opens it.
    pub(crate) fn open<'m>(&self, model: &'m dyn Model, dialect: AutDialect) -> Outcome<Sink<'m>> {
        let body = match self {
            Target::Nothing => Body::Nothing,
            Target::Standard => Body::Memory(Lts::default(), usize::MAX),
            Target::Aut(path) => Body::Aut(AutFileWriter::create(path, dialect)?),
            Target::Drawing(..) => Body::Memory(Lts::default(), MAX_DRAWN_TRANSITIONS),
        };
        let drawn = matches!(self, Target::Drawing(..));
        Ok(Sink { body, drawn, labels: Labels::new(model) })
    }

    /// Writes what is left to be written. Returns the file, if there is one.
    pub(crate) fn close(
        &self,
        sink: Sink<'_>,
        report: &GenerateReport,
        dialect: AutDialect,
    ) -> Outcome<Option<String>> {
        let states = u32::try_from(report.states)
            .map_err(|_| Failure::usage("an .aut file holds at most 4294967295 states"))?;
        let partial = !crate::commands::generate::is_complete(report);
        match (self, sink.body) {
            (Target::Aut(path), Body::Aut(writer)) => {
                writer.finish(0, states)?;
                Ok(Some(path.display().to_string()))
            }
            (Target::Standard, Body::Memory(mut system, _)) => {
                system.states = states;
                system.labels = sink.labels.texts;
                write_lts(&system, output::Standard, dialect)?;
                Ok(None)
            }
            (Target::Drawing(path, picture), Body::Memory(mut system, _)) => {
                system.states = states;
                system.labels = sink.labels.texts;
                draw(&system, path, *picture, partial)?;
                Ok(Some(path.display().to_string()))
            }
            _ => Ok(None),
        }
    }
}

fn draw(system: &Lts, path: &Path, picture: Picture, partial: bool) -> Outcome<()> {
    const PARTIAL: &str = "partial: some states were not expanded and have no transitions here";
    let text = match (picture, partial) {
        (Picture::Dot, false) => dot(system)?,
        (Picture::Dot, true) => format!("// {PARTIAL}\n{}", dot(system)?),
        (Picture::Svg, false) => svg(system)?,
        (Picture::Svg, true) => format!("<!-- {PARTIAL} -->\n{}", svg(system)?),
    };
    std::fs::write(path, text).map_err(|error| Failure::file(&path.display().to_string(), "write", &error))
}

/// Receives transitions as they are generated.
pub(crate) struct Sink<'m> {
    body: Body,
    drawn: bool,
    labels: Labels<'m>,
}

enum Body {
    Nothing,
    Aut(AutFileWriter<File>),
    /// A system in memory, and the most transitions it may have.
    Memory(Lts, usize),
}

impl TransitionSink for Sink<'_> {
    fn wants_transitions(&self) -> bool {
        !matches!(self.body, Body::Nothing)
    }

    fn transition(&mut self, from: u32, label: LabelId, to: u32) -> io::Result<()> {
        match &mut self.body {
            Body::Nothing => Ok(()),
            Body::Aut(writer) => {
                let local = self.labels.local(label);
                writer.transition(from, &self.labels.texts[local.index()], to).map_err(io::Error::other)
            }
            Body::Memory(system, limit) => {
                if system.transitions.len() >= *limit || (self.drawn && to >= MAX_DRAWN_STATES) {
                    let message = format!(
                        "the system is too large to draw: it has more than {MAX_DRAWN_STATES} states or {MAX_DRAWN_TRANSITIONS} transitions"
                    );
                    let help = "write an .aut file and reduce it, or draw a witness (search --trace w.aut)";
                    return Err(io::Error::other(Diagnostic::error(message).help(help)));
                }
                let label = self.labels.local(label);
                system.transitions.push(Transition { from, label, to });
                Ok(())
            }
        }
    }
}

/// Label texts, each asked for once.
struct Labels<'m> {
    explorer: Box<dyn Explorer + 'm>,
    /// By the model's id: the index in `texts`.
    known: Vec<Option<LabelId>>,
    texts: Vec<String>,
}

impl<'m> Labels<'m> {
    fn new(model: &'m dyn Model) -> Self {
        Labels { explorer: model.explorer(), known: Vec::new(), texts: Vec::new() }
    }

    #[inline]
    fn local(&mut self, id: LabelId) -> LabelId {
        match self.known.get(id.index()) {
            Some(Some(local)) => *local,
            _ => self.learn(id),
        }
    }

    #[cold]
    fn learn(&mut self, id: LabelId) -> LabelId {
        let local = LabelId(self.texts.len() as u32);
        self.texts.push(self.explorer.label(id).text);
        if self.known.len() <= id.index() {
            self.known.resize(id.index() + 1, None);
        }
        self.known[id.index()] = Some(local);
        local
    }
}
