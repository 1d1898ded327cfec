//! Numbers that are not tracked: accepted where nothing depends on them, rejected by name
//! elsewhere.

use super::{lowered, refused, with_edge, with_globals};
use crate::evaluate::Machine;
use crate::network::{Network, Statement};
use crate::query::Condition;
use crate::uppaal::{Format, read};

/// The warnings of a valid model.
fn warned(text: &str) -> Vec<String> {
    match read(text, Format::Xta, &[]) {
        Ok((.., warnings)) => warnings.iter().map(|warning| warning.message.clone()).collect(),
        Err(errors) => panic!("{text}\n{errors:?}"),
    }
}

#[test]
fn integers_of_a_known_width_are_predeclared() {
    let globals = "int8_t a = INT8_MIN; uint8_t b = UINT8_MAX; int16_t c = INT16_MIN; uint16_t d = UINT16_MAX;
        int32_t e = INT32_MAX; const int f = INT32_MIN; int8_t t[uint8_t]; int n = INT8_MAX + INT16_MAX - INT16_MAX;";
    let (network, _) = lowered(&with_edge(
        globals,
        "",
        "select i : int8_t; assign a = 0, b = 0, c = 0, d = 0, e = f, t[b] = i, n = 1;",
    ));
    let ranges: Vec<_> =
        network.variables.iter().map(|v| (v.name.as_str(), v.low, v.high, v.initial)).take(5).collect();
    assert_eq!(
        ranges,
        [
            ("a", -128, 127, -128),
            ("b", 0, 255, 255),
            ("c", -32768, 32767, -32768),
            ("d", 0, 65535, 65535),
            ("e", i32::MIN, i32::MAX, i32::MAX)
        ]
    );
    assert_eq!(network.variables.len(), 5 + 256 + 1);
    assert_eq!(network.processes[0].edges.len(), 256);
    // Declarations of the model shadow predeclared names.
    let own = lowered(&with_edge(
        "typedef int[1,2] int8_t; const int INT8_MAX = 2; int8_t x = INT8_MAX;",
        "",
        "assign x = 1;",
    ));
    assert_eq!((own.0.variables[0].low, own.0.variables[0].high, own.0.variables[0].initial), (1, 2, 2));
    for name in ["uint32_t", "int64_t", "float"] {
        let (error, place) = refused(&with_globals(&format!("{name} x;")));
        assert!(error.contains(&format!("UPPAAL has no type `{name}`")), "{error}");
        assert_eq!(place, name);
    }
}

#[test]
fn what_nothing_depends_on_is_read_and_ignored() {
    let clean = with_edge("int n;", "", "assign n = 1;");
    let (plain, _) = lowered(&clean);
    let table = [
        ("double d; const double k = 0.5;", "assign n = 1, d = d * k + 1.5, d += 2, d++;", "`double` values"),
        ("double a[3]; const double t[2] = {0.25, 0.75};", "assign a[1] = t[0], n = 1;", "`double` values"),
        ("typedef struct { double x; int[0,1] u; } S;", "assign n = 1;", "`double` values"),
        (
            "double f(double x) { return x > 0.5 ? sqrt(x) : pow(x, 2); } double d;",
            "assign d = f(d) + f(0.1), n = 1;",
            "`double` values",
        ),
        (
            "double d; void g() { int i; for (i = 0; i < 3; i++) { if (d > 2.5) d = d - 1.0; else d = random(3); } }",
            "assign g(), n = 1;",
            "`double` values",
        ),
        ("double d; clock x;", "assign d = x * 2 - n, n = 1;", "`double` values"),
        ("hybrid clock h; double d;", "assign h = 2.5, d = h, n = 1;", "hybrid clocks"),
        ("", "assign cost += 3, n = 1, cost = cost + n, cost++;", "costs"),
    ];
    for (globals, edge, warning) in table {
        let text = with_edge(&format!("int n; {globals}"), "", edge);
        let (network, _) = lowered(&text);
        assert_eq!(network.variables, plain.variables, "{text}");
        let update: Vec<_> = network.processes[0].edges[0].update.iter().collect();
        assert_eq!(update.len(), 1, "{text}: {update:?}");
        assert!(warned(&text).iter().any(|message| message.contains(warning)), "{text}: {:?}", warned(&text));
    }
}

