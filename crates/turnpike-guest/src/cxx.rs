//! Calls that compilers generate: guards of local statics, clean-up handlers, and unwinding at
//! `pthread_exit`.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use turnpike_scheduler::{Kind, Object, ObjectId, Site};

use crate::hook::{find, hook, own};
use crate::{control, objects, once, sites, sys, threads};

/// The second half of a guard holds the number of its object; the first byte is the compiler's.
unsafe fn guard_of(guard: *mut u32, site: Site) -> ObjectId {
    // SAFETY: a guard has eight bytes.
    unsafe { objects::of_small(guard.add(1), site, || Object::Once) }
}

own! {
    // The C++ library's own versions wait by a futex that is not seen. Outside control there is one
    // thread, which never waits.
    fn __cxa_guard_acquire(guard: *mut u32; site) -> c_int {
        if *(guard as *const u8) != 0 {
            return 0;
        }
        if !control::active() {
            return 1;
        }
        let id = guard_of(guard, site);
        control::simple(Kind::OnceBegin, id, sites::user(site)).ok.into()
    }
    fn __cxa_guard_release(guard: *mut u32; site) {
        if control::active() {
            let id = guard_of(guard, site);
            once::finish(id, true, sites::user(site));
        }
        crate::memory::set_flag(guard as *mut u8, site);
    }
    fn __cxa_guard_abort(guard: *mut u32; site) {
        if control::active() {
            let id = guard_of(guard, site);
            once::finish(id, false, sites::user(site));
        }
    }
}

hook! {
    fn __pthread_register_cancel(buffer: usize; site) {
        control::thread(|thread| thread.cleanups.push(buffer));
    }
    fn __pthread_unregister_cancel(_buffer: usize; site) {
        control::thread(|thread| thread.cleanups.pop());
    }
    fn __pthread_unwind_next(_buffer: usize; site) {
        unwind_and_end(control::thread(|thread| thread.result))
    }
}

type Stop = unsafe extern "C" fn(c_int, c_int, u64, *mut Exception, *mut c_void, *mut c_void) -> c_int;

/// `struct _Unwind_Exception`.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: usize,
    private: [u64; 2],
}

/// The unwinder's functions of these names.
static FORCED_UNWIND: AtomicUsize = AtomicUsize::new(0);
static GET_CFA: AtomicUsize = AtomicUsize::new(0);

/// In the fork server: loads the unwinder if threads of the program may need it. A process that has to
/// load it itself serves for one execution only.
pub(crate) fn prepare() {
    let ends = [b"\0pthread_exit\0".as_slice(), b"\0thrd_exit\0", b"\0pthread_cancel\0"];
    if crate::modules::any_mentions(&ends) {
        unwinder();
    }
}

/// The unwinder's functions; 0 if there is none.
fn unwinder() -> (usize, usize) {
    let known = || (FORCED_UNWIND.load(Ordering::Relaxed), GET_CFA.load(Ordering::Relaxed));
    if known().0 == 0 {
        let (mut unwind, mut get) = (find("_Unwind_ForcedUnwind\0"), find("_Unwind_GetCFA\0"));
        if unwind.is_null() {
            const NOW: c_int = 2;
            // C programs load it only now.
            // SAFETY: the unwinder's library has no constructor that could do harm.
            unsafe {
                let library = sys::dlopen(c"libgcc_s.so.1".as_ptr(), NOW);
                if !library.is_null() {
                    unwind = sys::dlsym(library, c"_Unwind_ForcedUnwind".as_ptr());
                    get = sys::dlsym(library, c"_Unwind_GetCFA".as_ptr());
                }
            }
        }
        FORCED_UNWIND.store(unwind as usize, Ordering::Relaxed);
        GET_CFA.store(get as usize, Ordering::Relaxed);
    }
    known()
}

/// Whether the unwinder runs because a thread ends. Other threads run only during its handlers.
static UNWINDING: AtomicBool = AtomicBool::new(false);

/// Whether code at an address is the unwinder's, and runs because a thread ends.
pub(crate) fn is_unwinding(address: usize) -> bool {
    UNWINDING.load(Ordering::Relaxed)
        && sys::module_of(address) == sys::module_of(GET_CFA.load(Ordering::Relaxed))
}

/// Ends the running thread after running destructors and clean-up handlers of all its frames.
pub(crate) fn unwind_and_end(result: usize) -> ! {
    control::thread(|thread| thread.result = result);
    let (unwind, get) = unwinder();
    if unwind != 0 && get != 0 {
        let exception = alloc::boxed::Box::leak(alloc::boxed::Box::new(Exception {
            class: 0,
            cleanup: 0,
            private: [0; 2],
        }));
        // SAFETY: the unwinder's interface; `stop` ends the thread at the outermost frame.
        unsafe {
            let unwind: unsafe extern "C" fn(*mut Exception, Stop, *mut c_void) -> c_int =
                core::mem::transmute(unwind);
            UNWINDING.store(true, Ordering::Relaxed);
            unwind(exception, stop, core::ptr::null_mut());
        }
    }
    UNWINDING.store(false, Ordering::Relaxed);
    // No unwinder, or a frame that it does not understand.
    run_cleanups(usize::MAX);
    threads::end(control::thread(|thread| thread.result))
}

/// Jumps to the innermost clean-up handler whose frame is being left, if there is one. The handler
/// continues the unwinding by `__pthread_unwind_next`.
fn run_cleanups(frame: usize) {
    let Some(buffer) = control::thread(|thread| thread.cleanups.last().copied()) else { return };
    if buffer < frame {
        control::thread(|thread| thread.cleanups.pop());
        let jump = crate::hook::real!(siglongjmp: fn(usize, c_int));
        // SAFETY: filled by the frame's own `sigsetjmp`, and the frame is still there.
        unsafe { jump(buffer, 1) };
    }
}

unsafe extern "C" fn stop(
    _: c_int,
    actions: c_int,
    _: u64,
    _: *mut Exception,
    context: *mut c_void,
    _: *mut c_void,
) -> c_int {
    const END_OF_STACK: c_int = 16;
    // SAFETY: the unwinder's own function, which `unwind_and_end` has stored, with what it was
    // called with.
    let frame = unsafe {
        let get: unsafe extern "C" fn(*mut c_void) -> usize =
            core::mem::transmute(GET_CFA.load(Ordering::Relaxed));
        get(context)
    };
    UNWINDING.store(false, Ordering::Relaxed);
    run_cleanups(frame);
    if actions & END_OF_STACK != 0 || frame >= control::thread(|thread| thread.high) {
        // The stack below is still there: the thread ends on it.
        run_cleanups(usize::MAX);
        threads::end(control::thread(|thread| thread.result));
    }
    UNWINDING.store(true, Ordering::Relaxed);
    0
}
