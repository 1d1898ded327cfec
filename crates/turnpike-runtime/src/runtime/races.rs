//! What judging accesses of cells needs: vector clocks. And what memory orders were asked for.

use turnpike_scheduler::{MemoryOrder, ThreadId};

use super::Runtime;

impl Runtime {
    /// A cell is used. Whether its accesses are judged in this execution.
    pub(crate) fn judges_races(&self) -> bool {
        self.cells.set(true);
        if !self.options.races && self.threads.borrow().len() > 1 {
            self.uncontrolled("a cell whose accesses are not judged");
        }
        self.options.races
    }

    /// Whether any execution so far used a cell.
    pub(crate) fn used_cells(&self) -> bool {
        self.cells.get()
    }

    /// What the running thread knows of the steps of others.
    pub(crate) fn with_clock<R>(&self, f: impl FnOnce(&[u32]) -> R) -> R {
        f(self.kernel.borrow().clock())
    }

    /// The name of a thread.
    pub(crate) fn thread_name(&self, thread: u32) -> String {
        self.kernel.borrow().thread_name(ThreadId(thread))
    }

    /// An atomic operation asks for a weaker order than sequential consistency, which it gets.
    #[inline]
    pub(crate) fn note_weaker_order(&self) {
        self.weaker_orders.set(true);
    }

    /// Whether any did so far.
    pub(crate) fn asked_for_weaker_orders(&self) -> bool {
        self.weaker_orders.get()
    }

    /// The running thread acquires what the updates that it read before have released.
    pub(crate) fn acquire(&self) {
        self.fence(MemoryOrder::ACQUIRE);
    }
}
