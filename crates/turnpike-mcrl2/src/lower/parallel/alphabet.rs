//! Alphabets: the multisets of action names that can matter below an operator.
//!
//! An `allow` at the top restricts the steps of the whole system. This module propagates the
//! restriction down: a step of a component is useless if it is not part of any allowed
//! multi-action. A [`Filter`] may accept too much, but never too little, because the operators
//! themselves still apply.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::syntax::Symbol;

/// A multiset of action names, sorted by id.
pub(super) type Bag = Box<[Symbol]>;

/// Sets of multisets larger than this are not enumerated.
const MAX_BAGS: usize = 50_000;

#[cfg(test)]
thread_local! {
    /// Smaller in tests, to cover the case beyond the limit.
    pub(super) static MOST_BAGS: std::cell::Cell<usize> = const { std::cell::Cell::new(MAX_BAGS) };
}

fn most_bags() -> usize {
    #[cfg(test)]
    return MOST_BAGS.get();
    #[cfg(not(test))]
    MAX_BAGS
}

/// The multiset of some names.
pub(super) fn bag(names: &[Symbol]) -> Bag {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.into()
}

/// Whether one multiset is part of another.
pub(super) fn is_part(small: &[Symbol], large: &[Symbol]) -> bool {
    let mut large = large.iter();
    small.iter().all(|name| large.any(|other| other == name))
}

/// `large` without `small`, which is part of it.
pub(super) fn without(large: &[Symbol], small: &[Symbol]) -> Bag {
    let mut small = small.iter().peekable();
    large.iter().copied().filter(|name| small.next_if_eq(&name).is_none()).collect()
}

/// The multisets of names that can still matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// The multisets that matter, without their free names. `None` if all do.
    bags: Option<Bags>,
    /// Names that may occur any number of times in addition, because they will be hidden.
    free: BTreeSet<Symbol>,
    /// Names that must not occur. With `bags`, names in none of them are blocked as well.
    blocked: BTreeSet<Symbol>,
    /// Directly below `comm` and without `bags`: names that are blocked above, so that they only
    /// matter in a communication.
    consumed: Vec<Consumed>,
}

/// Names that must be consumed by a communication.
#[derive(Clone, Debug)]
struct Consumed {
    /// The left side of the rule.
    left: Bag,
    /// Those of its names that must not remain.
    names: Vec<Symbol>,
}

impl Consumed {
    /// Whether enough communications are possible to consume the names.
    fn is_possible(&self, bag: &[Symbol]) -> bool {
        let count = |name: Symbol, within: &[Symbol]| within.iter().filter(|&&one| one == name).count();
        let most =
            self.left.iter().map(|&name| count(name, bag) / count(name, &self.left)).min().unwrap_or(0);
        self.names.iter().all(|&name| count(name, bag) == most * count(name, &self.left))
    }
}

/// A set of multisets, or of all their sub-multisets.
#[derive(Clone, Debug, Default)]
struct Bags {
    all: FxHashSet<Bag>,
    /// The same multisets, sorted.
    list: Vec<Bag>,
    /// Whether sub-multisets count, too.
    parts: bool,
    /// For multisets that only matter through communication: names that must have equal data.
    links: FxHashMap<Bag, Vec<Bag>>,
}

impl Bags {
    fn new(list: impl IntoIterator<Item = Bag>, parts: bool) -> Self {
        let mut list: Vec<Bag> = list.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        Bags { all: list.iter().cloned().collect(), list, parts, links: FxHashMap::default() }
    }

    fn has(&self, bag: &[Symbol]) -> bool {
        self.all.contains(bag) || self.parts && self.list.iter().any(|large| is_part(bag, large))
    }

    /// Enumerates the multisets over `names`, including sub-multisets if these count. `None` if
    /// there are too many.
    fn written_out(&self, names: &BTreeSet<Symbol>) -> Option<Vec<Bag>> {
        let mut all: BTreeSet<Bag> = BTreeSet::new();
        for large in &self.list {
            if !self.parts {
                if large.iter().all(|name| names.contains(name)) {
                    all.insert(large.clone());
                }
                continue;
            }
            let mut parts: BTreeSet<Vec<Symbol>> = BTreeSet::from([Vec::new()]);
            for &name in large.iter().filter(|name| names.contains(name)) {
                let longer: Vec<_> = parts.iter().map(|part| [&part[..], &[name]].concat()).collect();
                parts.extend(longer);
                if parts.len() > most_bags() {
                    return None;
                }
            }
            all.extend(parts.into_iter().map(Vec::into_boxed_slice));
            if all.len() > most_bags() {
                return None;
            }
        }
        Some(all.into_iter().collect())
    }
}

