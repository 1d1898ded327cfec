//! Deep Random Search: the published errors are reproduced by the literal variant and absent from the others.
//!
//! All seeds are fixed. Statistical bounds are stated where they are used.

use std::sync::atomic::AtomicBool;

use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::LabelId;
use turnpike_search::strategy::{Bfs, Drs, Fringe};
use turnpike_search::{
    Objective, RunReport, SearchError, SearchOptions, StopReason, StoreKind, Strategy, Verdict, search,
};

/// A system from its edges; `bad` is the label that most tests look for.
fn model(states: u32, edges: &[(u32, &str, u32)]) -> LtsModel {
    let mut labels: Vec<String> = edges.iter().map(|edge| edge.1.to_owned()).collect();
    labels.sort();
    labels.dedup();
    let id = |label: &str| LabelId(labels.iter().position(|known| known == label).expect("known") as u32);
    let step = |&(from, label, to): &(u32, &str, u32)| Transition { from, label: id(label), to };
    let transitions = edges.iter().map(step).collect();
    LtsModel::new("test", Lts { initial: 0, states, labels, transitions }).expect("consistent")
}

fn options(strategy: Strategy, objective: &str, seed: u64) -> SearchOptions {
    SearchOptions {
        objectives: vec![objective.parse().expect("an objective")],
        seed,
        shorten: false,
        ..SearchOptions::new(strategy)
    }
}

fn run(model: &LtsModel, options: &SearchOptions) -> RunReport {
    let mut report = search(model, options, &|_| {}, &AtomicBool::new(false)).expect("a report");
    report.runs.remove(0)
}

fn find(model: &LtsModel, drs: &Drs, objective: &str, seed: u64) -> RunReport {
    run(model, &options(Strategy::from(drs.clone()), objective, seed))
}

/// The length of the witness; `None` when absence was proved.
fn length(report: &RunReport) -> Option<usize> {
    match report.verdict {
        Verdict::Found => {
            assert_eq!(report.stop, StopReason::Found);
            Some(report.witness.as_ref().expect("a witness").length)
        }
        Verdict::None => {
            assert_eq!(report.stop, StopReason::Exhausted);
            None
        }
        other => panic!("{other:?} ({:?})", report.stop),
    }
}

fn plain() -> Drs {
    Drs::default()
}

fn literal() -> Drs {
    Drs { literal: true, ..plain() }
}

fn depth_aware(increment: u32) -> Drs {
    Drs { depth_aware: true, increment: Some(increment), ..plain() }
}

fn anytime() -> Drs {
    Drs { anytime: true, ..plain() }
}

fn children(drs: Drs) -> Drs {
    Drs { fringe: Fringe::Children, ..drs }
}

fn batches(drs: Drs) -> Drs {
    Drs { batch: Some(3), ..drs }
}

/// i, a, b, c, s, t, u, v: the short way to `bad` is i b s, the long one i a c s.
fn eight_states() -> LtsModel {
    let (i, a, b, c, s, t, u, v) = (0, 1, 2, 3, 4, 5, 6, 7);
    let edges = [(i, a), (i, b), (a, c), (c, s), (b, s), (s, u), (u, v), (v, i)];
    let mut edges: Vec<_> = edges.into_iter().map(|(from, to)| (from, "step", to)).collect();
    edges.push((s, "bad", t));
    model(8, &edges)
}

#[test]
fn the_printed_algorithm_is_not_optimal_with_increment_1() {
    let model = eight_states();
    let printed = Drs { increment: Some(1), ..literal() };
    let seeds = 2_000;
    let mut long = 0;
    for seed in 0..seeds {
        match length(&find(&model, &printed, "action bad", seed)) {
            Some(3) => {}
            Some(4) => long += 1,
            other => panic!("length {other:?}"),
        }
    }
    // A quarter: the detour first in pass 4 and again in pass 5. Four standard deviations are 3.9 percent.
    let share = f64::from(long) / seeds as f64;
    let deviation = (0.25 * 0.75 / seeds as f64).sqrt();
    assert!((share - 0.25).abs() < 4.0 * deviation, "{share} of the seeds gave a longer witness");
}

