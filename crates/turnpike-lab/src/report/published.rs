//! Every published cell beside ours: equal, explained, or open.

use super::chart::precise;
use super::results::{CellResult, Results};
use crate::experiment::Published;
use crate::statistics::{Equivalence, Proportion};

/// What is known about a published cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// All its figures are equal to ours by two one-sided tests.
    Equal,
    /// No figure differs, but some are not shown to be equal: there are too few runs.
    Undecided,
    /// A figure differs, and with a switch, of which there are runs enough, none does.
    BySwitch,
    /// Figures differ, and the experiment says for each of them why.
    Otherwise,
    /// Our model is not the paper's: whatever the figures say, it compares in kind only.
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
    let tests = tests(result, published);
    let worst = tests.iter().map(|test| test.outcome).max()?;
    let (standing, explained_by) = if result.cell.setting.is_the_papers() {
        match worst {
            Equivalence::Equal => (Standing::Equal, String::new()),
            Equivalence::Near | Equivalence::Undecided => (Standing::Undecided, String::new()),
            Equivalence::Different => explain(results, result, published, &tests),
        }
    } else {
        (Standing::InKind, String::new())
    };
    Some(Comparison {
        experiment: results.name.clone(),
        model: result.cell.model.clone(),
        strategy: result.cell.strategy.clone(),
        runs: result.runs.len(),
        figures: list(&tests),
        standing,
        explained_by,
    })
}

/// What explains a cell of which a figure differs: reasons that the experiment gives for single figures, and a switch
/// for all others.
fn explain(
    results: &Results,
    result: &CellResult,
    published: &Published,
    tests: &[Test],
) -> (Standing, String) {
    let differing = tests.iter().filter(|test| test.outcome == Equivalence::Different);
    let (with_reason, without): (Vec<&Test>, Vec<&Test>) =
        differing.partition(|test| published.explained.contains_key(&test.name));
    let reasons = with_reason.iter().filter_map(|test| {
        published.explained.get(&test.name).map(|reason| format!("{}: {reason}", test.name))
    });
    let mut parts: Vec<String> = reasons.collect();
    if without.is_empty() {
        return (Standing::Otherwise, parts.join("; "));
    }
    // A switch has runs enough to show that every figure without a reason is the same.
    let explains = |other: &&CellResult| {
        other.cell.model == result.cell.model
            && other.cell.explains.as_deref() == Some(&result.cell.strategy)
            && self::tests(other, published)
                .iter()
                .filter(|test| !with_reason.iter().any(|one| one.name == test.name))
                .all(|test| test.outcome <= Equivalence::Near)
    };
    match results.cells.iter().find(explains) {
        Some(switch) => {
            let with = list(&self::tests(switch, published));
            let text = format!("{} ({} runs: {with})", switch.cell.strategy, switch.runs.len());
            parts.insert(0, text);
            (Standing::BySwitch, parts.join("; "))
        }
        None => (Standing::Open, String::new()),
    }
}

/// One figure of a published cell.
struct Test {
    name: String,
    ours: Option<f64>,
    published: f64,
    /// The rate as a count, where it is read as one, and how likely it is with our rate.
    count: Option<(Proportion, f64)>,
    outcome: Equivalence,
}

/// The figures of a cell beside published ones, of the same cell or of one that it explains. Times depend on machines
/// and are left out.
fn tests(result: &CellResult, published: &Published) -> Vec<Test> {
    let figures = published.figures.iter();
    let lasting = figures.filter(|(name, _)| !["seconds", "microseconds", "cost"].contains(&name.as_str()));
    let test = |(name, &figure): (&String, &f64)| {
        let rate = result.rate();
        let count = published.count().filter(|_| name == "rate");
        let outcome = match (name.as_str(), count) {
            ("rate", Some(count)) => Equivalence::of_count(rate, count),
            ("rate", None) => Equivalence::of_rate(rate, figure),
            _ => Equivalence::of_mean(&result.measure(name), figure),
        };
        let count = count.map(|count| (count, rate.same_rate_as(count)));
        Test { name: name.clone(), ours: result.figure(name), published: figure, count, outcome }
    };
    lasting.map(test).collect()
}

/// Figures in words: ours, the published one, and what the tests say.
fn list(tests: &[Test]) -> String {
    let texts = tests.iter().map(|test| {
        let ours = test.ours.map_or("–".to_owned(), precise);
        let theirs = match test.count {
            Some((count, likely)) => {
                format!("{} of {} (p = {likely:.2})", count.successes, count.trials)
            }
            None => precise(test.published),
        };
        format!("{} {ours} beside {theirs} ({})", test.name, test.outcome.word())
    });
    texts.collect::<Vec<_>>().join("; ")
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
