//! Few threads at once: most errors need few threads, and of many that do the same, any will do.
//!
//! Of each kind of threads some are drawn. These go on by random priorities of their operations, as in
//! partial-order sampling; all others only take steps where none of these can.

use alloc::vec::Vec;

use crate::kernel::{Kernel, Pick};
use crate::operation::Site;

/// At most so many threads of a kind are drawn.
const MOST: usize = 3;

/// Threads that were created at one place.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    place: Site,
    size: u32,
    /// Any of them with the same probability; as many as there are.
    drawn: [u32; MOST + 1],
}

/// Who goes first.
#[derive(Debug)]
pub(super) struct Few {
    crowds: Vec<Crowd>,
    /// Threads that were looked at.
    met: u32,
    /// Threads of each kind that go first.
    room: usize,
}

impl Few {
    pub(super) const fn new() -> Few {
        Few { crowds: Vec::new(), met: 0, room: 0 }
    }

    fn goes_first(&self, t: u32) -> bool {
        // Alone, one thread of the only kind would meet nobody.
        let room = if self.crowds.len() == 1 { self.room + 1 } else { self.room };
        t == 0 || self.crowds.iter().any(|crowd| crowd.drawn.iter().take(room).any(|&drawn| drawn == t))
    }
}

impl Kernel {
    pub(super) fn begin_few(&mut self) {
        let room = 1 + (self.random.below(4) as usize).saturating_sub(1);
        let few = &mut self.policy.few;
        few.crowds.clear();
        (few.met, few.room) = (1, room.min(MOST));
    }

    /// The first choice of the thread of highest priority among the few, or among all others.
    pub(super) fn choose_few(&mut self) -> Option<Pick> {
        self.meet_threads();
        let mut best = None;
        self.each_first(|pick| {
            let t = pick.thread;
            let priority = self.policy.priorities.get(t as usize).copied().unwrap_or(0);
            let key = (self.policy.few.goes_first(t), priority);
            if best.is_none_or(|(_, highest)| key > highest) {
                best = Some((pick, key));
            }
        });
        self.choose_alternative(best?.0)
    }

    /// Threads that were created since: each may take the place of one that was drawn before.
    fn meet_threads(&mut self) {
        while self.policy.few.met < self.thread_count() {
            let t = self.policy.few.met;
            self.policy.few.met += 1;
            let place = self.created_at(t);
            let few = &mut self.policy.few;
            let at = few.crowds.iter().position(|crowd| crowd.place == place).unwrap_or_else(|| {
                few.crowds.push(Crowd { place, size: 0, drawn: [0; MOST + 1] });
                few.crowds.len() - 1
            });
            let crowd = &mut few.crowds[at];
            crowd.size += 1;
            let place = self.random.below(crowd.size.into()) as usize;
            let last = crowd.size as usize - 1;
            if last < crowd.drawn.len() {
                crowd.drawn[last] = crowd.drawn[place];
            }
            if let Some(drawn) = crowd.drawn.get_mut(place) {
                *drawn = t;
            }
        }
    }
}
