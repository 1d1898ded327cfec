//! Infers bottom-up which sorts an expression can have. Names are resolved first, top-down
//! (`resolve`). Then every node gets its *alternatives*: patterns with a cost that measures how far
//! overloaded functions are from an exact match.
//!
//! All phases are loops over one list of nodes, so nesting does not use the stack.

use rustc_hash::FxHashMap;

use super::checker::Checker;
use super::pattern::{PatternId, Patterns};
use crate::syntax::{Binder, Container, Data, DataId, Symbol};
use crate::typed::builtin::{self, Overload};
use crate::typed::items::{ExpressionId, SymbolId, VariableId};
use crate::typed::sorts::SortId;

/// A possible reading of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    pub(super) pattern: PatternId,
    pub(super) cost: u32,
}

/// The meaning of a name or a binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Not a name, or an unknown one.
    None,
    /// A variable.
    Variable(VariableId),
    /// Declared or built-in functions of this name; for an application, its head.
    Functions(Symbol),
    /// An application whose head is an expression rather than the name of a function.
    Computed,
    /// The first of the variables bound here. The others have consecutive ids.
    Bound(VariableId),
}

/// What is known about a node of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) resolution: Resolution,
    /// A range of the pool of alternatives.
    alternatives: (u32, u32),
    /// The sort that the context requires.
    pub(super) expected: SortId,
    /// The sort of the expression before conversion.
    pub(super) own: SortId,
    /// The chosen function.
    pub(super) symbol: Option<SymbolId>,
    /// The typed expression.
    pub(super) typed: Option<ExpressionId>,
}

/// Side tables of the tree.
#[derive(Debug)]
pub(super) struct Inference {
    pub(super) nodes: Vec<Node>,
    pool: Vec<Alternative>,
    /// The definitions of variables of `whr` clauses.
    pub(super) definitions: FxHashMap<VariableId, DataId>,
}

/// Patterns for the sort variables of a signature, and the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) sorts: [PatternId; 2],
    pub(super) cost: u32,
}

/// An expression with known alternatives: all its nodes, parents before children.
pub(super) struct Inferred {
    pub(super) root: DataId,
    pub(super) order: Vec<DataId>,
}

impl Inference {
    pub(super) fn new(count: usize) -> Self {
        let node = Node {
            resolution: Resolution::None,
            alternatives: (0, 0),
            expected: SortId::UNKNOWN,
            own: SortId::UNKNOWN,
            symbol: None,
            typed: None,
        };
        Inference { nodes: vec![node; count], pool: Vec::new(), definitions: FxHashMap::default() }
    }

    /// Discards the alternatives of all expressions.
    pub(super) fn clear(&mut self) {
        self.pool.clear();
    }

    pub(super) fn alternatives(&self, id: DataId) -> &[Alternative] {
        let (start, end) = self.nodes[id.index()].alternatives;
        &self.pool[start as usize..end as usize]
    }

    fn alternative_range(&self, id: DataId) -> std::ops::Range<usize> {
        let (start, end) = self.nodes[id.index()].alternatives;
        start as usize..end as usize
    }

    fn set(&mut self, id: DataId, alternatives: &[Alternative]) {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(alternatives);
        self.nodes[id.index()].alternatives = (start, self.pool.len() as u32);
    }
}

