//! Networks of timed automata: the common representation that every input language is lowered to
//! and every analysis works on.
//!
//! Arrays, structs and the local variables of processes are flattened to numbered cells; templates
//! are instantiated; `select` is expanded, one edge per choice. What remains dynamic are indices
//! that depend on variables. Process, location, variable and clock names are those of the source,
//! for traces and queries.

pub(crate) mod edge_text;
mod expression;
mod statement;
mod text;
mod visit;

use std::ops::Range;

pub use expression::{Binary, Cells, Expression, Quantifier, Space, Unary, Undefined};
pub use statement::{ClockValue, Function, Local, Statement};
pub use visit::{Visitor, visit_block, visit_constraint, visit_parts, visit_statement};

/// A clock; ids start at 0. Its row in a full difference bound matrix is one higher: row 0 is the
/// constant zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClockId(pub u32);

/// A cell of the discrete memory: one bounded integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// A process, in the order of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// A location of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// An event of a `.tck` file, or a channel of a UPPAAL model that is taken without a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

/// A channel; the cells of a channel array are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(pub u32);

/// A function of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A byte range in the source file.
pub type Place = Range<usize>;

/// A network of timed automata.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The system's name.
    pub name: String,
    /// Clock names by id; `x`, `x[2]`, `Train(1).x`.
    pub clocks: Vec<String>,
    /// Integer cells by id.
    pub variables: Vec<Variable>,
    /// The automata, in the order of the system, which is also the order of broadcast receivers and
    /// of successors.
    pub processes: Vec<Process>,
    /// Event names by id (`.tck`; in UPPAAL the channels that are taken without a direction).
    pub events: Vec<String>,
    /// Synchronisation vectors in the order of the file (`.tck`) or of the channels (UPPAAL).
    pub vectors: Vec<Vec<Participant>>,
    /// Channels by id (UPPAAL).
    pub channels: Vec<Channel>,
    /// Priority level of transitions without a channel, among those of channels.
    pub default_priority: u32,
    /// Functions by id.
    pub functions: Vec<Function>,
    /// Whether an assignment out of range disables a transition; otherwise it is an error of the
    /// model.
    pub out_of_range_disables: bool,
    /// The queries in a UPPAAL file, in order, as written.
    pub queries: Vec<QueryText>,
    /// The source language, which decides how queries and labels are parsed.
    pub language: Language,
    /// A process that moves along with every transition, whoever takes part, and never moves alone.
    /// It is not part of the model.
    pub ticker: Option<ProcessId>,
    /// The number of parts that the source's unit of time is divided into, where clock constants
    /// have fractions: they count such parts.
    pub parts: Option<std::num::NonZeroU32>,
}

impl Network {
    /// Clock constants count units of time divided by this.
    pub fn parts_per_unit(&self) -> i64 {
        self.parts.map_or(1, |parts| i64::from(parts.get()))
    }
}

/// The language of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// TChecker.
    #[default]
    Tck,
    /// UPPAAL: XML, XTA or old TA.
    Uppaal,
}

/// A query as it is written in a model or a query file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryText {
    /// The formula.
    pub text: String,
    /// The comment on it; may be empty.
    pub comment: String,
    /// Whether the model expects that it holds.
    pub expect: Option<bool>,
}

/// A bounded integer cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As users write it: `id`, `t[0]`, `Gate.list[3]`, `p.x`.
    pub name: String,
    /// Smallest value.
    pub low: i32,
    /// Largest value.
    pub high: i32,
    /// Value in the initial state.
    pub initial: i32,
    /// A `meta` variable: reset to its initial value in every stored state.
    pub meta: bool,
}

/// One automaton.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Name, with arguments where the template had free parameters: `Train(3)`.
    pub name: String,
    /// Locations by id.
    pub locations: Vec<Location>,
    /// Possible initial locations: exactly one in UPPAAL, any number in `.tck`.
    pub initial: Vec<LocationId>,
    /// Edges in the order of the source.
    pub edges: Vec<Edge>,
    /// Priority level of the process; higher goes first, 0 everywhere when the system has none.
    pub priority: u32,
}

