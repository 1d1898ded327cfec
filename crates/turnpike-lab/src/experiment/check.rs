//! Checks that TOML cannot make: names that must exist, parameters with values, numbers that make sense.

use std::collections::BTreeSet;

use turnpike_model::Diagnostic;

use super::expand::words;
use super::{Cell, Experiment, Kind, MEASURES, Value};

/// More runs of a cell than anybody waits for.
const MOST_RUNS: u64 = 10_000_000;

/// Flags that the lab sets.
const OURS: [&str; 5] = ["--runs", "--seed", "--format", "--threads", "--trace"];

/// Finds the first mistake.
pub(super) fn check(experiment: &Experiment, text: &str) -> Result<(), Diagnostic> {
    let checker = Checker { experiment, text };
    checker.runs()?;
    checker.names()?;
    checker.flags()?;
    checker.parameters()?;
    let cells = experiment.cells(false);
    checker.cells(&cells)?;
    let rows = cells.iter().map(|cell| cell.model.as_str()).collect();
    let columns = cells.iter().map(|cell| cell.strategy.as_str()).collect();
    checker.published(&rows, &columns)?;
    checker.drawings(&cells, &rows, &columns)
}

struct Checker<'a> {
    experiment: &'a Experiment,
    text: &'a str,
}

impl Checker<'_> {
    /// A mistake, at the first place where `place` is written.
    fn wrong(&self, message: impl Into<String>, place: &str) -> Result<(), Diagnostic> {
        Err(pointing(Diagnostic::error(message), self.text, place))
    }

    fn runs(&self) -> Result<(), Diagnostic> {
        let Experiment { models, strategies, runs, .. } = self.experiment;
        let own = models.iter().filter_map(|model| model.runs);
        let own = own.chain(strategies.iter().filter_map(|strategy| strategy.runs));
        if own.chain([*runs]).any(|runs| !(1..=MOST_RUNS).contains(&runs)) {
            return self.wrong(format!("a cell has at least one run and at most {MOST_RUNS}"), "runs =");
        }
        if models.is_empty() || strategies.is_empty() {
            return self.wrong("an experiment needs at least one [[model]] and one [[strategy]]", "title");
        }
        Ok(())
    }

    /// Models and strategies that name each other in `only`.
    fn names(&self) -> Result<(), Diagnostic> {
        let Experiment { models, strategies, .. } = self.experiment;
        let known_models: BTreeSet<&str> = models.iter().map(|model| model.name.as_str()).collect();
        let known_strategies: BTreeSet<&str> =
            strategies.iter().map(|strategy| strategy.name.as_str()).collect();
        let only_models = strategies.iter().flat_map(|strategy| &strategy.only);
        let only_strategies = models.iter().flat_map(|model| &model.only);
        for (kind, known, named) in [
            ("model", &known_models, only_models.collect::<Vec<_>>()),
            ("strategy", &known_strategies, only_strategies.collect::<Vec<_>>()),
        ] {
            if let Some(missing) = named.into_iter().find(|name| !known.contains(name.as_str())) {
                let error = Diagnostic::error(format!("there is no {kind} `{missing}` in this experiment"));
                let known = known.iter().copied().collect::<Vec<_>>().join("`, `");
                let error = error.help(format!("names are taken as written, braces included: `{known}`"));
                return Err(pointing(error, self.text, missing));
            }
        }
        Ok(())
    }

    fn flags(&self) -> Result<(), Diagnostic> {
        let Experiment { models, strategies, flags, .. } = self.experiment;
        let all_flags = [flags]
            .into_iter()
            .chain(models.iter().map(|model| &model.flags))
            .chain(models.iter().filter_map(|model| model.public.as_ref()).map(|public| &public.flags))
            .chain(models.iter().flat_map(|model| [&model.compile, &model.arguments]))
            .chain(strategies.iter().map(|strategy| &strategy.flags));
        for flags in all_flags {
            let Some(words) = words(flags) else {
                return self.wrong("a quote is not closed in these flags", flags);
            };
            let own = |word: &&String| OURS.contains(&word.split('=').next().unwrap_or_default());
            if let Some(own) = words.iter().find(own) {
                return self.wrong(format!("the lab sets {own} itself"), own);
            }
        }
        Ok(())
    }

    fn parameters(&self) -> Result<(), Diagnostic> {
        let Experiment { models, strategies, .. } = self.experiment;
        let of_models = models.iter().map(|model| (&model.name, &model.vary));
        let vary = of_models.chain(strategies.iter().map(|strategy| (&strategy.name, &strategy.vary)));
        for (name, vary) in vary {
            for (parameter, values) in vary {
                if values.is_empty() {
                    return self.wrong(format!("the parameter `{parameter}` has no values"), parameter);
                }
                if values.len() > 1 && !name.contains(&format!("{{{parameter}}}")) {
                    let message =
                        format!("the name `{name}` must hold {{{parameter}}} to tell its values apart");
                    return self.wrong(message, name);
                }
            }
        }
        if let Some(model) = models.iter().find(|model| model.in_kind && model.public.is_some()) {
            let message =
                format!("the model `{}` has a public one, so it does not compare in kind only", model.name);
            return self.wrong(message, &model.name);
        }
        for model in models {
            for strategy in strategies {
                if let Some(both) = model.vary.keys().find(|key| strategy.vary.contains_key(*key)) {
                    let (model, strategy) = (&model.name, &strategy.name);
                    let message =
                        format!("the model `{model}` and the strategy `{strategy}` both vary `{both}`");
                    let error = Diagnostic::error(message).help("give the two parameters different names");
                    return Err(pointing(error, self.text, both));
                }
            }
        }
        Ok(())
    }

    fn cells(&self, cells: &[Cell]) -> Result<(), Diagnostic> {
        let mut seen = BTreeSet::new();
        for Cell { model, strategy, .. } in cells {
            if !seen.insert((model, strategy)) {
                return self.wrong(format!("two cells are called `{model}` with `{strategy}`"), strategy);
            }
        }
        Ok(())
    }

    fn published(&self, rows: &BTreeSet<&str>, columns: &BTreeSet<&str>) -> Result<(), Diagnostic> {
        for published in &self.experiment.published {
            for (kind, known, name) in
                [("model", rows, &published.model), ("strategy", columns, &published.strategy)]
            {
                if let Some(name) = name.as_deref().filter(|name| !known.contains(name)) {
                    let message = format!("published figures name the {kind} `{name}`, which is not here");
                    return self.wrong(message, name);
                }
            }
            if let Some(name) = published.figures.keys().find(|name| !is_measure(name)) {
                return self.wrong(no_figure(name), name);
            }
            if published.figures.get("rate").is_some_and(|rate| !(0.0..=1.0).contains(rate)) {
                return self.wrong("a success rate lies between 0 and 1", "rate");
            }
            if published.successes.is_some() != published.trials.is_some() {
                return self.wrong("`successes` and `trials` go together", "successes");
            }
            if published.count().is_some_and(|count| count.trials == 0 || count.successes > count.trials) {
                return self.wrong("there are at most as many successes as trials", "successes");
            }
            let known = |name: &String| published.figures.contains_key(name);
            if let Some(name) = published.explained.keys().find(|name| !known(name)) {
                return self.wrong(format!("`explained` names `{name}`, which is not published here"), name);
            }
        }
        Ok(())
    }

    fn drawings(
        &self,
        cells: &[Cell],
        rows: &BTreeSet<&str>,
        columns: &BTreeSet<&str>,
    ) -> Result<(), Diagnostic> {
        for drawing in &self.experiment.drawings {
            for (kind, known, names) in
                [("model", rows, &drawing.models), ("strategy", columns, &drawing.strategies)]
            {
                if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
                    let message = format!("a drawing names the {kind} `{name}`, which is not here");
                    return self.wrong(message, name);
                }
            }
            for name in drawing.measure.iter().chain(&drawing.measures) {
                if !is_measure(name) {
                    return self.wrong(no_figure(name), name);
                }
            }
            if matches!(drawing.kind, Kind::RateByParameter | Kind::CostByParameter) {
                let Some(parameter) = &drawing.parameter else {
                    let message = "this drawing needs a `parameter` for its horizontal axis";
                    return self.wrong(message, "kind");
                };
                let mut values = cells.iter().filter_map(|cell| cell.parameters.get(parameter));
                if !values.any(|value| !matches!(value, Value::Text(_))) {
                    return self.wrong(format!("no cell has a numeric parameter `{parameter}`"), parameter);
                }
            }
        }
        Ok(())
    }
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
