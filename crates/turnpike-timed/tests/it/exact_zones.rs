//! The zones that are displayed: exact ones along a path, whatever extrapolation the search used.

use std::collections::BTreeSet;

use proptest::prelude::*;
use turnpike_model::{Describer, ExactStates, Model, StateValues, Successors, Timing, hash};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::network::Language;
use turnpike_timed::query::Names;
use turnpike_timed::zone::{Bound, Dbm};

use crate::regions::{Atom, Move, Sketch, With};
use crate::zone_graph::{clocks_decide, sketch};

/// A random path of a model, as it is shown.
struct Shown {
    choices: Vec<u32>,
    labels: Vec<String>,
    states: Vec<StateValues>,
}

fn model(sketch: &Sketch, options: &Options) -> TimedModel {
    let network = sketch.network();
    let names = Names::of(&network);
    TimedModel::new("sketch", "", network, names, options).expect("explorable").0
}

fn walk(model: &TimedModel, number: u64) -> Shown {
    let mut explorer = model.explorer();
    let mut out = Successors::new(model.info().width);
    let (mut state, mut choices, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    explorer.initial(&mut state).expect("an initial state");
    for step in 0..8_u64 {
        explorer.successors(&state, &mut out).expect("successors");
        if out.is_empty() {
            break;
        }
        let choice = (hash::mix(number, step) % out.len() as u64) as usize;
        choices.push(choice as u32);
        labels.push(explorer.label(out.label(choice)).text);
        state = out.state(choice).to_vec();
    }
    let exact = model.states_along(&choices).expect("a path").expect("exact states");
    let again = model.states_along(&choices).expect("a path");
    assert_eq!(again.as_ref(), Some(&exact), "the path that is kept is the same");
    let mut describer = Describer::of_states(model.info());
    let states = exact.iter().map(|state| describer.state(&mut *explorer, state)).collect();
    Shown { choices, labels, states }
}

/// A zone over two clocks as a matrix: `2 * bound + 1` for `<=`, `2 * bound` for `<`.
type Matrix = [[i64; 3]; 3];

const NONE: i64 = i64::MAX / 4;
const CLOCKS: [&str; 2] = ["x0", "x1"];

fn add(one: i64, other: i64) -> i64 {
    if one >= NONE || other >= NONE { NONE } else { one + other - ((one & 1) | (other & 1)) }
}

/// Shortest paths; `None` if the zone is empty.
fn close(mut zone: Matrix) -> Option<Matrix> {
    for k in 0..3 {
        for i in 0..3 {
            for j in 0..3 {
                zone[i][j] = zone[i][j].min(add(zone[i][k], zone[k][j]));
            }
        }
    }
    (0..3).all(|i| zone[i][i] >= 1).then_some(zone)
}

fn within(mut zone: Matrix, atoms: &[Atom]) -> Option<Matrix> {
    for atom in atoms {
        let row = |clock: Option<usize>| clock.map_or(0, |clock| clock + 1);
        let (i, j) = (row(atom.left), row(atom.right));
        zone[i][j] = zone[i][j].min(2 * i64::from(atom.bound) + i64::from(!atom.strict));
    }
    close(zone)
}

#[allow(clippy::needless_range_loop, reason = "rows and columns are indexed alike")]
fn reset(mut zone: Matrix, clock: usize, value: i32) -> Matrix {
    let (at, value) = (clock + 1, 2 * i64::from(value));
    for other in 0..3 {
        if other != at {
            zone[at][other] = if zone[0][other] >= NONE { NONE } else { zone[0][other] + value };
            zone[other][at] = if zone[other][0] >= NONE { NONE } else { zone[other][0] - value };
        }
    }
    zone
}

/// Lets time pass within the invariants of the locations.
fn settle(sketch: &Sketch, locations: &[usize], zone: Matrix) -> Option<Matrix> {
    let spots = || sketch.automata.iter().zip(locations).map(|(automaton, &at)| &automaton.spots[at]);
    let bounds: Vec<Atom> = spots().flat_map(|spot| spot.invariant.clone()).collect();
    let mut zone = within(zone, &bounds)?;
    if spots().any(|spot| spot.urgent || spot.committed) {
        return Some(zone);
    }
    zone[1][0] = NONE;
    zone[2][0] = NONE;
    within(zone, &bounds)
}

/// A zone in the notation of another text, restricted to the clocks of that text: others are never
/// compared.
fn text(zone: &Matrix, like: &str) -> String {
    let kept: Vec<usize> = (0..CLOCKS.len()).filter(|&clock| like.contains(CLOCKS[clock])).collect();
    let rows: Vec<usize> = std::iter::once(0).chain(kept.iter().map(|clock| clock + 1)).collect();
    let mut shown = Dbm::universe(rows.len());
    for (i, &row) in rows.iter().enumerate() {
        for (j, &column) in rows.iter().enumerate() {
            let bound = zone[row][column];
            if i != j && bound < NONE {
                let value = bound.div_euclid(2) as i32;
                let bound = if bound & 1 == 1 { Bound::weak(value) } else { Bound::strict(value) };
                assert!(shown.conjoin(i, j, bound));
            }
        }
    }
    let names: Vec<&str> = kept.iter().map(|&clock| CLOCKS[clock]).collect();
    shown.text(&names).to_string()
}

/// The processes that take part in a transition, in the order of their updates.
fn participants(label: &str) -> Vec<usize> {
    let part = |part: &str| part.split('@').next().and_then(|name| name[1..].parse().ok());
    label.split(',').filter_map(part).collect()
}

/// All combinations of one move each.
fn combinations<'s>(choices: &[Vec<&'s Move>]) -> Vec<Vec<&'s Move>> {
    choices.iter().fold(vec![Vec::new()], |found, moves| {
        let with = |taken: &Vec<&'s Move>| {
            moves.iter().map(|&one| taken.iter().copied().chain([one]).collect()).collect::<Vec<_>>()
        };
        found.iter().flat_map(with).collect()
    })
}