/// A location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// Name; anonymous UPPAAL locations get one that is not an identifier.
    pub name: String,
    /// Must hold on entering, while delaying and on leaving.
    pub invariant: Constraint,
    /// Clocks that are stopped here.
    pub rates: Vec<Rate>,
    /// No delay here.
    pub urgent: bool,
    /// No delay here, and the next transition must leave a committed location.
    pub committed: bool,
    /// Labels (`.tck`).
    pub labels: Vec<String>,
    /// Where it is declared.
    pub place: Place,
}

/// The rate of a clock while a process is in a location: `x' == e` in its invariant. Clocks without
/// a rate run.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// It applies only if this is non-zero; absent: always.
    pub when: Option<Expression>,
    /// The clock.
    pub clock: ClockCell,
    /// 0: stopped; 1: running. Anything else is an error of the model.
    pub value: Expression,
    /// Where it is written.
    pub place: Place,
}

/// An edge of a process.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Source location.
    pub source: LocationId,
    /// Target location.
    pub target: LocationId,
    /// How it synchronises.
    pub sync: Sync,
    /// Evaluated before any update of the transition.
    pub guard: Constraint,
    /// Executed in order.
    pub update: Vec<Statement>,
    /// Number of local cells that guard, sync and update use together.
    pub locals: Vec<Local>,
    /// Where it is declared.
    pub place: Place,
}

/// How an edge synchronises.
#[derive(Clone, Debug, PartialEq)]
pub enum Sync {
    /// Alone (UPPAAL, no synchronisation label).
    Internal,
    /// With others if some vector mentions the event, otherwise alone.
    Event(EventId),
    /// `c!`
    Send(ChannelCell),
    /// `c?`
    Receive(ChannelCell),
}

/// A channel or a cell of a channel array.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelCell {
    /// The channel, or the first of the array.
    pub base: ChannelId,
    /// Offset from `base`; checked to stay within the array by the expression itself.
    pub offset: Option<Expression>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name: `go`, `go[2]`.
    pub name: String,
    /// One sender, and all receivers that are able.
    pub broadcast: bool,
    /// No delay while a synchronisation on it is possible.
    pub urgent: bool,
    /// Priority level; higher goes first, 0 everywhere when the model declares none.
    pub priority: u32,
}

/// One position of a synchronisation vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participant {
    /// The process.
    pub process: ProcessId,
    /// The event of its edge.
    pub event: EventId,
    /// Takes part only if its location has such an edge.
    pub weak: bool,
}

/// A conjunction of conditions on integers and on clocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// Conditions without clocks: all must be non-zero.
    pub data: Vec<Expression>,
    /// Conditions on clocks.
    pub clocks: Vec<ClockAtom>,
}

/// `when` implies `left - right < bound` (or `<=`); an absent clock is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockAtom {
    /// The atom applies only if this is non-zero; absent: always.
    pub when: Option<Expression>,
    /// Minuend.
    pub left: Option<ClockCell>,
    /// Subtrahend.
    pub right: Option<ClockCell>,
    /// `<` rather than `<=`.
    pub strict: bool,
    /// An integer expression.
    pub bound: Expression,
    /// Where it is written.
    pub place: Place,
}

/// A clock or a cell of a clock array.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockCell {
    /// The clock, or the first of the array.
    pub base: ClockId,
    /// Number of cells: 1 for a plain clock.
    pub count: u32,
    /// Offset from `base`; `None` if it is always 0.
    pub offset: Option<Expression>,
}

impl Network {
    /// Whether edges are taken together by events and vectors, rather than by channels with senders
    /// and receivers. No network has both; internal edges go with either.
    pub fn by_events(&self) -> bool {
        self.language == Language::Tck || !self.events.is_empty()
    }
}

impl Network {
    /// Whether some clock can be stopped.
    pub fn has_stopwatches(&self) -> bool {
        let mut locations = self.processes.iter().flat_map(|process| &process.locations);
        locations.any(|location| !location.rates.is_empty())
    }
}

impl ClockCell {
    /// A fixed clock.
    pub fn fixed(clock: ClockId) -> Self {
        ClockCell { base: clock, count: 1, offset: None }
    }
}

impl Constraint {
    /// Whether it has no conditions.
    pub fn is_trivial(&self) -> bool {
        self.data.is_empty() && self.clocks.is_empty()
    }
}
