use super::lints;
use crate::syntax::parse_specification;
use crate::typed::check_specification;

fn messages(source: &str) -> Vec<String> {
    let source = format!("{source} init delta;");
    let (specification, errors) = parse_specification(&source);
    assert!(errors.is_empty(), "{errors:?}");
    let (program, errors) = check_specification(&specification);
    let program = program.unwrap_or_else(|| panic!("{errors:?}"));
    lints(&program)
        .into_iter()
        .map(|one| {
            let place = one.span.as_ref().expect("a place").range.clone();
            format!("{}: {}", &source[place], one.message)
        })
        .collect()
}

#[test]
fn patterns_that_never_match() {
    let declarations = "map f: Nat -> Nat; g: Int -> Nat; r: Real -> Nat; l: List(Nat) -> Nat; s: FSet(Nat) -> Nat;
        N: Nat; h: (Nat -> Nat) # Nat -> Nat; k: Bool -> Nat; id: Nat -> Nat; var n: Nat; q, p: List(Nat); t: Nat -> Nat;";
    for (equations, expected) in [
        (
            "f(n + 1) = n;",
            "n + 1: the pattern n + 1 never matches: numbers are matched as a whole, not as results of functions",
        ),
        (
            "f(succ(n)) = n;",
            "succ(n): the pattern succ(n) never matches: numbers are matched as a whole, not as results of functions",
        ),
        ("g(-1) = 0;", "-1: the pattern -1 never matches: only literal numbers without sign are patterns"),
        (
            "r(1/2) = 0;",
            "1/2: the pattern 1 / 2 never matches: only literal numbers without sign are patterns",
        ),
        ("l(q <| n) = 0;", "q <| n: the pattern q <| n never matches: lists are matched with [] and |> only"),
        ("l(q ++ p) = 0;", "q ++ p: the pattern q ++ p never matches: lists are matched with [] and |> only"),
        ("s({1}) = 0;", "{1}: the pattern {1} never matches: sets are not matched by their elements"),
        ("s({n}) = 0;", "{n}: the pattern {n} never matches: sets are not matched by their elements"),
        ("N = 3; f(N) = 1;", "N: the pattern N never matches: N has an equation, which always rewrites it"),
        (
            "id(n) = n; f(id(n)) = 1;",
            "id(n): the pattern id(n) never matches: id has an equation, which always rewrites it",
        ),
        ("t(n) = 1;", "t: this equation is never used: its left side begins with the variable t"),
        ("f(t(n)) = 1;", "t(n): the pattern t(n) never matches: a variable cannot be applied in a pattern"),
        (
            "k(forall x: Nat. x > 0) = 1;",
            "forall x: Nat. x > 0: the pattern forall x: Nat. x > 0 never matches: \
             only constructors, constants and variables are matched",
        ),
    ] {
        assert_eq!(messages(&format!("{declarations} eqn {equations}")), [expected], "{equations}");
    }
}

#[test]
fn equations_that_disagree() {
    for (source, expected) in [
        (
            "map f: Nat -> Nat; var n: Nat; eqn f(0) = 2; f(n) = 1;",
            "f(n) = 1: this equation disagrees with another: f(0) is 1 here, but 2 by f(0) = 2",
        ),
        (
            "map g: List(Nat) -> Nat; var n: Nat; l: List(Nat); eqn g([n]) = n; g(n |> l) = 77;",
            "g(n |> l) = 77: this equation disagrees with another: g([0]) is 77 here, but 0 by g([n]) = n",
        ),
        (
            "map f: Nat -> Bool; var n: Nat; eqn n > 90 -> f(n) = true; n < 100 -> f(n) = false;",
            "n < 100 -> f(n) = false: this equation disagrees with another: f(91) is false here, but true by n > 90 -> f(n) = true",
        ),
        (
            "sort S = struct A | B(x: Nat); map f: S # S -> Nat; var s, t: S; eqn f(A, s) = 1; f(s, A) = 2;",
            "f(s, A) = 2: this equation disagrees with another: f(A, A) is 2 here, but 1 by f(A, s) = 1",
        ),
    ] {
        assert_eq!(messages(source), [expected], "{source}");
    }
}

#[test]
fn quiet_about_good_equations() {
    for source in [
        "map f: Nat -> Nat; var n: Nat; eqn f(0) = 2; n > 0 -> f(n) = 1;",
        "map f: Nat # Nat -> Nat; var n, m: Nat; eqn f(n, n) = 2; n != m -> f(n, m) = 1;",
        "map f: Nat # Nat -> Nat; var n, m: Nat; eqn f(0, n) = n; f(n, 0) = n; n > 0 && m > 0 -> f(n, m) = n + m;",
        "map f: List(Nat) -> Nat; var n: Nat; l: List(Nat); eqn f([]) = 0; f(n |> l) = n + f(l);",
        "sort S = struct A | B(x: Nat)?isB; map f: S -> Nat; var s: S; n: Nat; eqn isB(s) -> f(s) = x(s); f(A) = 0;",
        "map f: Nat -> Nat; var n: Nat; eqn f(n) = if(n == 0, 0, f(Int2Nat(n - 1))); f(0) = 0;",
        "map f: Nat -> Nat -> Nat; var n, m: Nat; eqn f(n)(m) = n + m;",
        "sort D; cons d1, d2: D; var d: D; eqn d1 == d2 = false; d2 == d1 = false; d < d = false;",
        "map f: Nat -> Nat; var n: Nat; eqn f(n) = f(n + 1); f(0) = 3;",
    ] {
        assert_eq!(messages(source), Vec::<String>::new(), "{source}");
    }
}
