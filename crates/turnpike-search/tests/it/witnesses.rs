//! Witnesses: as short as promised, without loops, and for errors that states show by themselves.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::{
    Explorer, Label, LabelId, Model, ModelInfo, StepError, Successors, Violation, ViolationKind, Violations,
    hash,
};
use turnpike_search::strategy::{
    Bfs, Dfs, Highway, HighwayApprox, HighwayIdeal, RandomWalk, Rdfs, Seen, Way,
};
use turnpike_search::{Limits, RunReport, SearchOptions, StopReason, Strategy, Verdict, search};

/// A pseudo-random system whose transition from `i` to `j` is called `i-j`.
fn random_system(seed: u64, states: u32, degree: u32) -> LtsModel {
    let (mut labels, mut transitions) = (Vec::new(), Vec::new());
    for from in 0..states {
        for number in 0..degree {
            let draw = hash::mix(seed, u64::from(from * degree + number));
            // Forwards by little, backwards by much: distances grow, and there are cycles.
            let to = match draw & 1 {
                0 => (from + 1 + (draw >> 8) as u32 % 3).min(states - 1),
                _ => (draw >> 8) as u32 % (from + 1),
            };
            transitions.push(Transition { from, label: LabelId(labels.len() as u32), to });
            labels.push(format!("{from}-{to}-{number}"));
        }
    }
    LtsModel::new("random", Lts { initial: 0, states, labels, transitions }).unwrap()
}

fn run(model: &dyn Model, strategy: Strategy, objective: &str, seed: u64) -> RunReport {
    let mut options = SearchOptions::new(strategy);
    options.objectives = vec![objective.parse().unwrap()];
    (options.seed, options.shorten) = (seed, false);
    options.limits = Limits { states: Some(20_000), ..Limits::default() };
    search(model, &options, &|_| {}, &AtomicBool::new(false)).unwrap().runs.remove(0)
}

/// A chain of thirty steps with a loop on the spot, without and with a short cut.
#[test]
fn a_path_without_choices_is_shortest_and_takes_no_shortening() {
    for (short_cut, length) in [(None, 30), (Some((5, 20)), 16)] {
        let steps = (0..30).map(|from| (from, from + 1)).chain([(3, 3)]).chain(short_cut);
        let transitions = steps.map(|(from, to)| Transition { from, label: LabelId(0), to }).collect();
        let lts = Lts { initial: 0, states: 31, labels: vec!["step".to_owned()], transitions };
        let model = LtsModel::new("chain", lts).unwrap();
        let mut options = SearchOptions::new(Strategy::from(Dfs::default()));
        options.objectives = vec!["deadlock".parse().unwrap()];
        let report = search(&model, &options, &|_| {}, &AtomicBool::new(false)).unwrap().runs.remove(0);
        let witness = report.witness.unwrap();
        assert_eq!((witness.length, witness.shortest), (length, Some(true)));
        assert_eq!(report.shorten_states == 0, short_cut.is_none());
    }
}

#[test]
fn breadth_first_witnesses_are_shortest() {
    let mut deepest = 0;
    for seed in 0..5 {
        let model = random_system(seed, 60, 3);
        for target in 0..60 {
            let depth = model.depth(target);
            // To the state itself, and along its first transition.
            for (objective, length) in [
                (format!("state bfs-depth == {}", depth.unwrap_or(1000)), depth),
                (format!("label {target}-*-0"), depth.map(|depth| depth + 1)),
            ] {
                let report = run(&model, Strategy::from(Bfs::default()), &objective, seed);
                let found = report.witness.map(|witness| witness.length as u32);
                assert_eq!(found, length, "{objective} of system {seed}");
                assert_eq!(report.verdict, if length.is_some() { Verdict::Found } else { Verdict::None });
                deepest = deepest.max(length.unwrap_or(0));
            }
        }
    }
    assert!(deepest >= 10, "the systems are shallow: {deepest}");
}

#[test]
fn full_width_highways_are_as_short_as_breadth_first() {
    let model = random_system(7, 60, 3);
    for target in (0..60).filter(|&target| model.depth(target).is_some()) {
        let objective = format!("label {target}-*-1");
        let shortest = run(&model, Strategy::from(Bfs::default()), &objective, 1).witness.unwrap().length;
        for strategy in [
            Strategy::from(Highway { width: 60 }),
            Strategy::from(HighwayIdeal { width: 60 }),
            Strategy::from(HighwayApprox { width: 60 }),
        ] {
            assert_eq!(run(&model, strategy, &objective, 1).witness.unwrap().length, shortest);
        }
    }
}

