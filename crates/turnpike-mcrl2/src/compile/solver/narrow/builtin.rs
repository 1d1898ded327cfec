//! Built-in functions on partial values.

use super::candidate::Candidate;
use super::evaluate::Evaluation;
use super::partial::{Partial, Range};
use super::term::TermId;
use crate::typed::{Builtin, SortId, SymbolId};
use crate::value::{Head, Value};

impl Evaluation<'_> {
    /// The known elements that a list begins with, and whether that is all of it; otherwise the tail is unknown.
    fn spine(&self, list: &Partial, at: &Candidate) -> (Vec<Partial>, bool) {
        let (mut elements, mut rest) = (Vec::new(), list.clone());
        loop {
            match self.open(&rest, at) {
                Some((Head::Cons, parts)) => {
                    elements.push(parts[0].clone());
                    rest = parts[1].clone();
                }
                Some((Head::Nil, _)) => return (elements, true),
                _ => return (elements, false),
            }
        }
    }

    fn list(&mut self, elements: Vec<Partial>, tail: Partial, at: &Candidate) -> Partial {
        elements.into_iter().rev().fold(tail, |list, element| self.node(Head::Cons, vec![element, list], at))
    }

    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        symbol: SymbolId,
        terms: &[TermId],
        sort: SortId,
        at: &Candidate,
        locals: &mut [Partial],
    ) -> Partial {
        // Those that do not need all their arguments.
        match builtin {
            Builtin::And | Builtin::Or | Builtin::Implies => {
                let first = self.term(terms[0], at, locals);
                let first = self.truth(&first, at);
                // What the first must be to decide, and what it is then.
                let (decides, result) = match builtin {
                    Builtin::And => (false, false),
                    Builtin::Or => (true, true),
                    _ => (false, true),
                };
                if first == Some(decides) {
                    return Partial::bool(Some(result));
                }
                let second = self.term(terms[1], at, locals);
                let second = self.truth(&second, at);
                return Partial::bool(match (first, second) {
                    (_, Some(second)) if second == result => Some(result),
                    (Some(_), second) => second,
                    _ => None,
                });
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
        let range = |index: usize| self.range(&arguments[index], at);
        let one = Range::at(1);
        let number = |range: Range| {
            // The sort knows something, too.
            match Partial::of(sort) {
                Partial::Number(of_sort) if sort != SortId::REAL => Partial::Number(range.max(of_sort)),
                _ => Partial::Number(range),
            }
        };
        match builtin {
            Builtin::Equal => Partial::bool(self.equal(&arguments[0], &arguments[1], at)),
            Builtin::NotEqual => {
                Partial::bool(self.equal(&arguments[0], &arguments[1], at).map(|equal| !equal))
            }
            Builtin::Less => Partial::bool(self.less(true, &arguments[0], &arguments[1], at)),
            Builtin::LessEqual => Partial::bool(self.less(false, &arguments[0], &arguments[1], at)),
            Builtin::Greater => Partial::bool(self.less(true, &arguments[1], &arguments[0], at)),
            Builtin::GreaterEqual => Partial::bool(self.less(false, &arguments[1], &arguments[0], at)),
            Builtin::Union => {
                let sides = [0, 1].map(|index: usize| self.set_elements(&arguments[index], at));
                match sides {
                    [Some(one), Some(other)] => self.set([one, other].concat(), at),
                    _ => Partial::Unknown,
                }
            }
            Builtin::Not => Partial::bool(self.truth(&arguments[0], at).map(|truth| !truth)),
            Builtin::Add => number(range(0).plus(range(1))),
            Builtin::Subtract => number(range(0).plus(range(1).negate())),
            Builtin::Negate => number(range(0).negate()),
            Builtin::Multiply => number(range(0).times(range(1))),
            Builtin::Divide => number(range(0).over(range(1), true)),
            Builtin::Div => number(range(0).over(range(1), false)),
            Builtin::Mod => number(range(0).modulo(range(1))),
            Builtin::Exp => number(range(0).power(range(1))),
            Builtin::Max => number(range(0).max(range(1))),
            Builtin::Min => number(range(0).min(range(1))),
            Builtin::Succ => number(range(0).plus(one)),
            Builtin::Pred => number(range(0).plus(one.negate())),
            Builtin::Abs => number(range(0).abs()),
            Builtin::Floor | Builtin::Ceil | Builtin::Round | Builtin::Convert => number(range(0)),
            Builtin::Cons => self.node(Head::Cons, arguments.to_vec(), at),
            Builtin::Snoc => {
                let (mut elements, ends) = self.spine(&arguments[0], at);
                if !ends {
                    return self.list(elements, Partial::Unknown, at);
                }
                elements.push(arguments[1].clone());
                let nil = Partial::Known(self.machine.heap.make(Head::Nil, &[]));
                self.list(elements, nil, at)
            }
            Builtin::Concat => {
                let (elements, ends) = self.spine(&arguments[0], at);
                let tail = if ends { arguments[1].clone() } else { Partial::Unknown };
                self.list(elements, tail, at)
            }
            Builtin::Size => {
                let (elements, ends) = self.spine(&arguments[0], at);
                let from = i128::try_from(elements.len()).ok();
                if ends && let Some(length) = from.and_then(|length| i64::try_from(length).ok()) {
                    return Partial::Known(self.machine.heap.whole(length));
                }
                Partial::Number(Range { from, to: None })
            }
            Builtin::At => {
                let position = self.known(&arguments[1], at).and_then(Value::as_small);
                let position = position.and_then(|position| usize::try_from(position).ok());
                let (elements, _) = self.spine(&arguments[0], at);
                match position.and_then(|position| elements.into_iter().nth(position)) {
                    Some(element) => element,
                    None => Partial::of(sort),
                }
            }
            Builtin::In => Partial::bool(self.member(&arguments[0], &arguments[1], at)),
            Builtin::Head | Builtin::Tail => match self.open(&arguments[0], at) {
                Some((Head::Cons, parts)) => parts[usize::from(builtin == Builtin::Tail)].clone(),
                _ => Partial::of(sort),
            },
            Builtin::RHead => match self.spine(&arguments[0], at) {
                (elements, true) => elements.last().cloned().unwrap_or(Partial::of(sort)),
                _ => Partial::of(sort),
            },
            Builtin::RTail => match self.spine(&arguments[0], at) {
                (mut elements, true) if !elements.is_empty() => {
                    elements.pop();
                    let nil = Partial::Known(self.machine.heap.make(Head::Nil, &[]));
                    self.list(elements, nil, at)
                }
                _ => Partial::of(sort),
            },
            _ => Partial::of(sort),
        }
    }

    fn member(&mut self, element: &Partial, collection: &Partial, at: &Candidate) -> Option<bool> {
        let (elements, ends) = match self.set_elements(collection, at) {
            Some(elements) => (elements, true),
            None => self.spine(collection, at),
        };
        let mut found = if ends { Some(false) } else { None };
        for one in &elements {
            match self.equal(element, one, at) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => found = None,
            }
        }
        found
    }
}
