//! Random search (definitions 2 and 3 of the highway search paper; with `restart` also RAND of
//! Godefroid and Khurshid).
//!
//! It is one walk: each next state is a uniform draw from the *set* of successor states. It finds
//! what lies on likely paths and does not prove anything. Memory is constant without a witness;
//! with one, the loop-erased walk is kept.

use turnpike_model::Diagnostic;

use super::descriptor::{Descriptor, OptionInfo, Parallel, ValueKind};
use super::sampling::{self, Draws, Extent, Length, Over, Sampler, Way};
use super::{Search, concrete};
use crate::error::Halt;
use crate::follow;
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::run::Run;

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
    /// Which way to the goal is reported.
    pub witness: Way,
    /// Where draws come from.
    pub draws: Draws,
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
    doc: "timed automata: walk on exact clock values instead of zones, with random delays",
};

const WITNESS: OptionInfo = OptionInfo {
    name: "witness",
    value: ValueKind::Word(&[
        ("loop-erased", "The walk without its loops"),
        (
            "first-met",
            "From each state back to the one that met it first, as in the tool of 2008; stores all states considered",
        ),
    ]),
    default: "loop-erased",
    doc: "which path to the goal is reported",
};

const DRAWS: OptionInfo = OptionInfo {
    name: "draws",
    value: ValueKind::Word(&[
        ("uniform", "Exactly uniform and independent"),
        (
            "c-rand",
            "The function `rand()` of the C library of Linux, whose numbers depend on each other, as in the tool of 2008",
        ),
    ]),
    default: "uniform",
    doc: "the source of random numbers",
};

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "random",
    summary: "one random walk, uniform over the set of successor states",
    guarantee: "none",
    memory: "constant; with a witness, the loop-erased walk (first-met: all states considered)",
    when: "bugs on likely paths; very large states; a baseline",
    options: &[OVER, RESTART, RESTART_DEPTH, CONCRETE, WITNESS, DRAWS],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Walks,
    build: |given| {
        let over = match given.text(&OVER) {
            Some("transitions") => Over::Transitions,
            _ => Over::States,
        };
        // One execution of a program says little: it is executed again and again.
        let restart = given.is_set(&RESTART) || given.model.capabilities.violations_on_expansion;
        let restart_depth = given.count(&RESTART_DEPTH)?;
        let witness = match given.text(&WITNESS) {
            Some("first-met") => Way::FirstMet,
            _ => Way::LoopErased,
        };
        let draws = match given.text(&DRAWS) {
            Some("c-rand") => Draws::CRand,
            _ => Draws::Uniform,
        };
        if draws == Draws::CRand && given.model.capabilities.violations_on_expansion {
            return Err(Diagnostic::error("schedules of programs are drawn from the tool's own generator")
                .help("leave out the option `draws`"));
        }
        let concrete = given.is_set(&CONCRETE);
        Ok(RandomWalk { over, restart, restart_depth, concrete, witness, draws }.into())
    },
};

impl Search for RandomWalk {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        if self.concrete && !follow::natively(run) {
            return concrete::search(run, self.restart_depth);
        }
        let once = !self.restart && self.restart_depth.is_none();
        let length = self.restart_depth.map_or(Length::Whole, Length::Steps);
        sampling::search(
            run,
            Sampler::Uniform(self.over),
            Extent { once, length, way: self.witness, draws: self.draws },
        )
    }

    fn shares_out_paths(&self) -> bool {
        !self.concrete
    }

    fn check(&self, request: &SearchOptions) -> Result<(), Diagnostic> {
        if self.restart_depth == Some(0) {
            return Err(Diagnostic::error("the restart depth must be at least 1"));
        }
        if self.concrete && self.draws == Draws::CRand {
            return Err(Diagnostic::error("delays are drawn from the tool's own generator")
                .help("leave out one of the options `concrete` and `draws`"));
        }
        if self.concrete && self.witness == Way::FirstMet {
            return Err(Diagnostic::error(
                "walks on single clock values do not remember where states were met",
            )
            .help("leave out one of the options `concrete` and `witness`"));
        }
        if self.concrete && request.objectives.iter().any(|objective| objective.is_about_cycles()) {
            return Err(Diagnostic::error("walks on single states do not find cycles")
                .help("walk on the model's own states instead"));
        }
        Ok(())
    }

    fn is_endless(&self) -> bool {
        true
    }
}
