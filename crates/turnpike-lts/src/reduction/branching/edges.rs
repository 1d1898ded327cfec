//! Edges and their three groupings: by *slice* (block of the source and bunch), by *action* (label
//! and block of the target, within a bunch) and by *counter* (source state and bunch). Inert edges
//! belong to none of them.
//!
//! Slices and actions are intrusive doubly linked lists, so an edge changes group in constant time.
//! That is all the complexity argument needs; groups need not be contiguous.

mod build;

use std::ops::Range;

use super::lists::{Links, List};
use crate::reduction::graph::NONE;

/// The edges of one block in one bunch.
#[derive(Clone, Copy)]
struct Slice {
    block: u32,
    bunch: u32,
    /// Edges of new bottom states, while the slice is doubtful.
    marked: List,
    unmarked: List,
    /// Neighbours in the list of the block's slices.
    previous: u32,
    next: u32,
    /// The target of edges that leave this slice in the current step.
    sibling: u32,
}

/// The edges of one bunch with one label into one block.
#[derive(Clone, Copy)]
struct Action {
    bunch: u32,
    size: u32,
    edges: List,
    /// Neighbours in the list of the bunch's actions.
    previous: u32,
    next: u32,
    sibling: u32,
}

pub(super) struct Edges {
    source: Vec<u32>,
    target: Vec<u32>,
    /// The outgoing edges of `s` are numbered `out_start[s]..out_start[s + 1]`. Internal ones
    /// precede `internal_end[s]`.
    out_start: Vec<u32>,
    internal_end: Vec<u32>,
    incoming: Vec<u32>,
    in_start: Vec<u32>,
    /// The end of the incoming internal edges, which come first.
    in_internal_end: Vec<u32>,

    slice_of: Vec<u32>,
    action_of: Vec<u32>,
    counter_of: Vec<u32>,
    marked: Vec<bool>,
    slice_links: Links,
    action_links: Links,

    slices: Vec<Slice>,
    slice_is_doubtful: Vec<bool>,
    free_slices: Vec<u32>,
    /// The first slice of each block.
    first_slice: Vec<u32>,
    actions: Vec<Action>,
    free_actions: Vec<u32>,
    /// The first action of each bunch.
    first_action: Vec<u32>,
    bunch_is_queued: Vec<bool>,
    composite: Vec<u32>,
    changed_actions: Vec<u32>,
}

impl Edges {
    #[inline]
    pub(super) fn source(&self, edge: u32) -> u32 {
        self.source[edge as usize]
    }

    #[inline]
    pub(super) fn target(&self, edge: u32) -> u32 {
        self.target[edge as usize]
    }

    /// The slice of an edge; `NONE` for inert ones.
    #[inline]
    pub(super) fn slice(&self, edge: u32) -> u32 {
        self.slice_of[edge as usize]
    }

    pub(super) fn counter(&self, edge: u32) -> u32 {
        self.counter_of[edge as usize]
    }

    pub(super) fn set_counter(&mut self, edge: u32, counter: u32) {
        self.counter_of[edge as usize] = counter;
    }

    pub(super) fn out(&self, state: u32) -> Range<u32> {
        self.out_start[state as usize]..self.out_start[state as usize + 1]
    }

    /// Outgoing internal edges, inert or not.
    pub(super) fn internal_out(&self, state: u32) -> Range<u32> {
        self.out_start[state as usize]..self.internal_end[state as usize]
    }

    /// Incoming internal edges, inert or not.
    pub(super) fn internal_in(&self, state: u32) -> &[u32] {
        &self.incoming[self.in_start[state as usize] as usize..self.in_internal_end[state as usize] as usize]
    }

    /// The cost of moving a state to another block.
    pub(super) fn weight(&self, state: u32) -> u64 {
        let s = state as usize;
        let degrees = (self.out_start[s + 1] - self.out_start[s], self.in_start[s + 1] - self.in_start[s]);
        1 + u64::from(degrees.0) + u64::from(degrees.1)
    }

    // Slices.

    pub(super) fn new_slice(&mut self, block: u32, bunch: u32) -> u32 {
        let at = block as usize;
        if self.first_slice.len() <= at {
            self.first_slice.resize(at + 1, NONE);
        }
        let next = self.first_slice[at];
        let slice = Slice {
            block,
            bunch,
            marked: List::EMPTY,
            unmarked: List::EMPTY,
            previous: NONE,
            next,
            sibling: NONE,
        };
        let number = reuse_or_push(&mut self.slices, &mut self.free_slices, slice);
        if self.slice_is_doubtful.len() < self.slices.len() {
            self.slice_is_doubtful.push(false);
        }
        if next != NONE {
            self.slices[next as usize].previous = number;
        }
        self.first_slice[at] = number;
        number
    }

    pub(super) fn slice_is_alive(&self, slice: u32) -> bool {
        let Slice { marked, unmarked, .. } = self.slices[slice as usize];
        marked.first() != NONE || unmarked.first() != NONE
    }

