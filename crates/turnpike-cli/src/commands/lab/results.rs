//! `turnpike lab status`, `report` and `export`, which need nothing but the database.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::Lab;
use turnpike_lab::experiment::{ExperimentFile, name_of};
use turnpike_lab::report::{self, Results};
use turnpike_lab::selection::{Selection, matching};
use turnpike_model::Diagnostic;

use super::{Database, Only};
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// Which results.
#[derive(clap::Args, Clone, Debug)]
struct Chosen {
    /// Experiments by name, as `turnpike lab status` prints them [default: all experiments of the
    /// database]; * and ? are wildcards, and a file stands for the experiment that was run from it
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    only: Only,
}

/// Flags of `turnpike lab status`.
#[derive(clap::Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// List the cells of each experiment
    #[arg(long)]
    cells: bool,
    /// Show how long the runs took, and how long the missing ones will take
    #[arg(long)]
    time: bool,
}

/// How results are drawn.
#[derive(clap::Args, Clone, Debug)]
struct Drawn {
    /// Take titles, tables, figures and published numbers from this file instead of the experiment as it
    /// was run (repeatable)
    #[arg(long, value_name = "FILE")]
    redraw: Vec<PathBuf>,
}

/// Flags of `turnpike lab report`.
#[derive(clap::Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    drawn: Drawn,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "turnpike-report")]
    output: PathBuf,
}

/// Flags of `turnpike lab export`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["csv", "figures"]))]
pub(super) struct ExportArgs {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    drawn: Drawn,
    /// Print comma-separated values, one run per line
    #[arg(long)]
    csv: bool,
    /// Write each figure to this folder, as SVG and as CSV, and each table as CSV
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

/// What `turnpike lab status --format json` prints.
#[derive(Serialize, JsonSchema)]
struct StatusOutput {
    turnpike: String,
    command: String,
    experiments: Vec<Status>,
}

#[derive(Serialize, JsonSchema)]
struct Status {
    name: String,
    /// Runs that a full experiment has; null when the database does not know the experiment itself.
    asked: Option<u64>,
    /// Runs that are there.
    done: u64,
    /// Cells without any run.
    empty: usize,
    /// What the runs took so far, each on one core.
    seconds: f64,
    /// What the missing runs of cells with runs will take, by the mean of those; cells without any are not
    /// in it.
    seconds_left: f64,
    cells: Vec<CellStatus>,
}

#[derive(Serialize, JsonSchema)]
struct CellStatus {
    model: String,
    strategy: String,
    asked: u64,
    done: u64,
    /// What the runs took so far, each on one core.
    seconds: f64,
}

/// What `turnpike lab report --format json` prints.
#[derive(Serialize, JsonSchema)]
struct ReportOutput {
    turnpike: String,
    command: String,
    files: Vec<String>,
    runs: usize,
}

/// What `turnpike lab export --figures --format json` prints.
#[derive(Serialize, JsonSchema)]
struct ExportOutput {
    turnpike: String,
    command: String,
    files: Vec<String>,
}

/// An experiment of the database.
struct Kept {
    name: String,
    /// All runs, whatever cells they belong to.
    runs: u64,
    /// `None` when the database has its runs, but not the experiment itself.
    results: Option<Results>,
}

impl Chosen {
    /// The experiments that are meant, with their results.
    fn read(&self, redraw: &[PathBuf]) -> Outcome<Vec<Kept>> {
        let database = &self.database.database;
        if !database.is_file() {
            return Err(Failure::usage(format!(
                "there is no database {}; run `turnpike lab run` first",
                database.display()
            )));
        }
        let lab = Lab::open(database)?;
        let files: Vec<ExperimentFile> =
            redraw.iter().map(|file| ExperimentFile::read(file)).collect::<Result<_, _>>()?;
        let all = lab.store().experiments()?;
        let mut kept = Vec::new();
        for name in self.names(all.iter().map(|(name, _)| name.clone()).collect(), &files)? {
            let results = match files.iter().find(|file| file.name == name) {
                Some(file) => Some(lab.results_for(file)?),
                None => lab.results(&name)?,
            };
            self.mention_changes(&name, &lab, &files)?;
            let runs = all.iter().find(|(known, _)| *known == name).map_or(0, |(_, runs)| *runs);
            kept.push(Kept { name, runs, results });
        }
        self.select(&mut kept)?;
        Ok(kept)
    }

