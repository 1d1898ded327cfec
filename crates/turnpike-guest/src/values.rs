//! What memory holds behind steps that access it, for the user.
//!
//! A step comes before its access. So the value is looked at when the same thread comes to its next step, or another
//! thread is about to access memory, or the execution ends.

use alloc::vec::Vec;

use turnpike_scheduler::{Detail, StepValue};

use crate::global::Global;
use crate::{control, sys};

struct Values {
    /// The access that nobody has looked at: its step, the address and the number of bytes.
    open: Option<(u32, u64, u8)>,
    known: Vec<StepValue>,
}

static VALUES: Global<Values> = Global::new(Values { open: None, known: Vec::new() });

/// Takes the values back from interrupted code.
///
/// # Safety
/// That code never goes on.
pub(crate) unsafe fn take_back() {
    // SAFETY: promised by the caller.
    unsafe { VALUES.take_back() };
}

/// The step that was just taken is about to access memory.
pub(crate) fn accessed(address: u64, size: u64) {
    if control::DETAIL.get() < Detail::Full || !matches!(size, 1 | 2 | 4 | 8) {
        return;
    }
    // That of a thread that has ended since.
    look();
    let step = control::kernel(|kernel| kernel.steps_taken()).wrapping_sub(1);
    VALUES.with(|values| values.open = Some((step, address, size as u8)));
}

/// The access of the last step is done.
pub(crate) fn look() {
    VALUES.with(|values| {
        let Some((step, address, bytes)) = values.open.take() else { return };
        let mut found = [0; 8];
        // The memory may be gone.
        let room = &mut found[..usize::from(bytes)];
        if sys::copy_own_memory(address as usize, room) == room.len() {
            values.known.push(StepValue { step, value: u64::from_le_bytes(found), bytes });
        }
    });
}

/// All values.
pub(crate) fn take() -> Vec<StepValue> {
    look();
    VALUES.with(|values| core::mem::take(&mut values.known))
}
