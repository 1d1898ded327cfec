//! Errors in models: their messages and places.

use super::{refused, with_edge, with_globals};
use crate::uppaal::{Format, read};

#[test]
fn wrong_declarations_are_refused() {
    let table = [
        ("int x; bool x;", "declared already", "x"),
        ("int x = y;", "no name `y`", "y"),
        ("int count; int a[cuont];", "did you mean `count`?", "cuont"),
        ("int n; int a[n];", "must be known before the system runs", "n"),
        ("int n; int m = n;", "must be known before the system runs", "n"),
        ("int[3,2] x;", "range from 3 to 2 is empty", "int[3,2]"),
        ("int a[0];", "cannot have the size 0", "0"),
        ("int a[2] = {1, 2, 3};", "2 elements, but 3 values", "{1, 2, 3}"),
        ("int[0,3] x = 4;", "4 is out of range", "4"),
        ("const int x;", "has no value", "x"),
        ("clock x = 3;", "clocks have no initial value", "x = 3"),
        ("typedef struct { int a; } S; S s = {1, 2};", "1 fields, but 2 values", "{1, 2}"),
        ("typedef struct { int a; } S; S s = {b: 1};", "no field `b`", "b"),
        ("typedef struct { clock a; } S;", "fields of a struct", "a"),
        ("int a[2000][2000];", "too large", "2000"),
        (
            "typedef scalar[2] s; typedef scalar[2] t; s a; const int b[t] = {1, 2}; int f() { return b[a]; }",
            "indexed by scalars",
            "a",
        ),
        ("typedef scalar[2] s; s a; int f() { return a + 1; }", "scalars are not numbers", "a"),
        (
            "typedef scalar[2] s; typedef scalar[2] t; s a; t b; bool f() { return a == b; }",
            "within one set",
            "a == b",
        ),
        ("void f() { } int x = f();", "has no result", "f()"),
        ("int f(int a) { return a; } int x = f();", "1 parameters, but 0 arguments", "f()"),
        ("void f() { return 3; }", "has no result", "3"),
        ("int f() { return; }", "must return a value", "return;"),
        ("const int k = 3; void f() { k = 4; }", "a constant cannot be assigned", "k"),
        ("void f() { for (i : int[0,3]) i = 2; }", "a constant cannot be assigned", "i"),
        ("void f(clock c) { }", "passed as references", "f"),
        ("typedef struct { int a; } S; S s; int f() { return s.b; }", "no field `b`", "b"),
        ("int x; int f() { return x[2]; }", "only arrays can be indexed", "x"),
        ("int a[2]; int f() { return a; }", "a number or truth value is needed here", "a"),
        ("int a[2], b[3]; void f() { a = b; }", "the value must be an array of size 2", "b"),
        ("int x; int y = x();", "not a function", "x"),
        ("chan c; int x = c;", "must be known", "c"),
        ("void g(int &x) { } void f() { g(3); }", "is a reference", "3"),
        ("const int k = 1; void g(int &x) { } void f() { g(k); }", "may be assigned by the function", "k"),
    ];
    for (globals, message, place) in table {
        let (error, found) = refused(&with_globals(globals));
        assert!(error.contains(message), "{globals}: {error}");
        assert_eq!(found, place, "{globals}: {error}");
    }
}

#[test]
fn wrong_edges_are_refused() {
    let table = [
        ("int x; bool f() { x = 1; return true; }", "guard f();", "a guard must not change anything", "f()"),
        (
            "int x; int f() { x = 1; return 0; } chan c[2];",
            "sync c[f()]!;",
            "a synchronisation must not",
            "f()",
        ),
        ("chan c[2];", "sync c!;", "a channel is needed here", "c"),
        ("chan c[2];", "sync c[2]!;", "index 2 is out of range", "2"),
        ("int x;", "sync x!;", "a channel is needed here", "x"),
        ("int x;", "assign y = 1;", "did you mean `x`?", "y"),
        ("int x;", "assign P = 1;", "`P` is not a value", "P"),
        ("chan c;", "assign c = c;", "channels cannot be assigned", "c = c"),
        ("int x;", "select i : int[0,3]; assign i = 1;", "a constant cannot be assigned", "i"),
        ("int x;", "select i : id; assign x = 1;", "no type `id`", "id"),
    ];
    for (globals, edge, message, place) in table {
        let text = with_edge(globals, "", edge);
        let (error, found) = refused(&text);
        assert!(error.contains(message), "{text}: {error}");
        assert_eq!(found, place, "{text}: {error}");
    }
}

#[test]
fn wrong_systems_are_refused() {
    let template = "int v; const int c = 1; clock x; chan s; broadcast chan b;
        process P(const int[0,3] i) { state A; init A; } process R(int &r, clock &z, chan &h) { state A; init A; }
        process K(const int &r) { state A; init A; } process U(const int n) { state A; init A; }
        typedef struct { int f; } S; process V(urgent chan &a[3]) { state A; init A; }
        process W(S &a[3]) { state A; init A; }";
    let table = [
        ("system Q;", "no template `Q`", "Q"),
        ("system P, P;", "listed twice", "P"),
        ("system R;", "needs arguments", "R"),
        ("system U;", "needs arguments", "U"),
        ("A = P(4); system A;", "4 is out of range", "4"),
        ("A = P(); system A;", "1 parameters, but 0 arguments", "A = P();"),
        ("A = P(v); system A;", "must be known before the system runs", "v"),
        ("A = R(v, x, b); system A;", "`h` must be a channel", "b"),
        ("A = R(x, x, s); system A;", "`r` must be an integer", "x"),
        ("A = R(c, x, s); system A;", "may be assigned by the process", "c"),
        ("A = R(3, x, s); system A;", "is a reference", "3"),
        ("chan d[3]; A = V(d); system A;", "`a` must be an array of 3 urgent channels", "d"),
        (
            "bool d[3]; A = W(d); system A;",
            "`a` must be an array of size 3, each element a struct of 1 fields",
            "d",
        ),
        ("A(int[0,3] j) = P(j); system A;", "must be known before the system runs", "j"),
    ];
    for (system, message, place) in table {
        let text = format!("{template}\n{system}");
        let (error, found) = refused(&text);
        assert!(error.contains(message), "{system}: {error}");
        assert_eq!(found, place, "{system}: {error}");
    }
    super::lowered(&format!("{template} A = K(c); system A;"));
}

#[test]
fn a_declaration_that_is_wrong_is_one_error() {
    for globals in [
        "typedef struct { clock a; } S; S s; void f() { s.a = 1; }",
        "typedef struct { chan a; } S; S s, t[2];",
        "typedef struct { int[3,2] a; } S; typedef S T[2]; T t; const int k = 1; int u[k];",
    ] {
        let text = with_globals(globals);
        let errors = read(&text, Format::Xta, &[]).expect_err(globals);
        assert_eq!(errors.len(), 1, "{globals}: {errors:?}");
    }
}
