//! Queries for the largest and smallest values, by measuring all reachable states.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use turnpike_model::Diagnostic;
use turnpike_search::{Limits, StopReason, Verdict, resources};
use turnpike_timed::extremum::{self, Answer, End, Measured, Question};
use turnpike_timed::query::{Extremum, QueryKind};

use crate::problem::Problem;
use crate::purpose::Purpose;
use crate::source::Reading;
use crate::timed::Timed;

/// A query for extreme values, with the texts of the measured expressions.
pub(crate) struct Extreme {
    question: Question,
    texts: Vec<String>,
}

/// The measured values.
pub struct Extremes {
    /// The values of each expression.
    answer: Answer,
    /// The reason why measuring stopped.
    pub stop: StopReason,
    extremum: Extremum,
    texts: Vec<String>,
}

/// The values of one expression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extent {
    /// The measured expression.
    pub expression: String,
    /// The smallest value, if requested.
    pub low: Option<Bound>,
    /// The largest value, if requested.
    pub high: Option<Bound>,
}

/// One end of a range of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// The number; `None` if values are unbounded.
    pub value: Option<i64>,
    /// Whether values approach it without reaching it.
    pub strict: bool,
    /// Whether this is the end. Otherwise there are, or may be, values beyond it.
    pub exact: bool,
}

impl Serialize for Extremes {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut fields = out.serialize_struct("Extremes", 5)?;
        fields.serialize_field("verdict", &self.verdict())?;
        fields.serialize_field("stop", &self.stop)?;
        fields.serialize_field("states", &self.states())?;
        fields.serialize_field("transitions", &self.transitions())?;
        fields.serialize_field("values", &self.values())?;
        fields.end()
    }
}

/// Parses a query for extreme values; `None` if the query is of another kind.
pub(crate) fn question(timed: &Timed, text: &str) -> Result<Option<Extreme>, Diagnostic> {
    let Ok(query) = timed.names.query(&timed.network, text) else {
        // The search reports the errors in it.
        return Ok(None);
    };
    let QueryKind::Extremum { extremum, condition, quantities } = query.kind else { return Ok(None) };
    let texts = turnpike_timed::query::measured(text)?;
    Ok(Some(Extreme { question: Question { extremum, condition, quantities }, texts }))
}

/// Measures all reachable states, within the limits.
pub(crate) fn measure(
    timed: &Timed,
    reading: &Reading,
    extreme: &Extreme,
    limits: &Limits,
    interrupt: &AtomicBool,
) -> Result<Extremes, Problem> {
    let options = timed.options(reading, &Purpose::default())?;
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
        extremum::Failure::Refused(diagnostics) => {
            Problem::of_text(&timed.name, timed.source.clone(), diagnostics)
        }
        extremum::Failure::Step(error) => Problem::new(error.to_string()),
    })?;
    if stop == StopReason::Exhausted && !answer.complete {
        stop = StopReason::Finished;
    }
    let texts = extreme.texts.clone();
    Ok(Extremes { answer, stop, extremum: extreme.question.extremum, texts })
}

impl Extremes {
    /// `Measured` if everything is known.
    pub fn verdict(&self) -> Verdict {
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

    /// The number of states measured.
    pub fn states(&self) -> u64 {
        self.answer.states
    }

    /// The number of transitions between them.
    pub fn transitions(&self) -> u64 {
        self.answer.transitions
    }

    /// Whether all reachable states were measured.
    pub fn is_complete(&self) -> bool {
        self.answer.complete
    }

    /// The values of each expression; none if no reachable state counts.
    pub fn values(&self) -> Vec<Extent> {
        let complete = self.answer.complete;
        let end = |end: End| match end {
            End::Value { value, strict } => Bound { value: Some(value), strict, exact: complete },
            End::Unbounded => Bound { value: None, strict: false, exact: true },
            End::Beyond(value) => Bound { value: Some(value), strict: false, exact: false },
        };
        let (low, high) = (self.extremum != Extremum::Supremum, self.extremum != Extremum::Infimum);
        let value = |(text, measured): (&String, &Measured)| Extent {
            expression: text.clone(),
            low: low.then(|| end(measured.low)),
            high: high.then(|| end(measured.high)),
        };
        self.texts.iter().zip(&self.answer.values).map(value).collect()
    }

    /// The values as comparisons such as `2 <= x < 7`.
    pub fn comparisons(&self) -> Vec<String> {
        let values = self.texts.iter().zip(&self.answer.values);
        values
            .map(|(text, measured)| write_comparison(self.extremum, text, measured, self.answer.complete))
            .collect()
    }
}

/// `2 <= x < 7`
fn write_comparison(extremum: Extremum, text: &str, measured: &Measured, complete: bool) -> String {
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
    // States that were not visited may have smaller or larger values.
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
        assert_eq!(write_comparison(Extremum::Bounds, "x", &all, true), "2 <= x < 7");
        assert_eq!(write_comparison(Extremum::Supremum, "x", &all, true), "x < 7");
        assert_eq!(write_comparison(Extremum::Infimum, "x", &all, true), "2 <= x");
        let open = Measured { low: value(0, true), high: End::Unbounded };
        assert_eq!(write_comparison(Extremum::Bounds, "P.y", &open, true), "0 < P.y has no bound");
        let unknown = Measured { low: value(0, false), high: End::Beyond(40) };
        assert_eq!(
            write_comparison(Extremum::Supremum, "g", &unknown, false),
            "g gets beyond 40, as far as was visited"
        );
    }
}
