//! Sources as named by the user: the location of a model and the options for reading it.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use turnpike_lts::AutDialect;
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::nearest;
use turnpike_timed::zone::Extrapolation;

use crate::choice::{Choice, choice, unusual};
use crate::front_end::{FRONT_ENDS, Format, FrontEnd};
use crate::options::{OptionRow, Section, Takes, add_names, is_on, option, parse, switch, text_of};
use crate::problem::Problem;
use crate::program::ProgramSource;
use crate::values;

/// A source to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// A model.
    Model {
        /// Its location.
        location: Location,
        /// The options for reading it.
        #[serde(default)]
        reading: Reading,
    },
    /// A program.
    Program(ProgramSource),
}

/// The location of a model. As text: `builtin:NAME`, a path, or `-` for standard input.
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
    /// The content of a file or of standard input.
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

    /// The content as text.
    pub(crate) fn read_text(&self) -> Result<String, Problem> {
        Ok(String::from_utf8_lossy(&self.read()?).into_owned())
    }
}

/// Refuses the name of a file that does not exist.
pub(crate) fn check_exists(path: &str) -> Result<(), Problem> {
    if Path::new(path).is_dir() {
        return Err(Problem::new(format!("{path} is a directory, not a model file")));
    }
    if Path::new(path).exists() {
        return Ok(());
    }
    let error = Diagnostic::error(format!("{path}: there is no such file"));
    let names = turnpike_builtin::catalogue().iter().map(|info| info.name);
    let help = match nearest(path, names) {
        Some(near) => Some(format!("a built-in model is named with a prefix: {BUILTIN}{near}")),
        None => near_file(Path::new(path)).map(|near| format!("did you mean `{}`?", near.display())),
    };
    Err(Problem::from(match help {
        Some(help) => error.help(help),
        None => error,
    }))
}

/// The file beside a missing one whose name is nearest to its name.
fn near_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> = files.filter_map(|file| file.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near))
}

/// The options for reading a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// The format, independent of the name.
    pub format: Option<Format>,
    /// Settings as `NAME=VALUE`.
    pub settings: Vec<String>,
    /// mCRL2: actions that stay visible even if they are hidden.
    pub unhide: Vec<String>,
    /// mCRL2: honour time.
    pub timed: bool,
    /// Keep values after their last use.
    pub keep_dead: bool,
    /// mCRL2: the number of values to try for a quantified variable.
    pub quantifier_limit: Option<u32>,
    /// mCRL2: check the equations for more problems, which takes a while.
    #[serde(skip)]
    pub lints: bool,
    /// The internal action of `.aut` files is `i`, as in CADP.
    pub cadp: bool,
    /// How timed automata are explored.
    pub timed_automata: TimedReading,
}

/// The options for exploring timed automata.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimedReading {
    /// How to extrapolate zones. The coarsest exact extrapolation if absent.
    pub extrapolation: Option<ZoneExtrapolation>,
    /// Which states cover which, for searches that prune covered states.
    pub cover: Covering,
    /// Let time pass before transitions rather than after them.
    pub delay_first: bool,
    /// The meaning of an assignment out of range.
    pub out_of_range: OutOfRange,
    /// Files with automata that observe the model.
    pub observers: Vec<String>,
}

choice! {
    /// How zones are made coarser.
    ZoneExtrapolation {
        /// No extrapolation; the search may not terminate
        None = "none",
        /// By the largest constant of each clock
        M = "m",
        /// The same, coarser above the constants
        MPlus = "m+",
        /// By separate lower and upper bounds
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
        /// Merge only equal states
        None = "none",
        /// A zone covers the zones that it includes
        Inclusion = "inclusion",
        /// A zone covers the zones that it simulates, by the bounds that clocks are still compared with
        Alu = "alu",
    }
}

