//! Shortens a witness within a budget of expansions.
//!
//! There are five attempts, each of which stops as soon as nothing can be gained: leaving out
//! steps, which gains most for its cost; breadth-first search below the current length (which also
//! proves a witness shortest if it completes); a highway for long witnesses; beam search along the
//! path; and shortcuts between its states. A shorter witness may end in another state than the
//! original, but it meets the same objective.

use std::time::Duration;

use rustc_hash::FxHashMap;
use turnpike_model::{StepError, Successors};

use super::budget::{Budget, Spending};
use super::corridor::search_along;
use super::delete::delete_steps;
use super::path::choices_between;
use super::{Path, Witness};
use crate::checkpoint::Checkpoints;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::HitKind;
use crate::options::SearchOptions;
use crate::rng::{Purpose, derive};
use crate::run::Run;
use crate::store::{ExactStore, ROOT, StoreKind};
use crate::strategy::{Bfs, Highway, Strategy};

/// A local search narrower than this finds little.
const LEAST_SHARE: u64 = 64;

/// Beams wider than this gain little more.
const WIDEST: u64 = 4096;

/// What shortening led to.
pub(crate) struct Shortened {
    pub(crate) witness: Witness,
    /// Expansions that it took, of which some count as several.
    pub(crate) states: u64,
    /// Whether there is nothing shorter.
    pub(crate) proved: bool,
}

/// Another round pays if the last one made the witness shorter by this part.
const PAYS: usize = 8;

/// A witness of at most this many steps is short enough not to spend more on it than usual.
pub(crate) const SHORT: usize = 20;

/// A witness of more steps is worth another search, by a highway of this width.
const LONG: usize = 50;
const HIGHWAY: u64 = 32;

/// Shortens a witness. Begins again with the same budget as long as that pays.
pub(crate) fn shorten(run: &mut Run<'_>, witness: Witness, budget: Budget) -> Shortened {
    let mut best = Shortened { witness, states: 0, proved: false };
    loop {
        let length = best.witness.len();
        let next = shorten_once(run, best.witness, budget);
        best = Shortened { states: best.states + next.states, ..next };
        let pays = PAYS * (length - best.witness.len()) >= length;
        if best.proved || !budget.pays || !pays {
            return best;
        }
    }
}

/// Spends the budget once.
fn shorten_once(run: &mut Run<'_>, witness: Witness, budget: Budget) -> Shortened {
    let original = witness.len();
    let shortest_is_first = run.objectives[witness.objective].is_met_at_one_depth();
    let (mut best, mut spent) = (witness, 0);
    let done = |witness: Witness, states: u64, proved: bool| Shortened { witness, states, proved };
    // The initial state is tested before its transitions.
    if original < 2 || is_the_only_way(run, &best).unwrap_or(false) {
        return done(best, spent, shortest_is_first);
    }
    // A proof that a short witness is shortest is cheap.
    if original <= SHORT {
        // The budget is not for a proof alone.
        let share = budget.all / 2;
        match search_again(run, &best, Bfs::default().into(), budget.share(share)) {
            Again { shorter: Some(shorter), states, .. } => {
                return done(shorter, states, shortest_is_first);
            }
            Again { covered: true, states, .. } => return done(best, states, true),
            Again { states, .. } => spent += states,
        }
    }
    let share = budget.leaving_out.saturating_sub(spent);
    let (shorter, states) = delete_steps(run, best, budget.share(share));
    best = shorter;
    spent += states;
    // If many steps were superfluous, or leaving out ran out of budget, the rest is rarely the
    // shortest possible.
    let unfinished = states >= share / 4 * 3;
    let wasteful = (unfinished || 4 * best.len() <= 3 * original) && best.len() > SHORT;
    let most = if wasteful { budget.wasteful } else { budget.all };
    let remaining = most.saturating_sub(spent);
    if best.len() < 2 || remaining == 0 {
        return done(best, spent, false);
    }
    if original > SHORT {
        match search_again(run, &best, Bfs::default().into(), budget.share(remaining / 8)) {
            Again { shorter: Some(shorter), states, .. } => {
                return done(shorter, spent + states, shortest_is_first);
            }
            Again { covered: true, states, .. } => return done(best, spent + states, true),
            Again { states, .. } => spent += states,
        }
    }
    // A long witness may be of the kind that depth-first search finds; a highway finds another
    // kind, and soon or not at all.
    let remaining = most.saturating_sub(spent);
    if best.len() > LONG && remaining / 8 >= HIGHWAY * LONG as u64 {
        let share = budget.share(remaining / 8);
        let other = search_again(run, &best, Highway { width: HIGHWAY }.into(), share);
        spent += other.states;
        if let Some(other) = other.shorter {
            let (shorter, states) = delete_steps(run, other, share);
            spent += states;
            best = shorter;
        }
    }
    loop {
        // The rest is for what follows.
        let remaining = most.saturating_sub(spent);
        let width = (remaining / 4 * 3 / best.len() as u64).min(WIDEST);
        if width < 2 || best.loop_start.is_some() {
            break;
        }
        let mut spending = budget.share(remaining);
        let along = search_along(run, &best, width as usize, &mut spending);
        spent += spending.spent;
        let Ok(Some(shorter)) = along else { break };
        let (shorter, states) = delete_steps(run, shorter, budget.share(most.saturating_sub(spent)));
        spent += states;
        best = shorter;
    }
    let remaining = budget.share(most.saturating_sub(spent));
    if let Ok((shorter, states)) = take_shortcuts(run, &best, remaining) {
        spent += states;
        best = shorter;
    }
    done(best, spent, false)
}

