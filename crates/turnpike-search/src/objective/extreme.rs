//! The largest and smallest values of measures and of arguments of labels.

use turnpike_model::{Diagnostic, Label, ModelInfo};

/// What `min` and `max` look at.
pub(super) enum Quantity {
    /// Argument `position` (from 0) of an action.
    Argument {
        action: String,
        position: usize,
    },
    Measure(usize),
}

/// A `min` or `max` objective, and the best value so far.
pub(super) struct Extreme {
    pub(super) objective: usize,
    pub(super) maximise: bool,
    pub(super) quantity: Quantity,
    pub(super) best: Option<f64>,
}

impl Extreme {
    /// Takes a value into account, unless it is not a number.
    pub(super) fn offer(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let better = self.best.is_none_or(|best| if self.maximise { value > best } else { value < best });
        if better {
            self.best = Some(value);
        }
    }

    /// The value that a label has for it.
    pub(super) fn value_of(&self, label: &Label) -> Option<f64> {
        let Quantity::Argument { action, position } = &self.quantity else { return None };
        let action = label.actions.iter().find(|candidate| candidate.name == *action)?;
        number(action.arguments.get(*position)?)
    }
}

/// Reads a number, also a fraction such as `7 / 2`.
fn number(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((numerator, denominator)) => {
            Some(numerator.trim().parse::<f64>().ok()? / denominator.trim().parse::<f64>().ok()?)
        }
        None => text.parse().ok(),
    }
}

/// Parses the name of a measure, or `ACTION.POSITION`.
pub(super) fn parse_quantity(text: &str, info: &ModelInfo) -> Result<Quantity, Diagnostic> {
    if let Some(index) = info.measure(text) {
        return Ok(Quantity::Measure(index));
    }
    if let Some((action, position)) = text.rsplit_once('.')
        && let Ok(position) = position.parse::<usize>()
    {
        if position == 0 {
            return Err(Diagnostic::error(format!(
                "arguments are counted from 1: `{action}.1` is the first of `{action}`"
            )));
        }
        return Ok(Quantity::Argument { action: action.to_owned(), position: position - 1 });
    }
    let measures = info.measures.iter().map(|measure| measure.name.as_str());
    Err(Diagnostic::error(format!("`{text}` is neither a measure of {} nor ACTION.POSITION", info.name))
        .suggest_or_list(text, measures, "its measures are")
        .help_if_none("this model has no measures; name a label's argument, as in report.1"))
}
