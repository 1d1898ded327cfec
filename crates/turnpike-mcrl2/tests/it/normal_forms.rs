//! Functions, comprehensions and stuck terms as parameters of processes: if there are finitely many
//! normal forms, there are finitely many states.

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{Model, Successors};

/// The number of states, up to `most`, and all labels.
#[track_caller]
fn explore(text: &str, options: &Options, most: usize) -> (usize, Vec<String>) {
    let (model, _) =
        Mcrl2Model::new("test.mcrl2", text, options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut states = vec![state];
    let mut successors = Successors::new(states[0].len());
    let mut labels = Vec::new();
    let mut at = 0;
    while at < states.len() && states.len() < most {
        explorer
            .successors(&states[at].clone(), &mut successors)
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
        for (label, target) in successors.iter() {
            if !states.iter().any(|known| known == target) {
                states.push(target.to_vec());
            }
            let text = explorer.label(label).text.to_string();
            if !labels.contains(&text) {
                labels.push(text);
            }
        }
        at += 1;
    }
    (states.len(), labels)
}

#[track_caller]
fn check(text: &str, states: usize, labels: &[&str]) {
    check_with(text, &Options::default(), states, labels);
}

#[track_caller]
fn check_with(text: &str, options: &Options, states: usize, labels: &[&str]) {
    let labels = labels.iter().map(|&one| one.to_owned()).collect();
    assert_eq!(explore(text, options, 50), (states, labels), "{text}");
}

#[test]
fn functions_have_one_form() {
    check(
        "act a: Nat; proc P(f: Nat -> Nat) = a(f(0)).P(lambda x: Nat. f(0)); init P(lambda x: Nat. 1 + 1);",
        1,
        &["a(2)"],
    );
    check(
        "act a: Nat; proc P(f: Nat -> Nat) = a(f(0)).P(lambda x: Nat. f(x)); init P(lambda x: Nat. x + 1);",
        1,
        &["a(1)"],
    );
    check(
        "act a: Nat; proc P(f: Nat -> Nat) = a(f(1)).P(lambda y: Nat. if(true, f(y), 0)); init P(lambda x: Nat. x);",
        2,
        &["a(1)"],
    );
    check(
        "act a: Nat; proc P(f: Nat -> Nat -> Nat) = a(f(1)(2)).P(lambda x: Nat. lambda y: Nat. f(x)(y)); init P(lambda x: Nat. lambda y: Nat. x + y);",
        1,
        &["a(3)"],
    );
    check(
        "act a: Nat; proc P(l: List(Nat -> Nat)) = a(head(l)(1)).P([lambda x: Nat. head(l)(x)]); init P([lambda x: Nat. x + (1 + 1)]);",
        1,
        &["a(3)"],
    );
}

#[test]
fn sets_have_one_form() {
    check(
        "act a: Nat; proc P(s: Set(Nat)) = a(if(3 in s, 1, 0)).P({x: Nat | x in s}); init P({1, 3});",
        2,
        &["a(1)"],
    );
    check(
        "act a: Nat; proc P(s: Set(Nat)) = a(if(3 in s, 1, 0)).P(s + {x: Nat | x > 5}); init P({1, 3});",
        2,
        &["a(1)"],
    );
    check(
        "act a: Nat; proc P(s: Set(Nat)) = a(if(3 in s, 1, 0)).P(!s); init P({x: Nat | x > 2});",
        2,
        &["a(1)", "a(0)"],
    );
    check(
        "act a: Nat; proc P(s: Set(Nat)) = a(if(3 in s, 1, 0)).P(s * {x: Nat | x > 1}); init P({x: Nat | x > 1});",
        1,
        &["a(1)"],
    );
    check(
        "act a: Nat; proc P(s: Set(Nat)) = a(if(3 in s, 1, 0)).P(s - {3}); init P({x: Nat | x > 1});",
        2,
        &["a(1)", "a(0)"],
    );
}

#[test]
fn bags_have_one_form() {
    check(
        "act a: Nat; proc P(b: Bag(Nat)) = a(count(1, b)).P(b - {x: Nat | 1}); init P({1: 3});",
        4,
        &["a(3)", "a(2)", "a(1)", "a(0)"],
    );
    check(
        "act a: Nat; proc P(b: Bag(Nat)) = a(count(1, b)).P({x: Nat | count(x, b)}); init P({x: Nat | x + 1});",
        1,
        &["a(2)"],
    );
    check(
        "act a: Nat; proc P(b: Bag(Nat)) = a(count(1, b)).P(b * {x: Nat | 2}); init P({x: Nat | 3});",
        2,
        &["a(3)", "a(2)"],
    );
}

#[test]
fn labels_show_the_normal_form() {
    check("act a: Nat -> Nat; init a(lambda x: Nat. 1 + 1).delta;", 2, &["a(lambda x: Nat. 2)"]);
    check(
        "act a: Set(Nat); init a({x: Nat | x in {1, 3} && true}).delta;",
        2,
        &["a({ x: Nat | x == 1 || x == 3 })"],
    );
    check("act a: Bag(Pos); init a(Set2Bag({q: Pos | true})).delta;", 2, &["a({ x: Pos | 1 })"]);
    check(
        "act a: Bool # Bool -> Bool; init sum f: Bool # Bool -> Bool. (f(true, true) && !f(true, false) && f(false, true) && f(false, false)) -> a(f).delta;",
        2,
        &["a(lambda x,x1: Bool. if(!x && !x1, true, if(!x && x1, true, if(x && !x1, false, true))))"],
    );
}

#[test]
fn times_are_shown_as_units() {
    check("act a; init a @ (1/2).delta;", 2, &["a @ (1 / 2)"]);
    check("act a; init a @ 3.delta;", 2, &["a @ 3"]);
}

#[test]
fn sums_are_bounded_by_impossible_values() {
    let sorts = "sort M = struct p(Nat) | x; map f: Nat -> M; var n: Nat; eqn f(n) = p(n); act a: M; c: Nat;";
    check(&format!("{sorts} proc P(m: M) = sum t: Nat. (m == f(t)) -> a(f(t)).P(m); init P(x);"), 1, &[]);
    check(
        &format!("{sorts} proc P(m: M) = sum t: Nat. (m == f(t)) -> a(f(t)).P(m); init P(p(2));"),
        1,
        &["a(p(2))"],
    );
    check(&format!("{sorts} init sum n: Nat. (f(n) in [p(1), x]) -> c(n).delta;"), 2, &["c(1)"]);
    check(
        &format!("{sorts} init sum n: Nat. (f(n) in {{p(1), p(4), x}}) -> c(n).delta;"),
        2,
        &["c(1)", "c(4)"],
    );
    check(&format!("{sorts} init sum n: Nat. ({{n}} == {{1}}) -> c(n).delta;"), 2, &["c(1)"]);
    check(&format!("{sorts} init sum n: Nat. ({{n}} <= {{1, 2}}) -> c(n).delta;"), 2, &["c(1)", "c(2)"]);
    check(&format!("{sorts} init sum n: Nat. (p(n) < p(2)) -> c(n).delta;"), 2, &["c(0)", "c(1)"]);
    check(&format!("{sorts} init sum n: Nat. (p(n) <= p(1)) -> c(n).delta;"), 2, &["c(0)", "c(1)"]);
    check(&format!("{sorts} init sum n: Nat. (p(2) > p(n)) -> c(n).delta;"), 2, &["c(0)", "c(1)"]);
    check(&format!("{sorts} init sum n: Nat. ([n, 3] < [1]) -> c(n).delta;"), 2, &["c(0)"]);
    check(&format!("{sorts} init sum n: Nat. ({{n: 1}} == {{2: 1}}) -> c(n).delta;"), 2, &["c(2)"]);
    check(
        &format!("{sorts} init sum n: Nat. (f(n) < f(2) && x != f(n)) -> c(n).delta;"),
        2,
        &["c(0)", "c(1)"],
    );
}

#[test]
fn structs_inside_aliases_may_contain_the_alias() {
    check(
        "sort B = List(struct f(B) | c); act a: B; proc P(b: B) = (#b < 3) -> a(b).P(f(b) |> b); init P([c]);",
        3,
        &["a([c])", "a([f([c]), c])"],
    );
}

#[test]
fn values_after_their_last_use_can_be_kept() {
    let kept = Options { keep_dead: true, ..Options::default() };
    // Both parameters are irrelevant, but the second one is passed on.
    let text = "act a; proc P(x, y: Nat) = sum n: Nat. (n < 3) -> a.P(y, n); init P(7, 7);";
    check(text, 1, &["a"]);
    check_with(text, &kept, 4, &["a"]);
    // The rest of the process does not contain the variable, so it is always reset.
    let text = "act a, b: Nat; proc P = sum n: Nat. (n < 3) -> a(n).b(n).b(0).P; init P;";
    let labels = &["a(0)", "a(1)", "a(2)", "b(0)", "b(1)", "b(2)"];
    check(text, 5, labels);
    check_with(text, &kept, 5, labels);
}

#[test]
fn outcomes_can_be_kept() {
    let kept = Options { keep_dead: true, ..Options::default() };
    // After `a`, the state has one of three outcomes; after `b`, the value is reset.
    let text =
        "act a, b; proc P(x: Nat) = a.(dist n: Nat[if(n < 3, 1/3, 0)] . P(min(n, 1))) + b.P(x); init P(0);";
    let labels = &["a [1/3]", "b"];
    check(text, 1, labels);
    check_with(text, &kept, 4, labels);
    // The choice may also be before the first step.
    let text = "act a, b: Nat; proc P = dist n: Nat[if(n < 3, 1/3, 0)] . a(0).b(n).P; init P;";
    let labels = &["dist [1/3]", "a(0)", "b(0) [1/3]", "b(1) [1/3]", "b(2) [1/3]"];
    check(text, 7, labels);
    check_with(text, &kept, 7, labels);
    // A state without transitions is one state after an action, or one for each value after the
    // choice.
    let text = "act a; b: Nat; init a.(dist n: Nat[if(n < 3, 1/3, 0)] . delta);";
    check(text, 2, &["a [1/3]"]);
    check_with(text, &kept, 4, &["a [1/3]"]);
    let text = "act a; b: Nat; init a.(dist n: Nat[if(n < 3, 1/3, 0)] . b(n).delta);";
    check(text, 5, &["a [1/3]", "b(0)", "b(1)", "b(2)"]);
    check_with(text, &kept, 5, &["a [1/3]", "b(0)", "b(1)", "b(2)"]);
}

#[test]
fn quantifiers_can_be_left_open() {
    let text = "map primes: Set(Pos); eqn primes = {n: Pos | n > 1 && forall m: Pos. (1 < m && m < n => n mod m != 0)};
        act p: Pos # Bool; init sum n: Pos. (n in {4, 11, 13, 121}) -> p(n, n in primes).delta;";
    check(text, 2, &["p(4, false)", "p(11, true)", "p(13, true)", "p(121, false)"]);
    let limited = Options { quantifier_limit: Some(10), ..Options::default() };
    check_with(
        text,
        &limited,
        2,
        &[
            "p(4, false)",
            "p(11, true)",
            "p(13, forall m: Pos. 1 < m && m < 13 => !(13 mod m == 0))",
            "p(121, forall m: Pos. 1 < m && m < 121 => !(121 mod m == 0))",
        ],
    );
}
