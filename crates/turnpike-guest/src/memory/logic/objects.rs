//! Which object of the scheduler a piece of memory is.
//!
//! The first visible access to some bytes makes them one object; bytes that are first touched
//! together with bytes of an object join it. So a variable that is always accessed as a whole is
//! one object, and neighbouring variables stay independent of each other. An access that covers two
//! objects names both. One that covers more cannot name them all: the answer says so, and the
//! execution does not count for proofs.

use super::shadow::GRANULE;
use super::table::Table;

/// The most bytes of one access; a longer one counts as covering more objects than it can name.
const LONGEST: u64 = 1 << 16;

/// The objects that an access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    /// The first one.
    pub object: u32,
    /// The second one.
    pub second: Option<u32>,
    /// There are still more.
    pub more: bool,
}

/// Objects by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    /// For each byte of a granule its object plus one.
    bytes: Table<[u32; GRANULE as usize]>,
}

impl Objects {
    /// No memory is known.
    pub(crate) const fn new() -> Self {
        Objects { bytes: Table::new() }
    }

    /// The objects of some bytes (at least one); `register` makes a new one if there is none yet.
    pub(crate) fn cover(&mut self, address: u64, size: u64, register: impl FnOnce() -> u32) -> Covered {
        let end = address.saturating_add(size.clamp(1, LONGEST));
        let (mut object, mut second) = (None, None);
        let mut more = size > LONGEST;
        let mut holes = false;
        let mut granule = u64::MAX;
        let mut known = [0; GRANULE as usize];
        for byte in address..end {
            if byte / GRANULE != granule {
                granule = byte / GRANULE;
                known = self.bytes.get(granule).unwrap_or_default();
            }
            match known[(byte % GRANULE) as usize] {
                0 => holes = true,
                found if object.is_none() => object = Some(found - 1),
                found if object == Some(found - 1) || second == Some(found - 1) => {}
                found if second.is_none() => second = Some(found - 1),
                _ => more = true,
            }
        }
        let object = object.unwrap_or_else(register);
        if holes {
            let mut byte = address;
            while byte < end {
                let known = self.bytes.entry(byte / GRANULE);
                let next = (byte | (GRANULE - 1)).saturating_add(1).min(end);
                for at in byte..next {
                    let known = &mut known[(at % GRANULE) as usize];
                    if *known == 0 {
                        *known = object + 1;
                    }
                }
                byte = next;
            }
        }
        Covered { object, second, more }
    }

    /// Forgets the objects in memory that is new.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size).div_ceil(GRANULE);
        for granule in address / GRANULE..end {
            if self.bytes.get(granule).is_some() {
                *self.bytes.entry(granule) = [0; GRANULE as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn variables_are_objects() {
        let mut objects = Objects::new();
        let one = |object| Covered { object, second: None, more: false };
        assert_eq!(objects.cover(100, 4, || 0), one(0));
        assert_eq!(objects.cover(104, 4, || 1), one(1));
        assert_eq!(objects.cover(100, 4, || 9), one(0));
        assert_eq!(objects.cover(102, 1, || 9), one(0));
        assert_eq!(objects.cover(100, 8, || 9), Covered { object: 0, second: Some(1), more: false });
        assert_eq!(objects.cover(108, 1, || 2), one(2));
        assert_eq!(objects.cover(100, 9, || 9), Covered { object: 0, second: Some(1), more: true });
        // The byte after joins the object that it is first touched with.
        assert_eq!(objects.cover(108, 2, || 9), one(2));
        assert_eq!(objects.cover(109, 1, || 9), one(2));
        objects.forget(100, 4);
        assert_eq!(objects.cover(100, 4, || 5), one(5));
    }

    #[test]
    fn a_huge_access_is_cut() {
        let mut objects = Objects::new();
        assert!(objects.cover(0, 1 << 40, || 0).more);
        assert!(objects.cover(u64::MAX - 3, 16, || 1).object == 1);
    }

    proptest! {
        /// Accesses that share a byte share an object, unless the answer says that not all are
        /// named.
        #[test]
        fn overlapping_accesses_meet(accesses in proptest::collection::vec((0u64..40, 1u64..20), 1..40)) {
            let mut objects = Objects::new();
            let mut next = 0;
            let mut bytes: BTreeMap<u64, u32> = BTreeMap::new();
            for (address, size) in accesses {
                let covered = objects.cover(address, size, || { next += 1; next - 1 });
                let before: BTreeSet<u32> = (address..address + size).filter_map(|b| bytes.get(&b).copied()).collect();
                let mut named: BTreeSet<u32> = covered.second.into_iter().collect();
                named.insert(covered.object);
                if covered.more {
                    prop_assert!(before.len() > 2 && named.is_subset(&before));
                } else if before.is_empty() {
                    prop_assert_eq!(named.len(), 1);
                } else {
                    prop_assert_eq!(&named, &before);
                }
                for byte in address..address + size {
                    bytes.entry(byte).or_insert(covered.object);
                }
            }
        }
    }
}