#[test]
fn the_repaired_variants_are_optimal_on_the_same_graph() {
    let model = eight_states();
    let increment_1 = Drs { increment: Some(1), ..plain() };
    let batched = batches(increment_1.clone());
    for drs in [
        depth_aware(1),
        anytime(),
        children(depth_aware(1)),
        children(anytime()),
        increment_1,
        batched,
        batches(anytime()),
    ] {
        for seed in 0..2_000 {
            assert_eq!(length(&find(&model, &drs, "action bad", seed)), Some(3), "{drs:?}, seed {seed}");
        }
    }
    // In a single pass the first hit counts, and half of the first walks take the detour.
    let detours =
        (0..2_000).filter(|&seed| length(&find(&model, &plain(), "action bad", seed)) == Some(4)).count();
    assert!((911..=1089).contains(&detours), "{detours} detours, four standard deviations from 1000 are 89");
}

#[test]
fn the_printed_algorithm_forgets_children_of_the_initial_state() {
    // Behind one child there is nothing, behind the other an error.
    let model = model(4, &[(0, "step", 1), (0, "step", 2), (1, "idle", 1), (2, "bad", 3)]);
    let one_walk = |drs: Drs| Drs { walks: Some(1), ..drs };
    let seeds = 2_000;
    let mut missed = 0;
    for seed in 0..seeds {
        let report = find(&model, &one_walk(literal()), "action bad", seed);
        if report.verdict == Verdict::Found {
            continue;
        }
        // The printed code says "no counter-example" here.
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::Finished));
        missed += 1;
    }
    // Four standard deviations from 1000 are 89.
    assert!((911..=1089).contains(&missed), "missed {missed} of {seeds}");
    for drs in [
        plain(),
        children(plain()),
        depth_aware(1),
        depth_aware(3),
        anytime(),
        children(anytime()),
        batches(plain()),
    ] {
        for seed in 0..seeds {
            assert_eq!(length(&find(&model, &one_walk(drs.clone()), "action bad", seed)), Some(2));
        }
    }
    // With all children walked, or none left over, even the printed code proves absence.
    for seed in 0..50 {
        assert_eq!(length(&find(&model, &literal(), "action absent", seed)), None);
        assert_eq!(length(&find(&model, &Drs { walks: Some(7), ..literal() }, "action absent", seed)), None);
    }
}

/// A generator for test systems, unrelated to the one under test.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}

/// A random digraph of 4 to 14 states, some edges of which are bad, often none of those reachable.
fn random_digraph(number: u64) -> LtsModel {
    let mut draw = Lcg(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678);
    let states = 4 + draw.below(11);
    let edges = states + draw.below(states + 4);
    let bad = draw.below(edges * 2);
    let edges: Vec<_> = (0..edges)
        .map(|edge| {
            let label = if edge == bad { "bad" } else { "step" };
            (draw.below(states), label, draw.below(states))
        })
        .collect();
    model(states, &edges)
}

#[test]
fn the_repaired_variants_agree_with_breadth_first_search() {
    let (mut reachable, mut longer_than_shortest) = (0, 0);
    for number in 0..3_000 {
        let model = random_digraph(number);
        for objective in ["action bad", "deadlock"] {
            let bfs = run(&model, &options(Strategy::from(Bfs::default()), objective, 0));
            let shortest = length(&bfs);
            let found = |drs: &Drs| {
                let report = find(&model, drs, objective, number);
                assert!(report.generated <= report.considered);
                let without_depth = drs.increment.is_none() || !(drs.depth_aware || drs.anytime);
                if shortest.is_none() && without_depth {
                    // Nothing is expanded twice, whatever the increment.
                    assert_eq!((report.states, report.considered), (bfs.states, bfs.considered), "{drs:?}");
                }
                length(&report)
            };
            for drs in [
                depth_aware(1),
                children(depth_aware(1)),
                anytime(),
                children(anytime()),
                batches(depth_aware(1)),
                batches(children(anytime())),
            ] {
                assert_eq!(found(&drs), shortest, "graph {number}, {objective}, {drs:?}");
            }
            for drs in [Drs { anytime: true, ..depth_aware(2) }, Drs { walks: Some(1), ..anytime() }] {
                assert_eq!(found(&drs), shortest, "graph {number}, {objective}, {drs:?}");
            }
            for drs in [depth_aware(3), children(depth_aware(3))] {
                let length = found(&drs);
                assert_eq!(length.is_some(), shortest.is_some());
                assert!(
                    length <= shortest.map(|d| d + 2),
                    "graph {number}, {objective}, {drs:?}: {length:?}"
                );
            }
            let increment = |increment| Drs { increment: Some(increment), ..plain() };
            for drs in [
                plain(),
                children(plain()),
                increment(2),
                Drs { walks: Some(1), ..plain() },
                batches(plain()),
                batches(increment(2)),
            ] {
                assert_eq!(found(&drs).is_some(), shortest.is_some(), "graph {number}, {objective}, {drs:?}");
            }
            // The printed code, all children walked: complete in one pass, not optimal with increment 1.
            let printed = find(&model, &literal(), objective, number);
            assert_eq!(length(&printed).is_some(), shortest.is_some(), "graph {number}, {objective}");
            let printed = find(&model, &Drs { increment: Some(1), ..literal() }, objective, number);
            reachable += u32::from(shortest.is_some());
            longer_than_shortest += u32::from(length(&printed) > shortest);
        }
    }
    assert!(reachable > 1_000, "only {reachable} objectives can be met");
    assert!((1..100).contains(&longer_than_shortest), "printed code too long on {longer_than_shortest}");
}

