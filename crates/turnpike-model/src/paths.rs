//! A system as paths: whole runs, each followed from the start to an end by a chooser.
//!
//! Programs are executed rather than stored, so they offer whole paths natively. A path consists of
//! *steps*; in each state an *actor* (a thread) takes one of its *alternatives*. A schedule is the
//! sequence of positions among the choices of the states along the path, and means the same here
//! and among the successors of a state.

use crate::facets::{Participant, ViolationKind};
use crate::label::Label;
use crate::system::StepError;

/// One thread's view of a system as paths. Whatever is asked about a path is about the one followed
/// last.
pub trait Paths: Send {
    /// What all paths of the system have in common.
    fn info(&self) -> PathsInfo;

    /// Follows a path from the start to an end. The same request leads along the same path.
    fn follow(&mut self, request: &Request<'_>) -> Result<(), StepError>;

    /// Number of steps.
    fn len(&self) -> usize;

    /// Whether nothing happened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Why it ended.
    fn end(&self) -> PathEnd;

    /// Why it ended, for the user.
    fn describe_end(&self) -> String;

    /// Whether the last step ended the path although other actors could have gone on.
    fn cuts_others_short(&self) -> bool;

    /// Whether what a step did depended on what other actors were about to do.
    fn looks_at_pending(&self) -> bool;

    /// The errors it shows, each kind at most once; a deadlock is none of them.
    fn violations(&self) -> Vec<ViolationKind>;

    /// Whether it shows no error and no deadlock: quick, because most paths are like this.
    fn is_quiet(&self) -> bool;

    /// Tells errors apart, whatever the schedule. Needs [`Detail::Full`].
    fn signature(&self) -> u64;

    /// The same in words that are made of kinds and places only, one for each error, such as
    /// `deadlock@bank.c:31+bank.c:44`. Needs [`Detail::Full`].
    fn signatures(&mut self) -> Vec<String>;

    /// The signatures of errors that are to be passed over, and that the path shows.
    fn suppressed(&self) -> &[String];

    /// Whether something was bounded or outside control, so that all paths together prove nothing.
    fn is_incomplete(&self) -> bool;

    /// A step.
    fn step(&self, index: usize) -> PathStep;

    /// Sums up the steps into `out`, which is overwritten.
    fn count_steps(&self, out: &mut StepCounts);

    /// Hashes of the states behind the steps, appended to `out`. Needs [`Detail::Steps`].
    fn fingerprints(&self, out: &mut Vec<u64>);

    /// Names the state behind a step: equal exactly where everything that may follow is. Needs
    /// [`Detail::Steps`].
    fn state_behind(&self, step: usize) -> u128;

    /// The choices of the state before a step, appended to `out`. Needs [`Detail::Full`].
    fn choices(&self, step: usize, out: &mut Vec<Choice>);

    /// How many actors could act first.
    fn actors_at_start(&mut self) -> Result<u32, StepError>;

    /// The label of a step; the same that the transition has among the successors of its state.
    /// Needs [`Detail::Full`].
    fn label(&mut self, step: usize) -> Label;

    /// The names of all actors, and for each step who takes part in it; `None` if that is not known.
    /// Needs [`Detail::Full`].
    fn participants(&self) -> Option<(Vec<String>, Vec<Vec<Participant>>)> {
        None
    }

    /// What an actor is about to do at the end. Needs [`Detail::Full`].
    fn describe_pending(&self, actor: u32) -> String;

    /// What fitness functions count.
    fn tally(&self) -> Tally;

    /// With [`Chooser::Genes`]: the bits as repaired, and how many were read.
    fn genes(&self) -> (&[u64], usize);

    /// Whether the order of two choices matters.
    fn dependent(&self, one: &Choice, other: &Choice) -> bool;

    /// What stays asleep of a choice after a step of another actor: nothing if they depend on each
    /// other, else the choice itself, perhaps in another form.
    fn asleep_after(&self, sleeper: &Choice, step: &Choice) -> [Option<Choice>; 2] {
        [(!self.dependent(sleeper, step)).then_some(*sleeper), None]
    }

    /// The order that the steps must have. The first `same` steps are those of the path for which
    /// the order was computed last. Needs [`Detail::Full`].
    fn order(&mut self, same: usize) -> &dyn StepOrder;

    /// The same, to be kept while other paths are followed.
    fn detach_order(&mut self) -> Box<dyn StepOrder>;
}

/// What all paths of a system have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathsInfo {
    /// Steps after which a path is cut.
    pub max_steps: u32,
    /// Whether the choices of states are reduced already.
    pub reduced: bool,
    /// Whether that reduction is known to leave out nothing that matters.
    pub reduction_is_proved: bool,
    /// Whether the choices of a state depend on the path that led to it, as under a bound on
    /// preemptions: then no path stands for another that orders independent steps differently.
    pub bounded: bool,
}

/// A path to follow.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Positions among the choices, from the start on.
    pub prefix: &'a [u32],
    /// How to go on after it.
    pub chooser: Chooser<'a>,
    /// Steps after which the path is cut, prefix included.
    pub max_steps: u32,
    /// How much is recorded.
    pub detail: Detail,
    /// Whether the system's own reduction of choices applies.
    pub reduced: bool,
}