choice! {
    /// What an assignment out of range is.
    OutOfRange = Error {
        /// An error in the model
        Error = "error",
        /// A disabled transition
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
            "Read the model in this format, whatever its name",
            |reading| reading.format.map(|format| format.name().to_owned()).into_iter().collect(),
            |reading, text| Format::from_word(text).map(|format| reading.format = Some(format)),
        ),
        option(
            "set",
            Takes::Texts,
            "NAME=VALUE",
            "Set a parameter of a built-in model, a constant of a UPPAAL model, or a constant map of an \
             mCRL2 specification to an expression of its sort (repeatable)",
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
            "Keep these actions visible although the mCRL2 specification hides them",
            |reading| reading.unhide.clone(),
            |reading, text| add_names(&mut reading.unhide, text),
        ),
        switch(
            "timed",
            "Respect time in an mCRL2 specification: no component waits longer than its time stamps allow",
            |reading| is_on(reading.timed),
            |reading, _| {
                reading.timed = true;
                Ok(())
            },
        ),
        switch(
            "keep-dead",
            "Keep values after their last use, so that states that differ only in them are different: in an \
             mCRL2 specification the variables of the remaining process and the outcomes of probabilistic \
             choices, as the mCRL2 tools do; in timed automata all clocks",
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
            "Try at most N values of a quantified variable of an mCRL2 specification, starting with the \
             least, like the option -Q of the mCRL2 tools [default: all values within its bounds]",
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
            "How to extrapolate zones [default: the coarsest extrapolation that is exact for the question]",
            |timed| timed.extrapolation.map(|how| how.word().to_owned()).into_iter().collect(),
            |timed, text| ZoneExtrapolation::from_word(text).map(|how| timed.extrapolation = Some(how)),
        ),
        option(
            "cover",
            Takes::Word(Covering::WORDS),
            "RELATION",
            "Prune states that another state covers: by inclusion of zones, or by simulation (alu); for bfs, \
             dfs and drs",
            |timed| unusual(timed.cover),
            |timed, text| Covering::from_word(text).map(|cover| timed.cover = cover),
        ),
        switch(
            "delay-first",
            "Let time pass before transitions instead of after them",
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
            "What an assignment out of range means: an error in the model, or a disabled transition",
            |timed| unusual(timed.out_of_range),
            |timed, text| OutOfRange::from_word(text).map(|meaning| timed.out_of_range = meaning),
        ),
        option(
            "observer",
            Takes::Texts,
            "FILE",
            "Add an automaton that observes the model without restricting it: declarations of a .tck file, \
             in which it takes part weakly (sync:P@a:Watch@seen?), or UPPAAL text that ends with \
             `system Watch;` and receives from broadcast channels (repeatable)",
            |timed| timed.observers.clone(),
            |timed, text| {
                timed.observers.push(text.to_owned());
                Ok(())
            },
        ),
    ];
}

impl Reading {
    /// Whether covered states are pruned.
    pub fn leaves_out_covered(&self) -> bool {
        self.timed_automata.cover != Covering::None
    }

    /// The dialect of `.aut` files.
    pub fn dialect(&self) -> AutDialect {
        if self.cadp { AutDialect::Cadp } else { AutDialect::Mcrl2 }
    }

    /// The format of a model at this location, if known.
    pub fn format_of(&self, location: &Location) -> Option<Format> {
        match location {
            Location::Builtin(_) => None,
            Location::StandardInput => self.format,
            Location::File(path) => self.format.or_else(|| FrontEnd::of_file(FRONT_ENDS, path).map(Format)),
        }
    }

    /// The settings, split into names and values.
    pub(crate) fn split_settings(&self) -> Result<Vec<(String, String)>, Problem> {
        let split = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => {
                Err(Diagnostic::error(format!("the setting `{text}` is not of the form NAME=VALUE")).into())
            }
        };
        self.settings.iter().map(split).collect()
    }

    /// The names of all options that are set.
    pub(crate) fn all_given(&self) -> Vec<String> {
        let given = self.given().into_iter().chain(self.timed_automata.given());
        given.map(|given| given.name).collect()
    }
}

/// Refuses a file with an unknown extension.
pub(crate) fn unknown_format(path: &str, languages: &[&FrontEnd]) -> Problem {
    let extensions: Vec<&str> = languages.iter().flat_map(|language| language.extensions).copied().collect();
    let known =
        || format!("known extensions are {}; use the option `as` for other names", extensions.join(", "));
    let other = match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("q") => Some("queries are passed by the option `queries`, beside a model"),
        Some("mcf") => Some("formulas are passed by the option `formula`, beside a model"),
        Some("json") => Some("`turnpike show` prints traces, and `turnpike replay` executes them"),
        Some("toml") => Some("`turnpike lab run` executes experiments"),
        _ => None,
    };
    let error = Diagnostic::error(format!("{path}: unknown file extension"));
    error.help(other.map_or_else(known, str::to_owned)).into()
}
