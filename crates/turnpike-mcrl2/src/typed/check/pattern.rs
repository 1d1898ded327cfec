//! The possible sorts of an expression before its context is known. A *pattern* is the set of sorts
//! that the expression can have, including implicit conversions of the whole. A variable of sort
//! `Nat` has the pattern "`Nat`, `Int` or `Real`"; `[1]` is a list of `Pos` or anything larger;
//! `[]` is a list of anything; a variable of sort `List(Nat)` only has that sort. If two
//! expressions must have the same sort, their patterns are intersected.

use rustc_hash::FxHashMap;

use crate::syntax::{Container, Symbols};
use crate::typed::sorts::{MAX_DEPTH, Sort, SortId, Sorts};

/// An interned [`Pattern`]: equal patterns have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PatternId(u32);

/// A set of sorts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// Every sort.
    Any,
    /// One sort.
    Exact(SortId),
    /// This number sort and all larger ones.
    From(SortId),
    /// For `FSet` and `FBag`: this container or the larger one, with elements from a pattern.
    Finite(Container, PatternId),
    /// This container, with elements from a pattern.
    Container(Container, PatternId),
    /// Functions.
    Function(Box<[PatternId]>, PatternId),
}

/// The interned patterns.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    nodes: Vec<Pattern>,
    depths: Vec<u16>,
    ids: FxHashMap<Pattern, PatternId>,
}

impl Default for Patterns {
    fn default() -> Self {
        let mut patterns = Patterns { nodes: Vec::new(), depths: Vec::new(), ids: FxHashMap::default() };
        patterns.intern(Pattern::Any, 0);
        patterns
    }
}

/// The container that a finite one converts to.
pub(super) fn larger(container: Container) -> Option<Container> {
    match container {
        Container::FSet => Some(Container::Set),
        Container::FBag => Some(Container::Bag),
        Container::List | Container::Set | Container::Bag => None,
    }
}

impl Patterns {
    pub(super) const ANY: PatternId = PatternId(0);

    fn intern(&mut self, pattern: Pattern, depth: usize) -> PatternId {
        if let Some(&id) = self.ids.get(&pattern) {
            return id;
        }
        let id = PatternId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 patterns"));
        self.nodes.push(pattern.clone());
        self.depths.push(u16::try_from(depth).unwrap_or(u16::MAX));
        self.ids.insert(pattern, id);
        id
    }

    fn get(&self, id: PatternId) -> &Pattern {
        &self.nodes[id.0 as usize]
    }

    /// Whether a pattern that contains this one would be nested too deeply.
    pub(super) fn is_too_deep(&self, id: PatternId) -> bool {
        usize::from(self.depths[id.0 as usize]) >= MAX_DEPTH
    }

    pub(super) fn exact(&mut self, sorts: &Sorts, sort: SortId) -> PatternId {
        match sort {
            SortId::UNKNOWN => Self::ANY,
            _ => self.intern(Pattern::Exact(sort), sorts.depth(sort)),
        }
    }

    /// The sorts that an expression of exactly this sort converts to.
    pub(super) fn of_sort(&mut self, sorts: &Sorts, sort: SortId) -> PatternId {
        let exact = self.exact(sorts, sort);
        self.widen(sorts, exact)
    }

    /// Adds the implicit conversions of the whole.
    pub(super) fn widen(&mut self, sorts: &Sorts, id: PatternId) -> PatternId {
        let depth = usize::from(self.depths[id.0 as usize]);
        match *self.get(id) {
            Pattern::Exact(sort) if sort.is_number() && sort != SortId::REAL => {
                self.intern(Pattern::From(sort), 0)
            }
            Pattern::Exact(sort) => match *sorts.get(sort) {
                Sort::Container(container, element) if larger(container).is_some() => {
                    let element = self.exact(sorts, element);
                    self.intern(Pattern::Finite(container, element), depth)
                }
                _ => id,
            },
            Pattern::Container(container, element) if larger(container).is_some() => {
                self.intern(Pattern::Finite(container, element), depth)
            }
            _ => id,
        }
    }

    /// Removes the implicit conversions of the whole.
    pub(super) fn pin(&mut self, sorts: &mut Sorts, id: PatternId) -> PatternId {
        match *self.get(id) {
            Pattern::From(sort) => self.exact(sorts, sort),
            Pattern::Finite(container, element) => self.container(sorts, container, element),
            _ => id,
        }
    }

    /// A container, without conversions.
    pub(super) fn container(
        &mut self,
        sorts: &mut Sorts,
        container: Container,
        element: PatternId,
    ) -> PatternId {
        let depth = usize::from(self.depths[element.0 as usize]) + 1;
        match *self.get(element) {
            Pattern::Exact(sort) => {
                let sort = sorts.container(container, sort);
                self.exact(sorts, sort)
            }
            _ => self.intern(Pattern::Container(container, element), depth),
        }
    }

