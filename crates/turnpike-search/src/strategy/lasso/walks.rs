//! Deep Random Search for accepting cycles: the extension that its authors leave open.
//!
//! Walks build a tree, because every state is entered once. A transition to a state of the tree
//! closes a cycle if that state is an ancestor of its source; otherwise nothing is known. Depths
//! and one jump pointer per state (skew-binary, set when the state is entered) decide ancestry in
//! logarithmic time. The cycle is accepting if the tree path between the two is: every state knows
//! how many states of each accepting set are on the path to it.
//!
//! The walks do not see cycles that only transitions between branches close. So when the walks end,
//! because everything was entered or a limit was reached, the components of all stored transitions
//! are computed once, and the answer is exact.
//!
//! The search looks for lassos among the transitions of every expanded state, even where no walk
//! goes.

use turnpike_model::Diagnostic;

use super::components;
use super::graph::{Graph, INITIAL, Lasso};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::ROOT;
use crate::strategy::drs::{Drs, Entered, Fringe, Terrain, Walks, cutoff};

/// The depth of a state that was not entered.
const OUTSIDE: u32 = u32::MAX;

/// Refuses variants that have no meaning for cycles.
pub(super) fn validate(options: &Drs) -> Result<(), Diagnostic> {
    // Either fringe will do.
    match (Drs { fringe: Fringe::Node, ..*options }).variants().next() {
        Some(name) => Err(Diagnostic::error(format!("{name} has no meaning for accepting cycles"))
            .help("drs looks for them with the options `walks`, `cutoff` and `fringe`")),
        None => Ok(()),
    }
}

/// The tree of walks, by state.
struct Tree {
    parent: Vec<u32>,
    /// Transitions from the initial state along the tree.
    depth: Vec<u32>,
    jump: Vec<u32>,
    /// For each state and accepting set, the states of the set on the way, itself included.
    accepting: Vec<u32>,
    sets: usize,
}

/// The tree, with what is known of the system.
struct Branches<'g> {
    graph: &'g mut Graph,
    tree: Tree,
    /// States at this depth are not expanded.
    cutoff: u32,
    cut: bool,
    leaves: u64,
}

pub(super) fn search(run: &mut Run<'_>, graph: &mut Graph, options: &Drs) -> Result<StopReason, Halt> {
    let branches =
        Branches { tree: Tree::new(graph), graph, cutoff: cutoff(run, options) - 1, cut: false, leaves: 0 };
    let mut walks = Walks::new(branches, options.fringe);
    let outcome = until_closed(run, &mut walks, options.walks);
    let Branches { tree, leaves, .. } = walks.terrain;
    let entered = tree.depth.iter().filter(|&&depth| depth != OUTSIDE).count() as u64;
    run.counters.generated = Some(entered - leaves);
    match &outcome {
        // What was stored is looked through also when a limit ended the walks.
        Ok(_) | Err(Halt::Stop(StopReason::MaxStates | StopReason::MaxTime)) => {
            components::search_stored(run, graph)?;
        }
        Err(_) => {}
    }
    outcome
}

fn until_closed(
    run: &mut Run<'_>,
    walks: &mut Walks<Branches<'_>>,
    first: Option<u32>,
) -> Result<StopReason, Halt> {
    let Branches { tree, graph, cutoff, .. } = &mut walks.terrain;
    tree.enter(INITIAL, ROOT, graph);
    if *cutoff == 0 {
        return Ok(StopReason::MaxDepth);
    }
    walks.walk_from_initial(run, INITIAL, first)?;
    while walks.walk_from_fringe(run)? {}
    Ok(if walks.terrain.cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}

impl Terrain for Branches<'_> {
    fn is_open(&self, child: u32, _: u32) -> bool {
        !self.tree.has(child)
    }

    fn enter(&mut self, run: &mut Run<'_>, child: u32, parent: u32) -> Result<Entered, Halt> {
        self.tree.enter(child, parent, self.graph);
        if self.tree.depth[child as usize] >= self.cutoff {
            self.cut = true;
            return Ok(Entered::Cut);
        }
        let below = self.expand(run, child)?;
        let is_leaf = self.graph.targets(child).is_empty();
        Ok(if is_leaf { Entered::Leaf } else { Entered::Interior(below) })
    }

    /// Looks for cycles among all transitions.
    fn expand(&mut self, run: &mut Run<'_>, node: u32) -> Result<Vec<u32>, Halt> {
        self.graph.expand(run, node, self.tree.depth[node as usize])?;
        self.tree.grow(self.graph.len());
        let targets = self.graph.targets(node);
        self.leaves += u64::from(targets.is_empty());
        for &target in targets {
            if self.tree.closes_accepting_cycle(node, target, self.graph) {
                let lasso = self.tree.lasso(node, target);
                self.graph.report(run, lasso)?;
            }
        }
        let mut untried: Vec<u32> =
            self.graph.targets(node).iter().copied().filter(|&target| !self.tree.has(target)).collect();
        untried.sort_unstable();
        untried.dedup();
        Ok(untried)
    }

    fn leave(&mut self, child: u32, parent: u32) {
        self.tree.parent[child as usize] = parent;
    }

    fn resume(&mut self, run: &mut Run<'_>, node: u32, untried: Vec<u32>) -> Result<Option<Vec<u32>>, Halt> {
        if self.tree.has(node) {
            return Ok(Some(untried));
        }
        // A child that waited: it enters the tree where it was left behind last.
        match self.enter(run, node, self.tree.parent[node as usize])? {
            Entered::Interior(below) => Ok(Some(below)),
            Entered::Leaf | Entered::Cut => Ok(None),
        }
    }
}

