//! Files that the program writes: every execution finds them as they were before the first.
//!
//! A file that is opened for writing becomes a copy in memory, which later calls of the same
//! execution find under its path. The copies end with the process, and nothing reaches the disk.
//! Folders, links and special files are not copied: a change of them is reported, and nothing is
//! proved.

use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_void};

use crate::global::Global;
use crate::hook::{hook, real};
use crate::sys::{self, number};
use crate::{control, memory, shared};

/// Bytes of a `struct stat`.
const STATUS: usize = 144;

const READ_ONLY: c_int = 0;
const WRITE_ONLY: c_int = 1;
const READ_WRITE: c_int = 2;
const ACCESS: c_int = 3;
const CREATE: c_int = 0o100;
const EXCLUSIVE: c_int = 0o200;
const TRUNCATE: c_int = 0o1000;
const CLOSE_ON_EXEC: c_int = 0o2000000;
const PATH: c_int = 0o10000000;
#[cfg(target_arch = "aarch64")]
const DIRECTORY: c_int = 0o40000;
#[cfg(not(target_arch = "aarch64"))]
const DIRECTORY: c_int = 0o200000;
#[cfg(target_arch = "aarch64")]
const NO_FOLLOW: c_int = 0o100000;
#[cfg(not(target_arch = "aarch64"))]
const NO_FOLLOW: c_int = 0o400000;

const NOT_FOUND: c_int = 2;
const EXISTS: c_int = 17;
const CURRENT: c_int = -100;

/// The first descriptor of a copy: the program's own have the numbers they would have without.
const FIRST_COPY: usize = 920;
/// The longest path that is resolved.
const LONGEST: usize = 4096;

/// A file that was opened for writing, or removed.
struct Written {
    /// Its path, with symbolic links resolved.
    path: Vec<u8>,
    /// `None` = it was removed.
    copy: Option<c_int>,
}

static WRITTEN: Global<Vec<Written>> = Global::new(Vec::new());

/// What is at a path outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Missing,
    File,
    /// A folder, a device, a socket, a pipe.
    Other,
}

/// Where a file that the program names is.
enum Place {
    /// Where the program says.
    Outside,
    /// In a copy.
    Copy(c_int),
    /// It does not exist, or must not: the error number.
    Nowhere(c_int),
}

fn open_at(folder: c_int, path: *const u8, flags: c_int) -> Result<c_int, c_int> {
    let flags = (flags | CLOSE_ON_EXEC) as usize;
    let fd = sys::syscall(number::OPENAT, folder as usize, path as usize, flags, 0, 0, 0) as c_int;
    if fd < 0 { Err(-fd) } else { Ok(fd) }
}

/// The path under which the system knows a descriptor, with a zero byte at its end.
fn own_path(fd: c_int) -> Vec<u8> {
    alloc::format!("/proc/self/fd/{fd}\0").into_bytes()
}

/// The path of the file that a descriptor refers to.
fn path_of(fd: c_int) -> Option<Vec<u8>> {
    let mut path = alloc::vec![0; LONGEST];
    let (name, into) = (own_path(fd), path.as_mut_ptr() as usize);
    let length =
        sys::syscall(number::READLINKAT, CURRENT as usize, name.as_ptr() as usize, into, LONGEST, 0, 0);
    path.truncate(usize::try_from(length).ok()?);
    Some(path)
}

fn kind_of(fd: c_int) -> Outside {
    const MODE_AT: usize = if cfg!(target_arch = "aarch64") { 16 } else { 24 };
    let mut status = [0_u64; 32];
    let into = status.as_mut_ptr();
    if sys::syscall(number::FSTAT, fd as usize, into as usize, 0, 0, 0, 0) < 0 {
        return Outside::Other;
    }
    // SAFETY: within the array, which is aligned for it.
    let mode = unsafe { *into.cast::<u8>().add(MODE_AT).cast::<u32>() };
    if mode & 0o170000 == 0o100000 { Outside::File } else { Outside::Other }
}

/// The path with symbolic links resolved, and what is there outside. `None` if nothing can be
/// there.
fn look(folder: c_int, path: *const c_char) -> Option<(Vec<u8>, Outside)> {
    // SAFETY: the caller's text.
    let text = unsafe { core::ffi::CStr::from_ptr(path) }.to_bytes();
    match open_at(folder, path.cast(), PATH) {
        Ok(fd) => {
            let found = (path_of(fd), kind_of(fd));
            sys::close(fd);
            Some((found.0?, found.1))
        }
        Err(NOT_FOUND) => {
            let slash = text.iter().rposition(|&byte| byte == b'/');
            let (before, name) = text.split_at(slash.map_or(0, |slash| slash + 1));
            let mut parent = if before.is_empty() { Vec::from(*b".") } else { Vec::from(before) };
            parent.push(0);
            let fd = open_at(folder, parent.as_ptr(), PATH | DIRECTORY).ok()?;
            let whole = path_of(fd);
            sys::close(fd);
            let mut whole = whole.filter(|_| !name.is_empty())?;
            whole.push(b'/');
            whole.extend_from_slice(name);
            Some((whole, Outside::Missing))
        }
        Err(_) => None,
    }
}

