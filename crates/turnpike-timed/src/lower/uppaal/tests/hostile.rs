//! Models that would take forever or exhaust memory without limits.

use super::{lowered, refused, with_edge, with_globals};

#[test]
fn deep_models_are_no_problem() {
    let guard = format!("{}v{}", "!(".repeat(60), ")".repeat(60));
    let (network, _) = lowered(&with_edge("int v;", "", &format!("guard {guard};")));
    assert_eq!(network.processes[0].edges.len(), 1);
    let body = format!("{}x++;{}", "do { ".repeat(60), " } while (x < 9);".repeat(60));
    lowered(&with_globals(&format!("int x; void f() {{ {body} }}")));
    let sum = (0..2000).map(|_| "v == 1").collect::<Vec<_>>().join(" || ");
    lowered(&with_edge("int v;", "", &format!("guard {sum};")));
}

#[test]
fn what_would_be_too_much_is_refused() {
    // Every function calls the next one twice, with a local variable each.
    let mut chain = "void f0(int &x) { x++; }".to_owned();
    for level in 1..40 {
        let below = level - 1;
        chain += &format!("void f{level}(int &x) {{ int y; f{below}(y); f{below}(x); }}");
    }
    let table = [
        (with_globals(&format!("{chain} void run() {{ int z; f39(z); }}")), "too many different ways"),
        (
            with_edge("int v;", "", "guard forall (a : int[0,2000]) forall (b : int[0,2000]) exists (c : int[0,1]) v == a && c == 1 && x < b;")
                .replace("int v;", "int v; clock x;"),
            "ranges over too many values",
        ),
        (
            with_globals("").replace("P()", "P(const int[0,100000] i)"),
            "stands for 100001 processes",
        ),
        (
            with_edge("chan c;", "", "select a : int[0,65535]; guard a < 0; sync c!;").replace("P()", "P(const int[0,99] i)"),
            "too many edges",
        ),
        (with_globals("int a[1000000]; int b[1000000];"), "too many variables"),
        (with_globals("typedef int[-2147483648,2147483647] all; int a[all];"), "too large"),
    ];
    for (text, message) in table {
        let (error, _) = refused(&text);
        assert!(error.contains(message), "{message}: {error}");
    }
}
