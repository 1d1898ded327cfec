//! Resolves overloading top-down: the context of an expression determines its sort, and the sort
//! determines which of several functions with the same name is used. An exact match of the
//! arguments is best, then the first declaration. A result of exactly the required sort is better
//! than one that must be converted. Two equally good functions are an error.

use super::checker::Checker;
use super::infer::{Inferred, Resolution};
use super::pattern::PatternId;
use crate::syntax::{Binder, Container, Data, DataId, Symbol};
use crate::typed::builtin::{self, Overload};
use crate::typed::items::{ExpressionId, SymbolId};
use crate::typed::sorts::{Sort, SortId};

/// More than any relevant sum of other costs: a converted result is worse than converted arguments.
const CONVERTED_RESULT: u32 = 1 << 16;

/// A signature that fits, with the sorts of its parameters.
struct Choice {
    symbol: SymbolId,
    domain: Vec<SortId>,
    own: SortId,
    cost: u32,
}

impl Checker<'_> {
    /// Gives an expression a sort and builds it; `None` after an error.
    pub(super) fn elaborate(&mut self, inferred: &Inferred, sort: SortId) -> Option<ExpressionId> {
        let errors = self.errors;
        self.inference.nodes[inferred.root.index()].expected = sort;
        for &id in &inferred.order {
            self.choose(id);
            if self.errors > errors {
                // Further errors would only be consequences of this one.
                return None;
            }
        }
        self.build(&inferred.order);
        self.inference.nodes[inferred.root.index()].typed
    }

    /// Infers an expression, gives it the required sort and builds it.
    pub(super) fn check(&mut self, root: DataId, sort: SortId, what: &str) -> Option<ExpressionId> {
        self.inference.clear();
        let inferred = self.infer(root)?;
        self.require(root, sort, what).then_some(())?;
        self.elaborate(&inferred, sort)
    }

    fn expect(&mut self, id: DataId, sort: SortId) {
        self.inference.nodes[id.index()].expected = sort;
    }

    fn set_own(&mut self, id: DataId, sort: SortId) {
        self.inference.nodes[id.index()].own = sort;
    }

    fn mismatch(&mut self, id: DataId) {
        let expected = self.inference.nodes[id.index()].expected;
        self.explain_mismatch(id, expected, "this");
    }

    /// Chooses the sort of a node before conversion, and the sorts that its children need.
    fn choose(&mut self, id: DataId) {
        let tree = self.tree;
        let expected = self.inference.nodes[id.index()].expected;
        self.set_own(id, expected);
        if expected == SortId::UNKNOWN {
            return self.mismatch(id);
        }
        match tree.data(id) {
            Data::Number(_) => {}
            Data::Bool(_) => self.set_own(id, SortId::BOOL),
            Data::Name(_) => self.choose_name(id),
            Data::List(elements) => self.choose_literal(id, Container::List, elements.iter().copied()),
            Data::Set(elements) => self.choose_literal(id, Container::FSet, elements.iter().copied()),
            Data::Bag(pairs) => {
                self.choose_literal(id, Container::FBag, pairs.iter().map(|pair| pair.0));
                for &(_, count) in pairs {
                    self.expect(count, SortId::NAT);
                }
            }
            Data::Comprehension { body, .. } => match *self.program.sorts.get(expected) {
                Sort::Container(Container::Set, _) => self.expect(*body, SortId::BOOL),
                Sort::Container(Container::Bag, _) => self.expect(*body, SortId::NAT),
                _ => self.mismatch(id),
            },
            Data::Apply { function, arguments } => match self.inference.nodes[id.index()].resolution {
                Resolution::Functions(word) => self.choose_call(id, word, arguments),
                _ => self.choose_application(id, *function, arguments),
            },
            Data::Update { function, key, value } => {
                let word = self.program.words.intern("update");
                self.choose_operator(id, word, builtin::of_update(), &[*function, *key, *value]);
            }
            Data::Unary(operator, operand) => {
                let word = self.program.words.intern(operator.text());
                self.choose_operator(id, word, builtin::of_unary(*operator), &[*operand]);
            }
            Data::Binary(operator, left, right) => {
                let word = self.program.words.intern(operator.text());
                self.choose_operator(id, word, builtin::of_binary(*operator), &[*left, *right]);
            }
            Data::Binder { binder: Binder::Lambda, variables, body } => {
                let first = self.first_bound(id).index();
                let declared = &self.program.variables[first..first + variables.len()];
                match self.program.sorts.get(expected) {
                    Sort::Function { domain, codomain }
                        if domain.iter().copied().eq(declared.iter().map(|one| one.sort)) =>
                    {
                        self.inference.nodes[body.index()].expected = *codomain;
                    }
                    _ => self.mismatch(id),
                }
            }
            Data::Binder { body, .. } => {
                self.set_own(id, SortId::BOOL);
                self.expect(*body, SortId::BOOL);
            }
            Data::Where { body, definitions } => {
                self.expect(*body, expected);
                let first = self.first_bound(id).index();
                for (index, definition) in definitions.iter().enumerate() {
                    self.expect(definition.value, self.program.variables[first + index].sort);
                }
            }
        }
    }

    fn choose_name(&mut self, id: DataId) {
        let node = self.inference.nodes[id.index()];
        match node.resolution {
            Resolution::Variable(variable) => self.set_own(id, self.program.variable(variable).sort),
            Resolution::Functions(word) => {
                let mut sort = Some(node.expected);
                while let Some(own) = sort {
                    let mut named = self.program.symbols_named(word).iter().copied();
                    let symbol = named.find(|&one| self.program.symbol(one).sort == own);
                    if let Some(symbol) = symbol.or_else(|| self.builtin_value(word, own)) {
                        self.set_own(id, own);
                        self.inference.nodes[id.index()].symbol = Some(symbol);
                        return;
                    }
                    sort = self.program.sorts.smaller(own);
                }
                self.mismatch(id);
            }
            _ => self.mismatch(id),
        }
    }

    /// A built-in function as a value of a function sort.
    fn builtin_value(&mut self, word: Symbol, sort: SortId) -> Option<SymbolId> {
        let (domain, codomain) = self.program.sorts.signature(sort);
        let (domain, codomain) = (domain.to_vec(), codomain);
        for overload in self.builtins.get(&word).copied().unwrap_or(&[]) {
            let mut sorts = [super::pattern::Patterns::ANY; 2];
            let parts = overload.domain.iter().copied().zip(domain.iter().copied());
            let fits = overload.domain.len() == domain.len()
                && parts.chain([(overload.codomain, codomain)]).all(|(term, part)| {
                    let pattern = self.patterns.exact(&self.program.sorts, part);
                    self.meet(term, pattern, &mut sorts)
                });
            if fits {
                return Some(self.program.builtin(overload.builtin, word, sort));
            }
        }
        None
    }

    fn choose_literal(&mut self, id: DataId, container: Container, elements: impl Iterator<Item = DataId>) {
        let expected = self.inference.nodes[id.index()].expected;
        let mut sort = Some(expected);
        while let Some(own) = sort {
            if let Some(element) = self.program.sorts.element(container, own) {
                self.set_own(id, own);
                elements.for_each(|one| self.expect(one, element));
                return;
            }
            sort = self.program.sorts.smaller(own);
        }
        self.mismatch(id);
    }

    fn choose_operator(
        &mut self,
        id: DataId,
        word: Symbol,
        overloads: &'static [Overload],
        arguments: &[DataId],
    ) {
        let expected = self.inference.nodes[id.index()].expected;
        match self.choose_overload(id, word, overloads, arguments, expected) {
            Some(choice) => self.take(id, &choice, arguments),
            None => self.mismatch(id),
        }
    }

    /// The cheapest signature that fits. Ties go to the first.
    fn choose_overload(
        &mut self,
        id: DataId,
        word: Symbol,
        overloads: &'static [Overload],
        arguments: &[DataId],
        expected: SortId,
    ) -> Option<Choice> {
        let mut best: Option<(u32, &Overload, SortId, [PatternId; 2], bool)> = None;
        for overload in overloads {
            let mut sort = Some(expected);
            while let Some(own) = sort {
                let bindings = self.match_overload(overload, arguments, Some(own));
                if let Some(first) = bindings.first() {
                    let tie = bindings.get(1).is_some_and(|second| second.cost == first.cost);
                    if best.is_none_or(|(least, ..)| first.cost < least) {
                        best = Some((first.cost, overload, own, first.sorts, tie));
                    }
                    break;
                }
                sort = self.program.sorts.smaller(own);
            }
        }
        let (cost, overload, own, patterns, tie) = best?;
        if tie {
            self.explain_ambiguity(id);
        }
        let sorts = patterns.map(|pattern| self.patterns.minimum(&mut self.program.sorts, pattern));
        let domain: Vec<SortId> =
            overload.domain.iter().map(|&term| self.instantiate_sort(term, sorts)).collect();
        let function = self.program.sorts.function(&domain, own);
        let symbol = self.program.builtin(overload.builtin, word, function);
        Some(Choice { symbol, domain, own, cost })
    }

    fn choose_call(&mut self, id: DataId, word: Symbol, arguments: &[DataId]) {
        let expected = self.inference.nodes[id.index()].expected;
        let mut best: Option<Choice> = None;
        let mut tie = false;
        for index in 0..self.program.symbols_named(word).len() {
            let symbol = self.program.symbols_named(word)[index];
            let Some((cost, exact)) = self.fit_all(symbol, arguments) else { continue };
            let (domain, own) = self.program.signature(symbol);
            let (domain, own) = (domain.to_vec(), own);
            let pattern = self.patterns.of_sort(&self.program.sorts, own);
            if !self.patterns.contains(&self.program.sorts, pattern, expected) {
                continue;
            }
            let converted = if own == expected { 0 } else { CONVERTED_RESULT };
            let cost =
                cost.saturating_add(if exact { 0 } else { self.rank(word, index) }).saturating_add(converted);
            match &best {
                Some(other) if other.cost < cost => {}
                Some(other) if other.cost == cost => tie = true,
                _ => {
                    best = Some(Choice { symbol, domain, own, cost });
                    tie = false;
                }
            }
        }
        let overloads = self.builtins.get(&word).copied().unwrap_or(&[]);
        if let Some(choice) = self.choose_overload(id, word, overloads, arguments, expected)
            && best.as_ref().is_none_or(|other| choice.cost < other.cost)
        {
            (best, tie) = (Some(choice), false);
        }
        if tie {
            self.explain_ambiguity(id);
        }
        match best {
            Some(choice) => self.take(id, &choice, arguments),
            None => self.mismatch(id),
        }
    }

    fn take(&mut self, id: DataId, choice: &Choice, arguments: &[DataId]) {
        let node = &mut self.inference.nodes[id.index()];
        node.symbol = Some(choice.symbol);
        node.own = choice.own;
        for (&argument, &sort) in arguments.iter().zip(&choice.domain) {
            self.expect(argument, sort);
        }
    }

    fn choose_application(&mut self, id: DataId, function: DataId, arguments: &[DataId]) {
        let expected = self.inference.nodes[id.index()].expected;
        let mut best: Option<(u32, Vec<SortId>, SortId)> = None;
        let mut tie = false;
        let alternatives = self.inference.alternatives(function).to_vec();
        for alternative in alternatives {
            let Some((domain, codomain, more)) = self.match_application(alternative.pattern, arguments)
            else {
                continue;
            };
            let mut sort = Some(expected);
            while let Some(own) = sort {
                if self.patterns.contains(&self.program.sorts, codomain, own) {
                    let cost = alternative.cost.saturating_add(more);
                    let domain: Vec<SortId> = domain
                        .iter()
                        .map(|&one| self.patterns.minimum(&mut self.program.sorts, one))
                        .collect();
                    match &best {
                        Some((least, ..)) if *least < cost => {}
                        Some((least, ..)) if *least == cost => tie = true,
                        _ => (best, tie) = (Some((cost, domain, own)), false),
                    }
                    break;
                }
                sort = self.program.sorts.smaller(own);
            }
        }
        if tie {
            self.explain_ambiguity(id);
        }
        let Some((_, domain, own)) = best else { return self.mismatch(id) };
        self.set_own(id, own);
        let sort = self.program.sorts.function(&domain, own);
        self.expect(function, sort);
        for (&argument, &sort) in arguments.iter().zip(&domain) {
            self.expect(argument, sort);
        }
    }
}
