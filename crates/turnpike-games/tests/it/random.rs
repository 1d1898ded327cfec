//! Compares solutions with the definitions, for random games of many shapes.

use crate::naive::{Random, even_wins, strategies_win};
use turnpike_games::{Flaw, Game, Player};

/// Sparse and dense games, with deadlocks, loops, duplicate edges and possibly open vertices.
fn random_game(random: &mut Random, most: u32, priorities: u32, open: bool) -> Game {
    let vertices = 1 + random.below(most);
    let (degree, span, priorities) =
        (1 + random.below(4), 1 + random.below(vertices), 1 + random.below(priorities));
    let shape = random.below(8);
    let mut game = Game::new();
    for vertex in 0..vertices {
        let owner = match shape {
            0 => Player::Even,
            1 => Player::Odd,
            2 => Player::of_priority(vertex),
            _ => Player::of_priority(random.below(2)),
        };
        game.add_vertex(owner, random.below(priorities));
    }
    for vertex in 0..vertices {
        if open && random.below(5) == 0 {
            continue;
        }
        let count = if shape < 6 { 1 + random.below(degree) } else { random.below(degree + 1) };
        let targets: Vec<u32> = (0..count).map(|_| (vertex + random.below(span + 1)) % vertices).collect();
        game.expand(vertex, &targets);
    }
    game
}

#[test]
fn winners_and_strategies_are_those_of_the_definition() {
    let mut random = Random(1);
    let mut won = [0; 2];
    for case in 0..6000 {
        let game = random_game(&mut random, 9, 5, false);
        let (solution, expected) = (game.solve(), even_wins(&game, Player::Even));
        for vertex in 0..game.vertices() as u32 {
            let winner = if expected[vertex as usize] { Player::Even } else { Player::Odd };
            assert_eq!(solution.winner(vertex), Some(winner), "case {case}, vertex {vertex}: {game:?}");
            won[winner as usize] += 1;
        }
        assert_eq!(solution.check(&game), Ok(()), "case {case}: {game:?}");
        assert!(strategies_win(&game, &solution), "case {case}: {game:?}");
    }
    assert!(won[0] > 5000 && won[1] > 5000, "{won:?}");
}

#[test]
fn open_vertices_leave_exactly_those_undecided_that_depend_on_them() {
    let mut random = Random(2);
    let mut undecided = 0;
    for case in 0..4000 {
        let game = random_game(&mut random, 9, 4, true);
        let solution = game.solve();
        let (most, least) = (even_wins(&game, Player::Even), even_wins(&game, Player::Odd));
        for vertex in 0..game.vertices() {
            let winner = match (least[vertex], most[vertex]) {
                (true, _) => Some(Player::Even),
                (_, false) => Some(Player::Odd),
                _ => None,
            };
            undecided += u32::from(winner.is_none());
            assert_eq!(solution.winner(vertex as u32), winner, "case {case}, vertex {vertex}: {game:?}");
        }
        assert_eq!(solution.check(&game), Ok(()), "case {case}: {game:?}");
        assert!(strategies_win(&game, &solution), "case {case}: {game:?}");
    }
    assert!(undecided > 5000, "{undecided}");
}

#[test]
fn what_is_decided_stays_decided_while_a_game_grows() {
    let mut random = Random(3);
    let mut early = 0;
    for case in 0..500 {
        let whole = random_game(&mut random, 60, 4, false);
        let expected = whole.solve();
        let mut growing = Game::new();
        for vertex in 0..whole.vertices() as u32 {
            growing.add_vertex(whole.owner(vertex), whole.priority(vertex));
        }
        for vertex in 0..whole.vertices() as u32 {
            growing.expand(vertex, whole.successors(vertex));
            if random.below(8) == 0 {
                let now = growing.solve();
                assert_eq!(now.check(&growing), Ok(()), "case {case}");
                for decided in (0..whole.vertices() as u32).filter(|&vertex| now.winner(vertex).is_some()) {
                    assert_eq!(
                        now.winner(decided),
                        expected.winner(decided),
                        "case {case}, vertex {decided}"
                    );
                    early += 1;
                }
            }
        }
        assert_eq!(growing.solve(), expected);
    }
    assert!(early > 1000, "{early}");
}

/// Winners of large games are proved by their strategies, which are checked for both players.
#[test]
fn strategies_win_large_games() {
    let mut random = Random(4);
    for case in 0..400 {
        let most = if case % 20 == 0 { 20_000 } else { 400 };
        let game = random_game(&mut random, most, 12, case % 2 == 0);
        let solution = game.solve();
        assert_eq!(solution.check(&game), Ok(()), "case {case}");
        if game.open_vertices() == 0 {
            assert!((0..game.vertices() as u32).all(|vertex| solution.winner(vertex).is_some()));
        }
    }
}

/// The check must find all errors that the definition finds.
#[test]
fn the_check_refuses_wrong_solutions() {
    let mut random = Random(5);
    let (mut refused, mut agreed) = (0, 0);
    for case in 0..3000 {
        // The solution of another game of the same size, which is usually wrong.
        let open = case % 2 == 0;
        let game = random_game(&mut random, 5, 4, open);
        let other = random_game(&mut random, 5, 4, open);
        let solution = other.solve();
        if game.vertices() != other.vertices() {
            assert_eq!(solution.check(&game), Err(Flaw::OtherGame));
            continue;
        }
        let (checked, wins) = (solution.check(&game).is_ok(), strategies_win(&game, &solution));
        assert!(wins || !checked, "case {case}: {game:?} {solution:?}");
        // The check refuses a strategy that wins only by vertices without a solution.
        assert!(checked || open || !wins, "case {case}: {game:?} {solution:?}");
        if checked { agreed += 1 } else { refused += 1 }
    }
    assert!(refused > 200 && agreed > 20, "{refused} refused, {agreed} agreed");
}
