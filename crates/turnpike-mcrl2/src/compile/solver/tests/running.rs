//! The solutions that plans find.

use super::{solve, solve_with};

/// Checks the solutions in any order.
fn check(declarations: &str, variables: &str, condition: &str, expected: &[&str]) {
    let mut found = solve(declarations, variables, condition)
        .unwrap_or_else(|error| panic!("sum {variables}. {condition}: {error}"));
    found.sort();
    let mut expected: Vec<&str> = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "sum {variables}. {condition}");
}

#[test]
fn what_terminates_in_the_reference() {
    let plus = "map f: Nat -> Nat; var n: Nat; eqn f(n) = n + 2;";
    let structure = "sort S = struct c(left: Nat, right: Bool);";
    let tree = "sort T = struct leaf | node(T, T); map size: T -> Nat; var l, r: T;
        eqn size(leaf) = 0; size(node(l, r)) = size(l) + size(r) + 1;";
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("", "n: Nat", "n < 4", &["0", "1", "2", "3"]),
        ("", "n: Nat", "n == 5", &["5"]),
        ("", "n: Nat", "5 == n + 2", &["3"]),
        (plus, "n: Nat", "f(n) == 5", &["3"]),
        ("", "n: Nat", "n in [1, 4]", &["1", "4"]),
        ("", "n: Nat", "n in [4, 1, 4]", &["1", "4"]),
        ("", "n: Nat", "n in {1, 4}", &["1", "4"]),
        ("", "n: Nat", "n in {1: 2, 4: 1}", &["1", "4"]),
        ("", "x, y: Nat", "x + y == 3", &["0, 3", "1, 2", "2, 1", "3, 0"]),
        ("", "x, y: Nat", "x + y < 2", &["0, 0", "0, 1", "1, 0"]),
        ("", "x, y: Nat", "x < 2 && y < 2", &["0, 0", "0, 1", "1, 0", "1, 1"]),
        ("", "n: Nat", "n mod 3 == 0 && n < 10", &["0", "3", "6", "9"]),
        ("", "n: Int", "-3 < n && n < 2", &["-2", "-1", "0", "1"]),
        ("", "n: Int", "abs(n) <= 1", &["-1", "0", "1"]),
        (
            "",
            "l: List(Bool)",
            "#l <= 2",
            &["[]", "[true]", "[false]", "[true, true]", "[true, false]", "[false, true]", "[false, false]"],
        ),
        (structure, "s: S", "left(s) < 2", &["c(0, true)", "c(0, false)", "c(1, true)", "c(1, false)"]),
        ("", "n: Nat", "exists m: Nat. m < 3 && n == 2 * m", &["0", "2", "4"]),
        ("", "n: Nat", "n * n < 10", &["0", "1", "2", "3"]),
        ("", "n: Int", "n * n < 5", &["0", "-1", "1", "-2", "2"]),
        ("", "n: Nat", "exp(2, n) < 5", &["0", "1", "2"]),
        (tree, "t: T", "size(t) < 2", &["leaf", "node(leaf, leaf)"]),
        (tree, "t: T", "size(t) == 2", &["node(leaf, node(leaf, leaf))", "node(node(leaf, leaf), leaf)"]),
        ("", "s: Set(Bool)", "true", &["{}", "{true}", "{false}", "{false, true}"]),
        ("", "x: Real", "x == 3/2", &["3 / 2"]),
    ];
    for (declarations, variables, condition, expected) in cases {
        check(declarations, variables, condition, expected);
    }
}

#[test]
fn plans_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<crate::compile::solver::Plan>();
}

#[test]
fn order_is_that_of_the_values() {
    assert_eq!(solve("", "b: Bool", "true").unwrap(), ["true", "false"]);
    assert_eq!(solve("", "n: Int", "n * n < 5").unwrap(), ["0", "-1", "1", "-2", "2"]);
    assert_eq!(solve("", "n: Nat", "n in [3, 1, 2, 3]").unwrap(), ["3", "1", "2"]);
    assert_eq!(solve("", "l: List(Bool)", "#l <= 1").unwrap(), ["[]", "[true]", "[false]"]);
    assert_eq!(
        solve("sort S = struct a | b(Bool) | c;", "s: S", "true").unwrap(),
        ["a", "b(true)", "b(false)", "c"]
    );
}

