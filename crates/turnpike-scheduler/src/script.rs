//! A guest without stacks, whose threads are state machines. For tests of the scheduler and of
//! searches.
//!
//! A [`Routine`] is asked repeatedly for its next operation, and is given the outcome of the
//! previous one. Its invisible code is whatever it does in between, for instance to data shared by
//! `Rc<Cell<_>>`.
//!
//! ```
//! use turnpike_scheduler::script::{Script, start};
//! use turnpike_scheduler::{Detail, End, Execution, Executor, Kind, Object, Operation, Plan, Policy, Site};
//!
//! // Two threads that increment a counter, not atomically.
//! let mut script = Script::new(|context| {
//!     let counter = context.register(Object::Memory);
//!     let value = std::rc::Rc::new(std::cell::Cell::new(0));
//!     let thread = || -> Box<dyn turnpike_scheduler::script::Routine> {
//!         let (value, mut read, mut at) = (value.clone(), 0, 0);
//!         Box::new(move |_outcome, _context: &mut turnpike_scheduler::script::Context<'_>| {
//!             at += 1;
//!             match at {
//!                 1 => Some(Operation::new(Kind::Load, counter, Site(1))),
//!                 2 => {
//!                     read = value.get();
//!                     Some(Operation::new(Kind::Store, counter, Site(2)))
//!                 }
//!                 _ => {
//!                     value.set(read + 1);
//!                     None
//!                 }
//!             }
//!         })
//!     };
//!     start(vec![thread(), thread()])
//! });
//! let plan = Plan { policy: Policy::Uniform { seed: 1 }, ..Plan::new(&[]) };
//! let mut execution = Execution::default();
//! script.run(&plan, &mut execution).unwrap();
//! assert_eq!(execution.end, End::Finished);
//! assert_eq!(execution.steps.len(), 6, "two loads, two stores, two joins");
//! ```

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::execution::{Execution, Failure, FailureKind};
use crate::executor::{Executor, GuestError};
use crate::kernel::{Kernel, Next};
use crate::operation::{Kind, Object, ObjectId, Operation, Outcome, Site, ThreadId};
use crate::plan::Plan;

/// A thread.
pub trait Routine {
    /// Runs up to the next visible operation; `None` = the thread ends. `outcome` is the result of
    /// the previous one.
    fn next(&mut self, outcome: Outcome, context: &mut Context<'_>) -> Option<Operation>;
}

impl<F: FnMut(Outcome, &mut Context<'_>) -> Option<Operation>> Routine for F {
    fn next(&mut self, outcome: Outcome, context: &mut Context<'_>) -> Option<Operation> {
        self(outcome, context)
    }
}

/// The context of a running thread.
#[derive(Debug)]
pub struct Context<'a> {
    /// The scheduler.
    pub kernel: &'a mut Kernel,
    routines: &'a mut Routines,
}

/// The threads of an execution, except the running one.
#[derive(Default)]
struct Routines(Vec<Option<Box<dyn Routine>>>);

impl core::fmt::Debug for Routines {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} threads", self.0.len())
    }
}

impl Routines {
    fn put(&mut self, thread: ThreadId, routine: Option<Box<dyn Routine>>) {
        let i = thread.0 as usize;
        if i >= self.0.len() {
            self.0.resize_with(i + 1, || None);
        }
        self.0[i] = routine;
    }
}

impl Context<'_> {
    /// Registers an object.
    pub fn register(&mut self, object: Object) -> ObjectId {
        self.kernel.register(object, 0, Site(0))
    }

    /// Creates a thread, which runs up to its first operation before this returns.
    pub fn spawn(&mut self, mut routine: Box<dyn Routine>) -> ThreadId {
        let thread = self.kernel.spawn(Site(0));
        self.routines.put(thread, None);
        let operation = routine.next(Outcome::default(), self);
        self.routines.put(thread, Some(routine));
        let _creator = match operation {
            Some(operation) => self.kernel.announce(operation),
            None => self.kernel.end_thread(),
        };
        thread
    }

    /// Reports a failed assertion of the program.
    pub fn fail(&mut self, message: &str) {
        let thread = self.kernel.current();
        let failure =
            Failure { kind: FailureKind::Assertion, message: message.into(), thread, site: Site(0) };
        let _end = self.kernel.fail(failure);
    }
}

/// Creates the main thread.
type Main = dyn FnMut(&mut Context<'_>) -> Box<dyn Routine> + Send;

/// A program whose threads are routines.
pub struct Script {
    kernel: Kernel,
    main: Box<Main>,
}

impl core::fmt::Debug for Script {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}

impl Script {
    /// A program. `main` is called for each execution, in its main thread, and returns the main
    /// routine.
    pub fn new(main: impl FnMut(&mut Context<'_>) -> Box<dyn Routine> + Send + 'static) -> Script {
        Script { kernel: Kernel::new(), main: Box::new(main) }
    }

    /// Enables vector clocks, for scripts that look for data races.
    #[must_use]
    pub fn with_clocks(mut self) -> Script {
        self.kernel.keep_clocks(true);
        self
    }
}

impl Executor for Script {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.kernel.begin(plan);
        let mut routines = Routines::default();
        let mut context = Context { kernel: &mut self.kernel, routines: &mut routines };
        let main = (self.main)(&mut context);
        context.routines.put(ThreadId(0), Some(main));
        let mut current = ThreadId(0);
        loop {
            let Some(mut routine) = context.routines.0[current.0 as usize].take() else {
                let message = format!("thread {} is not there", current.0);
                return Err(GuestError::new(message));
            };
            let outcome = context.kernel.outcome();
            let operation = routine.next(outcome, &mut context);
            context.routines.put(current, Some(routine));
            let next = match operation {
                Some(operation) => context.kernel.announce(operation),
                None => context.kernel.end_thread(),
            };
            match next {
                Next::Run(thread) => current = thread,
                Next::End => break,
            }
        }
        self.kernel.finish(out);
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        format!("script:{}", site.0)
    }
}

/// A routine that performs the operations in order.
pub fn straight(operations: Vec<Operation>) -> Box<dyn Routine> {
    let mut operations = operations.into_iter();
    Box::new(move |_outcome: Outcome, _context: &mut Context<'_>| operations.next())
}

/// A main routine that starts these threads, joins them in order, and ends.
pub fn start(threads: Vec<Box<dyn Routine>>) -> Box<dyn Routine> {
    let (mut threads, mut joins) = (Some(threads), Vec::new().into_iter());
    Box::new(move |_outcome: Outcome, context: &mut Context<'_>| {
        if let Some(threads) = threads.take() {
            let started: Vec<Operation> = threads
                .into_iter()
                .map(|thread| {
                    let id = context.spawn(thread);
                    let join = Operation::new(Kind::Join, ObjectId::NONE, Site(0));
                    Operation { argument: u64::from(id.0), ..join }
                })
                .collect();
            joins = started.into_iter();
        }
        joins.next()
    })
}

/// A main routine that starts these threads and ends.
pub fn start_only(threads: Vec<Box<dyn Routine>>) -> Box<dyn Routine> {
    let mut threads = Some(threads);
    Box::new(move |_outcome: Outcome, context: &mut Context<'_>| {
        for thread in threads.take().into_iter().flatten() {
            context.spawn(thread);
        }
        None
    })
}
