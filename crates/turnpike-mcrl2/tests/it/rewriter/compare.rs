//! Equality and order, which may be stuck.

use super::engine::{Lazy, Rewriter, Rewritten};
use super::term::{Base, Node, STACK, Term};
use turnpike_mcrl2::syntax::{Binder, Container};
use turnpike_mcrl2::typed::{Builtin, Sort, SortId, SymbolKind};

/// The result, or `None` if it is stuck.
pub(super) type Answer = Option<bool>;

/// Conjunction: false if one operand is false, even if the other is stuck.
pub(super) fn both(one: Answer, other: Answer) -> Answer {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Disjunction.
pub(super) fn either(one: Answer, other: Answer) -> Answer {
    both(one.map(|value| !value), other.map(|value| !value)).map(|value| !value)
}

impl Rewriter<'_> {
    /// The result of the equations of the specification for two values.
    fn declared(
        &mut self,
        builtin: Builtin,
        name: &str,
        sort: SortId,
        one: &Term,
        other: &Term,
    ) -> Rewritten<Answer> {
        let symbol = self.symbol(builtin, name, &[sort, sort], SortId::BOOL);
        let arguments = [Lazy::done(one.clone()), Lazy::done(other.clone())];
        Ok(self.by_rules(symbol, &arguments)?.and_then(|result| result.as_bool()))
    }

    /// `one == other` at a sort.
    pub(super) fn equal(&mut self, sort: SortId, one: &Term, other: &Term) -> Rewritten<Answer> {
        if one == other {
            return Ok(Some(true));
        }
        if let Some(answer) = self.declared(Builtin::Equal, "==", sort, one, other)? {
            return Ok(Some(answer));
        }
        stacker::maybe_grow(STACK.0, STACK.1, || match self.program.sorts.get(sort).clone() {
            Sort::Bool => Ok(one.as_bool().and_then(|_| other.as_bool()).map(|_| false)),
            Sort::Pos | Sort::Nat | Sort::Int | Sort::Real => {
                Ok(one.as_number().and_then(|_| other.as_number()).map(|_| false))
            }
            Sort::Container(Container::List, element) => self.equal_lists(element, sort, one, other),
            Sort::Container(Container::Set | Container::FSet, element) => {
                self.equal_sets(element, one, other)
            }
            Sort::Container(Container::Bag | Container::FBag, element) => {
                let (Some(ones), Some(others)) = (finite_bag(one), finite_bag(other)) else {
                    return self.everywhere(element, one, other, Builtin::Equal);
                };
                Ok(both(self.below_bag(element, &ones, &others)?, self.below_bag(element, &others, &ones)?))
            }
            Sort::Struct(_) => {
                let (Some((first, ones)), Some((second, others))) =
                    (self.alternative(one), self.alternative(other))
                else {
                    return Ok(None);
                };
                if first != second {
                    return Ok(Some(false));
                }
                let mut answer = Some(true);
                for (index, (one, other)) in ones.iter().zip(&others).enumerate() {
                    let field = self.field_sort(sort, first, index);
                    answer = both(answer, self.equal(field, one, other)?);
                }
                Ok(answer)
            }
            Sort::Function { domain, codomain } => self.equal_functions(&domain, codomain, one, other),
            Sort::Basic(_) | Sort::Unknown => Ok(None),
        })
    }

    pub(super) fn field_sort(&self, sort: SortId, alternative: u32, index: usize) -> SortId {
        let structure = self.program.sorts.structure(sort);
        structure.map_or(SortId::UNKNOWN, |one| one.constructors[alternative as usize].fields[index].sort)
    }

    fn equal_lists(&mut self, element: SortId, sort: SortId, one: &Term, other: &Term) -> Rewritten<Answer> {
        match (self.first_and_rest(one), self.first_and_rest(other)) {
            (Some(Some((one, ones))), Some(Some((other, others)))) => {
                let firsts = self.equal(element, &one, &other)?;
                if firsts == Some(false) {
                    return Ok(firsts);
                }
                Ok(both(firsts, self.equal(sort, &ones, &others)?))
            }
            (Some(None), Some(Some(_))) | (Some(Some(_)), Some(None)) => Ok(Some(false)),
            _ => Ok(None),
        }
    }

    /// The first element and the rest of a list: `Some(None)` for the empty list, `None` if it is
    /// stuck.
    #[expect(clippy::option_option, reason = "empty and stuck are different")]
    pub(super) fn first_and_rest(&self, list: &Term) -> Option<Option<(Term, Term)>> {
        match list.node() {
            Node::List(elements) => Some(
                elements
                    .split_first()
                    .map(|(first, rest)| (first.clone(), Term::new(Node::List(rest.to_vec())))),
            ),
            Node::Call(symbol, parts)
                if self.program.symbol(*symbol).kind == SymbolKind::Builtin(Builtin::Cons) =>
            {
                Some(Some((parts[0].clone(), parts[1].clone())))
            }
            _ => None,
        }
    }

    /// `f == g` is `forall x. f(x) == g(x)`.
    fn equal_functions(
        &mut self,
        domain: &[SortId],
        codomain: SortId,
        one: &Term,
        other: &Term,
    ) -> Rewritten<Answer> {
        let name = self.program.words.intern("x");
        let variables: Vec<_> = domain
            .iter()
            .map(|&sort| {
                let id = self.program.add_variable(name, sort, turnpike_mcrl2::syntax::Span::default());
                super::term::Var { id, copy: 0 }
            })
            .collect();
        let arguments: Vec<Term> = variables.iter().map(|&one| Term::new(Node::Variable(one))).collect();
        let applied = |function: &Term| Term::new(Node::Apply(function.clone(), arguments.clone()));
        let equal = self.symbol(Builtin::Equal, "==", &[codomain, codomain], SortId::BOOL);
        let body = Term::call(equal, &[&applied(one), &applied(other)]);
        Ok(self.closed(&Term::new(Node::Binder(Binder::Forall, variables, body)))?.as_bool())
    }

    /// `one < other` at a sort, or `one <= other`.
    pub(super) fn less(&mut self, sort: SortId, strict: bool, one: &Term, other: &Term) -> Rewritten<Answer> {
        if one == other {
            return Ok(Some(!strict));
        }
        let (builtin, name) = if strict { (Builtin::Less, "<") } else { (Builtin::LessEqual, "<=") };
        if let Some(answer) = self.declared(builtin, name, sort, one, other)? {
            return Ok(Some(answer));
        }
        stacker::maybe_grow(STACK.0, STACK.1, || match self.program.sorts.get(sort).clone() {
            Sort::Bool => Ok(one.as_bool().zip(other.as_bool()).map(|(one, other)| !one & other)),
            Sort::Pos | Sort::Nat | Sort::Int | Sort::Real => Ok(self.less_numbers(sort, strict, one, other)),
            Sort::Container(Container::List, element) => {
                match (self.first_and_rest(one), self.first_and_rest(other)) {
                    (Some(None), Some(Some(_))) => Ok(Some(true)),
                    (Some(Some(_)), Some(None)) => Ok(Some(false)),
                    (Some(Some((one, ones))), Some(Some((other, others)))) => {
                        let smaller = self.less(element, true, &one, &other)?;
                        let same = self.equal(element, &one, &other)?;
                        let rest = self.less(sort, strict, &ones, &others)?;
                        Ok(either(smaller, both(same, rest)))
                    }
                    _ => Ok(None),
                }
            }
            Sort::Container(Container::Set | Container::FSet, element) => {
                let below = self.below_set(element, one, other)?;
                let above = if strict { self.below_set(element, other, one)? } else { Some(false) };
                Ok(both(below, above.map(|value| !value)))
            }
            Sort::Container(Container::Bag | Container::FBag, element) => {
                let (Some(ones), Some(others)) = (finite_bag(one), finite_bag(other)) else {
                    let below = match finite_bag(one) {
                        // No other element is in the set.
                        Some(ones) => {
                            let mut below = Some(true);
                            for (member, count) in ones {
                                let limit = self.count(element, &member, other)?;
                                let enough = limit
                                    .and_then(|limit| self.less_numbers(SortId::NAT, false, &count, &limit));
                                below = both(below, enough);
                            }
                            below
                        }
                        None => self.everywhere(element, one, other, Builtin::LessEqual)?,
                    };
                    let same = if strict { self.equal(sort, one, other)? } else { Some(false) };
                    return Ok(both(below, same.map(|same| !same)));
                };
                let below = self.below_bag(element, &ones, &others)?;
                let above = if strict { self.below_bag(element, &others, &ones)? } else { Some(false) };
                Ok(both(below, above.map(|value| !value)))
            }
            Sort::Struct(_) => {
                let (Some((first, ones)), Some((second, others))) =
                    (self.alternative(one), self.alternative(other))
                else {
                    return Ok(None);
                };
                if first != second {
                    return Ok(Some(first < second));
                }
                // From the last field to the first: this field is smaller, or equal and the fields
                // after it decide.
                let mut answer = Some(!strict);
                for (index, (one, other)) in ones.iter().zip(&others).enumerate().rev() {
                    let field = self.field_sort(sort, first, index);
                    let last = index + 1 == ones.len();
                    answer = if last {
                        self.less(field, strict, one, other)?
                    } else {
                        let smaller = self.less(field, true, one, other)?;
                        let same = self.equal(field, one, other)?;
                        either(smaller, both(same, answer))
                    };
                }
                Ok(answer)
            }
            Sort::Function { .. } | Sort::Basic(_) | Sort::Unknown => Ok(None),
        })
    }

    /// Compares numbers. Nothing is less than the least value of a sort.
    fn less_numbers(&self, sort: SortId, strict: bool, one: &Term, other: &Term) -> Answer {
        use dashu_ratio::RBig;
        let least = match sort {
            SortId::NAT => Some(RBig::ZERO),
            SortId::POS => Some(RBig::ONE),
            _ => None,
        };
        match (one.as_number(), other.as_number()) {
            (Some(one), Some(other)) => Some(if strict { one < other } else { one <= other }),
            (Some(one), None) if !strict && Some(one) == least.as_ref() => Some(true),
            (None, Some(other)) if strict && Some(other) == least.as_ref() => Some(false),
            _ => None,
        }
    }

    fn equal_sets(&mut self, element: SortId, one: &Term, other: &Term) -> Rewritten<Answer> {
        Ok(both(self.below_set(element, one, other)?, self.below_set(element, other, one)?))
    }

    /// Whether a set is a subset of another one.
    fn below_set(&mut self, element: SortId, one: &Term, other: &Term) -> Rewritten<Answer> {
        let (Node::Set { base, elements }, Node::Set { base: limit, elements: exceptions }) =
            (one.node(), other.node())
        else {
            return Ok(None);
        };
        let everywhere = match (base, limit) {
            (Base::Nothing, _) | (_, Base::Everything) => Some(true),
            (Base::Everything, Base::Nothing) => Some(false),
            _ => None,
        };
        let candidates: Vec<Term> = match (everywhere, self.values(element)) {
            (Some(true), _) => elements.iter().chain(exceptions).cloned().collect(),
            (_, Some(values)) => values,
            // Infinitely many members and finitely many.
            (Some(false), None) => return Ok(Some(false)),
            (None, None) => return self.everywhere(element, one, other, Builtin::LessEqual),
        };
        let mut answer = Some(true);
        for candidate in candidates {
            let inside = self.member(element, &candidate, one)?;
            let within = self.member(element, &candidate, other)?;
            answer = both(answer, either(inside.map(|value| !value), within));
        }
        Ok(answer)
    }

    /// Whether this relation holds between the values of two sets or bags for all elements.
    fn everywhere(&mut self, element: SortId, one: &Term, other: &Term, how: Builtin) -> Rewritten<Answer> {
        let known = |term: &Term| matches!(term.node(), Node::Set { .. } | Node::Bag { .. });
        if !known(one) || !known(other) {
            return Ok(None);
        }
        let is_bag = matches!(one.node(), Node::Bag { .. });
        let (container, builtin, name, result) = if is_bag {
            (Container::Bag, Builtin::Count, "count", SortId::NAT)
        } else {
            (Container::Set, Builtin::In, "in", SortId::BOOL)
        };
        let whole = self.program.sorts.container(container, element);
        let says = self.symbol(builtin, name, &[element, whole], result);
        let sign = if how == Builtin::Equal { "==" } else { "<=" };
        let compare = self.symbol(how, sign, &[result, result], SortId::BOOL);
        let name = self.program.words.intern("x");
        let id = self.program.add_variable(name, element, turnpike_mcrl2::syntax::Span::default());
        let variable = super::term::Var { id, copy: 0 };
        let said = |set: &Term| Term::call(says, &[&Term::new(Node::Variable(variable)), set]);
        let body = Term::call(compare, &[&said(one), &said(other)]);
        Ok(self.closed(&Term::new(Node::Binder(Binder::Forall, vec![variable], body)))?.as_bool())
    }

    fn below_bag(
        &mut self,
        element: SortId,
        ones: &[(Term, Term)],
        others: &[(Term, Term)],
    ) -> Rewritten<Answer> {
        let mut answer = Some(true);
        for (one, count) in ones {
            let mut here = Some(false);
            for (other, limit) in others {
                let enough = self.less_numbers(SortId::POS, false, count, limit);
                here = either(here, both(self.equal(element, one, other)?, enough));
            }
            answer = both(answer, here);
        }
        Ok(answer)
    }
}

/// The entries of a finite bag.
pub(super) fn finite_bag(bag: &Term) -> Option<Vec<(Term, Term)>> {
    match bag.node() {
        Node::Bag { base: None, entries } if entries.iter().all(|(_, count)| count.as_number().is_some()) => {
            Some(entries.clone())
        }
        _ => None,
    }
}
