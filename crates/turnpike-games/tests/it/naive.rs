//! Winners by definition: nested fixed points over sets of vertices, and a check of all cycles.

use turnpike_games::{Game, Player, Solution};

/// A generator of small numbers that depends only on its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % limit
    }
}

/// A game from owners, priorities and edges, in which all vertices are expanded.
pub(crate) fn game(vertices: &[(Player, u32, Vec<u32>)]) -> Game {
    let mut game = Game::new();
    for &(owner, priority, _) in vertices {
        game.add_vertex(owner, priority);
    }
    for (vertex, (_, _, targets)) in (0..).zip(vertices) {
        game.expand(vertex, targets);
    }
    game
}

/// The vertices that Even wins. The highest priority is the outermost fixed point, which is
/// greatest if the priority is even. Open vertices are won by `heir`.
pub(crate) fn even_wins(game: &Game, heir: Player) -> Vec<bool> {
    let vertices = game.vertices();
    let highest = (0..vertices as u32).map(|vertex| game.priority(vertex)).max().unwrap_or(0);
    let mut sets = vec![vec![false; vertices]; highest as usize + 1];
    fixed_point(game, heir, highest as usize, &mut sets)
}

fn fixed_point(game: &Game, heir: Player, priority: usize, sets: &mut Vec<Vec<bool>>) -> Vec<bool> {
    sets[priority] = vec![priority.is_multiple_of(2); game.vertices()];
    loop {
        let next =
            if priority == 0 { step(game, heir, sets) } else { fixed_point(game, heir, priority - 1, sets) };
        if next == sets[priority] {
            return next;
        }
        sets[priority] = next;
    }
}

/// The vertices from which Even can move to a vertex in the set of this vertex's priority.
fn step(game: &Game, heir: Player, sets: &[Vec<bool>]) -> Vec<bool> {
    let won = |vertex: u32| {
        let set = &sets[game.priority(vertex) as usize];
        let mut targets = game.successors(vertex).iter().map(|&target| set[target as usize]);
        match game.owner(vertex) {
            _ if game.is_open(vertex) => heir == Player::Even,
            Player::Even => targets.any(|good| good),
            Player::Odd => targets.all(|good| good),
        }
    };
    (0..game.vertices() as u32).map(won).collect()
}

/// Whether the strategies of a solution win: checks all simple cycles that they allow.
pub(crate) fn strategies_win(game: &Game, solution: &Solution) -> bool {
    (0..game.vertices() as u32).all(|vertex| {
        solution
            .winner(vertex)
            .is_none_or(|winner| wins_from(game, solution, winner, vertex, &mut Vec::new()))
    })
}

/// Follows all plays from a vertex until they end or repeat a vertex.
fn wins_from(game: &Game, solution: &Solution, winner: Player, vertex: u32, path: &mut Vec<u32>) -> bool {
    if let Some(first) = path.iter().position(|&earlier| earlier == vertex) {
        let highest = path[first..].iter().map(|&on_cycle| game.priority(on_cycle)).max();
        return highest.map(Player::of_priority) == Some(winner);
    }
    if game.is_open(vertex) {
        return false;
    }
    path.push(vertex);
    let wins = if game.owner(vertex) == winner {
        solution.strategy(vertex).is_some_and(|target| {
            game.successors(vertex).contains(&target) && wins_from(game, solution, winner, target, path)
        })
    } else {
        game.successors(vertex).iter().all(|&target| wins_from(game, solution, winner, target, path))
    };
    path.pop();
    wins
}
