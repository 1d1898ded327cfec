//! Packed zones as they are stored: 16 bits per entry if all entries fit, without the diagonal.
//!
//! A row of `n` entries becomes `n - 1`: the last entry takes the place of the diagonal. Infinity
//! is the largest number, so packed entries compare like bounds, and two packed zones of the same
//! shape can be compared entry by entry in any order.

use std::cell::RefCell;

use turnpike_model::hash;

use super::dbm::{FINITE, INFINITE};
use super::inclusion::{escapes, lower_bounds, thresholds, with_thresholds};
use super::lanes::LANES;
use super::{Bound, Dbm, NO_BOUND};

const NARROW_INFINITE: i16 = i16::MAX;

/// Dimension and width of a packed zone, which determine its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Shape(u32);

impl Shape {
    pub(super) fn dimension(self) -> usize {
        self.0 as usize / 2
    }

    /// Whether an entry takes two numbers, low half first.
    pub(super) fn is_wide(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Sums saturate here, so that their differences do not overflow.
const MOST: i64 = 1 << 30;

/// Partial sums of entries, saturated. The sums of a zone are at least those of every zone that it
/// includes.
pub(super) type Sums = [i32; 4];

/// Sums of every fourth entry.
pub(super) fn sums((shape, data): (Shape, &[i16])) -> Sums {
    let mut sums = [0; 4];
    // The same limits for every width, or sums of different widths could not be compared.
    let mut add = |at: usize, entry: i32| {
        sums[at % 4] += i64::from(entry.clamp(i32::from(i16::MIN), i32::from(NARROW_INFINITE)));
    };
    if shape.is_wide() {
        wide(data).enumerate().for_each(|(at, entry)| add(at, entry));
    } else {
        data.iter().enumerate().for_each(|(at, &entry)| add(at, i32::from(entry)));
    }
    sums.map(|sum: i64| sum.clamp(-MOST, MOST) as i32)
}

/// A reusable buffer for packed zones.
#[derive(Debug, Default)]
pub(super) struct Packer {
    flat: Vec<i32>,
    packed: Vec<i16>,
}

impl Packer {
    /// Packs a zone.
    pub(super) fn pack(&mut self, zone: &Dbm) -> (Shape, &[i16]) {
        let n = zone.dimension;
        match zone.width {
            1 => flatten(zone, 1, &mut self.flat),
            2 => flatten(zone, 2, &mut self.flat),
            3 => flatten(zone, 3, &mut self.flat),
            4 => flatten(zone, 4, &mut self.flat),
            width => flatten(zone, width, &mut self.flat),
        }
        let flat = &self.flat[..n * (n - 1)];
        if narrow(flat, &mut self.packed) {
            return (Shape(2 * n as u32), &self.packed);
        }
        self.packed.clear();
        self.packed.extend(flat.iter().flat_map(|&entry| [entry as i16, (entry >> 16) as i16]));
        (Shape(2 * n as u32 + 1), &self.packed)
    }
}

/// Copies the entries without the diagonal, with padding after the last.
#[inline(always)]
fn flatten(zone: &Dbm, width: usize, flat: &mut Vec<i32>) {
    let n = zone.dimension;
    let length = n * (n - 1) + width * LANES;
    if flat.len() != length {
        flat.resize(length, 0);
    }
    for i in 0..n {
        let row = zone.entries[i * width..][..width].as_flattened();
        // The next row overwrites the surplus.
        let target = &mut flat[i * (n - 1)..][..width * LANES];
        target.copy_from_slice(row);
        target[i] = row[n - 1];
    }
}

/// Packs entries into 16 bits; false if one does not fit.
fn narrow(flat: &[i32], packed: &mut Vec<i16>) -> bool {
    if packed.len() != flat.len() {
        packed.resize(flat.len(), 0);
    }
    let mut lost = 0;
    for (packed, &entry) in packed.iter_mut().zip(flat) {
        let narrow = entry.clamp(i32::from(i16::MIN), i32::from(NARROW_INFINITE));
        *packed = narrow as i16;
        // Only infinity may be packed as infinity.
        let back = if narrow == i32::from(NARROW_INFINITE) { INFINITE } else { narrow };
        lost |= entry ^ back;
    }
    lost == 0
}

/// Decodes a packed entry.
#[inline(always)]
fn widen(packed: i16) -> i32 {
    if packed == NARROW_INFINITE { INFINITE } else { i32::from(packed) }
}

/// The entries of a packed zone with wide entries.
fn wide(data: &[i16]) -> impl Iterator<Item = i32> {
    data.as_chunks::<2>().0.iter().map(|&[low, high]| i32::from(high) << 16 | i32::from(low as u16))
}

/// Unpacks entries, and leaves room for `room` more.
fn widen_all((shape, data): (Shape, &[i16]), room: usize, flat: &mut Vec<i32>) {
    let n = shape.dimension();
    let length = n * (n - 1) + room;
    if flat.len() != length {
        flat.resize(length, 0);
    }
    if shape.is_wide() {
        flat.iter_mut().zip(wide(data)).for_each(|(entry, packed)| *entry = packed);
    } else {
        flat.iter_mut().zip(data).for_each(|(entry, &packed)| *entry = widen(packed));
    }
}

/// Unpacks a zone.
pub(super) fn unpack(packed: (Shape, &[i16]), out: &mut Dbm) {
    out.reshape(packed.0.dimension());
    out.largest = if packed.0.is_wide() { FINITE } else { 1 << 15 };
    widen_all(packed, out.stride(), &mut out.scratch.flat);
    match out.width {
        1 => unflatten(out, 1),
        2 => unflatten(out, 2),
        3 => unflatten(out, 3),
        4 => unflatten(out, 4),
        width => unflatten(out, width),
    }
}

/// The inverse of [`flatten`].
#[inline(always)]
fn unflatten(out: &mut Dbm, width: usize) {
    let n = out.dimension;
    for i in 0..n {
        let row = out.entries[i * width..][..width].as_flattened_mut();
        let source = &out.scratch.flat[i * (n - 1)..][..width * LANES];
        row.copy_from_slice(source);
        row[n - 1] = source[i];
        row[n..].fill(INFINITE);
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

/// The same for narrow entries of equal number.
#[inline]
fn includes_narrow(bigger: &[i16], smaller: &[i16]) -> bool {
    // The remainder after whole vectors is covered by comparing the last vector again.
    if let (Some(bigger_last), Some(smaller_last)) = (bigger.last_chunk::<32>(), smaller.last_chunk::<32>()) {
        // A few vectors at a time, so that most failures are found early.
        let blocks = bigger.as_chunks::<32>().0.iter().zip(smaller.as_chunks::<32>().0);
        return blocks.into_iter().all(|(b, s)| none_less(b, s)) && none_less(bigger_last, smaller_last);
    }
    if let (Some(bigger_first), Some(smaller_first)) = (bigger.first_chunk::<16>(), smaller.first_chunk()) {
        let last = bigger.last_chunk::<16>().zip(smaller.last_chunk());
        return none_less(bigger_first, smaller_first) && last.is_some_and(|(b, s)| none_less(b, s));
    }
    if let (Some(bigger_first), Some(smaller_first)) = (bigger.first_chunk::<8>(), smaller.first_chunk()) {
        let last = bigger.last_chunk::<8>().zip(smaller.last_chunk());
        return none_less(bigger_first, smaller_first) && last.is_some_and(|(b, s)| none_less(b, s));
    }
    bigger.iter().zip(smaller).fold(0, |less, (b, s)| less | i16::from(b < s)) == 0
}

#[inline(always)]
fn none_less<const N: usize>(bigger: &[i16; N], smaller: &[i16; N]) -> bool {
    let mut less = 0;
    for lane in 0..N {
        less |= i16::from(bigger[lane] < smaller[lane]);
    }
    less == 0
}

thread_local! {
    /// The two zones being compared.
    static FLAT: RefCell<[Vec<i32>; 2]> = const { RefCell::new([const { Vec::new() }; 2]) };
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
    FLAT.with_borrow_mut(|[big, small]| {
        // Room for the last entry of row 0, which is in the place of the diagonal.
        widen_all(bigger, 1, big);
        widen_all(smaller, 1, small);
        let last = small[0];
        let least = |x: usize| if x == n - 1 { last } else { small[x] };
        with_thresholds((1..n).map(least), upper, |thresholds| {
            let rows = (0..n).map(|y| y * (n - 1)..(y + 1) * (n - 1));
            !rows.zip(lower_bounds(lower)).enumerate().any(|(y, (row, lower))| {
                thresholds.swap(y, n - 1);
                let found =
                    lower != NO_BOUND && escapes(&big[row.clone()], &small[row], &thresholds[..n - 1], lower);
                thresholds.swap(y, n - 1);
                found
            })
        })
    })
}

/// Lower limits on the entries of any packed zone that simulates a given one: simulation then
/// becomes a comparison like inclusion.
///
/// A row `y` proves that a valuation is not simulated if an entry `b` of the bigger zone is less
/// than the entry `s` of the smaller one, and `b` plus the lower bound of `y` is less than the
/// threshold `t` of the column, see [`escapes`]. Both bound such a `b` from above, so the limit is
/// the smaller of `s` and the value derived from `t`. Rows without lower bounds and columns without
/// thresholds impose no limit.
#[derive(Debug, Default)]
pub(super) struct Demands {
    flat: Vec<i32>,
    entries: Vec<i16>,
    columns: Vec<i32>,
}

impl Demands {
    /// The limits for simulating a zone, in packed form.
    pub(super) fn of(&mut self, (shape, data): (Shape, &[i16]), lower: &[i32], upper: &[i32]) -> &[i16] {
        let n = shape.dimension();
        let Demands { flat, entries, columns } = self;
        // Room for the last entry of row 0, which is in the place of the diagonal.
        widen_all((shape, data), 1, flat);
        columns.clear();
        columns.push(Bound::ZERO.0);
        let last = flat[0];
        let first = (1..n).map(|x| if x == n - 1 { last } else { flat[x] });
        columns.extend(thresholds(first, upper));
        let rows = flat.chunks_exact_mut((n - 1).max(1)).take(n);
        for ((y, row), lower) in rows.enumerate().zip(lower_bounds(lower)) {
            if lower == NO_BOUND {
                row.fill(i32::MIN);
                continue;
            }
            let added = Bound::strict(lower.clamp(-Bound::LIMIT, Bound::LIMIT)).0;
            // The last column takes the place of the diagonal.
            columns.swap(y, n - 1);
            for (entry, &threshold) in row.iter_mut().zip(&*columns) {
                // An even number and its odd successor encode the same constant with different
                // strictness.
                let most = threshold.saturating_add(added + 1) & !1;
                *entry = (*entry).min(most);
            }
            columns.swap(y, n - 1);
        }
        entries.clear();
        let flat = &flat[..n * (n - 1)];
        if shape.is_wide() {
            entries.extend(flat.iter().flat_map(|&entry| [entry as i16, (entry >> 16) as i16]));
        } else {
            let narrow = |&entry: &i32| entry.clamp(i32::from(i16::MIN), i32::from(NARROW_INFINITE)) as i16;
            entries.extend(flat.iter().map(narrow));
        }
        entries
    }
}

/// A hash of packed entries, the same on every machine.
pub(super) fn hash(data: &[i16]) -> u64 {
    if cfg!(target_endian = "little") {
        hash::bytes(bytemuck::cast_slice(data))
    } else {
        let bytes: Vec<u8> = data.iter().flat_map(|number| number.to_le_bytes()).collect();
        hash::bytes(&bytes)
    }
}
