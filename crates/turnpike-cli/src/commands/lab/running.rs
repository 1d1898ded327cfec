//! `turnpike lab run`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::runner::{LEAST_RUNS, Progress};
use turnpike_lab::{Happening, How, Lab, Skipped};
use turnpike_session::{quote_word, values};

use super::{DATABASE, Database, Experiments, Only};
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION, interrupt};

/// Flags of `turnpike lab run`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    experiments: Experiments,
    #[command(flatten)]
    database: Database,
    /// Number of parallel searches [default: all cores]
    #[arg(long, value_name = "N", value_parser = values::positive::<u64>)]
    jobs: Option<u64>,
    #[command(flatten)]
    only: Only,
    /// Make this fraction of the runs (at least --least for each cell, unless the experiment has fewer)
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// With --scale, the fewest runs of a cell
    #[arg(long, value_name = "N", default_value_t = LEAST_RUNS, value_parser = values::positive::<u64>)]
    least: u64,
    /// A folder of public models, such as `examples` of the mCRL2 repository; experiments then use the
    /// models of the papers instead of ours (repeatable: the first folder that has a model counts). Rows
    /// whose model is in none of the folders are skipped
    #[arg(long, value_name = "DIR")]
    models: Vec<PathBuf>,
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
    /// Rows that were left out, because no folder of public models has their model.
    skipped: Vec<SkippedOutput>,
}

#[derive(Serialize, JsonSchema)]
struct SkippedOutput {
    experiment: String,
    /// The file that is missing.
    file: String,
    /// The rows.
    models: Vec<String>,
}

pub(super) fn run(args: &Args, format: Format) -> Outcome<()> {
    if !(args.scale > 0.0 && args.scale <= 1000.0) {
        return Err(Failure::usage("--scale must be a positive number, at most 1000"));
    }
    if let Some(folder) = args.models.iter().find(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!("--models {}: there is no such folder", folder.display())));
    }
    let files = args.experiments.read()?;
    let interrupt = interrupt::install()?;
    let usual = How::default();
    let how = How {
        jobs: args.jobs.map_or(usual.jobs, |jobs| jobs as usize),
        scale: args.scale,
        only: args.only.only.clone(),
        models: args.models.clone(),
        least: args.least,
    };
    let started = Instant::now();
    let mut lab = Lab::open(&args.database.database)?;
    let mut teller: Option<Teller> = None;
    let mut skipped = Vec::new();
    let new = lab.run(&files, &how, interrupt, &mut |happening| match happening {
        Happening::Progress(name, progress) => {
            let same = teller.take().filter(|teller| teller.name == name);
            let teller = teller.insert(same.unwrap_or_else(|| Teller::new(name, format)));
            teller.tell(&progress);
        }
        Happening::Skipped(name, Skipped { file, models }) => {
            if format == Format::Human {
                let rows = models.join(", ");
                output::note(&format!("{name}: skipped {rows}: no folder of --models has {file}"));
            }
            skipped.push(SkippedOutput { experiment: name.to_owned(), file, models });
        }
        Happening::Failed(name, diagnostic) => {
            output::note(&format!("{name}: skipped: {}", diagnostic.message));
        }
    })?;
    let interrupted = interrupt.load(Ordering::Relaxed);
    let seconds = started.elapsed().as_secs_f64();
    tell_end(
        args,
        RunOutput { turnpike: VERSION.into(), command: "lab run".into(), new, seconds, interrupted, skipped },
        format,
    );
    Ok(())
}

/// Prints how many runs were made, and what to do next.
fn tell_end(args: &Args, run: RunOutput, format: Format) {
    match format {
        Format::Json => output::json(&run),
        Format::Human => {
            let RunOutput { new, seconds, interrupted, .. } = run;
            output::line(&format!(
                "{} new runs in {seconds:.1} s, kept in {}",
                output::grouped(new),
                args.database.database.display()
            ));
            let database = &args.database.database;
            let flag = match database == Path::new(DATABASE) {
                true => String::new(),
                false => format!(" --database {}", quote_word(&database.to_string_lossy())),
            };
            match interrupted {
                true => output::line("interrupted; run the same command to continue"),
                false => output::line(&format!("run `turnpike lab report{flag}` to see the results")),
            }
        }
    }
}

/// Reports progress on standard error: on a terminal once a second, otherwise every ten.
struct Teller {
    name: String,
    told: Option<Instant>,
    started: Instant,
    quiet: bool,
}

impl Teller {
    fn new(name: &str, format: Format) -> Self {
        Teller { name: name.to_owned(), told: None, started: Instant::now(), quiet: format == Format::Json }
    }

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
        let cell = progress.cell.map_or(String::new(), |cell| format!(" ({})", cell.name()));
        output::note(&format!("{}: {} of {} runs{left}{cell}", self.name, progress.done, progress.asked));
    }
}
