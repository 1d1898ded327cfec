//! A system as paths: complete runs, each of which a chooser follows from the start to an end.
//!
//! Programs are executed rather than stored, so they offer complete paths natively. A path consists
//! of *steps*; in each state an *actor* (a thread) takes one of its *alternatives*. A schedule is
//! the sequence of positions among the choices of the states along the path, and means the same
//! here as among the successors of a state.

use crate::facets::{Participant, ViolationKind};
use crate::label::Label;
use crate::system::StepError;

/// One thread's view of a system as paths. Queries about a path refer to the last one followed.
pub trait Paths: Send {
    /// The properties that all paths of the system share.
    fn info(&self) -> PathsInfo;

    /// Follows a path from the start to an end. Equal requests lead along the same path.
    fn follow(&mut self, request: &Request<'_>) -> Result<(), StepError>;

    /// Number of steps.
    fn len(&self) -> usize;

    /// Whether the path has no steps.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reason why it ended.
    fn end(&self) -> PathEnd;

    /// The reason why it ended, for the user.
    fn describe_end(&self) -> String;

    /// Whether the last step ended the path although other actors could have continued.
    fn cuts_others_short(&self) -> bool;

    /// Whether the effect of a step depended on the pending operations of other actors.
    fn looks_at_pending(&self) -> bool;

    /// The errors that it shows, each kind at most once. A deadlock is not among them.
    fn violations(&self) -> Vec<ViolationKind>;

    /// Whether it shows neither an error nor a deadlock. Fast, because most paths do not.
    fn is_quiet(&self) -> bool;

    /// Identifies the error, independently of the schedule. Needs [`Detail::Full`].
    fn signature(&self) -> u64;

    /// Readable signatures that consist of kinds and places only, one for each error, such as
    /// `deadlock@bank.c:31+bank.c:44`. Needs [`Detail::Full`].
    fn signatures(&mut self) -> Vec<String>;

    /// The signatures of suppressed errors that the path shows.
    fn suppressed(&self) -> &[String];

    /// Whether something was bounded or outside control, so that even all paths together are not a
    /// proof.
    fn is_incomplete(&self) -> bool;

    /// A step.
    fn step(&self, index: usize) -> PathStep;

    /// Sums up the steps into `out`, which is overwritten.
    fn count_steps(&self, out: &mut StepCounts);

    /// Appends hashes of the states after the steps to `out`. Needs [`Detail::Steps`].
    fn fingerprints(&self, out: &mut Vec<u64>);

    /// Identifies the state after a step: equal if and only if all possible continuations are.
    /// Needs [`Detail::Steps`].
    fn state_behind(&self, step: usize) -> u128;

    /// Appends the choices of the state before a step to `out`. Needs [`Detail::Full`].
    fn choices(&self, step: usize, out: &mut Vec<Choice>);

    /// The number of actors that could act first.
    fn actors_at_start(&mut self) -> Result<u32, StepError>;

    /// The label of a step, which is the same as that of the transition among the successors of its
    /// state. Needs [`Detail::Full`].
    fn label(&mut self, step: usize) -> Label;

    /// The names of all actors, and the participants of each step; `None` if these are unknown.
    /// Needs [`Detail::Full`].
    fn participants(&self) -> Option<(Vec<String>, Vec<Vec<Participant>>)> {
        None
    }

    /// The pending operation of an actor at the end. Needs [`Detail::Full`].
    fn describe_pending(&self, actor: u32) -> String;

    /// The counters for fitness functions.
    fn tally(&self) -> Tally;

    /// With [`Chooser::Genes`]: the repaired bits, and how many were read.
    fn genes(&self) -> (&[u64], usize);

    /// Whether the order of two choices matters.
    fn dependent(&self, one: &Choice, other: &Choice) -> bool;

    /// The part of a sleeping choice that stays asleep after a step of another actor: nothing if
    /// they are dependent, otherwise the choice itself, possibly in another form.
    fn asleep_after(&self, sleeper: &Choice, step: &Choice) -> [Option<Choice>; 2] {
        [(!self.dependent(sleeper, step)).then_some(*sleeper), None]
    }

    /// The partial order of the steps. The first `same` steps are those of the path for which the
    /// order was last computed. Needs [`Detail::Full`].
    fn order(&mut self, same: usize) -> &dyn StepOrder;

    /// As [`Paths::order`], to be kept while other paths are followed.
    fn detach_order(&mut self) -> Box<dyn StepOrder>;
}

/// The properties that all paths of a system share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathsInfo {
    /// The number of steps after which a path is cut.
    pub max_steps: u32,
    /// Whether the choices of states are reduced already.
    pub reduced: bool,
    /// Whether that reduction is proved sound.
    pub reduction_is_proved: bool,
    /// Whether the choices of a state depend on the path to it, as with a bound on preemptions. A
    /// path then does not represent others that order independent steps differently.
    pub bounded: bool,
}

