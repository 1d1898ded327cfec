//! Accepting cycles: every algorithm against the closure of reachability, on random automata.

use std::sync::atomic::AtomicBool;

use turnpike_model::{
    Diagnostic, Explorer, Label, LabelId, LabelSetId, Model, ModelInfo, PredicateId, Predicates, StateLabels,
    StepError, Successors,
};
use turnpike_search::strategy::{Auto, Bfs, Dfs, Drs, Exhaustive, Fringe, Highway, LassoAlgorithm, Rdfs};
use turnpike_search::{
    Objective, RunReport, SearchError, SearchOptions, StopReason, StoreKind, Strategy, Verdict, judge,
    replay, search,
};

/// States are numbers, and carry the letters `p` (bit 0) and `q` (bit 1).
struct Automaton {
    info: ModelInfo,
    edges: Vec<Vec<u32>>,
    letters: Vec<u32>,
}

impl Automaton {
    fn new(edges: Vec<Vec<u32>>, letters: Vec<u32>) -> Self {
        let mut info = ModelInfo::new("automaton", 1);
        info.parameters = vec!["state".to_owned()];
        Automaton { info, edges, letters }
    }

    /// 5 to 60 states with few transitions, so that many are on no cycle.
    fn random(number: u64) -> Self {
        let mut x = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5151;
        let mut below = |bound: u32| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (((x >> 32) * u64::from(bound)) >> 32) as u32
        };
        let states = 5 + below(56);
        let density = 8 + below(16);
        let mut edges = vec![Vec::new(); states as usize];
        for _ in 0..states * density / 10 {
            let (from, to) = (below(states), below(states));
            // Mostly forwards.
            let (from, to) = if below(8) == 0 { (from, to) } else { (from.min(to), from.max(to)) };
            edges[from as usize].push(to);
        }
        edges[0].push(1 + below(states - 1));
        let rarity = 2 + below(8);
        let letters = (0..states).map(|_| u32::from(below(rarity) == 0) | u32::from(below(rarity) == 0) << 1);
        Automaton { letters: letters.collect(), ..Automaton::new(edges, Vec::new()) }
    }

    /// `reach[a][b]`: b is reached from a by at least one step.
    fn closure(&self) -> Vec<Vec<bool>> {
        let n = self.edges.len();
        let mut reach = vec![vec![false; n]; n];
        for (from, targets) in self.edges.iter().enumerate() {
            targets.iter().for_each(|&to| reach[from][to as usize] = true);
        }
        for middle in 0..n {
            for from in 0..n {
                for to in 0..n {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        reach
    }

    /// Whether a reachable cycle goes through each of these sets of states: those with all of the set's letters.
    fn has_cycle(&self, reach: &[Vec<bool>], sets: &[u32]) -> bool {
        let n = self.edges.len();
        (0..n).any(|on| {
            let together = |other: usize| other == on || reach[on][other] && reach[other][on];
            let meets = |set: u32| (0..n).any(|other| together(other) && self.letters[other] & set == set);
            (on == 0 || reach[0][on]) && reach[on][on] && sets.iter().all(|&set| meets(set))
        })
    }
}

impl Model for Automaton {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(View(self))
    }

    fn left_out(&self) -> Option<String> {
        None
    }
}

struct View<'m>(&'m Automaton);

impl Explorer for View<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.push(0);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        self.0.edges[state[0] as usize].iter().for_each(|&to| out.push(LabelId(0), &[to]));
        Ok(())
    }

    fn label(&mut self, _: LabelId) -> Label {
        Label::parse("step")
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        out.push(state[0].to_string());
    }

    fn predicates(&mut self) -> Option<&mut dyn Predicates> {
        Some(self)
    }

    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        Some(self)
    }
}

impl StateLabels for View<'_> {
    fn compile_labels(&mut self, text: &str) -> Result<LabelSetId, Diagnostic> {
        let mut letters = 0;
        for letter in text.split(',') {
            letters |= match letter.trim() {
                "p" => 1,
                "q" => 2,
                other => return Err(Diagnostic::error(format!("no letter {other}"))),
            };
        }
        Ok(LabelSetId(letters))
    }

    fn has_labels(&mut self, LabelSetId(letters): LabelSetId, state: &[u32]) -> bool {
        self.0.letters[state[0] as usize] & letters == letters
    }
}

impl Predicates for View<'_> {
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let number = text.strip_prefix("state == ").and_then(|number| number.parse::<u32>().ok());
        number.map(PredicateId).ok_or_else(|| Diagnostic::error("not a condition"))
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        Ok(state[0] == predicate.0)
    }
}

fn options(strategy: Strategy, objective: &str) -> SearchOptions {
    SearchOptions {
        objectives: vec![objective.parse().expect("an objective")],
        ..SearchOptions::new(strategy)
    }
}

