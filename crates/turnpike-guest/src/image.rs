//! The private memory of this process as it was at one point, to be restored later.
//!
//! The *known* pages are restored: everything that was written to private memory lies on one of
//! them. The system is asked which private pages exist, once when the image is made, and again
//! whenever there were page faults since: a page that is new then was zero before. Mappings must
//! not change meanwhile, see `reuse`.
//!
//! The image lives in a *vault*, memory that is shared with the fork server and so is never
//! restored itself. Code that restores runs on a stack in the vault and uses nothing outside of it.

use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

use crate::protocol::FD_PAGES;
use crate::{control, sys};

pub(crate) const PAGE: usize = 4096;
/// The most known pages. If a program needs more, its executions take longer than a fork anyway.
const MOST: usize = 2048;
/// The most pages of writable mappings of files, such as initialised variables: all are saved.
const MOST_FILE_PAGES: usize = 1024;
const MOST_REGIONS: usize = 256;
/// The most ranges in one answer of the system.
const MOST_RANGES: usize = 512;
const STACK: usize = 64 << 10;
const TEXT: usize = 64 << 10;

/// Private memory that can be written to.
#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
}

/// `struct page_region` of the system.
#[repr(C)]
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    end: u64,
    categories: u64,
}

/// `struct pm_scan_arg` of the system.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    ranges: u64,
    count: u64,
    most_pages: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    returned: u64,
}

/// The part of the vault that any code may read and change.
#[repr(C)]
pub(crate) struct Flags {
    /// Whether system calls are refused: the system reads it at each one.
    pub selector: AtomicU8,
    /// Whether something was done that an image does not restore.
    pub tainted: AtomicU32,
    /// Executions that this process has run.
    pub executions: AtomicU32,
}

/// Memory that no image contains.
#[repr(C)]
pub(crate) struct Vault {
    flags: Flags,
    /// Where the thread of the image continues: its stack and its thread register.
    pub stack: usize,
    pub base: usize,
    /// Processor time of this process up to its last answer.
    pub spent: u64,
    /// Page faults up to the last look at the pages.
    faults: u64,
    regions: [Region; MOST_REGIONS],
    region_count: usize,
    /// Known pages in the order of their discovery. The image has contents for the first `saved` of
    /// them; the others were zero.
    pages: [usize; MOST],
    known: usize,
    saved: usize,
    /// The known pages by address.
    sorted: [usize; MOST],
    ranges: [Range; MOST_RANGES],
    text: [u8; TEXT],
    own_stack: [u8; STACK],
    contents: [[u8; PAGE]; MOST],
}

static VAULT: AtomicPtr<Vault> = AtomicPtr::new(core::ptr::null_mut());

/// Maps the vault, in the fork server; false if there is no memory for it.
pub(crate) fn open() -> bool {
    const READ_WRITE: usize = 3;
    const SHARED_ANONYMOUS_NORESERVE: usize = 0x1 | 0x20 | 0x4000;
    let size = size_of::<Vault>();
    let nowhere = usize::MAX;
    let answer = sys::syscall(sys::number::MMAP, 0, size, READ_WRITE, SHARED_ANONYMOUS_NORESERVE, nowhere, 0);
    if answer <= 0 {
        return false;
    }
    VAULT.store(answer as *mut Vault, Ordering::Relaxed);
    true
}

/// The vault, if there is one.
///
/// # Safety
/// No other code uses the vault as long as the caller uses the reference: only the process that
/// executes the program may call this, and not from within the program.
pub(crate) unsafe fn vault() -> Option<&'static mut Vault> {
    // SAFETY: mapped by `open` and never unmapped; all-zero bytes are a valid value. The caller
    // promises that no other reference is in use.
    unsafe { VAULT.load(Ordering::Relaxed).as_mut() }
}

/// Where the vault begins; 0 if there is none.
pub(crate) fn place() -> usize {
    VAULT.load(Ordering::Relaxed) as usize
}

/// The flags of the vault, if there is one.
pub(crate) fn flags() -> Option<&'static Flags> {
    let vault = VAULT.load(Ordering::Relaxed);
    // SAFETY: mapped by `open` and never unmapped. Nothing but the atomic flags is referred to.
    (!vault.is_null()).then(|| unsafe { &(*vault).flags })
}

impl Vault {
    /// The upper end of the stack in the vault.
    pub(crate) fn own_stack(&self) -> usize {
        (self.own_stack.as_ptr() as usize + STACK) & !63
    }

