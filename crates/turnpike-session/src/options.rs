//! Options as values: the name of a field of a request, its values and its meaning.
//!
//! A client that parses options from text (a command line, an experiment file, a form) derives its
//! grammar from these tables, and also uses them to write requests.

use turnpike_model::Diagnostic;
use turnpike_search::strategy::{self, Descriptor, ValueKind};

use crate::values;

/// A part of a request with fields that are options.
pub trait Section: Default + 'static {
    /// Its title in help texts.
    const TITLE: &'static str;
    /// Its options, in the order in which they are written.
    const OPTIONS: &'static [OptionRow<Self>];

    /// Sets an option. `None` if the section has no option with that name.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), Diagnostic>> {
        let option = Self::OPTIONS.iter().find(|option| option.name == name)?;
        Some((option.set)(self, text))
    }

    /// The options that differ from their defaults, with their values as text. A switch has no
    /// value.
    fn given(&self) -> Vec<Given> {
        let rows = Self::OPTIONS.iter();
        rows.flat_map(|row| row.texts(self).into_iter().map(|text| row.given(text))).collect()
    }
}

/// An option of a section.
#[derive(Debug)]
pub struct OptionRow<T: 'static> {
    /// Its name, in words joined by hyphens.
    pub name: &'static str,
    /// The kind of its value.
    pub takes: Takes,
    /// The placeholder of the value in help texts.
    pub placeholder: &'static str,
    /// Its meaning, without a final stop.
    pub doc: &'static str,
    /// Options that conflict with it.
    pub conflicts: &'static [&'static str],
    /// The values that differ from the default.
    pub get: fn(&T) -> Vec<String>,
    /// Sets a value, or adds one.
    pub set: fn(&mut T, &str) -> Result<(), Diagnostic>,
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The option.
    pub name: String,
    /// Its value. A switch has none.
    pub value: Option<String>,
}

/// The kinds of values of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No value: the option is present or not.
    Switch,
    /// A whole number from 0.
    Count,
    /// A whole number from 1.
    Positive,
    /// A whole number that fits into 32 bits.
    Small {
        /// The smallest one.
        least: u32,
    },
    /// A number of bytes.
    Size,
    /// A length of time.
    Time,
    /// A seed.
    Seed,
    /// One of these words, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    /// Any text.
    Text,
    /// Any text. The option may be repeated.
    Texts,
    /// Names separated by commas.
    Names,
}

impl Takes {
    /// Whether the option may be repeated.
    pub fn is_repeated(self) -> bool {
        matches!(self, Takes::Texts | Takes::Names)
    }

    /// Why a text is not a valid value.
    pub fn mistake(self, text: &str) -> Option<String> {
        match self {
            Takes::Count => values::count::<u64>(text).err(),
            Takes::Positive => values::positive::<u64>(text).err(),
            Takes::Small { least: 0 } => values::count::<u32>(text).err(),
            Takes::Small { .. } => values::positive::<u32>(text).err(),
            Takes::Size => values::size(text).err(),
            Takes::Time => values::duration(text).err(),
            Takes::Seed => values::seed(text).err(),
            Takes::Word(words) => (!words.iter().any(|(word, _)| *word == text)).then(|| {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                format!("it must be one of {}", words.join(", "))
            }),
            Takes::Switch | Takes::Text | Takes::Texts | Takes::Names => None,
        }
    }
}

impl<T> OptionRow<T> {
    /// The values as a client writes them, with names in a single list.
    fn texts(&self, section: &T) -> Vec<String> {
        let texts = (self.get)(section);
        match self.takes {
            Takes::Names if !texts.is_empty() => vec![texts.join(",")],
            _ => texts,
        }
    }

    fn given(&self, text: String) -> Given {
        Given { name: self.name.to_owned(), value: (self.takes != Takes::Switch).then_some(text) }
    }
}

/// A row without conflicts.
pub(crate) const fn option<T>(
    name: &'static str,
    takes: Takes,
    placeholder: &'static str,
    doc: &'static str,
    get: fn(&T) -> Vec<String>,
    set: fn(&mut T, &str) -> Result<(), Diagnostic>,
) -> OptionRow<T> {
    OptionRow { name, takes, placeholder, doc, conflicts: &[], get, set }
}

