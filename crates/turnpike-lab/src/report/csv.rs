//! The numbers behind the page, as comma-separated values.

use super::chart::Chart;
use super::drawing::budget;
use super::published::Comparison;
use super::results::Results;
use super::table::measures;
use crate::experiment::{Drawing, MEASURES};

/// All cells of all experiments, one a line: every figure, and the published ones.
pub(super) fn cells(results: &[Results]) -> String {
    let mut names: Vec<&str> = MEASURES.to_vec();
    names.sort_unstable();
    let mut text = String::from(
        "experiment,model,strategy,source,stand_in,runs,seed,budget,rate_low,rate_high,states_median,states_min,states_max,original_length_median,length_median,length_min,length_max",
    );
    for name in &names {
        text.push_str(&format!(",{name},{name}_published"));
    }
    text.push('\n');
    for results in results {
        for result in &results.cells {
            let cell = &result.cell;
            let interval = result.rate().interval();
            let head =
                [&results.name, &cell.model, &cell.strategy, &cell.setting.source].map(|name| field(name));
            let mut fields = head.to_vec();
            fields.extend([
                cell.setting.stand_in.to_string(),
                result.runs.len().to_string(),
                results.experiment.seed.to_string(),
                field(&budget(&cell.flags)),
                number(interval.map(|interval| interval.low)),
                number(interval.map(|interval| interval.high)),
                number(result.measure("states").median()),
                number(result.measure("states").min()),
                number(result.measure("states").max()),
                number(result.measure("original_length").median()),
                number(result.measure("length").median()),
                number(result.measure("length").min()),
                number(result.measure("length").max()),
            ]);
            for name in &names {
                let published =
                    result.published.as_ref().and_then(|published| published.figures.get(*name).copied());
                fields.extend([number(result.figure(name)), number(published)]);
            }
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// All published cells, one a line: how they stand beside ours, and what explains a difference.
pub(super) fn published(comparisons: &[Comparison]) -> String {
    let mut text = String::from("experiment,model,strategy,runs,standing,explained_by,figures\n");
    for one in comparisons {
        let names = [&one.experiment, &one.model, &one.strategy].map(|name| field(name)).join(",");
        let (standing, explained) = (one.standing.word(), field(&one.explained_by));
        text.push_str(&format!("{names},{},{standing},{explained},{}\n", one.runs, field(&one.figures)));
    }
    text
}

/// A table, one cell a line: the figures that it shows, and the published ones.
pub(super) fn table(results: &Results, drawing: &Drawing) -> String {
    let measures = measures(drawing);
    let mut text = String::from("model,strategy,stand_in,runs");
    for name in &measures {
        text.push_str(&format!(",{},{}", field(name), field(&format!("{name}_published"))));
    }
    text.push('\n');
    for result in results.cells.iter().filter(|result| drawing.shows(&result.cell)) {
        let cell = &result.cell;
        let mut fields = vec![
            field(&cell.model),
            field(&cell.strategy),
            cell.setting.stand_in.to_string(),
            result.runs.len().to_string(),
        ];
        for name in &measures {
            let published = result.published.as_ref();
            let published = published.and_then(|published| published.figures.get(*name).copied());
            fields.extend([number(result.figure(name)), number(published)]);
        }
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// The lines of a figure, point by point. `stop` marks runs that a limit stopped.
pub(super) fn chart(chart: &Chart) -> String {
    let mut text = format!("line,kind,{},{}\n", field(&chart.x_label), field(&chart.y_label));
    for series in &chart.series {
        let kind = if series.published { "published" } else { "point" };
        let points = series.points.iter().map(|point| (kind, point));
        for (kind, (x, y)) in points.chain(series.marks.iter().map(|mark| ("stop", mark))) {
            text.push_str(&format!(
                "{},{kind},{},{}\n",
                field(&series.name),
                number(Some(*x)),
                number(Some(*y))
            ));
        }
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
}

/// A value that may hold commas and quotes.
fn field(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

/// All runs of an experiment, one a line.
pub fn runs(results: &Results) -> String {
    let mut text = String::from(
        "experiment,model,strategy,source,stand_in,number,seed,success,stop,states,considered,generated,held,transitions,depth,\
         length,original_length,shorten_states,executions,seconds\n",
    );
    let optional = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    for result in &results.cells {
        let cell = &result.cell;
        let head = [&results.name, &cell.model, &cell.strategy, &cell.setting.source]
            .map(|name| field(name))
            .join(",");
        for run in &result.runs {
            text.push_str(&format!(
                "{head},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                cell.setting.stand_in,
                run.number,
                run.seed,
                run.found,
                field(&run.stop),
                run.states,
                optional(run.considered),
                optional(run.generated),
                optional(run.held),
                run.transitions,
                run.depth,
                optional(run.length),
                optional(run.original_length),
                run.shorten_states,
                optional(run.executions),
                run.seconds,
            ));
        }
    }
    text
}
