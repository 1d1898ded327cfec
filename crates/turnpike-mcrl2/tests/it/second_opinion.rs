//! Compares linear processes of random specifications with a naive interpreter of process terms.
//! For a longer test:
//! `cargo run --release -p turnpike-mcrl2 --example second_opinion -- --count 1000000 --seed 0 --threads 2`.

use crate::naive;

use std::collections::{BTreeMap, BTreeSet};

use naive::compare::{Verdict, compare};
use naive::draw::Draw;
use naive::semantics::Interpreter;
use naive::shrink::shrink;
use naive::specification::{Infix, Operator, Process};
use naive::system::{System, of_interpreter, of_product};
use naive::trial::{self, MOST, Outcome, Series};
use turnpike_lts::{Comparison, DEFAULT_LIMIT, Equivalence};
use turnpike_lts::{Lts, Transition};
use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::LabelId;

/// The random specifications of a seed, with default options.
fn series(seed: u64) -> Series {
    Series { seed, keep_dead: false }
}

/// The seed of all random tests in the workspace.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The first specifications of a series, for which both agree.
fn tally(series: Series, count: u64) -> trial::Tally {
    let tally = trial::run(series, 0..count, 2, &|_, _| true);
    if let Some(&number) = tally.different.first() {
        panic!(
            "{} specifications differ; number {number} of {series:?}, shrunk:\n{}",
            tally.different.len(),
            trial::smallest(series, number)
        );
    }
    tally
}

#[test]
fn five_thousand_specifications() {
    let tally = tally(series(seed()), 5000);
    // The test is useful only if most specifications are accepted and all operators occur.
    let count = |all: &BTreeMap<String, u64>| all.values().sum::<u64>();
    assert!(tally.agreed > 4000, "{tally:?}");
    assert!(tally.complete > 3900, "{tally:?}");
    assert!(count(&tally.failed) < 75, "{tally:?}");
    assert!(count(&tally.undecided) < 200, "{tally:?}");
    assert_eq!(count(&tally.wrong), 0, "{tally:?}");
    for operator in [
        "+",
        ".",
        "@",
        "P(e)",
        "P(x = e)",
        "action",
        "action with data",
        "allow",
        "block",
        "c -> p",
        "c -> p <> q",
        "comm",
        "delta",
        "dist",
        "hide",
        "rename",
        "sum",
        "tau",
        "|",
        "||",
    ] {
        let found = tally.operators.get(operator).copied().unwrap_or(0);
        assert!(found > 100, "{operator} is in {found} specifications");
    }
}

/// Variables that keep their values after their last use add states, but no behaviour.
#[test]
fn a_thousand_specifications_with_values_kept() {
    let kept = tally(Series { seed: seed(), keep_dead: true }, 1000);
    let reset = tally(series(seed()), 1000);
    assert!(kept.agreed > 800, "{kept:?}");
    assert!(kept.states > reset.states, "{} states, and {} without", kept.states, reset.states);
}

/// Faults were found in these shapes, so the generator must continue to create them.
#[test]
fn specifications_have_the_shapes_of_known_faults() {
    let mut found = BTreeMap::new();
    for number in 0..5000 {
        let (specification, _) = trial::specification(series(seed()), number);
        let mut shapes = BTreeSet::new();
        for body in specification.bodies() {
            body.walk(&mut |one| shapes.extend(shape(one)));
            if matches!(body, Process::Dist(..)) {
                shapes.insert("a process that begins with dist");
            }
        }
        shapes.into_iter().for_each(|shape| *found.entry(shape).or_insert(0) += 1);
    }
    for (shape, least) in [
        ("allow around hide of what communicates", 50),
        ("a process that begins with dist", 100),
        ("delta in a multi-action", 100),
        ("dist in a sum", 15),
        ("two dists in a choice", 8),
        ("a process in parallel with itself", 15),
    ] {
        let count = found.get(shape).copied().unwrap_or(0);
        assert!(count >= least, "{shape}: {count} of 5,000, in {found:?}");
    }
}