#[test]
fn solutions_that_cannot_be_enumerated() {
    let cases = [
        ("", "n: Nat", "true", "n: nothing bounds it, and sort Nat has infinitely many values"),
        ("", "n: Nat", "n > 3", "n: infinitely many values of sort Nat satisfy the condition"),
        ("", "x: Real", "x < 3", "x: cannot enumerate elements of sort Real without constructors"),
        ("sort D;", "d: D", "true", "d: cannot enumerate elements of sort D without constructors"),
        ("", "s: Set(Nat)", "1 in s", "s: cannot enumerate elements of set sort Set(Nat)"),
        ("", "s: FBag(Bool)", "true in s", "s: cannot enumerate elements of finite bag sort FBag(Bool)"),
        ("", "f: Nat -> Bool", "f(0)", "f: cannot enumerate elements of function sort Nat -> Bool"),
        (
            "map f: Nat -> Bool;",
            "n: Nat",
            "n mod 2 == 3",
            "n: the values of sort Nat that satisfy the condition cannot be bounded: no end after 100000 steps",
        ),
    ];
    for (declarations, variables, condition, expected) in cases {
        assert_eq!(solve(declarations, variables, condition), Err(expected.to_owned()), "{condition}");
    }
    // Nothing is searched if a condition on known variables is false.
    assert_eq!(solve("", "n: Nat, b: Bool", "b && !b"), Ok(vec![]));
    assert_eq!(solve("", "x: Real, n: Nat", "n < 0"), Ok(vec![]));
}

#[test]
fn known_variables_take_part() {
    let sort = "sort S = struct c(left: Nat, right: List(Nat))?is_c | d?is_d;";
    type Case = (
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str, &'static str)],
        &'static [&'static str],
    );
    let cases: &[Case] = &[
        ("n: Nat", "n + 2 == k", &[("k", "Nat", "7")], &["5"]),
        ("n: Nat", "n + 2 == k", &[("k", "Nat", "1")], &[]),
        ("n: Pos", "n == k", &[("k", "Nat", "0")], &[]),
        ("n: Nat", "n == k", &[("k", "Int", "-2")], &[]),
        ("n: Nat", "n == k", &[("k", "Real", "5/2")], &[]),
        ("n: Nat", "2 * n == k", &[("k", "Nat", "7")], &[]),
        ("n: Nat", "2 * n == k", &[("k", "Nat", "8")], &["4"]),
        ("n, m: Nat", "k + (n - n) == 2 * n && m == n", &[("k", "Nat", "8")], &["4, 4"]),
        ("n: Nat", "n <= k && 2 < n", &[("k", "Real", "9/2")], &["3", "4"]),
        ("n: Nat", "n < k", &[("k", "Int", "-5")], &[]),
        ("n: Nat", "s == c(n, [n, 2])", &[("s", "S", "c(1, [1, 2])")], &["1"]),
        ("n: Nat", "s == c(n, [n, 2])", &[("s", "S", "c(3, [1, 2])")], &[]),
        ("n: Nat", "s == c(n, [])", &[("s", "S", "d")], &[]),
        ("a: Nat, l: List(Nat)", "a |> l == k", &[("k", "List(Nat)", "[4, 5]")], &["4, [5]"]),
        ("a: Nat, l: List(Nat)", "a |> l == k", &[("k", "List(Nat)", "[]")], &[]),
        ("a, b: Nat", "[a, b] == k", &[("k", "List(Nat)", "[4, 5]")], &["4, 5"]),
        ("a, b: Nat", "[a, b] == k", &[("k", "List(Nat)", "[4]")], &[]),
        ("n: Nat", "n in k", &[("k", "Set(Nat)", "{7, 3}")], &["3", "7"]),
        ("n: Nat", "c(n, [2]) in k", &[("k", "FSet(S)", "{c(1, [2]), c(5, []), d, c(4, [2])}")], &["1", "4"]),
        ("n: Nat", "n in k && n * n < 10", &[("k", "Set(Nat)", "!{1, 2}")], &["0", "3"]),
        ("t: S", "is_d(t) && k > 1", &[("k", "Nat", "2")], &["d"]),
        (
            "t: S",
            "is_c(t) && left(t) < k && right(t) == [left(t)]",
            &[("k", "Nat", "2")],
            &["c(0, [0])", "c(1, [1])"],
        ),
        ("n: Nat", "(n == 1 || n == k || n < 2) && n != 0", &[("k", "Nat", "5")], &["1", "5"]),
        ("n: Nat", "if(k > 1, n == 3, n < 2)", &[("k", "Nat", "1")], &["0", "1"]),
        ("n: Nat", "!(n < k) && n < 5", &[("k", "Nat", "3")], &["3", "4"]),
        (
            "n: Nat",
            "n == k",
            &[("k", "Nat", "123456789012345678901234567890")],
            &["123456789012345678901234567890"],
        ),
        (
            "n: Nat",
            "k < n && n <= k + 2",
            &[("k", "Nat", "123456789012345678901234567890")],
            &["123456789012345678901234567891", "123456789012345678901234567892"],
        ),
    ];
    for (variables, condition, known, expected) in cases {
        let mut found = solve_with(sort, variables, condition, known)
            .unwrap_or_else(|error| panic!("sum {variables}. {condition}: {error}"));
        found.sort();
        assert_eq!(found, *expected, "sum {variables}. {condition} with {known:?}");
    }
}

