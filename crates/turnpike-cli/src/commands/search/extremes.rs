//! Queries for largest and smallest values: what is asked, and how the answer reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::Diagnostic;
use turnpike_search::{Limits, StopReason, Verdict, resources};
use turnpike_timed::extremum::{self, Answer, End, Measured, Question};
use turnpike_timed::query::{Extremum, QueryKind};

use super::flags::Args;
use crate::failure::Failure;
use turnpike_session::{Purpose, Timed};

/// A query for extreme values, and the texts of what is measured.
pub(crate) struct Extreme {
    question: Question,
    texts: Vec<String>,
}

/// What was measured.
pub(crate) struct Extremes {
    pub(crate) answer: Answer,
    pub(crate) stop: StopReason,
    extremum: Extremum,
    texts: Vec<String>,
}

/// The values of one expression.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ValueOutput {
    /// What was measured.
    expression: String,
    /// The smallest value, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<EndOutput>,
    /// The largest value, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<EndOutput>,
}

/// One end of the values.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EndOutput {
    /// The number; null when values grow without bound.
    value: Option<i64>,
    /// Whether values come as close to it as one likes without reaching it.
    strict: bool,
    /// Whether this is the end; otherwise there are values beyond it, or there may be.
    exact: bool,
}

/// What a query asks for, if it asks for extreme values.
pub(crate) fn question(timed: &Timed, text: &str) -> Result<Option<Extreme>, Diagnostic> {
    let Ok(query) = timed.names.query(&timed.network, text) else {
        // Whoever searches tells what is wrong with it.
        return Ok(None);
    };
    let QueryKind::Extremum { extremum, condition, quantities } = query.kind else { return Ok(None) };
    let texts = turnpike_timed::query::measured(text)?;
    Ok(Some(Extreme { question: Question { extremum, condition, quantities }, texts }))
}

/// Measures all reachable states, within the limits.
pub(crate) fn measure(
    args: &Args,
    timed: &Timed,
    extreme: &Extreme,
    limits: &Limits,
    interrupt: &AtomicBool,
) -> Result<Extremes, Failure> {
    let options = timed.options(&args.model.reading.reading(), &Purpose::default())?;
    let begun = Instant::now();
    let mut stop = StopReason::Exhausted;
    let machine = || resources::machine_bytes().map_or(u64::MAX, |bytes| bytes / 4 * 3);
    let most = limits.memory.unwrap_or_else(machine);
    let go_on = |states: u64| {
        if limits.states.is_some_and(|most| states >= most) {
            stop = StopReason::MaxStates;
        } else if interrupt.load(Ordering::Relaxed) {
            stop = StopReason::Interrupted;
        } else if states.is_multiple_of(1024) {
            if limits.time.is_some_and(|time| begun.elapsed() >= time) {
                stop = StopReason::MaxTime;
            } else if resources::resident_bytes() > most {
                stop = StopReason::MaxMemory;
            }
        }
        stop == StopReason::Exhausted
    };
    let source = (timed.name.as_str(), timed.source.as_str());
    let outcome = extremum::measure(source, &timed.network, &timed.names, &options, &extreme.question, go_on);
    let answer = outcome.map_err(|failure| match failure {
        extremum::Failure::Refused(diagnostics) => Failure {
            origin: timed.name.clone(),
            source: Some(timed.source.clone()),
            diagnostics,
            ..Failure::usage("")
        },
        extremum::Failure::Step(error) => Failure::usage(error.to_string()),
    })?;
    if stop == StopReason::Exhausted && !answer.complete {
        stop = StopReason::Finished;
    }
    let texts = extreme.texts.clone();
    Ok(Extremes { answer, stop, extremum: extreme.question.extremum, texts })
}

impl Extremes {
    /// Measured when everything is known.
    pub(crate) fn verdict(&self) -> Verdict {
        let known = |measured: &Measured| {
            let exact = |end: End| !matches!(end, End::Beyond(_));
            match self.extremum {
                Extremum::Supremum => exact(measured.high),
                Extremum::Infimum => exact(measured.low),
                Extremum::Bounds => exact(measured.low) && exact(measured.high),
            }
        };
        let all = self.answer.complete && self.answer.values.iter().all(known);
        if all { Verdict::Measured } else { Verdict::Inconclusive }
    }

    /// The values for programs.
    pub(crate) fn values(&self) -> Vec<ValueOutput> {
        let complete = self.answer.complete;
        let end = |end: End| match end {
            End::Value { value, strict } => EndOutput { value: Some(value), strict, exact: complete },
            End::Unbounded => EndOutput { value: None, strict: false, exact: true },
            End::Beyond(value) => EndOutput { value: Some(value), strict: false, exact: false },
        };
        let (low, high) = (self.extremum != Extremum::Supremum, self.extremum != Extremum::Infimum);
        let value = |(text, measured): (&String, &Measured)| ValueOutput {
            expression: text.clone(),
            low: low.then(|| end(measured.low)),
            high: high.then(|| end(measured.high)),
        };
        self.texts.iter().zip(&self.answer.values).map(value).collect()
    }

    /// The answer for people.
    pub(crate) fn lines(&self, quiet: bool, seconds: f64) -> Vec<String> {
        let mut lines: Vec<String> = self
            .texts
            .iter()
            .zip(&self.answer.values)
            .map(|(text, measured)| told(self.extremum, text, measured, self.answer.complete))
            .collect();
        if self.answer.values.is_empty() {
            lines.push(match self.answer.complete {
                true => "no reachable state counts".to_owned(),
                false => "inconclusive: no state was found that counts".to_owned(),
            });
        }
        if quiet {
            return lines;
        }
        if self.verdict() == Verdict::Inconclusive {
            lines.push("inconclusive: not all values are known".to_owned());
        }
        lines.push(format!(
            "measured: {} states, {} transitions, {seconds:.3} s",
            self.answer.states, self.answer.transitions
        ));
        lines.push(String::new());
        lines
    }
}

/// `2 <= x < 7`
fn told(extremum: Extremum, text: &str, measured: &Measured, complete: bool) -> String {
    let low = match measured.low {
        End::Value { value, strict } => format!("{value} {} ", if strict { "<" } else { "<=" }),
        End::Unbounded => String::new(),
        End::Beyond(value) => format!("more than {value} <= "),
    };
    let high = match measured.high {
        End::Value { value, strict } => format!(" {} {value}", if strict { "<" } else { "<=" }),
        End::Unbounded => " has no bound".to_owned(),
        End::Beyond(value) => format!(" gets beyond {value}"),
    };
    // What was not visited may be smaller or larger.
    let note = if complete { "" } else { ", as far as was visited" };
    match extremum {
        Extremum::Supremum => format!("{text}{high}{note}"),
        Extremum::Infimum => format!("{low}{text}{note}"),
        Extremum::Bounds => format!("{low}{text}{high}{note}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_like_comparisons() {
        let value = |value, strict| End::Value { value, strict };
        let all = Measured { low: value(2, false), high: value(7, true) };
        assert_eq!(told(Extremum::Bounds, "x", &all, true), "2 <= x < 7");
        assert_eq!(told(Extremum::Supremum, "x", &all, true), "x < 7");
        assert_eq!(told(Extremum::Infimum, "x", &all, true), "2 <= x");
        let open = Measured { low: value(0, true), high: End::Unbounded };
        assert_eq!(told(Extremum::Bounds, "P.y", &open, true), "0 < P.y has no bound");
        let unknown = Measured { low: value(0, false), high: End::Beyond(40) };
        assert_eq!(told(Extremum::Supremum, "g", &unknown, false), "g gets beyond 40, as far as was visited");
    }
}
