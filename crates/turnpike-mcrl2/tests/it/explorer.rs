//! Requirements of searches: successors depend only on the state, states have the same meaning for
//! all explorers, and everything has a text.

use std::collections::{HashMap, HashSet};

use turnpike_mcrl2::explore::{LabelSource, Mcrl2Model, Options};
use turnpike_model::{Explorer, Model, Successors};

/// Components that communicate, data that grows, sums, conditions that are decided in advance,
/// functions, probabilities and time.
const SPECIFICATIONS: [&str; 5] = [
    "sort Fork = Pos; \
     act get, put, up, down, lock, free: Pos # Fork; eat: Pos; \
     map N: Pos; eqn N = 4; \
     proc Phil(n: Pos) = get(n, n) . get(n, if(n == N, 1, n + 1)) . eat(n) . put(n, n) . put(n, if(n == N, 1, n + 1)) . Phil(n); \
     Fork_(n: Fork) = sum p: Pos. up(p, n) . down(p, n) . Fork_(n); \
     init allow({lock, free, eat}, comm({get|up -> lock, put|down -> free}, \
       Phil(1) || Phil(2) || Phil(3) || Phil(4) || Fork_(1) || Fork_(2) || Fork_(3) || Fork_(4)));",
    "act push, pop: Nat; full; \
     proc Stack(l: List(Nat)) = sum n: Nat. (n < 3 && #l < 4) -> push(n) . Stack(n |> l) \
       + (l != []) -> pop(head(l)) . Stack(tail(l)) + (#l == 4) -> full . Stack([]); \
     init Stack([]);",
    "sort Colour = struct red | green | blue; \
     act paint: Nat # Colour; done: Set(Nat); \
     proc P(f: Nat -> Colour, s: FSet(Nat)) = \
       sum n: Nat, c: Colour. (n < 3 && f(n) != c) -> paint(n, c) . P(f[n -> c], s + {n}) \
       + (#s == 3) -> done(s) . P(lambda n: Nat. red, {}); \
     init P(lambda n: Nat. red, {});",
    "act roll: Nat; win, lose; \
     proc P(n: Nat) = roll(n) . dist k: Nat[if(k < 3, 1/3, 0)] . ((n + k > 5) -> win . P(0) <> (k == 0) -> lose . P(0) <> P(n + k)); \
     init P(0);",
    "act tick: Nat; late; \
     proc Clock(n: Nat) = (n < 5) -> tick(n) @ (2 * n + 1) . Clock(n + 1) + (n == 5) -> late @ 4 . delta; \
     init Clock(0);",
];

fn model(text: &str) -> Mcrl2Model {
    Mcrl2Model::new("test.mcrl2", text, &Options::default())
        .unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"))
        .0
}

/// Labels and targets.
type Steps = Vec<(String, Vec<u32>)>;

/// States in breadth-first order, with their transitions.
fn states(explorer: &mut dyn Explorer, most: usize) -> Vec<(Vec<u32>, Steps)> {
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut known: HashMap<Vec<u32>, ()> = HashMap::from([(state.clone(), ())]);
    let mut found = vec![(state, Vec::new())];
    let mut at = 0;
    while at < found.len() && at < most {
        let steps = steps(explorer, &found[at].0);
        for (_, target) in &steps {
            if known.insert(target.clone(), ()).is_none() {
                found.push((target.clone(), Vec::new()));
            }
        }
        found[at].1 = steps;
        at += 1;
    }
    found.truncate(at);
    found
}

fn steps(explorer: &mut dyn Explorer, state: &[u32]) -> Steps {
    let mut successors = Successors::new(state.len());
    explorer.successors(state, &mut successors).expect("successors");
    successors.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec())).collect()
}

#[test]
fn successors_depend_on_the_state_alone() {
    for text in SPECIFICATIONS {
        let model = model(text);
        let found = states(&mut *model.explorer(), 2000);
        assert!(found.len() > 5, "{text}");
        // Another explorer, in another order, for each state twice.
        let mut other = model.explorer();
        for (state, expected) in found.iter().rev().chain(found.iter().step_by(3)) {
            assert_eq!(&steps(&mut *other, state), expected, "{text}");
        }
    }
}

