//! Guards and invariants: their separation into data and clocks.

use super::{lowered, refused, with_edge};
use crate::network::{ClockAtom, Constraint, Expression};

/// `x0 - x1 <= 5` and so on, with `when` before it if there is one.
fn atom(atom: &ClockAtom) -> String {
    let clock = |cell: &Option<crate::network::ClockCell>| match cell {
        None => "0".to_owned(),
        Some(cell) if cell.offset.is_some() => format!("x{}+?", cell.base.0),
        Some(cell) => format!("x{}", cell.base.0),
    };
    let bound = match atom.bound {
        Expression::Constant(bound) => bound.to_string(),
        _ => "?".to_owned(),
    };
    let sign = if atom.strict { "<" } else { "<=" };
    let when = if atom.when.is_some() { "when: " } else { "" };
    format!("{when}{} - {} {sign} {bound}", clock(&atom.left), clock(&atom.right))
}

fn describe(constraint: &Constraint) -> (usize, Vec<String>) {
    (constraint.data.len(), constraint.clocks.iter().map(atom).collect())
}

const GLOBALS: &str = "clock x, y, t[3]; int i, j; const int k = 4; bool b; const bool yes = true;";

#[test]
fn guards_are_conjunctions() {
    let table: &[(&str, usize, &[&str])] = &[
        ("x <= 5", 0, &["x0 - 0 <= 5"]),
        ("x < k && y >= 2", 0, &["x0 - 0 < 4", "0 - x1 <= -2"]),
        ("x == 3", 0, &["x0 - 0 <= 3", "0 - x0 <= -3"]),
        ("3 < x", 0, &["0 - x0 < -3"]),
        ("x - y < 3", 0, &["x0 - x1 < 3"]),
        ("x < y + 3", 0, &["x0 - x1 < 3"]),
        ("x + 2 <= y", 0, &["x0 - x1 <= -2"]),
        ("x > y", 0, &["x1 - x0 < 0"]),
        ("-x >= -7", 0, &["x0 - 0 <= 7"]),
        ("x <= i", 0, &["x0 - 0 <= ?"]),
        ("x >= 0", 0, &[]),
        ("i == 1 && j > 2 && x < 3", 2, &["x0 - 0 < 3"]),
        ("(i == 1 || j == 2) && x < 5", 1, &["x0 - 0 < 5"]),
        ("i == 1 imply x < 5", 0, &["when: x0 - 0 < 5"]),
        ("b || x < 5", 0, &["when: x0 - 0 < 5"]),
        ("!b || x < 5 || i == 3", 0, &["when: x0 - 0 < 5"]),
        ("b imply (x < 5 && i == 2)", 1, &["when: x0 - 0 < 5"]),
        ("!(x < 5)", 0, &["0 - x0 <= -5"]),
        ("!(x < 5 || y >= 6)", 0, &["0 - x0 <= -5", "x1 - 0 < 6"]),
        ("!(b && x < 5)", 0, &["when: 0 - x0 <= -5"]),
        ("b ? x < 5 : y < 6", 0, &["when: x0 - 0 < 5", "when: x1 - 0 < 6"]),
        ("yes ? x < 5 : y < 6", 0, &["x0 - 0 < 5"]),
        ("forall (n : int[0,2]) t[n] < 5", 0, &["x2 - 0 < 5", "x3 - 0 < 5", "x4 - 0 < 5"]),
        ("forall (n : int[0,2]) n != 1 imply t[n] < n", 0, &["x2 - 0 < 0", "x4 - 0 < 2"]),
        (
            "forall (n : int[0,2]) n == i imply t[n] < 5",
            0,
            &["when: x2 - 0 < 5", "when: x3 - 0 < 5", "when: x4 - 0 < 5"],
        ),
        ("t[i] < 5", 0, &["x2+? - 0 < 5"]),
        ("t[i] - t[1] < 5", 0, &["x2+? - x3 < 5"]),
        ("yes && x' == 1", 0, &[]),
        ("forall (n : int[0,99]) i != n", 1, &[]),
    ];
    for (guard, data, clocks) in table {
        let (network, _) = lowered(&with_edge(GLOBALS, "", &format!("guard {guard};")));
        let edge = &network.processes[0].edges[0];
        assert_eq!(describe(&edge.guard), (*data, clocks.iter().map(|c| c.to_string()).collect()), "{guard}");
    }
}

#[test]
fn edges_that_can_never_be_taken_are_left_out() {
    for guard in ["false", "k == 3", "yes && i == 40000", "forall (n : int[0,2]) n < 2", "i == 1 && false"] {
        let (network, _) = lowered(&with_edge(GLOBALS, "", &format!("guard {guard};")));
        assert_eq!(network.processes[0].edges.len(), 0, "{guard}");
    }
}

