//! Simplified random expressions have the same values in the slow rewriter.

use proptest::prelude::*;

use crate::random_expressions::{Kind, SPECIFICATION, is_stuck, write};
use crate::rewriter::normal_form;
use turnpike_mcrl2::syntax::{parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::expression::{Substitution, simplify, substitute};
use turnpike_mcrl2::typed::{ExpressionId, Program, SortId, VariableId, check_specification};

/// The values of the free variables of expressions.
const VALUES: [(&str, [&str; 2]); 6] = [
    ("n0", ["3", "0"]),
    ("n1", ["k(0, 3)", "4"]),
    ("b0", ["true", "1 < 0"]),
    ("l0", ["down(3)", "[]"]),
    ("s0", ["C(2, false)", "A"]),
    ("e0", ["{2, 3}", "{}"]),
];

fn program() -> Program {
    let variables = "glob n0, n1: Nat; b0: Bool; l0: List(Nat); s0: S; e0: FSet(Nat);";
    let (parsed, errors) = parse_specification(&format!("{variables} {SPECIFICATION}"));
    assert_eq!(errors, []);
    check_specification(&parsed).0.expect("a correct specification")
}

fn expression(program: &mut Program, text: &str, sort: Option<SortId>) -> Option<ExpressionId> {
    let (parsed, _) = parse_data_expression(text, &program.words);
    let parsed = parsed?;
    let globals = program.globals.clone();
    program.check_expression(&parsed.tree, parsed.root, &globals, sort).ok()
}

/// Values of all variables: `which` selects one of two values for each of them.
fn values(program: &mut Program, which: usize) -> Substitution {
    let globals: Vec<VariableId> = program.globals.clone();
    let value = |(variable, (index, (name, values))): (VariableId, (usize, &(&str, [&str; 2])))| {
        assert_eq!(program.text(program.variable(variable).name), *name);
        let sort = program.variable(variable).sort;
        let value = expression(program, values[which >> index & 1], Some(sort)).expect("a value of the sort");
        (variable, value)
    };
    globals.into_iter().zip(VALUES.iter().enumerate()).map(value).collect()
}

/// The normal forms of an expression and of its simplified version, with the same values of
/// variables, and whether they differ. `None` if the expression is not well-typed or the rewriter
/// takes too long.
fn both(text: &str, which: usize) -> Option<(String, String, bool)> {
    let mut program = program();
    let original = expression(&mut program, text, None)?;
    let simplified = simplify(&mut program, original);
    let values = values(&mut program, which);
    let mut value = |id: ExpressionId| {
        let closed = substitute(&mut program, id, &values);
        Some(normal_form(&mut program, closed, &Default::default()).ok()?.text(&program))
    };
    Some((value(original)?, value(simplified)?, simplified != original))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn simplifying_keeps_the_value(
        kind in 0_usize..5,
        which in 0_usize..64,
        choices in proptest::collection::vec(0_usize..1000, 60),
    ) {
        let text = write(Kind::ALL[kind], 5, &mut choices.into_iter());
        if let Some((original, simplified, _)) = both(&text, which)
            // Stuck terms may have another form.
            && !is_stuck(&original)
        {
            prop_assert_eq!(original, simplified, "{}", text);
        }
    }
}

/// Without well-typed expressions that can be simplified, the test above would be useless.
#[test]
fn the_expressions_are_simplified() {
    let mut seed = 7_u64;
    let mut next = std::iter::from_fn(move || {
        seed = turnpike_model::hash::mix(seed, 1);
        Some((seed % 1000) as usize)
    });
    let texts: Vec<String> = (0..100).map(|number| write(Kind::ALL[number % 5], 5, &mut next)).collect();
    let all: Vec<(String, String, bool)> = texts.iter().filter_map(|text| both(text, 0)).collect();
    let changed = all.iter().filter(|(original, _, changed)| *changed && !is_stuck(original)).count();
    assert!(all.len() >= 80 && changed >= 30, "{changed} of {} changed", all.len());
}
