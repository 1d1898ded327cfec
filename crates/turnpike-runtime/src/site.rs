//! Source positions as the opaque [`Site`]s of the scheduler.
//!
//! A position that the compiler gave us for ever is its address; the table below knows which
//! addresses are positions, so that a foreign number is never followed. Positions of panics are
//! copied, because they are only lent.
#![allow(unsafe_code)]

use std::panic::Location;
use std::sync::Mutex;

use turnpike_scheduler::Site;

/// A position for ever.
pub(crate) type Place = &'static Location<'static>;

/// Positions of panics: the site is twice the index plus one, which no address is.
static LENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Addresses that were seen in recorded executions.
static SEEN: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The site of a position.
#[inline]
pub(crate) fn of(place: Place) -> Site {
    Site(std::ptr::from_ref(place).expose_provenance() as u64)
}

/// The site of a position that is only lent.
pub(crate) fn of_lent(place: &Location<'_>) -> Site {
    let text = text(place);
    let mut table = lock(&LENT);
    let index = table.iter().position(|known| *known == text).unwrap_or_else(|| {
        table.push(text);
        table.len() - 1
    });
    Site(2 * index as u64 + 1)
}

/// A site of an execution that was recorded: from now on [`explain`] knows it.
///
/// It must come from an operation of this crate, which makes sites by [`of`] and [`of_lent`] only.
pub(crate) fn remember(Site(site): Site) {
    let mut seen = lock(&SEEN);
    if site % 2 == 0
        && site != 0
        && let Err(place) = seen.binary_search(&site)
    {
        seen.insert(place, site);
    }
}

/// `src/bank.rs:31:9`, or nothing for a site that no execution recorded.
pub(crate) fn explain(Site(site): Site) -> Option<String> {
    if site % 2 == 1 {
        return lock(&LENT).get((site / 2) as usize).cloned();
    }
    lock(&SEEN).binary_search(&site).ok()?;
    let place = std::ptr::with_exposed_provenance::<Location<'static>>(site as usize);
    // SAFETY: all even sites in the table were made by `of` from references that live for ever.
    Some(text(unsafe { &*place }))
}

/// Hash of a position, the same in every process.
pub(crate) fn hash(place: Place) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in place.file().bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let position = (u64::from(place.line()) << 32) | u64::from(place.column());
    let mixed = (hash ^ position).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).max(1)
}

fn text(place: &Location<'_>) -> String {
    format!("{}:{}:{}", place.file(), place.line(), place.column())
}

fn lock<T>(table: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    table.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