#[test]
fn clocks_in_the_wrong_place_are_refused() {
    let table = [
        ("guard x < 5 || y > 6;", "cannot be a disjunction over clocks"),
        ("guard x != 5;", "cannot be compared with !="),
        ("guard !(x == 5);", "cannot be a disjunction over clocks"),
        ("guard exists (n : int[0,2]) t[n] < 5;", "cannot be a disjunction over clocks"),
        ("guard x * 2 < 5;", "clocks can only be subtracted"),
        ("guard x + y < 5;", "clocks can only be subtracted"),
        ("guard x - y < t[0] - t[1];", "only the difference of two clocks"),
        ("guard i < 5 && x;", "a number or truth value is needed here"),
        ("guard x' == 0;", "the rate of a clock is set in invariants"),
        ("guard deadlock;", "deadlock"),
        ("guard i = 3;", "must not change anything"),
        ("guard i++ > 3;", "must not change anything"),
        ("assign i = x;", "a number or truth value is needed here"),
        ("assign x = -1;", "cannot be set to -1"),
        ("assign x = y - t[0];", "a clock can be assigned"),
        ("assign t = 0;", "clocks are assigned one by one"),
        ("sync x!;", "a channel is needed here"),
        ("guard t < 5;", "a number or truth value is needed here"),
    ];
    for (edge, message) in table {
        let text = with_edge(GLOBALS, "", edge);
        let (error, _) = refused(&text);
        assert!(error.contains(message), "{edge}: {error}");
    }
    let channels = "urgent chan u; broadcast chan b; clock x;";
    for sync in ["u!", "u?", "b?", "b!"] {
        let (network, _) = lowered(&with_edge(channels, "", &format!("guard x < 5; sync {sync};")));
        assert_eq!(network.processes[0].edges[0].guard.clocks.len(), 1, "{sync}");
    }
}

#[test]
fn invariants_are_upper_bounds() {
    let model =
        |invariant: &str| format!("{GLOBALS} process P() {{ state A {{ {invariant} }}; init A; }} system P;");
    let table: &[(&str, usize, &[&str])] = &[
        ("x <= 5 && i > 2", 1, &["x0 - 0 <= 5"]),
        ("x - y < 3", 0, &["x0 - x1 < 3"]),
        ("x == 0", 0, &["x0 - 0 <= 0"]),
        ("i == 1 imply x <= 3", 0, &["when: x0 - 0 <= 3"]),
        ("forall (n : int[0,2]) t[n] <= n", 0, &["x2 - 0 <= 0", "x3 - 0 <= 1", "x4 - 0 <= 2"]),
        ("x' == 1", 0, &[]),
        ("false", 1, &[]),
        ("forall (n : int[0,30]) i != n", 31, &[]),
    ];
    for (invariant, data, clocks) in table {
        let (network, _) = lowered(&model(invariant));
        let found = describe(&network.processes[0].locations[0].invariant);
        assert_eq!(found, (*data, clocks.iter().map(|c| c.to_string()).collect()), "{invariant}");
    }
    for (invariant, message) in [
        ("x >= 3", "cannot be a lower bound"),
        ("x == 3", "cannot be a lower bound"),
        ("x <= 3 || y <= 3", "an invariant cannot be a disjunction"),
        ("x' <= 1", "can only be set with =="),
        ("!(x' == 0)", "cannot be negated"),
        ("i' == 0", "only clocks have a rate"),
        ("x' == 0 || y' == 0", "an invariant cannot be a disjunction"),
    ] {
        let (error, _) = refused(&model(invariant));
        assert!(error.contains(message), "{invariant}: {error}");
    }
}

#[test]
fn rates_are_kept_where_a_clock_may_stand_still() {
    let model = |invariant: &str| {
        format!("{GLOBALS} process P() {{ state A {{ {invariant} }}, B {{ x' == 1 }}; init A; }} system P;")
    };
    for (invariant, count, conditional) in [
        ("x' == 1", 0, false),
        ("x' == 0", 1, false),
        ("0 == x'", 1, false),
        ("x <= 5 && x' == (i > 2)", 1, false),
        ("i == 1 imply x' == 0", 1, true),
        ("forall (n : int[0,2]) t[n]' == 0", 3, false),
    ] {
        let (network, _) = lowered(&model(invariant));
        let [a, b] = network.processes[0].locations.as_slice() else { panic!("two locations") };
        assert_eq!(a.rates.len(), count, "{invariant}");
        assert_eq!(b.rates.len(), usize::from(count > 0), "{invariant}: what runs is said too");
        assert!(a.rates.iter().all(|rate| rate.when.is_some() == conditional), "{invariant}");
        assert_eq!(network.has_stopwatches(), count > 0, "{invariant}");
    }
}
