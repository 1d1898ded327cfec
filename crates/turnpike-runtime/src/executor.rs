//! A Rust closure as a program that can be executed again and again.
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnpike_scheduler::{End, Execution, Executor, GuestError, Plan, Site};

use crate::context;
use crate::options::GuestOptions;
use crate::panics::{self, Payload};
use crate::runtime::{Body, Runtime};
use crate::site;

/// The number of the next execution in this process.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// A closure under a controlled scheduler. It is the main thread of the program.
pub struct Guest {
    body: Arc<dyn Fn() + Send + Sync>,
    runtime: Box<Runtime>,
    /// Sites that were met, in order.
    known: Vec<Site>,
}

// SAFETY: what is not `Send` in a `Runtime` (coroutines, their yielder, threads' local values)
// exists only during `run`, which ends or forgets all of it before it returns; between calls there
// are only empty vectors, stacks and counters.
unsafe impl Send for Guest {}

impl Guest {
    /// A program that executes `body`.
    pub fn new(body: impl Fn() + Send + Sync + 'static, options: GuestOptions) -> Self {
        Guest::shared(Arc::new(body), options)
    }

    /// A program that executes `body`, which other executors execute too.
    pub fn shared(body: Arc<dyn Fn() + Send + Sync>, options: GuestOptions) -> Self {
        panics::install_hook();
        Guest { body, runtime: Box::new(Runtime::new(options)), known: Vec::new() }
    }

    /// The payload of the panic that ended the last execution, to be thrown again.
    pub fn take_payload(&mut self) -> Option<Payload> {
        self.runtime.take_payload()
    }

    /// The backtrace of the panic that ended the last execution, when [`GuestOptions::backtraces`]
    /// asks for it.
    pub fn backtrace(&self) -> Option<String> {
        self.runtime.backtrace()
    }

    /// Whether an execution so far looked at a count of references, or dropped the last of several
    /// with something visible. [`GuestOptions::counts`] makes that exact; without it such
    /// executions prove nothing.
    pub fn counts_matter(&self) -> bool {
        self.runtime.counts_mattered()
    }

    /// Whether an execution so far used a cell of [`crate::cell`]. [`GuestOptions::races`] judges its
    /// accesses; without it such executions prove nothing.
    pub fn uses_cells(&self) -> bool {
        self.runtime.used_cells()
    }

    /// Whether an atomic operation so far asked for a weaker order than sequential consistency, while
    /// memory was sequentially consistent.
    pub fn asks_for_weaker_orders(&self) -> bool {
        self.runtime.asked_for_weaker_orders()
    }

    /// How many threads could not be unwound after their execution, because a destructor waits for
    /// ever. Their stacks are lost.
    pub fn forgotten_threads(&self) -> u32 {
        self.runtime.forgotten()
    }

    fn run_here(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        let epoch = EPOCH.fetch_add(1, Ordering::Relaxed);
        let body = self.body.clone();
        let body: Body = Box::new(move || {
            body();
            Ok(())
        });
        let result = context::with_active(&self.runtime, |runtime| runtime.execute(epoch, plan, body, out));
        result.map_err(|error| GuestError::new(format!("no stack for the main thread: {error}")))?;
        self.remember_sites(out);
        Ok(())
    }

    /// From now on the sites of this execution may be asked for.
    fn remember_sites(&mut self, out: &Execution) {
        let failed = match &out.end {
            End::Failed(failure) => Some(failure.site),
            _ => None,
        };
        // Without details only positions are recorded.
        let detailed = out.steps.last().is_some_and(|step| step.choice.site != Site(0));
        let steps = out.steps.iter().filter(|_| detailed).map(|step| step.choice.site);
        let choices = out.choices.iter().map(|choice| choice.site);
        let waits =
            out.threads.iter().filter_map(|thread| thread.waits.as_ref()).map(|(choice, _)| choice.site);
        let holds = out.threads.iter().flat_map(|thread| thread.holds.iter()).map(|(_, site)| *site);
        let objects = out.objects.iter().map(|object| object.site);
        for site in steps.chain(choices).chain(waits).chain(holds).chain(objects).chain(failed) {
            if let Err(place) = self.known.binary_search(&site) {
                self.known.insert(place, site);
                site::remember(site);
            }
        }
    }
}

impl Executor for Guest {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        if std::thread::panicking() {
            // This OS thread unwinds (a destructor calls us), or a thread of an earlier execution
            // was forgotten in the middle of unwinding: operations would take every thread for one
            // that unwinds.
            let fresh = std::thread::scope(|scope| scope.spawn(|| self.run_here(plan, out)).join());
            return fresh.unwrap_or_else(|_| Err(GuestError::new("the executor panicked")));
        }
        self.run_here(plan, out)
    }

    fn site(&mut self, site: Site) -> String {
        site::explain(site).unwrap_or_else(|| "an unknown place".to_owned())
    }
}