/// Whether the program may write to a file, or create it.
fn may_write(path: &[u8], outside: Outside) -> bool {
    const WRITABLE: usize = 2;
    let end = match outside {
        Outside::Missing => path.iter().rposition(|&byte| byte == b'/').unwrap_or(0).max(1),
        _ => path.len(),
    };
    let mut path = Vec::from(&path[..end]);
    path.push(0);
    let (folder, path) = (CURRENT as usize, path.as_ptr() as usize);
    sys::syscall(number::FACCESSAT, folder, path, WRITABLE, 0, 0, 0) == 0
}

/// A new file in memory, with what is at the path if `filled`.
fn copy(path: &[u8], filled: bool) -> Option<c_int> {
    const DUPLICATE: usize = 1030;
    sys::note_change();
    let name = c"turnpike copy".as_ptr() as usize;
    let made = sys::syscall(number::MEMFD_CREATE, name, 1, 0, 0, 0, 0);
    let made = c_int::try_from(made).ok().filter(|&fd| fd >= 0)?;
    let moved = sys::syscall(number::FCNTL, made as usize, DUPLICATE, FIRST_COPY, 0, 0, 0);
    let fd = match c_int::try_from(moved) {
        Ok(moved) if moved >= 0 => {
            sys::close(made);
            moved
        }
        _ => made,
    };
    if filled {
        let mut path = Vec::from(path);
        path.push(0);
        let from = open_at(CURRENT, path.as_ptr(), READ_ONLY).ok()?;
        let step = 1 << 30;
        while sys::syscall(number::SENDFILE, fd as usize, from as usize, 0, step, 0, 0) > 0 {}
        sys::close(from);
    }
    Some(fd)
}

/// What is known of a path: `None` = it was not written, `Some(None)` = it was removed.
fn known(path: &[u8]) -> Option<Option<c_int>> {
    WRITTEN.with(|written| written.iter().find(|one| one.path == path).map(|one| one.copy))
}

fn set(path: Vec<u8>, copy: Option<c_int>) {
    WRITTEN.with(|written| match written.iter_mut().find(|one| one.path == path) {
        Some(one) => one.copy = copy,
        None => written.push(Written { path, copy }),
    });
}

/// Where a file that the program opens with these flags is. Makes a copy if it needs one.
fn place(folder: c_int, path: *const c_char, flags: c_int) -> Place {
    let writes = flags & ACCESS != READ_ONLY || flags & (CREATE | TRUNCATE) != 0;
    let any = writes || WRITTEN.with(|written| !written.is_empty());
    if !control::active() || path.is_null() || flags & (PATH | DIRECTORY) != 0 || !any {
        return Place::Outside;
    }
    let Some((path, outside)) = look(folder, path) else { return Place::Outside };
    let creates = flags & CREATE != 0;
    let anew = creates && flags & EXCLUSIVE != 0;
    let filled = match (known(&path), outside) {
        (Some(Some(_)), _) if anew => return Place::Nowhere(EXISTS),
        (Some(Some(copy)), _) => return Place::Copy(copy),
        (Some(None), _) if !creates => return Place::Nowhere(NOT_FOUND),
        (Some(None), _) => false,
        (None, Outside::File) if writes && !anew => flags & TRUNCATE == 0,
        (None, Outside::Missing) if creates => false,
        _ => return Place::Outside,
    };
    let special = [&b"/dev/"[..], b"/proc/", b"/sys/"].iter().any(|start| path.starts_with(start));
    if special || !may_write(&path, outside) {
        return Place::Outside;
    }
    let Some(fd) = copy(&path, filled) else {
        control::uncontrolled("a file that the program writes and that cannot be copied");
        return Place::Outside;
    };
    set(path, Some(fd));
    Place::Copy(fd)
}

/// The flags of `open` that stand for a mode of `fopen`.
fn flags_of(mode: *const c_char) -> c_int {
    // SAFETY: the caller's text.
    let mode = unsafe { core::ffi::CStr::from_ptr(mode) }.to_bytes();
    let both = mode.contains(&b'+');
    let exclusive = if mode.contains(&b'x') { EXCLUSIVE } else { 0 };
    match mode.first() {
        Some(b'w') => (if both { READ_WRITE } else { WRITE_ONLY }) | CREATE | TRUNCATE | exclusive,
        Some(b'a') => (if both { READ_WRITE } else { WRITE_ONLY }) | CREATE | exclusive,
        _ if both => READ_WRITE,
        _ => READ_ONLY,
    }
}

