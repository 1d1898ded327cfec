//! Tables of expressions and their values, mostly from the output of the mCRL2 tools.

use std::sync::Arc;

use super::{EvaluationError, Machine, Rules, Scope, prepare};
use crate::syntax::{parse_data_expression, parse_specification};
use crate::typed::{Program, check_specification};

fn program(specification: &str, expression: &str) -> (Arc<Program>, crate::typed::ExpressionId) {
    let text = format!("{specification} init delta;");
    let (parsed, diagnostics) = parse_specification(&text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let (program, diagnostics) = check_specification(&parsed);
    let mut program = program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let (parsed, diagnostics) = parse_data_expression(expression, &program.words);
    let parsed = parsed.unwrap_or_else(|| panic!("{expression}: {diagnostics:?}"));
    let globals = program.globals.clone();
    let id = program
        .check_expression(&parsed.tree, parsed.root, &globals, None)
        .unwrap_or_else(|diagnostics| panic!("{expression}: {diagnostics:?}"));
    prepare(&mut program);
    (Arc::new(program), id)
}

fn try_evaluate(specification: &str, expression: &str) -> Result<String, EvaluationError> {
    let (program, id) = program(specification, expression);
    let rules = Rules::new(Arc::clone(&program));
    let mut scope = Scope::default();
    let code = rules.compile(&program, id, &mut scope);
    let mut machine = Machine::new(Arc::clone(&rules));
    machine.set_step_limit(5_000_000);
    let base = machine.enter(scope.size());
    let value = machine.evaluate(&code, base)?;
    assert_eq!(machine.evaluate(&code, base), Ok(value), "the same value again");
    Ok(machine.heap.print(&rules.program(), &*rules, value))
}

/// Checks `expression = expected` for all rows.
fn check(specification: &str, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (expression, expected) in rows {
        match try_evaluate(specification, expression) {
            Ok(found) if found == *expected => {}
            found => wrong.push(format!("{expression}\n  expected {expected}\n  found    {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{specification}\n{}", wrong.join("\n"));
}

#[test]
fn rules_for_if_do_not_make_it_eager() {
    let rules = "map spin: Nat -> Bool; u: Bool; some_of: Nat -> Bool; var c: Bool; n: Nat;
        eqn if(c, true, false) = c; if(c, false, true) = !c; spin(n) = spin(n + 1); some_of(n) = if(n < 3, n < 2, spin(n));";
    check(
        rules,
        &[
            ("if(1 < 2, true, spin(0))", "true"),
            ("if(2 < 1, spin(0), 1 == 1)", "true"),
            ("some_of(1)", "true"),
            ("some_of(2)", "false"),
            ("if(u, true, false)", "u"),
            ("if(u, false, 1 < 2)", "!u"),
            ("if(u, u, true)", "if(u, u, true)"),
        ],
    );
}

#[test]
fn repeated_calls_are_remembered() {
    let fib = "map fib: Nat -> Nat; var n: Nat;
        eqn n < 2 -> fib(n) = n; n >= 2 -> fib(n) = fib(Int2Nat(n - 1)) + fib(Int2Nat(n - 2));";
    check(fib, &[("fib(80)", "23416728348467685")]);
}

#[test]
fn functions_built_by_equations_are_applied() {
    let table = "sort T = Nat -> Nat; map base: T; set: Nat # Nat # T -> T; fill: Nat # T -> T; var k, v, n: Nat; t: T;
        eqn base(n) = 0; k == n -> set(k, v, t)(n) = v; k != n -> set(k, v, t)(n) = t(n);
            n == 0 -> fill(n, t) = t; n > 0 -> fill(n, t) = fill(Int2Nat(n - 1), set(n, n + 1, t));";
    check(
        table,
        &[
            ("set(1, 5, base)(1)", "5"),
            ("set(1, 5, base)(2)", "0"),
            ("fill(50000, base)(50000)", "50001"),
            ("fill(50000, base)(50001)", "0"),
            ("set(1, 5, lambda n: Nat. n + 7)(2)", "9"),
            ("set(1, 5, base[3 -> 4])(3)", "4"),
            ("set(3, 5, base)[3 -> 4](3)", "4"),
        ],
    );
}

const LAZY: &str = "
    map ite: Bool # Nat # Nat -> Nat; f, loop, u: Nat -> Nat; k: Nat # Nat -> Nat; b: Bool; later: Bool # Nat # Nat -> Nat;
    var x, y, n: Nat;
    eqn ite(true, x, y) = x; ite(false, x, y) = y;
        f(n) = ite(n == 0, 0, f(Int2Nat(n - 1)));
        loop(n) = loop(n + 1);
        k(x, y) = x;
        later(true, x, y) = x; later(false, x, y) = y + y;
";

#[test]
fn what_is_not_needed_is_not_evaluated() {
    check(
        LAZY,
        &[
            ("f(5)", "0"),
            ("k(5, loop(0))", "5"),
            ("k(k(1, loop(2)), loop(0))", "1"),
            ("false && loop(0) == 1", "false"),
            ("true || loop(0) == 1", "true"),
            ("false => loop(0) == 1", "true"),
            ("if(true, 1, loop(0))", "1"),
            ("if(1 < 2, 1, loop(0))", "1"),
            ("later(true, 3, loop(1))", "3"),
            ("later(false, loop(1), 3 + u(0))", "3 + u(0) + (3 + u(0))"),
            ("later(false, loop(1), 3)", "6"),
        ],
    );
}

#[test]
fn functions_that_do_not_end_are_noticed() {
    assert_eq!(try_evaluate(LAZY, "loop(0)"), Err(EvaluationError::OutOfSteps));
    assert_eq!(try_evaluate(LAZY, "k(loop(0), 1)"), Err(EvaluationError::OutOfSteps));
}

#[test]
fn stuck_operands_are_simplified_from_both_sides() {
    check(
        "map u, v: Bool; n: Nat;",
        &[
            ("u && false", "false"),
            ("u && true", "u"),
            ("true && u", "u"),
            ("u || true", "true"),
            ("u || false", "u"),
            ("if(u, n, n)", "n"),
            ("if(u, 1, 2)", "if(u, 1, 2)"),
            ("u == u", "true"),
            ("n == n", "true"),
            ("n < n", "false"),
            ("n <= n", "true"),
            ("u => u", "u => u"),
            ("!u && u", "!u && u"),
            ("!!u", "u"),
            ("u == true", "u"),
            ("u => true", "true"),
            ("n + 1", "n + 1"),
        ],
    );
}

#[test]
fn general_rules_come_first() {
    check("map f: Nat -> Nat; var n: Nat; eqn f(0) = 2; f(n) = 1;", &[("f(0)", "1"), ("f(7)", "1")]);
    check("map f: Nat -> Nat; var n: Nat; eqn f(n) = 1; f(0) = 2;", &[("f(0)", "1")]);
    check(
        "map f: List(Nat) -> Nat; var x: Nat; l: List(Nat); eqn f([x]) = x; f(x |> l) = 77;",
        &[("f([9])", "77"), ("f([])", "f([])")],
    );
    check(
        "map f: Nat # Nat -> Nat; var n, m: Nat; eqn f(n, n) = 2; n != m -> f(n, m) = 1;",
        &[("f(1 + 1, 2)", "2"), ("f(5, 0)", "1")],
    );
}

#[test]
fn patterns() {
    check(
        "sort S = struct A | B(x: Nat)?is_b | C(y: Nat, z: S);
         map f: Nat -> Nat; g: List(Nat) -> Nat; h: S -> Nat; c: Nat; r: Nat -> Nat; m: S # S -> Nat; e: FSet(Nat) -> Nat;
             t: Bool # Bool -> Nat; cur: Nat -> Nat -> Nat; hi: Nat -> Nat; nowhere: Nat -> Nat; dup: S # List(S) -> Nat;
         var n, k: Nat; l: List(Nat); s, q: S; p: Pos; ls: List(S);
         eqn f(0) = 10; f(3) = 13; c = 3; r(c) = 1; f(100) = 7;
             g([]) = 0; g([n]) = 1; g([n, k]) = 2; g(n |> (k |> (n |> l))) = 3;
             h(A) = 1; h(B(0)) = 2; h(B(3)) = n; h(C(n, B(k))) = n + k; h(C(n, C(k, A))) = n * k;
             m(A, s) = 1; m(s, A) = 2; m(B(n), B(n)) = 3; m(C(n, s), C(k, s)) = n + k;
             e({}) = 0; t(true, false) = 1; t(false, true) = 2; t(true, true) = 3;
             cur(n)(k) = n + k; hi = lambda j: Nat. j + 5; dup(s, s |> ls) = 1;",
        &[
            ("f(0)", "10"),
            ("f(1 + 2)", "13"),
            ("f(4)", "f(4)"),
            ("f(100)", "7"),
            ("r(3)", "r(3)"),
            ("g([])", "0"),
            ("g([5])", "1"),
            ("g([5, 6])", "2"),
            ("g([5, 6, 5, 9])", "3"),
            ("g([5, 6, 7])", "g([5, 6, 7])"),
            ("h(A)", "1"),
            ("h(B(0))", "2"),
            ("h(B(1))", "h(B(1))"),
            ("h(B(3))", "h(B(3))"),
            ("h(C(4, B(5)))", "9"),
            ("h(C(4, C(5, A)))", "20"),
            ("h(C(4, C(5, B(1))))", "h(C(4, C(5, B(1))))"),
            ("m(A, B(1))", "1"),
            ("m(B(1), A)", "2"),
            ("m(B(1), B(1))", "3"),
            ("m(B(1), B(2))", "m(B(1), B(2))"),
            ("m(C(1, B(7)), C(2, B(7)))", "3"),
            ("m(C(1, B(7)), C(2, B(8)))", "m(C(1, B(7)), C(2, B(8)))"),
            ("e({})", "0"),
            ("e({1} - {1})", "0"),
            ("e({1})", "e({1})"),
            ("t(true, false)", "1"),
            ("t(false, true)", "2"),
            ("t(true, true)", "3"),
            ("t(false, false)", "t(false, false)"),
            ("cur(1)(2)", "3"),
            ("(lambda ff: Nat -> Nat. ff(3))(cur(4))", "7"),
            ("hi(3)", "8"),
            ("dup(B(1), [B(1)])", "1"),
            ("dup(B(1), [A])", "dup(B(1), [A])"),
            ("x(B(4))", "4"),
            ("x(A)", "x(A)"),
            ("is_b(B(1))", "true"),
            ("is_b(A)", "false"),
            ("y(C(1, A))", "1"),
            ("z(C(1, A))", "A"),
        ],
    );
}

#[test]
fn undefined_operations_stay() {
    check(
        "sort S = struct A | B(x: Nat); D; cons d1, d2: D; map f: Nat -> Nat; var n: Nat; eqn f(0) = 1;",
        &[
            ("head([]) == 1", "head([]) == 1"),
            ("tail([1])", "[]"),
            ("[4, 5] . 7", "[] . 5"),
            ("[4, 5] . 1", "5"),
            ("Int2Nat(-1)", "Int2Nat(-1)"),
            ("Nat2Pos(0)", "Nat2Pos(0)"),
            ("Real2Int(1 / 2)", "Real2Int(1 / 2)"),
            ("1 / 0", "1 / 0"),
            ("x(A)", "x(A)"),
            ("1 |> tail([])", "1 |> tail([])"),
            ("[1] ++ tail([])", "1 |> tail([])"),
            ("0 < head([])", "0 < head([])"),
            ("head([]) > 0", "0 < head([])"),
            ("head([]) != 0", "!(head([]) == 0)"),
            ("Int2Pos(0)", "Nat2Pos(0)"),
            ("[1] ++ tail([]) == [1, 2]", "tail([]) == [2]"),
            ("#(1 |> tail([]))", "#(1 |> tail([]))"),
            ("f(4)", "f(4)"),
            ("exp(0 / 1, -1)", "exp(0, -1)"),
            ("d1 == d2", "d1 == d2"),
            ("d1 == d1", "true"),
            ("d1 != d1", "false"),
            ("d1 < d1", "false"),
            ("d1 < d2", "d1 < d2"),
            ("pick({1} - {1})", "pick({})"),
            ("B(head([])) == B(1)", "head([]) == 1"),
            ("B(head([])) == A", "false"),
            ("[head([]), 1] == [1, 2]", "false"),
        ],
    );
}

#[test]
fn arithmetic() {
    check(
        "map n: Nat; eqn n = 12345678901234567890;",
        &[
            ("-7 div 2", "-4"),
            ("-7 mod 3", "2"),
            ("round(5 / 2)", "3"),
            ("floor(-7 / 2)", "-4"),
            ("ceil(7 / 2)", "4"),
            ("1 / 3 + 1 / 6", "1 / 2"),
            ("-1 / 3", "-1 / 3"),
            ("sqrt(17)", "4"),
            ("exp(2, 100)", "1267650600228229401496703205376"),
            ("n * n", "152415787532388367501905199875019052100"),
            ("n - n", "0"),
            ("n + 1 > n", "true"),
            ("max(3, 5) + min(3, 5)", "8"),
            ("abs(-5)", "5"),
            ("succ(3) + pred(3)", "6"),
            ("1073741823 + 1", "1073741824"),
            ("-1073741824 - 1", "-1073741825"),
            ("1073741823 * 1073741823", "1152921502459363329"),
            ("Int2Nat(3) + Real2Int(4)", "7"),
        ],
    );
}

#[test]
fn orders_and_equality() {
    check(
        "sort S = struct A | B(x: Nat) | C(y: Nat, z: Bool); D; cons d1, d2: D;
         eqn d1 == d2 = false; d2 == d1 = false; d1 < d2 = true; d2 < d1 = false;",
        &[
            ("A < B(0)", "true"),
            ("B(100) < C(0, false)", "true"),
            ("C(1, true) < C(1, false)", "false"),
            ("C(1, true) >= C(1, false)", "true"),
            ("{1} < {2}", "false"),
            ("{1} <= {1, 2}", "true"),
            ("{1} < {1, 2}", "true"),
            ("{1, 2} < {1, 2}", "false"),
            ("[2] < [1, 5]", "false"),
            ("[] < [1]", "true"),
            ("[2, 3] > [1, 2, 3]", "true"),
            ("false < true", "true"),
            ("d1 == d2", "false"),
            ("d1 != d2", "true"),
            ("d1 < d2", "true"),
            ("d2 > d1", "true"),
            ("d1 in {d2}", "false"),
            ("d1 in [d2, d1]", "true"),
            ("{d1, d2} - {d2}", "{d1}"),
            ("[d1] == [d2]", "false"),
            ("{1: 2} <= {1: 3}", "true"),
            ("{1: 2} < {1: 2}", "false"),
            ("{100} == {200}", "false"),
            ("[1, 2] == [1, 2]", "true"),
            ("(lambda n: Nat. n) == (lambda m: Nat. m)", "true"),
            ("(lambda b: Bool. b) == (lambda b: Bool. !!b)", "true"),
            ("(lambda b: Bool. b) == (lambda b: Bool. !b)", "false"),
            ("(lambda n: Nat. 0)[1 -> 2] == (lambda n: Nat. 0)", "false"),
        ],
    );
}

#[test]
fn sets_and_bags() {
    check(
        "map e: Set(Nat); eqn e = {n: Nat | n mod 2 == 0};",
        &[
            ("{3, 1, 2, 1}", "{1, 2, 3}"),
            ("{1, 2} + {2, 3}", "{1, 2, 3}"),
            ("{1, 2} * {2, 3}", "{2}"),
            ("{1, 2} - {2, 3}", "{1}"),
            ("#{1, 1, 2}", "2"),
            ("1 in {1, 2}", "true"),
            ("3 in {1, 2}", "false"),
            ("!{1} * {1, 2}", "{2}"),
            ("1 in !{1}", "false"),
            ("4 in e", "true"),
            ("5 in e", "false"),
            ("5 in e + {5}", "true"),
            ("4 in e - {4}", "false"),
            ("4 in !e", "false"),
            ("e + {5} - {5} == e", "true"),
            ("e * {1, 2, 3, 4}", "{2, 4}"),
            ("{1, 2} - e", "{1}"),
            ("6 in e * {n: Nat | n mod 3 == 0}", "true"),
            ("4 in e * {n: Nat | n mod 3 == 0}", "false"),
            ("{b: Bool | b}", "{true}"),
            ("{b: Bool | b} == !{false}", "true"),
            ("pick({3, 2})", "2"),
            ("{1: 2, 3: 0, 1: 1}", "{1: 3}"),
            ("Set2Bag({1, 2})", "{1: 1, 2: 1}"),
            ("Bag2Set({1: 2, 5: 1})", "{1, 5}"),
            ("count(1, {1: 2})", "2"),
            ("count(4, {n: Nat | n * n})", "16"),
            ("{1: 2} + {1: 1, 2: 1}", "{1: 3, 2: 1}"),
            ("{1: 2} - {1: 5}", "{:}"),
            ("{1: 2, 2: 2} * {1: 5}", "{1: 2}"),
            ("#{1: 2, 2: 2}", "4"),
            ("{{1}, {2}} == {{2}, {1}}", "true"),
            ("{n: Nat | true}", "!{}"),
            ("e * {n: Nat | n < 5} == {0, 2, 4}", "true"),
            ("e * {n: Nat | n < 5} == {}", "false"),
            ("{n: Nat | n < 2} + {n: Nat | n == 7} == {0, 1, 7}", "true"),
            ("count(false, Set2Bag(!{true}) + {false: 1})", "2"),
            ("Set2Bag(!{true}) + {false: 1} == {false: 2}", "true"),
            ("Bag2Set({c: Bool | if(c, 0, 2)})", "{false}"),
        ],
    );
}

#[test]
fn functions_as_values() {
    check(
        "map g: Nat -> Nat; h: Nat # Nat -> Nat; twice: (Nat -> Nat) # Nat -> Nat; fold: (Nat # Nat -> Nat) # List(Nat) -> Nat;
             free: Nat -> Nat;
         var n, m: Nat; f: Nat -> Nat; f2: Nat # Nat -> Nat; l: List(Nat);
         eqn g(n) = n * 10; h(n, m) = n + m; twice(f, n) = f(f(n)); fold(f2, []) = 0; fold(f2, n |> l) = f2(n, fold(f2, l));",
        &[
            ("(lambda x: Nat. x + 1)(4)", "5"),
            ("twice(lambda x: Nat. x * x, 3)", "81"),
            ("twice(g, 3)", "300"),
            ("twice(free, 3)", "free(free(3))"),
            ("fold(h, [1, 2, 3])", "6"),
            ("fold(lambda a, b: Nat. a + b * 2, [1, 2, 3])", "17"),
            ("(lambda x: Nat. 0)[2 -> 3][1 -> 2]", "(lambda x: Nat. 0)[2 -> 3][1 -> 2]"),
            ("(lambda x: Nat. 0)[1 -> 2][2 -> 3]", "(lambda x: Nat. 0)[2 -> 3][1 -> 2]"),
            ("(lambda x: Nat. 0)[1 -> 2][1 -> 0](7)", "0"),
            ("(lambda x: Nat. 0)[1 -> 2](1)", "2"),
            ("g[1 -> g(1)] == g", "true"),
            ("g[1 -> 5](1) + g[1 -> 5](2)", "25"),
            ("(lambda x: Nat. lambda y: Nat. x + y)(3)(4)", "7"),
            ("n + n whr n = 3 end", "6"),
            ("x whr x = y + 1 end whr y = 2 end", "3"),
            ("(lambda x: Nat. (x + z whr z = x * 2 end))(5)", "15"),
            ("if(1 < 2, g, free)(4)", "40"),
        ],
    );
}

#[test]
fn globals_have_values() {
    check("sort S = struct A | B; glob x: Nat; y: Bool; z: S;", &[("x", "0"), ("y", "false"), ("z", "A")]);
}

#[test]
fn deep_recursion_works() {
    let lists = "
        map total: List(Nat) -> Nat; upto: Nat -> List(Nat); go: Nat # List(Nat) -> List(Nat);
        var n: Nat; l: List(Nat);
        eqn total([]) = 0; total(n |> l) = n + total(l);
            upto(n) = go(n, []); go(n, l) = if(n == 0, l, go(Int2Nat(n - 1), n |> l));";
    check(lists, &[("total(upto(200000))", "20000100000"), ("#upto(200000)", "200000")]);
    let nested = format!("{}1{}", "(1 + ".repeat(3000), ")".repeat(3000));
    check("", &[(&nested, "3001")]);
}

#[test]
fn recursive_functions() {
    check(
        "sort Tree = struct leaf | node(left: Tree, value: Nat, right: Tree)?is_node;
         map insert: Nat # Tree -> Tree; flat: Tree -> List(Nat); build: List(Nat) -> Tree; fib: Nat -> Nat; ack: Nat # Nat -> Nat;
             rev: List(Nat) -> List(Nat); rev2: List(Nat) # List(Nat) -> List(Nat); even, odd: Nat -> Bool;
         var n, m: Nat; t, s: Tree; l, k: List(Nat);
         eqn insert(n, leaf) = node(leaf, n, leaf);
             n < m -> insert(n, node(t, m, s)) = node(insert(n, t), m, s);
             n >= m -> insert(n, node(t, m, s)) = node(t, m, insert(n, s));
             flat(leaf) = []; flat(node(t, n, s)) = flat(t) ++ [n] ++ flat(s);
             build([]) = leaf; build(n |> l) = insert(n, build(l));
             n < 2 -> fib(n) = n; n >= 2 -> fib(n) = fib(Int2Nat(n - 1)) + fib(Int2Nat(n - 2));
             ack(n, m) = if(n == 0, m + 1, if(m == 0, ack(Int2Nat(n - 1), 1), ack(Int2Nat(n - 1), ack(n, Int2Nat(m - 1)))));
             rev(l) = rev2(l, []); rev2([], k) = k; rev2(n |> l, k) = rev2(l, n |> k);
             even(n) = if(n == 0, true, odd(Int2Nat(n - 1))); odd(n) = if(n == 0, false, even(Int2Nat(n - 1)));",
        &[
            ("flat(build([5, 1, 4, 2, 3]))", "[1, 2, 3, 4, 5]"),
            ("fib(20)", "6765"),
            ("ack(2, 3)", "9"),
            ("rev([1, 2, 3])", "[3, 2, 1]"),
            ("even(100001)", "false"),
        ],
    );
}

#[test]
fn quantifiers() {
    check(
        "sort E = struct a | b | c; map p: Nat -> Bool; big: Nat # List(Nat) -> Bool; u: Nat; same: E # E -> Bool;
         var n: Nat; l: List(Nat); x: E;
         eqn p(n) = exists m: Nat. m < n && m * m == n; big(n, l) = forall m: Nat. m in l => m < n;",
        &[
            ("exists n: Nat. n < 3 && n > 1", "true"),
            ("forall n: Nat. n >= 0", "true"),
            ("exists n: Nat. n < 3 && n > 2", "false"),
            ("p(49)", "true"),
            ("p(50)", "false"),
            ("big(5, [1, 2, 3])", "true"),
            ("big(3, [1, 2, 3])", "false"),
            ("forall x, y: E. x == y || x != y", "true"),
            ("forall x: E. exists y: E. x != y", "true"),
            ("exists x: E. forall y: E. x == y", "false"),
            ("forall x: E. x == a", "false"),
            ("forall v: Bool. v || !v", "true"),
            ("(lambda n: Nat. exists x: Nat. x + n == 5)(3)", "true"),
            ("(lambda n: Nat. exists x: Nat. x + n == 5)(6)", "false"),
            ("{n: Nat | exists m: Nat. m < n && 2 * m == n} * {1, 2, 3, 4}", "{2, 4}"),
            ("(exists x: E. x == b) && (exists x: E. x == c)", "true"),
        ],
    );
}

/// Functions that differ only in the names of variables are equal, wherever they are defined.
#[test]
fn binders_that_differ_in_names_are_the_same_value() {
    let specification = "map f, g, h: Nat -> Nat -> Nat; var n: Nat;
        eqn f(n) = lambda x: Nat. x + n; g(n) = lambda y: Nat. y + n; h(n) = lambda y: Nat. n + y;";
    check(specification, &[("f(1) == g(1)", "true"), ("f(1)(2) + h(1)(2)", "6")]);
    let (program, left) = program(specification, "[f(1), g(1), h(1), f(2)]");
    let rules = Rules::new(Arc::clone(&program));
    let mut scope = Scope::default();
    let code = rules.compile(&program, left, &mut scope);
    let mut machine = Machine::new(rules);
    let base = machine.enter(scope.size());
    let list = machine.evaluate(&code, base).unwrap();
    let values = machine.heap.list_to_vec(list).unwrap();
    assert_eq!(values[0], values[1]);
    assert!(values[0] != values[2] && values[0] != values[3]);
}
