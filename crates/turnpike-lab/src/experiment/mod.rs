//! Experiment files.
//!
//! ```toml
//! title = "Seventeen philosophers"
//! paper = "Search algorithms for automated validation, figure 8"
//! runs = 1000
//! flags = "--find deadlock --max-states 5000 --no-shorten"
//!
//! [[model]]
//! name = "philosophers(17)"
//! use = "builtin:philosophers(n=17)"
//!
//! [[strategy]]
//! name = "highway {width}"
//! flags = "--strategy highway --width {width}"
//! vary = { width = [2, 3, 4, 5] }
//!
//! [[strategy]]
//! name = "random"
//! flags = "--strategy random"
//!
//! [[published]]
//! strategy = "highway 5"
//! rate = 0.98
//!
//! [[draw]]
//! kind = "success-by-states"
//! ```
//!
//! Flags are those of `turnpike search`: whatever a search can do, an experiment can do, and every cell of a table is a command
//! that the reader can repeat. Each model runs with each strategy, unless one of them names the other in `only`.

mod check;
mod expand;
mod file;

use std::collections::BTreeMap;

use serde::Deserialize;
use turnpike_model::Diagnostic;

use crate::statistics::Proportion;

pub use expand::{Cell, Setting};
pub use file::{ExperimentFile, name_of};

/// An experiment as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What is compared.
    pub title: String,
    /// Where it was published, when it was.
    #[serde(default)]
    pub paper: Option<String>,
    /// What the reader should know.
    #[serde(default)]
    pub about: Option<String>,
    /// Runs of each cell.
    pub runs: u64,
    /// The seed that the seeds of all runs are derived from, as `turnpike search --seed` does.
    #[serde(default)]
    pub seed: u64,
    /// What counts as a success.
    #[serde(default)]
    pub success: Success,
    /// Flags of every run.
    #[serde(default)]
    pub flags: String,
    /// What is searched.
    #[serde(rename = "model")]
    pub models: Vec<Model>,
    /// How.
    #[serde(rename = "strategy")]
    pub strategies: Vec<Strategy>,
    /// What others measured.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What is drawn.
    #[serde(default, rename = "draw")]
    pub drawings: Vec<Drawing>,
}

/// What counts as a success.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Success {
    /// An objective was met.
    #[default]
    Found,
    /// Everything was covered, and nothing found.
    Proof,
}

/// A model of an experiment: a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// How the report calls it; may hold parameters in braces.
    pub name: String,
    /// A built-in model or a file, relative to the experiment's folder. A file in C or C++ is compiled, and executed as a program.
    #[serde(rename = "use")]
    pub source: String,
    /// The paper's own model in a folder of public ones, which is used instead when that folder is given. `use` is then a stand-in.
    #[serde(default)]
    pub public: Option<Public>,
    /// The paper's model is not public, and this is one of our own: its figures compare in kind only.
    #[serde(default)]
    pub in_kind: bool,
    /// Flags of every run with this model, such as `--set N=3`.
    #[serde(default)]
    pub flags: String,
    /// Small changes to the text.
    #[serde(default)]
    pub replace: Vec<Replacement>,
    /// For programs: more flags of the compiler.
    #[serde(default)]
    pub compile: String,
    /// For programs: whether accesses to memory are made visible.
    #[serde(default)]
    pub hooks: bool,
    /// For programs: their arguments.
    #[serde(default)]
    pub arguments: String,
    /// Values of parameters: one row for each combination.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<Value>>,
    /// Only these strategies.
    #[serde(default)]
    pub only: Vec<String>,
    /// Runs of each cell of this row, instead of the experiment's.
    #[serde(default)]
    pub runs: Option<u64>,
}

/// The same system in the folder of public models.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Public {
    /// Path in the folder.
    pub file: String,
    /// Flags instead of the stand-in's.
    #[serde(default)]
    pub flags: String,
    /// Small changes to the text.
    #[serde(default)]
    pub replace: Vec<Replacement>,
}

/// A change to a model's text, which must apply exactly once, or to a word of it wherever it stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// What stands there.
    pub text: String,
    /// What is to stand there.
    pub with: String,
    /// Change every place where the text stands as a whole word, of which there must be one at least: a
    /// name becomes another.
    #[serde(default)]
    pub words: bool,
}

/// A strategy of an experiment: a column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strategy {
    /// How the report calls it; may hold parameters in braces.
    pub name: String,
    /// Its flags.
    pub flags: String,
    /// Values of parameters: one column for each combination.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<Value>>,
    /// Only these models.
    #[serde(default)]
    pub only: Vec<String>,
    /// The column whose published figures it may explain: it differs by a switch, such as one for an
    /// algorithm as another tool had it.
    #[serde(default)]
    pub explains: Option<String>,
    /// Runs of each cell of this column, instead of the experiment's.
    #[serde(default)]
    pub runs: Option<u64>,
}

