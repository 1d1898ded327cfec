//! The tables of the language reference: expressions with the texts of their normal forms.

use rustc_hash::FxHashMap;

use crate::rewriter::engine::Rewriter;
use crate::rewriter::{OutOfSteps, normal_form};
use turnpike_mcrl2::syntax::{Container, parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::{ExpressionId, Program, SortId, check_specification};

fn program(declarations: &str) -> Program {
    let (specification, errors) = parse_specification(&format!("{declarations} init delta;"));
    assert!(errors.is_empty(), "{errors:?}");
    let (program, errors) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{errors:?}"))
}

fn parse(program: &mut Program, source: &str, sort: Option<SortId>) -> ExpressionId {
    let (parsed, errors) = parse_data_expression(source, &program.words);
    let parsed = parsed.unwrap_or_else(|| panic!("{source}: {errors:?}"));
    let checked = program.check_expression(&parsed.tree, parsed.root, &[], sort);
    checked.unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

/// Asserts that expressions have these normal forms.
#[track_caller]
fn check(declarations: &str, rows: &[(&str, &str)]) {
    let mut program = program(declarations);
    let mut wrong = Vec::new();
    for &(source, expected) in rows {
        let root = parse(&mut program, source, None);
        let found = match normal_form(&mut program, root, &FxHashMap::default()) {
            Ok(term) => term.text(&program),
            Err(OutOfSteps) => "out of steps".to_owned(),
        };
        if found != expected {
            wrong.push(format!("{source} is {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LOOP: &str =
    "map loop: Nat -> Nat; never: Nat -> Bool; u, w: Bool; k: Nat # Nat -> Nat; twice: Nat -> Nat;
    var x, y: Nat; eqn loop(x) = loop(x + 1); never(x) = never(x + 1); k(x, y) = x; twice(x) = x + x;";

#[test]
fn lazy_evaluation() {
    check(
        LOOP,
        &[
            ("false && never(0)", "false"),
            ("true || never(0)", "true"),
            ("false => never(0)", "true"),
            ("if(true, 1, loop(0))", "1"),
            ("k(5, loop(0))", "5"),
            ("u && false", "false"),
            ("u || true", "true"),
            ("if(u, 3, 3)", "3"),
            ("u == u", "true"),
            ("u => u", "u => u"),
            ("!u && u", "!u && u"),
            ("u == w", "u == w"),
            ("u != w", "!(u == w)"),
            ("u == true", "u"),
            ("false == u", "!u"),
            ("!!u", "u"),
            ("u => false", "!u"),
            ("twice(2 + 3)", "10"),
            ("loop(0)", "out of steps"),
        ],
    );
    check(
        "map ite: Bool # Nat # Nat -> Nat; f: Nat -> Nat; var x, y, n: Nat;
         eqn ite(true, x, y) = x; ite(false, x, y) = y; f(n) = ite(n == 0, 0, f(Int2Nat(n - 1)));",
        &[("f(5)", "0")],
    );
}

#[test]
fn general_rules_come_first() {
    check(
        "map f, f': Nat -> Nat; g: List(Nat) -> Nat; var n: Nat; l: List(Nat);
         eqn f(0) = 2; f(n) = 1; f'(n) = 1; f'(0) = 2; g([n]) = n; g(n |> l) = 77;",
        &[("f(0)", "1"), ("f'(0)", "1"), ("f(3)", "1"), ("g([9])", "77"), ("g([9, 8])", "77")],
    );
}

#[test]
fn conditions_and_repeated_variables() {
    check(
        "map f: Nat # Nat -> Nat; g: Nat -> Nat; u: Bool; var n, m: Nat;
         eqn f(n, n) = 2; n != m -> f(n, m) = 1; u -> g(n) = 1; n > 2 -> g(n) = 2;",
        &[("f(1 + 1, 2)", "2"), ("f(5, 0)", "1"), ("g(3)", "2"), ("g(1)", "g(1)")],
    );
}

#[test]
fn patterns() {
    check(
        "sort D; S = struct A | B(p: Nat); cons d: Nat -> D;
         map f: Nat -> Nat; fi: Int -> Nat; fr: Real -> Nat; g: List(Nat) -> Nat; h: FSet(Nat) -> Nat; hs: Set(Nat) -> Nat;
             s: S -> Nat; e: D -> Nat; N: Nat; c: Nat -> Nat; M: Nat; v: Nat -> Nat; w: (Nat -> Nat) -> Nat;
             cur: Nat -> Nat -> Nat; a, b: List(Nat) -> Nat; q: Nat -> Nat;
         var n, m: Nat; p': Pos; l, k: List(Nat); t: Nat -> Nat;
         eqn f(0) = 7; f(3) = 8; fi(3) = 1; fi(-1) = 2; fr(3) = 1; fr(1/2) = 2; f(1 + 1) = 9;
             g([]) = 0; g(n |> l) = n; h({}) = 0; h({1}) = 1; hs({}) = 0; s(A) = 1; s(B(n)) = n; e(d(n)) = n;
             N = 3; c(N) = 1; c(4) = 2; v(n + 1) = n; q(succ(n)) = n; v(p') = 5; w(t) = t(1); cur(n)(m) = n + 2 * m;
             a([n]) = 1; a([1, 2]) = 2; b(l <| n) = 1; b(l ++ k) = 2;",
        &[
            ("f(0)", "7"),
            ("f(3)", "8"),
            ("f(2)", "f(2)"),
            ("fi(3)", "1"),
            ("fi(-1)", "fi(-1)"),
            ("fr(3)", "1"),
            ("fr(1/2)", "fr(1 / 2)"),
            ("g([])", "0"),
            ("g([4, 5])", "4"),
            ("g(4 |> tail([]))", "4"),
            ("h({})", "0"),
            ("h({1})", "h({1})"),
            ("hs({})", "0"),
            ("s(A)", "1"),
            ("s(B(5))", "5"),
            ("e(d(6))", "6"),
            ("c(3)", "c(3)"),
            ("c(N)", "c(3)"),
            ("c(4)", "2"),
            ("v(2)", "v(2)"),
            ("q(2)", "q(2)"),
            ("w(f)", "f(1)"),
            ("w(lambda x: Nat. x + 2)", "3"),
            ("cur(1)(2)", "5"),
            ("cur(1)", "cur(1)"),
            ("a([5])", "1"),
            ("a([1, 2])", "2"),
            ("a([2, 1])", "a([2, 1])"),
            ("b([1])", "b([1])"),
            ("M", "M"),
        ],
    );
}

#[test]
fn built_in_functions_get_equations() {
    check(
        "sort D; cons d1, d2, d3: D; var x: D; eqn d1 == d2 = false; d1 < d2 = true; head([]) = 7;",
        &[
            ("d1 == d2", "false"),
            ("d2 == d1", "d2 == d1"),
            ("d1 == d1", "true"),
            ("d1 < d2", "true"),
            ("d1 <= d2", "d1 <= d2"),
            ("[d1] == [d2]", "false"),
            ("d1 in {d2}", "false"),
            ("head([]) == 1", "false"),
        ],
    );
}

#[test]
fn stuck_terms() {
    check(
        "sort S = struct A | B(x: Nat); D; cons d1, d2: D; map f: Nat -> Nat; l: List(Nat); var n: Nat; eqn n < 4 -> f(n) = 0;",
        &[
            ("head([])", "head([])"),
            ("tail([])", "tail([])"),
            ("rhead([])", "rhead([])"),
            ("rtail([])", "rtail([])"),
            ("Int2Nat(-1)", "Int2Nat(-1)"),
            ("Nat2Pos(0)", "Nat2Pos(0)"),
            ("Real2Int(1/2)", "Real2Int(1 / 2)"),
            ("pick({})", "pick({})"),
            ("pick({:})", "pick({:})"),
            ("1 |> tail([])", "1 |> tail([])"),
            ("[1] ++ tail([])", "1 |> tail([])"),
            ("0 < head([1]) && 0 < head(l)", "0 < head(l)"),
            ("head(l) > 0", "0 < head(l)"),
            ("[4, 5] . 7", "[] . 5"),
            ("Int2Pos(0)", "Nat2Pos(0)"),
            ("1 / 0", "1 / 0"),
            ("x(A)", "x(A)"),
            ("f(4)", "f(4)"),
            ("f(2)", "0"),
            ("d1 == d2", "d1 == d2"),
            ("tail(l) ++ [1]", "tail(l) ++ [1]"),
            ("tail(l) ++ []", "tail(l)"),
            ("(1 |> l) <| 2", "1 |> l <| 2"),
            ("[head(l), 1] == [head(l), 2]", "false"),
            ("2 div Nat2Pos(0)", "2 div Nat2Pos(0)"),
            ("head(l) - 1", "head(l) - 1"),
            ("Nat2Int(head(l))", "head(l)"),
            ("Int2Nat(head(l) - 1)", "Int2Nat(head(l) - 1)"),
        ],
    );
    let mut program = program("");
    let root = parse(&mut program, "exp(0, -1)", Some(SortId::REAL));
    let term = normal_form(&mut program, root, &FxHashMap::default());
    assert_eq!(term.map(|term| term.text(&program)), Ok("exp(0, -1)".to_owned()));
}

#[test]
fn arithmetic() {
    check(
        "",
        &[
            ("-7 div 2", "-4"),
            ("-7 mod 3", "2"),
            ("floor(-7/2)", "-4"),
            ("round(5/2)", "3"),
            ("round(-5/2)", "-2"),
            ("ceil(5/2)", "3"),
            ("exp(7, 0)", "1"),
            ("exp(2, 100)", "1267650600228229401496703205376"),
            ("exp(1/2, -2)", "4"),
            ("sqrt(17)", "4"),
            ("sqrt(0)", "0"),
            ("1/3 + 1/6", "1 / 2"),
            ("-1/3", "-1 / 3"),
            ("max(2, -3)", "2"),
            ("min(2, -3)", "-3"),
            ("succ(0)", "1"),
            ("pred(0)", "-1"),
            ("abs(-4)", "4"),
            ("abs(-1/2)", "1 / 2"),
            ("Real2Nat(6/2)", "3"),
            ("5 - 7", "-2"),
            ("2 * 3 * 7", "42"),
        ],
    );
}

#[test]
fn order_and_equality() {
    check(
        "sort S = struct A | B(x: Nat) | C(y: Nat, z: Bool); D; cons d1, d2: D;",
        &[
            ("false < true", "true"),
            ("true < false", "false"),
            ("1/2 < 2/3", "true"),
            ("[] < [1]", "true"),
            ("[2, 3] > [1, 2, 3]", "true"),
            ("[2] < [1, 5]", "false"),
            ("[1] <= [1]", "true"),
            ("{1} < {2}", "false"),
            ("{1} <= {1, 2}", "true"),
            ("{1} < {1, 2}", "true"),
            ("{1, 2} < {2, 1}", "false"),
            ("{1: 2} < {1: 3}", "true"),
            ("{1: 2} <= {1: 1}", "false"),
            ("A < B(0)", "true"),
            ("B(100) < C(0, false)", "true"),
            ("C(1, true) < C(1, false)", "false"),
            ("C(1, false) <= C(1, false)", "true"),
            ("C(0, true) < C(1, false)", "true"),
            ("B(1) == B(1)", "true"),
            ("B(1) == A", "false"),
            ("d1 < d2", "d1 < d2"),
            ("d1 <= d1", "true"),
            ("d1 < d1", "false"),
        ],
    );
    check(
        "",
        &[
            ("(lambda x: Nat. x) == (lambda y: Nat. y)", "true"),
            ("(lambda x: Bool. x) == (lambda y: Bool. !!y)", "true"),
            ("(lambda x: Bool. x) == (lambda y: Bool. !y)", "false"),
            ("(lambda x: Nat. x + 1) == (lambda y: Nat. y + 2)", "false"),
            ("{{1}, {2}} == {{2}, {1}}", "true"),
            ("{1} in {{1}, {2}}", "true"),
        ],
    );
}

#[test]
fn sets_and_bags() {
    check(
        "sort S = struct a | b | c; map v: S; w: Nat -> Bool;",
        &[
            ("{2, 1, 2}", "{1, 2}"),
            ("{true, false}", "{false, true}"),
            ("{1} + {2} * {3} - {4}", "{1}"),
            ("{1, 2} * {2, 3}", "{2}"),
            ("{1, 2} - {2, 3}", "{1}"),
            ("#{1, 2, 2}", "2"),
            ("pick({3, 2})", "2"),
            ("1 in {1, 2}", "true"),
            ("!{1}", "!{1}"),
            ("!!{1}", "{1}"),
            ("!{1} + {1}", "!{}"),
            ("!{1} * {1, 2}", "{2}"),
            ("3 in !{1}", "true"),
            ("{ n: Nat | n < 3 }", "{ n: Nat | n < 3 }"),
            ("2 in { n: Nat | n < 3 }", "true"),
            ("2 in { n: Nat | n < 3 } + {5}", "true"),
            ("5 in { n: Nat | n < 3 } + {5}", "true"),
            ("7 in { n: Nat | n < 3 } - {1}", "false"),
            ("1 in { n: Nat | n < 3 } - {1}", "false"),
            ("{1, 5} * { n: Nat | n < 3 }", "{1}"),
            ("{1, 5} - { n: Nat | n < 3 }", "{5}"),
            ("{ n: Nat | true }", "!{}"),
            ("{ n: Nat | false }", "{}"),
            ("{ x: S | x == a } == {a}", "true"),
            ("!{a} == {b, c}", "true"),
            ("!{a} == {b}", "false"),
            ("!{1} == {2}", "false"),
            ("{1: 2, 3: 0, 1: 1}", "{1: 3}"),
            ("Set2Bag({1, 2})", "{1: 1, 2: 1}"),
            ("Bag2Set({1: 2, 5: 1})", "{1, 5}"),
            ("{1: 2} + {1: 1, 2: 1}", "{1: 3, 2: 1}"),
            ("{1: 2, 3: 1} * {1: 1, 2: 1}", "{1: 1}"),
            ("{1: 2, 3: 1} - {1: 3, 3: 1}", "{:}"),
            ("count(1, {1: 2})", "2"),
            ("count(4, {1: 2})", "0"),
            ("count(4, { n: Nat | n * 2 })", "8"),
            ("#{1: 2, 2: 3}", "5"),
            ("pick({4: 2, 3: 1})", "3"),
            ("2 in {2: 1}", "true"),
            ("{ n: Nat | n * 2 }", "{ n: Nat | n * 2 }"),
        ],
    );
}

#[test]
fn functions() {
    check(
        "map f: Nat -> Nat; g: Nat -> Nat; l: List(Nat); var n: Nat; eqn g(n) = n + 1;",
        &[
            ("(lambda x: Nat. 0)[1 -> 2][2 -> 3]", "(lambda x: Nat. 0)[2 -> 3][1 -> 2]"),
            ("(lambda x: Nat. 0)[2 -> 3][1 -> 2]", "(lambda x: Nat. 0)[2 -> 3][1 -> 2]"),
            ("(lambda x: Nat. 0)[1 -> 2][1 -> 0]", "lambda x: Nat. 0"),
            ("f[1 -> f(1)]", "f"),
            ("f[1 -> 2](1)", "2"),
            ("f[1 -> 2](3)", "f(3)"),
            ("g[1 -> 7](3)", "4"),
            ("g[1 -> 7](1)", "7"),
            ("g[1 -> 2]", "g"),
            ("f[head(l) -> 2](1)", "f[head(l) -> 2](1)"),
            ("(lambda x, y: Nat. x - y)(5, 3)", "2"),
            ("(lambda x: Nat. lambda y: Nat. x + y)(5)", "lambda y: Nat. 5 + y"),
            ("(lambda x: Nat. lambda y: Nat. x + y)(5)(2)", "7"),
            ("lambda x: Nat. 1 + 2 + x", "lambda x: Nat. 3 + x"),
            ("if(true, f, g)", "f"),
            ("lambda z: Nat. g(z)", "lambda z: Nat. z + 1"),
        ],
    );
}

#[test]
fn where_and_quantifiers() {
    check(
        "map u: Nat -> Bool; l: List(Nat);",
        &[
            ("x + y whr x = 1, y = 2 end", "3"),
            ("exists n: Nat. n < 3 && n > 1", "true"),
            ("exists n: Nat. n < 3 && n > 2", "false"),
            ("forall n: Nat. n >= 0", "true"),
            ("forall n: Nat. n < 10 => n < 11", "true"),
            ("forall n: Nat. n < 10 => n < 9", "false"),
            ("forall b: Bool. b || !b", "true"),
            ("exists b, c: Bool. b && !c", "true"),
            ("exists i: Int. i < 3 && -5 < i && i == -4", "true"),
            ("forall n: Nat. u(n)", "forall n: Nat. u(n)"),
            ("exists n: Nat. u(3)", "u(3)"),
            ("exists n, m: Nat. n < 3 && m < n && m == 1", "true"),
            ("forall s: Set(Bool). true in s || !(true in s)", "true"),
        ],
    );
}

#[test]
fn the_row_of_function_values() {
    // Row 23 of the conformance suite, which has four states.
    let mut program = program("");
    let list = {
        let function = program.sorts.function(&[SortId::NAT], SortId::NAT);
        program.sorts.container(Container::List, function)
    };
    let source = "[f[1 -> 2][2 -> 3], f[2 -> 3][1 -> 2], f[1 -> 2][1 -> 0], f[2 -> 3][2 -> 0]] whr f = lambda x: Nat. 0 end";
    let root = parse(&mut program, source, Some(list));
    let term = normal_form(&mut program, root, &FxHashMap::default()).expect("few steps");
    assert_eq!(
        term.text(&program),
        "[(lambda x: Nat. 0)[2 -> 3][1 -> 2], (lambda x: Nat. 0)[2 -> 3][1 -> 2], lambda x: Nat. 0, lambda x: Nat. 0]"
    );
}

#[test]
fn steps_are_counted_for_all() {
    let mut program = program(LOOP);
    let (short, long) = (parse(&mut program, "k(1, 2)", None), parse(&mut program, "loop(1)", None));
    let mut rewriter = Rewriter::new(&mut program, 1_000);
    let values = FxHashMap::default();
    assert!(rewriter.normal_form(short, &values).is_ok());
    assert_eq!(rewriter.normal_form(long, &values), Err(OutOfSteps));
    assert_eq!(rewriter.normal_form(short, &values), Err(OutOfSteps));
}
