//! Explanations of deadlocks.

use std::collections::{BTreeSet, VecDeque};

use turnpike_model::{Counterpart, Model, Obstacle, Offer, StuckComponent, Successors, TimeStop};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::tck;
use turnpike_timed::uppaal::{self, Format};

fn open_xta(text: &str) -> TimedModel {
    let options = Options { deadlock: true, exact: true, ..Options::default() };
    let (network, names, _) =
        uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    TimedModel::new("m.xta", text, network, names, &options).unwrap_or_else(|errors| panic!("{errors:?}")).0
}

/// Explains the first deadlock that a breadth-first search finds.
fn explain(model: &TimedModel, condition: Option<&str>) -> Vec<StuckComponent> {
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut out = Successors::new(model.info().width);
    let mut seen = BTreeSet::from([state.clone()]);
    let mut queue = VecDeque::from([state]);
    while let Some(state) = queue.pop_front() {
        explorer.successors(&state, &mut out).expect("successors");
        if explorer.is_deadlock(&state, &out) {
            let obstacles = explorer.obstacles().expect("explanations");
            return obstacles.stuck_components(&state, condition).expect("an explanation");
        }
        for (_, target) in out.iter() {
            if seen.insert(target.to_vec()) {
                queue.push_back(target.to_vec());
            }
        }
    }
    panic!("no deadlock")
}

fn offer(action: &str, obstacles: Vec<Obstacle>) -> Offer {
    Offer { action: action.to_owned(), obstacles }
}

fn condition(condition: &str, actual: Option<&str>) -> Obstacle {
    Obstacle::Condition { condition: condition.to_owned(), actual: actual.map(str::to_owned) }
}

fn component(name: &str, position: &str, offers: Vec<Offer>) -> StuckComponent {
    StuckComponent { component: name.to_owned(), position: position.to_owned(), offers, stops_time: None }
}

fn invariant(condition: &str) -> Option<TimeStop> {
    Some(TimeStop::Invariant { condition: condition.to_owned() })
}

#[test]
fn guards_and_invariants_are_named() {
    let text = "clock x; int n = 3;
        process P() { state A { x <= 3 }, B; init A;
            trans A -> B { guard x >= 5; }, A -> B { guard n == 0 && x >= 1; }, A -> B { guard x > 3 && x < 9; }; }
        system P;";
    let expected = StuckComponent {
        stops_time: invariant("x <= 3"),
        ..component(
            "P",
            "A",
            vec![
                offer("tau", vec![condition("x >= 5", Some("x <= 3"))]),
                offer("tau", vec![condition("n == 0", Some("n == 3"))]),
                offer("tau", vec![condition("x > 3", Some("x <= 3"))]),
            ],
        )
    };
    let model = open_xta(text);
    assert_eq!(explain(&model, None), std::slice::from_ref(&expected));
    assert_eq!(explain(&model, Some("deadlock and P.A")), std::slice::from_ref(&expected));
    assert_eq!(explain(&model, Some("timelock")), [expected]);
    assert_eq!(explain(&model, Some("P.A")), []);
}

#[test]
fn what_is_too_late_is_named() {
    // From `B` on, x is more than the guard allows.
    let text = "clock x;
        process P() { state A, B, C; init A;
            trans A -> B { guard x >= 4; }, B -> C { guard x <= 2; }; }
        system P;";
    let expected = component("P", "B", vec![offer("tau", vec![condition("x <= 2", Some("x >= 4"))])]);
    assert_eq!(explain(&open_xta(text), None), [expected]);
}

#[test]
fn partners_are_missing_for_many_reasons() {
    let text = "chan go, stop; int n = 1;
        process P() { state A, B; init A; trans A -> B { sync go!; }, B -> A { sync stop?; }; }
        process Q() { state C, D; init C; trans C -> D { guard n == 0; sync go?; }, D -> C { sync stop!; }; }
        process R() { state E; init E; trans E -> E { sync stop?; }; }
        system P, Q, R;";
    let blocked = Counterpart {
        component: "Q".to_owned(),
        action: "go?".to_owned(),
        reason: Some("n == 0 does not hold".to_owned()),
    };
    let partner = |action: &str, elsewhere: &[&str], instead: Vec<Counterpart>| Obstacle::Partner {
        action: action.to_owned(),
        elsewhere: elsewhere.iter().map(|&name| name.to_owned()).collect(),
        instead,
    };
    let expected = [
        component("P", "A", vec![offer("go!", vec![partner("go?", &[], vec![blocked])])]),
        component("Q", "C", vec![offer("go?", vec![condition("n == 0", Some("n == 1"))])]),
        component("R", "E", vec![offer("stop?", vec![partner("stop!", &["Q"], Vec::new())])]),
    ];
    assert_eq!(explain(&open_xta(text), None), expected);
}

#[test]
fn committed_locations_and_targets_are_named() {
    let text = "clock x; chan go;
        process P() { state A; commit A; init A; trans A -> A { sync go!; }; }
        process Q() { state B, C { x <= 0 }; init B; trans B -> B { }; }
        system P, Q;";
    let needs = Obstacle::Partner { action: "go?".to_owned(), elsewhere: Vec::new(), instead: Vec::new() };
    let first = StuckComponent {
        stops_time: Some(TimeStop::Committed),
        ..component("P", "A", vec![offer("go!", vec![needs])])
    };
    let precedence = Obstacle::Precedence { component: "P".to_owned() };
    let expected = [first, component("Q", "B", vec![offer("tau", vec![precedence])])];
    assert_eq!(explain(&open_xta(text), None), expected);
    let text = "clock x, y;
        process P() { state A { y <= 2 }, B { x < 1 }; init A; trans A -> B { guard x >= 1; }; }
        system P;";
    let target = Obstacle::Target { component: "P".to_owned(), condition: "x < 1".to_owned() };
    let expected = StuckComponent {
        stops_time: invariant("y <= 2"),
        ..component("P", "A", vec![offer("tau", vec![target])])
    };
    assert_eq!(explain(&open_xta(text), None), [expected]);
}

#[test]
fn events_need_everybody_in_their_vector() {
    let text = "system:meeting
event:go
event:come
process:A
location:A:wait{initial:}
edge:A:wait:wait:go{}
process:B
location:B:rest{initial:}
location:B:here{}
edge:B:here:here:come{}
sync:A@go:B@come
";
    let (network, _) = tck::read(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let names = Names::of(&network);
    let options = Options { deadlock: true, ..Options::default() };
    let (model, _) = TimedModel::new("m.tck", text, network, names, &options).expect("explorable");
    let needs = Obstacle::Partner {
        action: "B@come".to_owned(),
        elsewhere: vec!["B".to_owned()],
        instead: Vec::new(),
    };
    let expected =
        [component("A", "wait", vec![offer("go", vec![needs])]), component("B", "rest", Vec::new())];
    assert_eq!(explain(&model, None), expected);
}
