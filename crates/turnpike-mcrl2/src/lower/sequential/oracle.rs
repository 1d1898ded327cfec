//! Compares two ways to unfold random processes: term by term according to the rules of process
//! algebra, with a list of closures as continuation, and with their automaton. Both must have the
//! same behaviour.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::automaton;
use crate::lower::{Automaton, Goto, Step, Update};
use crate::syntax::{ProcessOperator, parse_specification};
use crate::typed::expression::{Substitution, boolean, simplify, substitute, text};
use crate::typed::{
    Behaviour, BehaviourId, Expression, ExpressionId, Program, VariableId, check_specification,
};

/// The number of steps to compare.
const STEPS: usize = 6;

type Values = BTreeMap<VariableId, ExpressionId>;

fn evaluate(program: &mut Program, values: &Values, expression: ExpressionId) -> ExpressionId {
    let values: Substitution = values.iter().map(|(&one, &value)| (one, value)).collect();
    let closed = substitute(program, expression, &values);
    simplify(program, closed)
}

fn holds(program: &mut Program, values: &Values, condition: ExpressionId) -> bool {
    let value = evaluate(program, values, condition);
    match program.expression(value) {
        Expression::Bool(value) => *value,
        _ => panic!("{} is neither true nor false", text(program, value)),
    }
}

fn label(program: &mut Program, values: &Values, name: &str, arguments: &[ExpressionId]) -> String {
    let mut label = name.to_owned();
    for &argument in arguments {
        let value = evaluate(program, values, argument);
        label.push_str(&format!("({})", text(program, value)));
    }
    label
}

/// All values of these variables of sort `Bool`, each with the given values of others.
fn valuations(program: &mut Program, variables: &[VariableId], values: &Values) -> Vec<Values> {
    let mut all = vec![values.clone()];
    for &one in variables {
        let mut more = Vec::new();
        for values in all {
            for value in [false, true] {
                let mut values = values.clone();
                values.insert(one, boolean(program, value));
                more.push(values);
            }
        }
        all = more;
    }
    all
}

/// A term with the values of its variables.
type Closure = (BehaviourId, Values);

/// The first steps of a term, with the continuation of each, last first.
fn steps(program: &mut Program, term: BehaviourId, values: &Values) -> Vec<(String, Vec<Closure>)> {
    match program.behaviour(term).clone() {
        Behaviour::Delta => Vec::new(),
        Behaviour::Tau => vec![("tau".to_owned(), Vec::new())],
        Behaviour::Action { action, arguments } => {
            let name = program.text(program.action(action).name).to_owned();
            vec![(label(program, values, &name, &arguments), Vec::new())]
        }
        Behaviour::Call { process, arguments } => {
            let parameters = program.process(process).parameters.clone();
            let mut inner = Values::new();
            for (&parameter, &argument) in parameters.iter().zip(&arguments) {
                inner.insert(parameter, evaluate(program, values, argument));
            }
            let body = program.process(process).body.expect("checked");
            steps(program, body, &inner)
        }
        Behaviour::Binary(ProcessOperator::Choice, left, right) => {
            let mut all = steps(program, left, values);
            all.extend(steps(program, right, values));
            all
        }
        Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
            let mut all = steps(program, left, values);
            all.iter_mut().for_each(|(_, rest)| rest.insert(0, (right, values.clone())));
            all
        }
        Behaviour::Sum { variables, body } => {
            let all = valuations(program, &variables, values);
            all.iter().flat_map(|values| steps(program, body, values)).collect()
        }
        Behaviour::If { condition, then, otherwise } => {
            match (holds(program, values, condition), otherwise) {
                (true, _) => steps(program, then, values),
                (false, Some(otherwise)) => steps(program, otherwise, values),
                (false, None) => Vec::new(),
            }
        }
        other => panic!("not generated: {other:?}"),
    }
}

/// The behaviour of the next `left` steps, as text: sets of labels with what follows them.
fn by_rules(program: &mut Program, rest: &[Closure], left: usize) -> String {
    if left == 0 {
        return "…".to_owned();
    }
    let Some(((term, values), rest)) = rest.split_last() else { return "{Terminate}".to_owned() };
    let mut all = BTreeSet::new();
    for (label, more) in steps(program, *term, values) {
        let rest: Vec<Closure> = rest.iter().chain(&more).cloned().collect();
        all.insert(format!("{label} {}", by_rules(program, &rest, left - 1)));
    }
    format!("{{{}}}", Vec::from_iter(all).join(", "))
}

