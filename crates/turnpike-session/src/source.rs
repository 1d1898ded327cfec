//! What a user names: where a model is, and how it is read.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use turnpike_lts::AutDialect;
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::nearest;
use turnpike_timed::explore::Cover;
use turnpike_timed::zone::Extrapolation;

use crate::problem::Problem;
use crate::program::ProgramSource;

/// Something to search.
#[derive(Clone, Debug)]
pub enum Source {
    /// A model.
    Model {
        /// Where it is.
        location: Location,
        /// How it is read.
        reading: Reading,
    },
    /// A program.
    Program(ProgramSource),
}

/// Where a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// An input language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Explicit transition system, Aldebaran text, plain or gzipped.
    Aut,
    /// mCRL2 specification.
    Mcrl2,
    /// TChecker timed automata.
    Tck,
    /// UPPAAL timed automata, XML.
    Xml,
    /// UPPAAL timed automata, text; also the old syntax.
    Xta,
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

impl FromStr for Format {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        Format::of_file(&format!(".{text}"))
            .ok_or_else(|| Diagnostic::error(format!("`{text}` is not an input format")))
    }
}

/// How a model is read.
#[derive(Clone, Debug, Default)]
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
    pub lints: bool,
    /// The internal action of `.aut` files.
    pub dialect: AutDialect,
    /// How timed automata are explored.
    pub timed_automata: TimedReading,
}

/// How timed automata are explored.
#[derive(Clone, Debug, Default)]
pub struct TimedReading {
    /// How zones are made coarser; the coarsest way that is right when absent.
    pub extrapolation: Option<Extrapolation>,
    /// Which states cover which, for searches that leave out covered ones.
    pub cover: Option<Cover>,
    /// Let time pass before transitions rather than after them.
    pub delay_first: bool,
    /// An assignment out of range is a transition that is not there, rather than an error.
    pub out_of_range_disables: bool,
    /// Files with automata that watch the model.
    pub observers: Vec<String>,
}

impl Reading {
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
            None => Err(Diagnostic::error(format!("'--set {text}' is not of the form NAME=VALUE")).into()),
        };
        self.settings.iter().map(split).collect()
    }

    /// Refuses options that mean something for mCRL2 specifications only. Timed automata may have dead clocks to keep.
    pub(crate) fn refuse_specification_options(&self, name: &str, has_clocks: bool) -> Result<(), Problem> {
        let flag = match self {
            Reading { timed: true, .. } => "--timed",
            Reading { keep_dead: true, .. } if !has_clocks => {
                let message = "--keep-dead is for mCRL2 specifications and timed automata";
                return Err(Problem::new(format!("{message}, but {name} is neither")));
            }
            Reading { quantifier_limit: Some(_), .. } => "--quantifier-limit",
            Reading { unhide, .. } if !unhide.is_empty() => "--unhide",
            _ => return Ok(()),
        };
        Err(Problem::new(format!("{flag} is for mCRL2 specifications, but {name} is not one")))
    }

    /// Refuses options that mean something for timed automata only.
    pub(crate) fn refuse_timed_options(&self, name: &str) -> Result<(), Problem> {
        let timed = &self.timed_automata;
        let given = [
            ("--extrapolation", timed.extrapolation.is_some()),
            ("--delay-first", timed.delay_first),
            ("--out-of-range", timed.out_of_range_disables),
            ("--observer", !timed.observers.is_empty()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Problem::new(format!(
                "{flag} is for timed automata, but {name} is not a timed automaton"
            ))),
            None => Ok(()),
        }
    }
}

/// Refuses a file whose name says nothing about what is in it.
pub(crate) fn unknown_format(path: &str) -> Problem {
    let endings: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
    Diagnostic::error(format!("{path}: the extension does not tell what kind of model this is"))
        .help(format!("known are {}; --as FORMAT overrides", endings.join(", ")))
        .into()
}
