//! Zones as they are kept: 16 bits an entry whenever all of them fit, and without the diagonal, which is known.
//!
//! A row of `n` entries becomes `n - 1`: the last takes the place of the diagonal. Infinity is the largest number, so that packed entries compare like
//! bounds, and two packed zones of the same shape compare entry by entry whatever the order of entries.

use std::cell::RefCell;

use turnpike_model::hash;

use super::dbm::{FINITE, INFINITE};
use super::inclusion::{escapes, lower_bounds, with_thresholds};
use super::{Bound, Dbm, NO_BOUND};

const NARROW_INFINITE: i16 = i16::MAX;

/// Dimension and width of a packed zone. One dimension and width, one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Shape(u32);

impl Shape {
    pub(super) fn dimension(self) -> usize {
        self.0 as usize / 2
    }

    /// Whether an entry takes two numbers, the lower half first.
    pub(super) fn is_wide(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Packs a zone into a buffer.
pub(super) fn pack(zone: &Dbm, out: &mut Vec<i16>) -> Shape {
    let n = zone.dimension;
    out.resize(n * (n - 1), 0);
    let mut fits = true;
    if n > 1 {
        for ((i, row), packed) in zone.rows().enumerate().zip(out.chunks_exact_mut(n - 1)) {
            fits &= narrow_row(&row[..n], i, packed);
        }
    }
    if fits {
        return Shape(2 * n as u32);
    }
    out.clear();
    for (i, row) in zone.rows().enumerate() {
        for j in 0..n - 1 {
            let entry = if j == i { row[n - 1] } else { row[j] };
            out.extend([entry as i16, (entry >> 16) as i16]);
        }
    }
    Shape(2 * n as u32 + 1)
}

/// Packs a row; false if an entry does not fit.
#[inline]
fn narrow_row(row: &[i32], i: usize, packed: &mut [i16]) -> bool {
    let last = row.len() - 1;
    let mut lost = 0;
    let narrow = |entry: i32| entry.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    for (packed, &entry) in packed.iter_mut().zip(row) {
        *packed = narrow(entry);
        lost |= if entry == INFINITE { 0 } else { entry ^ i32::from(*packed) };
        lost |= i32::from((*packed == NARROW_INFINITE) & (entry != INFINITE));
    }
    let entry = row[last];
    if let Some(diagonal) = packed.get_mut(i) {
        *diagonal = narrow(entry);
        lost |= if entry == INFINITE { 0 } else { entry ^ i32::from(*diagonal) };
        lost |= i32::from((*diagonal == NARROW_INFINITE) & (entry != INFINITE));
    }
    lost == 0
}

/// The bound that a packed number stands for.
#[inline]
fn widen(packed: i16) -> i32 {
    if packed == NARROW_INFINITE { INFINITE } else { i32::from(packed) }
}

/// The entries of a packed zone with wide entries.
fn wide(data: &[i16]) -> impl Iterator<Item = i32> {
    data.as_chunks::<2>().0.iter().map(|&[low, high]| i32::from(high) << 16 | i32::from(low as u16))
}

/// Unpacks a zone.
pub(super) fn unpack(shape: Shape, data: &[i16], out: &mut Dbm) {
    let n = shape.dimension();
    out.reshape(n);
    out.largest = if shape.is_wide() { FINITE } else { 1 << 15 };
    if n == 1 {
        out.entries[0] = Bound::ZERO.0;
        return;
    }
    let stride = out.stride;
    let width = if shape.is_wide() { 2 * (n - 1) } else { n - 1 };
    let rows = out.entries.chunks_exact_mut(stride).enumerate();
    for ((i, row), packed) in rows.zip(data.chunks_exact(width)) {
        if shape.is_wide() {
            row.iter_mut().zip(wide(packed)).for_each(|(entry, packed)| *entry = packed);
        } else {
            row.iter_mut().zip(packed).for_each(|(entry, &packed)| *entry = widen(packed));
        }
        // In the last row the diagonal was left out where it stands.
        row[n - 1] = row[i];
        row[i] = Bound::ZERO.0;
    }
}

/// Whether one packed zone includes another.
pub(super) fn includes(bigger: (Shape, &[i16]), smaller: (Shape, &[i16])) -> bool {
    let same = bigger.0.dimension() == smaller.0.dimension();
    let all = match (bigger.0.is_wide(), smaller.0.is_wide()) {
        (false, false) => return same && includes_narrow(bigger.1, smaller.1),
        (false, true) => bigger.1.iter().zip(wide(smaller.1)).all(|(&b, s)| widen(b) >= s),
        (true, false) => wide(bigger.1).zip(smaller.1).all(|(b, &s)| b >= widen(s)),
        (true, true) => wide(bigger.1).zip(wide(smaller.1)).all(|(b, s)| b >= s),
    };
    same && all
}

#[inline]
fn includes_narrow(bigger: &[i16], smaller: &[i16]) -> bool {
    // A few vectors at a time, so that most failures are seen early.
    let (bigger_blocks, bigger_rest) = bigger.as_chunks::<32>();
    let (smaller_blocks, smaller_rest) = smaller.as_chunks::<32>();
    for (bigger, smaller) in bigger_blocks.iter().zip(smaller_blocks) {
        let mut less = 0;
        for lane in 0..32 {
            less |= i16::from(bigger[lane] < smaller[lane]);
        }
        if less != 0 {
            return false;
        }
    }
    bigger_rest.iter().zip(smaller_rest).fold(0, |less, (b, s)| less | i16::from(b < s)) == 0
}

/// Whether one packed zone simulates another; see [`Dbm::simulates`].
pub(super) fn simulates(
    bigger: (Shape, &[i16]),
    smaller: (Shape, &[i16]),
    lower: &[i32],
    upper: &[i32],
) -> bool {
    let n = bigger.0.dimension();
    if n != smaller.0.dimension() {
        return false;
    }
    if n == 1 {
        return true;
    }
    FIRST.with_borrow_mut(|least| {
        // Row 0, with the last entry moved back from the diagonal.
        least.clear();
        match smaller.0.is_wide() {
            false => least.extend(smaller.1[..n - 1].iter().map(|&entry| widen(entry))),
            true => least.extend(wide(&smaller.1[..2 * (n - 1)])),
        }
        least.push(least[0]);
        with_thresholds(least, upper, |thresholds| match (bigger.0.is_wide(), smaller.0.is_wide()) {
            (false, false) => {
                simulates_rows(narrow_rows(bigger.1, n), narrow_rows(smaller.1, n), thresholds, lower)
            }
            (false, true) => {
                simulates_rows(narrow_rows(bigger.1, n), wide_rows(smaller.1, n), thresholds, lower)
            }
            (true, false) => {
                simulates_rows(wide_rows(bigger.1, n), narrow_rows(smaller.1, n), thresholds, lower)
            }
            (true, true) => {
                simulates_rows(wide_rows(bigger.1, n), wide_rows(smaller.1, n), thresholds, lower)
            }
        })
    })
}

thread_local! {
    /// Row 0 of the smaller zone of a test under way.
    static FIRST: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

fn narrow_rows(data: &[i16], n: usize) -> impl Iterator<Item = impl Iterator<Item = i32>> {
    data.chunks_exact(n - 1).map(|row| row.iter().map(|&entry| widen(entry)))
}

fn wide_rows(data: &[i16], n: usize) -> impl Iterator<Item = impl Iterator<Item = i32>> {
    data.chunks_exact(2 * (n - 1)).map(wide)
}

#[inline]
fn simulates_rows(
    bigger: impl Iterator<Item = impl Iterator<Item = i32>>,
    smaller: impl Iterator<Item = impl Iterator<Item = i32>>,
    thresholds: &mut [i32],
    lower: &[i32],
) -> bool {
    let last = thresholds.len() - 1;
    !bigger.zip(smaller).zip(lower_bounds(lower)).enumerate().any(|(y, ((bigger, smaller), lower))| {
        // The last entry stands where the diagonal would.
        thresholds.swap(y, last);
        let found = lower != NO_BOUND && escapes(bigger, smaller, thresholds, lower);
        thresholds.swap(y, last);
        found
    })
}

/// A hash of packed entries that is the same on every machine.
pub(super) fn hash(data: &[i16]) -> u64 {
    if cfg!(target_endian = "little") {
        hash::bytes(bytemuck::cast_slice(data))
    } else {
        let bytes: Vec<u8> = data.iter().flat_map(|number| number.to_le_bytes()).collect();
        hash::bytes(&bytes)
    }
}
