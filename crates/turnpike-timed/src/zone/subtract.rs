//! Subtraction of zones: the result is a list of disjoint zones.

use super::Dbm;

impl Dbm {
    /// Appends disjoint zones to `out` whose union is this zone without `hole`.
    pub fn subtract(&self, hole: &Dbm, out: &mut Vec<Dbm>) {
        debug_assert_eq!(self.dimension, hole.dimension);
        if hole.includes(self) {
            return;
        }
        // One piece instead of several if nothing is removed.
        if !self.clone().intersect(hole) {
            out.push(self.clone());
            return;
        }
        let mut rest = self.clone();
        for i in 0..self.dimension {
            for j in 0..self.dimension {
                let bound = hole.get(i, j);
                let Some(outside) = bound.negated().filter(|_| i != j && bound < rest.get(i, j)) else {
                    continue;
                };
                let mut piece = rest.clone();
                if piece.conjoin(j, i, outside) {
                    out.push(piece);
                }
                if !rest.conjoin(i, j, bound) {
                    return;
                }
            }
        }
    }
}

/// Subtracts a zone from each zone of a list.
pub fn subtract(zones: &mut Vec<Dbm>, hole: &Dbm) {
    let mut left = Vec::with_capacity(zones.len());
    for zone in zones.iter() {
        zone.subtract(hole, &mut left);
    }
    *zones = left;
}
