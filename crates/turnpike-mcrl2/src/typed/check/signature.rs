//! Matches the signatures of built-in functions with the patterns of their arguments.

use super::checker::Checker;
use super::pattern::{PatternId, Patterns};
use crate::syntax::Container;
use crate::typed::builtin::Term;
use crate::typed::sorts::SortId;

/// The container of a term.
fn container(term: Term) -> Option<Container> {
    match term {
        Term::List => Some(Container::List),
        Term::Set => Some(Container::Set),
        Term::Bag => Some(Container::Bag),
        Term::FSet => Some(Container::FSet),
        Term::FBag => Some(Container::FBag),
        _ => None,
    }
}

/// The sort of a term without variables.
fn fixed_sort(term: Term) -> Option<SortId> {
    match term {
        Term::Bool => Some(SortId::BOOL),
        Term::Pos => Some(SortId::POS),
        Term::Nat => Some(SortId::NAT),
        Term::Int => Some(SortId::INT),
        Term::Real => Some(SortId::REAL),
        _ => None,
    }
}

impl Checker<'_> {
    /// Narrows the sort variables so that the term can have a sort of the pattern. False if that is
    /// impossible.
    pub(super) fn meet(&mut self, term: Term, pattern: PatternId, sorts: &mut [PatternId; 2]) -> bool {
        if let Some(sort) = fixed_sort(term) {
            return self.patterns.contains(&self.program.sorts, pattern, sort);
        }
        let mut narrow = |checker: &mut Self, variable: usize, pattern: PatternId| {
            let both = checker.patterns.intersect(&mut checker.program.sorts, sorts[variable], pattern);
            sorts[variable] = both.unwrap_or(Patterns::ANY);
            both.is_some()
        };
        match term {
            Term::S => narrow(self, 0, pattern),
            Term::T => narrow(self, 1, pattern),
            Term::Function => match self.patterns.signature(&self.program.sorts, pattern, 1) {
                Some((domain, codomain)) => narrow(self, 0, domain[0]) && narrow(self, 1, codomain),
                None => false,
            },
            _ => container(term)
                .and_then(|container| self.patterns.element(&self.program.sorts, container, pattern))
                .is_some_and(|element| narrow(self, 0, element)),
        }
    }

    /// The pattern of a term, without conversions, for patterns of the sort variables.
    pub(super) fn instantiate(&mut self, term: Term, sorts: [PatternId; 2]) -> PatternId {
        if let Some(sort) = fixed_sort(term) {
            return self.patterns.exact(&self.program.sorts, sort);
        }
        match term {
            Term::T => sorts[1],
            Term::Function => self.patterns.function(&mut self.program.sorts, &[sorts[0]], sorts[1]),
            _ => match container(term) {
                Some(container) => self.patterns.container(&mut self.program.sorts, container, sorts[0]),
                None => sorts[0],
            },
        }
    }

    /// The sort of a term for given sort variables.
    pub(super) fn instantiate_sort(&mut self, term: Term, sorts: [SortId; 2]) -> SortId {
        if let Some(sort) = fixed_sort(term) {
            return sort;
        }
        match term {
            Term::T => sorts[1],
            Term::Function => self.program.sorts.function(&[sorts[0]], sorts[1]),
            _ => match container(term) {
                Some(container) => self.program.sorts.container(container, sorts[0]),
                None => sorts[0],
            },
        }
    }
}
