//! What memory holds after steps that access it, for the user.
//!
//! A step comes before its access. So the value is read when the same thread comes to its next
//! step, when another thread is about to access memory, or when the execution ends.

use alloc::vec::Vec;

use turnpike_scheduler::{Detail, StepValue};

use crate::global::Global;
use crate::{control, sys};

struct Values {
    /// The access whose value was not read yet: its step, the address and the number of bytes.
    open: Option<(u32, u64, u8)>,
    known: Vec<StepValue>,
}

static VALUES: Global<Values> = Global::new(Values { open: None, known: Vec::new() });

/// Releases the values from interrupted code.
///
/// # Safety
/// That code never goes on.
pub(crate) unsafe fn take_back() {
    // SAFETY: promised by the caller.
    unsafe { VALUES.take_back() };
}

/// Notes that the step that was just taken is about to access memory.
pub(crate) fn accessed(address: u64, size: u64) {
    if control::DETAIL.get() < Detail::Full || !matches!(size, 1 | 2 | 4 | 8) {
        return;
    }
    // The last access may be that of a thread that has ended since.
    look();
    let step = control::kernel(|kernel| kernel.steps_taken()).wrapping_sub(1);
    VALUES.with(|values| values.open = Some((step, address, size as u8)));
}

/// Reads the value of the last access, which is done.
pub(crate) fn look() {
    VALUES.with(|values| {
        let Some((step, address, bytes)) = values.open.take() else { return };
        let mut found = [0; 8];
        // The memory may have been freed.
        let room = &mut found[..usize::from(bytes)];
        if sys::copy_own_memory(address as usize, room) == room.len() {
            values.known.push(StepValue { step, value: u64::from_le_bytes(found), bytes });
        }
    });
}

/// Takes all values.
pub(crate) fn take() -> Vec<StepValue> {
    look();
    VALUES.with(|values| core::mem::take(&mut values.known))
}
