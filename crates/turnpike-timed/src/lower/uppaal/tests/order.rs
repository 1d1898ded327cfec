//! Names refer to earlier declarations only.

use super::{lowered, refused};
use crate::evaluate::Machine;
use crate::network::{Expression, Sync};
use crate::uppaal::{Format, read};

/// The value of the global `r` after the first edge of the last process.
fn after_edge(text: &str) -> i32 {
    let (network, _) = lowered(text);
    let mut machine = Machine::new(&network);
    let edge = &network.processes.last().expect("a process").edges[0];
    machine.enter(&edge.locals);
    machine.execute(&edge.update).expect("executed");
    let cell = network.variables.iter().position(|variable| variable.name == "r").expect("a variable `r`");
    machine.cells[cell]
}

/// A process with local declarations whose edge assigns `r`.
fn model(globals: &str, parameters: &str, locals: &str, value: &str) -> String {
    format!(
        "int r = -1; {globals}
        process P({parameters}) {{ {locals}
            state A; init A; trans A -> A {{ assign r = {value}; }}; }}
        Q = P({}); system Q;",
        if parameters.is_empty() { "" } else { "40" }
    )
}

#[test]
fn later_local_declarations_do_not_capture_earlier_uses() {
    let table = [
        // A variable, a constant, an array and a function of the process hide the global one only
        // from there on.
        ("int v = 1;", "int f() { return v; } int v = 2;", "f() * 10 + v", 12),
        ("const int v = 1;", "int f() { return v; } const int v = 2;", "f() * 10 + v", 12),
        ("const int v = 1;", "const int w = v; const int v = 2;", "w * 10 + v", 12),
        ("const int v = 1;", "const int v = v + 1;", "v", 2),
        ("int v[2] = {1, 3};", "int f() { return v[1]; } int v[2] = {5, 6};", "f() * 10 + v[1]", 36),
        ("int g() { return 1; }", "int f() { return g(); } int g() { return 2; }", "f() * 10 + g()", 12),
        // Types: ranges, sizes and loops.
        (
            "typedef int[0,1] T;",
            "int f() { int n = 0; for (i : T) n++; return n; } typedef int[0,4] T; int g() { int n = 0; for (i : T) n++; return n; }",
            "f() * 10 + g()",
            25,
        ),
        ("typedef int[7,9] T;", "T v; typedef int[3,4] T; T w;", "v * 10 + w", 73),
        ("const int n = 2;", "int a[n]; const int n = 3; int b[n];", "(sum (i : int[0,n-2]) 1) * 10 + n", 23),
        // Parameters hide globals in the whole process; a quantifier, a loop and a block in their
        // bodies.
        ("int v = 1;", "int f(int v) { return v; } int g() { return v; }", "f(5) * 10 + g()", 51),
        ("int v = 1;", "int f() { int w = v; int v = 4; return w * 10 + v; }", "f()", 14),
        ("int v = 1;", "int f() { int w = v; { int v = 7; w += v; } return w * 10 + v; }", "f()", 81),
        ("int v = 1;", "int f() { return (sum (v : int[3,4]) v) * 10 + v; } int v = 2;", "f()", 71),
        // Names in a function refer to declarations before the function, even if it is called
        // later.
        ("int v = 1; int f() { return v; }", "int v = 2; int g() { return f() * 10 + v; }", "g()", 12),
        ("int g() { return 1; } int f() { return g(); }", "int g() { return 2; }", "f() * 10 + g()", 12),
    ];
    for (globals, locals, value, expected) in table {
        let text = model(globals, "", locals, value);
        assert_eq!(after_edge(&text), expected, "{text}");
    }
    assert_eq!(after_edge(&model("int v = 1;", "const int v", "int f() { return v; }", "f() + v")), 80);
}

