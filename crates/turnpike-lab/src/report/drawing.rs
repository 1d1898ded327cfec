//! From runs to figures.

use super::chart::{Chart, Series, Shape};
use super::results::{CellResult, Results};
use crate::experiment::{Drawing, Kind, Value};
use crate::statistics::{Curve, Histogram, Magnitude, Observation, Summary, Survival, superiority};
use crate::store::Record;

/// A figure for the page.
pub(super) struct Figure {
    /// Its heading.
    pub(super) title: String,
    /// Number of runs and budget.
    pub(super) caption: String,
    /// The picture, when there is something to draw.
    pub(super) svg: Option<String>,
    /// What the colours mean.
    pub(super) legend: Vec<String>,
    /// What is drawn.
    pub(super) chart: Chart,
    /// The model it is about, unless models are points of its lines.
    pub(super) model: Option<String>,
}

/// The figures of one drawing: one for each model, except where a model is a point of a line.
pub(super) fn figures(results: &Results, drawing: &Drawing) -> Vec<Figure> {
    let chosen: Vec<&CellResult> =
        results.cells.iter().filter(|result| drawing.shows(&result.cell)).collect();
    if matches!(drawing.kind, Kind::RateByParameter | Kind::CostByParameter) {
        return vec![by_parameter(&chosen, drawing)];
    }
    let rows = results.rows().into_iter();
    let groups = rows.map(|row| {
        (row, chosen.iter().copied().filter(|result| result.cell.model == row).collect::<Vec<_>>())
    });
    groups
        .filter(|(_, cells)| cells.iter().any(|result| !result.runs.is_empty()))
        .map(|(row, cells)| {
            let title =
                drawing.title.clone().map_or_else(|| row.to_owned(), |title| format!("{title}: {row}"));
            Figure { model: Some(row.to_owned()), ..one(&cells, drawing, title) }
        })
        .collect()
}

/// A line for a strategy.
fn named(result: &CellResult, shape: Shape, points: Vec<(f64, f64)>) -> Series {
    Series { name: result.cell.strategy.clone(), shape, points, ..Series::default() }
}

/// The share of runs without success by the states they took, with marks where a limit stopped runs.
fn survival(result: &CellResult) -> Series {
    let observe = |run: &Record| {
        // Only a limit stops a run that might have succeeded later; one that came to its end never does.
        let censored = run.found || run.stop.starts_with("max-");
        let cost = if censored { run.states as f64 } else { f64::INFINITY };
        Observation { cost, success: run.found }
    };
    let observations: Vec<Observation> = result.runs.iter().map(observe).collect();
    let survival = Survival::new(&observations);
    let stops = survival.censored.iter().filter(|cost| cost.is_finite());
    let marks = stops.map(|&cost| (cost, survival.at(cost))).collect();
    Series { marks, start: 1.0, ..named(result, Shape::Steps, survival.steps) }
}

/// How likely each strategy is to be cheaper than the first one: one point each.
fn effects(first: &CellResult, others: &[&CellResult]) -> Vec<Series> {
    let cost = |run: &Record| {
        if run.found { (run.states + run.shorten_states) as f64 } else { f64::INFINITY }
    };
    let costs = |result: &CellResult| Summary::new(result.runs.iter().map(cost));
    let against = |(index, other): (usize, &&CellResult)| {
        let effect = superiority(&costs(other), &costs(first));
        let points = effect.map(|effect| (index as f64, effect)).into_iter().collect();
        let mut series = named(other, Shape::Line, points);
        if let Some(effect) = effect {
            series.name = format!("{} ({})", series.name, Magnitude::of(effect).word());
        }
        series
    };
    others.iter().enumerate().map(against).collect()
}

