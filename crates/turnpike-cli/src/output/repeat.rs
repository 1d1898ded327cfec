//! The command line that repeats a result, ready to be pasted into a shell. It is written from the
//! request, by the session.

use std::ffi::OsString;
use std::sync::OnceLock;

use turnpike_session::{Request, Search, Source, join_words};

use crate::cli::Format;
use crate::commands::search::Args;

/// A search as it was asked for on the command line.
pub(crate) struct Invocation {
    /// What the session was asked.
    pub(crate) request: Request,
    /// How the result is presented.
    presentation: Vec<String>,
}

impl Invocation {
    pub(crate) fn new(args: &Args, source: Source, search: Search, format: Format) -> Self {
        Invocation { request: Request { source, search }, presentation: presentation(args, format) }
    }

    /// The same command, with the seed made explicit.
    pub(crate) fn exactly(&self) -> String {
        join_words(&self.words())
    }

    /// Its words after `turnpike`.
    pub(crate) fn words(&self) -> Vec<String> {
        self.request.command_words(&self.presentation)
    }

    /// The command for the result alone: without what only changes speed and presentation.
    pub(crate) fn result(&self) -> String {
        let mut request = self.request.clone();
        request.search.running.threads = None;
        request.command_line()
    }

    /// The command for one run out of many. It asks for runs, though only for one: a search on its own
    /// shortens for longer, and gives another witness.
    pub(crate) fn one_run(&self, seed: u64) -> String {
        let mut request = self.request.clone();
        let running = &mut request.search.running;
        (running.runs, running.threads, running.seed) = (Some(1), None, seed);
        join_words(&request.command_words(&self.presentation))
    }

    /// The command that replays a witness of the program that was searched.
    pub(crate) fn replay(&self, file: &str) -> String {
        let (mut words, arguments) = self.request.source.command_words();
        words.insert(0, "replay".to_owned());
        words.push(file.to_owned());
        words.extend(arguments);
        join_words(&words)
    }
}

/// The flags that say how a result is presented.
fn presentation(args: &Args, format: Format) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(trace) = &args.results.trace {
        words.extend(["--trace".to_owned(), trace.to_string_lossy().into_owned()]);
    }
    let switches = [
        (args.model.program.show_output, "--show-output"),
        (args.progress.quiet, "--quiet"),
        (args.results.verbose, "--verbose"),
    ];
    words.extend(switches.iter().filter(|(given, _)| *given).map(|(_, flag)| (*flag).to_owned()));
    if let Some(kind) = args.progress.progress.and_then(|kind| clap::ValueEnum::to_possible_value(&kind)) {
        words.extend(["--progress".to_owned(), kind.get_name().to_owned()]);
    }
    if format == Format::Json {
        words.extend(["--format".to_owned(), "json".to_owned()]);
    }
    words
}

/// What several processes do, in place of how they were started.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

/// The command that this process carries out was typed so.
pub(crate) fn typed_as(words: &[OsString]) {
    let _ = TYPED.set(words.to_vec());
}

/// The command of this process as it was typed.
pub(crate) fn as_typed() -> String {
    join_words(&typed_words())
}

/// Its words after `turnpike`.
pub(crate) fn typed_words() -> Vec<String> {
    let words = TYPED.get().cloned().unwrap_or_else(|| std::env::args_os().skip(1).collect());
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests;
