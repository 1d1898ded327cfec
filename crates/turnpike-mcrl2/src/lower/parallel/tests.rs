//! Summands of whole specifications. The numbers of sections and rows are those of the language
//! reference.

use std::fmt::Write as _;
use std::time::Instant;

use turnpike_model::diagnostic::Diagnostic;

use crate::lower::{Goto, LinearProcess, Options, Summand, Update, linearise_with};
use crate::syntax::parse_specification;
use crate::typed::expression;
use crate::typed::{Program, check_specification};

fn program(text: &str) -> Program {
    let (specification, diagnostics) = parse_specification(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (program, diagnostics) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn linear(text: &str) -> LinearProcess {
    linearise_with(program(text), &Options::default()).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn errors(text: &str) -> Vec<Diagnostic> {
    linearise_with(program(text), &Options::default()).expect_err("an error")
}

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

/// The visible actions.
fn label(process: &LinearProcess, summand: &Summand) -> String {
    let text = |&id: &_| expression::text(&process.program, id);
    let actions = summand.actions.iter().map(|action| {
        let name = process.program.text(action.name).to_owned();
        if action.arguments.is_empty() {
            return name;
        }
        format!("{name}({})", joined(action.arguments.iter().map(text), ", "))
    });
    let mut label = joined(actions, "|");
    if label.is_empty() {
        label.push_str("tau");
    }
    if let Some(time) = &summand.time {
        write!(label, " @ {}", text(time)).expect("text");
    }
    label
}

fn update(process: &LinearProcess, update: &Update) -> String {
    match update {
        Update::If { condition, then, otherwise, .. } => format!(
            "if {} then {} else {}",
            expression::text(&process.program, *condition),
            self::update(process, then),
            self::update(process, otherwise)
        ),
        Update::Go { location, assignments } => {
            let mut parts = Vec::new();
            match *location {
                Goto::Parameter(Some((control, location))) => {
                    parts.push(format!("{}={location}", process.parameters[control].name));
                }
                Goto::Parameter(None) => {}
                Goto::Local(_) => panic!("a location of an automaton is left"),
            }
            for &(variable, value) in assignments {
                let parameter = process.parameters.iter().find(|one| one.variable == variable);
                let name = &parameter.expect("a parameter").name;
                parts.push(format!("{name}={}", expression::text(&process.program, value)));
            }
            parts.join(" ")
        }
    }
}

/// `[locations] sum variables. conditions -> label [updates]`
fn text(process: &LinearProcess, summand: &Summand) -> String {
    let locations = summand.locations.iter();
    let locations = locations.map(|&(control, at)| format!("{}={at}", process.parameters[control].name));
    let mut text = format!("[{}]", joined(locations, " "));
    if !summand.variables.is_empty() {
        let names =
            summand.variables.iter().map(|&one| process.program.text(process.program.variable(one).name));
        write!(text, " sum {}.", joined(names.map(str::to_owned), ", ")).expect("text");
    }
    if !summand.conditions.is_empty() {
        let all = summand.conditions.iter().map(|&one| expression::text(&process.program, one));
        write!(text, " {} ->", joined(all, " && ")).expect("text");
    }
    let updates = summand.updates.iter().map(|one| update(process, one));
    write!(text, " {} [{}]", label(process, summand), joined(updates, "; ")).expect("text");
    text
}

/// All summands of a specification.
fn summands(specification: &str) -> Vec<String> {
    let process = linear(specification);
    process.summands.iter().map(|summand| text(&process, summand)).collect()
}

/// The labels of all summands, sorted.
fn labels(specification: &str) -> Vec<String> {
    let process = linear(specification);
    let mut labels: Vec<String> = process.summands.iter().map(|summand| label(&process, summand)).collect();
    labels.sort();
    labels
}

#[test]
fn rows_of_the_conformance_suite() {
    let table: [(&str, &[&str]); 10] = [
        // 1
        (
            "act a,b; init a||b;",
            &[
                "[init1=0] a [init1=1]",
                "[init1=0 init2=0] a|b [init1=1; init2=1]",
                "[init1=1 init2=1] Terminate [init1=2; init2=2]",
                "[init2=0] b [init2=1]",
            ],
        ),
        // 2
        (
            "act a,b; init allow({a,b}, a||b);",
            &[
                "[init1=0] a [init1=1]",
                "[init1=1 init2=1] Terminate [init1=2; init2=2]",
                "[init2=0] b [init2=1]",
            ],
        ),
        // 3
        (
            "act a,b; init a.delta || b;",
            &["[init1=0] a [init1=1]", "[init1=0 init2=0] a|b [init1=1; init2=1]", "[init2=0] b [init2=1]"],
        ),
        // 4
        (
            "act a; init tau.delta || a.delta;",
            &["[init1=0] tau [init1=1]", "[init1=0 init2=0] a [init1=1; init2=1]", "[init2=0] a [init2=1]"],
        ),
        // 5
        (
            "act a,c:Nat; init comm({a|a->c}, a(1)||a(1)||a(1));",
            &[
                "[init1=0] a(1) [init1=1]",
                "[init1=0 init2=0] c(1) [init1=1; init2=1]",
                "[init1=0 init2=0 init3=0] a(1)|c(1) [init1=1; init2=1; init3=1]",
                "[init1=0 init3=0] c(1) [init1=1; init3=1]",
                "[init1=1 init2=1 init3=1] Terminate [init1=2; init2=2; init3=2]",
                "[init2=0] a(1) [init2=1]",
                "[init2=0 init3=0] c(1) [init2=1; init3=1]",
                "[init3=0] a(1) [init3=1]",
            ],
        ),
        // 6
        (
            "act a,b,c:Nat; init allow({c,a}, comm({a|a|b->c}, a(1)||a(1)||b(1)||a(1)));",
            &[
                "[init1=0] a(1) [init1=1]",
                "[init1=0 init2=0 init3=0] c(1) [init1=1; init2=1; init3=1]",
                "[init1=0 init3=0 init4=0] c(1) [init1=1; init3=1; init4=1]",
                "[init1=1 init2=1 init3=1 init4=1] Terminate [init1=2; init2=2; init3=2; init4=2]",
                "[init2=0] a(1) [init2=1]",
                "[init2=0 init3=0 init4=0] c(1) [init2=1; init3=1; init4=1]",
                "[init4=0] a(1) [init4=1]",
            ],
        ),
        // 7
        (
            "act r,s,c:Real; init allow({c}, comm({r|s->c}, (sum x:Real. r(x).delta) || s(3/2).delta));",
            &["[init1=0 init2=0] c(3 / 2) [init1=1; init2=1]"],
        ),
        // 26
        (
            "act a,b,c; init rename({a->b,b->a}, a.b.c.delta);",
            &["[init=0] b [init=1]", "[init=1] a [init=2]", "[init=2] c [init=3]"],
        ),
        // 27
        (
            "act a,b,c; init hide({a}, (a|b).a.c.delta);",
            &["[init=0] b [init=1]", "[init=1] tau [init=2]", "[init=2] c [init=3]"],
        ),
        // 28
        ("act a,b; init block({b}, (a|b).delta + a.delta);", &["[init=0] a [init=1]"]),
    ];
    for (specification, expected) in table {
        assert_eq!(summands(specification), expected, "{specification}");
    }
}

#[test]
fn communication_with_open_data_splits() {
    // 5.2: data determines which of two receivers gets it, and communication is mandatory.
    assert_eq!(
        summands(
            "act s, r, c: Nat; proc S(n: Nat) = s(n).S(n + 1); R(n: Nat) = r(n).R(n + 2); Q(n: Nat) = r(n).Q(2 * n);
             init allow({r|c, s|r}, comm({s|r -> c}, S(0) || R(1) || Q(1)));"
        ),
        [
            "[] !(S.n == R.n) -> r(R.n)|s(S.n) [S.n=S.n + 1; R.n=R.n + 2]",
            "[] S.n == R.n -> c(S.n)|r(Q.n) [S.n=S.n + 1; R.n=R.n + 2; Q.n=2 * Q.n]",
            "[] S.n == Q.n && !(S.n == R.n) -> c(S.n)|r(R.n) [S.n=S.n + 1; R.n=R.n + 2; Q.n=2 * Q.n]",
            "[] !(S.n == Q.n) -> r(Q.n)|s(S.n) [S.n=S.n + 1; Q.n=2 * Q.n]",
        ]
    );
}

#[test]
fn only_equal_sorts_communicate() {
    assert_eq!(
        labels(
            "act a, b, c: Nat; a, b, c: Bool; init comm({a|b -> c}, a(1).delta || b(true).delta || a(true).delta);"
        ),
        ["a(1)", "a(1)|a(true)", "a(1)|b(true)", "a(1)|c(true)", "a(true)", "b(true)", "c(true)"]
    );
}

#[test]
fn sums_that_communication_decides() {
    let table: [(&str, &[&str]); 6] = [
        (
            "act s, r, c: Nat # Bool; proc S(n: Nat) = s(n, n > 3).S(n + 1);
             R(l: List(Nat)) = sum x: Nat, b: Bool. (b && !(x in l)) -> r(x, b).R(x |> l);
             init allow({c}, comm({s|r -> c}, S(0) || R([])));",
            &["[] n > 3 && !(n in l) -> c(n, n > 3) [n=n + 1; l=n |> l]"],
        ),
        // Equations between constructors are split.
        (
            "sort D = struct pair(Nat, Nat) | none; act s, r, c: D;
             proc S(n: Nat) = s(pair(n, 1)).S(n + 1) + s(none).S(0); R(l: Nat) = sum x, y: Nat. (x != l) -> r(pair(x, y)).R(x + y);
             init allow({c}, comm({s|r -> c}, S(0) || R(0)));",
            &["[] n != l -> c(pair(n, 1)) [n=n + 1; l=n + 1]"],
        ),
        // A number of a larger sort.
        (
            "act s, r, c: Int; proc S(n: Int) = s(n).S(n + 1) + s(2).S(-1); R(l: Nat) = sum x: Nat. (x >= l) -> r(x).R(x);
             init allow({c}, comm({s|r -> c}, S(0) || R(0)));",
            &["[] 0 <= n && Int2Nat(n) >= l -> c(n) [n=n + 1; l=Int2Nat(n)]", "[] 2 >= l -> c(2) [n=-1; l=2]"],
        ),
        // Three parties, of which two receive.
        (
            "act s, r, t, c: Nat; proc S(n: Nat) = s(n).S(n + 1); R(a: Nat) = sum x: Nat. (x != a) -> r(x).R(x);
             T(b: Nat) = sum x: Nat. (x < b) -> t(x).T(b + x);
             init allow({c}, comm({s|r|t -> c}, S(0) || R(0) || T(0)));",
            &["[] n != a && n < b -> c(n) [n=n + 1; a=n; b=b + n]"],
        ),
        // Nothing determines x, but it is the same for both.
        (
            "act r, t, c: Bool; init allow({c}, comm({r|t -> c}, (sum x: Bool. r(x).delta) || (sum y: Bool. t(y).delta)));",
            &["[init1=0 init2=0] sum x. c(x) [init1=1; init2=1]"],
        ),
        // A receiver for another value does not communicate.
        (
            "act s, r, c: Nat; init allow({c}, comm({s|r -> c}, s(1).delta || (sum x: Nat. (x > 1) -> r(x).delta)));",
            &[],
        ),
    ];
    for (specification, expected) in table {
        assert_eq!(summands(specification), expected, "{specification}");
    }
}

#[test]
fn operators_on_parts_of_the_whole() {
    let table: [(&str, &[&str]); 6] = [
        // Hidden inside, communication outside.
        ("act a, b, x; init allow({b}, hide({a}, a.delta) || b.delta);", &["b", "b", "tau"]),
        // Renamed inside, communication outside.
        ("act a, b, c, d; init allow({d}, comm({b|c -> d}, rename({a -> b}, a.delta) || c.delta));", &["d"]),
        // The result of a communication takes part in another one.
        (
            "act a, b, c, d, e; init allow({e}, comm({c|d -> e}, comm({a|b -> c}, a.delta || b.delta) || d.delta));",
            &["e"],
        ),
        // An inner allow is restricted to what the outer one can use.
        (
            "act a, b, c, d; init allow({a|c, d}, allow({a, b, a|b}, a.delta || b.delta) || c.delta || d.delta);",
            &["a|c", "d"],
        ),
        // Below hide, there may be any number of hidden actions.
        (
            "act a, b, c; init allow({c}, hide({a, b}, a.delta || b.delta || c.delta));",
            &["c", "c", "c", "c", "tau", "tau", "tau"],
        ),
        // Blocked unless consumed.
        ("act a, b, c; init block({a, b}, comm({a|b -> c}, a.delta || b.delta || a.delta));", &["c", "c"]),
    ];
    for (specification, expected) in table {
        assert_eq!(labels(specification), expected, "{specification}");
    }
}

#[test]
fn all_subsets_without_allow() {
    let components = ["a"; 12].join("||");
    let process = linear(&format!("act a; init {components};"));
    assert_eq!(process.summands.len(), (1 << 12) - 1 + 1, "all joint steps, and termination");
    let single = process.summands.iter().filter(|one| one.actions.len() == 1).count();
    assert_eq!(single, 12 + 1);
}

#[test]
fn the_limit_is_an_error_that_says_what_to_do() {
    let components = ["a"; 30].join("||");
    let options = Options { limit: 10_000, ..Options::default() };
    let found =
        linearise_with(program(&format!("act a; init {components};")), &options).expect_err("too many");
    assert_eq!(
        found[0].message,
        "30 components have more than 10000 different steps together, too many to write them out"
    );
    assert!(found[0].help.as_ref().is_some_and(|help| help.starts_with("put allow({...}, ...)")));
}

#[test]
fn beyond_the_limit_summands_can_be_left_for_later() {
    let text = "act a, b; proc P = a.b.P; init allow({a|a|a, b}, P || P || P);";
    let options = |limit| Options { limit, later: true, ..Options::default() };
    let process = linearise_with(program(text), &options(1_000)).expect("no mistakes");
    assert!(process.later.is_none());
    assert_eq!(process.summands.len(), 4);
    let mut process = linearise_with(program(text), &options(2)).expect("no mistakes");
    assert!(process.summands.is_empty());
    let mut later = process.later.take().expect("left for later");
    assert_eq!(later.components(), 3);
    assert_eq!(later.actions().len(), 2);
    // Edge 0 is a, edge 1 is b.
    let mut labels = |edges: [&[u32]; 3]| -> Vec<String> {
        let sets: Vec<u32> = (0..3).map(|component| later.set(component, edges[component])).collect();
        let joints = later.joints(&mut process.program, &sets).expect("few steps");
        let summands = joints.iter().flat_map(|one| later.summands(&mut process.program, one));
        summands.collect::<Vec<_>>().iter().map(|summand| label(&process, summand)).collect()
    };
    assert_eq!(labels([&[0], &[0], &[0]]), ["a|a|a"]);
    assert_eq!(labels([&[0], &[1], &[0]]), ["b"]);
    assert_eq!(labels([&[0, 1], &[1], &[0, 1]]), ["b", "b", "b"]);
    assert!(labels([&[], &[0], &[0]]).is_empty());
}

/// Philosophers at a round table, with a fork between neighbours.
fn table(size: usize) -> String {
    let diners: Vec<String> = (1..=size).map(|n| format!("Diner({n}, {})", n % size + 1)).collect();
    let forks: Vec<String> = (1..=size).map(|n| format!("Fork({n})")).collect();
    format!(
        "act take, give, lift, drop, up, down: Pos # Pos; eat: Pos;
         proc Diner(me, next: Pos) = take(me, me).take(me, next).eat(me).give(me, next).give(me, me).Diner(me, next);
         Fork(me: Pos) = sum who: Pos. lift(who, me).drop(who, me).Fork(me);
         init allow({{up, down, eat}}, comm({{take|lift -> up, give|drop -> down}}, {} || {}));",
        diners.join(" || "),
        forks.join(" || ")
    )
}

#[test]
fn diners_and_forks_meet_only_when_they_share() {
    let start = Instant::now();
    let process = linear(&table(12));
    let time = start.elapsed();
    // Each philosopher takes and returns two forks, and eats.
    assert_eq!(process.summands.len(), 12 * 5);
    assert!(process.summands.iter().all(|one| one.variables.is_empty()));
    assert!(time.as_millis() < 1_000, "{time:?}");
    let first = text(&process, &process.summands[0]);
    assert_eq!(first, "[Diner(1)=0 Fork(1)=0] up(1, 1) [Diner(1)=1; Fork(1)=1 Fork(1).who=1]");
}

#[test]
fn many_parties_meet_quickly() {
    // Twenty components, each of which takes part in three-party communication with its neighbours.
    let components: Vec<String> = (0..20).map(|n| format!("P({n})")).collect();
    let specification = format!(
        "act l, m, r, c: Nat; proc P(n: Nat) = l(n).P(n) + m((n + 1) mod 20).P(n) + r((n + 2) mod 20).P(n);
         init allow({{c}}, comm({{l|m|r -> c}}, {}));",
        components.join(" || ")
    );
    let start = Instant::now();
    let process = linear(&specification);
    let time = start.elapsed();
    assert_eq!(process.summands.len(), 20);
    assert!(time.as_millis() < 1_000, "{time:?}");
}

#[test]
fn the_number_of_components_may_be_computed() {
    let specification = "act a: Nat; proc Cell(n: Nat) = a(n).Cell(n);
        Row(n: Nat) = (n > 1) -> (Cell(n) || Row(Int2Nat(n - 1))) <> Cell(1);
        Other(n: Nat) = (n == 0) -> Cell(7) + (n > 0) -> (Cell(n) || Other(Int2Nat(n - 1)));
        init allow({a}, Row(3) || Other(2));";
    assert_eq!(labels(specification), ["a(1)", "a(1)", "a(2)", "a(2)", "a(3)", "a(7)"]);
}

#[test]
fn declared_functions_are_evaluated_where_nothing_is_open() {
    // A function computes the length of the row, so it also determines who communicates.
    assert_eq!(
        summands(
            "map less: Nat -> Nat; more: Nat -> Bool; side: Pos -> Pos; size: Nat; var n: Nat; p: Pos;
             eqn size = 3; (n > 0) -> less(n) = Int2Nat(n - 1); more(n) = less(n) > 0; side(p) = p + 1;
             act s, r, c: Pos;
             proc S(p: Pos) = s(side(p)).S(p); R(p: Pos) = r(p).R(p);
             Row(n: Nat) = more(n) -> (R(Nat2Pos(n)) || Row(less(n))) <> R(1);
             init allow({c}, comm({s|r -> c}, S(1) || S(2) || S(3) || Row(size)));"
        ),
        ["[] c(2) [; ]", "[] c(3) [; ]"]
    );
    assert_eq!(
        labels(
            "sort D = struct d(Nat, Bool) | e; map l: List(Int); r: Real; m: FSet(Nat); t: List(D); u: D -> D; f: Nat -> Nat;
             var x: D; n: Nat; eqn l = [1, 2 - 4]; r = 1/2 + 1/4; m = {2, 1} + {1}; t = [u(e), d(f(0), f(0) == f(0))]; u(x) = x;
             act a: List(Int); a: Real; a: FSet(Nat); a: Set(Nat); a: List(D); a: Nat;
             init a(l).a(r).a(m).a(m + !{7}).a(t).a(f(1 + f(2))).delta;"
        ),
        ["a(3 / 4)", "a([1, -2])", "a([e, d(f(0), true)])", "a(f(1 + f(2)))", "a(m + !{7})", "a({1, 2})"]
    );
}

#[test]
fn parameters_have_readable_names() {
    let process = linear(
        "act a, b, c: Nat; proc P(n, m: Nat) = a(n).b(m).P(n + 1, m + 1); Q(n, k: Nat) = c(n + k).Q(n + 1, k + 2);
         init allow({a, b, c}, P(0, 0) || Q(0, 0) || P(1, 1));",
    );
    let names: Vec<&str> = process.parameters.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["P(0)", "P(0).n", "P(0).m", "Q.n", "k", "P(1)", "P(1).n", "P(1).m"]);
    assert_eq!(process.initial.len(), 3);
    assert_eq!(update(&process, &process.initial[2]), "P(1)=0 P(1).n=1 P(1).m=1");
}

#[test]
fn requested_actions_are_not_hidden() {
    let options = Options { unhide: vec!["a".to_owned(), "zzz".to_owned()], ..Options::default() };
    let specification = "act a, b; init hide({a, b}, a.b.delta);";
    let process = linearise_with(program(specification), &options).expect("linear");
    let labels: Vec<String> = process.summands.iter().map(|one| label(&process, one)).collect();
    assert_eq!(labels, ["a", "tau"]);
}

#[test]
fn times_agree_and_chances_multiply() {
    assert_eq!(
        summands("act a, b; init allow({a|b}, a@1 . delta || b@1 . delta);"),
        ["[init1=0 init2=0] a|b @ 1 [init1=1; init2=1]"]
    );
    assert_eq!(summands("act a, b; init allow({a|b}, a@1 . delta || b@2 . delta);"), [""; 0]);
    let process = linear(
        "act a, b, c: Bool; proc P = a(true). dist x: Bool[if(x, 1/3, 2/3)]. b(x).P;
         Q = a(true). dist y: Bool[1/2]. b(y).Q; init allow({c, b}, comm({a|a -> c}, P || Q));",
    );
    let together = process.summands.iter().find(|one| label(&process, one) == "c(true)").expect("c");
    let distribution = together.distribution.as_ref().expect("a choice");
    assert_eq!(distribution.variables.len(), 2);
    assert_eq!(expression::text(&process.program, distribution.weight), "if(x, 1 / 3, 2 / 3) * (1 / 2)");
}

#[test]
fn errors_say_where_and_what_to_do() {
    let table = [
        // 35
        ("act a; proc P = a.(P || P); init P;", "|| is used inside of ."),
        ("act a; proc P = a + hide({a}, a); init P;", "hide is used inside of +"),
        (
            "act a: Nat; proc Q = a(0) || a(1); P = sum n: Nat. a(n).Q; init P;",
            "process Q, which contains parallel operators, is called inside of sum",
        ),
        ("act a; proc P = a || P; init P;", "process P is put in parallel with itself without end"),
        (
            "act a: Nat; proc P(n: Nat) = a(n) || P(n + 1); init P(0);",
            "process P is put in parallel with itself without end",
        ),
        (
            "act a; map f: Nat -> Bool; proc P(n: Nat) = f(n) -> (a || a); init P(1);",
            "a condition above parallel operators is neither true nor false",
        ),
        ("act a; init a ||_ a;", "||_ cannot be executed"),
    ];
    for (specification, message) in table {
        let found = errors(specification);
        assert_eq!(found[0].message, message, "{specification}");
        assert!(found[0].span.is_some() && found[0].help.is_some(), "{specification}");
    }
}
