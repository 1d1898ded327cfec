//! Names of the program's objects: of a static variable, where that is what an object is.

use turnpike_scheduler::{Execution, Object};

use super::symbols::Symbols;

/// Replaces `mutex 2` by `forks[2]` where the object is (in) a static variable.
pub(super) fn apply(execution: &mut Execution, symbols: &mut Symbols) {
    for object in &mut execution.objects {
        // The library names static objects by their address, others by a hash.
        if object.name_hash >= 1 << 47 {
            continue;
        }
        if let Some(name) = symbols.variable(object.name_hash, size_of(object.object)) {
            object.name = name;
        }
    }
}

/// Bytes of an object in the program's memory; 0 if they depend on the program.
fn size_of(object: Object) -> u64 {
    let arm = cfg!(target_arch = "aarch64");
    match object {
        Object::Mutex { .. } => {
            if arm {
                48
            } else {
                40
            }
        }
        Object::RwLock => 56,
        Object::Condvar => 48,
        Object::Semaphore { .. } | Object::Barrier { .. } => 32,
        Object::Once | Object::Futex => 4,
        Object::Memory | Object::Queue { .. } => 0,
    }
}
