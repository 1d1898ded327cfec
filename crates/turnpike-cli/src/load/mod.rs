//! From what the user names to a model: by extension, `--as`, `builtin:NAME`, or standard input.

pub(crate) mod program;
pub(crate) mod timed;
pub(crate) mod zeno;

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use turnpike_lts::{AutDialect, Lts, LtsModel, read_lts, read_lts_file};
use turnpike_mcrl2::explore::{Mcrl2Model, Options, Place, Refusal, linearise};
use turnpike_mcrl2::linear::LinearProcess;
use turnpike_model::diagnostic::nearest;
use turnpike_model::{Diagnostic, Model};
use turnpike_program::ProgramModel;

use self::program::ProgramArgs;
use self::timed::{Purpose, TimedArgs};
use self::zeno::Zeno;
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
    /// A model by its name.
    pub(crate) fn of_file(model: &str, reading: &ReadingArgs) -> Self {
        ModelArgs { model: model.to_owned(), reading: reading.clone(), program: ProgramArgs::default() }
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
        self.timed_automata.cover.is_some_and(|cover| cover != timed::CoverArg::None)
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

    pub(crate) fn dialect(&self) -> AutDialect {
        if self.cadp { AutDialect::Cadp } else { AutDialect::Mcrl2 }
    }
}

/// Loads the model the user named.
pub(crate) fn model(args: &ModelArgs) -> Result<Box<dyn Model>, Failure> {
    Ok(named(args, &Purpose::default())?.model)
}

/// How large an explicit system is: states and transitions, as its file tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
}

/// A model with what is known without exploring it.
pub(crate) struct Named {
    pub(crate) model: Box<dyn Model>,
    pub(crate) size: Option<Size>,
    /// Warnings about its text, which `turnpike check` shows.
    pub(crate) warnings: usize,
    /// For timed automata whose cycles are looked for.
    pub(crate) zeno: Option<Zeno>,
    /// The same as a program, when it is one.
    pub(crate) program: Option<Arc<ProgramModel>>,
}

impl Named {
    /// A line about warnings that are not shown here, if there are any.
    pub(crate) fn remark(&self) -> Option<String> {
        let what = match self.warnings {
            0 => return None,
            1 => "a warning".to_owned(),
            many => format!("{many} warnings"),
        };
        Some(format!("note: there is {what} about {}; turnpike check shows more", self.model.info().name))
    }
}

/// Loads the model the user named for a purpose, with its size where that is known without exploring it.
pub(crate) fn named(args: &ModelArgs, purpose: &Purpose) -> Result<Named, Failure> {
    let name = args.model.as_str();
    if let Some(program) = program::named(&args.program, name)? {
        if let Some(flag) = args.reading.given() {
            return Err(Failure::usage(format!("{flag} is for models, not for programs")));
        }
        return Ok(program);
    }
    if let Some(timed) = timed::read(name, &args.reading)? {
        return timed_model(&timed, &args.reading, purpose);
    }
    if purpose.non_zeno {
        return Err(zeno::useless(&format!("{name} is no such model")).into());
    }
    if let Some(flag) = args.reading.timed_automata.given() {
        return Err(Failure::usage(format!("{flag} is for timed automata, but {name} is no such model")));
    }
    if is_specification(name, &args.reading) {
        let (model, diagnostics, _) = specification(name, &args.reading, false)?;
        return Ok(Named {
            model: Box::new(model),
            size: None,
            warnings: diagnostics.len(),
            zeno: None,
            program: None,
        });
    }
    only_for_specifications(name, &args.reading, false)?;
    if let Some(builtin) = name.strip_prefix("builtin:") {
        let settings = settings(&args.reading.settings)?;
        return match turnpike_builtin::build(builtin, &settings) {
            Ok(model) => Ok(Named { model, size: None, warnings: 0, zeno: None, program: None }),
            Err(error) => Err(Failure::usage(error.to_string())),
        };
    }
    if let Some(setting) = args.reading.settings.first() {
        return Err(
            Diagnostic::error(format!("{name} has no parameters to set, but got --set {setting}")).into()
        );
    }
    let lts = lts(name, &args.reading)?;
    let size = Size { states: u64::from(lts.states), transitions: lts.transitions.len() as u64 };
    let model = LtsModel::new(name, lts).map_err(|diagnostic| Failure::from(diagnostic).in_file(name))?;
    Ok(Named { model: Box::new(model), size: Some(size), warnings: 0, zeno: None, program: None })
}

/// Timed automata that were read, for a purpose.
pub(crate) fn timed_model(
    timed: &timed::Timed,
    reading: &ReadingArgs,
    purpose: &Purpose,
) -> Result<Named, Failure> {
    only_for_specifications(&timed.name, reading, true)?;
    let zeno = purpose.cycles.then(|| Zeno::of(&timed.network, purpose.non_zeno));
    let (model, warnings) = timed.any_model(reading, purpose, zeno)?;
    let warnings = timed.warnings.len() + warnings.len();
    Ok(Named { model, size: None, warnings, zeno, program: None })
}

/// Whether the user names a model whose states are computed, rather than a list of transitions.
pub(crate) fn is_model(name: &str, reading: &ReadingArgs) -> bool {
    name.starts_with("builtin:") || is_specification(name, reading) || timed::is_timed(name, reading)
}

/// Whether the user names an mCRL2 specification.
pub(crate) fn is_specification(name: &str, reading: &ReadingArgs) -> bool {
    match reading.input_format {
        Some(format) => format == InputFormat::Mcrl2 && !name.starts_with("builtin:"),
        None => name.to_ascii_lowercase().ends_with(".mcrl2"),
    }
}

