//! Options as values: how clients name a field of a request, what it is given, and what it means.
//!
//! A client that reads options from text (a command line, an experiment file, a form) derives its
//! grammar from these tables, and writes a request back with them.

use turnpike_model::Diagnostic;
use turnpike_search::strategy::{self, Descriptor, ValueKind};

use crate::values;

/// A part of a request whose fields are options.
pub trait Section: Default + 'static {
    /// What help calls it.
    const TITLE: &'static str;
    /// Its options, in the order in which they are written.
    const OPTIONS: &'static [OptionRow<Self>];

    /// Sets an option. `None` when the section has no option of that name.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), Diagnostic>> {
        let option = Self::OPTIONS.iter().find(|option| option.name == name)?;
        Some((option.set)(self, text))
    }

    /// The options that differ from their defaults, with their values as text; a switch has none.
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
    /// What it is given.
    pub takes: Takes,
    /// What help calls the value.
    pub placeholder: &'static str,
    /// What it means, without a final stop.
    pub doc: &'static str,
    /// Options that it cannot be given with.
    pub conflicts: &'static [&'static str],
    /// The values that differ from the default.
    pub get: fn(&T) -> Vec<String>,
    /// Sets it, or adds to it.
    pub set: fn(&mut T, &str) -> Result<(), Diagnostic>,
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The option.
    pub name: String,
    /// Its value; a switch has none.
    pub value: Option<String>,
}

/// What an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is there or not.
    Switch,
    /// A whole number from 0.
    Count,
    /// A whole number from 1.
    Positive,
    /// A whole number that fits 32 bits.
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
    /// Any text, each time it is given.
    Texts,
    /// Names with commas between them.
    Names,
}

impl Takes {
    /// Whether it may be given several times.
    pub fn is_repeated(self) -> bool {
        matches!(self, Takes::Texts | Takes::Names)
    }

    /// Why a text is not such a value.
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
    /// The values as a client writes them: names in one list.
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

/// A row for something that is there or not.
pub(crate) const fn switch<T>(
    name: &'static str,
    doc: &'static str,
    get: fn(&T) -> Vec<String>,
    set: fn(&mut T, &str) -> Result<(), Diagnostic>,
) -> OptionRow<T> {
    option(name, Takes::Switch, "", doc, get, set)
}

/// A value that a client checked before, or did not.
pub(crate) fn parse<T>(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<T, Diagnostic> {
    parse(text).map_err(|why| Diagnostic::error(format!("invalid value `{text}`: {why}")))
}

/// Adds names with commas between them.
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

/// What the option of this name takes, whichever section or strategy has it.
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

/// Every option of a request and of the strategies.
pub(crate) fn all_names() -> Vec<&'static str> {
    let of_strategies = strategy::all().flat_map(|strategy| strategy.options).map(|option| option.name);
    request_names().into_iter().chain(of_strategies).collect()
}

/// Every option of a request but those of its strategy.
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

/// Adds a strategy to the built-in ones: requests can name it from now on, and give it its options. Names
/// of strategies and options must be new, unless an option means the same as that of another strategy.
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
