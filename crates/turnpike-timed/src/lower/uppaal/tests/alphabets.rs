//! Channels without a direction, and unused arguments.

use super::{lowered, refused};
use crate::network::{Network, Sync};
use crate::uppaal::{Format, read};

/// Vectors as text, and for each process its events; `-` for an internal edge.
fn shape(network: &Network) -> (Vec<String>, Vec<String>) {
    let name = |event: u32| network.events[event as usize].as_str();
    let vectors = network.vectors.iter().map(|vector| {
        let members: Vec<String> = vector
            .iter()
            .map(|one| format!("{}@{}", network.processes[one.process.0 as usize].name, name(one.event.0)))
            .collect();
        members.join(" ")
    });
    let processes = network.processes.iter().map(|process| {
        let edges: Vec<&str> = process
            .edges
            .iter()
            .map(|edge| match edge.sync {
                Sync::Event(event) => name(event.0),
                Sync::Internal => "-",
                _ => "?",
            })
            .collect();
        edges.join(" ")
    });
    (vectors.collect(), processes.collect())
}

/// Three processes: `P` knows `a` and `b`, `Q` all three, `R` has an internal edge and `c`.
fn model(tail: &str) -> String {
    format!(
        "chan c, b, a; clock x;
         process P() {{ state s; init s; trans s -> s {{ sync a; }}, s -> s {{ guard x > 1; sync b; }}; }}
         process Q() {{ state s; init s; trans s -> s {{ sync a; }}, s -> s {{ sync b; }}, s -> s {{ sync c; }}; }}
         process R() {{ state s; init s; trans s -> s {{ }}, s -> s {{ sync c; }}; }}
         system P, Q, R; {tail}"
    )
}

fn warnings(text: &str) -> Vec<(String, &str)> {
    let (_, _, warnings) = read(text, Format::Xta, &[]).expect("a model");
    let place = |warning: &turnpike_model::Diagnostic| {
        let range = warning.span.clone().expect("a place").range;
        (warning.message.clone(), &text[range])
    };
    warnings.iter().map(place).collect()
}

#[test]
fn alphabets_decide_who_takes_part() {
    let table: [(&str, &[&str]); 6] = [
        // In the order of channels and of processes, whatever the order of the lines.
        ("IO R { c } IO Q { b, a, c, a } IO P { a, b }", &["Q@c R@c", "P@b Q@b", "P@a Q@a"]),
        // Without lines: the channels on the edges.
        ("", &["Q@c R@c", "P@b Q@b", "P@a Q@a"]),
        ("IO Q { b, a, c }", &["Q@c R@c", "P@b Q@b", "P@a Q@a"]),
        // Not known to Q, which takes it alone; then P does too.
        ("IO Q { a, c }", &["Q@c R@c", "P@a Q@a"]),
        // Known to a process without such an edge: all three are needed.
        ("IO P { a, b } IO Q { a, b, c } IO R { a, c }", &["Q@c R@c", "P@b Q@b", "P@a Q@a R@a"]),
        ("IO P { } IO Q { } IO R { a, b, c }", &[]),
    ];
    for (tail, expected) in table {
        let (network, _) = lowered(&model(tail));
        let (vectors, processes) = shape(&network);
        assert_eq!(network.events, ["c", "b", "a"], "{tail}");
        assert_eq!(vectors, expected, "{tail}");
        assert_eq!(processes, ["a b", "a b c", "- c"], "{tail}");
        assert!(network.by_events());
    }
}

#[test]
fn what_alphabets_do_not_say_is_told() {
    let text = model("IO P { a, b } IO Q { a, b, c } IO R { a, c }");
    assert_eq!(warnings(&text), [("`R` has no edge with `a`".into(), "a")]);
    // Once for all processes without a line, at the first such channel.
    let text = model("IO P { a } IO R { c }");
    assert_eq!(
        warnings(&text),
        [("`b` is not on the `IO` line of `P`".into(), "b"), ("there is no `IO` line for `Q`".into(), "c"),]
    );
    // No other process knows it.
    assert_eq!(warnings(&model("IO P { } IO Q { } IO R { a, b, c }")).len(), 5);
}

#[test]
fn cells_of_arrays_are_events_of_their_own() {
    let text = |lines: &str| {
        format!(
            "typedef int[1,2] id; chan go[id], off;
             process T(const id i) {{ state s; init s; trans s -> s {{ sync go[i]; }}, s -> s {{ sync off; }}; }}
             process G(chan &off) {{ state s; init s;
               trans s -> s {{ select i : int[0,2]; guard i > 0; sync go[i]; }}, s -> s {{ sync off; }}; }}
             C = G(off);
             system C, T; {lines}"
        )
    };
    let expected = ["C@go[1] T(1)@go[1]", "C@go[2] T(2)@go[2]", "C@off T(1)@off T(2)@off"];
    for lines in
        ["", "IO T(2) { go[1 + 1], off } IO T(1) { off, go[1] } IO C { go, off }", "IO C { off, go }"]
    {
        let (network, _) = lowered(&text(lines));
        let (vectors, processes) = shape(&network);
        assert_eq!(vectors, expected, "{lines}");
        assert_eq!(processes, ["go[1] go[2] off", "go[1] off", "go[2] off"], "{lines}");
    }
    // A line without arguments is for all processes of the name.
    let (network, _) = lowered(&text("IO T { go } IO C { go }"));
    assert_eq!(shape(&network).0, ["C@go[1] T(1)@go[1] T(2)@go[1]", "C@go[2] T(1)@go[2] T(2)@go[2]"]);
}

