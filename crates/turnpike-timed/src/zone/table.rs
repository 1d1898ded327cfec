//! Interned zones: every zone of a stored state is kept once, and shared by all threads.
//!
//! Zones are distributed over shards by their hash. The index of a shard is behind a lock, held for
//! one lookup; its zones are read without a lock.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnpike_model::IdTable;

use super::Dbm;
use super::pack::{self, Demands, Packer, Shape, Sums};

/// A zone's shard is given by the lowest bits of its number, and of its hash (whose lowest bits the
/// index ignores).
const SHARD_BITS: u32 = 4;

/// An interned zone. Numbers depend on the order of insertion: no decision may depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZoneId(pub u32);

/// All interned zones of a model.
#[derive(Debug)]
pub struct Zones {
    shards: Box<[Shard]>,
}

#[derive(Debug, Default)]
struct Shard {
    index: Mutex<Index>,
    zones: boxcar::Vec<Kept>,
}

#[derive(Debug, Default)]
struct Index {
    ids: IdTable,
    /// Total bytes of packed entries.
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    hash: u64,
    shape: Shape,
    /// Sums distinguish most zones that do not include each other, and are cheaper to reach than
    /// the entries.
    sums: Sums,
    data: Box<[i16]>,
}

impl Kept {
    fn packed(&self) -> (Shape, &[i16]) {
        (self.shape, &self.data)
    }

    #[inline]
    fn includes(&self, other: &Kept) -> bool {
        not_less(self.sums, other.sums) && pack::includes(self.packed(), other.packed())
    }
}

/// Whether no sum of one is less than that of the other, by the sign of their difference.
#[inline]
fn not_less(one: Sums, other: Sums) -> bool {
    one.iter().zip(other).fold(0, |signs, (a, b)| signs | a.wrapping_sub(b)) >= 0
}

/// A thread's cache for comparing lists of zones.
#[derive(Debug, Default)]
pub struct Near {
    /// Sums by zone number; the first is [`UNKNOWN`] if not loaded.
    sums: Vec<Sums>,
    /// By zone number, the lower limits on zones that simulate it.
    demanded: Vec<Demanded>,
    demands: Demands,
}

/// The lower limits on zones that simulate a given one.
#[derive(Clone, Debug)]
struct Demanded {
    /// The number of the bounds for which they were computed.
    bounds: u64,
    shape: Shape,
    entries: Box<[i16]>,
}

impl Demanded {
    #[inline]
    fn met_by(&self, bigger: &Kept) -> bool {
        pack::includes(bigger.packed(), (self.shape, &self.entries))
    }
}

/// Smaller than any sum.
const UNKNOWN: i32 = i32::MIN;

/// Marks the absence of bounds.
const NO_BOUNDS: u64 = u64::MAX;

/// Bounds by row, see [`Dbm::simulates`].
#[derive(Clone, Copy, Debug)]
pub struct RowBounds<'a> {
    /// Constants of lower bounds.
    pub lower: &'a [i32],
    /// Constants of upper bounds.
    pub upper: &'a [i32],
    /// Identifies the bounds: equal numbers mean equal bounds.
    pub number: u64,
}

impl Near {
    #[inline]
    fn sums(&mut self, zones: &Zones, zone: u32) -> Sums {
        match self.sums.get(zone as usize) {
            Some(&sums) if sums[0] != UNKNOWN => sums,
            _ => self.fetch(zones, zone),
        }
    }

    #[cold]
    fn fetch(&mut self, zones: &Zones, zone: u32) -> Sums {
        let at = zone as usize;
        if self.sums.len() <= at {
            self.sums.resize(at + 1, [UNKNOWN; 4]);
        }
        self.sums[at] = zones.kept(ZoneId(zone)).sums;
        self.sums[at]
    }

    /// The lower limits on zones that simulate this one.
    #[inline]
    fn demanded(&mut self, zones: &Zones, zone: u32, bounds: RowBounds<'_>) -> &Demanded {
        let at = zone as usize;
        if self.demanded.get(at).is_none_or(|demanded| demanded.bounds != bounds.number) {
            self.demand(zones, zone, bounds);
        }
        &self.demanded[at]
    }