/// A path to follow.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Positions among the choices, from the start on.
    pub prefix: &'a [u32],
    /// The chooser after the prefix.
    pub chooser: Chooser<'a>,
    /// The number of steps after which the path is cut, including the prefix.
    pub max_steps: u32,
    /// How much to record.
    pub detail: Detail,
    /// Whether the system's own reduction of choices applies.
    pub reduced: bool,
}

/// How a path continues after its prefix.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Chooser<'a> {
    /// The first choice.
    First,
    /// The actor of the last step while it can act, otherwise the first choice, so that there are
    /// few switches.
    Continue,
    /// These actors with these alternatives, one after the other. Impossible ones are skipped;
    /// after the last one, as [`Chooser::Continue`].
    Follow {
        /// Actor and alternative.
        order: &'a [(u32, u32)],
    },
    /// Each choice equally likely.
    Uniform {
        /// The seed of the random numbers.
        seed: u64,
    },
    /// Probabilistic concurrency testing: random priorities of actors, `depth - 1` change points
    /// among the first `length` steps with a choice.
    Pct {
        /// The seed of the random numbers.
        seed: u64,
        /// Bug depth.
        depth: u32,
        /// Expected number of steps with a choice.
        length: u32,
    },
    /// Partial-order sampling: random priorities of pending operations.
    Pos {
        /// The seed of the random numbers.
        seed: u64,
    },
    /// As [`Chooser::Pos`] with few actors at once: some of each kind go first, others only where none of
    /// these can take a step.
    Few {
        /// Of the random numbers.
        seed: u64,
    },
    /// The actor that took the fewest steps: all go on in turn.
    Turns,
    /// As [`Chooser::Pos`], but [`Paths::fingerprints`] returns sketches of the states *before* the
    /// steps: hashes that ignore how the state was reached, so that they are equal more often.
    Sketch {
        /// The seed of the random numbers.
        seed: u64,
    },
    /// Chooses actors in proportion to the number of their remaining steps.
    Weighted {
        /// The seed of the random numbers.
        seed: u64,
        /// The expected number of steps of each actor; 1 if it is missing.
        steps: &'a [u32],
    },
    /// Chooses by the bits of a chromosome: a state with n choices takes the next ceil(log2 n) of
    /// them, most significant first. A value that is not a position is replaced by a random one.
    Genes {
        /// The bits, from the most significant one of the first word.
        bits: &'a [u64],
        /// The seed for repairs, and for bits beyond the end.
        seed: u64,
    },
    /// The first choice that is not asleep. The given choices are asleep after the prefix; a
    /// dependent step wakes them. First an order is followed, as long as its entries are possible
    /// and awake.
    Awake {
        /// Actor and alternative.
        sleep: &'a [(u32, u32)],
        /// Actor and alternative, or [`Cause::ANY`].
        order: &'a [(u32, u32)],
    },
}

/// How much of a path to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Position and number of choices of each step: enough for replay.
    #[default]
    Positions,
    /// Also the operation of each step, and hashes of states.
    Steps,
    /// Also all choices of each state, and all names.
    Full,
}

/// The reason why a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEnd {
    /// It ended normally.
    Finished,
    /// No actor can act, but some have not ended.
    Deadlock,
    /// An error occurred.
    Failed,
    /// Nothing visible happened for too long.
    Hung,
    /// The limit on steps was reached.
    StepLimit,
    /// All choices are asleep: other paths cover the continuations.
    Asleep,
    /// The prefix requested a choice that does not exist, at this step.
    Diverged(u32),
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The position of the choice that was taken.
    pub taken: u32,
    /// The number of choices.
    pub count: u32,
    /// The actor.
    pub actor: u32,
    /// The alternative of the actor.
    pub alternative: u32,
    /// How unusual the alternative is: 0 for the preferred one of several.
    pub unusual: u32,
}