#[test]
fn an_edge_that_can_never_be_taken_counts_for_the_alphabet() {
    let (network, _) = lowered(
        "chan a; const bool on = false;
         process P() { state s; init s; trans s -> s { sync a; }; }
         process Q() { state s; init s; trans s -> s { guard on; sync a; }; }
         system P, Q;",
    );
    assert_eq!(shape(&network), (vec!["P@a Q@a".into()], vec!["a".into(), String::new()]));
}

#[test]
fn wrong_synchronisations_are_refused() {
    let edge = |globals: &str, sync: &str, tail: &str| {
        format!(
            "{globals} int[0,1] n; process P() {{ state s; init s; trans s -> s {{ {sync} }}; }} system P; {tail}"
        )
    };
    let table = [
        ("chan c[2];", "sync c[n];", "", "must be known before the system runs", "c[n]"),
        ("chan c[2];", "sync c[2];", "", "index 2 is out of range", "2"),
        ("chan c[2];", "sync c;", "", "a channel is needed here", "c"),
        ("urgent chan c;", "sync c;", "", "an urgent channel needs a direction", "c"),
        ("broadcast chan c;", "sync c;", "", "a broadcast channel needs a direction", "c"),
        (
            "chan c; chan priority c < default;",
            "sync c;",
            "",
            "a channel with a priority needs a direction",
            "c",
        ),
        ("chan c;", "sync c;", "IO P { d }", "there is no name `d`", "d"),
        ("chan c;", "sync c;", "IO P { n }", "a channel is needed here", "n"),
        ("chan c[2];", "sync c[1];", "IO P { c[n] }", "must be known", "c[n]"),
        ("chan c[2];", "sync c[1];", "IO P { c[3] }", "index 3 is out of range", "3"),
        ("chan c;", "sync c;", "IO Q { c }", "there is no process `Q`", "Q"),
        ("chan c;", "sync c;", "IO P(1) { c }", "0 free parameters, but got 1 argument", "IO P(1) { c }"),
        ("chan c;", "sync c!;", "IO P { c }", "`P` has `c!`", "IO P { c }"),
    ];
    for (globals, sync, tail, message, place) in table {
        let text = edge(globals, sync, tail);
        let (error, found) = refused(&text);
        assert!(error.contains(message), "{text}: {error}");
        assert_eq!(found, place, "{text}: {error}");
    }
    let (error, place) = refused(
        "chan a, b; process P() { state s; init s; trans s -> s { sync a?; }; }
         process Q() { state s; init s; trans s -> s { sync b; }; } system P, Q;",
    );
    assert!(error.contains("cannot be mixed") && error.contains("`P` has `a?`"), "{error}");
    assert_eq!(place, "b");
}

#[test]
fn an_argument_without_a_value_is_an_error_of_its_use() {
    let text = |body: &str| {
        format!(
            "const int data[2] = {{ 1, 2 }}; int v;
             process P(int n, const int m) {{ state s; init s; trans s -> s {{ {body} }}; }}
             Q(const int a, const int i) = P(a, data[i]);
             R(const int[0,2] i) = Q(1 / (2 - i), i);
             system R;"
        )
    };
    let model = text("guard v < 3;");
    let (network, names) = lowered(&model);
    assert_eq!(network.processes.len(), 3);
    let told: Vec<_> =
        warnings(&model).into_iter().map(|(message, place)| format!("{message}: {place}")).collect();
    assert_eq!(
        told,
        [
            "the argument for `a` has no value: 1 / (2 - i)",
            "the argument for `n` has no value: a",
            "the argument for `m` has no value: data[i]",
        ]
    );
    assert!(names.condition(&network, "R(1).m == 2").is_ok());
    let error = names.condition(&network, "R(2).m == 2").expect_err("no value");
    assert_eq!(error.message, "`m` has no value");
    for (body, place) in
        [("guard m > 0;", "2"), ("assign v = n;", "1 / (2 - i)"), ("assign n = 3;", "1 / (2 - i)")]
    {
        let text = text(body);
        let (_, found) = refused(&text);
        assert_eq!(found, if place == "2" { "i" } else { place }, "{body}");
    }
    // What depends on the state is not a constant, and wrong types are reported immediately.
    for (argument, message) in
        [("v", "must be known"), ("data", "number or truth value"), ("w", "no name `w`")]
    {
        let (error, _) = refused(&format!(
            "const int data[2] = {{ 1, 2 }}; int v; process P(const int n) {{ }} Q = P({argument}); system Q;"
        ));
        assert!(error.contains(message), "{argument}: {error}");
    }
}