impl Filter {
    /// Whether a step with these names can matter. `tau` always can.
    pub(super) fn accepts(&self, bag: &[Symbol]) -> bool {
        if bag.iter().any(|name| self.blocked.contains(name)) {
            return false;
        }
        let Some(bags) = &self.bags else {
            return self.consumed.iter().all(|one| one.is_possible(bag));
        };
        if self.free.is_empty() {
            return bag.is_empty() || bags.has(bag);
        }
        let rest: Vec<Symbol> = bag.iter().copied().filter(|name| !self.free.contains(name)).collect();
        rest.is_empty() || bags.has(&rest)
    }

    /// Whether a step with these names can be part of a larger one that matters.
    pub(super) fn accepts_part(&self, bag: &[Symbol]) -> bool {
        if bag.iter().any(|name| self.blocked.contains(name)) {
            return false;
        }
        let Some(bags) = &self.bags else { return true };
        let rest: Vec<Symbol> = bag.iter().copied().filter(|name| !self.free.contains(name)).collect();
        rest.is_empty() || bags.list.iter().any(|large| is_part(&rest, large))
    }

    /// The non-empty multisets over `names` that matter, if they can be enumerated.
    pub(super) fn targets(&self, names: &BTreeSet<Symbol>) -> Option<Vec<Bag>> {
        let bags = self.bags.as_ref().filter(|_| self.free.is_empty())?;
        let mut all = bags.written_out(names)?;
        all.retain(|one| !one.is_empty() && self.accepts(one));
        Some(all)
    }

    /// Groups of names in a target that must have equal data, since the target only matters if they
    /// communicate.
    pub(super) fn links(&self, target: &[Symbol]) -> &[Bag] {
        self.bags.as_ref().and_then(|bags| bags.links.get(target)).map_or(&[], Vec::as_slice)
    }

    /// Below `allow`.
    pub(super) fn below_allow(&self, allowed: &[Bag]) -> Filter {
        let bags = allowed.iter().filter(|bag| self.accepts(bag)).cloned();
        Filter { bags: Some(Bags::new(bags, false)), ..Filter::default() }
    }

    /// Below `block`.
    pub(super) fn below_block(&self, names: &[Symbol]) -> Filter {
        let mut filter = Filter { consumed: Vec::new(), ..self.clone() };
        filter.blocked.extend(names);
        filter.free.retain(|name| !names.contains(name));
        filter
    }

    /// Below `hide`.
    pub(super) fn below_hide(&self, names: &[Symbol]) -> Filter {
        let mut filter = Filter { consumed: Vec::new(), ..self.clone() };
        filter.blocked.retain(|name| !names.contains(name));
        if let Some(bags) = &mut filter.bags {
            filter.free.extend(names);
            // None of these names remain after hiding.
            let hidden = |bag: &Bag| bag.iter().any(|name| names.contains(name));
            if !bags.parts && bags.list.iter().any(hidden) {
                *bags = Bags::new(bags.list.iter().filter(|bag| !hidden(bag)).cloned(), false);
            }
        }
        filter.without_free()
    }

    /// Removes free names from the multisets, since [`Filter::accepts`] compares with steps whose
    /// free names were removed.
    fn without_free(mut self) -> Filter {
        let is_free = |name: &Symbol| self.free.contains(name);
        if let Some(bags) = &mut self.bags
            && bags.list.iter().any(|bag| bag.iter().any(is_free))
        {
            let rest = |bag: &Bag| bag.iter().copied().filter(|name| !is_free(name)).collect();
            *bags = Bags::new(bags.list.iter().map(rest), bags.parts);
        }
        self
    }

    /// Below `rename`. `names` is the alphabet of the process below.
    pub(super) fn below_rename(&self, renamings: &[(Symbol, Symbol)], names: &BTreeSet<Symbol>) -> Filter {
        let renamed =
            |name: Symbol| renamings.iter().find(|(old, _)| *old == name).map_or(name, |&(_, new)| new);
        let mut sources: FxHashMap<Symbol, Vec<Vec<Symbol>>> = FxHashMap::default();
        for &name in names {
            sources.entry(renamed(name)).or_default().push(vec![name]);
        }
        let below = |set: &BTreeSet<Symbol>| -> BTreeSet<Symbol> {
            names.iter().copied().filter(|&one| set.contains(&renamed(one))).collect()
        };
        let (free, blocked) = (below(&self.free), below(&self.blocked));
        let bags = self.bags.as_ref().and_then(|bags| {
            // With sub-multisets, names that the process below lacks can be dropped.
            let mut all = Vec::new();
            for one in &bags.list {
                let known = one.iter().copied().filter(|name| !bags.parts || sources.contains_key(name));
                all.extend(compose(&known.collect::<Vec<_>>(), |name| {
                    sources.get(&name).map_or(&[], Vec::as_slice)
                })?);
            }
            Some(Bags::new(all, bags.parts))
        });
        Filter { bags, free, blocked, consumed: Vec::new() }.without_free()
    }

