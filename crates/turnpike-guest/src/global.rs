//! State that belongs to the running thread.
//!
//! One thread at a time runs code of this library: before control starts there is only one, and
//! under control a thread runs from the moment it gets its turn (`fiber` and `baton` switch) until
//! it gives its turn up. So nothing is locked. But code that uses a value may call code that uses
//! it again, or give its turn up in the middle. Both would make two mutable references to one
//! value. They are caught here instead: a value is lent to one piece of code at a time.

use core::cell::{Cell, UnsafeCell};

/// A value that is lent to one piece of code at a time.
pub(crate) struct Global<T> {
    value: UnsafeCell<T>,
    lent: Cell<bool>,
}

// SAFETY: one thread at a time runs code of this library, see above. A turn is given up by a system
// call or a switch of stacks, and the next thread's code runs after that.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub(crate) const fn new(value: T) -> Self {
        Global { value: UnsafeCell::new(value), lent: Cell::new(false) }
    }

    /// Lends the value to `work`, which must neither ask for it again nor give up its turn.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        if self.lent.replace(true) {
            lent_already();
        }
        // SAFETY: the flag was not set, so no other reference to the value exists. It stays set as
        // long as this one does.
        let result = work(unsafe { &mut *self.value.get() });
        self.lent.set(false);
        result
    }

    /// Takes the value back from the code that it is lent to, so that it can be used while the
    /// process ends.
    ///
    /// # Safety
    /// The code that the value is lent to never goes on.
    pub(crate) unsafe fn take_back(&self) {
        self.lent.set(false);
    }
}

impl<T: Copy> Global<T> {
    /// The value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn get(&self) -> T {
        self.with(|value| *value)
    }

    /// Replaces the value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn set(&self, new: T) {
        self.with(|value| *value = new);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn lent_already() -> ! {
    panic!("a value is used in the middle of its use")
}

#[cfg(test)]
mod tests {
    use super::Global;

    #[test]
    fn a_value_is_lent_again_when_it_was_given_back() {
        let global = Global::new(1);
        let doubled = global.with(|value| {
            *value += 1;
            *value * 2
        });
        assert_eq!((doubled, global.get()), (4, 2));
        global.set(7);
        assert_eq!(global.get(), 7);
    }

    #[test]
    #[should_panic(expected = "in the middle of its use")]
    fn a_value_is_not_lent_twice() {
        let global = Global::new(1);
        global.with(|_| global.get());
    }

    #[test]
    fn a_value_can_be_taken_back_from_code_that_never_goes_on() {
        extern crate std;
        let global = Global::new(1);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            global.with(|value| {
                *value = 2;
                panic!("never goes on")
            })
        }));
        assert!(ended.is_err());
        // SAFETY: the closure above has ended.
        unsafe { global.take_back() };
        assert_eq!(global.get(), 2);
    }
}
