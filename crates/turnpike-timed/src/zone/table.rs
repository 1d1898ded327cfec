//! Zones by number: every zone that a state holds is kept once, and shared by all threads.
//!
//! Zones are spread over shards by their hash. A shard's index is behind a lock, held for one look-up; its zones are read without any.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnpike_model::IdTable;

use super::Dbm;
use super::pack::{self, Shape};

/// Shards are numbered by the lowest bits of a zone's number, and of its hash (which the index does not look at).
const SHARD_BITS: u32 = 4;

/// A kept zone. Numbers depend on the order of arrival: nothing that chooses may look at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZoneId(pub u32);

/// All kept zones of a model.
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
    /// Bytes of all packed entries.
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    hash: u64,
    shape: Shape,
    data: Box<[i16]>,
}

impl Kept {
    fn packed(&self) -> (Shape, &[i16]) {
        (self.shape, &self.data)
    }
}

thread_local! {
    /// Where zones are packed before it is known whether they are new.
    static PACKED: RefCell<Vec<i16>> = const { RefCell::new(Vec::new()) };
}

/// Packs a zone for the time of a call.
fn with_packed<T>(zone: &Dbm, run: impl FnOnce(Shape, &[i16]) -> T) -> T {
    PACKED.with_borrow_mut(|buffer| {
        let shape = pack::pack(zone, buffer);
        run(shape, buffer)
    })
}

impl Default for Zones {
    fn default() -> Self {
        Zones { shards: (0..1 << SHARD_BITS).map(|_| Shard::default()).collect() }
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Index> {
        // Nothing that a panic could interrupt leaves the index half changed in a way that matters: the search is over then.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Zones {
    /// Keeps a zone: equal zones, equal numbers.
    ///
    /// # Panics
    /// With more zones than numbers, which no machine has the memory for.
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
                shard.zones.push(Kept { hash, shape, data: data.into() });
                index.bytes += size_of_val(data);
            }
            ZoneId(id << SHARD_BITS | number)
        })
    }

    fn kept(&self, id: ZoneId) -> &Kept {
        &self.shards[id.0 as usize & ((1 << SHARD_BITS) - 1)].zones[(id.0 >> SHARD_BITS) as usize]
    }

    /// Copies a kept zone out.
    pub fn load(&self, id: ZoneId, out: &mut Dbm) {
        let kept = self.kept(id);
        pack::unpack(kept.shape, &kept.data, out);
    }

    /// A hash of the zone's content, the same in every run and on every machine.
    pub fn hash(&self, id: ZoneId) -> u64 {
        self.kept(id).hash
    }

    /// Rows of a kept zone, the constant zero included.
    pub fn dimension(&self, id: ZoneId) -> usize {
        self.kept(id).shape.dimension()
    }

    /// Whether a kept zone includes another zone, without copying it out.
    pub fn includes(&self, bigger: ZoneId, smaller: &Dbm) -> bool {
        with_packed(smaller, |shape, data| pack::includes(self.kept(bigger).packed(), (shape, data)))
    }

    /// Whether a kept zone is included in another zone.
    pub fn included_in(&self, smaller: ZoneId, bigger: &Dbm) -> bool {
        with_packed(bigger, |shape, data| pack::includes((shape, data), self.kept(smaller).packed()))
    }

    /// Whether a kept zone includes another kept zone.
    pub fn covers(&self, bigger: ZoneId, smaller: ZoneId) -> bool {
        bigger == smaller || pack::includes(self.kept(bigger).packed(), self.kept(smaller).packed())
    }

    /// Number of zones kept.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().ids.len()).sum()
    }

    /// Whether no zone is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        let held = |shard: &Shard| {
            let index = shard.lock();
            index.ids.bytes() + index.bytes + index.ids.len() * (size_of::<Kept>() + size_of::<usize>())
        };
        self.shards.iter().map(held).sum()
    }
}
