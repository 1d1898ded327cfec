//! Benchmarks of random searches for errors in models with many processes: states per second, and
//! time until the error is found.
//!
//! The models come from a public collection for such searches, with one query each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use turnpike_session::{Plan, Search, StrategyChoice, Verdict};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::network::QueryText;
use turnpike_timed::uppaal::{self, Format};

use super::measure::best;
use super::table::{Row, Time};
use super::timed::open;
use crate::failure::{Failure, Outcome};

/// Where they are among the public models.
const FOLDER: &str = "uppaal-xml/randomized-reachability";

/// Runs of each strategy, and the time that each has.
const SEEDS: u64 = 20;
const SECONDS: u64 = 1;

/// Promised for this one: the error is found by every run, in this many seconds in the middle.
const PROMISED: &str = "train-200N";
const PROMISED_SECONDS: f64 = 0.1;

/// Measures all models, each with every strategy.
pub(super) fn measure(models: &Path, quick: bool) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let Ok(entries) = std::fs::read_dir(models.join(FOLDER)) else { return Ok(rows) };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "xml")) {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(&name, "read", &error))?;
        let Some(condition) = asked(&text) else { continue };
        let options = Options { conditions: vec![condition.clone()], ..Options::default() };
        let (opened, model) = best(1, || open(&name, &text, Some(Format::Xml), &[], &options))?;
        let opened = opened.work();
        let label = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let model = Arc::new(model);
        let walk = StrategyChoice::named("random").with("restart", true);
        for (name, strategy) in [
            ("random", walk.clone()),
            ("random --concrete", walk.with("concrete", true)),
            ("drs", StrategyChoice::named("drs")),
            ("auto", StrategyChoice::named("auto")),
        ] {
            let seeds = if quick { 1 } else { SEEDS };
            rows.push(row(&model, name, &label, &strategy, &condition, opened, seeds)?);
        }
    }
    Ok(rows)
}

/// What the model's only query says of a reachable state.
fn asked(text: &str) -> Option<String> {
    let (network, ..) = uppaal::read(text, Format::Xml, &[]).ok()?;
    let [QueryText { text, .. }] = &network.queries[..] else { return None };
    text.trim().strip_prefix("E<>").map(|condition| condition.trim().to_owned())
}

fn row(
    model: &Arc<TimedModel>,
    name: &str,
    label: &str,
    strategy: &StrategyChoice,
    condition: &str,
    opened: f64,
    seeds: u64,
) -> Outcome<Row> {
    let (mut states, mut transitions, mut total) = (0, 0, 0.0);
    let mut found: Vec<f64> = Vec::new();
    for seed in 0..seeds {
        let mut search = Search { strategy: strategy.clone(), ..Search::default() };
        (search.running.seed, search.running.threads) = (seed, Some(1));
        search.witness.shorten = false;
        search.limits.time = Some(Duration::from_secs(SECONDS));
        search.goals.find = vec![format!("state {condition}").parse()?];
        let plan = Plan::of_model(Arc::clone(model) as Arc<dyn turnpike_model::Model>, &search)?;
        // By processor time, as other work on the machine does not lengthen it.
        let (time, report) = best(1, || Ok(plan.run(&|_| {}, &AtomicBool::new(false))?))?;
        let seconds = time.work();
        for run in &report.runs {
            states += run.states;
            transitions += run.transitions;
            if run.verdict == Verdict::Found {
                found.push(opened + seconds);
            }
        }
        total += seconds;
    }
    found.sort_by(f64::total_cmp);
    let middle = found.get(found.len() / 2).copied();
    let rate = states as f64 / total.max(1e-9);
    let told = match middle {
        Some(middle) => format!("{} of {seeds} found it, in the middle after {middle:.3} s", found.len()),
        None => format!("0 of {seeds} found it within {SECONDS} s"),
    };
    let row = Row::new(name, label, states, transitions, Time { seconds: total, cpu_seconds: None });
    let told = format!("{rate:.0} states/s; {told}");
    let promised = label == PROMISED && name != "auto";
    let met = found.len() as u64 == seeds && middle.is_some_and(|middle| middle < PROMISED_SECONDS);
    let told = if promised { format!("under {PROMISED_SECONDS} s: {told}") } else { told };
    Ok(row.promised(told, met, promised && seeds == SEEDS))
}
