//! Models written as ordinary Rust types.
//!
//! Implement [`NativeModel`] for your own type: the states, the actions that each allows, and where
//! they lead. [`Native`] adapts it to a [`Model`](crate::Model) that every strategy can search.
//!
//! Two workers add one to a shared counter. Each takes the lock, except that the second one forgets
//! to, so an update may get lost:
//!
//! ```
//! use turnpike_model::native::{Measure, Native, NativeModel};
//! use turnpike_model::{Model, Successors};
//!
//! /// Where a worker is: about to start, holding the lock with the value it read, or done.
//! #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
//! enum Worker { Start, Read(u32), Done }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! struct Shared { counter: u32, locked: bool, workers: [Worker; 2] }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Action { Fetch { worker: usize }, Store { worker: usize } }
//!
//! struct Race { second_forgets_the_lock: bool }
//!
//! impl NativeModel for Race {
//!     type State = Shared;
//!     type Action = Action;
//!
//!     fn initial(&self) -> Shared {
//!         Shared { counter: 0, locked: false, workers: [Worker::Start; 2] }
//!     }
//!
//!     fn actions(&self, state: &Shared, actions: &mut Vec<Action>) {
//!         for (worker, place) in state.workers.iter().enumerate() {
//!             match place {
//!                 Worker::Start => actions.push(Action::Fetch { worker }),
//!                 Worker::Read(_) => actions.push(Action::Store { worker }),
//!                 Worker::Done => {}
//!             }
//!         }
//!     }
//!
//!     fn next(&self, state: &Shared, action: &Action) -> Option<Shared> {
//!         let mut next = state.clone();
//!         match *action {
//!             Action::Fetch { worker } => {
//!                 let forgets = worker == 1 && self.second_forgets_the_lock;
//!                 if state.locked && !forgets {
//!                     return None; // must wait
//!                 }
//!                 next.locked = true;
//!                 next.workers[worker] = Worker::Read(state.counter);
//!             }
//!             Action::Store { worker } => {
//!                 let Worker::Read(value) = state.workers[worker] else { return None };
//!                 next.counter = value + 1;
//!                 next.locked = false;
//!                 next.workers[worker] = Worker::Done;
//!             }
//!         }
//!         Some(next)
//!     }
//!
//!     // Being stuck is fine once everyone is done.
//!     fn is_done(&self, state: &Shared) -> bool {
//!         state.workers == [Worker::Done; 2]
//!     }
//!
//!     fn violation(&self, state: &Shared) -> Option<String> {
//!         (self.is_done(state) && state.counter != 2).then(|| format!("an update was lost: {}", state.counter))
//!     }
//!
//!     fn measures(&self) -> Vec<Measure<Shared>> {
//!         vec![Measure::new("counter", "value of the counter", |state: &Shared| state.counter.into())]
//!     }
//! }
//!
//! /// Explores everything by hand; a search strategy would do this for us.
//! fn violations(model: &dyn Model) -> Vec<String> {
//!     let mut explorer = model.explorer();
//!     let mut state = Vec::new();
//!     explorer.initial(&mut state).unwrap();
//!     let mut seen = std::collections::HashSet::from([state.clone()]);
//!     let (mut todo, mut found) = (vec![state], Vec::new());
//!     let mut successors = Successors::new(model.info().width);
//!     while let Some(state) = todo.pop() {
//!         let violations = explorer.violations().unwrap();
//!         found.extend(violations.violation(&state).map(|violation| violation.message));
//!         explorer.successors(&state, &mut successors).unwrap();
//!         for (_, next) in successors.iter() {
//!             if seen.insert(next.to_vec()) {
//!                 todo.push(next.to_vec());
//!             }
//!         }
//!     }
//!     found
//! }
//!
//! let good = Native::new(Race { second_forgets_the_lock: false });
//! assert!(violations(&good).is_empty());
//!
//! let bad = Native::new(Race { second_forgets_the_lock: true });
//! assert_eq!(violations(&bad), ["an update was lost: 1"]);
//!
//! // Names come from the types: values of a state, and labels such as `fetch(0)`.
//! assert_eq!(bad.info().name, "Race");
//! assert_eq!(bad.info().parameters, ["counter", "locked", "workers"]);
//! let mut explorer = bad.explorer();
//! let mut successors = Successors::new(1);
//! explorer.successors(&[0], &mut successors).unwrap();
//! assert_eq!(explorer.label(successors.label(0)).text, "fetch(0)");
//! ```

