//! Random search (definitions 2 and 3 of the highway search paper; with `--restart` also RAND of
//! Godefroid and Khurshid).
//!
//! It is one walk: each next state is a uniform draw from the *set* of successor states. It finds
//! what lies on likely paths and does not prove anything. Memory is constant without a witness;
//! with one, the loop-erased walk is kept.

use rustc_hash::FxHashMap;
use turnpike_model::{Diagnostic, Successors};

use super::descriptor::{Descriptor, OptionInfo, Parallel, ValueKind};
use super::executions::{self, Extent, Sampler};
use super::level_set::distinct_targets;
use super::{Search, concrete};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::options::SearchOptions;
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

/// Random walks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomWalk {
    /// What a walk draws from.
    pub over: Over,
    /// Begin again at a deadlock, until a limit is reached.
    pub restart: bool,
    /// Begin again at this depth too (implies `restart`).
    pub restart_depth: Option<u32>,
    /// Walk on single states, where the model's own stand for many; walks begin again by themselves.
    pub concrete: bool,
}

const OVER: OptionInfo = OptionInfo {
    name: "over",
    value: ValueKind::Word(&[
        ("states", "Distinct successor states, all equally likely"),
        ("transitions", "Transitions, all equally likely"),
    ]),
    default: "states",
    doc: "what a step draws from",
};
const RESTART: OptionInfo = OptionInfo {
    name: "restart",
    value: ValueKind::Switch,
    default: "",
    doc: "begin again at a deadlock, until a limit is reached",
};
const RESTART_DEPTH: OptionInfo = OptionInfo {
    name: "restart-depth",
    value: ValueKind::POSITIVE,
    default: "",
    doc: "begin again at this depth too",
};
const CONCRETE: OptionInfo = OptionInfo {
    name: "concrete",
    value: ValueKind::Switch,
    default: "",
    doc: "timed automata: walk on single clock values instead of zones, with drawn delays",
};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "random",
    summary: "one random walk, uniform over the set of successor states",
    guarantee: "none",
    memory: "constant; with a witness, the loop-erased walk",
    when: "bugs on likely paths; very large states; a baseline",
    options: &[OVER, RESTART, RESTART_DEPTH, CONCRETE],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Executions,
    build: |given| {
        let over = match given.text(&OVER) {
            Some("transitions") => Over::Transitions,
            _ => Over::States,
        };
        // One execution of a program says little: it is executed again and again.
        let restart = given.is_set(&RESTART) || given.model.capabilities.violations_on_expansion;
        let restart_depth = given.count(&RESTART_DEPTH)?;
        Ok(RandomWalk { over, restart, restart_depth, concrete: given.is_set(&CONCRETE) }.into())
    },
};

impl Search for RandomWalk {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if executions::applies(run) {
            let once = !self.restart && self.restart_depth.is_none();
            return executions::sample(run, Sampler::Uniform, Extent { once, steps: self.restart_depth });
        }
        if self.concrete { concrete::search(run, self) } else { search(run, self) }
    }

    fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        if self.restart_depth == Some(0) {
            return Err(Diagnostic::error("the restart depth must be at least 1"));
        }
        if self.concrete && request.objectives.iter().any(|objective| objective.is_about_cycles()) {
            return Err(
                Diagnostic::error("walks on single states do not find cycles").help("leave out --concrete")
            );
        }
        Ok(())
    }

    fn is_endless(&self) -> bool {
        true
    }
}

pub(crate) fn search(run: &mut Run<'_>, options: &RandomWalk) -> Result<StopReason, Halt> {
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
