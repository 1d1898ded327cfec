//! The explored parts of probabilistic transition systems, of the product and of the naive
//! interpreter.

use std::collections::HashMap;

use dashu_int::IBig;
use dashu_ratio::RBig;
use turnpike_mcrl2::explore::Mcrl2Model;
use turnpike_model::{Model, Successors};

use super::data::Trouble;
use super::semantics::{Act, Interpreter, Outcomes, TermId};

/// A transition: its label, and its targets with their probabilities.
pub(crate) type Transition = (String, Vec<(usize, RBig)>);

/// A transition system. The only transition of state 0 is `dist`, which leads to the initial
/// states.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// The transitions of each expanded state, in breadth-first order.
    pub(crate) transitions: Vec<Vec<Transition>>,
    /// Whether each expanded state is a deadlock.
    pub(crate) deadlocks: Vec<bool>,
    /// The distance of each state.
    pub(crate) depths: Vec<usize>,
}

impl System {
    /// Whether all states were expanded.
    pub(crate) fn is_complete(&self) -> bool {
        self.transitions.len() == self.depths.len()
    }

    /// All states at a smaller distance than this were expanded. Meaningless for complete systems.
    pub(crate) fn depth(&self) -> usize {
        self.depths.get(self.transitions.len()).copied().unwrap_or(usize::MAX)
    }

    /// The text of the transitions, one per line.
    pub(crate) fn text(&self, most: usize) -> String {
        let mut text = String::new();
        for (state, transitions) in self.transitions.iter().enumerate().take(most) {
            if self.deadlocks[state] {
                text.push_str(&format!("  {state} is a deadlock\n"));
            }
            for (label, targets) in transitions {
                let targets: Vec<String> = targets
                    .iter()
                    .map(|(target, weight)| match *weight == RBig::ONE {
                        true => target.to_string(),
                        false => format!("{target} [{weight}]"),
                    })
                    .collect();
                text.push_str(&format!("  {state} --{label}-> {}\n", targets.join(", ")));
            }
        }
        if self.depths.len() > most.min(self.transitions.len()) {
            text.push_str("  …\n");
        }
        text
    }

    /// Explores breadth-first. `expand` returns the transitions of a state with their targets, and
    /// whether it is a deadlock.
    fn explore<S: Clone + Eq + std::hash::Hash, E>(
        initial: Vec<(S, RBig)>,
        most: usize,
        mut expand: impl FnMut(&S) -> Result<Expansion<S>, E>,
    ) -> Result<System, E> {
        let mut system = System { depths: vec![0], deadlocks: vec![false], ..System::default() };
        // State 0 is not among these.
        let mut states: Vec<S> = Vec::new();
        let mut known: HashMap<S, usize> = HashMap::new();
        let mut next = (vec![("dist".to_owned(), initial)], false);
        loop {
            let depth = system.depths[system.transitions.len()] + 1;
            let mut transitions = Vec::new();
            for (label, targets) in next.0 {
                let mut number = |(target, weight): (S, RBig)| {
                    let id = *known.entry(target.clone()).or_insert_with(|| {
                        states.push(target);
                        system.depths.push(depth);
                        states.len()
                    });
                    (id, weight)
                };
                transitions.push((label, targets.into_iter().map(&mut number).collect()));
            }
            system.transitions.push(transitions);
            let done = system.transitions.len();
            if done > states.len() || done > most {
                return Ok(system);
            }
            next = expand(&states[done - 1].clone())?;
            system.deadlocks.push(next.1);
        }
    }
}

/// Labels, each with targets and their probabilities.
type Groups<S> = Vec<(String, Vec<(S, RBig)>)>;

/// The transitions of a state, and whether it is a deadlock.
type Expansion<S> = (Groups<S>, bool);

/// The system of the product. The error is the message about a failed step, or a mistake in
/// probabilities.
pub(crate) fn of_product(model: &Mcrl2Model, most: usize) -> Result<System, String> {
    let mut explorer = model.explorer();
    let mut first = Vec::new();
    explorer.initial(&mut first).map_err(|error| error.message)?;
    let mut successors = Successors::new(first.len());
    let initial = if model.has_initial_choice() {
        explorer.successors(&first, &mut successors).map_err(|error| error.message)?;
        let flat = successors.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec()));
        match &mut *grouped(flat.collect::<Vec<_>>())? {
            [(label, targets)] if label == "dist" => std::mem::take(targets),
            other => return Err(format!("mistake: an initial choice has the transitions {other:?}")),
        }
    } else {
        vec![(first, RBig::ONE)]
    };
    System::explore(initial, most, |state| {
        explorer.successors(state, &mut successors).map_err(|error| error.message)?;
        let deadlock = explorer.is_deadlock(state, &successors);
        let flat: Vec<_> =
            successors.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec())).collect();
        Ok((grouped(flat)?, deadlock))
    })
}