/// Whether no state on the way leaves a choice, but for steps that lead nowhere.
///
/// Following the path takes its transitions anyhow, so this costs no expansions of its own. It ends at the first choice.
/// It is not asked where walks on single states do not test all that the states of the path stand for, nor of programs,
/// which a reduction may keep from some ways.
fn is_the_only_way(run: &mut Run<'_>, witness: &Witness) -> Result<bool, StepError> {
    if witness.loop_start.is_some() || run.offers_concrete() || run.paths.is_some() {
        return Ok(false);
    }
    let explorer = &mut *run.view.explorer;
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let (mut next, mut successors) = (state.clone(), Successors::new(state.len()));
    for &choice in &witness.choices[..witness.stem] {
        explorer.successors(&state, &mut successors)?;
        next.clone_from_slice(successors.state(choice as usize));
        let leads_elsewhere = |at: usize| {
            let target = successors.state(at);
            target != state.as_slice() && target != next.as_slice()
        };
        if (0..successors.len()).any(leads_elsewhere) {
            return Ok(false);
        }
        std::mem::swap(&mut state, &mut next);
    }
    Ok(true)
}

/// The outcome of searching once more.
struct Again {
    shorter: Option<Witness>,
    /// Everything below the current length was seen: there is nothing shorter.
    covered: bool,
    states: u64,
}

/// Searches once more for the same objective with a witness shorter than `best`; breadth first, the
/// shortest one.
fn search_again(run: &mut Run<'_>, best: &Witness, strategy: Strategy, mut share: Spending) -> Again {
    let nothing = Again { shorter: None, covered: false, states: 0 };
    let Ok(states) = affordable_states(run, share) else { return nothing };
    // An expansion at depth d shows a witness of d steps if the state itself is the hit, of more
    // otherwise.
    let depth = match best.kind {
        HitKind::Here => best.len(),
        _ => best.len() - 1,
    };
    let mut options: SearchOptions = run.options.clone();
    options.strategy = strategy;
    // The budget keeps it small, and only an exact store can tell that there is nothing shorter.
    options.store = StoreKind::Exact;
    // Pruning covered states can make paths longer, so it proves no witness shortest.
    options.cover = false;
    // The step from a virtual root belongs to the witness, but not to the depth of states.
    let depth = depth.saturating_sub(run.uncounted_levels() as usize);
    options.all = false;
    // Every process shortens by itself, from the beginning.
    options.processes = None;
    options.checkpoints = Checkpoints::default();
    options.limits.states = Some(states);
    options.limits.depth = Some(u32::try_from(depth).unwrap_or(u32::MAX));
    options.limits.time =
        options.limits.time.map(|time| time.saturating_sub(Duration::from_secs_f64(run.seconds())));
    let objectives = [run.objectives[best.objective].clone()];
    let seed = derive(run.seed, Purpose::Shorten, 0);
    let Ok(mut again) = Run::new(run.model, &options, &objectives, run.number, seed, run.control) else {
        return nothing;
    };
    again.team.threads = run.team.threads;
    let stop = options.strategy.search(&mut again);
    let covered = matches!(stop, Ok(StopReason::Exhausted | StopReason::MaxDepth));
    let shorter = again.findings.witnesses[0].take().filter(|witness| witness.len() < best.len());
    let shorter = shorter.map(|witness| Witness { objective: best.objective, ..witness });
    debug_assert!(!matches!(stop, Err(Halt::Error(_))) || shorter.is_none());
    share.expand_all(again.counters.states, again.counters.transitions);
    Again { shorter, covered, states: share.spent }
}

