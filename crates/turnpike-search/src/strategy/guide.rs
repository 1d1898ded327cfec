//! Guides: a measure of the model that says how promising a state is.

use turnpike_model::{Diagnostic, Explorer, ModelInfo};

use super::descriptor::{Given, OptionInfo, ValueKind};

/// The option of strategies that are led by a measure.
pub(super) const GUIDE: OptionInfo = OptionInfo {
    name: "guide",
    value: ValueKind::Text("MEASURE"),
    default: "",
    doc: "prefer small values of this measure, or large ones with 'max NAME'",
};

/// A measure to be made small or large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guide {
    /// Name of the measure.
    pub measure: String,
    /// Larger is better.
    pub maximise: bool,
}

impl Guide {
    /// The guide's rank of a state: smaller is better, whatever the direction.
    pub(crate) fn rank(&self, explorer: &mut dyn Explorer, index: usize, state: &[u32]) -> f64 {
        let value = explorer.measures().map_or(f64::NAN, |measures| measures.measure(state, index));
        if self.maximise { -value } else { value }
    }

    /// The index of the measure in the model.
    pub(crate) fn resolve(&self, info: &ModelInfo) -> Result<usize, Diagnostic> {
        info.measure(&self.measure).ok_or_else(|| unknown_measure(&self.measure, info))
    }
}

impl std::str::FromStr for Guide {
    type Err = Diagnostic;

    /// `NAME` and `min NAME` make the measure small, `max NAME` makes it large.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let (maximise, measure) = match text.trim().split_once(char::is_whitespace) {
            Some(("max", name)) => (true, name.trim()),
            Some(("min", name)) => (false, name.trim()),
            Some(_) => {
                return Err(Diagnostic::error(format!("'{text}' is not a guide"))
                    .help("write a measure's name, 'min NAME' or 'max NAME'"));
            }
            None => (false, text.trim()),
        };
        if measure.is_empty() {
            return Err(Diagnostic::error("a guide needs the name of a measure"));
        }
        Ok(Guide { measure: measure.to_owned(), maximise })
    }
}

impl std::fmt::Display for Guide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.maximise { "max" } else { "min" }, self.measure)
    }
}

/// The error for a measure the model does not have.
pub(crate) fn unknown_measure(name: &str, info: &ModelInfo) -> Diagnostic {
    let measures = info.measures.iter().map(|measure| measure.name.as_str());
    Diagnostic::error(format!("{} has no measure `{name}`", info.name))
        .suggest_or_list(name, measures, "its measures are")
        .help_if_none("this model has no measures")
}

impl Given<'_> {
    /// The guide, which guided strategies cannot do without.
    pub(super) fn guide(&self) -> Result<Guide, Diagnostic> {
        if let Some(text) = self.text(&GUIDE) {
            return text.parse();
        }
        let error =
            Diagnostic::error(format!("{} needs a guide: the measure that leads the search", self.strategy));
        let names: Vec<&str> = self.model.measures.iter().map(|measure| measure.name.as_str()).collect();
        Err(match names.is_empty() {
            true => error.help(format!("{} has no measures; choose another strategy", self.model.name)),
            false => error.help(format!("the measures of {} are {}", self.model.name, names.join(", "))),
        })
    }
}
