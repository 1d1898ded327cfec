//! What shortening a witness may cost, in expansions.

use turnpike_model::Successors;

use crate::options::SearchOptions;
use crate::run::Run;

/// What shortening may take, in expansions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// For leaving out steps.
    pub(crate) leaving_out: u64,
    /// For everything, as long as leaving out steps does not take more.
    pub(crate) all: u64,
    /// For everything, when the witness was wasteful and is still long.
    pub(crate) wasteful: u64,
    /// Whether it may be spent again as long as that makes the witness much shorter.
    pub(crate) pays: bool,
    /// An expansion with a multiple of this many transitions counts as several.
    pub(crate) many: u64,
}

impl Budget {
    /// Nothing is too much.
    #[cfg(test)]
    pub(crate) fn unlimited() -> Self {
        let all = u64::MAX;
        Budget { leaving_out: all, all, wasteful: all, pays: false, many: ALL_ALIKE }
    }

    /// A part of it.
    pub(crate) fn share(&self, share: u64) -> Spending {
        Spending { spent: 0, share, many: self.many }
    }
}

/// States with very many transitions get this many expansions all the same.
const LEAST_EXPANSIONS: u64 = 300;

/// Where states have more transitions than this, what is left of a limit on states takes far too
/// long.
const CROWDED: u64 = 4;

/// Up to this many transitions, an expansion counts as one, whatever the search met.
const FEW: u64 = 8;

/// One expansion counts as one.
const ALL_ALIKE: u64 = u64::MAX;

/// What was spent of a share of the budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spending {
    /// Expansions, of which some count as several.
    pub(crate) spent: u64,
    pub(crate) share: u64,
    many: u64,
}

impl Spending {
    /// A part of the same budget.
    pub(crate) fn part(&self, share: u64) -> Spending {
        Spending { spent: 0, share, many: self.many }
    }

    /// Whether every expansion counts as one.
    pub(crate) fn counts_alike(&self) -> bool {
        self.many == ALL_ALIKE
    }

    /// Counts an expansion.
    pub(crate) fn expand(&mut self, successors: &Successors) {
        self.expand_all(1, successors.len() as u64);
    }

    /// Counts expansions and their transitions.
    pub(crate) fn expand_all(&mut self, expansions: u64, transitions: u64) {
        self.spent += expansions.max(transitions / self.many);
    }

    /// How many states with so many transitions each can be expanded.
    pub(crate) fn affordable(&self, transitions: u64) -> u64 {
        self.share / (transitions / self.many).max(1)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.spent >= self.share
    }

    /// Whether so many more expansions would be too many.
    pub(crate) fn is_short_of(&self, expansions: u64) -> bool {
        self.spent + expansions >= self.share
    }
}

/// What shortening may cost, given the expansions of the search.
///
/// It is a third of that within bounds, so that a witness costs little more than finding it. Someone
/// who limits the states of a search accepts that many expansions, so a long and wasteful witness
/// may use the rest. But people wait half a second gladly for a witness that they can read, so a
/// search on its own always gets that much.
pub(crate) fn shorten_budget(run: &Run<'_>) -> Budget {
    let (options, states) = (run.options, run.counters.states);
    if let Some(budget) = options.shorten_budget {
        let (leaving_out, all, wasteful) = (budget, budget, budget);
        return Budget { leaving_out, all, wasteful, pays: false, many: ALL_ALIKE };
    }
    let usual = usual_budget(options, states);
    if !options.thorough || options.runs > 1 {
        return usual;
    }
    // The pace is in transitions: states with many of them take longer.
    let (states, transitions) = (states.max(1), run.counters.transitions.max(1));
    let least = (u128::from(run.model.info().pace) * u128::from(states) / u128::from(transitions)) as u64;
    let least = least.clamp(LEAST_EXPANSIONS, run.model.info().pace);
    let crowded = transitions / states >= CROWDED;
    Budget {
        leaving_out: usual.leaving_out.max(least),
        all: usual.all.max(least),
        wasteful: if crowded { usual.all.max(least) } else { usual.wasteful.max(least) },
        pays: true,
        // Walks can spend their time in states with few transitions, next to states with hundreds.
        many: (transitions / states).max(FEW),
    }
}

/// What shortening takes where every run counts.
fn usual_budget(options: &SearchOptions, states: u64) -> Budget {
    let (all, leaving_out, wasteful) = match options.limits.states {
        Some(limit) => {
            let all = (states / 2).clamp(300, 50_000);
            let left = limit.saturating_sub(states).min(40_000);
            (all, all.max(3_000), all.max(left))
        }
        None => {
            // A little for short searches, but never more than they took.
            let all = (states / 3).clamp(states.min(16), 50_000);
            (all, all, all)
        }
    };
    Budget { leaving_out, all, wasteful, pays: false, many: ALL_ALIKE }
}
