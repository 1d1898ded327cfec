//! Nested depth-first search with four colours (Schwoon and Esparza, with the shortcut for states
//! whose successors are all red).
//!
//! The outer search colours a state cyan while it is on the stack. A step onto the stack closes a
//! cycle, which is accepting if either end of the step is. On leaving an accepting state, the inner
//! search follows blue states from it and colours them red; a step onto the stack closes a cycle
//! through the accepting state. Red states do not lead to an accepting cycle and are never visited
//! again. The first cycle ends the search.

use super::Order;
use super::graph::{Graph, INITIAL, Lasso};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    White,
    Cyan,
    Blue,
    Red,
}

/// A state on the stack. Its successors still to try are the top of the shared list from `start` on.
struct Frame {
    id: u32,
    start: usize,
    all_red: bool,
}

pub(super) fn search(run: &mut Run<'_>, graph: &mut Graph, order: Order) -> Result<StopReason, Halt> {
    let mut colours = vec![Colour::White];
    let (mut stack, mut todo): (Vec<Frame>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut entering = Some(INITIAL);
    let mut cut = false;
    loop {
        if let Some(id) = entering.take() {
            let depth = stack.len() as u32;
            if depth == run.view.max_depth {
                cut = true;
                if let Some(top) = stack.last_mut() {
                    top.all_red = false;
                }
            } else {
                graph.expand(run, id, depth)?;
                colours.resize(graph.len(), Colour::White);
                colours[id as usize] = Colour::Cyan;
                stack.push(Frame { id, start: todo.len(), all_red: true });
                todo.extend(graph.targets(id).iter().rev());
            }
        }
        let Some(top) = stack.last_mut() else { break };
        if todo.len() > top.start {
            let pick = match order {
                Order::Given => todo.len() - 1,
                Order::Random => top.start + run.rng.index(todo.len() - top.start),
            };
            let next = todo.swap_remove(pick);
            match colours[next as usize] {
                Colour::White => entering = Some(next),
                Colour::Cyan if graph.is_accepting(top.id) || graph.is_accepting(next) => {
                    let lasso = closed(&stack, &[], next);
                    graph.report(run, lasso)?;
                }
                Colour::Cyan | Colour::Blue => top.all_red = false,
                Colour::Red => {}
            }
            continue;
        }
        let (id, all_red) = (top.id, top.all_red);
        if all_red {
            colours[id as usize] = Colour::Red;
        } else if graph.is_accepting(id) {
            if let Some((way, closing)) = inner(graph, &mut colours, id) {
                let lasso = closed(&stack, &way, closing);
                graph.report(run, lasso)?;
            }
            colours[id as usize] = Colour::Red;
        } else {
            colours[id as usize] = Colour::Blue;
        }
        stack.pop();
        if let Some(parent) = stack.last_mut()
            && colours[id as usize] != Colour::Red
        {
            parent.all_red = false;
        }
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}

/// The inner search: the states on the way from `seed`, without it, to one that leads onto the stack; and where to.
fn inner(graph: &Graph, colours: &mut [Colour], seed: u32) -> Option<(Vec<u32>, u32)> {
    let mut stack: Vec<(u32, usize)> = vec![(seed, 0)];
    while let Some((id, next)) = stack.last_mut() {
        let Some(&target) = graph.targets(*id).get(*next) else {
            stack.pop();
            continue;
        };
        *next += 1;
        match colours[target as usize] {
            Colour::Cyan => return Some((stack[1..].iter().map(|&(id, _)| id).collect(), target)),
            Colour::Blue => {
                colours[target as usize] = Colour::Red;
                stack.push((target, 0));
            }
            Colour::White | Colour::Red => {}
        }
    }
    None
}

/// The lasso of the stack, some more states, and a step back to one of the stack.
fn closed(stack: &[Frame], more: &[u32], closing: u32) -> Lasso {
    let at = stack.iter().position(|frame| frame.id == closing).unwrap_or(0);
    let ids = |frames: &[Frame]| frames.iter().map(|frame| frame.id).collect::<Vec<u32>>();
    let mut cycle = ids(&stack[at..]);
    cycle.extend_from_slice(more);
    Lasso { stem: ids(&stack[..=at]), cycle }
}