#[test]
fn stuck_conditions_are_errors_only_if_all_else_holds() {
    let known = [("l", "List(Nat)", "[]")];
    let stuck = |variables: &str, condition: &str| solve_with("", variables, condition, &known);
    assert_eq!(stuck("b: Bool", "head(l) > 1"), Err("head(l) > 1 is stuck after 0".to_owned()));
    assert_eq!(stuck("b: Bool", "head(l) > 1 && l != []"), Ok(vec![]));
    assert_eq!(stuck("n: Nat", "head(l) > n && n < 3 && n > 4"), Ok(vec![]));
    assert_eq!(stuck("n: Nat", "n < head(l)"), Err("n < head(l) is stuck after 0".to_owned()));
    assert_eq!(
        stuck("n: Nat", "n < head(l) + 1 || n == 2"),
        Err("n < head(l) + 1 || n == 2 is stuck after 1".to_owned())
    );
    assert_eq!(stuck("n: Nat", "n in tail(l)"), Err("n in tail(l) is stuck after 0".to_owned()));
    assert_eq!(stuck("n: Nat", "n == head(l)"), Ok(vec!["head([])".to_owned()]));
}

#[test]
fn sums_with_many_solutions_end() {
    assert_eq!(solve("", "n: Nat", "n < 9000").unwrap().len(), 9000);
}

#[test]
fn functions_between_finite_sorts() {
    let all = solve("", "f: Bool -> Bool", "true").unwrap();
    assert_eq!(all.len(), 4);
    assert_eq!(solve("", "f: Bool -> Bool", "f(true) && !f(false)").unwrap().len(), 1);
    assert_eq!(solve("", "f: Bool # Bool -> Bool", "true").unwrap().len(), 16);
    assert_eq!(
        solve("", "f: Bool # Bool -> Bool, b, c: Bool", "f(true, b) && !f(false, c) && f(b, c)")
            .unwrap()
            .len(),
        4 + 2
    );
    let one = "sort U = struct u; D = struct d1 | d2 | d3;";
    assert_eq!(solve(one, "f: D # D # D # Bool -> U", "f(d1, d1, d1, true) == u").unwrap().len(), 1);
    assert_eq!(solve(one, "f: D -> D", "f(d1) != d1 && forall x: D. f(f(x)) == x").unwrap().len(), 2);
}

