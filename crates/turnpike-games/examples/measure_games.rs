//! Measures solutions of generated games: `measure_games SHAPE VERTICES [PRIORITIES]`, see
//! `--help`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::time::Instant;

use turnpike_games::{Game, Player};

const HELP: &str = "measure_games SHAPE VERTICES [PRIORITIES]
shapes:
  random    1 to 4 edges to random vertices
  sparse    1 or 2 edges to random vertices
  near      1 to 4 edges to vertices close by, forwards and backwards
  layers    like a product of a system and a formula: small cycles, edges forwards
  cycle     one cycle, owners and priorities alternate
  open      random, a tenth of the vertices is open";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default: &str| arguments.get(at).map_or(default, |text| text).parse::<u32>().ok();
    let (Some(shape), Some(vertices), Some(priorities)) = (arguments.first(), number(1, ""), number(2, "4"))
    else {
        eprintln!("{HELP}");
        std::process::exit(2);
    };
    let Some(game) = generate(shape, vertices.max(1), priorities.max(1)) else {
        eprintln!("{HELP}");
        std::process::exit(2);
    };
    let before = peak_megabytes();
    let start = Instant::now();
    let solution = game.solve();
    let solved = start.elapsed().as_secs_f64();
    let after = peak_megabytes();
    let start = Instant::now();
    let checked = solution.check(&game);
    let won = |player| (0..vertices).filter(|&vertex| solution.winner(vertex) == Some(player)).count();
    println!(
        "{shape} {} vertices {} edges {priorities} priorities: Even {} Odd {}, solved {solved:.2} s, \
         checked {:.2} s ({checked:?}), peak {after} MB (game {before} MB)",
        game.vertices(),
        game.edges(),
        won(Player::Even),
        won(Player::Odd),
        start.elapsed().as_secs_f64(),
    );
}

fn generate(shape: &str, vertices: u32, priorities: u32) -> Option<Game> {
    let mut seed = 1u64;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % below
    };
    let mut game = Game::new();
    for vertex in 0..vertices {
        let (owner, priority) = match shape {
            "cycle" => (vertex % 2, vertex % priorities),
            _ => (random(2), random(priorities)),
        };
        game.add_vertex(Player::of_priority(owner), priority);
    }
    let mut targets = Vec::new();
    for vertex in 0..vertices {
        targets.clear();
        match shape {
            "random" => targets.extend((0..1 + random(4)).map(|_| random(vertices))),
            "sparse" => targets.extend((0..1 + random(2)).map(|_| random(vertices))),
            "near" => {
                targets.extend((0..1 + random(4)).map(|_| (vertex + vertices - 5 + random(11)) % vertices))
            }
            "layers" => {
                let group = vertex / 8 * 8;
                targets.extend((0..1 + random(2)).map(|_| (group + random(8)).min(vertices - 1)));
                targets.push((vertex + random(1000)).min(vertices - 1));
            }
            "cycle" => targets.push((vertex + 1) % vertices),
            "open" if random(10) == 0 => continue,
            "open" => targets.extend((0..1 + random(4)).map(|_| random(vertices))),
            _ => return None,
        }
        game.expand(vertex, &targets);
    }
    Some(game)
}

/// Peak resident memory so far, or 0 if the system does not report it.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
