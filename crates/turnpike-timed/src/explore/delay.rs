//! Lets time pass where it may: not while a synchronisation on an urgent channel is possible.
//!
//! If the guards of such edges have no clocks, the discrete state decides, in [`Walker::settle`].
//! Otherwise time stops exactly where such a guard holds: a valuation may wait until the first
//! moment at which it enters one of these zones, the *holes*, but not beyond. The result is not
//! convex, so a state has several parts. A hole with an open lower bound (`x > 3`) has no first
//! moment: time stops at the bound.
//!
//! With stopped clocks, the result of a delay is over-approximated by the smallest zone that
//! contains it, and holes are ignored. Both only add valuations, and the model records that they
//! occurred: what is found must then be confirmed by a schedule.

use std::sync::atomic::Ordering;

use super::stay::largest;
use super::walker::{RowAtom, Walker, conjoin, conjoin_all};
use crate::evaluate::Outcome;
use crate::network::Sync;
use crate::zone::{Dbm, subtract};

/// Where time must not pass.
#[derive(Debug)]
pub(super) enum Stops {
    /// Nowhere in the state.
    Everywhere,
    /// In these zones.
    In(Vec<Dbm>),
}

/// A part of a zone that may delay, and the holes that lie ahead of every valuation in it.
type Ahead = (Dbm, Vec<usize>);

impl Walker<'_> {
    /// The zones in which a synchronisation on an urgent channel is possible. The rows must be
    /// those of the machine's state.
    pub(super) fn stops(&mut self, dimension: usize) -> Outcome<Stops> {
        let guards = self.urgent_guards()?;
        if guards.iter().any(Vec::is_empty) {
            return Ok(Stops::Everywhere);
        }
        let hole = |atoms: &Vec<RowAtom>| {
            let mut hole = Dbm::universe(dimension);
            atoms.iter().all(|&atom| conjoin(&mut hole, atom)).then_some(hole)
        };
        Ok(Stops::In(largest(guards.iter().filter_map(hole).collect())))
    }

    /// The clock guards, by rows, of all synchronisations on urgent channels that variables enable.
    /// If one of them has no clocks, it is returned alone.
    pub(super) fn urgent_guards(&mut self) -> Outcome<Vec<Vec<RowAtom>>> {
        let model = self.model;
        let tables = &model.tables;
        let mut guards = Vec::new();
        if !tables.has_urgent {
            return Ok(guards);
        }
        let kept = std::mem::take(&mut self.atoms);
        let mut partners = Vec::new();
        for process in 0..self.machine.locations.len() {
            let slot = tables.slot(process, self.machine.locations[process]);
            for &step in tables.list(&slot.urgent_sends) {
                let Sync::Send(cell) = &model.edge(step).sync else { continue };
                if !self.guard(step)? {
                    continue;
                }
                let Some(channel) = self.channel(step, cell)? else { continue };
                partners.clear();
                if model.network.channels[channel as usize].broadcast {
                    partners.push(None);
                } else {
                    self.find_receivers(channel, process as u32, |receiver| {
                        partners.push(Some(receiver));
                        false
                    })?;
                }
                for &partner in &partners {
                    self.atoms.clear();
                    if !self.add_guard_atoms(step)? {
                        continue;
                    }
                    if let Some(partner) = partner
                        && !self.add_guard_atoms(partner)?
                    {
                        continue;
                    }
                    if self.atoms.is_empty() {
                        self.atoms = kept;
                        return Ok(vec![Vec::new()]);
                    }
                    guards.push(self.atoms.clone());
                }
            }
        }
        self.atoms = kept;
        Ok(guards)
    }

    /// The parts that a zone of the machine's state reaches as time passes, including itself. The
    /// rows must be those of the state, and the part of its invariant that depends on variables
    /// must be computed.
    pub(super) fn elapse(&mut self, tuple: u32, zone: Dbm) -> Outcome<Vec<Dbm>> {
        if self.tuples.get(tuple).urgent {
            return Ok(vec![zone]);
        }
        let Stops::In(holes) = self.stops(zone.dimension())? else { return Ok(vec![zone]) };
        if let Some(runs) = self.running_rows(tuple)? {
            if !holes.is_empty() || !zone.is_separable(&runs) {
                self.note_inexact();
            }
            let mut later = zone;
            later.up_running(&runs);
            let left =
                conjoin_all(&mut later, self.tuples.get(tuple), &self.computed) && self.stays(&mut later)?;
            return Ok(if left { vec![later] } else { Vec::new() });
        }
        if holes.is_empty() {
            return Ok(self.delay_zone(tuple, zone)?.into_iter().collect());
        }
        let mut parts = vec![zone.clone()];
        for (part, ahead) in before_holes(zone, &holes) {
            let Some(later) = self.delay_zone(tuple, part)? else { continue };
            let mut reached = vec![later];
            for &hole in &ahead {
                let mut passed = holes[hole].clone();
                passed.passed();
                subtract(&mut reached, &passed);
            }
            parts.append(&mut reached);
        }
        Ok(largest(parts))
    }

    /// Which rows of a tuple's zones run in the machine's state; `None` if all do.
    pub(super) fn running_rows(&mut self, tuple: u32) -> Outcome<Option<Vec<bool>>> {
        if !self.model.stopwatches {
            return Ok(None);
        }
        self.machine.find_running(&mut self.runs)?;
        let active = self.tuples.get(tuple).members.active();
        let rows = active.iter().map(|&clock| self.runs[clock as usize]);
        let rows: Vec<bool> = std::iter::once(false).chain(rows).collect();
        Ok(rows[1..].contains(&false).then_some(rows))
    }

    /// Records that zones may now contain unreachable valuations.
    pub(super) fn note_inexact(&self) {
        self.model.inexact.store(true, Ordering::Relaxed);
    }

    /// The valuations of the loaded state from which a delay leads into a zone: all of them, or only
    /// some if zones are noted to be inexact. `runs` marks the running rows, if some are stopped.
    pub(super) fn leads_to(&self, zone: &Dbm, holes: &[Dbm], runs: Option<&[bool]>) -> Vec<Dbm> {
        let Some(runs) = runs else { return leads_to(zone, holes) };
        let mut from = zone.clone();
        if holes.is_empty() && zone.is_separable(runs) {
            from.down_running(runs);
        } else {
            self.note_inexact();
        }
        vec![from]
    }

    /// Delays a zone within the invariant.
    pub(super) fn delay_zone(&mut self, tuple: u32, mut zone: Dbm) -> Outcome<Option<Dbm>> {
        zone.up();
        if !conjoin_all(&mut zone, self.tuples.get(tuple), &self.computed) {
            return Ok(None);
        }
        Ok(self.stays(&mut zone)?.then_some(zone))
    }
}