fn discrete(sketch: &Sketch, values: &StateValues) -> (Vec<usize>, i32) {
    let locations = (0..sketch.automata.len()).map(|process| {
        values[format!("P{process}").as_str()][1..].parse().expect("a location of the sketch")
    });
    (locations.collect(), values["v"].parse().expect("a number"))
}

/// Restricts a sketch to moves alone and with one partner: every transition leads from a zone to
/// one zone.
fn pairs_only(mut sketch: Sketch) -> Sketch {
    for one in sketch.automata.iter_mut().flat_map(|automaton| &mut automaton.moves) {
        one.with = match one.with {
            With::Send(_) => With::Send(0),
            With::Receive(_) => With::Receive(0),
            other => other,
        };
    }
    sketch
}

/// The zones along a path are computed from the moves of the sketch, from the start on.
fn check_forwards(sketch: &Sketch) -> Result<(), TestCaseError> {
    // Every clock is shown, even if nothing depends on it any more.
    let model = model(sketch, &Options { keep_dead: true, ..Options::default() });
    prop_assert!(model.exact_states().is_some());
    for number in 0..4 {
        let Shown { labels, states, .. } = walk(&model, number);
        let (locations, _) = discrete(sketch, &states[0]);
        let mut zones: Vec<Matrix> = settle(sketch, &locations, [[1; 3]; 3]).into_iter().collect();
        for (step, values) in states.iter().enumerate() {
            if let Some(before) = step.checked_sub(1) {
                let (from, v) = discrete(sketch, &states[before]);
                let (to, w) = discrete(sketch, values);
                let parts = participants(&labels[before]);
                let moves = |&process: &usize| -> Vec<&Move> {
                    let fits = |one: &&Move| one.from == from[process] && one.to == to[process];
                    sketch.automata[process].moves.iter().filter(fits).collect()
                };
                let choices: Vec<Vec<&Move>> = parts.iter().map(moves).collect();
                let mut reached = Vec::new();
                for taken in combinations(&choices) {
                    let kinds = match taken.as_slice() {
                        [one] => one.with == With::Alone,
                        [one, other] => one.with == With::Send(0) && other.with == With::Receive(0),
                        _ => false,
                    };
                    let last = taken.iter().rev().find_map(|one| one.sets).unwrap_or(v);
                    if !kinds || last != w || taken.iter().any(|one| one.needs.is_some_and(|n| n != v)) {
                        continue;
                    }
                    let guards: Vec<Atom> = taken.iter().flat_map(|one| one.guard.clone()).collect();
                    for zone in &zones {
                        let Some(guarded) = within(*zone, &guards) else { continue };
                        let resets = taken.iter().flat_map(|one| &one.resets);
                        let entered = resets.fold(guarded, |zone, &(clock, value)| reset(zone, clock, value));
                        reached.extend(settle(sketch, &to, entered));
                    }
                }
                zones = reached;
            }
            let shown = &values["zone"];
            let expected: BTreeSet<String> = zones.iter().map(|zone| text(zone, shown)).collect();
            prop_assert!(
                expected.contains(&values["zone"]),
                "step {}: {:?}, not {:?}",
                step,
                values,
                expected
            );
        }
    }
    Ok(())
}

