//! Declarations, templates and edges: what becomes of them in the network.

use super::{lowered, refused, with_edge, with_globals};
use crate::network::{ChannelId, ClockId, ClockValue, Expression, Network, Statement, Sync};
use crate::uppaal::{Format, read};

fn variables(network: &Network) -> Vec<(String, i32, i32, i32)> {
    network.variables.iter().map(|v| (v.name.clone(), v.low, v.high, v.initial)).collect()
}

/// Assigns all variables, so that their ranges are as declared.
fn ranges(globals: &str, update: &str) -> Vec<(String, i32, i32, i32)> {
    variables(&lowered(&with_edge(globals, "", &format!("assign {update};"))).0)
}

#[test]
fn variables_have_ranges_and_initial_values() {
    let own = |list: &[(&str, i32, i32, i32)]| -> Vec<(String, i32, i32, i32)> {
        list.iter().map(|&(name, low, high, initial)| (name.to_owned(), low, high, initial)).collect()
    };
    assert_eq!(
        ranges("int i = 3; bool b; int[2,9] c; int[-1,2] d;", "i = 0, b = true, c = 2, d = 0"),
        own(&[("i", -32768, 32767, 3), ("b", 0, 1, 0), ("c", 2, 9, 2), ("d", -1, 2, 0)])
    );
    assert_eq!(
        ranges(
            "typedef int[1,2] id; int[0,5] a[id] = {4, 5}; int[0,1] m[2][2] = {{0, 1}, {1, 0}}; int k;",
            "a[k] = 1, m[k][k] = 0"
        ),
        own(&[
            ("a[1]", 0, 5, 4),
            ("a[2]", 0, 5, 5),
            ("m[0][0]", 0, 1, 0),
            ("m[0][1]", 0, 1, 1),
            ("m[1][0]", 0, 1, 1),
            ("m[1][1]", 0, 1, 0),
            ("k", 0, 0, 0),
        ])
    );
    assert_eq!(
        ranges(
            "typedef struct { int[0,3] x; bool y[2]; } S; S s = {2, {true, false}}, t[1] = {{y: {false, true}, x: 3}}; S u;",
            "u = s, s = u, t[0] = s"
        )
        .iter()
        .map(|(name, .., initial)| format!("{name}={initial}"))
        .collect::<Vec<_>>(),
        ["s.x=2", "s.y[0]=1", "s.y[1]=0", "t[0].x=3", "t[0].y[0]=0", "t[0].y[1]=1", "u.x=0", "u.y[0]=0", "u.y[1]=0"]
    );
    assert_eq!(
        ranges("typedef scalar[3] id; id a; meta int m;", "a = a, m = 1")[0],
        ("a".to_owned(), 0, 2, 0)
    );
    let (network, _) = lowered(&with_edge("meta int m; int n;", "", "assign m = 1, n = 1;"));
    assert_eq!([network.variables[0].meta, network.variables[1].meta], [true, false]);
}

#[test]
fn variables_that_nothing_assigns_have_one_value() {
    let (network, _) = lowered(&with_edge("int a = 4, b, c[2], d; int i;", "", "assign b = a, c[i] = d;"));
    assert_eq!(
        variables(&network)
            .iter()
            .map(|(name, low, high, _)| format!("{name} {low} {high}"))
            .collect::<Vec<_>>(),
        ["a 4 4", "b -32768 32767", "c[0] -32768 32767", "c[1] -32768 32767", "d 0 0", "i 0 0"]
    );
}

#[test]
fn constants_decide_about_types() {
    let text = with_globals(
        "const int N = 3; const int M[2] = {N, 2 * N}; const struct { int a; int b; } S = {1, 2};
         int f(int x) { return x + S.b; } int a[M[1]]; int b[f(N)]; int[0,M[0]] c; const bool B = N > 2; int d[B ? 2 : 1];",
    );
    let (network, _) = lowered(&text);
    assert_eq!(network.variables.len(), 6 + 5 + 1 + 2);
}