    pub(super) fn function(
        &mut self,
        sorts: &mut Sorts,
        domain: &[PatternId],
        codomain: PatternId,
    ) -> PatternId {
        let exact = |id: &PatternId| match *self.get(*id) {
            Pattern::Exact(sort) => Some(sort),
            _ => None,
        };
        if let (Some(codomain), Some(domain)) =
            (exact(&codomain), domain.iter().map(exact).collect::<Option<Vec<_>>>())
        {
            let sort = sorts.function(&domain, codomain);
            return self.exact(sorts, sort);
        }
        let parts = domain.iter().copied().chain([codomain]);
        let depth = parts.map(|part| self.depths[part.0 as usize]).max().unwrap_or(0);
        self.intern(Pattern::Function(domain.into(), codomain), usize::from(depth) + 1)
    }

    /// Whether a sort is in the set.
    pub(super) fn contains(&self, sorts: &Sorts, id: PatternId, sort: SortId) -> bool {
        if sort == SortId::UNKNOWN {
            return true;
        }
        match self.get(id) {
            Pattern::Any => true,
            Pattern::Exact(exact) => *exact == sort,
            Pattern::From(least) => sort.is_number() && sort >= *least,
            Pattern::Finite(container, element) => match *sorts.get(sort) {
                Sort::Container(found, inner) if found == *container || Some(found) == larger(*container) => {
                    self.contains(sorts, *element, inner)
                }
                _ => false,
            },
            Pattern::Container(container, element) => {
                sorts.element(*container, sort).is_some_and(|inner| self.contains(sorts, *element, inner))
            }
            Pattern::Function(domain, codomain) => match sorts.get(sort) {
                Sort::Function { domain: found, codomain: result } => {
                    found.len() == domain.len()
                        && domain.iter().zip(found).all(|(&one, &sort)| self.contains(sorts, one, sort))
                        && self.contains(sorts, *codomain, *result)
                }
                _ => false,
            },
        }
    }

    /// The sorts in both sets; `None` if there is none.
    pub(super) fn intersect(
        &mut self,
        sorts: &mut Sorts,
        left: PatternId,
        right: PatternId,
    ) -> Option<PatternId> {
        if left == right {
            return Some(left);
        }
        match (self.get(left).clone(), self.get(right).clone()) {
            (Pattern::Any, _) => Some(right),
            (_, Pattern::Any) => Some(left),
            (Pattern::Exact(sort), _) => self.contains(sorts, right, sort).then_some(left),
            (_, Pattern::Exact(sort)) => self.contains(sorts, left, sort).then_some(right),
            (Pattern::From(a), Pattern::From(b)) => Some(if a >= b { left } else { right }),
            (Pattern::Finite(a, x), Pattern::Finite(b, y)) if a == b => {
                let element = self.intersect(sorts, x, y)?;
                let container = self.container(sorts, a, element);
                Some(self.widen(sorts, container))
            }
            (Pattern::Container(b, y), Pattern::Finite(a, x))
            | (Pattern::Finite(a, x), Pattern::Container(b, y))
                if a == b || larger(a) == Some(b) =>
            {
                let element = self.intersect(sorts, x, y)?;
                Some(self.container(sorts, b, element))
            }
            (Pattern::Container(a, x), Pattern::Container(b, y)) if a == b => {
                let element = self.intersect(sorts, x, y)?;
                Some(self.container(sorts, a, element))
            }
            (Pattern::Function(xs, x), Pattern::Function(ys, y)) if xs.len() == ys.len() => {
                let domain: Option<Vec<PatternId>> =
                    xs.iter().zip(&ys).map(|(&x, &y)| self.intersect(sorts, x, y)).collect();
                let codomain = self.intersect(sorts, x, y)?;
                Some(self.function(sorts, &domain?, codomain))
            }
            _ => None,
        }
    }

    /// The smallest sort of the set; `Bool` for the set of all sorts.
    pub(super) fn minimum(&self, sorts: &mut Sorts, id: PatternId) -> SortId {
        match self.get(id) {
            Pattern::Any => SortId::BOOL,
            Pattern::Exact(sort) | Pattern::From(sort) => *sort,
            Pattern::Finite(container, element) | Pattern::Container(container, element) => {
                let element = self.minimum(sorts, *element);
                sorts.container(*container, element)
            }
            Pattern::Function(domain, codomain) => {
                let domain: Vec<SortId> = domain.iter().map(|&one| self.minimum(sorts, one)).collect();
                let codomain = self.minimum(sorts, *codomain);
                sorts.function(&domain, codomain)
            }
        }
    }

    /// Whether this is the smallest sort, as far as the pattern is known.
    pub(super) fn starts_at(&self, sorts: &mut Sorts, id: PatternId, sort: SortId) -> bool {
        match self.get(id) {
            Pattern::Any => true,
            Pattern::Exact(exact) | Pattern::From(exact) => *exact == sort,
            Pattern::Finite(container, element) | Pattern::Container(container, element) => {
                sorts.element(*container, sort).is_some_and(|inner| self.starts_at(sorts, *element, inner))
            }
            Pattern::Function(..) => self.minimum(sorts, id) == sort,
        }
    }