fn shape(process: &Process) -> Option<&'static str> {
    let is_dist = |one: &Process| matches!(one, Process::Dist(..));
    match process {
        Process::Under(Operator::Allow(_), inner) => {
            let mut hides = false;
            inner.walk(&mut |one| {
                if let Process::Under(Operator::Hide(hidden), inner) = one {
                    inner.walk(&mut |deeper| {
                        hides |= matches!(deeper, Process::Under(Operator::Comm(rules), _) if rules
                            .iter()
                            .any(|(left, right)| left.iter().chain([right]).any(|name| hidden.contains(name))));
                    });
                }
            });
            hides.then_some("allow around hide of what communicates")
        }
        Process::Infix(Infix::Synchronise, left, right) => {
            let delta = **left == Process::Delta || **right == Process::Delta;
            delta.then_some("delta in a multi-action")
        }
        Process::Sum(_, body) => {
            let inner = if let Process::If(_, then, None) = &**body { then } else { body };
            is_dist(inner).then_some("dist in a sum")
        }
        Process::Infix(Infix::Choice, left, right) => {
            (is_dist(left) && is_dist(right)).then_some("two dists in a choice")
        }
        Process::Assign(_, assigned) if assigned.iter().any(|(_, data)| data.text.contains("Int2Nat")) => {
            Some("a process in parallel with itself")
        }
        _ => None,
    }
}

/// Both agree on a specification: with summands combined in advance or on demand, and with
/// variables that keep their values.
#[track_caller]
fn agree(text: &str) {
    for (combinations, keep_dead) in [(None, false), (Some(0), false), (None, true)] {
        let options = Options { combinations, keep_dead, ..Options::default() };
        match trial::judge(text, &options, MOST) {
            Outcome::Agreed { .. } => {}
            other => panic!("{text}\n{other:?}"),
        }
    }
}

#[test]
fn allow_around_hide_around_comm() {
    agree("act b, c, d; proc B = b.B; C = c.C; init allow({d}, hide({b}, comm({b|c -> d}, B || C)));");
    agree("act b, c, d; proc B = b.B; C = c.C; init allow({d}, hide({c}, comm({b|c -> d}, B || C)));");
    agree("act a, b, d; init allow({b}, hide({a}, comm({a|d -> b}, a || d)));");
    agree("act a, c, d; init allow({a}, hide({c}, comm({d|c -> a}, c | d)));");
    agree("act a, c, d; init allow({a}, rename({d -> a}, hide({a}, comm({c|a -> d}, c | a))));");
    agree("act a, b, d; init allow({b}, hide({a}, comm({b|a|d -> b}, (a | b) || d)));");
    agree("act a, b, d; init allow({b}, hide({d}, rename({a -> d}, block({d}, comm({d|a -> b}, a || d)))));");
    // The result of communication is hidden, or all actions are.
    agree("act a, b, c, d; init allow({b|d}, hide({c}, comm({a|b -> c}, b || ((b | d) | a))));");
    agree("act b, d; init allow({b|b}, hide({d}, comm({d|d -> b}, (d | d) | b)));");
    agree("act b; u, v: Nat; init allow({b|u}, hide({v}, comm({u|u -> v}, b | u(1))));");
    agree(
        "act r, t, u, v: Nat; init allow({t|u}, rename({v -> u}, hide({r}, comm({t|t -> r}, v(1) || t(0)))));",
    );
}

#[test]
fn chance_before_the_first_step() {
    agree("act a; proc P = dist b: Bool[1/2] . a . P; init P;");
    agree("act a; proc P = a.P; init dist b: Bool[1/2] . P;");
    agree("act a; proc P = (true -> delta <> (dist x: Bool[1/2] . a)) . P; init P;");
    agree("init dist n: Bool[1/2] . delta;");
    agree("proc P = (false) -> (dist n: Nat[1/2] . delta); init P();");
    agree("proc Q = (false) -> R(); R = dist n: Nat[1/2] . delta; init Q;");
    agree("init dist m: Nat, n: Nat[(if(m == 1, 1/3, if(m == 2, 2/3, 0))) * (if(n < 2, 1/2, 0))] . delta;");
}

#[test]
fn outcomes_stay_together() {
    agree("act a; init sum m: Nat, z: Bool. ((m < 2) -> (a . (dist k: Bool[1/2] . ((z) -> a))));");
    agree(
        "act a; g: Bool; proc P = a . (dist m: Bool[1/2] . (sum m: Nat. ((m < 2) -> P))); init P || (sum n: Bool. g(n));",
    );
    agree(
        "act a; s: Nat; proc P = (sum n: Nat. ((n < 2) -> (sum n: Nat. ((n < 2) -> s(n))))) + (dist x: Bool[1/2] . a); \
         init P || (a . P);",
    );
    agree(
        "act u: Bool; proc P = dist k: Bool[1/2] . Q; Q = sum x: Bool. (u(x) . P); init sum m: Nat. ((m <= 1) -> Q);",
    );
}

