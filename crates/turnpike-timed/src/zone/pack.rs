//! Zones as they are kept: 16 bits an entry whenever all of them fit, and without the diagonal, which is known.
//!
//! A row of `n` entries becomes `n - 1`: the last takes the place of the diagonal. Infinity is the largest number, so that packed entries compare like
//! bounds, and two packed zones of the same shape compare entry by entry whatever the order of entries.

use std::cell::RefCell;

use turnpike_model::hash;

use super::dbm::{FINITE, INFINITE};
use super::inclusion::{escapes, lower_bounds, with_thresholds};
use super::lanes::LANES;
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
    if out.len() != n * (n - 1) {
        out.resize(n * (n - 1), 0);
    }
    let fits = match zone.width {
        1 => pack_narrow(zone, 1, out),
        2 => pack_narrow(zone, 2, out),
        3 => pack_narrow(zone, 3, out),
        4 => pack_narrow(zone, 4, out),
        width => pack_narrow(zone, width, out),
    };
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

/// Packs an entry, and finds whether something is lost by that.
#[inline(always)]
fn narrow(entry: i32) -> (i16, i32) {
    let packed = entry.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    // Only infinity may look like infinity.
    let back = if packed == NARROW_INFINITE { INFINITE } else { i32::from(packed) };
    (packed, entry ^ back)
}

/// Packs all rows; false if an entry does not fit.
#[inline(always)]
fn pack_narrow(zone: &Dbm, width: usize, out: &mut [i16]) -> bool {
    let n = zone.dimension;
    let mut lost = [0; LANES];
    let mut rest = out;
    for i in 0..n {
        let row = &zone.entries[i * width..][..width];
        let Some((packed, after)) = rest.split_at_mut_checked(n - 1) else { break };
        rest = after;
        // The row has a last entry beyond these: all but one array are full for certain.
        let (arrays, singles) = packed.as_chunks_mut::<LANES>();
        for (array, lanes) in arrays.iter_mut().zip(row) {
            let lanes = *lanes;
            let mut new = [0; LANES];
            for lane in 0..LANES {
                let (packed, differs) = narrow(lanes[lane]);
                new[lane] = packed;
                lost[lane] |= differs;
            }
            *array = new;
        }
        let row = row.as_flattened();
        let from = row.len().min((n - 1) / LANES * LANES);
        for (single, &entry) in singles.iter_mut().zip(&row[from..]) {
            let (packed, differs) = narrow(entry);
            *single = packed;
            lost[0] |= differs;
        }
        // In the last row the diagonal is what was left out.
        if let Some(diagonal) = packed.get_mut(i) {
            let (packed, differs) = narrow(row[n - 1]);
            *diagonal = packed;
            lost[0] |= differs;
        }
    }
    lost == [0; LANES]
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
    if shape.is_wide() {
        out.largest = FINITE;
        for ((i, row), packed) in out.rows_mut().enumerate().zip(data.chunks_exact(2 * (n - 1))) {
            row.iter_mut().zip(wide(packed)).for_each(|(entry, packed)| *entry = packed);
            row[n - 1] = row[i];
            row[i] = Bound::ZERO.0;
        }
        return;
    }
    out.largest = 1 << 15;
    match out.width {
        1 => unpack_narrow(data, 1, out),
        2 => unpack_narrow(data, 2, out),
        3 => unpack_narrow(data, 3, out),
        4 => unpack_narrow(data, 4, out),
        width => unpack_narrow(data, width, out),
    }
}

#[inline(always)]
fn unpack_narrow(data: &[i16], width: usize, out: &mut Dbm) {
    let n = out.dimension;
    let mut rest = data;
    for i in 0..n {
        let row = &mut out.entries[i * width..][..width];
        let Some((packed, after)) = rest.split_at_checked(n - 1) else { break };
        rest = after;
        let (arrays, singles) = packed.as_chunks::<LANES>();
        for (array, lanes) in arrays.iter().zip(&mut *row) {
            let array = *array;
            let mut new = [0; LANES];
            for lane in 0..LANES {
                new[lane] = widen(array[lane]);
            }
            *lanes = new;
        }
        let row = row.as_flattened_mut();
        let from = row.len().min((n - 1) / LANES * LANES);
        for (&single, entry) in singles.iter().zip(&mut row[from..]) {
            *entry = widen(single);
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
