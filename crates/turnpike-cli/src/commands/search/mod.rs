//! `turnpike search`: flags become a request, the session carries it out, and its report is printed.

pub(crate) mod flags;
pub(crate) mod formulas;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod program;
mod queries;
pub(crate) mod strategy;
mod trace_file;

use std::sync::Mutex;

pub(crate) use flags::Args;
use turnpike_model::Diagnostic;
use turnpike_session::cluster::resumable_as;
use turnpike_session::{
    Answer, Findings, FormulaAnswer, Observer, Outcome as Found, Problem, Report, Search, Source,
};
use turnpike_session::{Conclusion, Event};

use crate::cli::Format;
use crate::cluster;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::progress::Reporter;
use crate::output::repeat::Invocation;
use crate::output::{self, VERSION, ci, interrupt};
use trace_file::TraceFile;
pub(crate) use trace_file::writable;

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let (is_ci, named) = (args.ci.is_some(), args.model.name());
    search(args, format).map_err(|failure| match is_ci && failure.origin.is_empty() {
        // An annotation needs a file; what is wrong with an objective is wrong with its model.
        true => failure.in_file(named),
        false => failure,
    })
}

fn search(args: Args, format: Format) -> Outcome {
    // Everything that can be wrong without the model comes first: reading it may take long.
    let search = args.search()?;
    search.check()?;
    let trace = args.results.trace.as_deref().filter(|_| !cluster::is_silent());
    let trace = trace.map(TraceFile::prepare).transpose()?;
    let invocation = Invocation::new(&args, args.model.source()?, search, format);
    let session = args.model.program.open(&invocation.request.source)?;
    let interrupt = interrupt::install()?;
    let search = &invocation.request.search;
    let checkpoints = args.checkpoints.of(|| Ok(resumable_as(VERSION, &session, search)?))?;
    let joined = cluster::join_search(&session, search, &checkpoints)?;
    let session = match &joined {
        Some(joined) => session.searched_with(joined),
        None => session,
    };
    let session = session.with_checkpoints(checkpoints).with_spill(args.checkpoints.spill());
    // Formulas see other steps of timed automata than traces have.
    let model = match search.goals.formulas.is_empty() || session.timed().is_some() {
        true => None,
        false => Some((session.name(), session.fingerprint()?)),
    };
    let client = Client {
        human: format == Format::Human,
        quiet: args.progress.quiet,
        verbose: args.results.verbose,
        timed: session.timed().is_some(),
        reporter: Reporter::new(args.progress, search.running.runs.unwrap_or(1)),
        ci: args.ci,
        trace,
        files: Mutex::default(),
        search,
        source: &invocation.request.source,
        model,
    };
    let report = session.run(search, &client, interrupt);
    client.reporter.clear();
    let outcome = report.map_err(Failure::from).and_then(|report| client.finish(&report, &invocation));
    if cluster::leave(joined) {
        args.checkpoints.advise(invocation.words());
    }
    outcome
}

/// Prints what happens while the session works.
struct Client<'a> {
    human: bool,
    quiet: bool,
    ci: Option<ci::Kind>,
    verbose: bool,
    /// Whether states are zones.
    timed: bool,
    reporter: Reporter,
    trace: Option<TraceFile>,
    /// The files that were written for each answer.
    files: Mutex<Vec<Vec<String>>>,
    search: &'a Search,
    source: &'a Source,
    /// The name and fingerprint of the model that evidence about formulas is about.
    model: Option<(&'a str, u64)>,
}

