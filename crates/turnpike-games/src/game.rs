//! Parity games in compact arrays that grow vertex by vertex.

use std::fmt;

use crate::solution::Solution;
use crate::solve;

/// One of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Player {
    /// Wins if the highest priority that occurs infinitely often is even.
    Even,
    /// Wins if it is odd.
    Odd,
}

impl Player {
    /// The other player.
    pub fn opponent(self) -> Player {
        match self {
            Player::Even => Player::Odd,
            Player::Odd => Player::Even,
        }
    }

    /// The player who wins if this priority is the highest.
    pub fn of_priority(priority: u32) -> Player {
        if priority.is_multiple_of(2) { Player::Even } else { Player::Odd }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Player::Even => "Even",
            Player::Odd => "Odd",
        })
    }
}

/// The row of an open vertex.
const OPEN: (u32, u32) = (u32::MAX, u32::MAX);

/// A parity game. Vertices are numbered from 0 in the order in which they were added.
///
/// The edges of all vertices are in one array, in the order of expansion. Edges may repeat.
#[derive(Clone, Debug, Default)]
pub struct Game {
    owner: Vec<Player>,
    priority: Vec<u32>,
    /// The start and the end of the edges of each vertex.
    row: Vec<(u32, u32)>,
    targets: Vec<u32>,
    expanded: usize,
}

impl Game {
    /// A game without vertices.
    pub fn new() -> Game {
        Game::default()
    }

    /// A game without vertices, with reserved space for this many vertices and edges.
    pub fn with_capacity(vertices: usize, edges: usize) -> Game {
        Game {
            owner: Vec::with_capacity(vertices),
            priority: Vec::with_capacity(vertices),
            row: Vec::with_capacity(vertices),
            targets: Vec::with_capacity(edges),
            expanded: 0,
        }
    }

    /// Adds an open vertex, and returns its number.
    ///
    /// # Panics
    /// If there are 2^32 - 1 vertices.
    pub fn add_vertex(&mut self, owner: Player, priority: u32) -> u32 {
        let vertex = u32::try_from(self.owner.len()).ok().filter(|&vertex| vertex < u32::MAX);
        let vertex = vertex.expect("a game has fewer than 2^32 - 1 vertices");
        self.owner.push(owner);
        self.priority.push(priority);
        self.row.push(OPEN);
        vertex
    }

    /// Adds the edges of an open vertex, which is no longer open. Without edges its owner loses
    /// there.
    ///
    /// # Panics
    /// If the vertex was expanded before, a target does not exist, or there are 2^32 - 1 edges.
    pub fn expand(&mut self, vertex: u32, targets: &[u32]) {
        assert!(self.is_open(vertex), "vertex {vertex} is expanded twice");
        let start = self.targets.len() as u32;
        for &target in targets {
            assert!((target as usize) < self.vertices(), "edge to vertex {target} of {}", self.vertices());
            self.targets.push(target);
        }
        assert!(self.targets.len() < u32::MAX as usize, "a game has fewer than 2^32 - 1 edges");
        self.row[vertex as usize] = (start, self.targets.len() as u32);
        self.expanded += 1;
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.owner.len()
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The number of open vertices.
    pub fn open_vertices(&self) -> usize {
        self.vertices() - self.expanded
    }

    /// The player who moves at a vertex.
    pub fn owner(&self, vertex: u32) -> Player {
        self.owner[vertex as usize]
    }

    /// The priority of a vertex.
    pub fn priority(&self, vertex: u32) -> u32 {
        self.priority[vertex as usize]
    }

    /// Whether the edges of a vertex are still unknown.
    pub fn is_open(&self, vertex: u32) -> bool {
        self.row[vertex as usize] == OPEN
    }

    /// The targets of the edges of a vertex. Open vertices have none.
    #[inline]
    pub fn successors(&self, vertex: u32) -> &[u32] {
        match self.row[vertex as usize] {
            OPEN => &[],
            (start, end) => &self.targets[start as usize..end as usize],
        }
    }

    /// Computes the winners and their strategies. A vertex has a winner only if it is the same for
    /// all possible winners of the open vertices.
    pub fn solve(&self) -> Solution {
        solve::solve(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_in_any_order_of_sources() {
        let mut game = Game::with_capacity(3, 4);
        let [a, b, c] = [0, 7, 2].map(|priority| game.add_vertex(Player::Odd, priority));
        game.expand(c, &[a, a]);
        game.expand(a, &[b, c]);
        assert_eq!(
            (game.successors(a), game.successors(b), game.successors(c)),
            (&[b, c][..], &[][..], &[a, a][..])
        );
        assert!(game.is_open(b) && !game.is_open(a));
        assert_eq!((game.vertices(), game.edges(), game.open_vertices()), (3, 4, 1));
        game.expand(b, &[]);
        assert_eq!((game.is_open(b), game.open_vertices(), game.priority(b)), (false, 0, 7));
    }

    #[test]
    #[should_panic(expected = "vertex 0 is expanded twice")]
    fn a_vertex_is_expanded_once() {
        let mut game = Game::new();
        let vertex = game.add_vertex(Player::Even, 0);
        game.expand(vertex, &[]);
        game.expand(vertex, &[]);
    }

    #[test]
    #[should_panic(expected = "edge to vertex 1 of 1")]
    fn edges_lead_to_vertices() {
        let mut game = Game::new();
        let vertex = game.add_vertex(Player::Even, 0);
        game.expand(vertex, &[1]);
    }
}
