//! The operator tree with everything that is known before exploration. Computes the steps of the
//! whole system, or only those of given edges: if a step joins many components with many edges
//! each, the system has far more steps than are possible at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::Diagnostic;

use super::alphabet::{Filter, is_part};
use super::operator_tree::{self, Node, Skeleton};
use super::structure::Structure;
use super::summands::{Layout, summand};
use super::vectors::{Builder, Equations, Steps, TooMany, Vector};
use crate::lower::{Edge, Step, Summand};
use crate::syntax::{Span, Symbol};
use crate::typed::expression;
use crate::typed::{ExpressionId, Program, VariableId};

/// How many combinations of steps of given sets are tried before giving up.
const MOST_AT_ONCE: usize = 2_000_000;
/// The number of cached steps of a node at which its cache is emptied.
const MOST_KNOWN: usize = 1 << 14;

/// Builds summands from components and the operators above them.
#[derive(Clone, Debug)]
pub struct Composition {
    skeleton: Arc<Skeleton>,
    layout: Layout,
    /// For each node the filter of its steps.
    filters: Vec<Filter>,
    /// For each node the components below it.
    components: Vec<Vec<usize>>,
    terminate: Symbol,
    equations: Equations,
    /// For each component the sets of edges requested so far.
    sets: Vec<Sets>,
    /// Caches the steps of each node by the edge sets of the components below it.
    known: Vec<FxHashMap<Vec<u32>, Arc<Steps>>>,
}

/// Numbered sets of edges.
#[derive(Clone, Debug, Default)]
struct Sets {
    numbers: FxHashMap<Vec<u32>, u32>,
    all: Vec<Vec<u32>>,
}

/// An edge of a component, with the conditions that it alone determines.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The index of the edge.
    pub edge: u32,
    /// Its source location.
    pub from: u32,
    /// The conditions that depend only on the parameters of the component.
    pub conditions: Vec<ExpressionId>,
}

/// The steps of one set of components.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The components in increasing order, each with the number of its edge set.
    pub components: Vec<(u32, u32)>,
    /// The steps, with the name of termination for those that terminate.
    vectors: Vec<(Vector, Option<Symbol>)>,
}

impl Composition {
    pub(super) fn new(program: &mut Program, skeleton: Skeleton, layout: Layout) -> Self {
        let filters = filters(&skeleton);
        let mut components: Vec<Vec<usize>> = Vec::with_capacity(skeleton.nodes.len());
        for node in &skeleton.nodes {
            let below = match node {
                Node::Leaf(component) => vec![*component],
                _ => node.operands().iter().flat_map(|&one| components[one].iter().copied()).collect(),
            };
            components.push(below);
        }
        Composition {
            sets: vec![Sets::default(); skeleton.components.len()],
            known: vec![FxHashMap::default(); skeleton.nodes.len()],
            equations: Equations::default(),
            terminate: program.words.intern("Terminate"),
            skeleton: Arc::new(skeleton),
            layout,
            filters,
            components,
        }
    }

