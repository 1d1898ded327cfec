//! What is known of a system: the states met, the transitions of those expanded, and the accepting sets of each.

use std::collections::VecDeque;

use crate::error::Halt;
use crate::objective::{Hit, HitKind};
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::witness::Path;
use turnpike_model::Successors;

/// The initial state.
pub(super) const INITIAL: u32 = 0;

/// Where the transitions of a state begin that was not expanded.
const UNEXPANDED: usize = usize::MAX;

/// States by dense ids, in the order in which they were met.
pub(super) struct Graph {
    met: Visited,
    /// For each state, where its transitions begin in `targets`, and how many there are.
    first: Vec<usize>,
    count: Vec<u32>,
    targets: Vec<u32>,
    /// For each state, the accepting sets it is in, by bit.
    marks: Vec<u64>,
    sets: u32,
    state: Vec<u32>,
    successors: Successors,
}

/// A way to a cycle, and the cycle: the states from the initial one to the first of the cycle, and those of the cycle,
/// the first one not repeated.
#[derive(Clone, Debug)]
pub(super) struct Lasso {
    pub(super) stem: Vec<u32>,
    pub(super) cycle: Vec<u32>,
}

impl Lasso {
    fn len(&self) -> usize {
        self.stem.len() - 1 + self.cycle.len()
    }
}

impl Graph {
    /// The initial state, not expanded.
    pub(super) fn new(run: &mut Run<'_>) -> Result<Self, Halt> {
        let initial = run.initial()?;
        let mut graph = Graph {
            met: Visited::new(run.options.store, run.width(), true),
            first: Vec::new(),
            count: Vec::new(),
            targets: Vec::new(),
            marks: Vec::new(),
            sets: run.view.monitor.acceptance_sets(),
            state: Vec::new(),
            successors: run.buffer(),
        };
        graph.meet(run, &initial, ROOT)?;
        Ok(graph)
    }

    fn meet(&mut self, run: &mut Run<'_>, state: &[u32], parent: u32) -> Result<u32, Halt> {
        let (id, new) = self.met.insert_exact(state, parent);
        if new {
            self.first.push(UNEXPANDED);
            self.count.push(0);
            let marks = run.marks(state, &|| self.met.path(id))?;
            self.marks.push(marks);
        }
        Ok(id)
    }

    /// Expands a state, unless that was done.
    pub(super) fn expand(&mut self, run: &mut Run<'_>, id: u32, depth: u32) -> Result<(), Halt> {
        if self.is_expanded(id) {
            return Ok(());
        }
        self.met.load(id, &mut self.state);
        let path = || self.met.path(id);
        run.expand(&self.state, depth, &mut self.successors, &path)?;
        run.check(&self.state, &self.successors, &path)?;
        let successors = std::mem::take(&mut self.successors);
        let first = self.targets.len();
        for (_, target) in successors.iter() {
            let target = self.meet(run, target, id)?;
            self.targets.push(target);
        }
        self.first[id as usize] = first;
        self.count[id as usize] = successors.len() as u32;
        self.successors = successors;
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    pub(super) fn is_expanded(&self, id: u32) -> bool {
        self.first[id as usize] != UNEXPANDED
    }

    /// Where the transitions of a state lead, in order; nowhere as long as it was not expanded.
    pub(super) fn targets(&self, id: u32) -> &[u32] {
        match self.first[id as usize] {
            UNEXPANDED => &[],
            first => &self.targets[first..first + self.count[id as usize] as usize],
        }
    }

    /// The accepting sets a state is in, by bit.
    pub(super) fn marks(&self, id: u32) -> u64 {
        self.marks[id as usize]
    }

    /// Whether a state is in all accepting sets.
    pub(super) fn is_accepting(&self, id: u32) -> bool {
        self.marks(id) == self.all_marks()
    }

    pub(super) fn sets(&self) -> u32 {
        self.sets
    }

    /// All accepting sets.
    pub(super) fn all_marks(&self) -> u64 {
        u64::MAX >> (64 - self.sets)
    }

    /// The shortest known way from a state to one of those sought, by at least one step; `from` is not repeated in it.
    fn way(
        &self,
        from: u32,
        may_enter: impl Fn(u32) -> bool,
        is_sought: impl Fn(u32) -> bool,
    ) -> Option<Vec<u32>> {
        let mut before = vec![ROOT; self.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for &next in self.targets(at) {
                if is_sought(next) {
                    let mut way = vec![next];
                    let mut at = at;
                    while at != from {
                        way.push(at);
                        at = before[at as usize];
                    }
                    way.reverse();
                    return Some(way);
                }
                if before[next as usize] == ROOT && next != from && may_enter(next) {
                    before[next as usize] = at;
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// A short accepting lasso through these states, which are strongly connected by known transitions and in all
    /// accepting sets together.
    pub(super) fn lasso_through(&self, core: &[u32]) -> Option<Lasso> {
        let mut is_core = vec![false; self.len()];
        for &state in core {
            is_core[state as usize] = true;
        }
        let inside = |state: u32| is_core[state as usize];
        let fit = |state: u32| inside(state) && self.marks(state) & 1 == 1;
        let mut stem = vec![INITIAL];
        if !fit(INITIAL) {
            stem.extend(self.way(INITIAL, |_| true, fit)?);
        }
        let anchor = stem[stem.len() - 1];
        let mut cycle = vec![anchor];
        let mut missing = self.all_marks() & !self.marks(anchor);
        let mut at = anchor;
        while missing != 0 {
            let part = self.way(at, inside, |state| inside(state) && self.marks(state) & missing != 0)?;
            missing &= !part.iter().fold(0, |marks, &state| marks | self.marks(state));
            cycle.extend_from_slice(&part);
            at = cycle[cycle.len() - 1];
        }
        // The anchor may be where the last part ended, after more than no steps.
        if at != anchor || cycle.len() == 1 {
            cycle.extend(self.way(at, |_| true, |state| state == anchor)?);
        }
        cycle.pop();
        Some(Lasso { stem, cycle })
    }

    /// Ends the search with this lasso, or a shorter one through its cycle.
    pub(super) fn report(&self, run: &mut Run<'_>, found: Lasso) -> Result<(), Halt> {
        let mut lasso = found;
        if run.options.shorten && run.options.witness {
            run.counters.original_length = Some(lasso.len());
            if let Some(shorter) = self.lasso_through(&lasso.cycle).filter(|other| other.len() < lasso.len())
            {
                lasso = shorter;
            }
        }
        let (mut flat, mut state) = (Vec::new(), Vec::new());
        for &id in &lasso.stem {
            self.met.load(id, &mut state);
            flat.extend_from_slice(&state);
        }
        let nexts = lasso.cycle.iter().skip(1).chain(lasso.cycle.first());
        let choice = |from: u32, to: u32| self.targets(from).iter().position(|&target| target == to);
        let choices = lasso.cycle.iter().zip(nexts).filter_map(|(&from, &to)| choice(from, to));
        let choices = choices.map(|choice| choice as u32).collect();
        let kind = HitKind::Lasso { choices, entry: 0 };
        run.meet(&[Hit { objective: 0, kind }], &|| Path::States(flat.clone()))
    }
}
