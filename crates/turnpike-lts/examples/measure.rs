//! Measures reductions and comparisons of generated systems, see `measure --help`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::time::Instant;

use turnpike_lts::{Comparison, DEFAULT_LIMIT, Equivalence, Preorder, reduce, refines};
use turnpike_lts::{Lts, Transition};
use turnpike_model::LabelId;

const HELP: &str = "measure SHAPE TRANSITIONS [RELATION]
relations:
  strong, branching, divergence-preserving-branching, weak, trace, weak-trace
               the system is reduced
  simulation, ready-simulation, failures, weak-failures, trace-inclusion
               it is compared with one that has a hundredth more transitions, both ways
shapes:
  random       3 transitions per state to random states, 10 labels
  few-labels   the same with 1 label
  folded       random, but every state has 8 equivalent copies
  chain        one label, as deep as it is long
  cycle        one label and one odd step: n blocks, found from both ends
  grid         two labels, right and down
  ladder       a chain whose states also all go to one hub and back
  fan          one state to all states of a chain
  tau-random   half of the transitions internal, to later states only
  tau-cycles   half of the transitions internal, to random states
  tau-chain    an internal chain with one visible exit per state, into a visible chain
  tau-grid     right is internal, down visible
  tau-fan      all states of a chain have an internal step to one state
  tau-peel     an internal chain whose states leave the block one by one";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let relation = arguments.get(2).map_or("strong", String::as_str);
    let count = arguments.get(1).and_then(|count| count.parse::<u32>().ok());
    let lts = arguments.first().zip(count).and_then(|(shape, count)| generate(shape, count));
    let preorder = if relation == "trace-inclusion" { "trace".parse() } else { relation.parse::<Preorder>() };
    let Some(lts) = lts.filter(|_| arguments.len() <= 3) else { usage() };
    print!(
        "{:10} {relation:9} {:>9} states {:>9} transitions",
        arguments[0],
        lts.states,
        lts.transitions.len()
    );
    match (relation.parse::<Equivalence>(), preorder) {
        (Ok(equivalence), _) => measure_reduction(&lts, equivalence),
        (_, Ok(preorder)) => measure_inclusions(lts, preorder),
        _ => usage(),
    }
}

fn usage() -> ! {
    eprintln!("{HELP}");
    std::process::exit(2);
}

fn measure_reduction(lts: &Lts, equivalence: Equivalence) {
    let before = peak_megabytes();
    let start = Instant::now();
    let result = match reduce(lts, equivalence, DEFAULT_LIMIT) {
        Ok(small) => format!("{:>9} {:>9}", small.states, small.transitions.len()),
        Err(explosion) => explosion.to_string(),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!(" -> {result}  {seconds:6.2} s  peak {} MB (system {before} MB)", peak_megabytes());
}

/// Compares a system with a larger one that includes it, and usually is not included in it.
fn measure_inclusions(lts: Lts, preorder: Preorder) {
    let mut larger = lts.clone();
    let step = |nth: usize| {
        let (from, to) = (lts.transitions[nth], lts.transitions[(nth * 7919 + 13) % lts.transitions.len()]);
        Transition { from: from.from, label: to.label, to: to.to }
    };
    larger.transitions.extend((0..lts.transitions.len()).skip(99).step_by(100).map(step));
    let before = peak_megabytes();
    for (one, other) in [(&lts, &larger), (&larger, &lts)] {
        let start = Instant::now();
        let result = match refines(one, other, preorder, DEFAULT_LIMIT) {
            Ok(Comparison::Related) => "included".to_owned(),
            Ok(Comparison::Different(difference)) => match difference.formula {
                Some(found) => {
                    format!("not included, formula of {} characters", found.formula.to_string().len())
                }
                None => "not included".to_owned(),
            },
            Err(explosion) => explosion.to_string(),
        };
        print!("  {result} {:.2} s", start.elapsed().as_secs_f64());
    }
    println!("  peak {} MB (systems {before} MB)", peak_megabytes());
}

/// Peak resident memory so far, or 0 if the system does not report it.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .map_or(0, |kb| kb / 1024)
}

/// A system of this shape with about `count` transitions.
// Long because each shape has a case.
fn generate(shape: &str, count: u32) -> Option<Lts> {
    let mut seed = 1u64;
    let mut random = move |below: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((seed >> 32) * u64::from(below)) >> 32) as u32
    };
    // Label 0 is internal.
    let mut steps: Vec<(u32, u32, u32)> = Vec::with_capacity(count as usize);
    let side = f64::from(count / 2).sqrt() as u32;
    let states = match shape {
        "random" | "few-labels" | "tau-random" | "tau-cycles" => {
            let states = (count / 3).max(2);
            // A spanning tree makes all states reachable.
            steps.extend((1..states).map(|s| (s / 2, 1, s)));
            for _ in 0..count - states {
                let from = random(states - 1);
                steps.push(match shape {
                    "random" => (from, 1 + random(10), random(states)),
                    "few-labels" => (from, 1, random(states)),
                    "tau-random" if random(2) == 0 => (from, 0, from + 1 + random(states - 1 - from)),
                    "tau-cycles" if random(2) == 0 => (from, 0, random(states)),
                    _ => (from, 1 + random(3), random(states)),
                });
            }
            states
        }
        "folded" => {
            let states = (count / 24).max(2);
            let mut base: Vec<(u32, u32, u32)> = (1..states).map(|s| (s / 2, 1, s)).collect();
            base.extend((0..2 * states).map(|_| (random(states), 1 + random(10), random(states))));
            for (from, label, to) in base {
                steps.extend((0..8).map(|copy| (from * 8 + copy, label, to * 8 + random(8))));
            }
            states * 8
        }
        "chain" => {
            steps.extend((0..count).map(|s| (s, 1, s + 1)));
            count + 1
        }
        "cycle" => {
            steps.extend((0..count).map(|s| (s, 1 + u32::from(s == 0), (s + 1) % count)));
            count
        }
        "grid" | "tau-grid" => {
            let right = u32::from(shape == "grid");
            for s in 0..side * side {
                if s % side + 1 < side {
                    steps.push((s, right, s + 1));
                }
                if s + side < side * side {
                    steps.push((s, 2, s + side));
                }
            }
            side * side
        }
        "ladder" => {
            let states = count / 3;
            steps.extend((0..states).flat_map(|s| [(s, 1, s + 1), (s, 2, states + 1), (states + 1, 2, s)]));
            states + 2
        }
        "fan" => {
            let states = count / 2;
            steps.extend(
                (1..states).flat_map(|s| [(0, 2, s), (s, 1, s % (states - 1) + 1 + u32::from(s == 1))]),
            );
            states + 1
        }
        "tau-chain" => {
            let half = count / 3;
            steps.extend(
                (0..half).flat_map(|s| [(s, 0, s + 1), (s, 1, half + s), (half + s, 2, half + s + 1)]),
            );
            2 * half + 1
        }
        "tau-fan" => {
            let half = count / 2;
            steps.extend((0..half).flat_map(|s| [(s, 1, s + 1), (s, 0, half + 1)]));
            half + 2
        }
        "tau-peel" => {
            let half = count / 2;
            steps.extend((0..half).flat_map(|s| [(s, 0, s + 1), (s, 1 + s % 7, 0)]));
            half + 1
        }
        _ => return None,
    };
    let labels = (0..=10).map(|l| if l == 0 { "tau".to_owned() } else { format!("a({l})") }).collect();
    let transitions =
        steps.into_iter().map(|(from, label, to)| Transition { from, label: LabelId(label), to }).collect();
    Some(Lts { initial: 0, states, labels, transitions })
}
