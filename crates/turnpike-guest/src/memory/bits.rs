//! Bit-fields: gcc reports that one is written, but not that its neighbours in the same bytes are
//! read before and written back. At such places a write is two steps. What others write between
//! them is lost, as it would be without control, because the bytes of the first step are restored.

use turnpike_scheduler::{Kind, MemoryOrder, Site};

use super::logic::bits::{BEFORE, FirstRead, Place, REACH, first_read};
use super::{MEMORY, step};
use crate::{control, sys};

/// What is reported when others write close to a bit-field whose place is not known.
const PART: &str = "a bit-field somewhere in the bytes that are reported as written";

/// The most bytes of a write. If the structure is packed, compilers report a write of all of it.
const MOST: usize = 64;

/// What was in memory when a write began by reading it.
pub(super) struct Before {
    address: u64,
    size: usize,
    bytes: [u8; MOST],
    /// Whether these are just the bytes that the write reads, and no more.
    exact: bool,
}

/// What a write that was reported here reads first.
fn found_at(site: Site) -> Option<FirstRead> {
    MEMORY.with(|memory| {
        *memory.first_reads.entry(site.0).get_or_insert_with(|| {
            let mut code = [0; BEFORE + REACH];
            let length = sys::copy_own_memory(site.0 as usize - BEFORE, &mut code);
            let (before, after) = code[..length].split_at_checked(BEFORE)?;
            first_read(before, after)
        })
    })
}

/// The step of reading, for a write that reads first.
pub(super) fn read_first(address: u64, size: u64, site: Site) -> Option<Before> {
    if !cfg!(target_arch = "x86_64") || size > MOST as u64 {
        return None;
    }
    let read = found_at(site).filter(|read| read.size <= size)?;
    let place = match read.place {
        _ if read.size == size => Some(address),
        Place::FromCall(distance) => Some(site.0.wrapping_add_signed(distance)),
        Place::FromReported(distance) => Some(address.wrapping_add_signed(distance)),
        Place::Unknown => None,
    };
    let inside = |place: &u64| *place >= address && place + read.size <= address + size;
    let known = place.filter(inside).map(|place| (place, read.size));
    let (from, length) = known.unwrap_or((address, size));
    step(Kind::Read, from, length, site, MemoryOrder::RELAXED, None, false, None);
    let (mut bytes, length) = ([0; MOST], length as usize);
    // Whether others freed it meanwhile is found by the check of the write.
    let there = sys::copy_own_memory(from as usize, &mut bytes[..length]) == length;
    there.then_some(Before { address: from, size: length, bytes, exact: known.is_some() })
}

impl Before {
    /// Lets the write, which is about to happen, read what was there at the first step.
    pub(super) fn put_back(&self) {
        // SAFETY: the program writes here next.
        let now = unsafe { core::slice::from_raw_parts_mut(self.address as *mut u8, self.size) };
        let before = &self.bytes[..self.size];
        if now == before {
            return;
        }
        if self.exact {
            now.copy_from_slice(before);
        } else {
            control::uncontrolled(PART);
        }
    }
}
