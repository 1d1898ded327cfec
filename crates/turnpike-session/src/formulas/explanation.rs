//! Evidence in a sentence.

use std::collections::BTreeSet;

use turnpike_formula::{Edge, Evidence, Shape};
use turnpike_mcrl2::syntax::formula::{Action, Regular, RegularKind, State, StateKind};
use turnpike_mcrl2::syntax::{Symbols, Tree, parse_formula};
use turnpike_model::Label;

/// What a path with a loop shows, in words: which steps lead to the loop, and which of the formula's
/// actions do not happen in it. Other evidence speaks for itself.
pub fn explain_evidence(evidence: &Evidence, formula: &str) -> Option<String> {
    let Shape::Lasso { stem, cycle } = evidence.shape() else { return None };
    let named = actions_of(formula);
    let path = evidence.path();
    let names = |edge: &Edge| -> Vec<String> {
        Label::parse(&edge.label).actions.into_iter().map(|action| action.name).collect()
    };
    let happens: BTreeSet<String> = path[stem..].iter().flat_map(|edge| names(edge)).collect();
    // The last step that the formula speaks of says most about where the loop is.
    let before = path[..stem].iter().rev();
    let told = before.clone().find(|edge| names(edge).iter().any(|name| named.contains(name)));
    let known: Vec<String> = told.map(|edge| names(edge)).unwrap_or_default();
    let missing: Vec<&str> = named
        .iter()
        .filter(|name| !happens.contains(*name) && !known.contains(name))
        .map(String::as_str)
        .collect();
    let after = match told.or_else(|| before.clone().find(|edge| !names(edge).is_empty())) {
        Some(edge) => format!("after {} ", edge.label),
        None => String::new(),
    };
    let without =
        if missing.is_empty() { String::new() } else { format!(" without {}", missing.join(" or ")) };
    let steps = if cycle == 1 { "1 step".to_owned() } else { format!("{cycle} steps") };
    Some(format!("{after}the system can go on for ever{without}: loop of {steps}"))
}

/// The names of the actions in a formula.
fn actions_of(formula: &str) -> BTreeSet<String> {
    let (file, _) = parse_formula(formula, &Symbols::default());
    let mut names = BTreeSet::new();
    if let Some(file) = file {
        of_state(&file.tree, &file.formula, &mut names);
    }
    names
}

fn of_state(tree: &Tree, state: &State, names: &mut BTreeSet<String>) {
    match &state.kind {
        StateKind::Data(_) | StateKind::Call { .. } => {}
        StateKind::Not(body) | StateKind::Quantifier { body, .. } | StateKind::FixedPoint { body, .. } => {
            of_state(tree, body, names)
        }
        StateKind::Binary(_, left, right) => {
            of_state(tree, left, names);
            of_state(tree, right, names);
        }
        StateKind::Modality { regular, body, .. } => {
            of_regular(tree, regular, names);
            of_state(tree, body, names);
        }
    }
}

fn of_regular(tree: &Tree, regular: &Regular, names: &mut BTreeSet<String>) {
    match &regular.kind {
        RegularKind::Action(action) => of_action(tree, action, names),
        RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => {
            of_regular(tree, left, names);
            of_regular(tree, right, names);
        }
        RegularKind::Star(body) | RegularKind::Plus(body) => of_regular(tree, body, names),
    }
}

fn of_action(tree: &Tree, action: &Action, names: &mut BTreeSet<String>) {
    match action {
        Action::Data(_) => {}
        Action::Multi(actions) => {
            names.extend(actions.iter().map(|(name, _)| tree.text(name.symbol).to_owned()));
        }
        Action::Not(body) | Action::Quantifier { body, .. } => of_action(tree, body, names),
        Action::Binary(_, left, right) => {
            of_action(tree, left, names);
            of_action(tree, right, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_formula::Taken;

    #[test]
    fn loops_are_told_in_a_sentence() {
        let taken = |label: &str| Taken { label: label.to_owned(), choice: 0 };
        let steps: Vec<Taken> = ["r1(d2)", "tau", "tau", "i", "tau"].into_iter().map(taken).collect();
        let formula = "[true*] forall d: D. [r1(d)](mu X. [!s4(d)]X && <true>true)";
        let told = |start| explain_evidence(&Evidence::of_run(&steps, start), formula);
        let sentence = "after r1(d2) the system can go on for ever without s4: loop of 3 steps";
        assert_eq!(told(Some(2)).as_deref(), Some(sentence));
        let whole = "the system can go on for ever without s4: loop of 5 steps";
        assert_eq!(told(Some(0)).as_deref(), Some(whole));
        assert_eq!(told(None), None);
    }
}
