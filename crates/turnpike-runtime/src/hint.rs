//! `std::hint`.

pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked};

/// Signals a spin loop: the same as [`yield_now`](crate::thread::yield_now) inside a check.
#[track_caller]
#[inline(always)]
pub fn spin_loop() {
    if crate::context::active().is_some() {
        crate::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
