//! Starts the program with the library preloaded, without leaving anything in the file system.
//!
//! The library is a file in memory, preloaded by its descriptor. The program dies with the host:
//! the system sends it a signal when the *thread* that started it ends, so one thread that never
//! ends starts all programs.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, mpsc};

use turnpike_preload::NAME;
use turnpike_preload::protocol::{ENVIRONMENT, FD_ANSWER, FD_LIBRARY, FD_REQUEST, FD_SHARED};

use super::NativeProgram;
use super::{runtime, system};

/// The descriptors that the program gets.
pub(super) struct Descriptors {
    pub(super) shared: OwnedFd,
    pub(super) request: OwnedFd,
    pub(super) answer: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) size: usize,
}

/// Starts the program.
pub(super) fn start(program: &NativeProgram, descriptors: Descriptors) -> io::Result<Child> {
    let bytes = std::fs::read(&program.path)?;
    let library = library(&wanted_name(&bytes))?;
    // A plain name is a file in this folder, not a command on the path.
    let is_plain = program.path.parent() == Some(Path::new(""));
    let path = if is_plain { Path::new(".").join(&program.path) } else { program.path.clone() };
    let mut command = Command::new(path);
    command.args(&program.arguments);
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    let mut preload = OsString::from(format!("/proc/self/fd/{FD_LIBRARY}"));
    let theirs =
        program.environment.iter().find(|(name, _)| name == "LD_PRELOAD").map(|(_, value)| value.clone());
    if let Some(theirs) = theirs.or_else(|| std::env::var_os("LD_PRELOAD")).filter(|value| !value.is_empty())
    {
        preload.push(":");
        preload.push(&theirs);
        command.env("TURNPIKE_PRELOAD", theirs);
    }
    command.env("LD_PRELOAD", preload);
    // Symbols are resolved once, not in every execution.
    command.env("LD_BIND_NOW", "1");
    let mut told = descriptors.size.to_string();
    for (start, end) in runtime::variables(&bytes) {
        told.push_str(&format!(" {start}-{end}"));
    }
    command.env(ENVIRONMENT, told);
    command.stdin(input());
    command.stdout(Stdio::from(descriptors.output.try_clone()?));
    command.stderr(Stdio::from(descriptors.output.try_clone()?));
    let pairs = [
        (library, FD_LIBRARY),
        (descriptors.shared.as_raw_fd(), FD_SHARED),
        (descriptors.request.as_raw_fd(), FD_REQUEST),
        (descriptors.answer.as_raw_fd(), FD_ANSWER),
    ];
    // SAFETY: only system calls, which is all that is allowed between fork and exec.
    unsafe { command.pre_exec(move || prepare(&pairs)) };
    let (send, receive) = mpsc::channel();
    let job = Job { command, descriptors, done: send };
    launcher().send(job).map_err(|_| io::Error::other("the thread that starts programs has ended"))?;
    receive.recv().map_err(|_| io::Error::other("the thread that starts programs has ended"))?
}

