//! A part of a game as a game in which every vertex has an edge.

use crate::game::{Game, Player};
use crate::rows::Rows;
use crate::solution::NONE;

/// Some vertices of a game, numbered from 0, and the edges among them. Priorities are consecutive.
/// The memory is reused for the next part.
#[derive(Default)]
pub(crate) struct Arena {
    vertex: Vec<u32>,
    owner: Vec<Player>,
    priority: Vec<u32>,
    successors: Rows,
    predecessors: Rows,
    /// The number of each vertex of the whole game in this part.
    place: Vec<u32>,
    sorted: Vec<u32>,
}

impl Arena {
    /// An arena for parts of a game with this many vertices.
    pub(crate) fn new(vertices: usize) -> Arena {
        Arena { place: vec![NONE; vertices], ..Arena::default() }
    }

    /// Restricts the arena to these vertices, which have no winner yet and an edge to one another.
    pub(crate) fn restrict(&mut self, game: &Game, part: impl Iterator<Item = u32>) {
        self.vertex.clear();
        self.vertex.extend(part);
        self.owner.clear();
        self.priority.clear();
        for (at, &vertex) in self.vertex.iter().enumerate() {
            self.place[vertex as usize] = at as u32;
            self.owner.push(game.owner(vertex));
            self.priority.push(game.priority(vertex));
        }
        self.successors.clear();
        for &vertex in &self.vertex {
            let inside = game.successors(vertex).iter().map(|&target| self.place[target as usize]);
            self.successors.push(inside.filter(|&target| target != NONE));
        }
        for &vertex in &self.vertex {
            self.place[vertex as usize] = NONE;
        }
        self.predecessors.fill_inverse(self.vertex.len(), |at| self.successors.of(at));
        self.compress();
    }

    /// Merges neighbouring priorities of the same parity and removes gaps. The order of priorities
    /// of different parity is preserved.
    fn compress(&mut self) {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.priority);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        let Some(lowest) = self.sorted.first() else { return };
        let mut next = lowest % 2;
        // `renamed[k]` belongs to `sorted[k]`.
        let renamed: Vec<u32> = self
            .sorted
            .iter()
            .map(|priority| {
                next += u32::from(priority % 2 != next % 2);
                next
            })
            .collect();
        for priority in &mut self.priority {
            let at = self.sorted.binary_search(priority).expect("all are listed");
            *priority = renamed[at];
        }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.vertex.len()
    }

    /// The number of a vertex in the whole game.
    pub(crate) fn vertex(&self, at: u32) -> u32 {
        self.vertex[at as usize]
    }

    #[inline]
    pub(crate) fn owner(&self, at: u32) -> Player {
        self.owner[at as usize]
    }

    #[inline]
    pub(crate) fn priority(&self, at: u32) -> u32 {
        self.priority[at as usize]
    }

    #[inline]
    pub(crate) fn successors(&self, at: u32) -> &[u32] {
        self.successors.of(at)
    }

    #[inline]
    pub(crate) fn predecessors(&self, at: u32) -> &[u32] {
        self.predecessors.of(at)
    }

    /// The player who wins every play, if all priorities have the same parity.
    pub(crate) fn winner_by_parity(&self) -> Option<Player> {
        let player = Player::of_priority(self.priority[0]);
        self.priority.iter().all(|&priority| Player::of_priority(priority) == player).then_some(player)
    }

    /// A player whose opponent has no choice at any vertex.
    pub(crate) fn only_chooser(&self) -> Option<Player> {
        let mut choosers = (0..self.vertices() as u32)
            .filter(|&at| self.successors(at).iter().any(|&target| target != self.successors(at)[0]))
            .map(|at| self.owner(at));
        let first = choosers.next().unwrap_or(Player::Even);
        choosers.all(|player| player == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_become_consecutive() {
        let mut game = Game::new();
        for priority in [9, 4, 2, 100, 7, 3, 8] {
            game.add_vertex(Player::Even, priority);
        }
        (0..7).for_each(|vertex| game.expand(vertex, &[(vertex + 1) % 7]));
        let mut arena = Arena::new(7);
        arena.restrict(&game, 0..7);
        let found: Vec<u32> = (0..7).map(|at| arena.priority(at)).collect();
        // 2 | 3 | 4 | 7 | 8 | 9 | 100
        assert_eq!(found, [5, 2, 0, 6, 3, 1, 4]);
        arena.restrict(&game, [4, 5].into_iter());
        assert_eq!(
            (arena.priority(0), arena.priority(1), arena.winner_by_parity()),
            (1, 1, Some(Player::Odd))
        );
        assert_eq!((arena.vertex(1), arena.successors(0), arena.predecessors(1)), (5, &[1][..], &[0][..]));
    }
}
