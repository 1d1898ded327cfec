//! Bounded exhaustive search: every path up to a depth, without storing states (EXH of seed paper 004).
//!
//! Complete up to the depth; the cost is the number of paths, not of states. Memory is one path.

use turnpike_model::Successors;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::witness::Path;

/// A state on the current path, its transitions and the next of them to take.
struct Frame {
    state: Vec<u32>,
    successors: Successors,
    next: usize,
}

pub(crate) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
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
