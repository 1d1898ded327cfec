//! How many steps and executions the kernel makes in a second, without anybody's stacks.
//!
//! `cargo run --release -p turnpike-scheduler --example steps [million steps] [words that lines must contain]`

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

fn program(threads: usize, times: usize, locks: bool) -> Script {
    Script::new(move |context| {
        let mutex = context.register(Object::Mutex { recursive: false });
        let memory = context.register(Object::Memory);
        let op = |kind: Kind, object: ObjectId| Operation::new(kind, object, Site(0));
        let body = if locks {
            vec![op(Kind::Lock, mutex), op(Kind::Unlock, mutex)]
        } else {
            vec![op(Kind::Load, memory), op(Kind::Store, memory)]
        };
        start((0..threads).map(|_| repeat(body.clone(), times)).collect())
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
    ];
    let mut out = Execution::default();
    for (what, threads, each, locks) in [
        ("memory", 5, 10_000, false),
        ("memory", 100, 500, false),
        ("locks", 5, 10_000, true),
        ("locks", 100, 500, true),
        ("short", 3, 3, true),
    ] {
        for detail in [Detail::Positions, Detail::Steps] {
            for (name, policy) in policies {
                let line = format!("{what:8} {threads:4} threads  {name:9} {:10}", format!("{detail:?}"));
                if !wanted.iter().all(|word| line.split_whitespace().any(|other| other == word)) {
                    continue;
                }
                let mut script = program(threads, each, locks);
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
