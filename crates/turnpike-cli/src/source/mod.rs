//! The flags that name what to search and say how it is read: turned into a [`Source`], no more.

mod program;
mod timed;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use turnpike_lts::AutDialect;
use turnpike_model::Diagnostic;
use turnpike_session::{Format, Location, Prepared, Purpose, Reading, Session, Source};

pub(crate) use self::program::ProgramArgs;
use self::timed::{CoverArg, TimedArgs};
use crate::failure::Failure;

/// An input language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
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

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Self {
        match format {
            InputFormat::Aut => Format::Aut,
            InputFormat::Mcrl2 => Format::Mcrl2,
            InputFormat::Tck => Format::Tck,
            InputFormat::Xml => Format::Xml,
            InputFormat::Xta => Format::Xta,
        }
    }
}

/// How a model is named, when it cannot be a program.
#[derive(Args, Clone, Debug)]
pub(crate) struct FileArgs {
    /// A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz), `builtin:NAME`, or `-` for standard input
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How a model or a program is named.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArgs {
    /// A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz), `builtin:NAME`, or `-` for standard input; or --program
    #[arg(
        value_name = "MODEL",
        required = false,
        required_unless_present = "program",
        default_value_if("program", ArgPredicate::IsPresent, "")
    )]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

impl ModelArgs {
    /// What the flags name.
    pub(crate) fn source(&self) -> Result<Source, Failure> {
        source(&self.model, &self.reading, &self.program)
    }

    /// Reads it.
    pub(crate) fn open(&self) -> Result<Session, Failure> {
        Ok(Session::open(&self.source()?)?)
    }

    /// Reads it, for nothing in particular.
    pub(crate) fn prepare(&self) -> Result<Prepared, Failure> {
        Ok(self.open()?.prepare(&Purpose::default())?)
    }
}

/// What these flags name.
pub(crate) fn source(model: &str, reading: &ReadingArgs, program: &ProgramArgs) -> Result<Source, Failure> {
    let Some(program_source) = program.source() else {
        return match program.given() {
            Some(flag) => {
                let message = format!("{flag} is for programs, but {model} is a model");
                Err(Diagnostic::error(message).help("programs are named by --program").into())
            }
            None => Ok(reading.source(model)),
        };
    };
    if !model.is_empty() {
        let message = format!("--program and the model {model} cannot be given together");
        return Err(Diagnostic::error(message).help("arguments of the program come after `--`").into());
    }
    match reading.given() {
        Some(flag) => Err(Failure::usage(format!("{flag} is for models, not for programs"))),
        None => Ok(Source::Program(program_source)),
    }
}

/// How an input is read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReadingArgs {
    /// Read the model as this format, whatever its name
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,
    /// Set a parameter of a built-in model, a constant of a UPPAAL model, or a constant map of an mCRL2 specification, which may
    /// be any expression of its sort (repeatable)
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Keep these actions of an mCRL2 specification visible although it hides them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) unhide: Vec<String>,
    /// Honour time in an mCRL2 specification: no component waits longer than it says
    #[arg(long)]
    pub(crate) timed: bool,
    /// Keep values after their last use: in an mCRL2 specification variables of what is left to do and outcomes of probabilistic choices, as the
    /// mCRL2 tools do, and all clocks of timed automata; states that differ only in those are then different
    #[arg(long)]
    pub(crate) keep_dead: bool,
    /// Try at most N values of a quantified variable of an mCRL2 specification, from the least one on, as the option -Q of the mCRL2 tools does;
    /// without it as many as its bounds leave
    #[arg(long, value_name = "N")]
    pub(crate) quantifier_limit: Option<u32>,
    /// Read and write `.aut` files whose internal action is `i` (CADP) instead of `tau`
    #[arg(long)]
    pub(crate) cadp: bool,
    #[command(flatten)]
    pub(crate) timed_automata: TimedArgs,
}

impl ReadingArgs {
    /// Whether states that another one covers are left out.
    pub(crate) fn covering(&self) -> bool {
        self.timed_automata.cover.is_some_and(|cover| cover != CoverArg::None)
    }

    /// The first flag that was given, for programs it means nothing for.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--as", self.input_format.is_some()),
            ("--set", !self.settings.is_empty()),
            ("--unhide", !self.unhide.is_empty()),
            ("--timed", self.timed),
            ("--keep-dead", self.keep_dead),
            ("--quantifier-limit", self.quantifier_limit.is_some()),
            ("--cadp", self.cadp),
            ("--cover", self.timed_automata.cover.is_some()),
        ];
        let given = given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        given.or_else(|| self.timed_automata.given())
    }

    /// A model of this name.
    pub(crate) fn source(&self, model: &str) -> Source {
        Source::Model { location: Location::from(model), reading: self.reading() }
    }

    /// How a model is read.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            format: self.input_format.map(Format::from),
            settings: self.settings.clone(),
            unhide: self.unhide.clone(),
            timed: self.timed,
            keep_dead: self.keep_dead,
            quantifier_limit: self.quantifier_limit,
            lints: false,
            dialect: self.dialect(),
            timed_automata: self.timed_automata.reading(),
        }
    }

    /// The format of a model of this name, as far as it is known.
    pub(crate) fn format_of(&self, model: &str) -> Option<Format> {
        self.reading().format_of(&Location::from(model))
    }

    /// Whether the user names a model whose states are computed, rather than a list of transitions.
    pub(crate) fn names_model(&self, model: &str) -> bool {
        match Location::from(model) {
            Location::Builtin(_) => true,
            location => self.reading().format_of(&location).is_some_and(|format| format != Format::Aut),
        }
    }

    pub(crate) fn dialect(&self) -> AutDialect {
        if self.cadp { AutDialect::Cadp } else { AutDialect::Mcrl2 }
    }
}

/// A line about warnings that are not shown here, if there are any.
pub(crate) fn remark(prepared: &Prepared) -> Option<String> {
    let what = match prepared.warnings {
        0 => return None,
        1 => "a warning".to_owned(),
        many => format!("{many} warnings"),
    };
    Some(format!("note: there is {what} about {}; turnpike check shows more", prepared.model.info().name))
}