fn run(model: &Automaton, options: &SearchOptions) -> RunReport {
    search(model, options, &|_| {}, &AtomicBool::new(false)).expect("a report").runs.remove(0)
}

fn refused(model: &Automaton, options: &SearchOptions) -> String {
    match search(model, options, &|_| {}, &AtomicBool::new(false)) {
        Err(SearchError::Usage(diagnostic)) => diagnostic.to_string(),
        other => panic!("{:?}", other.map(|report| report.verdict)),
    }
}

/// The witness is a path of the automaton, its end a cycle through the sets; and judged so from outside.
fn check_witness(model: &Automaton, report: &RunReport, sets: &[u32]) {
    let witness = report.witness.as_ref().expect("a witness");
    let number = |values: &turnpike_model::StateValues| values["state"].parse::<usize>().expect("a number");
    let mut states = vec![number(witness.initial.as_ref().expect("told"))];
    states.extend(witness.steps.iter().map(|step| number(step.state.as_ref().expect("told"))));
    assert_eq!(states[0], 0);
    for pair in states.windows(2) {
        assert!(model.edges[pair[0]].contains(&(pair[1] as u32)), "{states:?}");
    }
    let start = witness.loop_start.expect("a lasso");
    assert!(start + 1 < states.len() && states[start] == states[states.len() - 1], "{states:?} from {start}");
    for &set in sets {
        assert!(
            states[start..].iter().any(|&state| model.letters[state] & set == set),
            "{states:?} from {start}"
        );
    }
    let objective: Objective = report.objective.parse().expect("an objective");
    let replayed = replay(model, &witness.trace).expect("replays");
    assert!(replayed.divergence.is_none());
    assert_eq!(judge(model, &replayed, &objective, &[]).expect("judged"), Some(true));
}

fn ways() -> Vec<Strategy> {
    let children = Drs { fringe: Fringe::Children, walks: Some(1), ..Drs::default() };
    let algorithm = Some(LassoAlgorithm::Components);
    vec![
        Dfs::default().into(),
        Rdfs::default().into(),
        Dfs { algorithm }.into(),
        Rdfs { algorithm, ..Rdfs::default() }.into(),
        Bfs::default().into(),
        Drs::default().into(),
        children.into(),
        Auto.into(),
    ]
}

#[test]
fn all_algorithms_agree_with_the_closure_of_reachability() {
    let goals: [(&str, &[u32]); 4] =
        [("accepting p", &[1]), ("accepting p,q", &[3]), ("accepting p; q", &[1, 2]), ("accepting", &[0])];
    let mut met = [0; 4];
    for number in 0..1_000 {
        let model = Automaton::random(number);
        let reach = model.closure();
        for (goal, (objective, sets)) in goals.iter().enumerate() {
            let expected = model.has_cycle(&reach, sets);
            met[goal] += u32::from(expected);
            for strategy in ways() {
                let shorten = number % 2 == 0;
                let request = SearchOptions { shorten, seed: number, ..options(strategy.clone(), objective) };
                let report = run(&model, &request);
                let verdict = if expected { Verdict::Found } else { Verdict::None };
                assert_eq!(report.verdict, verdict, "model {number}, {objective}, {strategy:?}");
                if expected {
                    check_witness(&model, &report, sets);
                } else {
                    assert_eq!(report.stop, StopReason::Exhausted);
                }
            }
        }
    }
    assert!(met.iter().all(|&met| (100..900).contains(&met)), "{met:?} of 1000 have a cycle");
}

#[test]
fn every_search_ends_at_the_first_cycle() {
    // 1, 2 and 3 are a cycle that only the inner search closes, as neither end of the last step is accepting.
    let mut edges = vec![vec![1, 4], vec![2], vec![3], vec![1]];
    edges.extend((4..1_000).map(|state| vec![state + 1]));
    edges.push(Vec::new());
    let mut letters = vec![0; edges.len()];
    letters[2] = 1;
    let model = Automaton::new(edges, letters);
    let report = run(&model, &options(Strategy::from(Dfs::default()), "accepting p"));
    assert_eq!((report.verdict, report.states), (Verdict::Found, 4));
    // From the accepting state on it would be a step longer.
    let witness = report.witness.expect("a witness");
    assert_eq!((witness.length, witness.loop_start), (4, Some(1)));
}

#[test]
fn lassos_are_made_short() {
    // The first way that depth-first search tries goes round all states.
    let edges = (0..50).map(|state| vec![(state + 1) % 50, if state == 0 { 49 } else { 0 }]).collect();
    let model = Automaton::new(edges, (0..50).map(|state| u32::from(state == 49)).collect());
    let long = SearchOptions { shorten: false, ..options(Strategy::from(Dfs::default()), "accepting p") };
    assert_eq!(run(&model, &long).witness.expect("a witness").length, 50);
    let short =
        run(&model, &options(Strategy::from(Dfs::default()), "accepting p")).witness.expect("a witness");
    assert_eq!((short.length, short.original_length, short.loop_start), (3, 50, Some(1)));
}

