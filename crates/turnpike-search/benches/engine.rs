//! Micro-benchmarks of the engine's inner loops: `cargo bench -p turnpike-search`.
//!
//! Each stresses one thing: the index of a store, successors through the waist, breadth-first generation with either
//! exact store, and the highway's candidates. Each row is the best of ten rounds. `turnpike bench engine` measures
//! whole runs at real sizes.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use turnpike_model::{IdTable, Model, Successors, hash};
use turnpike_search::generate::{Discard, GenerateOptions, generate};
use turnpike_search::strategy::Highway;
use turnpike_search::{Objective, SearchOptions, StoreKind, search};

fn philosophers(n: u32) -> Box<dyn Model> {
    turnpike_builtin::build("philosophers", &[("n".to_owned(), n.to_string())]).expect("a built-in model")
}

/// All reachable states, flat.
fn reachable(model: &dyn Model) -> Vec<u32> {
    let width = model.info().width;
    let mut explorer = model.explorer();
    let mut successors = Successors::new(width);
    let mut states = Vec::new();
    explorer.initial(&mut states).expect("an initial state");
    let mut seen = std::collections::HashSet::from([states.clone()]);
    let mut at = 0;
    while at < states.len() {
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

/// Prints how many of `elements` pass a second when `work` handles all of them.
fn measure<R>(name: &str, elements: u64, mut work: impl FnMut() -> R) {
    let round = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    let best = (0..10).map(round).fold(f64::INFINITY, f64::min);
    println!("{name:<40}{:>10.2} million/s", elements as f64 / best / 1e6);
}

/// Inserting distinct states into a hash index, and finding them again.
fn insert_states(states: &[u32], width: usize) {
    let count = (states.len() / width) as u64;
    let insert_all = |table: &mut IdTable| {
        for state in states.chunks_exact(width) {
            let at = |id: u32| &states[id as usize * width..(id as usize + 1) * width];
            table.find_or_insert(hash::words(state), |id| at(id) == state, |id| hash::words(at(id)));
        }
    };
    let mut full = IdTable::new();
    measure("index: new states", count, || {
        full = IdTable::new();
        insert_all(&mut full);
    });
    measure("index: known states", count, || insert_all(black_box(&mut full)));
}

/// Successors of all states, nothing stored.
fn compute_successors(model: &dyn Model, states: &[u32]) {
    let width = model.info().width;
    let mut explorer = model.explorer();
    let mut buffer = Successors::new(width);
    measure("waist: states expanded", (states.len() / width) as u64, || {
        let mut transitions = 0;
        for state in states.chunks_exact(width) {
            explorer.successors(state, &mut buffer).expect("successors");
            transitions += buffer.len();
        }
        transitions
    });
}

/// Breadth-first generation of the whole system.
fn generate_all(model: &dyn Model) {
    for store in [StoreKind::Exact, StoreKind::Tree] {
        let options = GenerateOptions { store, ..GenerateOptions::default() };
        let run =
            || generate(model, &options, &mut Discard, &|_| {}, &AtomicBool::new(false)).expect("generates");
        measure(&format!("generate: transitions, store {store}"), run().transitions, run);
    }
}

/// Highway search, narrow (selection at every level) and wide (hardly any).
fn search_by_highway(model: &dyn Model) {
    for width in [100, 10_000] {
        let mut options = SearchOptions::new(Highway { width });
        options.objectives.push("action nothing".parse::<Objective>().expect("an objective"));
        options.limits.states = Some(20_000);
        let run = || search(model, &options, &|_| {}, &AtomicBool::new(false)).expect("searches");
        measure(&format!("highway: transitions, width {width}"), run().runs[0].transitions, run);
    }
}

fn main() {
    let model = philosophers(8);
    let states = reachable(&*model);
    insert_states(&states, model.info().width);
    compute_successors(&*model, &states);
    generate_all(&*model);
    search_by_highway(&*philosophers(10));
}
