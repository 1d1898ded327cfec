//! How many steps and executions per second the kernel achieves, without guest stacks.
//!
//! `cargo run --release -p turnpike-scheduler --example steps [million steps] [words that lines
//! must contain]`

use std::time::Instant;

use turnpike_scheduler::script::{Context, Routine, Script, start};
use turnpike_scheduler::{
    Detail, Execution, Executor, Kind, Object, ObjectId, Operation, Outcome, Plan, Policy, Site,
};

/// A thread that repeats some operations.
fn repeat(operations: Vec<Operation>, times: usize) -> Box<dyn Routine> {
    let mut left = operations.len() * times;
    let mut at = 0;
    Box::new(move |_: Outcome, _: &mut Context<'_>| {
        if left == 0 {
            return None;
        }
        left -= 1;
        let operation = operations[at];
        at = if at + 1 == operations.len() { 0 } else { at + 1 };
        Some(operation)
    })
}

/// What the threads do.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    Memory,
    Locks,
    /// Philosophers that toss which fork to take first.
    Dinner,
}

fn program(threads: usize, times: usize, body: Body) -> Script {
    Script::new(move |context| {
        let mutex = context.register(Object::Mutex { recursive: false });
        let memory = context.register(Object::Memory);
        let op = |kind: Kind, object: ObjectId| Operation::new(kind, object, Site(0));
        let forks: Vec<ObjectId> =
            (0..threads).map(|_| context.register(Object::Mutex { recursive: false })).collect();
        let body = |i: usize| match body {
            Body::Memory => vec![op(Kind::Load, memory), op(Kind::Store, memory)],
            Body::Locks => vec![op(Kind::Lock, mutex), op(Kind::Unlock, mutex)],
            Body::Dinner => {
                let (low, high) = (forks[i.min((i + 1) % threads)], forks[i.max((i + 1) % threads)]);
                let toss = Operation { argument: 1, ..op(Kind::Toss, ObjectId::NONE) };
                let take = [toss, op(Kind::Lock, low), op(Kind::Lock, high)];
                [take.as_slice(), &[op(Kind::Unlock, low), op(Kind::Unlock, high)]].concat()
            }
        };
        start((0..threads).map(|i| repeat(body(i), times)).collect())
    })
}

#[allow(clippy::print_stdout)]
fn main() {
    let millions: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(5);
    let wanted: Vec<String> = std::env::args().skip(2).collect();
    let policies = [
        ("uniform", Policy::Uniform { seed: 1 }),
        ("continue", Policy::Continue),
        ("pct", Policy::Pct { seed: 1, depth: 3, length: 1000 }),
        ("pos", Policy::Pos { seed: 1 }),
        ("genes", Policy::Genes { bits: &[], seed: 1 }),
    ];
    let mut out = Execution::default();
    for (what, threads, each, body) in [
        ("memory", 5, 10_000, Body::Memory),
        ("memory", 100, 500, Body::Memory),
        ("locks", 5, 10_000, Body::Locks),
        ("locks", 100, 500, Body::Locks),
        ("dinner", 17, 600, Body::Dinner),
        ("short", 3, 3, Body::Locks),
    ] {
        for detail in [Detail::Positions, Detail::Steps] {
            for (name, policy) in policies {
                let line = format!("{what:8} {threads:4} threads  {name:9} {:10}", format!("{detail:?}"));
                if !wanted.iter().all(|word| line.split_whitespace().any(|other| other == word)) {
                    continue;
                }
                let mut script = program(threads, each, body);
                let (mut steps, mut executions) = (0, 0);
                let start = Instant::now();
                while steps < millions * 1_000_000 / if threads == 100 && name == "pos" { 10 } else { 1 } {
                    let plan = Plan { policy, detail, ..Plan::new(&[]) };
                    script.run(&plan, &mut out).expect("scripts run");
                    steps += out.steps.len();
                    executions += 1;
                }
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{line} {:7.1} M steps/s {:9.0} executions/s",
                    steps as f64 / seconds / 1e6,
                    f64::from(executions) / seconds,
                );
            }
        }
    }
}