    pub(super) fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The structure for explaining steps.
    pub(super) fn structure(&self) -> Structure {
        Structure::new(Arc::clone(&self.skeleton), self.layout.controls.clone())
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The steps of the whole system, or of the given edge sets, one for each component. Tries at
    /// most `limit` combinations.
    pub(super) fn steps(
        &mut self,
        program: &mut Program,
        sets: Option<&[u32]>,
        limit: usize,
    ) -> Result<Steps, TooMany> {
        let mut builder = Builder::new(program, std::mem::take(&mut self.equations), limit);
        let steps = self.build(&mut builder, sets);
        self.equations = builder.equations;
        steps
    }

    fn build(&mut self, builder: &mut Builder<'_>, sets: Option<&[u32]>) -> Result<Steps, TooMany> {
        let Composition { skeleton, filters, components, known, sets: edges, .. } = self;
        let Skeleton { nodes, components: automata } = &**skeleton;
        let mut all: Vec<Option<Arc<Steps>>> = vec![None; nodes.len()];
        // Finds the nodes that are not cached, from the root down. Nodes above all components are
        // not cached, because each combination of sets is requested only once.
        let mut open = vec![sets.is_none(); nodes.len()];
        if let Some(sets) = sets {
            let mut needed = vec![false; nodes.len()];
            needed.last_mut().into_iter().for_each(|root| *root = true);
            for index in (0..nodes.len()).rev() {
                if !needed[index] {
                    continue;
                }
                if components[index].len() < automata.len() {
                    all[index] = known[index].get(&key(&components[index], sets)).cloned();
                }
                open[index] = all[index].is_none();
                if open[index] {
                    nodes[index].operands().iter().for_each(|&operand| needed[operand] = true);
                }
            }
        }
        for index in (0..nodes.len()).filter(|&index| open[index]) {
            let filter = &filters[index];
            let mut take = |index: usize| all[index].take().unwrap_or_default();
            let mut own = |index: usize| Arc::unwrap_or_clone(take(index));
            let steps = match &nodes[index] {
                Node::Leaf(component) => {
                    let automaton = &automata[*component];
                    match sets.map(|sets| &edges[*component].all[sets[*component] as usize]) {
                        None => Steps::of_component(*component, automaton, 0..automaton.edges.len(), filter),
                        Some(set) => {
                            let set = set.iter().map(|&edge| edge as usize);
                            Steps::of_component(*component, automaton, set, filter)
                        }
                    }
                }
                Node::Parallel(operands) => {
                    let operands: Vec<Arc<Steps>> = operands.iter().map(|&one| take(one)).collect();
                    builder.join(&operands, filter)?
                }
                Node::Comm(rules, body) => builder.communicate(rules, own(*body), filter)?,
                Node::Allow(bags, body) => {
                    own(*body).retain(|names| names.is_empty() || bags.binary_search(names).is_ok())
                }
                Node::Block(blocked, body) => {
                    own(*body).retain(|names| !names.iter().any(|name| blocked.contains(name)))
                }
                Node::Hide(hidden, body) => own(*body).hide(hidden),
                Node::Rename(renamings, body) => own(*body).rename(renamings),
            };
            let steps = Arc::new(steps);
            if let Some(sets) = sets
                && components[index].len() < automata.len()
            {
                if known[index].len() >= MOST_KNOWN {
                    known[index].clear();
                }
                known[index].insert(key(&components[index], sets), Arc::clone(&steps));
            }
            all[index] = Some(steps);
        }
        Ok(all.pop().flatten().map(Arc::unwrap_or_clone).unwrap_or_default())
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.skeleton.components.len()
    }

    /// The control parameter of a component, as index into the parameters.
    pub fn control(&self, component: usize) -> Option<usize> {
        self.layout.controls[component]
    }

    /// The edges of a component with the conditions that it alone determines.
    pub fn guarded(&self, program: &Program, component: usize) -> Vec<Guarded> {
        let automaton = &self.skeleton.components[component];
        let own = |variable: &VariableId| {
            automaton.variables.contains(variable) || program.globals.contains(variable)
        };
        let guarded = |(index, edge): (usize, &Edge)| {
            let conditions = edge.conditions.iter().copied();
            let conditions =
                conditions.filter(|&one| expression::free_variables(program, one).iter().all(own)).collect();
            Guarded { edge: index as u32, from: edge.from, conditions }
        };
        automaton.edges.iter().enumerate().map(guarded).collect()
    }

    /// Numbers a set of edges of a component.
    pub fn set(&mut self, component: usize, edges: &[u32]) -> u32 {
        let Sets { numbers, all } = &mut self.sets[component];
        if let Some(&known) = numbers.get(edges) {
            return known;
        }
        let number = all.len() as u32;
        numbers.insert(edges.to_vec(), number);
        all.push(edges.to_vec());
        number
    }

    /// The steps of the given edge sets, one for each component. Their order depends on the
    /// contents of the sets, not on their numbers.
    pub fn joints(&mut self, program: &mut Program, sets: &[u32]) -> Result<Vec<Joint>, Diagnostic> {
        let steps = self
            .steps(program, Some(sets), MOST_AT_ONCE)
            .map_err(|TooMany| self.too_many(program, MOST_AT_ONCE))?;
        let mut joints: BTreeMap<Vec<(u32, u32)>, Joint> = BTreeMap::new();
        for (vector, end) in self.in_order(steps) {
            let components: Vec<(u32, u32)> =
                vector.edges.iter().map(|&(component, _)| (component, sets[component as usize])).collect();
            let joint = joints.entry(components.clone());
            joint.or_insert(Joint { components, vectors: Vec::new() }).vectors.push((vector, end));
        }
        Ok(joints.into_values().collect())
    }

    /// The summands of the steps of a joint.
    pub fn summands(&self, program: &mut Program, joint: &Joint) -> Vec<Summand> {
        let vectors = joint.vectors.iter();
        vectors.filter_map(|(vector, end)| self.summand(program, vector, *end)).collect()
    }

    pub(super) fn summand(
        &self,
        program: &mut Program,
        vector: &Vector,
        end: Option<Symbol>,
    ) -> Option<Summand> {
        summand(program, &self.layout, &self.skeleton.components, vector, end)
    }

    /// Sorts steps by components and edges, which is the order of the source. Steps that terminate
    /// get the name of termination.
    pub(super) fn in_order(&self, steps: Steps) -> Vec<(Vector, Option<Symbol>)> {
        let ends = steps.ends.into_iter().map(|end| (end, Some(self.terminate)));
        let mut vectors: Vec<_> =
            steps.groups.into_values().flatten().map(|vector| (vector, None)).chain(ends).collect();
        vectors.sort_by(|(left, _), (right, _)| left.edges.cmp(&right.edges));
        vectors
    }

    /// The names that visible actions may have.
    pub fn actions(&self) -> BTreeSet<Symbol> {
        names_below(&self.skeleton).pop().unwrap_or_default()
    }

    /// Whether all components may terminate.
    pub fn may_terminate(&self) -> bool {
        let ends = |edge: &Edge| matches!(edge.what, Step::Terminate);
        self.skeleton.components.iter().all(|component| component.edges.iter().any(ends))
    }

    /// Whether some step may be a probabilistic choice.
    pub fn is_probabilistic(&self) -> bool {
        self.edges().any(|edge| edge.distribution.is_some())
    }

    /// The position of a timed step, if there is one.
    pub fn timed(&self) -> Option<Span> {
        self.edges().find(|edge| edge.time.is_some()).map(|edge| edge.span)
    }

    fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.skeleton.components.iter().flat_map(|component| &component.edges)
    }

