//! Functions of constants are executed during lowering: their results are initial values.

use super::{lowered, refused, with_edge, with_globals};
use crate::evaluate::Machine;
use crate::network::{Expression, Statement};

/// The initial value of `r` after `int r = CALL;`.
fn computed(functions: &str, call: &str) -> i32 {
    let (network, _) = lowered(&with_globals(&format!("{functions}\nint[-1000000,1000000] r = {call};")));
    network.variables.last().expect("a variable").initial
}

/// The value of `r` after an edge with `r = CALL`.
fn executed(functions: &str, call: &str) -> i32 {
    let globals = format!("{functions}\nint[-1000000,1000000] r;");
    let (network, _) = lowered(&with_edge(&globals, "", &format!("assign r = {call};")));
    let mut machine = Machine::new(&network);
    let edge = &network.processes[0].edges[0];
    machine.enter(&edge.locals);
    machine.execute(&edge.update).expect("executed");
    *machine.cells.last().expect("a variable")
}

/// Long, because it is a table.
#[test]
fn functions_of_constants_are_executed() {
    let table: &[(&str, &str, i32)] = &[
        ("int f(int x) { return x * x; }", "f(7)", 49),
        ("int f(int x) { if (x > 3) return 1; else return 2; }", "f(4) * 10 + f(3)", 12),
        ("int f(int n) { int s; int i; for (i = 1; i <= n; i++) s += i; return s; }", "f(10)", 55),
        ("int f(int n) { int i = 0; while (i * i < n) i++; return i; }", "f(50)", 8),
        ("int f(int n) { int i = 0; do { i++; } while (i < n); return i; }", "f(0) * 100 + f(5)", 105),
        ("int f() { int s = 0; for (i : int[2,5]) s = s * 10 + i; return s; }", "f()", 2345),
        ("int f() { int a[3] = {4, 5, 6}; return a[0] + 10 * a[2]; }", "f()", 64),
        (
            "typedef struct { int x; int y[2]; } S; int f() { S s, t; s.y[1] = 3; t = s; s.y[1] = 9; return t.y[1]; }",
            "f()",
            3,
        ),
        ("int f() { int x = 5; int y = x++ + ++x; return y * 100 + x; }", "f()", 1207),
        ("int f() { int x = 5; int y = x-- - --x; return y * 100 + x; }", "f()", 203),
        ("int f() { int x = 3; x += 4; x *= 5; x -= 1; x /= 2; x %= 10; return x; }", "f()", 7),
        ("int f() { int x = 12; x |= 3; x &= 13; x ^= 1; x <<= 2; x >>= 1; return x; }", "f()", 24),
        ("bool f(int x) { return x & 4; }", "f(12) + f(3)", 1),
        ("int f(bool b) { return b; }", "f(5)", 1),
        ("void g(int &x) { x = x + 1; } int f() { int a = 3; g(a); g(a); return a; }", "f()", 5),
        (
            "void g(int &a[2]) { a[1] = a[0] + 1; } int f() { int a[2] = {4, 0}; g(a); return a[1]; }",
            "f()",
            5,
        ),
        (
            "void g(int &x) { x = 8; } int f() { int a[3]; int i = 2; g(a[i]); return a[0] + 10 * a[2]; }",
            "f()",
            80,
        ),
        (
            "void s(int &a, int &b) { int t = a; a = b; b = t; } int f() { int x = 1, y = 2; s(x, y); return x * 10 + y; }",
            "f()",
            21,
        ),
        (
            "typedef struct { int x; int y; } S; S g(int v) { S s = {v, v + 1}; return s; } int f() { S s = g(4); return s.x * 10 + s.y; }",
            "f()",
            45,
        ),
        (
            "typedef struct { int x; int y; } S; S g(int v) { S s; s.x = v; s.y = 2 * v; return s; } int f() { return g(4).y + g(1).x; }",
            "f()",
            9,
        ),
        (
            "int g(int a[3]) { a[0] = 7; return a[0] + a[1]; } int f() { int a[3] = {1, 2, 3}; return g(a) * 10 + a[0]; }",
            "f()",
            91,
        ),
        (
            "const int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; int f(int i, int j) { return a[i][j]; }",
            "f(1, 2) * 10 + f(0, 1)",
            62,
        ),
        ("int f(int n) { return sum (i : int[1,20]) (i <= n ? i : 0); }", "f(6)", 21),
        ("bool f(int n) { return forall (i : int[0,30]) i * i < n; }", "f(901) * 2 + f(900)", 2),
        ("bool f(int n) { return exists (i : int[0,30]) i * i == n; }", "f(49) * 2 + f(50)", 2),
        ("int f() { int x = 1; { int x = 2; x = 3; } return x; }", "f()", 1),
        ("int f() { int s; for (i : int[0,2]) { int t; t += 1; s += t; } return s; }", "f()", 3),
        (
            "int h(int x) { return x + 1; } int g(int x) { return h(h(x)); } int f(int x) { return g(x) <? 10 >? 4; }",
            "f(1) * 100 + f(20)",
            410,
        ),
        ("int f(const int &x) { return x * 2; }", "f(3)", 6),
        ("int f() { int x = 3, y; y = x > 2 ? (x = 7) : 1; return x * 10 + y; }", "f()", 77),
        (
            "int f() { int a[3], i = 0; a[i++] = i; a[i++] = 5 * i; return a[0] * 1000 + a[1] * 10 + i; }",
            "f()",
            1102,
        ),
        (
            "int f() { int a[3], i = 0; a[i++] += 5; a[i++] = 6; return a[0] * 100 + a[1] * 10 + i; }",
            "f()",
            562,
        ),
        ("typedef scalar[3] id; int f() { int n; for (i : id) n++; return n; }", "f()", 3),
        ("int f() { const int k = 3; int a[k]; a[2] = 4; return a[2]; }", "f()", 4),
        (
            "void g(int &x, int d) { if (d > 0) { x++; } } int f() { int a = 3; g(a, 1); g(a, 0); return a; }",
            "f()",
            4,
        ),
    ];
    for (functions, call, expected) in table {
        assert_eq!(computed(functions, call), *expected, "{functions} {call}");
        assert_eq!(executed(functions, call), *expected, "{functions} {call}, while the model runs");
    }
}

