//! Against an oracle on integers: with closed bounds, a run exists if and only if one with integer
//! moments exists, and clock values above every constant are equivalent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use turnpike_model::{Model, Successors, hash};

use super::{Formula, LivenessModel};
use crate::explore::Options;
use crate::uppaal::{self, Format};

const CLOCKS: usize = 2;
const LOCATIONS: usize = 3;
/// An upper limit on constants.
const CAP: u32 = 4;

/// A pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> usize {
        self.0 = hash::mix(self.0, 0x9E37);
        (self.0 % bound) as usize
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// Bounds on a clock: at least, at most.
type Bounds = [(u32, Option<u32>); CLOCKS];

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Alone,
    Sends,
    Receives,
}

struct Edge {
    from: usize,
    to: usize,
    part: Part,
    guard: Bounds,
    resets: [bool; CLOCKS],
}

#[derive(Default)]
struct Process {
    invariants: Vec<Option<(usize, u32)>>,
    urgent: Vec<bool>,
    edges: Vec<Edge>,
}

/// Locations of the two processes, and the clocks.
type State = ([usize; 2], [u32; CLOCKS]);

/// `at` lists for each process the allowed locations; clocks are within bounds.
struct Claim {
    at: [[bool; LOCATIONS]; 2],
    bounds: Bounds,
}

fn within(bounds: &Bounds, clocks: &[u32; CLOCKS]) -> bool {
    bounds
        .iter()
        .zip(clocks)
        .all(|(&(low, high), &value)| value >= low && high.is_none_or(|high| value <= high))
}

impl Claim {
    fn holds(&self, (places, clocks): &State) -> bool {
        (0..2).all(|process| self.at[process][places[process]]) && within(&self.bounds, clocks)
    }

    fn text(&self) -> String {
        let mut parts = Vec::new();
        for process in 0..2 {
            let mut places: Vec<String> = (0..LOCATIONS)
                .filter(|&place| self.at[process][place])
                .map(|place| format!("P{process}.l{place}"))
                .collect();
            places.push("false".to_owned());
            parts.push(format!("({})", places.join(" or ")));
        }
        parts.extend(bounds_text(&self.bounds));
        parts.join(" and ")
    }
}

fn bounds_text(bounds: &Bounds) -> Vec<String> {
    let mut parts = Vec::new();
    for (clock, &(low, high)) in bounds.iter().enumerate() {
        if low > 0 {
            parts.push(format!("x{clock} >= {low}"));
        }
        parts.extend(high.map(|high| format!("x{clock} <= {high}")));
    }
    parts
}

fn bounds(numbers: &mut Numbers) -> Bounds {
    let mut bounds = [(0, None); CLOCKS];
    for bound in &mut bounds {
        match numbers.below(4) {
            0 => bound.0 = numbers.below(u64::from(CAP)) as u32,
            1 => bound.1 = Some(numbers.below(u64::from(CAP)) as u32),
            _ => {}
        }
    }
    bounds
}

fn claim(numbers: &mut Numbers, clocks: bool) -> Claim {
    let mut at = [[true; LOCATIONS]; 2];
    at.iter_mut().flatten().for_each(|place| *place = !numbers.chance(3));
    Claim { at, bounds: if clocks { bounds(numbers) } else { [(0, None); CLOCKS] } }
}

fn process(numbers: &mut Numbers) -> Process {
    let mut process = Process::default();
    for _ in 0..LOCATIONS {
        let bounded = numbers.chance(2);
        process.invariants.push(bounded.then(|| (numbers.below(CLOCKS as u64), numbers.below(4) as u32)));
        process.urgent.push(numbers.chance(8));
    }
    for _ in 0..1 + numbers.below(5) {
        process.edges.push(Edge {
            from: numbers.below(LOCATIONS as u64),
            to: numbers.below(LOCATIONS as u64),
            part: [Part::Alone, Part::Alone, Part::Sends, Part::Receives][numbers.below(4)],
            guard: bounds(numbers),
            resets: [numbers.chance(2), numbers.chance(2)],
        });
    }
    process
}