#[test]
fn what_else_an_ignored_assignment_does_is_done() {
    let (network, _) = lowered(&with_edge(
        "int n; double d; int f() { n = n + 1; return n; } double g(int k) { n = k; return 0.5; }",
        "",
        "assign d = f() * 0.5, d = g(3), g(4), d = n++;",
    ));
    assert_eq!(network.processes[0].edges[0].update.len(), 4);
    assert!(matches!(network.processes[0].edges[0].update[3], Statement::Assign { .. }));
    let (error, _) = refused(&with_edge(
        "int n; double d; int f() { n = n + 1; return n; }",
        "",
        "assign d = n > 2 ? f() : 0.5;",
    ));
    assert!(error.contains("must not have effects under a condition"), "{error}");
}

#[test]
fn constants_are_computed() {
    let text = with_edge(
        "const double k = 1.5; const int n = k * 2 == 3.0 ? 4 : 5; clock x; int m = fint(k * 3); int v = abs(-3);",
        "",
        "guard x >= 2.0 && x <= 3 * 2.0; assign x = 4.0, v = abs(m - v), m = n;",
    );
    let (network, _) = lowered(&text);
    let initial: Vec<_> = network.variables.iter().map(|v| (v.name.as_str(), v.initial)).collect();
    assert_eq!(initial, [("m", 4), ("v", 3)]);
    assert_eq!(network.processes[0].edges[0].guard.clocks.len(), 2);
    assert_eq!(network.processes[0].edges[0].update.len(), 3);
}

#[test]
fn constants_that_are_computed_are_no_reason_to_warn() {
    let quiet = [
        ("const double k = 1.5; clock x;", "guard x >= k;"),
        ("const double k = 1.5, j = k * 2; int n;", "guard k < j; assign n = 1;"),
    ];
    for (globals, edge) in quiet {
        assert_eq!(warned(&with_edge(globals, "", edge)), Vec::<String>::new(), "{globals}");
    }
    let ignored = [
        "const double k = random(3); int n;",
        "const double t[2] = {0.25, 0.75}; int n;",
        "double k = 1.5; int n;",
        "const double j = 0.5; double k = j; int n;",
    ];
    for globals in ignored {
        let warnings = warned(&with_edge(globals, "", "assign n = 1;"));
        assert_eq!(warnings, ["`double` values are ignored"], "{globals}");
    }
    // Wrong prefixes are still rejected.
    let (error, _) = refused(&with_globals("urgent const double k = 1.5;"));
    assert!(error.contains("only channels can be `urgent`"), "{error}");
}

#[test]
fn what_something_depends_on_is_refused_by_name() {
    let table = [
        ("double d;", "guard d > 0.5;", "`double` is only supported where nothing depends on it", "d"),
        ("double d; int n;", "assign n = d > 1 ? 2 : 3;", "`double` is only supported", "d"),
        ("double d; int n;", "assign n = fint(d);", "`double` is only supported", "fint(d)"),
        ("int n;", "assign n = 1.5;", "`double` is only supported", "1.5"),
        (
            "hybrid clock h;",
            "guard h > 3;",
            "hybrid clocks are only supported where nothing depends on them",
            "h",
        ),
        ("", "guard cost < 5;", "`cost` is only supported where nothing depends on it", "cost"),
        ("clock x;", "guard x > sqrt(2.0);", "clocks cannot be compared with or set to 1.41", "sqrt(2.0)"),
        ("clock x;", "guard x > 0.0000001;", "clocks cannot be compared with or set to", "0.0000001"),
        ("clock x;", "guard x * 2.5 > 1;", "`double` is only supported", "x * 2.5"),
        ("clock x; int n;", "guard x > n * 0.5;", "`double` is only supported", "n * 0.5"),
        ("clock x;", "guard x > 2000000000.5;", "is too large", "2000000000.5"),
        (
            "clock x;",
            "guard x > 0.000001 && x < 1.0 / 7;",
            "the fractions that clocks are compared with differ too much",
            "0.000001",
        ),
        ("double d; clock x;", "guard x > d;", "`double` is only supported", "d"),
        (
            "double d; int n; void f() { if (d > 1.0) n = 1; }",
            "assign f();",
            "`double` is only supported",
            "d",
        ),
        (
            "double d; int n; int f() { if (d > 1.0) return 1; return 0; }",
            "assign n = f();",
            "`double` is only supported",
            "d",
        ),
        (
            "typedef struct { double d; int n; } S; S s, t;",
            "guard s == t;",
            "`double` is only supported",
            "s == t",
        ),
        ("chan c[3]; double d;", "sync c[fint(d)]!;", "`double` is only supported", "fint(d)"),
    ];
    for (globals, edge, message, place) in table {
        let text = with_edge(globals, "", edge);
        let (error, found) = refused(&text);
        assert!(error.contains(message), "{text}: {error}");
        assert_eq!(found, place, "{text}: {error}");
    }
    // It is never called, so it is harmless.
    lowered(&with_globals("double d; int n; void f() { if (d > 1.0) n = 1; }"));
}

