//! Random search (seed paper 000, definitions 2 and 3; with `--restart` also the RAND of seed paper 004).
//!
//! One walk: each next state is a uniform draw from the *set* of successor states. Finds what lies on likely paths,
//! proves nothing. Constant memory without a witness; with one, the loop-erased walk is kept.

use rustc_hash::FxHashMap;
use turnpike_model::Successors;

use super::level_set::distinct_targets;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::witness::Path;

/// What a walk draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Distinct successor states, all equally likely.
    #[default]
    States,
    /// Transitions, all equally likely: a state reached by two is twice as likely.
    Transitions,
}

/// Parameters of random search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomOptions {
    /// What a walk draws from.
    pub over: Over,
    /// Begin again at a deadlock, until a limit is reached.
    pub restart: bool,
    /// Begin again at this depth too (implies `restart`).
    pub restart_depth: Option<u32>,
    /// Walk on single states, where the model's own stand for many; walks begin again by themselves.
    pub concrete: bool,
}

pub(crate) fn search(run: &mut Run<'_>, options: &RandomOptions) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    let restart_depth = options.restart_depth.map(|depth| depth.saturating_add(run.uncounted_levels()));
    let restart = options.restart || options.restart_depth.is_some();
    let mut walk = Walk::new(run.options.witness);
    let (mut successors, mut distinct): (Successors, _) = (run.buffer(), Vec::new());
    let mut state = initial.clone();
    let mut depth = 0;
    walk.begin(run, &initial);
    loop {
        if depth == run.max_depth {
            // At depth 0 nothing may be expanded: beginning again would go on forever.
            if !restart || depth == 0 {
                return Ok(StopReason::MaxDepth);
            }
            depth = u32::MAX;
        } else {
            run.expand(&state, depth, &mut successors, &|| walk.path())?;
            run.check(&state, &successors, &|| walk.path())?;
        }
        if depth == u32::MAX || successors.is_empty() || restart_depth == Some(depth) {
            if !restart {
                return Ok(StopReason::Finished);
            }
            if depth < run.uncounted_levels() {
                // There is no proper initial state: beginning again would go on forever.
                return Ok(StopReason::Exhausted);
            }
            state.clone_from(&initial);
            depth = 0;
            walk.begin(run, &initial);
            continue;
        }
        let choice = match options.over {
            Over::Transitions => run.rng.index(successors.len()),
            Over::States => {
                distinct_targets(&successors, &mut distinct);
                distinct[run.rng.index(distinct.len())] as usize
            }
        };
        state.clear();
        state.extend_from_slice(successors.state(choice));
        depth += 1;
        walk.step(run, &state);
    }
}

/// The walk so far with its loops erased: the states still on it, and where each one is.
struct Walk {
    wanted: bool,
    width: usize,
    states: Vec<u32>,
    hashes: Vec<u64>,
    position: FxHashMap<u64, usize>,
}

impl Walk {
    fn new(wanted: bool) -> Self {
        Walk { wanted, width: 0, states: Vec::new(), hashes: Vec::new(), position: FxHashMap::default() }
    }

    fn begin(&mut self, run: &mut Run<'_>, initial: &[u32]) {
        self.width = initial.len();
        self.states.clear();
        self.hashes.clear();
        self.position.clear();
        self.step(run, initial);
    }

    fn step(&mut self, run: &mut Run<'_>, state: &[u32]) {
        if !self.wanted {
            return;
        }
        let hash = run.explorer.content_hash(state);
        if let Some(&at) = self.position.get(&hash)
            && &self.states[at * self.width..(at + 1) * self.width] == state
        {
            for dropped in self.hashes.drain(at + 1..) {
                self.position.remove(&dropped);
            }
            self.states.truncate((at + 1) * self.width);
            return;
        }
        self.position.insert(hash, self.hashes.len());
        self.hashes.push(hash);
        self.states.extend_from_slice(state);
    }

    fn path(&self) -> Path {
        Path::States(self.states.clone())
    }
}
