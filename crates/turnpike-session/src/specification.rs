//! mCRL2 specifications.

use std::sync::Arc;

use turnpike_mcrl2::explore::{Mcrl2Model, Options, Place, Refusal, linearise};
use turnpike_mcrl2::lower::LinearProcess;
use turnpike_mcrl2::syntax::{Symbols, parse_formula};
use turnpike_model::Diagnostic;

use crate::formulas::FormulaText;
use crate::front_end::{FrontEnd, Read};
use crate::problem::Problem;
use crate::session::{Document, Session};
use crate::source::{Location, Reading};

pub(crate) static MCRL2: FrontEnd = FrontEnd {
    name: "mcrl2",
    doc: "mCRL2 specification",
    extensions: &[".mcrl2"],
    options: &["unhide", "timed", "keep-dead", "quantifier-limit"],
    called: ("an mCRL2 specification", "mCRL2 specifications"),
    read: Read::Document(|location, reading| {
        Specification::read(location, reading).map(Document::Specification)
    }),
};

/// A parsed specification, ready for exploration.
pub struct Specification {
    /// The model.
    pub model: Arc<Mcrl2Model>,
    /// Warnings about its text.
    pub warnings: Vec<Diagnostic>,
    /// Its text.
    pub text: String,
}

impl Specification {
    fn read(location: &Location, reading: &Reading) -> Result<Self, Problem> {
        let (text, options) = (location.read_text()?, options(reading)?);
        let name = location.to_string();
        match Mcrl2Model::new(&name, &text, &options) {
            Ok((model, warnings)) => Ok(Specification { model: Arc::new(model), warnings, text }),
            Err(refusal) => Err(refuse(&name, text, &options, refusal)),
        }
    }
}

impl Specification {
    /// The specification with the declarations of a formula.
    pub(crate) fn with_declarations(
        &self,
        session: &Session,
        formula: &FormulaText,
    ) -> Result<Arc<Mcrl2Model>, Problem> {
        let (file, _) = parse_formula(&formula.text, &Symbols::default());
        let Some(own) = file.filter(|file| !file.sections.is_empty()).map(|file| file.declarations.range())
        else {
            return Ok(Arc::clone(&self.model));
        };
        let text = format!("{}\n{}", self.text, &formula.text[own.clone()]);
        let shift = self.text.len() + 1;
        let options = Options { added_from: Some(shift), ..options(session.reading())? };
        match Mcrl2Model::new(session.name(), &text, &options) {
            Ok((model, _)) => Ok(Arc::new(model)),
            Err(mut refusal) => {
                for span in refusal.diagnostics.iter_mut().filter_map(|one| one.span.as_mut()) {
                    let move_back = |at: usize| own.start + at.saturating_sub(shift);
                    span.range = move_back(span.range.start)..move_back(span.range.end);
                }
                let origin = formula.file.as_deref().unwrap_or("the formula");
                Err(Problem::of_text(origin, formula.text.clone(), refusal.diagnostics))
            }
        }
    }
}

/// Reads an mCRL2 specification and linearises it.
pub fn read_linear_process(location: &Location, reading: &Reading) -> Result<LinearProcess, Problem> {
    let (text, options) = (location.read_text()?, options(reading)?);
    match linearise(&text, &options) {
        Ok((process, _)) => Ok(process),
        Err(refusal) => Err(refuse(&location.to_string(), text, &options, refusal)),
    }
}

fn options(reading: &Reading) -> Result<Options, Problem> {
    Ok(Options {
        settings: reading.split_settings()?,
        unhide: reading.unhide.iter().map(|name| name.trim().to_owned()).collect(),
        timed: reading.timed,
        keep_dead: reading.keep_dead,
        quantifier_limit: reading.quantifier_limit,
        lints: reading.lints,
        ..Options::default()
    })
}

/// A problem with a specification, with the text that its diagnostics refer to.
fn refuse(name: &str, text: String, options: &Options, refusal: Refusal) -> Problem {
    let (origin, source) = match refusal.place {
        Place::Specification => (name.to_owned(), Some(text)),
        Place::Setting(index) => {
            let (constant, value) = &options.settings[index];
            // An error about the name has no position in the value.
            let source = refusal.diagnostics.iter().any(|one| one.span.is_some()).then(|| value.clone());
            (if source.is_some() { format!("the setting of {constant}") } else { String::new() }, source)
        }
        Place::Request => (String::new(), None),
    };
    Problem { origin, source, diagnostics: refusal.diagnostics, ..Problem::new("") }
}