#[test]
fn last_outcomes_differ_from_next_ones() {
    agree("act a; proc P = dist z: Bool[1/2] . (a . (((z) -> P) + a)); init P;");
    agree("act a; u: Bool; proc P = dist x: Bool[1/2] . (a . (u(x) + P())); init P;");
}

#[test]
fn probabilistic_choices_in_later_steps() {
    agree("act a; proc Q(x: Bool) = (x) -> a <> (dist x: Bool[1/2] . (a . Q())); init Q(true);");
    agree(
        "act a; r: Nat; proc P(x: Bool) = (x) -> (a . P(!(x))) <> (dist n: Nat[if(n < 2, 1/2, 0)] . r(n)); init P(true);",
    );
    agree("act a; proc P(y: Bool) = (y) -> (dist z: Bool[1/2] . (a . P(y = z))); init P(false);");
    agree(
        "act a; g: Bool; proc P(x: Bool) = ((x) -> a <> (dist z: Bool[1/2] . g(z))) + (a . P(false)); init P(true);",
    );
}

#[test]
fn towers_of_processes_that_begin_with_chance() {
    agree(
        "act a: Nat; proc X(n: Nat) = (n == 0) -> P(n) <> (P(n) || X(Int2Nat(n - 1))); \
         P(n: Nat) = dist x: Bool[1/2] . ((x) -> a(n) <> a(0)); init X(2);",
    );
}

#[test]
fn delta_in_multi_actions_and_chance_in_sums_and_choices() {
    agree("act a; init a | delta;");
    agree("act a, b; init (a | delta | b) + b . a;");
    agree("act a: Bool; init sum b: Bool. dist c: Bool[if(b == c, 1/3, 2/3)] . a(c);");
    agree("act a, b: Bool; init (dist x: Bool[1/2] . a(x)) + (dist y: Bool[1/4 + if(y, 1/2, 0)] . b(y));");
    agree("act a: Bool; proc P = a(true) . (P + dist x: Bool[1/2] . a(x)); init P || a(false);");
}

/// The system of the interpreter alone.
#[track_caller]
fn assert_naive_system(text: &str, expected: &str) {
    let program = trial::program(text).unwrap_or_else(|message| panic!("{text}\n{message}"));
    let system = of_interpreter(&mut Interpreter::new(program, &[]), 100).expect("small and finite");
    let found: BTreeSet<String> = system.text(100).lines().map(|line| line.trim().to_owned()).collect();
    let expected: BTreeSet<String> = expected.split("; ").map(str::to_owned).collect();
    assert_eq!(found, expected, "{text}");
}