#[test]
fn what_cannot_be_executed_is_an_error() {
    let table = [
        ("int v; int f() { return v; }", "f()", "must be known"),
        ("int f(int x) { return 1 / x; }", "f(0)", "must be known"),
        ("int f(int[0,3] x) { return x; }", "f(4)", "must be known"),
        ("int[0,3] f(int x) { return x; }", "f(4)", "must be known"),
        ("int f() { while (true) { } return 1; }", "f()", "must be known"),
        ("int f() { int a[3]; return a[3]; }", "f()", "must be known"),
        ("int f(int x) { return f(x - 1); }", "f(1)", "calls itself"),
    ];
    for (functions, call, message) in table {
        let text = with_globals(&format!("{functions}\nint r = {call};"));
        let (error, _) = refused(&text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_function_is_lowered_once_for_what_its_references_stand_for() {
    let (network, _) = lowered(&with_edge(
        "int a[4], i; void inc(int &x) { x++; }",
        "",
        "assign inc(a[0]), inc(a[0]), inc(a[1]), inc(a[i]), inc(a[i + 1]);",
    ));
    let names: Vec<(&str, u32)> =
        network.functions.iter().map(|function| (function.name.as_str(), function.parameters)).collect();
    assert_eq!(names, [("inc", 0), ("inc", 0), ("inc", 1)]);
    let calls: Vec<(u32, usize)> = network.processes[0].edges[0]
        .update
        .iter()
        .map(|statement| match statement {
            Statement::Evaluate(Expression::Call { function, arguments, .. }) => {
                (function.0, arguments.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(calls, [(0, 0), (0, 0), (1, 0), (2, 1), (2, 1)]);
}

#[test]
fn references_to_local_cells_share_the_frame() {
    let (network, _) = lowered(&with_edge(
        "int r; void set(int &x, int v) { x = v; } void run() { int t; set(t, 3); r = t; }",
        "",
        "assign run();",
    ));
    let set = network.functions.iter().find(|function| function.name == "set").expect("set");
    let run = network.functions.iter().find(|function| function.name == "run").expect("run");
    assert!(set.shared && set.locals.is_empty() && set.parameters == 0);
    assert!(!run.shared && run.locals.len() == 2, "{run:?}");
}

#[test]
fn functions_of_processes_see_their_variables() {
    let text = "process P(const int[0,1] id) { int x; void f() { x = id; } state A; init A;
        trans A -> A { assign f(); }; } system P;";
    let (network, _) = lowered(text);
    assert_eq!(network.functions.len(), 2);
    for (index, function) in network.functions.iter().enumerate() {
        let Statement::Assign { target, value, .. } = &function.body[0] else { panic!("{function:?}") };
        assert_eq!((target.base, value), (index as u32, &Expression::Constant(index as i32)));
    }
}

/// From left to right: the place first, then the value.
#[test]
fn places_come_before_values() {
    for (update, expected) in [
        ("a[i++] = i", [1, 0, 1]),
        ("a[i] = (i = 1)", [1, 0, 1]),
        ("a[i++] = 5, a[i--] = i", [5, 0, 0]),
        ("a[i] = a[i++] + 7", [7, 0, 1]),
    ] {
        let (network, _) = lowered(&with_edge("int a[2], i;", "", &format!("assign {update};")));
        let mut machine = Machine::new(&network);
        let edge = &network.processes[0].edges[0];
        machine.enter(&edge.locals);
        machine.execute(&edge.update).expect("executed");
        assert_eq!(machine.cells, expected, "{update}");
    }
}
