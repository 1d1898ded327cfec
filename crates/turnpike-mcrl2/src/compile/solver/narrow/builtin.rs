//! Built-in functions on partial values.

use super::candidate::Candidate;
use super::evaluate::Evaluation;
use super::partial::{Partial, Range};
use super::term::TermId;
use crate::builtin::{Domain, list, logic};
use crate::typed::{Builtin, SortId, SymbolId};
use crate::value::{Head, Value};

/// Implements the built-in functions for partial values of a candidate. `sort` is that of the
/// result.
struct Partials<'e, 'a, 'c> {
    evaluation: &'e mut Evaluation<'a>,
    at: &'c Candidate,
    sort: SortId,
}

impl Domain for Partials<'_, '_, '_> {
    type Term = Partial;
    type Cursor = Partial;
    const HAS_RESIDUALS: bool = true;

    fn truth(&self, term: &Partial) -> Option<bool> {
        self.evaluation.truth(term, self.at)
    }

    fn bool(&mut self, value: bool) -> Partial {
        Partial::bool(Some(value))
    }

    fn operand_of_negation(&self, _: &Partial) -> Option<Partial> {
        None
    }

    fn negation(&mut self, _: &Partial) -> Option<Partial> {
        Some(Partial::Unknown)
    }

    fn same(&self, one: &Partial, other: &Partial) -> bool {
        let known = |term| self.evaluation.known(term, self.at);
        known(one).zip(known(other)).is_some_and(|(one, other)| one == other)
    }

    fn index(&self, term: &Partial) -> Option<usize> {
        usize::try_from(self.evaluation.known(term, self.at)?.as_small()?).ok()
    }

    fn count(&mut self, count: usize) -> Partial {
        match i64::try_from(count) {
            Ok(count) => Partial::Known(self.evaluation.machine.heap.whole(count)),
            Err(_) => Partial::Unknown,
        }
    }

    fn cursor(&self, list: &Partial) -> Partial {
        list.clone()
    }

    fn next(&self, cursor: &mut Partial) -> Option<Partial> {
        match self.evaluation.open(cursor, self.at) {
            Some((Head::Cons, parts)) => {
                *cursor = parts[1].clone();
                Some(parts[0].clone())
            }
            _ => None,
        }
    }

    fn is_end(&self, cursor: &Partial) -> bool {
        matches!(self.evaluation.open(cursor, self.at), Some((Head::Nil, _)))
    }

    fn rest(&mut self, cursor: Partial) -> Partial {
        cursor
    }

    fn prepend(&mut self, elements: Vec<Partial>, list: Partial) -> Option<Partial> {
        let prepend = |list, element| self.evaluation.node(Head::Cons, vec![element, list], self.at);
        Some(elements.into_iter().rev().fold(list, prepend))
    }

    fn empty_list(&mut self) -> Partial {
        Partial::Known(Value::NIL)
    }

    fn residual(&mut self, _: [Partial; 2]) -> Option<Partial> {
        Some(Partial::of(self.sort))
    }
}

impl Evaluation<'_> {
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        symbol: SymbolId,
        terms: &[TermId],
        sort: SortId,
        at: &Candidate,
        locals: &mut [Partial],
    ) -> Partial {
        // Functions that may not need all their arguments.
        match builtin {
            Builtin::And | Builtin::Or | Builtin::Implies => {
                let first = self.term(terms[0], at, locals);
                let (decides, result) = logic::deciding(builtin);
                if self.truth(&first, at) == Some(decides) {
                    return Partial::bool(Some(result));
                }
                let second = self.term(terms[1], at, locals);
                let domain = &mut Partials { evaluation: self, at, sort };
                return logic::connective(domain, builtin, &first, &second).unwrap_or(Partial::Unknown);
            }
            Builtin::If => {
                let condition = self.term(terms[0], at, locals);
                return match self.truth(&condition, at) {
                    Some(true) => self.term(terms[1], at, locals),
                    Some(false) => self.term(terms[2], at, locals),
                    None => {
                        let then = self.term(terms[1], at, locals);
                        let otherwise = self.term(terms[2], at, locals);
                        self.join(then, otherwise, at)
                    }
                };
            }
            _ => {}
        }
        let arguments = self.all(terms, at, locals);
        if let Some(values) = self.all_known(&arguments, at) {
            return self.apply(symbol, &values, sort);
        }
        self.partial_builtin(builtin, &arguments, sort, at)
    }

    fn partial_builtin(
        &mut self,
        builtin: Builtin,
        arguments: &[Partial],
        sort: SortId,
        at: &Candidate,
    ) -> Partial {
        match (builtin, arguments) {
            (Builtin::Equal, [left, right]) => Partial::bool(self.equal(left, right, at)),
            (Builtin::NotEqual, [left, right]) => {
                Partial::bool(self.equal(left, right, at).map(|equal| !equal))
            }
            (Builtin::Less, [left, right]) => Partial::bool(self.less(true, left, right, at)),
            (Builtin::LessEqual, [left, right]) => Partial::bool(self.less(false, left, right, at)),
            (Builtin::Greater, [left, right]) => Partial::bool(self.less(true, right, left, at)),
            (Builtin::GreaterEqual, [left, right]) => Partial::bool(self.less(false, right, left, at)),
            (Builtin::Union, [left, right]) => {
                match (self.set_elements(left, at), self.set_elements(right, at)) {
                    (Some(one), Some(other)) => self.set([one, other].concat(), at),
                    _ => Partial::Unknown,
                }
            }
            (Builtin::In, [element, collection]) => Partial::bool(self.member(element, collection, at)),
            (Builtin::Size, [list]) => {
                let domain = &mut Partials { evaluation: self, at, sort };
                match list::length(domain, list) {
                    (length, true) => domain.count(length),
                    (length, false) => Partial::Number(Range { from: i128::try_from(length).ok(), to: None }),
                }
            }
            (Builtin::Not, [operand]) => {
                let domain = &mut Partials { evaluation: self, at, sort };
                logic::not(domain, operand).unwrap_or(Partial::Unknown)
            }
            _ if sort.is_number() && builtin.is_arithmetic() => {
                let ranges: Vec<Range> = arguments.iter().map(|one| self.range(one, at)).collect();
                let range = Range::apply(builtin, &ranges);
                // The sort gives a range, too.
                match Partial::of(sort) {
                    Partial::Number(of_sort) if sort != SortId::REAL => Partial::Number(range.max(of_sort)),
                    _ => Partial::Number(range),
                }
            }
            _ => {
                let domain = &mut Partials { evaluation: self, at, sort };
                list::apply(domain, builtin, arguments).unwrap_or(Partial::of(sort))
            }
        }
    }

    fn member(&mut self, element: &Partial, collection: &Partial, at: &Candidate) -> Option<bool> {
        let (elements, is_all) = match self.set_elements(collection, at) {
            Some(elements) => (elements, true),
            None => {
                let domain = Partials { evaluation: self, at, sort: SortId::BOOL };
                let (elements, cursor) = list::elements(&domain, collection);
                let is_all = domain.is_end(&cursor);
                (elements, is_all)
            }
        };
        match self.among(element, &elements, at) {
            Some(false) if !is_all => None,
            found => found,
        }
    }
}