#[test]
fn states_mean_the_same_to_every_model() {
    for text in SPECIFICATIONS {
        let (one, other) = (model(text), model(text));
        let (mut here, mut there) = (one.explorer(), other.explorer());
        // The other model finds states in another order, so their words differ.
        states(&mut *here, 300);
        let (mut first, mut first_there) = (Vec::new(), Vec::new());
        here.initial(&mut first).expect("an initial state");
        there.initial(&mut first_there).expect("an initial state");
        let (mut known, mut hashes) = (HashSet::from([first.clone()]), HashMap::new());
        let mut open = vec![(first, first_there)];
        while let Some((state, same)) = open.pop() {
            assert_eq!(here.content_hash(&state), there.content_hash(&same), "{text}");
            assert_eq!(hashes.insert(here.content_hash(&state), state.clone()), None, "{text}");
            assert_eq!(bytes(&mut *here, &state), bytes(&mut *there, &same), "{text}");
            let (mut texts, mut texts_there) = (Vec::new(), Vec::new());
            here.state_values(&state, &mut texts);
            there.state_values(&same, &mut texts_there);
            assert_eq!(texts, texts_there);
            assert_eq!(texts.len(), one.info().parameters.len());
            let (steps, steps_there) = (steps(&mut *here, &state), steps(&mut *there, &same));
            assert_eq!(steps.len(), steps_there.len(), "{text}");
            for ((label, target), (label_there, target_there)) in steps.into_iter().zip(steps_there) {
                assert_eq!(label, label_there, "{text}");
                if known.len() < 300 && known.insert(target.clone()) {
                    open.push((target, target_there));
                }
            }
        }
    }
}

fn bytes(explorer: &mut dyn Explorer, state: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    explorer.encode(state, &mut bytes);
    bytes
}

#[test]
fn measures_and_predicates_agree() {
    let model = model(SPECIFICATIONS[1]);
    let mut explorer = model.explorer();
    let size = model.info().measure("#l").expect("the length of the list");
    let predicates = explorer.predicates().expect("conditions");
    let empty = predicates.compile("l == []").expect("compiles");
    let long = predicates.compile("exists k: Nat. k < #l && l . k == 2").expect("compiles");
    let (mut seen_empty, mut seen_two) = (0, 0);
    for (state, _) in states(&mut *model.explorer(), 2000) {
        let predicates = explorer.predicates().expect("conditions");
        let is_empty = predicates.holds(empty, &state).expect("a truth value");
        let has_two = predicates.holds(long, &state).expect("a truth value");
        let measures = explorer.measures().expect("measures");
        assert_eq!(is_empty, measures.measure(&state, size) == 0.0);
        let mut texts = Vec::new();
        explorer.state_values(&state, &mut texts);
        assert_eq!(
            has_two,
            texts.iter().any(|text| text.starts_with('[') && text.contains('2')),
            "{texts:?}"
        );
        seen_empty += usize::from(is_empty);
        seen_two += usize::from(has_two);
    }
    assert_eq!(seen_empty, 1);
    assert!(seen_two > 10);
    let predicates = explorer.predicates().expect("conditions");
    let error = predicates.compile("l + 1 == 2").expect_err("a mistake");
    assert!(error.span.is_some(), "{error:?}");
}

/// Arguments of labels, conditions and formulas add different functions to the program.
#[test]
fn what_was_requested_before_does_not_matter() {
    let text = "act a: Bool; proc P(x: Bool) = a(x) . P(!x); init P(true);";
    let (yes, no) = ("forall q: Nat. q <= q", "exists n: Nat. n < n");
    let (lists, sets) = ("[1, 2] ++ [3] == [1, 2, 3]", "{1, 2} - {1} == {3}");
    let orders =
        [[yes, no, lists, sets], [sets, lists, no, yes], [no, sets, yes, lists], [lists, yes, sets, no]];
    for (conditions, label) in
        orders.into_iter().flat_map(|order| [yes, no, lists].map(|label| (order, label)))
    {
        let model = std::sync::Arc::new(model(text));
        let vocabulary = model.vocabulary().expect("actions are known");
        let truth = if label == no { "false" } else { "true" };
        assert_eq!(vocabulary.normal_form(&format!("a({label})")), Some(format!("a({truth})")));
        let mut explorer = model.explorer();
        let (mut state, predicates) = (Vec::new(), explorer.predicates().expect("conditions"));
        let ids = conditions.map(|condition| {
            let id = predicates.compile(condition).expect("compiles");
            let formula = format!("val({condition}) && <a({label})>true");
            model.requirement(&formula, LabelSource::Own).expect("a formula");
            id
        });
        explorer.initial(&mut state).expect("a state");
        for (condition, id) in conditions.iter().zip(ids) {
            let holds = explorer.predicates().expect("conditions").holds(id, &state).expect("a truth value");
            assert_eq!(
                holds,
                [yes, lists].contains(condition),
                "{condition} in {conditions:?} after {label}"
            );
        }
    }
}

#[test]
fn facts_for_the_user() {
    let model = model(SPECIFICATIONS[0]);
    let info = model.info();
    assert_eq!(info.actions, ["eat", "free", "lock"]);
    assert_eq!(info.suggestions, ["deadlock"]);
    assert_eq!(info.parameters.len(), info.width);
    let options = Options { settings: vec![("N".to_owned(), "5".to_owned())], ..Options::default() };
    let (other, _) = Mcrl2Model::new("test.mcrl2", SPECIFICATIONS[0], &options).expect("no mistakes");
    assert_eq!(other.info().name, "test.mcrl2(N=5)");
    assert_ne!(other.info().fingerprint, info.fingerprint);
}

