//! `turnpike check`.

use std::path::Path;

use serde_json::json;
use turnpike_mcrl2::syntax::{Specification, parse_specification};
use turnpike_model::{Diagnostic, Model, ModelInfo, Successors};

use super::search::human::counted;
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, column_of};
use crate::options::spell_all;
use crate::output::{self, VERSION, ci};
use crate::source::{ModelArgs, ReadingArgs};
use turnpike_session::{
    CheckedFormula, FormulaText, Problem, Purpose, Session, Source, Specification as Read, Timed,
    describe_doubts, read_executable, read_formulas,
};

/// Flags of `turnpike check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Also check a formula of the modal mu-calculus: a file that ends in .mcf, a folder of such files,
    /// or the formula itself (repeatable)
    #[arg(long, value_name = "FORMULA")]
    formula: Vec<String>,
    /// The format for continuous integration.
    #[arg(skip)]
    pub(crate) ci: Option<ci::Kind>,
}

/// Prints a check that passed, with its warnings, for continuous integration.
fn report_to_ci(kind: ci::Kind, name: &str, source: Option<&str>, warnings: &[&Diagnostic]) -> Outcome {
    let mut cases = ci::cases_of_diagnostics("check", name, source, warnings);
    if cases.is_empty() {
        cases.push(ci::Case::passed("check", name));
    }
    output::line(&ci::write(kind, "check", &cases));
    Ok(Exit::Clean)
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if let Some(path) = &args.model.program.program {
        return program(path, &args.model, args.ci, format);
    }
    let mut source = args.model.source()?;
    if let Source::Model { reading, .. } = &mut source {
        reading.lints = true;
    }
    let session = Session::open(&source)?;
    if !args.formula.is_empty() {
        return formulas(&session, &args.formula, args.ci, format);
    }
    if let Some(found) = session.specification() {
        return specification(session.name(), found, args.ci, format);
    }
    if let Some(timed) = session.timed() {
        return timed_automata(timed, &args.model.reading, args.ci, format);
    }
    let model = session.prepare(&Purpose::default())?.model;
    let enabled = first_step(&*model)?;
    let info = model.info();
    if let Some(kind) = args.ci {
        return report_to_ci(kind, &info.name, None, &[]);
    }
    match format {
        Format::Human => output::line(&text(info, enabled)),
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": info.name,
            "ok": true,
            "width": info.width,
            "actions": info.actions.len(),
            "enabled": enabled,
        })),
    }
    Ok(Exit::Clean)
}

/// Checks formulas about a model: syntax, sorts, and how they will be decided. One that is wrong does
/// not keep the others from being checked.
fn formulas(session: &Session, asked: &[String], ci: Option<ci::Kind>, format: Format) -> Outcome {
    let mut checked = Vec::new();
    for (formula, problem) in read_formulas(asked)? {
        let found = problem.map_or_else(|| session.check_formula(&formula), Err);
        checked.push((found, formula));
    }
    if checked.len() == 1
        && let Some((Err(_), _)) = checked.first()
        && let Some((Err(problem), _)) = checked.pop()
    {
        return Err(problem.into());
    }
    let wrong = checked.iter().filter(|(found, _)| found.is_err()).count();
    let exit = if wrong > 0 { Exit::Usage } else { Exit::Clean };
    if let Some(kind) = ci {
        let cases: Vec<_> = checked.iter().flat_map(|(found, formula)| cases(found, formula)).collect();
        output::line(&ci::write(kind, "check", &cases));
        return Ok(exit);
    }
    if format == Format::Json {
        output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": session.name(),
            "ok": wrong == 0,
            "formulas": checked.iter().map(|(found, formula)| as_json(found, formula)).collect::<Vec<_>>(),
        }));
        return Ok(exit);
    }
    for (found, formula) in &checked {
        let name = formula.name();
        match found {
            Ok(found) => {
                for warning in &found.warnings {
                    output::diagnostic(name, Some(&formula.text), warning);
                }
                let fragment = found.fragment;
                output::line(&format!("ok: {name} ({fragment}: decided by {})", fragment.searched_for()));
            }
            Err(problem) => {
                for diagnostic in &problem.diagnostics {
                    output::diagnostic(&problem.origin, problem.source.as_deref(), diagnostic);
                }
            }
        }
    }
    if wrong > 0 {
        output::line(&format!("{} formulas: {wrong} wrong", checked.len()));
    }
    Ok(exit)
}

/// What is known of a formula that was checked, for continuous integration.
fn cases(found: &Result<CheckedFormula, Problem>, formula: &FormulaText) -> Vec<ci::Case> {
    let name = formula.name();
    let diagnostics: Vec<&Diagnostic> = match found {
        Ok(found) => found.warnings.iter().collect(),
        Err(problem) => problem.diagnostics.iter().collect(),
    };
    let cases = ci::cases_of_diagnostics("check", name, Some(&formula.text), &diagnostics);
    if cases.is_empty() { vec![ci::Case::passed("check", name)] } else { cases }
}

/// The same as JSON.
fn as_json(found: &Result<CheckedFormula, Problem>, formula: &FormulaText) -> serde_json::Value {
    match found {
        Ok(found) => json!({
            "text": formula.text,
            "file": formula.file,
            "fragment": found.fragment.name(),
            "warnings": found.warnings.iter().map(|one| one.message.clone()).collect::<Vec<_>>(),
        }),
        Err(problem) => {
            let item = |one: &Diagnostic| {
                let source = problem.source.as_deref();
                let before = one.span.as_ref().and_then(|span| source?.get(..span.range.start));
                json!({
                    "message": spell_all(&one.message),
                    "line": before.map(|before| before.matches('\n').count() + 1),
                    "column": column_of(source, one),
                    "help": one.help.as_deref().map(spell_all),
                })
            };
            json!({
                "text": formula.text,
                "file": formula.file,
                "errors": problem.diagnostics.iter().map(item).collect::<Vec<_>>(),
            })
        }
    }
}

