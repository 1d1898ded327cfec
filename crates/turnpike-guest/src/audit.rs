//! Writes that nothing reports, in trial executions: assembler, functions without the sanitizer,
//! calls that compilers expand in place, and functions of libraries that write through a pointer.
//!
//! Before every operation, the variables of the program and its heap are compared with what they
//! were before the previous operation. One thread runs at a time, so the running thread made every
//! change. If it did not report a write there, the search does not see that write, and proves
//! nothing. What this misses: writes that leave the same value, unreported reads, and everything on
//! stacks and in thread-local variables.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::Site;

use crate::global::Global;
use crate::protocol::AUDIT;
use crate::{control, fiber, memory, modules, objects};

/// The most bytes of variables and heap; larger programs are not audited.
const LARGEST: usize = 1 << 20;
/// The most bytes that are compared in one execution.
const BUDGET: usize = 24 << 20;
/// Reported writes that are kept between two operations; after more, that stretch is not audited.
const REPORTED: usize = 1 << 12;
/// The most places that are reported in one execution.
const TOLD: usize = 4;

static ON: AtomicBool = AtomicBool::new(false);

/// The previous contents of memory, and which writes were reported since.
struct Ledger {
    /// Areas by their first address, with what was in them.
    known: BTreeMap<usize, Vec<u8>>,
    /// Blocks that hold stacks of the program's own making.
    stacks: BTreeSet<usize>,
    reported: Vec<(usize, usize)>,
    overflowed: bool,
    budget: usize,
    told: usize,
}

static LEDGER: Global<Ledger> = Global::new(Ledger {
    known: BTreeMap::new(),
    stacks: BTreeSet::new(),
    reported: Vec::new(),
    overflowed: false,
    budget: 0,
    told: 0,
});

/// Begins an execution, which is audited if that is `wanted`.
pub(crate) fn begin(wanted: bool) {
    ON.store(wanted && memory::is_instrumented(), Ordering::Relaxed);
    LEDGER.with(|ledger| {
        ledger.known.clear();
        ledger.stacks.clear();
        ledger.reported.clear();
        (ledger.overflowed, ledger.budget, ledger.told) = (false, BUDGET, 0);
    });
}

/// Stops before the process ends: code that compilers run at exit writes to variables of its own.
pub(crate) fn stop() {
    ON.store(false, Ordering::Relaxed);
}

#[inline(always)]
fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The running thread reports that it writes these bytes.
#[inline(always)]
pub(crate) fn reported(address: usize, size: usize) {
    if is_on() {
        note(address, size);
    }
}

/// The program itself writes these bytes. Overwriting a lock or the like that is in use makes a new
/// object of it without a step, which is reported.
#[inline(always)]
pub(crate) fn written(address: u64, size: u64, site: Site) {
    if is_on() {
        let (start, end) = (address as usize, address.saturating_add(size) as usize);
        if let Some(place) = objects::in_use(start, end) {
            let text = "which is in use, is overwritten at";
            control::uncontrolled(&format!("{AUDIT}{{address:{place:#x}}}, {text} {{site:{:#x}}}", site.0));
        }
        note(start, end - start);
    }
}

#[cold]
fn note(address: usize, size: usize) {
    let end = address.saturating_add(size);
    LEDGER.with(|ledger| {
        // Loops often write one place, or the next.
        if let Some(last) = ledger.reported.last_mut()
            && (last.0..=last.1).contains(&address)
        {
            last.1 = last.1.max(end);
        } else if ledger.reported.len() == REPORTED {
            ledger.overflowed = true;
        } else {
            ledger.reported.push((address, end));
        }
    });
}

/// A new block was allocated here, so what was there before does not matter.
pub(crate) fn renewed(address: u64) {
    if is_on() {
        LEDGER.with(|ledger| {
            ledger.known.remove(&(address as usize));
        });
    }
}

/// Compares before an operation at `site`. A thread that is alone does not report its writes, so
/// comparing begins with the second thread.
pub(crate) fn before_step(site: Site) {
    if is_on() && memory::threaded() {
        compare(site);
    }
}

#[cold]
fn compare(site: Site) {
    let mut areas: Vec<(usize, usize)> = Vec::new();
    modules::each_variable(|start, end| areas.push((start, end)));
    memory::each_block(|start, end| areas.push((start, end)));
    let size: usize = areas.iter().map(|(start, end)| end - start).sum();
    let stack = fiber::stack_pointer();
    let changed = LEDGER.with(|ledger| {
        ledger.budget = ledger.budget.saturating_sub(size);
        if size > LARGEST || ledger.budget == 0 {
            ON.store(false, Ordering::Relaxed);
            return Vec::new();
        }
        if let Some(&(start, _)) = areas.iter().find(|(start, end)| (*start..*end).contains(&stack)) {
            ledger.stacks.insert(start);
        }
        let mut changed = Vec::new();
        for &(start, end) in areas.iter().filter(|(start, _)| !ledger.stacks.contains(start)) {
            // SAFETY: variables of a module that is loaded, or a live block.
            let now = unsafe { core::slice::from_raw_parts(start as *const u8, end - start) };
            match ledger.known.get_mut(&start) {
                Some(before) if before.len() == now.len() => {
                    let first = difference(before, now, |at| {
                        let address = start + at;
                        !ledger.overflowed
                            && !ledger.reported.iter().any(|(from, to)| (*from..*to).contains(&address))
                    });
                    changed.extend(first.map(|at| start + at));
                }
                _ => {
                    ledger.known.insert(start, now.to_vec());
                }
            }
        }
        ledger.reported.clear();
        ledger.overflowed = false;
        let room = TOLD.saturating_sub(ledger.told);
        changed.truncate(room);
        ledger.told += changed.len();
        changed
    });
    for address in changed {
        let place = memory::name_place(address as u64).unwrap_or_else(|| format!("{{address:{address:#x}}}"));
        let before = if site.0 == 0 { String::new() } else { format!(" before {{site:{:#x}}}", site.0) };
        control::uncontrolled(&format!("{AUDIT}a write to {place}{before} is not visible"));
    }
}

/// Copies `now` to `before`. Returns the first byte that differed and for which `counts` holds.
fn difference(before: &mut [u8], now: &[u8], counts: impl Fn(usize) -> bool) -> Option<usize> {
    const WORD: usize = 8;
    let mut first = None;
    let word = |bytes: &[u8]| bytes.first_chunk::<WORD>().map(|bytes| u64::from_ne_bytes(*bytes));
    for (number, (old, new)) in before.chunks_mut(WORD).zip(now.chunks(WORD)).enumerate() {
        // A shorter chunk at the end is compared byte by byte below.
        if word(old).is_some() && word(old) == word(new) {
            continue;
        }
        let differs = (0..old.len()).filter(|&at| old[at] != new[at]).map(|at| number * WORD + at);
        first = first.or_else(|| differs.into_iter().find(|&at| counts(at)));
        old.copy_from_slice(new);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_once_unless_reported() {
        let mut before = [0u8; 21];
        let mut now = before;
        assert_eq!(difference(&mut before, &now, |_| true), None);
        now[9] = 1;
        now[20] = 2;
        assert_eq!(difference(&mut before, &now, |at| at != 9), Some(20));
        assert_eq!(before, now);
        assert_eq!(difference(&mut before, &now, |_| true), None);
        now[9] = 3;
        assert_eq!(difference(&mut before, &now, |at| at != 9), None);
    }
}
