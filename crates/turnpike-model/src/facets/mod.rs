//! Optional features of systems beyond states and paths.
//!
//! A facet is a small trait. A model or an explorer offers it if the system supports it, and
//! strategies that need it request it; other front-ends can ignore it. This keeps the interface
//! small, and no front-end answers a request with a default by accident.

mod approximation;
mod automata;
mod bare_labels;
mod concrete;
mod covering;
mod delays;
mod exact_states;
mod measures;
mod obstacles;
mod participants;
mod portable_states;
mod predicates;
mod source_places;
mod state_labels;
mod timing;
mod violations;
mod vocabulary;

pub use approximation::{Approximation, Claim};
pub use automata::{Automata, Automaton, AutomatonEdge, AutomatonLocation, EdgeTaken, Haste};
pub use bare_labels::BareLabels;
pub use concrete::Concrete;
pub use covering::Covering;
pub use delays::{ClockReading, Delay, Delays, Outlook, Window};
pub use exact_states::ExactStates;
pub use measures::{MeasureInfo, Measures};
pub use obstacles::{Counterpart, Obstacle, Obstacles, Offer, StuckComponent, TimeStop};
pub use participants::{Handover, Participant, Participants, Role};
pub use portable_states::{Names, PortableStates, PortableWords, decode_words};
pub use predicates::{PredicateId, Predicates};
pub use source_places::{SourcePlace, SourcePlaces};
pub use state_labels::{LabelSetId, StateLabels};
pub use timing::{Moment, Schedule, Timing};
pub use violations::{Violation, ViolationKind, Violations};
pub use vocabulary::{Vocabulary, Word};
