//! Conditions and queries, on UPPAAL models and other networks.

use super::lowered;
use crate::network::{Expression, Location, LocationId, Network, Process, ProcessId, Variable};
use crate::query::Names;
use crate::query::{Condition, Extremum, Quantity, QueryKind};

const MODEL: &str = "const int N = 3; typedef int[0,N-1] id_t; int v; bool used[N]; clock g;
    typedef scalar[2] set; int w[set];
    bool both(int a, int b) { return a == b; } void change() { v = 1; } void by(int &a) { a = 1; }
    process Train(const id_t id) { clock x; int[0,5] n; int list[2]; int next() { return n + 1; }
        state Safe, Stop, Cross; init Safe; trans Safe -> Stop { assign n = 1, list[0] = 1, v = 1, used[id] = true; }; }
    process Gate() { state Free, Occ; init Free; }
    process Item(const set s) { state Idle; init Idle; }
    system Train, Gate, Item;";

fn at(process: u32, location: u32) -> Condition {
    Condition::Data(Expression::At(ProcessId(process), LocationId(location)))
}

#[test]
fn conditions_speak_of_processes_variables_and_clocks() {
    let (network, names) = lowered(MODEL);
    let condition =
        |text: &str| names.condition(&network, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(condition("Gate.Occ"), at(3, 1));
    assert_eq!(condition("Train(2).Cross"), at(2, 2));
    assert_eq!(condition("Train(N - 1).Cross"), at(2, 2));
    assert_eq!(condition("deadlock"), Condition::Deadlock);
    assert_eq!(condition("Train(1).id == 1"), Condition::Data(Expression::Constant(1)));
    assert!(matches!(condition("not deadlock"), Condition::Not(_)));
    assert!(matches!(condition("Train(1).x < 5"), Condition::Clock(_)));
    assert!(
        matches!(condition("Train(1).x < 5 || g > 3 || v == 1"), Condition::Or(parts) if parts.len() == 3)
    );
    assert!(matches!(condition("Train(1).x != 5"), Condition::Or(parts) if parts.len() == 2));
    assert!(matches!(condition("Gate.Occ imply g <= 3"), Condition::Or(parts) if parts.len() == 2));
    // i == j decides all but the pairs of different processes.
    let text = "forall (i : id_t) forall (j : id_t) Train(i).Cross && Train(j).Cross imply i == j";
    let Condition::Data(expression) = condition(text) else { panic!() };
    assert_eq!(locations(&expression), 2 * 6);
    let Condition::Data(expression) = condition("exists (i : id_t) i != 0 && Train(i).Stop") else {
        panic!()
    };
    assert_eq!(locations(&expression), 2);
    let Condition::Data(expression) = condition("(sum (i : id_t) Train(i).Stop) <= 1") else { panic!() };
    assert_eq!(locations(&expression), 3);
    for text in [
        "v == 3 && used[1]",
        "used[v]",
        "Train(0).list[1] + Train(1).n > v",
        "both(v, 3)",
        "Train(1).next() == 2",
        "forall (s : set) w[s] == 0",
        "forall (s : set) Item(s).Idle",
        "exists (i : int[0,2]) v == i and (used[i] or Train(i).x - g < i)",
        "Gate.Free ? v == 1 : v == 2",
    ] {
        condition(text);
    }
}

/// The number of tested locations.
fn locations(expression: &Expression) -> usize {
    match expression {
        Expression::At(..) => 1,
        Expression::Unary(_, inner) => locations(inner),
        Expression::Binary(_, left, right, _) => locations(left) + locations(right),
        _ => 0,
    }
}

#[test]
fn wrong_conditions_are_refused() {
    let (network, names) = lowered(MODEL);
    let table = [
        ("Gat.Occ", "did you mean `Gate`?", "Gat"),
        ("Gate.Ocs", "did you mean `Occ`?", "Ocs"),
        ("Train.Stop", "several processes `Train`", "Train"),
        ("Train(3).Stop", "no process `Train(3)`", "3"),
        ("Train(v).Stop", "must be a constant", "v"),
        ("Train(1, 2).Stop", "1 free parameter, but got 2 arguments", "Train(1, 2)"),
        ("N == 4 && vv == 1", "did you mean `v`?", "vv"),
        ("N == 3 || Gate.Ocs", "did you mean `Occ`?", "Ocs"),
        ("forall (i : int[0, 9]) i < N imply Train(i).Stpo", "did you mean `Stop`?", "Stpo"),
        ("N == 4 ? vv == 1 : true", "did you mean `v`?", "vv"),
        ("false && exists (i : id_t) used[j]", "there is no name `j`", "j"),
        ("v == 1 && used[3] == 0", "the index 3 is out of range", "3"),
        ("v == 1 && used[-1] == 0", "the index -1 is out of range", "-1"),
        ("Gate.Occ == 3", "a truth value is never 3", "3"),
        ("2 > (v == 1)", "a truth value is never 2", "2"),
        ("v += 3", "a query must not change anything", "v"),
        ("change() == 1", "a query must not change anything", "change()"),
        ("vv == 3", "did you mean `v`?", "vv"),
        ("Gate", "a process is not a value", "Gate"),
        ("g", "a number or truth value is needed here", "g"),
        ("Train(1).x + g < 3", "clocks can only be subtracted", "Train(1).x + g"),
    ];
    for (text, message, place) in table {
        let error = names.condition(&network, text).expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        let span = error.span.expect("a place");
        assert_eq!(&text[span.range], place, "{text}");
    }
}

#[test]
fn queries_have_forms() {
    let (network, names) = lowered(MODEL);
    let kind =
        |text: &str| names.query(&network, text).unwrap_or_else(|error| panic!("{text}: {error}")).kind;
    assert_eq!(kind("E<> Gate.Occ"), QueryKind::Possibly(at(3, 1)));
    assert_eq!(kind("A[] Gate.Occ"), QueryKind::Invariantly(at(3, 1)));
    assert_eq!(kind("E[] Gate.Occ"), QueryKind::PotentiallyAlways(at(3, 1)));
    assert_eq!(kind("A<> Gate.Occ"), QueryKind::Eventually(at(3, 1)));
    assert_eq!(kind("Gate.Free --> Gate.Occ"), QueryKind::LeadsTo(at(3, 0), at(3, 1)));
    let QueryKind::Extremum { extremum, condition, quantities } =
        kind("sup{Gate.Occ}: v, Train(0).x - g + 2")
    else {
        panic!()
    };
    assert_eq!((extremum, condition), (Extremum::Supremum, Some(at(3, 1))));
    assert!(matches!(&quantities[0], Quantity::Data(Expression::Read(_))));
    assert!(matches!(&quantities[1],
        Quantity::Clock { left: Some(left), right: Some(right), offset: Expression::Constant(2) }
            if left.base.0 == 1 && right.base.0 == 0));
    assert_eq!(names.query(&network, "E<> Gate.Occ").expect("a query").text, "E<> Gate.Occ");
}

#[test]
fn other_networks_have_names_too() {
    let cell = |name: &str| Variable { name: name.to_owned(), low: 0, high: 9, initial: 0, meta: false };
    let location = |name: &str, labels: &[&str]| Location {
        name: name.to_owned(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        ..Location::default()
    };
    let network = Network {
        clocks: vec!["x".into(), "y[0]".into(), "y[1]".into()],
        variables: vec![cell("id"), cell("t[0]"), cell("t[1]"), cell("t[2]")],
        processes: vec![
            Process {
                name: "P1".into(),
                locations: vec![location("req", &[]), location("cs", &["critical"])],
                ..Process::default()
            },
            Process {
                name: "P2".into(),
                locations: vec![location("req", &[]), location("cs", &["critical", "id"])],
                ..Process::default()
            },
        ],
        ..Network::default()
    };
    let names = Names::of(&network);
    let condition =
        |text: &str| names.condition(&network, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(condition("P2.cs"), at(1, 1));
    let Condition::Data(expression) = condition("critical") else { panic!() };
    assert_eq!(locations(&expression), 2);
    // The variable hides the label.
    assert!(matches!(condition("id == 3"), Condition::Data(Expression::Binary(..))));
    assert!(
        matches!(condition("y[1] < 5"), Condition::Clock(atom) if atom.left.as_ref().is_some_and(|cell| cell.base.0 == 2))
    );
    let Condition::Data(Expression::Binary(_, read, ..)) = condition("t[2] == 1") else { panic!() };
    assert!(matches!(*read, Expression::Read(cells) if cells.base == 3 && cells.offset.is_none()));
    let Condition::Data(Expression::Binary(_, read, ..)) = condition("t[id] == 1") else { panic!() };
    assert!(
        matches!(*read, Expression::Read(cells) if cells.base == 1 && cells.count == 3 && cells.offset.is_some())
    );
    let error = names.condition(&network, "P1.cz").expect_err("no such location");
    assert!(error.to_string().contains("did you mean `cs`?"), "{error}");
    assert!(
        names.condition(&network, "crtical").expect_err("no such label").to_string().contains("critical")
    );
}
