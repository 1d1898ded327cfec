//! What `auto` costs beside the best choice: for each row with a column called `auto`, the strategy whose successes were cheapest.

use super::chart::precise;
use super::results::{CellResult, Results};

/// The column that is compared with all others.
pub(super) const AUTO: &str = "auto";

/// `auto` on one model of one experiment.
pub(super) struct Comparison {
    /// The experiment's title.
    pub(super) experiment: String,
    /// The row.
    pub(super) model: String,
    /// The cheapest other strategy.
    pub(super) best: String,
    /// States for each success, of `auto` and of that strategy.
    pub(super) costs: (f64, f64),
    /// Median lengths of witnesses, of `auto` and of that strategy.
    pub(super) lengths: (Option<f64>, Option<f64>),
}

impl Comparison {
    /// How many times as much `auto` costs.
    pub(super) fn ratio(&self) -> f64 {
        self.costs.0.max(1.0) / self.costs.1.max(1.0)
    }

    pub(super) fn ratio_text(&self) -> String {
        precise(self.ratio())
    }

    pub(super) fn costs_text(&self) -> (String, String) {
        (precise(self.costs.0), precise(self.costs.1))
    }

    pub(super) fn lengths_text(&self) -> (String, String) {
        let text = |length: Option<f64>| length.map_or("–".to_owned(), precise);
        (text(self.lengths.0), text(self.lengths.1))
    }
}

/// All rows in which `auto` and another strategy succeeded, in the order of the experiments.
pub(super) fn comparisons(results: &[Results]) -> Vec<Comparison> {
    results
        .iter()
        .flat_map(|results| results.rows().into_iter().filter_map(|row| compare(results, row)))
        .collect()
}

fn compare(results: &Results, row: &str) -> Option<Comparison> {
    let auto = results.cell(row, AUTO)?;
    let is_auto = |result: &CellResult| {
        result.cell.flags.windows(2).any(|pair| pair[0] == "--strategy" && pair[1] == AUTO)
    };
    let others = results.cells.iter().filter(|result| result.cell.model == row && !is_auto(result));
    let cost = |result: &&CellResult| result.cost_per_success();
    let (best, best_cost) = others
        .filter_map(|result| cost(&result).map(|cost| (result, cost)))
        .min_by(|one, other| one.1.total_cmp(&other.1))?;
    let median = |result: &CellResult| result.measure("length").median();
    Some(Comparison {
        experiment: results.experiment.title.clone(),
        model: row.to_owned(),
        best: best.cell.strategy.clone(),
        costs: (auto.cost_per_success()?, best_cost),
        lengths: (median(auto), median(best)),
    })
}

/// Rows in which another strategy succeeded and `auto` did not.
pub(super) fn failures(results: &[Results]) -> Vec<String> {
    let fails = |results: &Results, row: &str| {
        let succeeds = |result: &CellResult| result.runs.iter().any(|run| run.found);
        let mut cells = results.cells.iter().filter(|result| result.cell.model == row);
        results.cell(row, AUTO).is_some_and(|auto| !auto.runs.is_empty() && !succeeds(auto))
            && cells.any(succeeds)
    };
    let rows = results.iter().flat_map(|results| results.rows().into_iter().map(move |row| (results, row)));
    rows.filter(|(results, row)| fails(results, row)).map(|(_, row)| row.to_owned()).collect()
}

/// In one sentence: how much more in the mean, and at worst.
pub(super) fn sentence(comparisons: &[Comparison], failures: &[String]) -> Option<String> {
    let worst = comparisons.iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio()))?;
    let logarithms: f64 = comparisons.iter().map(|comparison| comparison.ratio().ln()).sum();
    let mean = (logarithms / comparisons.len() as f64).exp();
    let longer = comparisons
        .iter()
        .filter(|one| one.lengths.0.zip(one.lengths.1).is_some_and(|(auto, best)| auto > best))
        .count();
    let without = match failures {
        [] => String::new(),
        rows => format!(" Within its budget it never succeeded on {}, where another did.", rows.join(", ")),
    };
    Some(format!(
        "A success of auto costs {} times what it costs with the strategy that turned out cheapest (geometric mean of {} models), \
         at worst {} times ({}); its witnesses are longer on {longer} of them (medians).{without}",
        precise(mean),
        comparisons.len(),
        worst.ratio_text(),
        worst.model
    ))
}
