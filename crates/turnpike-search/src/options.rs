//! What to search for, how, and within which bounds.

use crate::checkpoint::Checkpoints;
use crate::exchange::Processes;
use crate::limits::Limits;
use crate::objective::Objective;
use crate::spill::Spill;
use crate::store::StoreKind;
use crate::strategy::Strategy;

/// When a state is tested against the objectives that concern states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// As soon as a transition leads to it.
    #[default]
    Generation,
    /// When it is expanded, before its transitions are computed: later, and counted like many other tools count.
    Pop,
}

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The strategy with its parameters.
    pub strategy: Strategy,
    /// What to look for; `deadlock` when empty.
    pub objectives: Vec<Objective>,
    /// Go on until every objective was met, not just one.
    pub all: bool,
    /// Test deadlock on considered states too, at the price of computing their successors.
    pub lookahead: bool,
    /// When states are tested against the objectives that concern states.
    pub accept: Accept,
    /// Leave out states that another state covers, by the relation of the model ([`turnpike_model::Covering::covers`]).
    /// Only for strategies and objectives for which that changes no answer.
    pub cover: bool,
    /// For programs: whether `exhaustive` uses source-DPOR, or follows the model's choice lists as they are. By default it
    /// does unless these lists are reduced already.
    pub source_dpor: Option<bool>,
    /// Action names that count as internal besides `tau`.
    pub internal: Vec<String>,
    /// Bounds on each run.
    pub limits: Limits,
    /// The master seed.
    pub seed: u64,
    /// Number of runs, at least 1.
    pub runs: u64,
    /// Threads, at least 1. Results do not depend on it.
    pub threads: usize,
    /// Use the threads even where one alone is measured to be faster. Results do not depend on it.
    pub eager_threads: bool,
    /// The processes that make this search together; results do not depend on them.
    pub processes: Option<Processes>,
    /// What is left behind to go on from later, and what to go on from.
    pub checkpoints: Checkpoints,
    /// Where states go that memory has no room for; results do not depend on it.
    pub spill: Option<Spill>,
    /// How visited states are remembered.
    pub store: StoreKind,
    /// Keep what a witness needs. Without it `random` runs in constant memory and only the verdict is told.
    pub witness: bool,
    /// Put states, not only labels, into reported witnesses; of many runs, into the shortest one.
    pub states_in_witness: bool,
    /// Shorten witnesses.
    pub shorten: bool,
    /// Expansions that shortening may take. Without it: as many as compute the transitions of half a second
    /// ([`turnpike_model::ModelInfo::pace`]), or half of what the search took if that is more, and more as long as that pays.
    pub shorten_budget: Option<u64>,
    /// Tell the states of each level that a strategy chose, as events ([`crate::Event::Level`]).
    pub tell_levels: bool,
    /// Whether a witness is worth half a second of work, however little the search took. One of many runs is not.
    pub thorough: bool,
}

impl SearchOptions {
    /// A search with this strategy and the defaults of the command line.
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        SearchOptions {
            strategy: strategy.into(),
            objectives: Vec::new(),
            all: false,
            lookahead: false,
            accept: Accept::Generation,
            cover: false,
            source_dpor: None,
            internal: Vec::new(),
            limits: Limits::default(),
            seed: 0,
            runs: 1,
            threads: 1,
            eager_threads: false,
            processes: None,
            checkpoints: Checkpoints::default(),
            spill: None,
            store: StoreKind::Auto,
            witness: true,
            states_in_witness: true,
            shorten: true,
            shorten_budget: None,
            tell_levels: false,
            thorough: true,
        }
    }
}