impl Tree {
    fn new(graph: &Graph) -> Self {
        let sets = graph.sets() as usize;
        let mut tree =
            Tree { parent: Vec::new(), depth: Vec::new(), jump: Vec::new(), accepting: Vec::new(), sets };
        tree.grow(graph.len());
        tree
    }

    /// Makes room for so many states.
    fn grow(&mut self, states: usize) {
        self.parent.resize(states, ROOT);
        self.depth.resize(states, OUTSIDE);
        self.jump.resize(states, ROOT);
        self.accepting.resize(states * self.sets, 0);
    }

    fn has(&self, state: u32) -> bool {
        self.depth[state as usize] != OUTSIDE
    }

    fn enter(&mut self, state: u32, parent: u32, graph: &Graph) {
        self.link(state, parent);
        for set in 0..self.sets {
            let before = if parent == ROOT { 0 } else { self.accepting[parent as usize * self.sets + set] };
            let marked = (graph.marks(state) >> set & 1) as u32;
            self.accepting[state as usize * self.sets + set] = before + marked;
        }
    }

    fn link(&mut self, state: u32, parent: u32) {
        let at = state as usize;
        self.parent[at] = parent;
        if parent == ROOT {
            self.depth[at] = 0;
            self.jump[at] = state;
        } else {
            let above = self.jump[parent as usize];
            let depth = |state: u32| self.depth[state as usize];
            let equal = depth(parent) - depth(above) == depth(above) - depth(self.jump[above as usize]);
            self.jump[at] = if equal { self.jump[above as usize] } else { parent };
            self.depth[at] = depth(parent) + 1;
        }
    }

    /// The state at this depth on the way to `state`, in logarithmic time.
    fn ancestor_at(&self, state: u32, depth: u32) -> u32 {
        let mut at = state;
        while self.depth[at as usize] > depth {
            let jump = self.jump[at as usize];
            at = if self.depth[jump as usize] >= depth { jump } else { self.parent[at as usize] };
        }
        at
    }

    /// Whether the way from `target` to `node`, and the transition back, is an accepting cycle.
    fn closes_accepting_cycle(&self, node: u32, target: u32, graph: &Graph) -> bool {
        if !self.has(target) || self.depth[target as usize] > self.depth[node as usize] {
            return false;
        }
        let on_the_way = |set: usize| {
            let count = |state: u32| self.accepting[state as usize * self.sets + set];
            count(node) - count(target).min(count(node)) > 0 || graph.marks(target) >> set & 1 == 1
        };
        // The counts are cheaper to look at than the way.
        (0..self.sets).all(on_the_way) && self.ancestor_at(node, self.depth[target as usize]) == target
    }

    fn lasso(&self, node: u32, target: u32) -> Lasso {
        let up = |from: u32| {
            let parent = |&state: &u32| Some(self.parent[state as usize]).filter(|&parent| parent != ROOT);
            std::iter::successors(Some(from), parent)
        };
        let mut stem: Vec<u32> = up(target).collect();
        stem.reverse();
        let length = (self.depth[node as usize] - self.depth[target as usize]) as usize + 1;
        let mut cycle: Vec<u32> = up(node).take(length).collect();
        cycle.reverse();
        Lasso { stem, cycle }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROOT, Tree};
    use crate::rng::Rng;

    /// A random tree, and the slow way to the same answer.
    #[test]
    fn jumps_lead_to_the_ancestors() {
        let mut rng = Rng::new(5);
        for shape in [1, 3, 50, 2_000] {
            let mut tree = Tree { parent: vec![], depth: vec![], jump: vec![], accepting: vec![], sets: 0 };
            tree.grow(2_000);
            for state in 0..2_000u32 {
                // Parents among the last few make the tree deep.
                let parent = match state {
                    0 => ROOT,
                    _ => state - 1 - rng.index(shape.min(state as usize)) as u32,
                };
                tree.link(state, parent);
            }
            for state in (0..2_000u32).step_by(7) {
                let (mut at, mut steps) = (state, 0);
                loop {
                    assert_eq!(tree.ancestor_at(state, tree.depth[at as usize]), at);
                    steps += 1;
                    if tree.parent[at as usize] == ROOT {
                        break;
                    }
                    at = tree.parent[at as usize];
                }
                assert_eq!(steps, tree.depth[state as usize] + 1);
            }
        }
    }
}