/// How a path goes on after its prefix.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Chooser<'a> {
    /// The first choice.
    First,
    /// The actor of the last step as long as it can, else the first choice: few switches.
    Continue,
    /// These actors with these alternatives, one after the other. What cannot be taken is skipped;
    /// when none is left, as [`Chooser::Continue`].
    Follow {
        /// Actor and alternative.
        order: &'a [(u32, u32)],
    },
    /// Each choice equally likely.
    Uniform {
        /// Of the random numbers.
        seed: u64,
    },
    /// Probabilistic concurrency testing: random priorities of actors, `depth - 1` change points
    /// among the first `length` steps with a choice.
    Pct {
        /// Of the random numbers.
        seed: u64,
        /// Bug depth.
        depth: u32,
        /// Expected number of steps with a choice.
        length: u32,
    },
    /// Partial-order sampling: random priorities of pending operations.
    Pos {
        /// Of the random numbers.
        seed: u64,
    },
    /// As [`Chooser::Pos`], but [`Paths::fingerprints`] tells sketches of the states *before* the
    /// steps: hashes that forget how the state was reached, and so are equal more often.
    Sketch {
        /// Of the random numbers.
        seed: u64,
    },
    /// Actors in proportion to the steps they still have.
    Weighted {
        /// Of the random numbers.
        seed: u64,
        /// Expected steps of each actor; missing ones count 1.
        steps: &'a [u32],
    },
    /// By the bits of a chromosome: a state with n choices takes the next ceil(log2 n) of them,
    /// most significant first. A value that is not a position is replaced by a random one.
    Genes {
        /// In order from the most significant bit of the first word.
        bits: &'a [u64],
        /// For repairs, and for bits beyond the end.
        seed: u64,
    },
    /// The first choice that does not sleep, with these asleep behind the prefix; those that depend
    /// on a step are woken by it.
    Awake {
        /// Actor and alternative.
        sleep: &'a [(u32, u32)],
    },
}

/// How much is recorded of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Position and number of choices of each step: what replaying needs.
    #[default]
    Positions,
    /// Also what each step does, and hashes of states.
    Steps,
    /// Also all choices of each state, and everything by name.
    Full,
}

/// Why a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEnd {
    /// By itself.
    Finished,
    /// No actor can act, and some have not ended.
    Deadlock,
    /// By an error.
    Failed,
    /// Nothing visible happened for too long.
    Hung,
    /// At the limit on steps.
    StepLimit,
    /// All choices sleep: other paths cover what follows.
    Asleep,
    /// The prefix asked for a choice that does not exist, at this step.
    Diverged(u32),
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Position of the choice that was taken.
    pub taken: u32,
    /// How many choices there were.
    pub count: u32,
    /// Who acted.
    pub actor: u32,
    /// Which of its alternatives.
    pub alternative: u32,
    /// How unusual that is: 0 for the alternative to prefer where several will do.
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

/// What fitness functions count along a path.
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

/// A choice of a state: who acts, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Who.
    pub actor: u32,
    /// Which of its alternatives.
    pub alternative: u32,
    /// What it does, in a form that only its system reads.
    pub operation: [u64; 6],
}

/// What makes a step happen. Two alternatives have a meaning of their own, in every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The actor itself.
    Actor,
    /// Its time is over.
    Timeout,
    /// Nothing: a spurious wake-up, of which a path may have a limited number.
    Nothing,
}

impl Cause {
    /// The alternative of giving up because the time is over.
    pub const TIMEOUT: u32 = u32::MAX;
    /// The alternative of waking up for no reason.
    pub const NOTHING: u32 = u32::MAX - 1;
    /// In an order to follow: whichever alternative is to be preferred.
    pub const ANY: u32 = u32::MAX - 2;

    /// What makes a step of this alternative happen.
    pub fn of(alternative: u32) -> Cause {
        match alternative {
            Cause::TIMEOUT => Cause::Timeout,
            Cause::NOTHING => Cause::Nothing,
            _ => Cause::Actor,
        }
    }
}

/// The order that the steps of a path must have, and the races it leaves open.
///
/// *Events* are the steps, followed by what actors are about to do at the end. A race is a pair of
/// dependent events of different actors that could have happened the other way round.
pub trait StepOrder: Send {
    /// Number of events.
    fn events(&self) -> usize;

    /// How many of them are steps.
    fn steps(&self) -> usize;

    /// Who acts in an event, and by which alternative.
    fn event(&self, event: usize) -> (u32, u32);

    /// Whether `earlier` comes before `later` in every order.
    fn before(&self, earlier: usize, later: usize) -> bool;

    /// Calls `race` for each step that races with `later`, the latest first.
    fn races(&self, later: usize, race: &mut dyn FnMut(usize));

    /// Whether an event after the steps cannot happen, as far as is known.
    fn is_blocked(&self, pending: usize) -> bool;

    /// The events with which the race is won by `later`: those after `earlier` that do not depend
    /// on it, then `later`.
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
