//! Replays a schedule on a program, strictly or tolerantly, and continues the search from its end.

use std::sync::Arc;

use serde_json::{Value, json};
use turnpike_model::{Diagnostic, Model, Step, Trace};
use turnpike_program::{Followed, Incident, IncidentKind, Parting, ProgramModel};
use turnpike_scheduler::Memory;
use turnpike_session::{IncidentOutput, Objective, Plan, Search, StrategyChoice, Verdict, add_participants};

use super::{Args, different_model, unmet};
use crate::cli::Format;
use crate::commands::show;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION, interrupt};

/// A replay with all that came of it.
struct Replay {
    followed: Followed,
    /// What the schedule shows, or what was found behind it.
    incident: Incident,
    /// Steps behind those of the trace, when the search for them found something.
    behind: Vec<Step>,
    /// What the search behind the schedule concluded.
    verdict: Option<Verdict>,
    warnings: Vec<Diagnostic>,
}

pub(super) fn run(
    args: &Args,
    file: &str,
    trace: &Trace,
    program: &Arc<ProgramModel>,
    format: Format,
) -> Outcome {
    let name = program.info().name.clone();
    let failed = |error: turnpike_scheduler::GuestError| Failure::usage(error.to_string()).in_file(&name);
    let followed = if args.tolerant { program.follow_loosely(trace) } else { program.follow(trace) };
    let followed = followed.map_err(failed)?;
    let incident = program.incident(&followed.choices).map_err(failed)?;
    let mut warnings = Vec::new();
    if trace.fingerprint != 0 && trace.fingerprint != program.info().fingerprint {
        warnings.push(different_model(trace, &name).help("--tolerant looks for the same steps elsewhere"));
    }
    let mut replay = Replay { followed, incident, behind: Vec::new(), verdict: None, warnings };
    if let Some(strategy) = &args.go_on
        && replay.incident.kind == IncidentKind::Open
    {
        search_on(args, strategy, trace, program, &mut replay)?;
    }
    let fits = replay.followed.parting.is_none();
    let met =
        (fits && replay.verdict.is_none()).then(|| shows(&trace.objective, replay.incident.kind)).flatten();
    if met == Some(false) {
        replay.warnings.push(unmet(&trace.objective));
    }
    if let Some(path) = &args.trace {
        turnpike_lts::trace::write_file(&executed(trace, &replay, program), path)?;
    }
    match format {
        Format::Human => tell(args, file, trace, &describe(program), &replay, met),
        Format::Json => output::json(&report(file, trace, program, &replay, met)),
    }
    Ok(match replay.verdict {
        Some(Verdict::Found) => Exit::Found,
        Some(Verdict::Inconclusive) => Exit::Inconclusive,
        Some(Verdict::None | Verdict::Measured) => Exit::Clean,
        None if !fits || (args.tolerant && met == Some(false)) => Exit::Found,
        None => Exit::Clean,
    })
}

/// Searches from where the schedule leads.
fn search_on(
    args: &Args,
    strategy: &str,
    trace: &Trace,
    program: &Arc<ProgramModel>,
    replay: &mut Replay,
) -> Outcome<()> {
    let failed = |error: turnpike_scheduler::GuestError| Failure::usage(error.to_string());
    let behind = program.after(&replay.followed.choices).map_err(failed)?;
    let mut search = Search { strategy: StrategyChoice::named(strategy), ..Search::default() };
    let objective = if trace.objective.is_empty() { "any-error" } else { &trace.objective };
    search.goals.find = vec![objective.parse()?];
    search.limits = args.limits.limits()?;
    (search.running.seed, search.running.threads) = (args.seed, Some(1));
    let report = Plan::of_model(Arc::new(behind), &search)?.run(&|_| {}, interrupt::install()?)?;
    replay.verdict = Some(report.verdict);
    if let Some(witness) = report.witness() {
        replay.behind = witness.trace.steps.clone();
        let more = replay.behind.iter().filter_map(|step| step.choice);
        let choices: Vec<u32> = replay.followed.choices.iter().copied().chain(more).collect();
        replay.incident = program.incident(&choices).map_err(failed)?;
    }
    Ok(())
}

/// The trace as it was executed.
fn executed(trace: &Trace, replay: &Replay, program: &ProgramModel) -> Trace {
    let followed = replay.followed.labels.iter().zip(&replay.followed.choices);
    let steps = followed.map(|(label, &choice)| Step { choice: Some(choice), ..Step::new(label) });
    let mut executed = Trace {
        model: program.info().name.clone(),
        fingerprint: program.info().fingerprint,
        initial: None,
        steps: steps.chain(replay.behind.iter().cloned()).collect(),
        stuck: replay.incident.stuck_components(),
        ..trace.clone()
    };
    // Charts can do without it.
    let _ = add_participants(program, &mut executed);
    executed
}

