//! The explored part of a system as a picture: states in layers by their distance from the initial
//! state, transitions between the same two states as one edge.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use turnpike_lts::{DEFAULT_LIMIT, Equivalence, Lts, Transition, partition};
use turnpike_model::{LabelId, Model, Successors, Trace};
use turnpike_session::{
    Event, Plan, Problem, Search, Simulation, StrategyChoice, Visit, replay, without_abstractions,
};

use crate::layout;
use crate::refusal::Refusal;

/// Bounds on what is explored for a picture.
const MOST_EXPANDED: usize = 3000;
const MOST_NODES: usize = 6000;
const MOST_EDGES: usize = 30_000;
const MOST_TIME: Duration = Duration::from_secs(5);
/// Labels of an edge that are listed.
const LISTED_LABELS: usize = 12;

/// What to draw.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    /// States to expand, in the order of a breadth-first search.
    limit: usize,
    /// More states to expand, by their numbers in the picture before.
    expand: Vec<u32>,
    /// A parameter by whose value states are coloured.
    colour: Option<String>,
    /// A parameter: states with the same value become one.
    collapse: Option<String>,
    /// States that can do the same become one; for systems that were explored completely.
    bisimilar: bool,
    /// The levels of a highway search of this width are drawn: only states that it chose are expanded.
    highway: Option<u64>,
    /// The seed of that search.
    seed: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Whether all reachable states were expanded.
    complete: bool,
    /// Distinct values of the colour, in the order in which they were met.
    colours: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Node {
    x: f64,
    y: f64,
    depth: u32,
    /// How many states it stands for.
    states: u32,
    expanded: bool,
    deadlock: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The choices from the initial state to the first state it stands for.
    choices: Vec<u32>,
    /// The number of that state, for asking to expand it.
    state: u32,
    /// Hashes of the states it stands for, to find the one that is looked at.
    hashes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Edge {
    from: u32,
    to: u32,
    labels: Vec<String>,
    /// Transitions that it stands for.
    transitions: u32,
}

/// The states that were explored.
struct Explored {
    states: IndexSet<Vec<u32>>,
    found: Vec<Found>,
    /// Hashes of what the states mean.
    hashes: Vec<u64>,
    transitions: Vec<(u32, u32, u32)>,
    labels: IndexSet<String>,
}

#[derive(Default)]
struct Found {
    /// The state before, and the choice that leads here from it.
    from: Option<(u32, u32)>,
    depth: u32,
    expanded: bool,
    deadlock: bool,
}

/// Explores and arranges what was asked for.
pub(crate) fn draw(model: &Arc<dyn Model>, asked: &Asked) -> Result<Graph, Refusal> {
    let levels = asked.highway.map(|width| chosen_levels(model, width, asked)).transpose()?;
    let model = &**model;
    let parameter = |name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => {
            let place = model.info().parameters.iter().position(|one| one == name);
            place.map(Some).ok_or_else(|| Refusal::wrong(format!("there is no parameter `{name}`")))
        }
    };
    let (colour, collapse) = (parameter(&asked.colour)?, parameter(&asked.collapse)?);
    let mut explorer = model.explorer();
    let explored = explore(model, &mut *explorer, asked, levels.as_deref())?;
    let mut texts = |parameter: Option<usize>| -> Option<Vec<String>> {
        let parameter = parameter?;
        let mut values = Vec::new();
        let mut text = |state: &Vec<u32>| {
            explorer.state_values(state, &mut values);
            values.get(parameter).cloned().unwrap_or_default()
        };
        Some(explored.states.iter().map(&mut text).collect())
    };
    let (colours, names) = (texts(colour), texts(collapse));
    let complete = explored.found.iter().all(|found| found.expanded);
    let classes: Vec<usize> = match (&names, asked.bisimilar) {
        (Some(names), _) => {
            let mut known = IndexSet::new();
            names.iter().map(|name| known.insert_full(name.as_str()).0).collect()
        }
        (None, true) if !complete => {
            return Err(Refusal::wrong(
                "only a system that is explored completely can be reduced: expand more",
            ));
        }
        (None, true) => bisimilarity(&explored),
        (None, false) => (0..explored.found.len()).collect(),
    };
    Ok(arrange(&explored, &classes, colours.as_deref(), names.as_deref(), complete))
}

