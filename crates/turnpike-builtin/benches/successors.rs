//! How fast the models generate successors, without a store: `cargo bench -p turnpike-builtin`.
//!
//! For each model a sample of reachable states is taken breadth-first; then the successors of all of them are
//! computed again and again for half a second. Stresses the explorer alone, one thread, no allocation.

#![allow(clippy::print_stdout)]

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use turnpike_model::{Model, Successors};

const SAMPLE: usize = 100_000;
const DURATION: Duration = Duration::from_millis(500);

fn sample(model: &dyn Model) -> Vec<u32> {
    let width = model.info().width;
    let mut explorer = model.explorer();
    let mut successors = Successors::new(width);
    let mut states = Vec::new();
    explorer.initial(&mut states).expect("an initial state");
    let mut seen: HashSet<Vec<u32>> = HashSet::from([states.clone()]);
    let mut at = 0;
    while at < states.len() && states.len() < SAMPLE * width {
        explorer.successors(&states[at..at + width], &mut successors).expect("successors");
        for (_, target) in successors.iter() {
            if seen.insert(target.to_vec()) {
                states.extend_from_slice(target);
            }
        }
        at += width;
    }
    states
}

fn measure(model: &dyn Model) {
    let width = model.info().width;
    let states = sample(model);
    let mut explorer = model.explorer();
    let mut successors = Successors::new(width);
    let (start, mut expanded, mut generated) = (Instant::now(), 0u64, 0u64);
    while start.elapsed() < DURATION {
        for state in states.chunks_exact(width) {
            explorer.successors(black_box(state), &mut successors).expect("successors");
            generated += black_box(&successors).len() as u64;
        }
        expanded += (states.len() / width) as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:<48}{:>10.1} million successors/s{:>10.1} million states/s",
        model.info().name,
        generated as f64 / seconds / 1e6,
        expanded as f64 / seconds / 1e6
    );
}

fn main() {
    for info in turnpike_builtin::catalogue() {
        measure(&*turnpike_builtin::build(info.name, &[]).expect("defaults"));
    }
    for n in [8, 12, 13, 17, 100] {
        let settings = [("n".to_owned(), n.to_string())];
        measure(&*turnpike_builtin::build("philosophers", &settings).expect("good settings"));
    }
}
