//! Strongly connected components on the fly, with the accepting sets met in each (Couvreur).
//!
//! Depth-first search keeps the components of the part seen so far. A step to a state of an
//! unfinished component merges all components above it. As soon as a component with a cycle meets
//! all accepting sets, there is a lasso, often long before the component is complete.

use super::Order;
use super::graph::{Graph, INITIAL};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// The number of a state not entered yet, and of one whose component is complete.
const UNSEEN: u32 = 0;
const DONE: u32 = u32::MAX;

/// An unfinished component: the number of its first state, and the accepting sets met in it.
struct Component {
    root: u32,
    marks: u64,
}

/// A state on the stack. Its successors still to try are the top of the shared list from `start` on.
struct Frame {
    id: u32,
    start: usize,
}

/// How depth-first search went.
enum Outcome {
    /// States that are strongly connected and in all accepting sets.
    Core(Vec<u32>),
    /// There is no accepting cycle; whether some states were not looked at.
    Nothing { cut: bool },
}

/// Searches from the initial state, expanding what was not expanded yet.
pub(super) fn search(run: &mut Run<'_>, graph: &mut Graph, order: Order) -> Result<StopReason, Halt> {
    let max_depth = run.view.max_depth;
    let mut rng = run.rng.clone();
    let pick = |count: usize| match order {
        Order::Given => count - 1,
        Order::Random => rng.index(count),
    };
    let outcome = depth_first(graph, pick, |graph, id, depth| {
        if depth == max_depth {
            return Ok(false);
        }
        graph.expand(run, id, depth).map(|()| true)
    })?;
    match outcome {
        Outcome::Core(core) => report(run, graph, &core).map(|()| StopReason::Finished),
        Outcome::Nothing { cut: true } => Ok(StopReason::MaxDepth),
        Outcome::Nothing { cut: false } => Ok(StopReason::Exhausted),
    }
}

/// Looks for a lasso in what is stored, without expanding anything.
pub(super) fn search_stored(run: &mut Run<'_>, graph: &mut Graph) -> Result<(), Halt> {
    let outcome = depth_first(graph, |count| count - 1, |graph, id, _| Ok(graph.is_expanded(id)))?;
    match outcome {
        Outcome::Core(core) => report(run, graph, &core),
        Outcome::Nothing { .. } => Ok(()),
    }
}

fn report(run: &mut Run<'_>, graph: &Graph, core: &[u32]) -> Result<(), Halt> {
    match graph.lasso_through(core) {
        Some(lasso) => graph.report(run, lasso),
        None => Ok(()),
    }
}

/// `expand(graph, id, depth)` returns whether the transitions of a state are known after it.
fn depth_first(
    graph: &mut Graph,
    mut pick: impl FnMut(usize) -> usize,
    mut expand: impl FnMut(&mut Graph, u32, u32) -> Result<bool, Halt>,
) -> Result<Outcome, Halt> {
    let all_marks = graph.all_marks();
    let mut numbers: Vec<u32> = vec![UNSEEN];
    let mut components: Vec<Component> = Vec::new();
    // The states of unfinished components, in the order in which they were entered: a state's number is its place, from 1.
    let mut active: Vec<u32> = Vec::new();
    let (mut stack, mut todo): (Vec<Frame>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut entering = Some(INITIAL);
    let mut cut = false;
    loop {
        if let Some(id) = entering.take() {
            if expand(graph, id, stack.len() as u32)? {
                numbers.resize(graph.len(), UNSEEN);
                active.push(id);
                numbers[id as usize] = active.len() as u32;
                components.push(Component { root: active.len() as u32, marks: graph.marks(id) });
                stack.push(Frame { id, start: todo.len() });
                todo.extend(graph.targets(id).iter().rev());
            } else {
                cut = true;
            }
        }
        let Some(top) = stack.last() else { break };
        if todo.len() > top.start {
            let next = todo.swap_remove(top.start + pick(todo.len() - top.start));
            match numbers[next as usize] {
                DONE => {}
                UNSEEN => entering = Some(next),
                number => {
                    let mut marks = 0;
                    while let Some(inner) = components.pop_if(|component| component.root > number) {
                        marks |= inner.marks;
                    }
                    if let Some(component) = components.last_mut() {
                        component.marks |= marks;
                        if component.marks == all_marks {
                            return Ok(Outcome::Core(active[component.root as usize - 1..].to_vec()));
                        }
                    }
                }
            }
            continue;
        }
        let number = numbers[top.id as usize];
        if components.pop_if(|component| component.root == number).is_some() {
            for id in active.drain(number as usize - 1..) {
                numbers[id as usize] = DONE;
            }
        }
        stack.pop();
    }
    Ok(Outcome::Nothing { cut })
}
