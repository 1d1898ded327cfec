use std::sync::Arc;

use turnpike_lts::LtsModel;
use turnpike_model::Model;
use turnpike_program::ProgramModel;

use crate::explicit::read_system;
use crate::problem::Problem;
use crate::program;
use crate::purpose::Purpose;
use crate::source::{Format, Location, Reading, Source};
use crate::specification::Specification;
use crate::timed::Timed;
use crate::zeno::Zeno;

/// A source that was opened: what was parsed is kept, and never parsed again.
pub struct Session {
    name: String,
    reading: Reading,
    document: Document,
}

/// What a source turned out to be.
enum Document {
    /// A model that is the same for every purpose.
    Model {
        model: Arc<dyn Model>,
        size: Option<Size>,
    },
    Specification(Specification),
    Timed(Box<Timed>),
    Program(Arc<ProgramModel>),
}

/// How large an explicit system is: states and transitions, as its file tells.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
}

/// A system that is ready to be searched for a purpose.
pub struct Prepared {
    /// The system.
    pub model: Arc<dyn Model>,
    /// Its size, where that is known without exploring it.
    pub size: Option<Size>,
    /// Number of warnings about its text.
    pub warnings: usize,
    /// For timed automata whose cycles are looked for.
    pub zeno: Option<Zeno>,
    /// The same as a program, when it is one.
    pub program: Option<Arc<ProgramModel>>,
}

impl Session {
    /// Reads a source.
    pub fn open(source: &Source) -> Result<Session, Problem> {
        match source {
            Source::Program(program) => {
                let model = program::open(program)?;
                let (name, reading) = (program.path.display().to_string(), Reading::default());
                Ok(Session { name, reading, document: Document::Program(Arc::new(model)) })
            }
            Source::Model { location, reading } => {
                let document = open_model(location, reading)?;
                Ok(Session { name: location.to_string(), reading: reading.clone(), document })
            }
        }
    }

    /// What the user calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The timed automata, when it is that.
    pub fn timed(&self) -> Option<&Timed> {
        match &self.document {
            Document::Timed(timed) => Some(timed),
            _ => None,
        }
    }

    /// The mCRL2 specification, when it is one.
    pub fn specification(&self) -> Option<&Specification> {
        match &self.document {
            Document::Specification(specification) => Some(specification),
            _ => None,
        }
    }

    /// The system to search for a purpose.
    pub fn prepare(&self, purpose: &Purpose) -> Result<Prepared, Problem> {
        if purpose.non_zeno && self.timed().is_none() {
            let what = format!("{} is not a timed automaton", self.name);
            return Err(Zeno::useless(&what).into());
        }
        Ok(match &self.document {
            Document::Model { model, size } => {
                Prepared { model: Arc::clone(model), size: *size, warnings: 0, zeno: None, program: None }
            }
            Document::Specification(specification) => Prepared {
                model: Arc::clone(&specification.model) as Arc<dyn Model>,
                size: None,
                warnings: specification.warnings.len(),
                zeno: None,
                program: None,
            },
            Document::Timed(timed) => {
                let zeno = purpose.cycles.then(|| Zeno::of(&timed.network, purpose.non_zeno));
                let (model, warnings) = timed.any_model(&self.reading, purpose, zeno)?;
                let warnings = timed.warnings.len() + warnings.len();
                Prepared { model, size: None, warnings, zeno, program: None }
            }
            Document::Program(program) => Prepared {
                model: Arc::clone(program) as Arc<dyn Model>,
                size: None,
                warnings: 0,
                zeno: None,
                program: Some(Arc::clone(program)),
            },
        })
    }
}

fn open_model(location: &Location, reading: &Reading) -> Result<Document, Problem> {
    let name = location.to_string();
    let format = reading.format_of(location);
    if let Some(format) = format.filter(|format| format.is_timed()) {
        reading.refuse_specification_options(&name, true)?;
        return Ok(Document::Timed(Box::new(Timed::read(location, format, reading)?)));
    }
    reading.refuse_timed_options(&name)?;
    if format == Some(Format::Mcrl2) {
        return Ok(Document::Specification(Specification::read(location, reading)?));
    }
    if let Location::Builtin(builtin) = location {
        reading.refuse_specification_options(&name, false)?;
        let model = turnpike_builtin::build(builtin, &reading.split_settings()?)
            .map_err(|error| Problem::new(error.to_string()))?;
        return Ok(Document::Model { model: model.into(), size: None });
    }
    let system = read_system(location, reading)?;
    let size = Size { states: u64::from(system.states), transitions: system.transitions.len() as u64 };
    let model =
        LtsModel::new(&name, system).map_err(|diagnostic| Problem::from(diagnostic).in_file(name.clone()))?;
    Ok(Document::Model { model: Arc::new(model), size: Some(size) })
}
