//! The operating system: files in memory, mappings, pipes, processes. All of the crate's unsafe
//! code is here and in `launch`.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::time::Duration;

use turnpike_preload::protocol::Header;

/// An anonymous file of this size.
pub(super) fn memory_file(name: &CStr, size: usize) -> io::Result<OwnedFd> {
    // SAFETY: a name that ends with a zero byte.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nothing else owns.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    truncate(&file, size)?;
    Ok(file)
}

/// Truncates or extends a file.
pub(super) fn truncate(file: &OwnedFd, size: usize) -> io::Result<()> {
    // SAFETY: an open file.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Both ends of a pipe: first the one to read from, then the one to write to.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nothing else owns.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Whether something can be read, or the other end is gone, within this time.
pub(super) fn readable(file: &OwnedFd, limit: Duration) -> bool {
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = limit.as_millis().min(60_000) as libc::c_int;
    // SAFETY: one record.
    unsafe { libc::poll(&mut poll, 1, milliseconds) > 0 }
}

/// Reads one byte; `None` at the end or after an error.
pub(super) fn read_byte(file: &OwnedFd) -> Option<u8> {
    let mut byte = 0u8;
    loop {
        // SAFETY: room for one byte.
        let got = unsafe { libc::read(file.as_raw_fd(), (&raw mut byte).cast(), 1) };
        if got == 1 {
            return Some(byte);
        }
        if got < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        return None;
    }
}

/// Writes one byte; false if the reader is gone.
pub(super) fn write_byte(file: &OwnedFd, byte: u8) -> bool {
    // SAFETY: one byte.
    unsafe { libc::write(file.as_raw_fd(), (&raw const byte).cast(), 1) == 1 }
}

/// Ends a process at once.
pub(super) fn kill(process: i32) {
    if process > 0 {
        // SAFETY: a process that we started, or its child, which its parent has not forgotten yet.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
}

/// Asks an execution that hangs where it is.
pub(super) fn ask(process: i32) {
    if process > 0 {
        // SAFETY: an execution that runs: its parent has not waited for it yet, so the number is
        // still its own.
        unsafe { libc::kill(process, turnpike_preload::protocol::HANG_SIGNAL) };
    }
}

/// Processor time that a process has used.
pub(super) fn processor_time(process: i32) -> Option<Duration> {
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for both answers.
    let ok = unsafe {
        libc::clock_getcpuclockid(process, &mut clock) == 0 && libc::clock_gettime(clock, &mut time) == 0
    };
    ok.then(|| Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
}

/// Memory that is shared with the guest.
pub(super) struct Shared {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory; the guest's writes are ordered by the pipes.
unsafe impl Send for Shared {}

impl Shared {
    /// Maps the file.
    pub(super) fn new(file: &OwnedFd, size: usize) -> io::Result<Shared> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Shared { start, size }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The first page.
    pub(super) fn header(&self) -> &Header {
        // SAFETY: the mapping is larger and aligned; what the guest writes while the host looks is
        // atomic.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// The first page, to change; the guest is waiting.
    pub(super) fn header_mut(&mut self) -> &mut Header {
        // SAFETY: the mapping is larger and aligned, and only this value refers to it on this side;
        // the guest waits for a request and does not look.
        unsafe { self.start.cast::<Header>().as_mut() }
    }

    /// Bytes that the guest, which has stopped, wrote; `None` if they are not in the mapping.
    pub(super) fn bytes(&self, at: usize, length: usize) -> Option<&[u8]> {
        if at.checked_add(length)? > self.size {
            return None;
        }
        // SAFETY: within the mapping.
        Some(unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(at), length) })
    }

    /// Writes bytes for the guest, which is waiting; false if they do not fit.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.size) {
            return false;
        }
        // SAFETY: within the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
        true
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}