#[test]
fn cutoffs_are_told() {
    // A line of 6 states: `bad` is the fifth step.
    let model = model(6, &[(0, "a", 1), (1, "a", 2), (2, "a", 3), (3, "a", 4), (4, "bad", 5), (5, "a", 0)]);
    let with_cutoff = |drs: Drs, cutoff| Drs { cutoff: Some(cutoff), ..drs };
    for drs in
        [plain(), literal(), depth_aware(1), anytime(), children(plain()), depth_aware(4), batches(plain())]
    {
        // States at the cutoff are not expanded; the initial state has depth 1.
        let report = find(&model, &with_cutoff(drs.clone(), 5), "action bad", 1);
        assert_eq!((report.verdict, report.stop), (Verdict::Inconclusive, StopReason::MaxDepth), "{drs:?}");
        let report = find(&model, &with_cutoff(drs.clone(), 6), "action bad", 1);
        assert_eq!(length(&report), Some(5), "{drs:?}");
        // The engine's limit counts transitions.
        let mut limited = options(Strategy::from(drs.clone()), "action bad", 1);
        limited.limits.depth = Some(4);
        let report = run(&model, &limited);
        assert_eq!(
            (report.verdict, report.stop, report.depth),
            (Verdict::Inconclusive, StopReason::MaxDepth, 3)
        );
        limited.limits.depth = Some(0);
        let report = run(&model, &limited);
        assert_eq!((report.stop, report.states), (StopReason::MaxDepth, 0));
        limited.limits.depth = Some(5);
        assert_eq!(length(&run(&model, &limited)), Some(5));
    }
    // A cutoff between two multiples of the increment is used up, except by the printed code.
    let drs = Drs { increment: Some(4), ..plain() };
    assert_eq!(length(&find(&model, &with_cutoff(drs.clone(), 6), "action bad", 1)), Some(5));
    let report = find(&model, &with_cutoff(Drs { literal: true, ..drs }, 6), "action bad", 1);
    assert_eq!(report.stop, StopReason::MaxDepth);
    // The printed code expands the initial state whatever the cutoff.
    assert_eq!(find(&model, &with_cutoff(literal(), 1), "action bad", 1).states, 1);
    assert_eq!(find(&model, &with_cutoff(plain(), 1), "action bad", 1).states, 0);
}

#[test]
fn deadlocks_are_found_by_the_leaf_test_and_termination_is_none() {
    let model = model(4, &[(0, "a", 1), (1, "a", 0), (1, "Terminate", 2), (1, "b", 3)]);
    for drs in [plain(), literal(), depth_aware(1), anytime(), children(plain())] {
        for seed in 0..20 {
            assert_eq!(length(&find(&model, &drs, "deadlock", seed)), Some(2), "{drs:?}");
            let report = find(&model, &drs, "action absent", seed);
            assert_eq!(length(&report), None);
            // Both leaves are expanded once, and never generated.
            assert_eq!(
                (report.states, report.considered, report.generated),
                (4, Some(4), Some(2)),
                "{drs:?}"
            );
        }
    }
    let alone = LtsModel::new("alone", Lts { states: 1, ..Lts::default() }).expect("consistent");
    for drs in [plain(), literal(), depth_aware(1), anytime()] {
        assert_eq!(length(&find(&alone, &drs, "deadlock", 0)), Some(0));
    }
}