fn follow(program: &mut Program, update: &Update, known: &Values, kept: &Values) -> (u32, Values) {
    match update {
        Update::If { condition, then, otherwise, .. } => {
            let branch = if holds(program, known, *condition) { then } else { otherwise };
            follow(program, branch, known, kept)
        }
        Update::Go { location, assignments } => {
            let Goto::Local(location) = *location else { panic!("not combined yet") };
            let mut values = kept.clone();
            for &(one, value) in assignments {
                values.insert(one, evaluate(program, known, value));
            }
            (location, values)
        }
    }
}

fn by_automaton(
    program: &mut Program,
    automaton: &Automaton,
    (location, kept): (u32, Values),
    left: usize,
) -> String {
    if left == 0 {
        return "…".to_owned();
    }
    // Only live parameters are kept, because others must not matter.
    let kept_live: Values =
        automaton.locations[location as usize].live.iter().map(|one| (*one, kept[one])).collect();
    let mut all = BTreeSet::new();
    for edge in automaton.edges.iter().filter(|edge| edge.from == location) {
        for values in valuations(program, &edge.variables, &kept_live) {
            if !edge.conditions.iter().all(|&condition| holds(program, &values, condition)) {
                continue;
            }
            let name = match &edge.what {
                Step::Terminate => return "{Terminate}".to_owned(),
                Step::Actions(actions) => match &actions[..] {
                    [] => "tau".to_owned(),
                    [action] => {
                        let name = program.text(action.name).to_owned();
                        label(program, &values, &name, &action.arguments)
                    }
                    _ => panic!("not generated"),
                },
            };
            let next = follow(program, &edge.target, &values, &kept);
            all.insert(format!("{name} {}", by_automaton(program, automaton, next, left - 1)));
        }
    }
    format!("{{{}}}", Vec::from_iter(all).join(", "))
}

fn term() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just("a"),
        2 => Just("b(n)"),
        1 => Just("delta"),
        1 => Just("tau"),
        2 => Just("P(n + 1)"),
        1 => Just("P(0)"),
        2 => Just("Q(n, n < 2)"),
        1 => Just("R"),
        1 => Just("(sum m: Bool. c(m) . (m -> b(n) <> a))"),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 12, 2, |inner| {
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} . {right})")),
            2 => inner.clone().prop_map(|right| format!("(b(n) . {right})")),
            2 => (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left} + {right})")),
            1 => (inner.clone(), inner.clone(), 0..3).prop_map(|(then, otherwise, bound)| {
                format!("((n < {bound}) -> {then} <> {otherwise})")
            }),
            1 => (inner.clone(), 0..3).prop_map(|(then, bound)| format!("((n == {bound}) -> {then})")),
            1 => inner.prop_map(|body| format!("(sum k: Bool. c(k) . {body} . c(k))")),
        ]
    })
}

proptest! {
    #[test]
    fn automata_behave_as_terms(p in term(), q in term(), r in term(), init in term()) {
        let source = format!(
            "act a; b: Nat; c: Bool;
             proc P(n: Nat) = {p};
             Q(n: Nat, f: Bool) = f -> ({q}) <> c(f);
             R = b(1) . S(1);
             S(n: Nat) = {r};
             Init(n: Nat) = {init};
             init Init(0);"
        );
        let (specification, diagnostics) = parse_specification(&source);
        prop_assert!(diagnostics.is_empty(), "{:?}", diagnostics);
        let (program, diagnostics) = check_specification(&specification);
        let Some(mut program) = program else { panic!("{diagnostics:?}") };
        let root = program.init.expect("an initial process");
        match automaton(&mut program, root, &Substitution::default()) {
            Err(error) => prop_assert!(error.message.contains("before any action"), "{}", error),
            Ok(automaton) => {
                let expected = by_rules(&mut program, &[(root, Values::new())], STEPS);
                let begin = follow(&mut program, &automaton.initial, &Values::new(), &Values::new());
                let found = by_automaton(&mut program, &automaton, begin, STEPS);
                prop_assert_eq!(found, expected, "{}", source);
            }
        }
    }
}
