//! Every published cell beside ours: equal, explained, or open.

use super::chart::precise;
use super::results::{CellResult, Results};
use crate::statistics::Equivalence;

/// What is known about a published cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// All its figures are equal to ours by two one-sided tests.
    Equal,
    /// No figure differs, but some are not shown to be equal: there are too few runs.
    Undecided,
    /// A figure differs, and with a switch none does.
    BySwitch,
    /// A figure differs, and the experiment says why.
    Otherwise,
    /// Our model is not the paper's: it compares in kind only.
    InKind,
    /// A figure differs for an unknown reason.
    Open,
}

/// The order in which counts are printed.
const STANDINGS: [Standing; 6] = [
    Standing::Equal,
    Standing::Undecided,
    Standing::BySwitch,
    Standing::Otherwise,
    Standing::InKind,
    Standing::Open,
];

impl Standing {
    pub(super) fn word(self) -> &'static str {
        match self {
            Standing::Equal => "equal",
            Standing::Undecided => "undecided",
            Standing::BySwitch => "explained by a switch",
            Standing::Otherwise => "explained otherwise",
            Standing::InKind => "another model",
            Standing::Open => "open",
        }
    }
}

/// A published cell.
pub(super) struct Comparison {
    /// The experiment's name.
    pub(super) experiment: String,
    /// The row.
    pub(super) model: String,
    /// The column.
    pub(super) strategy: String,
    /// Runs of ours.
    pub(super) runs: usize,
    /// Each figure: ours, the published one, and what the tests say.
    pub(super) figures: String,
    pub(super) standing: Standing,
    /// The switch or the reason.
    pub(super) explained_by: String,
}

/// All published cells that have runs, in the order of the experiments.
pub(super) fn comparisons(results: &[Results]) -> Vec<Comparison> {
    results
        .iter()
        .flat_map(|results| results.cells.iter().filter_map(move |result| compare(results, result)))
        .collect()
}

fn compare(results: &Results, result: &CellResult) -> Option<Comparison> {
    let published = result.published.as_ref().filter(|published| !published.figures.is_empty())?;
    // Columns that explain others are judged there.
    if result.runs.is_empty() || result.cell.explains.is_some() {
        return None;
    }
    let tests = tests(result, result);
    let worst = tests.iter().map(|test| test.outcome).max()?;
    let switch = results.cells.iter().find(|other| {
        other.cell.model == result.cell.model
            && other.cell.explains.as_deref() == Some(&result.cell.strategy)
            && !other.runs.is_empty()
            && self::tests(other, result).iter().all(|test| test.outcome != Equivalence::Different)
    });
    let (standing, explained_by) = match (worst, switch, &published.explained) {
        (Equivalence::Equal, ..) => (Standing::Equal, String::new()),
        (Equivalence::Undecided, ..) => (Standing::Undecided, String::new()),
        (_, Some(switch), _) => (Standing::BySwitch, switch.cell.strategy.clone()),
        (_, None, Some(reason)) => (Standing::Otherwise, reason.clone()),
        _ if result.cell.setting.stand_in => (Standing::InKind, String::new()),
        _ => (Standing::Open, String::new()),
    };
    let figures = tests.iter().map(|test| {
        let ours = test.ours.map_or("–".to_owned(), precise);
        format!("{} {ours} beside {} ({})", test.name, precise(test.published), test.outcome.word())
    });
    Some(Comparison {
        experiment: results.name.clone(),
        model: result.cell.model.clone(),
        strategy: result.cell.strategy.clone(),
        runs: result.runs.len(),
        figures: figures.collect::<Vec<_>>().join("; "),
        standing,
        explained_by,
    })
}

/// One figure of a published cell.
struct Test {
    name: String,
    ours: Option<f64>,
    published: f64,
    outcome: Equivalence,
}

/// The figures of a cell beside those published of another, which is the same one or one that it explains. Times
/// depend on machines and are left out.
fn tests(result: &CellResult, of: &CellResult) -> Vec<Test> {
    let figures = of.published.iter().flat_map(|published| &published.figures);
    let lasting = figures.filter(|(name, _)| !["seconds", "microseconds", "cost"].contains(&name.as_str()));
    let test = |(name, &published): (&String, &f64)| {
        let outcome = match name.as_str() {
            "rate" => Equivalence::of_rate(result.rate(), published),
            _ => Equivalence::of_mean(&result.measure(name), published),
        };
        Test { name: name.clone(), ours: result.figure(name), published, outcome }
    };
    lasting.map(test).collect()
}

/// How many published cells stand how, in one sentence.
pub(super) fn sentence(comparisons: &[Comparison]) -> Option<String> {
    let counts = STANDINGS.iter().filter_map(|standing| {
        let count = comparisons.iter().filter(|one| one.standing == *standing).count();
        (count > 0).then(|| format!("{count} {}", standing.word()))
    });
    let counts: Vec<String> = counts.collect();
    (!comparisons.is_empty())
        .then(|| format!("{} published cells: {}.", comparisons.len(), counts.join(", ")))
}
