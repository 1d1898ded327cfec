//! The entry points: the constructor that the loader runs before the program's own, and the wrapper
//! around `main`.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use turnpike_scheduler::Site;

use crate::hook::{self, real};
use crate::protocol::{self, Header};
use crate::{control, memory, modules, patch, process, sites, sys, zygote};

#[cfg_attr(embedded, used)]
#[cfg_attr(embedded, unsafe(link_section = ".init_array"))]
static CONSTRUCTOR: extern "C" fn() = constructor;

extern "C" fn constructor() {
    // SAFETY: before `main`, one thread.
    let Some(size) = (unsafe { shared_size() }) else { return };
    memory::find_library_calls();
    let address = sys::map(size, protocol::FD_SHARED);
    sys::close(protocol::FD_SHARED);
    sys::close(protocol::FD_LIBRARY);
    if address == 0 {
        sys::exit_group(126);
    }
    // SAFETY: the host made it for this, and nothing unmaps it.
    unsafe { control::set_shared(address as *mut Header) };
    if control::header().version != protocol::VERSION {
        sys::exit_group(126);
    }
    // The program must not see how it was started.
    // SAFETY: before `main`, one thread.
    unsafe {
        for name in [c"TURNPIKE_GUEST", c"LD_PRELOAD", c"LD_BIND_NOW"] {
            sys::unsetenv(name.as_ptr());
        }
        let restore = sys::getenv(c"TURNPIKE_PRELOAD".as_ptr());
        if !restore.is_null() {
            real!(setenv: fn(*const c_char, *const c_char, c_int) -> c_int)(
                c"LD_PRELOAD".as_ptr(),
                restore,
                1,
            );
            sys::unsetenv(c"TURNPIKE_PRELOAD".as_ptr());
        }
    }
    patch::prepare();
    hook::prepare();
    sites::learn();
    process::prepare();
    memory::prepare();
    crate::keys::prepare();
    crate::threads::prepare();
    modules::tell();
    zygote::serve();
}

unsafe fn shared_size() -> Option<usize> {
    // SAFETY: a string of the environment.
    let text = unsafe {
        let text = sys::getenv(c"TURNPIKE_GUEST".as_ptr());
        if text.is_null() {
            return None;
        }
        core::slice::from_raw_parts(text as *const u8, sys::strlen(text))
    };
    let mut words = core::str::from_utf8(text).ok()?.split(' ');
    let size = words.next()?.parse().ok()?;
    for word in words {
        let (start, end) = word.split_once('-')?;
        modules::ignore(start.parse().ok()?, end.parse().ok()?);
    }
    Some(size)
}

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: AtomicUsize = AtomicUsize::new(0);

/// The program's start code calls this one, which wraps `main` to notice its return.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    loader_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main as *const () as usize, Ordering::Relaxed);
    let real = real!(__libc_start_main: fn(Main, c_int, *mut *mut c_char, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int);
    // SAFETY: the caller's arguments.
    unsafe { real(wrapper, argc, argv, init, fini, loader_fini, stack_end) }
}

unsafe extern "C" fn wrapper(argc: c_int, argv: *mut *mut c_char, _: *mut *mut c_char) -> c_int {
    // SAFETY: stored above; the environment may have been cleaned since.
    unsafe {
        let main: Main = core::mem::transmute(MAIN.load(Ordering::Relaxed));
        let status = main(argc, argv, sys::environ);
        if control::active() {
            process::begin_exit(Site::default());
        }
        status
    }
}
