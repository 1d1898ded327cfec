//! Tables: one row a model, one column a strategy, published figures under ours.

use super::chart::precise;
use super::drawing::{budget, extent};
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
    /// It stands in for the paper's own, which is public.
    pub(super) stand_in: bool,
    /// It is one of ours, because the paper's own is not public.
    pub(super) in_kind: bool,
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

/// Means that are closer than this share of the smaller one are not marked, however certain the difference is.
const APART: f64 = 0.25;

impl Table {
    /// Of an experiment.
    pub(super) fn new(results: &Results, drawing: &Drawing) -> Table {
        let meant =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
        let columns: Vec<&str> =
            results.columns().into_iter().filter(|name| meant(&drawing.strategies, name)).collect();
        let measures = measures(drawing);
        let rows = results.rows().into_iter().filter(|name| meant(&drawing.models, name)).map(|row| {
            let cells: Vec<Option<&CellResult>> =
                columns.iter().map(|column| results.cell(row, column)).collect();
            Row {
                name: row.to_owned(),
                stand_in: cells.iter().flatten().any(|result| result.cell.setting.stand_in),
                in_kind: cells.iter().flatten().any(|result| result.cell.setting.in_kind),
                entries: cells
                    .into_iter()
                    .map(|cell| cell.map(|result| Entry::new(result, &measures)))
                    .collect(),
            }
        });
        Table {
            title: drawing.title.clone().unwrap_or_else(|| results.experiment.title.clone()),
            legend: format!(
                "{}; {}",
                measures.iter().map(|name| meaning(name)).collect::<Vec<_>>().join(" / "),
                extent(results.cells.iter())
            ),
            rows: rows.collect(),
            columns: columns.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The figures of each entry.
pub(super) fn measures(drawing: &Drawing) -> Vec<&str> {
    match drawing.measures.as_slice() {
        [] => vec![drawing.measure.as_deref().unwrap_or("states"), "original_length", "length", "rate"],
        asked => asked.iter().map(String::as_str).collect(),
    }
}

impl Entry {
    fn new(result: &CellResult, measures: &[&str]) -> Entry {
        let ours = |name: &str| result.figure(name);
        let theirs = |name: &str| result.published.as_ref()?.figures.get(name).copied();
        let spread = result.measure(measures.first().copied().unwrap_or("states"));
        let interval = result.rate().interval();
        let number = |value: Option<f64>| value.map_or("–".to_owned(), precise);
        let told = interval.map_or(String::new(), |interval| {
            format!("; 95% interval of the rate {} to {}", percent(interval.low), percent(interval.high))
        });
        let seeds =
            result.runs.first().zip(result.runs.last()).map_or(String::new(), |(first, last)| {
                format!(" (seeds {:#x} to {:#x})", first.seed, last.seed)
            });
        let count = result.published.as_ref().and_then(Published::count);
        let deviates = |name: &&str| match (*name, ours(name), theirs(name)) {
            (_, _, None) => false,
            ("rate", ..) if count.is_some() => {
                count.is_some_and(|count| result.rate().same_rate_as(count) < 0.05)
            }
            ("rate", _, Some(theirs)) => interval.is_some_and(|interval| !interval.contains(theirs)),
            (_, Some(ours), Some(theirs)) => {
                let sample = result.measure(name);
                let error = sample.deviation().map_or(0.0, |one| 1.96 * one / (sample.count() as f64).sqrt());
                (ours - theirs).abs() > error.max(APART * ours.abs().min(theirs.abs()))
            }
            (_, None, Some(_)) => !result.runs.is_empty(),
        };
        let joined = |figure: &dyn Fn(&str) -> Option<f64>, none: &str| {
            let texts = measures.iter().map(|name| match figure(name) {
                Some(value) if *name == "rate" => percent(value),
                Some(value) => precise(value),
                None => none.to_owned(),
            });
            texts.collect::<Vec<_>>().join(" / ")
        };
        Entry {
            text: joined(&ours, "–"),
            title: format!(
                "{} runs{seeds}{told}; {}; median {}, 90% below {}; {}",
                result.runs.len(),
                budget(&result.cell.flags),
                number(spread.median()),
                number(spread.quantile(0.9)),
                result.command()
            ),
            published: result.published.as_ref().and_then(|published| {
                let told = measures.iter().any(|name| theirs(name).is_some());
                match (told, published.note.as_deref()) {
                    (true, Some(note)) => Some(format!("{} ({note})", joined(&theirs, "·"))),
                    (true, None) => Some(joined(&theirs, "·")),
                    (false, note) => note.map(str::to_owned),
                }
            }),
            deviates: measures.iter().any(deviates),
            empty: result.runs.is_empty(),
        }
    }
}

fn percent(share: f64) -> String {
    precise((share * 1000.0).round() / 10.0)
}

/// What a figure is, in words.
fn meaning(name: &str) -> String {
    match name {
        "rate" => "successful runs in per cent".into(),
        "cost" => "states of all runs, shortening included, for each success".into(),
        "length" => "length of the reported witness, after shortening (mean)".into(),
        "original_length" => "length of the witness as found (mean)".into(),
        "seconds" => "seconds (mean)".into(),
        "microseconds" => "microseconds for each state".into(),
        "held" => "most candidates held for a level (mean)".into(),
        extreme if extreme.starts_with("min ") || extreme.starts_with("max ") => {
            format!("{extreme} (mean of all runs)")
        }
        other => format!("{other} (mean of successful runs)"),
    }
}
