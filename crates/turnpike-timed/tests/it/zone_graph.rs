//! Zone graphs against a slow explorer of regions, on random small networks.

use crate::pairs;
use crate::regions;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use regions::{Atom, Automaton, Cycles, Discrete, Move, Sketch, Spot, With};
use turnpike_model::{Explorer, Model, Predicates, Successors, Timing, hash};
use turnpike_timed::explore::{Cover, Options, TimedModel};
use turnpike_timed::network::Language;
use turnpike_timed::query::Names;
use turnpike_timed::zeno;
use turnpike_timed::zone::Extrapolation;

/// The largest constant that clocks are compared with.
const MOST: i32 = 2;

fn atom(differences: bool) -> impl Strategy<Value = Atom> {
    let clock = 0..2usize;
    (clock, any::<bool>(), any::<bool>(), -MOST..=MOST, 0..4u8).prop_map(
        move |(clock, upper, strict, bound, kind)| {
            if differences && kind == 0 {
                return Atom { left: Some(clock), right: Some(1 - clock), strict, bound };
            }
            let (left, right) = if upper { (Some(clock), None) } else { (None, Some(clock)) };
            Atom { left, right, strict, bound: if upper { bound.abs() } else { -bound.abs() } }
        },
    )
}

fn with(language: Language) -> BoxedStrategy<With> {
    match language {
        Language::Tck => (0..3usize).prop_map(With::Event).boxed(),
        Language::Uppaal => prop_oneof![
            Just(With::Alone),
            (0..4usize).prop_map(With::Send),
            (0..4usize).prop_map(With::Receive),
        ]
        .boxed(),
    }
}

fn one_move(language: Language, differences: bool) -> impl Strategy<Value = Move> {
    let guard = prop::collection::vec(atom(differences), 0..3);
    let resets = prop::collection::vec((0..2usize, if differences { 0..1i32 } else { 0..3i32 }), 0..2);
    let variable = (prop::option::weighted(0.3, 0..3i32), prop::option::weighted(0.3, 0..3i32));
    (0..3usize, 0..3usize, with(language), guard, variable, resets).prop_map(
        |(from, to, with, guard, (needs, sets), resets)| Move { from, to, with, guard, needs, sets, resets },
    )
}

fn spot(differences: bool) -> impl Strategy<Value = Spot> {
    let upper = (0..2usize, any::<bool>(), 0..=MOST).prop_map(|(clock, strict, bound)| Atom {
        left: Some(clock),
        right: None,
        strict: strict && bound > 0,
        bound,
    });
    (prop::collection::vec(upper, 0..2), 0..8u8).prop_map(move |(mut invariant, kind)| {
        if differences {
            // Regions distinguish differences only while clocks are bounded.
            let bound = |clock| Atom { left: Some(clock), right: None, strict: false, bound: MOST };
            invariant.extend([bound(0), bound(1)]);
        }
        Spot { invariant, stands: Vec::new(), urgent: kind == 0, committed: kind == 1 }
    })
}

pub(crate) fn sketch(
    language: Language,
    differences: bool,
    priorities: bool,
) -> impl Strategy<Value = Sketch> {
    let automaton = (
        prop::collection::vec(spot(differences), 3),
        prop::collection::vec(one_move(language, differences), 1..6),
        0..2u32,
    )
        .prop_map(move |(spots, moves, priority)| {
            let moves = moves
                .into_iter()
                .map(|mut one| {
                    one.with = match one.with {
                        With::Send(3) if !priorities => With::Send(0),
                        With::Receive(3) if !priorities => With::Receive(0),
                        other => other,
                    };
                    one
                })
                .collect();
            Automaton { spots, moves, priority: if priorities { priority } else { 0 } }
        });
    let seat = (0..3usize, 0..3usize, any::<bool>());
    let vectors = prop::collection::vec(prop::collection::vec(seat, 1..4), 0..3);
    (prop::collection::vec(automaton, 1..4), vectors).prop_map(move |(automata, vectors)| {
        let count = automata.len();
        let tidy = |vector: Vec<(usize, usize, bool)>| {
            let mut seen = BTreeSet::new();
            vector.into_iter().filter(|seat| seat.0 < count && seen.insert(seat.0)).collect()
        };
        let vectors = match language {
            Language::Tck => {
                vectors.into_iter().map(tidy).filter(|vector: &Vec<_>| !vector.is_empty()).collect()
            }
            Language::Uppaal => Vec::new(),
        };
        let most = if differences { 2 * MOST } else { MOST };
        Sketch { language, clocks: 2, automata, vectors, most }
    })
}

