//! What plans find.

use super::{solve, solve_with};

/// Checks the solutions, whatever their order.
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
fn what_has_no_end() {
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
    // Nothing is searched when what is known says no.
    assert_eq!(solve("", "n: Nat, b: Bool", "b && !b"), Ok(vec![]));
    assert_eq!(solve("", "x: Real, n: Nat", "n < 0"), Ok(vec![]));
}

#[test]
fn known_variables_take_part() {
    let sort = "sort S = struct c(left: Nat, right: List(Nat))?is_c | d?is_d;";
    let cases: &[(&str, &str, &[(&str, &str, &str)], &[&str])] = &[
        ("n: Nat", "n + 2 == k", &[("k", "Nat", "7")], &["5"]),
        ("n: Nat", "n + 2 == k", &[("k", "Nat", "1")], &[]),
        ("n: Pos", "n == k", &[("k", "Nat", "0")], &[]),
        ("n: Nat", "n == k", &[("k", "Int", "-2")], &[]),
        ("n: Nat", "n == k", &[("k", "Real", "5/2")], &[]),
        ("n: Nat", "2 * n == k", &[("k", "Nat", "7")], &[]),
        ("n: Nat", "2 * n == k", &[("k", "Nat", "8")], &["4"]),
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
fn sums_are_linear_in_their_solutions() {
    let start = std::time::Instant::now();
    assert_eq!(solve("", "n: Nat", "n < 9000").unwrap().len(), 9000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