    /// The elements, if the set has a container of this kind.
    pub(super) fn element(
        &mut self,
        sorts: &Sorts,
        container: Container,
        id: PatternId,
    ) -> Option<PatternId> {
        match *self.get(id) {
            Pattern::Any => Some(Self::ANY),
            Pattern::Exact(sort) => {
                let element = sorts.element(container, sort)?;
                Some(self.exact(sorts, element))
            }
            Pattern::Finite(found, element) => {
                (found == container || larger(found) == Some(container)).then_some(element)
            }
            Pattern::Container(found, element) => (found == container).then_some(element),
            Pattern::From(_) | Pattern::Function(..) => None,
        }
    }

    /// Arguments and result, if the set has functions with this number of arguments.
    pub(super) fn signature(
        &mut self,
        sorts: &Sorts,
        id: PatternId,
        arity: usize,
    ) -> Option<(Box<[PatternId]>, PatternId)> {
        match self.get(id) {
            Pattern::Any => Some((vec![Self::ANY; arity].into(), Self::ANY)),
            Pattern::Exact(sort) => match sorts.get(*sort) {
                Sort::Function { domain, codomain } if domain.len() == arity => {
                    let codomain = self.exact(sorts, *codomain);
                    Some((domain.iter().map(|&one| self.exact(sorts, one)).collect(), codomain))
                }
                _ => None,
            },
            Pattern::Function(domain, codomain) => {
                (domain.len() == arity).then(|| (domain.clone(), *codomain))
            }
            _ => None,
        }
    }

    /// The smallest sort for messages, with `?` for unknown parts.
    pub(super) fn text(&self, sorts: &Sorts, words: &Symbols, id: PatternId) -> String {
        match self.get(id) {
            Pattern::Any => "?".into(),
            Pattern::Exact(sort) | Pattern::From(sort) => sorts.text(*sort, words),
            Pattern::Finite(container, element) | Pattern::Container(container, element) => {
                format!("{}({})", container.text(), self.text(sorts, words, *element))
            }
            Pattern::Function(domain, codomain) => {
                let domain: Vec<String> = domain.iter().map(|&one| self.text(sorts, words, one)).collect();
                format!("{} -> {}", domain.join(" # "), self.text(sorts, words, *codomain))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(left: PatternId, right: PatternId, sorts: &mut Sorts, patterns: &mut Patterns) -> Option<SortId> {
        let one = patterns.intersect(sorts, left, right);
        let other = patterns.intersect(sorts, right, left);
        assert_eq!(one, other, "intersection is symmetric");
        one.map(|id| patterns.minimum(sorts, id))
    }

    #[test]
    fn numbers_widen_but_containers_of_them_do_not() {
        let (mut sorts, mut patterns) = (Sorts::default(), Patterns::default());
        let pos = patterns.of_sort(&sorts, SortId::POS);
        let int = patterns.of_sort(&sorts, SortId::INT);
        assert_eq!(both(pos, int, &mut sorts, &mut patterns), Some(SortId::INT));
        let literal = patterns.container(&mut sorts, Container::List, pos);
        let nats = sorts.container(Container::List, SortId::NAT);
        let variable = patterns.of_sort(&sorts, nats);
        assert_eq!(both(literal, variable, &mut sorts, &mut patterns), Some(nats));
        let ints = patterns.container(&mut sorts, Container::List, int);
        assert_eq!(both(ints, variable, &mut sorts, &mut patterns), None);
        let bool = patterns.of_sort(&sorts, SortId::BOOL);
        assert_eq!(both(bool, pos, &mut sorts, &mut patterns), None);
    }

    #[test]
    fn finite_sets_widen_to_sets() {
        let (mut sorts, mut patterns) = (Sorts::default(), Patterns::default());
        let pos = patterns.of_sort(&sorts, SortId::POS);
        let literal = patterns.container(&mut sorts, Container::FSet, pos);
        let literal = patterns.widen(&sorts, literal);
        let set = sorts.container(Container::Set, SortId::NAT);
        let variable = patterns.of_sort(&sorts, set);
        assert_eq!(both(literal, variable, &mut sorts, &mut patterns), Some(set));
        let pinned = patterns.pin(&mut sorts, literal);
        assert_eq!(both(pinned, variable, &mut sorts, &mut patterns), None);
        let any = patterns.container(&mut sorts, Container::FSet, Patterns::ANY);
        let any = patterns.widen(&sorts, any);
        assert_eq!(both(any, variable, &mut sorts, &mut patterns), Some(set));
        assert_eq!(
            both(any, literal, &mut sorts, &mut patterns),
            sorts.container(Container::FSet, SortId::POS).into()
        );
    }
}
