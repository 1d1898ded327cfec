//! A second opinion: formulas without data, evaluated by their definition as sets of states.

use std::collections::{BTreeMap, BTreeSet};

use turnpike_lts::Lts;

/// A formula of the tests.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Constant(bool),
    Variable(usize),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Box(Regular, Box<Formula>),
    Diamond(Regular, Box<Formula>),
    Fixed(bool, usize, Box<Formula>),
}

/// Paths.
#[derive(Clone, Debug)]
pub(crate) enum Regular {
    Action(Action),
    Sequence(Box<Regular>, Box<Regular>),
    Choice(Box<Regular>, Box<Regular>),
    Star(Box<Regular>),
    Plus(Box<Regular>),
}

/// Single steps.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Any,
    Label(&'static str),
    Not(Box<Action>),
    Or(Box<Action>, Box<Action>),
    And(Box<Action>, Box<Action>),
}

pub(crate) type States = BTreeSet<u32>;
type Pairs = BTreeSet<(u32, u32)>;

impl Action {
    fn matches(&self, label: &str) -> bool {
        match self {
            Action::Any => true,
            Action::Label(name) => *name == label,
            Action::Not(body) => !body.matches(label),
            Action::Or(left, right) => left.matches(label) || right.matches(label),
            Action::And(left, right) => left.matches(label) && right.matches(label),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Action::Any => "true".to_owned(),
            Action::Label(name) => (*name).to_owned(),
            Action::Not(body) => format!("!({})", body.text()),
            Action::Or(left, right) => format!("({} || {})", left.text(), right.text()),
            Action::And(left, right) => format!("({} && {})", left.text(), right.text()),
        }
    }
}

impl Regular {
    /// The pairs of states that a path connects.
    fn pairs(&self, lts: &Lts) -> Pairs {
        let compose = |left: &Pairs, right: &Pairs| -> Pairs {
            let after = |&(from, middle): &(u32, u32)| {
                right.iter().filter(move |one| one.0 == middle).map(move |one| (from, one.1))
            };
            left.iter().flat_map(after).collect()
        };
        let closure = |step: &Pairs| {
            let mut all: Pairs = (0..lts.states).map(|state| (state, state)).collect();
            loop {
                let mut more = compose(&all, step);
                more.extend(&all);
                if more.len() == all.len() {
                    return all;
                }
                all = more;
            }
        };
        match self {
            Regular::Action(action) => {
                let fits = |label: u32| action.matches(&lts.labels[label as usize]);
                let steps = lts.transitions.iter().filter(|one| fits(one.label.0));
                steps.map(|one| (one.from, one.to)).collect()
            }
            Regular::Sequence(left, right) => compose(&left.pairs(lts), &right.pairs(lts)),
            Regular::Choice(left, right) => left.pairs(lts).union(&right.pairs(lts)).copied().collect(),
            Regular::Star(body) => closure(&body.pairs(lts)),
            Regular::Plus(body) => {
                let step = body.pairs(lts);
                compose(&step, &closure(&step))
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Regular::Action(action) => action.text(),
            Regular::Sequence(left, right) => format!("({} . {})", left.text(), right.text()),
            Regular::Choice(left, right) => format!("({} + {})", left.text(), right.text()),
            Regular::Star(body) => format!("({})*", body.text()),
            Regular::Plus(body) => format!("({})+", body.text()),
        }
    }
}

impl Formula {
    /// The states where it holds.
    pub(crate) fn states(&self, lts: &Lts, meaning: &mut BTreeMap<usize, States>) -> States {
        let all = || (0..lts.states).collect::<States>();
        match self {
            Formula::Constant(true) => all(),
            Formula::Constant(false) => States::new(),
            Formula::Variable(variable) => meaning[variable].clone(),
            Formula::Not(body) => &all() - &body.states(lts, meaning),
            Formula::And(left, right) => &left.states(lts, meaning) & &right.states(lts, meaning),
            Formula::Or(left, right) => &left.states(lts, meaning) | &right.states(lts, meaning),
            Formula::Implies(left, right) => {
                &(&all() - &left.states(lts, meaning)) | &right.states(lts, meaning)
            }
            Formula::Diamond(regular, body) => {
                let good = body.states(lts, meaning);
                let pairs = regular.pairs(lts);
                pairs.iter().filter(|one| good.contains(&one.1)).map(|one| one.0).collect()
            }
            Formula::Box(regular, body) => {
                let good = body.states(lts, meaning);
                let pairs = regular.pairs(lts);
                let bad: States =
                    pairs.iter().filter(|one| !good.contains(&one.1)).map(|one| one.0).collect();
                &all() - &bad
            }
            Formula::Fixed(least, variable, body) => {
                let before = meaning.insert(*variable, if *least { States::new() } else { all() });
                loop {
                    let next = body.states(lts, meaning);
                    if next == meaning[variable] {
                        match before {
                            Some(before) => meaning.insert(*variable, before),
                            None => meaning.remove(variable),
                        };
                        return next;
                    }
                    meaning.insert(*variable, next);
                }
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Formula::Constant(value) => value.to_string(),
            Formula::Variable(variable) => format!("X{variable}"),
            Formula::Not(body) => format!("!({})", body.text()),
            Formula::And(left, right) => format!("({} && {})", left.text(), right.text()),
            Formula::Or(left, right) => format!("({} || {})", left.text(), right.text()),
            Formula::Implies(left, right) => format!("({} => {})", left.text(), right.text()),
            Formula::Box(regular, body) => format!("[{}]({})", regular.text(), body.text()),
            Formula::Diamond(regular, body) => format!("<{}>({})", regular.text(), body.text()),
            Formula::Fixed(least, variable, body) => {
                format!("({} X{variable}. {})", if *least { "mu" } else { "nu" }, body.text())
            }
        }
    }
}
