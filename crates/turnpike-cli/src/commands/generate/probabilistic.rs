//! Systems with probabilistic choices: an action leads to a distribution over states, as in
//! `(0,"a",1 1/3 2)`.
//!
//! The model returns the outcomes of a choice one by one, each with its probability at the end of
//! the label. This module combines them again.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dashu_int::UBig;
use dashu_int::ops::Gcd;
use indexmap::{IndexMap, IndexSet};
use turnpike_model::{Diagnostic, Explorer, LabelId, Model, StepError, Successors};
use turnpike_session::generate::GenerateReport;
use turnpike_session::{Limits, StopReason, resources};

use super::target::Target;
use crate::failure::{Failure, Outcome};
use crate::output;

/// A distribution: states, and which of the system's shares each has.
type Distribution = Vec<(u32, u32)>;

/// A system whose transitions lead to distributions.
#[derive(Debug, Default)]
struct System {
    initial: Distribution,
    labels: IndexSet<String>,
    /// Probabilities: few, however many outcomes there are.
    shares: IndexSet<Fraction, rustc_hash::FxBuildHasher>,
    transitions: Vec<(u32, u32, Distribution)>,
}

/// A probability, with as many digits as it needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Fraction {
    numerator: UBig,
    denominator: UBig,
}

/// Outcomes between two checks of time and interrupts.
const LOOK_UP: usize = 1 << 14;

const NONE: Fraction = Fraction { numerator: UBig::ZERO, denominator: UBig::ONE };
const WHOLE: Fraction = Fraction { numerator: UBig::ONE, denominator: UBig::ONE };

impl Fraction {
    /// Reads `1/3` or `1`.
    fn parse(text: &str) -> Option<Self> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let (numerator, denominator) = (numerator.parse().ok()?, denominator.parse::<UBig>().ok()?);
        (!denominator.is_zero()).then_some(Fraction { numerator, denominator })
    }

    /// The sum in lowest terms.
    fn plus(&self, other: &Fraction) -> Fraction {
        let mut sum = self.clone();
        sum.grow(other);
        let divisor = (&sum.numerator).gcd(&sum.denominator);
        Fraction { numerator: sum.numerator / &divisor, denominator: sum.denominator / divisor }
    }

    /// Adds to a running total, which need not be in lowest terms: its denominator grows only when it must.
    fn grow(&mut self, other: &Fraction) {
        if self.denominator == other.denominator {
            self.numerator += &other.numerator;
            return;
        }
        if !(&self.denominator % &other.denominator).is_zero() {
            let factor = &other.denominator / (&other.denominator).gcd(&self.denominator);
            self.numerator *= &factor;
            self.denominator *= factor;
        }
        self.numerator += &other.numerator * (&self.denominator / &other.denominator);
    }

    fn is_whole(&self) -> bool {
        self.numerator == self.denominator
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
    let written = matches!(target, Target::Aut(_) | Target::Standard);
    let mut space = Space::new(model, written);
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
    /// By id.
    labels: Vec<Option<Parts>>,
    /// Whether transitions are kept, to be written.
    written: bool,
    /// Where a state stands in the distribution at hand: the number of the distribution and the place.
    places: Vec<(u64, u32)>,
    distributions: u64,
}

/// A label: without its probability, the place of its names among the actions, its probability among the shares.
#[derive(Clone, Copy, Debug)]
struct Parts {
    label: u32,
    action: usize,
    share: u32,
}

impl<'m> Space<'m> {
    fn new(model: &'m dyn Model, written: bool) -> Self {
        Space {
            explorer: model.explorer(),
            states: IndexSet::default(),
            system: System::default(),
            actions: IndexMap::new(),
            labels: Vec::new(),
            written,
            places: Vec::new(),
            distributions: 0,
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
            let outcomes = self.steps(&successors).pop();
            self.system.initial = outcomes.map(|(_, distribution)| distribution).unwrap_or_default();
            self.actions.values_mut().for_each(|count| *count = 0);
        } else {
            self.states.insert(state.clone());
            let share = self.system.shares.insert_full(WHOLE).0 as u32;
            self.system.initial = vec![(0, share)];
        }
        let (mut at, mut end, mut levels, mut deadlocks) = (0, self.states.len(), 1, 0);
        let (mut transitions, mut outcomes) = (0, LOOK_UP);
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
            // A state may have a great many outcomes.
            if outcomes >= LOOK_UP {
                outcomes = 0;
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
            outcomes += successors.len() + 1;
            let steps = self.steps(&successors);
            transitions += steps.len() as u64;
            if self.written {
                let steps = steps.into_iter().map(|(label, distribution)| (at as u32, label, distribution));
                self.system.transitions.extend(steps);
            }
            at += 1;
        };
        self.actions.retain(|_, count| *count > 0);
        self.actions.sort_keys();
        Ok(GenerateReport {
            stop,
            states: self.states.len() as u64,
            transitions,
            deadlocks,
            levels,
            actions: std::mem::take(&mut self.actions),
            seconds: started.elapsed().as_secs_f64(),
            peak_bytes: resources::peak_bytes(),
            store_bytes: (self.states.len() * state.len() * size_of::<u32>()) as u64,
        })
    }