fn source(processes: &[Process; 2]) -> String {
    let mut text = "clock x0, x1; chan c;\n".to_owned();
    for (number, process) in processes.iter().enumerate() {
        let place = |place: usize| match process.invariants[place] {
            Some((clock, bound)) => format!("l{place} {{ x{clock} <= {bound} }}"),
            None => format!("l{place}"),
        };
        let places: Vec<String> = (0..LOCATIONS).map(place).collect();
        let _ = writeln!(text, "process P{number}() {{ state {};", places.join(", "));
        let urgent: Vec<String> =
            (0..LOCATIONS).filter(|&place| process.urgent[place]).map(|place| format!("l{place}")).collect();
        if !urgent.is_empty() {
            let _ = writeln!(text, "urgent {};", urgent.join(", "));
        }
        let edge = |edge: &Edge| {
            let mut parts = format!("l{} -> l{} {{ ", edge.from, edge.to);
            let guard = bounds_text(&edge.guard);
            if !guard.is_empty() {
                let _ = write!(parts, "guard {}; ", guard.join(" && "));
            }
            match edge.part {
                Part::Alone => {}
                Part::Sends => parts.push_str("sync c!; "),
                Part::Receives => parts.push_str("sync c?; "),
            }
            let resets: Vec<String> = (0..CLOCKS)
                .filter(|&clock| edge.resets[clock])
                .map(|clock| format!("x{clock} = 0"))
                .collect();
            if !resets.is_empty() {
                let _ = write!(parts, "assign {}; ", resets.join(", "));
            }
            parts + "}"
        };
        let edges: Vec<String> = process.edges.iter().map(edge).collect();
        let _ = writeln!(text, "init l0; trans {}; }}", edges.join(", "));
    }
    text + "system P0, P1;\n"
}

fn invariant(processes: &[Process; 2], (places, clocks): &State) -> bool {
    (0..2).all(|process| {
        processes[process].invariants[places[process]].is_none_or(|(clock, bound)| clocks[clock] <= bound)
    })
}

/// The possible steps, including the passing of time.
fn steps(processes: &[Process; 2], state: &State) -> Vec<State> {
    let (places, clocks) = state;
    let mut found = Vec::new();
    let enabled = |process: usize, part: Part| {
        let own = move |edge: &&Edge| {
            edge.from == places[process] && edge.part == part && within(&edge.guard, clocks)
        };
        processes[process].edges.iter().filter(own)
    };
    let after = |moves: &[(usize, &Edge)]| {
        let (mut places, mut clocks) = *state;
        for &(process, edge) in moves {
            places[process] = edge.to;
            (0..CLOCKS).filter(|&clock| edge.resets[clock]).for_each(|clock| clocks[clock] = 0);
        }
        (places, clocks)
    };
    for process in 0..2 {
        found.extend(enabled(process, Part::Alone).map(|edge| after(&[(process, edge)])));
        for sender in enabled(process, Part::Sends) {
            let other = 1 - process;
            found.extend(
                enabled(other, Part::Receives).map(|edge| after(&[(process, sender), (other, edge)])),
            );
        }
    }
    if !(0..2).any(|process| processes[process].urgent[places[process]]) {
        found.push((*places, clocks.map(|value| (value + 1).min(CAP))));
    }
    found.retain(|state| invariant(processes, state));
    found
}

/// All states reachable from some others by steps to allowed states.
fn reachable(
    processes: &[Process; 2],
    from: Vec<State>,
    allowed: &dyn Fn(&State) -> bool,
) -> BTreeMap<State, Vec<State>> {
    let mut graph = BTreeMap::new();
    let mut open = from;
    while let Some(state) = open.pop() {
        if graph.contains_key(&state) {
            continue;
        }
        let mut next = steps(processes, &state);
        next.retain(allowed);
        open.extend(next.iter().copied());
        graph.insert(state, next);
    }
    graph
}

/// Whether a run from one of these states stays in allowed states.
fn stays(processes: &[Process; 2], mut from: Vec<State>, allowed: &dyn Fn(&State) -> bool) -> bool {
    from.retain(allowed);
    let mut graph = reachable(processes, from, allowed);
    loop {
        let over = |(state, next): (&State, &Vec<State>)| {
            let stuck = steps(processes, state).is_empty();
            (!stuck && !next.iter().any(|next| graph.contains_key(next))).then_some(*state)
        };
        let ended: Vec<State> = graph.iter().filter_map(over).collect();
        if ended.is_empty() {
            return !graph.is_empty();
        }
        for state in &ended {
            graph.remove(state);
        }
    }
}

/// The same for runs along which time diverges, or that end.
fn stays_non_zeno(processes: &[Process; 2], mut from: Vec<State>, allowed: &dyn Fn(&State) -> bool) -> bool {
    from.retain(allowed);
    let graph = reachable(processes, from, allowed);
    graph.iter().any(|(state, next)| {
        let later = (state.0, state.1.map(|value| (value + 1).min(CAP)));
        let may_wait = !(0..2).any(|process| processes[process].urgent[state.0[process]]);
        let cycle = may_wait && next.contains(&later) && {
            reachable(processes, vec![later], allowed).contains_key(state)
        };
        cycle || steps(processes, state).is_empty()
    })
}

