//! Games in compact arrays, which grow vertex by vertex.

use std::fmt;

use crate::solution::Solution;
use crate::solve;

/// One of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Player {
    /// Wins when the highest priority that occurs infinitely often is even.
    Even,
    /// Wins when it is odd.
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

    /// The player who likes this priority.
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

/// The row of a vertex that has none yet.
const OPEN: (u32, u32) = (u32::MAX, u32::MAX);

/// A parity game. Vertices are numbered from 0 in the order in which they were added.
///
/// The edges of all vertices lie in one array, in the order of expansion; the same edge may occur
/// more than once.
#[derive(Clone, Debug, Default)]
pub struct Game {
    owner: Vec<Player>,
    priority: Vec<u32>,
    /// Where the edges of a vertex begin and end.
    row: Vec<(u32, u32)>,
    targets: Vec<u32>,
    expanded: usize,
}

impl Game {
    /// A game without vertices.
    pub fn new() -> Game {
        Game::default()
    }

    /// A game without vertices, with room for this many vertices and edges.
    pub fn with_capacity(vertices: usize, edges: usize) -> Game {
        Game {
            owner: Vec::with_capacity(vertices),
            priority: Vec::with_capacity(vertices),
            row: Vec::with_capacity(vertices),
            targets: Vec::with_capacity(edges),
            expanded: 0,
        }
    }

    /// Adds an open vertex, and gives its number.
    ///
    /// # Panics
    /// When there are 2^32 - 1 vertices.
    pub fn add_vertex(&mut self, owner: Player, priority: u32) -> u32 {
        let vertex = u32::try_from(self.owner.len()).ok().filter(|&vertex| vertex < u32::MAX);
        let vertex = vertex.expect("a game has fewer than 2^32 - 1 vertices");
        self.owner.push(owner);
        self.priority.push(priority);
        self.row.push(OPEN);
        vertex
    }

    /// Lists the edges of an open vertex, which is no longer open. Without edges its owner loses there.
    ///
    /// # Panics
    /// When the vertex was expanded before, a target does not exist, or there are 2^32 - 1 edges.
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

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.owner.len()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Number of open vertices.
    pub fn open_vertices(&self) -> usize {
        self.vertices() - self.expanded
    }

    /// Who moves at a vertex.
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

    /// The targets of the edges of a vertex, none while it is open.
    #[inline]
    pub fn successors(&self, vertex: u32) -> &[u32] {
        match self.row[vertex as usize] {
            OPEN => &[],
            (start, end) => &self.targets[start as usize..end as usize],
        }
    }

    /// Who wins where, and how. Open vertices count for either player: a vertex has a winner when
    /// they do not matter.
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
