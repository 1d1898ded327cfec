//! Systems with probabilistic choices: an action leads to a distribution over states, as in `(0,"a",1 1/3 2)`.
//!
//! The model gives the outcomes of a choice one after the other, each with its probability at the end of the label. Here they are put
//! together again.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indexmap::{IndexMap, IndexSet};
use turnpike_model::{Diagnostic, Explorer, LabelId, Model, StepError, Successors};
use turnpike_search::generate::GenerateReport;
use turnpike_search::{Limits, StopReason, resources};

use super::target::Target;
use crate::failure::{Failure, Outcome};
use crate::output;

/// A distribution: states with their probabilities.
type Distribution = Vec<(u32, Fraction)>;

/// A system whose transitions lead to distributions.
#[derive(Debug, Default)]
struct System {
    initial: Distribution,
    labels: IndexSet<String>,
    transitions: Vec<(u32, u32, Distribution)>,
}

/// A probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    numerator: u128,
    denominator: u128,
}

const NONE: Fraction = Fraction { numerator: 0, denominator: 1 };
const WHOLE: Fraction = Fraction { numerator: 1, denominator: 1 };

impl Fraction {
    /// Reads `1/3` or `1`.
    fn parse(text: &str) -> Option<Self> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        Some(Fraction { numerator: numerator.parse().ok()?, denominator: denominator.parse().ok()? })
    }

    /// The sum in lowest terms, unless its parts are too large.
    fn plus(self, other: Fraction) -> Option<Fraction> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let numerator = left.checked_add(other.numerator.checked_mul(self.denominator)?)?;
        let denominator = self.denominator.checked_mul(other.denominator)?;
        let (mut a, mut b) = (numerator, denominator);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let divisor = a.max(1);
        Some(Fraction { numerator: numerator / divisor, denominator: denominator / divisor })
    }
}

/// Generates the system and writes it.
pub(super) fn generate(
    model: &dyn Model,
    initial_choice: bool,
    limits: &Limits,
    target: &Target,
    interrupt: &AtomicBool,
) -> Outcome<(GenerateReport, Option<String>)> {
    if let Target::Drawing(path, _) = target {
        let message = format!("{}: a system with probabilities cannot be drawn", path.display());
        return Err(Diagnostic::error(message).help("write an .aut file").into());
    }
    if let Target::Aut(path) = target
        && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
    {
        return Err(Failure::usage("a system with probabilities is written as plain .aut, not .aut.gz"));
    }
    let mut space = Space::new(model);
    let failed = |error: StepError| super::unable(&error, &model.info().name);
    let report = space.explore(initial_choice, limits, interrupt).map_err(failed)?;
    let text = || space.system.text(report.states);
    match target {
        Target::Aut(path) => {
            let name = path.display().to_string();
            std::fs::write(path, text()).map_err(|error| Failure::file(&name, "write", &error))?;
            Ok((report, Some(name)))
        }
        Target::Standard => {
            let written = output::Standard.write_all(text().as_bytes());
            written.map_err(|error| Failure::file("standard output", "write", &error))?;
            Ok((report, None))
        }
        _ => Ok((report, None)),
    }
}

struct Space<'m> {
    explorer: Box<dyn Explorer + 'm>,
    states: IndexSet<Vec<u32>, rustc_hash::FxBuildHasher>,
    system: System,
    actions: IndexMap<String, u64>,
    /// By id: the label without its probability, the names in it, the probability.
    labels: Vec<Option<(u32, String, Option<Fraction>)>>,
}

impl<'m> Space<'m> {
    fn new(model: &'m dyn Model) -> Self {
        Space {
            explorer: model.explorer(),
            states: IndexSet::default(),
            system: System::default(),
            actions: IndexMap::new(),
            labels: Vec::new(),
        }
    }

