//! What a user names: where a model is, and how it is read.

use std::fmt;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use turnpike_lts::AutDialect;
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::nearest;
use turnpike_timed::zone::Extrapolation;

use crate::choice::{Choice, choice, unusual};
use crate::options::{OptionRow, Section, Takes, add_names, is_on, option, parse, switch, text_of};
use crate::problem::Problem;
use crate::program::ProgramSource;
use crate::values;

/// Something to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A model.
    Model {
        /// Where it is.
        location: Location,
        /// How it is read.
        #[serde(default)]
        reading: Reading,
    },
    /// A program.
    Program(ProgramSource),
}

/// Where a model is. As text: `builtin:NAME`, a path, or `-` for standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Location {
    /// A built-in model, by its name.
    Builtin(String),
    /// A file.
    File(String),
    /// Standard input.
    StandardInput,
}

const BUILTIN: &str = "builtin:";

impl From<&str> for Location {
    fn from(text: &str) -> Self {
        match text.strip_prefix(BUILTIN) {
            Some(name) => Location::Builtin(name.to_owned()),
            None if text == "-" => Location::StandardInput,
            None => Location::File(text.to_owned()),
        }
    }
}

impl From<String> for Location {
    fn from(text: String) -> Self {
        Location::from(text.as_str())
    }
}

impl From<Location> for String {
    fn from(location: Location) -> Self {
        location.to_string()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Builtin(name) => write!(f, "{BUILTIN}{name}"),
            Location::File(path) => f.write_str(path),
            Location::StandardInput => f.write_str("-"),
        }
    }
}

impl Location {
    /// The content of a file, or of standard input.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Problem> {
        match self {
            Location::Builtin(_) => Ok(Vec::new()),
            Location::StandardInput => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut bytes);
                read.map_err(|error| Problem::file("standard input", "read", &error))?;
                Ok(bytes)
            }
            Location::File(path) => {
                check_exists(path)?;
                std::fs::read(path).map_err(|error| Problem::file(path, "read", &error))
            }
        }
    }

    /// The same as text.
    pub(crate) fn read_text(&self) -> Result<String, Problem> {
        Ok(String::from_utf8_lossy(&self.read()?).into_owned())
    }
}

/// Refuses a name behind which there is no file.
pub(crate) fn check_exists(path: &str) -> Result<(), Problem> {
    if Path::new(path).is_dir() {
        return Err(Problem::new(format!("{path} is a directory, not a model file")));
    }
    if Path::new(path).exists() {
        return Ok(());
    }
    let error = Diagnostic::error(format!("{path}: there is no such file"));
    let names = turnpike_builtin::catalogue().iter().map(|info| info.name);
    Err(match nearest(path, names) {
        Some(near) => error.help(format!("a built-in model is named with a prefix: {BUILTIN}{near}")).into(),
        None => error.into(),
    })
}

choice! {
    /// An input language.
    Format {
        /// Explicit transition system, Aldebaran text, plain or gzipped
        Aut = "aut",
        /// mCRL2 specification
        Mcrl2 = "mcrl2",
        /// TChecker timed automata
        Tck = "tck",
        /// UPPAAL timed automata, XML
        Xml = "xml",
        /// UPPAAL timed automata, text; also the old syntax
        Xta = "xta",
    }
}

/// Every format with the endings of its files.
const ENDINGS: [(&str, Format); 7] = [
    (".mcrl2", Format::Mcrl2),
    (".tck", Format::Tck),
    (".xml", Format::Xml),
    (".xta", Format::Xta),
    (".ta", Format::Xta),
    (".aut", Format::Aut),
    (".aut.gz", Format::Aut),
];

impl Format {
    /// Whether it describes timed automata.
    pub fn is_timed(self) -> bool {
        matches!(self, Format::Tck | Format::Xml | Format::Xta)
    }

    fn of_file(path: &str) -> Option<Format> {
        let lower = path.to_ascii_lowercase();
        ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending)).map(|(_, format)| *format)
    }
}

/// How a model is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// The format, whatever the name says.
    pub format: Option<Format>,
    /// Settings as `NAME=VALUE`.
    pub settings: Vec<String>,
    /// mCRL2: actions that stay visible although they are hidden.
    pub unhide: Vec<String>,
    /// mCRL2: honour time.
    pub timed: bool,
    /// Keep values after their last use.
    pub keep_dead: bool,
    /// mCRL2: values that are tried for a quantified variable.
    pub quantifier_limit: Option<u32>,
    /// mCRL2: look at the equations more closely, which takes a while.
    #[serde(skip)]
    pub lints: bool,
    /// The internal action of `.aut` files is `i`, as in CADP.
    pub cadp: bool,
    /// How timed automata are explored.
    pub timed_automata: TimedReading,
}