/// The expected systems are derived from the semantics by hand, to exclude mistakes that both sides
/// make.
#[test]
fn the_interpreter_follows_the_rules() {
    assert_naive_system(
        "act a, b; init a || b;",
        "0 --dist-> 1; 1 --a-> 2; 1 --b-> 3; 1 --a|b-> 4; 2 --b-> 4; 3 --a-> 4; 4 --Terminate-> 5",
    );
    assert_naive_system("act a, b; init a ||_ b;", "0 --dist-> 1; 1 --a-> 2; 2 --b-> 3; 3 --Terminate-> 4");
    assert_naive_system("act a, b; init (a . delta) | b;", "0 --dist-> 1; 1 --a|b-> 2; 2 is a deadlock");
    assert_naive_system("act a; init a | delta;", "0 --dist-> 1; 1 is a deadlock");
    assert_naive_system(
        "act a; init tau . delta || a . delta;",
        "0 --dist-> 1; 1 --tau-> 2; 1 --a-> 3; 1 --a-> 4; 2 --a-> 4; 3 --tau-> 4; 4 is a deadlock",
    );
    assert_naive_system(
        "act a, c: Nat; init comm({a|a -> c}, a(1) | a(1) | a(1) | a(2));",
        "0 --dist-> 1; 1 --a(1)|a(2)|c(1)-> 2; 2 --Terminate-> 3",
    );
    assert_naive_system(
        "act a; init comm({a|a -> a}, a|a|a|a);",
        "0 --dist-> 1; 1 --a|a-> 2; 2 --Terminate-> 3",
    );
    assert_naive_system(
        "act a, b, c; init hide({a}, (a|b) . a) + block({b}, (a|b) + c) + rename({a -> b, b -> a}, a) + allow({b}, tau + a + b);",
        "0 --dist-> 1; 1 --b-> 2; 1 --c-> 3; 1 --b-> 3; 1 --tau-> 3; 2 --tau-> 3; 3 --Terminate-> 4",
    );
    assert_naive_system(
        "act a: Nat; proc P(n, m: Nat) = a(n) . P(m = n, n = m); init P(1, 2);",
        "0 --dist-> 1; 1 --a(1)-> 2; 2 --a(2)-> 3; 3 --a(1)-> 2",
    );
    assert_naive_system(
        "act a, b: Nat; proc P(n: Nat) = b(n) . (sum n: Nat. (n == 3) -> a(n) . P()); init P(1);",
        "0 --dist-> 1; 1 --b(1)-> 2; 2 --a(3)-> 3; 3 --b(3)-> 2",
    );
    assert_naive_system(
        "act a, b, c; init a@1 . b@3 . c@2;",
        "0 --dist-> 1; 1 --a @ 1-> 2; 2 --b @ 3-> 3; 3 is a deadlock",
    );
    assert_naive_system(
        "act a, b; init ((a@1)@2) + ((a@2) | (b@1)) + ((a@1) | b);",
        "0 --dist-> 1; 1 --a|b @ 1-> 2; 2 --Terminate-> 3",
    );
    assert_naive_system(
        "act a; t: Bool; init a . dist b: Bool[if(b, 1/3, 2/3)] . t(b) . delta;",
        "0 --dist-> 1; 1 --a-> 2 [1/3], 3 [2/3]; 2 --t(true)-> 4; 3 --t(false)-> 4; 4 is a deadlock",
    );
    assert_naive_system(
        "act a, t: Bool; init (dist b: Bool[1/2] . t(b)) + a(true);",
        "0 --dist-> 1 [1/2], 2 [1/2]; 1 --t(true)-> 3; 1 --a(true)-> 3; 2 --t(false)-> 3; 2 --a(true)-> 3; 3 --Terminate-> 4",
    );
    // Each value of a sum has its own choice.
    assert_naive_system(
        "act t: Bool # Bool; init sum x: Bool. dist b: Bool[if(b, 1/3, 2/3)] . t(x, b) . delta;",
        "0 --dist-> 1 [1/9], 2 [2/9], 3 [2/9], 4 [4/9]; \
         1 --t(true, true)-> 5; 1 --t(false, true)-> 5; 2 --t(true, true)-> 5; 2 --t(false, false)-> 5; \
         3 --t(true, false)-> 5; 3 --t(false, true)-> 5; 4 --t(true, false)-> 5; 4 --t(false, false)-> 5; 5 is a deadlock",
    );
    // The choice of a component remains the same while another one moves.
    assert_naive_system(
        "act a; t: Bool; init (a . a) || (dist b: Bool[if(b, 1/3, 2/3)] . block({t}, t(b)));",
        "0 --dist-> 1 [1/3], 2 [2/3]; 1 --a-> 3; 2 --a-> 4; 3 --a-> 5; 4 --a-> 6; 5 is a deadlock; 6 is a deadlock",
    );
}

/// Compares the comparison for probabilistic systems with the one for plain systems.
#[test]
fn the_comparison_is_that_of_the_reduction() {
    let mut plain = Vec::new();
    for number in 0..400 {
        let (specification, _) = trial::specification(series(seed() ^ 77), number);
        let program = trial::program(&specification.text()).expect("correct");
        let Ok(system) = of_interpreter(&mut Interpreter::new(program, &[]), 40) else { continue };
        let certain = system.transitions.iter().flatten().all(|(_, targets)| targets.len() == 1);
        // The state after `Terminate` is not a deadlock, which plain systems cannot represent.
        let ends = system.text(100).contains("Terminate");
        if system.is_complete() && certain && !ends && system.transitions.len() < 8 {
            plain.push((lts(&system), system));
        }
    }
    assert!(plain.len() > 40, "{}", plain.len());
    let (mut same, mut different) = (0, 0);
    for (at, (one, system)) in plain.iter().enumerate() {
        for (other, second) in &plain[at..] {
            let expected =
                turnpike_lts::compare(one, other, Equivalence::Strong, DEFAULT_LIMIT).expect("decidable");
            let found = compare(system, second);
            match (&expected, found) {
                (Comparison::Different(_), Verdict::Different(_)) => different += 1,
                (Comparison::Different(_), _) | (_, Verdict::Different(_) | Verdict::SameTo(_)) => {
                    panic!("{found:?}\n{}\n{}", system.text(40), second.text(40))
                }
                _ => same += 1,
            }
        }
    }
    assert!(same > plain.len() && different > 100, "{same} the same, {different} different");
}

