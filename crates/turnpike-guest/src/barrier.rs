//! Barriers.

use core::ffi::{c_int, c_void};

use turnpike_scheduler::{Kind, Object, Operation};

use crate::hook::hook;
use crate::sys::EINVAL;
use crate::{control, memory, objects, returned, sites};

/// Bytes of a `pthread_barrier_t`.
const BYTES: usize = 32;

const SERIAL_THREAD: c_int = -1;

hook! {
    fn pthread_barrier_init(barrier: *mut u32, attributes: *const c_void, count: u32; site) -> c_int {
        memory::tell_operand("pthread_barrier_init", attributes, memory::SMALL_ATTRIBUTES, false, site);
        if count == 0 {
            return EINVAL;
        }
        objects::initialise(barrier, BYTES, site, Object::Barrier { count }, || {
            core::ptr::write_bytes(barrier, 0, 8);
        });
        0
    }
    fn pthread_barrier_destroy(barrier: *mut u32; site) -> c_int {
        let id = objects::of(barrier, BYTES, site, || Object::Barrier { count: 1 });
        objects::destroy(id, site);
        0
    }
    fn pthread_barrier_wait(barrier: *mut u32; site) -> c_int {
        let id = objects::of(barrier, BYTES, site, || Object::Barrier { count: 1 });
        // If the caller ignores the result, it cannot tell who arrived last, so all orders of
        // arrival are equivalent. It gets 0 then.
        let looks = returned::is_used(site.0 as usize);
        let argument = if looks { 0 } else { Kind::ANONYMOUS };
        let arrive = Operation { argument, ..Operation::new(Kind::Arrive, id, sites::user(site)) };
        if control::step(arrive).ok { SERIAL_THREAD } else { 0 }
    }
}
