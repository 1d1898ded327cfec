//! Names of the program's objects: an object in a static variable has the variable's name.

use turnpike_scheduler::{End, Execution, Finding, Object};

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
        Object::Memory | Object::Queue { .. } | Object::Region => 0,
    }
}

/// Fills in names that only the host knows: the guest's messages have the marks `{site:0x…}` and
/// `{address:0x…}` there.
pub(super) fn tell(execution: &mut Execution, symbols: &mut Symbols) {
    if let End::Failed(failure) = &mut execution.end {
        fill_in(&mut failure.message, symbols);
    }
    for finding in &mut execution.findings {
        if let Finding::Race { message, .. } | Finding::Uncontrolled(message) = finding {
            fill_in(message, symbols);
        }
    }
}

fn fill_in(message: &mut String, symbols: &mut Symbols) {
    for (mark, site) in [("{site:0x", true), ("{address:0x", false)] {
        while let Some(start) = message.find(mark) {
            let digits = start + mark.len();
            let Some(length) = message[digits..].find('}') else { return };
            let Ok(value) = u64::from_str_radix(&message[digits..digits + length], 16) else { return };
            let name = if site { Some(symbols.site(value)) } else { symbols.variable(value, 0) };
            let name = name.unwrap_or_else(|| format!("{value:#x}"));
            message.replace_range(start..=digits + length, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_filled_in() {
        let mut symbols = Symbols::default();
        for (text, told) in [
            ("plain", "plain"),
            ("{site:0x10} and {site:0x20}: {address:0xff}!", "0x10 and 0x20: 0xff!"),
            ("{site:0x", "{site:0x"),
            ("{site:0xzz}", "{site:0xzz}"),
            ("{address:0x1", "{address:0x1"),
        ] {
            let mut message = text.to_owned();
            fill_in(&mut message, &mut symbols);
            assert_eq!(message, told);
        }
    }
}