impl Client<'_> {
    fn files(&self) -> std::sync::MutexGuard<'_, Vec<Vec<String>>> {
        self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Writes the witnesses of a search, behind those of earlier ones.
    fn write(&self, findings: Option<&Findings>) -> Result<Vec<String>, Problem> {
        let earlier = self.files().iter().map(Vec::len).sum();
        let written = match (&self.trace, findings) {
            (Some(trace), Some(findings)) => trace.write_after(earlier, findings, self.source)?,
            _ => Vec::new(),
        };
        self.files().push(written.clone());
        Ok(written)
    }

    /// Prints the report.
    fn finish(&self, report: &Report, invocation: &Invocation) -> Outcome {
        if let Some(kind) = self.ci {
            let verdict = match &report.outcome {
                Found::Search(findings) => {
                    let files = self.write(Some(findings))?;
                    human::verdict(&human::Context::new(findings, invocation, &files))
                }
                Found::Queries(_) | Found::Formulas(_) => String::new(),
            };
            output::line(&ci::write(kind, "search", &ci::cases_of(report, &verdict, &self.search.goals)));
            return Ok(exit_of(report.conclusion));
        }
        match &report.outcome {
            Found::Search(findings) => {
                let written = self.write(Some(findings));
                if self.human {
                    // A full disk does not take away what was found.
                    let (files, problem) = match written {
                        Ok(files) => (files, None),
                        Err(problem) => (Vec::new(), Some(problem)),
                    };
                    let trace = self.trace.as_ref().filter(|_| files.is_empty() && problem.is_none());
                    let mut context = human::Context::new(findings, invocation, &files);
                    context.unwritten = trace.map(TraceFile::name);
                    context.verbose = self.verbose;
                    context.zones = human::about_zones(self.source).filter(|_| self.timed);
                    output::summary(&human::verdict(&context));
                    if !self.quiet {
                        human::details(&context).iter().for_each(|line| output::summary(line));
                    }
                    if let Some(problem) = problem {
                        return Err(problem.into());
                    }
                } else {
                    output::json(&json::of_search(report, findings, invocation, written?));
                }
                Ok(exit_of(report.conclusion))
            }
            Found::Queries(answers) => {
                if self.human {
                    if !self.quiet {
                        output::line(&format!("repeat: {}", invocation.exactly()));
                    }
                } else {
                    let files = self.files().concat();
                    output::json(&json::of_queries(report, answers, invocation, files));
                }
                Ok(exit_of(report.conclusion))
            }
            Found::Formulas(answers) => {
                if !self.human {
                    let files = self.files().concat();
                    output::json(&json::of_formulas(report, answers, invocation, files));
                } else if !self.quiet {
                    formulas::summary(answers).iter().for_each(|line| output::line(line));
                    output::line(&format!("repeat: {}", invocation.exactly()));
                }
                Ok(exit_of(report.conclusion))
            }
        }
    }
}

impl Observer for Client<'_> {
    fn begins(&self, model: &str, text_warnings: usize, warnings: &[Diagnostic]) {
        if !self.human || self.quiet {
            return;
        }
        if let Some(remark) = output::remark(model, text_warnings) {
            output::note(&remark);
        }
        self.doubts(warnings);
    }

    fn doubts(&self, warnings: &[Diagnostic]) {
        if !self.human || self.quiet {
            return;
        }
        self.reporter.clear();
        for warning in warnings {
            output::diagnostic("", None, warning);
        }
    }

    fn event(&self, event: &Event) {
        self.reporter.event(event);
    }

    fn answered(&self, answer: &Answer) -> Result<(), Problem> {
        self.reporter.clear();
        let files = self.write(answer.findings())?;
        if self.human {
            queries::show(answer, self.search, self.quiet, &files);
        }
        Ok(())
    }

    fn judged(&self, answer: &FormulaAnswer) -> Result<(), Problem> {
        self.reporter.clear();
        let earlier = self.files().iter().map(Vec::len).sum();
        let files = match &self.trace {
            Some(trace) => trace.write_evidence(earlier, answer, self.model)?,
            None => Vec::new(),
        };
        self.files().push(files.clone());
        if self.human && self.ci.is_none() {
            formulas::show(answer, self.quiet, &files);
        }
        Ok(())
    }
}

pub(crate) fn exit_of(conclusion: Conclusion) -> Exit {
    match conclusion {
        Conclusion::Passed => Exit::Clean,
        Conclusion::Failed => Exit::Found,
        Conclusion::Wrong => Exit::Usage,
        Conclusion::Inconclusive | Conclusion::Skipped => Exit::Inconclusive,
    }
}
