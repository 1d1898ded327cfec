//! A strategy as a value: its name, what it promises, its options and how it is made from them.
//!
//! Every built-in strategy has one [`Descriptor`] in its own file and one line in [`super::STRATEGIES`]. Help,
//! `turnpike strategies`, the checks of options and the book's table are derived from it.

use turnpike_model::{Diagnostic, ModelInfo};

use super::Strategy;
use super::registry::all;

/// What users read about a strategy, and how it is made.
#[derive(Debug)]
pub struct Descriptor {
    /// The name used in requests.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it guarantees.
    pub guarantee: &'static str,
    /// What it costs in memory.
    pub memory: &'static str,
    /// When to use it.
    pub when: &'static str,
    /// Its own options.
    pub options: &'static [OptionInfo],
    /// Settings of the whole search that it honours in a way worth mentioning.
    pub settings: &'static [Setting],
    /// Whether it remembers the states it met, so that the kind of store matters.
    pub stores_states: bool,
    /// Whether it can only schedule the threads of a program.
    pub programs_only: bool,
    /// What threads can share out within one run, with the same result as one thread.
    pub parallel: Parallel,
    /// Makes it from the options that were given.
    pub build: fn(&Given<'_>) -> Result<Strategy, Diagnostic>,
}

/// One option of a strategy. Strategies that share an option share its description.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name, in words joined by hyphens.
    pub name: &'static str,
    /// What it is given.
    pub value: ValueKind,
    /// What happens without it; empty for switches and options that have to be given.
    pub default: &'static str,
    /// What it means, without a final stop.
    pub doc: &'static str,
}

/// What an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Nothing: it is there or not.
    Switch,
    /// A whole number.
    Count {
        /// The smallest one.
        least: u64,
        /// The largest one.
        most: u64,
    },
    /// A number from 0 to 1.
    Probability,
    /// One of these words, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    /// Any text; what to call it in help.
    Text(&'static str),
}

impl ValueKind {
    /// Any 32-bit number from 1 on.
    pub const POSITIVE: ValueKind = ValueKind::Count { least: 1, most: u32::MAX as u64 };
    /// Any 64-bit number from 1 on.
    pub const LARGE: ValueKind = ValueKind::Count { least: 1, most: u64::MAX };
    /// Any 32-bit number.
    pub const NATURAL: ValueKind = ValueKind::Count { least: 0, most: u32::MAX as u64 };
}

/// What threads can share out within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// Nothing.
    Nothing,
    /// The states of a level.
    Levels,
    /// The computing of successors for walks in a batch, where there are batches.
    Batches,
    /// The computing of successors: one thread decides what to do with them, in order.
    Successors,
    /// The executions of a program.
    Executions,
    /// The executions of a program, and the walks over a model where they begin again.
    Walks,
    /// States or executions.
    Everything,
}

impl Parallel {
    /// Whether several threads help on a program, or on a model, whatever the options.
    pub fn helps(self, program: bool) -> bool {
        match self {
            Parallel::Nothing | Parallel::Batches => false,
            Parallel::Levels | Parallel::Successors | Parallel::Walks | Parallel::Everything => true,
            Parallel::Executions => program,
        }
    }

    /// What several threads do in one run, for the user.
    pub fn describe(self) -> &'static str {
        match self {
            Parallel::Nothing => "one thread for each run; several runs at a time",
            Parallel::Batches => {
                "follow the walks of a batch ahead (option `batch`); else several runs at a time"
            }
            Parallel::Levels => "share the states of a level",
            Parallel::Successors => "compute successors ahead; the search itself is sequential",
            Parallel::Executions => "share the executions of a program; on models several runs at a time",
            Parallel::Walks => "share the executions of a program, or the walks of a model that begin again",
            Parallel::Everything => "share the states of a level, or the executions of a program",
        }
    }
}

/// A setting of the whole search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Several threads make one run faster.
    Threads,
    /// How visited states are remembered.
    Store,
    /// The limit on depth.
    MaxDepth,
    /// Whether states that others cover are left out.
    Cover,
}

/// Options by name, as the user gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// No options.
    pub fn new() -> Self {
        Options::default()
    }

    /// Adds an option with its value; a switch has the value `true`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Options that were given, together with the model that is to be searched.
pub struct Given<'a> {
    pub(crate) strategy: &'static str,
    pub(crate) options: &'a Options,
    pub(crate) model: &'a ModelInfo,
}

