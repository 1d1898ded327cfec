//! The flags that name what to search and say how it is read: turned into a [`Source`], no more.

mod program;

use clap::Args;
use clap::builder::ArgPredicate;
use turnpike_lts::AutDialect;
use turnpike_model::Diagnostic;
use turnpike_session::{
    Format, Location, Prepared, Purpose, Reading, Session, Source, TimedReading, quote_word,
};

pub(crate) use self::program::ProgramArgs;
use crate::failure::Failure;
use crate::options::Options;

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

    /// What the user calls it.
    pub(crate) fn name(&self) -> String {
        let program = self.program.program.as_ref();
        program.map_or_else(|| self.model.clone(), |path| path.display().to_string())
    }

    /// Reads it.
    pub(crate) fn open(&self) -> Result<Session, Failure> {
        self.program.open(&self.source()?)
    }

    /// Reads it, for nothing in particular.
    pub(crate) fn prepare(&self) -> Result<Prepared, Failure> {
        Ok(self.open()?.prepare(&Purpose::default())?)
    }

    /// Opens the model such that its states can be shown as they are.
    pub(crate) fn prepare_exactly(&self) -> Result<Prepared, Failure> {
        Ok(self.open()?.prepare(&Purpose { exact: true, deadlock: true, ..Purpose::default() })?)
    }
}

/// What these flags name.
pub(crate) fn source(model: &str, reading: &ReadingArgs, program: &ProgramArgs) -> Result<Source, Failure> {
    let Some(program_source) = program.source()? else {
        return match program.first_given() {
            Some(flag) => {
                let message = format!("{flag} is for programs, but {model} is a model");
                Err(Diagnostic::error(message).help("name a program with --program").into())
            }
            None => {
                refuse_programs(model, reading)?;
                Ok(reading.source(model))
            }
        };
    };
    if let Some(path) = program.program.as_ref().and_then(|path| path.to_str())
        && !is_executable(path)
        && let Some(error) = source_of_program(path)
    {
        return Err(error.into());
    }
    if !model.is_empty() {
        let message = format!("cannot use --program together with the model {model}");
        return Err(Diagnostic::error(message).help("arguments of the program come after `--`").into());
    }
    match &reading.first_given {
        Some(flag) => Err(Failure::usage(format!("{flag} is for models, not for programs"))),
        None => Ok(Source::Program(program_source)),
    }
}

/// Says what to do about a program or its source where a model is expected.
fn refuse_programs(model: &str, reading: &ReadingArgs) -> Result<(), Failure> {
    let Location::File(path) = Location::from(model) else { return Ok(()) };
    if reading.format_of(model).is_some() || !std::path::Path::new(&path).is_file() {
        return Ok(());
    }
    if let Some(error) = source_of_program(&path) {
        return Err(error.into());
    }
    if !is_executable(&path) {
        return Ok(());
    }
    let named = if path.contains('/') { path } else { format!("./{path}") };
    let help = format!(
        "to search a program, name it by a flag: --program {}; if it is compiled and linked with \
         -g -fsanitize=thread, memory accesses are seen too",
        quote_word(&named)
    );
    Err(Diagnostic::error(format!("{model} is a program, not a model")).help(help).into())
}

/// Says how to compile a file, if it is the source of a program.
fn source_of_program(path: &str) -> Option<Diagnostic> {
    let (stem, extension) = path.rsplit_once('.')?;
    let compiler = match extension {
        "c" => "cc",
        "cc" | "cpp" | "cxx" | "c++" | "C" => "c++",
        _ => return None,
    };
    if !std::path::Path::new(path).is_file() {
        return None;
    }
    let program = stem.rsplit('/').next().unwrap_or(stem);
    let help = format!(
        "compile it with `{compiler} -g -fsanitize=thread {} -o {} -pthread`, \
         and search it with `turnpike search --program {}`",
        quote_word(path),
        quote_word(program),
        quote_word(&format!("./{program}"))
    );
    Some(Diagnostic::error(format!("{path} is the source of a program, which must be compiled")).help(help))
}

/// Whether a file begins as programs do.
fn is_executable(path: &str) -> bool {
    let mut start = [0; 4];
    let read =
        std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start == *b"\x7fELF"
}

/// How an input is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadingArgs {
    reading: Reading,
    /// The first flag that was given, for programs it means nothing for.
    first_given: Option<String>,
}

impl Args for ReadingArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        Options::<TimedReading>::augment_args(Options::<Reading>::augment_args(command))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ReadingArgs {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let options = Options::<Reading>::from_arg_matches(matches)?;
        let timed = Options::<TimedReading>::from_arg_matches(matches)?;
        let wrong = |failure: Failure| {
            let message = failure.diagnostics.first().map_or_else(String::new, ToString::to_string);
            clap::Error::raw(clap::error::ErrorKind::ValueValidation, message)
        };
        let timed_automata = timed.section().map_err(wrong)?;
        let reading = Reading { timed_automata, ..options.section().map_err(wrong)? };
        Ok(ReadingArgs { reading, first_given: options.first_given().or_else(|| timed.first_given()) })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ReadingArgs {
    /// The first flag that was given.
    pub(crate) fn first_given(&self) -> Option<&str> {
        self.first_given.as_deref()
    }

    /// A model of this name.
    pub(crate) fn source(&self, model: &str) -> Source {
        Source::Model { location: Location::from(model), reading: self.reading() }
    }

    /// How a model is read.
    pub(crate) fn reading(&self) -> Reading {
        self.reading.clone()
    }

    /// The same for a system that was written by turnpike: its dialect alone matters.
    pub(crate) fn of_system(&self) -> Self {
        let reading = Reading { cadp: self.reading.cadp, ..Reading::default() };
        ReadingArgs { reading, first_given: None }
    }

    /// The format of a model of this name, as far as it is known.
    pub(crate) fn format_of(&self, model: &str) -> Option<Format> {
        self.reading.format_of(&Location::from(model))
    }

    /// Whether the user names a model whose states are computed, rather than a list of transitions.
    pub(crate) fn names_model(&self, model: &str) -> bool {
        match Location::from(model) {
            Location::Builtin(_) => true,
            location => self.reading.format_of(&location).is_some_and(|format| format != Format::AUT),
        }
    }

    pub(crate) fn dialect(&self) -> AutDialect {
        self.reading.dialect()
    }
}
