//! Flags for programs: `--program ./a.out -- arguments`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use turnpike_session::{ProgramSource, Session, Source, quote_word};

use crate::failure::Failure;
use crate::options::Options;
use crate::output;

/// How programs are executed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Programs")]
pub(crate) struct ProgramArgs {
    /// Execute this program under a controlled scheduler; put its arguments after `--`
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    #[command(flatten)]
    options: Options<ProgramSource>,
    /// Show the output of the program while it runs
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGUMENT", requires = "program")]
    pub(crate) arguments: Vec<OsString>,
}

impl ProgramArgs {
    /// The first flag that was given, for models it means nothing for.
    pub(crate) fn first_given(&self) -> Option<String> {
        let shown = self.show_output.then(|| "--show-output".to_owned());
        self.options.first_given().or(shown)
    }

    /// The program as it is named on a command line: `--program ./a.out -- 1 2`.
    pub(crate) fn repeated(&self) -> Option<String> {
        let mut words = vec!["--program".to_owned(), quote_word(&self.program.as_ref()?.to_string_lossy())];
        if !self.arguments.is_empty() {
            words.push("--".to_owned());
            words.extend(self.arguments.iter().map(|argument| quote_word(&argument.to_string_lossy())));
        }
        Some(words.join(" "))
    }

    /// The program that is named, if one is.
    pub(super) fn source(&self) -> Result<Option<ProgramSource>, Failure> {
        let Some(path) = self.program.clone() else { return Ok(None) };
        let arguments = self.arguments.clone();
        Ok(Some(ProgramSource { path, arguments, ..self.options.section()? }))
    }

    /// Opens a source. What a program prints is shown when that was asked for.
    pub(crate) fn open(&self, source: &Source) -> Result<Session, Failure> {
        Ok(if self.show_output {
            Session::open_showing(source, |text| output::note(&output::escape_controls(text)))?
        } else {
            Session::open(source)?
        })
    }
}
