//! Solves games: attractors first, then component by component from the bottom up.

mod arena;
mod one_player;
mod recursive;

use turnpike_model::components::components;

use crate::game::{Game, Player};
use crate::rows::Rows;
use crate::solution::{NONE, Solution};
use arena::Arena;
use recursive::Recursive;

pub(crate) fn solve(game: &Game) -> Solution {
    let mut predecessors = Rows::default();
    predecessors.fill_inverse(game.vertices(), |vertex| game.successors(vertex));
    // The vertices that Even wins even if Odd wins all open vertices are certain.
    let first = Settling::new(game, &predecessors).run(Player::Odd);
    if game.open_vertices() == 0 {
        return first;
    }
    let certain = |solution: &Solution, player| {
        let won = |vertex: &u32| solution.winner(*vertex) == Some(player);
        (0..game.vertices() as u32).filter(won).collect::<Vec<u32>>()
    };
    let mut second = Settling::new(game, &predecessors);
    for vertex in certain(&first, Player::Even) {
        second.settle(vertex, Player::Even, first.strategy[vertex as usize]);
    }
    let second = second.run(Player::Even);
    let mut solution = first;
    let undecided = |vertex: u32| second.winner(vertex) == Some(Player::Even);
    for vertex in 0..game.vertices() as u32 {
        let at = vertex as usize;
        if solution.winner[at] == Some(Player::Odd) {
            solution.strategy[at] = if undecided(vertex) { NONE } else { second.strategy[at] };
            solution.winner[at] = second.winner(vertex).filter(|_| !undecided(vertex));
        }
    }
    solution
}

/// Vertices with known winners, and the propagation of consequences.
struct Settling<'a> {
    game: &'a Game,
    predecessors: &'a Rows,
    solution: Solution,
    /// For each vertex, the number of its edges to vertices without a known winner.
    pending: Vec<u32>,
    /// Settled vertices whose predecessors have not been processed yet.
    queue: Vec<u32>,
}

impl<'a> Settling<'a> {
    fn new(game: &'a Game, predecessors: &'a Rows) -> Settling<'a> {
        let vertices = game.vertices();
        let pending = (0..vertices as u32).map(|vertex| game.successors(vertex).len() as u32).collect();
        let solution = Solution { winner: vec![None; vertices], strategy: vec![NONE; vertices] };
        Settling { game, predecessors, solution, pending, queue: Vec::new() }
    }

    /// Settles all vertices. Open ones count as won by `heir`.
    fn run(mut self, heir: Player) -> Solution {
        for vertex in 0..self.game.vertices() as u32 {
            if self.game.is_open(vertex) {
                self.settle(vertex, heir, NONE);
            } else if self.game.successors(vertex).is_empty() {
                self.settle(vertex, self.game.owner(vertex).opponent(), NONE);
            }
        }
        self.propagate();
        self.settle_components();
        self.solution
    }

    fn settle(&mut self, vertex: u32, winner: Player, target: u32) {
        if self.solution.winner[vertex as usize].is_none() {
            self.solution.winner[vertex as usize] = Some(winner);
            self.solution.strategy[vertex as usize] = target;
            self.queue.push(vertex);
        }
    }

    /// Settles every vertex whose owner can move to a win, or can only move to losses.
    fn propagate(&mut self) {
        while let Some(vertex) = self.queue.pop() {
            let winner = self.solution.winner[vertex as usize].expect("it is settled");
            for &before in self.predecessors.of(vertex) {
                if self.game.owner(before) == winner {
                    self.settle(before, winner, vertex);
                } else {
                    let pending = &mut self.pending[before as usize];
                    *pending -= 1;
                    if *pending == 0 {
                        self.settle(before, winner, NONE);
                    }
                }
            }
        }
    }

    fn settle_components(&mut self) {
        let vertices = self.game.vertices();
        let winner = &self.solution.winner;
        // Edges to settled vertices become loops, which do not change the components.
        let (component_of, _) = components(vertices, |vertex, k| {
            let &target =
                self.game.successors(vertex).get(k).filter(|_| winner[vertex as usize].is_none())?;
            Some(if winner[target as usize].is_none() { target } else { vertex })
        });
        let unsettled = |&vertex: &u32| winner[vertex as usize].is_none();
        let mut order: Vec<u32> = (0..vertices as u32).filter(unsettled).collect();
        if order.is_empty() {
            return;
        }
        order.sort_by_key(|&vertex| component_of[vertex as usize]);
        let mut arena = Arena::new(vertices);
        let mut recursive = Recursive::default();
        // A component has a larger number than those it reaches.
        for members in order.chunk_by(|&a, &b| component_of[a as usize] == component_of[b as usize]) {
            self.settle_component(members, &mut arena, &mut recursive);
        }
    }

    /// Settles the remaining members. All their other edges lead to settled vertices.
    fn settle_component(&mut self, members: &[u32], arena: &mut Arena, recursive: &mut Recursive) {
        let winner = &self.solution.winner;
        let unsettled = |&&vertex: &&u32| winner[vertex as usize].is_none();
        arena.restrict(self.game, members.iter().filter(unsettled).copied());
        if arena.vertices() == 0 {
            return;
        }
        let outcome = recursive.solve(arena);
        for at in 0..arena.vertices() as u32 {
            let winner = outcome.winner[at as usize];
            let own = arena.owner(at) == winner;
            let target = if own { arena.vertex(outcome.strategy[at as usize]) } else { NONE };
            self.settle(arena.vertex(at), winner, target);
        }
        self.propagate();
    }
}
