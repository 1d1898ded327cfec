//! The structure of a system, for explanations: what a step of one component needs from others, and
//! which names are lost on the way to the root.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::alphabet::{bag, is_part, without};
use super::composition::names_below;
use super::operator_tree::{Node, Skeleton};
use crate::lower::Automaton;
use crate::syntax::Symbol;

/// The most ways that are considered for one step.
const MOST_WAYS: usize = 64;

/// The components of a process and the operators above them.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    skeleton: Arc<Skeleton>,
    /// The control parameter of each component.
    controls: Vec<Option<usize>>,
    /// For each component the nodes on the path from its leaf to the root.
    paths: Vec<Vec<usize>>,
}

/// What a step of one component requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ways {
    /// One of these lists. The step of a component alone has an empty list.
    Some(Vec<Vec<Need>>),
    /// The step never happens, because the operator with this name rules it out.
    Never(&'static str),
}

/// An action that another component must do at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The name of the action, below the operator that requires it.
    pub name: Symbol,
    /// The action of the step with equal data, by its position.
    pub like: Option<usize>,
}

/// The fate of action names below an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// They are hidden.
    Hidden,
    /// They are not allowed, or only together with others that never happen.
    NotAllowed,
    /// They are blocked.
    Blocked,
    /// They get another name.
    Renamed,
}

impl Structure {
    pub(super) fn new(skeleton: Arc<Skeleton>, controls: Vec<Option<usize>>) -> Self {
        let nodes = &skeleton.nodes;
        let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            node.operands().iter().for_each(|&operand| parents[operand] = Some(index));
        }
        let mut paths = vec![Vec::new(); skeleton.components.len()];
        for (index, node) in nodes.iter().enumerate() {
            if let Node::Leaf(component) = node {
                paths[*component] = std::iter::successors(Some(index), |&at| parents[at]).collect();
            }
        }
        Structure { skeleton, controls, paths }
    }

    /// The components.
    pub fn components(&self) -> &[Automaton] {
        &self.skeleton.components
    }

    /// The control parameter of a component, as index into the parameters.
    pub fn control(&self, component: usize) -> Option<usize> {
        self.controls[component]
    }

    /// The names that an action of a component may get by renaming, including its own.
    pub fn names_of(&self, component: usize, name: Symbol) -> Vec<Symbol> {
        let mut names = vec![name];
        for &node in &self.paths[component] {
            if let Node::Rename(renamings, _) = &self.skeleton.nodes[node] {
                let last = names[names.len() - 1];
                names.extend(renamings.iter().find(|(old, _)| *old == last).map(|&(_, new)| new));
            }
        }
        names
    }

    /// The requirements of a step of a component with these action names.
    pub fn ways(&self, component: usize, names: &[Symbol]) -> Ways {
        let visible = names.iter().enumerate().map(|(index, &name)| (name, Some(index))).collect();
        let mut climb = Climb { nodes: &self.skeleton.nodes, ways: BTreeSet::new(), ruled_out: None };
        climb.from(&self.paths[component], visible, Vec::new());
        if climb.ways.is_empty() {
            return Ways::Never(climb.ruled_out.unwrap_or("allow"));
        }
        let fewest = climb.ways.iter().map(Vec::len).min().unwrap_or(0);
        Ways::Some(climb.ways.into_iter().filter(|way| way.len() == fewest).collect())
    }

    /// An over-approximation of the names in steps of the system.
    pub fn names(&self) -> BTreeSet<Symbol> {
        names_below(&self.skeleton).pop().unwrap_or_default()
    }

    /// The fate of names that components use or communications produce, but that never occur in
    /// steps of the system.
    pub fn losses(&self) -> BTreeMap<Symbol, Loss> {
        let names = names_below(&self.skeleton);
        let whole = self.names();
        let mut losses: BTreeMap<Symbol, Loss> = BTreeMap::new();
        for (index, node) in self.skeleton.nodes.iter().enumerate() {
            let loss = match node {
                Node::Hide(..) => Loss::Hidden,
                Node::Allow(..) => Loss::NotAllowed,
                Node::Block(..) => Loss::Blocked,
                Node::Rename(..) => Loss::Renamed,
                Node::Leaf(_) | Node::Parallel(_) | Node::Comm(..) => continue,
            };
            for &below in node.operands() {
                for &name in names[below].iter().filter(|name| !names[index].contains(name)) {
                    let known = losses.entry(name).or_insert(loss);
                    *known = (*known).min(loss);
                }
            }
        }
        losses.retain(|name, _| !whole.contains(name));
        losses
    }
}

/// Follows the path of a step from its leaf to the root.
struct Climb<'a> {
    nodes: &'a [Node],
    ways: BTreeSet<Vec<Need>>,
    /// The operator that ruled out the step of the component alone.
    ruled_out: Option<&'static str>,
}

impl Climb<'_> {
    fn from(&mut self, path: &[usize], mut visible: Vec<(Symbol, Option<usize>)>, mut needs: Vec<Need>) {
        if self.ways.len() >= MOST_WAYS {
            return;
        }
        let Some((&node, above)) = path.split_first() else {
            needs.sort_unstable();
            self.ways.insert(needs);
            return;
        };
        match &self.nodes[node] {
            Node::Leaf(_) | Node::Parallel(_) => {}
            Node::Rename(renamings, _) => {
                for (name, _) in &mut visible {
                    *name = renamings.iter().find(|(old, _)| old == name).map_or(*name, |&(_, new)| new);
                }
            }
            Node::Hide(hidden, _) => visible.retain(|(name, _)| !hidden.contains(name)),
            Node::Block(blocked, _) => {
                if visible.iter().any(|(name, _)| blocked.contains(name)) {
                    self.ruled_out.get_or_insert("block");
                    return;
                }
            }
            Node::Allow(bags, _) => {
                let names = bag(&visible.iter().map(|&(name, _)| name).collect::<Vec<_>>());
                if !names.is_empty() {
                    self.ruled_out.get_or_insert("allow");
                    for larger in bags.iter().filter(|larger| is_part(&names, larger)) {
                        let others = without(larger, &names);
                        let others = others.iter().map(|&name| Need { name, like: None });
                        let needs: Vec<Need> = needs.iter().copied().chain(others).collect();
                        let visible = larger.iter().map(|&name| (name, None)).collect();
                        self.from(above, visible, needs);
                    }
                    return;
                }
            }
            Node::Comm(rules, _) => {
                for (left, result) in rules {
                    let mut rest = visible.clone();
                    let (mut like, mut needs, mut joins) = (None, needs.clone(), false);
                    let mut open = Vec::new();
                    for &name in left {
                        match rest.iter().position(|(own, _)| *own == name) {
                            Some(at) => {
                                like = like.or(rest.remove(at).1);
                                joins = true;
                            }
                            None => open.push(name),
                        }
                    }
                    if joins {
                        needs.extend(open.into_iter().map(|name| Need { name, like }));
                        rest.push((*result, like));
                        self.from(above, rest, needs);
                    }
                }
            }
        }
        self.from(above, visible, needs);
    }
}
