//! The two parts of a tuple that many tuples have in common, each in one piece of memory: comparing
//! and hashing them reads no more than one list of words, and a part that is known needs no memory.

use std::borrow::Borrow;
use std::sync::Arc;

use super::walker::RowAtom;
use crate::zone::Bound;

/// Which clocks and processes matter in a tuple of locations: where each list but the last ends,
/// then the lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Members(Arc<[u32]>);

/// Facts by rows about a tuple of locations: the number of rows, the lower and the upper bounds,
/// and the part of the invariant that does not depend on variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Facts(Arc<[u32]>);

/// Words of [`Members`] before its lists, and of [`Facts`].
const ENDS: usize = 3;
const COUNT: usize = 1;

impl Borrow<[u32]> for Members {
    fn borrow(&self) -> &[u32] {
        &self.0
    }
}

impl Borrow<[u32]> for Facts {
    fn borrow(&self) -> &[u32] {
        &self.0
    }
}

impl Members {
    #[inline]
    fn list(&self, from: u32, to: u32) -> &[u32] {
        &self.0[from as usize..to as usize]
    }

    /// Active clocks, sorted: the first has row 1.
    #[inline]
    pub(super) fn active(&self) -> &[u32] {
        self.list(ENDS as u32, self.0[0])
    }

    /// The kinds of slots whose invariants have a part independent of variables, sorted.
    pub(super) fn within(&self) -> &[u32] {
        self.list(self.0[0], self.0[1])
    }

    /// Processes whose invariants contain variables.
    #[inline]
    pub(super) fn computed(&self) -> &[u32] {
        self.list(self.0[1], self.0[2])
    }

    /// Processes in committed locations.
    #[inline]
    pub(super) fn committed(&self) -> &[u32] {
        self.list(self.0[2], self.0.len() as u32)
    }
}

impl Facts {
    #[inline]
    fn rows(&self) -> usize {
        self.0[0] as usize
    }

    /// Lower bounds by row, starting with row 1.
    #[inline]
    pub(super) fn lower(&self) -> &[i32] {
        bytemuck::cast_slice(&self.0[COUNT..][..self.rows()])
    }

    /// Upper bounds by row, starting with row 1.
    #[inline]
    pub(super) fn upper(&self) -> &[i32] {
        bytemuck::cast_slice(&self.0[COUNT + self.rows()..][..self.rows()])
    }

    /// The lower bounds, then the upper bounds.
    pub(super) fn bounds(&self) -> &[i32] {
        bytemuck::cast_slice(&self.0[COUNT..][..2 * self.rows()])
    }

    /// The part of the invariant that does not depend on variables, by rows.
    #[inline]
    pub(super) fn invariant(&self) -> impl ExactSizeIterator<Item = RowAtom> + '_ {
        let atoms: &[[u32; 3]] = bytemuck::cast_slice(&self.0[COUNT + 2 * self.rows()..]);
        atoms.iter().map(|&[left, right, bound]| (left, right, Bound(bound as i32)))
    }
}

/// A tuple while it is computed; a reused buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) active: Vec<u32>,
    pub(super) within: Vec<u32>,
    pub(super) computed: Vec<u32>,
    pub(super) committed: Vec<u32>,
    pub(super) lower: Vec<i32>,
    pub(super) upper: Vec<i32>,
    pub(super) invariant: Vec<RowAtom>,
    /// How many locations are urgent or committed.
    pub(super) stopping: u32,
}

impl Draft {
    /// Begins with nothing.
    pub(super) fn clear(&mut self) {
        let Draft { active, within, computed, committed, lower, upper, invariant, stopping } = self;
        [active, within, computed, committed].into_iter().for_each(Vec::clear);
        [lower, upper].into_iter().for_each(Vec::clear);
        invariant.clear();
        *stopping = 0;
    }

    /// Begins with the processes of a tuple, and without clocks.
    pub(super) fn begin(&mut self, members: &Members, stopping: u32) {
        self.clear();
        self.within.extend_from_slice(members.within());
        self.computed.extend_from_slice(members.computed());
        self.committed.extend_from_slice(members.committed());
        self.stopping = stopping;
    }

    /// Adds an active clock, the next in order, with its bounds.
    pub(super) fn add_clock(&mut self, clock: u32, lower: i32, upper: i32) {
        self.active.push(clock);
        self.lower.push(lower);
        self.upper.push(upper);
    }

    /// The words of [`Members`].
    pub(super) fn members<'a>(&self, words: &'a mut Vec<u32>) -> &'a [u32] {
        words.clear();
        let mut end = ENDS as u32;
        words.extend([&self.active, &self.within, &self.computed].map(|list| {
            end += list.len() as u32;
            end
        }));
        for list in [&self.active, &self.within, &self.computed, &self.committed] {
            words.extend_from_slice(list);
        }
        words
    }

    /// The words of [`Facts`].
    pub(super) fn facts<'a>(&self, words: &'a mut Vec<u32>) -> &'a [u32] {
        words.clear();
        words.push(self.lower.len() as u32);
        words.extend_from_slice(bytemuck::cast_slice(&self.lower));
        words.extend_from_slice(bytemuck::cast_slice(&self.upper));
        words.extend(self.invariant.iter().flat_map(|&(left, right, bound)| [left, right, bound.0 as u32]));
        words
    }
}

impl From<&[u32]> for Members {
    fn from(words: &[u32]) -> Self {
        Members(words.into())
    }
}

impl From<&[u32]> for Facts {
    fn from(words: &[u32]) -> Self {
        Facts(words.into())
    }
}
