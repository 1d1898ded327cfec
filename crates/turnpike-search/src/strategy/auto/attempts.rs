//! How members use their shares: going on, trying again, trying wider.

use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::strategy::dfs::{DepthFirst, Order, Seen};
use crate::strategy::highway;

/// Depth-first searches between their turns.
#[derive(Default)]
pub(super) struct Paused {
    searches: Vec<(Order, Turn)>,
}

/// How often a turn is extended at most: a search that knows of little more to do may soon have covered
/// everything, or follows a narrow way to the end.
const EXTENSIONS: usize = 3;

struct Turn {
    search: DepthFirst,
    rng: Rng,
    seed: u64,
}

impl Paused {
    /// Lets the search in this order go on, or begin if there is none.
    ///
    /// It keeps the draws that it began with, so the lengths of its turns do not change what it does.
    pub(super) fn go_on(&mut self, run: &mut Run<'_>, order: Order, share: u64) -> Result<StopReason, Halt> {
        let place = self.searches.iter().position(|(other, _)| *other == order);
        let mut turn = match place {
            Some(place) => self.searches.swap_remove(place).1,
            None => Turn {
                search: DepthFirst::new(run, order, Seen::Expanded),
                rng: run.rng.clone(),
                seed: run.seed,
            },
        };
        run.seed = turn.seed;
        std::mem::swap(&mut run.rng, &mut turn.rng);
        let mut outcome = turn.search.advance(run);
        for _ in 0..EXTENSIONS {
            let stopped = matches!(outcome, Err(Halt::Stop(StopReason::MaxStates)));
            if !stopped || !turn.search.is_nearly_done() {
                break;
            }
            run.cap_states(run.counters.states.saturating_add(share));
            outcome = turn.search.advance(run);
        }
        std::mem::swap(&mut run.rng, &mut turn.rng);
        // A search that came to its end begins anew the next time, with other draws.
        if outcome.is_err() {
            self.searches.push((order, turn));
        }
        outcome
    }
}

/// Highway search of ever greater widths, as long as it dies out.
///
/// One that dies out tells that the system is shallow, and how much a wider one will take: a share is
/// extended for it, up to three times the share in all.
pub(super) fn ever_wider(run: &mut Run<'_>, width: u64, share: u64) -> Result<StopReason, Halt> {
    let (seed, mut width) = (run.seed, width);
    let usual = run.state_limit();
    let most = usual.saturating_add(share.saturating_mul(2));
    for attempt in 1.. {
        let before = run.counters.states;
        let outcome = highway::search(run, width)?;
        if outcome != StopReason::Finished {
            return Ok(outcome);
        }
        let took = run.counters.states - before;
        let needed = run.counters.states.saturating_add(took.saturating_mul(3));
        run.cap_states(needed.clamp(usual, most));
        width = width.saturating_mul(2);
        begin_again(run, seed, attempt);
    }
    Ok(StopReason::Finished)
}

/// One attempt with half of a share; then shorter ones, in the proportions of Luby's sequence.
///
/// The time that a random search takes often has a heavy tail: many searches are short, and one that
/// is not will not end soon.
pub(super) fn restart(
    run: &mut Run<'_>,
    share: u64,
    search: impl Fn(&mut Run<'_>) -> Result<StopReason, Halt>,
) -> Result<StopReason, Halt> {
    let (seed, end) = (run.seed, run.state_limit());
    let mut outcome = Ok(StopReason::Finished);
    for (attempt, sixteenths) in (0..).zip(SIXTEENTHS) {
        if attempt > 0 {
            begin_again(run, seed, attempt);
        }
        let part = (share * sixteenths / 16).max(1);
        run.cap_states(run.counters.states.saturating_add(part).min(end));
        outcome = search(run);
        let goes_on = matches!(outcome, Err(Halt::Stop(StopReason::MaxStates)));
        if !goes_on || run.counters.states >= end {
            break;
        }
    }
    outcome
}

const SIXTEENTHS: [u64; 7] = [8, 1, 1, 2, 1, 1, 2];

fn begin_again(run: &mut Run<'_>, seed: u64, attempt: u64) {
    run.seed = derive(seed, Purpose::Round, attempt);
    run.rng = Rng::new(run.seed);
}