    pub(super) fn block_of_slice(&self, slice: u32) -> u32 {
        self.slices[slice as usize].block
    }

    pub(super) fn bunch_of_slice(&self, slice: u32) -> u32 {
        self.slices[slice as usize].bunch
    }

    /// An edge of the slice, from which [`Edges::after`] visits the other unmarked ones.
    pub(super) fn first_of_slice(&self, slice: u32) -> u32 {
        self.slices[slice as usize].unmarked.first()
    }

    /// The next unmarked edge of the same slice.
    pub(super) fn after(&self, edge: u32) -> u32 {
        self.slice_links.after(edge)
    }

    /// Moves an edge and its mark from its slice to the sibling of that slice in the current step.
    /// The first such edge creates the sibling, which is then returned.
    pub(super) fn move_to_sibling(&mut self, edge: u32, block: u32, bunch: u32) -> Option<u32> {
        let old = self.slice_of[edge as usize];
        let mut sibling = self.slices[old as usize].sibling;
        let created = sibling == NONE;
        if created {
            sibling = self.new_slice(block, bunch);
            self.slices[old as usize].sibling = sibling;
        }
        let marked = self.marked[edge as usize];
        let from = &mut self.slices[old as usize];
        self.slice_links.remove(if marked { &mut from.marked } else { &mut from.unmarked }, edge);
        let to = &mut self.slices[sibling as usize];
        self.slice_links.push(if marked { &mut to.marked } else { &mut to.unmarked }, edge);
        self.slice_of[edge as usize] = sibling;
        created.then_some(sibling)
    }

    /// Ends a step: later moves from these slices create new siblings.
    pub(super) fn forget_siblings(&mut self, slices: impl Iterator<Item = u32>) {
        for slice in slices {
            self.slices[slice as usize].sibling = NONE;
        }
    }

    /// Removes a slice without edges from its block. The number of a doubtful slice is still in the
    /// list of those, and is freed when its doubt is settled.
    pub(super) fn drop_if_empty(&mut self, slice: u32) -> bool {
        if self.slice_is_alive(slice) {
            return false;
        }
        let Slice { block, previous, next, .. } = self.slices[slice as usize];
        match previous {
            NONE => self.first_slice[block as usize] = next,
            _ => self.slices[previous as usize].next = next,
        }
        if next != NONE {
            self.slices[next as usize].previous = previous;
        }
        if !self.slice_is_doubtful[slice as usize] {
            self.free_slices.push(slice);
        }
        true
    }

    /// Marks an edge of a new bottom state.
    pub(super) fn mark(&mut self, edge: u32) {
        let slice = &mut self.slices[self.slice_of[edge as usize] as usize];
        if !std::mem::replace(&mut self.marked[edge as usize], true) {
            self.slice_links.remove(&mut slice.unmarked, edge);
            self.slice_links.push(&mut slice.marked, edge);
        }
    }

    /// Appends the sources of marked edges (with repetition) and removes the marks.
    pub(super) fn take_marked_sources(&mut self, slice: u32, sources: &mut Vec<u32>) {
        let slice = &mut self.slices[slice as usize];
        while slice.marked.first() != NONE {
            let edge = slice.marked.first();
            self.slice_links.remove(&mut slice.marked, edge);
            self.slice_links.push(&mut slice.unmarked, edge);
            self.marked[edge as usize] = false;
            sources.push(self.source[edge as usize]);
        }
    }

    /// Adds all slices of a block to the list of doubtful slices, unless they are in it.
    pub(super) fn doubt_all(&mut self, block: u32, doubtful: &mut Vec<u32>) {
        let mut slice = self.first_slice.get(block as usize).copied().unwrap_or(NONE);
        while slice != NONE {
            if !std::mem::replace(&mut self.slice_is_doubtful[slice as usize], true) {
                doubtful.push(slice);
            }
            slice = self.slices[slice as usize].next;
        }
    }

    /// A part of a doubtful slice is doubtful as well. Returns whether it must be added to the
    /// list.
    pub(super) fn inherit_doubt(&mut self, from: u32, to: u32) -> bool {
        let doubtful = self.slice_is_doubtful[from as usize];
        self.slice_is_doubtful[to as usize] = doubtful;
        doubtful
    }

    /// Removes a slice from the list of doubtful slices. Returns whether it still has edges.
    pub(super) fn settle_doubt(&mut self, slice: u32) -> bool {
        self.slice_is_doubtful[slice as usize] = false;
        let alive = self.slice_is_alive(slice);
        if !alive {
            self.free_slices.push(slice);
        }
        alive
    }

    // Actions and bunches.

    /// A bunch with one action, both without edges.
    pub(super) fn new_bunch(&mut self) -> (u32, u32) {
        let bunch = self.empty_bunch();
        (bunch, self.new_action(bunch))
    }

