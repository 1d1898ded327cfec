//! Evidence as a sentence.

use std::collections::BTreeMap;

use turnpike_formula::{Edge, Evidence, Shape};
use turnpike_mcrl2::syntax::formula::{Action as ActionFormula, Regular, RegularKind, State, StateKind};
use turnpike_mcrl2::syntax::{Data, DataId, Symbols, Tree, parse_formula};
use turnpike_model::Label;
use turnpike_model::label::Action;

/// Explains a path with a loop: the steps that lead to the loop, and the formula's actions that do
/// not occur in it. Other evidence needs no explanation.
pub fn explain_evidence(evidence: &Evidence, formula: &str) -> Option<String> {
    let Shape::Lasso { stem, cycle } = evidence.shape() else { return None };
    let named = actions_of(formula);
    let path = evidence.path();
    let actions = |edge: &Edge| Label::parse(&edge.label).actions;
    let is_named = |action: &Action| named.iter().any(|one| one.name == action.name);
    let happens: Vec<Action> = path[stem..].iter().flat_map(|edge| actions(edge)).collect();
    // The last step that occurs in the formula describes best where the loop is.
    let before = path[..stem].iter().rev();
    let last_named = before.clone().find(|edge| actions(edge).iter().any(is_named));
    let known: Vec<Action> = last_named.map(|edge| actions(edge)).unwrap_or_default();
    let values = values_of(&named, &known);
    let names = |edge: &Edge| -> Vec<String> { actions(edge).into_iter().map(|one| one.name).collect() };
    let mut missing: Vec<String> = Vec::new();
    for action in &named {
        let arguments: Option<Vec<String>> =
            action.arguments.iter().map(|argument| value(argument, &values)).collect();
        let same = |one: &Action| {
            one.name == action.name && arguments.as_ref().is_none_or(|own| *own == one.arguments)
        };
        if happens.iter().any(same) || known.iter().any(|one| one.name == action.name) {
            continue;
        }
        let text = match arguments {
            Some(arguments) if !arguments.is_empty() => format!("{}({})", action.name, arguments.join(",")),
            _ => action.name.clone(),
        };
        if !missing.contains(&text) {
            missing.push(text);
        }
    }
    let after = match last_named.or_else(|| before.clone().find(|edge| !names(edge).is_empty())) {
        Some(edge) => format!("after {} ", edge.label),
        None => String::new(),
    };
    let without =
        if missing.is_empty() { String::new() } else { format!(" without {}", missing.join(" or ")) };
    let steps = if cycle == 1 { "1 step".to_owned() } else { format!("{cycle} steps") };
    Some(format!("{after}the system can continue forever{without}: loop of {steps}"))
}

/// The values of a formula's variables in a label: `r(d)` and `r(2)` show that d is 2.
fn values_of(named: &[Action], label: &[Action]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for action in label {
        let same = |one: &&Action| one.name == action.name && one.arguments.len() == action.arguments.len();
        if let Some(one) = named.iter().find(same) {
            values.extend(one.arguments.iter().cloned().zip(action.arguments.iter().cloned()));
        }
    }
    values
}

/// The value of an argument of a formula: a number stands for itself, a variable for its value.
fn value(argument: &str, values: &BTreeMap<String, String>) -> Option<String> {
    let is_number = !argument.is_empty() && argument.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Some(argument.to_owned()) } else { values.get(argument).cloned() }
}

/// The actions in a formula, without duplicates. Arguments that are neither names nor numbers
/// become empty texts.
fn actions_of(formula: &str) -> Vec<Action> {
    let (file, _) = parse_formula(formula, &Symbols::default());
    let mut names = Vec::new();
    if let Some(file) = file {
        of_state(&file.tree, &file.formula, &mut names);
    }
    names
}

fn of_state(tree: &Tree, state: &State, names: &mut Vec<Action>) {
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

fn of_regular(tree: &Tree, regular: &Regular, names: &mut Vec<Action>) {
    match &regular.kind {
        RegularKind::Action(action) => of_action(tree, action, names),
        RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => {
            of_regular(tree, left, names);
            of_regular(tree, right, names);
        }
        RegularKind::Star(body) | RegularKind::Plus(body) => of_regular(tree, body, names),
    }
}

fn of_action(tree: &Tree, action: &ActionFormula, names: &mut Vec<Action>) {
    match action {
        ActionFormula::Data(_) => {}
        ActionFormula::Multi(actions) => {
            for (name, arguments) in actions {
                let argument = |&id: &DataId| match tree.data(id) {
                    Data::Name(name) | Data::Number(name) => tree.text(*name).to_owned(),
                    _ => String::new(),
                };
                let arguments = arguments.iter().map(argument).collect();
                let action = Action { name: tree.text(name.symbol).to_owned(), arguments };
                if !names.contains(&action) {
                    names.push(action);
                }
            }
        }
        ActionFormula::Not(body) | ActionFormula::Quantifier { body, .. } => of_action(tree, body, names),
        ActionFormula::Binary(_, left, right) => {
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
    fn loops_are_explained_in_a_sentence() {
        let taken = |label: &str| Taken { label: label.to_owned(), choice: 0 };
        let steps: Vec<Taken> = ["r1(d2)", "tau", "tau", "i", "tau"].into_iter().map(taken).collect();
        let formula = "[true*] forall d: D. [r1(d)](mu X. [!s4(d)]X && <true>true)";
        let explained = |start| explain_evidence(&Evidence::of_run(&steps, start), formula);
        let sentence = "after r1(d2) the system can continue forever without s4(d2): loop of 3 steps";
        assert_eq!(explained(Some(2)).as_deref(), Some(sentence));
        let whole = "the system can continue forever without s4: loop of 5 steps";
        assert_eq!(explained(Some(0)).as_deref(), Some(whole));
        assert_eq!(explained(None), None);
    }
}