/// Whether the model has a cycle in the restricted part; `None` if it is rejected.
fn has_cycle(text: &str, formula: &str, non_zeno: bool) -> Option<bool> {
    let (network, names, _) =
        uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    let formula = Formula::read(&names, &network, formula).expect("a formula");
    let options = Options { non_zeno, ..Options::default() };
    let made = LivenessModel::new("test", text, &network, &names, &options, &formula);
    let (model, _) = match made {
        Ok(made) => made,
        Err(errors) => {
            assert!(errors[0].message.contains("several parts"), "{errors:?}");
            return None;
        }
    };
    let mut explorer = model.explorer();
    let mut out = Successors::new(model.info().width);
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut graph: BTreeMap<Vec<u32>, Vec<Vec<u32>>> = BTreeMap::new();
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        if graph.contains_key(&state) {
            continue;
        }
        if let Err(error) = explorer.successors(&state, &mut out) {
            assert!(error.message.contains("several parts"), "{error}");
            return None;
        }
        let next: Vec<Vec<u32>> = out.iter().map(|(_, target)| target.to_vec()).collect();
        open.extend(next.iter().cloned());
        graph.insert(state, next);
    }
    let accepting = explorer.predicates().expect("conditions").compile(&formula.text).expect("the formula");
    let mut holds = |state: &Vec<u32>| {
        explorer.predicates().expect("conditions").holds(accepting, state).expect("a value")
    };
    Some(graph.keys().any(|state| holds(state) && returns(&graph, state)))
}

/// Whether a path leads from a state back to it.
fn returns(graph: &BTreeMap<Vec<u32>, Vec<Vec<u32>>>, state: &Vec<u32>) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![state];
    while let Some(at) = open.pop() {
        open.extend(graph[at].iter().filter(|next| seen.insert(*next)));
    }
    seen.contains(state)
}

#[test]
fn runs_are_those_of_whole_numbers() {
    let (mut seen, mut zeno) = ([0; 2], 0);
    for seed in 0..600 {
        let mut numbers = Numbers(seed);
        let processes = [process(&mut numbers), process(&mut numbers)];
        let initial: State = ([0, 0], [0; CLOCKS]);
        if !invariant(&processes, &initial) {
            continue;
        }
        let text = source(&processes);
        let stay = claim(&mut numbers, true);
        let expected = stays(&processes, vec![initial], &|state| stay.holds(state));
        let formula = format!("E[] {}", stay.text());
        if let Some(found) = has_cycle(&text, &formula, false) {
            assert_eq!(found, expected, "seed {seed}: {formula} in\n{text}");
            seen[usize::from(found)] += 1;
            let lasting = stays_non_zeno(&processes, vec![initial], &|state| stay.holds(state));
            assert_eq!(has_cycle(&text, &formula, true), Some(lasting), "seed {seed}: {formula} in\n{text}");
            zeno += usize::from(found && !lasting);
        }
        // The conclusion has no clocks, so that its negation is closed.
        let (premise, conclusion) = (claim(&mut numbers, true), claim(&mut numbers, false));
        let starts = reachable(&processes, vec![initial], &|_| true).into_keys();
        let starts: Vec<State> = starts.filter(|state| premise.holds(state)).collect();
        let expected = stays(&processes, starts.clone(), &|state| !conclusion.holds(state));
        let formula = format!("not ({} --> {})", premise.text(), conclusion.text());
        if let Some(found) = has_cycle(&text, &formula, false) {
            assert_eq!(found, expected, "seed {seed}: {formula} in\n{text}");
            seen[usize::from(found)] += 1;
            let lasting = stays_non_zeno(&processes, starts, &|state| !conclusion.holds(state));
            assert_eq!(has_cycle(&text, &formula, true), Some(lasting), "seed {seed}: {formula} in\n{text}");
            zeno += usize::from(found && !lasting);
        }
    }
    assert!(zeno > 20, "some runs are Zeno only: {zeno}");
    assert!(seen.iter().all(|&count| count > 100), "both answers occur: {seen:?}");
}

/// Whether no transition is possible, now or after any delay.
fn is_dead(processes: &[Process; 2], state: &State) -> bool {
    let mut at = *state;
    loop {
        let later = (at.0, at.1.map(|value| (value + 1).min(CAP)));
        let next = steps(processes, &at);
        let waits =
            next.last() == Some(&later) && !(0..2).any(|process| processes[process].urgent[at.0[process]]);
        // The last step is a delay.
        if next.len() > usize::from(waits) {
            return false;
        }
        if !waits || later == at {
            return true;
        }
        at = later;
    }
}

