//! Transition systems with probabilities, as far as they were explored, from both sides: what the
//! product makes of a specification, and what the naive interpreter says.

use std::collections::HashMap;

use dashu_int::IBig;
use dashu_ratio::RBig;
use turnpike_mcrl2::explore::Mcrl2Model;
use turnpike_model::{Model, Successors};

use super::data::Trouble;
use super::semantics::{Act, Interpreter, Outcomes, TermId};

/// A transition: its label, and where it leads with which probability.
pub(crate) type Transition = (String, Vec<(usize, RBig)>);

/// A transition system. State 0 only leads to the initial ones, by a transition `dist`.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// For each state that was expanded its transitions, in breadth-first order.
    pub(crate) transitions: Vec<Vec<Transition>>,
    /// For each of these whether it is a deadlock.
    pub(crate) deadlocks: Vec<bool>,
    /// For each state that was found how many steps it is away.
    pub(crate) depths: Vec<usize>,
}

impl System {
    /// Whether all states were expanded.
    pub(crate) fn is_complete(&self) -> bool {
        self.transitions.len() == self.depths.len()
    }

    /// All states fewer steps away than this were expanded; meaningless for complete systems.
    pub(crate) fn depth(&self) -> usize {
        self.depths.get(self.transitions.len()).copied().unwrap_or(usize::MAX)
    }

    /// Transitions as text, one a line.
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

    /// Explores breadth-first. `expand` gives the transitions of a state with their targets, and
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

/// What a state does, and whether it is a deadlock.
type Expansion<S> = (Groups<S>, bool);

/// What the product makes of a specification. An error is a step that it cannot take, with its
/// message, or a mistake in the way it gives probabilities.
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

/// Puts outcomes together that are transitions of their own, one after the other, until their
/// probabilities add up to one.
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
enum Place {
    /// A term, and when the last step with a time happened.
    Term(TermId, RBig),
    /// Everything has terminated, and that is still to be told.
    Terminated,
    /// Everything has terminated.
    Over,
}

/// What the naive interpreter says of a program.
pub(crate) fn of_interpreter(interpreter: &mut Interpreter, most: usize) -> Result<System, Trouble> {
    let initial = interpreter.initial();
    let initial = placed(interpreter.outcomes(initial)?, &RBig::ZERO);
    System::explore(initial, most, |place| {
        let (term, now) = match place {
            Place::Terminated => {
                return Ok((vec![("Terminate".to_owned(), vec![(Place::Over, RBig::ONE)])], false));
            }
            Place::Over => return Ok((Vec::new(), false)),
            Place::Term(term, now) => (*term, now),
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
                Some(target) => placed(interpreter.outcomes(target)?, &then),
                None => vec![(Place::Terminated, RBig::ONE)],
            };
            transitions.push((label, targets));
        }
        let deadlock = transitions.is_empty();
        Ok((transitions, deadlock))
    })
}

fn placed(outcomes: Outcomes, now: &RBig) -> Vec<(Place, RBig)> {
    outcomes.into_iter().map(|(term, weight)| (Place::Term(term, now.clone()), weight)).collect()
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