/// Checks a program: what kind of file it is, what of it can be controlled, and its first step.
fn program(path: &Path, args: &ModelArgs, ci: Option<ci::Kind>, format: Format) -> Outcome {
    let name = path.display().to_string();
    let executable = read_executable(path)?;
    let warnings = describe_doubts(&executable);
    let model = args.prepare()?.model;
    let enabled = first_step(&*model)?;
    let threads = model.info().parameters.len();
    if let Some(kind) = ci {
        return report_to_ci(kind, &name, None, &warnings.iter().collect::<Vec<_>>());
    }
    match format {
        Format::Human => {
            for warning in &warnings {
                output::diagnostic(&name, None, warning);
            }
            let accesses =
                if executable.hooks { "memory accesses visible" } else { "memory accesses not visible" };
            output::line(&format!(
                "ok: {name} (dynamic ELF, {accesses}; {}, {})",
                counted(threads as u64, "thread"),
                counted(enabled as u64, "initial choice"),
            ));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": name,
            "ok": true,
            "width": model.info().width,
            "hooks": executable.hooks,
            "uses_threads": executable.threads,
            "uncontrolled": executable.uncontrolled,
            "threads": threads,
            "enabled": enabled,
            "warnings": warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

/// Checks timed automata: syntax, types, clock bounds, and the first step.
fn timed_automata(timed: &Timed, reading: &ReadingArgs, ci: Option<ci::Kind>, format: Format) -> Outcome {
    let (model, more) = timed.model(&reading.reading(), &Purpose::default())?;
    let enabled = first_step(&model)?;
    let network = &timed.network;
    let locations: usize = network.processes.iter().map(|process| process.locations.len()).sum();
    let edges: usize = network.processes.iter().map(|process| process.edges.len()).sum();
    let warnings: Vec<&Diagnostic> = timed.warnings.iter().chain(&more).collect();
    if let Some(kind) = ci {
        return report_to_ci(kind, &timed.name, Some(&timed.source), &warnings);
    }
    match format {
        Format::Human => {
            for warning in &warnings {
                output::diagnostic(&timed.name, Some(&timed.source), warning);
            }
            let processes = match network.processes.len() {
                1 => "1 process".to_owned(),
                many => format!("{many} processes"),
            };
            output::line(&format!(
                "ok: {} ({processes} with {} and {}, {}, {}; {})",
                timed.name,
                counted(locations as u64, "location"),
                counted(edges as u64, "edge"),
                counted(network.clocks.len() as u64, "clock"),
                counted(network.variables.len() as u64, "variable"),
                counted(enabled as u64, "initial transition"),
            ));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": timed.name,
            "ok": true,
            "width": model.info().width,
            "processes": network.processes.len(),
            "locations": locations,
            "edges": edges,
            "clocks": network.clocks.len(),
            "variables": network.variables.len(),
            "queries": network.queries.len(),
            "enabled": enabled,
            "warnings": warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

/// Checks an mCRL2 specification: syntax, sorts, processes, and the first step.
fn specification(name: &str, read: &Read, ci: Option<ci::Kind>, format: Format) -> Outcome {
    let Read { model, warnings, text: source } = read;
    let enabled = first_step(model)?;
    if let Some(kind) = ci {
        return report_to_ci(kind, name, Some(source), &warnings.iter().collect::<Vec<_>>());
    }
    let (specification, _) = parse_specification(source);
    let info = model.info();
    match format {
        Format::Human => {
            for warning in warnings {
                output::diagnostic(name, Some(source), warning);
            }
            output::line(&specification_text(info, &specification, model.summands(), enabled));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": info.name,
            "ok": true,
            "width": info.width,
            "actions": specification.actions().map(|declaration| declaration.names.len()).sum::<usize>(),
            "processes": specification.processes().count(),
            "parameters": info.parameters.len(),
            "summands": model.summands(),
            "enabled": enabled,
            "warnings": warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

fn specification_text(
    info: &ModelInfo,
    specification: &Specification,
    summands: Option<usize>,
    enabled: usize,
) -> String {
    let actions = specification.actions().map(|declaration| declaration.names.len() as u64).sum();
    let equations = specification.equations().map(|(_, equations)| equations.len() as u64).sum();
    let processes = match specification.processes().count() {
        1 => "1 process".to_owned(),
        many => format!("{many} processes"),
    };
    let summands = summands.map_or_else(
        || "summands created on demand".to_owned(),
        |summands| counted(summands as u64, "summand"),
    );
    format!(
        "ok: {} ({}, {}, {processes}; linear process of {} and {}, {})",
        info.name,
        counted(equations, "equation"),
        counted(actions, "action"),
        counted(info.parameters.len() as u64, "parameter"),
        summands,
        counted(enabled as u64, "initial transition"),
    )
}

/// Takes the first step: the number of transitions of the initial state.
fn first_step(model: &dyn Model) -> Outcome<usize> {
    let failed = |error: turnpike_model::StepError| {
        Failure::usage(format!("the first step fails: {error}")).in_file(&model.info().name)
    };
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).map_err(failed)?;
    let mut successors = Successors::new(state.len());
    explorer.successors(&state, &mut successors).map_err(failed)?;
    Ok(successors.len())
}

fn text(info: &ModelInfo, enabled: usize) -> String {
    format!(
        "ok: {} ({}, {}, {})",
        info.name,
        counted(info.width as u64, "word"),
        counted(info.actions.len() as u64, "action"),
        counted(enabled as u64, "initial transition")
    )
}