/// Opens a file, or the copy in its place, by a function of the C library.
fn open_by(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    open: impl FnOnce(*const c_char, c_int) -> c_int,
) -> c_int {
    match place(folder, path, flags) {
        Place::Outside => open(path, flags),
        Place::Copy(fd) => open(own_path(fd).as_ptr().cast(), flags & !(CREATE | EXCLUSIVE | NO_FOLLOW)),
        Place::Nowhere(error) => sys::fail_with(error),
    }
}

/// Opens a stream on a file, or on the copy in its place, by a function of the C library.
fn stream_by(
    path: *const c_char,
    mode: *const c_char,
    open: impl FnOnce(*const c_char, *const c_char) -> *mut c_void,
) -> *mut c_void {
    match place(CURRENT, path, flags_of(mode)) {
        Place::Outside => open(path, mode),
        Place::Copy(fd) => {
            // SAFETY: the caller's text.
            let mode = unsafe { core::ffi::CStr::from_ptr(mode) }.to_bytes_with_nul();
            let mode: Vec<u8> = mode.iter().copied().filter(|&letter| letter != b'x').collect();
            open(own_path(fd).as_ptr().cast(), mode.as_ptr().cast())
        }
        Place::Nowhere(error) => {
            sys::fail_with(error);
            core::ptr::null_mut()
        }
    }
}

/// Whether a path is that of a symbolic link.
fn is_link(path: *const c_char) -> bool {
    let mut first = 0u8;
    let into = (&raw mut first) as usize;
    sys::syscall(number::READLINKAT, CURRENT as usize, path as usize, into, 1, 0, 0) >= 0
}

/// Notes that a file is removed, or lets `remove` remove what is not a file.
fn remove_by(path: *const c_char, remove: impl FnOnce() -> c_int) -> c_int {
    if !control::active() || path.is_null() {
        return remove();
    }
    if is_link(path) {
        // The link is meant, not what it leads to. It stays outside, for executions that follow.
        changes_folders();
    }
    let Some((whole, outside)) = look(CURRENT, path) else { return remove() };
    match (known(&whole), outside) {
        (Some(None), _) => sys::fail_with(NOT_FOUND),
        (Some(Some(_)), _) | (None, Outside::File) => {
            set(whole, None);
            0
        }
        (None, Outside::Missing) => remove(),
        (None, Outside::Other) => {
            changes_folders();
            remove()
        }
    }
}

/// Looks at a file: by its path, or at the copy.
fn look_by(path: *const c_char, outside: impl FnOnce() -> c_int, copy: impl FnOnce(c_int) -> c_int) -> c_int {
    match place(CURRENT, path, READ_ONLY) {
        Place::Outside => outside(),
        Place::Copy(fd) => copy(fd),
        Place::Nowhere(error) => sys::fail_with(error),
    }
}

/// Notes that the program changes what later executions find.
fn changes_folders() {
    if control::active() {
        control::uncontrolled("a change of folders or links, which later executions find,");
    }
}

fn rename_file(from: *const c_char, to: *const c_char, rename: impl FnOnce() -> c_int) -> c_int {
    if is_link(from) || is_link(to) {
        changes_folders();
    }
    let (old, new) = (look(CURRENT, from), look(CURRENT, to));
    let (Some((old, outside)), Some((new, _))) = (old, new) else { return rename() };
    match place(CURRENT, from, READ_WRITE) {
        Place::Copy(fd) => {
            if old != new {
                set(old, None);
                set(new, Some(fd));
            }
            0
        }
        Place::Nowhere(error) => sys::fail_with(error),
        Place::Outside if outside == Outside::Missing => rename(),
        Place::Outside => {
            changes_folders();
            rename()
        }
    }
}

