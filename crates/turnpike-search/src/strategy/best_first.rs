//! Best-first search: always expands the most promising state known, by a measure of the model.
//!
//! It is complete on finite systems unless the queue is bounded. Among equals, later arrivals come
//! first, so with a flat guide the search behaves like depth-first search instead of flooding a
//! level.

use std::collections::BTreeMap;

use turnpike_model::Diagnostic;

use super::descriptor::{Descriptor, OptionInfo, Parallel, ValueKind};
use super::guide::GUIDE;
use super::{Guide, Search};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::run::Run;
use crate::store::{ROOT, Visited};

/// The most promising state first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestFirst {
    /// What to prefer.
    pub guide: Guide,
    /// Longest queue; the least promising states fall out.
    pub queue: Option<u64>,
}

const QUEUE: OptionInfo = OptionInfo {
    name: "queue",
    value: ValueKind::LARGE,
    default: "",
    doc: "the maximum length of the queue; the least promising states are dropped",
};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "best-first",
    summary: "the most promising state first",
    guarantee: "complete on finite systems unless the queue is bounded",
    memory: "all states met",
    when: "the model has a measure that leads to the bug",
    options: &[GUIDE, QUEUE],
    settings: &[],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| Ok(BestFirst { guide: given.guide()?, queue: given.count(&QUEUE)? }.into()),
};

impl Search for BestFirst {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, &self.guide, self.queue)
    }

    fn check(&self, _: &SearchOptions) -> Result<(), Diagnostic> {
        if self.queue == Some(0) {
            return Err(Diagnostic::error("the queue bound must be at least 1"));
        }
        Ok(())
    }
}

/// Orders the queue: rank first, then the latest arrival.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    rank: f64,
    arrival: u64,
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.total_cmp(&other.rank).then(other.arrival.cmp(&self.arrival))
    }
}

fn search(run: &mut Run<'_>, guide: &Guide, bound: Option<u64>) -> Result<StopReason, Halt> {
    let mut visited = run.visited();
    let outcome = best_first(run, guide, bound, &mut visited);
    run.counters.considered = Some(visited.len() as u64);
    run.counters.odds = visited.odds();
    outcome
}

fn best_first(
    run: &mut Run<'_>,
    guide: &Guide,
    bound: Option<u64>,
    visited: &mut Visited,
) -> Result<StopReason, Halt> {
    let measure = guide.resolve(run.model.info()).map_err(SearchError::from)?;
    let mut queue: BTreeMap<Key, (u32, u32)> = BTreeMap::new();
    let mut arrival = 0;
    let (mut state, mut successors) = (run.initial()?, run.buffer());
    visited.insert(&mut *run.view.explorer, &state, ROOT, 0);
    queue.insert(Key { rank: 0.0, arrival }, (0, 0));
    let (mut cut, mut dropped) = (false, false);
    while let Some((_, (id, depth))) = queue.pop_first() {
        if depth == run.view.max_depth {
            cut = true;
            continue;
        }
        visited.load(id, &mut state);
        run.expand(&state, depth, &mut successors, &|| visited.path(id))?;
        for choice in 0..successors.len() {
            let target = successors.state(choice);
            if let Some(child) = visited.insert(&mut *run.view.explorer, target, id, choice as u32) {
                arrival += 1;
                queue.insert(
                    Key { rank: guide.rank(&mut *run.view.explorer, measure, target), arrival },
                    (child, depth + 1),
                );
            }
        }
        run.check(&state, &successors, &|| visited.path(id))?;
        visited.forget(id);
        while bound.is_some_and(|bound| queue.len() as u64 > bound) {
            dropped = true;
            if let Some((_, (id, _))) = queue.pop_last() {
                visited.forget(id);
            }
        }
    }
    Ok(match (dropped, cut) {
        (true, _) => StopReason::Finished,
        (_, true) => StopReason::MaxDepth,
        _ => StopReason::Exhausted,
    })
}
