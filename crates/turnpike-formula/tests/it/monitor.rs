//! Paths that decide a formula: the product with the monitor, against the game and against automata
//! written by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use turnpike_formula::{Decision, Fragment, Product, Runs, fragment};
use turnpike_lts::{Lts, LtsModel};
use turnpike_model::formula::Property;
use turnpike_model::{Model, Successors};

use crate::naive::{Formula, Regular};
use crate::random::{Dice, random_action, random_regular, random_system};
use crate::{decide, requirement};

/// Whether some path of the product decides the formula, by expanding all of it.
fn some_path_decides(product: &Product) -> bool {
    let mut explorer = product.explorer();
    let late = product.info().capabilities.violations_on_expansion;
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut successors = Successors::new(initial.len());
    let (mut seen, mut rest) = (BTreeSet::from([initial.clone()]), vec![initial]);
    while let Some(state) = rest.pop() {
        explorer.successors(&state, &mut successors).expect("successors");
        let targets: Vec<Vec<u32>> = successors.iter().map(|(_, target)| target.to_vec()).collect();
        let mut tested = vec![state];
        if !late {
            tested.extend(targets.iter().cloned());
        }
        let violations = explorer.violations().expect("the product judges states");
        if tested.iter().any(|state| violations.violation(state).is_some()) {
            return true;
        }
        rest.extend(targets.into_iter().filter(|target| seen.insert(target.clone())));
    }
    false
}

fn product(lts: &Lts, formula: &str) -> Option<(Product, bool)> {
    let requirement = requirement(lts, formula).unwrap_or_else(|all| panic!("{formula}: {all:?}"));
    let refutes = fragment(requirement.formula()).path_refutes()?;
    let model = LtsModel::new("system", lts.clone()).expect("a system");
    Some((Product::new(Arc::new(model), Arc::new(requirement))?, refutes))
}

/// A formula in which one player alone has choices, with conditions on what is enabled. Fixed points
/// are of one kind, or `mixed`.
fn one_sided(dice: &mut Dice, all: bool, mixed: bool, depth: u64, bound: usize) -> Formula {
    let local = |dice: &mut Dice| {
        let action = Regular::Action(random_action(dice, 1));
        let body = Box::new(Formula::Constant(!all));
        match dice.roll(3) {
            0 => Formula::Constant(dice.roll(2) == 0),
            1 if all => Formula::Diamond(action, Box::new(Formula::Constant(true))),
            1 => Formula::Box(action, Box::new(Formula::Constant(false))),
            _ if all => Formula::Box(action, body),
            _ => Formula::Diamond(action, body),
        }
    };
    if depth == 0 {
        return match dice.roll(3) {
            0 => local(dice),
            _ if bound > 0 => Formula::Variable(dice.roll(bound as u64) as usize),
            _ => local(dice),
        };
    }
    let depth = depth - 1;
    let join = |all: bool, left: Formula, right: Formula| match all {
        true => Formula::And(Box::new(left), Box::new(right)),
        false => Formula::Or(Box::new(left), Box::new(right)),
    };
    match dice.roll(6) {
        0 | 1 => {
            let regular = random_regular(dice, 2);
            let body = Box::new(one_sided(dice, all, mixed, depth, bound));
            if all { Formula::Box(regular, body) } else { Formula::Diamond(regular, body) }
        }
        2 | 3 => {
            let least = if mixed { dice.roll(2) == 0 } else { !all };
            Formula::Fixed(least, bound, Box::new(one_sided(dice, all, mixed, depth, bound + 1)))
        }
        4 => {
            let left = one_sided(dice, all, mixed, depth, bound);
            join(all, left, one_sided(dice, all, mixed, depth, bound))
        }
        _ => join(!all, local(dice), one_sided(dice, all, mixed, depth, bound)),
    }
}

#[test]
fn paths_decide_what_the_game_decides() {
    let mut dice = Dice(21);
    let (mut compared, mut decided) = (0, 0);
    for round in 0..2_000 {
        let lts = random_system(&mut dice);
        let (all, depth) = (dice.roll(2) == 0, 1 + dice.roll(5));
        let text = one_sided(&mut dice, all, false, depth, 0).text();
        let Some((product, refutes)) = product(&lts, &text) else { continue };
        let by_path = some_path_decides(&product) != refutes;
        let by_game = decide(&lts, &text).decision == Decision::Holds;
        assert_eq!(by_path, by_game, "round {round}: {text}\n{lts:?}");
        compared += 1;
        decided += u32::from(by_path);
    }
    assert!(compared > 1_500 && (200..compared - 200).contains(&decided), "{compared}, {decided} hold");
}