fn one(cells: &[&CellResult], drawing: &Drawing, title: String) -> Figure {
    let measure = drawing.measure.as_deref().unwrap_or("states");
    let costs = |result: &CellResult, name: &str| result.measure(name).values().to_vec();
    let curve = |result: &CellResult, name: &str| {
        let curve = Curve::new(costs(result, name), result.runs.len() as u64);
        curve.points.iter().map(|point| (point.x, point.share)).collect::<Vec<_>>()
    };
    let mut chart = Chart { shares: true, y_label: "successful runs".into(), ..Chart::default() };
    match drawing.kind {
        Kind::SuccessByStates => {
            chart.log_x = !drawing.linear;
            chart.x_label = axis(measure);
            chart
                .series
                .extend(cells.iter().map(|result| named(result, Shape::Steps, curve(result, measure))));
        }
        Kind::SuccessByLength => {
            let length = drawing.measure.as_deref().unwrap_or("length");
            chart.x_label = axis(length);
            chart
                .series
                .extend(cells.iter().map(|result| named(result, Shape::Steps, curve(result, length))));
        }
        Kind::Survival => {
            chart.x_label = "states".into();
            chart.y_label = "runs without success".into();
            chart.log_x = true;
            chart.series.extend(cells.iter().map(|result| survival(result)));
        }
        Kind::Generations => {
            chart.x_label = "generation".into();
            chart.y_label = "fitness (mean over runs)".into();
            chart.shares = false;
            for result in cells {
                for which in ["best", "average"] {
                    let mut series = named(result, Shape::Line, generations(result, which));
                    series.name = format!("{}, {which}", series.name);
                    chart.series.push(series);
                }
            }
        }
        Kind::Effects => {
            chart.x_label = "strategy, in the order of the legend".into();
            if let Some((first, others)) = cells.split_first() {
                chart.y_label = format!("probability of being cheaper than {}", first.cell.strategy);
                chart.series.extend(effects(first, others));
            }
        }
        _ => {
            chart.x_label = axis(measure);
            chart.y_label = "share of the runs".into();
            chart.shares = false;
            let all: Vec<f64> = cells.iter().flat_map(|result| costs(result, measure)).collect();
            if !all.is_empty() {
                let width = Histogram::width_for(&all, 40);
                for result in cells {
                    // Shares, so that cells with different numbers of runs can be compared.
                    let values = costs(result, measure);
                    let share = |count: u64| count as f64 / values.len() as f64;
                    let bins = Histogram::new(&values, width).bins;
                    let mut points: Vec<_> = bins.iter().map(|bin| (bin.low, share(bin.count))).collect();
                    points.extend(bins.last().map(|bin| (bin.high, 0.0)));
                    chart.series.push(named(result, Shape::Steps, points));
                }
            }
        }
    }
    finished(chart, title, cells)
}

fn by_parameter(cells: &[&CellResult], drawing: &Drawing) -> Figure {
    let parameter = drawing.parameter.as_deref().unwrap_or_default();
    let measure = drawing.measure.as_deref().unwrap_or("states");
    let rate = drawing.kind == Kind::RateByParameter;
    let mut chart = Chart {
        x_label: parameter.to_owned(),
        y_label: if rate { "successful runs".into() } else { format!("{} (median)", axis(measure)) },
        shares: rate,
        ..Chart::default()
    };
    for result in cells {
        let x = match result.cell.parameters.get(parameter) {
            Some(Value::Integer(number)) => *number as f64,
            Some(Value::Float(number)) => *number,
            _ => continue,
        };
        // A line is what remains of the names when the parameter is taken out.
        let name = result.cell.line(parameter);
        let y = match (rate, measure) {
            (true, _) => result.rate().rate(),
            (false, "rate" | "cost" | "microseconds") => result.figure(measure),
            (false, _) => result.measure(measure).median(),
        };
        let lines = &mut chart.series;
        let line = match lines.iter().position(|line| line.name == name) {
            Some(index) => index,
            None => {
                lines.push(Series { name: name.clone(), ..Series::default() });
                lines.len() - 1
            }
        };
        lines[line].points.extend(y.map(|y| (x, y)));
        let published = result.published.as_ref();
        let theirs =
            published.and_then(|published| published.figures.get(if rate { "rate" } else { measure }));
        if let Some(&theirs) = theirs {
            let name = format!("{name} (published)");
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push((x, theirs)),
                None => lines.push(Series {
                    name,
                    points: vec![(x, theirs)],
                    published: true,
                    ..Series::default()
                }),
            }
        }
    }
    for line in &mut chart.series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let title = drawing.title.clone().unwrap_or_else(|| format!("By {parameter}"));
    finished(chart, title, cells)
}

