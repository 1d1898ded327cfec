//! Tests of plans and their solutions.

mod choosing;
mod corpus;
mod random;
mod running;

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{EnumerationError, Plan};
use crate::compile::evaluator::{Machine, Rules, Scope};
use crate::syntax::parse_specification;
use crate::typed::{Behaviour, BehaviourId, ExpressionId, Program, VariableId, check_specification};

/// A sum and its condition.
struct Problem {
    program: Program,
    variables: Vec<VariableId>,
    condition: ExpressionId,
}

fn check(text: &str) -> Program {
    let (specification, errors) = parse_specification(text);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let (program, diagnostics) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"))
}

/// The variables and the condition of `sum variables. (condition) -> …`.
fn sum_of(program: &Program, mut body: BehaviourId) -> (Vec<VariableId>, ExpressionId) {
    let mut variables = Vec::new();
    while let Behaviour::Sum { variables: more, body: inner } = program.behaviour(body) {
        variables.extend(more.iter());
        body = *inner;
    }
    let &Behaviour::If { condition, .. } = program.behaviour(body) else { panic!("no condition") };
    (variables, condition)
}

/// The problem `sum variables. condition`, with declarations. The values of variables in `glob`
/// sections are known.
fn problem(declarations: &str, variables: &str, condition: &str) -> Problem {
    let program =
        check(&format!("{declarations} act step; init sum {variables}. ({condition}) -> step.delta;"));
    let (variables, condition) = sum_of(&program, program.init.unwrap());
    Problem { variables, condition, program }
}

/// The solutions of a problem, with values separated by commas, or the error.
fn solve(declarations: &str, variables: &str, condition: &str) -> Result<Vec<String>, String> {
    solve_with(declarations, variables, condition, &[])
}

/// The solutions of a problem with known variables: their names, sorts and values.
fn solve_with(
    declarations: &str,
    variables: &str,
    condition: &str,
    known: &[(&str, &str, &str)],
) -> Result<Vec<String>, String> {
    let parameters: Vec<String> = known.iter().map(|(name, sort, _)| format!("{name}: {sort}")).collect();
    let values: Vec<&str> = known.iter().map(|(_, _, value)| *value).collect();
    let (head, call) = if known.is_empty() {
        ("P".to_owned(), "P".to_owned())
    } else {
        (format!("P({})", parameters.join(", ")), format!("P({})", values.join(", ")))
    };
    let text = format!(
        "{declarations} act step; proc {head} = sum {variables}. ({condition}) -> step.delta; init {call};"
    );
    let program = check(&text);
    let (variables, condition) = sum_of(&program, program.processes[0].body.unwrap());
    let arguments = match program.behaviour(program.init.unwrap()) {
        Behaviour::Call { arguments, .. } => arguments.clone(),
        other => panic!("{other:?}"),
    };
    let rules = Rules::new(Arc::new(program.clone()));
    let mut machine = Machine::new(rules.clone());
    let mut scope = Scope::default();
    let slots: Vec<u32> =
        program.processes[0].parameters.iter().map(|&parameter| scope.slot(parameter)).collect();
    let plan = Plan::new(&rules, &program, &variables, &[condition], &mut scope);
    let arguments: Vec<_> =
        arguments.iter().map(|&argument| rules.compile(&program, argument, &mut Scope::default())).collect();
    let frame = machine.enter(scope.size() + 16);
    for (slot, code) in slots.iter().zip(&arguments) {
        let value = machine.evaluate(code, frame).unwrap();
        machine.set_slot(frame, *slot, value);
    }
    let mut solutions = Vec::new();
    let result = plan.run(&mut machine, frame, &mut |machine| {
        let texts: Vec<String> = variables
            .iter()
            .map(|&variable| {
                let value = machine.slot(frame, scope.get(variable).unwrap());
                machine.heap.print(&program, &(), value)
            })
            .collect();
        solutions.push(texts.join(", "));
        if solutions.len() > 10_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match result {
        Ok(ControlFlow::Continue(())) => Ok(solutions),
        Ok(ControlFlow::Break(())) => Err("very many".to_owned()),
        Err(EnumerationError::Endless { variable, reason }) => {
            Err(format!("{}: {reason}", program.text(program.variable(variable).name)))
        }
        Err(EnumerationError::Stuck { condition, .. }) => Err(format!(
            "{} is stuck after {}",
            crate::typed::expression::text(&program, condition),
            solutions.len()
        )),
        Err(EnumerationError::Evaluation(error)) => Err(format!("{error:?}")),
    }
}
