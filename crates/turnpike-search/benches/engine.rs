//! Micro-benchmarks of the engine's inner loops: `cargo bench -p turnpike-search`.
//!
//! Each stresses one thing: the index of a store, successors through the waist, breadth-first generation with either
//! exact store, and the highway's candidates. `turnpike bench engine` measures whole runs at real sizes.

#![allow(missing_docs, reason = "the macro makes an undocumented function")]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
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

/// Inserting distinct states into the index that every store has, and finding them again.
fn store_insert(c: &mut Criterion) {
    let model = philosophers(8);
    let width = model.info().width;
    let states = reachable(&*model);
    let mut group = c.benchmark_group("store");
    group.throughput(Throughput::Elements((states.len() / width) as u64));
    let insert_all = |table: &mut IdTable| {
        for state in states.chunks_exact(width) {
            let at = |id: u32| &states[id as usize * width..(id as usize + 1) * width];
            table.find_or_insert(hash::words(state), |id| at(id) == state, |id| hash::words(at(id)));
        }
    };
    group.bench_function("insert new", |b| {
        b.iter(|| {
            let mut table = IdTable::new();
            insert_all(&mut table);
            black_box(table.len())
        });
    });
    let mut full = IdTable::new();
    insert_all(&mut full);
    group.bench_function("insert again", |b| b.iter(|| insert_all(black_box(&mut full))));
    group.finish();
}

/// Successors of all states, nothing stored.
fn successors(c: &mut Criterion) {
    let model = philosophers(8);
    let width = model.info().width;
    let states = reachable(&*model);
    let mut explorer = model.explorer();
    let mut buffer = Successors::new(width);
    let mut group = c.benchmark_group("waist");
    group.throughput(Throughput::Elements((states.len() / width) as u64));
    group.bench_function("successors", |b| {
        b.iter(|| {
            let mut transitions = 0;
            for state in states.chunks_exact(width) {
                explorer.successors(state, &mut buffer).expect("successors");
                transitions += buffer.len();
            }
            black_box(transitions)
        });
    });
    group.finish();
}

/// Breadth-first generation of the whole system.
fn generation(c: &mut Criterion) {
    let model = philosophers(8);
    let mut group = c.benchmark_group("generate philosophers(8)");
    for store in [StoreKind::Exact, StoreKind::Tree] {
        let options = GenerateOptions { store, ..GenerateOptions::default() };
        let run = || {
            generate(&*model, &options, &mut Discard, &|_| {}, &AtomicBool::new(false)).expect("generates")
        };
        group.throughput(Throughput::Elements(run().transitions));
        group.bench_function(store.to_string(), |b| b.iter(run));
    }
    group.finish();
}

/// Highway search, narrow (selection at every level) and wide (hardly any).
fn highway(c: &mut Criterion) {
    let model = philosophers(10);
    let mut group = c.benchmark_group("highway philosophers(10)");
    for width in [100, 10_000] {
        let mut options = SearchOptions::new(Highway { width });
        options.objectives.push("action nothing".parse::<Objective>().expect("an objective"));
        options.limits.states = Some(20_000);
        let run = || search(&*model, &options, &|_| {}, &AtomicBool::new(false)).expect("searches");
        group.throughput(Throughput::Elements(run().runs[0].transitions));
        group.bench_function(format!("width {width}"), |b| b.iter(run));
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! {
    name = engine;
    config = short();
    targets = store_insert, successors, generation, highway
}
criterion_main!(engine);