/// The lengths of the witnesses of 40 searches for `goal`, sorted, without repetitions.
fn lengths(model: &LtsModel, strategy: &Strategy) -> Vec<u64> {
    let report = |seed| run(model, strategy.clone(), "label goal", seed);
    let mut lengths: Vec<u64> = (0..40).map(|seed| report(seed).witness.unwrap().length as u64).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// From 0 to 2 directly or through 1, and from there to the goal.
fn detour() -> LtsModel {
    let transitions = [(0, 0, 1), (0, 0, 2), (1, 0, 2), (2, 1, 3)];
    let transitions = transitions.map(|(from, label, to)| Transition { from, label: LabelId(label), to });
    let labels = vec!["step".into(), "goal".into()];
    let lts = Lts { initial: 0, states: 4, labels, transitions: transitions.to_vec() };
    LtsModel::new("detour", lts).unwrap()
}

#[test]
fn walks_can_report_the_way_by_which_states_were_met_first() {
    let walk = |witness| Strategy::from(RandomWalk { witness, ..RandomWalk::default() });
    assert_eq!(lengths(&detour(), &walk(Way::LoopErased)), [2, 3]);
    assert_eq!(lengths(&detour(), &walk(Way::FirstMet)), [2]);
}

#[test]
fn considered_states_can_count_as_seen() {
    let rdfs = |seen| Strategy::from(Rdfs { seen, ..Rdfs::default() });
    assert_eq!(lengths(&detour(), &rdfs(Seen::Expanded)), [2, 3]);
    assert_eq!(lengths(&detour(), &rdfs(Seen::Considered)), [2]);
    // Nothing is left out.
    for seed in 0..5 {
        let model = random_system(seed, 60, 3);
        let whole = run(&model, rdfs(Seen::Expanded), "label none", seed);
        let same = run(&model, rdfs(Seen::Considered), "label none", seed);
        assert_eq!((same.verdict, same.states), (Verdict::None, whole.states), "system {seed}");
    }
}

#[test]
fn witnesses_have_no_loops() {
    let model = random_system(3, 40, 3);
    let (mut walks_were_longer, mut told) = (false, 0);
    let deep: Vec<u32> = (0..40).filter(|&state| model.depth(state).is_some_and(|depth| depth > 4)).collect();
    assert!(deep.len() > 3);
    for strategy in [
        Strategy::from(RandomWalk::default()),
        Strategy::from(RandomWalk { restart_depth: Some(200), ..Default::default() }),
        Strategy::from(Rdfs::default()),
        Strategy::from(Dfs::default()),
        Strategy::from(Highway { width: 3 }),
        Strategy::from(HighwayApprox { width: 3 }),
    ] {
        for (seed, target) in deep.iter().enumerate() {
            let report = run(&model, strategy.clone(), &format!("label {target}-*"), seed as u64);
            let Some(witness) = report.witness else { continue };
            told += 1;
            let mut seen = HashSet::from([witness.initial.as_ref().unwrap()["state"].to_owned()]);
            // All but the last step lead to new states; the last one may go anywhere.
            for step in &witness.steps[..witness.length - 1] {
                assert!(seen.insert(step.state.as_ref().unwrap()["state"].to_owned()), "{:?}", witness.steps);
            }
            assert!(witness.length <= 40);
            walks_were_longer |= report.states > 2 * witness.length as u64;
        }
    }
    assert!(told > 20 && walks_were_longer);
}

#[test]
fn a_walk_that_may_not_leave_the_start_ends() {
    let model = random_system(1, 10, 2);
    for restart in [false, true] {
        let mut options = SearchOptions::new(RandomWalk { restart, ..Default::default() });
        options.limits.depth = Some(0);
        let report = search(&model, &options, &|_| {}, &AtomicBool::new(false)).unwrap().runs.remove(0);
        assert_eq!((report.stop, report.states), (StopReason::MaxDepth, 0));
    }
}

/// A counter that steps up to `end`; one of its values shows an error.
struct Faulty {
    info: ModelInfo,
    at: u32,
    kind: ViolationKind,
    end: u32,
}

impl Model for Faulty {
    fn info(&self) -> &ModelInfo {
        &self.info
    }
    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(Counting(self))
    }

    fn left_out(&self) -> Option<String> {
        None
    }
}

struct Counting<'a>(&'a Faulty);

impl Explorer for Counting<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        *out = vec![0];
        Ok(())
    }
    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if state[0] < self.0.end {
            out.push(LabelId(0), &[state[0] + 1]);
        }
        Ok(())
    }
    fn label(&mut self, _: LabelId) -> Label {
        Label::parse("step")
    }
    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        *out = vec![state[0].to_string()];
    }
    fn violations(&mut self) -> Option<&mut dyn Violations> {
        Some(self)
    }
}

impl Violations for Counting<'_> {
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        (state[0] == self.0.at).then(|| Violation { kind: self.0.kind, message: "too far".to_owned() })
    }
}

#[test]
fn any_error_is_a_deadlock_or_a_serious_violation() {
    use ViolationKind::{Assertion, Crash, Heap, Leak, Panic, Race};
    for kind in [Assertion, Panic, Crash, Heap, Race, Leak] {
        let mut info = ModelInfo::new("faulty", 1);
        info.parameters = vec!["count".to_owned()];
        let model = Faulty { info, at: 3, kind, end: 9 };
        let serious = !matches!(kind, Race | Leak);
        for strategy in [
            Strategy::from(Bfs::default()),
            Strategy::from(Rdfs::default()),
            Strategy::from(Highway { width: 2 }),
        ] {
            // Seen as soon as the state is considered, or else the deadlock at the end.
            let report = run(&model, strategy.clone(), "any-error", 1);
            let expected = if serious { (3, 3) } else { (9, 10) };
            assert_eq!((report.witness.unwrap().length, report.states), expected, "{kind:?}");
            let report = run(&model, strategy.clone(), kind.keyword(), 1);
            assert_eq!((report.witness.unwrap().length, report.states), (3, 3), "{kind:?}");
            let other = if kind == Panic { "crash" } else { "panic" };
            assert_eq!(run(&model, strategy, other, 1).verdict, Verdict::None, "{kind:?}");
        }
    }
}

#[test]
fn an_error_in_the_initial_state_needs_no_step() {
    let model = Faulty { info: ModelInfo::new("faulty", 1), at: 0, kind: ViolationKind::Assertion, end: 2 };
    let report = run(&model, Strategy::from(Bfs::default()), "any-error", 1);
    assert_eq!((report.verdict, report.states, report.witness.unwrap().length), (Verdict::Found, 0, 0));
}
