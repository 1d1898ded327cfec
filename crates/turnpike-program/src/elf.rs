//! What the symbols of an executable say: whether its memory accesses can be seen, and which calls
//! cannot be controlled.

use object::{Object, ObjectSymbol};

/// Calls that, unless they are replaced, block or start something that a scheduler inside the
/// process does not see.
const DOUBTFUL: [&str; 42] = [
    "accept",
    "accept4",
    "alarm",
    "clone",
    "connect",
    "epoll_pwait",
    "epoll_wait",
    "eventfd",
    "execv",
    "execve",
    "execvp",
    "fork",
    "getrandom",
    "io_uring_enter",
    "mq_receive",
    "mq_send",
    "msgrcv",
    "poll",
    "posix_spawn",
    "posix_spawnp",
    "ppoll",
    "pselect",
    "pthread_cancel",
    "pthread_kill",
    "read",
    "recv",
    "recvfrom",
    "recvmsg",
    "select",
    "sem_open",
    "semop",
    "setitimer",
    "sigaction",
    "signal",
    "signalfd",
    "sigwait",
    "socketpair",
    "system",
    "timer_create",
    "timerfd_create",
    "vfork",
    "waitpid",
];

/// What the symbols of an executable say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executable {
    /// Whether it was compiled with `-fsanitize=thread`: memory accesses can be made visible.
    pub hooks: bool,
    /// Whether it creates threads itself.
    pub threads: bool,
    /// Calls that are not under control.
    pub uncontrolled: Vec<String>,
}

impl Executable {
    /// Reads a file. `library` is the one that is preloaded: what it defines is under control.
    pub fn read(file: &[u8], library: &[u8]) -> Executable {
        let names = symbols(file);
        let replaced = symbols(library);
        let uses = |name: &str| names.iter().any(|(known, defined)| !defined && known == name);
        let is_replaced = |name: &str| replaced.iter().any(|(known, defined)| *defined && known == name);
        let doubtful = DOUBTFUL.iter().filter(|&&name| uses(name) && !is_replaced(name));
        Executable {
            hooks: names.iter().any(|(name, _)| name.starts_with("__tsan_")),
            threads: ["pthread_create", "thrd_create"].iter().any(|name| uses(name)),
            uncontrolled: doubtful.map(|&name| name.to_owned()).collect(),
        }
    }
}

/// Names of the dynamic symbols, and whether they are defined here.
fn symbols(file: &[u8]) -> Vec<(String, bool)> {
    let Ok(file) = object::File::parse(file) else { return Vec::new() };
    let named = |symbol: object::Symbol<'_, '_>| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        // Versions are not part of the name: `read@GLIBC_2.2.5`.
        let name = name.split('@').next().unwrap_or(name);
        Some((name.to_owned(), !symbol.is_undefined()))
    };
    file.dynamic_symbols().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_an_executable() {
        let path = std::env::current_exe().expect("a path");
        let bytes = std::fs::read(path).expect("it can be read");
        if !bytes.starts_with(b"\x7fELF") {
            return;
        }
        let executable = Executable::read(&bytes, &[]);
        assert!(executable.threads && !executable.hooks, "{executable:?}");
        assert!(executable.uncontrolled.iter().any(|name| name == "read"), "{executable:?}");
        let mine = Executable::read(&bytes, turnpike_preload::LIBRARY);
        assert!(mine.uncontrolled.len() <= executable.uncontrolled.len());
        // Cut anywhere, it is read as far as it goes.
        for length in [0, 3, 16, 17, 63, 64, 100, 1000, bytes.len() / 2] {
            let _ = Executable::read(&bytes[..length], &bytes[..length]);
        }
        assert_eq!(Executable::read(b"#!/bin/sh", &[]), Executable::default());
    }

    #[test]
    fn doubtful_calls_are_sorted() {
        assert!(DOUBTFUL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