impl Given<'_> {
    /// Whether the option was given.
    pub fn is_set(&self, option: &OptionInfo) -> bool {
        self.options.get(option.name).is_some()
    }

    /// The option's value as it was given.
    pub fn text(&self, option: &OptionInfo) -> Option<&str> {
        self.options.get(option.name)
    }

    /// A number that [`Descriptor::check`] has accepted.
    pub fn count<T: TryFrom<u64>>(&self, option: &OptionInfo) -> Result<Option<T>, Diagnostic> {
        self.parse(option, |text| parse_count(text).and_then(|count| T::try_from(count).ok()))
    }

    /// A number from 0 to 1.
    pub fn probability(&self, option: &OptionInfo) -> Result<Option<f64>, Diagnostic> {
        self.parse(option, |text| text.parse().ok())
    }

    fn parse<T>(
        &self,
        option: &OptionInfo,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Diagnostic> {
        let Some(text) = self.options.get(option.name) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| option.refuse(text))
    }
}

/// A whole number; underscores may group its digits.
fn parse_count(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|&digit| digit != '_').collect();
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

impl OptionInfo {
    /// Why a value does not fit this option; `None` when it fits.
    pub fn mistake(&self, text: &str) -> Option<String> {
        match self.value {
            ValueKind::Switch | ValueKind::Text(_) => None,
            ValueKind::Count { least, most } => match parse_count(text) {
                Some(count) if count < least => Some(format!("it must be at least {least}")),
                Some(count) if count > most => Some("the number is too large".to_owned()),
                Some(_) => None,
                None if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) => {
                    Some("the number is too large".to_owned())
                }
                None => Some("it must be a whole number".to_owned()),
            },
            ValueKind::Probability => match text.parse::<f64>() {
                Ok(number) if (0.0..=1.0).contains(&number) => None,
                _ => Some("it must be a number from 0 to 1".to_owned()),
            },
            ValueKind::Word(words) if words.iter().any(|(word, _)| *word == text) => None,
            ValueKind::Word(words) => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Some(format!("it must be one of {}", words.join(", ")))
            }
        }
    }

    fn refuse(&self, text: &str) -> Diagnostic {
        let why = self.mistake(text).unwrap_or_else(|| "it does not fit".to_owned());
        Diagnostic::error(format!("invalid value '{text}' for '{}': {why}", self.name))
    }
}

impl Descriptor {
    /// Refuses options of other strategies, and values that do not fit.
    pub fn check(&self, options: &Options) -> Result<(), Diagnostic> {
        for (name, value) in &options.0 {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(self.foreign_option(name));
            };
            if option.mistake(value).is_some() {
                return Err(option.refuse(value));
            }
        }
        Ok(())
    }

    /// Makes the strategy for a model.
    pub fn build(&self, options: &Options, model: &ModelInfo) -> Result<Strategy, Diagnostic> {
        self.check(options)?;
        (self.build)(&Given { strategy: self.name, options, model })
    }

    fn foreign_option(&self, name: &str) -> Diagnostic {
        let owners: Vec<&str> = owners(name).map(|owner| owner.name).collect();
        let Some(first) = owners.first() else {
            let known = all().flat_map(|one| one.options).map(|option| option.name);
            return Diagnostic::error(format!("no strategy has the option `{name}`")).suggest(name, known);
        };
        let strategies = if owners.len() == 1 { "strategy" } else { "strategies" };
        Diagnostic::error(format!(
            "the option `{name}` belongs to the {strategies} {}, but the strategy is {}",
            owners.join(", "),
            self.name
        ))
        .help(format!("leave it out, or use the strategy {first}"))
    }
}

/// The strategies that have an option.
pub fn owners(option: &str) -> impl Iterator<Item = &'static Descriptor> {
    all().filter(move |strategy| strategy.options.iter().any(|known| known.name == option))
}

/// Finds a strategy by name, or suggests one.
pub fn find(name: &str) -> Result<&'static Descriptor, Diagnostic> {
    all().find(|strategy| strategy.name == name).ok_or_else(|| {
        let names = all().map(|strategy| strategy.name);
        Diagnostic::error(format!("there is no strategy `{name}`")).suggest_or_list(
            name,
            names,
            "the strategies are",
        )
    })
}
