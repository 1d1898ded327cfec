//! Small programs over atomic variables, and their outcomes: by the scheduler, from Rust code, and by the axioms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64 as Counter;
use std::sync::{Arc, Mutex};

use turnpike::sync::atomic::{AtomicU64, Ordering, fence};
use turnpike::{Config, Memory, thread};

use super::axioms::consistent;

/// A memory order by its number in C: 0 relaxed, 2 acquire, 3 release, 4 both, 5 sequentially consistent.
pub(super) type Order = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Load(usize, Order),
    Store(usize, u64, Order),
    /// Adds.
    Add(usize, u64, Order),
    /// Exchanges the first value for the second; the orders of success and failure.
    Exchange(usize, u64, u64, Order, Order),
    Fence(Order),
}

impl Code {
    pub(super) fn location(self) -> Option<usize> {
        match self {
            Code::Load(at, _) | Code::Store(at, ..) | Code::Add(at, ..) | Code::Exchange(at, ..) => Some(at),
            Code::Fence(_) => None,
        }
    }

    /// Executes it, and returns what it reads.
    fn execute(self, variables: &[AtomicU64]) -> Option<u64> {
        match self {
            Code::Load(at, order) => Some(variables[at].load(ordering(order))),
            Code::Store(at, value, order) => {
                variables[at].store(value, ordering(order));
                None
            }
            Code::Add(at, value, order) => Some(variables[at].fetch_add(value, ordering(order))),
            Code::Exchange(at, expected, new, success, failure) => {
                // Odd and even variables by different methods that do the same.
                let (success, failure) = (ordering(success), ordering(failure));
                let exchanged = match at % 2 {
                    0 => variables[at].compare_exchange(expected, new, success, failure),
                    _ => variables[at].compare_exchange_weak(expected, new, success, failure),
                };
                Some(exchanged.unwrap_or_else(|seen| seen))
            }
            Code::Fence(order) => {
                fence(ordering(order));
                None
            }
        }
    }
}

fn ordering(order: Order) -> Ordering {
    match order {
        0 => Ordering::Relaxed,
        2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

pub(super) type Program = Vec<Vec<Code>>;

/// An event: thread and number of the instruction; `None` is the initial value.
pub(super) type Name = Option<(usize, usize)>;

/// A graph: what each read reads, and the writes of each variable in modification order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) reads: BTreeMap<(usize, usize), Name>,
    pub(super) order: Vec<Vec<Name>>,
}

/// The number of variables.
pub(super) fn locations(program: &Program) -> usize {
    program.iter().flatten().filter_map(|code| code.location()).max().map_or(0, |most| most + 1)
}

/// The executions that come before those of the search itself: as many as a program with one graph has besides it.
pub(super) fn trials(memory: Memory) -> u64 {
    executed(&vec![vec![Code::Load(0, 0)]], memory).1 - 1
}

/// What the reads of each thread saw, and the last values.
pub(super) type Outcome = (Vec<Vec<u64>>, Vec<u64>);

/// The outcomes of all executions of Rust code, and the number of executions that came to their end.
pub(super) fn executed(program: &Program, memory: Memory) -> (BTreeSet<Outcome>, u64) {
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let ended = Arc::new(Counter::new(0));
    let (outcomes, code, count) = (Arc::clone(&found), program.clone(), Arc::clone(&ended));
    let checked = Config::new().memory(memory).strategy("exhaustive").executions(1_000_000).run(move || {
        let variables: Arc<Vec<AtomicU64>> =
            Arc::new((0..locations(&code)).map(|_| AtomicU64::new(0)).collect());
        let start = |code: &Vec<Code>| {
            let (code, variables) = (code.clone(), Arc::clone(&variables));
            thread::spawn(move || {
                code.into_iter().filter_map(|code| code.execute(&variables)).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = code.iter().map(start).collect();
        let reads = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let last = variables.iter().map(|variable| variable.load(Ordering::Relaxed)).collect();
        outcomes.lock().unwrap().insert((reads, last));
        count.fetch_add(1, Ordering::Relaxed);
    });
    let checked = checked.unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.complete, "{checked}");
    let outcomes = found.lock().unwrap().clone();
    (outcomes, ended.load(Ordering::Relaxed))
}

/// The outcomes that the axioms of RC11 allow, and the number of graphs.
pub(super) fn allowed(program: &Program) -> (BTreeSet<Outcome>, u64) {
    let graphs = consistent(program);
    (graphs.iter().map(|shape| outcome(program, shape)).collect(), graphs.len() as u64)
}

fn outcome(program: &Program, shape: &Shape) -> Outcome {
    let reads = program.iter().enumerate().map(|(t, code)| {
        let names = (0..code.len()).map(|i| (t, i)).filter(|name| shape.reads.contains_key(name));
        names.map(|name| left(program, shape, shape.reads[&name])).collect()
    });
    let last = shape.order.iter().map(|writes| left(program, shape, writes.last().copied().flatten()));
    (reads.collect(), last.collect())
}

/// The value that a write leaves.
fn left(program: &Program, shape: &Shape, name: Name) -> u64 {
    let Some(name) = name else { return 0 };
    match program[name.0][name.1] {
        Code::Store(_, value, _) | Code::Exchange(_, _, value, ..) => value,
        Code::Add(_, value, _) => left(program, shape, shape.reads[&name]) + value,
        Code::Load(..) | Code::Fence(_) => unreachable!("it writes"),
    }
}
