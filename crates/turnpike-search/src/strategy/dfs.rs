//! Depth-first search, in the front-end's order or at random (`rdfs`).
//!
//! `rdfs` draws uniformly from the unvisited successors of the state on top of the stack; the
//! witness is the stack. Complete on finite systems, memory linear in the states met. Reference:
//! the randomised depth-first search that the highway search paper compares with.

use turnpike_model::{Diagnostic, Successors};

use super::descriptor::{Descriptor, OptionInfo, Parallel, Setting, ValueKind};
use super::lasso::{self, ALGORITHM, Cycles, LassoAlgorithm};
use super::level_set::distinct_targets;
use super::{Search, covering};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::witness::Path;

/// The order in which successors are tried.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    Given,
    Random,
}

/// When a state counts as seen, so that depth-first search does not go there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// Once it was expanded: every successor that was not is still a choice.
    #[default]
    Expanded,
    /// Once it was considered: a successor is a choice of the first state that met it, and of no other.
    Considered,
}

/// Depth-first search in the front-end's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dfs {
    /// How it looks for accepting cycles; by default by nested search where that is possible.
    pub algorithm: Option<LassoAlgorithm>,
}

/// Depth-first search, the next unvisited successor at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rdfs {
    /// How it looks for accepting cycles; by default by nested search where that is possible.
    pub algorithm: Option<LassoAlgorithm>,
    /// When a state counts as seen.
    pub seen: Seen,
}

const SEEN: OptionInfo = OptionInfo {
    name: "seen",
    value: ValueKind::Word(&[
        ("expanded", "When it was expanded; all other successors remain choices"),
        (
            "considered",
            "When it was considered, as in the tool of 2008; it is a choice only of the first state that met it",
        ),
    ]),
    default: "expanded",
    doc: "when a state counts as seen",
};

pub(super) static DFS: Descriptor = Descriptor {
    name: "dfs",
    summary: "depth-first search in the model's order",
    guarantee: "complete on finite systems",
    memory: "all states met",
    when: "deep bugs when the order of transitions is meaningful",
    options: &[ALGORITHM],
    settings: &[Setting::MaxDepth, Setting::Store, Setting::Cover],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| Ok(Dfs { algorithm: given.algorithm() }.into()),
};

pub(super) static RDFS: Descriptor = Descriptor {
    name: "rdfs",
    summary: "depth-first search, next unvisited successor at random",
    guarantee: "complete on finite systems",
    memory: "all states met",
    when: "finding a bug with the fewest states; witnesses are long",
    options: &[ALGORITHM, SEEN],
    settings: &[Setting::MaxDepth, Setting::Store],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| {
        let seen = match given.text(&SEEN) {
            Some("considered") => Seen::Considered,
            _ => Seen::Expanded,
        };
        Ok(Rdfs { algorithm: given.algorithm(), seen }.into())
    },
};

impl Search for Dfs {
    fn descriptor(&self) -> &'static Descriptor {
        &DFS
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if run.options.cover {
            covering::search(run, covering::Order::LastIn)
        } else {
            search(run, Order::Given, Seen::Expanded)
        }
    }

    fn cycles(&self) -> Option<Cycles> {
        let (order, algorithm) = (lasso::Order::Given, self.algorithm);
        Some(Cycles::Stored { order, breadth_first: false, algorithm })
    }

    fn check_covering(&self) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl Search for Rdfs {
    fn descriptor(&self) -> &'static Descriptor {
        &RDFS
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, Order::Random, self.seen)
    }

    fn cycles(&self) -> Option<Cycles> {
        let (order, algorithm) = (lasso::Order::Random, self.algorithm);
        Some(Cycles::Stored { order, breadth_first: false, algorithm })
    }

    fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        if self.seen == Seen::Expanded {
            return Ok(());
        }
        let problem = if request.objectives.iter().any(|objective| objective.is_about_cycles()) {
            "searches for cycles go to every successor that was not expanded"
        } else if !request.store.is_exact() {
            "a lossy store knows only the states that were expanded"
        } else {
            return Ok(());
        };
        Err(Diagnostic::error(problem).help("leave out the option `seen`"))
    }
}

/// A state on the stack. Its successors still to try are the top of the shared list from `start` on.
struct Frame {
    id: u32,
    start: usize,
}

pub(crate) fn search(run: &mut Run<'_>, order: Order, seen: Seen) -> Result<StopReason, Halt> {
    if run.options.store.is_exact() {
        return DepthFirst::new(run, order, seen).advance(run);
    }
    let mut met = Visited::new(run.options.store, run.width(), false);
    let outcome = lossy_search(run, order, &mut met);
    run.counters.considered = Some(met.len() as u64);
    run.counters.odds = met.odds();
    outcome
}

/// A depth-first search that keeps its place when a limit on states stops it, so that it can go on later.
///
/// Paths come from the stack, not from parents. Every state met is stored; those entered are marked.
pub(crate) struct DepthFirst {
    order: Order,
    seen: Seen,
    met: Visited,
    /// By the number of a state that was met; empty before the search began.
    entered: Vec<bool>,
    stack: Vec<Frame>,
    /// What the frames of the stack have still to try.
    todo: Vec<u32>,
    /// Chosen, but not expanded because a limit stopped the search.
    postponed: Option<u32>,
    /// States that were expanded.
    expanded: usize,
    /// Whether the limit on depth left something out.
    cut: bool,
}