/// Sums over the steps of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Steps with more than one choice.
    pub contested: u32,
    /// Steps of each actor.
    pub by_actor: Vec<u32>,
}

/// Counters along a path, for fitness functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sum over all states of the number of choices.
    pub enabled: u64,
    /// Messages sent.
    pub messages: u64,
    /// Assertions evaluated.
    pub assertions: u64,
    /// Distinct branches taken.
    pub branches: u64,
}

/// A choice of a state: an actor and one of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The actor.
    pub actor: u32,
    /// The alternative of the actor.
    pub alternative: u32,
    /// The operation, in a form that only the system itself interprets.
    pub operation: [u64; 6],
}

/// The cause of a step. Two alternatives have a special meaning, in every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The actor itself.
    Actor,
    /// Its timeout expired.
    Timeout,
    /// Nothing: a spurious wake-up. The number of these on a path may be limited.
    Nothing,
}

impl Cause {
    /// The alternative of a timeout.
    pub const TIMEOUT: u32 = u32::MAX;
    /// The alternative of a spurious wake-up.
    pub const NOTHING: u32 = u32::MAX - 1;
    /// In an order to follow: the preferred alternative.
    pub const ANY: u32 = u32::MAX - 2;

    /// The cause of a step with this alternative.
    pub fn of(alternative: u32) -> Cause {
        match alternative {
            Cause::TIMEOUT => Cause::Timeout,
            Cause::NOTHING => Cause::Nothing,
            _ => Cause::Actor,
        }
    }
}

/// The actors and objects that have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Actors.
    pub actors: u32,
    /// Objects, in the system's own terms.
    pub objects: u32,
}

impl Known {
    /// All of them.
    pub const ALL: Known = Known { actors: u32::MAX, objects: u32::MAX };
}

/// The partial order of the steps of a path, and its races.
///
/// *Events* are the steps, followed by the pending operations of the actors at the end. A race is a
/// pair of dependent events of different actors that could have happened in the other order.
pub trait StepOrder: Send {
    /// The number of events.
    fn events(&self) -> usize;

    /// The number of events that are steps.
    fn steps(&self) -> usize;

    /// The actor and the alternative of an event.
    fn event(&self, event: usize) -> (u32, u32);

    /// An event as a choice.
    fn choice(&self, event: usize) -> Choice;

    /// Whether the order of a choice and an event of another actor may matter, or the event could have been
    /// seen by the choice. If not `sure`, what the two find in the objects that they access may be something
    /// else than here. Actors and objects beyond `known` may be any.
    fn may_conflict(&self, choice: &Choice, event: usize, sure: bool, known: Known) -> bool;

    /// The actors and objects that all paths through the state before a step have in common.
    fn known_at(&self, step: usize) -> Known;

    /// Whether `earlier` precedes `later` in every linearisation.
    fn before(&self, earlier: usize, later: usize) -> bool;

    /// Calls `race` for each step that races with `later`, the latest first.
    fn races(&self, later: usize, race: &mut dyn FnMut(usize));

    /// Whether an event after the steps is known to be blocked.
    fn is_blocked(&self, pending: usize) -> bool;

    /// The events that reverse a race: those after `earlier` that do not depend on it, then
    /// `later`.
    fn reversal(&self, earlier: usize, later: usize) -> Vec<usize> {
        let end = later.min(self.steps());
        let mut events: Vec<usize> =
            (earlier + 1..end).filter(|&event| !self.before(earlier, event)).collect();
        events.push(later);
        events
    }

    /// The actors that can begin a sequence of events.
    fn initials(&self, sequence: &[usize]) -> Vec<u32> {
        let mut initials: Vec<u32> = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        for (at, &event) in sequence.iter().enumerate() {
            let (actor, _) = self.event(event);
            if seen.contains(&actor) {
                continue;
            }
            seen.push(actor);
            if !sequence[..at].iter().any(|&earlier| self.before(earlier, event)) {
                initials.push(actor);
            }
        }
        initials
    }
}