#[test]
fn clocks_at_other_speeds_are_ignored_where_nothing_depends_on_them() {
    let model = |globals: &str, invariant: &str, edge: &str| {
        format!(
            "{globals} process P() {{ state A {{ {invariant} }}; init A; trans A -> A {{ {edge} }}; }} system P;"
        )
    };
    for (globals, invariant, edge, warning) in [
        (
            "clock x, e;",
            "x <= 5 && e' == 2",
            "guard x >= 3; assign x = 0, e = 0;",
            "the clock `e` is ignored",
        ),
        ("clock x, e; int n = 3;", "e' == n * 2 && x <= 5", "guard x >= 3;", "the clock `e` is ignored"),
        ("clock x, e;", "e' == 0.5 && x <= 5", "guard x >= 3;", "the clock `e` is ignored"),
        ("clock x, e;", "x <= 5", "guard x >= 3; assign e = 0.5;", "the clock `e` is ignored"),
        (
            "clock x; hybrid clock h; double d;",
            "x <= 5 && h' == d * x + 1",
            "guard x >= 3;",
            "hybrid clocks are ignored",
        ),
        ("clock x;", "x <= 5 && cost' == 7", "guard x >= 3;", "costs are ignored"),
    ] {
        let text = model(globals, invariant, edge);
        let (network, _) = lowered(&text);
        assert_eq!(network.processes[0].locations[0].invariant.clocks.len(), 1, "{text}");
        assert!(network.processes[0].locations[0].invariant.data.is_empty(), "{text}");
        assert!(warned(&text).iter().any(|message| message == warning), "{text}: {:?}", warned(&text));
    }
    for (globals, invariant, edge) in [
        ("clock x, e;", "x <= 5 && e' == 2", "guard e >= 3;"),
        ("clock x, e;", "x <= 5 && e' == 2", "guard x >= 3; assign x = e;"),
        ("clock x;", "x <= 5 && x' == 2", ""),
        ("clock x, e;", "x <= 5", "guard e >= 3; assign e = sqrt(2.0);"),
        ("clock x, e; double d;", "x <= 5", "guard e >= 3; assign e = d;"),
    ] {
        let text = model(globals, invariant, edge);
        let (error, _) = refused(&text);
        assert!(
            error.contains(
                "clocks with a rate other than 0 or 1, or set to a value that is not computed, are"
            ),
            "{text}: {error}"
        );
    }
    let (network, names) = lowered(&model("clock x, e; double d;", "x <= 5 && e' == 2", ""));
    for query in ["E<> e > 3", "A[] x - e < 5", "E<> d > 0.5", "E<> cost < 3", "sup: e"] {
        let error = names.query(&network, query).expect_err(query);
        assert!(error.message.contains("only supported where nothing depends on"), "{query}: {error}");
    }
}

