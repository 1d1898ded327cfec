//! Errors on their way to the user: a sentence, a place, advice; as text or as the one JSON object.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lts::Explosion;
use turnpike_model::{Diagnostic, Trace};
use turnpike_session::{Objective, Problem, ProblemKind, quote_word};
use turnpike_session::{SearchError, StepReport};

use crate::cli::AnyFormat;
use crate::cluster;
use crate::exit::Exit;
use crate::options::spell_all;
use crate::output::{self, VERSION, ci};
use crate::steps::{self, StepView};

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What the diagnostic is about: a file name, or nothing.
    pub(crate) origin: String,
    /// The source text, when the diagnostic points into it.
    pub(crate) source: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The steps that led to it, when the model itself failed.
    pub(crate) trace: Option<Box<Trace>>,
}

pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

/// An error as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorOutput {
    /// Version of turnpike.
    turnpike: String,
    /// The command; null when it is not known.
    command: Option<String>,
    /// The input it is about; null when it is about the command line.
    model: Option<String>,
    /// The first error in one sentence.
    error: String,
    /// All errors.
    errors: Vec<ErrorItem>,
    /// When the model could not take a step: how it got there.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<ErrorTrace>,
}

/// One error.
#[derive(Serialize, JsonSchema)]
struct ErrorItem {
    message: String,
    /// 1-based line of the input.
    line: Option<u64>,
    /// 1-based column of the input, in characters.
    column: Option<u64>,
    /// What to do about it.
    help: Option<String>,
}

/// The way to an error.
#[derive(Serialize, JsonSchema)]
struct ErrorTrace {
    /// The seed of the run.
    seed: Option<u64>,
    /// The transitions taken.
    steps: Vec<StepReport>,
}

/// Steps before an error that are shown; the last ones matter.
const SHOWN_STEPS: usize = 40;

/// The column of the source that a diagnostic points at.
pub(crate) fn column_of(source: Option<&str>, diagnostic: &Diagnostic) -> Option<u64> {
    let before = source?.get(..diagnostic.span.as_ref()?.range.start)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some(line.chars().count() as u64 + 1)
}

impl Failure {
    /// A usage error without a place.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::from(Diagnostic::error(message))
    }

    /// An input or output file that cannot be used.
    pub(crate) fn file(path: &str, doing: &str, error: &std::io::Error) -> Self {
        Failure::from(Diagnostic::error(format!("cannot {doing} {path}: {error}")))
    }

    /// Names the file that the diagnostics are about.
    #[must_use]
    pub(crate) fn in_file(mut self, path: impl Into<String>) -> Self {
        self.origin = path.into();
        self
    }

    /// Prints the error and gives the exit code.
    pub(crate) fn report(&self, command: &str, format: AnyFormat) -> ExitCode {
        if cluster::is_said_by_another() {
            return self.exit.into();
        }
        // Standard output belongs to the process that prints the results.
        let format = if output::unmute() { AnyFormat::Human } else { format };
        if let Some(kind) = format.ci() {
            let diagnostics: Vec<&Diagnostic> = self.diagnostics.iter().collect();
            let source = self.source.as_deref();
            let cases = ci::cases_of_diagnostics(command, &self.origin, source, &diagnostics);
            output::line(&ci::write(kind, command, &cases));
            return self.exit.into();
        }
        match format {
            AnyFormat::Human => {
                for diagnostic in &self.diagnostics {
                    output::diagnostic(&self.origin, self.source.as_deref(), diagnostic);
                }
                for line in self.trace_lines() {
                    output::note(&line);
                }
            }
            _ => output::json(&self.as_json(Some(command))),
        }
        self.exit.into()
    }

    fn as_json(&self, command: Option<&str>) -> ErrorOutput {
        let item = |d: &Diagnostic| ErrorItem {
            message: spell_all(&d.message),
            line: d.line.or_else(|| self.line_of(d)),
            column: column_of(self.source.as_deref(), d),
            help: d.help.as_deref().map(spell_all),
        };
        ErrorOutput {
            turnpike: VERSION.to_owned(),
            command: command.map(str::to_owned),
            model: (!self.origin.is_empty()).then(|| self.origin.clone()),
            error: self.diagnostics.first().map_or_else(String::new, |d| spell_all(&d.message)),
            errors: self.diagnostics.iter().map(item).collect(),
            trace: self.trace.as_ref().map(|trace| ErrorTrace {
                seed: trace.seed,
                steps: trace.steps.iter().map(StepReport::from).collect(),
            }),
        }
    }

    /// The line of the source that a diagnostic points at.
    fn line_of(&self, diagnostic: &Diagnostic) -> Option<u64> {
        let (source, span) = (self.source.as_ref()?, diagnostic.span.as_ref()?);
        let before = source.get(..span.range.start)?;
        Some(before.matches('\n').count() as u64 + 1)
    }

    /// The way to the error, its beginning left out when it is long.
    fn trace_lines(&self) -> Vec<String> {
        let Some(trace) = &self.trace else { return Vec::new() };
        if trace.steps.is_empty() && trace.initial.as_ref().is_none_or(|values| values.is_empty()) {
            return Vec::new();
        }
        let steps = steps::lines(trace, &StepView::for_output());
        let title = if trace.steps.is_empty() { "the initial state:" } else { "the steps that led there:" };
        let mut lines = vec![title.to_owned()];
        let hidden = steps.len().saturating_sub(SHOWN_STEPS);
        if hidden > 0 {
            lines.push(format!("  ... {} lines before ...", output::grouped(hidden as u64)));
        }
        lines.extend_from_slice(&steps[hidden..]);
        lines
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure {
            exit: Exit::Usage,
            origin: String::new(),
            source: None,
            diagnostics: vec![diagnostic],
            trace: None,
        }
    }
}