/// The parts of a zone outside all holes. Within a part, each hole is either ahead of all
/// valuations or of none.
fn before_holes(zone: Dbm, holes: &[Dbm]) -> Vec<Ahead> {
    let mut parts: Vec<Ahead> = vec![(zone, Vec::new())];
    for (index, hole) in holes.iter().enumerate() {
        let mut up_to = hole.clone();
        up_to.down();
        let mut split = Vec::with_capacity(parts.len());
        for (part, ahead) in parts {
            let mut beyond = Vec::new();
            part.subtract(&up_to, &mut beyond);
            split.extend(beyond.into_iter().map(|beyond| (beyond, ahead.clone())));
            let mut before = part;
            if before.intersect(&up_to) {
                let mut outside = Vec::new();
                before.subtract(hole, &mut outside);
                let ahead: Vec<usize> = ahead.iter().copied().chain([index]).collect();
                split.extend(outside.into_iter().map(|outside| (outside, ahead.clone())));
            }
        }
        parts = split;
    }
    parts
}

/// The valuations from which a delay leads into a zone without first stopping in a hole, including
/// the zone.
fn leads_to(zone: &Dbm, holes: &[Dbm]) -> Vec<Dbm> {
    let mut parts: Vec<Ahead> = vec![(zone.clone(), Vec::new())];
    // Split by the holes that lie behind the valuations.
    for (index, hole) in holes.iter().enumerate() {
        let mut passed = hole.clone();
        passed.passed();
        let mut split = Vec::with_capacity(parts.len());
        for (part, behind) in parts {
            let mut outside = Vec::new();
            part.subtract(&passed, &mut outside);
            split.extend(outside.into_iter().map(|outside| (outside, behind.clone())));
            let mut inside = part;
            if inside.intersect(&passed) {
                split.push((inside, behind.iter().copied().chain([index]).collect()));
            }
        }
        parts = split;
    }
    let mut found = vec![zone.clone()];
    for (mut part, behind) in parts {
        part.down();
        let mut from = vec![part];
        for &hole in &behind {
            let mut up_to = holes[hole].clone();
            up_to.down();
            subtract(&mut from, &up_to);
        }
        found.append(&mut from);
    }
    largest(found)
}

/// The valuations of an unbounded zone from which time can diverge without stopping in a hole.
pub(super) fn beyond_holes(zone: &Dbm, holes: &[Dbm]) -> Vec<Dbm> {
    let mut parts = vec![zone.clone()];
    for hole in holes {
        let mut up_to = hole.clone();
        up_to.down();
        subtract(&mut parts, &up_to);
    }
    parts
}