impl Checker<'_> {
    /// Infers the alternatives of an expression and all its subexpressions; `None` after an error.
    pub(super) fn infer(&mut self, root: DataId) -> Option<Inferred> {
        let errors = self.errors;
        let order = self.resolve_names(root);
        let mut found = Vec::new();
        for &id in order.iter().rev() {
            found.clear();
            let before = self.errors;
            self.infer_node(id, &mut found);
            let too_deep = found.iter().any(|one| self.patterns.is_too_deep(one.pattern));
            if too_deep && self.errors == errors {
                self.error(self.tree.data_span(id), "the sort of this expression nests too deeply");
            }
            if found.is_empty() || too_deep || self.errors > before {
                found.clear();
                found.push(Alternative { pattern: Patterns::ANY, cost: 0 });
            }
            self.inference.set(id, &found);
        }
        (self.errors == errors).then_some(Inferred { root, order })
    }

    fn infer_node(&mut self, id: DataId, found: &mut Vec<Alternative>) {
        let tree = self.tree;
        match tree.data(id) {
            Data::Name(_) => self.infer_name(id, found),
            Data::Number(digits) => {
                let sort = if tree.text(*digits) == "0" { SortId::NAT } else { SortId::POS };
                self.add_sort(sort, found);
            }
            Data::Bool(_) => self.add_sort(SortId::BOOL, found),
            Data::List(elements) => self.infer_literal(id, Container::List, elements.iter().copied(), found),
            Data::Set(elements) => self.infer_literal(id, Container::FSet, elements.iter().copied(), found),
            Data::Bag(pairs) => {
                for &(_, count) in pairs {
                    self.require(count, SortId::NAT, "the count in a bag");
                }
                self.infer_literal(id, Container::FBag, pairs.iter().map(|pair| pair.0), found);
            }
            Data::Comprehension { body, .. } => self.infer_comprehension(id, *body, found),
            Data::Apply { function, arguments } => match self.inference.nodes[id.index()].resolution {
                Resolution::Functions(word) => {
                    self.infer_call(word, arguments, found);
                    if found.is_empty() {
                        self.explain_call(id, word, arguments);
                    }
                }
                Resolution::Computed => {
                    self.infer_application(*function, arguments, found);
                    if found.is_empty() {
                        self.explain_application(*function, arguments);
                    }
                }
                _ => {}
            },
            Data::Update { function, key, value } => {
                self.infer_operator(id, builtin::of_update(), &[*function, *key, *value], found);
            }
            Data::Unary(operator, operand) => {
                self.infer_operator(id, builtin::of_unary(*operator), &[*operand], found);
            }
            Data::Binary(operator, left, right) => {
                self.infer_operator(id, builtin::of_binary(*operator), &[*left, *right], found);
            }
            Data::Binder { binder: Binder::Lambda, variables, body } => {
                let first = self.first_bound(id).index();
                let domain: Vec<PatternId> = (first..first + variables.len())
                    .map(|index| {
                        let sort = self.program.variables[index].sort;
                        self.patterns.exact(&self.program.sorts, sort)
                    })
                    .collect();
                for index in self.inference.alternative_range(*body) {
                    let Alternative { pattern, cost } = self.inference.pool[index];
                    let pattern = self.patterns.function(&mut self.program.sorts, &domain, pattern);
                    self.add(Alternative { pattern, cost }, found);
                }
            }
            Data::Binder { binder, body, .. } => {
                self.require(*body, SortId::BOOL, &format!("what follows {}", binder.text()));
                self.add_sort(SortId::BOOL, found);
            }
            Data::Where { body, definitions } => {
                let first = self.first_bound(id).index();
                for index in first..first + definitions.len() {
                    self.settle(VariableId::new(index));
                }
                found.extend_from_slice(self.inference.alternatives(*body));
            }
        }
    }

    /// The first variable that a node binds.
    pub(super) fn first_bound(&self, id: DataId) -> VariableId {
        match self.inference.nodes[id.index()].resolution {
            Resolution::Bound(variable) => variable,
            _ => VariableId::new(0),
        }
    }

    fn add_sort(&mut self, sort: SortId, found: &mut Vec<Alternative>) {
        let pattern = self.patterns.of_sort(&self.program.sorts, sort);
        self.add(Alternative { pattern, cost: 0 }, found);
    }

    /// Adds an alternative unless a cheaper one includes all its sorts.
    fn add(&mut self, alternative: Alternative, found: &mut Vec<Alternative>) {
        let sorts = &mut self.program.sorts;
        let covered = found.iter().any(|one| {
            one.cost <= alternative.cost
                && self.patterns.intersect(sorts, one.pattern, alternative.pattern)
                    == Some(alternative.pattern)
        });
        if !covered {
            found.push(alternative);
        }
    }

    /// Reports an expression that cannot have the required sort.
    pub(super) fn require(&mut self, id: DataId, sort: SortId, what: &str) -> bool {
        let fits = self.fit(id, sort).is_some();
        if !fits {
            self.explain_mismatch(id, sort, what);
        }
        fits
    }

    /// The cost of giving an expression a sort, and whether that needs no conversion.
    pub(super) fn fit(&mut self, id: DataId, sort: SortId) -> Option<(u32, bool)> {
        let mut best: Option<(u32, bool)> = None;
        for index in self.inference.alternative_range(id) {
            let Alternative { pattern, cost } = self.inference.pool[index];
            if self.patterns.contains(&self.program.sorts, pattern, sort) {
                let exact = self.patterns.starts_at(&mut self.program.sorts, pattern, sort);
                if best.is_none_or(|(least, was)| (cost, !exact) < (least, !was)) {
                    best = Some((cost, exact));
                }
            }
        }
        best
    }

    fn infer_name(&mut self, id: DataId, found: &mut Vec<Alternative>) {
        match self.inference.nodes[id.index()].resolution {
            Resolution::Variable(variable) => {
                self.settle(variable);
                self.add_sort(self.program.variable(variable).sort, found);
            }
            Resolution::Functions(word) => {
                let count = self.program.symbols_named(word).len();
                let sort_of = |one: &Self, index: usize| {
                    one.program.symbol(one.program.symbols_named(word)[index]).sort
                };
                // A constant comes before functions of the same name.
                let constant = (0..count)
                    .map(|index| sort_of(self, index))
                    .find(|&sort| self.program.sorts.signature(sort).0.is_empty());
                if let Some(sort) = constant {
                    return self.add_sort(sort, found);
                }
                for index in 0..count {
                    self.add_sort(sort_of(self, index), found);
                }
                for (index, overload) in self.builtins.get(&word).copied().unwrap_or(&[]).iter().enumerate() {
                    let any = [Patterns::ANY; 2];
                    let domain: Vec<PatternId> =
                        overload.domain.iter().map(|&term| self.instantiate(term, any)).collect();
                    let codomain = self.instantiate(overload.codomain, any);
                    let pattern = self.patterns.function(&mut self.program.sorts, &domain, codomain);
                    self.add(Alternative { pattern, cost: index as u32 }, found);
                }
            }
            _ => {}
        }
    }

    /// Gives a variable of a `whr` clause the smallest sort of its definition, once that is known.
    fn settle(&mut self, variable: VariableId) {
        if self.program.variable(variable).sort != SortId::UNKNOWN {
            return;
        }
        let Some(&definition) = self.inference.definitions.get(&variable) else { return };
        match self.smallest(definition) {
            Some(sort) => self.program.variables[variable.index()].sort = sort,
            // The error is reported only once.
            None => drop(self.inference.definitions.remove(&variable)),
        }
    }

    /// The smallest sort of the cheapest alternative. Reports an error if there are several.
    pub(super) fn smallest(&mut self, id: DataId) -> Option<SortId> {
        let least = self.inference.alternatives(id).iter().map(|one| one.cost).min()?;
        let mut cheapest = self.inference.alternatives(id).iter().filter(|one| one.cost == least);
        let best = cheapest.next()?.pattern;
        if cheapest.next().is_some() {
            self.explain_ambiguity(id);
            return None;
        }
        if best == Patterns::ANY && self.errors > 0 {
            return None;
        }
        Some(self.patterns.minimum(&mut self.program.sorts, best))
    }

    fn infer_literal(
        &mut self,
        id: DataId,
        container: Container,
        elements: impl Iterator<Item = DataId>,
        found: &mut Vec<Alternative>,
    ) {
        let mut states = vec![Alternative { pattern: Patterns::ANY, cost: 0 }];
        for element in elements {
            let mut next = Vec::with_capacity(states.len());
            for state in &states {
                for index in self.inference.alternative_range(element) {
                    let one = self.inference.pool[index];
                    let sorts = &mut self.program.sorts;
                    if let Some(pattern) = self.patterns.intersect(sorts, state.pattern, one.pattern) {
                        self.add(
                            Alternative { pattern, cost: state.cost.saturating_add(one.cost) },
                            &mut next,
                        );
                    }
                }
            }
            if next.is_empty() {
                return self.explain_element(id, element, &states);
            }
            states = next;
        }
        for Alternative { pattern, cost } in states {
            let pattern = self.patterns.container(&mut self.program.sorts, container, pattern);
            let pattern = self.patterns.widen(&self.program.sorts, pattern);
            self.add(Alternative { pattern, cost }, found);
        }
    }

    fn infer_comprehension(&mut self, id: DataId, body: DataId, found: &mut Vec<Alternative>) {
        let element = self.program.variable(self.first_bound(id)).sort;
        for (sort, container) in [(SortId::BOOL, Container::Set), (SortId::NAT, Container::Bag)] {
            if let Some((cost, _)) = self.fit(body, sort) {
                let sort = self.program.sorts.container(container, element);
                let pattern = self.patterns.of_sort(&self.program.sorts, sort);
                self.add(Alternative { pattern, cost }, found);
            }
        }
        if found.is_empty() {
            self.explain_mismatch(
                body,
                SortId::BOOL,
                "the condition of a set (or a Nat, the count of a bag)",
            );
        }
    }

    fn infer_operator(
        &mut self,
        id: DataId,
        overloads: &'static [Overload],
        arguments: &[DataId],
        found: &mut Vec<Alternative>,
    ) {
        self.infer_overloads(overloads, arguments, found);
        if found.is_empty() {
            self.explain_operator(id, overloads, arguments);
        }
    }

    fn infer_overloads(
        &mut self,
        overloads: &'static [Overload],
        arguments: &[DataId],
        found: &mut Vec<Alternative>,
    ) {
        for overload in overloads {
            for binding in self.match_overload(overload, arguments, None) {
                let pattern = self.instantiate(overload.codomain, binding.sorts);
                let pattern = self.patterns.widen(&self.program.sorts, pattern);
                self.add(Alternative { pattern, cost: binding.cost }, found);
            }
        }
    }

    /// The possible sort variables of a signature for these arguments, and for exactly this result
    /// if one is given. Cheapest first.
    pub(super) fn match_overload(
        &mut self,
        overload: &Overload,
        arguments: &[DataId],
        result: Option<SortId>,
    ) -> Vec<Binding> {
        if overload.domain.len() != arguments.len() {
            return Vec::new();
        }
        let mut start = [Patterns::ANY; 2];
        if let Some(sort) = result {
            let pattern = self.patterns.exact(&self.program.sorts, sort);
            if !self.meet(overload.codomain, pattern, &mut start) {
                return Vec::new();
            }
        }
        let mut states = vec![Binding { sorts: start, cost: 0 }];
        for (&term, &argument) in overload.domain.iter().zip(arguments) {
            let mut next: Vec<Binding> = Vec::with_capacity(states.len());
            for state in &states {
                for index in self.inference.alternative_range(argument) {
                    let one = self.inference.pool[index];
                    let mut sorts = state.sorts;
                    if !self.meet(term, one.pattern, &mut sorts) {
                        continue;
                    }
                    let cost = state.cost.saturating_add(one.cost);
                    match next.iter_mut().find(|other| other.sorts == sorts) {
                        Some(other) => other.cost = other.cost.min(cost),
                        None => next.push(Binding { sorts, cost }),
                    }
                }
            }
            states = next;
            if states.is_empty() {
                break;
            }
        }
        states.sort_by_key(|state| state.cost);
        states
    }

    fn infer_call(&mut self, word: Symbol, arguments: &[DataId], found: &mut Vec<Alternative>) {
        for index in 0..self.program.symbols_named(word).len() {
            let symbol = self.program.symbols_named(word)[index];
            if let Some((cost, exact)) = self.fit_all(symbol, arguments) {
                let codomain = self.program.signature(symbol).1;
                let pattern = self.patterns.of_sort(&self.program.sorts, codomain);
                let own = if exact { 0 } else { self.rank(word, index) };
                self.add(Alternative { pattern, cost: cost.saturating_add(own) }, found);
            }
        }
        self.infer_overloads(self.builtins.get(&word).copied().unwrap_or(&[]), arguments, found);
    }

    /// The cost of choosing a declared function whose arguments must be converted. The first
    /// declaration is the cheapest; functions that only differ in their result cost the same.
    pub(super) fn rank(&self, word: Symbol, index: usize) -> u32 {
        let all = self.program.symbols_named(word);
        let domain = |one: SymbolId| self.program.signature(one).0;
        let first = all.iter().position(|&one| domain(one) == domain(all[index])).unwrap_or(index);
        first as u32 + 1
    }

    /// The cost of giving a declared function these arguments, and whether no conversion is needed.
    pub(super) fn fit_all(&mut self, symbol: SymbolId, arguments: &[DataId]) -> Option<(u32, bool)> {
        if self.program.symbol(symbol).sort == SortId::UNKNOWN {
            return Some((0, true));
        }
        if self.program.signature(symbol).0.len() != arguments.len() || arguments.is_empty() {
            return None;
        }
        let (mut total, mut all_exact) = (0u32, true);
        for (position, &argument) in arguments.iter().enumerate() {
            let sort = self.program.signature(symbol).0[position];
            let (cost, exact) = self.fit(argument, sort)?;
            total = total.saturating_add(cost);
            all_exact &= exact;
        }
        Some((total, all_exact))
    }

    fn infer_application(&mut self, function: DataId, arguments: &[DataId], found: &mut Vec<Alternative>) {
        for index in self.inference.alternative_range(function) {
            let Alternative { pattern, cost } = self.inference.pool[index];
            if let Some((_, codomain, more)) = self.match_application(pattern, arguments) {
                let pattern = self.patterns.widen(&self.program.sorts, codomain);
                self.add(Alternative { pattern, cost: cost.saturating_add(more) }, found);
            }
        }
    }

    /// Matches arguments with a computed function: the patterns of its parameters, its result, and
    /// the cost.
    pub(super) fn match_application(
        &mut self,
        function: PatternId,
        arguments: &[DataId],
    ) -> Option<(Box<[PatternId]>, PatternId, u32)> {
        let (mut domain, codomain) =
            self.patterns.signature(&self.program.sorts, function, arguments.len())?;
        let mut total = 0u32;
        for (parameter, &argument) in domain.iter_mut().zip(arguments) {
            let mut best: Option<(u32, PatternId)> = None;
            for index in self.inference.alternative_range(argument) {
                let Alternative { pattern, cost } = self.inference.pool[index];
                if let Some(both) = self.patterns.intersect(&mut self.program.sorts, *parameter, pattern)
                    && best.is_none_or(|(least, _)| cost < least)
                {
                    best = Some((cost, both));
                }
            }
            let (cost, both) = best?;
            *parameter = both;
            total = total.saturating_add(cost);
        }
        Some((domain, codomain, total))
    }
}
