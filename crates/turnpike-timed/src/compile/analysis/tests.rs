//! Clock bounds of small networks, with expected values by hand.

use super::*;
use crate::network::{
    ClockAtom, ClockCell, ClockId, ClockValue, Constraint, Edge, Expression, Location, LocationId, Process,
    ProcessId, Statement, Sync,
};
use crate::zone::NO_BOUND;

/// `x < c` or `x <= c`: bounds do not distinguish them.
fn upper(clock: u32, bound: i32) -> ClockAtom {
    ClockAtom {
        when: None,
        left: Some(ClockCell::fixed(ClockId(clock))),
        right: None,
        strict: false,
        bound: Expression::Constant(bound),
        place: 0..0,
    }
}

fn lower(clock: u32, bound: i32) -> ClockAtom {
    ClockAtom {
        left: None,
        right: Some(ClockCell::fixed(ClockId(clock))),
        bound: Expression::Constant(-bound),
        ..upper(clock, 0)
    }
}

fn assign(clock: u32, value: ClockValue) -> Statement {
    Statement::Clock { clock: ClockCell::fixed(ClockId(clock)), value, place: 0..0 }
}

fn reset(clock: u32) -> Statement {
    assign(clock, ClockValue::Constant(Expression::Constant(0)))
}

fn copy(target: u32, source: u32, offset: i32) -> Statement {
    assign(target, ClockValue::Clock(ClockCell::fixed(ClockId(source)), Expression::Constant(offset)))
}

fn edge(source: u32, target: u32, guard: Vec<ClockAtom>, update: Vec<Statement>) -> Edge {
    Edge {
        source: LocationId(source),
        target: LocationId(target),
        sync: Sync::Internal,
        guard: Constraint { data: Vec::new(), clocks: guard },
        update,
        locals: Vec::new(),
        place: 0..0,
    }
}

fn process(locations: u32, edges: Vec<Edge>) -> Process {
    Process {
        locations: (0..locations).map(|_| Location::default()).collect(),
        initial: vec![LocationId(0)],
        edges,
        ..Process::default()
    }
}

fn network(clocks: u32, processes: Vec<Process>) -> Network {
    Network {
        clocks: (0..clocks).map(|number| format!("x{number}")).collect(),
        processes,
        ..Network::default()
    }
}

fn at(bounds: &Bounds, process: u32, location: u32) -> Vec<(u32, i32, i32)> {
    let all = bounds.at(ProcessId(process), LocationId(location));
    all.iter().map(|one| (one.clock.0, one.lower, one.upper)).collect()
}

#[test]
fn a_reset_ends_what_matters() {
    // 0 --x0 >= 3--> 1 --x0 = 0--> 2 --x0 <= 7--> 0
    let edges = vec![
        edge(0, 1, vec![lower(0, 3)], vec![]),
        edge(1, 2, vec![], vec![reset(0)]),
        edge(2, 0, vec![upper(0, 7)], vec![]),
    ];
    let bounds = Bounds::new(&network(1, vec![process(3, edges)]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), [(0, 3, NO_BOUND)]);
    assert_eq!(at(&bounds, 0, 1), []);
    assert_eq!(at(&bounds, 0, 2), [(0, 3, 7)]);
}

#[test]
fn invariants_are_upper_bounds() {
    let mut one = process(2, vec![edge(0, 1, vec![], vec![])]);
    one.locations[1].invariant.clocks.push(upper(0, 9));
    let bounds = Bounds::new(&network(1, vec![one]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), [(0, NO_BOUND, 9)]);
    assert_eq!(at(&bounds, 0, 1), [(0, NO_BOUND, 9)]);
}

#[test]
fn copies_hand_bounds_on() {
    // x0 = x1 + 2, then x0 >= 5: x1 matters up to 3; with x1 = 0 first, nothing does.
    let copied = |update| vec![edge(0, 1, vec![], update), edge(1, 1, vec![lower(0, 5)], vec![])];
    let bounds = Bounds::new(&network(2, vec![process(2, copied(vec![copy(0, 1, 2)]))]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), [(1, 3, NO_BOUND)]);
    let bounds =
        Bounds::new(&network(2, vec![process(2, copied(vec![reset(1), copy(0, 1, 2)]))]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), []);
}

#[test]
fn copies_hand_on_bounds_of_other_processes() {
    let copier = process(1, vec![edge(0, 0, vec![], vec![copy(0, 1, 0)])]);
    let tester = process(1, vec![edge(0, 0, vec![upper(0, 4)], vec![])]);
    let bounds = Bounds::new(&network(2, vec![copier, tester]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), [(1, NO_BOUND, 4)]);
    assert_eq!(at(&bounds, 1, 0), [(0, NO_BOUND, 4)]);
}

#[test]
fn an_assignment_that_may_not_happen_keeps_bounds() {
    let doubtful = Statement::If(Expression::Constant(1), vec![reset(0)], vec![]);
    let edges = vec![edge(0, 1, vec![], vec![doubtful]), edge(1, 1, vec![upper(0, 4)], vec![])];
    let bounds = Bounds::new(&network(1, vec![process(2, edges)]), &[]).unwrap();
    assert_eq!(at(&bounds, 0, 0), [(0, NO_BOUND, 4)]);
}

#[test]
fn conditions_count_everywhere_by_polarity() {
    let network = network(1, vec![process(1, vec![])]);
    let bounds = |condition| {
        let bounds = Bounds::new(&network, &[condition]).unwrap();
        bounds.everywhere().iter().map(|one| (one.lower, one.upper)).collect::<Vec<_>>()
    };
    assert_eq!(bounds(Condition::Clock(upper(0, 6))), [(NO_BOUND, 6)]);
    assert_eq!(bounds(Condition::Not(Box::new(Condition::Clock(upper(0, 6))))), [(6, NO_BOUND)]);
    let both = Condition::And(vec![Condition::Clock(lower(0, 2)), Condition::Clock(upper(0, 6))]);
    assert_eq!(bounds(both), [(2, 6)]);
}

#[test]
fn refuses_what_has_no_bound() {
    let backwards = vec![edge(0, 0, vec![lower(0, 1)], vec![copy(0, 0, -1)])];
    let error = Bounds::new(&network(1, vec![process(1, backwards)]), &[]).unwrap_err();
    assert!(error.message.contains("clock x0"), "{error}");
    let huge = vec![edge(0, 0, vec![lower(0, i32::MAX)], vec![])];
    let error = Bounds::new(&network(1, vec![process(1, huge)]), &[]).unwrap_err();
    assert!(error.message.contains("2147483647"), "{error}");
}

#[test]
fn sees_diagonals() {
    let mut diagonal = upper(0, 3);
    diagonal.right = Some(ClockCell::fixed(ClockId(1)));
    let plain = network(2, vec![process(1, vec![edge(0, 0, vec![upper(0, 3)], vec![])])]);
    assert!(!has_diagonals(&plain, &[]));
    assert!(has_diagonals(&plain, &[Condition::Clock(diagonal.clone())]));
    assert!(has_diagonals(&network(2, vec![process(1, vec![edge(0, 0, vec![diagonal], vec![])])]), &[]));
}
