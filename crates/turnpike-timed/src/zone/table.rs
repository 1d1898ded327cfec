//! Zones by number: every zone that a state holds is kept once, and shared by all threads.

use super::Dbm;

/// A kept zone. Numbers depend on the order of arrival: nothing that chooses may look at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZoneId(pub u32);

/// All kept zones of a model.
#[derive(Debug, Default)]
pub struct Zones {}

impl Zones {
    /// Keeps a zone.
    pub fn keep(&self, zone: &Dbm) -> ZoneId {
        let _ = zone;
        unimplemented!()
    }

    /// Copies a kept zone out.
    pub fn load(&self, id: ZoneId, out: &mut Dbm) {
        let _ = (id, out);
        unimplemented!()
    }

    /// A hash of the zone's content, the same in every run and on every machine.
    pub fn hash(&self, id: ZoneId) -> u64 {
        let _ = id;
        unimplemented!()
    }

    /// Whether a kept zone includes another zone, without copying it out.
    pub fn includes(&self, bigger: ZoneId, smaller: &Dbm) -> bool {
        let _ = (bigger, smaller);
        unimplemented!()
    }
}
