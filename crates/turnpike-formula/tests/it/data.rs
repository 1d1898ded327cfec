//! Random formulas with quantifiers that nothing bounds, against their definition. Labels have the
//! numbers 0 and 1 and formulas compare for equality only, so all other numbers are alike: with two
//! variables at a time, the numbers below 4 are as good as all.

use std::collections::BTreeMap;

use turnpike_formula::{Decision, Failure, solve};
use turnpike_lts::{Lts, LtsModel};
use turnpike_model::{LabelId, Model};

use crate::naive::{Action, Formula, Regular};
use crate::random::Dice;
use crate::{requirement, system};

const NUMBERS: usize = 4;
const LABELS: [[&str; NUMBERS]; 2] = [["a(0)", "a(1)", "a(2)", "a(3)"], ["b(0)", "b(1)", "b(2)", "b(3)"]];

/// A number or a variable.
#[derive(Clone, Copy, Debug)]
enum Term {
    Number(usize),
    Variable(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Any,
    Label(usize, Term),
    Other(usize, Term),
}

#[derive(Clone, Debug)]
enum Path {
    Step(Step),
    Sequence(Box<Path>, Box<Path>),
    Star(Box<Path>),
}

#[derive(Clone, Debug)]
enum Tree {
    Constant(bool),
    Equal(Term, Term),
    Point(usize),
    Junction(bool, Box<Tree>, Box<Tree>),
    Modality(bool, Path, Box<Tree>),
    Fixed(bool, usize, Box<Tree>),
    Quantifier(bool, usize, Box<Tree>),
}

impl Term {
    fn text(self) -> String {
        match self {
            Term::Number(number) => number.to_string(),
            Term::Variable(variable) => format!("n{variable}"),
        }
    }

    fn value(self, values: &[usize]) -> usize {
        match self {
            Term::Number(number) => number,
            Term::Variable(variable) => values[variable],
        }
    }
}

impl Step {
    fn text(&self) -> String {
        let label = |name: &usize, term: &Term| format!("{}({})", ["a", "b"][*name], term.text());
        match self {
            Step::Any => "true".to_owned(),
            Step::Label(name, term) => label(name, term),
            Step::Other(name, term) => format!("!{}", label(name, term)),
        }
    }

    fn ground(&self, values: &[usize]) -> Action {
        match self {
            Step::Any => Action::Any,
            Step::Label(name, term) => Action::Label(LABELS[*name][term.value(values)]),
            Step::Other(name, term) => {
                Action::Not(Box::new(Action::Label(LABELS[*name][term.value(values)])))
            }
        }
    }
}

impl Path {
    fn text(&self) -> String {
        match self {
            Path::Step(step) => step.text(),
            Path::Sequence(left, right) => format!("({} . {})", left.text(), right.text()),
            Path::Star(body) => format!("({})*", body.text()),
        }
    }

    fn ground(&self, values: &[usize]) -> Regular {
        match self {
            Path::Step(step) => Regular::Action(step.ground(values)),
            Path::Sequence(left, right) => {
                Regular::Sequence(Box::new(left.ground(values)), Box::new(right.ground(values)))
            }
            Path::Star(body) => Regular::Star(Box::new(body.ground(values))),
        }
    }
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Constant(value) => value.to_string(),
            Tree::Equal(left, right) => format!("val({} == {})", left.text(), right.text()),
            Tree::Point(point) => format!("X{point}"),
            Tree::Junction(all, left, right) => {
                format!("({} {} {})", left.text(), if *all { "&&" } else { "||" }, right.text())
            }
            Tree::Modality(true, path, body) => format!("[{}]{}", path.text(), body.text()),
            Tree::Modality(false, path, body) => format!("<{}>{}", path.text(), body.text()),
            Tree::Fixed(least, point, body) => {
                format!("({} X{point}. {})", if *least { "mu" } else { "nu" }, body.text())
            }
            Tree::Quantifier(all, variable, body) => {
                format!("({} n{variable}: Nat. {})", if *all { "forall" } else { "exists" }, body.text())
            }
        }
    }

    /// The formula without data.
    fn ground(&self, values: &mut Vec<usize>) -> Formula {
        let join = |all: bool, left: Formula, right: Formula| match all {
            true => Formula::And(Box::new(left), Box::new(right)),
            false => Formula::Or(Box::new(left), Box::new(right)),
        };
        match self {
            Tree::Constant(value) => Formula::Constant(*value),
            Tree::Equal(left, right) => Formula::Constant(left.value(values) == right.value(values)),
            Tree::Point(point) => Formula::Variable(*point),
            Tree::Junction(all, left, right) => join(*all, left.ground(values), right.ground(values)),
            Tree::Modality(true, path, body) => {
                Formula::Box(path.ground(values), Box::new(body.ground(values)))
            }
            Tree::Modality(false, path, body) => {
                Formula::Diamond(path.ground(values), Box::new(body.ground(values)))
            }
            Tree::Fixed(least, point, body) => Formula::Fixed(*least, *point, Box::new(body.ground(values))),
            Tree::Quantifier(all, variable, body) => {
                let mut whole = Formula::Constant(*all);
                for number in 0..NUMBERS {
                    values[*variable] = number;
                    whole = join(*all, whole, body.ground(values));
                }
                whole
            }
        }
    }
}

