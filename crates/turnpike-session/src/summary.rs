//! Summary statistics of many runs.

use turnpike_search::{RunReport, StopReason, Verdict, WitnessReport};

/// Statistics over runs.
pub struct Summary<'a> {
    /// The number of runs with a witness.
    pub found: usize,
    /// The number of completed runs.
    pub runs: usize,
    /// The spread of the expansions.
    pub states: Option<Spread>,
    /// The spread of the lengths of witnesses.
    pub length: Option<Spread>,
    /// The shortest witness and its run. Ties go to the first.
    pub best: Option<(usize, &'a RunReport, &'a WitnessReport)>,
    /// The number of runs for each reason to stop, in order of first occurrence.
    pub stops: Vec<(StopReason, usize)>,
}

/// The spread of a set of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The minimum.
    pub min: u64,
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: u64,
}

impl Spread {
    /// `None` if there are no values.
    fn of(mut values: Vec<u64>) -> Option<Spread> {
        values.sort_unstable();
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle] as f64
        } else {
            (values[middle - 1] as f64 + values[middle] as f64) / 2.0
        };
        let mean = values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64;
        Some(Spread { min, median, mean, max })
    }
}

impl<'a> Summary<'a> {
    /// Statistics over these runs.
    pub fn of(runs: &'a [RunReport]) -> Self {
        let mut stops: Vec<(StopReason, usize)> = Vec::new();
        for run in runs {
            match stops.iter_mut().find(|(stop, _)| *stop == run.stop) {
                Some((_, count)) => *count += 1,
                None => stops.push((run.stop, 1)),
            }
        }
        let witnesses = || {
            runs.iter()
                .enumerate()
                .filter_map(|(number, run)| run.witness.as_ref().map(|witness| (number, run, witness)))
        };
        Summary {
            found: runs.iter().filter(|run| run.verdict == Verdict::Found).count(),
            runs: runs.len(),
            states: Spread::of(runs.iter().map(|run| run.states).collect()),
            length: Spread::of(witnesses().map(|(_, _, witness)| witness.length as u64).collect()),
            best: witnesses().min_by_key(|(_, _, witness)| witness.length),
            stops,
        }
    }

    /// The share of runs with a witness.
    pub fn success_rate(&self) -> f64 {
        if self.runs == 0 { 0.0 } else { self.found as f64 / self.runs as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(Spread::of(vec![]), None);
        assert_eq!(Spread::of(vec![4]), Some(Spread { min: 4, median: 4.0, mean: 4.0, max: 4 }));
        assert_eq!(Spread::of(vec![9, 1, 2, 4]), Some(Spread { min: 1, median: 3.0, mean: 4.0, max: 9 }));
    }
}