/// How timed automata are explored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimedReading {
    /// How zones are made coarser; the coarsest way that is right when absent.
    pub extrapolation: Option<ZoneExtrapolation>,
    /// Which states cover which, for searches that leave out covered ones.
    pub cover: Covering,
    /// Let time pass before transitions rather than after them.
    pub delay_first: bool,
    /// What an assignment out of range is.
    pub out_of_range: OutOfRange,
    /// Files with automata that watch the model.
    pub observers: Vec<String>,
}

choice! {
    /// How zones are made coarser.
    ZoneExtrapolation {
        /// Not at all; the search may not end
        None = "none",
        /// By the largest constant of each clock
        M = "m",
        /// The same, coarser above the constants
        MPlus = "m+",
        /// By lower and upper bounds apart
        Lu = "lu",
        /// The same, coarser above the constants
        LuPlus = "lu+",
    }
}

impl From<ZoneExtrapolation> for Extrapolation {
    fn from(choice: ZoneExtrapolation) -> Self {
        match choice {
            ZoneExtrapolation::None => Extrapolation::None,
            ZoneExtrapolation::M => Extrapolation::M,
            ZoneExtrapolation::MPlus => Extrapolation::MPlus,
            ZoneExtrapolation::Lu => Extrapolation::Lu,
            ZoneExtrapolation::LuPlus => Extrapolation::LuPlus,
        }
    }
}

choice! {
    /// Which states cover which.
    Covering = None {
        /// States are merged only when they are equal
        None = "none",
        /// A zone covers those it includes
        Inclusion = "inclusion",
        /// A zone covers those it simulates, by the bounds that clocks are still compared with
        Alu = "alu",
    }
}

choice! {
    /// What an assignment out of range is.
    OutOfRange = Error {
        /// An error of the model
        Error = "error",
        /// A transition that is not there
        Disable = "disable",
    }
}

impl Section for Reading {
    const TITLE: &'static str = "Options";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "as",
            Takes::Word(Format::WORDS),
            "FORMAT",
            "Read the model as this format, whatever its name",
            |reading| reading.format.map(|format| format.word().to_owned()).into_iter().collect(),
            |reading, text| Format::from_word(text).map(|format| reading.format = Some(format)),
        ),
        option(
            "set",
            Takes::Texts,
            "NAME=VALUE",
            "Set a parameter of a built-in model, a constant of a UPPAAL model, or a constant map of an \
             mCRL2 specification, which may be any expression of its sort (repeatable)",
            |reading| reading.settings.clone(),
            |reading, text| {
                reading.settings.push(text.to_owned());
                Ok(())
            },
        ),
        option(
            "unhide",
            Takes::Names,
            "NAMES",
            "Keep these actions of an mCRL2 specification visible although it hides them",
            |reading| reading.unhide.clone(),
            |reading, text| add_names(&mut reading.unhide, text),
        ),
        switch(
            "timed",
            "Honour time in an mCRL2 specification: no component waits longer than it says",
            |reading| is_on(reading.timed),
            |reading, _| {
                reading.timed = true;
                Ok(())
            },
        ),
        switch(
            "keep-dead",
            "Keep values after their last use: in an mCRL2 specification variables of what is left to do and \
             outcomes of probabilistic choices, as the mCRL2 tools do, and all clocks of timed automata; \
             states that differ only in those are then different",
            |reading| is_on(reading.keep_dead),
            |reading, _| {
                reading.keep_dead = true;
                Ok(())
            },
        ),
        option(
            "quantifier-limit",
            Takes::Small { least: 0 },
            "N",
            "Try at most N values of a quantified variable of an mCRL2 specification, from the least one on, \
             as the option -Q of the mCRL2 tools does; without it as many as its bounds leave",
            |reading| text_of(reading.quantifier_limit.as_ref()),
            |reading, text| parse(text, values::count).map(|limit| reading.quantifier_limit = Some(limit)),
        ),
        switch(
            "cadp",
            "Read and write `.aut` files whose internal action is `i` (CADP) instead of `tau`",
            |reading| is_on(reading.cadp),
            |reading, _| {
                reading.cadp = true;
                Ok(())
            },
        ),
    ];
}