    #[cold]
    fn demand(&mut self, zones: &Zones, zone: u32, bounds: RowBounds<'_>) {
        let (at, kept) = (zone as usize, zones.kept(ZoneId(zone)));
        if self.demanded.len() <= at {
            let unknown = Demanded { bounds: NO_BOUNDS, shape: Shape::default(), entries: Box::default() };
            self.demanded.resize(at + 1, unknown);
        }
        let demanded = &mut self.demanded[at];
        (demanded.bounds, demanded.shape) = (bounds.number, kept.shape);
        let entries = self.demands.of(kept.packed(), bounds.lower, bounds.upper);
        if demanded.entries.len() == entries.len() {
            demanded.entries.copy_from_slice(entries);
        } else {
            demanded.entries = entries.into();
        }
    }
}

thread_local! {
    /// A buffer for packing zones before looking them up.
    static PACKER: RefCell<Packer> = RefCell::default();
}

/// Packs a zone for the duration of a call.
fn with_packed<T>(zone: &Dbm, run: impl FnOnce(Shape, &[i16]) -> T) -> T {
    PACKER.with_borrow_mut(|packer| {
        let (shape, data) = packer.pack(zone);
        run(shape, data)
    })
}

impl Default for Zones {
    fn default() -> Self {
        Zones { shards: (0..1 << SHARD_BITS).map(|_| Shard::default()).collect() }
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Index> {
        // A panic cannot leave the index in a harmful state: the search ends with it.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dbm {
    /// A hash of the zone's content, equal to [`Zones::hash`] and the same in every run and on
    /// every machine.
    pub fn content_hash(&self) -> u64 {
        with_packed(self, |_, data| pack::hash(data))
    }
}

impl Zones {
    /// Interns a zone: equal zones get equal numbers.
    ///
    /// # Panics
    ///
    /// If there are more zones than numbers, which would need more memory than machines have.
    pub fn keep(&self, zone: &Dbm) -> ZoneId {
        with_packed(zone, |shape, data| {
            let hash = pack::hash(data);
            let number = hash as u32 & ((1 << SHARD_BITS) - 1);
            let shard = &self.shards[number as usize];
            let mut index = shard.lock();
            let same = |id: u32| {
                let kept = &shard.zones[id as usize];
                kept.hash == hash && kept.shape == shape && *kept.data == *data
            };
            let (id, new) = index.ids.find_or_insert(hash, same, |id| shard.zones[id as usize].hash);
            if new {
                assert!(id < 1 << (u32::BITS - SHARD_BITS), "more zones than numbers for them");
                let sums = pack::sums((shape, data));
                shard.zones.push(Kept { hash, shape, sums, data: data.into() });
                index.bytes += size_of_val(data);
            }
            ZoneId(id << SHARD_BITS | number)
        })
    }

    fn kept(&self, id: ZoneId) -> &Kept {
        &self.shards[id.0 as usize & ((1 << SHARD_BITS) - 1)].zones[(id.0 >> SHARD_BITS) as usize]
    }

    /// Unpacks an interned zone.
    pub fn load(&self, id: ZoneId, out: &mut Dbm) {
        pack::unpack(self.kept(id).packed(), out);
    }

    /// A hash of the zone's content, the same in every run and on every machine.
    pub fn hash(&self, id: ZoneId) -> u64 {
        self.kept(id).hash
    }

    /// Number of rows of an interned zone, including the constant zero.
    pub fn dimension(&self, id: ZoneId) -> usize {
        self.kept(id).shape.dimension()
    }

    /// Whether an interned zone includes another zone, without unpacking it.
    pub fn includes(&self, bigger: ZoneId, smaller: &Dbm) -> bool {
        with_packed(smaller, |shape, data| pack::includes(self.kept(bigger).packed(), (shape, data)))
    }

    /// Whether an interned zone includes another one.
    pub fn covers(&self, bigger: ZoneId, smaller: ZoneId) -> bool {
        bigger == smaller || self.kept(bigger).includes(self.kept(smaller))
    }

    /// The position of the first interned zone in `others` that includes another one.
    pub fn first_covering(&self, near: &mut Near, others: &[u32], smaller: ZoneId) -> Option<usize> {
        let zone = self.kept(smaller);
        let sums = zone.sums;
        self.first_where(
            near,
            others,
            smaller,
            |other| not_less(other, sums),
            |other| pack::includes(other.packed(), zone.packed()),
        )
    }

    /// The position of the first interned zone in `others` that another one includes.
    pub fn first_covered(&self, near: &mut Near, bigger: ZoneId, others: &[u32]) -> Option<usize> {
        let zone = self.kept(bigger);
        let sums = zone.sums;
        self.first_where(
            near,
            others,
            bigger,
            |other| not_less(sums, other),
            |other| pack::includes(zone.packed(), other.packed()),
        )
    }

    /// The position of the first interned zone that is `zone` itself, or whose sums and entries
    /// pass.
    #[inline]
    fn first_where(
        &self,
        near: &mut Near,
        others: &[u32],
        zone: ZoneId,
        sums_pass: impl Fn(Sums) -> bool,
        entries_pass: impl Fn(&Kept) -> bool,
    ) -> Option<usize> {
        let mut from = 0;
        loop {
            // Nearly all are rejected here, by cached sums.
            let known = near.sums.as_slice();
            let next = others[from..].iter().position(|&other| {
                let sums = known.get(other as usize);
                other == zone.0 || sums.is_none_or(|&sums| sums[0] == UNKNOWN || sums_pass(sums))
            });
            let at = from + next?;
            let other = others[at];
            if other == zone.0 || sums_pass(near.sums(self, other)) && entries_pass(self.kept(ZoneId(other)))
            {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// The position of the first interned zone that simulates another one, see [`Dbm::simulates`].
    pub fn first_simulating(
        &self,
        near: &mut Near,
        others: &[u32],
        smaller: ZoneId,
        bounds: RowBounds<'_>,
    ) -> Option<usize> {
        let zone = self.kept(smaller);
        let demanded = near.demanded(self, smaller.0, bounds);
        others.iter().position(|&other| {
            if other == smaller.0 {
                return true;
            }
            let bigger = self.kept(ZoneId(other));
            if bigger.shape != zone.shape {
                return pack::simulates(bigger.packed(), zone.packed(), bounds.lower, bounds.upper);
            }
            demanded.met_by(bigger)
        })
    }

    /// The position of the first interned zone that another one simulates.
    pub fn first_simulated(
        &self,
        near: &mut Near,
        bigger: ZoneId,
        others: &[u32],
        bounds: RowBounds<'_>,
    ) -> Option<usize> {
        let zone = self.kept(bigger);
        others.iter().position(|&other| {
            if other == bigger.0 {
                return true;
            }
            let demanded = near.demanded(self, other, bounds);
            if demanded.shape == zone.shape {
                return demanded.met_by(zone);
            }
            let smaller = self.kept(ZoneId(other));
            pack::simulates(zone.packed(), smaller.packed(), bounds.lower, bounds.upper)
        })
    }

    /// Whether an interned zone simulates another zone, see [`Dbm::simulates`].
    pub fn simulates(&self, bigger: ZoneId, smaller: &Dbm, lower: &[i32], upper: &[i32]) -> bool {
        with_packed(smaller, |shape, data| {
            pack::simulates(self.kept(bigger).packed(), (shape, data), lower, upper)
        })
    }

    /// Whether an interned zone simulates another one, see [`Dbm::simulates`].
    pub fn covers_simulated(&self, bigger: ZoneId, smaller: ZoneId, lower: &[i32], upper: &[i32]) -> bool {
        bigger == smaller
            || pack::simulates(self.kept(bigger).packed(), self.kept(smaller).packed(), lower, upper)
    }

    /// Number of interned zones.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().ids.len()).sum()
    }

    /// Whether no zone is interned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        let held = |shard: &Shard| {
            let index = shard.lock();
            index.ids.bytes() + index.bytes + index.ids.len() * (size_of::<Kept>() + size_of::<usize>())
        };
        self.shards.iter().map(held).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::oracle::{clock_bounds, zone};
    use super::super::{Bound, Origin};
    use super::*;

    /// The same zone with all clocks shifted, so that some entries no longer fit 16 bits.
    fn shifted(zone: &Dbm, offset: i32) -> Dbm {
        let origins: Vec<Origin> = (1..zone.dimension() as u32).map(|row| Origin { row, offset }).collect();
        let mut shifted = Dbm::default();
        shifted.gather(zone, &origins);
        shifted
    }

    proptest! {
        #[test]
        fn kept_zones_are_what_they_were(
            (list, lower, upper) in prop_oneof![4 => 1..7usize, 1 => 7..20usize].prop_flat_map(|n| {
                (prop::collection::vec(zone(n), 1..8), clock_bounds(n), clock_bounds(n))
            }),
            offset in prop_oneof![Just(0), 16_370..16_400i32, Just(1 << 25)],
        ) {
            let list: Vec<Dbm> = list.iter().flat_map(|zone| [zone.clone(), shifted(zone, offset)]).collect();
            let table = Zones::default();
            let ids: Vec<ZoneId> = list.iter().map(|zone| table.keep(zone)).collect();
            let numbers: Vec<u32> = ids.iter().map(|id| id.0).collect();
            let mut near = Near::default();
            let mut out = Dbm::zero(3);
            for (zone, &id) in list.iter().zip(&ids) {
                table.load(id, &mut out);
                prop_assert_eq!(&out, zone);
                prop_assert_eq!(table.keep(zone), id);
                prop_assert_eq!(table.dimension(id), zone.dimension());
                prop_assert_eq!(table.hash(id), zone.content_hash());
                for (other, &other_id) in list.iter().zip(&ids) {
                    prop_assert_eq!(id == other_id, zone == other);
                    prop_assert_eq!(table.hash(id) == table.hash(other_id), zone == other);
                    let includes = zone.includes(other);
                    prop_assert_eq!(table.includes(id, other), includes);
                    prop_assert_eq!(table.covers(id, other_id), includes);
                    let first = list.iter().position(|zone| zone.includes(other));
                    prop_assert_eq!(table.first_covering(&mut near, &numbers, other_id), first);
                    let first = list.iter().position(|zone| other.includes(zone));
                    prop_assert_eq!(table.first_covered(&mut near, other_id, &numbers), first);
                    let simulates = zone.simulates(other, &lower, &upper);
                    prop_assert_eq!(table.simulates(id, other, &lower, &upper), simulates);
                    prop_assert_eq!(table.covers_simulated(id, other_id, &lower, &upper), simulates);
                    let bounds = RowBounds { lower: &lower, upper: &upper, number: 7 };
                    let found = table.first_simulating(&mut near, &[id.0], other_id, bounds);
                    prop_assert_eq!(found.is_some(), simulates);
                    let found = table.first_simulated(&mut near, id, &[other_id.0], bounds);
                    prop_assert_eq!(found.is_some(), simulates);
                }
            }
            let mut distinct: Vec<&Dbm> = Vec::new();
            list.iter().for_each(|zone| if !distinct.contains(&zone) { distinct.push(zone) });
            prop_assert_eq!(table.len(), distinct.len());
        }
    }

    #[test]
    fn zones_of_different_dimensions_have_nothing_to_do_with_each_other() {
        let table = Zones::default();
        assert!(table.is_empty());
        let ids = [1, 2, 3, 4].map(|n| table.keep(&Dbm::zero(n)));
        for (i, &first) in ids.iter().enumerate() {
            for (j, &second) in ids.iter().enumerate() {
                assert_eq!(table.covers(first, second), i == j);
                assert_eq!(table.covers_simulated(first, second, &[0, 0, 0][..i], &[0, 0, 0][..i]), i == j);
            }
        }
        assert_eq!(table.len(), 4);
        assert!(table.bytes() > 4 * size_of::<Kept>());
    }

    #[test]
    fn threads_agree_on_numbers() {
        let table = Zones::default();
        let zones: Vec<Dbm> = (0..2000)
            .map(|c| {
                let mut zone = Dbm::universe(4);
                assert!(zone.conjoin(1 + c % 3, 0, Bound::weak(c as i32 / 2)));
                zone
            })
            .collect();
        let keep = || zones.iter().map(|zone| table.keep(zone)).collect::<Vec<_>>();
        let lists = std::thread::scope(|scope| {
            [0; 4].map(|_| scope.spawn(keep)).map(|thread| thread.join().expect("no panic"))
        });
        assert!(lists.iter().all(|list| *list == lists[0]));
        let mut out = Dbm::default();
        for (zone, &id) in zones.iter().zip(&lists[0]) {
            table.load(id, &mut out);
            assert_eq!(&out, zone);
        }
        assert_eq!(table.len(), 2000);
    }

    #[test]
    fn hashes_are_pinned() {
        // Golden: traces and seeds depend on them, so a change needs a changelog entry.
        let table = Zones::default();
        let mut zone = Dbm::zero(3);
        zone.up();
        assert_eq!(table.hash(table.keep(&zone)), pack::hash(&[1, 1, i16::MAX, 1, i16::MAX, 1]));
        assert_eq!(pack::hash(&[1, -2]), turnpike_model::hash::bytes(&[1, 0, 254, 255]));
    }
}
