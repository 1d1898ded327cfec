//! Stopped clocks, against an explorer of concrete runs in small steps of time.
//!
//! The explorer does not use zones: it follows valuations in steps of a fraction of a unit, so
//! whatever it reaches is reachable, and on paths of bounded length it decides which sequences of
//! edges have a run. Whatever it reaches, zones must reach; whatever zones reach is confirmed by a
//! schedule or not claimed; and a path without a schedule must have no run in small steps either.

use std::collections::{BTreeMap, BTreeSet};

use turnpike_model::{Claim, Model, Successors, hash};
use turnpike_timed::explore::{Cover, Options, TimedModel};
use turnpike_timed::network::{
    ClockAtom, ClockCell, ClockId, ClockValue, Constraint, Edge, Expression, Language, Location, LocationId,
    Network, Process, Rate, Statement, Sync,
};
use turnpike_timed::query::Names;

const CLOCKS: usize = 4;
const LOCATIONS: usize = 4;
/// The largest constant.
const MOST: i64 = 3;
/// Steps of time per unit.
const UNIT: i64 = 2;

/// A pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> usize {
        self.0 = hash::mix(self.0, 0x5eed);
        (self.0 % bound) as usize
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// `clock <= bound` or `>=`, or strictly.
#[derive(Clone, Copy, Debug)]
struct Test {
    clock: usize,
    upper: bool,
    strict: bool,
    bound: i64,
}

impl Test {
    fn holds(self, clocks: &[i64; CLOCKS]) -> bool {
        let (value, bound) = (clocks[self.clock], self.bound * UNIT);
        match (self.upper, self.strict) {
            (true, true) => value < bound,
            (true, false) => value <= bound,
            (false, true) => value > bound,
            (false, false) => value >= bound,
        }
    }

    fn atom(self) -> ClockAtom {
        let clock = Some(ClockCell::fixed(ClockId(self.clock as u32)));
        let (left, right, bound) =
            if self.upper { (clock, None, self.bound) } else { (None, clock, -self.bound) };
        let bound = Expression::Constant(bound as i32);
        ClockAtom { when: None, left, right, strict: self.strict, bound, place: 0..0 }
    }
}

#[derive(Clone, Debug)]
struct Step {
    from: usize,
    to: usize,
    guard: Vec<Test>,
    resets: Vec<usize>,
}

/// One automaton, whose locations stop some clocks.
#[derive(Clone, Debug)]
struct Sketch {
    invariants: Vec<Vec<Test>>,
    stands: Vec<[bool; CLOCKS]>,
    steps: Vec<Step>,
}

impl Sketch {
    fn draw(seed: u64) -> Sketch {
        let mut numbers = Numbers(seed);
        let strictly = numbers.chance(3);
        let test = |numbers: &mut Numbers, upper: bool| Test {
            clock: numbers.below(CLOCKS as u64),
            upper,
            strict: strictly && numbers.chance(3),
            bound: 1 + numbers.below(MOST as u64) as i64,
        };
        let mut sketch = Sketch { invariants: Vec::new(), stands: Vec::new(), steps: Vec::new() };
        for _ in 0..LOCATIONS {
            let bounded = !numbers.chance(3);
            sketch.invariants.push(if bounded { vec![test(&mut numbers, true)] } else { Vec::new() });
            sketch.stands.push(std::array::from_fn(|_| numbers.chance(2)));
        }
        for index in 0..5 + numbers.below(4) {
            let count = numbers.below(3);
            let mut guard = Vec::new();
            for _ in 0..count {
                let upper = numbers.chance(2);
                let one = test(&mut numbers, upper);
                guard.push(one);
                // Equalities couple clocks.
                if !numbers.chance(3) && !one.strict {
                    guard.push(Test { upper: !upper, ..one });
                }
            }
            sketch.steps.push(Step {
                from: if index < LOCATIONS - 1 { index } else { numbers.below(LOCATIONS as u64) },
                to: if index < LOCATIONS - 1 { index + 1 } else { numbers.below(LOCATIONS as u64) },
                guard,
                resets: (0..CLOCKS).filter(|_| numbers.chance(9)).collect(),
            });
        }
        sketch
    }

