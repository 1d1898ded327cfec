//! Small specifications and their automata, as text.

use std::fmt::Write;

use super::automaton;
use crate::expression::{Substitution, text};
use crate::linear::{Automaton, Goto, Step, Update};
use crate::sorts::{Program, check_specification};
use crate::syntax::parse_specification;

fn program(source: &str) -> Program {
    let (specification, diagnostics) = parse_specification(source);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (program, diagnostics) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn build(source: &str) -> Result<(Program, Automaton), String> {
    let mut program = program(source);
    let root = program.init.expect("an initial process");
    match automaton(&mut program, "init", root, &Substitution::default()) {
        Ok(automaton) => Ok((program, automaton)),
        Err(error) => Err(error.to_string()),
    }
}

/// `[n = 1] 2`: the assignments, then the location.
fn update(program: &Program, update: &Update) -> String {
    match update {
        Update::If { condition, then, otherwise, .. } => format!(
            "if {} then {} else {}",
            text(program, *condition),
            self::update(program, then),
            self::update(program, otherwise)
        ),
        Update::Go { location, assignments } => {
            let Goto::Local(location) = location else { panic!("not combined yet") };
            let mut all: Vec<String> = assignments
                .iter()
                .map(|(one, value)| {
                    format!("{} = {}", program.text(program.variable(*one).name), text(program, *value))
                })
                .collect();
            all.sort();
            let all = if all.is_empty() { String::new() } else { format!("[{}] ", all.join(", ")) };
            format!("{all}{location}")
        }
    }
}

/// One line for the beginning, one for each edge: `0: sum n. n < 3 -> a(n) @ 1 -> [m = n] 1`.
fn show(program: &Program, automaton: &Automaton) -> String {
    let names = |all: &[crate::sorts::VariableId]| -> String {
        let all: Vec<&str> = all.iter().map(|&one| program.text(program.variable(one).name)).collect();
        all.join(", ")
    };
    let mut lines = String::new();
    let chance = |one: &Option<crate::linear::Distribution>| match one {
        None => String::new(),
        Some(one) => format!("dist {}[{}]. ", names(&one.variables), text(program, one.weight)),
    };
    let begin = update(program, &automaton.initial);
    let _ = write!(lines, "{}{begin}", chance(&automaton.initial_distribution));
    for edge in &automaton.edges {
        let _ = write!(lines, "\n{}: ", edge.from);
        if !edge.variables.is_empty() {
            let _ = write!(lines, "sum {}. ", names(&edge.variables));
        }
        for &condition in &edge.conditions {
            let _ = write!(lines, "({}) -> ", text(program, condition));
        }
        match &edge.what {
            Step::Terminate => lines.push_str("Terminate"),
            Step::Actions(actions) if actions.is_empty() => lines.push_str("tau"),
            Step::Actions(actions) => {
                let all: Vec<String> = actions
                    .iter()
                    .map(|action| {
                        let name = program.text(action.name);
                        let data: Vec<String> =
                            action.arguments.iter().map(|&one| text(program, one)).collect();
                        if data.is_empty() { name.to_owned() } else { format!("{name}({})", data.join(", ")) }
                    })
                    .collect();
                lines.push_str(&all.join("|"));
            }
        }
        if let Some(time) = edge.time {
            let _ = write!(lines, " @ {}", text(program, time));
        }
        let _ = write!(lines, " -> {}{}", chance(&edge.distribution), update(program, &edge.target));
    }
    lines
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let found = match build(source) {
        Ok((program, automaton)) => show(&program, &automaton),
        Err(error) => error,
    };
    assert_eq!(found, expected.join("\n"), "{source}");
}

#[test]
fn actions_sequences_and_choices() {
    check("act a; init a;", &["0", "0: a -> 1", "1: Terminate -> 2"]);
    check("act a, b; init a|b|tau . tau . delta;", &["0", "0: a|b -> 1", "1: tau -> 2"]);
    check("act a; proc P = a.P; init P;", &["0", "0: a -> 0"]);
    // The two c.P are one location.
    check("act a, b, c; proc P = a.c.P + b.c.P; init P;", &["0", "0: a -> 1", "0: b -> 1", "1: c -> 0"]);
    // What cannot be reached is not there.
    check("act a, b; proc P = a.P; init P.b + delta.b;", &["0", "0: a -> 1", "1: a -> 1"]);
}

#[test]
fn sums_and_parameters() {
    // Row 24: P() takes the n of the sum.
    check(
        "act a, b: Nat; proc P(n: Nat) = b(n).(sum n: Nat. (n == 7 || n == 8) -> a(n).P()); init P(1);",
        &["[n = 1] 0", "0: b(n) -> [n = 0] 1", "1: sum n. (n == 7 || n == 8) -> a(n) -> [n = n] 0"],
    );
    // Row 25: values are exchanged at once.
    check(
        "act a: Nat; proc P(n, m: Nat) = a(n).P(m = n, n = m); init P(1, 2);",
        &["[m = 2, n = 1] 0", "0: a(n) -> [m = n, n = m] 0"],
    );
    check("act a; init sum n: Nat. a . delta;", &["0", "0: a -> 1"]);
}

#[test]
fn conditions_are_decided_at_once() {
    // Row 30.
    check(
        "act a, b; proc P(n: Nat) = (n < 3) -> a.P(n + 1) <> b; init P(0).a.delta;",
        &["[n = 0] 0", "0: a -> if n + 1 < 3 then [n = n + 1] 0 else [n = 0] 1", "1: b -> 2", "2: a -> 3"],
    );
    check(
        "act a, b; proc P(n: Nat) = a.Q(n); Q(n: Nat) = (n > 0) -> b; init sum n: Nat. (n < 2) -> P(n);",
        &["0", "0: sum n. (n < 2) -> a -> if n > 0 then 1 else 2", "1: b -> 3", "3: Terminate -> 2"],
    );
    // Below a choice they stay with the edges, and those known to fail are gone.
    check(
        "act a, b: Nat; proc P(n, k: Nat) = (n < 3 && k < 5) -> a(n).P(n + 1, k) + (k > 9) -> b(k).P(n, k); init P(0, 4);",
        &["[n = 0] 0", "0: (n < 3) -> a(n) -> [n = n + 1] 0"],
    );
}

#[test]
fn constants_and_needless_variables_go() {
    check(
        "act get, put: Nat # Nat; proc Phil(n: Nat) = get(n, n).put(n, n).Phil(n); init Phil(3);",
        &["0", "0: get(3, 3) -> 1", "1: put(3, 3) -> 0"],
    );
    check(
        "act a, b: Nat; proc P(n: Nat, l: List(Nat)) = sum m: Nat. a(m).b(m).P(n + 1, m |> l); init P(0, []);",
        &["[m = 0] 0", "0: sum m. a(m) -> [m = m] 1", "1: b(m) -> [m = 0] 0"],
    );
    // Variables of one name share a parameter.
    let (_, automaton) = build(
        "act a, b: Nat; proc P(n: Nat) = a(n).Q(n + 1); Q(n: Nat) = b(n).(n > 5) -> P(0) <> P(n); init P(0);",
    )
    .expect("sequential");
    assert_eq!(automaton.variables.len(), 1);
}

#[test]
fn nested_recursion_uses_a_stack() {
    // Row 29.
    check(
        "act a, b, c; proc P = a.P.b + c; init P;",
        &[
            "[stack = empty] 0",
            "0: a -> [stack = frame0(empty)] 1",
            "0: c -> 2",
            "1: a -> [stack = frame1(stack)] 1",
            "1: c -> if is_frame0(stack) then [stack = empty] 3 else [stack = below(stack)] 4",
            "2: Terminate -> 5",
            "3: b -> 2",
            "4: b -> if is_frame0(stack) then [stack = empty] 3 else [stack = below(stack)] 4",
        ],
    );
}

#[test]
fn the_same_process_twice() {
    check(
        "act a: Nat; proc P(n: Nat) = a(n); init P(1).P(2);",
        &["[n = 1] 0", "0: a(n) -> [n = 2] 1", "1: a(n) -> [n = 0] 2", "2: Terminate -> 3"],
    );
    // The n after the call is the caller's.
    check(
        "act a, b: Nat; proc P(n: Nat) = a(n).((n < 2) -> P(n + 1) <> tau).b(n); init P(0).delta;",
        &[
            "[n = 0, stack = empty] 0",
            "0: a(n) -> if n < 2 then [n = n + 1, stack = frame0(n, empty)] 1 else 2",
            "1: a(n) -> if n < 2 then [n = n + 1, stack = frame1(n, stack)] 1 else 3",
            "2: tau -> 4",
            "3: tau -> 5",
            "4: b(n) -> [n = 0] 6",
            "5: b(n) -> if is_frame0(stack) then [n = n(stack), stack = empty] 4 else [n = n(stack), stack = below(stack)] 5",
        ],
    );
}

#[test]
fn recursion_must_be_guarded() {
    let help = "(recursion must be guarded: an action has to come before the call)";
    for (source, message) in [
        ("act a; proc P = P + a; init P;", "process P calls itself before any action"),
        ("proc P = P; init P;", "process P calls itself before any action"),
        (
            "act a; proc P(n: Nat) = (n > 0) -> P(1).a <> a; init P(0);",
            "process P calls itself before any action",
        ),
        (
            "act a; proc P = Q; Q = sum n: Nat. R; R = P.a; init a.P;",
            "processes P, Q and R call each other before any action",
        ),
    ] {
        check(source, &[&format!("{message} {help}")]);
    }
    // What does not come first needs no guard, nor what is never called.
    check("act a; proc P = a.P; Q = Q; init P;", &["0", "0: a -> 0"]);
}
