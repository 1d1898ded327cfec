//! Exploring and solving a game in turns.

use turnpike_games::Player;
use turnpike_model::formula::{DataError, Property};
use turnpike_model::{Model, StepError};

use crate::build::{Builder, INITIAL};
use crate::evidence::Evidence;
use crate::fragment::fragment;

/// Vertices before the game is solved for the first time.
const FIRST_ATTEMPT: u32 = 500;
/// By how much the game grows before it is solved again: solving too early costs as much again at
/// most, which is a small part of exploring.
const GROWTH: u32 = 2;

/// Whether a formula holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It holds in the initial state.
    Holds,
    /// It does not.
    Violated,
    /// What was explored does not decide it, because exploring was stopped.
    Open,
}

/// What came of solving a formula.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it holds.
    pub decision: Decision,
    /// How far exploring went.
    pub progress: Progress,
    /// The part of the system that decides it, if that is small.
    pub evidence: Option<Evidence>,
}

/// How far exploring went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Expanded states.
    pub states: u64,
    /// States that were met.
    pub considered: u64,
    /// Vertices of the game.
    pub vertices: u64,
    /// Bytes that the tables hold.
    pub bytes: u64,
}

/// Why a formula cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The model cannot take a step.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The data of the formula cannot be decided.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Decides a formula by its game, explored breadth-first. `stop` is asked before every expansion
/// whether to give up; the answer is then what the explored part decides.
///
/// Where a path decides the formula, the game is solved when a path meets a vertex that decides it,
/// and otherwise only when it is complete: until then, every open vertex might be such a vertex.
pub fn solve(
    model: &dyn Model,
    property: &dyn Property,
    stop: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    let mut builder = Builder::new(model, property)?;
    let (mut next, mut stopped) = (0, false);
    let mut sought = fragment(property.formula()).path_refutes().map(|refutes| !refutes);
    let mut attempt = if sought.is_some() { u32::MAX } else { FIRST_ATTEMPT };
    loop {
        while next < builder.keys() && next < attempt && !stopped {
            stopped = builder.is_full() || stop(&progress(&builder));
            if !stopped {
                let decided = builder.expand(next)?;
                next += 1;
                if decided.is_some() && decided == sought {
                    attempt = next;
                }
            }
        }
        let finished = next == builder.keys();
        let solution = builder.game.solve();
        let decision = match solution.winner(INITIAL) {
            Some(Player::Even) => Decision::Holds,
            Some(Player::Odd) => Decision::Violated,
            None if finished || stopped => Decision::Open,
            None => {
                sought = None;
                attempt = attempt.max(FIRST_ATTEMPT).saturating_mul(GROWTH);
                continue;
            }
        };
        let progress = progress(&builder);
        let evidence = match decision {
            Decision::Open => None,
            _ => Evidence::new(&mut builder, &solution, INITIAL),
        };
        return Ok(Outcome { decision, progress, evidence });
    }
}

fn progress(builder: &Builder<'_>) -> Progress {
    Progress {
        states: builder.expanded,
        considered: builder.states.len() as u64,
        vertices: builder.game.vertices() as u64,
        bytes: builder.bytes() as u64,
    }
}
