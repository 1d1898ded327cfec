//! Bounded exhaustive search: every path up to a depth, without storing states (EXH of Godefroid
//! and Khurshid).
//!
//! Complete up to the depth. The cost is the number of paths, not of states. Memory is one path.

use turnpike_model::{Diagnostic, Successors};

use super::descriptor::{Descriptor, Parallel};
use super::genetic::DEPTH;
use super::{Search, executions};
use crate::error::Halt;
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
    summary: "every path up to a depth, no states stored; of programs one execution for each order of dependent steps (source-DPOR)",
    guarantee: "complete up to the depth",
    memory: "one path",
    when: "states cannot be stored, and the bug is near",
    options: &[DEPTH],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| {
        // Executions of a program are bounded anyway.
        let unbounded = given.model.capabilities.violations_on_expansion.then_some(u32::MAX);
        let depth = given.count(&DEPTH)?.or(unbounded).ok_or_else(|| {
            Diagnostic::error("exhaustive needs --depth: it follows every path up to that depth")
                .help("for example --depth 20; bfs covers everything without a bound")
        })?;
        Ok(Exhaustive { depth }.into())
    },
};

impl Search for Exhaustive {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if !executions::applies(run) {
            return search(run, self.depth);
        }
        let reduced = run.paths_info().is_some_and(|info| info.reduced);
        if run.options.source_dpor.unwrap_or(!reduced) {
            executions::explore(run, self.depth)
        } else {
            executions::enumerate(run, self.depth)
        }
    }
}

/// A state on the current path, its transitions and the next of them to take.
struct Frame {
    state: Vec<u32>,
    successors: Successors,
    next: usize,
}

fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let depth = depth.saturating_add(run.uncounted_levels());
    let mut stack: Vec<Frame> = Vec::new();
    let mut entering = Some(run.initial()?);
    let mut cut = false;
    loop {
        if let Some(state) = entering.take() {
            let at = stack.len() as u32;
            if at == run.max_depth {
                cut = true;
                continue;
            }
            // A state at the bound is still looked at, so that a deadlock there is found; it is not left again.
            let mut successors = run.buffer();
            stack.push(Frame { state, successors: Successors::default(), next: 0 });
            let state = stack[stack.len() - 1].state.clone();
            run.expand(&state, at, &mut successors, &|| path(&stack))?;
            run.check(&state, &successors, &|| path(&stack))?;
            let top = stack.len() - 1;
            if at == depth {
                cut |= !successors.is_empty();
                stack[top].next = successors.len();
            }
            stack[top].successors = successors;
        }
        let Some(top) = stack.last_mut() else { break };
        if top.next < top.successors.len() {
            entering = Some(top.successors.state(top.next).to_vec());
            top.next += 1;
        } else {
            stack.pop();
        }
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}

fn path(stack: &[Frame]) -> Path {
    Path::States(stack.iter().flat_map(|frame| frame.state.iter().copied()).collect())
}