    /// Finds out what belongs to an image; false if something cannot be restored.
    pub(crate) fn survey(&mut self) -> bool {
        let Some(length) = read_file(c"/proc/self/maps", &mut self.text) else { return false };
        (self.region_count, self.known, self.saved) = (0, 0, 0);
        let (own, shared) = (core::ptr::from_ref(self) as usize, control::shared() as usize);
        let (mut below, mut file_pages, mut from) = (0, 0, 0);
        while from < length {
            let rest = &self.text[from..length];
            let Some(end) = rest.iter().position(|&byte| byte == b'\n') else { return false };
            let Some(map) = Map::parse(&rest[..end]) else { return false };
            from += end + 1;
            let gap = core::mem::replace(&mut below, map.end);
            if !map.writable || map.start == own || map.start == shared {
                continue;
            }
            if map.shared || self.region_count == MOST_REGIONS {
                return false;
            }
            // The stack may grow without a new mapping.
            let start = if map.is_stack { gap.max(map.end.saturating_sub(stack_limit())) } else { map.start };
            self.regions[self.region_count] = Region { start, end: map.end };
            self.region_count += 1;
            if map.of_file {
                file_pages += (map.end - map.start) / PAGE;
                if file_pages > MOST_FILE_PAGES {
                    return false;
                }
                own_pages(map.start, map.end);
            }
        }
        self.faults = 0;
        self.learn()
    }

    /// Saves the known pages.
    pub(crate) fn save(&mut self) {
        for (page, into) in self.pages[..self.known].iter().zip(&mut self.contents) {
            // SAFETY: a page of this process, and one of the vault.
            unsafe { copy_page(*page, into.as_mut_ptr() as usize) };
        }
        self.saved = self.known;
    }

    /// Restores the known pages. Only code that runs on the vault's stack may do that.
    ///
    /// # Safety
    /// Nothing but the vault is used until the thread of the image continues.
    pub(crate) unsafe fn restore(&mut self) {
        // SAFETY: pages of this process that can be written to.
        unsafe {
            for (page, from) in self.pages[..self.saved].iter().zip(&self.contents) {
                copy_page(from.as_ptr() as usize, *page);
            }
            for page in &self.pages[self.saved..self.known] {
                clear_page(*page);
            }
        }
    }

    /// Counts page faults from now on as the next execution's.
    pub(crate) fn count_faults(&mut self) {
        self.faults = faults();
    }

    /// Looks for pages that were written to for the first time, if there can be any; false if there
    /// are too many, or the system does not support the question.
    pub(crate) fn learn(&mut self) -> bool {
        if faults() == self.faults {
            return true;
        }
        let before = self.known;
        for at in 0..self.region_count {
            if !self.learn_region(self.regions[at], before) {
                return false;
            }
        }
        self.sorted[before..self.known].copy_from_slice(&self.pages[before..self.known]);
        self.sorted[..self.known].sort_unstable();
        true
    }

    /// Adds the pages of a region that are not among the first `before` known ones.
    fn learn_region(&mut self, region: Region, before: usize) -> bool {
        let mut from = region.start;
        while from < region.end {
            let Some((count, next)) = self.scan(from, region.end) else { return false };
            for at in 0..count {
                let Range { start, end, .. } = self.ranges[at];
                for page in (start as usize..end as usize).step_by(PAGE) {
                    if self.sorted[..before].binary_search(&page).is_ok() {
                        continue;
                    }
                    if self.known == MOST {
                        return false;
                    }
                    self.pages[self.known] = page;
                    self.known += 1;
                }
            }
            from = next;
        }
        true
    }

    /// Asks the system which private pages exist. Returns the number of ranges, and where to go on.
    fn scan(&mut self, start: usize, end: usize) -> Option<(usize, usize)> {
        /// `PAGEMAP_SCAN`, with the size of its argument.
        const SCAN: usize = 0xc060_6610;
        const OF_FILE: u64 = 1 << 2;
        const PRESENT: u64 = 1 << 3;
        const SWAPPED: u64 = 1 << 4;
        const ZERO: u64 = 1 << 5;
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            start: start as u64,
            end: end as u64,
            ranges: self.ranges.as_mut_ptr() as u64,
            count: MOST_RANGES as u64,
            inverted: OF_FILE | ZERO,
            all_of: OF_FILE | ZERO,
            any_of: PRESENT | SWAPPED,
            returned: PRESENT,
            ..Scan::default()
        };
        let argument = &raw mut scan as usize;
        let answer = sys::syscall(sys::number::IOCTL, FD_PAGES as usize, SCAN, argument, 0, 0, 0);
        let count = usize::try_from(answer).ok()?;
        (scan.walk_end as usize > start).then_some((count, scan.walk_end as usize))
    }
}

/// Opens the table of pages of this process; false if there is none. A child must open its own.
pub(crate) fn open_pages() -> bool {
    let Some(fd) = open_file(c"/proc/self/pagemap") else { return false };
    const DUP2: i64 = 33;
    let moved = sys::syscall(DUP2, fd as usize, FD_PAGES as usize, 0, 0, 0, 0) >= 0;
    sys::close(fd);
    moved
}

