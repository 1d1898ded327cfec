//! The table of figures.

use serde::Serialize;

use crate::output;

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// What was done.
    pub(super) name: String,
    /// To which model.
    pub(super) model: String,
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// The best of all repetitions.
    pub(super) seconds: f64,
    pub(super) transitions_per_second: f64,
    /// Of the store, per state in it.
    pub(super) bytes_per_state: Option<f64>,
    /// Speed relative to another row.
    pub(super) ratio: Option<f64>,
    /// That row.
    pub(super) ratio_to: Option<String>,
    /// What was promised; not judged with small sizes.
    pub(super) target: Option<String>,
    pub(super) met: Option<bool>,
}

impl Row {
    pub(super) fn new(name: &str, model: &str, states: u64, transitions: u64, seconds: f64) -> Self {
        Row {
            name: name.to_owned(),
            model: model.to_owned(),
            states,
            transitions,
            seconds,
            transitions_per_second: transitions as f64 / seconds.max(1e-9),
            bytes_per_state: None,
            ratio: None,
            ratio_to: None,
            target: None,
            met: None,
        }
    }

    /// Speed relative to another row.
    #[must_use]
    pub(super) fn relative_to(mut self, other: &Row) -> Self {
        self.ratio = Some(self.transitions_per_second / other.transitions_per_second);
        self.ratio_to = Some(other.name.clone());
        self
    }

    /// A promise, and whether it was kept; with small sizes only the promise is shown.
    #[must_use]
    pub(super) fn promised(mut self, target: impl Into<String>, met: bool, judged: bool) -> Self {
        self.target = Some(target.into());
        self.met = judged.then_some(met);
        self
    }
}

pub(super) fn header() {
    output::line(&format!(
        "{:<26} {:<24} {:>10} {:>11} {:>8} {:>8} {:>8} {:>6}  target",
        "row", "model", "states", "transitions", "seconds", "Mtrans/s", "B/state", "ratio"
    ));
}

pub(super) fn line(row: &Row) {
    let number =
        |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let judged = match row.met {
        Some(true) => "met: ",
        Some(false) => "MISSED: ",
        None if row.target.is_some() => "not judged: ",
        None => "",
    };
    let text = format!(
        "{:<26} {:<24} {:>10} {:>11} {:>8.3} {:>8.2} {:>8} {:>6}  {judged}{}",
        row.name,
        row.model,
        output::grouped(row.states),
        output::grouped(row.transitions),
        row.seconds,
        row.transitions_per_second / 1e6,
        number(row.bytes_per_state, 1),
        number(row.ratio, 2),
        row.target.as_deref().unwrap_or_default()
    );
    output::line(text.trim_end());
}

pub(super) fn footer(rows: &[Row]) {
    for row in rows {
        if let (Some(ratio), Some(other)) = (row.ratio, &row.ratio_to) {
            output::line(&format!("{} runs at {ratio:.2} times the rate of {other}", row.name));
        }
    }
    let missed = rows.iter().filter(|row| row.met == Some(false)).count();
    let judged = rows.iter().filter(|row| row.met.is_some()).count();
    if judged > 0 {
        output::line(&format!("{} of {judged} targets met", judged - missed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_promises() {
        let slow = Row::new("slow", "m", 10, 100, 2.0);
        let fast = Row::new("fast", "m", 10, 100, 1.0).relative_to(&slow).promised("2", true, true);
        assert_eq!((fast.ratio, fast.met), (Some(2.0), Some(true)));
        assert_eq!(slow.promised("more", false, false).met, None);
    }
}