/// A relation was not decided within its limit.
impl From<Explosion> for Failure {
    fn from(explosion: Explosion) -> Failure {
        let help = "raise --max-entries, or ask for a finer relation such as branching bisimilarity";
        Failure {
            exit: Exit::Inconclusive,
            ..Failure::from(Diagnostic::error(explosion.to_string()).help(help))
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let Problem { kind, origin, source, diagnostics, trace } = problem;
        let exit = match kind {
            ProblemKind::Usage => Exit::Usage,
            // The model itself failed, at the end of these steps.
            ProblemKind::Nondeterministic if trace.is_some() => Exit::Usage,
            ProblemKind::Nondeterministic | ProblemKind::Internal => Exit::Internal,
        };
        Failure { exit, origin, source, diagnostics, trace }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        Problem::from(error).into()
    }
}

/// A command line that cannot be parsed; clap has the words. Help and version are not errors.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    if error.kind() == ErrorKind::InvalidUtf8 && !asks_for_json(&arguments) {
        let diagnostic = not_unicode(std::env::args_os().skip(1));
        return Failure::from(diagnostic).report("", AnyFormat::Human);
    }
    if !error.use_stderr() || !asks_for_json(&arguments) {
        // Printing fails only if standard error is closed, and then there is nothing left to do.
        let _ = error.print();
        return if error.use_stderr() { Exit::Usage.into() } else { Exit::Clean.into() };
    }
    let failure = Failure::from(from_clap(error));
    output::json(&failure.as_json(command_of(&arguments).as_deref()));
    failure.exit.into()
}

/// Advises whoever writes an objective, a query or a formula without its flag.
pub(crate) fn advise(error: &mut clap::Error) {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return;
    };
    let flag = match word.as_str() {
        word if word.starts_with('-') => return,
        word if ["E<>", "A[]", "E[]", "A<>", "sup", "inf"].iter().any(|form| word.starts_with(form)) => {
            "--query"
        }
        word if word.contains("-->") => "--query",
        word if word.ends_with(".q") => "--queries",
        word if word.ends_with(".mcf") => "--formula",
        word if word.parse::<Objective>().is_ok() => "--find",
        _ => return,
    };
    let tip = format!("write `{flag} {}`", quote_word(word));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// Words of a command within a command that cannot be parsed.
pub(crate) fn inner_usage(error: &clap::Error) -> Failure {
    Failure::from(from_clap(error))
}

/// Whether JSON was asked for in a command line that could not be parsed.
pub(crate) fn asks_for_json(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// The command in a command line that could not be parsed.
fn command_of(arguments: &[String]) -> Option<String> {
    let grammar = <crate::cli::Cli as clap::CommandFactory>::command();
    let known =
        |argument: &&String| grammar.get_subcommands().any(|command| command.get_name() == **argument);
    arguments.iter().find(known).cloned()
}

/// The first argument that is not valid UTF-8. Only programs and their arguments need not be.
fn not_unicode(mut arguments: impl Iterator<Item = OsString>) -> Diagnostic {
    let argument = arguments.find(|argument| argument.to_str().is_none()).unwrap_or_default();
    Diagnostic::error(format!("the argument {argument:?} is not valid UTF-8"))
        .help("rename the file, make a link to it with another name, or redirect it to standard input (`-`)")
}

/// The first sentence as the message, tips as advice; the usage is for people.
fn from_clap(error: &clap::Error) -> Diagnostic {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Diagnostic::error("expected a command").help("run `turnpike --help` for a list");
    }
    if error.kind() == ErrorKind::InvalidUtf8 {
        return not_unicode(std::env::args_os().skip(1));
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let message: Vec<&str> = lines.iter().take_while(|line| !line.is_empty()).copied().collect();
    let tips: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("tip: ")).collect();
    let diagnostic = Diagnostic::error(message.join(" "));
    if tips.is_empty() { diagnostic } else { diagnostic.help(tips.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::{Step, StepError};

    #[test]
    fn a_step_error_tells_how_it_got_there() {
        let steps = (0..50).map(|index| Step::new(format!("go({index})"))).collect();
        let trace = Trace { seed: Some(7), steps, ..Trace::default() };
        let error = SearchError::Step {
            error: StepError::new("the index is out of range"),
            seed: 7,
            trace: Box::new(trace),
        };
        let failure = Failure::from(error);
        assert_eq!(failure.exit, Exit::Usage);
        let lines = failure.trace_lines();
        assert_eq!(lines[1], "  ... 10 lines before ...");
        assert!(lines.last().is_some_and(|line| line.contains("go(49)")));
        let json = serde_json::to_value(failure.as_json(Some("search"))).expect("serialises");
        assert!(json["error"].as_str().is_some_and(|text| text.starts_with("the index is out of range")));
        assert_eq!(json["trace"]["seed"], 7);
        assert_eq!(json["trace"]["steps"][49]["label"], "go(49)");
    }

    #[test]
    fn json_is_recognised_in_broken_command_lines() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(asks_for_json(&words("search x --wat --format json")));
        assert!(asks_for_json(&words("search x --format=json --wat")));
        assert!(!asks_for_json(&words("search json --format human")));
        assert_eq!(command_of(&words("--format json search x")).as_deref(), Some("search"));
        assert_eq!(command_of(&words("serch x")), None);
    }
}