/// How many states a share is worth, if all have as many transitions as the initial one.
fn affordable_states(run: &mut Run<'_>, share: Spending) -> Result<u64, StepError> {
    if share.counts_alike() {
        return Ok(share.share);
    }
    let explorer = &mut *run.view.explorer;
    let mut initial = Vec::new();
    explorer.initial(&mut initial)?;
    let mut successors = Successors::new(initial.len());
    explorer.successors(&initial, &mut successors)?;
    Ok(share.affordable(successors.len() as u64))
}

/// Looks from states of the path, by small breadth-first searches, for quicker ways to later states
/// of the path.
fn take_shortcuts(
    run: &mut Run<'_>,
    witness: &Witness,
    remaining: Spending,
) -> Result<(Witness, u64), StepError> {
    let budget = remaining.share;
    let explorer = &mut *run.view.explorer;
    let stem = Path::Choices(witness.choices[..witness.stem].to_vec());
    let mut states = stem.into_states(explorer)?;
    let mut spent = 0;
    let starts = (budget / LEAST_SHARE).min(states.len() as u64);
    if starts == 0 || states.len() < 3 {
        return Ok((witness.clone(), 0));
    }
    let share = budget / starts;
    let stride = states.len().div_ceil(starts as usize);
    let mut start = 0;
    let mut gained = false;
    while start + 2 < states.len() && spent + share <= budget {
        let shortcut = quicker_way(explorer, &states, start, remaining.part(share))?;
        spent += shortcut.cost;
        if let Some(target) = shortcut.target {
            gained = true;
            states.splice(start + 1..=target, shortcut.states);
        }
        start += stride;
    }
    if !gained {
        return Ok((witness.clone(), spent));
    }
    super::path::erase_loops(&mut states);
    let mut choices = choices_between(explorer, &states)?;
    let removed = witness.stem - choices.len();
    let stem = choices.len();
    choices.extend_from_slice(&witness.choices[witness.stem..]);
    let loop_start = witness.loop_start.map(|at| at - removed);
    Ok((Witness { choices, loop_start, stem, ..witness.clone() }, spent))
}

/// What a local search found.
#[derive(Default)]
struct Shortcut {
    /// The states to go through, the target included.
    states: Vec<Vec<u32>>,
    /// The index of the state reached, if any way is quicker.
    target: Option<usize>,
    /// Expansions spent.
    cost: u64,
}

/// The best shortcut from `states[start]`.
fn quicker_way(
    explorer: &mut dyn turnpike_model::Explorer,
    states: &[Vec<u32>],
    start: usize,
    mut spending: Spending,
) -> Result<Shortcut, StepError> {
    let later: FxHashMap<&[u32], usize> =
        states.iter().enumerate().skip(start + 1).map(|(index, state)| (state.as_slice(), index)).collect();
    let width = states[start].len();
    let (mut seen, mut parents, mut depths) = (ExactStore::new(width), vec![ROOT], vec![0usize]);
    seen.insert(&states[start]);
    let mut successors = Successors::new(width);
    let mut best: Option<(usize, u32, usize)> = None;
    let mut next = 0;
    while (next as usize) < seen.len() && !spending.is_over() {
        let state = seen.get(next).to_vec();
        explorer.successors(&state, &mut successors)?;
        spending.expand(&successors);
        for (_, target) in successors.iter() {
            let (id, new) = seen.insert(target);
            if !new {
                continue;
            }
            parents.push(next);
            depths.push(depths[next as usize] + 1);
            if let Some(&index) = later.get(target) {
                let gain = (index - start).saturating_sub(depths[id as usize]);
                if gain > best.map_or(0, |(gain, _, _)| gain) {
                    best = Some((gain, id, index));
                }
            }
        }
        // Nothing found deeper can gain more than reaching the end would.
        let most = (states.len() - 1 - start).saturating_sub(depths[next as usize] + 1);
        if best.is_some_and(|(gain, _, _)| gain >= most) {
            break;
        }
        next += 1;
    }
    let Some((_, id, index)) = best else {
        return Ok(Shortcut { cost: spending.spent, ..Shortcut::default() });
    };
    let mut detour = Vec::new();
    let mut at = id;
    while parents[at as usize] != ROOT {
        detour.push(seen.get(at).to_vec());
        at = parents[at as usize];
    }
    detour.reverse();
    Ok(Shortcut { states: detour, target: Some(index), cost: spending.spent })
}
