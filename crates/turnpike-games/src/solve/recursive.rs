//! The recursive algorithm of McNaughton and Zielonka, with an explicit stack.
//!
//! The highest priorities of a game belong to one player. Removing the attractor of these vertices
//! for that player leaves a smaller game, which is solved first. The opponent's winning vertices
//! there are won in the larger game as well, together with their attractor. They are removed, and
//! the rest is solved again. When the opponent wins nothing more, the player wins the rest.

use crate::game::Player;
use crate::solution::NONE;
use crate::solve::arena::Arena;
use crate::solve::one_player;

/// Winners and moves in an [`Arena`].
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) winner: Vec<Player>,
    /// Meaningful only if the owner wins.
    pub(crate) strategy: Vec<u32>,
}

/// A game that is being solved. Games on the stack are nested: each one is a suffix of the order of
/// vertices, from `start` on.
struct Frame {
    start: u32,
    /// The start of the smaller game.
    inner: u32,
    /// The player with the highest priorities.
    player: Player,
    /// The lowest of these priorities.
    lowest: u32,
}

/// The solver. Its memory is reused for the next game.
#[derive(Default)]
pub(crate) struct Recursive {
    outcome: Outcome,
    frames: Vec<Frame>,
    /// All vertices. Those that leave a game move to its front.
    order: Vec<u32>,
    /// The position of each vertex in `order`.
    position: Vec<u32>,
    /// For visited vertices of the opponent, the number of edges to vertices outside the attractor;
    /// 0 for others.
    pending: Vec<u32>,
    touched: Vec<u32>,
}

impl Recursive {
    /// Solves a game in which every vertex has an edge.
    pub(crate) fn solve(&mut self, arena: &Arena) -> &Outcome {
        let vertices = arena.vertices();
        self.outcome.winner.clear();
        self.outcome.winner.resize(vertices, Player::Even);
        self.outcome.strategy.clear();
        self.outcome.strategy.resize(vertices, NONE);
        if let Some(winner) = arena.winner_by_parity() {
            self.outcome.winner.fill(winner);
            for (at, target) in self.outcome.strategy.iter_mut().enumerate() {
                *target = arena.successors(at as u32)[0];
            }
        } else if let Some(player) = arena.only_chooser() {
            one_player::solve(arena, player, &mut self.outcome);
        } else {
            self.order.clear();
            self.order.extend(0..vertices as u32);
            self.position.clone_from(&self.order);
            self.pending.clear();
            self.pending.resize(vertices, 0);
            self.run(arena);
        }
        &self.outcome
    }

    fn run(&mut self, arena: &Arena) {
        let mut start = Some(0);
        // `Some`: a game to enter. `None`: the innermost game is solved, and the enclosing one
        // continues.
        while start.is_some() || !self.frames.is_empty() {
            start = match start {
                Some(start) if (start as usize) < self.order.len() => Some(self.enter(arena, start)),
                Some(_) => None,
                None => {
                    let frame = self.frames.pop().expect("the loop ends without frames");
                    self.leave(arena, &frame)
                }
            };
        }
    }

    /// Enters the game from `start` on. Returns the start of the smaller game.
    fn enter(&mut self, arena: &Arena, start: u32) -> u32 {
        let (player, lowest) = self.leading_priorities(arena, start);
        let mut end = start;
        for at in start..self.order.len() as u32 {
            if arena.priority(self.order[at as usize]) >= lowest {
                self.swap(at, end);
                end += 1;
            }
        }
        let inner = self.attract(arena, player, start, end);
        self.frames.push(Frame { start, inner, player, lowest });
        inner
    }

    /// Handles the solution of the smaller game. Returns the start of the rest that must be solved
    /// again, or `None` if this game is solved.
    fn leave(&mut self, arena: &Arena, frame: &Frame) -> Option<u32> {
        let opponent = frame.player.opponent();
        let mut end = frame.start;
        for at in frame.inner..self.order.len() as u32 {
            if self.outcome.winner[self.order[at as usize] as usize] == opponent {
                self.swap(at, end);
                end += 1;
            }
        }
        let rest = self.attract(arena, opponent, frame.start, end);
        for &vertex in &self.order[end as usize..rest as usize] {
            self.outcome.winner[vertex as usize] = opponent;
        }
        // If nothing was attracted, the smaller game is unchanged, and the player still wins there.
        if rest != end {
            return Some(rest);
        }
        for &vertex in &self.order[rest as usize..] {
            self.outcome.winner[vertex as usize] = frame.player;
            if arena.priority(vertex) >= frame.lowest && arena.owner(vertex) == frame.player {
                let stays = |target: &&u32| self.position[**target as usize] >= rest;
                let target = arena.successors(vertex).iter().find(stays);
                self.outcome.strategy[vertex as usize] = *target.expect("the opponent cannot force a visit");
            }
        }
        None
    }

    /// The player with the highest priorities, and the lowest of them above all of the opponent's.
    fn leading_priorities(&self, arena: &Arena, start: u32) -> (Player, u32) {
        let mut highest = [None; 2];
        for &vertex in &self.order[start as usize..] {
            let priority = arena.priority(vertex);
            let slot = &mut highest[priority as usize % 2];
            *slot = (*slot).max(Some(priority));
        }
        let leader = usize::from(highest[1] > highest[0]);
        // Priorities are compressed: between two of one player there was one of the other, which
        // may have been removed.
        let lowest = highest[1 - leader].map_or(0, |other| other + 1);
        (Player::of_priority(leader as u32), lowest)
    }

    /// Moves the attractor of the vertices before `end` for `player`, in the game from `start` on,
    /// to the front. Returns its end.
    fn attract(&mut self, arena: &Arena, player: Player, start: u32, mut end: u32) -> u32 {
        let mut next = start;
        while next < end {
            let target = self.order[next as usize];
            next += 1;
            for &before in arena.predecessors(target) {
                let position = self.position[before as usize];
                if position < end {
                    continue;
                }
                if arena.owner(before) == player {
                    self.outcome.strategy[before as usize] = target;
                } else {
                    let mut pending = self.pending[before as usize];
                    if pending == 0 {
                        self.touched.push(before);
                        let inside = arena.successors(before).iter();
                        pending = inside.filter(|&&to| self.position[to as usize] >= start).count() as u32;
                    }
                    self.pending[before as usize] = pending - 1;
                    if pending > 1 {
                        continue;
                    }
                }
                self.swap(position, end);
                end += 1;
            }
        }
        for vertex in self.touched.drain(..) {
            self.pending[vertex as usize] = 0;
        }
        end
    }

    fn swap(&mut self, a: u32, b: u32) {
        let (one, other) = (self.order[a as usize], self.order[b as usize]);
        self.order.swap(a as usize, b as usize);
        self.position[one as usize] = b;
        self.position[other as usize] = a;
    }
}
