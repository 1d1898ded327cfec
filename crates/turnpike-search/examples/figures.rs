//! The curves of the highway search paper, measured: prints one figure as CSV.
//!
//! ```text
//! cargo run --release -p turnpike-search --example figures -- diamond         # figure 2
//! cargo run --release -p turnpike-search --example figures -- backloops       # figure 3
//! cargo run --release -p turnpike-search --example figures -- scc             # figure 4
//! cargo run --release -p turnpike-search --example figures -- reports         # figure 6, right
//! cargo run --release -p turnpike-search --example figures -- philosophers5   # figure 8, right
//! ```
//!
//! The seed is fixed and results do not depend on the number of threads: the output is the same every time.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use turnpike_model::{Explorer, Label, LabelId, Model, ModelInfo, StepError, Successors};
use turnpike_search::strategy::{Highway, HighwayApprox, HighwayIdeal, RandomWalk, Rdfs};
use turnpike_search::{RunReport, SearchOptions, Strategy, Verdict, search};

const SEED: u64 = 2009;
const THREADS: usize = 2;
/// Runs for each point of figures 2 to 4.
const RUNS: u64 = 1000;
/// Runs for each point of figure 8.
const RUNS_PHILOSOPHERS: u64 = 4000;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let out = &mut BufWriter::new(io::stdout().lock());
    let outcome = match name.as_str() {
        "diamond" => diamond(out),
        "backloops" => backloops(out),
        "scc" => components(out),
        "reports" => reports(out),
        "philosophers5" => philosophers(out),
        _ => Err("which figure? diamond, backloops, scc, reports or philosophers5".into()),
    };
    match outcome.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be done when the error stream is closed.
            let _ = writeln!(io::stderr(), "figures: {error}");
            ExitCode::from(2)
        }
    }
}

/// The strategies of figures 2 to 4, with the names of their columns.
fn contenders(widths: &[u64]) -> Vec<(String, Strategy)> {
    let plain = [Strategy::from(RandomWalk::default()), Strategy::from(Rdfs::default())];
    let plain = plain.into_iter().map(|strategy| (strategy.name().to_owned(), strategy));
    let highways =
        widths.iter().map(|&width| (format!("highway-{width}"), Strategy::from(Highway { width })));
    plain.chain(highways).collect()
}

fn header(out: &mut dyn Write, first: &str, strategies: &[(String, Strategy)]) -> io::Result<()> {
    let columns: Vec<&str> = strategies.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(out, "{first},{}", columns.join(","))
}

fn row(out: &mut dyn Write, first: u64, values: impl Iterator<Item = f64>) -> io::Result<()> {
    let values: Vec<String> = values.map(|value| format!("{value:.4}")).collect();
    writeln!(out, "{first},{}", values.join(","))
}

fn run(
    model: &dyn Model,
    strategy: &Strategy,
    objective: &str,
    max_states: u64,
    runs: u64,
) -> Result<Vec<RunReport>, Box<dyn Error>> {
    run_on(THREADS, model, strategy, objective, max_states, runs)
}

fn run_on(
    threads: usize,
    model: &dyn Model,
    strategy: &Strategy,
    objective: &str,
    max_states: u64,
    runs: u64,
) -> Result<Vec<RunReport>, Box<dyn Error>> {
    let mut options = SearchOptions::new(strategy.clone());
    options.objectives = vec![objective.parse().map_err(|error| format!("{error}"))?];
    options.limits.states = Some(max_states);
    (options.seed, options.runs, options.threads) = (SEED, runs, threads);
    (options.witness, options.shorten) = (false, false);
    Ok(search(model, &options, &|_| {}, &AtomicBool::new(false))?.runs)
}

/// Figure 2: how likely each of the ten states of the widest level is to be hit.
fn diamond(out: &mut dyn Write) -> Outcome {
    let model = turnpike_builtin::build("diamond", &[])?;
    let strategies = contenders(&[2, 4, 6, 8, 10]);
    let mut found = Vec::new();
    for (_, strategy) in &strategies {
        found.push(run(&*model, strategy, "cover report*", 10_000, RUNS)?);
    }
    header(out, "state", &strategies)?;
    for state in 1..=10 {
        let label = format!("report({})", state - 1);
        row(out, state, found.iter().map(|runs| share(runs, |run| covered(run).any(|seen| *seen == label))))?;
    }
    Ok(())
}

/// Figure 3: how likely the deadlock is to be found within so many visited states.
fn backloops(out: &mut dyn Write) -> Outcome {
    const MOST: u64 = 60;
    let model = turnpike_builtin::build("backloops", &[])?;
    let strategies = contenders(&[1, 2, 3, 4, 5]);
    let mut found = Vec::new();
    for (_, strategy) in &strategies {
        found.push(run(&*model, strategy, "deadlock", MOST, RUNS)?);
    }
    header(out, "visited", &strategies)?;
    for visited in 1..=MOST {
        let within = |run: &RunReport| run.verdict == Verdict::Found && run.states <= visited;
        row(out, visited, found.iter().map(|runs| share(runs, within)))?;
    }
    Ok(())
}