#[test]
fn constants_can_be_set() {
    let text =
        with_globals("const int N = 3; const bool B = false; int a[N + (B ? 10 : 0)]; const int[0,5] R = 1;");
    let set = |name: &str, value: &str| {
        read(&text, Format::Xta, &[(name.to_owned(), value.to_owned())])
            .map(|(network, ..)| network.variables.len())
            .map_err(|errors| errors[0].to_string())
    };
    assert_eq!(set("N", "7"), Ok(7));
    assert_eq!(set("B", "true"), Ok(13));
    assert_eq!(set("R", "5"), Ok(3));
    assert!(set("R", "6").is_err_and(|error| error.contains("out of range")));
    assert!(set("N", "many").is_err_and(|error| error.contains("cannot be set")));
    assert!(
        set("M", "7")
            .is_err_and(|error| error.contains("did you mean `N`?") || error.contains("no constant `M`"))
    );
    assert!(set("n", "7").is_err_and(|error| error.contains("did you mean `N`?")));
    assert!(set("a", "7").is_err_and(|error| error.contains("no constant `a`")));
}

#[test]
fn channels_and_clocks_are_numbered() {
    let text = with_edge(
        "typedef int[1,2] id; chan a, b[2][id]; urgent broadcast chan u; clock x, y[2];",
        "clock z; chan c;",
        "sync b[1][2]!; assign y[1] = 3, z = x + 2;",
    );
    let (network, _) = lowered(&text);
    let names: Vec<&str> = network.channels.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(names, ["a", "b[0][1]", "b[0][2]", "b[1][1]", "b[1][2]", "u", "P.c"]);
    assert!(network.channels[5].urgent && network.channels[5].broadcast && !network.channels[0].urgent);
    assert_eq!(network.clocks, ["x", "y[0]", "y[1]", "P.z"]);
    let edge = &network.processes[0].edges[0];
    assert!(matches!(&edge.sync, Sync::Send(cell) if cell.base == ChannelId(4) && cell.offset.is_none()));
    let clocks: Vec<String> = edge
        .update
        .iter()
        .map(|statement| match statement {
            Statement::Clock { clock, value: ClockValue::Constant(Expression::Constant(value)), .. } => {
                format!("x{} = {value}", clock.base.0)
            }
            Statement::Clock {
                clock, value: ClockValue::Clock(source, Expression::Constant(value)), ..
            } => {
                format!("x{} = x{} + {value}", clock.base.0, source.base.0)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(clocks, ["x2 = 3", "x3 = x0 + 2"]);
}

#[test]
fn processes_come_in_the_order_of_the_system_line() {
    let text = "const int N = 2; typedef int[1,N] id; int v[3]; clock g;
        process P(const id a, const int[0,1] b) { clock x; int[0,9] n = 10 * b > 5 ? a : 0; state A; init A; trans A -> A { assign n = 1; }; }
        process R(int &r, clock &c, const int k) { state A { c <= k }; init A; trans A -> A { assign r = k; }; }
        Q(const int[0,1] b) = P(2, b);
        S(int &z, const int k) = R(z, g, k + 1);
        S1 = S(v[2], 6);
        system S1, P, Q;";
    let (network, _) = lowered(text);
    let names: Vec<&str> = network.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["S1", "P(1,0)", "P(1,1)", "P(2,0)", "P(2,1)", "Q(0)", "Q(1)"]);
    assert_eq!(network.clocks[..3], ["g", "P(1,0).x", "P(1,1).x"]);
    assert_eq!(network.variables[4].name, "P(1,1).n");
    assert_eq!(network.variables[4].initial, 1);
    let r = &network.processes[0];
    assert!(matches!(&r.edges[0].update[0],
        Statement::Assign { target, value: Expression::Constant(7), .. } if target.base == 2));
    assert_eq!(r.locations[0].invariant.clocks[0].left.as_ref().map(|cell| cell.base), Some(ClockId(0)));
}

#[test]
fn parameters_are_variables_only_when_assigned() {
    let text = "process P(int[0,2] p, int[0,2] q) { void f(int &r) { r++; } state A; init A;
        trans A -> A { guard p < 2; assign p++; }, A -> A { guard q == 1; }; } system P;";
    let (network, _) = lowered(text);
    assert_eq!(network.processes.len(), 9);
    assert_eq!(network.variables.len(), 9);
    assert_eq!(network.variables[4].name, "P(1,1).p");
    // Where q is not 1, the second edge is dropped.
    let edges: Vec<usize> = network.processes.iter().map(|process| process.edges.len()).collect();
    assert_eq!(edges, [1, 2, 1, 1, 2, 1, 1, 2, 1]);
}

#[test]
fn select_is_written_out() {
    let (network, _) = lowered(&with_edge(
        "chan a[4]; int v;",
        "",
        "select i : int[0,3], j : int[1,2]; guard i != j; sync a[i]!; assign v = 10 * i + j;",
    ));
    let edges: Vec<(u32, i32)> = network.processes[0]
        .edges
        .iter()
        .map(|edge| match (&edge.sync, &edge.update[0]) {
            (Sync::Send(cell), Statement::Assign { value: Expression::Constant(value), .. }) => {
                (cell.base.0, *value)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(edges, [(0, 1), (0, 2), (1, 12), (2, 21), (3, 31), (3, 32)]);
    let (error, _) = refused(&with_edge("", "", "select i : int[0,1000], j : int[0,1000];"));
    assert!(error.contains("1002001 choices"), "{error}");
}

#[test]
fn indices_that_depend_on_variables_are_checked() {
    let globals = "const int T[3] = {5, 6, 7}; int a[3]; int[0,2] i; int j; chan c[3];";
    let (network, _) = lowered(&with_edge(globals, "", "sync c[j]!; assign a[i] = T[i], a[j] = 1;"));
    let edge = &network.processes[0].edges[0];
    assert!(
        matches!(&edge.sync, Sync::Send(cell) if matches!(cell.offset, Some(Expression::InRange { low: 0, high: 2, .. })))
    );
    let Statement::Assign { target, value, .. } = &edge.update[0] else { panic!() };
    assert!(matches!(target.offset.as_deref(), Some(Expression::Read(_))), "{target:?}");
    assert!(matches!(value, Expression::Table(values, _) if **values == [5, 6, 7]), "{value:?}");
    let Statement::Assign { target, .. } = &edge.update[1] else { panic!() };
    assert!(matches!(target.offset.as_deref(), Some(Expression::InRange { .. })), "{target:?}");
}

#[test]
fn priorities_are_levels() {
    let text = "chan a, b[2], c; chan priority a, b[0] < default < c;
        process P() { state A; init A; } process Q() { state A; init A; } system P < Q;";
    let (network, _) = lowered(text);
    assert_eq!(network.channels.iter().map(|channel| channel.priority).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(network.default_priority, 1);
    assert_eq!(network.processes.iter().map(|process| process.priority).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn locations_keep_their_flags() {
    let text =
        "process P() { state A, B { false }, C; commit A; urgent C; init C; trans C -> A { }; } system P;";
    let (network, _) = lowered(text);
    let process = &network.processes[0];
    assert_eq!(process.initial[0].0, 2);
    assert!(process.locations[0].committed && process.locations[2].urgent);
    assert_eq!((process.edges[0].source.0, process.edges[0].target.0), (2, 0));
    assert_eq!(lowered("process P() { } system P;").0.processes[0].locations.len(), 1);
}

#[test]
fn a_channel_parameter_takes_what_can_do_at_least_as_much() {
    let kinds = ["urgent chan", "urgent broadcast chan", "broadcast chan", "chan"];
    let capability = |kind: &str| match kind {
        "chan" => 2,
        "broadcast chan" => 1,
        _ => 0,
    };
    for parameter in kinds {
        for argument in kinds {
            let text = format!(
                "{argument} c; process P({parameter} &h) {{ state A; init A; trans A -> A {{ sync h!; }}; }} Q = P(c); system Q;"
            );
            if capability(argument) >= capability(parameter) {
                let (network, _) = lowered(&text);
                // The argument, not the parameter, decides about urgency and participants.
                assert_eq!(network.channels[0].urgent, argument.contains("urgent"), "{text}");
                assert_eq!(network.channels[0].broadcast, argument.contains("broadcast"), "{text}");
            } else {
                let (error, place) = super::refused(&text);
                assert!(error.contains("`h` must be"), "{text}: {error}");
                assert_eq!(place, "c", "{text}");
            }
            // Cells of arrays are as the parameter declares them.
            let array = text.replace(" c;", " c[2];").replace("&h)", "&h[2])").replace("h!", "h[0]!");
            let outcome = crate::uppaal::read(&array, crate::uppaal::Format::Xta, &[]);
            assert_eq!(outcome.is_ok(), capability(argument) == capability(parameter), "{array}");
        }
    }
}