/// Lets most moves send or receive on the channels where failing guards matter, with clocks in
/// their guards.
pub(crate) fn clocks_decide(mut sketch: Sketch) -> Sketch {
    let mut number = 0_usize;
    for one in sketch.automata.iter_mut().flat_map(|automaton| &mut automaton.moves) {
        number += 1;
        one.with = match one.with {
            With::Send(0 | 3) => With::Send([1, 2, 4][number % 3]),
            With::Receive(0 | 3) => With::Receive([1, 2, 4][number % 3]),
            other => other,
        };
        if one.guard.is_empty() && !number.is_multiple_of(3) {
            let (left, right) = if number.is_multiple_of(2) { (Some(0), None) } else { (None, Some(1)) };
            let bound = if left.is_some() { 1 } else { -1 };
            one.guard.push(Atom { left, right, strict: number % 5 < 2, bound });
        }
        one.needs = one.needs.filter(|_| number.is_multiple_of(2));
    }
    sketch
}

/// Channels without a direction: events whose vectors contain all processes that know them, and
/// moves that are taken alone.
fn alphabets(mut sketch: Sketch) -> Sketch {
    sketch.language = Language::Uppaal;
    for one in sketch.automata.iter_mut().flat_map(|automaton| &mut automaton.moves) {
        if one.with == With::Event(2) {
            one.with = With::Alone;
        }
    }
    for seat in sketch.vectors.iter_mut().flatten() {
        seat.2 = false;
    }
    sketch
}

/// The result of a search of the zone graph: discrete states, those with a deadlock, those that
/// meet the condition.
#[derive(Debug, Default, PartialEq)]
struct Found {
    reached: BTreeSet<Discrete>,
    dead: BTreeSet<Discrete>,
    met: BTreeSet<Discrete>,
}

const CONDITION: &str = "x0 > 1 && x1 <= 1";

fn options(conditions: bool, deadlock: bool) -> Options {
    Options {
        conditions: if conditions { vec![CONDITION.to_owned()] } else { Vec::new() },
        deadlock,
        ..Options::default()
    }
}

/// Searches the whole graph; with `covering`, prunes covered states.
fn search(sketch: &Sketch, options: &Options, covering: bool) -> Found {
    let network = sketch.network();
    let names = Names::of(&network);
    let (model, _) = TimedModel::new("sketch", "", network, names, options).expect("explorable");
    let mut explorer = model.explorer();
    let width = model.info().width;
    let (mut state, mut out, mut values) = (Vec::new(), Successors::new(width), Vec::new());
    explorer.initial(&mut state).expect("an initial state");
    let condition = (!options.conditions.is_empty())
        .then(|| predicates(&mut *explorer).compile(CONDITION).expect("a condition"));
    let mut kept: Vec<Vec<u32>> = vec![state];
    let (mut found, mut at) = (Found::default(), 0);
    while at < kept.len() {
        let state = kept[at].clone();
        at += 1;
        assert!(at < 200_000, "no end");
        explorer.successors(&state, &mut out).expect("successors");
        if !(at == 1 && model.info().virtual_root) {
            explorer.state_values(&state, &mut values);
            let locations =
                values[..sketch.automata.len()].iter().map(|name| name[1..].parse().expect("a number"));
            let variable = values[sketch.automata.len()].parse().expect("a number");
            let discrete: Discrete = (locations.collect(), variable);
            found.reached.insert(discrete.clone());
            if options.deadlock && explorer.is_deadlock(&state, &out) {
                found.dead.insert(discrete.clone());
            }
            if let Some(condition) = condition
                && predicates(&mut *explorer).holds(condition, &state).expect("a value")
            {
                found.met.insert(discrete);
            }
        }
        let targets: Vec<Vec<u32>> = out.iter().map(|(_, target)| target.to_vec()).collect();
        for target in targets {
            let covered = kept.iter().any(|old| {
                *old == target
                    || (covering && explorer.covering().is_some_and(|covering| covering.covers(old, &target)))
            });
            if !covered {
                kept.push(target);
            }
        }
    }
    found
}

