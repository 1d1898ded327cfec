//! Pure accesses: those that are sequentially consistent whatever they find, with nothing in their past that is not.
//!
//! Pure accesses see each other in the order in which they are executed, so one that comes later has no
//! alternative behind them. What is pure follows from the graph, and each graph can be built in such an
//! order (decision 0601).

use alloc::vec::Vec;

use super::super::access::{Access, Place, Touch};
use super::super::objects::Class;
use super::super::{Kernel, NONE};
use super::{Effect, slot};
use crate::operation::{Kind, ObjectId};
use crate::plan::Memory;

/// Whether what happened to an object is impure. The groups are those of
/// [`Cell`](super::super::objects::Cell).
#[derive(Clone, Copy, Debug)]
struct Trace {
    before: bool,
    group: bool,
    class: Class,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { before: false, group: false, class: Class::Exclusive }
    }
}

impl Trace {
    fn seen_by(&self, class: Class) -> bool {
        self.before || self.group && class != self.class
    }

    fn touch(&mut self, class: Class, impure: bool) {
        if class == Class::Exclusive {
            (self.before, self.group) = (impure, false);
        } else {
            if class != self.class {
                (self.before, self.group) = (self.seen_by(class), false);
            }
            self.group |= impure;
        }
        self.class = class;
    }
}

/// What is impure so far.
#[derive(Debug)]
pub(super) struct Impure {
    threads: Vec<bool>,
    objects: Vec<Trace>,
}

impl Impure {
    pub(super) const fn new() -> Impure {
        Impure { threads: Vec::new(), objects: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.objects.clear();
    }

    fn thread(&self, t: u32) -> bool {
        self.threads.get(t as usize).copied().unwrap_or(false)
    }

    /// A thread created another one.
    pub(super) fn spawned(&mut self, parent: u32, child: u32) {
        *slot(&mut self.threads, child) = self.thread(parent);
    }
}

impl Kernel {
    /// Whether an access with this effect is pure.
    pub(super) fn is_pure(&self, t: u32, effect: &Effect) -> bool {
        let object = self.thread(t).pending.object;
        let pending = &self.thread(t).pending;
        let source = |number: u32| self.weak.location(object)?.writes.get(number as usize);
        self.weak.model == Memory::Rc11
            && self.weak.values(t).is_some_and(|values| super::calm::is_sequential(pending, values))
            && !self.weak.impure.thread(t)
            && effect.reads.is_none_or(|number| source(number).is_some_and(|source| source.pure))
            && !self.is_in_impure_region(object)
    }

    fn is_in_impure_region(&self, object: ObjectId) -> bool {
        let region = self.region(object).filter(|_| self.regions);
        region.is_some_and(|region| self.trace(region).seen_by(Class::Read))
    }

    fn trace(&self, object: ObjectId) -> Trace {
        self.weak.impure.objects.get(object.0 as usize).copied().unwrap_or_default()
    }

    /// Notes whether the pending step of a thread is impure, which then holds for all that depends on
    /// it.
    pub(super) fn spread_impurity(&mut self, t: u32, alternative: u32, access: &Access) {
        let operation = &self.thread(t).pending;
        let joined = (operation.kind == Kind::Join).then_some(operation.argument as u32);
        let regions = self.regions_of(access).map(|region| (region, Class::Read));
        let object = |touch: &Touch| match touch.place() {
            Place::Object(object) => Some((object, touch.class())),
            _ => None,
        };
        // Two objects, and the regions that they lie in.
        let mut touched = [(ObjectId::NONE, Class::Read); 4];
        for (place, touch) in
            touched.iter_mut().zip(access.touches().iter().filter_map(object).chain(regions))
        {
            *place = touch;
        }
        let impure = self.weak.impure.thread(t)
            || joined.is_some_and(|joined| self.weak.impure.thread(joined))
            || !self.follows_what_happened(t, alternative, access)
            || self.is_weak(t) && !self.is_pure(t, &self.effect(t, alternative))
            || touched.iter().any(|&(object, class)| self.trace(object).seen_by(class));
        *slot(&mut self.weak.impure.threads, t) = impure;
        for (object, class) in touched {
            if object.0 != NONE {
                slot(&mut self.weak.impure.objects, object.0).touch(class, impure);
            }
        }
    }
}