impl Section for TimedReading {
    const TITLE: &'static str = "Timed automata";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "extrapolation",
            Takes::Word(ZoneExtrapolation::WORDS),
            "HOW",
            "How zones are made coarser [default: the coarsest way that is right for what is asked]",
            |timed| timed.extrapolation.map(|how| how.word().to_owned()).into_iter().collect(),
            |timed, text| ZoneExtrapolation::from_word(text).map(|how| timed.extrapolation = Some(how)),
        ),
        option(
            "cover",
            Takes::Word(Covering::WORDS),
            "RELATION",
            "Leave out states that another one covers: by inclusion of their zones, or by what the bounds of \
             clocks let them do (alu); for bfs and dfs",
            |timed| unusual(timed.cover),
            |timed, text| Covering::from_word(text).map(|cover| timed.cover = cover),
        ),
        switch(
            "delay-first",
            "Let time pass before transitions rather than after them",
            |timed| is_on(timed.delay_first),
            |timed, _| {
                timed.delay_first = true;
                Ok(())
            },
        ),
        option(
            "out-of-range",
            Takes::Word(OutOfRange::WORDS),
            "MEANING",
            "What an assignment out of range is: an error of the model, or a transition that is not there",
            |timed| unusual(timed.out_of_range),
            |timed, text| OutOfRange::from_word(text).map(|meaning| timed.out_of_range = meaning),
        ),
        option(
            "observer",
            Takes::Texts,
            "FILE",
            "Let an automaton watch the model, which it never keeps from moving: declarations of a .tck file, \
             in which it takes part weakly (sync:P@a:Watch@seen?), or UPPAAL text that ends with \
             `system Watch;` and hears broadcast channels (repeatable)",
            |timed| timed.observers.clone(),
            |timed, text| {
                timed.observers.push(text.to_owned());
                Ok(())
            },
        ),
    ];
}

impl Reading {
    /// Whether states that another one covers are left out.
    pub fn leaves_out_covered(&self) -> bool {
        self.timed_automata.cover != Covering::None
    }

    /// The dialect of `.aut` files.
    pub fn dialect(&self) -> AutDialect {
        if self.cadp { AutDialect::Cadp } else { AutDialect::Mcrl2 }
    }

    /// The format of a model at this location, as far as it is known.
    pub fn format_of(&self, location: &Location) -> Option<Format> {
        match location {
            Location::Builtin(_) => None,
            Location::StandardInput => self.format,
            Location::File(path) => self.format.or_else(|| Format::of_file(path)),
        }
    }

    /// The settings, taken apart.
    pub(crate) fn split_settings(&self) -> Result<Vec<(String, String)>, Problem> {
        let split = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                Err(Diagnostic::error(format!("the setting `{text}` is not of the form NAME=VALUE")).into())
            }
        };
        self.settings.iter().map(split).collect()
    }

    /// Refuses options that mean something for mCRL2 specifications only. Timed automata may have
    /// dead clocks to keep.
    pub(crate) fn refuse_specification_options(&self, name: &str, has_clocks: bool) -> Result<(), Problem> {
        let option = match self {
            Reading { timed: true, .. } => "timed",
            Reading { keep_dead: true, .. } if !has_clocks => {
                let message = "the option `keep-dead` is for mCRL2 specifications and timed automata";
                return Err(Problem::new(format!("{message}, but {name} is neither")));
            }
            Reading { quantifier_limit: Some(_), .. } => "quantifier-limit",
            Reading { unhide, .. } if !unhide.is_empty() => "unhide",
            _ => return Ok(()),
        };
        Err(Problem::new(format!("the option `{option}` is for mCRL2 specifications, but {name} is not one")))
    }

    /// Refuses options that mean something for timed automata only. Leaving out covered states is
    /// worth a warning only.
    pub(crate) fn refuse_timed_options(&self, name: &str) -> Result<(), Problem> {
        let given = self.timed_automata.given();
        match given.iter().find(|given| given.name != "cover") {
            Some(given) => Err(Problem::new(format!(
                "the option `{}` is for timed automata, but {name} is not a timed automaton",
                given.name
            ))),
            None => Ok(()),
        }
    }
}

/// Refuses a file whose name says nothing about what is in it.
pub(crate) fn unknown_format(path: &str) -> Problem {
    let endings: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
    Diagnostic::error(format!("{path}: the extension does not tell what kind of model this is"))
        .help(format!("known are {}; the option `as` names the format of other files", endings.join(", ")))
        .into()
}