    /// Below `comm`. `names` is the alphabet of the process below.
    pub(super) fn below_comm(&self, rules: &[(Bag, Symbol)], names: &BTreeSet<Symbol>) -> Filter {
        let mut sources: FxHashMap<Symbol, Vec<Vec<Symbol>>> = FxHashMap::default();
        for &name in names {
            sources.entry(name).or_default().push(vec![name]);
        }
        let possible = || rules.iter().filter(|(left, _)| left.iter().all(|name| names.contains(name)));
        let mut outside = names.clone();
        for (left, result) in possible() {
            sources.entry(*result).or_default().push(left.to_vec());
            outside.insert(*result);
        }
        let mut filter = Filter { free: self.free.clone(), ..Filter::default() };
        for (left, _) in possible().filter(|(_, result)| self.free.contains(result)) {
            filter.free.extend(left);
        }
        // A blocked name is useful below if a communication consumes it.
        let mut blocked = self.blocked.clone();
        for (left, result) in possible().filter(|(_, result)| !self.blocked.contains(result)) {
            let names: Vec<Symbol> =
                self.blocked.iter().copied().filter(|name| left.contains(name)).collect();
            blocked.retain(|name| !names.contains(name));
            if self.bags.is_none() && !names.is_empty() && !left.contains(result) {
                filter.consumed.push(Consumed { left: left.clone(), names });
            }
        }
        filter.blocked = blocked;
        filter.bags = self.bags.as_ref().and_then(|bags| {
            let (list, parts) = match bags.written_out(&outside) {
                Some(list) => (list, false),
                None => (bags.list.clone(), bags.parts),
            };
            let mut all = Vec::new();
            for one in &list {
                // With sub-multisets, names that the process below lacks can be dropped.
                let known = one.iter().copied().filter(|name| !parts || sources.contains_key(name));
                all.extend(compose(&known.collect::<Vec<_>>(), |name| {
                    sources.get(&name).map_or(&[], Vec::as_slice)
                })?);
            }
            let mut below = Bags::new(all, parts);
            if !parts && self.free.is_empty() {
                below.links = links(&list, rules, &below.all);
            }
            Some(below)
        });
        filter.without_free()
    }

    /// Below `||`, for an operand with the alphabet `names`. `whole` is the alphabet of all
    /// operands together.
    pub(super) fn below_parallel(&self, names: &BTreeSet<Symbol>, whole: &BTreeSet<Symbol>) -> Filter {
        let bags = self.bags.as_ref().map(|bags| {
            let complete = |large: &&Bag| bags.parts || large.iter().all(|name| whole.contains(name));
            let restricted =
                |large: &Bag| large.iter().copied().filter(|name| names.contains(name)).collect();
            Bags::new(bags.list.iter().filter(complete).map(restricted), true)
        });
        Filter { bags, free: self.free.clone(), blocked: self.blocked.clone(), consumed: Vec::new() }
    }
}

/// All ways to replace every name of a multiset by one of its sources; `None` if there are too
/// many.
fn compose<'a>(names: &[Symbol], sources: impl Fn(Symbol) -> &'a [Vec<Symbol>]) -> Option<BTreeSet<Bag>> {
    let mut all: BTreeSet<Bag> = BTreeSet::from([Bag::default()]);
    for &name in names {
        let sources = sources(name);
        all = all
            .iter()
            .flat_map(|one| sources.iter().map(|source| bag(&[&one[..], source].concat())))
            .collect();
        if all.len() > most_bags() {
            return None;
        }
    }
    Some(all)
}

/// The left sides of rules that must apply to a target below `comm` because it does not matter as
/// it is. Only for targets without repeated names.
fn links(above: &[Bag], rules: &[(Bag, Symbol)], below: &FxHashSet<Bag>) -> FxHashMap<Bag, Vec<Bag>> {
    let above: FxHashSet<&Bag> = above.iter().collect();
    let mut all = FxHashMap::default();
    let mut targets: Vec<&Bag> = below.iter().collect();
    targets.sort_unstable();
    for target in targets {
        if target.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let inside: Vec<&(Bag, Symbol)> = rules.iter().filter(|(left, _)| is_part(left, target)).collect();
        // A rule must apply if no result without it matters. There are few rules inside one target.
        if inside.is_empty() || inside.len() > 8 {
            continue;
        }
        let needed = (0..inside.len()).filter(|&rule| {
            (0..1_usize << inside.len()).filter(|applied| applied & (1 << rule) == 0).all(|applied| {
                let applied = || {
                    let chosen = inside.iter().enumerate().filter(|(one, _)| applied & (1 << one) != 0);
                    chosen.map(|(_, rule)| rule)
                };
                // A rule does not consume results of other rules.
                let kept = target.iter().filter(|name| !applied().any(|(left, _)| left.contains(name)));
                let result: Vec<Symbol> = kept.copied().chain(applied().map(|(_, new)| *new)).collect();
                !above.contains(&bag(&result))
            })
        });
        let needed: Vec<Bag> = needed.map(|rule| inside[rule].0.clone()).collect();
        if !needed.is_empty() {
            all.insert(target.clone(), needed);
        }
    }
    all
}