/// A row for a switch.
pub(crate) const fn switch<T>(
    name: &'static str,
    doc: &'static str,
    get: fn(&T) -> Vec<String>,
    set: fn(&mut T, &str) -> Result<(), Diagnostic>,
) -> OptionRow<T> {
    option(name, Takes::Switch, "", doc, get, set)
}

/// Parses a value, which a client may have checked before.
pub(crate) fn parse<T>(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<T, Diagnostic> {
    parse(text).map_err(|why| Diagnostic::error(format!("invalid value `{text}`: {why}")))
}

/// Adds names separated by commas.
pub(crate) fn add_names(names: &mut Vec<String>, text: &str) -> Result<(), Diagnostic> {
    names.extend(text.split(',').map(str::to_owned));
    Ok(())
}

/// A switch that is on has one value, which is never written.
pub(crate) fn is_on(on: bool) -> Vec<String> {
    if on { vec![String::new()] } else { Vec::new() }
}

/// A value, if there is one.
pub(crate) fn text_of<T: ToString>(value: Option<&T>) -> Vec<String> {
    value.map(ToString::to_string).into_iter().collect()
}

/// The kind of value of the option with this name, in any section or strategy.
pub fn takes(name: &str) -> Option<Takes> {
    use crate::request::{Goals, Running, WitnessSettings};
    use crate::source::{Reading, TimedReading};
    fn of<T: Section>(name: &str) -> Option<Takes> {
        T::OPTIONS.iter().find(|option| option.name == name).map(|option| option.takes)
    }
    let of_strategy = || {
        let mut options = strategy::all().flat_map(|strategy| strategy.options);
        options.find(|option| option.name == name).map(|option| match option.value {
            ValueKind::Switch => Takes::Switch,
            _ => Takes::Text,
        })
    };
    of::<Reading>(name)
        .or_else(|| of::<TimedReading>(name))
        .or_else(|| of::<crate::ProgramSource>(name))
        .or_else(|| of::<Goals>(name))
        .or_else(|| of::<turnpike_search::Limits>(name))
        .or_else(|| of::<Running>(name))
        .or_else(|| of::<WitnessSettings>(name))
        .or_else(|| (name == "strategy").then_some(Takes::Text))
        .or_else(of_strategy)
}

/// All options of requests and strategies.
pub(crate) fn all_names() -> Vec<&'static str> {
    let of_strategies = strategy::all().flat_map(|strategy| strategy.options).map(|option| option.name);
    request_names().into_iter().chain(of_strategies).collect()
}

/// All options of requests, except those of strategies.
fn request_names() -> Vec<&'static str> {
    use crate::request::{Goals, Running, WitnessSettings};
    use crate::source::{Reading, TimedReading};
    fn of<T: Section>() -> impl Iterator<Item = &'static str> {
        T::OPTIONS.iter().map(|option| option.name)
    }
    of::<Reading>()
        .chain(of::<TimedReading>())
        .chain(of::<crate::ProgramSource>())
        .chain(of::<Goals>())
        .chain(["strategy"])
        .chain(of::<turnpike_search::Limits>())
        .chain(of::<Running>())
        .chain(of::<WitnessSettings>())
        .collect()
}

/// Registers a strategy in addition to the built-in ones, so that requests can use it and its
/// options. Names of strategies and options must be new, except for options with the same meaning
/// as in another strategy.
pub fn register(descriptor: &'static Descriptor) -> Result<(), Diagnostic> {
    let taken = request_names();
    if let Some(option) = descriptor.options.iter().find(|option| taken.contains(&option.name)) {
        let message = format!(
            "the option `{}` of the strategy `{}` is one of every search already",
            option.name, descriptor.name
        );
        return Err(Diagnostic::error(message).help("give it another name"));
    }
    strategy::register(descriptor)
}

/// Whether some strategy has this option.
pub(crate) fn is_of_strategy(name: &str) -> bool {
    strategy::owners(name).next().is_some()
}