    /// The names of the experiments that are meant, in order.
    fn names(&self, known: Vec<String>, files: &[ExperimentFile]) -> Result<Vec<String>, Diagnostic> {
        let absent = |asked: &str| {
            let message =
                format!("the database {} has no experiment `{asked}`", self.database.database.display());
            let names = known.iter().map(String::as_str);
            Diagnostic::error(message)
                .suggest_or_list(asked, names, "its experiments are")
                .help_if_none("run `turnpike lab run` first")
        };
        if let Some(file) = files.iter().find(|file| !known.contains(&file.name)) {
            return Err(absent(&file.name));
        }
        let mut names = Vec::new();
        for asked in &self.experiments {
            // What is printed comes first; then files, which are called as they were when they were run.
            let mut meant = matching(asked, &known);
            let file = name_of(Path::new(asked));
            if meant.is_empty() && asked.ends_with(".toml") {
                meant = matching(&file, &known);
            }
            if meant.is_empty() {
                return Err(absent(if asked.ends_with(".toml") { &file } else { asked }));
            }
            names.extend(meant.into_iter().map(str::to_owned));
        }
        if self.experiments.is_empty() {
            names = match files {
                [] => known,
                files => files.iter().map(|file| file.name.clone()).collect(),
            };
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Says so when a file that was named is not what was run.
    fn mention_changes(&self, name: &str, lab: &Lab, redrawn: &[ExperimentFile]) -> Outcome<()> {
        let file = self
            .experiments
            .iter()
            .find(|asked| asked.ends_with(".toml") && name_of(Path::new(asked)) == name);
        let Some(text) = file.and_then(|file| std::fs::read_to_string(file).ok()) else { return Ok(()) };
        let changed = lab.store().experiment(name)?.is_some_and(|run| run != text);
        if let Some(file) = file.filter(|_| changed && !redrawn.iter().any(|other| other.name == name)) {
            output::note(&format!(
                "note: {file} has changed since its last run; this is the experiment as it was run \
                 (`turnpike lab run {file}` runs what changed, `--redraw {file}` draws the old runs anew)"
            ));
        }
        Ok(())
    }

    /// Leaves out cells that are not meant.
    fn select(&self, kept: &mut [Kept]) -> Outcome<()> {
        let cells = kept.iter().filter_map(|one| one.results.as_ref());
        let cells = cells.flat_map(|results| results.cells.iter().map(|result| &result.cell));
        let selection = Selection::new(&self.only.only, cells)?;
        for results in kept.iter_mut().filter_map(|one| one.results.as_mut()) {
            results.cells.retain(|result| selection.contains(&result.cell));
        }
        Ok(())
    }

    /// The results to draw.
    fn results(&self, drawn: &Drawn) -> Outcome<Vec<Results>> {
        let mut all = Vec::new();
        for Kept { name, results, .. } in self.read(&drawn.redraw)? {
            let Some(results) = results else {
                let message = format!(
                    "the database has runs of the experiment `{name}`, but not the experiment itself: an older version of turnpike wrote it"
                );
                let help = format!("pass its file: --redraw {name}.toml");
                return Err(Diagnostic::error(message).help(help).into());
            };
            all.push(results);
        }
        Ok(all)
    }
}

pub(super) fn status(args: &StatusArgs, format: Format) -> Outcome<()> {
    let experiments: Vec<Status> = args.chosen.read(&[])?.into_iter().map(Status::from).collect();
    if format == Format::Json {
        output::json(&StatusOutput { turnpike: VERSION.into(), command: "lab status".into(), experiments });
        return Ok(());
    }
    let (seconds, left) =
        experiments.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.seconds, sum.1 + one.seconds_left));
    let empty: usize = experiments.iter().map(|one| one.empty).sum();
    let several = experiments.len() > 1;
    for one in experiments {
        let Some(asked) = one.asked else {
            let done = output::grouped(one.done);
            output::line(&format!("{}: {done} runs of an older version, without the experiment", one.name));
            continue;
        };
        let empty =
            if one.empty == 0 { String::new() } else { format!(", {} cells without runs", one.empty) };
        let time = if args.time { time_of(&one) } else { String::new() };
        output::line(&format!("{}: {}{empty}{time}", one.name, share(one.done, asked)));
        for cell in one.cells.iter().filter(|_| args.cells) {
            output::line(&format!("  {} / {}: {}", cell.model, cell.strategy, share(cell.done, cell.asked)));
        }
    }
    if args.time && several && seconds > 0.0 {
        let left = duration(left);
        let unknown = match empty {
            0 => String::new(),
            cells => format!(", not counting {cells} cells without runs"),
        };
        let done = duration(seconds);
        output::line(&format!("together {done} of work on one core, about {left} left{unknown}"));
    }
    Ok(())
}

/// `5 of 20 runs (25%)`.
fn share(done: u64, asked: u64) -> String {
    let percent = 100.0 * done as f64 / asked.max(1) as f64;
    format!("{} of {} runs ({percent:.0}%)", output::grouped(done), output::grouped(asked))
}

impl CellStatus {
    /// What the missing runs will take, if they take as long as those that are there.
    fn seconds_left(&self) -> f64 {
        self.seconds / self.done.max(1) as f64 * self.asked.saturating_sub(self.done) as f64
    }
}

/// `, 3.2 s of work, about 60 s left`.
fn time_of(status: &Status) -> String {
    if status.done == 0 {
        return String::new();
    }
    let left = if status.seconds_left > 0.0 {
        format!(", about {} left", duration(status.seconds_left))
    } else {
        String::new()
    };
    format!(", {} of work{left}", duration(status.seconds))
}

/// Seconds in the largest unit of which there are at least two.
fn duration(seconds: f64) -> String {
    match seconds {
        long if long >= 7200.0 => format!("{:.1} h", long / 3600.0),
        long if long >= 120.0 => format!("{:.0} min", long / 60.0),
        short => format!("{short:.1} s"),
    }
}

impl From<Kept> for Status {
    fn from(Kept { name, runs, results }: Kept) -> Self {
        let Some(results) = results else {
            return Status {
                name,
                asked: None,
                done: runs,
                empty: 0,
                seconds: 0.0,
                seconds_left: 0.0,
                cells: Vec::new(),
            };
        };
        let cells = results.cells.iter().map(|result| CellStatus {
            model: result.cell.model.clone(),
            strategy: result.cell.strategy.clone(),
            asked: result.cell.runs,
            done: result.runs.len() as u64,
            seconds: result.runs.iter().map(|run| run.seconds).sum(),
        });
        let cells: Vec<CellStatus> = cells.collect();
        Status {
            name,
            asked: Some(results.cells.iter().map(|result| result.cell.runs).sum()),
            done: results.count() as u64,
            empty: results.cells.iter().filter(|result| result.runs.is_empty()).count(),
            seconds: cells.iter().map(|cell| cell.seconds).sum(),
            seconds_left: cells.iter().map(CellStatus::seconds_left).sum(),
            cells,
        }
    }
}

pub(super) fn report(args: &ReportArgs, format: Format) -> Outcome<()> {
    let mut results = args.chosen.results(&args.drawn)?;
    results.retain(|results| results.count() > 0);
    if results.is_empty() {
        return Err(Failure::usage("these experiments have no runs yet; run `turnpike lab run` first"));
    }
    let runs = results.iter().map(Results::count).sum();
    let files = report::write(&results, VERSION, &args.output)?;
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    match format {
        Format::Json => {
            output::json(&ReportOutput {
                turnpike: VERSION.into(),
                command: "lab report".into(),
                files,
                runs,
            });
        }
        Format::Human => {
            let experiments = if results.len() == 1 { "experiment" } else { "experiments" };
            output::line(&format!(
                "{} runs of {} {experiments}",
                output::grouped(runs as u64),
                results.len()
            ));
            for file in files {
                output::line(&format!("wrote {file}"));
            }
        }
    }
    Ok(())
}

pub(super) fn export(args: &ExportArgs, format: Format) -> Outcome<()> {
    let results = args.chosen.results(&args.drawn)?;
    if let Some(folder) = &args.figures {
        let files = report::write_figures(&results, folder)?;
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        match format {
            Format::Json => {
                output::json(&ExportOutput { turnpike: VERSION.into(), command: "lab export".into(), files });
            }
            Format::Human => files.iter().for_each(|file| output::line(&format!("wrote {file}"))),
        }
        return Ok(());
    }
    for (index, results) in results.iter().enumerate() {
        let text = report::csv(results);
        // One head is enough.
        for line in text.lines().skip(usize::from(index > 0)) {
            output::line(line);
        }
    }
    Ok(())
}