#[test]
fn deadlocks_that_runs_get_to_are_those_of_whole_numbers() {
    let mut seen = [0; 2];
    for seed in 1000..1400 {
        let mut numbers = Numbers(seed);
        let processes = [process(&mut numbers), process(&mut numbers)];
        let initial: State = ([0, 0], [0; CLOCKS]);
        if !invariant(&processes, &initial) {
            continue;
        }
        let text = source(&processes);
        let stay = claim(&mut numbers, true);
        let lively = |state: &State| !is_dead(&processes, state);
        let all = reachable(&processes, vec![initial], &|_| true);
        let premise = claim(&mut numbers, true);
        let starts = |dead: bool| -> Vec<State> {
            all.keys().filter(|state| premise.holds(state) && (!dead || !lively(state))).copied().collect()
        };
        let other = claim(&mut numbers, false);
        for (formula, expected) in [
            ("E[] not deadlock".to_owned(), stays(&processes, vec![initial], &lively)),
            (
                format!("E[] {} and not deadlock", stay.text()),
                stays(&processes, vec![initial], &|state| stay.holds(state) && lively(state)),
            ),
            (format!("not ({} --> deadlock)", premise.text()), stays(&processes, starts(false), &lively)),
            (
                format!("not ({} --> ({} or deadlock))", premise.text(), other.text()),
                stays(&processes, starts(false), &|state| !other.holds(state) && lively(state)),
            ),
            (
                format!("E[] not ({} and deadlock)", other.text()),
                stays(&processes, vec![initial], &|state| !other.holds(state) || lively(state)),
            ),
            (
                format!("E[] ({} and (not deadlock or {}))", stay.text(), other.text()),
                stays(&processes, vec![initial], &|state| {
                    stay.holds(state) && (other.holds(state) || lively(state))
                }),
            ),
            (
                format!("not ({} --> ({} and deadlock))", premise.text(), other.text()),
                stays(&processes, starts(false), &|state| !other.holds(state) || lively(state)),
            ),
            (
                format!("not ({} and deadlock --> {})", premise.text(), other.text()),
                stays(&processes, starts(true), &|state| !other.holds(state)),
            ),
        ] {
            if let Some(found) = has_cycle(&text, &formula, false) {
                assert_eq!(found, expected, "seed {seed}: {formula} in\n{text}");
                seen[usize::from(found)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "both answers occur: {seen:?}");
}

#[test]
fn runs_that_get_to_a_deadlock() {
    let text = |place: &str, guard: &str| {
        format!(
            "clock x; process P() {{ state a {place}, b; init a; trans a -> b {{ guard {guard}; }}; }} system P;"
        )
    };
    // The invariant forces the process to a deadlock.
    assert_eq!(has_cycle(&text("{ x <= 3 }", "x >= 1"), "E[] not deadlock", false), Some(false));
    // It may wait forever, and could leave at any time.
    assert_eq!(has_cycle(&text("", "x >= 1"), "E[] not deadlock", false), Some(true));
    assert_eq!(has_cycle(&text("", "x >= 1"), "E[] P.a and not deadlock", false), Some(true));
    // Waiting forever misses the last moment to leave.
    assert_eq!(has_cycle(&text("", "x <= 2"), "E[] not deadlock", false), Some(false));
    assert_eq!(has_cycle(&text("", "x <= 2"), "E[] P.a", false), Some(true));
    assert_eq!(has_cycle(&text("", "x < 2"), "not (P.a --> deadlock)", false), Some(false));
    // Every run ends in b, or is stuck in a: `A<> P.b and deadlock` and its negation.
    assert_eq!(has_cycle(&text("{ x <= 3 }", "x >= 1"), "E[] not (P.b and deadlock)", false), Some(false));
    assert_eq!(has_cycle(&text("", "x <= 2"), "E[] not (P.b and deadlock)", false), Some(true));
    assert_eq!(has_cycle(&text("", "x <= 2"), "E[] not ((P.a or P.b) and deadlock)", false), Some(false));
    assert_eq!(has_cycle(&text("{ x <= 3 }", "x >= 1"), "E[] not (P.a and deadlock)", false), Some(true));
}

#[test]
fn small_formulas() {
    let text = "clock x; int n; process P() { state a { x <= 3 }, b, c { x <= 1 }; init a;
        trans a -> b { guard x >= 1; assign n = 1; }, b -> c { guard x == 1; }, c -> c { }; } system P;";
    for (formula, expected) in [
        // The invariant forces the process out of a.
        ("E[] P.a", false),
        // Time diverges in b.
        ("E[] P.a || P.b", true),
        ("E[] P.a || P.c", false),
        ("E[] n == 0", false),
        // Zeno: the loop of c takes no time, and cannot.
        ("not (P.c --> P.a)", true),
        ("not (P.a --> n == 1)", false),
        ("not (P.b --> P.c)", true),
        // Time leads out of it, though nothing else can happen.
        ("E[] x <= 2", true),
        ("not (P.b && x > 1 --> x > 5)", false),
        ("not (P.b && x > 1 --> x < 1)", true),
    ] {
        assert_eq!(has_cycle(text, formula, false), Some(expected), "{formula}");
    }
    assert_eq!(has_cycle(text, "E[] x < 1 || x > 2", false), None);
}