fn check(sketch: &Sketch) -> Result<(), TestCaseError> {
    let truth = regions::explore(sketch);
    let plain = search(sketch, &options(true, false), false);
    prop_assert_eq!(&plain.reached, &truth.reached);
    prop_assert_eq!(&plain.met, &truth.met);
    for (extrapolation, cover, elapsed) in [
        (None, Cover::Inclusion, true),
        (None, Cover::Alu, true),
        (Some(Extrapolation::M), Cover::Inclusion, true),
        (None, Cover::Inclusion, false),
    ] {
        let how = Options { extrapolation, cover, elapsed, ..options(false, false) };
        prop_assert_eq!(&search(sketch, &how, true).reached, &truth.reached, "{:?}", how);
    }
    let all_clocks = Options { keep_dead: true, ..options(true, false) };
    prop_assert_eq!(&search(sketch, &all_clocks, true), &plain, "all clocks kept");
    for covering in [false, true] {
        let deadlocks = search(sketch, &options(false, true), covering);
        prop_assert_eq!(&deadlocks.reached, &truth.reached);
        prop_assert_eq!(&deadlocks.dead, &truth.dead);
    }
    Ok(())
}

/// Covering tests on a list of states agree with those on each state, by inclusion and by
/// simulation.
fn check_lists(sketch: &Sketch) -> Result<(), TestCaseError> {
    for cover in [Cover::Inclusion, Cover::Alu] {
        let network = sketch.network();
        let names = Names::of(&network);
        let how = Options { cover, ..options(false, false) };
        let (model, _) = TimedModel::new("sketch", "", network, names, &how).expect("explorable");
        let mut explorer = model.explorer();
        let width = model.info().width;
        let key = explorer.covering().expect("zones cover each other").key_words();
        let (mut state, mut out) = (Vec::new(), Successors::new(width));
        explorer.initial(&mut state).expect("an initial state");
        let mut met: Vec<Vec<u32>> = vec![state];
        let mut at = 0;
        while at < met.len().min(40) {
            explorer.successors(&met[at], &mut out).expect("successors");
            for (_, target) in out.iter() {
                if !met.iter().any(|old| old == target) {
                    met.push(target.to_vec());
                }
            }
            at += 1;
        }
        met.truncate(60);
        for state in &met {
            let like: Vec<&Vec<u32>> = met.iter().filter(|other| other[..key] == state[..key]).collect();
            let rests: Vec<u32> = like.iter().flat_map(|other| other[key..].iter().copied()).collect();
            let (mut one, mut other) = (model.explorer(), model.explorer());
            let one = one.covering().expect("zones cover each other");
            let other = other.covering().expect("zones cover each other");
            let covering: Vec<usize> =
                (0..like.len()).filter(|&place| one.covers(like[place], state)).collect();
            let told = other.find_covering(state, &rests);
            prop_assert!(told.is_some_and(|place| covering.contains(&place)), "{:?} {:?}", told, covering);
            // Without the state itself, what covers it is harder to find.
            let own = like.iter().position(|other| *other == state).expect("it was met");
            let without: Vec<u32> = [&rests[..own], &rests[own + 1..]].concat();
            let told = other.find_covering(state, &without);
            prop_assert_eq!(told.is_some(), covering.len() > 1, "{:?}", cover);
            let covered = (0..like.len()).find(|&place| one.covers(state, like[place]));
            prop_assert_eq!(other.find_covered(state, &rests), covered, "{:?}", cover);
        }
    }
    Ok(())
}