/// A debugger that finds the library where the program says it is: at a descriptor of its own.
pub(super) fn debugger(name: &str, program: &Path) -> io::Result<Command> {
    let library = library(&wanted_name(&std::fs::read(program)?))?;
    let mut command = Command::new(name);
    // SAFETY: only system calls, which is all that is allowed between fork and exec.
    unsafe {
        command.pre_exec(move || {
            raise_descriptors();
            if libc::dup2(library, FD_LIBRARY) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    Ok(command)
}

/// The program's input: the file that is this process's input, opened again, or nothing. Pipes and
/// terminals can be read only once, and programs are executed many times.
fn input() -> Stdio {
    let own = Path::new("/proc/self/fd/0");
    let is_file = std::fs::metadata(own).is_ok_and(|status| status.is_file());
    match std::fs::File::open(own) {
        Ok(file) if is_file => Stdio::from(file),
        _ => Stdio::null(),
    }
}

struct Job {
    command: Command,
    /// Open until the program has been started.
    descriptors: Descriptors,
    done: mpsc::Sender<io::Result<Child>>,
}

fn launcher() -> mpsc::Sender<Job> {
    static LAUNCHER: OnceLock<Mutex<mpsc::Sender<Job>>> = OnceLock::new();
    let launcher = LAUNCHER.get_or_init(|| {
        let (send, receive) = mpsc::channel::<Job>();
        // Without the thread, sending fails, which is reported then.
        let _ = std::thread::Builder::new().name("launcher".into()).spawn(move || {
            while let Ok(mut job) = receive.recv() {
                let child = job.command.spawn();
                drop(job.descriptors);
                let _ = job.done.send(child);
            }
        });
        Mutex::new(send)
    });
    launcher.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// The name that gcc gives the thread sanitizer's library, for programs that need no such library.
const USUAL: &str = "libtsan.so.2";

/// The name of the thread sanitizer's library that the program was linked with, which depends on
/// the compiler and its version. Our library replaces it by having its name.
fn wanted_name(program: &[u8]) -> String {
    let starts: [&[u8]; 2] = [b"\0libtsan.so.", b"\0libclang_rt.tsan"];
    let found =
        starts.into_iter().find_map(|start| program.windows(start.len()).position(|part| part == start));
    let name = found.and_then(|at| program[at + 1..].split(|byte| *byte == 0).next());
    match name.and_then(|name| std::str::from_utf8(name).ok()) {
        Some(name) if name.contains(".so") && name.len() <= NAME.len() => name.to_owned(),
        _ => USUAL.to_owned(),
    }
}

/// The library as a file in memory, one for each name.
fn library(name: &str) -> io::Result<RawFd> {
    static LIBRARIES: Mutex<Vec<(String, OwnedFd)>> = Mutex::new(Vec::new());
    let mut libraries = LIBRARIES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, file)) = libraries.iter().find(|(known, _)| known == name) {
        return Ok(file.as_raw_fd());
    }
    let file = system::memory_file(c"turnpike", 0)?;
    let mut writer = std::fs::File::from(file);
    let mut bytes = turnpike_preload::LIBRARY.to_vec();
    if let Some(at) = bytes.windows(NAME.len()).position(|part| part == NAME.as_bytes()) {
        bytes[at..at + NAME.len()].fill(0);
        bytes[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    writer.write_all(&bytes)?;
    let file = OwnedFd::from(writer);
    let number = file.as_raw_fd();
    libraries.push((name.to_owned(), file));
    Ok(number)
}

/// Prepares the new process, before it becomes the program.
fn prepare(pairs: &[(RawFd, RawFd)]) -> io::Result<()> {
    let check = |answer: i64| if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: system calls with plain numbers and with records on this stack.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        // The same addresses in every process. Some containers forbid it: then they are only the
        // same in all executions of one process.
        let persona = libc::personality(0xffff_ffff);
        libc::personality(persona as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        libc::setpgid(0, 0);
        // Endless output is cut off, but does not crash the program.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let size = libc::rlimit { rlim_cur: OUTPUT, rlim_max: libc::RLIM_INFINITY };
        libc::setrlimit(libc::RLIMIT_FSIZE, &size);
        let core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &core);
        raise_descriptors();
        for (from, to) in pairs {
            check(libc::dup2(*from, *to).into())?;
        }
        // The program gets no others: neither this process's nor what it inherited itself. (Marked,
        // not closed: the standard library still needs one to report a failed start. Old systems do
        // not have the call.)
        const MARK: libc::c_uint = 4;
        let (first, last) = (FD_LIBRARY as libc::c_uint, FD_ANSWER as libc::c_uint);
        libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, first - 1, MARK);
        libc::syscall(libc::SYS_close_range, last + 1, libc::c_uint::MAX, MARK);
        let flags = libc::fcntl(1, libc::F_GETFL);
        libc::fcntl(1, libc::F_SETFL, flags | libc::O_APPEND);
        let flags = libc::fcntl(2, libc::F_GETFL);
        libc::fcntl(2, libc::F_SETFL, flags | libc::O_APPEND);
    }
    Ok(())
}

/// Raises the limit on descriptors so that the library's numbers are valid.
fn raise_descriptors() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the answer.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur <= FD_ANSWER as u64 {
            limit.rlim_cur = limit.rlim_max.min(FD_ANSWER as u64 + 1);
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// The most bytes that an execution may print (and that a file may have).
const OUTPUT: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_takes_the_name_that_the_program_wants() {
        for (bytes, name) in [
            (&b"\0libc.so.6\0libtsan.so.0\0"[..], "libtsan.so.0"),
            (b"\0libtsan.so.2\0libm.so.6\0", "libtsan.so.2"),
            (b"\0libclang_rt.tsan-x86_64.so\0", "libclang_rt.tsan-x86_64.so"),
            (b"\0libclang_rt.tsan.so\0", "libclang_rt.tsan.so"),
            (b"\0libc.so.6\0", USUAL),
            (b"\0libclang_rt.tsan_and_nothing", USUAL),
            (b"", USUAL),
        ] {
            assert_eq!(wanted_name(bytes), name);
        }
        assert!(
            !turnpike_preload::SUPPORTED || {
                let count = turnpike_preload::LIBRARY
                    .windows(NAME.len())
                    .filter(|part| *part == NAME.as_bytes())
                    .count();
                count == 1
            }
        );
    }
}