impl DepthFirst {
    pub(crate) fn new(run: &Run<'_>, order: Order, seen: Seen) -> Self {
        let met = Visited::new(run.options.store, run.width(), false);
        DepthFirst {
            order,
            seen,
            met,
            entered: Vec::new(),
            stack: Vec::new(),
            todo: Vec::new(),
            postponed: None,
            expanded: 0,
            cut: false,
        }
    }

    /// Whether the states that were met and not yet expanded are few.
    pub(crate) fn is_nearly_done(&self) -> bool {
        4 * (self.met.len() - self.expanded) < self.expanded
    }

    /// Begins or goes on. Draws come from the run.
    pub(crate) fn advance(&mut self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let outcome = self.visit(run);
        run.counters.considered = Some(self.met.len() as u64);
        run.counters.odds = self.met.odds();
        outcome
    }

    fn visit(&mut self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if self.entered.is_empty() {
            let initial = run.initial()?;
            self.met.insert_exact(&initial, ROOT);
            self.entered.push(false);
            self.todo.push(0);
        }
        let (mut state, mut successors, mut distinct) = (Vec::new(), run.buffer(), Vec::new());
        while let Some(id) = self.next(run) {
            let depth = self.stack.len() as u32;
            if depth == run.view.max_depth {
                self.cut = true;
                continue;
            }
            self.entered[id as usize] = true;
            self.met.load(id, &mut state);
            self.stack.push(Frame { id, start: self.todo.len() });
            let outcome = run.expand(&state, depth, &mut successors, &|| stack_path(&self.stack, &self.met));
            if let Err(halt) = outcome {
                self.entered[id as usize] = false;
                self.stack.pop();
                self.postponed = Some(id);
                return Err(halt);
            }
            self.expanded += 1;
            distinct_targets(&successors, &mut distinct);
            self.meet(&successors, &distinct);
            run.check(&state, &successors, &|| stack_path(&self.stack, &self.met))?;
        }
        Ok(if self.cut { StopReason::MaxDepth } else { StopReason::Exhausted })
    }

    /// Chooses the next unvisited state: the one that could not be expanded when the search was stopped, or one
    /// of those to try. A visited one is dropped, which keeps the draw uniform over the rest.
    fn next(&mut self, run: &mut Run<'_>) -> Option<u32> {
        if let Some(id) = self.postponed.take() {
            return Some(id);
        }
        loop {
            let start = self.stack.last().map_or(0, |frame| frame.start);
            if self.todo.len() == start {
                self.stack.pop()?;
                continue;
            }
            let pick = match self.order {
                Order::Given => self.todo.len() - 1,
                Order::Random => start + run.rng.index(self.todo.len() - start),
            };
            let id = self.todo.swap_remove(pick);
            if !self.entered[id as usize] {
                return Some(id);
            }
        }
    }

    /// Stores successors; those that are a choice are tried from the top of the stack.
    fn meet(&mut self, successors: &Successors, distinct: &[u32]) {
        for &index in distinct {
            let (id, new) = self.met.insert_exact(successors.state(index as usize), ROOT);
            if new {
                self.entered.push(false);
            }
            let choose = match self.seen {
                Seen::Expanded => !self.entered[id as usize],
                Seen::Considered => new,
            };
            if choose {
                self.todo.push(id);
            }
        }
        if self.order == Order::Given {
            // Popped from the end: the front-end's first successor must be last.
            let start = self.stack.last().map_or(0, |frame| frame.start);
            self.todo[start..].reverse();
        }
    }
}

fn stack_path(stack: &[Frame], met: &Visited) -> Path {
    let (mut flat, mut state) = (Vec::new(), Vec::new());
    for frame in stack {
        met.load(frame.id, &mut state);
        flat.extend_from_slice(&state);
    }
    Path::States(flat)
}

/// With a lossy store, states live on the stack only: what was met is known by its fingerprint.
fn lossy_search(run: &mut Run<'_>, order: Order, met: &mut Visited) -> Result<StopReason, Halt> {
    struct Whole {
        state: Vec<u32>,
        todo: Vec<Vec<u32>>,
    }
    let path =
        |stack: &[Whole]| Path::States(stack.iter().flat_map(|frame| frame.state.iter().copied()).collect());
    let initial = run.initial()?;
    let mut stack: Vec<Whole> = vec![Whole { state: Vec::new(), todo: vec![initial] }];
    let (mut successors, mut distinct, mut cut) = (run.buffer(), Vec::new(), false);
    while let Some(top) = stack.last_mut() {
        if top.todo.is_empty() {
            stack.pop();
            continue;
        }
        let pick = if order == Order::Random { run.rng.index(top.todo.len()) } else { top.todo.len() - 1 };
        let state = top.todo.swap_remove(pick);
        let depth = (stack.len() - 1) as u32;
        if depth == run.view.max_depth {
            cut = true;
            continue;
        }
        let Some(id) = met.insert(&mut *run.view.explorer, &state, ROOT, 0) else { continue };
        met.forget(id);
        stack.push(Whole { state: state.clone(), todo: Vec::new() });
        run.expand(&state, depth, &mut successors, &|| path(&stack))?;
        distinct_targets(&successors, &mut distinct);
        if order == Order::Given {
            distinct.reverse();
        }
        let todo = distinct.iter().map(|&index| successors.state(index as usize).to_vec()).collect();
        run.check(&state, &successors, &|| path(&stack))?;
        if let Some(top) = stack.last_mut() {
            top.todo = todo;
        }
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}
