//! Coroutines: a thread of the program returns control to the scheduler's loop by suspending
//! itself.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// Stacks of this size are pooled; others are allocated on demand.
pub(crate) const DEFAULT_STACK: usize = 256 * 1024;

/// Larger stacks never fit into the address space.
const LARGEST_STACK: usize = isize::MAX as usize / 2;

/// A thread of the program. It is resumed by the scheduler's loop and suspends itself at visible
/// operations.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), (), (), DefaultStack>,
    pooled: bool,
}

impl Fiber {
    /// A coroutine that has not started.
    pub(crate) fn new(
        stack: DefaultStack,
        pooled: bool,
        body: impl FnOnce(&Yielder<(), ()>) + 'static,
    ) -> Self {
        Fiber { coroutine: Coroutine::with_stack(stack, move |yielder, ()| body(yielder)), pooled }
    }

    /// Runs it up to its next visible operation. Returns whether it ended.
    #[inline]
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Return(()))
    }

    /// Whether it ended.
    pub(crate) fn ended(&self) -> bool {
        self.coroutine.done()
    }

    /// Returns the stack of an ended coroutine to the pool.
    pub(crate) fn recycle(self, pool: &StackPool) {
        if self.coroutine.done() {
            if self.pooled {
                pool.free.borrow_mut().push(self.coroutine.into_stack());
            }
        } else {
            // It is suspended while unwinding and waits for something that cannot happen: its stack
            // can no longer be dropped.
            std::mem::forget(self);
        }
    }
}

/// The handle for suspending the running coroutine.
#[derive(Default)]
pub(crate) struct Exit(Cell<Option<*const Yielder<(), ()>>>);

impl Exit {
    /// Called when a coroutine starts.
    pub(crate) fn enter(&self, yielder: &Yielder<(), ()>) {
        self.0.set(Some(yielder));
    }

    /// The upper end of the running coroutine's stack, where its yielder lies.
    pub(crate) fn stack_end(&self) -> usize {
        self.0.get().map_or(0, |yielder| yielder.addr())
    }

    /// Suspends the running coroutine, until it is resumed.
    #[inline]
    pub(crate) fn suspend(&self) {
        let mine = self.0.get();
        if let Some(yielder) = mine {
            // SAFETY: the pointer was set by the coroutine that runs now: each coroutine sets it
            // when it begins, and again right below whenever it is resumed. A yielder lives as long
            // as its coroutine runs, on its stack.
            unsafe { &*yielder }.suspend(());
        }
        self.0.set(mine);
    }
}

/// Unused stacks.
#[derive(Default)]
pub(crate) struct StackPool {
    free: RefCell<Vec<DefaultStack>>,
    size: Cell<usize>,
}

impl StackPool {
    /// A pool of stacks of `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        StackPool { free: RefCell::default(), size: Cell::new(size) }
    }

    /// A stack of at least `size` bytes, and whether it belongs to the pool.
    pub(crate) fn take(&self, size: usize) -> std::io::Result<(DefaultStack, bool)> {
        let usual = self.size.get();
        if size.max(usual) > LARGEST_STACK {
            return Err(std::io::Error::new(std::io::ErrorKind::OutOfMemory, "a stack cannot be that large"));
        }
        if size > usual {
            return Ok((DefaultStack::new(size)?, false));
        }
        let free = self.free.borrow_mut().pop();
        match free {
            Some(stack) => Ok((stack, true)),
            None => Ok((DefaultStack::new(usual)?, true)),
        }
    }
}