// `open` and its like read the register of the mode whether or not the caller passes one.
hook! {
    fn open(path: *const c_char, flags: c_int, mode: u32; site) -> c_int {
        shared::path(path, site);
        let open = real!(open: fn(*const c_char, c_int, u32) -> c_int);
        open_by(CURRENT, path, flags, |path, flags| open(path, flags, mode))
    }
    fn open64(path: *const c_char, flags: c_int, mode: u32; site) -> c_int {
        shared::path(path, site);
        let open = real!(open64: fn(*const c_char, c_int, u32) -> c_int);
        open_by(CURRENT, path, flags, |path, flags| open(path, flags, mode))
    }
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: u32; site) -> c_int {
        shared::path(path, site);
        let open = real!(openat: fn(c_int, *const c_char, c_int, u32) -> c_int);
        open_by(folder, path, flags, |path, flags| open(folder, path, flags, mode))
    }
    fn creat(path: *const c_char, mode: u32; site) -> c_int {
        shared::path(path, site);
        let open = real!(open: fn(*const c_char, c_int, u32) -> c_int);
        open_by(CURRENT, path, WRITE_ONLY | CREATE | TRUNCATE, |path, flags| open(path, flags, mode))
    }
    fn fopen(path: *const c_char, mode: *const c_char; site) -> *mut c_void {
        shared::path(path, site);
        memory::tell_text("fopen", mode, site);
        let open = real!(fopen: fn(*const c_char, *const c_char) -> *mut c_void);
        stream_by(path, mode, |path, mode| open(path, mode))
    }
    fn fopen64(path: *const c_char, mode: *const c_char; site) -> *mut c_void {
        shared::path(path, site);
        memory::tell_text("fopen64", mode, site);
        let open = real!(fopen64: fn(*const c_char, *const c_char) -> *mut c_void);
        stream_by(path, mode, |path, mode| open(path, mode))
    }
    fn freopen(path: *const c_char, mode: *const c_char, on: *mut c_void; site) -> *mut c_void {
        shared::stream(on, site);
        memory::tell_text("a call with a path", path, site);
        memory::tell_text("freopen", mode, site);
        let open = real!(freopen: fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void);
        stream_by(path, mode, |path, mode| open(path, mode, on))
    }
    fn unlink(path: *const c_char; site) -> c_int {
        shared::path(path, site);
        let unlink = real!(unlink: fn(*const c_char) -> c_int);
        remove_by(path, || unlink(path))
    }
    fn remove(path: *const c_char; site) -> c_int {
        shared::path(path, site);
        let remove = real!(remove: fn(*const c_char) -> c_int);
        remove_by(path, || remove(path))
    }
    fn rename(from: *const c_char, to: *const c_char; site) -> c_int {
        shared::path(from, site);
        memory::tell_text("a call with a path", to, site);
        let rename = real!(rename: fn(*const c_char, *const c_char) -> c_int);
        rename_file(from, to, || rename(from, to))
    }
    fn truncate(path: *const c_char, size: i64; site) -> c_int {
        shared::path(path, site);
        let truncate = real!(truncate: fn(*const c_char, i64) -> c_int);
        let cut = real!(ftruncate: fn(c_int, i64) -> c_int);
        match place(CURRENT, path, WRITE_ONLY) {
            Place::Outside => truncate(path, size),
            Place::Copy(fd) => cut(fd, size),
            Place::Nowhere(error) => sys::fail_with(error),
        }
    }
    fn access(path: *const c_char, mode: c_int; site) -> c_int {
        shared::path(path, site);
        let access = real!(access: fn(*const c_char, c_int) -> c_int);
        look_by(path, || access(path, mode), |_| 0)
    }
    fn stat(path: *const c_char, into: *mut c_void; site) -> c_int {
        shared::path(path, site);
        memory::tell_bytes(into, STATUS, true, site);
        let stat = real!(stat: fn(*const c_char, *mut c_void) -> c_int);
        let copied = real!(fstat: fn(c_int, *mut c_void) -> c_int);
        look_by(path, || stat(path, into), |fd| copied(fd, into))
    }
    fn stat64(path: *const c_char, into: *mut c_void; site) -> c_int {
        shared::path(path, site);
        memory::tell_bytes(into, STATUS, true, site);
        let stat = real!(stat64: fn(*const c_char, *mut c_void) -> c_int);
        let copied = real!(fstat64: fn(c_int, *mut c_void) -> c_int);
        look_by(path, || stat(path, into), |fd| copied(fd, into))
    }
    fn lstat(path: *const c_char, into: *mut c_void; site) -> c_int {
        shared::path(path, site);
        memory::tell_bytes(into, STATUS, true, site);
        let stat = real!(lstat: fn(*const c_char, *mut c_void) -> c_int);
        let copied = real!(fstat: fn(c_int, *mut c_void) -> c_int);
        look_by(path, || stat(path, into), |fd| copied(fd, into))
    }
    fn mkdir(path: *const c_char, mode: u32; site) -> c_int {
        shared::path(path, site);
        changes_folders();
        real!(mkdir: fn(*const c_char, u32) -> c_int)(path, mode)
    }
    fn rmdir(path: *const c_char; site) -> c_int {
        shared::path(path, site);
        changes_folders();
        real!(rmdir: fn(*const c_char) -> c_int)(path)
    }
    fn link(path: *const c_char, to: *const c_char; site) -> c_int {
        shared::path(path, site);
        memory::tell_text("a call with a path", to, site);
        changes_folders();
        real!(link: fn(*const c_char, *const c_char) -> c_int)(path, to)
    }
    fn symlink(path: *const c_char, to: *const c_char; site) -> c_int {
        shared::path(path, site);
        memory::tell_text("a call with a path", to, site);
        changes_folders();
        real!(symlink: fn(*const c_char, *const c_char) -> c_int)(path, to)
    }
}
