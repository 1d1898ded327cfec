//! Source positions as the opaque [`Site`]s of the scheduler.
//!
//! A position with a static lifetime is represented by its address; the table below records which
//! addresses are positions, so that an unknown number is never dereferenced. Positions of panics
//! are only borrowed, so they are copied.
#![allow(unsafe_code)]

use std::panic::Location;
use std::sync::Mutex;

use turnpike_scheduler::Site;

/// A position with a static lifetime.
pub(crate) type Place = &'static Location<'static>;

/// Positions of panics: the site is twice the index plus one, which no address is.
static LENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Addresses from recorded executions.
static SEEN: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The site of a position.
#[inline]
pub(crate) fn of(place: Place) -> Site {
    Site(std::ptr::from_ref(place).expose_provenance() as u64)
}

/// The site of a borrowed position.
pub(crate) fn of_lent(place: &Location<'_>) -> Site {
    let text = text(place);
    let mut table = lock(&LENT);
    let index = table.iter().position(|known| *known == text).unwrap_or_else(|| {
        table.push(text);
        table.len() - 1
    });
    Site(2 * index as u64 + 1)
}

/// Registers a site of a recorded execution, so that [`explain`] can resolve it.
///
/// It must come from an operation of this crate, which creates sites only by [`of`] and
/// [`of_lent`].
pub(crate) fn remember(Site(site): Site) {
    let mut seen = lock(&SEEN);
    if site % 2 == 0
        && site != 0
        && let Err(place) = seen.binary_search(&site)
    {
        seen.insert(place, site);
    }
}

/// `src/bank.rs:31:9`, or `None` for a site that no execution recorded.
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