/// Several components: those that terminate, communicate depending on data, or have a stuck
/// condition, time, or probabilities.
const MORE: [&str; 4] = [
    "act a, b, c: Nat; d; \
     proc P(n: Nat) = (n < 3) -> a(n) . P(n + 1) + (n == 3) -> d; \
     Q(m: Nat) = (m < 2) -> sum k: Nat. (k < 3) -> b(k) . Q(m + 1) + (m > 0) -> d; \
     init hide({d}, allow({a, c, d, d|d}, comm({a|b -> c}, P(0) || Q(0) || P(2))));",
    "act go, stop: Nat; \
     proc P(n: Nat) = (head(tail([n])) == 1) -> go(n) . P(n) + (n < 4) -> stop(n) . (n == 2 || n == 3) -> P(n + 1) <> P(n + 2); \
     init P(1) || P(2);",
    "act tick: Nat; go; proc P(n: Nat) = (n < 3) -> tick(n) @ (n + 1) . P(n + 1); Q = go . Q; init P(0) || Q;",
    "act roll, hear: Nat; \
     proc P(n: Nat) = (n < 4) -> roll(n) . dist k: Nat[if(k < 2, 1/2, 0)] . P(n + k); Q(m: Nat) = sum k: Nat. (k < 2) -> hear(k) . Q(k); \
     init allow({roll|hear}, P(0) || block({hear}, Q(0)) || Q(1));",
];

#[test]
fn summands_on_demand_are_equivalent() {
    // The texts of states in the order of exploration: their sorted transitions, or the error.
    fn everything(text: &str, options: &Options) -> (Vec<String>, Vec<String>) {
        let (model, _) = Mcrl2Model::new("test.mcrl2", text, options).expect("no mistakes");
        let mut explorer = model.explorer();
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("an initial state");
        let mut known = HashSet::from([state.clone()]);
        let (mut rest, mut found) = (vec![state], Vec::new());
        while let Some(state) = rest.pop().filter(|_| found.len() < 500) {
            let mut successors = Successors::new(state.len());
            let mut texts = Vec::new();
            explorer.state_values(&state, &mut texts);
            let steps = match explorer.successors(&state, &mut successors) {
                Err(error) => error.to_string(),
                Ok(()) => {
                    let ended = !explorer.is_deadlock(&state, &successors);
                    let all = successors.iter().map(|(label, target)| (label, target.to_vec()));
                    let mut all: Vec<_> = all
                        .map(|(label, target)| {
                            let mut texts = Vec::new();
                            explorer.state_values(&target, &mut texts);
                            (explorer.label(label).text, texts, target)
                        })
                        .collect();
                    all.sort();
                    for (_, _, target) in &all {
                        if known.insert(target.clone()) {
                            rest.push(target.clone());
                        }
                    }
                    let all: Vec<_> = all.into_iter().map(|(label, texts, _)| (label, texts)).collect();
                    format!("{all:?} {ended}")
                }
            };
            found.push(format!("{texts:?}: {steps}"));
        }
        found.sort();
        (found, model.info().actions.clone())
    }
    let late = Options { combinations: Some(0), ..Options::default() };
    for text in std::iter::once(SPECIFICATIONS[0]).chain(MORE) {
        let (model, _) = Mcrl2Model::new("test.mcrl2", text, &late).expect("no mistakes");
        assert_eq!(model.summands(), None, "{text}");
        let (found, actions) = everything(text, &late);
        let (expected, visible) = everything(text, &Options::default());
        assert_eq!(found, expected, "{text}");
        assert!(visible.iter().all(|action| action == "Terminate" || actions.contains(action)), "{text}");
    }
}

/// A clock with which all components synchronise, each with its own period. There are too many
/// combinations of steps to create all of them.
#[test]
fn steps_of_many_components_with_many_edges_are_fast() {
    let waits: Vec<String> =
        (1..=12).map(|n| format!("(n == {n}) -> tick . W(id, if(n == 12, 1, n + 1))")).collect();
    let workers: Vec<String> = (1..=9).map(|id| format!("W({id}, 1)")).collect();
    let text = format!(
        "act done: Pos; tick; proc W(id, n: Pos) = {} + (n == 12) -> done(id) . W(id, 1); \
         init allow({{{}, done}}, {});",
        waits.join(" + "),
        ["tick"; 9].join("|"),
        workers.join(" || ")
    );
    let model = model(&text);
    assert_eq!(model.summands(), None);
    let found = states(&mut *model.explorer(), 700);
    // There are eleven ticks, and any subset of the workers restarts before the next one.
    assert_eq!(found[0].1.len(), 1);
    assert_eq!(found[11].1.len(), 10);
    assert!(found.len() > 500);
}