/// Best or average fitness, generation by generation, over the runs that came so far.
fn generations(result: &CellResult, which: &str) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for run in &result.runs {
        let Some(extra) =
            run.extra.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
        else {
            continue;
        };
        let fitness =
            extra["generations"].as_array().into_iter().flatten().filter_map(|entry| entry[which].as_f64());
        for (index, fitness) in fitness.enumerate() {
            if index == sums.len() {
                sums.push((0.0, 0.0));
            }
            sums[index].0 += fitness;
            sums[index].1 += 1.0;
        }
    }
    sums.iter().enumerate().map(|(index, (sum, count))| (index as f64, sum / count)).collect()
}

fn finished(chart: Chart, title: String, cells: &[&CellResult]) -> Figure {
    let any = |is: fn(&CellResult) -> bool| cells.iter().any(|result| is(result));
    let remark = match (any(|result| result.cell.setting.stand_in), any(|result| result.cell.setting.in_kind))
    {
        (true, _) => "; on a stand-in for the paper's model",
        (false, true) => "; on a model of our own, in kind only",
        (false, false) => "",
    };
    Figure {
        title,
        caption: format!("{}{remark}", extent(cells.iter().copied())),
        svg: chart.svg(),
        legend: chart.series.iter().map(|series| series.name.clone()).collect(),
        chart,
        model: None,
    }
}

/// What a measure is called on an axis.
fn axis(measure: &str) -> String {
    match measure {
        "length" => "length of the reported witness".into(),
        "original_length" => "length of the witness as found".into(),
        other => other.to_owned(),
    }
}

/// How many runs cells have, and their budgets.
pub(super) fn extent<'a>(cells: impl Iterator<Item = &'a CellResult> + Clone) -> String {
    let runs = cells.clone().map(|result| result.runs.len());
    let (least, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let count =
        if least == most { format!("{most} runs each") } else { format!("{least} to {most} runs each") };
    let mut budgets: Vec<String> = cells.map(|result| budget(&result.cell.flags)).collect();
    budgets.sort();
    budgets.dedup();
    // A table may have many: the commands below it tell each.
    match budgets.len() {
        0..=6 => format!("{count}; {}", budgets.join(", ")),
        many => format!("{count}; {many} budgets, told for each cell"),
    }
}

/// Flags that say how much a search may do, besides those that begin with `--max-`.
const AMOUNTS: [&str; 5] = ["--generations", "--population", "--depth", "--cutoff", "--restart-depth"];

/// The limits among flags.
pub(super) fn budget(flags: &[String]) -> String {
    let mut texts = Vec::new();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, value),
            None => (word.as_str(), ""),
        };
        if flag.starts_with("--max-") || AMOUNTS.contains(&flag) {
            let value = if value.is_empty() { words.next().map_or("", String::as_str) } else { value };
            texts.push(format!("{} {value}", &flag[2..]));
        }
    }
    match texts.as_slice() {
        [] => "no limit given".into(),
        texts => texts.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_from_flags() {
        let told = |flags: &str| budget(&flags.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(told("--strategy random"), "no limit given");
        assert_eq!(told("--max-states=100 --seed 3 --max-time 2min"), "max-states 100 max-time 2min");
        assert_eq!(told("--strategy genetic --depth 68 --generations 50"), "depth 68 generations 50");
    }
}
