//! Loops that wait for another thread by reading memory.
//!
//! They ask no scheduler to let others go first, so it is done for them: a thread that keeps coming back to the same
//! read of the same object yields now and then (the kernel then disables it until something it read changes), and so does a thread
//! that makes very many invisible accesses without a single step. Counts only, so that the same execution yields at
//! the same places.

/// Repetitions of a visible read before a yield. Bounded loops that read one variable are rarely longer.
const REPEATED: u32 = 64;
/// Visible reads after which a loop is looked for elsewhere.
const WINDOW: u32 = 256;
/// Invisible accesses before a yield.
const INVISIBLE: u32 = 200_000;

/// What one thread did since its last step that was more than a read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin {
    site: u64,
    /// Plus one; 0 = none is looked for.
    object: u32,
    repeated: u32,
    reads: u32,
    invisible: u32,
}

impl Spin {
    /// Nothing happened.
    pub const fn new() -> Self {
        Spin { site: 0, object: 0, repeated: 0, reads: 0, invisible: 0 }
    }

    /// The thread is about to do a visible read; whether it should yield before.
    pub fn read(&mut self, site: u64, object: u32) -> bool {
        let object = object.wrapping_add(1);
        self.invisible = 0;
        self.reads += 1;
        if (self.site, self.object) == (site, object) {
            self.repeated += 1;
            self.reads = 0;
        } else if self.object == 0 || self.reads > WINDOW {
            (self.site, self.object, self.repeated, self.reads) = (site, object, 0, 0);
        }
        let yields = self.repeated >= REPEATED;
        if yields {
            self.repeated = 0;
        }
        yields
    }

    /// The thread did a step that is more than a read.
    pub fn progress(&mut self) {
        *self = Spin::new();
    }

    /// The thread makes an invisible access; whether it should yield before.
    pub fn invisible(&mut self) -> bool {
        self.invisible += 1;
        let yields = self.invisible >= INVISIBLE;
        if yields {
            self.invisible = 0;
        }
        yields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yields(reads: impl Iterator<Item = (u64, u32)>) -> usize {
        let mut spin = Spin::new();
        reads.filter(|&(site, object)| spin.read(site, object)).count()
    }

    #[test]
    fn a_waiting_loop_yields() {
        assert_eq!(yields((0..60).map(|_| (7, 1))), 0);
        assert!(yields((0..1000).map(|_| (7, 1))) >= 10);
        // Two variables, two places, after some other reads.
        let reads = (0..100).map(|i| (1000 + i, 50)).chain((0..2000).map(|i| (i % 2, 3)));
        assert!(yields(reads) >= 10);
    }

    #[test]
    fn looking_at_many_variables_does_not_yield() {
        assert_eq!(yields((0..100_000).map(|i| (7, i))), 0);
    }

    #[test]
    fn progress_starts_again() {
        let mut spin = Spin::new();
        for _ in 0..1000 {
            for _ in 0..50 {
                assert!(!spin.read(7, 1));
            }
            spin.progress();
        }
    }

    #[test]
    fn endless_invisible_work_yields() {
        let mut spin = Spin::new();
        assert_eq!((0..1_000_000).filter(|_| spin.invisible()).count(), 5);
    }
}
