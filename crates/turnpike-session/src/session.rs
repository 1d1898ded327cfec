use std::sync::Arc;

use turnpike_model::{Diagnostic, Model, Trace};
use turnpike_program::ProgramModel;
use turnpike_search::Spill;
use turnpike_search::checkpoint::Checkpoints;
use turnpike_search::exchange::Processes;
use turnpike_timed::liveness::LivenessModel;

use crate::explicit;
use crate::front_end::{FRONT_ENDS, Format, FrontEnd, refuse_options_of_others};
use crate::problem::Problem;
use crate::program::{self, Output};
use crate::purpose::Purpose;
use crate::source::{Location, Reading, Source, check_exists, unknown_format};
use crate::specification::Specification;
use crate::timed::{AnyModel, Timed};
use crate::zeno::Zeno;

/// An opened source. It is parsed only once.
pub struct Session {
    name: String,
    source: Source,
    reading: Reading,
    document: Document,
    /// The processes that search together, and the default number of threads of this one.
    pub(crate) processes: Option<(Processes, usize)>,
    /// The checkpoints to write, and the one to resume from.
    pub(crate) checkpoints: Checkpoints,
    /// The files for states that do not fit into memory.
    pub(crate) spill: Option<Spill>,
}

/// The content of a source.
pub(crate) enum Document {
    /// A model that serves every purpose.
    Model {
        model: Arc<dyn Model>,
        size: Option<Size>,
    },
    Specification(Specification),
    Timed(Box<Timed>),
    Program(Arc<ProgramModel>),
}

/// The size of an explicit system according to its file.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The number of states.
    pub states: u64,
    /// The number of transitions.
    pub transitions: u64,
}

/// A system that is prepared for a purpose.
pub struct Prepared {
    /// The system.
    pub model: Arc<dyn Model>,
    /// Its size, if it is known without exploration.
    pub size: Option<Size>,
    /// Warnings about its text, and about its exploration for the purpose.
    pub warnings: Vec<Diagnostic>,
    /// For timed automata, if cycles are searched for.
    pub zeno: Option<Zeno>,
    /// The system as a program, if it is one.
    pub program: Option<Arc<ProgramModel>>,
    /// The system as the runs of a formula, if it is that.
    runs: Option<Arc<LivenessModel>>,
}

impl Prepared {
    /// A system without optional parts.
    fn plain(model: Arc<dyn Model>) -> Self {
        Prepared { model, size: None, warnings: Vec::new(), zeno: None, program: None, runs: None }
    }

    /// Whether the run of a trace stops rather than continuing for ever.
    pub(crate) fn comes_to_rest(&self, trace: &Trace) -> bool {
        let choices = crate::report::choices_of(trace);
        self.runs.as_ref().is_some_and(|runs| runs.comes_to_rest(&choices).unwrap_or(false))
    }
}

impl Session {
    /// Reads a source.
    pub fn open(source: &Source) -> Result<Session, Problem> {
        Session::read(FRONT_ENDS, source, None)
    }

