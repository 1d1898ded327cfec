//! The command line that repeats a result, ready to be pasted into a shell. It is written from the
//! request, option by option.

use turnpike_session::{Given, Request, Search, Section, Source};

use crate::cli::Format;
use crate::commands::search::Args;
use crate::options::words;

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
        search_command(&self.request, &self.presentation)
    }

    /// The command for the result alone: without what only changes speed and presentation.
    pub(crate) fn result(&self) -> String {
        let mut request = self.request.clone();
        request.search.running.threads = None;
        search_command(&request, &[])
    }

    /// The command for one run out of many.
    pub(crate) fn one_run(&self, seed: u64) -> String {
        let mut request = self.request.clone();
        let running = &mut request.search.running;
        (running.runs, running.threads, running.seed) = (None, None, seed);
        search_command(&request, &self.presentation)
    }

    /// The command that replays a witness of the program that was searched.
    pub(crate) fn replay(&self, file: &str) -> String {
        let (mut words, arguments) = source_words(&self.request.source);
        words.insert(0, "replay".to_owned());
        words.push(file.to_owned());
        words.extend(arguments);
        command(&words)
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

/// `turnpike search` with these words, the seed last.
fn search_command(request: &Request, presentation: &[String]) -> String {
    command(&search_words(request, presentation))
}

fn search_words(request: &Request, presentation: &[String]) -> Vec<String> {
    let (mut all, arguments) = source_words(&request.source);
    all.insert(0, "search".to_owned());
    let (seed, others): (Vec<Given>, Vec<Given>) =
        request.search.given().into_iter().partition(|given| given.name == "seed");
    all.extend(words(&others));
    all.extend_from_slice(presentation);
    all.extend(words(&seed));
    all.extend(arguments);
    all
}

/// The words that name a source and say how it is read; and the arguments of a program, which come last.
fn source_words(source: &Source) -> (Vec<String>, Vec<String>) {
    match source {
        Source::Model { location, reading } => {
            let mut all = vec![location.to_string()];
            all.extend(words(&reading.given()));
            all.extend(words(&reading.timed_automata.given()));
            (all, Vec::new())
        }
        Source::Program(program) => {
            let mut all = vec!["--program".to_owned(), program.path.to_string_lossy().into_owned()];
            all.extend(words(&program.given()));
            let mut arguments: Vec<String> =
                program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            if !arguments.is_empty() {
                arguments.insert(0, "--".to_owned());
            }
            (all, arguments)
        }
    }
}

/// The command of this process as it was typed.
pub(crate) fn as_typed() -> String {
    let arguments = std::env::args_os().skip(1);
    command(&arguments.map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>())
}

/// `turnpike` and these words, quoted.
fn command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    format!("turnpike {}", quoted.join(" "))
}

/// One word of a shell command.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