/// Refuses flags that mean nothing for models other than mCRL2 specifications. Timed automata may have dead clocks to keep.
pub(crate) fn only_for_specifications(
    name: &str,
    reading: &ReadingArgs,
    has_clocks: bool,
) -> Result<(), Failure> {
    let flag = match reading {
        ReadingArgs { timed: true, .. } => "--timed",
        ReadingArgs { keep_dead: true, .. } if !has_clocks => {
            let message = "--keep-dead is for mCRL2 specifications and timed automata";
            return Err(Failure::usage(format!("{message}, but {name} is neither")));
        }
        ReadingArgs { quantifier_limit: Some(_), .. } => "--quantifier-limit",
        ReadingArgs { unhide, .. } if !unhide.is_empty() => "--unhide",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!("{flag} is for mCRL2 specifications, but {name} is none")))
}

/// Reads an mCRL2 specification and makes it ready to be explored; with warnings, and its text. With `lints` the equations are looked
/// at more closely, which takes a while.
pub(crate) fn specification(
    name: &str,
    reading: &ReadingArgs,
    lints: bool,
) -> Result<(Mcrl2Model, Vec<Diagnostic>, String), Failure> {
    let (text, options) = specification_text(name, reading)?;
    let options = Options { lints, ..options };
    match Mcrl2Model::new(name, &text, &options) {
        Ok((model, warnings)) => Ok((model, warnings, text)),
        Err(refusal) => Err(refused(name, text, &options, refusal)),
    }
}

/// Reads an mCRL2 specification and linearises it.
pub(crate) fn linear_process(name: &str, reading: &ReadingArgs) -> Result<LinearProcess, Failure> {
    let (text, options) = specification_text(name, reading)?;
    match linearise(&text, &options) {
        Ok((process, _)) => Ok(process),
        Err(refusal) => Err(refused(name, text, &options, refusal)),
    }
}

fn specification_text(name: &str, reading: &ReadingArgs) -> Result<(String, Options), Failure> {
    let options = Options {
        settings: settings(&reading.settings)?,
        unhide: reading.unhide.iter().map(|name| name.trim().to_owned()).collect(),
        timed: reading.timed,
        keep_dead: reading.keep_dead,
        quantifier_limit: reading.quantifier_limit,
        ..Options::default()
    };
    Ok((String::from_utf8_lossy(&bytes(name)?).into_owned(), options))
}

/// The content of a file, or of standard input.
fn bytes(name: &str) -> Result<Vec<u8>, Failure> {
    if name == "-" {
        // Whoever asks first takes it all; those who ask again want the same.
        static INPUT: OnceLock<Vec<u8>> = OnceLock::new();
        if let Some(bytes) = INPUT.get() {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| Failure::file("standard input", "read", &error))?;
        return Ok(INPUT.get_or_init(|| bytes).clone());
    }
    if let Some(missing) = missing(name) {
        return Err(missing);
    }
    std::fs::read(name).map_err(|error| Failure::file(name, "read", &error))
}

/// A specification that cannot be used, with the text that its diagnostics point into.
pub(crate) fn refused(name: &str, text: String, options: &Options, refusal: Refusal) -> Failure {
    let (origin, source) = match refusal.place {
        Place::Specification => (name.to_owned(), Some(text)),
        Place::Setting(index) => {
            let (constant, value) = &options.settings[index];
            // A mistake in the name has no place in the value.
            let source = refusal.diagnostics.iter().any(|one| one.span.is_some()).then(|| value.clone());
            (if source.is_some() { format!("--set {constant}") } else { String::new() }, source)
        }
        Place::Request => (String::new(), None),
    };
    Failure { origin, source, diagnostics: refusal.diagnostics, ..Failure::usage("") }
}

/// Reads an explicit transition system from a file or standard input.
pub(crate) fn lts(name: &str, reading: &ReadingArgs) -> Result<Lts, Failure> {
    if name != "-" {
        check_name(name, reading.input_format.is_some())?;
    }
    let outcome = if name == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| Failure::file("standard input", "read", &error))?;
        read_lts(bytes.as_slice(), reading.dialect())
    } else {
        read_lts_file(Path::new(name), reading.dialect())
    };
    outcome.map_err(|diagnostic| Failure::from(diagnostic).in_file(name))
}

/// Explains a name that cannot be a model, before anything is read.
fn check_name(name: &str, format_given: bool) -> Result<(), Failure> {
    if let Some(missing) = missing(name) {
        return Err(missing);
    }
    let known = [".mcrl2", ".tck", ".xml", ".xta", ".ta", ".aut", ".aut.gz"];
    let lower = name.to_ascii_lowercase();
    if format_given || known.iter().any(|extension| lower.ends_with(extension)) {
        return Ok(());
    }
    let message = format!("{name}: the extension does not tell what kind of model this is");
    Err(Diagnostic::error(message)
        .help(format!("known are {}; --as FORMAT overrides", known.join(", ")))
        .into())
}

/// Explains a name behind which there is no file.
fn missing(name: &str) -> Option<Failure> {
    let path = Path::new(name);
    if path.is_dir() {
        return Some(Failure::usage(format!("{name} is a directory, not a model file")));
    }
    if path.exists() {
        return None;
    }
    let error = Diagnostic::error(format!("{name}: there is no such file"));
    let names = turnpike_builtin::catalogue().iter().map(|info| info.name);
    Some(match nearest(name, names) {
        Some(near) => error.help(format!("a built-in model is named with a prefix: builtin:{near}")).into(),
        None => error.into(),
    })
}

/// Splits `NAME=VALUE` settings.
fn settings(texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err(Diagnostic::error(format!("'--set {text}' is not of the form NAME=VALUE")).into()),
        })
        .collect()
}