#[test]
fn fractions_divide_the_unit_of_time() {
    // The same text with all clock constants as integers. Equal lengths keep the places equal.
    let table = [
        ("clock x, y;", "x <= 2.5 && y < 3.0", "guard x > 0.5 && y - x >= 1.0; assign y = 1.5;", 2),
        ("clock x, y;", "x <= 5.0 && y < 6.0", "guard x > 1.0 && y - x >= 2.0; assign y = 3.0;", 1),
        ("clock x; const double k = 0.25;", "x <= 3", "guard k + 1 <= x && x == 0.5; assign x = 2;", 4),
        ("clock x; const double k = 2.00;", "x <= C", "guard k + 3 <= x && x == 2.0; assign x = 8;", 1),
        ("clock x;", "x <= 1.0 / 3", "guard x >= 0.1; assign x = 0.3;", 30),
        ("clock x;", "x <= 20.0/ 2", "guard x >= 3.0; assign x = 9.0;", 1),
        // Only a clock that something depends on is set to a fraction.
        ("clock x;", "x <= 3", "guard x >= 1; assign x = 0.5;", 2),
        ("clock x;", "x <= 6", "guard x >= 2; assign x = 1.0;", 1),
    ];
    for pair in table.chunks(2) {
        let read = |&(globals, invariant, edge, parts): &(&str, &str, &str, i64)| {
            let text = format!(
                "const int C = 12; {globals} process P() {{ state A {{ {invariant} }}; init A; trans A -> A {{ {edge} }}; }} system P;"
            );
            let (network, names) = lowered(&text);
            assert_eq!(network.parts_per_unit(), parts, "{text}");
            (network, names)
        };
        let (fine, fine_names) = read(&pair[0]);
        let (whole, whole_names) = read(&pair[1]);
        let parts = fine.parts_per_unit() as i32;
        assert_eq!(fine.processes[0].edges[0].update, whole.processes[0].edges[0].update);
        assert_eq!(bounds(&fine), bounds(&whole), "{:?}", pair[0]);
        // Queries use the same parts; fractions must be multiples of them.
        let bound = |condition: Condition| match condition {
            Condition::Clock(atom) => atom.bound,
            other => panic!("{other:?}"),
        };
        let one = fine_names.condition(&fine, "x < 3").expect("a condition");
        let other = whole_names.condition(&whole, &format!("x < {}", 3 * parts)).expect("a condition");
        assert_eq!(bound(one), bound(other));
        let error = fine_names.condition(&fine, "x > 0.017").expect_err("too fine");
        assert!(error.message.contains("finer than the model"), "{error}");
    }
}

/// Everything that clocks are compared with, without places.
fn bounds(network: &Network) -> Vec<String> {
    let process = &network.processes[0];
    let constraints = [&process.locations[0].invariant, &process.edges[0].guard];
    let all = constraints.into_iter().flat_map(|constraint| &constraint.clocks);
    all.map(|atom| format!("{:?} {:?} {} {:?}", atom.left, atom.right, atom.strict, atom.bound)).collect()
}

/// Whether the one edge of a model can be executed from its initial state.
fn executes(globals: &str, assign: &str) -> Result<(), String> {
    let (network, _) = lowered(&with_edge(globals, "", &format!("assign {assign};")));
    let edge = &network.processes[0].edges[0];
    let mut machine = Machine::new(&network);
    machine.enter(&edge.locals);
    machine.execute(&edge.update).map_err(|fault| fault.message)
}

#[test]
fn integers_in_what_is_ignored_are_computed() {
    let globals = "double d, a[2], m[2][3]; int i = 5, z, b[2]; int f(int x) { return b[x]; }
        typedef struct { double x; } S; S s[2];";
    for (assign, message) in [
        ("a[i] = 2.0", "index 5"),
        ("a[i] += 1.0", "index 5"),
        ("a[i]++", "index 5"),
        ("m[z][i] = 1.0", "index 5"),
        ("s[i].x = 1.0", "index 5"),
        ("d = a[i] * 0.5", "index 5"),
        ("d = 0.5 * b[i]", "index 5"),
        ("d = 0.5 + 1 / z", "zero"),
        ("d = sqrt(b[i])", "index 5"),
        ("d = f(i) * 0.5", "index 5"),
        ("d = z == 0 ? a[i] : 0.5", "index 5"),
        ("d = i == 5 ? 0.5 * (z == 1 ? a[0] : a[i]) : 0.5", "index 5"),
    ] {
        let failed = executes(globals, assign).expect_err(assign);
        assert!(failed.contains(message), "{assign}: {failed}");
    }
    for assign in [
        "a[z] = 2.0, d = a[1]",
        "d = z == 1 ? a[i] : 0.5",
        "d = z != 0 ? 0.5 / f(i) : 0.25 * f(z)",
        "m[z + 1][2] = b[z] / 2 * 0.5",
    ] {
        assert_eq!(executes(globals, assign), Ok(()), "{assign}");
    }
}
