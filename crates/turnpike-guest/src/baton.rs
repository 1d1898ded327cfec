//! Threads as threads of the operating system, of which one runs at a time: a thread that gives up
//! its turn wakes the next one and sleeps.
//!
//! For processors that do not let programs set the thread register, and for programs that look at
//! their threads from outside. A hundred times slower than fibers, and otherwise the same. A thread
//! that has ended sleeps for ever: leaving would run code of the C library beside the next thread.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use alloc::boxed::Box;
use turnpike_scheduler::ThreadId;

use crate::control;
use crate::hook::real;
use crate::sys;

/// Where a thread waits for its turn; its address stays the same.
pub(crate) struct Turn(Box<AtomicU32>);

impl Turn {
    pub(crate) fn new() -> Self {
        Turn(Box::new(AtomicU32::new(0)))
    }

    fn word(&self) -> *const AtomicU32 {
        &*self.0
    }
}

fn wake(word: *const AtomicU32) {
    // SAFETY: threads are never forgotten, so the word is there.
    let word = unsafe { &*word };
    word.store(1, Ordering::Release);
    sys::futex_wake(word.as_ptr());
}

fn sleep(word: *const AtomicU32) {
    // SAFETY: threads are never forgotten, so the word is there.
    let word = unsafe { &*word };
    while word.swap(0, Ordering::Acquire) == 0 {
        sys::futex_wait(word.as_ptr(), 0);
    }
}

/// Switches from the thread `from` to `to`.
pub(crate) fn switch(from: ThreadId, to: ThreadId) {
    let own = control::thread_of(from, |thread| thread.baton.word());
    let other = control::thread_of(to, |thread| thread.baton.word());
    wake(other);
    sleep(own);
}

/// The running thread never runs again; `to` goes on.
pub(crate) fn leave(to: ThreadId) -> ! {
    wake(control::thread_of(to, |thread| thread.baton.word()));
    let never = AtomicU32::new(0);
    loop {
        sys::futex_wait(never.as_ptr(), 0);
    }
}

extern "C" fn first(word: *mut c_void) -> *mut c_void {
    sleep(word as *const AtomicU32);
    crate::signals::alternate_stack();
    let extent = own_stack();
    let start = control::thread(|thread| {
        thread.extent = extent;
        thread.start
    });
    crate::threads::run(start)
}

/// The running thread's stack.
fn own_stack() -> (usize, usize) {
    let mut attributes = [0u64; 8];
    let attribute = attributes.as_mut_ptr() as *mut c_void;
    let (mut low, mut size) = (0usize, 0usize);
    // SAFETY: the C library's own functions, with memory for its attributes.
    unsafe {
        let own = real!(pthread_self: fn() -> usize)();
        if real!(pthread_getattr_np: fn(usize, *mut c_void) -> c_int)(own, attribute) != 0 {
            return (0, 0);
        }
        let get = real!(pthread_attr_getstack: fn(*mut c_void, *mut usize, *mut usize) -> c_int);
        get(attribute, &mut low, &mut size);
        real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(attribute);
    }
    (low, low + size)
}

/// Starts a thread of the system, which sleeps until its first turn.
pub(crate) fn create(turn: &Turn, attributes: *const c_void, handle: &mut usize) -> c_int {
    let create = real!(pthread_create: fn(*mut usize, *const c_void, usize, *mut c_void) -> c_int);
    // SAFETY: the C library's own function; the word stays where it is.
    unsafe { create(handle, attributes, first as *const () as usize, turn.word() as *mut c_void) }
}
