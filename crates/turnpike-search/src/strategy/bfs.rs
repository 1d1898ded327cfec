//! Breadth-first search: shortest witnesses, complete, memory linear in the reachable states.

use std::ops::Range;

use super::descriptor::{Descriptor, Parallel, Setting};
use super::lasso::{ALGORITHM, Cycles, LassoAlgorithm, Order};
use super::level_set::Level;
use super::{Search, covering};
use crate::crew::{self, breadth_first};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::spill;
use crate::store::Visited;

/// States loaded at a time: the frontier lives in the store and is never copied as a whole.
const BATCH: u32 = 1 << 14;

/// Breadth-first search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bfs {
    /// How it looks for accepting cycles; by default by components.
    pub algorithm: Option<LassoAlgorithm>,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "bfs",
    summary: "breadth-first search",
    guarantee: "complete; shortest witness",
    memory: "all reachable states up to the depth of the witness",
    when: "the state space fits, or the bug is near",
    options: &[ALGORITHM],
    settings: &[Setting::Threads, Setting::Store, Setting::Cover],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Levels,
    build: |given| Ok(Bfs { algorithm: given.algorithm() }.into()),
};

impl Search for Bfs {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if run.options.cover { covering::search(run, covering::Order::FirstIn) } else { search(run) }
    }

    fn cycles(&self) -> Option<Cycles> {
        Some(Cycles::Stored { order: Order::Given, breadth_first: true, algorithm: self.algorithm })
    }

    fn check_covering(&self) -> Result<(), turnpike_model::Diagnostic> {
        Ok(())
    }

    fn shares_out_states(&self) -> bool {
        true
    }

    fn finds_shortest(&self) -> bool {
        true
    }

    fn spills_states(&self) -> bool {
        true
    }

    fn wants_shortening(&self, _: StopReason, covering: bool) -> bool {
        covering
    }
}

pub(crate) fn search(run: &mut Run<'_>) -> Result<StopReason, Halt> {
    if let Some(spill) = &run.options.spill {
        let explored = spill::breadth_first(run, spill, None);
        run.counters.considered = Some(explored.states);
        return explored.outcome;
    }
    let mut visited = run.visited();
    let ended = levels(run, &mut visited);
    let outcome = match crew::agree(run, ended) {
        Ok(Ended::WorthThreads { level, depth }) => {
            let explored = breadth_first(run, visited, level, depth, None)?;
            run.counters.considered = Some(explored.states);
            return explored.outcome;
        }
        Ok(Ended::Stop(stop)) => Ok(stop),
        Err(halt) => Err(halt),
    };
    run.counters.considered = Some(visited.len() as u64);
    run.counters.odds = visited.odds();
    outcome
}

/// How the part of a search on one thread ended.
enum Ended {
    Stop(StopReason),
    /// Several threads should go on with this level.
    WorthThreads {
        level: Range<u32>,
        depth: u32,
    },
}

fn levels(run: &mut Run<'_>, visited: &mut Visited) -> Result<Ended, Halt> {
    Level::first(run, visited)?;
    // Ids are given in order of discovery: a level is a range of ids.
    let (mut start, mut end) = (0u32, visited.len() as u32);
    let mut depth = 0;
    let (mut states, mut state, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    while start < end {
        if depth == run.view.max_depth {
            return Ok(Ended::Stop(StopReason::MaxDepth));
        }
        if crew::is_worth(run, (end - start) as usize, visited.len()) {
            return Ok(Ended::WorthThreads { level: start..end, depth });
        }
        while start < end {
            let batch = start..end.min(start + BATCH);
            states.clear();
            for id in batch.clone() {
                visited.load(id, &mut state);
                states.extend_from_slice(&state);
            }
            run.expand_level(
                &states,
                depth,
                visited,
                |visited, index| visited.path(batch.start + index as u32),
                |run, visited, index, state, successors| {
                    let id = batch.start + index as u32;
                    visited.insert_all(&mut *run.view.explorer, successors, id, &mut targets);
                    run.check(state, successors, &|| visited.path(id))?;
                    visited.forget(id);
                    Ok(())
                },
            )?;
            start = batch.end;
        }
        end = visited.len() as u32;
        depth += 1;
    }
    Ok(Ended::Stop(StopReason::Exhausted))
}
