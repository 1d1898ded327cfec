//! The automata of small specifications, as text.

use std::fmt::Write;

use super::automaton;
use super::distribution::PendingChoices;
use super::unfold::Unfolding;
use crate::lower::{Automaton, Goto, Step, Update};
use crate::syntax::parse_specification;
use crate::typed::expression::{Substitution, text};
use crate::typed::{Program, check_specification};

fn program(source: &str) -> Program {
    let (specification, diagnostics) = parse_specification(source);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (program, diagnostics) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn build(source: &str) -> Result<(Program, Automaton), String> {
    let mut program = program(source);
    let root = program.init.expect("an initial process");
    match automaton(&mut program, root, &Substitution::default()) {
        Ok(automaton) => Ok((program, automaton)),
        Err(error) => Err(error.to_string()),
    }
}

/// `[n = 1] 2`: the assignments, and then the location.
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

/// A line for the initial location and each edge: `0: sum n. n < 3 -> a(n) @ 1 -> [m = n] 1`.
fn show(program: &Program, automaton: &Automaton) -> String {
    let names = |all: &[crate::typed::VariableId]| -> String {
        let all: Vec<&str> = all.iter().map(|&one| program.text(program.variable(one).name)).collect();
        all.join(", ")
    };
    let mut lines = String::new();
    let chance = |one: &Option<crate::lower::Distribution>| match one {
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
    // Both `c.P` are the same location.
    check("act a, b, c; proc P = a.c.P + b.c.P; init P;", &["0", "0: a -> 1", "0: b -> 1", "1: c -> 0"]);
    // Unreachable locations do not exist.
    check("act a, b; proc P = a.P; init P.b + delta.b;", &["0", "0: a -> 1", "1: a -> 1"]);
}

#[test]
fn sums_and_parameters() {
    // Row 24: `P()` uses the `n` of the sum.
    check(
        "act a, b: Nat; proc P(n: Nat) = b(n).(sum n: Nat. (n == 7 || n == 8) -> a(n).P()); init P(1);",
        &["[n = 1] 0", "0: b(n) -> [n = 0] 1", "1: sum n. (n == 7 || n == 8) -> a(n) -> [n = n] 0"],
    );
    // Row 25: values are exchanged simultaneously.
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
    // Below a choice they remain on the edges, and edges with a false condition are removed.
    check(
        "act a, b: Nat; proc P(n, k: Nat) = (n < 3 && k < 5) -> a(n).P(n + 1, k) + (k > 9) -> b(k).P(n, k); init P(0, 4);",
        &["[n = 0] 0", "0: (n < 3) -> a(n) -> [n = n + 1] 0"],
    );
}

#[test]
fn conditions_that_make_no_difference_go() {
    // Both outcomes lead to the same location, where k is not needed.
    check(
        "act a, b: Nat; proc P = sum m: Nat. (m < 2) -> a(m).((m > 0) -> Q(m) <> Q(0)); Q(k: Nat) = b(2).P; init P;",
        &["0", "0: sum m. (m < 2) -> a(m) -> 1", "1: b(2) -> 0"],
    );
}

#[test]
fn too_many_locations_are_an_error() {
    let mut program = program("act a; init a.a.a.a.delta;");
    let root = program.init.expect("an initial process");
    let mut unfolding = Unfolding::new(&mut program, root, &Substitution::default()).expect("sequential");
    unfolding.limit = 3;
    let error =
        unfolding.run(root, &Substitution::default(), &mut PendingChoices::default()).expect_err("too many");
    assert_eq!(error.to_string(), "more than 3 control locations (the process is not regular)");
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
    // Variables with the same name share a parameter.
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
fn a_call_may_end_with_its_first_action() {
    // The frame for b is pushed and popped in one step.
    check(
        "act a, b, c; proc P = a.Q + c; Q = c.P.b + (P + a).b; init P;",
        &[
            "[stack = empty] 0",
            "0: a -> 1",
            "0: c -> 2",
            "1: c -> [stack = frame0(empty)] 3",
            "1: a -> [stack = frame0(empty)] 4",
            "1: c -> 5",
            "1: a -> 5",
            "2: Terminate -> 6",
            "3: a -> 4",
            "3: c -> if is_frame0(stack) then [stack = empty] 5 else [stack = below(stack)] 7",
            "4: c -> [stack = frame1(stack)] 3",
            "4: a -> [stack = frame1(stack)] 4",
            "4: c -> 7",
            "4: a -> 7",
            "5: b -> 2",
            "7: b -> if is_frame0(stack) then [stack = empty] 5 else [stack = below(stack)] 7",
        ],
    );
}

#[test]
fn the_same_process_twice() {
    check(
        "act a: Nat; proc P(n: Nat) = a(n); init P(1).P(2);",
        &["[n = 1] 0", "0: a(n) -> [n = 2] 1", "1: a(n) -> [n = 0] 2", "2: Terminate -> 3"],
    );
    // The `n` after the call is that of the caller.
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
    // Only first positions need guards, and only in processes that are called.
    check("act a; proc P = a.P; Q = Q; init P;", &["0", "0: a -> 0"]);
}

#[test]
fn parallel_operators_are_refused_inside() {
    let help = "(||, comm, allow, block, hide and rename may only stand at the outer level, never below `.`, `+`, `->`, sum, dist or `@`, nor in recursion)";
    for (source, message) in [
        ("act a; proc P = a.(P || P); init P;", "`||`"),
        ("act a; init a.hide({a}, a);", "`hide`"),
        ("act a; init a + block({a}, a);", "`block`"),
        ("act a; init sum n: Nat. allow({a}, a);", "`allow`"),
        ("act a, b; init true -> rename({a -> b}, a);", "`rename`"),
        ("act a, b, c; init comm({a|b -> c}, a).b;", "`comm`"),
    ] {
        check(source, &[&format!("{message} may not stand inside a sequential process {help}")]);
    }
    check("act a, b; init a ||_ b;", &["the operator `||_` is not supported"]);
    check("act a, b; init a << b;", &["the operator `<<` is not supported"]);
    check("act a, b, c; init a|(b.c);", &["`|` joins actions only (a multi-action is written a|b)"]);
}

#[test]
fn errors_have_a_place() {
    let source = "act a; proc P = a.(P || P); init P;";
    let mut program = program(source);
    let root = program.init.expect("an initial process");
    let error = automaton(&mut program, root, &Substitution::default()).expect_err("not sequential");
    assert_eq!(&source[error.span.expect("a place").range], "P || P");
}

#[test]
fn time_stamps() {
    // Row 32.
    check("act a, b, c; init a@1.b@3.c@2.delta;", &["0", "0: a @ 1 -> 1", "1: b @ 3 -> 2", "2: c @ 2 -> 3"]);
    check("act a, b; init (a|b)@2 @ 2 . delta@3;", &["0", "0: a|b @ 2 -> 1"]);
    check(
        "act a: Real; init sum t: Real. (a(t)@t @ 2) . delta;",
        &["0", "0: sum t. (2 == t) -> a(t) @ 2 -> 1"],
    );
    check("act a; init a@1@2;", &["0"]);
}

#[test]
fn probabilistic_choices() {
    // Row 31.
    check(
        "act throw: Bool; a; init a.dist b: Bool[if(b, 1/3, 2/3)].throw(b).delta;",
        &["[b = false] 0", "0: a -> dist b[if(b, 1 / 3, 2 / 3)]. [b = b] 1", "1: throw(b) -> [b = false] 2"],
    );
    check(
        "act head, tail; proc Coin = dist b: Bool[1/2]. (b -> head.Coin <> tail.Coin); init Coin;",
        &[
            "dist b[1 / 2]. [b = b] 0",
            "0: (b) -> head -> dist b[1 / 2]. [b = b] 0",
            "0: (!b) -> tail -> dist b[1 / 2]. [b = b] 0",
        ],
    );
    // Two successive choices are merged. If one of them may be skipped, it has a certain outcome
    // then.
    check(
        "act a, c: Bool; init sum b: Bool. a(b).(b -> dist x: Bool[1/4]. dist y: Bool[3/4]. c(x && y).delta);",
        &[
            "[x = false, y = false] 0",
            "0: sum b. a(b) -> dist x, y[if(b, 1 / 4, if(!x, 1, 0)) * if(b, 3 / 4, if(!y, 1, 0))]. if b then [x = x, y = y] 1 else 2",
            "1: c(x && y) -> [x = false, y = false] 2",
        ],
    );
    // If there are other alternatives, the choice comes before all of them.
    check(
        "act a, b; c: Bool; init a.(b.delta + dist x: Bool[1/2]. c(x).delta);",
        &[
            "[x = false] 0",
            "0: a -> dist x[1 / 2]. [x = x] 1",
            "1: b -> [x = false] 2",
            "1: c(x) -> [x = false] 2",
        ],
    );
    // Each value of a sum has its own choice.
    check(
        "act a, b: Bool; init sum y: Bool. dist x: Bool[1/2]. a(x && y).delta;",
        &[
            "dist x, x[(1 / 2) * (1 / 2)]. [x = x] 0",
            "0: a(x) -> [x = false] 1",
            "0: a(false) -> [x = false] 1",
        ],
    );
    check(
        "act a: Nat; init sum n: Nat. (n < 2) -> dist x: Bool[1/2]. a(n).delta;",
        &[
            "a probabilistic choice inside a sum needs a sum over a finite sort (put an action between the sum and the dist)",
        ],
    );
}

#[test]
fn the_environment_gives_values() {
    let mut program =
        program("act a, b: Nat; glob g: Nat; proc P(n: Nat) = a(n).(n < 9) -> P(n + 1) <> b(g); init P(0);");
    let (parameter, body) = (program.processes[0].parameters[0], program.processes[0].body.expect("checked"));
    let one =
        crate::typed::expression::representative(&mut program, crate::typed::SortId::POS).expect("a number");
    let environment = Substitution::from_iter([(parameter, one)]);
    let automaton = automaton(&mut program, body, &environment).expect("sequential");
    assert_eq!(
        show(&program, &automaton),
        "[n = 1] 0\n0: a(n) -> if n < 9 then [n = n + 1] 0 else [n = 0] 1\n1: b(0) -> 2\n2: Terminate -> 3"
    );
}

#[test]
fn locations_say_what_comes_next() {
    let (_, automaton) = build(
        "act get, put: Nat # Nat; a, b; proc P(n: Nat) = sum m: Nat. get(n, m).put(m, n).(a + b).P(n); init P(1).a;",
    )
    .expect("sequential");
    let texts: Vec<&str> = automaton.locations.iter().map(|one| &*one.text).collect();
    assert_eq!(texts, ["P", "put(m, n) . (a + …) . P(n)", "(a + …) . P(n)"]);
}

/// There is no unbounded recursion, and the time is not quadratic.
#[test]
fn large_terms() {
    let long = vec!["a"; 10_000].join(".");
    let (_, automaton) = build(&format!("act a; init {long};")).expect("sequential");
    assert_eq!((automaton.locations.len(), automaton.edges.len()), (10_002, 10_001));
    let left = format!("{}a{}", "(".repeat(3_000), ".a)".repeat(3_000));
    let (_, automaton) = build(&format!("act a; init {left};")).expect("sequential");
    assert_eq!(automaton.edges.len(), 3_002);
    let wide: Vec<String> =
        (0..5_000).map(|n| format!("(n == {n}) -> a(n).P({})", (n + 1) % 5_000)).collect();
    let wide = wide.join(" + ");
    let (_, automaton) =
        build(&format!("act a: Nat; proc P(n: Nat) = {wide}; init P(0);")).expect("sequential");
    assert_eq!((automaton.locations.len(), automaton.edges.len()), (1, 5_000));
    let deep: String = (0..1_000).map(|n| format!("(n == {n}) -> a.P(n + 1) <> ")).collect();
    let (_, automaton) =
        build(&format!("act a; proc P(n: Nat) = {deep} delta; init P(0);")).expect("sequential");
    // Conditions beyond the limit for those decided in advance remain in a single location.
    assert_eq!((automaton.locations.len(), automaton.edges.len()), (2, 801));
}

/// All sequential processes of the public models, with some values of their parameters.
#[test]
#[expect(clippy::print_stderr, reason = "says what was tested, or that nothing was")]
fn processes_of_public_models() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let mut folders = vec![corpus.path("models/mcrl2")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "mcrl2") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty());
    let (mut built, mut refused) = (0, std::collections::BTreeMap::<String, usize>::new());
    let (mut locations, mut edges) = (0, 0);
    let start = std::time::Instant::now();
    for path in &files {
        let source = std::fs::read_to_string(path).expect("a readable model");
        let (Some(mut program), _) = check_specification(&parse_specification(&source).0) else { continue };
        for index in 0..program.processes.len() {
            let begin = std::time::Instant::now();
            let process = program.processes[index].clone();
            let mut environment = Substitution::default();
            for &one in &process.parameters {
                let sort = program.variable(one).sort;
                let value = crate::typed::expression::representative(&mut program, sort);
                environment.extend(value.map(|value| (one, value)));
            }
            let name = program.text(process.name).to_owned();
            match automaton(&mut program, process.body.expect("checked"), &environment) {
                Ok(automaton) => {
                    built += 1;
                    locations += automaton.locations.len();
                    edges += automaton.edges.len();
                    if begin.elapsed().as_millis() > 500 {
                        eprintln!(
                            "{} {name}: {} locations, {} edges, {} variables, {:?}",
                            path.display(),
                            automaton.locations.len(),
                            automaton.edges.len(),
                            automaton.variables.len(),
                            begin.elapsed()
                        );
                    }
                }
                Err(error) => {
                    if !error.message.contains("may not stand inside") {
                        eprintln!("{} {name}: {error}", path.display());
                    }
                    *refused.entry(error.message).or_default() += 1;
                }
            }
        }
    }
    eprintln!(
        "{} models, {built} processes, {locations} locations, {edges} edges in {:?}; refused: {refused:?}",
        files.len(),
        start.elapsed()
    );
    assert!(built > 0);
}
