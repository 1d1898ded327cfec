//! A Rust closure as a program that can be executed repeatedly.
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
    /// The sites seen so far, in order.
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

    /// A program that executes `body`, which other executors share.
    pub fn shared(body: Arc<dyn Fn() + Send + Sync>, options: GuestOptions) -> Self {
        panics::install_hook();
        Guest { body, runtime: Box::new(Runtime::new(options)), known: Vec::new() }
    }

    /// The payload of the panic that ended the last execution, for rethrowing.
    pub fn take_payload(&mut self) -> Option<Payload> {
        self.runtime.take_payload()
    }

    /// The backtrace of the panic that ended the last execution, with [`GuestOptions::backtraces`].
    pub fn backtrace(&self) -> Option<String> {
        self.runtime.backtrace()
    }

    /// Whether some execution so far read a reference count, or dropped the last of several
    /// references with visible effects. [`GuestOptions::counts`] makes that exact; without it such
    /// executions prove nothing.
    pub fn counts_matter(&self) -> bool {
        self.runtime.counts_mattered()
    }

    /// Whether an execution so far asked whether a thread has ended. [`GuestOptions::ends`] makes
    /// that exact; without it such executions prove nothing.
    pub fn ends_matter(&self) -> bool {
        self.runtime.ends_mattered()
    }

    /// Whether some execution so far used a cell of [`crate::cell`]. [`GuestOptions::races`] checks
    /// its accesses; without it such executions prove nothing.
    pub fn uses_cells(&self) -> bool {
        self.runtime.used_cells()
    }

    /// Whether some atomic operation so far requested an order weaker than sequential consistency,
    /// while memory was sequentially consistent.
    pub fn asks_for_weaker_orders(&self) -> bool {
        self.runtime.asked_for_weaker_orders()
    }

    /// The number of threads that could not be unwound after their execution, because a destructor
    /// waits forever. Their stacks are leaked.
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

    /// Registers the sites of this execution, so that they can be resolved.
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
            // Either this OS thread unwinds (a destructor called us), or a thread of an earlier
            // execution was forgotten while unwinding: `panicking` would be true for every thread.
            let fresh = std::thread::scope(|scope| scope.spawn(|| self.run_here(plan, out)).join());
            return fresh.unwrap_or_else(|_| Err(GuestError::new("the executor panicked")));
        }
        self.run_here(plan, out)
    }

    fn site(&mut self, site: Site) -> String {
        site::explain(site).unwrap_or_else(|| "unknown position".to_owned())
    }
}