    fn network(&self) -> Network {
        let constraint = |tests: &[Test]| Constraint {
            data: Vec::new(),
            clocks: tests.iter().map(|test| test.atom()).collect(),
        };
        let rate = |clock: usize| Rate {
            when: None,
            clock: ClockCell::fixed(ClockId(clock as u32)),
            value: Expression::Constant(0),
            place: 0..0,
        };
        let location = |index: usize| Location {
            name: format!("l{index}"),
            invariant: constraint(&self.invariants[index]),
            rates: (0..CLOCKS).filter(|&clock| self.stands[index][clock]).map(rate).collect(),
            ..Location::default()
        };
        let reset = |&clock: &usize| Statement::Clock {
            clock: ClockCell::fixed(ClockId(clock as u32)),
            value: ClockValue::Constant(Expression::Constant(0)),
            place: 0..0,
        };
        let edge = |step: &Step| Edge {
            source: LocationId(step.from as u32),
            target: LocationId(step.to as u32),
            sync: Sync::Internal,
            guard: constraint(&step.guard),
            update: step.resets.iter().map(reset).collect(),
            locals: Vec::new(),
            place: 0..0,
        };
        Network {
            clocks: (0..CLOCKS).map(|clock| format!("x{clock}")).collect(),
            processes: vec![Process {
                name: "P".to_owned(),
                locations: (0..LOCATIONS).map(location).collect(),
                initial: vec![LocationId(0)],
                edges: self.steps.iter().map(edge).collect(),
                priority: 0,
            }],
            language: Language::Uppaal,
            ..Network::default()
        }
    }

    fn within(&self, location: usize, clocks: &[i64; CLOCKS]) -> bool {
        self.invariants[location].iter().all(|test| test.holds(clocks))
    }

    /// A small step of time. Values above all bounds are equivalent.
    fn wait(&self, location: usize, clocks: &[i64; CLOCKS]) -> Option<[i64; CLOCKS]> {
        let mut next = *clocks;
        for (clock, value) in next.iter_mut().enumerate() {
            if !self.stands[location][clock] {
                *value = (*value + 1).min((MOST + 1) * UNIT);
            }
        }
        self.within(location, &next).then_some(next)
    }

    fn take(&self, index: usize, location: usize, clocks: &[i64; CLOCKS]) -> Option<[i64; CLOCKS]> {
        let step = &self.steps[index];
        if step.from != location || !step.guard.iter().all(|test| test.holds(clocks)) {
            return None;
        }
        let mut next = *clocks;
        step.resets.iter().for_each(|&clock| next[clock] = 0);
        self.within(step.to, &next).then_some(next)
    }

    /// Everything reachable in small steps.
    fn reached(&self) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = vec![(0, [0; CLOCKS])];
        while let Some((location, clocks)) = open.pop() {
            if !self.within(location, &clocks) || !seen.insert((location, clocks)) {
                continue;
            }
            open.extend(self.wait(location, &clocks).map(|next| (location, next)));
            for (index, step) in self.steps.iter().enumerate() {
                open.extend(self.take(index, location, &clocks).map(|next| (step.to, next)));
            }
        }
        seen.into_iter().map(|(location, _)| location).collect()
    }

    /// Whether a sequence of steps can be taken with small delays between.
    fn follows(&self, path: &[usize]) -> bool {
        let mut now: BTreeSet<[i64; CLOCKS]> = BTreeSet::from([[0; CLOCKS]]);
        let mut location = 0;
        for &index in path {
            let mut open: Vec<[i64; CLOCKS]> = now.iter().copied().collect();
            while let Some(clocks) = open.pop() {
                open.extend(self.wait(location, &clocks).filter(|next| now.insert(*next)));
            }
            now = now.iter().filter_map(|clocks| self.take(index, location, clocks)).collect();
            location = self.steps[index].to;
        }
        !now.is_empty()
    }
}

/// The result of a search of the zone graph.
struct Found {
    /// Locations that zones reach.
    zones: BTreeSet<usize>,
    /// Those that a schedule confirms.
    real: BTreeSet<usize>,
    /// Paths without a schedule.
    unreal: Vec<Vec<usize>>,
}

/// Whether a run takes these choices, since zones may be approximate.
fn confirms(model: &TimedModel, choices: &[u32]) -> bool {
    let Some(approximation) = model.approximation() else { return true };
    approximation.confirms(choices, Claim::Reaches(None)).expect("an answer")
}

