//! Random formulas on random systems, against their definition.

use std::collections::BTreeMap;

use turnpike_formula::{Decision, solve};
use turnpike_lts::{Lts, LtsModel};

use crate::naive::{Action, Formula, Regular};
use crate::{decide, holds, requirement, system};

const LABELS: [&str; 3] = ["a", "b", "c"];

/// A small generator: the tests must be the same everywhere.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

pub(crate) fn random_system(dice: &mut Dice) -> Lts {
    let states = 1 + dice.roll(6);
    let count = dice.roll(3 * states);
    let mut text = format!("des (0,{},{states})\n", count + 3);
    for _ in 0..count {
        let label = LABELS[dice.roll(3) as usize];
        text.push_str(&format!("({},\"{label}\",{})\n", dice.roll(states), dice.roll(states)));
    }
    // All labels are declared, whether they can be reached or not.
    for label in LABELS {
        text.push_str(&format!("({},\"{label}\",{})\n", states - 1, states - 1));
    }
    system(&text)
}

pub(crate) fn random_action(dice: &mut Dice, depth: u64) -> Action {
    match dice.roll(if depth == 0 { 2 } else { 5 }) {
        0 => Action::Any,
        1 => Action::Label(LABELS[dice.roll(3) as usize]),
        2 => Action::Not(Box::new(random_action(dice, depth - 1))),
        3 => Action::Or(Box::new(random_action(dice, depth - 1)), Box::new(random_action(dice, depth - 1))),
        _ => Action::And(Box::new(random_action(dice, depth - 1)), Box::new(random_action(dice, depth - 1))),
    }
}

pub(crate) fn random_regular(dice: &mut Dice, depth: u64) -> Regular {
    let part = |dice: &mut Dice| Box::new(random_regular(dice, depth.saturating_sub(1)));
    match if depth == 0 { 0 } else { dice.roll(7) } {
        0..=2 => Regular::Action(random_action(dice, 1)),
        3 => Regular::Sequence(part(dice), part(dice)),
        4 => Regular::Choice(part(dice), part(dice)),
        5 => Regular::Star(part(dice)),
        _ => Regular::Plus(part(dice)),
    }
}

/// A formula in which the variables may be used whose polarity fits.
fn random_formula(dice: &mut Dice, depth: u64, bound: &mut Vec<bool>, positive: bool) -> Formula {
    if depth == 0 {
        let usable: Vec<usize> = (0..bound.len()).filter(|&one| bound[one] == positive).collect();
        return match dice.roll(4) {
            0 => Formula::Constant(dice.roll(2) == 0),
            _ if !usable.is_empty() => Formula::Variable(usable[dice.roll(usable.len() as u64) as usize]),
            _ => Formula::Diamond(
                Regular::Action(random_action(dice, 1)),
                Box::new(Formula::Constant(dice.roll(4) > 0)),
            ),
        };
    }
    let depth = depth - 1;
    match dice.roll(9) {
        0 => Formula::Not(Box::new(random_formula(dice, depth, bound, !positive))),
        kind @ 1..=2 => {
            let left = Box::new(random_formula(dice, depth, bound, positive));
            let right = Box::new(random_formula(dice, depth, bound, positive));
            if kind == 1 { Formula::And(left, right) } else { Formula::Or(left, right) }
        }
        3 => Formula::Implies(
            Box::new(random_formula(dice, depth, bound, !positive)),
            Box::new(random_formula(dice, depth, bound, positive)),
        ),
        kind @ 4..=5 => {
            let regular = random_regular(dice, 2);
            let body = Box::new(random_formula(dice, depth, bound, positive));
            if kind == 4 { Formula::Box(regular, body) } else { Formula::Diamond(regular, body) }
        }
        _ => {
            let (least, variable) = (dice.roll(2) == 0, bound.len());
            bound.push(positive);
            let body = Box::new(random_formula(dice, depth, bound, positive));
            bound.pop();
            Formula::Fixed(least, variable, body)
        }
    }
}

#[test]
fn random_formulas_mean_what_their_definition_says() {
    let mut dice = Dice(20);
    let (mut held, mut shown) = (0, 0);
    for round in 0..3_000 {
        let lts = random_system(&mut dice);
        let depth = 2 + dice.roll(5);
        let formula = random_formula(&mut dice, depth, &mut Vec::new(), true);
        let expected = formula.states(&lts, &mut BTreeMap::new()).contains(&0);
        let outcome = decide(&lts, &formula.text());
        let found = outcome.decision == Decision::Holds;
        assert_eq!(found, expected, "round {round}: {}\n{lts:?}", formula.text());
        held += u32::from(found);
        // The part of the system that the winner needs shows the same by itself.
        if let Some(evidence) = &outcome.evidence {
            let mut part = system(&evidence.to_aut());
            for label in LABELS {
                if !part.labels.iter().any(|one| one == label) {
                    part.labels.push(label.to_owned());
                }
            }
            assert_eq!(holds(&part, &formula.text()), expected, "round {round}: {}", formula.text());
            assert_eq!(
                formula.states(&part, &mut BTreeMap::new()).contains(&0),
                expected,
                "round {round}: {}",
                formula.text()
            );
            shown += 1;
        }
    }
    assert!((500..2_500).contains(&held) && shown == 3_000, "{held} hold, {shown} have evidence");
}

/// Wherever exploring stops, the verdict is that of the whole system or none.
#[test]
fn a_stopped_solver_never_contradicts_the_whole() {
    let mut dice = Dice(23);
    let (mut open, mut early) = (0, 0);
    for round in 0..300 {
        let lts = random_system(&mut dice);
        let depth = 2 + dice.roll(5);
        let text = random_formula(&mut dice, depth, &mut Vec::new(), true).text();
        let whole = decide(&lts, &text);
        let requirement = requirement(&lts, &text).unwrap_or_else(|all| panic!("{text}: {all:?}"));
        let model = LtsModel::new("system", lts.clone()).expect("a system");
        for most in 0..whole.progress.states {
            let stopped = solve(&model, &requirement, &mut |progress| progress.states >= most);
            let stopped = stopped.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(stopped.progress.states <= most, "round {round}: {text}");
            if stopped.decision == Decision::Open {
                open += 1;
                assert_eq!(stopped.evidence, None);
            } else {
                early += 1;
                assert_eq!(stopped.decision, whole.decision, "round {round}: {text}\n{lts:?}");
            }
        }
    }
    assert!(open > 100 && early > 10, "{open} open, {early} decided early");
}