/// Whether an incident is what a trace was written for; `None` when that is not about incidents.
fn shows(objective: &str, kind: IncidentKind) -> Option<bool> {
    objective.parse::<Objective>().ok()?;
    match objective {
        "any-error" => Some(matches!(
            kind,
            IncidentKind::Deadlock | IncidentKind::Livelock | IncidentKind::Hang | IncidentKind::Failed(_)
        )),
        "crash" => Some(matches!(kind.keyword(), "crash" | "misuse")),
        "deadlock" | "livelock" | "assertion" | "panic" | "heap" | "race" | "leak" | "hang" => {
            Some(kind.keyword() == objective)
        }
        _ => None,
    }
}

/// The program, and the memory that it is given, which the trace may say.
fn describe(program: &ProgramModel) -> String {
    let name = &program.info().name;
    match program.options().memory {
        Memory::Sc => name.clone(),
        Memory::Tso => format!("{name} with --memory tso"),
        Memory::Rc11 => format!("{name} with --memory rc11"),
    }
}

fn tell(args: &Args, file: &str, trace: &Trace, name: &str, replay: &Replay, met: Option<bool>) {
    for warning in &replay.warnings {
        output::diagnostic("", None, warning);
    }
    output::line(&format!("replaying {file} ({} steps) on {name}", trace.len()));
    for line in conclusion(args, trace, replay, met) {
        output::line(&line);
    }
    output::line("");
    for line in replay.incident.report(output::width(), args.verbose) {
        output::line(&line);
    }
    if let Some(path) = &args.trace {
        output::line(&format!("wrote {path}"));
    }
}

fn conclusion(args: &Args, trace: &Trace, replay: &Replay, met: Option<bool>) -> Vec<String> {
    let mut lines = Vec::new();
    let skipped = &replay.followed.skipped;
    match &replay.followed.parting {
        Some(Parting { step, expected, found, enabled }) => {
            lines.push(format!("the trace does not fit at step {step}:"));
            lines.push(format!("  the trace has   {expected}"));
            lines.push(format!("  the program has {found}"));
            if !enabled.is_empty() {
                lines.push(format!("  it could do     {}", enabled.join(" or ")));
            }
        }
        None if skipped.is_empty() && replay.followed.added == 0 => {
            lines.push(format!("the trace fits: all {} steps were executed", trace.len()));
        }
        None => {
            let mut line = format!("{} of {} steps were executed", trace.len() - skipped.len(), trace.len());
            if replay.followed.added > 0 {
                line.push_str(&format!(", and {} on the way to them", replay.followed.added));
            }
            if !skipped.is_empty() {
                let numbers: Vec<String> = skipped.iter().map(usize::to_string).collect();
                line.push_str(&format!("; no longer present: {}", numbers.join(", ")));
            }
            lines.push(line);
        }
    }
    if met == Some(true) {
        lines.push(format!("objective met: {}", trace.objective));
    }
    if let (Some(verdict), Some(strategy)) = (replay.verdict, &args.go_on) {
        let what = match verdict {
            Verdict::Found => format!("found something after {} more steps", replay.behind.len()),
            Verdict::None => "found nothing in any order of the visible operations".to_owned(),
            Verdict::Measured | Verdict::Inconclusive => "found nothing".to_owned(),
        };
        lines.push(format!("continuing with {strategy}: {what}"));
    }
    lines
}

fn report(file: &str, trace: &Trace, program: &ProgramModel, replay: &Replay, met: Option<bool>) -> Value {
    let parting = replay.followed.parting.as_ref().map(|parting| {
        json!({
            "step": parting.step,
            "reason": format!("the trace has {}, the program has {}", parting.expected, parting.found),
            "expected": parting.expected,
            "found": parting.found,
            "enabled": parting.enabled,
        })
    });
    let executed = executed(trace, replay, program);
    json!({
        "turnpike": VERSION,
        "command": "replay",
        "model": program.info().name,
        "trace": file,
        "objective": trace.objective,
        "fits": replay.followed.parting.is_none(),
        "length": trace.len(),
        "executed": replay.followed.choices.len(),
        "skipped": replay.followed.skipped,
        "added": replay.followed.added,
        "divergence": parting,
        "met": met,
        "verdict": replay.verdict,
        "deadlock": replay.incident.kind == IncidentKind::Deadlock,
        "incident": IncidentOutput::from(&replay.incident),
        "warnings": replay.warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        "witness": show::witness(&executed),
    })
}

#[cfg(test)]
mod tests {
    use turnpike_scheduler::FailureKind;

    use super::*;

    #[test]
    fn incidents_show_objectives() {
        let failed = IncidentKind::Failed(FailureKind::Assertion);
        assert_eq!(shows("any-error", failed), Some(true));
        assert_eq!(shows("any-error", IncidentKind::Race), Some(false));
        assert_eq!(shows("assertion", failed), Some(true));
        assert_eq!(shows("crash", IncidentKind::Failed(FailureKind::Misuse)), Some(true));
        assert_eq!(shows("deadlock", IncidentKind::Open), Some(false));
        assert_eq!(shows("action lock", failed), None);
        assert_eq!(shows("", failed), None);
    }
}