fn search(sketch: &Sketch, options: &Options, covering: bool) -> Option<Found> {
    let network = sketch.network();
    let names = Names::of(&network);
    let (model, _) = TimedModel::new("sketch", "", network, names, options).expect("explorable");
    let mut explorer = model.explorer();
    let mut out = Successors::new(model.info().width);
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut values = Vec::new();
    let mut found = Found { zones: BTreeSet::new(), real: BTreeSet::new(), unreal: Vec::new() };
    let mut kept: Vec<(Vec<u32>, Vec<u32>)> = vec![(initial, Vec::new())];
    let mut at = 0;
    while at < kept.len() {
        let (state, choices) = kept[at].clone();
        at += 1;
        if at > 3_000 {
            return None;
        }
        explorer.state_values(&state, &mut values);
        let location: usize = values[0][1..].parse().expect("a number");
        found.zones.insert(location);
        if confirms(&model, &choices) {
            found.real.insert(location);
        } else {
            found.unreal.push(edges(sketch, &model, &choices));
        }
        explorer.successors(&state, &mut out).expect("successors");
        let targets: Vec<Vec<u32>> = out.iter().map(|(_, target)| target.to_vec()).collect();
        for (choice, target) in targets.into_iter().enumerate() {
            let known = |old: &Vec<u32>, explorer: &mut dyn turnpike_model::Explorer| {
                *old == target
                    || (covering && explorer.covering().is_some_and(|covering| covering.covers(old, &target)))
            };
            if !kept.iter().any(|(old, _)| known(old, &mut *explorer)) {
                let longer = choices.iter().copied().chain([choice as u32]).collect();
                kept.push((target, longer));
            }
        }
    }
    Some(found)
}

/// The steps along a path. A step leads to one location, but several may lead to the same one:
/// tries all candidates.
fn edges(sketch: &Sketch, model: &TimedModel, choices: &[u32]) -> Vec<usize> {
    let mut explorer = model.explorer();
    let mut out = Successors::new(model.info().width);
    let (mut state, mut values, mut path) = (Vec::new(), Vec::new(), Vec::new());
    explorer.initial(&mut state).expect("an initial state");
    for &choice in choices {
        explorer.successors(&state, &mut out).expect("successors");
        explorer.state_values(&state, &mut values);
        let location: usize = values[0][1..].parse().expect("a number");
        // Successors come in the order of the steps, each at most once.
        let able: Vec<usize> =
            (0..sketch.steps.len()).filter(|&index| sketch.steps[index].from == location).collect();
        let mut position = 0;
        let mut targets = Vec::new();
        for (_, target) in out.iter() {
            explorer.state_values(target, &mut values);
            let to: usize = values[0][1..].parse().expect("a number");
            while sketch.steps[able[position]].to != to {
                position += 1;
            }
            targets.push(able[position]);
            position += 1;
        }
        path.push(targets[choice as usize]);
        state = out.state(choice as usize).to_vec();
    }
    path
}

#[test]
fn stopwatches_are_as_small_steps_say() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..700 {
        let sketch = Sketch::draw(seed);
        if !sketch.network().has_stopwatches() {
            continue;
        }
        let reached = sketch.reached();
        for (cover, covering) in [(Cover::Inclusion, false), (Cover::Inclusion, true), (Cover::Alu, true)] {
            let options = Options { cover, ..Options::default() };
            let Some(found) = search(&sketch, &options, covering) else { continue };
            assert!(found.zones.is_superset(&reached), "{seed}: {reached:?} {:?}", found.zones);
            assert!(found.zones.is_superset(&found.real));
            *counts.entry("searches").or_default() += 1;
            if found.zones != found.real {
                *counts.entry("spurious").or_default() += 1;
            }
            for path in found.unreal.iter().filter(|path| path.len() <= 6) {
                *counts.entry("paths without a schedule").or_default() += 1;
                assert!(!sketch.follows(path), "{seed}: {path:?} has a run");
            }
            if found.unreal.is_empty() {
                *counts.entry("exact").or_default() += 1;
            }
        }
    }
    assert!(counts["searches"] > 900 && counts["exact"] > 500, "{counts:?}");
    assert!(counts["paths without a schedule"] > 20 && counts["spurious"] > 5, "{counts:?}");
}