/// A parameter's value.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Integer(number) => number.fmt(f),
            Value::Float(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

/// What others measured of a cell.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Published {
    /// The row; every row when missing.
    #[serde(default)]
    pub model: Option<String>,
    /// The column; every column when missing.
    #[serde(default)]
    pub strategy: Option<String>,
    /// A remark.
    #[serde(default)]
    pub note: Option<String>,
    /// Why a figure differs, by its name, where that is known and is not a switch. It says nothing about
    /// the other figures.
    #[serde(default)]
    pub explained: BTreeMap<String, String>,
    /// The rate as a count of successes among [`trials`](Published::trials): it is tested as one then, and
    /// `rate` is only shown.
    #[serde(default)]
    pub successes: Option<u64>,
    /// How many runs the published figures are of.
    #[serde(default)]
    pub trials: Option<u64>,
    /// Figures by name, those of [`MEASURES`]. Missing ones were not published.
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
}

impl Published {
    /// The published rate as a count, where it is read as one.
    pub fn count(&self) -> Option<Proportion> {
        self.successes.zip(self.trials).map(|(successes, trials)| Proportion { successes, trials })
    }
}

/// The figures of a cell. All but the last three are means over successful runs; `microseconds` are those of a state, over all runs.
pub const MEASURES: [&str; 13] = [
    "states",
    "considered",
    "generated",
    "held",
    "transitions",
    "depth",
    "length",
    "original_length",
    "seconds",
    "executions",
    "rate",
    "cost",
    "microseconds",
];

/// A table or figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What kind.
    pub kind: Kind,
    /// Its heading; the kind says one otherwise.
    #[serde(default)]
    pub title: Option<String>,
    /// Only these models.
    #[serde(default)]
    pub models: Vec<String>,
    /// Only these strategies.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// The parameter on the horizontal axis of [`Kind::RateByParameter`] and [`Kind::CostByParameter`].
    #[serde(default)]
    pub parameter: Option<String>,
    /// The figure that is drawn, where there is a choice: `states` (default), another of [`MEASURES`], or an extreme by its objective.
    #[serde(default)]
    pub measure: Option<String>,
    /// The figures of a table's entries, likewise [default: states, original_length, length, rate].
    #[serde(default)]
    pub measures: Vec<String>,
    /// The horizontal axis is linear where it would be logarithmic.
    #[serde(default)]
    pub linear: bool,
}

/// The kinds of tables and figures.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Rows are models, columns are strategies; states, both lengths and success rate in each cell.
    Table,
    /// Share of successful runs against states.
    SuccessByStates,
    /// Share of successful runs against the witness's length, as reported or (`original_length`) as found.
    SuccessByLength,
    /// Share of runs without success against states, stopped runs marked.
    Survival,
    /// How a measure is spread.
    Histogram,
    /// Success rate against a parameter of the strategy or the model.
    RateByParameter,
    /// Median cost against a parameter.
    CostByParameter,
    /// Fitness per generation.
    Generations,
    /// Probability that one strategy is cheaper than another.
    Effects,
}

impl Drawing {
    /// The table of everything.
    pub(crate) fn table() -> Drawing {
        Drawing {
            kind: Kind::Table,
            title: None,
            models: Vec::new(),
            strategies: Vec::new(),
            parameter: None,
            measure: None,
            measures: Vec::new(),
            linear: false,
        }
    }

    /// Whether it shows this cell.
    pub(crate) fn shows(&self, cell: &Cell) -> bool {
        let meant = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        meant(&self.models, &cell.model) && meant(&self.strategies, &cell.strategy)
    }
}

impl Kind {
    /// How it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::SuccessByStates => "success-by-states",
            Kind::SuccessByLength => "success-by-length",
            Kind::Survival => "survival",
            Kind::Histogram => "histogram",
            Kind::RateByParameter => "rate-by-parameter",
            Kind::CostByParameter => "cost-by-parameter",
            Kind::Generations => "generations",
            Kind::Effects => "effects",
        }
    }
}

impl Experiment {
    /// What is drawn: what it asks for, or else one table.
    pub(crate) fn all_drawings(&self) -> Vec<Drawing> {
        match self.drawings.as_slice() {
            [] => vec![Drawing::table()],
            asked => asked.to_vec(),
        }
    }

    /// Reads a file's text. Reports all mistakes that can be found without running, with their places.
    pub fn parse(text: &str) -> Result<Experiment, Diagnostic> {
        let experiment: Experiment = toml::from_str(text).map_err(|error| {
            let message =
                error.message().lines().next().unwrap_or("the file is not an experiment").to_owned();
            let diagnostic = Diagnostic::error(message);
            match error.span() {
                Some(span) => diagnostic.at(span, ""),
                None => diagnostic,
            }
        })?;
        check::check(&experiment, text)?;
        Ok(experiment)
    }
}

#[cfg(test)]
mod tests;