mod adapter;
mod arena;
mod debug_text;

use std::fmt::Debug;
use std::hash::Hash;

pub use adapter::Native;

use debug_text::DebugText;

/// A transition system as a Rust type.
///
/// **Contract.** [`initial`](Self::initial), [`actions`](Self::actions) and [`next`](Self::next) are functions of their
/// arguments: the same every time, in the same order, in every run of the program. Iterating over a
/// `HashMap` breaks this; a `BTreeMap` or a sorted vector keeps it. `Hash` must agree with `Eq` and
/// depend on the value only, not on addresses.
pub trait NativeModel: Send + Sync {
    /// A state: everything that decides what can happen next, and nothing else.
    type State: Clone + Debug + Eq + Hash + Send + Sync;
    /// A step the system can take.
    type Action: Clone + Debug + Eq + Hash + Send + Sync;

    /// The state at the start.
    fn initial(&self) -> Self::State;

    /// Appends the actions that `state` may allow to `actions`, which is empty. Their order
    /// determines the order of successors.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state after `action`; `None` if the action is not possible after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// The name for the user. The default is the name of the type.
    fn name(&self) -> String {
        let name = std::any::type_name::<Self>();
        let name = name.split('<').next().unwrap_or(name);
        name.rsplit("::").next().unwrap_or(name).to_owned()
    }

    /// The error that `state` shows, if any, such as a broken invariant.
    fn violation(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }

    /// Whether the system may stop in `state`. A state without successors is then not a deadlock.
    fn is_done(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Named numbers of a state, used as guides, for `min` and `max`, and in conditions.
    fn measures(&self) -> Vec<Measure<Self::State>> {
        Vec::new()
    }

    /// A label for `action`, in the syntax `name(argument,…)`. The default, [`action_label`],
    /// parses the `Debug` text.
    fn format_action(&self, action: &Self::Action) -> String {
        action_label(action)
    }

    /// The names of all actions as in labels: `send_to` for `send_to(1,2)`. An objective with
    /// another action is refused before the search, and a label with another name is an error.
    ///
    /// By default they are unknown. A complete search then refuses an objective whose action never
    /// occurred, because that may be a misspelling. Name your actions here if some need not occur.
    fn action_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The names of the values in [`state_values`](Self::state_values). By default the fields of
    /// the initial state if it is a struct with named fields, otherwise the single name `state`.
    fn parameters(&self) -> Vec<String> {
        let text = format!("{:?}", self.initial());
        match DebugText::parse(&text) {
            DebugText::Struct { fields, .. } if !fields.is_empty() => {
                fields.into_iter().map(|(name, _)| name.to_owned()).collect()
            }
            _ => vec!["state".to_owned()],
        }
    }

    /// Appends the texts of a state's values, one for each of [`parameters`](Self::parameters), to
    /// `out`, which is empty. By default they come from the `Debug` text.
    fn state_values(&self, state: &Self::State, out: &mut Vec<String>) {
        let parameters = self.parameters();
        let text = format!("{state:?}");
        match DebugText::parse(&text) {
            DebugText::Struct { fields, .. }
                if fields.len() == parameters.len()
                    && fields.iter().zip(&parameters).all(|(field, parameter)| field.0 == parameter) =>
            {
                out.extend(fields.into_iter().map(|(_, value)| value.to_owned()));
            }
            // A state with another shape than the initial one: its text, and empty texts for the
            // other values.
            _ => {
                out.push(text);
                out.resize(parameters.len(), String::new());
            }
        }
    }

    /// Objectives worth trying, in the syntax of `--find`.
    fn suggestions(&self) -> Vec<String> {
        vec!["deadlock".to_owned(), "assertion".to_owned()]
    }

    /// Identifies the model in traces. The default hashes the name and the text of the initial
    /// state. A model with parameters that are not visible there should include them with
    /// [`hash::of`](crate::hash::of).
    fn fingerprint(&self) -> u64 {
        crate::hash::of(&(self.name(), format!("{:?}", self.initial())))
    }
}

/// A named number of a state.
pub struct Measure<S> {
    name: String,
    doc: String,
    value: Box<dyn Fn(&S) -> f64 + Send + Sync>,
}

impl<S> Measure<S> {
    /// A measure with one line of description.
    pub fn new(
        name: impl Into<String>,
        doc: impl Into<String>,
        value: impl Fn(&S) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Measure { name: name.into(), doc: doc.into(), value: Box::new(value) }
    }
}

impl<S> std::fmt::Debug for Measure<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measure").field("name", &self.name).field("doc", &self.doc).finish_non_exhaustive()
    }
}

