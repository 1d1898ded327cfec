//! Divides one block into the states that reach a splitter by inert edges and those that do not, in
//! time proportional to the lighter part.
//!
//! Two searches alternate: one grows the reaching states backwards from the sources of the
//! splitter, the other grows the non-reaching states, from bottom states without an edge in the
//! splitter to states whose inert edges all lead to such states. The search that finishes first has
//! found its part, and the other one is abandoned. A search pays the weight (degree) of a state
//! before it visits its edges, and the search that has paid less continues. Neither therefore does
//! more work than the weight of the finished part, which is at most half that of the block.

use super::blocks::Blocks;
use super::edges::Edges;
use crate::reduction::graph::NONE;

/// The contents of the seeds of a division.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// All sources of the splitter.
    Complete,
    /// All bottom states among the sources. The other sources must be discovered.
    BottomStates,
}

/// The part that was found first.
pub(super) struct Part {
    pub(super) states: Vec<u32>,
    /// Whether these are the states that reach the splitter.
    pub(super) reaching: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Unknown,
    Reaching,
    /// Does not reach the splitter, or (before it is visited) only by an edge of its own.
    Other,
}

/// Memory of the searches.
pub(super) struct Sides {
    side: Vec<Side>,
    /// The number of inert edges not yet known to lead to [`Side::Other`]; 0 if not yet counted.
    open: Vec<u32>,
    counted: Vec<u32>,
    reaching: Vec<u32>,
    other: Vec<u32>,
    /// For use by the caller.
    pub(super) moved_slices: Vec<u32>,
}

impl Sides {
    pub(super) fn new(states: usize) -> Sides {
        Sides {
            side: vec![Side::Unknown; states],
            open: vec![0; states],
            counted: Vec::new(),
            reaching: Vec::new(),
            other: Vec::new(),
            moved_slices: Vec::new(),
        }
    }

    /// Returns the memory of a part for reuse.
    pub(super) fn recycle(&mut self, mut states: Vec<u32>) {
        states.clear();
        if self.reaching.capacity() == 0 {
            self.reaching = states;
        } else if self.other.capacity() == 0 {
            self.other = states;
        }
    }

    /// Finds one part of the block; `None` if all of it reaches the slice. Leaves marks on bottom
    /// states, which [`Blocks::carve`] removes.
    pub(super) fn search(
        &mut self,
        blocks: &mut Blocks,
        edges: &Edges,
        block: u32,
        slice: u32,
        knowledge: Knowledge,
        seeds: &[u32],
    ) -> Option<Part> {
        for &state in seeds {
            if self.side[state as usize] == Side::Unknown {
                self.reach(state);
                blocks.mark_if_bottom(state);
            }
        }
        // Every state reaches a bottom state. If all of these have an edge of the splitter, all
        // states reach it.
        let part = if blocks.unmarked_bottom_states(block).is_empty() {
            blocks.unmark_all(block);
            None
        } else {
            let reaching = self.race(blocks, edges, block, slice, knowledge);
            if !reaching {
                self.other.extend_from_slice(blocks.unmarked_bottom_states(block));
            }
            Some(reaching)
        };
        self.clean();
        let part = part.map(|reaching| Part {
            states: std::mem::take(if reaching { &mut self.reaching } else { &mut self.other }),
            reaching,
        });
        self.reaching.clear();
        self.other.clear();
        part
    }

    fn reach(&mut self, state: u32) {
        self.side[state as usize] = Side::Reaching;
        self.reaching.push(state);
    }

    /// Runs both searches. Returns whether the reaching states were complete first.
    fn race(&mut self, blocks: &Blocks, edges: &Edges, block: u32, slice: u32, knowledge: Knowledge) -> bool {
        let complete = knowledge == Knowledge::Complete;
        let bottom = blocks.unmarked_bottom_states(block);
        let mut undiscovered = if complete { NONE } else { edges.first_of_slice(slice) };
        let (mut reaching_paid, mut other_paid) = (0, 0);
        let (mut next_reaching, mut next_other) = (0, 0);
        let (mut reaching_due, mut other_due) = (NONE, NONE);
        loop {
            if reaching_paid <= other_paid {
                if reaching_due != NONE {
                    self.grow_reaching(blocks, edges, block, reaching_due);
                    reaching_due = NONE;
                }
                if let Some(&state) = self.reaching.get(next_reaching) {
                    next_reaching += 1;
                    reaching_paid += edges.weight(state);
                    reaching_due = state;
                } else if undiscovered != NONE {
                    let state = edges.source(undiscovered);
                    undiscovered = edges.after(undiscovered);
                    reaching_paid += 1;
                    if self.side[state as usize] != Side::Reaching {
                        self.reach(state);
                    }
                } else {
                    return true;
                }
            } else {
                if other_due != NONE {
                    self.grow_other(blocks, edges, block, other_due, if complete { NONE } else { slice });
                }
                let state = match bottom.get(next_other) {
                    Some(&state) => state,
                    None => match self.other.get(next_other - bottom.len()) {
                        Some(&state) => state,
                        None => {
                            // Candidates that turned out to reach the splitter by an edge of their
                            // own.
                            let side = &self.side;
                            self.other.retain(|&state| side[state as usize] == Side::Other);
                            return false;
                        }
                    },
                };
                next_other += 1;
                other_paid += edges.weight(state);
                other_due = state;
            }
        }
    }

    fn grow_reaching(&mut self, blocks: &Blocks, edges: &Edges, block: u32, state: u32) {
        for &edge in edges.internal_in(state) {
            let source = edges.source(edge);
            // Internal edges within a block are inert.
            if blocks.of(source) == block && self.side[source as usize] == Side::Unknown {
                self.reach(source);
            }
        }
    }

    /// `slice` is `NONE` if all sources of the splitter are known.
    fn grow_other(&mut self, blocks: &Blocks, edges: &Edges, block: u32, state: u32, slice: u32) {
        if slice != NONE && blocks.inert_edges(state) > 0 {
            if self.side[state as usize] == Side::Reaching {
                return;
            }
            // All inert edges lead to the other side. A state with an edge of the splitter becomes
            // a new bottom state, which happens once; without one, it belongs to the part that this
            // search pays for.
            if edges.out(state).any(|edge| edges.slice(edge) == slice) {
                self.reach(state);
                return;
            }
        }
        for &edge in edges.internal_in(state) {
            let source = edges.source(edge);
            if blocks.of(source) != block || self.side[source as usize] != Side::Unknown {
                continue;
            }
            let open = &mut self.open[source as usize];
            if *open == 0 {
                *open = blocks.inert_edges(source);
                self.counted.push(source);
            }
            *open -= 1;
            if *open == 0 {
                self.side[source as usize] = Side::Other;
                self.other.push(source);
            }
        }
    }

    /// Resets the memory of the searches. Abandoned states are in `reaching`, `other` or `counted`.
    fn clean(&mut self) {
        for &state in self.reaching.iter().chain(&self.other).chain(&self.counted) {
            self.side[state as usize] = Side::Unknown;
            self.open[state as usize] = 0;
        }
        self.counted.clear();
    }
}
