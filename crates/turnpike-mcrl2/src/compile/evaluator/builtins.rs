//! Built-in functions on values, including stuck ones.

use std::sync::Arc;

use super::library::Tables;
use super::node::{Function, Least, Otherwise};
use super::run::Answer;
use super::values::Values;
use super::{Fault, Machine};
use crate::builtin::{list, logic};
use crate::typed::{Builtin, SortId, SymbolId, SymbolKind};
use crate::value::{Head, Value};

impl Machine {
    pub(super) fn stuck(&mut self, symbol: SymbolId, arguments: &[Value]) -> Value {
        self.heap.make(Head::Symbol(symbol), arguments)
    }

    /// A view of the values as terms of built-in functions, for evaluating `symbol`.
    #[inline]
    pub(super) fn values<'a>(&'a mut self, tables: &'a Tables, symbol: SymbolId) -> Values<'a> {
        Values { heap: &mut self.heap, tables, symbol }
    }

    /// `&&`, `||` or `=>`
    #[inline(never)]
    pub(super) fn connective(
        &mut self,
        t: &Tables,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Value {
        let found = logic::connective(&mut self.values(t, symbol), builtin, &left, &right);
        found.unwrap_or_else(|| self.stuck(symbol, &[left, right]))
    }

    /// The conjunction or disjunction of two truth values; `None` if it is stuck and the program
    /// has no symbol for it.
    pub(super) fn combine(
        &mut self,
        t: &Tables,
        builtin: Builtin,
        left: Value,
        right: Value,
    ) -> Option<Value> {
        let symbol = t.builtin(builtin, SortId::BOOL);
        let values = &mut self.values(t, symbol.unwrap_or(SymbolId::new(0)));
        let found = logic::connective(values, builtin, &left, &right);
        found.or_else(|| symbol.map(|symbol| self.stuck(symbol, &[left, right])))
    }

    /// The negation of a truth value; `None` if it is stuck and the program has no symbol for it.
    #[inline]
    pub(super) fn negate(&mut self, t: &Tables, of: Value) -> Option<Value> {
        logic::not(&mut self.values(t, SymbolId::new(0)), &of)
    }

    #[cold]
    pub(super) fn stuck_if(
        &mut self,
        symbol: SymbolId,
        condition: Value,
        then: Value,
        otherwise: Value,
    ) -> Value {
        if self.heap.same(then, otherwise) { then } else { self.stuck(symbol, &[condition, then, otherwise]) }
    }

    /// Called with a stuck condition: a function equivalent to `if`, or `if` with rules of its own.
    #[cold]
    pub(super) fn stuck_choice(&mut self, t: &Arc<Tables>, function: u32, choice: [Value; 3]) -> Answer {
        let Some(code) = t.functions.get(function as usize) else { return self.fail_uncompiled() };
        let Some(places) = code.conditional else { return self.call_values(t, function, &choice) };
        let mut arguments = [Value::FALSE; 3];
        for (place, value) in places.into_iter().zip(choice) {
            arguments[place as usize] = value;
        }
        Ok(self.heap.make(code.head(), &arguments))
    }

    #[cold]
    pub(super) fn convert(&mut self, t: &Arc<Tables>, least: Least, symbol: SymbolId, of: Value) -> Value {
        let converted = match least {
            Least::Whole => self.heap.to_int(of),
            Least::Zero => self.heap.to_nat(of),
            Least::One => self.heap.to_pos(of),
        };
        if let Some(value) = converted {
            return value;
        }
        // `Int2Pos(0)` goes by way of `Nat`.
        if least == Least::One && of == Value::ZERO && t.first_sort(symbol) == Some(SortId::INT) {
            let found = t.program.symbols.iter().position(|one| {
                one.kind == SymbolKind::Builtin(Builtin::Convert)
                    && t.program.sorts.signature(one.sort) == (&[SortId::NAT][..], SortId::POS)
            });
            if let Some(index) = found {
                return self.stuck(SymbolId::new(index), &[of]);
            }
        }
        self.stuck(symbol, &[of])
    }

    pub(super) fn project(&mut self, fields: &[(SymbolId, u32)], symbol: SymbolId, of: Value) -> Value {
        for &(constructor, position) in fields {
            if self.heap.is(of, Head::Symbol(constructor)) {
                return self.heap.argument(of, position as usize);
            }
        }
        self.stuck(symbol, &[of])
    }

    pub(super) fn recognise(
        &mut self,
        t: &Arc<Tables>,
        constructor: SymbolId,
        symbol: SymbolId,
        of: Value,
    ) -> Value {
        match self.heap.head(of) {
            Some(Head::Symbol(found)) if found == constructor => Value::TRUE,
            Some(Head::Symbol(found)) if t.is_struct_constructor(found) => Value::FALSE,
            _ => self.stuck(symbol, &[of]),
        }
    }

    #[inline(never)]
    pub(super) fn unary(&mut self, t: &Arc<Tables>, builtin: Builtin, symbol: SymbolId, of: Value) -> Answer {
        let heap = &mut self.heap;
        let found = match builtin {
            Builtin::Head => list::head(&self.values(t, symbol), &of),
            Builtin::Tail => list::tail(&mut self.values(t, symbol), &of),
            Builtin::RHead => list::last(&self.values(t, symbol), &of),
            Builtin::RTail => list::front(&mut self.values(t, symbol), &of),
            Builtin::Negate => heap.negate(of),
            Builtin::Succ => heap.succ(of),
            Builtin::Pred => heap.pred(of),
            Builtin::Abs => heap.abs(of),
            Builtin::Floor => heap.floor(of),
            Builtin::Ceil => heap.ceil(of),
            Builtin::Round => heap.round(of),
            Builtin::Sqrt => heap.sqrt(of),
            Builtin::Not => self.negate(t, of),
            Builtin::Size => self.size(t, of),
            Builtin::Pick => match heap.head(of) {
                // The least element may depend on a variable.
                Some(Head::Set | Head::Bag) if heap.is_open(of) && heap.arity(of) > 1 => None,
                Some(Head::Set | Head::Bag) if heap.arity(of) > 0 => Some(heap.argument(of, 0)),
                _ => None,
            },
            Builtin::Complement => return self.complement(t, symbol, of),
            Builtin::Set2Bag => heap.set_to_bag(of),
            Builtin::Bag2Set => heap.bag_to_set(of),
            _ => None,
        };
        if let (None, Builtin::Set2Bag | Builtin::Bag2Set) = (found, builtin)
            && let Some(sort) = t.first_sort(symbol).and_then(|sort| t.element_sort(sort))
            && let Some(bag) = self.listed_bag(t, sort, of, builtin == Builtin::Set2Bag)?
        {
            return Ok(if builtin == Builtin::Set2Bag {
                bag
            } else {
                self.heap.bag_to_set(bag).unwrap_or(bag)
            });
        }
        if let (Some(bag), Builtin::Set2Bag) = (found, builtin) {
            let element = t.first_sort(symbol).and_then(|sort| t.element_sort(sort));
            return Ok(self.with_domain(t, element, bag));
        }
        if let (None, Builtin::Set2Bag | Builtin::Bag2Set) = (found, builtin)
            && let Some(converted) = self.convert_collection(t, builtin, symbol, of)?
        {
            return Ok(converted);
        }
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[of])))
    }

    fn size(&mut self, t: &Tables, of: Value) -> Option<Value> {
        match self.heap.head(of)? {
            Head::Nil | Head::Cons => {
                let (length, is_all) = list::length(&self.values(t, SymbolId::new(0)), &of);
                is_all.then(|| self.heap.whole(length as i64))
            }
            // Elements that differ as terms count as different, unless that depends on a variable.
            Head::Set if self.heap.is_open(of) && self.heap.arity(of) > 1 => None,
            Head::Set => {
                let size = self.heap.arity(of);
                Some(self.heap.whole(size as i64))
            }
            Head::Bag => self.heap.bag_size(of),
            _ => None,
        }
    }

    #[inline(never)]
    pub(super) fn binary(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Answer {
        let heap = &mut self.heap;
        let found = match builtin {
            Builtin::Cons => return Ok(heap.make(Head::Cons, &[left, right])),
            Builtin::Add => match (left, right) {
                (Value::ZERO, other) | (other, Value::ZERO) => Some(other),
                _ => heap.add(left, right),
            },
            Builtin::Subtract => heap.subtract(left, right),
            Builtin::Multiply => heap.multiply(left, right),
            Builtin::Divide => heap.divide(left, right),
            Builtin::Div => heap.div(left, right),
            Builtin::Mod => heap.modulo(left, right),
            Builtin::Exp => heap.exp(left, right),
            Builtin::Max => heap.max(left, right),
            Builtin::Min => heap.min(left, right),
            Builtin::At => list::at(&mut self.values(t, symbol), &left, &right),
            Builtin::Snoc => list::append(&mut self.values(t, symbol), &left, &right),
            Builtin::Concat => list::concat(&mut self.values(t, symbol), &left, &right),
            Builtin::In => return self.member(t, symbol, left, right),
            Builtin::Count => return self.count(t, symbol, left, right),
            Builtin::Union | Builtin::Intersection | Builtin::Difference => {
                return self.set_operation(t, builtin, symbol, left, right);
            }
            Builtin::And | Builtin::Or | Builtin::Implies => {
                return Ok(self.connective(t, builtin, symbol, left, right));
            }
            Builtin::Equal => return self.equal(t, symbol, left, right),
            Builtin::NotEqual => return self.not_equal(t, symbol, left, right),
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual => {
                return self.order(t, builtin, symbol, left, right);
            }
            _ => None,
        };
        let found = found.or_else(|| self.simplify_open(t, builtin, symbol, left, right));
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[left, right])))
    }

    /// The result of an operation on numbers if it is the same for every value of the stuck
    /// operand.
    #[cold]
    fn simplify_open(
        &mut self,
        t: &Tables,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Option<Value> {
        // Nothing is smaller than the least number of a sort.
        let least =
            match t.program.symbols.get(symbol.index()).map(|one| t.program.sorts.signature(one.sort).0) {
                Some(&[SortId::NAT, SortId::NAT]) => Some(Value::ZERO),
                Some(&[SortId::POS, SortId::POS]) => Some(Value::ONE),
                _ => None,
            };
        match (builtin, left, right) {
            (Builtin::Multiply, Value::ZERO, _) | (Builtin::Multiply, _, Value::ZERO) => Some(Value::ZERO),
            (Builtin::Multiply, Value::ONE, other) | (Builtin::Multiply, other, Value::ONE) => Some(other),
            (Builtin::Subtract, other, Value::ZERO) => Some(other),
            (Builtin::Div | Builtin::Mod, Value::ZERO, _) => Some(Value::ZERO),
            (Builtin::Exp, _, Value::ZERO) => Some(Value::ONE),
            (Builtin::Exp, other, Value::ONE) => Some(other),
            (Builtin::Max | Builtin::Min, ..) if self.heap.same(left, right) => Some(left),
            (Builtin::Max, one, other) | (Builtin::Max, other, one) if Some(one) == least => Some(other),
            (Builtin::Min, one, _) | (Builtin::Min, _, one) if Some(one) == least => Some(one),
            _ => None,
        }
    }

    /// The value of a function with rules when none of them applies.
    pub(super) fn otherwise(&mut self, t: &Arc<Tables>, function: &Function, arguments: &[Value]) -> Answer {
        let Some(symbol) = function.symbol else { return Err(Fault::Other) };
        match (&function.otherwise, arguments) {
            (Otherwise::Builtin(builtin), _) => self.apply_builtin(t, *builtin, symbol, arguments),
            (Otherwise::Convert(least), &[of]) => Ok(self.convert(t, *least, symbol, of)),
            (Otherwise::Project(fields), &[of]) => Ok(self.project(fields, symbol, of)),
            (Otherwise::Recognise(constructor), &[of]) => Ok(self.recognise(t, *constructor, symbol, of)),
            _ => {
                let (first, mut rest) = arguments.split_at(function.first as usize);
                let mut stuck = self.heap.make(Head::Symbol(symbol), first);
                let mut sort = t.program.signature(symbol).1;
                while !rest.is_empty() {
                    let (domain, codomain) = t.program.sorts.signature(sort);
                    let (now, later) = rest.split_at(domain.len().clamp(1, rest.len()));
                    let mut parts = vec![stuck];
                    parts.extend_from_slice(now);
                    stuck = self.heap.make(Head::Apply, &parts);
                    (rest, sort) = (later, codomain);
                }
                Ok(stuck)
            }
        }
    }

    /// A built-in function on values.
    pub(super) fn apply_builtin(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        arguments: &[Value],
    ) -> Answer {
        match (builtin, arguments) {
            (Builtin::If, [condition, then, otherwise]) => {
                let found = logic::conditional(&self.values(t, symbol), condition, then, otherwise);
                Ok(found.unwrap_or_else(|| self.stuck(symbol, arguments)))
            }
            (Builtin::Update, &[function, key, value]) => self.update(t, symbol, function, key, value),
            (_, &[of]) => self.unary(t, builtin, symbol, of),
            (_, &[left, right]) => self.binary(t, builtin, symbol, left, right),
            _ => Ok(self.stuck(symbol, arguments)),
        }
    }
}

impl Function {
    /// The head of an application that no rule applies to.
    pub(super) fn head(&self) -> Head {
        Head::Symbol(self.symbol.unwrap_or(SymbolId::new(0)))
    }
}
