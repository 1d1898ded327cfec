//! Broadcasts to receivers with clocks in their guards.
//!
//! Clocks then decide who receives, so the sender's zone is split into parts with the same set of
//! able receivers. A process that could receive, but whose guards do not hold, is *absent*, and the
//! transition is taken outside the guards of all its edges. What remains need not be convex, so a
//! transition may be taken from several parts.
//!
//! The parts are refined process by process and empty ones are dropped, so their number is that of
//! the receiver sets that really occur, not two to the number of processes.

use turnpike_model::Successors;

use super::walker::{RowAtom, Walker, conjoin};
use crate::evaluate::Outcome;
use crate::zone::{Bound, Dbm};

/// Marks a pending edge as absent.
const ABSENT: u32 = 1 << 31;

impl Walker<'_> {
    /// Visits every combination of the choices after the sender, each in the zone where exactly
    /// those processes can receive.
    pub(super) fn spread(&mut self, out: &mut Successors) -> Outcome<()> {
        let whole = self.base.clone();
        let done = self.spread_from(0, vec![whole.clone()], out);
        self.base = whole;
        done
    }

    fn spread_from(&mut self, at: usize, parts: Vec<Dbm>, out: &mut Successors) -> Outcome<()> {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let Some(&(start, end)) = self.choices.get(at) else { return self.take_from(parts, out) };
            let mut outside = Some(parts.clone());
            for index in start..end {
                let step = self.enabled[index as usize];
                let mut inside = parts.clone();
                if self.model.tables.steps[step as usize].timed {
                    self.atoms.clear();
                    if !self.add_guard_atoms(step)? {
                        continue;
                    }
                    let atoms = std::mem::take(&mut self.atoms);
                    inside.retain_mut(|part| atoms.iter().all(|&atom| conjoin(part, atom)));
                    outside = outside.map(|outside| exclude(outside, &atoms));
                    self.atoms = atoms;
                } else {
                    outside = None;
                }
                if !inside.is_empty() {
                    self.participants.push(step);
                    let done = self.spread_from(at + 1, inside, out);
                    self.participants.pop();
                    done?;
                }
            }
            if let Some(outside) = outside.filter(|parts| !parts.is_empty()) {
                let before = self.absent.len();
                self.absent.extend_from_slice(&self.enabled[start as usize..end as usize]);
                let done = self.spread_from(at + 1, outside, out);
                self.absent.truncate(before);
                done?;
            }
            Ok(())
        })
    }

    /// Takes or collects the participants' transition from each of these parts of the source.
    fn take_from(&mut self, parts: Vec<Dbm>, out: &mut Successors) -> Outcome<()> {
        if self.collecting {
            return self.candidate(out);
        }
        for part in parts {
            self.base = part;
            self.candidate(out)?;
        }
        Ok(())
    }

    /// Adds the participants' transition to the pending ones.
    pub(super) fn postpone(&mut self) {
        self.pending.extend_from_slice(&self.participants);
        self.pending.extend(self.absent.iter().map(|step| step | ABSENT));
        self.pending_ends.push((self.pending.len() as u32, self.channel));
    }

    /// Selects a collected transition as the current one.
    pub(super) fn choose_pending(&mut self, pending: &[u32], ends: &[(u32, Option<u32>)], index: usize) {
        let start = if index == 0 { 0 } else { ends[index - 1].0 as usize };
        let (end, channel) = ends[index];
        let steps = &pending[start..end as usize];
        let taking_part = steps.partition_point(|step| step & ABSENT == 0);
        self.participants.clear();
        self.participants.extend_from_slice(&steps[..taking_part]);
        self.absent.clear();
        self.absent.extend(steps[taking_part..].iter().map(|step| step & !ABSENT));
        self.channel = channel;
    }

    /// The parts of a zone outside the guards of all absent edges.
    pub(super) fn without_absent(&mut self, zone: Dbm) -> Outcome<Vec<Dbm>> {
        let mut parts = vec![zone];
        for at in 0..self.absent.len() {
            self.atoms.clear();
            if self.add_guard_atoms(self.absent[at])? {
                parts = exclude(parts, &self.atoms);
            }
        }
        Ok(parts)
    }
}

/// Subtracts the conjunction of all bounds from each zone. Parts are split only by these bounds.
pub(super) fn exclude(zones: Vec<Dbm>, atoms: &[RowAtom]) -> Vec<Dbm> {
    let mut left = Vec::new();
    for mut zone in zones {
        for &(i, j, bound) in atoms {
            let mut part = zone.clone();
            if conjoin(&mut part, (j, i, Bound(1 - bound.0))) {
                left.push(part);
            }
            if !conjoin(&mut zone, (i, j, bound)) {
                break;
            }
        }
    }
    left
}