    /// The transitions of a state: outcomes belong together until their probabilities add up to one.
    fn steps(&mut self, successors: &Successors) -> Vec<(u32, Distribution)> {
        let mut steps: Vec<(u32, Distribution)> = Vec::new();
        let mut total = WHOLE;
        for (id, target) in successors.iter() {
            let Parts { label, action, share } = self.label(id);
            let target = match self.states.get_index_of(target) {
                Some(known) => known,
                None => self.states.insert_full(target.to_vec()).0,
            };
            if total.is_whole() {
                steps.push((label, Vec::new()));
                self.actions[action] += 1;
                self.distributions += 1;
                total = NONE;
            }
            let Some((_, distribution)) = steps.last_mut() else { continue };
            let shares = &mut self.system.shares;
            total.grow(&shares[share as usize]);
            if self.places.len() <= target {
                self.places.resize(self.states.len(), (0, 0));
            }
            match self.places[target] {
                (number, place) if number == self.distributions => {
                    let known = &mut distribution[place as usize].1;
                    let sum = shares[*known as usize].plus(&shares[share as usize]);
                    *known = shares.insert_full(sum).0 as u32;
                }
                _ => {
                    self.places[target] = (self.distributions, distribution.len() as u32);
                    distribution.push((target as u32, share));
                }
            }
        }
        steps
    }

    fn label(&mut self, id: LabelId) -> Parts {
        if self.labels.len() <= id.index() {
            self.labels.resize(id.index() + 1, None);
        }
        if let Some(known) = self.labels[id.index()] {
            return known;
        }
        let label = self.explorer.label(id);
        let weighted = label.text.strip_suffix(']').and_then(|text| text.rsplit_once(" ["));
        let (text, share) = match weighted.and_then(|(text, share)| Some((text, Fraction::parse(share)?))) {
            Some((text, share)) => (text.to_owned(), share),
            None => (label.text.clone(), WHOLE),
        };
        let entry = self.actions.entry(label.name());
        let action = entry.index();
        entry.or_default();
        let label = self.system.labels.insert_full(text).0 as u32;
        let known = Parts { label, action, share: self.system.shares.insert_full(share).0 as u32 };
        self.labels[id.index()] = Some(known);
        known
    }
}

impl System {
    /// As an `.aut` file; the last state of a distribution takes what is left.
    fn text(&self, states: u64) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(text, "des ({},{},{states})", self.spelt(&self.initial), self.transitions.len());
        for (from, label, to) in &self.transitions {
            let _ = writeln!(text, "({from},\"{}\",{})", self.labels[*label as usize], self.spelt(to));
        }
        text
    }

    fn spelt(&self, distribution: &Distribution) -> String {
        let mut text = String::new();
        for (index, &(state, share)) in distribution.iter().enumerate() {
            let Fraction { numerator, denominator } = &self.shares[share as usize];
            let _ = match index + 1 == distribution.len() {
                true => write!(text, "{state}"),
                false => write!(text, "{state} {numerator}/{denominator} "),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_add_up() {
        let sum = |texts: &[&str]| {
            texts.iter().fold(NONE, |sum, text| sum.plus(&Fraction::parse(text).expect("a number")))
        };
        assert_eq!(sum(&["1/3", "1/6", "1/2"]), WHOLE);
        assert_eq!(sum(&["1"]), WHOLE);
        assert_eq!(Some(sum(&["1/4", "1/4"])), Fraction::parse("1/2"));
        let tiny = format!("1/1{}", "0".repeat(60));
        assert_eq!(Some(sum(&[&tiny, &tiny])), Fraction::parse(&format!("1/5{}", "0".repeat(59))));
        assert_eq!(Fraction::parse("x"), None);
        assert_eq!(Fraction::parse("1/0"), None);
    }

    #[test]
    fn the_last_state_takes_what_is_left() {
        let mut system = System::default();
        system.shares.extend([Fraction::parse("1/3").expect("a number"), WHOLE]);
        assert_eq!(system.spelt(&vec![(1, 0), (2, 0), (5, 0)]), "1 1/3 2 1/3 5");
        assert_eq!(system.spelt(&vec![(7, 1)]), "7");
    }

    #[test]
    fn a_running_total_knows_when_it_is_whole() {
        let mut total = NONE;
        for (text, whole) in [("1/4", false), ("1/6", false), ("1/3", false), ("1/4", true), ("1/5", false)] {
            total.grow(&Fraction::parse(text).expect("a number"));
            assert_eq!(total.is_whole(), whole, "{text}");
        }
    }
}