fn random_term(dice: &mut Dice, variables: usize) -> Term {
    match dice.roll(4) {
        0 => Term::Number(dice.roll(2) as usize),
        _ if variables > 0 => Term::Variable(dice.roll(variables as u64) as usize),
        _ => Term::Number(dice.roll(2) as usize),
    }
}

fn random_path(dice: &mut Dice, variables: usize, depth: u64) -> Path {
    let step = |dice: &mut Dice| match dice.roll(5) {
        0 | 1 => Step::Any,
        2 => Step::Other(dice.roll(2) as usize, random_term(dice, variables)),
        _ => Step::Label(dice.roll(2) as usize, random_term(dice, variables)),
    };
    match if depth == 0 { 0 } else { dice.roll(5) } {
        0 | 1 => Path::Step(step(dice)),
        2 | 3 => {
            let left = random_path(dice, variables, depth - 1);
            Path::Sequence(Box::new(left), Box::new(random_path(dice, variables, depth - 1)))
        }
        _ => Path::Star(Box::new(random_path(dice, variables, depth - 1))),
    }
}

fn random_tree(dice: &mut Dice, depth: u64, variables: usize, points: usize) -> Tree {
    if depth == 0 {
        return match dice.roll(4) {
            0 => Tree::Equal(random_term(dice, variables), random_term(dice, variables)),
            1 | 2 if points > 0 => Tree::Point(dice.roll(points as u64) as usize),
            _ => Tree::Constant(dice.roll(2) == 0),
        };
    }
    let depth = depth - 1;
    match dice.roll(10) {
        0 | 1 => {
            let left = random_tree(dice, depth, variables, points);
            let right = random_tree(dice, depth, variables, points);
            Tree::Junction(dice.roll(2) == 0, Box::new(left), Box::new(right))
        }
        2..=5 => {
            let path = random_path(dice, variables, 2);
            Tree::Modality(dice.roll(2) == 0, path, Box::new(random_tree(dice, depth, variables, points)))
        }
        6 | 7 if variables < 2 => {
            let body = random_tree(dice, depth, variables + 1, points);
            Tree::Quantifier(dice.roll(2) == 0, variables, Box::new(body))
        }
        _ => {
            let body = random_tree(dice, depth, variables, points + 1);
            Tree::Fixed(dice.roll(2) == 0, points, Box::new(body))
        }
    }
}

fn random_system(dice: &mut Dice) -> Lts {
    let states = 1 + dice.roll(4);
    let count = dice.roll(3 * states);
    let mut text = format!("des (0,{},{states})\n", count + 2);
    for _ in 0..count {
        let label = LABELS[dice.roll(2) as usize][dice.roll(2) as usize];
        text.push_str(&format!("({},\"{label}\",{})\n", dice.roll(states), dice.roll(states)));
    }
    // Both actions are declared, whether they can be reached or not.
    for labels in LABELS {
        text.push_str(&format!("({},\"{}\",{})\n", states - 1, labels[0], states - 1));
    }
    system(&text)
}

#[test]
fn unbounded_quantifiers_mean_what_their_definition_says() {
    let mut dice = Dice(31);
    let (mut held, mut violated, mut refused, mut learnt) = (0, 0, 0, 0);
    for round in 0..1_000 {
        let lts = random_system(&mut dice);
        let depth = 2 + dice.roll(3);
        let body = random_tree(&mut dice, depth, 1, 0);
        let tree = Tree::Quantifier(dice.roll(2) == 0, 0, Box::new(body));
        let text = tree.text();
        let expected = tree.ground(&mut vec![0; 2]).states(&lts, &mut BTreeMap::new()).contains(&0);
        let requirement = requirement(&lts, &text).unwrap_or_else(|all| panic!("{text}: {all:?}"));
        let model = LtsModel::new("system", lts.clone()).expect("a system");
        match solve(&model, &requirement, &mut |_| false) {
            Ok(outcome) => {
                let found = outcome.decision == Decision::Holds;
                assert_eq!(found, expected, "round {round}: {text}\n{lts:?}");
                *(if found { &mut held } else { &mut violated }) += 1;
            }
            Err(Failure::Data(error)) if error.message.contains("cannot be enumerated") => refused += 1,
            Err(error) => panic!("{text}: {error}"),
        }
        // When all labels are known, numbers that do not occur are alike.
        if requirement.gains_from_labels() {
            let labels: Vec<LabelId> = (0..lts.labels.len() as u32).map(LabelId).collect();
            let explorer = &mut *model.explorer();
            requirement.learn_all_labels(&labels, explorer).unwrap_or_else(|error| panic!("{text}: {error}"));
            if let Ok(outcome) = solve(&model, &requirement, &mut |_| false) {
                let found = outcome.decision == Decision::Holds;
                assert_eq!(found, expected, "round {round}, all labels known: {text}\n{lts:?}");
                learnt += 1;
            }
        }
    }
    assert!(held > 100 && violated > 100 && refused < 700, "{held}, {violated}, {refused} refused");
    assert!(learnt > 50, "{learnt} are decided when all labels are known");
}
