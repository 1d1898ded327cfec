//! A slot for a value that is set while shared, and possibly set again in a later execution.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Empty, or a value on the heap. Setting it again leaks the previous value, because references to
/// it may be kept for the lifetime of the slot, which is `'static` for a `static`.
pub(super) struct Slot<T> {
    pointer: AtomicPtr<T>,
    owns: PhantomData<T>,
}

// SAFETY: a slot owns its value like a `Box` does.
unsafe impl<T: Send> Send for Slot<T> {}
// SAFETY: sharing a slot gives out shared references, and sets values that another thread made.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    pub(super) const fn new() -> Self {
        Slot { pointer: AtomicPtr::new(std::ptr::null_mut()), owns: PhantomData }
    }

    pub(super) fn get(&self) -> Option<&T> {
        // SAFETY: null, or a value that `set` put on the heap; nothing drops it while the slot is
        // borrowed.
        unsafe { self.pointer.load(Ordering::Acquire).as_ref() }
    }

    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: null, or a value that `set` put on the heap; the exclusive borrow of the slot is
        // the only way to it.
        unsafe { self.pointer.get_mut().as_mut() }
    }

    pub(super) fn set(&self, value: T) {
        self.pointer.store(Box::into_raw(Box::new(value)), Ordering::Release);
    }

    pub(super) fn take(&mut self) -> Option<T> {
        let pointer = std::mem::replace(self.pointer.get_mut(), std::ptr::null_mut());
        // SAFETY: a value that `set` put on the heap, taken out once; the exclusive borrow rules
        // out other references.
        (!pointer.is_null()).then(|| *unsafe { Box::from_raw(pointer) })
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Copies `make` if it is a function pointer.
pub(super) fn copy_of_function<T, F: FnOnce() -> T>(make: &F) -> Option<F> {
    if id_of::<F>() != id_of::<fn() -> T>() {
        return None;
    }
    // SAFETY: `F` is `fn() -> T`, up to lifetimes, and function pointers can be copied.
    Some(unsafe { std::ptr::read(make) })
}

/// The identity of a type that may borrow, as if its lifetimes were `'static`.
fn id_of<F>() -> std::any::TypeId {
    trait Identity {
        fn id(&self) -> std::any::TypeId
        where
            Self: 'static;
    }
    impl<F> Identity for PhantomData<F> {
        fn id(&self) -> std::any::TypeId
        where
            Self: 'static,
        {
            std::any::TypeId::of::<F>()
        }
    }
    let phantom = PhantomData::<F>;
    let short: &dyn Identity = &phantom;
    // SAFETY: only a method is called that looks at the type and at nothing borrowed.
    let long = unsafe { std::mem::transmute::<&dyn Identity, &(dyn Identity + 'static)>(short) };
    long.id()
}
