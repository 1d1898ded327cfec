//! The numbers behind the page, as comma-separated values.

use super::drawing::budget;
use super::results::Results;
use crate::experiment::MEASURES;

/// All cells of all experiments, one a line: every figure, and the published ones.
pub(super) fn cells(results: &[Results]) -> String {
    let mut names: Vec<&str> = MEASURES.to_vec();
    names.sort_unstable();
    let mut text = String::from(
        "experiment,model,strategy,source,stand_in,runs,seed,budget,rate_low,rate_high,states_median,length_median",
    );
    for name in &names {
        text.push_str(&format!(",{name},{name}_published"));
    }
    text.push('\n');
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
    };
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
                number(result.measure("length").median()),
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
