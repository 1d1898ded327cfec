//! Solutions, and an independent check of them.

use std::slice::from_ref;

use turnpike_model::components::components;

use crate::game::{Game, Player};

/// Marks the absence of a move.
pub(crate) const NONE: u32 = u32::MAX;

/// The winner of each vertex, with a positional strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    pub(crate) winner: Vec<Option<Player>>,
    /// The move of the owner if the owner wins, otherwise [`NONE`].
    pub(crate) strategy: Vec<u32>,
}

/// Why a [`Solution`] is not a proof of its winners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// It is for a game with another number of vertices.
    #[error("the solution is for a game with another number of vertices")]
    OtherGame,
    /// The winner owns this vertex and has no move, or one that is not an edge.
    #[error("vertex {0}: the winner has no move here")]
    NoMove(u32),
    /// A play can leave the winner's vertices here.
    #[error("vertex {0}: the winner loses control here")]
    Escape(u32),
    /// The loser can return to this vertex for ever, and no higher priority prevents the loser from
    /// winning.
    #[error("vertex {0}: the loser wins on a cycle through it")]
    Cycle(u32),
}

impl Solution {
    /// The winner at a vertex; `None` if that depends on open vertices.
    pub fn winner(&self, vertex: u32) -> Option<Player> {
        self.winner[vertex as usize]
    }

    /// The move of the winner at a vertex, if the winner owns it.
    pub fn strategy(&self, vertex: u32) -> Option<u32> {
        Some(self.strategy[vertex as usize]).filter(|&target| target != NONE)
    }

    /// Checks that the strategies win, independently of how they were computed.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self, game: &Game) -> Result<(), Flaw> {
        if self.winner.len() != game.vertices() || self.strategy.len() != game.vertices() {
            return Err(Flaw::OtherGame);
        }
        for vertex in 0..game.vertices() as u32 {
            if let Some(winner) = self.winner(vertex) {
                self.check_moves(game, vertex, winner)?;
            }
        }
        self.check_cycles(game, Player::Even)?;
        self.check_cycles(game, Player::Odd)
    }

    /// Checks that plays cannot leave the vertices that `winner` wins.
    fn check_moves(&self, game: &Game, vertex: u32, winner: Player) -> Result<(), Flaw> {
        if game.is_open(vertex) {
            return Err(Flaw::Escape(vertex));
        }
        let keeps = |&target: &u32| self.winner(target) == Some(winner);
        if game.owner(vertex) == winner {
            let target = self.strategy(vertex).filter(|target| game.successors(vertex).contains(target));
            if !keeps(&target.ok_or(Flaw::NoMove(vertex))?) {
                return Err(Flaw::Escape(vertex));
            }
        } else if !game.successors(vertex).iter().all(keeps) {
            return Err(Flaw::Escape(vertex));
        }
        Ok(())
    }

    /// Checks that on every cycle of `player`'s strategy, the highest priority is the player's.
    ///
    /// A component whose highest priority is good for the player can only contain a bad cycle
    /// without the vertices that have it: these are removed, and the remainder is decomposed again.
    fn check_cycles(&self, game: &Game, player: Player) -> Result<(), Flaw> {
        let moves = |vertex: &u32| -> &[u32] {
            let own = game.owner(*vertex) == player;
            if own { from_ref(&self.strategy[*vertex as usize]) } else { game.successors(*vertex) }
        };
        let won = |&vertex: &u32| self.winner(vertex) == Some(player);
        let mut left: Vec<u32> = (0..game.vertices() as u32).filter(won).collect();
        let mut place = vec![NONE; game.vertices()];
        while !left.is_empty() {
            left.iter().zip(0..).for_each(|(&vertex, at)| place[vertex as usize] = at);
            // An edge to a removed vertex becomes a loop, which does not change the components.
            let (component_of, count) = components(left.len(), |at, k| {
                let &target = moves(&left[at as usize]).get(k)?;
                Some(if place[target as usize] == NONE { at } else { place[target as usize] })
            });
            let mut highest = vec![0; count as usize];
            let mut on_cycle = vec![false; count as usize];
            for (at, vertex) in left.iter().enumerate() {
                let component = component_of[at];
                let slot = &mut highest[component as usize];
                *slot = game.priority(*vertex).max(*slot);
                on_cycle[component as usize] |= moves(vertex).iter().any(|&target| {
                    let to = place[target as usize];
                    to != NONE && component_of[to as usize] == component
                });
            }
            let mut kept = Vec::new();
            for (at, &vertex) in left.iter().enumerate() {
                let component = component_of[at] as usize;
                let decides = on_cycle[component] && game.priority(vertex) == highest[component];
                if decides && Player::of_priority(highest[component]) != player {
                    return Err(Flaw::Cycle(vertex));
                }
                if on_cycle[component] && !decides {
                    kept.push(vertex);
                }
            }
            left.iter().for_each(|&vertex| place[vertex as usize] = NONE);
            left = kept;
        }
        Ok(())
    }
}
