//! A simple breadth-first search, and the comparison of a model with a typed model that is only for
//! tests.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::{Explorer, Label, LabelId, Model, Successors, Violation};

/// A built-in model with numeric settings.
pub(crate) fn build(name: &str, settings: &[(&str, u64)]) -> Box<dyn Model> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_string())).collect();
    turnpike_builtin::build(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// The results of a complete search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    pub(crate) deadlocks: usize,
    /// The number of levels, including that of the initial state.
    pub(crate) levels: usize,
    /// The level of the first deadlock, which is the number of steps to it.
    pub(crate) first_deadlock: Option<usize>,
    /// The level of the first violation.
    pub(crate) first_violation: Option<usize>,
}

/// Calls `visit` for all reachable states in breadth-first order, with their levels and
/// transitions.
pub(crate) fn explore(
    model: &dyn Model,
    mut visit: impl FnMut(&mut dyn Explorer, &[u32], usize, &Successors),
) -> usize {
    let mut explorer = model.explorer();
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    assert_eq!(initial.len(), model.info().width);
    let mut successors = Successors::new(model.info().width);
    let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
    let mut queue: VecDeque<(Box<[u32]>, usize)> = VecDeque::new();
    seen.insert(initial.clone().into());
    queue.push_back((initial.into(), 0));
    while let Some((state, level)) = queue.pop_front() {
        explorer.successors(&state, &mut successors).expect("successors");
        for (_, target) in successors.iter() {
            if !seen.contains(target) {
                seen.insert(target.into());
                queue.push_back((target.into(), level + 1));
            }
        }
        visit(&mut *explorer, &state, level, &successors);
    }
    seen.len()
}

/// The value of a measure in a state.
pub(crate) fn measure(explorer: &mut dyn Explorer, state: &[u32], index: usize) -> f64 {
    explorer.measures().expect("every built-in model has measures").measure(state, index)
}

/// The violation in a state.
pub(crate) fn violation(explorer: &mut dyn Explorer, state: &[u32]) -> Option<Violation> {
    explorer.violations()?.violation(state)
}

/// The counts of a complete search.
pub(crate) fn count(model: &dyn Model) -> Counts {
    let mut counts = Counts::default();
    counts.states = explore(model, |explorer, state, level, successors| {
        counts.transitions += successors.len();
        counts.levels = level + 1;
        if successors.is_empty() {
            assert!(explorer.is_deadlock(state, successors));
            counts.deadlocks += 1;
            counts.first_deadlock.get_or_insert(level);
        }
        if violation(explorer, state).is_some() {
            counts.first_violation.get_or_insert(level);
        }
    });
    counts
}

/// The text of the state's values.
pub(crate) fn text(explorer: &mut dyn Explorer, state: &[u32]) -> String {
    let mut values = Vec::new();
    explorer.state_values(state, &mut values);
    values.join(" ")
}

/// The texts of some values.
pub(crate) fn show<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// A typed model for comparison.
pub(crate) struct Naive<S, N, T> {
    pub(crate) initial: S,
    /// The labels and targets, in the documented order.
    pub(crate) next: N,
    /// The state's values, as printed by the built-in model.
    pub(crate) values: T,
}

/// Explores both models in parallel, and asserts that they have the same labels in the same order,
/// to states with the same text. Since different states of a model have different texts, the graphs
/// are isomorphic. Returns the number of states.
pub(crate) fn compare<S, N, T>(model: &dyn Model, naive: &Naive<S, N, T>) -> usize
where
    S: Clone + Eq + Hash,
    N: Fn(&S) -> Vec<(String, S)>,
    T: Fn(&S) -> Vec<String>,
{
    let name = &model.info().name;
    let mut explorer = model.explorer();
    let mut successors = Successors::new(model.info().width);
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut partner: FxHashMap<Vec<u32>, S> = FxHashMap::default();
    let mut texts: FxHashSet<String> = FxHashSet::default();
    let mut typed: FxHashSet<S> = FxHashSet::default();
    partner.insert(initial.clone(), naive.initial.clone());
    let mut queue = VecDeque::from([initial]);
    while let Some(state) = queue.pop_front() {
        let other = partner[&state].clone();
        let shown = text(&mut *explorer, &state);
        assert_eq!(shown, (naive.values)(&other).join(" "), "{name}");
        assert!(texts.insert(shown.clone()), "{name}: two states are shown as {shown}");
        assert!(typed.insert(other.clone()), "{name}: two packed states for {shown}");
        explorer.successors(&state, &mut successors).expect("successors");
        let expected = (naive.next)(&other);
        let labels: Vec<String> = successors.iter().map(|(label, _)| explorer.label(label).text).collect();
        let expected_labels: Vec<&str> = expected.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, expected_labels, "{name}: after {shown}");
        for ((_, target), (_, other_target)) in successors.iter().zip(expected) {
            match partner.get(target) {
                Some(known) => assert!(*known == other_target, "{name}: a step from {shown} leads elsewhere"),
                None => {
                    partner.insert(target.to_vec(), other_target);
                    queue.push_back(target.to_vec());
                }
            }
        }
    }
    partner.len()
}

/// Asserts the requirements of all models, on the first `limit` states of a breadth-first search.
pub(crate) fn check_promises(model: &dyn Model, limit: usize) {
    let info = model.info();
    let (mut first, mut second) = (model.explorer(), model.explorer());
    let (mut once, mut twice) = (Successors::new(info.width), Successors::new(info.width));
    let mut state = Vec::new();
    first.initial(&mut state).expect("an initial state");
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::from_iter([state.clone()]);
    let mut order = vec![state];
    let mut labels: FxHashMap<LabelId, Label> = FxHashMap::default();
    let mut values = Vec::new();
    let mut at = 0;
    while at < order.len() && at < limit {
        let state = order[at].clone();
        first.successors(&state, &mut once).expect("successors");
        for (label, target) in once.iter() {
            labels.entry(label).or_insert_with(|| first.label(label));
            if seen.insert(target.to_vec()) {
                order.push(target.to_vec());
            }
        }
        first.state_values(&state, &mut values);
        assert_eq!(values.len(), info.parameters.len(), "{}", info.name);
        for index in 0..info.measures.len() {
            let value = measure(&mut *first, &state, index);
            assert!(value.is_finite(), "{}: {}", info.name, info.measures[index].name);
        }
        at += 1;
    }
    // The results must not depend on earlier calls, so another explorer visits the states in
    // reverse order.
    for state in order[..at].iter().rev() {
        first.successors(state, &mut once).expect("successors");
        second.successors(state, &mut twice).expect("successors");
        assert!(once.iter().eq(twice.iter()), "{}: successors changed", info.name);
        assert_eq!(first.content_hash(state), second.content_hash(state));
    }
    let mut texts = FxHashSet::default();
    let mut ids: Vec<LabelId> = labels.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        let label = &labels[&id];
        assert_eq!(*label, second.label(id));
        assert_eq!(*label, Label::parse(&label.text));
        assert!(texts.insert(label.text.clone()), "{}: two ids for {}", info.name, label.text);
        for action in &label.actions {
            assert!(info.actions.contains(&action.name), "{}: {} is not announced", info.name, action.name);
            for argument in &action.arguments {
                assert!(argument.parse::<u32>().is_ok(), "{}: argument {argument}", info.name);
            }
        }
    }
}
