//! A walk over the states of a system: one path, followed step by step, with the monitor watching.

use turnpike_model::Successors;

use super::summary::Ending;
use crate::error::Halt;
use crate::run::Run;
use crate::witness::Path;

/// What a strategy decides and remembers along a walk.
pub(crate) trait Steps {
    /// A walk begins in the initial state.
    fn begin(&mut self, run: &mut Run<'_>, initial: &[u32]);

    /// A state was expanded and tested.
    #[inline]
    fn see(&mut self, run: &mut Run<'_>, state: &[u32], successors: &Successors) {
        let _ = (run, state, successors);
    }

    /// Chooses among the transitions of the state seen last.
    fn choose(&mut self, run: &mut Run<'_>, successors: &Successors) -> usize;

    /// The choice leads to this state.
    fn enter(&mut self, run: &mut Run<'_>, choice: usize, state: &[u32]);

    /// The way to the present state.
    fn path(&self) -> Path;
}

/// Where walks end at the latest. Depths count from the initial state of the explorer, whatever it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// States at this depth are not expanded.
    pub(crate) unexpanded: u32,
    /// States at this depth are expanded, but not left.
    pub(crate) last: u32,
}

/// What is kept of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) ending: Ending,
    /// States with more than one transition.
    pub(crate) contested: u32,
}

/// Walks, one after the other, in memory that is allocated once.
pub(crate) struct Walker {
    initial: Vec<u32>,
    state: Vec<u32>,
    successors: Successors,
}

impl Walker {
    /// Tests the initial state.
    pub(crate) fn new(run: &mut Run<'_>) -> Result<Self, Halt> {
        let initial = run.initial()?;
        Ok(Walker { state: initial.clone(), initial, successors: run.buffer() })
    }

    /// One walk from the initial state to an end.
    #[inline]
    pub(crate) fn walk<S: Steps>(
        &mut self,
        run: &mut Run<'_>,
        bounds: Bounds,
        steps: &mut S,
    ) -> Result<Walked, Halt> {
        let mut contested = 0u32;
        self.state.clone_from(&self.initial);
        steps.begin(run, &self.initial);
        let mut depth = 0;
        let ending = loop {
            if depth == bounds.unexpanded {
                break Ending::Cut;
            }
            run.expand(&self.state, depth, &mut self.successors, &|| steps.path())?;
            run.check(&self.state, &self.successors, &|| steps.path())?;
            steps.see(run, &self.state, &self.successors);
            if self.successors.is_empty() {
                break Ending::Completed;
            }
            if depth == bounds.last {
                break Ending::Cut;
            }
            contested = contested.saturating_add((self.successors.len() > 1).into());
            let choice = steps.choose(run, &self.successors);
            self.state.clear();
            self.state.extend_from_slice(self.successors.state(choice));
            depth += 1;
            steps.enter(run, choice, &self.state);
        };
        Ok(Walked { ending, contested })
    }
}
