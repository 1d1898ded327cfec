//! One model of timed automata against what TChecker says of it, or one UPPAAL model against time.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Deserialize;
use turnpike_session::{AcceptAt, Limits, Plan, Search, StopReason, StrategyChoice, Verdict};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::tck;
use turnpike_timed::uppaal::{self, Format};

/// An objective that is never met.
const NOTHING: &str = "action nosuchaction";

/// A line of an oracle file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    /// The model, relative to the folder of models.
    pub(crate) file: String,
    /// The labels that were searched; empty: none.
    pub(crate) labels: String,
    /// `tck-reach -a reach -s bfs`.
    reach_bfs: Figures,
    /// `tck-reach -a covreach -s bfs`.
    covreach_bfs: Figures,
    /// The same without labels, when the search for labels ends early.
    full: Option<Figures>,
}

/// What TChecker says of one search.
#[derive(Clone, Debug, Deserialize)]
struct Figures {
    outcome: String,
    reachable: Option<bool>,
    visited_states: Option<u64>,
    visited_transitions: Option<u64>,
    stored_states: Option<u64>,
}

/// What came out of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The model is refused, before or during the search.
    Refused(String),
    /// Not everything was covered, and nothing was found.
    Unfinished,
    /// Counts of a search that came to its end.
    Counts {
        /// Whether the labels were met.
        reachable: bool,
        /// States expanded.
        states: u64,
        /// Transitions of these.
        transitions: u64,
        /// States that no other covers.
        stored: Option<u64>,
    },
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Refused(message) if message.is_empty() => f.write_str("refused"),
            Found::Refused(message) => write!(f, "refused: {message}"),
            Found::Unfinished => f.write_str("unfinished"),
            Found::Counts { reachable, states, transitions, stored } => {
                let verdict = if *reachable { "yes" } else { "no" };
                write!(f, "{verdict} {states}/{transitions}")?;
                stored.map_or(Ok(()), |stored| write!(f, "/{stored}"))
            }
        }
    }
}

impl Figures {
    fn expected(&self) -> Found {
        match (self.outcome.as_str(), self.visited_states, self.visited_transitions) {
            ("complete", Some(states), Some(transitions)) => Found::Counts {
                reachable: self.reachable == Some(true),
                states,
                transitions,
                stored: self.stored_states,
            },
            ("error", _, _) => Found::Refused(String::new()),
            _ => Found::Unfinished,
        }
    }
}

/// How far searches go that TChecker did not finish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// States to be expanded.
    pub(crate) states: u64,
    /// Seconds at most, for any search.
    pub(crate) seconds: u64,
    /// Searches with more transitions than this are left out.
    pub(crate) transitions: u64,
}

/// One search, expected and done.
pub(crate) struct Compared {
    /// Which search.
    pub(crate) search: &'static str,
    /// What TChecker says.
    pub(crate) expected: Found,
    /// What turnpike says.
    pub(crate) got: Found,
    /// Seconds of the search, reading included.
    #[allow(dead_code, reason = "for the table of the example")]
    pub(crate) seconds: f64,
}

impl Compared {
    /// Whether both agree. A model that TChecker could not finish may be finished, but not refused.
    pub(crate) fn agrees(&self) -> bool {
        match (&self.expected, &self.got) {
            (Found::Refused(_), Found::Refused(_)) => true,
            (Found::Unfinished, got) => !matches!(got, Found::Refused(_)),
            (expected, got) => expected == got,
        }
    }
}

impl Case {
    /// Whether TChecker refuses the model.
    #[allow(dead_code, reason = "asked by tests only")]
    pub(crate) fn is_error(&self) -> bool {
        self.reach_bfs.outcome == "error"
    }
}

