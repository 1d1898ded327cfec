//! Zone successors that were computed before.
//!
//! What a transition does to a zone is a *program*: the bounds of the source's invariant and of the
//! guard, where each clock of the target comes from, whether time passes, the bounds of the
//! target's invariant and those by which the zone is made coarser. All of it is told by rows, not
//! by clocks: states whose variables or locations differ, and processes that are alike, have the
//! same programs. A zone and a program give one zone, so that most successors are looked up rather
//! than computed.
//!
//! Programs are numbered by content. Results are kept in a table with one place for each pair: a
//! pair that meets another in its place puts it out, which costs time and changes nothing. The
//! table grows when it is full of results and enough of them were asked for again: where every zone
//! is new it stays small.

use rustc_hash::FxHashMap;

/// What is known of a zone and a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    Not,
    /// The guard holds nowhere in the zone.
    Blocked,
    /// The guard holds somewhere, but nothing is left of the target.
    Gone,
    /// The number of the target's zone.
    Zone(u32),
}

/// The number of no program.
pub(super) const NO_PROGRAM: u32 = u32::MAX;

const BLOCKED: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

/// Places of the smallest table and of the largest, as logarithms.
const SMALLEST: u32 = 12;
const LARGEST: u32 = 18;
/// How many times larger a table becomes.
const GROWTH: usize = 4;

/// Programs numbered before everything is forgotten.
const MOST_PROGRAMS: usize = 1 << 17;
/// Words of all programs before everything is forgotten.
const MOST_WORDS: usize = 1 << 21;

#[derive(Clone, Copy, Debug)]
struct Place {
    zone: u32,
    program: u32,
    target: u32,
}

/// No zone has this number, and nobody asks for it.
const EMPTY: Place = Place { zone: u32::MAX, program: NO_PROGRAM, target: 0 };

/// Programs, and what they made of zones.
#[derive(Debug)]
pub(super) struct Memo {
    programs: FxHashMap<Box<[u32]>, u32>,
    words: usize,
    places: Vec<Place>,
    /// Results that were kept, and results that were found, since it was last asked whether the
    /// table should grow.
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

    /// Whether there are so many programs that all should be forgotten.
    pub(super) fn is_full(&self) -> bool {
        self.programs.len() > MOST_PROGRAMS || self.words > MOST_WORDS
    }

    /// Forgets everything: numbers of programs mean nothing afterwards.
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

    /// What a program makes of a zone, if that is known.
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

    /// Keeps what a program makes of a zone.
    pub(super) fn keep(&mut self, zone: u32, program: u32, known: Known) {
        let target = match known {
            Known::Not => return,
            Known::Blocked => BLOCKED,
            Known::Gone => GONE,
            Known::Zone(zone) => zone,
        };
        if self.kept >= self.places.len() / 2 {
            // In a table that is too small few are found: some are enough to show that a larger one
            // would pay.
            if self.found >= self.kept / 8 && self.places.len() < 1 << LARGEST {
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
