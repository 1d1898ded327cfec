//! Random conditions, compared with exhaustive enumeration.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;

use super::{check, sum_of};
use crate::compile::evaluator::{Machine, Rules, Scope};
use crate::compile::solver::Plan;
use crate::typed::{Program, Sort, SortId, VariableId};
use crate::value::{Head, Value};

const DECLARATIONS: &str = "sort S = struct a?is_a | c(content: Nat)?is_c | d(low: Bool, high: Bool);
    map twice: Int -> Int; sized: List(Bool) -> Nat; var n: Int; e: Bool; r: List(Bool);
    eqn twice(n) = n + n; sized([]) = 0; sized(e |> r) = 1 + sized(r);
    act step;";

fn pick(options: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    prop::sample::select(options).prop_map(str::to_owned)
}

/// An integer over `x: Nat` and `y: Int`.
fn number() -> impl Strategy<Value = String> + Clone {
    let leaf = pick(&["x", "y", "x", "y", "0", "1", "2", "3", "-1", "#l"]);
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} - {b})")),
            (pick(&["2", "3", "(-1)"]), inner.clone()).prop_map(|(k, a)| format!("({k} * {a})")),
            inner.clone().prop_map(|a| format!("(-({a}))")),
            inner.clone().prop_map(|a| format!("twice({a})")),
            inner.clone().prop_map(|a| format!("(({a}) mod 3)")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("max({a}, {b})")),
        ]
    })
}

fn atom() -> impl Strategy<Value = String> + Clone {
    let compare = pick(&["==", "==", "!=", "<", "<=", ">", ">="]);
    prop_oneof![
        4 => (number(), compare, number()).prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
        1 => (number(), number(), number()).prop_map(|(a, b, e)| format!("{a} in [{b}, {e}]")),
        1 => (number(), number()).prop_map(|(a, b)| format!("{a} in {{{b}, 2}}")),
        1 => pick(&["b", "!b", "b == (x < y)", "b != is_a(s)"]),
        2 => pick(&["s == a", "s == c(x)", "c(2) == s", "s == c(x + 1)", "s != a", "s == d(b, b)", "d(true, b) == s"]),
        1 => number().prop_map(|a| format!("(is_c(s) && content(s) == {a})")),
        1 => number().prop_map(|a| format!("(is_c(s) && content(s) < {a})")),
        1 => pick(&["l == [b]", "l == b |> [true]", "true in l", "l != []", "[b, !b] == l", "sized(l) == x"]),
        1 => number().prop_map(|a| format!("(exists m: Nat. m < 3 && m + 1 == {a})")),
        1 => number().prop_map(|a| format!("(forall m: Nat. m < 3 => m <= {a})")),
    ]
}

fn condition() -> impl Strategy<Value = String> + Clone {
    atom().prop_recursive(2, 5, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) => ({b}))")),
            inner.clone().prop_map(|a| format!("!({a})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, e)| format!("if({a}, {b}, {e})")),
        ]
    })
}

/// A condition that bounds each variable.
fn bounds() -> Vec<BoxedStrategy<String>> {
    let x = pick(&[
        "x < 5",
        "x <= 4",
        "!(x > 3)",
        "x + 1 < 6",
        "x in [0, 2, 4, 2]",
        "x * x < 20",
        "exp(2, x) <= 16",
        "(x == 1 || x == 3)",
        "2 * x <= 7",
    ]);
    let y = pick(&[
        "(-3 < y && y < 3)",
        "y * y < 10",
        "abs(y) <= 2",
        "y in {-2, 0, 2}",
        "(y - 1 <= 2 && !(y < -3))",
        "(y == -1 || y == 2 || y == -1)",
    ]);
    let s = pick(&[
        "(is_c(s) => content(s) < 4)",
        "s in [a, c(1), d(true, false), a]",
        "(s == a || s == c(3))",
        "(if(is_c(s), content(s) * content(s) < 10, true))",
        "s == c(2)",
    ]);
    let l = pick(&["#l <= 2", "sized(l) < 3", "l in {[], [true], [true, false]}", "(l == [] || l == [b])"]);
    vec![x.boxed(), y.boxed(), s.boxed(), l.boxed()]
}

