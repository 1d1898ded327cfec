//! Bounded exhaustive search: every path up to a depth, without storing states (EXH of Godefroid
//! and Khurshid).
//!
//! Complete up to the depth. The cost is the number of paths, not of states. Memory is one path.
//!
//! The next path is always the last one up to the deepest state where something else could have
//! been done. Where the system knows which steps depend on each other, [`reduced`] leaves out paths
//! that differ only in the order of those that do not.

mod bounded;
pub(super) mod reduced;
mod wakeup;

use turnpike_model::paths::{Chooser, PathsInfo, Request};
use turnpike_model::{Diagnostic, Successors};

use super::Search;
use super::descriptor::{Descriptor, Parallel};
use super::genetic::DEPTH;
use crate::error::Halt;
use crate::follow;
use crate::follow::summary::Summarise;
use crate::limits::StopReason;
use crate::run::Run;
use crate::witness::Path;

/// All paths up to a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhaustive {
    /// Longest path, in transitions.
    pub depth: u32,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "exhaustive",
    summary: "every path up to a depth, without storing states; for programs one execution for each order of dependent steps (DPOR with wakeup trees)",
    guarantee: "complete up to the depth",
    memory: "one path",
    when: "states cannot be stored, and the bug is near; a proof for a small program",
    options: &[DEPTH],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| {
        // Executions of a program are bounded anyway.
        let unbounded = given.model.capabilities.violations_on_expansion.then_some(u32::MAX);
        let depth = given.count(&DEPTH)?.or(unbounded).ok_or_else(|| {
            Diagnostic::error("exhaustive needs a depth: it follows every path up to there")
                .help("give one by the option `depth`, such as 20; bfs covers everything without a bound")
        })?;
        Ok(Exhaustive { depth }.into())
    },
};

impl Search for Exhaustive {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let Some(info) = run.paths_info().filter(|_| follow::natively(run)) else {
            let walks = Walks::new(run, self.depth)?;
            return enumerate(run, walks);
        };
        if info.bounded {
            return bounded::search(run, self.depth);
        }
        if run.options.source_dpor.unwrap_or(!info.reduced) {
            return reduced::search(run, self.depth);
        }
        let paths = NativePaths::new(run, info, self.depth)?;
        enumerate(run, paths)
    }
}

/// What was chosen in a state.
#[derive(Clone, Copy)]
struct Chosen {
    position: u32,
    /// Out of so many.
    count: u32,
}

/// A system whose paths are enumerated.
trait Enumerated {
    /// Follows the path that begins with these choices, and then always takes the first one; appends what it chose.
    fn follow(&mut self, run: &mut Run<'_>, path: &mut Vec<Chosen>) -> Result<(), Halt>;

    /// What all paths together show.
    fn conclude(&self, run: &Run<'_>) -> StopReason;
}

fn enumerate(run: &mut Run<'_>, mut paths: impl Enumerated) -> Result<StopReason, Halt> {
    let mut path: Vec<Chosen> = Vec::new();
    loop {
        paths.follow(run, &mut path)?;
        while path.pop_if(|last| last.position + 1 == last.count).is_some() {}
        let Some(last) = path.last_mut() else { return Ok(paths.conclude(run)) };
        last.position += 1;
    }
}

/// A state on the current path, with its transitions.
struct Frame {
    state: Vec<u32>,
    successors: Successors,
}

/// Walks over states. What a path has in common with the one before is not expanded again.
struct Walks {
    initial: Vec<u32>,
    /// The states on the current path, the first ones; the memory of others is used again.
    frames: Vec<Frame>,
    /// States at this depth are looked at, so that a deadlock there is found, but not left.
    depth: u32,
    cut: bool,
}

impl Walks {
    fn new(run: &mut Run<'_>, depth: u32) -> Result<Self, Halt> {
        let depth = depth.saturating_add(run.uncounted_levels());
        Ok(Walks { initial: run.initial()?, frames: Vec::new(), depth, cut: false })
    }

    /// Enters the state behind the last choice.
    fn enter(&mut self, run: &Run<'_>, path: &[Chosen]) {
        let at = path.len();
        if self.frames.len() == at {
            self.frames.push(Frame { state: Vec::new(), successors: run.buffer() });
        }
        let (before, frame) = self.frames.split_at_mut(at);
        frame[0].state.clear();
        frame[0].state.extend_from_slice(match (before.last(), path.last()) {
            (Some(from), Some(chosen)) => from.successors.state(chosen.position as usize),
            _ => &self.initial,
        });
    }
}

impl Enumerated for Walks {
    fn follow(&mut self, run: &mut Run<'_>, path: &mut Vec<Chosen>) -> Result<(), Halt> {
        loop {
            let at = path.len();
            if at as u32 == run.view.max_depth {
                self.cut = true;
                return Ok(());
            }
            self.enter(run, path);
            let mut successors = std::mem::take(&mut self.frames[at].successors);
            let frames = &self.frames[..=at];
            let way = || Path::States(frames.iter().flat_map(|frame| frame.state.iter().copied()).collect());
            run.expand(&frames[at].state, at as u32, &mut successors, &way)?;
            run.check(&frames[at].state, &successors, &way)?;
            let count = successors.len() as u32;
            self.frames[at].successors = successors;
            if count == 0 {
                return Ok(());
            }
            if at as u32 == self.depth {
                self.cut = true;
                return Ok(());
            }
            path.push(Chosen { position: 0, count });
        }
    }

    fn conclude(&self, _: &Run<'_>) -> StopReason {
        if self.cut { StopReason::MaxDepth } else { StopReason::Exhausted }
    }
}

/// Paths that the system follows itself, with the choices that it offers: if it reduces these already, the paths that
/// are left.
struct NativePaths {
    info: PathsInfo,
    max_steps: u32,
    summarise: Summarise,
    prefix: Vec<u32>,
}

impl NativePaths {
    fn new(run: &Run<'_>, info: PathsInfo, depth: u32) -> Result<Self, Halt> {
        let max_steps = info.max_steps.min(run.view.max_depth).min(depth);
        Ok(NativePaths { info, max_steps, summarise: Summarise::new(run)?, prefix: Vec::new() })
    }
}

impl Enumerated for NativePaths {
    fn follow(&mut self, run: &mut Run<'_>, path: &mut Vec<Chosen>) -> Result<(), Halt> {
        self.prefix.clear();
        self.prefix.extend(path.iter().map(|chosen| chosen.position));
        let (prefix, max_steps, detail) = (&self.prefix, self.max_steps, self.summarise.detail());
        let request = Request { prefix, chooser: Chooser::First, max_steps, detail, reduced: true };
        let paths = self.summarise.follow(run, &request)?;
        path.truncate(paths.len());
        let steps = (path.len()..paths.len()).map(|at| paths.step(at));
        path.extend(steps.map(|step| Chosen { position: step.taken, count: step.count }));
        Ok(())
    }

    fn conclude(&self, run: &Run<'_>) -> StopReason {
        let counts = &run.counters.executions;
        match () {
            () if counts.cut > 0 => StopReason::MaxDepth,
            () if counts.incomplete || !self.info.reduction_is_proved => StopReason::Finished,
            () => StopReason::Exhausted,
        }
    }
}
