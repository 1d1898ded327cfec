//! What follows from the locations of all processes: active clocks, their bounds, invariants, urgency. Computed once per tuple and kept.

use rustc_hash::FxHashMap;

use super::layout::Layout;
use super::tables::Tables;
use crate::analysis::Bounds;
use crate::network::{LocationId, ProcessId};
use crate::zone::{Bound, NO_BOUND};

/// Facts about one tuple of locations.
#[derive(Debug, Default)]
pub(super) struct Tuple {
    /// Active clocks, ascending: the first has row 1.
    pub(super) active: Vec<u32>,
    /// Bounds by row, starting with row 1.
    pub(super) lower: Vec<i32>,
    pub(super) upper: Vec<i32>,
    /// The part of the invariant that does not depend on variables, by rows.
    pub(super) invariant: Vec<(u32, u32, Bound)>,
    /// Processes whose invariants speak of variables.
    pub(super) computed: Vec<u32>,
    /// Some location is committed.
    pub(super) committed: bool,
    /// Some location is urgent or committed.
    pub(super) urgent: bool,
}

impl Tuple {
    /// The row of a clock; 0 is the constant zero, clock `c` is `c + 1`. `None`: the clock is not active.
    #[inline]
    pub(super) fn row(&self, clock: u32) -> Option<u32> {
        match clock {
            0 => Some(0),
            _ => self.active.binary_search(&(clock - 1)).ok().map(|at| at as u32 + 1),
        }
    }

    /// Rows of a matrix for this tuple.
    pub(super) fn dimension(&self) -> usize {
        self.active.len() + 1
    }
}

/// The tuples an explorer met.
#[derive(Debug, Default)]
pub(super) struct Tuples {
    ids: FxHashMap<Box<[u32]>, u32>,
    /// The same for keys of one or two words: most networks are small, and numbers are compared faster than slices.
    small: FxHashMap<u64, u32>,
    all: Vec<Tuple>,
    key: Vec<u32>,
    /// By clock, the maximum so far while a tuple is made.
    lower: Vec<i32>,
    upper: Vec<i32>,
}

/// Numbers kept before everything is forgotten.
const MOST_NUMBERS: usize = 1 << 22;

impl Tuples {
    /// Makes room; numbers given before mean nothing afterwards.
    pub(super) fn tidy(&mut self) {
        let size = self.all.last().map_or(1, |tuple| 4 * tuple.active.len() + 64);
        if self.all.len() > MOST_NUMBERS / size {
            self.ids.clear();
            self.small.clear();
            self.all.clear();
        }
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &Tuple {
        &self.all[id as usize]
    }

    /// The number of the tuple that the words of a state have.
    #[inline]
    pub(super) fn of(&mut self, words: &[u32], layout: &Layout, tables: &Tables, bounds: &Bounds) -> u32 {
        layout.tuple_key(words, &mut self.key);
        let small = match *self.key.as_slice() {
            [one] => Some(u64::from(one)),
            [one, two] => Some(u64::from(one) | u64::from(two) << 32),
            _ => None,
        };
        let known = match small {
            Some(key) => self.small.get(&key),
            None => self.ids.get(self.key.as_slice()),
        };
        if let Some(&id) = known {
            return id;
        }
        let id = self.all.len() as u32;
        let tuple = self.make(words, layout, tables, bounds);
        self.all.push(tuple);
        match small {
            Some(key) => self.small.insert(key, id),
            None => self.ids.insert(self.key.as_slice().into(), id),
        };
        id
    }

    fn make(&mut self, words: &[u32], layout: &Layout, tables: &Tables, bounds: &Bounds) -> Tuple {
        let mut tuple = Tuple::default();
        let processes = tables.first_slot.len();
        let locations = || (0..processes).map(|process| (process, layout.location(words, process)));
        let local = locations()
            .flat_map(|(process, location)| bounds.at(ProcessId(process as u32), LocationId(location)));
        for bound in local.chain(bounds.everywhere()) {
            let clock = bound.clock.0 as usize;
            if self.lower.len() <= clock {
                self.lower.resize(clock + 1, NO_BOUND);
                self.upper.resize(clock + 1, NO_BOUND);
            }
            tuple.active.push(clock as u32);
            self.lower[clock] = self.lower[clock].max(bound.lower);
            self.upper[clock] = self.upper[clock].max(bound.upper);
        }
        tuple.active.sort_unstable();
        tuple.active.dedup();
        for &clock in &tuple.active {
            tuple.lower.push(std::mem::replace(&mut self.lower[clock as usize], NO_BOUND));
            tuple.upper.push(std::mem::replace(&mut self.upper[clock as usize], NO_BOUND));
        }
        for (process, location) in locations() {
            let slot = tables.slot(process, location);
            tuple.committed |= slot.committed;
            tuple.urgent |= slot.urgent || slot.committed;
            if slot.computed {
                tuple.computed.push(process as u32);
            }
            for atom in &slot.invariant.fixed {
                if let (Some(left), Some(right)) = (tuple.row(atom.left), tuple.row(atom.right)) {
                    tuple.invariant.push((left, right, atom.bound));
                }
            }
        }
        tuple
    }
}
