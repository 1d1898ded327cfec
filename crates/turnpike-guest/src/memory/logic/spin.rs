//! Loops that wait for another thread by reading memory.
//!
//! Such a loop does not ask the scheduler to let others go first, so this is done for it. A thread
//! that comes back to the same read of the same object *in the same state*, having done nothing
//! else that is visible, waits: it yields, and the scheduler lets it go on when something that it
//! read was modified. If no thread can do that, it is a livelock.
//!
//! A loop whose turns change something of the thread's own, such as a counter, may end by itself.
//! It runs, and every order of its reads among the steps of others is a different execution. Only
//! after very many turns does the thread nap now and then, and go on when the object was modified
//! or nothing else can happen.
//!
//! Where plain accesses are not steps, a waiting loop would never let others run. So a thread that
//! makes very many accesses without a step is watched: if it does nothing but read a few places
//! again and again, these reads become steps, and the first rule applies. Long computations are
//! left alone.
//!
//! Only counts decide, so that the same execution pauses at the same places.

/// Repetitions of a visible read after which the thread begins to nap.
const LONG: u32 = 2048;
/// Repetitions between two naps.
const PERHAPS: u32 = 8;
/// Other visible reads after which another one is taken for the start of the loop, at first. The
/// number doubles each time.
const FIRST_WINDOW: u32 = 4;
/// The largest number of such reads.
const WINDOW: u32 = 256;
/// Invisible accesses before a thread is watched; four times as many the next time, and so on.
const INVISIBLE: u32 = 50_000;
/// How many accesses are watched.
const LOOKED_AT: u32 = 256;
/// The most places that a waiting loop reads.
const PLACES: usize = 8;

/// What a thread should do before it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Nothing.
    None,
    /// Wait for a change, unless nothing else can happen.
    Nap,
    /// Wait for a change, in this state.
    Yield(u64),
}

/// What one thread did since its last step that was more than a read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spin {
    /// The visible read that is counted.
    site: u64,
    /// Its object plus one; 0 = no read is counted.
    object: u32,
    repeated: u32,
    /// The thread's own state at the last repetition.
    state: u64,
    reads: u32,
    window: u32,
    /// Accesses without a step.
    invisible: u32,
    /// How many steps had been taken when they began.
    since: u32,
    /// How often the thread was watched in vain.
    looked: u32,
    /// The places that it reads, by code location and address.
    places: [(u64, u64); PLACES],
    known: usize,
    /// It reads nothing but these, so these reads are steps.
    waits: bool,
}

impl Spin {
    /// Nothing happened.
    pub(crate) const fn new() -> Self {
        Spin {
            site: 0,
            object: 0,
            repeated: 0,
            state: 0,
            reads: 0,
            window: FIRST_WINDOW,
            invisible: 0,
            since: 0,
            looked: 0,
            places: [(0, 0); PLACES],
            known: 0,
            waits: false,
        }
    }

    /// The thread is about to do a visible read. `own` computes its own state, if that matters.
    pub(crate) fn read(&mut self, site: u64, object: u32, own: impl FnOnce() -> u64) -> Pause {
        let object = object.wrapping_add(1);
        self.reads += 1;
        if (self.site, self.object) != (site, object) {
            if self.object == 0 || self.reads > self.window {
                self.window = if self.object == 0 { self.window } else { (2 * self.window).min(WINDOW) };
                (self.site, self.object, self.repeated, self.reads, self.state) = (site, object, 0, 0, 0);
            }
            return Pause::None;
        }
        self.repeated = self.repeated.saturating_add(1);
        self.reads = 0;
        let state = own();
        if core::mem::replace(&mut self.state, state) == state {
            Pause::Yield(state)
        } else if self.repeated >= LONG && self.repeated.is_multiple_of(PERHAPS) {
            Pause::Nap
        } else {
            Pause::None
        }
    }

    /// The thread did a step that is more than a read.
    pub(crate) fn progress(&mut self) {
        *self = Spin::new();
    }

    /// The thread makes an access that would be invisible, when `steps` steps were taken in all.
    /// Returns whether it should be a step.
    #[inline]
    pub(crate) fn invisible(&mut self, site: u64, address: u64, write: bool, steps: u32) -> bool {
        if self.waits {
            self.waits = !write && self.places[..self.known].contains(&(site, address));
            if !self.waits {
                self.progress();
            }
            return self.waits;
        }
        if self.since != steps {
            (self.since, self.invisible, self.looked, self.known) = (steps, 0, 0, 0);
        }
        self.invisible += 1;
        let patience = INVISIBLE << (2 * self.looked);
        self.invisible > patience && self.look(site, address, write, patience)
    }