/// Gives each process two clocks that no other process uses.
fn own_clocks(mut sketch: Sketch) -> Sketch {
    for (process, automaton) in sketch.automata.iter_mut().enumerate() {
        let own = |clock: &mut usize| *clock += 2 * process;
        let guards = automaton.moves.iter_mut().map(|one| &mut one.guard);
        let invariants = automaton.spots.iter_mut().map(|spot| &mut spot.invariant);
        for atom in guards.chain(invariants).flatten() {
            atom.left.iter_mut().chain(&mut atom.right).for_each(own);
        }
        let resets = automaton.moves.iter_mut().flat_map(|one| &mut one.resets);
        resets.for_each(|(clock, _)| own(clock));
    }
    sketch.clocks *= sketch.automata.len();
    sketch
}

/// Both cached modes give the same successors in the same order as the plain one.
fn check_quick(
    sketch: &Sketch,
    extrapolation: Option<Extrapolation>,
    wide: bool,
) -> Result<(), TestCaseError> {
    let open = |plain: bool| {
        let options = Options { plain, wide, extrapolation, ..options(true, false) };
        let mut network = sketch.network();
        // Priorities, even of unused channels, require the plain mode.
        let priority = network.default_priority;
        network.channels.iter_mut().for_each(|channel| channel.priority = priority);
        let names = Names::of(&network);
        TimedModel::new("sketch", "", network, names, &options).expect("explorable").0
    };
    let compared = pairs::compare(&open(false), &open(true), 400);
    prop_assert!(compared.is_ok(), "{:?}", compared);
    Ok(())
}

/// Whether the zone graph has a cycle through a state in which the first process is in its second
/// location.
fn has_cycle(sketch: &Sketch, options: &Options) -> bool {
    let network = sketch.network();
    let names = Names::of(&network);
    let (model, _) = TimedModel::new("sketch", "", network, names, options).expect("explorable");
    let mut explorer = model.explorer();
    let accepting = predicates(&mut *explorer).compile("P0.l1").expect("a condition");
    let (mut initial, mut out) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut initial).expect("an initial state");
    let mut next: BTreeMap<Vec<u32>, Vec<Vec<u32>>> = BTreeMap::new();
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        if next.contains_key(&state) {
            continue;
        }
        explorer.successors(&state, &mut out).expect("successors");
        let targets: Vec<Vec<u32>> = out.iter().map(|(_, target)| target.to_vec()).collect();
        open.extend(targets.iter().cloned());
        next.insert(state, targets);
    }
    next.keys().any(|state| {
        let mut seen = BTreeSet::new();
        let mut open = vec![state];
        predicates(&mut *explorer).holds(accepting, state).expect("a value")
            && std::iter::from_fn(|| {
                let at = open.pop()?;
                open.extend(next[at].iter().filter(|target| seen.insert(*target)));
                Some(at)
            })
            .skip(1)
            .any(|at| at == state)
    })
}

fn check_cycles(sketch: &Sketch) -> Result<(), TestCaseError> {
    let truth = regions::cycles(sketch);
    for extrapolation in [None, Some(Extrapolation::M)] {
        for elapsed in [true, false] {
            let plain = Options { extrapolation, elapsed, ..Options::default() };
            let counted = Options { non_zeno: true, ..plain.clone() };
            let known = Options { accepting: vec!["P0.l1".to_owned()], ..counted.clone() };
            prop_assert_eq!(has_cycle(sketch, &known), truth.non_zeno, "{:?}", known);
            let found = Cycles { any: has_cycle(sketch, &plain), non_zeno: has_cycle(sketch, &counted) };
            prop_assert_eq!(found, truth, "{:?}", plain);
        }
    }
    if zeno::culprits(&sketch.network(), &|_, _| true).is_empty() {
        prop_assert!(!truth.any || truth.non_zeno, "loops that spend time");
    }
    Ok(())
}