#[test]
fn clocks_and_channels_are_those_declared_before() {
    let text = "clock x; chan c; int r;
        process P() { void f() { x = 7; } clock x; chan c;
            state A { x <= 3 }; init A; trans A -> A { guard x >= 2; sync c!; assign f(); }; }
        process Q() { state A; init A; trans A -> A { guard x >= 2; sync c?; }; }
        system P, Q;";
    let (network, _) = lowered(text);
    assert_eq!(network.clocks, ["x", "P.x"]);
    let Some(crate::network::Statement::Clock { clock, .. }) = network.functions[0].body.first() else {
        panic!("a clock is set")
    };
    assert_eq!(clock.base.0, 0, "the function was written before the local clock");
    let edge = &network.processes[0].edges[0];
    assert_eq!(edge.guard.clocks[0].right.as_ref().map(|clock| clock.base.0), Some(1));
    let channel = |sync: &Sync| match sync {
        Sync::Send(cell) | Sync::Receive(cell) => network.channels[cell.base.0 as usize].name.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(channel(&edge.sync), "P.c");
    assert_eq!(channel(&network.processes[1].edges[0].sync), "c");
}

#[test]
fn using_something_before_its_declaration_is_an_error() {
    let process = "process P() { state A; init A; }";
    let table = [
        (format!("int f() {{ return v; }} int v; {process} system P;"), "v"),
        (format!("int f() {{ return g(); }} int g() {{ return 1; }} {process} system P;"), "g"),
        (format!("const int a = b; const int b = 1; {process} system P;"), "b"),
        (format!("int a[n]; const int n = 2; {process} system P;"), "n"),
        (format!("int v = v; {process} system P;"), "v"),
        ("process P() { int f() { return v; } int v; state A; init A; } system P;".into(), "v"),
        ("process P() { state A; init A; trans A -> A { guard v == 1; }; } int v; process Q() { state A; init A; } system P, Q;".into(), "v"),
        ("process P() { state A { x < 3 }; init A; } clock x; process Q() { state A; init A; } system P, Q;".into(), "x"),
        ("process P() { state A; init A; trans A -> A { sync c!; }; } chan c; process Q() { state A; init A; } system P, Q;".into(), "c"),
        (format!("chan priority c < default; chan c; {process} system P;"), "c"),
        ("process P(const int n) { state A; init A; } Q = P(k); const int k = 1; system Q;".into(), "k"),
        ("process P(int &n) { state A; init A; } Q = P(k); int k; system Q;".into(), "k"),
        ("Q = P(1); process P(const int n) { state A; init A; } system Q;".into(), "P"),
    ];
    for (text, name) in table {
        let (error, place) = refused(&text);
        assert!(error.contains("is used before its declaration"), "{text}: {error}");
        assert_eq!(place, name, "{text}: {error}");
    }
}

#[test]
fn arguments_see_what_the_system_declares_before_them() {
    let process = "int r = -1; const int k = 1;
        process P(const int n) { state A; init A; trans A -> A { assign r = n; }; }";
    for (system, expected) in [
        ("Q = P(k); const int k = 2; system Q;", 1),
        ("const int k = 2; Q = P(k); system Q;", 2),
        ("int f() { return k; } const int k = 2; Q = P(f() * 10 + k); system Q;", 12),
        ("Q(const int k) = P(k); const int k = 2; R = Q(k + 5); system R;", 7),
    ] {
        assert_eq!(after_edge(&format!("{process} {system}")), expected, "{system}");
    }
}

#[test]
fn what_is_selected_is_seen_by_all_labels_but_not_by_other_ranges() {
    let text = |select: &str| {
        format!(
            "int r; int i = 9; process P() {{ state A; init A; trans A -> A {{ select {select}; assign r = i; }}; }} system P;"
        )
    };
    assert_eq!(lowered(&text("i : int[1,3]")).0.processes[0].edges.len(), 3);
    let (error, place) = refused(&text("i : int[0,3], j : int[0,i]"));
    assert!(error.contains("must be known before the system runs"), "{error}");
    assert_eq!(place, "i");
    // In XML the label may come after those that use it.
    let xml = r#"<nta><declaration>int r; int i = 9;</declaration><template><name>P</name>
        <location id="a"/><init ref="a"/><transition><source ref="a"/><target ref="a"/>
        <label kind="guard">i != 2</label><label kind="assignment">r = i</label>
        <label kind="select">i : int[1,3]</label></transition></template><system>system P;</system></nta>"#;
    let (network, ..) = read(xml, Format::Xml, &[]).expect("a model");
    let values: Vec<_> = network.processes[0]
        .edges
        .iter()
        .map(|edge| match &edge.update[0] {
            crate::network::Statement::Assign { value: Expression::Constant(value), .. } => *value,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values, [1, 3]);
}

#[test]
fn queries_see_everything() {
    let text = "int v = 1; int f() { return v; } const int late = 4;
        process P() { int g() { return v; } int v = 2; state A; init A; } system P;";
    let (network, names) = lowered(text);
    for query in ["E<> v == late", "E<> P.v == 2", "E<> P.g() == 1", "E<> forall (i : int[0,late]) f() == 1"]
    {
        assert!(names.query(&network, query).is_ok(), "{query}: {:?}", names.query(&network, query));
    }
}

#[test]
fn texts_of_entities_are_in_order_too() {
    let xml = r#"<!DOCTYPE nta [<!ENTITY decl "const int n = 2; int f() { return n; } int g() { return f() + n; }">]>
        <nta><declaration>&decl; int r = g();</declaration><template><name>P</name><location id="a"/><init ref="a"/>
        <transition><source ref="a"/><target ref="a"/><label kind="assignment">r = f()</label></transition></template>
        <system>system P;</system></nta>"#;
    let (network, ..) = read(xml, Format::Xml, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(network.variables[0].initial, 4);
}

#[test]
fn a_location_with_the_name_of_a_variable_is_warned_about() {
    let text = |local: &str, global: &str| {
        format!(
            "int {global}; process P(const int k) {{ int {local}; state A; init A; }} Q = P(1); system Q;"
        )
    };
    let warnings = |text: &str| read(text, Format::Xta, &[]).expect("a model").2.len();
    assert_eq!(warnings(&text("A", "v")), 1);
    assert_eq!(warnings(&text("v", "A")), 0, "locals and locations hide global names");
    let (network, names) = lowered(&text("A", "v"));
    let query = names.query(&network, "E<> Q.A").expect("a query");
    assert!(format!("{query:?}").contains("At("), "{query:?}");
}