    pub(super) fn too_many(&self, program: &Program, limit: usize) -> Diagnostic {
        let components = self.skeleton.components.len();
        let message = format!("{components} components have more than {limit} different steps together");
        let allows = self.skeleton.nodes.iter().any(|node| matches!(node, Node::Allow(..)));
        let help = if allows {
            "allow fewer multi-actions, or put an allow around those parts that have none: what is hidden below an allow may happen together with everything"
        } else {
            "put allow({...}, ...) around the parallel composition: without it any set of components may act at the same time"
        };
        Diagnostic::error(message).at(operator_tree::init_span(program).range(), "").help(help)
    }
}

fn key(components: &[usize], sets: &[u32]) -> Vec<u32> {
    components.iter().map(|&component| sets[component]).collect()
}

/// For each node the filter of its steps.
fn filters(skeleton: &Skeleton) -> Vec<Filter> {
    let nodes = &skeleton.nodes;
    let names = names_below(skeleton);
    let mut filters: Vec<Filter> = vec![Filter::default(); nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        let filter = &filters[index];
        match node {
            Node::Leaf(_) => {}
            Node::Parallel(operands) => {
                let below: Vec<Filter> = operands
                    .iter()
                    .map(|&operand| filter.below_parallel(&names[operand], &names[index]))
                    .collect();
                for (&operand, filter) in operands.iter().zip(below) {
                    filters[operand] = filter;
                }
            }
            Node::Comm(rules, body) => filters[*body] = filter.below_comm(rules, &names[*body]),
            Node::Allow(bags, body) => filters[*body] = filter.below_allow(bags),
            Node::Block(blocked, body) => filters[*body] = filter.below_block(blocked),
            Node::Hide(hidden, body) => filters[*body] = filter.below_hide(hidden),
            Node::Rename(renamings, body) => {
                filters[*body] = filter.below_rename(renamings, &names[*body]);
            }
        }
    }
    filters
}

/// For each node the names that its visible actions may have.
pub(super) fn names_below(skeleton: &Skeleton) -> Vec<BTreeSet<Symbol>> {
    let mut all: Vec<BTreeSet<Symbol>> = Vec::with_capacity(skeleton.nodes.len());
    for node in &skeleton.nodes {
        let names: BTreeSet<Symbol> = match node {
            Node::Leaf(component) => {
                let edges = skeleton.components[*component].edges.iter();
                let actions = edges.filter_map(|edge| match &edge.what {
                    Step::Actions(actions) => Some(actions.iter().map(|action| action.name)),
                    Step::Terminate => None,
                });
                actions.flatten().collect()
            }
            Node::Parallel(operands) => operands.iter().flat_map(|&one| all[one].iter().copied()).collect(),
            Node::Comm(rules, body) => {
                let below = &all[*body];
                let results = rules.iter().filter(|(left, _)| left.iter().all(|name| below.contains(name)));
                below.iter().copied().chain(results.map(|&(_, result)| result)).collect()
            }
            Node::Allow(bags, body) => {
                let below = &all[*body];
                let possible = bags.iter().filter(|names| names.iter().all(|name| below.contains(name)));
                possible.flat_map(|names| names.iter().copied()).collect()
            }
            Node::Block(names, body) | Node::Hide(names, body) => {
                all[*body].iter().copied().filter(|name| !is_part(&[*name], names)).collect()
            }
            Node::Rename(renamings, body) => all[*body]
                .iter()
                .map(|name| renamings.iter().find(|(old, _)| old == name).map_or(*name, |&(_, new)| new))
                .collect(),
        };
        all.push(names);
    }
    all
}