/// The largest value of one clock in a text such as `0<=x0<3` or `x0==2`, and whether it is
/// excluded.
fn largest(text: &str, clock: &str) -> Option<(i32, bool)> {
    let parts = text.trim_matches(['(', ')']).split(" && ");
    let mut about = parts.filter_map(|part| {
        let other = CLOCKS.iter().any(|&name| name != clock && part.contains(name));
        part.split_once(clock).filter(|_| !other).map(|(_, after)| after)
    });
    let after = about.next()?;
    match after.strip_prefix("<=").or_else(|| after.strip_prefix("==")) {
        Some(value) => Some((value.parse().ok()?, false)),
        None => Some((after.strip_prefix('<')?.parse().ok()?, true)),
    }
}

/// The zones along a path are those of a model without extrapolation, and each is within its
/// invariants.
fn check_against_plain(sketch: &Sketch) -> Result<(), TestCaseError> {
    let shown_model = model(sketch, &Options { keep_dead: true, ..Options::default() });
    if shown_model.exact_states().is_none() {
        return Ok(());
    }
    let plain = model(sketch, &Options { keep_dead: true, exact: true, plain: true, ..Options::default() });
    let mut explorer = plain.explorer();
    let mut describer = Describer::of_states(plain.info());
    let mut out = Successors::new(plain.info().width);
    for number in 0..4 {
        let Shown { choices, labels, states } = walk(&shown_model, number);
        prop_assert!(shown_model.schedule(&choices, None).is_ok());
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("an initial state");
        let mut reached = BTreeSet::from([state]);
        for (step, values) in states.iter().enumerate() {
            if step == 0 && plain.info().virtual_root {
                continue;
            }
            if let Some(before) = step.checked_sub(1) {
                let mut next = BTreeSet::new();
                for state in &reached {
                    explorer.successors(state, &mut out).expect("successors");
                    for at in 0..out.len() {
                        let target = out.state(at).to_vec();
                        let same = discrete(sketch, &describer.state(&mut *explorer, &target))
                            == discrete(sketch, values);
                        if same && explorer.label(out.label(at)).text == labels[before] {
                            next.insert(target);
                        }
                    }
                }
                reached = next;
            }
            let zones: BTreeSet<String> = reached
                .iter()
                .map(|state| describer.state(&mut *explorer, state)["zone"].to_owned())
                .collect();
            prop_assert!(zones.contains(&values["zone"]), "step {}: {:?}, not {:?}", step, values, zones);
            let (locations, _) = discrete(sketch, values);
            let spots = sketch.automata.iter().zip(&locations).map(|(one, &at)| &one.spots[at]);
            for atom in spots.flat_map(|spot| &spot.invariant) {
                let (Some(clock), None) = (atom.left, atom.right) else { continue };
                let most = largest(&values["zone"], CLOCKS[clock]);
                let holds = most.is_some_and(|(most, excluded)| {
                    most < atom.bound || most == atom.bound && (excluded || !atom.strict)
                });
                prop_assert!(holds, "{:?} in {:?}", atom, values);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shown_zones_are_what_the_moves_reach(
        sketch in sketch(Language::Uppaal, false, false).prop_map(pairs_only)
    ) {
        check_forwards(&sketch)?;
    }

    #[test]
    fn shown_zones_are_not_made_coarser(sketch in sketch(Language::Uppaal, false, true)) {
        check_against_plain(&sketch)?;
    }

    #[test]
    fn shown_zones_of_events_are_not_made_coarser(sketch in sketch(Language::Tck, false, false)) {
        check_against_plain(&sketch)?;
    }

    #[test]
    fn shown_zones_are_not_made_coarser_where_clocks_decide(
        sketch in sketch(Language::Uppaal, false, false).prop_map(clocks_decide)
    ) {
        check_against_plain(&sketch)?;
    }

    #[test]
    fn shown_zones_are_not_made_coarser_where_differences_are_compared(
        sketch in sketch(Language::Uppaal, true, false)
    ) {
        check_against_plain(&sketch)?;
    }
}
