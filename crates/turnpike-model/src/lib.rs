#![doc = include_str!("../README.md")]

pub mod components;
pub mod diagnostic;
mod facets;
pub mod formula;
pub mod hash;
pub mod id_table;
pub mod label;
pub mod native;
pub mod paths;
mod pattern;
pub mod predicate;
mod rewriting;
mod signatures;
mod successors;
mod system;
pub mod trace;

pub use diagnostic::{Diagnostic, Severity};
pub use facets::{
    Approximation, Automata, Automaton, AutomatonEdge, AutomatonLocation, BareLabels, Claim, ClockReading,
    Concrete, Counterpart, Covering, Delay, Delays, EdgeTaken, ExactStates, Handover, Haste, LabelSetId,
    MeasureInfo, Measures, Moment, Names, Obstacle, Obstacles, Offer, Outlook, Participant, Participants,
    PortableStates, PortableWords, PredicateId, Predicates, Role, Schedule, SourcePlace, SourcePlaces,
    StateLabels, StuckComponent, TimeStop, Timing, Violation, ViolationKind, Violations, Vocabulary, Window,
    Word, decode_words,
};
pub use id_table::IdTable;
pub use label::{Label, LabelId};
pub use pattern::Pattern;
pub use rewriting::Rewriting;
pub use signatures::{Absence, Signatures};
pub use successors::Successors;
pub use system::{Capabilities, Explorer, Model, ModelInfo, StepError, StepErrorKind};
pub use trace::{Describer, StateValues, Step, Trace};