fn problem() -> impl Strategy<Value = String> {
    let parts = (bounds(), prop::collection::vec(condition(), 0..3));
    parts
        .prop_map(|(bounds, more)| bounds.into_iter().chain(more).collect::<Vec<String>>())
        .prop_shuffle()
        .prop_map(|parts| parts.join(" && "))
}

/// The bounds of a sort.
fn values(program: &Program, machine: &mut Machine, sort: SortId) -> Vec<Value> {
    let heap = &mut machine.heap;
    let bools = [Value::TRUE, Value::FALSE];
    match program.sorts.get(sort) {
        Sort::Bool => bools.to_vec(),
        Sort::Nat => (0..6).map(|number| heap.whole(number)).collect(),
        Sort::Int => (-4..5).map(|number| heap.whole(number)).collect(),
        Sort::Struct(_) => {
            let constructors = program.constructors(sort).to_vec();
            let mut all = vec![heap.make(Head::Symbol(constructors[0]), &[])];
            for number in 0..5 {
                let field = heap.whole(number);
                all.push(heap.make(Head::Symbol(constructors[1]), &[field]));
            }
            for low in bools {
                for high in bools {
                    all.push(heap.make(Head::Symbol(constructors[2]), &[low, high]));
                }
            }
            all
        }
        _ => {
            let mut all = vec![heap.list_of(&[]), heap.list_of(&[Value::TRUE; 3])];
            for one in bools {
                all.push(heap.list_of(&[one]));
                for two in bools {
                    all.push(heap.list_of(&[one, two]));
                }
            }
            all
        }
    }
}

fn print(
    program: &Program,
    machine: &Machine,
    scope: &Scope,
    frame: usize,
    variables: &[VariableId],
) -> String {
    let texts: Vec<String> = variables
        .iter()
        .map(|&variable| machine.heap.print(program, &(), machine.slot(frame, scope.get(variable).unwrap())))
        .collect();
    texts.join(", ")
}

/// All solutions of the plan, and all solutions in the bounds.
fn both(order: &str, text: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let program = check(&format!("{DECLARATIONS} init sum {order}. ({text}) -> step.delta;"));
    let (variables, condition) = sum_of(&program, program.init.unwrap());
    let rules = Rules::new(Arc::new(program.clone()));
    let mut machine = Machine::new(rules.clone());
    let mut scope = Scope::default();
    let plan = Plan::new(&rules, &program, &variables, &[condition], &mut scope);
    let code = rules.compile(&program, condition, &mut scope);
    let frame = machine.enter(scope.size());
    let mut found = Vec::new();
    let result = plan.run(&mut machine, frame, &mut |machine| {
        found.push(print(&program, machine, &scope, frame, &variables));
        ControlFlow::Continue(())
    });
    if let Err(error) = result {
        return Err(format!("{error:?}"));
    }
    let mut expected = Vec::new();
    let boxes: Vec<Vec<Value>> = variables
        .iter()
        .map(|&variable| values(&program, &mut machine, program.variable(variable).sort))
        .collect();
    let mut indices = vec![0; boxes.len()];
    'all: loop {
        for (place, &variable) in variables.iter().enumerate() {
            machine.set_slot(frame, scope.get(variable).unwrap(), boxes[place][indices[place]]);
        }
        if machine.evaluate(&code, frame) == Ok(Value::TRUE) {
            expected.push(print(&program, &machine, &scope, frame, &variables));
        }
        for place in (0..boxes.len()).rev() {
            indices[place] += 1;
            if indices[place] < boxes[place].len() {
                continue 'all;
            }
            indices[place] = 0;
        }
        break;
    }
    Ok((found, expected))
}

/// The number of conditions.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn plans_find_what_trying_everything_finds(text in problem(), order in Just([
        "x: Nat", "y: Int", "b: Bool", "s: S", "l: List(Bool)",
    ]).prop_map(|all| all.to_vec()).prop_shuffle()) {
        let (mut found, mut expected) = both(&order.join(", "), &text).map_err(|error| {
            TestCaseError::fail(format!("{text}: {error}"))
        })?;
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected, "{}", text);
    }
}