#[test]
fn deep_systems_need_no_deep_stack() {
    let states = 100_000;
    let mut edges: Vec<Vec<u32>> = (1..states).map(|state| vec![state]).collect();
    edges.push(vec![7]);
    let mut letters = vec![0; states as usize];
    letters[20] = 1;
    let model = Automaton::new(edges, letters);
    for strategy in ways() {
        let request = SearchOptions { states_in_witness: false, ..options(strategy, "accepting p") };
        let witness = run(&model, &request).witness.expect("a witness");
        assert_eq!(witness.length - witness.loop_start.expect("a lasso"), states as usize - 7);
    }
}

#[test]
fn limits_leave_the_verdict_open_unless_a_cycle_is_stored() {
    let mut edges: Vec<Vec<u32>> = (1..100).map(|state| vec![state]).collect();
    edges.push(vec![99]);
    let model = Automaton::new(edges, vec![1; 100]);
    for strategy in ways() {
        let mut request = options(strategy.clone(), "accepting p");
        request.limits.depth = Some(99);
        let report = run(&model, &request);
        let told = (report.verdict, report.stop, report.states, report.depth);
        assert_eq!(told, (Verdict::Inconclusive, StopReason::MaxDepth, 99, 98), "{strategy:?}");
        request.limits.depth = None;
        request.limits.states = Some(99);
        assert_eq!(run(&model, &request).stop, StopReason::MaxStates, "{strategy:?}");
        request.limits.states = Some(100);
        assert_eq!(run(&model, &request).verdict, Verdict::Found, "{strategy:?}");
    }
    let cut = Drs { cutoff: Some(100), ..Drs::default() };
    let report = run(&model, &options(Strategy::from(cut), "accepting"));
    assert_eq!((report.verdict, report.states, report.generated), (Verdict::Inconclusive, 99, Some(100)));
}

#[test]
fn conditions_may_stand_for_labels() {
    let model = Automaton::new(vec![vec![1], vec![2, 1], vec![0]], vec![0, 1, 0]);
    let report = run(&model, &options(Strategy::from(Bfs::default()), "accepting p; state == 2"));
    assert_eq!(report.witness.expect("a witness").length, 4);
    assert_eq!(
        run(&model, &options(Strategy::from(Bfs::default()), "accepting state == 7")).verdict,
        Verdict::None
    );
    assert!(
        refused(&model, &options(Strategy::from(Bfs::default()), "accepting p,r")).contains("no letter r")
    );
    assert!(
        refused(&model, &options(Strategy::from(Bfs::default()), "accepting state = 2"))
            .contains("not a condition")
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let model = Automaton::random(0);
    let accepting = |strategy| options(strategy, "accepting p");
    for strategy in [Strategy::from(Highway { width: 3 }), Strategy::from(Exhaustive { depth: 5 })] {
        assert!(refused(&model, &accepting(strategy)).contains("use the strategy dfs"));
    }
    for (drs, flag) in [
        (Drs { literal: true, ..Drs::default() }, "`literal`"),
        (Drs { increment: Some(1), ..Drs::default() }, "`increment`"),
        (Drs { depth_aware: true, ..Drs::default() }, "`depth-aware`"),
        (Drs { anytime: true, ..Drs::default() }, "`anytime`"),
    ] {
        assert!(refused(&model, &accepting(Strategy::from(drs))).contains(flag));
    }
    let mut both = accepting(Strategy::from(Dfs::default()));
    both.objectives.push(Objective::deadlock());
    assert!(refused(&model, &both).contains("search for deadlock in a run of its own"));
    let covered = SearchOptions { cover: true, ..accepting(Strategy::from(Bfs::default())) };
    assert!(refused(&model, &covered).contains("covered"));
    let lossy = SearchOptions { store: StoreKind::Compact, ..accepting(Strategy::from(Dfs::default())) };
    assert!(refused(&model, &lossy).contains("compact"));
    let algorithm = Some(LassoAlgorithm::Nested);
    let wrong = accepting(Strategy::from(Bfs { algorithm }));
    assert!(refused(&model, &wrong).contains("algorithm scc"));
    let wrong = options(Strategy::from(Dfs { algorithm }), "accepting p; q");
    assert!(refused(&model, &wrong).contains("one set"));
    let wrong = options(Strategy::from(Dfs { algorithm }), "deadlock");
    assert!(refused(&model, &wrong).contains("algorithm"));
}
