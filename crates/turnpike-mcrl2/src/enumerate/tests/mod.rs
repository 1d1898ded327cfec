//! Plans, from what they are made of to what they find.

mod choosing;

use crate::sorts::{Behaviour, ExpressionId, Program, VariableId, check_specification};
use crate::syntax::parse_specification;

/// A sum and its condition.
struct Problem {
    program: Program,
    variables: Vec<VariableId>,
    condition: ExpressionId,
}

/// The problem `sum variables. condition`, with declarations; variables of `glob` sections stand for what the caller knows.
fn problem(declarations: &str, variables: &str, condition: &str) -> Problem {
    let text = format!("{declarations} act step; init sum {variables}. ({condition}) -> step.delta;");
    let (specification, errors) = parse_specification(&text);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let (program, diagnostics) = check_specification(&specification);
    let program = program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let Some(Behaviour::Sum { variables, body }) = program.init.map(|init| program.behaviour(init)) else {
        panic!("no sum: {text}")
    };
    let mut variables = variables.to_vec();
    let mut body = *body;
    while let Behaviour::Sum { variables: more, body: inner } = program.behaviour(body) {
        variables.extend(more.iter());
        body = *inner;
    }
    let &Behaviour::If { condition, .. } = program.behaviour(body) else { panic!("no condition: {text}") };
    Problem { variables, condition, program }
}