/// Groups successive outcomes of the product into transitions: a group ends when its probabilities
/// add up to 1.
fn grouped<S: Clone + std::fmt::Debug>(flat: Vec<(String, S)>) -> Result<Groups<S>, String> {
    let mut groups: Groups<S> = Vec::new();
    let mut missing = RBig::ZERO;
    let labels: Vec<String> = flat.iter().map(|(label, _)| label.clone()).collect();
    for (label, target) in flat {
        let (label, weight) = match label.strip_suffix(']').and_then(|label| label.rsplit_once(" [")) {
            Some((label, weight)) => (label.to_owned(), fraction(weight)?),
            None => (label, RBig::ONE),
        };
        if missing == RBig::ZERO {
            missing = RBig::ONE - &weight;
            groups.push((label, vec![(target, weight)]));
        } else {
            let (begun, outcomes) = groups.last_mut().expect("a group was begun");
            if *begun != label || weight > missing {
                return Err(format!(
                    "mistake: outcomes of {begun} do not add up to one, in {}",
                    labels.join(", ")
                ));
            }
            missing -= &weight;
            outcomes.push((target, weight));
        }
    }
    if missing == RBig::ZERO {
        Ok(groups)
    } else {
        Err("mistake: the last outcomes do not add up".to_owned())
    }
}

fn fraction(text: &str) -> Result<RBig, String> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse::<IBig>().map_err(|_| format!("mistake: probability {text}"));
    let (above, below) = (RBig::from(number(above)?), RBig::from(number(below)?));
    if below == RBig::ZERO { Err("mistake: a probability over zero".to_owned()) } else { Ok(above / below) }
}

/// A state of the naive interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    /// A term, and the time of the last step with a time.
    Term(TermId, RBig),
    /// Everything has terminated, but the step `Terminate` follows.
    Terminated,
    /// Everything has terminated.
    Done,
}

/// The system of the naive interpreter.
pub(crate) fn of_interpreter(interpreter: &mut Interpreter, most: usize) -> Result<System, Trouble> {
    let initial = interpreter.initial();
    let initial = to_states(interpreter.outcomes(initial)?, &RBig::ZERO);
    System::explore(initial, most, |state| {
        let (term, now) = match state {
            State::Terminated => {
                return Ok((vec![("Terminate".to_owned(), vec![(State::Done, RBig::ONE)])], false));
            }
            State::Done => return Ok((Vec::new(), false)),
            State::Term(term, now) => (*term, now),
        };
        let mut transitions = Vec::new();
        for step in interpreter.steps(term)?.iter() {
            let mut label = label(interpreter, &step.actions);
            let mut then = now.clone();
            if let Some(time) = step.time {
                let number = interpreter.data.term(time).as_number().cloned();
                then = number.ok_or_else(|| Trouble::Stuck(interpreter.data.text(time)))?;
                if then <= *now {
                    continue;
                }
                let time = interpreter.data.text(time);
                let time = if time.contains(' ') { format!("({time})") } else { time };
                label.push_str(&format!(" @ {time}"));
            }
            let targets = match step.target {
                Some(target) => to_states(interpreter.outcomes(target)?, &then),
                None => vec![(State::Terminated, RBig::ONE)],
            };
            transitions.push((label, targets));
        }
        let deadlock = transitions.is_empty();
        Ok((transitions, deadlock))
    })
}

fn to_states(outcomes: Outcomes, now: &RBig) -> Vec<(State, RBig)> {
    outcomes.into_iter().map(|(term, weight)| (State::Term(term, now.clone()), weight)).collect()
}

/// A multi-action as text: `tau`, or actions sorted by name and data, joined by bars.
fn label(interpreter: &Interpreter, actions: &[Act]) -> String {
    let program = &interpreter.data.program;
    let mut texts: Vec<(&str, Vec<String>)> = actions
        .iter()
        .map(|act| {
            (program.text(act.name), act.data.iter().map(|&value| interpreter.data.text(value)).collect())
        })
        .collect();
    texts.sort();
    if texts.is_empty() {
        return "tau".to_owned();
    }
    let one = |(name, data): &(&str, Vec<String>)| match data.is_empty() {
        true => (*name).to_owned(),
        false => format!("{name}({})", data.join(", ")),
    };
    texts.iter().map(one).collect::<Vec<_>>().join("|")
}