#[test]
fn quantifiers_are_decided() {
    let sort = "sort D = struct a | b | c; map f: Nat -> Nat; var n: Nat; eqn f(n) = n + 2;";
    let cases = [
        ("exists n: Nat. n < 3 && n > 1", true),
        ("exists n: Nat. n < 3 && n > 2", false),
        ("forall n: Nat. n >= 0", true),
        ("forall n: Nat. n < 10 => n < 11", true),
        ("forall n: Nat. n < 10 => n < 9", false),
        ("exists n: Nat. n > 100 && n < 103", true),
        ("exists n: Nat. n > 3", true),
        ("forall n: Nat. n > 3", false),
        ("exists n: Nat. f(n) == 7", true),
        ("forall n: Nat. f(n) > 1", true),
        ("exists d: D. forall e: D. d <= e", true),
        ("forall d: D. exists e: D. d < e", false),
        ("exists x, y: Nat. x * y == 6 && x < y && y < 5", true),
        ("exists l: List(Bool). #l == 3 && !(true in l)", true),
        ("forall x, y: Int. x < y => x <= y - 1 || y > 5 || x < -5", true),
        ("exists r: Real. r == 1/2", true),
        ("exists m: Nat. forall n: Nat. n < 5 => n < m", true),
        ("exists n: Nat. n in {k: Nat | k > 4 && k < 6}", true),
        ("forall s: Set(D). a in s || b in !s || true", true),
        ("(lambda x: Nat. x) == (lambda y: Nat. y)", true),
    ];
    for (condition, expected) in cases {
        let found = solve(sort, "z: Bool", &format!("z == ({condition})"));
        assert_eq!(found, Ok(vec![expected.to_string()]), "{condition}");
    }
}

#[test]
fn long_lists_are_no_problem() {
    let list =
        "map long: Nat -> List(Nat); var n: Nat; eqn long(n) = if(n == 0, [], n |> long(Int2Nat(n - 1)));";
    let known = [("l", "List(Nat)", "long(50000)")];
    let found =
        |variables: &str, condition: &str| solve_with(list, variables, condition, &known).unwrap().len();
    assert_eq!(found("n: Nat", "n in l && n mod 10000 == 0"), 5);
    assert_eq!(found("n: Nat, r: List(Nat)", "l == n |> r"), 1);
    assert_eq!(found("r: List(Nat)", "r == l"), 1);
    let deep = vec!["n"; 3000].join(" + ");
    assert_eq!(solve("", "n: Nat", &format!("{deep} == 6000")), Ok(vec!["2".to_owned()]));
    let many: Vec<String> = (0..2000).map(|number| format!("n != {number}")).collect();
    assert_eq!(solve("", "n: Nat", &format!("{} && n < 2002", many.join(" && "))).unwrap().len(), 2);
}

#[test]
fn comprehensions_and_definitions_are_looked_into() {
    assert_eq!(
        solve("", "n: Nat", "n in {k: Nat | k < 3 && k != 1}"),
        Ok(vec!["0".to_owned(), "2".to_owned()])
    );
    assert_eq!(solve("", "n: Nat", "n == m + 1 whr m = 4 end"), Ok(vec!["5".to_owned()]));
    let valid = "map valid: Nat # Nat -> Bool; deep: Nat -> Bool; var n, m: Nat;
        eqn valid(m, n) = n < m && n > 1; deep(n) = n < 3 && deep(n + 1) && n > 4;";
    assert_eq!(solve(valid, "n: Nat", "valid(5, n) && n != 3"), Ok(vec!["2".to_owned(), "4".to_owned()]));
    assert_eq!(solve(valid, "n: Nat", "deep(n)"), Ok(vec![]), "a definition that never ends");
}