/// A line of the system's list of mappings.
pub(crate) struct Map {
    pub start: usize,
    end: usize,
    pub writable: bool,
    pub shared: bool,
    of_file: bool,
    is_stack: bool,
}

impl Map {
    /// For example `7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]`.
    pub(crate) fn parse(line: &[u8]) -> Option<Map> {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let mut addresses = words.next()?.split(|&byte| byte == b'-');
        let (start, end) = (parse_hex(addresses.next()?)?, parse_hex(addresses.next()?)?);
        let rights = words.next()?;
        let file = words.nth(2)?;
        Some(Map {
            start,
            end,
            writable: *rights.get(1)? == b'w',
            shared: *rights.get(3)? == b's',
            of_file: file != b"0",
            is_stack: words.next() == Some(b"[stack]"),
        })
    }
}

fn parse_hex(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

fn open_file(path: &core::ffi::CStr) -> Option<i32> {
    const AT_CWD: isize = -100;
    let fd = sys::syscall(sys::number::OPENAT, AT_CWD as usize, path.as_ptr() as usize, 0, 0, 0, 0);
    i32::try_from(fd).ok().filter(|fd| *fd >= 0)
}

/// Reads a whole file. Returns its length, or `None` if it does not fit.
fn read_file(path: &core::ffi::CStr, into: &mut [u8]) -> Option<usize> {
    let fd = open_file(path)?;
    let mut length = 0;
    let whole = loop {
        match sys::read(fd, &mut into[length..]) {
            0 => break length < into.len(),
            more if more > 0 => length += more as usize,
            _ => break false,
        }
    };
    sys::close(fd);
    whole.then_some(length)
}

/// The most bytes that the stack may have.
fn stack_limit() -> usize {
    const RESOURCE: usize = 3;
    const MOST_BYTES: u64 = 1 << 30;
    let mut limit = sys::Rlimit { soft: 0, hard: 0 };
    sys::syscall(sys::number::PRLIMIT64, 0, RESOURCE, 0, &raw mut limit as usize, 0, 0);
    limit.soft.min(MOST_BYTES) as usize
}

/// Page faults of this thread so far.
fn faults() -> u64 {
    const GETRUSAGE: i64 = 98;
    const THREAD: usize = 1;
    const MINOR: usize = 8;
    const MAJOR: usize = 9;
    let mut usage = [0u64; 18];
    sys::syscall(GETRUSAGE, THREAD, usage.as_mut_ptr() as usize, 0, 0, 0, 0);
    // Never equal to the first value in the vault.
    usage[MINOR] + usage[MAJOR] + 1
}

/// Writes to each page of a file mapping, so that the process has its own copies.
fn own_pages(start: usize, end: usize) {
    for page in (start..end).step_by(PAGE) {
        let byte = page as *mut u8;
        // SAFETY: the page is writable, and its contents do not change.
        unsafe { byte.write_volatile(byte.read_volatile()) };
    }
}

/// Copies a page without the C library, which might use memory of its own.
///
/// # Safety
/// `from` is a readable page and `to` is a writable one.
#[inline(always)]
unsafe fn copy_page(from: usize, to: usize) {
    // SAFETY: promised by the caller.
    unsafe {
        core::arch::asm!("rep movsq", inout("rcx") PAGE / 8 => _, inout("rsi") from => _,
            inout("rdi") to => _, options(nostack, preserves_flags));
    }
}

/// # Safety
/// `page` is a writable page.
#[inline(always)]
unsafe fn clear_page(page: usize) {
    // SAFETY: promised by the caller.
    unsafe {
        core::arch::asm!("rep stosq", inout("rcx") PAGE / 8 => _, inout("rdi") page => _, in("rax") 0,
            options(nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn lines_of_mappings_are_read() {
        let line = b"7ffe7a0d1000-7ffe7a0f2000 rw-p 00000000 00:00 0                          [stack]";
        let map = Map::parse(line).expect("a line");
        assert_eq!((map.start, map.end), (0x7ffe_7a0d_1000, 0x7ffe_7a0f_2000));
        assert!(map.writable && !map.shared && !map.of_file && map.is_stack);
        let line = b"5581e000-5581f000 r--p 00002000 fe:01 1234 /usr/bin/a b";
        let map = Map::parse(line).expect("a line");
        assert!(!map.writable && !map.shared && map.of_file && !map.is_stack);
        let map = Map::parse(b"1000-2000 rw-s 00000000 00:01 7 /dev/zero (deleted)").expect("a line");
        assert!(map.writable && map.shared && map.of_file);
        for bad in [&b""[..], b"1000 rw-p 0 0 0", b"1000-2000", b"1000-2000 rw", b"x-y rw-p 0 0 0"] {
            assert!(Map::parse(bad).is_none());
        }
    }
}
