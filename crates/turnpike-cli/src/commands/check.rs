//! `turnpike check`.

use serde_json::json;
use turnpike_mcrl2::sorts::check_specification;
use turnpike_mcrl2::syntax::{Specification, parse_specification};
use turnpike_model::{Model, ModelInfo, Severity, Successors};

use super::search::human::counted;
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::load::{self, ModelArgs};
use crate::output::{self, VERSION};

/// Flags of `turnpike check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let name = &args.model.model;
    if args.model.reading.input_format.is_none() && name.to_ascii_lowercase().ends_with(".mcrl2") {
        return specification(name, format);
    }
    let model = load::model(&args.model)?;
    let enabled = first_step(&*model)?;
    let info = model.info();
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

/// Checks the syntax and the sorts of an mCRL2 specification.
fn specification(name: &str, format: Format) -> Outcome {
    let bytes = std::fs::read(name).map_err(|error| Failure::file(name, "read", &error))?;
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let (specification, mut diagnostics) = parse_specification(&source);
    if diagnostics.is_empty() {
        diagnostics = check_specification(&specification).1;
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        for diagnostic in &mut diagnostics {
            // Snippets show the line themselves.
            if let (Format::Json, Some(span)) = (format, &diagnostic.span) {
                let before = source.get(..span.range.start).unwrap_or_default();
                diagnostic.line = Some(before.matches('\n').count() as u64 + 1);
            }
        }
        let origin = name.to_owned();
        return Err(Failure { exit: Exit::Usage, origin, source: Some(source), diagnostics, trace: None });
    }
    match format {
        Format::Human => {
            for warning in &diagnostics {
                output::diagnostic(name, Some(&source), warning);
            }
            output::line(&specification_text(name, &specification));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "check",
            "model": name,
            "ok": true,
            "checked": "sorts",
            "actions": specification.actions().map(|declaration| declaration.names.len()).sum::<usize>(),
            "processes": specification.processes().count(),
        })),
    }
    Ok(Exit::Clean)
}

fn specification_text(name: &str, specification: &Specification) -> String {
    let actions = specification.actions().map(|declaration| declaration.names.len() as u64).sum();
    let equations = specification.equations().map(|(_, equations)| equations.len() as u64).sum();
    format!(
        "ok: {name} ({}, {}, {}); syntax and sorts were checked",
        counted(equations, "equation"),
        counted(actions, "action"),
        if specification.processes().count() == 1 {
            "1 process".to_owned()
        } else {
            format!("{} processes", specification.processes().count())
        }
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
        "ok: {} ({}, {}, {} at first)",
        info.name,
        counted(info.width as u64, "word"),
        counted(info.actions.len() as u64, "action"),
        counted(enabled as u64, "transition")
    )
}