#[test]
fn recursive_functions_bound_what_they_search() {
    let table = "sort T = List(Nat); map in_table: Nat # T -> Bool; var n, m: Nat; t: T;
        eqn t == [] -> in_table(n, t) = false; in_table(n, m |> t) = n == m || in_table(n, t);";
    let known = [("t", "T", "[3, 1, 3]")];
    assert_eq!(
        solve_with(table, "n: Nat", "in_table(n, t)", &known),
        Ok(vec!["1".to_owned(), "3".to_owned()])
    );
    let order = "sort B = struct b1 | b2 | b3; map set: List(B) -> Bool; var b, c: B; l: List(B);
        eqn set([]) = true; set([b]) = true; set(b |> c |> l) = b < c && set(c |> l);";
    assert_eq!(solve(order, "l: List(B)", "set(l)").map(|all| all.len()), Ok(8));
}

#[test]
fn equations_are_chosen_by_constructors() {
    let orders = "sort B = struct b1 | b2 | b3; I = struct go(List(B), Bool) | turn(List(B), B) | rest;
        map set: List(B) -> Bool; valid: I -> Bool; allowed: I # Nat -> Bool;
        var b, c: B; l: List(B); w: Bool; n: Nat;
        eqn set([]) = true; set([b]) = true; set(b |> c |> l) = b < c && set(c |> l);
            valid(go(l, w)) = set(l); valid(turn(l, b)) = set(l) && l != []; valid(rest) = true;
            allowed(go(l, w), n) = w && #l == n; allowed(turn(l, b), n) = b in l && n == 2; allowed(rest, n) = n == 7;";
    let all = solve(orders, "i: I", "valid(i)").unwrap();
    assert_eq!(all.len(), 8 * 2 + 7 * 3 + 1);
    let allowed = |number: &str| {
        let mut found = solve_with(orders, "i: I", "valid(i) && allowed(i, n)", &[("n", "Nat", number)])
            .unwrap_or_else(|error| panic!("{number}: {error}"));
        found.sort();
        found
    };
    assert_eq!(allowed("3"), ["go([b1, b2, b3], true)"]);
    assert_eq!(allowed("2").len(), 3 + (3 + 3 * 2 + 3));
    assert_eq!(allowed("7"), ["rest"]);
}

#[test]
fn factors_are_not_zero_one_by_one() {
    let weights = "map f: Nat -> Real; g: Nat # Nat -> Real; var n, m: Nat;
        eqn f(n) = if(n < 18, 1/18, 0); g(n, m) = if(n == 0, 0, if(n <= m, f(n), 0));";
    // There are more than a hundred thousand outcomes.
    let last = "f(a) * f(b) * f(c) * f(d) != 0 && 5832 * a + 324 * b + 18 * c + d == 104975";
    check(weights, "a, b, c, d: Nat", last, &["17, 17, 17, 17"]);
    check(weights, "a, b: Nat", "f(a) * g(b, a) != 0 && a < 3", &["1, 1", "2, 1", "2, 2"]);
    check("", "a, b: Nat", "a * b == 0 && a + b == 2", &["0, 2", "2, 0"]);
}

#[test]
fn lists_of_variables_are_unfolded() {
    let lists = "map unique, small: List(Pos) -> Bool; var n: Pos; l: List(Pos);
        eqn unique([]) = true; unique(n |> l) = !(n in l) && unique(l); small([]) = true; small(n |> l) = n <= 9 && small(l);";
    // The magic squares of order 3.
    let square = "unique([a, b, c, d, e, f, g, h, i]) && small([a, b, c, d, e, f, g, h, i])
        && a + b + c == 15 && d + e + f == 15 && g + h + i == 15 && a + d + g == 15 && b + e + h == 15 && c + f + i == 15
        && a + e + i == 15 && c + e + g == 15";
    let found = solve(lists, "a, b, c, d, e, f, g, h, i: Pos", square).unwrap();
    assert_eq!(found.len(), 8);
    assert!(found.contains(&"2, 7, 6, 9, 5, 1, 4, 3, 8".to_owned()));
}
