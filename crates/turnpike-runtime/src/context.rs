//! The current execution.
//!
//! Every operation of this crate calls [`active`] first: `None` means that the code runs outside a
//! check, and uses the real primitive of the standard library.
#![allow(unsafe_code)]

use std::cell::Cell;

use crate::runtime::Runtime;

thread_local! {
    static ACTIVE: Cell<Option<&'static Runtime>> = const { Cell::new(None) };
}

/// The execution that the running code belongs to.
#[inline]
pub(crate) fn active() -> Option<&'static Runtime> {
    ACTIVE.get()
}

/// Runs `f` with `runtime` active on this OS thread.
pub(crate) fn with_active<R>(runtime: &Runtime, f: impl FnOnce(&'static Runtime) -> R) -> R {
    struct Restore(Option<&'static Runtime>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ACTIVE.set(self.0);
        }
    }
    // SAFETY: the reference is only reachable through `ACTIVE` on this OS thread and through
    // coroutines that `f` has to end or forget before it returns; `Restore` removes the former even
    // when `f` unwinds. A forgotten coroutine never runs again, so it never uses its copy.
    let longer = unsafe { std::mem::transmute::<&Runtime, &'static Runtime>(runtime) };
    let _restore = Restore(ACTIVE.replace(Some(longer)));
    f(longer)
}

/// Runs `f` as if outside any check; for code of the executor itself and for hooks.
pub(crate) fn outside<R>(f: impl FnOnce() -> R) -> R {
    let before = ACTIVE.replace(None);
    let result = f();
    ACTIVE.set(before);
    result
}