    fn empty_bunch(&mut self) -> u32 {
        self.first_action.push(NONE);
        self.bunch_is_queued.push(false);
        self.first_action.len() as u32 - 1
    }

    fn is_composite(&self, bunch: u32) -> bool {
        let first = self.first_action[bunch as usize];
        first != NONE && self.actions[first as usize].next != NONE
    }

    fn new_action(&mut self, bunch: u32) -> u32 {
        let entry = Action { bunch, size: 0, edges: List::EMPTY, previous: NONE, next: NONE, sibling: NONE };
        let number = reuse_or_push(&mut self.actions, &mut self.free_actions, entry);
        self.link_action(number, bunch);
        number
    }

    fn link_action(&mut self, action: u32, bunch: u32) {
        let next = std::mem::replace(&mut self.first_action[bunch as usize], action);
        let entry = &mut self.actions[action as usize];
        (entry.bunch, entry.previous, entry.next) = (bunch, NONE, next);
        if next != NONE {
            self.actions[next as usize].previous = action;
        }
    }

    fn unlink_action(&mut self, action: u32) {
        let Action { bunch, previous, next, .. } = self.actions[action as usize];
        match previous {
            NONE => self.first_action[bunch as usize] = next,
            _ => self.actions[previous as usize].next = next,
        }
        if next != NONE {
            self.actions[next as usize].previous = previous;
        }
    }

    fn queue_if_composite(&mut self, bunch: u32) {
        if self.is_composite(bunch) && !std::mem::replace(&mut self.bunch_is_queued[bunch as usize], true) {
            self.composite.push(bunch);
        }
    }

    /// A bunch with several actions, if there is one.
    pub(super) fn next_composite_bunch(&mut self) -> Option<u32> {
        while let Some(bunch) = self.composite.pop() {
            self.bunch_is_queued[bunch as usize] = false;
            if self.is_composite(bunch) {
                return Some(bunch);
            }
        }
        None
    }

    /// Moves the smaller of two actions of the bunch, with at most half of the edges, to a new
    /// bunch. Returns the new bunch and its edges.
    pub(super) fn detach_smaller_action(&mut self, bunch: u32) -> (u32, Vec<u32>) {
        let one = self.first_action[bunch as usize];
        let two = self.actions[one as usize].next;
        let action =
            if self.actions[one as usize].size <= self.actions[two as usize].size { one } else { two };
        self.unlink_action(action);
        let own = self.empty_bunch();
        self.link_action(action, own);
        self.queue_if_composite(bunch);
        let mut edges = Vec::with_capacity(self.actions[action as usize].size as usize);
        let mut edge = self.actions[action as usize].edges.first();
        while edge != NONE {
            edges.push(edge);
            edge = self.action_links.after(edge);
        }
        (own, edges)
    }

    /// Splits actions into a block from which these states were carved.
    pub(super) fn split_actions_into(&mut self, states: &[u32]) {
        for &state in states {
            for at in self.in_start[state as usize]..self.in_start[state as usize + 1] {
                let edge = self.incoming[at as usize];
                let old = self.action_of[edge as usize];
                if old == NONE {
                    continue;
                }
                let mut sibling = self.actions[old as usize].sibling;
                if sibling == NONE {
                    sibling = self.new_action(self.actions[old as usize].bunch);
                    self.actions[old as usize].sibling = sibling;
                    self.changed_actions.push(old);
                }
                let from = &mut self.actions[old as usize];
                from.size -= 1;
                self.action_links.remove(&mut from.edges, edge);
                let to = &mut self.actions[sibling as usize];
                to.size += 1;
                self.action_links.push(&mut to.edges, edge);
                self.action_of[edge as usize] = sibling;
            }
        }
        while let Some(action) = self.changed_actions.pop() {
            self.actions[action as usize].sibling = NONE;
            if self.actions[action as usize].size == 0 {
                self.unlink_action(action);
                self.free_actions.push(action);
            } else {
                self.queue_if_composite(self.actions[action as usize].bunch);
            }
        }
    }

    /// Adds an edge that is no longer inert to all groupings.
    pub(super) fn insert(&mut self, edge: u32, slice: u32, action: u32, counter: u32) {
        self.insert_in_action(edge, action);
        self.insert_in_slice(edge, slice, counter);
    }

    fn insert_in_action(&mut self, edge: u32, action: u32) {
        self.action_of[edge as usize] = action;
        self.actions[action as usize].size += 1;
        self.action_links.push(&mut self.actions[action as usize].edges, edge);
    }

    fn insert_in_slice(&mut self, edge: u32, slice: u32, counter: u32) {
        self.slice_of[edge as usize] = slice;
        self.slice_links.push(&mut self.slices[slice as usize].unmarked, edge);
        self.counter_of[edge as usize] = counter;
    }
}

fn reuse_or_push<T>(all: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    match free.pop() {
        Some(number) => {
            all[number as usize] = value;
            number
        }
        None => {
            all.push(value);
            all.len() as u32 - 1
        }
    }
}
