//! Sampling from the frontier: random schedules that continue earlier ones where these met
//! something new.
//!
//! A *sketch* of a state says what each thread is about to do and which step modified each object
//! last. Whenever an execution meets a sketch for the first time, the schedule up to there is kept.
//! Each execution draws some of these schedules, takes the shortest, and continues it by random
//! priorities of operations. Errors that need many preemptions in a row are then reached piece by
//! piece, as each piece is something new. Short beginnings are preferred because long ones lead to
//! ends that were met before.
//!
//! **Guarantee**: none; sketches decide only where executions begin. **Memory**: the schedules
//! kept, up to a bound at which it begins again.

use rustc_hash::FxHashSet;
use turnpike_model::paths::{Chooser, Detail, Paths, Request};

use super::Search;
use super::descriptor::{Descriptor, Parallel, Setting};
use crate::error::Halt;
use crate::follow;
use crate::follow::pool::{Batch, Digest};
use crate::follow::summary::{Summarise, Summary};
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::wire::{Reader, Writer};

/// Random schedules that continue those which met something new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frontier;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "frontier",
    summary: "programs: random schedules that continue those which met a new combination of pending operations and last writers",
    guarantee: "none",
    memory: "the schedules that met something new, at most 50 MiB",
    when: "errors that need many preemptions",
    options: &[],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: true,
    parallel: Parallel::Executions,
    build: |_| Ok(Frontier.into()),
};

impl Search for Frontier {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, &mut Known::default())
    }

    fn shares_out_paths(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        true
    }
}

/// Executions that are planned together: none of them continues another.
const LARGEST: usize = 256;
/// Beginnings that are drawn, of which the shortest is taken.
const DRAWN: usize = 16;
/// Choices that are remembered at most.
const ROOM: usize = 8 << 20;
/// Beginnings that are remembered at most.
const MOST: usize = 1 << 20;

/// Follows schedules until a limit is reached or the objective is met. What was met before is not
/// new.
pub(super) fn search(run: &mut Run<'_>, known: &mut Known) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info().filter(|_| follow::natively(run)) else {
        return Ok(StopReason::Finished);
    };
    let max_steps = info.max_steps.min(run.view.max_depth);
    let mut summarise = Summarise::new(run)?;
    let (mut first, mut count) = (0u64, if known.beginnings.is_empty() { 1 } else { LARGEST });
    loop {
        summarise.refresh(run);
        let starts: Vec<Start> = (first..).take(count).map(|number| known.draw(run.seed, number)).collect();
        let request = |index: usize| Request {
            prefix: known.schedule(starts[index].beginning),
            chooser: Chooser::Sketch { seed: starts[index].seed },
            max_steps,
            detail: summarise.detail().max(Detail::Steps),
            reduced: true,
        };
        let batch = Batch {
            count,
            request: &request,
            digest: &|paths| Met::new(&summarise, paths),
            last: &|met: &Met| !met.summary.hits.is_empty(),
        };
        let mut executions = Vec::with_capacity(count);
        batch.follow(run, &mut |run, index, met| {
            run.book_execution(&met.summary)?;
            executions.push((starts[index].beginning.length, met));
            Ok(())
        })?;
        for (from, met) in &executions {
            known.add(*from, met);
        }
        if known.beginnings.is_empty() {
            // There was never a choice.
            return Ok(StopReason::Finished);
        }
        first += count as u64;
        count = (count * 2).min(LARGEST);
    }
}

/// What is kept of an execution.
struct Met {
    summary: Summary,
    /// The choices taken.
    taken: Vec<u32>,
    /// Sketches of the states before the steps.
    sketches: Vec<u64>,
}

impl Met {
    fn new(summarise: &Summarise, paths: &mut dyn Paths) -> Self {
        let mut summary = summarise.of(paths);
        // They are not fingerprints, and must not be counted among them.
        summary.prints.clear();
        let mut sketches = Vec::new();
        paths.fingerprints(&mut sketches);
        let taken = (0..paths.len()).map(|at| paths.step(at).taken).collect();
        Met { summary, taken, sketches }
    }
}

impl Digest for Met {
    fn write(&self, out: &mut Writer) {
        self.summary.write(out);
        out.words(&self.taken);
        out.longs(&self.sketches);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Met { summary: Summary::read(reader)?, taken: reader.words()?, sketches: reader.longs()? })
    }
}

/// A part of the schedules kept.
#[derive(Clone, Copy, Default)]
struct Beginning {
    at: u32,
    length: u32,
}

/// Where an execution begins, and the seed of the rest.
struct Start {
    beginning: Beginning,
    seed: u64,
}

/// What was met so far.
#[derive(Default)]
pub(super) struct Known {
    sketches: FxHashSet<u64>,
    beginnings: Vec<Beginning>,
    /// Schedules, one after the other.
    choices: Vec<u32>,
}

impl Known {
    /// Where execution number `number` begins.
    fn draw(&self, seed: u64, number: u64) -> Start {
        let seed = derive(seed, Purpose::Execution, number);
        let mut rng = Rng::new(seed);
        let drawn = (0..DRAWN).filter_map(|_| match self.beginnings.len() {
            0 => None,
            count => Some(self.beginnings[rng.index(count)]),
        });
        let beginning = drawn.min_by_key(|beginning| beginning.length).unwrap_or_default();
        Start { beginning, seed }
    }

    fn schedule(&self, beginning: Beginning) -> &[u32] {
        &self.choices[beginning.at as usize..][..beginning.length as usize]
    }

    /// Keeps what was new behind the first `from` steps.
    fn add(&mut self, from: u32, met: &Met) {
        if self.choices.len() > ROOM || self.beginnings.len() > MOST {
            *self = Known::default();
        }
        let at = self.choices.len() as u32;
        let mut kept = 0;
        for (length, sketch) in (0u32..).zip(&met.sketches).skip(from as usize) {
            if self.sketches.insert(*sketch) {
                self.beginnings.push(Beginning { at, length });
                kept = length as usize;
            }
        }
        self.choices.extend_from_slice(&met.taken[..kept]);
    }
}
