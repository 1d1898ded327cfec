//! Tables: one row a model, one column a strategy, published figures under ours.

use super::chart::precise;
use super::results::{CellResult, Results};
use crate::experiment::{Drawing, Published};

/// A table for the page.
pub(super) struct Table {
    /// Its heading.
    pub(super) title: String,
    /// What the parts of an entry are.
    pub(super) legend: String,
    /// Names of columns.
    pub(super) columns: Vec<String>,
    /// The rows.
    pub(super) rows: Vec<Row>,
}

/// A row of a table.
pub(super) struct Row {
    /// The model.
    pub(super) name: String,
    /// It stands in for the paper's own.
    pub(super) stand_in: bool,
    /// One for each column; `None` = not in the experiment.
    pub(super) entries: Vec<Option<Entry>>,
}

/// What a cell of a table says.
pub(super) struct Entry {
    /// Our figures.
    pub(super) text: String,
    /// Shown when the entry is pointed at: runs, budget, interval, command.
    pub(super) title: String,
    /// The published ones.
    pub(super) published: Option<String>,
    /// They differ by more than the noise.
    pub(super) deviates: bool,
    /// No runs yet.
    pub(super) empty: bool,
}

/// Figures of means that are further apart than this factor are marked.
const NOISE: f64 = 1.25;

impl Table {
    /// Of an experiment.
    pub(super) fn new(results: &Results, drawing: &Drawing) -> Table {
        let meant =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
        let columns: Vec<&str> =
            results.columns().into_iter().filter(|name| meant(&drawing.strategies, name)).collect();
        let measure = drawing.measure.as_deref().unwrap_or("states");
        let rows = results.rows().into_iter().filter(|name| meant(&drawing.models, name)).map(|row| {
            let cells: Vec<Option<&CellResult>> =
                columns.iter().map(|column| results.cell(row, column)).collect();
            Row {
                name: row.to_owned(),
                stand_in: cells.iter().flatten().any(|result| result.cell.setting.stand_in),
                entries: cells
                    .into_iter()
                    .map(|cell| cell.map(|result| Entry::new(result, measure)))
                    .collect(),
            }
        });
        Table {
            title: drawing.title.clone().unwrap_or_else(|| results.experiment.title.clone()),
            legend: format!(
                "{measure} (mean of successful runs) / length of the witness (mean) / successful runs in per cent"
            ),
            rows: rows.collect(),
            columns: columns.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl Entry {
    fn new(result: &CellResult, measure: &str) -> Entry {
        let (cost, length, rate) = (result.measure(measure), result.measure("length"), result.rate());
        let number = |value: Option<f64>| value.map_or("–".to_owned(), precise);
        let percent = |value: f64| precise((value * 1000.0).round() / 10.0);
        let ours = Published {
            rate: rate.rate(),
            states: cost.mean(),
            length: length.mean(),
            ..Published::default()
        };
        let published = result.published.as_ref();
        let interval = rate.interval().map_or(String::new(), |interval| {
            format!("; 95% interval of the rate {} to {}", percent(interval.low), percent(interval.high))
        });
        Entry {
            text: format!(
                "{} / {} / {}",
                number(ours.states),
                number(ours.length),
                ours.rate.map_or("–".to_owned(), percent)
            ),
            title: format!(
                "{} runs{interval}; median {}, 90% below {}; {}",
                result.runs.len(),
                number(cost.median()),
                number(cost.quantile(0.9)),
                result.command()
            ),
            published: published.map(|figures| {
                let note = figures.note.as_deref().map_or(String::new(), |note| format!(" ({note})"));
                let rate = figures.rate.map_or("·".to_owned(), percent);
                let part = |value: Option<f64>| value.map_or("·".to_owned(), precise);
                format!("{} / {} / {rate}{note}", part(figures.states), part(figures.length))
            }),
            deviates: published.is_some_and(|figures| {
                let apart = |ours: Option<f64>, theirs: Option<f64>| match (ours, theirs) {
                    (Some(ours), Some(theirs)) => ours > theirs * NOISE || theirs > ours * NOISE,
                    (None, Some(_)) => !result.runs.is_empty(),
                    _ => false,
                };
                let rate_apart = matches!(
                    (rate.interval(), figures.rate),
                    (Some(interval), Some(theirs)) if !interval.contains(theirs)
                );
                rate_apart || apart(ours.states, figures.states) || apart(ours.length, figures.length)
            }),
            empty: result.runs.is_empty(),
        }
    }
}
