//! Continuations: the terms that follow a term, as shared chains.

use rustc_hash::FxHashMap;

use super::terms::Terms;
use crate::typed::{BehaviourId, VariableId};

/// A continuation, as an index into [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ChainId(u32);

impl ChainId {
    /// Nothing follows: the component has terminated.
    pub(super) const DONE: ChainId = ChainId(0);
    /// Continue with the newest frame of the stack.
    pub(super) const RETURN: ChainId = ChainId(1);
}

/// A term, with the group of processes (see [`Terms::group`]) whose variables it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rest {
    pub(super) term: BehaviourId,
    pub(super) group: Option<u32>,
}

struct Link {
    rest: Rest,
    next: ChainId,
    free: Vec<VariableId>,
    returns: bool,
}

/// All continuations of a component.
#[derive(Default)]
pub(super) struct Chains {
    links: Vec<Link>,
    known: FxHashMap<(Rest, ChainId), ChainId>,
}

impl Chains {
    /// `rest` followed by `next`. If `rest` cannot terminate, `next` is dropped.
    pub(super) fn before(&mut self, terms: &Terms, rest: Rest, next: ChainId) -> ChainId {
        let next = if terms.terminates(rest.term) { next } else { ChainId::DONE };
        if let Some(&known) = self.known.get(&(rest, next)) {
            return known;
        }
        let id = ChainId(u32::try_from(self.links.len() + 2).expect("fewer than 2^32 chains"));
        let mut free = terms.free(rest.term).to_vec();
        free.extend_from_slice(self.free(next));
        free.sort_unstable();
        free.dedup();
        self.links.push(Link { rest, next, free, returns: self.returns(next) });
        self.known.insert((rest, next), id);
        id
    }

    fn link(&self, id: ChainId) -> Option<&Link> {
        self.links.get((id.0 as usize).wrapping_sub(2))
    }

    /// The first term and the continuation after it.
    pub(super) fn first(&self, id: ChainId) -> Option<(Rest, ChainId)> {
        self.link(id).map(|link| (link.rest, link.next))
    }

    /// The variables that the terms of a chain need, except those in the stack.
    pub(super) fn free(&self, id: ChainId) -> &[VariableId] {
        self.link(id).map_or(&[], |link| &link.free)
    }

    /// Whether the chain ends with a return to the stack.
    pub(super) fn returns(&self, id: ChainId) -> bool {
        id == ChainId::RETURN || self.link(id).is_some_and(|link| link.returns)
    }

    /// Whether some term of a chain uses variables of this group.
    pub(super) fn uses(&self, mut id: ChainId, group: u32) -> bool {
        while let Some((rest, next)) = self.first(id) {
            if rest.group == Some(group) {
                return true;
            }
            id = next;
        }
        false
    }
}