fn lts(system: &System) -> Lts {
    let mut lts = Lts { states: system.transitions.len() as u32, ..Lts::default() };
    for (from, transitions) in system.transitions.iter().enumerate() {
        for (label, targets) in transitions {
            let known = lts.labels.iter().position(|known| known == label).unwrap_or_else(|| {
                lts.labels.push(label.clone());
                lts.labels.len() - 1
            });
            let (from, to) = (from as u32, targets[0].0 as u32);
            lts.transitions.push(Transition { from, label: LabelId(known as u32), to });
        }
    }
    lts
}

#[test]
fn systems_are_compared_as_far_as_both_were_explored() {
    let of = |text: &str, most| {
        let program = trial::program(text).expect("correct");
        of_interpreter(&mut Interpreter::new(program, &[]), most).expect("small")
    };
    let six = of("act a, b; init a.a.a.a.a.b.delta;", 100);
    let seven = of("act a, b; init a.a.a.a.a.a.b.delta;", 100);
    assert_eq!(compare(&six, &six), Verdict::Same);
    assert_eq!(compare(&six, &seven), Verdict::Different(7));
    assert_eq!(compare(&of("act a, b; init a.a.a.a.a.b.delta;", 3), &seven), Verdict::SameTo(4));
    // Deadlock and termination differ, and so do probabilities. Equal outcomes are merged.
    assert!(matches!(
        compare(&of("act a; init a;", 9), &of("act a; init a.delta;", 9)),
        Verdict::Different(_)
    ));
    let dice = |weight: &str| of(&format!("act a: Bool; init dist b: Bool[{weight}] . a(b);"), 9);
    assert!(matches!(compare(&dice("1/2"), &dice("if(b, 1/3, 2/3)")), Verdict::Different(_)));
    assert_eq!(
        compare(&of("act a; init dist b: Bool[1/2] . a;", 9), &of("act a; init a;", 9)),
        Verdict::Same
    );
}

#[test]
fn specifications_are_shrunk() {
    // Suppose that the failing specifications are those that hide what communicates.
    let is_wrong = |one: &naive::specification::Specification| {
        let mut wrong = false;
        for body in one.bodies() {
            body.walk(&mut |process| {
                if let Process::Under(Operator::Hide(names), inner) = process {
                    inner.walk(&mut |deeper| {
                        wrong |= matches!(deeper, Process::Under(Operator::Comm(rules), _)
                            if rules.iter().any(|(left, _)| left.iter().any(|name| names.contains(name))));
                    });
                }
            });
        }
        wrong && trial::program(&one.text()).is_ok()
    };
    let mut found = 0;
    for number in 0..300 {
        let (specification, _) = trial::specification(series(seed()), number);
        if !is_wrong(&specification) {
            continue;
        }
        found += 1;
        let small = shrink(&specification, &mut |one| is_wrong(one));
        assert!(is_wrong(&small));
        assert!(small.text().len() < 110, "{}", small.text());
    }
    assert!(found > 10, "{found}");
}

#[test]
fn the_same_seed_generates_the_same_specifications() {
    let texts =
        |seed| (0..50).map(|number| trial::specification(series(seed), number).0.text()).collect::<Vec<_>>();
    assert_eq!(texts(3), texts(3));
    assert_ne!(texts(3), texts(4));
    let mut draw = Draw::new(1, 2);
    assert!((0..1000).all(|_| draw.between(3, 5) >= 3 && draw.below(7) < 7));
}

#[test]
fn refusals_have_messages() {
    for text in ["act a, b; init a ||_ b;", "act a, b; init a . (a || b);", "act a, b; init a << b;"] {
        let outcome = trial::judge(text, &Options::default(), MOST);
        assert!(matches!(&outcome, Outcome::Refused(message) if !message.is_empty()), "{text}: {outcome:?}");
    }
    // A system that is too large for a test is compared as far as both sides were explored.
    let text = "act a: Nat; proc P(n: Nat) = a(n) . P((n + 1) mod 5); init P(0) || P(1) || P(2) || P(3);";
    let outcome = trial::judge(text, &Options::default(), 20);
    assert!(matches!(outcome, Outcome::Agreed { complete: false, states: 20, .. }), "{outcome:?}");
    let model = Mcrl2Model::new("test.mcrl2", text, &Options::default()).expect("accepted").0;
    assert!(of_product(&model, 1000).expect("no errors").is_complete());
}