/// A label from a `Debug` text: the variant's name in snake case, and its fields as arguments.
///
/// ```
/// use turnpike_model::native::action_label;
///
/// #[derive(Debug)]
/// enum Action { Tick, SendTo(u8, Option<u8>), Deliver { to: u8, data: Vec<u8> } }
///
/// assert_eq!(action_label(&Action::Tick), "tick");
/// assert_eq!(action_label(&Action::SendTo(1, Some(2))), "send_to(1,Some(2))");
/// assert_eq!(action_label(&Action::Deliver { to: 1, data: vec![2, 3] }), "deliver(1,[2, 3])");
/// assert_eq!(action_label(&"put the kettle on"), "put the kettle on");
/// ```
pub fn action_label(action: &impl Debug) -> String {
    let text = format!("{action:?}");
    let call = |name: &str, arguments: Vec<&str>| {
        let name = if name.is_empty() { "step".to_owned() } else { snake_case(name) };
        if arguments.is_empty() { name } else { format!("{name}({})", arguments.join(",")) }
    };
    match DebugText::parse(&text) {
        DebugText::Name(name) => snake_case(name),
        DebugText::Tuple { name, fields } => call(name, fields),
        DebugText::Struct { name, fields } => {
            call(name, fields.into_iter().map(|(_, value)| value).collect())
        }
        DebugText::Text(inner) => inner,
        DebugText::Other(text) => text.to_owned(),
    }
}

/// Converts `SendTo` to `send_to`: labels look like those of other front-ends, whose actions start
/// with a lower-case letter.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut previous = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let starts_word = previous.is_lowercase()
            || previous.is_ascii_digit()
            || (previous.is_uppercase() && rest.peek().is_some_and(|next| next.is_lowercase()));
        if c.is_uppercase() && starts_word {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        previous = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_snake_case() {
        for (name, expected) in [
            ("Send", "send"),
            ("SendTo", "send_to"),
            ("HTTPGet", "http_get"),
            ("Phase2Commit", "phase2_commit"),
            ("already_snake", "already_snake"),
            ("A", "a"),
            ("ABC", "abc"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }

    #[test]
    fn any_debug_text_is_a_label() {
        assert_eq!(action_label(&(1, "a,b")), "step(1,\"a,b\")");
        assert_eq!(action_label(&5), "5");
        assert_eq!(action_label(&-2.5), "-2.5");
        assert_eq!(action_label(&()), "step");
        assert_eq!(action_label(&[1, 2]), "[1, 2]");
        assert_eq!(action_label(&Some(Some(3))), "some(Some(3))");
        assert_eq!(action_label(&'x'), "'x'");
        assert_eq!(action_label(&"tab\there"), "tab\there");
    }
}
