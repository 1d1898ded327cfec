//! `==`, `<` and `<=` at every sort. Plain values are compared as terms. Others are compared part
//! by part, as far as their parts are known.

use std::cmp::Ordering;
use std::sync::Arc;

use super::distinguish::Difference;
use super::library::Tables;
use super::run::{Answer, deeper};
use super::{Fault, Machine};
use crate::syntax::Container;
use crate::typed::{Builtin, Sort, SortId, SymbolId};
use crate::value::{Head, Value};

/// A truth value, or nothing when it is stuck and cannot be written as a term of the program.
pub(super) type Known = Result<Option<Value>, Fault>;

impl Machine {
    /// `left == right`
    #[inline(never)]
    pub(super) fn equal(&mut self, t: &Arc<Tables>, symbol: SymbolId, left: Value, right: Value) -> Answer {
        if self.heap.is_plain(left) && self.heap.is_plain(right) {
            return Ok(Value::bool(self.heap.same(left, right)));
        }
        let Some(sort) = t.first_sort(symbol) else { return Ok(self.stuck(symbol, &[left, right])) };
        let found = self.equal_parts(t, sort, left, right)?;
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[left, right])))
    }

    /// `left != right`
    #[inline(never)]
    pub(super) fn not_equal(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Answer {
        if self.heap.is_plain(left) && self.heap.is_plain(right) {
            return Ok(Value::bool(!self.heap.same(left, right)));
        }
        let Some(sort) = t.first_sort(symbol) else { return Ok(self.stuck(symbol, &[left, right])) };
        let opposite = match self.equal_at(t, sort, left, right)? {
            Some(equal) => self.negate(t, equal),
            None => None,
        };
        Ok(opposite.unwrap_or_else(|| self.stuck(symbol, &[left, right])))
    }

    /// Whether two values of a sort are equal, by the user's rules if there are any.
    pub(super) fn equal_at(&mut self, t: &Arc<Tables>, sort: SortId, left: Value, right: Value) -> Known {
        if self.heap.same(left, right) {
            return Ok(Some(Value::TRUE));
        }
        if self.heap.is_plain(left) && self.heap.is_plain(right) {
            return Ok(Some(Value::FALSE));
        }
        let symbol = t.builtin(Builtin::Equal, sort);
        if let Some(function) = symbol.and_then(|symbol| self.rules.known.function(symbol)) {
            return self.call_values(t, function, &[left, right]).map(Some);
        }
        if let Some(found) = deeper(|| self.equal_parts(t, sort, left, right))? {
            return Ok(Some(found));
        }
        Ok(symbol.map(|symbol| self.stuck(symbol, &[left, right])))
    }

    /// Compares two values part by part; `None` if that does not decide.
    fn equal_parts(&mut self, t: &Arc<Tables>, sort: SortId, left: Value, right: Value) -> Known {
        if self.heap.same(left, right) {
            return Ok(Some(Value::TRUE));
        }
        if sort.index() >= t.program.sorts.len() {
            return Ok(None);
        }
        match t.program.sorts.get(sort) {
            Sort::Bool => match (left, right) {
                (Value::TRUE, other) | (other, Value::TRUE) => Ok(Some(other)),
                (Value::FALSE, other) | (other, Value::FALSE) => Ok(self.negate(t, other)),
                _ => Ok(None),
            },
            Sort::Container(Container::List, element) => self.equal_lists(t, sort, *element, left, right),
            Sort::Container(Container::Set | Container::FSet, element) => {
                self.equal_sets(t, *element, left, right)
            }
            Sort::Container(_, element) => self.equal_bags(t, *element, left, right),
            Sort::Struct(_) => {
                let constructors = self.struct_constructor(t, left).zip(self.struct_constructor(t, right));
                let Some((one, other)) = constructors else { return Ok(None) };
                if one != other {
                    return Ok(Some(Value::FALSE));
                }
                let mut all = Some(Value::TRUE);
                for (index, &field) in t.program.signature(one).0.iter().enumerate() {
                    let (left, right) = (self.heap.argument(left, index), self.heap.argument(right, index));
                    let equal = self.equal_at(t, field, left, right)?;
                    if equal == Some(Value::FALSE) {
                        return Ok(equal);
                    }
                    all = match (all, equal) {
                        (Some(all), Some(equal)) => self.combine(t, Builtin::And, all, equal),
                        _ => None,
                    };
                }
                Ok(all)
            }
            Sort::Function { domain, codomain } => {
                self.equal_functions(t, sort, (domain, *codomain), left, right)
            }
            _ => Ok(None),
        }
    }

    fn equal_lists(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        element: SortId,
        mut left: Value,
        mut right: Value,
    ) -> Known {
        let mut all = Some(Value::TRUE);
        loop {
            let rest = if self.heap.same(left, right) {
                Some(Value::TRUE)
            } else {
                match (self.heap.list_parts(left), self.heap.list_parts(right)) {
                    (Some((one, lefts)), Some((other, rights))) => {
                        let equal = self.equal_at(t, element, one, other)?;
                        if equal == Some(Value::FALSE) {
                            return Ok(equal);
                        }
                        all = match (all, equal) {
                            (Some(all), Some(equal)) => self.combine(t, Builtin::And, all, equal),
                            _ => None,
                        };
                        (left, right) = (lefts, rights);
                        continue;
                    }
                    (None, Some(_)) if left == Value::NIL => Some(Value::FALSE),
                    (Some(_), None) if right == Value::NIL => Some(Value::FALSE),
                    _ => t.builtin(Builtin::Equal, sort).map(|symbol| self.stuck(symbol, &[left, right])),
                }
            };
            return Ok(match (all, rest) {
                (_, Some(Value::FALSE)) => Some(Value::FALSE),
                (Some(all), Some(rest)) => self.combine(t, Builtin::And, all, rest),
                _ => None,
            });
        }
    }

    /// Whether two functions have the same result for all arguments. Finitely many arguments are
    /// tried one by one.
    fn equal_functions(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        (domain, codomain): (&[SortId], SortId),
        left: Value,
        right: Value,
    ) -> Known {
        if self.heap.same(self.heap.update_base(left), self.heap.update_base(right)) && domain.len() == 1 {
            // Two updates of one function can only differ at the updated keys.
            let mut keys: Vec<Value> = Vec::new();
            for function in [left, right] {
                if self.heap.is(function, Head::Update) {
                    keys.extend(self.heap.arguments(function).skip(1).step_by(2));
                }
            }
            return self.equal_at_all(t, keys.into_iter().map(|key| vec![key]), codomain, left, right);
        }
        if let Some(rows) = self.rows(t, domain) {
            return self.equal_at_all(t, rows.into_iter(), codomain, left, right);
        }
        let known = |head| matches!(head, Some(Head::Bind(..) | Head::Lambda(_) | Head::Update));
        if !known(self.heap.head(left)) || !known(self.heap.head(right)) {
            return Ok(None);
        }
        // Now for arbitrary arguments.
        let count = domain.len();
        let done = self.under(count, |machine, first| {
            let variables: Vec<Value> =
                (first..).take(count).map(|number| machine.heap.free(number)).collect();
            let one = machine.apply_values(t, left, &variables)?;
            let other = machine.apply_values(t, right, &variables)?;
            machine.equal_at(t, codomain, one, other)
        })?;
        if let Some((Some(decided), _)) = done
            && decided.as_bool().is_some()
        {
            return Ok(Some(decided));
        }
        let differ = self.differ(t, Difference::Functions, sort, left, right)?;
        Ok(differ.map(|differ| Value::bool(!differ)))
    }

    fn equal_at_all(
        &mut self,
        t: &Arc<Tables>,
        rows: impl Iterator<Item = Vec<Value>>,
        codomain: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        let mut all = Some(Value::TRUE);
        for row in rows {
            let one = self.apply_values(t, left, &row)?;
            let other = self.apply_values(t, right, &row)?;
            match self.equal_at(t, codomain, one, other)? {
                Some(Value::TRUE) => {}
                Some(Value::FALSE) => return Ok(Some(Value::FALSE)),
                _ => all = None,
            }
        }
        Ok(all)
    }

    /// The constructor of a value of a structured sort, if it is known.
    fn struct_constructor(&self, t: &Tables, value: Value) -> Option<SymbolId> {
        match self.heap.head(value) {
            Some(Head::Symbol(symbol)) if t.is_struct_constructor(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// `<`, `<=`, `>` or `>=`
    #[inline(never)]
    pub(super) fn order(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Answer {
        let Some(sort) = t.first_sort(symbol) else { return Ok(self.stuck(symbol, &[left, right])) };
        let (strict, turned) = match builtin {
            Builtin::Less => (true, false),
            Builtin::LessEqual => (false, false),
            Builtin::Greater => (true, true),
            _ => (false, true),
        };
        // `a > b` becomes `b < a`, even when it is stuck.
        let found = if turned {
            self.less_at(t, sort, strict, right, left)?
        } else {
            self.less_parts(t, sort, strict, left, right)?
        };
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[left, right])))
    }

    /// `left < right` (or `left <= right`) at a sort, by the user's rules if there are any.
    fn less_at(&mut self, t: &Arc<Tables>, sort: SortId, strict: bool, left: Value, right: Value) -> Known {
        let builtin = if strict { Builtin::Less } else { Builtin::LessEqual };
        let symbol = t.builtin(builtin, sort);
        if let Some(function) = symbol.and_then(|symbol| self.rules.known.function(symbol)) {
            return self.call_values(t, function, &[left, right]).map(Some);
        }
        if let Some(found) = deeper(|| self.less_parts(t, sort, strict, left, right))? {
            return Ok(Some(found));
        }
        Ok(symbol.map(|symbol| self.stuck(symbol, &[left, right])))
    }

    fn less_parts(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        strict: bool,
        left: Value,
        right: Value,
    ) -> Known {
        if self.heap.same(left, right) {
            return Ok(Some(Value::bool(!strict)));
        }
        if sort.index() >= t.program.sorts.len() {
            return Ok(None);
        }
        match t.program.sorts.get(sort) {
            Sort::Pos | Sort::Nat | Sort::Int | Sort::Real => {
                let known = self.heap.compare_numbers(left, right).map(|order| match order {
                    Ordering::Less => Value::TRUE,
                    Ordering::Equal => Value::bool(!strict),
                    Ordering::Greater => Value::FALSE,
                });
                // No number is smaller than the least number.
                Ok(known.or(match (strict, sort) {
                    (true, SortId::NAT) if right == Value::ZERO => Some(Value::FALSE),
                    (true, SortId::POS) if right == Value::ONE => Some(Value::FALSE),
                    (false, SortId::NAT) if left == Value::ZERO => Some(Value::TRUE),
                    (false, SortId::POS) if left == Value::ONE => Some(Value::TRUE),
                    _ => None,
                }))
            }
            Sort::Bool => Ok(match (left.as_bool(), right.as_bool()) {
                (Some(left), Some(right)) => Some(Value::bool(!left & right)),
                (Some(false), None) if !strict => Some(Value::TRUE),
                (Some(true), None) if strict => Some(Value::FALSE),
                (None, Some(true)) if !strict => Some(Value::TRUE),
                (None, Some(false)) if strict => Some(Value::FALSE),
                _ => None,
            }),
            Sort::Container(Container::List, element) => self.less_lists(t, *element, strict, left, right),
            Sort::Struct(_) => self.less_structs(t, strict, left, right),
            Sort::Container(container, element) => {
                let bag = matches!(container, Container::Bag | Container::FBag);
                let Some(subset) = self.subset(t, bag, *element, left, right)? else { return Ok(None) };
                if !strict || subset == Value::FALSE {
                    return Ok(Some(subset));
                }
                match self.equal_at(t, sort, left, right)? {
                    Some(equal) => Ok(self.negate(t, equal)),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// The order of lists: by the first elements that differ.
    fn less_lists(
        &mut self,
        t: &Arc<Tables>,
        element: SortId,
        strict: bool,
        mut left: Value,
        mut right: Value,
    ) -> Known {
        loop {
            match (self.heap.list_parts(left), self.heap.list_parts(right)) {
                (Some((one, lefts)), Some((other, rights))) => {
                    match self.equal_at(t, element, one, other)? {
                        Some(Value::TRUE) => (left, right) = (lefts, rights),
                        Some(Value::FALSE) => return self.less_at(t, element, true, one, other),
                        _ => return Ok(None),
                    }
                }
                _ if self.heap.same(left, right) => return Ok(Some(Value::bool(!strict))),
                (None, Some(_)) if left == Value::NIL => return Ok(Some(Value::TRUE)),
                (Some(_), None) if right == Value::NIL => return Ok(Some(Value::FALSE)),
                _ => return Ok(None),
            }
        }
    }

    /// The order of structures: by constructors, then by the first fields that differ.
    fn less_structs(&mut self, t: &Arc<Tables>, strict: bool, left: Value, right: Value) -> Known {
        let constructors = self.struct_constructor(t, left).zip(self.struct_constructor(t, right));
        let Some((one, other)) = constructors else { return Ok(None) };
        if one != other {
            return Ok(Some(Value::bool(one < other)));
        }
        for (index, &field) in t.program.signature(one).0.iter().enumerate() {
            let (left, right) = (self.heap.argument(left, index), self.heap.argument(right, index));
            match self.equal_at(t, field, left, right)? {
                Some(Value::TRUE) => {}
                Some(Value::FALSE) => return self.less_at(t, field, true, left, right),
                _ => return Ok(None),
            }
        }
        Ok(Some(Value::bool(!strict)))
    }
}
