//! `turnpike check`.

use serde_json::json;
use turnpike_model::{Model, ModelInfo, Successors};

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
