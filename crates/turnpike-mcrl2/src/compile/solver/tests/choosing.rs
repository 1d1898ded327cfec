//! Which method the planner chooses, and how it classifies sorts and sums.

use super::problem;
use crate::compile::solver::choice::{Choice, Choices};
use crate::compile::solver::finite::{Sizes, finite_size};
use crate::compile::solver::linear_form::sum;
use crate::compile::solver::literal::{Literal, alternatives, comparison, split};
use crate::compile::solver::pattern::find_redefined;
use crate::typed::expression;

/// The text of the first choice.
fn choice(declarations: &str, variables: &str, condition: &str) -> String {
    let problem = problem(declarations, variables, condition);
    let program = &problem.program;
    let literals: Vec<Literal> = split(program, problem.condition, true)
        .into_iter()
        .map(|(expression, holds)| Literal { expression, holds, origin: expression, partial: false })
        .collect();
    let (rewritten, equalities) = find_redefined(program);
    let mut choices = Choices {
        program,
        rewritten: &rewritten,
        equalities: &equalities,
        sizes: &mut Sizes::default(),
        open: &problem.variables,
        literals: &literals,
        avoid: &[],
    };
    let name = |variable| program.text(program.variable(variable).name).to_owned();
    match choices.best(false) {
        None => "none".to_owned(),
        Some(Choice::Solve { value, pattern, .. }) => {
            let mut bound = Vec::new();
            pattern.bound(&mut bound);
            let bound: Vec<String> = bound.into_iter().map(name).collect();
            format!("solve {} for {}", expression::text(program, value), bound.join(", "))
        }
        Some(Choice::Root { .. }) => "root".to_owned(),
        Some(Choice::Truth { variable, .. }) => format!("truth {}", name(variable)),
        Some(Choice::Member { collection, .. }) => {
            format!("member of {}", expression::text(program, collection))
        }
        Some(Choice::Interval { variable, lower, upper }) => {
            format!("interval {} {}/{}", name(variable), lower.len(), upper.len())
        }
        Some(Choice::Values { variable }) => format!("values {}", name(variable)),
    }
}

#[test]
fn the_cheapest_plan_is_chosen() {
    let structure =
        "sort S = struct c(first: Nat, second: Bool)?is_c | d; glob s: S; k: Nat; l: List(Nat); m: Set(Nat);";
    let cases = [
        ("n: Nat", "n == 5", "solve 5 for n"),
        ("n: Nat", "5 == n + 2", "solve 5 for n"),
        ("n: Nat", "n != 5", "none"),
        ("n: Nat", "!(n != 5)", "solve 5 for n"),
        ("n: Nat", "k - 3 == n", "solve k - 3 for n"),
        ("n: Int", "-n == 3", "solve 3 for n"),
        ("n: Nat", "n + k == 2 * n + 1", "root"),
        ("n: Nat", "n < 4", "interval n 0/1"),
        ("n: Nat", "!(n >= k)", "interval n 0/1"),
        ("n: Int", "n < 4", "none"),
        ("n: Int", "n < 4 && -3 < n", "interval n 1/1"),
        ("n: Nat", "n < 1000 && n in l", "member of l"),
        ("n: Nat", "n in {1, 4}", "member of {1, 4}"),
        ("n: Nat", "n in m", "none"),
        ("x, y: Nat", "x + y == 3", "interval x 0/1"),
        ("x, y: Nat", "x < y && y < 3", "interval y 1/1"),
        ("t: S", "t == s", "solve s for t"),
        ("a: Nat, b: Bool", "s == c(a, b)", "solve s for a, b"),
        ("a: Nat, b: Bool", "c(a, b) == s && a < 3", "solve s for a, b"),
        ("a: Nat", "s == c(a + k, true)", "solve s for a"),
        ("a: Nat, r: List(Nat)", "l == a |> r", "solve l for a, r"),
        ("a, b: Nat", "[a, b] == l", "solve l for a, b"),
        ("b: Bool, n: Nat", "n < 10", "values b"),
        ("b: Bool, n: Nat", "n < 10 && !b", "truth b"),
        ("n: Nat", "n * n < 10", "none"),
        ("f: FSet(Bool)", "true in f", "values f"),
        ("r: Real", "r < 3 && r > 2", "none"),
        ("r: Real", "r + 1 == 3/2", "solve 3 / 2 for r"),
    ];
    for (variables, condition, expected) in cases {
        assert_eq!(choice(structure, variables, condition), expected, "sum {variables}. {condition}");
    }
    let equal = "sort D; cons d1, d2: D; eqn d1 == d2 = true; glob e: D;";
    assert_eq!(choice(equal, "d: D", "d == e"), "values d", "equality defined by equations is not identity");
}

#[test]
fn sizes_of_sorts() {
    let declarations =
        "sort B = struct t | f; P = struct p(B, B) | q; T = struct leaf | node(T, T); U = struct u(T);
        D; E; cons e1, e2: E; sort F = struct big(Set(P), Set(P), Set(P), Set(P), Set(P), Set(P), Set(P), Set(P));
        N = struct n(Nat);";
    let cases = [
        ("Bool", Some(2)),
        ("B", Some(2)),
        ("P", Some(5)),
        ("Set(P)", Some(32)),
        ("FSet(B)", Some(4)),
        ("B -> P", Some(25)),
        ("P # B -> Bool", Some(1024)),
        ("Set(Set(Set(P)))", Some(u64::MAX)),
        ("F", Some(1 << 40)),
        ("T", None),
        ("U", None),
        ("D", None),
        ("E", Some(2)),
        ("N", None),
        ("Nat", None),
        ("List(Bool)", None),
        ("FBag(Bool)", None),
        ("Nat -> Bool", None),
    ];
    for (sort, expected) in cases {
        let problem = problem(declarations, &format!("x: {sort}"), "true");
        let sort_id = problem.program.variable(problem.variables[0]).sort;
        assert_eq!(finite_size(&problem.program, sort_id), expected, "{sort}");
    }
}

#[test]
fn sums_have_factors() {
    let problem = problem("glob k: Nat;", "x, y: Int", "2 * (x - 3) + k - (-y) == 7 + x + x + (y - 1)");
    let (_, left, right) = comparison(&problem.program, problem.condition, true).unwrap();
    let open = &problem.variables;
    let left = sum(&problem.program, left, open).unwrap();
    assert_eq!((left.constant, left.factor(open[0]), left.factor(open[1]), left.known.len()), (-6, 2, 1, 1));
    let difference = left.plus(-1, &sum(&problem.program, right, open).unwrap()).unwrap();
    assert_eq!((difference.constant, difference.open.len(), difference.known.len()), (-12, 0, 1));
}

#[test]
fn conditions_are_split() {
    let cases = [
        ("p && (q && r)", 3, 1),
        ("!(p || !q)", 2, 1),
        ("!(p => q) && true", 2, 1),
        ("p || q || r", 1, 3),
        ("!(p && q)", 1, 2),
        ("p => q", 1, 2),
        ("if(p, q, r)", 1, 2),
    ];
    for (condition, parts, sides) in cases {
        let problem = problem("", "p, q, r: Bool", condition);
        assert_eq!(split(&problem.program, problem.condition, true).len(), parts, "{condition}");
        assert_eq!(alternatives(&problem.program, problem.condition, true).len(), sides, "{condition}");
    }
}