/// Whether some accepting state of the runs lies on a cycle.
fn some_run_decides(runs: &Runs) -> bool {
    let mut explorer = runs.explorer();
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut successors = Successors::new(initial.len());
    let mut edges: BTreeMap<Vec<u32>, Vec<Vec<u32>>> = BTreeMap::new();
    let mut rest = vec![initial];
    while let Some(state) = rest.pop() {
        if edges.contains_key(&state) {
            continue;
        }
        explorer.successors(&state, &mut successors).expect("successors");
        let targets: Vec<Vec<u32>> = successors.iter().map(|(_, target)| target.to_vec()).collect();
        rest.extend(targets.iter().cloned());
        edges.insert(state, targets);
    }
    let labels = explorer.state_labels().expect("states are accepting or not");
    let accepting = labels.compile_labels("decided").expect("the only label");
    edges.keys().filter(|state| labels.has_labels(accepting, state)).any(|state| {
        let (mut seen, mut rest) = (BTreeSet::new(), edges[state].clone());
        while let Some(next) = rest.pop() {
            if next == *state {
                return true;
            }
            if seen.insert(next.clone()) {
                rest.extend(edges[&next].iter().cloned());
            }
        }
        false
    })
}

#[test]
fn runs_decide_what_the_game_decides() {
    let mut dice = Dice(24);
    let (mut compared, mut decided) = (0, 0);
    for round in 0..3_000 {
        let lts = random_system(&mut dice);
        let (all, depth) = (dice.roll(2) == 0, 2 + dice.roll(5));
        let text = one_sided(&mut dice, all, true, depth, 0).text();
        let requirement = requirement(&lts, &text).unwrap_or_else(|all| panic!("{text}: {all:?}"));
        let Fragment::Linear { refutes } = fragment(requirement.formula()) else { continue };
        let model = LtsModel::new("system", lts.clone()).expect("a system");
        let runs = Runs::new(Arc::new(model), Arc::new(requirement)).expect("a linear formula");
        let by_run = some_run_decides(&runs) != refutes;
        let by_game = decide(&lts, &text).decision == Decision::Holds;
        assert_eq!(by_run, by_game, "round {round}: {text}\n{lts:?}");
        compared += 1;
        decided += u32::from(by_run);
    }
    assert!(compared > 500 && (100..compared - 100).contains(&decided), "{compared}, {decided} hold");
}

/// Whether a path of the system is accepted by an automaton: `step` gives the next state of it for a
/// label, `None` accepts.
fn accepts(lts: &Lts, step: impl Fn(u32, &str) -> Option<u32>) -> bool {
    let (mut seen, mut rest) = (BTreeSet::from([(lts.initial, 0)]), vec![(lts.initial, 0)]);
    while let Some((state, at)) = rest.pop() {
        for one in lts.transitions.iter().filter(|one| one.from == state) {
            match step(at, &lts.labels[one.label.index()]) {
                None => return true,
                Some(next) => rest.extend(Some((one.to, next)).filter(|pair| seen.insert(*pair))),
            }
        }
    }
    false
}

#[test]
fn safety_formulas_are_automata() {
    let mut dice = Dice(22);
    for _ in 0..200 {
        let lts = random_system(&mut dice);
        let cases: [(&str, bool); 3] = [
            // After an a, no c before the next b.
            (
                "[true* . a . (!b)* . c]false",
                accepts(&lts, |at, label| match (at, label) {
                    (0, "a") => Some(1),
                    (1, "c") => None,
                    (1, "b") => Some(0),
                    (at, _) => Some(at),
                }),
            ),
            // At most two times a in a row.
            (
                "nu X(n: Nat = 0). val(n < 3) && [a]X(n + 1) && [!a]X(0)",
                accepts(&lts, |at, label| match (at, label) {
                    (2, "a") => None,
                    (at, "a") => Some(at + 1),
                    _ => Some(0),
                }),
            ),
            // No b before the first a.
            (
                "[(!a)* . b]false",
                accepts(&lts, |at, label| match (at, label) {
                    (0, "b") => None,
                    (0, "a") => Some(1),
                    (at, _) => Some(at),
                }),
            ),
        ];
        for (formula, violated) in cases {
            let (product, refutes) = product(&lts, formula).expect("a safety formula");
            assert!(refutes);
            assert_eq!(some_path_decides(&product), violated, "{formula}\n{lts:?}");
        }
    }
}

