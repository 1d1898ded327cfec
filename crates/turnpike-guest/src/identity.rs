//! The identity of the process, its threads and its processors: the same in every execution.

use core::ffi::{c_int, c_long, c_void};

use turnpike_scheduler::Site;

use crate::hook::{hook, real};
use crate::sys::{EPERM, fail_with};
use crate::{control, memory};

/// The process id that the program sees.
pub(crate) const PID: c_int = 4242;
/// How many processors it sees.
const PROCESSORS: c_int = 4;

/// Stores which processors a thread may use: all of them.
///
/// # Safety
/// `set` has room for `size` bytes.
unsafe fn put_processors(set: *mut u8, size: usize, site: Site) -> c_int {
    memory::tell_operand("a set of processors", set as *const c_void, size, true, site);
    // SAFETY: promised by the caller.
    unsafe {
        core::ptr::write_bytes(set, 0, size);
        if size > 0 {
            *set = (1 << PROCESSORS) - 1;
        }
    }
    0
}

hook! {
    fn getpid(; site) -> c_int { PID }
    fn getppid(; site) -> c_int { 1 }
    fn gettid(; site) -> c_int { PID + control::me().0 as c_int }
    fn get_nprocs(; site) -> c_int { PROCESSORS }
    fn get_nprocs_conf(; site) -> c_int { PROCESSORS }
    fn sched_getaffinity(_process: c_int, size: usize, set: *mut u8; site) -> c_int {
        put_processors(set, size, site)
    }
    fn pthread_getaffinity_np(_handle: usize, size: usize, set: *mut u8; site) -> c_int {
        put_processors(set, size, site)
    }
    fn sched_setaffinity(_process: c_int, size: usize, set: *const u8; site) -> c_int {
        memory::tell_operand("sched_setaffinity", set as *const c_void, size, false, site);
        0
    }
    fn sched_getcpu(; site) -> c_int { 0 }
    fn getcpu(processor: *mut u32, node: *mut u32; site) -> c_int {
        memory::put(processor, 0, site);
        memory::put(node, 0, site);
        0
    }
    fn sysconf(name: c_int; site) -> c_long {
        const CONFIGURED: c_int = 83;
        const ONLINE: c_int = 84;
        if name == CONFIGURED || name == ONLINE {
            return PROCESSORS.into();
        }
        real!(sysconf: fn(c_int) -> c_long)(name)
    }
    fn kill(pid: c_int, signal: c_int; site) -> c_int {
        // The real process id is another one.
        if pid == PID || pid == 0 {
            return crate::blocking::signal(signal, site);
        }
        control::uncontrolled("kill: signals to other processes are not sent");
        fail_with(EPERM)
    }
    fn killpg(_group: c_int, _signal: c_int; site) -> c_int {
        control::uncontrolled("killpg: signals to other processes are not sent");
        fail_with(EPERM)
    }
}
