//! Support for race detection on cells (vector clocks), and the requested memory orders.

use turnpike_scheduler::{MemoryOrder, ThreadId};

use super::Runtime;

impl Runtime {
    /// Records that a cell is used. Returns whether its accesses are checked in this execution.
    pub(crate) fn checks_races(&self) -> bool {
        self.cells.set(true);
        if !self.options.races && self.threads.borrow().len() > 1 {
            self.uncontrolled("a cell whose accesses are not checked");
        }
        self.options.races
    }

    /// Whether some execution so far used a cell.
    pub(crate) fn used_cells(&self) -> bool {
        self.cells.get()
    }

    /// The vector clock of the running thread.
    pub(crate) fn with_clock<R>(&self, f: impl FnOnce(&[u32]) -> R) -> R {
        f(self.kernel.borrow().clock())
    }

    /// The name of a thread.
    pub(crate) fn thread_name(&self, thread: u32) -> String {
        self.kernel.borrow().thread_name(ThreadId(thread))
    }

    /// Records that an atomic operation requested an order weaker than sequential consistency,
    /// which it gets.
    #[inline]
    pub(crate) fn note_weaker_order(&self) {
        self.weaker_orders.set(true);
    }

    /// Whether some atomic operation requested a weaker order.
    pub(crate) fn asked_for_weaker_orders(&self) -> bool {
        self.weaker_orders.get()
    }

    /// The running thread acquires what the updates that it read before have released.
    pub(crate) fn acquire(&self) {
        self.fence(MemoryOrder::ACQUIRE);
    }
}
