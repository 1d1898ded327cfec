//! The table of figures.

use serde::Serialize;

use crate::output;

/// How long something took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: Option<f64>,
}

impl Time {
    /// Seconds of work: by the processor's account where there is one.
    pub(super) fn work(self) -> f64 {
        self.cpu_seconds.unwrap_or(self.seconds)
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// What was done.
    pub(super) name: String,
    /// To which model.
    pub(super) model: String,
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// The best of all repetitions, by the clock.
    pub(super) seconds: f64,
    /// The best of all repetitions in processor time, which other work on the machine does not lengthen; null where it
    /// is not known, or where several threads work.
    pub(super) cpu_seconds: Option<f64>,
    /// By processor time where it is known.
    pub(super) transitions_per_second: f64,
    /// Of the store, per state in it.
    pub(super) bytes_per_state: Option<f64>,
    /// Of a process that does just this, where that was measured.
    pub(super) peak_bytes: Option<u64>,
    /// Speed relative to another row.
    pub(super) ratio: Option<f64>,
    /// That row.
    pub(super) ratio_to: Option<String>,
    pub(super) targets: Vec<Target>,
}

/// A promise.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Target {
    /// What was promised.
    pub(super) promise: String,
    /// Whether it was kept; null with small sizes, which are not judged.
    pub(super) met: Option<bool>,
}

impl Row {
    pub(super) fn new(name: &str, model: &str, states: u64, transitions: u64, time: Time) -> Self {
        let Time { seconds, cpu_seconds } = time;
        Row {
            name: name.to_owned(),
            model: model.to_owned(),
            states,
            transitions,
            seconds,
            cpu_seconds,
            transitions_per_second: transitions as f64 / cpu_seconds.unwrap_or(seconds).max(1e-9),
            bytes_per_state: None,
            peak_bytes: None,
            ratio: None,
            ratio_to: None,
            targets: Vec::new(),
        }
    }

    /// The rate by the clock, for comparing different numbers of threads.
    #[must_use]
    pub(super) fn by_the_clock(mut self) -> Self {
        self.cpu_seconds = None;
        self.transitions_per_second = self.transitions as f64 / self.seconds.max(1e-9);
        self
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
    pub(super) fn promised(mut self, promise: impl Into<String>, met: bool, judged: bool) -> Self {
        self.targets.push(Target { promise: promise.into(), met: judged.then_some(met) });
        self
    }
}

pub(super) fn header() {
    output::line(&format!(
        "{:<26} {:<19} {:>10} {:>11} {:>7} {:>7} {:>8} {:>7} {:>6} {:>5}  target",
        "row", "model", "states", "transitions", "seconds", "cpu", "Mtrans/s", "B/state", "MiB", "ratio"
    ));
}

pub(super) fn line(row: &Row) {
    let number =
        |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let targets: Vec<String> = row
        .targets
        .iter()
        .map(|target| {
            let judged = match target.met {
                Some(true) => "met: ",
                Some(false) => "MISSED: ",
                None => "not judged: ",
            };
            format!("{judged}{}", target.promise)
        })
        .collect();
    let text = format!(
        "{:<26} {:<19} {:>10} {:>11} {:>7.3} {:>7} {:>8.2} {:>7} {:>6} {:>5}  {}",
        row.name,
        row.model,
        output::grouped(row.states),
        output::grouped(row.transitions),
        row.seconds,
        number(row.cpu_seconds, 3),
        row.transitions_per_second / 1e6,
        number(row.bytes_per_state, 1),
        number(row.peak_bytes.map(|bytes| bytes as f64 / f64::from(1 << 20)), 1),
        number(row.ratio, 2),
        targets.join("; ")
    );
    output::line(text.trim_end());
}

pub(super) fn footer(rows: &[Row]) {
    for row in rows {
        if let (Some(ratio), Some(other)) = (row.ratio, &row.ratio_to) {
            output::line(&format!("{} runs at {ratio:.2} times the rate of {other}", row.name));
        }
    }
    let accounted = rows.iter().filter_map(|row| Some((row.cpu_seconds?, row.seconds)));
    let (cpu, clock) = accounted.fold((0.0, 0.0), |(cpu, clock), row| (cpu + row.0, clock + row.1));
    if cpu < 0.9 * clock {
        output::line(
            "other work kept the processors busy: rates are by processor time (cpu), not by the clock",
        );
    }
    let targets = rows.iter().flat_map(|row| &row.targets);
    let judged = targets.clone().filter(|target| target.met.is_some()).count();
    let missed = targets.filter(|target| target.met == Some(false)).count();
    if judged > 0 {
        output::line(&format!("{} of {judged} targets met", judged - missed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_promises() {
        let busy = Time { seconds: 9.0, cpu_seconds: Some(2.0) };
        let slow = Row::new("slow", "m", 10, 100, busy);
        let fast = Row::new("fast", "m", 10, 100, Time { seconds: 1.0, cpu_seconds: None })
            .relative_to(&slow)
            .promised("2", true, true);
        assert_eq!((fast.ratio, fast.targets[0].met), (Some(2.0), Some(true)));
        assert_eq!(slow.promised("more", false, false).targets[0].met, None);
    }
}