/// Random walks have schedules, which an interpreter executes: it checks every rule, including
/// priorities.
fn check_walks(sketch: &Sketch, non_zeno: bool) -> Result<(), TestCaseError> {
    let network = sketch.network();
    let names = Names::of(&network);
    let options = Options { non_zeno, ..Options::default() };
    let (model, _) = TimedModel::new("sketch", "", network, names, &options).expect("explorable");
    let mut explorer = model.explorer();
    let mut out = Successors::new(model.info().width);
    for walk in 0..8 {
        let (mut state, mut choices) = (Vec::new(), Vec::new());
        explorer.initial(&mut state).expect("an initial state");
        for step in 0..10_u64 {
            explorer.successors(&state, &mut out).expect("successors");
            if out.is_empty() {
                break;
            }
            let choice = hash::mix(walk, step) % out.len() as u64;
            choices.push(choice as u32);
            state = out.state(choice as usize).to_vec();
        }
        let schedule = model.schedule(&choices, None);
        prop_assert!(schedule.is_ok(), "{:?}: {:?}", choices, schedule);
    }
    Ok(())
}

/// Walks on single valuations can be followed on zones, have schedules, and agree with the zones.
fn predicates<'e>(explorer: &'e mut (dyn Explorer + '_)) -> &'e mut dyn Predicates {
    explorer.predicates().expect("conditions are known")
}

fn check_concrete(sketch: &Sketch) -> Result<(), TestCaseError> {
    let network = sketch.network();
    let names = Names::of(&network);
    let (model, _) =
        TimedModel::new("sketch", "", network, names, &options(true, false)).expect("explorable");
    let Some(concrete) = model.concrete() else { return Ok(()) };
    let mut explorer = concrete.explorer();
    let condition = predicates(&mut *explorer).compile(CONDITION).expect("a condition");
    let mut out = Successors::new(concrete.width());
    for walk in 0..8 {
        let (mut state, mut choices) = (Vec::new(), Vec::new());
        explorer.initial(&mut state).expect("an initial state");
        for step in 0..10_u64 {
            explorer.successors(&state, &mut out).expect("successors");
            if out.is_empty() {
                break;
            }
            let choice = hash::mix(walk, step) % out.len() as u64;
            choices.push(choice as u32);
            state = out.state(choice as usize).to_vec();
        }
        if choices.is_empty() {
            return Ok(());
        }
        let ways = concrete.follow(&choices).expect("ways");
        prop_assert!(!ways.is_empty(), "{:?} cannot be followed", choices);
        let mut zones = model.explorer();
        let on_zones = predicates(&mut *zones).compile(CONDITION).expect("a condition");
        let mut met = false;
        for way in &ways {
            let schedule = model.schedule(way, None);
            prop_assert!(schedule.is_ok(), "{:?}: {:?}", way, schedule);
            let (mut at, mut next) = (Vec::new(), Successors::new(model.info().width));
            zones.initial(&mut at).expect("an initial state");
            for &choice in way {
                zones.successors(&at, &mut next).expect("successors");
                at = next.state(choice as usize).to_vec();
            }
            met |= predicates(&mut *zones).holds(on_zones, &at).expect("a value");
        }
        prop_assert!(
            met || !predicates(&mut *explorer).holds(condition, &state).expect("a value"),
            "{:?}",
            choices
        );
    }
    Ok(())
}

/// Stops some clocks in some locations of every process.
fn with_stopwatches(sketch: Sketch) -> impl Strategy<Value = Sketch> {
    let masks = prop::collection::vec(0..6usize, 9);
    masks.prop_map(move |masks| {
        let mut sketch = sketch.clone();
        let spots = sketch.automata.iter_mut().flat_map(|automaton| &mut automaton.spots);
        for (spot, mask) in spots.zip(masks) {
            spot.stands = (0..2).filter(|clock| mask & (1 << clock) != 0 && mask < 4).collect();
        }
        sketch
    })
}

/// Zones reach whatever runs in small steps do, in every search mode. With deadlocks, zones are
/// finer.
fn check_stopwatches(sketch: &Sketch) -> Result<(), TestCaseError> {
    let reached = regions::small_steps(sketch);
    for (cover, covering, deadlock) in
        [(Cover::Inclusion, false, false), (Cover::Inclusion, true, true), (Cover::Alu, true, false)]
    {
        let how = Options { cover, ..options(false, deadlock) };
        let zones = search(sketch, &how, covering).reached;
        prop_assert!(zones.is_superset(&reached), "{:?} misses {:?}", how, &reached - &zones);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn stopwatches_with_channels_miss_no_run(
        sketch in sketch(Language::Uppaal, false, true).prop_flat_map(with_stopwatches)
    ) {
        check_stopwatches(&sketch)?;
    }

    #[test]
    fn stopwatches_where_clocks_decide_miss_no_run(
        sketch in sketch(Language::Uppaal, false, true).prop_map(clocks_decide).prop_flat_map(with_stopwatches)
    ) {
        check_stopwatches(&sketch)?;
    }

    #[test]
    fn small_steps_reach_no_more_than_regions(
        sketch in sketch(Language::Uppaal, false, true).prop_map(clocks_decide)
    ) {
        let (steps, regions) = (regions::small_steps(&sketch), regions::explore(&sketch).reached);
        prop_assert!(regions.is_superset(&steps), "{:?}", &steps - &regions);
    }

    #[test]
    fn concrete_walks_are_runs(sketch in sketch(Language::Uppaal, false, false)) {
        check_concrete(&sketch)?;
    }

    #[test]
    fn concrete_walks_of_events_are_runs(sketch in sketch(Language::Tck, false, false)) {
        check_concrete(&sketch)?;
    }

    #[test]
    fn concrete_walks_are_runs_where_clocks_decide(
        sketch in sketch(Language::Uppaal, false, false).prop_map(clocks_decide)
    ) {
        check_concrete(&sketch)?;
    }

    #[test]
    fn walks_are_runs(sketch in sketch(Language::Uppaal, false, false), non_zeno: bool) {
        check_walks(&sketch, non_zeno)?;
    }

    #[test]
    fn walks_of_events_are_runs(sketch in sketch(Language::Tck, false, false), non_zeno: bool) {
        check_walks(&sketch, non_zeno)?;
    }

    #[test]
    fn walks_respect_priorities(sketch in sketch(Language::Uppaal, false, true), non_zeno: bool) {
        check_walks(&sketch, non_zeno)?;
    }

    #[test]
    fn cycles_of_events_are_as_regions_say(sketch in sketch(Language::Tck, false, false)) {
        check_cycles(&sketch)?;
    }

    #[test]
    fn cycles_of_channels_are_as_regions_say(sketch in sketch(Language::Uppaal, false, false)) {
        check_cycles(&sketch)?;
    }

    #[test]
    fn cycles_with_priorities_are_as_regions_say(sketch in sketch(Language::Uppaal, false, true)) {
        check_cycles(&sketch)?;
    }

    #[test]
    fn lists_are_covered_as_their_states_are(sketch in sketch(Language::Uppaal, false, false)) {
        check_lists(&sketch)?;
    }

    #[test]
    fn events_have_the_same_successors_both_ways(sketch in sketch(Language::Tck, false, false)) {
        check_quick(&sketch, None, false)?;
    }

    #[test]
    fn channels_have_the_same_successors_both_ways(
        sketch in sketch(Language::Uppaal, false, false),
        extrapolation in prop_oneof![Just(None), Just(Some(Extrapolation::M)), Just(Some(Extrapolation::Lu))],
    ) {
        check_quick(&sketch, extrapolation, false)?;
        check_quick(&own_clocks(sketch), extrapolation, true)?;
    }

    #[test]
    fn events_are_as_regions_say(sketch in sketch(Language::Tck, false, false)) {
        check(&sketch)?;
    }

    #[test]
    fn alphabets_are_as_regions_say(sketch in sketch(Language::Tck, false, false).prop_map(alphabets)) {
        check(&sketch)?;
    }

    #[test]
    fn clocks_decide_as_regions_say(
        sketch in sketch(Language::Uppaal, false, false).prop_map(clocks_decide)
    ) {
        check(&sketch)?;
    }

    #[test]
    fn clocks_decide_with_priorities_as_regions_say(
        sketch in sketch(Language::Uppaal, false, true).prop_map(clocks_decide)
    ) {
        check(&sketch)?;
    }

    #[test]
    fn differences_decide_as_regions_say(
        sketch in sketch(Language::Uppaal, true, false).prop_map(clocks_decide)
    ) {
        check(&sketch)?;
    }

    #[test]
    fn cycles_are_as_regions_say_where_clocks_decide(
        sketch in sketch(Language::Uppaal, false, false).prop_map(clocks_decide)
    ) {
        check_cycles(&sketch)?;
    }

    #[test]
    fn walks_are_runs_where_clocks_decide(
        sketch in sketch(Language::Uppaal, false, true).prop_map(clocks_decide), non_zeno: bool
    ) {
        check_walks(&sketch, non_zeno)?;
    }

    #[test]
    fn channels_are_as_regions_say(sketch in sketch(Language::Uppaal, false, false)) {
        check(&sketch)?;
    }

    #[test]
    fn priorities_are_as_regions_say(sketch in sketch(Language::Uppaal, false, true)) {
        check(&sketch)?;
    }

    #[test]
    fn differences_are_as_regions_say(sketch in sketch(Language::Uppaal, true, false)) {
        check(&sketch)?;
    }
}

/// After a loop that increases both clocks of two pairs, their differences are still equal.
/// Extrapolation by constants alone loses this (Bouyer 2004); splitting zones along the differences
/// preserves it.
#[test]
fn differences_survive_where_constants_forget() {
    let at_most = |clock, bound| Atom { left: Some(clock), right: None, strict: false, bound };
    let at_least = |clock, bound: i32| Atom { left: None, right: Some(clock), strict: false, bound: -bound };
    let exactly = |clock, bound| vec![at_most(clock, bound), at_least(clock, bound)];
    let one = |from, to, guard: Vec<Atom>, resets: &[usize]| Move {
        from,
        to,
        with: With::Alone,
        guard,
        needs: None,
        sets: None,
        resets: resets.iter().map(|&clock| (clock, 0)).collect(),
    };
    // x1 - x0 > 2 while x3 - x2 < 2.
    let apart = |bound| {
        vec![
            Atom { left: Some(0), right: Some(1), strict: true, bound: -2 },
            Atom { left: Some(3), right: Some(2), strict: true, bound },
        ]
    };
    let moves = |bound| {
        vec![
            one(0, 1, vec![at_most(2, 3)], &[0, 2]),
            one(1, 2, exactly(1, 3), &[1]),
            one(2, 3, exactly(0, 2), &[0]),
            one(3, 2, exactly(1, 2), &[1]),
            one(2, 4, exactly(0, 3), &[0]),
            one(4, 5, apart(bound), &[]),
        ]
    };
    for (bound, reached) in [(2, false), (3, true)] {
        let spot = Spot { invariant: Vec::new(), stands: Vec::new(), urgent: false, committed: false };
        let automaton = Automaton { spots: vec![spot; 6], moves: moves(bound), priority: 0 };
        let sketch = Sketch {
            language: Language::Uppaal,
            clocks: 4,
            automata: vec![automaton],
            vectors: Vec::new(),
            most: 3,
        };
        let found = search(&sketch, &options(false, false), false);
        assert_eq!(found.reached.contains(&(vec![5], 0)), reached);
        assert!(found.reached.contains(&(vec![4], 0)));
    }
}