/// A random automaton over the labels a, b and c, as a table: where each state goes by each label, `None`
/// where a word becomes forbidden.
fn random_automaton(dice: &mut Dice) -> Vec<[Option<u32>; 3]> {
    let states = 1 + dice.roll(4);
    let target = |dice: &mut Dice| (dice.roll(5) > 0).then(|| dice.roll(states) as u32);
    (0..states).map(|_| [target(dice), target(dice), target(dice)]).collect()
}

/// The formula that counts the states of an automaton in a parameter.
fn as_parameter(automaton: &[[Option<u32>; 3]]) -> String {
    let rows = automaton.iter().enumerate().map(|(state, row)| {
        let boxes = ["a", "b", "c"].iter().zip(row).map(|(label, target)| match target {
            Some(target) => format!("[{label}]X({target})"),
            None => format!("[{label}]false"),
        });
        format!("(val(s == {state}) => {})", boxes.collect::<Vec<_>>().join(" && "))
    });
    format!("nu X(s: Nat = 0). {}", rows.collect::<Vec<_>>().join(" && "))
}

/// The formula `[R]false` for the regular expression R of an automaton's forbidden words, by eliminating
/// one state after the other; none if no word is forbidden.
fn as_regular(automaton: &[[Option<u32>; 3]]) -> Option<String> {
    let end = automaton.len();
    let mut paths: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let add = |paths: &mut BTreeMap<(usize, usize), String>, pair, path: String| {
        let joined = match paths.get(&pair) {
            Some(other) => format!("({other} + {path})"),
            None => path,
        };
        paths.insert(pair, joined);
    };
    for (from, row) in automaton.iter().enumerate() {
        for (label, target) in ["a", "b", "c"].iter().zip(row) {
            let to = target.map_or(end, |target| target as usize);
            add(&mut paths, (from, to), (*label).to_owned());
        }
    }
    for gone in (1..end).rev() {
        let again = paths.get(&(gone, gone)).map_or(String::new(), |path| format!("({path})* . "));
        let before = paths.clone();
        for (&(from, _), into) in before.iter().filter(|one| one.0.1 == gone && one.0.0 != gone) {
            for (&(_, to), out) in before.iter().filter(|one| one.0.0 == gone && one.0.1 != gone) {
                add(&mut paths, (from, to), format!("({into} . {again}{out})"));
            }
        }
        paths.retain(|pair, _| pair.0 != gone && pair.1 != gone);
    }
    let again = paths.get(&(0, 0)).map_or(String::new(), |path| format!("({path})* . "));
    Some(format!("[{again}{}]false", paths.get(&(0, end))?))
}

#[test]
fn random_automata_are_safety_formulas() {
    let mut dice = Dice(25);
    let (mut compared, mut violations) = (0, 0);
    for round in 0..400 {
        let (lts, automaton) = (random_system(&mut dice), random_automaton(&mut dice));
        let label = |text: &str| usize::from(text.as_bytes()[0] - b'a');
        let expected = accepts(&lts, |at, text| automaton[at as usize][label(text)]);
        for formula in as_regular(&automaton).into_iter().chain([as_parameter(&automaton)]) {
            let (product, refutes) = product(&lts, &formula).expect("a path decides it");
            assert!(refutes, "{formula}");
            assert_eq!(some_path_decides(&product), expected, "round {round}: {formula}\n{lts:?}");
            let by_game = decide(&lts, &formula).decision == Decision::Violated;
            assert_eq!(by_game, expected, "round {round}: {formula}\n{lts:?}");
            compared += 1;
            violations += u32::from(expected);
        }
    }
    assert!(
        compared > 600 && (150..compared - 150).contains(&violations),
        "{compared}, {violations} violated"
    );
}