#[test]
fn limits_are_exact_and_seeds_repeat() {
    for number in 0..200 {
        let model = random_digraph(number);
        for drs in [
            plain(),
            literal(),
            depth_aware(1),
            depth_aware(3),
            anytime(),
            children(plain()),
            batches(plain()),
        ] {
            let full = options(Strategy::from(drs.clone()), "action bad", number);
            let report = run(&model, &full);
            let again = run(&model, &full);
            let facts = |report: &RunReport| {
                let steps = report.witness.as_ref().map(|witness| witness.trace.clone());
                let counts =
                    (report.states, report.transitions, report.considered, report.generated, report.depth);
                (report.verdict, report.stop, counts, report.actions.clone(), steps)
            };
            assert_eq!(facts(&report), facts(&again));
            for limit in 0..report.states {
                let mut limited = full.clone();
                limited.limits.states = Some(limit);
                let report = run(&model, &limited);
                assert_eq!(report.states, limit, "{drs:?}");
                assert_eq!(report.stop, StopReason::MaxStates);
                match report.verdict {
                    Verdict::Inconclusive => {}
                    // Found, but not yet proved shortest: the limit is what ended the search.
                    Verdict::Found => assert!(drs.anytime),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[test]
fn interrupts_end_the_search() {
    let model = eight_states();
    for drs in [plain(), literal(), depth_aware(1), anytime()] {
        let options = options(Strategy::from(drs), "action bad", 1);
        let report = search(&model, &options, &|_| {}, &AtomicBool::new(true)).expect("a report");
        assert_eq!((report.runs[0].stop, report.runs[0].states), (StopReason::Interrupted, 0));
    }
}

#[test]
fn anytime_minimises_every_objective_with_all() {
    // Two objectives, each with a detour, in one system.
    for number in 0..1_000 {
        let mut draw = Lcg(number ^ 0xabcd);
        let states = 5 + draw.below(8);
        let labels = ["step", "step", "step", "bad", "worse"];
        let edges: Vec<_> = (0..2 * states)
            .map(|_| (draw.below(states), labels[draw.below(5) as usize], draw.below(states)))
            .collect();
        let model = model(states, &edges);
        let names = ["action bad", "action worse"];
        let shortest =
            names.map(|name| length(&run(&model, &options(Strategy::from(Bfs::default()), name, 0))));
        let mut all = options(Strategy::from(anytime()), names[0], number);
        all.objectives = names.iter().map(|name| name.parse::<Objective>().expect("an objective")).collect();
        let either = run(&model, &all);
        assert_eq!(length(&either), shortest.iter().flatten().min().copied());
        all.all = true;
        let both = run(&model, &all);
        for (name, shortest) in names.into_iter().zip(shortest) {
            let witness = both.witnesses.iter().find(|witness| witness.objective == name);
            if both.stop == StopReason::Found || shortest.is_none() {
                assert_eq!(witness.map(|witness| witness.length), shortest, "{name} in graph {number}");
            } else {
                assert!(witness.is_some());
            }
        }
    }
}

#[test]
fn the_first_step_is_uniform_over_distinct_children() {
    // Children 1 to 6, of which 1 is reached by four transitions and 2 by two; each shows itself by its own label.
    let names = ["", "one", "two", "three", "four", "five", "six"];
    let mut edges = vec![(0, "a", 1), (0, "b", 1), (0, "c", 1), (0, "a", 1), (0, "b", 2)];
    for child in 1..=6 {
        edges.push((0, "a", child));
        edges.push((child, names[child as usize], child));
        edges.push((child, names[child as usize], 0));
    }
    let model = model(7, &edges);
    let runs = 6_000;
    for drs in [plain(), literal(), children(plain()), depth_aware(9)] {
        let mut counts = [0u32; 7];
        for seed in 0..runs {
            let mut two = options(Strategy::from(drs.clone()), "action absent", seed);
            two.limits.states = Some(2);
            let report = run(&model, &two);
            let chosen = (1..=6).find(|&child| report.actions.contains_key(names[child])).expect("a child");
            counts[chosen] += 1;
        }
        let expected = runs as f64 / 6.0;
        let chi: f64 = counts[1..].iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // Five degrees of freedom: 20.5 is exceeded by chance once in a thousand sets of seeds.
        assert!(chi < 20.5, "{drs:?}: chi-square {chi}, {counts:?}");
    }
}

#[test]
fn lossy_stores_are_refused() {
    let mut lossy = options(Strategy::from(plain()), "deadlock", 0);
    lossy.store = StoreKind::Compact;
    let outcome = search(&eight_states(), &lossy, &|_| {}, &AtomicBool::new(false));
    match outcome {
        Err(SearchError::Usage(diagnostic)) => {
            assert!(diagnostic.message.contains("compact"));
            assert!(diagnostic.help.is_some_and(|help| help.contains("exact or the tree store")));
        }
        other => panic!("{other:?}"),
    }
    lossy.store = StoreKind::Tree;
    assert!(length(&run(&eight_states(), &lossy)).is_some());
}
