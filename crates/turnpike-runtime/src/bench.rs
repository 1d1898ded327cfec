//! Benchmark programs with shapes that other tools measure, too: counters, locks, thread creation,
//! a bounded buffer. `turnpike bench program` runs them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnpike_scheduler::{
    Detail, Execution, Executor, GuestError, Memory, Plan, Policy, Reduction, Timeouts,
};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex};
use crate::thread;
use crate::{Guest, GuestOptions};

/// A benchmark program.
pub struct Shape {
    /// The name for the user.
    pub name: &'static str,
    /// Minimal number of executions.
    pub executions: u64,
    /// The quantity with a promised minimum.
    pub promise: Option<Promise>,
    /// The program.
    pub body: Arc<dyn Fn() + Send + Sync>,
}

/// The quantity for which a shape has a promised minimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    /// Steps per second.
    Steps,
    /// Executions per second.
    Executions,
}

/// A measurement.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Executions.
    pub executions: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Elapsed time.
    pub time: Duration,
}

impl Speed {
    /// Steps per second.
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64()
    }

    /// Executions per second.
    pub fn executions_per_second(&self) -> f64 {
        self.executions as f64 / self.time.as_secs_f64()
    }
}

/// All shapes.
pub fn shapes() -> Vec<Shape> {
    use Promise::{Executions, Steps};
    let shape = |name, executions, promise, body: Arc<dyn Fn() + Send + Sync>| Shape {
        name,
        executions,
        promise,
        body,
    };
    vec![
        shape("counter, 5 threads x 2000", 100, Some(Steps), Arc::new(|| counter(5, 2000))),
        shape("counter, 100 threads x 100", 100, None, Arc::new(|| counter(100, 100))),
        shape("lock, 5 threads x 2000", 100, Some(Steps), Arc::new(|| lock(5, 2000))),
        shape("lock, 100 threads x 100", 100, None, Arc::new(|| lock(100, 100))),
        shape("3 threads x 3 locks", 20_000, Some(Executions), Arc::new(|| lock(3, 3))),
        shape("create 5 threads", 20_000, None, Arc::new(|| counter(5, 1))),
        shape("create 100 threads", 1000, None, Arc::new(|| counter(100, 1))),
        shape("bounded buffer, 3 + 3 threads, 27 events", 2000, None, Arc::new(|| buffer(3, 3, 3, 27))),
    ]
}

/// A program whose atomic operations are all sequentially consistent, so that all memory models
/// allow the same executions.
pub fn sequential() -> Shape {
    let body = Arc::new(|| atomics(3, 6));
    Shape { name: "seq_cst atomics, 3 threads x 18", executions: 1000, promise: None, body }
}

/// Executes a shape under random schedules, for at least its number of executions and `least` time.
pub fn measure(
    shape: &Shape,
    policy: impl Fn(u64) -> Policy<'static>,
    memory: Memory,
    least: Duration,
) -> Result<Speed, GuestError> {
    let mut guest = Guest::shared(shape.body.clone(), GuestOptions::default());
    let mut execution = Execution::default();
    let mut speed = Speed { executions: 0, steps: 0, time: Duration::ZERO };
    let begin = Instant::now();
    while speed.executions < shape.executions || begin.elapsed() < least {
        let plan = Plan {
            prefix: &[],
            policy: policy(speed.executions),
            max_steps: u32::MAX,
            detail: Detail::Positions,
            predict: false,
            reduction: Reduction::default(),
            timeouts: Timeouts::WhenStuck,
            spurious: 0,
            memory,
            bounds: turnpike_scheduler::Bounds::default(),
        };
        guest.run(&plan, &mut execution)?;
        speed.executions += 1;
        speed.steps += execution.steps.len() as u64;
    }
    speed.time = begin.elapsed();
    Ok(speed)
}

/// `threads` threads write, read and change two atomic variables, `rounds` times each.
pub fn atomics(threads: usize, rounds: usize) {
    let variables = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let handles: Vec<_> = (0..threads)
        .map(|number| {
            let variables = variables.clone();
            thread::spawn(move || {
                for round in 0..rounds {
                    let one = &variables[(number + round) % 2];
                    one.store(round as u64, Ordering::SeqCst);
                    variables[round % 2].load(Ordering::SeqCst);
                    one.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for handle in handles {
        let _ = handle.join();
    }
}

/// `threads` threads add 1 to an atomic variable `events` times each.
pub fn counter(threads: usize, events: usize) {
    let count = Arc::new(AtomicU64::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                for _ in 0..events {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for handle in handles {
        // A panic ends the execution, so there is no error here.
        let _ = handle.join();
    }
}

/// `threads` threads lock a mutex and add 1 to what it protects, `events` times each.
pub fn lock(threads: usize, events: usize) {
    let count = Arc::new(Mutex::new(0_u64));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                for _ in 0..events {
                    if let Ok(mut count) = count.lock() {
                        *count += 1;
                    }
                }
            })
        })
        .collect();
    for handle in handles {
        let _ = handle.join();
    }
}

/// A bounded buffer for `size` items between producers and consumers.
pub fn buffer(size: usize, producers: usize, consumers: usize, events: usize) {
    struct Buffer {
        items: Mutex<Vec<usize>>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    let shared = Arc::new(Buffer {
        items: Mutex::new(Vec::new()),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    });
    let mut handles = Vec::new();
    for _ in 0..producers {
        let shared = shared.clone();
        handles.push(thread::spawn(move || {
            for event in 0..events / producers.max(1) {
                let items = shared.items.lock();
                let Ok(mut items) =
                    items.and_then(|items| shared.not_full.wait_while(items, |i| i.len() >= size))
                else {
                    return;
                };
                items.push(event);
                shared.not_empty.notify_one();
            }
        }));
    }
    for _ in 0..consumers {
        let shared = shared.clone();
        handles.push(thread::spawn(move || {
            for _ in 0..events / consumers.max(1) {
                let items = shared.items.lock();
                let Ok(mut items) =
                    items.and_then(|items| shared.not_empty.wait_while(items, |i| i.is_empty()))
                else {
                    return;
                };
                items.pop();
                shared.not_full.notify_one();
            }
        }));
    }
    for handle in handles {
        let _ = handle.join();
    }
}