    fn explore(
        &mut self,
        initial_choice: bool,
        limits: &Limits,
        interrupt: &AtomicBool,
    ) -> Result<GenerateReport, StepError> {
        let started = Instant::now();
        let mut state = Vec::new();
        self.explorer.initial(&mut state)?;
        let mut successors = Successors::new(state.len());
        if initial_choice {
            self.explorer.successors(&state, &mut successors)?;
            let outcomes = self.steps(&successors)?.pop();
            self.system.initial = outcomes.map(|(_, distribution)| distribution).unwrap_or_default();
            self.actions.clear();
        } else {
            self.states.insert(state.clone());
            self.system.initial = vec![(0, WHOLE)];
        }
        let (mut at, mut end, mut levels, mut deadlocks) = (0, self.states.len(), 1, 0);
        let stop = loop {
            if at == end {
                if end == self.states.len() {
                    break StopReason::Exhausted;
                }
                end = self.states.len();
                levels += 1;
            }
            if limits.states.is_some_and(|most| at as u64 >= most) {
                break StopReason::MaxStates;
            }
            if limits.depth.is_some_and(|most| levels > u64::from(most)) {
                break StopReason::MaxDepth;
            }
            if at % 1024 == 0 {
                if interrupt.load(Ordering::Relaxed) {
                    break StopReason::Interrupted;
                }
                if limits.time.is_some_and(|most| started.elapsed() >= most) {
                    break StopReason::MaxTime;
                }
            }
            let state = self.states[at].clone();
            self.explorer.successors(&state, &mut successors)?;
            deadlocks += u64::from(successors.is_empty());
            for (label, distribution) in self.steps(&successors)? {
                self.system.transitions.push((at as u32, label, distribution));
            }
            at += 1;
        };
        self.actions.sort_keys();
        Ok(GenerateReport {
            stop,
            states: self.states.len() as u64,
            transitions: self.system.transitions.len() as u64,
            deadlocks,
            levels,
            actions: std::mem::take(&mut self.actions),
            seconds: started.elapsed().as_secs_f64(),
            peak_bytes: resources::peak_bytes(),
            store_bytes: (self.states.len() * state.len() * size_of::<u32>()) as u64,
        })
    }

    /// The transitions of a state: outcomes belong together until their probabilities add up to one.
    fn steps(&mut self, successors: &Successors) -> Result<Vec<(u32, Distribution)>, StepError> {
        let mut steps: Vec<(u32, Distribution)> = Vec::new();
        let mut total = WHOLE;
        for (id, target) in successors.iter() {
            let (label, name, probability) = self.label(id);
            let target = self.states.insert_full(target.to_vec()).0 as u32;
            if total == WHOLE {
                steps.push((label, Vec::new()));
                *self.actions.entry(name).or_default() += 1;
                total = NONE;
            }
            let share = probability.unwrap_or(WHOLE);
            total = total
                .plus(share)
                .ok_or_else(|| StepError::new("probabilities need more digits than can be written"))?;
            if let Some((_, distribution)) = steps.last_mut() {
                match distribution.iter_mut().find(|(known, _)| *known == target) {
                    Some((_, known)) => *known = known.plus(share).unwrap_or(*known),
                    None => distribution.push((target, share)),
                }
            }
        }
        Ok(steps)
    }

    fn label(&mut self, id: LabelId) -> (u32, String, Option<Fraction>) {
        if self.labels.len() <= id.index() {
            self.labels.resize(id.index() + 1, None);
        }
        if let Some(known) = &self.labels[id.index()] {
            return known.clone();
        }
        let label = self.explorer.label(id);
        let weighted = label.text.strip_suffix(']').and_then(|text| text.rsplit_once(" ["));
        let (text, probability) =
            match weighted.and_then(|(text, share)| Some((text, Fraction::parse(share)?))) {
                Some((text, share)) => (text.to_owned(), Some(share)),
                None => (label.text.clone(), None),
            };
        let known = (self.system.labels.insert_full(text).0 as u32, label.name(), probability);
        self.labels[id.index()] = Some(known.clone());
        known
    }
}

impl System {
    /// As an `.aut` file; the last state of a distribution takes what is left.
    fn text(&self, states: u64) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(text, "des ({},{},{states})", spelt(&self.initial), self.transitions.len());
        for (from, label, to) in &self.transitions {
            let _ = writeln!(text, "({from},\"{}\",{})", self.labels[*label as usize], spelt(to));
        }
        text
    }
}

fn spelt(distribution: &Distribution) -> String {
    let mut text = String::new();
    for (index, (state, share)) in distribution.iter().enumerate() {
        let _ = match index + 1 == distribution.len() {
            true => write!(text, "{state}"),
            false => write!(text, "{state} {}/{} ", share.numerator, share.denominator),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_add_up() {
        let sum = |texts: &[&str]| {
            texts.iter().try_fold(NONE, |sum, text| sum.plus(Fraction::parse(text).expect("a number")))
        };
        assert_eq!(sum(&["1/3", "1/6", "1/2"]), Some(WHOLE));
        assert_eq!(sum(&["1"]), Some(WHOLE));
        assert_eq!(sum(&["1/4", "1/4"]), Fraction::parse("1/2"));
        assert_eq!(Fraction::parse("x"), None);
    }

    #[test]
    fn the_last_state_takes_what_is_left() {
        let third = Fraction::parse("1/3").expect("a number");
        assert_eq!(spelt(&vec![(1, third), (2, third), (5, third)]), "1 1/3 2 1/3 5");
        assert_eq!(spelt(&vec![(7, WHOLE)]), "7");
    }
}
