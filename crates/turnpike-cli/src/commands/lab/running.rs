//! `turnpike lab run`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::experiment::Cell;
use turnpike_lab::runner::{Progress, Series, Settings, Workshop as _, run as run_series};
use turnpike_lab::store::Store;
use turnpike_lab::workshop::Bench;
use turnpike_session::Pattern;
use turnpike_session::values;

use super::Kept;
use super::files::Named;
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION, interrupt};

/// Flags of `turnpike lab run`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    kept: Kept,
    /// Number of parallel searches [default: all cores]
    #[arg(long, value_name = "N", value_parser = values::positive::<u64>)]
    jobs: Option<u64>,
    /// Run only cells whose `MODEL / STRATEGY` matches; * and ? are wildcards
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// Make this fraction of the runs (at least 5 for each cell, unless the experiment has fewer)
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// A folder of public models, such as `examples` of the mCRL2 repository; experiments then use the
    /// models of the papers instead of ours
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

/// What `turnpike lab run --format json` prints.
#[derive(Serialize, JsonSchema)]
struct RunOutput {
    turnpike: String,
    command: String,
    /// Runs made now.
    new: u64,
    seconds: f64,
    /// It was interrupted; start it again to go on.
    interrupted: bool,
}

pub(super) fn run(args: &Args, format: Format) -> Outcome<()> {
    if !(args.scale > 0.0 && args.scale <= 1000.0) {
        return Err(Failure::usage("--scale must be a positive number, at most 1000"));
    }
    if let Some(folder) = args.models.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("--models {}: there is no such folder", folder.display())));
    }
    let experiments = args.kept.experiments.read()?;
    let interrupt = interrupt::install()?;
    let settings = Settings {
        jobs: args.jobs.map_or_else(turnpike_session::all_cores, |jobs| jobs as usize),
        scale: args.scale,
    };
    let started = Instant::now();
    let experiments: Vec<(Named, Vec<Cell>, Bench)> = experiments
        .into_iter()
        .map(|named| {
            let mut cells = named.experiment.cells(args.models.is_some());
            cells.retain(|cell| chosen(args.only.as_deref(), cell));
            let bench = Bench { folder: named.folder.clone(), public: args.models.clone() };
            (named, cells, bench)
        })
        .collect();
    let none = experiments.iter().all(|(_, cells, _)| cells.is_empty());
    if let Some(pattern) = args.only.as_ref().filter(|_| none) {
        return Err(Failure::usage(format!(
            "--only {pattern}: no cell has such a name (`MODEL / STRATEGY`, with * and ?)"
        )));
    }
    // A mistake in the last file is told now, not in the morning.
    for (named, cells, bench) in &experiments {
        for cell in cells {
            bench.content(cell).map_err(|diagnostic| named.failure(diagnostic))?;
        }
    }
    let mut store = Store::open(&args.kept.database)?;
    let version = results_version();
    let (mut all, mut failed) = (0, None);
    for (named, cells, bench) in &experiments {
        let series = Series { experiment: &named.name, version: &version, cells };
        let mut teller =
            Teller { name: &named.name, told: None, started: Instant::now(), quiet: format == Format::Json };
        let made = run_series(series, bench, &mut store, settings, interrupt, &mut |progress| {
            teller.tell(&progress);
        });
        match made {
            Ok(made) => all += made,
            // The other experiments are not to blame. The first failure is told at the end, as the command's own.
            Err(diagnostic) if failed.is_none() => failed = Some(named.failure(diagnostic)),
            Err(diagnostic) => output::note(&format!("{}: skipped: {}", named.name, diagnostic.message)),
        }
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    let interrupted = interrupt.load(Ordering::Relaxed);
    tell_end(args, all, started.elapsed().as_secs_f64(), interrupted, format);
    Ok(())
}

/// Prints how many runs were made, and what to do next.
fn tell_end(args: &Args, new: u64, seconds: f64, interrupted: bool, format: Format) {
    match format {
        Format::Json => output::json(&RunOutput {
            turnpike: VERSION.into(),
            command: "lab run".into(),
            new,
            seconds,
            interrupted,
        }),
        Format::Human => {
            output::line(&format!(
                "{} new runs in {seconds:.1} s, kept in {}",
                output::grouped(new),
                args.kept.database.display()
            ));
            output::line(if interrupted {
                "interrupted; run the same command to continue"
            } else {
                "run `turnpike lab report` with the same files to see the results"
            });
        }
    }
}

/// What results are filed under: they are made again when the engine gives other ones.
fn results_version() -> String {
    format!("{VERSION}+{}", turnpike_session::RESULTS)
}

fn chosen(pattern: Option<&str>, cell: &Cell) -> bool {
    pattern
        .is_none_or(|pattern| Pattern::new(pattern).matches(&format!("{} / {}", cell.model, cell.strategy)))
}

/// Tells progress on standard error: on a terminal once a second, otherwise every ten.
struct Teller<'a> {
    name: &'a str,
    told: Option<Instant>,
    started: Instant,
    quiet: bool,
}

impl Teller<'_> {
    fn tell(&mut self, progress: &Progress<'_>) {
        let interval = Duration::from_secs(if std::io::stderr().is_terminal() { 1 } else { 10 });
        let last = progress.done == progress.asked;
        if self.quiet || (!last && self.told.is_some_and(|told| told.elapsed() < interval)) {
            return;
        }
        self.told = Some(Instant::now());
        let left = match progress.new {
            0 => String::new(),
            new => {
                let each = self.started.elapsed().as_secs_f64() / new as f64;
                format!(", about {:.0} s left", each * (progress.asked - progress.done) as f64)
            }
        };
        let cell =
            progress.cell.map_or(String::new(), |cell| format!(" ({} / {})", cell.model, cell.strategy));
        output::note(&format!("{}: {} of {} runs{left}{cell}", self.name, progress.done, progress.asked));
    }
}