    /// Reads a source in one of these languages.
    pub fn open_among(languages: &[&'static FrontEnd], source: &Source) -> Result<Session, Problem> {
        Session::read(languages, source, None)
    }

    /// Reads a source. The output of programs goes to `output`.
    pub fn open_showing(source: &Source, output: Output) -> Result<Session, Problem> {
        Session::read(FRONT_ENDS, source, Some(output))
    }

    /// A model that the caller built. Options of front-ends do not apply, because nothing is
    /// parsed.
    pub fn of_model(model: Arc<dyn Model>) -> Session {
        let name = model.info().name.clone();
        let (location, reading) = (Location::File(name.clone()), Reading::default());
        let source = Source::Model { location, reading: reading.clone() };
        Session::new(name, source, reading, Document::Model { model, size: None })
    }

    fn new(name: String, source: Source, reading: Reading, document: Document) -> Session {
        let (processes, checkpoints, spill) = (None, Checkpoints::default(), None);
        Session { name, source, reading, document, processes, checkpoints, spill }
    }

    fn read(
        languages: &[&'static FrontEnd],
        source: &Source,
        output: Option<Output>,
    ) -> Result<Session, Problem> {
        let (name, reading, document) = match source {
            Source::Program(program) => {
                let model = program::open(program, output)?;
                let name = program.path.display().to_string();
                (name, Reading::default(), Document::Program(Arc::new(model)))
            }
            Source::Model { location, reading } => {
                (location.to_string(), reading.clone(), open_model(languages, location, reading)?)
            }
        };
        Ok(Session::new(name, source.clone(), reading, document))
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The options for reading it.
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// A hash of the model's text and parameters, the same on every machine.
    pub fn fingerprint(&self) -> Result<u64, Problem> {
        Ok(self.prepare(&Purpose::default())?.model.info().fingerprint)
    }

    /// Makes searches write checkpoints or resume from one.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Makes searches move states to files when memory is short.
    #[must_use]
    pub fn with_spill(mut self, spill: Option<Spill>) -> Self {
        self.spill = spill;
        self
    }

    /// Whether it is a program.
    pub fn is_program(&self) -> bool {
        matches!(self.document, Document::Program(_))
    }

    /// The name for the user.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The timed automata, if it is a network of these.
    pub fn timed(&self) -> Option<&Timed> {
        match &self.document {
            Document::Timed(timed) => Some(timed),
            _ => None,
        }
    }

    /// The mCRL2 specification, if it is one.
    pub fn specification(&self) -> Option<&Specification> {
        match &self.document {
            Document::Specification(specification) => Some(specification),
            _ => None,
        }
    }

    /// Warnings about its text.
    pub fn text_warnings(&self) -> &[Diagnostic] {
        match &self.document {
            Document::Specification(specification) => &specification.warnings,
            Document::Timed(timed) => &timed.warnings,
            Document::Model { .. } | Document::Program(_) => &[],
        }
    }

    /// Prepares the system for a purpose.
    pub fn prepare(&self, purpose: &Purpose) -> Result<Prepared, Problem> {
        if purpose.non_zeno && self.timed().is_none() {
            let what = format!("{} is not a timed automaton", self.name);
            return Err(Zeno::useless(&what).into());
        }
        Ok(match &self.document {
            Document::Model { model, size } => Prepared { size: *size, ..Prepared::plain(Arc::clone(model)) },
            Document::Specification(specification) => Prepared {
                warnings: specification.warnings.clone(),
                ..Prepared::plain(Arc::clone(&specification.model) as Arc<dyn Model>)
            },
            Document::Timed(timed) => {
                let finer = timed.refined(&self.reading, &purpose.questions())?;
                let timed = finer.as_ref().unwrap_or(timed);
                let zeno = purpose.cycles.then(|| Zeno::of(&timed.network, purpose.non_zeno));
                let (model, warnings) = timed.any_model(&self.reading, purpose, zeno)?;
                let warnings = timed.warnings.iter().cloned().chain(warnings).collect();
                let prepared = match model {
                    AnyModel::Zones(model) => Prepared::plain(model),
                    AnyModel::Runs(model) => Prepared {
                        runs: Some(Arc::clone(&model)),
                        ..Prepared::plain(model as Arc<dyn Model>)
                    },
                };
                Prepared { warnings, zeno, ..prepared }
            }
            Document::Program(program) => Prepared {
                program: Some(Arc::clone(program)),
                ..Prepared::plain(Arc::clone(program) as Arc<dyn Model>)
            },
        })
    }
}

fn open_model(
    languages: &[&'static FrontEnd],
    location: &Location,
    reading: &Reading,
) -> Result<Document, Problem> {
    let named = reading.format.map(|Format(language)| language);
    match location {
        Location::Builtin(builtin) => {
            refuse_options_of_others(&location.to_string(), reading, &[])?;
            let model = turnpike_builtin::build(builtin, &reading.split_settings()?)
                .map_err(|error| Problem::new(error.to_string()))?;
            Ok(Document::Model { model: model.into(), size: None })
        }
        Location::StandardInput => match named {
            Some(front_end) => front_end.open(location, reading),
            None => explicit::AUT.open(location, reading).map_err(|mut problem| {
                if let Some(first) = problem.diagnostics.first_mut() {
                    let help = "standard input is read as an .aut file; the option `as` names another format";
                    first.help = Some(help.to_owned());
                }
                problem
            }),
        },
        Location::File(path) => match named.or_else(|| FrontEnd::of_file(languages, path)) {
            Some(language) => language.open(location, reading),
            None => {
                check_exists(path)?;
                Err(unknown_format(path, languages))
            }
        },
    }
}
