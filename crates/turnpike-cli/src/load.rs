//! From what the user names to a model: by extension, `--as`, `builtin:NAME`, or standard input.

use std::io::Read;
use std::path::Path;

use clap::{Args, ValueEnum};
use turnpike_model::diagnostic::nearest;
use turnpike_model::lts::{AutDialect, Lts, LtsModel, read_lts, read_lts_file};
use turnpike_model::{Diagnostic, Model};

use crate::failure::Failure;

/// An input language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Explicit transition system, Aldebaran text, plain or gzipped.
    Aut,
}

/// How a model is named.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArgs {
    /// A model file (.aut, .aut.gz), `builtin:NAME`, or `-` for standard input
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How an input is read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReadingArgs {
    /// Read the model as this format, whatever its name
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,
    /// Set a parameter of the model (repeatable)
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Read and write `.aut` files whose internal action is `i` (CADP) instead of `tau`
    #[arg(long)]
    pub(crate) cadp: bool,
}

impl ReadingArgs {
    pub(crate) fn dialect(&self) -> AutDialect {
        if self.cadp { AutDialect::Cadp } else { AutDialect::Mcrl2 }
    }
}

/// Loads the model the user named.
pub(crate) fn model(args: &ModelArgs) -> Result<Box<dyn Model>, Failure> {
    Ok(model_and_size(args)?.0)
}

/// How large an explicit system is: states and transitions, as its file tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
}

/// Loads the model the user named, with its size where that is known without exploring it.
pub(crate) fn model_and_size(args: &ModelArgs) -> Result<(Box<dyn Model>, Option<Size>), Failure> {
    let name = args.model.as_str();
    if let Some(builtin) = name.strip_prefix("builtin:") {
        let settings = settings(&args.reading.settings)?;
        return match turnpike_builtin::build(builtin, &settings) {
            Ok(model) => Ok((model, None)),
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
    Ok((Box::new(model), Some(size)))
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
    let path = Path::new(name);
    if path.is_dir() {
        return Err(Diagnostic::error(format!("{name} is a directory, not a model file")).into());
    }
    if !path.exists() {
        let error = Diagnostic::error(format!("{name}: there is no such file"));
        let names = turnpike_builtin::catalogue().iter().map(|info| info.name);
        return Err(match nearest(name, names) {
            Some(near) => {
                error.help(format!("a built-in model is named with a prefix: builtin:{near}")).into()
            }
            None => error.into(),
        });
    }
    let known = [".aut", ".aut.gz"];
    let lower = name.to_ascii_lowercase();
    if format_given || known.iter().any(|extension| lower.ends_with(extension)) {
        return Ok(());
    }
    if lower.ends_with(".mcrl2") {
        let error = Diagnostic::error(format!("{name}: mCRL2 specifications cannot be searched yet"));
        return Err(error.help("`turnpike check` reads them and checks syntax and sorts").into());
    }
    let message = format!("{name}: the extension does not tell what kind of model this is");
    Err(Diagnostic::error(message)
        .help(format!("known are {}; --as FORMAT overrides", known.join(", ")))
        .into())
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
