//! Expands the states of a level in order, on any number of threads with the same result.
//!
//! Helper threads compute blocks of expansions ahead; the caller consumes them strictly in the
//! order of the level. The consumer makes all decisions, so they are those of a sequential run.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use turnpike_model::paths::Paths;
use turnpike_model::{Explorer, StepError, Successors};

use crate::error::Halt;
use crate::run::Run;
use crate::witness::Path;

/// States per block; smaller levels are not worth a thread.
const BLOCK: usize = 128;
const MIN_PARALLEL: usize = 2 * BLOCK;
/// Blocks each helper may be ahead.
const AHEAD: usize = 4;

/// One in this many sequential expansions is timed.
const SAMPLE: usize = 64;
const MIN_SAMPLES: u32 = 16;

/// Where the time goes: whether threads pay is measured, not guessed. Results never depend on the answer.
#[derive(Debug, Default)]
struct Costs {
    expanding: Duration,
    consuming: Duration,
    samples: u32,
}

impl Costs {
    /// Handing blocks over costs about as much as a cheap model's expansions: they must be worth sharing out.
    fn threads_pay(&self) -> bool {
        self.samples >= MIN_SAMPLES && self.expanding * 2 > self.consuming
    }
}

/// The threads of a run. What helpers need is made when it is first asked for, and kept.
pub(crate) struct Team<'m> {
    pub(crate) threads: usize,
    explorers: Vec<Box<dyn Explorer + 'm>>,
    pub(crate) paths: Vec<Box<dyn Paths + 'm>>,
    costs: Costs,
}

impl Default for Team<'_> {
    /// One thread alone.
    fn default() -> Self {
        Team { threads: 1, explorers: Vec::new(), paths: Vec::new(), costs: Costs::default() }
    }
}

/// The expansions of one block, flat.
struct Block {
    all: Successors,
    /// For each state: where its transitions end in `all`, or what went wrong.
    ends: Vec<Result<usize, StepError>>,
}

fn expand_block(explorer: &mut dyn Explorer, states: &[u32], width: usize) -> Block {
    let mut block = Block { all: Successors::new(width), ends: Vec::with_capacity(BLOCK) };
    let mut one = Successors::new(width);
    for state in states.chunks_exact(width) {
        let outcome = explorer.successors(state, &mut one);
        block.all.append(&one);
        block.ends.push(outcome.map(|()| block.all.len()));
    }
    block
}

impl Run<'_> {
    /// Expands `states` (flat) at `depth` in order. For each: `path(index)` gives the path there on
    /// demand, and `consume(run, index, state, successors)` remembers and checks.
    pub(crate) fn expand_level<C: ?Sized>(
        &mut self,
        states: &[u32],
        depth: u32,
        context: &mut C,
        path: impl Fn(&C, usize) -> Path,
        mut consume: impl FnMut(&mut Self, &mut C, usize, &[u32], &Successors) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let width = self.width();
        let mut successors = self.buffer();
        let count = states.len().checked_div(width).unwrap_or(1);
        let threads_pay = self.options.eager_threads || self.team.costs.threads_pay();
        if self.team.threads < 2 || count < MIN_PARALLEL || !threads_pay {
            for index in 0..count {
                let state = &states[index * width..(index + 1) * width];
                let sampled = (self.team.threads > 1 && index % SAMPLE == 0).then(Instant::now);
                self.expand(state, depth, &mut successors, &|| path(context, index))?;
                let expanded = sampled.map(|start| start.elapsed());
                consume(self, context, index, state, &successors)?;
                if let (Some(start), Some(expanding)) = (sampled, expanded) {
                    self.team.costs.expanding += expanding;
                    self.team.costs.consuming += start.elapsed() - expanding;
                    self.team.costs.samples += 1;
                }
            }
            return Ok(());
        }
        while self.team.explorers.len() < self.team.threads {
            self.team.explorers.push(self.model.explorer());
        }
        let mut helpers = std::mem::take(&mut self.team.explorers);
        let outcome = std::thread::scope(|scope| {
            let team = helpers.len();
            let mut inboxes = Vec::with_capacity(team);
            for (member, explorer) in helpers.iter_mut().enumerate() {
                let (sender, inbox) = mpsc::sync_channel::<Block>(AHEAD);
                inboxes.push(inbox);
                scope.spawn(move || {
                    for block in states.chunks(BLOCK * width).skip(member).step_by(team) {
                        // The consumer hangs up when it stops early.
                        if sender.send(expand_block(&mut **explorer, block, width)).is_err() {
                            return;
                        }
                    }
                });
            }
            let blocks = count.div_ceil(BLOCK);
            for number in 0..blocks {
                let block = inboxes[number % team].recv().expect("a helper sends all its blocks");
                let mut start = 0;
                for (offset, end) in block.ends.into_iter().enumerate() {
                    let index = number * BLOCK + offset;
                    let state = &states[index * width..(index + 1) * width];
                    self.admit()?;
                    self.accept(state, depth, &|| path(context, index))?;
                    let end = match end {
                        Ok(end) => end,
                        Err(error) => {
                            self.count(depth, 0, Err(error), &|| path(context, index))?;
                            continue;
                        }
                    };
                    successors.clear();
                    successors.append_range(&block.all, start..end);
                    start = end;
                    self.count(depth, successors.len(), Ok(()), &|| path(context, index))?;
                    consume(self, context, index, state, &successors)?;
                }
            }
            Ok(())
        });
        self.team.explorers = helpers;
        outcome
    }
}
