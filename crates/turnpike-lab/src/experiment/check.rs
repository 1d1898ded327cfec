//! What TOML cannot know: names that must exist, parameters that must be filled, numbers that make sense.

use std::collections::BTreeSet;

use turnpike_model::Diagnostic;

use super::expand::words;
use super::{Experiment, Kind, MEASURES, Value};

/// More runs of a cell than anybody waits for.
const MOST_RUNS: u64 = 10_000_000;

/// Flags that the lab sets.
const OURS: [&str; 5] = ["--runs", "--seed", "--format", "--threads", "--trace"];

/// Tells the first mistake.
pub(super) fn check(experiment: &Experiment, text: &str) -> Result<(), Diagnostic> {
    let wrong = |message: String, place: &str| Err(pointing(Diagnostic::error(message), text, place));
    let own = experiment.models.iter().filter_map(|model| model.runs);
    let own = own.chain(experiment.strategies.iter().filter_map(|strategy| strategy.runs));
    if own.chain([experiment.runs]).any(|runs| !(1..=MOST_RUNS).contains(&runs)) {
        return wrong(format!("a cell has at least one run and at most {MOST_RUNS}"), "runs =");
    }
    if experiment.models.is_empty() || experiment.strategies.is_empty() {
        return wrong("an experiment needs at least one [[model]] and one [[strategy]]".into(), "title");
    }
    let models: BTreeSet<&str> = experiment.models.iter().map(|model| model.name.as_str()).collect();
    let strategies: BTreeSet<&str> =
        experiment.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    let only_models = experiment.strategies.iter().flat_map(|strategy| &strategy.only);
    let only_strategies = experiment.models.iter().flat_map(|model| &model.only);
    for (kind, known, asked) in [
        ("model", &models, only_models.collect::<Vec<_>>()),
        ("strategy", &strategies, only_strategies.collect::<Vec<_>>()),
    ] {
        if let Some(missing) = asked.into_iter().find(|name| !known.contains(name.as_str())) {
            let diagnostic = Diagnostic::error(format!("there is no {kind} `{missing}` in this experiment"));
            let known = known.iter().copied().collect::<Vec<_>>().join("`, `");
            let diagnostic =
                diagnostic.help(format!("names are taken as written, braces included: `{known}`"));
            return Err(pointing(diagnostic, text, missing));
        }
    }

    let all_flags = [&experiment.flags]
        .into_iter()
        .chain(experiment.models.iter().map(|model| &model.flags))
        .chain(experiment.models.iter().filter_map(|model| model.public.as_ref()).map(|public| &public.flags))
        .chain(experiment.models.iter().flat_map(|model| [&model.compile, &model.arguments]))
        .chain(experiment.strategies.iter().map(|strategy| &strategy.flags));
    for flags in all_flags {
        match words(flags) {
            None => return wrong("a quote is not closed in these flags".into(), flags),
            Some(words) => {
                if let Some(own) =
                    words.iter().find(|word| OURS.contains(&word.split('=').next().unwrap_or_default()))
                {
                    return wrong(format!("the lab sets {own} itself"), own);
                }
            }
        }
    }
    let vary = experiment
        .models
        .iter()
        .map(|model| (&model.name, &model.vary))
        .chain(experiment.strategies.iter().map(|strategy| (&strategy.name, &strategy.vary)));
    for (name, vary) in vary {
        for (parameter, values) in vary {
            if values.is_empty() {
                return wrong(format!("the parameter `{parameter}` has no values"), parameter);
            }
            if values.len() > 1 && !name.contains(&format!("{{{parameter}}}")) {
                return wrong(
                    format!("the name `{name}` must hold {{{parameter}}} to tell its values apart"),
                    name,
                );
            }
        }
    }

    for model in &experiment.models {
        for strategy in &experiment.strategies {
            if let Some(both) = model.vary.keys().find(|key| strategy.vary.contains_key(*key)) {
                let message = format!(
                    "the model `{}` and the strategy `{}` both vary `{both}`",
                    model.name, strategy.name
                );
                let diagnostic = Diagnostic::error(message).help("give the two parameters different names");
                return Err(pointing(diagnostic, text, both));
            }
        }
    }

    let cells = experiment.cells(false);
    let mut seen = BTreeSet::new();
    for cell in &cells {
        if !seen.insert((&cell.model, &cell.strategy)) {
            return wrong(
                format!("two cells are called `{}` with `{}`", cell.model, cell.strategy),
                &cell.strategy,
            );
        }
    }
    let rows: BTreeSet<&str> = cells.iter().map(|cell| cell.model.as_str()).collect();
    let columns: BTreeSet<&str> = cells.iter().map(|cell| cell.strategy.as_str()).collect();
    for published in &experiment.published {
        for (kind, known, name) in
            [("model", &rows, &published.model), ("strategy", &columns, &published.strategy)]
        {
            if let Some(name) = name.as_deref().filter(|name| !known.contains(name)) {
                return wrong(format!("published figures name the {kind} `{name}`, which is not here"), name);
            }
        }
        if let Some(name) = published.figures.keys().find(|name| !is_measure(name)) {
            return wrong(no_figure(name), name);
        }
        if published.figures.get("rate").is_some_and(|rate| !(0.0..=1.0).contains(rate)) {
            return wrong("a success rate lies between 0 and 1".into(), "rate");
        }
    }
    for drawing in &experiment.drawings {
        for (kind, known, names) in
            [("model", &rows, &drawing.models), ("strategy", &columns, &drawing.strategies)]
        {
            if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
                return wrong(format!("a drawing names the {kind} `{name}`, which is not here"), name);
            }
        }
        for name in drawing.measure.iter().chain(&drawing.measures) {
            if !is_measure(name) {
                return wrong(no_figure(name), name);
            }
        }
        if matches!(drawing.kind, Kind::RateByParameter | Kind::CostByParameter) {
            let Some(parameter) = &drawing.parameter else {
                return wrong("this drawing needs a `parameter` for its horizontal axis".into(), "kind");
            };
            let numbers = cells.iter().filter_map(|cell| cell.parameters.get(parameter));
            if !numbers.clone().any(|value| !matches!(value, Value::Text(_))) {
                return wrong(format!("no cell has a numeric parameter `{parameter}`"), parameter);
            }
        }
    }
    Ok(())
}

/// Extremes are figures too, by their objectives.
fn is_measure(name: &str) -> bool {
    MEASURES.contains(&name) || ["min ", "max "].iter().any(|head| name.starts_with(head))
}

fn no_figure(name: &str) -> String {
    format!("there is no figure `{name}`; there are {}", MEASURES.join(", "))
}

/// Points at the first place where `place` is written.
fn pointing(diagnostic: Diagnostic, text: &str, place: &str) -> Diagnostic {
    match text.find(place).filter(|_| !place.is_empty()) {
        Some(start) => diagnostic.at(start..start + place.len(), ""),
        None => diagnostic,
    }
}