/// The way along choices, as a trace that another view of the system can follow.
pub(crate) fn trace_to(model: &dyn Model, choices: &[u32]) -> Result<Trace, Refusal> {
    let mut simulation = Simulation::new(model)?;
    let (visit, outcome) = simulation.follow(Visit::INITIAL, choices);
    outcome?;
    Ok(without_abstractions(model, simulation.trace(visit)))
}

/// The hash of the state that a trace of another view leads to, if this one has it.
pub(crate) fn hash_at(model: &dyn Model, trace: &Trace) -> Result<Option<u64>, Refusal> {
    let replayed = replay(model, trace)?;
    if replayed.divergence.is_some() {
        return Ok(None);
    }
    let choices: Vec<u32> = replayed.trace.steps.iter().filter_map(|step| step.choice).collect();
    let mut simulation = Simulation::new(model)?;
    let (visit, outcome) = simulation.follow(Visit::INITIAL, &choices);
    outcome?;
    Ok(Some(simulation.content_hash(visit)))
}

/// The states that a highway search chooses, by their content hashes: those at distance 1 first.
fn chosen_levels(model: &Arc<dyn Model>, width: u64, asked: &Asked) -> Result<Vec<FxHashSet<u64>>, Refusal> {
    let mut search =
        Search { strategy: StrategyChoice::named("highway").with("width", width), ..Search::default() };
    // Nothing that is looked for ends it.
    search.goals.find.push("cover *".parse()?);
    search.limits.states = Some(asked.limit.clamp(1, MOST_EXPANDED) as u64);
    search.running.seed = asked.seed;
    let plan = Plan::of_model(Arc::clone(model), &search)?.tell_levels();
    let levels = Mutex::new(Vec::new());
    let hear = |event: &Event| {
        if let Event::Level { states, .. } = event {
            let level = states.iter().copied().collect();
            levels.lock().unwrap_or_else(PoisonError::into_inner).push(level);
        }
    };
    plan.run(&hear, &AtomicBool::new(false)).map_err(Problem::from)?;
    Ok(levels.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn explore(
    model: &dyn Model,
    explorer: &mut dyn turnpike_model::Explorer,
    asked: &Asked,
    levels: Option<&[FxHashSet<u64>]>,
) -> Result<Explored, Refusal> {
    let started = Instant::now();
    let mut explored = Explored {
        states: IndexSet::new(),
        found: vec![Found::default()],
        hashes: Vec::new(),
        transitions: Vec::new(),
        labels: IndexSet::new(),
    };
    let mut initial = Vec::new();
    explorer.initial(&mut initial)?;
    explored.states.insert(initial);
    let mut successors = Successors::new(model.info().width);
    let mut next = 0;
    let mut expanded = 0;
    let limit = asked.limit.clamp(1, MOST_EXPANDED);
    let mut extra = asked.expand.iter().copied();
    while explored.states.len() < MOST_NODES
        && explored.transitions.len() < MOST_EDGES
        && started.elapsed() < MOST_TIME
    {
        let in_order = expanded < limit && next < explored.states.len();
        let at = if in_order {
            next += 1;
            next - 1
        } else {
            match extra.next() {
                Some(state) => state as usize,
                None => break,
            }
        };
        if explored.found.get(at).is_none_or(|found| found.expanded) {
            continue;
        }
        // What people ask to expand need not be a state that the highway chose.
        if let (Some(levels), true) = (levels, in_order) {
            let depth = explored.found[at].depth as usize;
            let hash = explorer.content_hash(&explored.states[at]);
            if depth > 0 && !levels.get(depth - 1).is_some_and(|level| level.contains(&hash)) {
                continue;
            }
        }
        expanded += 1;
        explored.expand(explorer, at, &mut successors)?;
    }
    explored.hashes = explored.states.iter().map(|state| explorer.content_hash(state)).collect();
    Ok(explored)
}

impl Explored {
    fn expand(
        &mut self,
        explorer: &mut dyn turnpike_model::Explorer,
        at: usize,
        successors: &mut Successors,
    ) -> Result<(), Refusal> {
        explorer.successors(&self.states[at], successors)?;
        self.found[at].deadlock = explorer.is_deadlock(&self.states[at], successors);
        self.found[at].expanded = true;
        let depth = self.found[at].depth + 1;
        for index in 0..successors.len() {
            let label = explorer.label(successors.label(index)).text;
            let label = self.labels.insert_full(label).0 as u32;
            let (to, new) = self.states.insert_full(successors.state(index).to_vec());
            if new {
                let from = Some((at as u32, index as u32));
                self.found.push(Found { from, depth, ..Found::default() });
            }
            self.transitions.push((at as u32, label, to as u32));
        }
        Ok(())
    }

    fn choices(&self, state: usize) -> Vec<u32> {
        let mut choices = Vec::new();
        let mut at = state;
        while let Some((before, choice)) = self.found[at].from {
            choices.push(choice);
            at = before as usize;
        }
        choices.reverse();
        choices
    }
}

fn bisimilarity(explored: &Explored) -> Vec<usize> {
    let lts = Lts {
        initial: 0,
        states: explored.found.len() as u32,
        labels: explored.labels.iter().cloned().collect(),
        transitions: explored
            .transitions
            .iter()
            .map(|&(from, label, to)| Transition { from, label: LabelId(label), to })
            .collect(),
    };
    let classes = partition(&lts, Equivalence::Strong, DEFAULT_LIMIT);
    let classes = classes.expect("strong bisimilarity needs no limit");
    classes.block_of.iter().map(|&block| block as usize).collect()
}

/// Merges the states of each class, and gives them places.
fn arrange(
    explored: &Explored,
    classes: &[usize],
    colours: Option<&[String]>,
    names: Option<&[String]>,
    complete: bool,
) -> Graph {
    let mut palette: IndexSet<&str> = IndexSet::new();
    // Numbers of nodes in the order in which their first states were met.
    let mut numbers: IndexMap<usize, usize> = IndexMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    for (state, found) in explored.found.iter().enumerate() {
        let colour = colours.map(|colours| palette.insert_full(colours[state].as_str()).0);
        let number = *numbers.entry(classes[state]).or_insert(nodes.len());
        let hash = format!("{:016x}", explored.hashes[state]);
        if number == nodes.len() {
            nodes.push(Node {
                x: 0.0,
                y: 0.0,
                depth: 0,
                states: 1,
                expanded: found.expanded,
                deadlock: found.deadlock,
                colour,
                text: names.map(|names| names[state].clone()),
                choices: explored.choices(state),
                state: state as u32,
                hashes: vec![hash],
            });
        } else {
            let node = &mut nodes[number];
            node.states += 1;
            node.hashes.push(hash);
            node.expanded &= found.expanded;
            node.deadlock |= found.deadlock;
        }
    }
    let number = |state: u32| numbers[&classes[state as usize]] as u32;
    let mut edges: IndexMap<(u32, u32), Edge> = IndexMap::new();
    for &(from, label, to) in &explored.transitions {
        let (from, to) = (number(from), number(to));
        let new = || Edge { from, to, labels: Vec::new(), transitions: 0 };
        let edge = edges.entry((from, to)).or_insert_with(new);
        edge.transitions += 1;
        let label = &explored.labels[label as usize];
        if edge.labels.len() < LISTED_LABELS && !edge.labels.contains(label) {
            edge.labels.push(label.clone());
        }
    }
    let pairs: Vec<(u32, u32)> = edges.keys().copied().collect();
    for (node, place) in nodes.iter_mut().zip(layout::places(numbers.len(), &pairs)) {
        (node.x, node.y, node.depth) = (place.x, place.y, place.depth);
    }
    Graph {
        nodes,
        edges: edges.into_values().collect(),
        complete,
        colours: palette.into_iter().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::COLUMN;
    use std::collections::BTreeSet;

    fn philosophers(n: u32) -> Arc<dyn Model> {
        turnpike_builtin::build("philosophers", &[("n".into(), n.to_string())]).expect("builds").into()
    }

    fn graph(model: &Arc<dyn Model>, asked: &Asked) -> Graph {
        draw(model, asked).expect("drawn")
    }

    #[test]
    fn layers_are_distances_and_nothing_overlaps() {
        let model = philosophers(3);
        let all = graph(&model, &Asked { limit: 1000, ..Asked::default() });
        assert!(all.complete);
        let places: BTreeSet<(i64, i64)> =
            all.nodes.iter().map(|node| (node.x as i64, node.y as i64)).collect();
        assert_eq!(places.len(), all.nodes.len());
        for one in &all.nodes {
            let beside = all.nodes.iter().filter(|other| other.state != one.state && other.y == one.y);
            for other in beside {
                assert!((other.x - one.x).abs() >= COLUMN - 0.01, "{} and {}", one.state, other.state);
            }
        }
        let deadlocks: Vec<&Node> = all.nodes.iter().filter(|node| node.deadlock).collect();
        assert!(matches!(deadlocks[..], [Node { depth: 3, .. }]), "all hold one fork");
        for edge in &all.edges {
            let (from, to) = (&all.nodes[edge.from as usize], &all.nodes[edge.to as usize]);
            assert!(to.depth <= from.depth + 1);
        }
        for node in &all.nodes {
            assert_eq!(node.choices.len(), node.depth as usize);
        }
    }

    #[test]
    fn a_part_grows_where_it_is_asked_to() {
        let model = philosophers(3);
        let part = graph(&model, &Asked { limit: 1, ..Asked::default() });
        assert!(!part.complete);
        assert_eq!(part.nodes.iter().filter(|node| node.expanded).count(), 1);
        let more = graph(&model, &Asked { limit: 1, expand: vec![2, 999], ..Asked::default() });
        assert_eq!(more.nodes.iter().filter(|node| node.expanded).count(), 2);
        assert!(more.nodes[2].expanded && !more.nodes[1].expanded);
    }

    #[test]
    fn a_state_that_a_highway_left_out_can_be_expanded() {
        let model = philosophers(5);
        let asked = |expand: Vec<u32>| Asked { limit: 60, highway: Some(2), expand, ..Asked::default() };
        let before = graph(&model, &asked(Vec::new()));
        let open = before.nodes.iter().find(|node| !node.expanded).expect("a state that was left out");
        let after = graph(&model, &asked(vec![open.state]));
        assert!(after.nodes[open.state as usize].expanded);
    }

    #[test]
    fn a_highway_expands_at_most_its_width_in_each_level() {
        let model = philosophers(5);
        let asked = Asked { limit: 60, highway: Some(3), seed: 1, ..Asked::default() };
        let highway = graph(&model, &asked);
        let depth = highway.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        assert!(depth >= 4, "it goes deep: {depth}");
        for level in 0..=depth {
            let nodes = highway.nodes.iter().filter(|node| node.depth == level);
            let (expanded, all) =
                nodes.fold((0, 0), |(some, all), node| (some + u32::from(node.expanded), all + 1));
            assert!(expanded <= 3, "level {level}: {expanded} of {all}");
        }
        let wide = graph(&model, &Asked { limit: 60, ..Asked::default() });
        assert!(wide.nodes.iter().map(|node| node.depth).max() < Some(depth));
    }

    #[test]
    fn states_with_the_same_value_become_one() {
        let model = philosophers(3);
        let name = model.info().parameters[0].clone();
        let asked = Asked { limit: 1000, collapse: Some(name.clone()), ..Asked::default() };
        let few = graph(&model, &asked);
        let all = graph(&model, &Asked { limit: 1000, colour: Some(name), ..Asked::default() });
        assert_eq!(few.nodes.len(), all.colours.len());
        let states: u32 = few.nodes.iter().map(|node| node.states).sum();
        assert_eq!(states as usize, all.nodes.len());
        let transitions = |graph: &Graph| graph.edges.iter().map(|edge| edge.transitions).sum::<u32>();
        assert_eq!(transitions(&few), transitions(&all));
        assert!(draw(&model, &Asked { collapse: Some("no such".into()), ..Asked::default() }).is_err());
    }

    #[test]
    fn bisimilar_states_become_one_when_all_are_known() {
        let model = philosophers(2);
        let all = graph(&model, &Asked { limit: 1000, ..Asked::default() });
        let reduced = graph(&model, &Asked { limit: 1000, bisimilar: true, ..Asked::default() });
        assert!(reduced.nodes.len() <= all.nodes.len());
        assert!(draw(&model, &Asked { limit: 1, bisimilar: true, ..Asked::default() }).is_err());
    }
}