/// Figure 4: how likely a given one of the five exits is to be found within so many visited states.
fn components(out: &mut dyn Write) -> Outcome {
    const EXITS: f64 = 5.0;
    let model = turnpike_builtin::build("scc", &[])?;
    let strategies = contenders(&[1, 2, 3, 4, 5]);
    header(out, "visited", &strategies)?;
    for visited in 1..=40 {
        let mut values = Vec::new();
        for (_, strategy) in &strategies {
            let runs = run(&*model, strategy, "cover report*", visited, RUNS)?;
            let exits: usize = runs.iter().map(|run| covered(run).count()).sum();
            values.push(exits as f64 / EXITS / RUNS as f64);
        }
        row(out, visited, values.into_iter())?;
    }
    Ok(())
}

/// Figure 6, right: how often each propagation time is reported by 100,000 walks, and by 100 highways of width 1000. A
/// search keeps extremes only, so the model counts. Times are in classes of ten, by their smallest.
fn reports(out: &mut dyn Write) -> Outcome {
    const PATH: u64 = 202;
    const WIDTH: u64 = 1000;
    const HIGHWAYS: u64 = 100;
    let walks = RandomWalk { restart: true, ..RandomWalk::default() };
    let mut found = Vec::new();
    for (strategy, runs, states) in [
        (Strategy::from(walks), 1, PATH * WIDTH * HIGHWAYS),
        (Strategy::from(HighwayApprox { width: WIDTH }), HIGHWAYS, PATH * WIDTH),
        (Strategy::from(Highway { width: WIDTH }), HIGHWAYS, PATH * WIDTH),
    ] {
        let model = turnpike_builtin::build("buffers", &[])?;
        let counting = Counting { model: &*model, reports: Mutex::default() };
        // On one thread nothing is walked ahead that the search then does not need.
        run_on(1, &counting, &strategy, "max report.1", states, runs)?;
        found.push(counting.reports.into_inner().unwrap_or_default());
    }
    writeln!(out, "time,random,highway-approx-{WIDTH},highway-{WIDTH}")?;
    let classes = || found.iter().flat_map(BTreeMap::keys).map(|time| time / 10);
    for class in classes().min().unwrap_or(0)..=classes().max().unwrap_or(0) {
        let times = class * 10..class * 10 + 10;
        let count = |reports: &BTreeMap<u64, u64>| -> u64 {
            reports.range(times.clone()).map(|(_, count)| count).sum()
        };
        let counts: Vec<String> = found.iter().map(|reports| count(reports).to_string()).collect();
        writeln!(out, "{},{}", times.start, counts.join(","))?;
    }
    Ok(())
}

/// A model that counts the times that are reported in the states that are expanded.
struct Counting<'a> {
    model: &'a dyn Model,
    reports: Mutex<BTreeMap<u64, u64>>,
}

impl Model for Counting<'_> {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(CountingExplorer { explorer: self.model.explorer(), reports: &self.reports })
    }

    fn left_out(&self) -> Option<String> {
        self.model.left_out()
    }
}

struct CountingExplorer<'a> {
    explorer: Box<dyn Explorer + 'a>,
    reports: &'a Mutex<BTreeMap<u64, u64>>,
}

impl Explorer for CountingExplorer<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        self.explorer.initial(out)
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        self.explorer.successors(state, out)?;
        // Offers are alone too; they are most of all steps.
        let alone = (out.len() == 1).then(|| self.explorer.label(out.label(0)));
        let Some(action) = alone.as_ref().and_then(|label| label.actions.first()) else { return Ok(()) };
        if action.name == "report" {
            let time = action.arguments[0].parse().map_err(|_| StepError::new("a time is a number"))?;
            if let Ok(mut reports) = self.reports.lock() {
                *reports.entry(time).or_default() += 1;
            }
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        self.explorer.label(id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.explorer.state_values(state, out);
    }
}

/// Figure 8, right: how likely the deadlock of five philosophers is to be found, by width.
fn philosophers(out: &mut dyn Write) -> Outcome {
    let model = turnpike_builtin::build("philosophers", &[("n".to_owned(), "5".to_owned())])?;
    writeln!(out, "width,highway-ideal,highway-approx,highway")?;
    for width in 1..=60 {
        let mut values = Vec::new();
        for strategy in [
            Strategy::from(HighwayIdeal { width }),
            Strategy::from(HighwayApprox { width }),
            Strategy::from(Highway { width }),
        ] {
            let runs = run(&*model, &strategy, "deadlock", 10_000, RUNS_PHILOSOPHERS)?;
            values.push(share(&runs, |run| run.verdict == Verdict::Found));
        }
        row(out, width, values.into_iter())?;
    }
    Ok(())
}

fn share(runs: &[RunReport], counts: impl Fn(&RunReport) -> bool) -> f64 {
    runs.iter().filter(|run| counts(run)).count() as f64 / runs.len() as f64
}

/// The labels that matched `cover report*`.
fn covered(run: &RunReport) -> impl Iterator<Item = &String> {
    run.covered.get("report*").into_iter().flat_map(|labels| labels.keys())
}