/// The cases of an oracle file.
pub(crate) fn cases(text: &str) -> Result<Vec<Case>, serde_json::Error> {
    text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

/// Does all searches of a case.
pub(crate) fn compare(models: &Path, case: &Case, effort: Effort) -> Vec<Compared> {
    let labels = if case.labels.is_empty() { NOTHING.to_owned() } else { format!("label {}", case.labels) };
    let mut searches =
        vec![("reach", false, &*labels, &case.reach_bfs), ("covreach", true, &*labels, &case.covreach_bfs)];
    searches.extend(case.full.as_ref().map(|full| ("covreach, all", true, NOTHING, full)));
    let path = models.join(&case.file);
    searches
        .into_iter()
        .filter(|(.., figures)| figures.visited_transitions.is_none_or(|count| count <= effort.transitions))
        .map(|(name, cover, objective, figures)| {
            let expected = figures.expected();
            let states = (expected == Found::Unfinished).then_some(effort.states);
            let limits =
                Limits { states, time: Some(Duration::from_secs(effort.seconds)), ..Limits::default() };
            let started = Instant::now();
            let got = counts(&path, cover, objective, limits);
            Compared { search: name, expected, got, seconds: started.elapsed().as_secs_f64() }
        })
        .collect()
}

/// Searches a file breadth first, as TChecker does.
pub(crate) fn counts(path: &Path, cover: bool, objective: &str, limits: Limits) -> Found {
    let mut search = Search { strategy: StrategyChoice::named("bfs"), limits, ..Search::default() };
    search.goals.accept = AcceptAt::Pop;
    search.witness.shorten = false;
    let outcome = open(path).and_then(|model| explore(Arc::new(model), search, cover, objective));
    match outcome {
        Ok(run) if run.verdict == Verdict::Inconclusive => Found::Unfinished,
        Ok(run) => Found::Counts {
            reachable: run.verdict == Verdict::Found,
            states: run.states,
            transitions: run.transitions,
            stored: run.stored,
        },
        Err(message) => Found::Refused(message),
    }
}

/// The same system in both formats: what each says.
pub(crate) fn pair(models: &Path, name: &str, cover: bool) -> (Found, Found) {
    let path = models.join("pairs").join(name);
    let of = |extension| counts(&path.with_extension(extension), cover, NOTHING, Limits::default());
    (of("tck"), of("xta"))
}

/// What happened to an UPPAAL model.
pub(crate) enum Sweep {
    /// It is no model that can be explored, for this reason.
    Refused(String),
    /// A state has no successors for this reason, such as a value out of range.
    Faulty(String),
    /// It was explored.
    Explored {
        /// States expanded breadth first, and whether these are all.
        states: u64,
        all: bool,
        /// Steps of random walks.
        steps: u64,
    },
}

/// Explores an UPPAAL model breadth first and by random walks, so many states each.
pub(crate) fn sweep(path: &Path, states: u64, seconds: u64) -> Sweep {
    let model = match open(path) {
        Ok(model) => model,
        Err(message) => return Sweep::Refused(message),
    };
    let limits =
        Limits { states: Some(states), time: Some(Duration::from_secs(seconds)), ..Limits::default() };
    let model = Arc::new(model);
    let walk = StrategyChoice::named("random").with("restart", true);
    let run = |strategy| {
        let search = Search { strategy, limits: limits.clone(), ..Search::default() };
        explore(Arc::clone(&model), search, false, NOTHING)
    };
    match run(StrategyChoice::named("bfs")).and_then(|all| Ok((all, run(walk)?))) {
        Ok((all, walks)) => Sweep::Explored {
            states: all.states,
            all: all.stop == StopReason::Exhausted,
            steps: walks.states,
        },
        Err(message) => Sweep::Faulty(message),
    }
}

fn explore(
    model: Arc<TimedModel>,
    mut search: Search,
    cover: bool,
    objective: &str,
) -> Result<turnpike_session::RunReport, String> {
    search.goals.find = vec![objective.parse().map_err(|error| format!("{error}"))?];
    search.goals.allow_unknown = true;
    search.running.threads = Some(1);
    let plan = Plan::of_model(model, &search).map_err(|problem| problem.to_string())?;
    let report = plan.leave_out_covered(cover).run(&|_| {}, &AtomicBool::new(false));
    let mut report = report.map_err(|error| error.to_string())?;
    report.runs.pop().ok_or_else(|| "no run".to_owned())
}

/// Reads a model of timed automata.
fn open(path: &Path) -> Result<TimedModel, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let read = match path.extension().and_then(|extension| extension.to_str()) {
        Some("tck") => tck::read(&text).map(|(network, warnings)| {
            let names = Names::of(&network);
            (network, names, warnings)
        }),
        Some("xml") => uppaal::read(&text, Format::Xml, &[]),
        _ => uppaal::read(&text, Format::Xta, &[]),
    };
    let name = path.display().to_string();
    read.and_then(|(network, names, _)| TimedModel::new(&name, &text, network, names, &Options::default()))
        .map(|(model, _)| model)
        .map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string))
}
