//! Depth-first search, in the front-end's order or at random (`rdfs`).
//!
//! `rdfs` draws uniformly from the unvisited successors of the state on top of the stack; the
//! witness is the stack. Complete on finite systems, memory linear in the states met. Reference:
//! the randomised depth-first search that the highway search paper compares with.

use turnpike_model::Diagnostic;

use super::descriptor::{Descriptor, Parallel, Setting};
use super::lasso::{self, ALGORITHM, Cycles, LassoAlgorithm};
use super::level_set::distinct_targets;
use super::{Search, covering};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ROOT, Visited};
use crate::witness::Path;

/// The order in which successors are tried.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    Given,
    Random,
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
}

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
    options: &[ALGORITHM],
    settings: &[Setting::MaxDepth, Setting::Store],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| Ok(Rdfs { algorithm: given.algorithm() }.into()),
};

impl Search for Dfs {
    fn descriptor(&self) -> &'static Descriptor {
        &DFS
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if run.options.cover {
            covering::search(run, covering::Order::LastIn)
        } else {
            search(run, Order::Given)
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
        search(run, Order::Random)
    }

    fn cycles(&self) -> Option<Cycles> {
        let (order, algorithm) = (lasso::Order::Random, self.algorithm);
        Some(Cycles::Stored { order, breadth_first: false, algorithm })
    }
}

/// A state on the stack. Its successors still to try are the top of the shared list from `start` on.
struct Frame {
    id: u32,
    start: usize,
}

pub(crate) fn search(run: &mut Run<'_>, order: Order) -> Result<StopReason, Halt> {
    // Paths come from the stack, not from parents. Every state met is stored; those entered are marked.
    let mut met = Visited::new(run.options.store, run.width(), false);
    let outcome = if run.options.store.is_exact() {
        stack_search(run, order, &mut met)
    } else {
        lossy_search(run, order, &mut met)
    };
    run.counters.considered = Some(met.len() as u64);
    run.counters.odds = met.odds();
    outcome
}

fn stack_search(run: &mut Run<'_>, order: Order, met: &mut Visited) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    met.insert_exact(&initial, ROOT);
    let mut entered = vec![false];
    let mut stack: Vec<Frame> = Vec::new();
    let mut todo: Vec<u32> = vec![0];
    let (mut state, mut successors, mut distinct) = (Vec::new(), run.buffer(), Vec::new());
    let mut cut = false;
    loop {
        // Choose the next unvisited state; a visited one is dropped, which keeps the draw uniform over the rest.
        let start = stack.last().map_or(0, |frame| frame.start);
        if todo.len() == start {
            if stack.pop().is_none() {
                break;
            }
            continue;
        }
        let pick = match order {
            Order::Given => todo.len() - 1,
            Order::Random => start + run.rng.index(todo.len() - start),
        };
        let id = todo.swap_remove(pick);
        if entered[id as usize] {
            continue;
        }
        let depth = stack.len() as u32;
        if depth == run.view.max_depth {
            cut = true;
            continue;
        }
        entered[id as usize] = true;
        met.load(id, &mut state);
        stack.push(Frame { id, start: todo.len() });
        let path = || stack_path(&stack, met);
        run.expand(&state, depth, &mut successors, &path)?;
        distinct_targets(&successors, &mut distinct);
        for &index in &distinct {
            let (id, new) = met.insert_exact(successors.state(index as usize), ROOT);
            if new {
                entered.push(false);
            }
            if !entered[id as usize] {
                todo.push(id);
            }
        }
        if order == Order::Given {
            // Popped from the end: the front-end's first successor must be last.
            let start = stack.last().map_or(0, |frame| frame.start);
            todo[start..].reverse();
        }
        run.check(&state, &successors, &|| stack_path(&stack, met))?;
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
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
