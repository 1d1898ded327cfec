//! A cache of zone successors.
//!
//! The effect of a transition on a zone is a *program*: the bounds of the source's invariant and of
//! the guard, the source of each clock of the target, whether time passes, and the bounds of the
//! target's invariant and of its extrapolation. Programs refer to rows, not to clocks, so states
//! with different variables or locations, and processes that are alike, share them. A zone and a
//! program determine one zone, so most successors are looked up rather than computed.
//!
//! Programs are numbered by content. Results are kept in a direct-mapped table: a new pair evicts
//! the old one in its slot, which costs time and changes no result. The table grows when it is full
//! and enough results were reused; where every zone is new it stays small.

use rustc_hash::FxHashMap;

/// The cached result for a zone and a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Not cached.
    Not,
    /// The guard holds nowhere in the zone.
    Blocked,
    /// The guard holds somewhere, but the target is empty.
    Gone,
    /// The number of the target's zone.
    Zone(u32),
}

/// Marks the absence of a program.
pub(super) const NO_PROGRAM: u32 = u32::MAX;

const BLOCKED: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

/// Slots of the smallest and the largest table, as logarithms.
const SMALLEST: u32 = 12;
const LARGEST: u32 = 18;
/// Factor by which the table grows.
const GROWTH: usize = 4;
/// The table grows if at least one result is found for this many that are stored.
const SHARE: usize = 32;

/// Number of programs before the cache is cleared.
const MOST_PROGRAMS: usize = 1 << 17;
/// Total words of programs before the cache is cleared.
const MOST_WORDS: usize = 1 << 21;

#[derive(Clone, Copy, Debug)]
struct Place {
    zone: u32,
    program: u32,
    target: u32,
}

/// An empty slot: no zone has this number.
const EMPTY: Place = Place { zone: u32::MAX, program: NO_PROGRAM, target: 0 };

/// Programs, and their results on zones.
#[derive(Debug)]
pub(super) struct Memo {
    programs: FxHashMap<Box<[u32]>, u32>,
    words: usize,
    places: Vec<Place>,
    /// Results stored, and results found, since the table was last considered for growth.
    kept: usize,
    found: usize,
}

impl Default for Memo {
    fn default() -> Self {
        Memo {
            programs: FxHashMap::default(),
            words: 0,
            places: vec![EMPTY; 1 << SMALLEST],
            kept: 0,
            found: 0,
        }
    }
}

impl Memo {
    /// The number of a program.
    #[inline]
    pub(super) fn program(&mut self, content: &[u32]) -> u32 {
        if let Some(&program) = self.programs.get(content) {
            return program;
        }
        let program = self.programs.len() as u32;
        self.programs.insert(content.into(), program);
        self.words += content.len();
        program
    }

    /// Whether there are too many programs, so that the cache should be cleared.
    pub(super) fn is_full(&self) -> bool {
        self.programs.len() > MOST_PROGRAMS || self.words > MOST_WORDS
    }

    /// Clears the cache: earlier program numbers become invalid.
    pub(super) fn clear(&mut self) {
        self.programs.clear();
        self.words = 0;
        self.places.fill(EMPTY);
    }

    #[inline]
    fn place(&self, zone: u32, program: u32) -> usize {
        let pair = u64::from(zone) << 32 | u64::from(program);
        let shift = u64::BITS - self.places.len().ilog2();
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
    }

    /// The cached result for a zone and a program.
    #[inline]
    pub(super) fn get(&mut self, zone: u32, program: u32) -> Known {
        let place = &self.places[self.place(zone, program)];
        if place.zone != zone || place.program != program {
            return Known::Not;
        }
        self.found += 1;
        match place.target {
            BLOCKED => Known::Blocked,
            GONE => Known::Gone,
            zone => Known::Zone(zone),
        }
    }

    /// Stores the result for a zone and a program.
    pub(super) fn keep(&mut self, zone: u32, program: u32, known: Known) {
        let target = match known {
            Known::Not => return,
            Known::Blocked => BLOCKED,
            Known::Gone => GONE,
            Known::Zone(zone) => zone,
        };
        if self.kept >= self.places.len() / 2 {
            // In a table that is too small few results are found again: even a small share shows
            // that a larger one pays.
            if self.found >= self.kept / SHARE && self.places.len() < 1 << LARGEST {
                self.grow();
            }
            (self.kept, self.found) = (0, 0);
        }
        self.kept += 1;
        let place = self.place(zone, program);
        self.places[place] = Place { zone, program, target };
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![EMPTY; GROWTH * self.places.len()];
        for old in std::mem::replace(&mut self.places, larger) {
            if old.program != NO_PROGRAM {
                let place = self.place(old.zone, old.program);
                self.places[place] = old;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_or_was_put_out_but_never_another() {
        let mut memo = Memo::default();
        let programs: Vec<u32> = (0..300_u32).map(|number| memo.program(&[number, 7])).collect();
        assert_eq!(memo.program(&[5, 7]), programs[5]);
        let result = |zone: u32, program: u32| match (zone + program) % 5 {
            0 => Known::Blocked,
            1 => Known::Gone,
            _ => Known::Zone(zone * 1000 + program),
        };
        let mut found = 0;
        for zone in 0..2_000 {
            for &program in &programs {
                memo.keep(zone, program, result(zone, program));
                assert_eq!(memo.get(zone, program), result(zone, program));
            }
        }
        assert_eq!(memo.places.len(), 1 << LARGEST);
        for zone in 0..2_000 {
            for &program in &programs {
                match memo.get(zone, program) {
                    Known::Not => {}
                    known => {
                        assert_eq!(known, result(zone, program));
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 1 << (LARGEST - 2), "{found} of 600,000 results were found");
        assert_eq!(memo.get(3_000, programs[0]), Known::Not);
        memo.clear();
        assert_eq!(memo.get(0, 0), Known::Not);
    }

    #[test]
    fn the_table_grows_where_few_are_found_again() {
        let mut memo = Memo::default();
        let program = memo.program(&[1]);
        for zone in 0..100_000 {
            memo.keep(zone, program, Known::Zone(zone));
            if zone % 20 == 0 {
                assert_eq!(memo.get(zone, program), Known::Zone(zone));
            }
        }
        assert!(memo.places.len() > 1 << SMALLEST, "{} slots", memo.places.len());
    }

    #[test]
    fn the_table_stays_small_where_nothing_is_found_again() {
        let mut memo = Memo::default();
        let program = memo.program(&[1]);
        for zone in 0..100_000 {
            assert_eq!(memo.get(zone, program), Known::Not);
            memo.keep(zone, program, Known::Zone(zone));
        }
        assert_eq!(memo.places.len(), 1 << SMALLEST);
    }
}