    fn look(&mut self, site: u64, address: u64, write: bool, patience: u32) -> bool {
        let place = (site, address);
        if !write && self.places[..self.known].contains(&place) {
            self.waits = self.invisible - patience > LOOKED_AT;
        } else if !write && self.known < PLACES {
            self.places[self.known] = place;
            self.known += 1;
        } else {
            // It computes something.
            (self.invisible, self.known) = (0, 0);
            self.looked = (self.looked + 1).min(7);
        }
        self.waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many naps and yields.
    fn pauses(reads: impl Iterator<Item = (u64, u32)>, counts: bool) -> (usize, usize) {
        let mut spin = Spin::new();
        let (mut naps, mut yields, mut turns) = (0, 0, 0);
        for (site, object) in reads {
            turns += u64::from(counts);
            match spin.read(site, object, || turns | 1 << 40) {
                Pause::None => {}
                Pause::Nap => naps += 1,
                Pause::Yield(_) => yields += 1,
            }
        }
        (naps, yields)
    }

    #[test]
    fn a_waiting_loop_yields_and_one_that_counts_goes_on() {
        assert_eq!(pauses((0..2).map(|_| (7, 1)), false), (0, 0));
        assert_eq!(pauses((0..3).map(|_| (7, 1)), false), (0, 1));
        assert_eq!(pauses((0..1000).map(|_| (7, 1)), true), (0, 0));
        assert_eq!(pauses((0..2048).map(|_| (7, 1)), true), (0, 0));
        assert_eq!(pauses((0..4096).map(|_| (7, 1)), true), (256, 0));
        // Two variables, two places, after some other reads.
        let reads = (0..100).map(|i| (1000 + i, 50)).chain((0..200).map(|i| (i % 2, 3)));
        let (naps, yields) = pauses(reads, false);
        assert!(naps == 0 && yields > 50, "{naps} {yields}");
    }

    #[test]
    fn looking_at_many_variables_is_no_waiting() {
        assert_eq!(pauses((0..100_000).map(|i| (7, i)), false), (0, 0));
    }

    #[test]
    fn progress_starts_again() {
        let mut spin = Spin::new();
        let mut number = 0;
        for _ in 0..1000 {
            for _ in 0..8 {
                assert_eq!(spin.read(7, 1, || 2 * number + 1), Pause::None);
                number += 1;
            }
            spin.progress();
        }
    }

    /// How many of these accesses become steps.
    fn steps(accesses: impl Iterator<Item = (u64, u64, bool)>) -> usize {
        let mut spin = Spin::new();
        accesses.filter(|&(site, address, write)| spin.invisible(site, address, write, 5)).count()
    }

    #[test]
    fn invisible_waiting_becomes_visible() {
        assert_eq!(steps((0..50_000).map(|_| (1, 8, false))), 0);
        assert!(steps((0..60_000).map(|_| (1, 8, false))) > 9_000);
        assert!(steps((0..60_000).map(|i| (i % 3, 8 * (i % 3), false))) > 9_000);
        // After some work.
        let work = (0..1_000_000).map(|i| (1, i, true));
        assert!(steps(work.chain((0..20_000_000).map(|_| (1, 8, false)))) > 1_000_000);
    }

    #[test]
    fn long_computations_stay_invisible() {
        assert_eq!(steps((0..10_000_000).map(|i| (1, i * 8, false))), 0);
        assert_eq!(steps((0..10_000_000).map(|i| (i % 4, 8, i % 4 == 3))), 0);
    }

    #[test]
    fn steps_between_start_again() {
        let mut spin = Spin::new();
        for step in 0..100 {
            assert_eq!((0..40_000).filter(|_| spin.invisible(1, 8, false, step)).count(), 0);
        }
    }

    #[test]
    fn whoever_stops_waiting_is_invisible_again() {
        let mut spin = Spin::new();
        assert!((0..60_000).any(|_| spin.invisible(1, 8, false, 0)));
        assert!(!spin.invisible(2, 16, false, 1));
        assert!(!spin.invisible(1, 8, false, 1));
    }
}
