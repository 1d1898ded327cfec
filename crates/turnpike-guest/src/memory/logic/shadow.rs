//! The shadow of the program's memory: for every eight bytes that threads touched, the accesses
//! that a later one may race with, and whether more than one thread was there.
//!
//! Pages of 4 KiB are found through a hash table; a page has one [`Cell`] for every eight bytes.
//! Accesses are kept as [`Record`]s in linked lists. A record has a mask of the bytes it touched,
//! so that neighbouring small variables are distinguished.

use alloc::vec::Vec;

use super::table::Table;

/// Bytes that one cell describes.
pub(crate) const GRANULE: u64 = 8;
const CELLS: usize = 512;
const PAGE_BITS: u32 = 12;
/// Pages of a group, as a power of two.
const GROUP_BITS: u32 = 9;
/// No record.
pub(crate) const NONE: u32 = u32::MAX;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By ordinary code.
    Plain,
    /// By an atomic operation.
    Atomic,
    /// By an operation on the lock, semaphore or other synchronisation object that lies there.
    Object,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Program counter of the access.
    pub site: u64,
    /// The first step of the thread that comes after the access.
    pub epoch: u32,
    /// The next record of the cell.
    pub next: u32,
    /// The thread that made it.
    pub thread: u32,
    /// The bytes of the granule that it touched, one bit each.
    pub mask: u8,
    /// Whether it modified them.
    pub write: bool,
    /// How it was made.
    pub how: How,
}

/// What is known of eight bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// First record.
    pub head: u32,
    /// The only thread that was here; [`NOBODY`] or [`SEVERAL`].
    pub owner: u32,
    /// Whether it was written to.
    pub written: bool,
}

/// No thread was here.
pub(crate) const NOBODY: u32 = u32::MAX;
/// More than one thread was here.
pub(crate) const SEVERAL: u32 = u32::MAX - 1;

impl Cell {
    const EMPTY: Cell = Cell { head: NONE, owner: NOBODY, written: false };
}

/// The shadow of an address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    pages: Table<u32>,
    /// Groups of pages of which some exist.
    groups: Table<bool>,
    cells: Vec<Cell>,
    records: Vec<Record>,
    /// Records that may be used again.
    free: Vec<u32>,
    /// The page that was looked up last, which is nearly always the next one, too.
    last: Option<(u64, u32)>,
}

impl Shadow {
    /// The shadow of memory that was never touched.
    pub(crate) const fn new() -> Self {
        Shadow {
            pages: Table::new(),
            groups: Table::new(),
            cells: Vec::new(),
            records: Vec::new(),
            free: Vec::new(),
            last: None,
        }
    }

    /// The index of the cell of an address, which is created if need be.
    pub(crate) fn place(&mut self, address: u64) -> usize {
        let page = address >> PAGE_BITS;
        let index = match self.last {
            Some((last, index)) if last == page => index,
            _ => {
                // Stored plus one, because new entries are 0.
                let stored = self.pages.entry(page);
                if *stored == 0 {
                    *stored = (self.cells.len() / CELLS) as u32 + 1;
                    *self.groups.entry(page >> GROUP_BITS) = true;
                    self.cells.resize(self.cells.len() + CELLS, Cell::EMPTY);
                }
                let index = *stored - 1;
                self.last = Some((page, index));
                index
            }
        };
        index as usize * CELLS + (address / GRANULE) as usize % CELLS
    }

    /// The cell of an address, if one near it was accessed.
    pub(crate) fn peek(&self, address: u64) -> Option<Cell> {
        let index = self.pages.get(address >> PAGE_BITS)?;
        Some(self.cells[(index - 1) as usize * CELLS + (address / GRANULE) as usize % CELLS])
    }

    /// A cell by its index.
    pub(crate) fn cell(&mut self, place: usize) -> &mut Cell {
        &mut self.cells[place]
    }

    /// A record.
    pub(crate) fn record(&self, index: u32) -> &Record {
        &self.records[index as usize]
    }

    /// Sets the record that follows another in its list.
    pub(crate) fn link(&mut self, index: u32, next: u32) {
        self.records[index as usize].next = next;
    }

    /// Adds a record; the caller links it.
    pub(crate) fn add(&mut self, record: Record) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.records[index as usize] = record;
                index
            }
            None => {
                self.records.push(record);
                (self.records.len() - 1) as u32
            }
        }
    }

    /// Removes a record, which the caller has unlinked.
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// All records of the eight-byte units that a range touches, with the first address of their
    /// unit.
    pub(crate) fn visit(&self, address: u64, size: u64, mut tell: impl FnMut(u64, &Record)) {
        let end = address.saturating_add(size);
        let mut at = address & !(GRANULE - 1);
        while at < end {
            let page = at >> PAGE_BITS;
            if self.groups.get(page >> GROUP_BITS).is_none() {
                at = ((page >> GROUP_BITS) + 1) << (GROUP_BITS + PAGE_BITS);
                continue;
            }
            let next = (page + 1) << PAGE_BITS;
            let Some(index) = self.pages.get(page) else {
                at = next;
                continue;
            };
            while at < end.min(next) {
                let place = (index - 1) as usize * CELLS + (at / GRANULE) as usize % CELLS;
                let mut record = self.cells[place].head;
                while record != NONE {
                    tell(at, &self.records[record as usize]);
                    record = self.records[record as usize].next;
                }
                at += GRANULE;
            }
        }
    }

    /// Forgets accesses to memory that is new: a block that is allocated again, the stack of a new
    /// thread.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        let mut granule = address / GRANULE;
        let end = address.saturating_add(size).div_ceil(GRANULE);
        let per_page = CELLS as u64;
        while granule < end {
            if self.pages.get(granule / per_page).is_none() {
                granule = (granule / per_page + 1) * per_page;
                continue;
            }
            let place = self.place(granule * GRANULE);
            let mut at = self.cells[place].head;
            while at != NONE {
                let next = self.records[at as usize].next;
                self.free.push(at);
                at = next;
            }
            self.cells[place] = Cell::EMPTY;
            granule += 1;
        }
    }
}
