//! Games that are hard for some algorithms, and games with known winners.

use crate::naive::game;
use turnpike_games::{Flaw, Game, Player, Solution};

use Player::{Even, Odd};

fn solve_and_check(game: &Game) -> Solution {
    let solution = game.solve();
    assert_eq!(solution.check(game), Ok(()));
    solution
}

#[test]
fn a_game_without_vertices_has_a_solution() {
    assert_eq!(solve_and_check(&Game::new()).check(&game(&[(Even, 0, vec![])])), Err(Flaw::OtherGame));
}

#[test]
fn stuck_players_lose() {
    // 0 (Even) can go to 1 (Odd, stuck) or 2 (Even, stuck); 3 (Odd) can only go to 0.
    let stuck = game(&[(Even, 1, vec![1, 2]), (Odd, 1, vec![]), (Even, 0, vec![]), (Odd, 1, vec![0])]);
    let solution = solve_and_check(&stuck);
    assert_eq!([0, 1, 2, 3].map(|v| solution.winner(v)), [Some(Even), Some(Even), Some(Odd), Some(Even)]);
    assert_eq!([0, 1, 2, 3].map(|v| solution.strategy(v)), [Some(1), None, None, None]);
}

#[test]
fn the_highest_priority_on_a_cycle_decides() {
    for (priorities, winner) in
        [([0, 1], Odd), ([2, 1], Even), ([3, 2], Odd), ([0, 0], Even), ([7, 100], Even)]
    {
        for owner in [Even, Odd] {
            let cycle = game(&[(owner, priorities[0], vec![1]), (owner, priorities[1], vec![0])]);
            assert_eq!(solve_and_check(&cycle).winner(0), Some(winner), "{priorities:?}");
        }
    }
    let huge = game(&[(Even, u32::MAX, vec![1]), (Odd, u32::MAX - 1, vec![0])]);
    assert_eq!(solve_and_check(&huge).winner(0), Some(Odd));
}

#[test]
fn an_open_vertex_counts_for_either_player() {
    let mut growing = Game::new();
    let [start, left, right] = [0; 3].map(|priority| growing.add_vertex(Even, priority));
    growing.expand(start, &[left, right]);
    let solution = solve_and_check(&growing);
    assert_eq!([start, left, right].map(|v| solution.winner(v)), [None; 3]);
    // Even can stay on the left forever, so the right vertex is irrelevant.
    growing.expand(left, &[left]);
    let solution = solve_and_check(&growing);
    assert_eq!([start, left, right].map(|v| solution.winner(v)), [Some(Even), Some(Even), None]);
    assert_eq!(solution.strategy(start), Some(left));
}

/// A complete graph with alternating owners and priorities. A player with at least two vertices can
/// stay on them.
#[test]
fn cliques() {
    for vertices in [2, 3, 10, 61] {
        let clique: Vec<_> = (0..vertices)
            .map(|v| (Player::of_priority(v), v, (0..vertices).filter(|&to| to != v).collect()))
            .collect();
        let solution = solve_and_check(&game(&clique));
        let winner = |v| match vertices {
            2 => Odd,
            3 => Even,
            _ => Player::of_priority(v),
        };
        assert!((0..vertices).all(|v| solution.winner(v) == Some(winner(v))), "{vertices}");
    }
}

/// A cycle of vertices with different priorities, which makes the recursion as deep as possible,
/// without a choice and with one.
#[test]
fn many_priorities_need_no_call_stack() {
    for vertices in [5000, 5001u32] {
        let around = |v: u32, more: Option<u32>| -> Vec<u32> {
            std::iter::once((v + 1) % vertices).chain(more.filter(|&to| to < vertices)).collect()
        };
        let forced: Vec<_> = (0..vertices).map(|v| (Player::of_priority(v), v, around(v, None))).collect();
        assert_eq!(solve_and_check(&game(&forced)).winner(0), Some(Player::of_priority(vertices - 1)));
        // Each vertex may also go back: a cycle of two vertices, whose second vertex decides.
        let choices: Vec<_> =
            (0..vertices).map(|v| (Player::of_priority(v), v, around(v, v.checked_sub(1)))).collect();
        let solution = solve_and_check(&game(&choices));
        assert!((0..vertices).all(|v| solution.winner(v).is_some()));
    }
}

/// Blocks of five vertices after Friedmann. Without components, the recursive algorithm takes a
/// number of steps that grows like the Fibonacci numbers.
#[test]
fn recursive_ladders() {
    for blocks in [1, 2, 5, 10, 20] {
        let mut ladder = Vec::new();
        for block in 0..blocks {
            let player = Player::of_priority(block);
            let first = 5 * block;
            let clip = |targets: &[i64]| -> Vec<u32> {
                let valid = targets.iter().filter(|&&to| to >= 0 && to < i64::from(5 * blocks));
                valid.map(|&to| to as u32).collect()
            };
            let at = i64::from(first);
            let tied = block + 2 + u32::from(!block.is_multiple_of(2));
            ladder.push((player, tied, clip(&[at + 1])));
            ladder.push((player.opponent(), tied + 1, clip(&[at + 2, at + 9])));
            ladder.push((player.opponent(), 2 * block + 5, clip(&[at + 1, at + 3])));
            ladder.push((player, block % 2, clip(&[at, at - 5, at + 4])));
            ladder.push((player.opponent(), (block + 1) % 2, clip(&[at + 3, at - 1, at + 7])));
        }
        solve_and_check(&game(&ladder));
    }
}

/// A grid where players can move up or along a row; after Jurdzinski.
#[test]
fn grids_of_alternating_priorities() {
    for (levels, width) in [(2, 3), (5, 20), (12, 50)] {
        let mut grid = Vec::new();
        for level in 0..levels {
            for column in 0..width {
                let at = level * width + column;
                let along = level * width + (column + 1) % width;
                let up = (level + 1) % levels * width + column;
                let owner = Player::of_priority(level + column);
                grid.push((owner, if column == 0 { 2 * level + 1 } else { level }, vec![along, up, at]));
            }
        }
        solve_and_check(&game(&grid));
    }
}
