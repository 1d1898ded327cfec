//! Numbers of handles, such as the senders of a channel.
//!
//! Cloning a handle is no step, because hardly any program depends on it. One that looks at the
//! number of handles does: if another thread clones them, both orders matter, and not all of them
//! are tried.

use std::cell::RefCell;

use turnpike_scheduler::{ObjectId, ThreadId};

use super::Runtime;

/// Who cloned handles of which objects, and who looked at their number.
#[derive(Default)]
pub(super) struct Handles(RefCell<Vec<(ObjectId, ThreadId, bool)>>);

impl Handles {
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

impl Runtime {
    /// The running thread clones a handle of an object, or `looks` at their number.
    pub(crate) fn uses_handles(&self, object: ObjectId, looks: bool) {
        let entry = (object, self.current(), looks);
        let mut known = self.handles.0.borrow_mut();
        if known.contains(&entry) {
            return;
        }
        known.push(entry);
        let meets =
            |other: &(ObjectId, ThreadId, bool)| other.0 == object && other.1 != entry.1 && other.2 != looks;
        if known.iter().any(meets) {
            drop(known);
            self.uncontrolled("when a handle is cloned, while another thread looks at their number,");
        }
    }
}
