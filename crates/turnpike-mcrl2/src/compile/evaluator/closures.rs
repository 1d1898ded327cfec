//! Functions as values: lambdas, updates and comprehensions. Also quantifiers.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::library::Tables;
use super::node::{Body, Function, Node};
use super::run::Answer;
use super::{EvaluationError, Fault, Machine};
use crate::compile::solver::EnumerationError;
use crate::syntax::{Binder, Container};
use crate::typed::{Sort, SortId, SymbolId};
use crate::value::{Head, Value};

/// Larger sorts are not enumerated.
const MAX_ENUMERATED: usize = 1024;

impl Machine {
    /// A function value on arguments.
    pub(super) fn apply_values(&mut self, t: &Arc<Tables>, function: Value, arguments: &[Value]) -> Answer {
        let start = self.stack.len();
        self.stack.extend_from_slice(arguments);
        let answer = self.apply_pushed(t, function, start)?;
        self.stack.truncate(start);
        Ok(answer)
    }

    /// A function with rules on arguments.
    pub(super) fn call_values(&mut self, t: &Arc<Tables>, function: u32, arguments: &[Value]) -> Answer {
        let Some(function) = t.functions.get(function as usize) else { return self.fail_uncompiled() };
        let frame = self.stack.len();
        self.stack.extend_from_slice(arguments);
        self.enter_function(t, function, frame)
    }

    #[cold]
    pub(super) fn fail_uncompiled(&mut self) -> Answer {
        self.message = "a function is needed before its rules are compiled".to_owned();
        Err(Fault::Other)
    }

    /// A function value on the arguments that are the top of the stack, from `start` on.
    pub(super) fn apply_pushed(&mut self, t: &Arc<Tables>, mut function: Value, start: usize) -> Answer {
        loop {
            match self.heap.head(function) {
                Some(Head::Lambda(index)) => {
                    let Some(binder) = t.binders.get(index as usize) else {
                        let newer = self.rules.library().tables(&self.rules);
                        if newer.binders.len() <= index as usize {
                            return Ok(self.stuck_application(function, start));
                        }
                        return self.apply_pushed(&newer, function, start);
                    };
                    let Some(code) = &binder.function else {
                        return Ok(self.stuck_application(function, start));
                    };
                    for index in 0..self.heap.arity(function) {
                        let value = self.heap.argument(function, index);
                        self.stack.push(value);
                    }
                    return self.enter_function(t, code, start);
                }
                Some(Head::Bind(Binder::Lambda, _)) => match self.heap.source(function) {
                    Some(source) if matches!(self.heap.head(source), Some(Head::Lambda(_))) => {
                        function = source;
                    }
                    _ => return self.apply_form(t, function, start),
                },
                Some(Head::Update) => match self.heap.update_at(function, self.stack[start]) {
                    Some(Some(value)) => return Ok(value),
                    Some(None) => function = self.heap.update_base(function),
                    None => match self.look_up_update(t, function, self.stack[start])? {
                        Some(Some(value)) => return Ok(value),
                        Some(None) => function = self.heap.update_base(function),
                        None => return Ok(self.stuck_application(function, start)),
                    },
                },
                Some(Head::Symbol(symbol)) => return self.apply_symbol(t, symbol, function, start),
                Some(Head::Apply) => {
                    let mut parts = Vec::new();
                    let mut inner = function;
                    while self.heap.is(inner, Head::Apply) {
                        let arguments: Vec<Value> = self.heap.arguments(inner).skip(1).collect();
                        parts.push(arguments);
                        inner = self.heap.argument(inner, 0);
                    }
                    let Some(Head::Symbol(symbol)) = self.heap.head(inner) else {
                        return Ok(self.stuck_application(function, start));
                    };
                    let first: Vec<Value> = self.heap.arguments(inner).collect();
                    let before: Vec<Value> =
                        first.into_iter().chain(parts.into_iter().rev().flatten()).collect();
                    return self.apply_curried(t, symbol, &before, function, start);
                }
                _ => return Ok(self.stuck_application(function, start)),
            }
        }
    }

    fn apply_symbol(&mut self, t: &Arc<Tables>, symbol: SymbolId, function: Value, start: usize) -> Answer {
        if self.heap.arity(function) > 0 {
            let count = self.heap.arity(function) + self.stack.len() - start;
            return match self.curried(t, symbol, function, start) {
                Some(code) => self.enter_function(t, code, start),
                None if self.rules.known.curried(symbol, count).is_some() => self.fail_uncompiled(),
                None => Ok(self.stuck_application(function, start)),
            };
        }
        if let Some(code) = t.function_values.get(&symbol) {
            return self.enter_function(t, code, start);
        }
        let newer = self.rules.library().tables(&self.rules);
        if newer.version > t.version && newer.function_values.contains_key(&symbol) {
            return self.apply_symbol(&newer, symbol, function, start);
        }
        // This function has not been compiled as a value.
        match self.rules.known.curried(symbol, self.stack.len() - start) {
            Some(_) => self.apply_curried(t, symbol, &[], function, start),
            None => Ok(self.heap.make(Head::Symbol(symbol), &self.stack[start..])),
        }
    }

    /// Looks for a function with rules that a partial application calls once it also has the
    /// arguments from `start` of the stack on. If there is one, all its arguments are on the stack
    /// afterwards.
    fn curried<'t>(
        &mut self,
        t: &'t Arc<Tables>,
        symbol: SymbolId,
        function: Value,
        start: usize,
    ) -> Option<&'t Function> {
        let (before, end) = (self.heap.arity(function), self.stack.len());
        let index = self.rules.known.curried(symbol, before + end - start)?;
        let code = t.functions.get(index as usize)?;
        self.stack.resize(end + before, Value::FALSE);
        self.stack.copy_within(start..end, start + before);
        for index in 0..before {
            self.stack[start + index] = self.heap.argument(function, index);
        }
        Some(code)
    }

    /// The code of a function value, if it has any, for the arguments from `start` of the stack on.
    /// Also pushes the captured values that the code needs.
    pub(super) fn code_to_apply<'t>(
        &mut self,
        t: &'t Arc<Tables>,
        function: Value,
        start: usize,
    ) -> Option<&'t Function> {
        let function = match self.heap.head(function)? {
            Head::Bind(Binder::Lambda, _) => self.heap.source(function)?,
            _ => function,
        };
        match self.heap.head(function)? {
            Head::Symbol(symbol) if self.heap.arity(function) > 0 => self.curried(t, symbol, function, start),
            Head::Symbol(symbol) => t.function_values.get(&symbol).map(|code| &**code),
            Head::Lambda(index) => {
                let code = t.binders.get(index as usize)?.function.as_deref()?;
                for index in 0..self.heap.arity(function) {
                    let value = self.heap.argument(function, index);
                    self.stack.push(value);
                }
                Some(code)
            }
            _ => None,
        }
    }

    fn apply_curried(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        before: &[Value],
        function: Value,
        start: usize,
    ) -> Answer {
        let count = before.len() + self.stack.len() - start;
        match self.rules.known.curried(symbol, count) {
            Some(index) => {
                let mut all = before.to_vec();
                all.extend_from_slice(&self.stack[start..]);
                self.call_values(t, index, &all)
            }
            None => Ok(self.stuck_application(function, start)),
        }
    }

    fn stuck_application(&mut self, function: Value, start: usize) -> Value {
        let mut parts = vec![function];
        parts.extend_from_slice(&self.stack[start..]);
        self.heap.make(Head::Apply, &parts)
    }

    /// Looks up a key of an update by evaluating equalities rather than comparing terms:
    /// `Some(None)` if the key was not updated, `None` if an equality is stuck.
    fn look_up_update(
        &mut self,
        t: &Arc<Tables>,
        function: Value,
        key: Value,
    ) -> Result<Option<Option<Value>>, Fault> {
        let pairs: Vec<Value> = self.heap.arguments(function).skip(1).collect();
        let Some(sort) = self.key_sort(t, function, key) else { return Ok(None) };
        for pair in pairs.chunks_exact(2) {
            match self.equal_at(t, sort, key, pair[0])? {
                Some(Value::TRUE) => return Ok(Some(Some(pair[1]))),
                Some(Value::FALSE) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(None))
    }

    /// The sort of the keys of an update, if the function or the key reveals it.
    fn key_sort(&self, t: &Tables, function: Value, key: Value) -> Option<SortId> {
        let base = self.heap.update_base(function);
        match self.heap.head(base) {
            Some(Head::Lambda(binder)) => {
                t.binders.get(binder as usize)?.names.first().map(|&(_, sort)| sort)
            }
            Some(Head::Bind(Binder::Lambda, _)) => self.heap.bound_variable(base, 0).map(|(_, sort)| sort),
            Some(Head::Symbol(symbol)) => {
                let (domain, result) = t.program.signature(symbol);
                let applied = self.heap.arity(base) > 0;
                if applied {
                    t.program.sorts.signature(result).0.first().copied()
                } else {
                    domain.first().copied()
                }
            }
            _ => match self.heap.head(key) {
                Some(Head::Symbol(symbol)) => Some(t.program.signature(symbol).1),
                _ => None,
            },
        }
    }

    /// `function[key -> value]`
    #[inline(never)]
    pub(super) fn update(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        function: Value,
        key: Value,
        value: Value,
    ) -> Answer {
        let base = self.heap.update_base(function);
        let before = self.apply_values(t, base, &[key])?;
        if let Some(updated) = self.heap.update(function, key, value, Some(before)) {
            return Ok(updated);
        }
        // Keys that are not plain are compared by the user's rules.
        let Some(&sort) =
            t.program.symbols.get(symbol.index()).and_then(|_| t.program.signature(symbol).0.get(1))
        else {
            return Ok(self.stuck(symbol, &[function, key, value]));
        };
        let mut entries: Vec<(Value, Value)> = Vec::new();
        let pairs: Vec<Value> = self.heap.arguments(function).skip(1).collect();
        for pair in pairs.chunks_exact(2) {
            match self.equal_at(t, sort, key, pair[0])? {
                Some(Value::TRUE) => {}
                Some(Value::FALSE) => entries.push((pair[0], pair[1])),
                _ => return Ok(self.stuck(symbol, &[function, key, value])),
            }
        }
        if !self.heap.same(before, value) {
            entries.push((key, value));
        }
        entries.sort_by(|one, other| self.heap.compare(one.0, other.0));
        if entries.is_empty() {
            return Ok(base);
        }
        let mut arguments = vec![base];
        arguments.extend(entries.into_iter().flat_map(|(key, value)| [key, value]));
        Ok(self.heap.make(Head::Update, &arguments))
    }

    /// `{x: S | …}`, as a finite set where that is possible.
    pub(super) fn comprehension(&mut self, t: &Arc<Tables>, index: u32, captured: &[Value]) -> Answer {
        let Some(binder) = t.binders.get(index as usize) else {
            let newer = self.rules.library().tables(&self.rules);
            if newer.binders.len() > index as usize {
                return self.comprehension(&newer, index, captured);
            }
            return self.fail_uncompiled();
        };
        let constant = binder.function.as_ref().and_then(|code| match code.body.nodes[code.root as usize] {
            Node::Constant(value) => Some(value),
            _ => None,
        });
        let function = self.heap.make(Head::Lambda(index), captured);
        let sort = binder.names[0].1;
        if binder.is_bag {
            if constant == Some(Value::ZERO) {
                return Ok(Value::EMPTY_BAG);
            }
            if let Some(values) = self.finite(t, sort) {
                let mut pairs = Vec::new();
                for &value in values.iter() {
                    let count = self.apply_values(t, function, &[value])?;
                    pairs.push((value, count));
                    if !self.heap.is_number(count) {
                        break;
                    }
                }
                if let Some(bag) = self.heap.bag_of(&pairs) {
                    return Ok(bag);
                }
            }
            let function = self.form(t, function)?;
            let zero = self.heap.constant_function(function) == Some(Value::ZERO);
            return Ok(self.heap.bag_by(zero, function, Value::EMPTY_BAG));
        }
        if let Some(constant) = constant.and_then(Value::as_bool) {
            return Ok(self.heap.set_by(Some(constant), function, Value::EMPTY_SET));
        }
        if let Some(values) = self.finite(t, sort) {
            let mut members = Some(Vec::new());
            for &value in values.iter() {
                let inside = self.apply_values(t, function, &[value])?;
                match (inside.as_bool(), &mut members) {
                    (Some(true), Some(members)) => members.push(value),
                    (Some(false), _) => {}
                    _ => {
                        members = None;
                        break;
                    }
                }
            }
            if let Some(members) = members {
                return Ok(self.heap.set_of(&members));
            }
        }
        let function = self.form(t, function)?;
        let constant = self.heap.constant_function(function).and_then(Value::as_bool);
        Ok(self.heap.set_by(constant, function, Value::EMPTY_SET))
    }

    /// `exists` and `forall`.
    pub(super) fn quantifier(&mut self, t: &Arc<Tables>, body: &Body, index: u32, base: usize) -> Answer {
        let quantifier = &body.quantifiers[index as usize];
        for &slot in &quantifier.force {
            self.force_slot(t, base + slot as usize)?;
        }
        // Under a binder variables have no values, so nothing can be decided.
        if self.bound > 0 {
            let start = self.push_all(t, body, quantifier.captured, base)?;
            if self.stack[start..].iter().any(|&value| self.heap.is_open(value)) {
                let form = self.quantifier_form(t, quantifier.binder, start)?;
                self.stack.truncate(start);
                return Ok(form);
            }
            self.stack.truncate(start);
        }
        // The plan evaluates with the tables that this evaluation uses.
        self.tables = Some(Arc::clone(t));
        match quantifier.plan.run(self, base, &mut |_| ControlFlow::Break(())) {
            Ok(ControlFlow::Break(())) => Ok(Value::bool(!quantifier.when_none)),
            Ok(ControlFlow::Continue(())) => Ok(Value::bool(quantifier.when_none)),
            Err(EnumerationError::Evaluation(error)) => Err(match error {
                EvaluationError::OutOfSteps => Fault::Steps,
                EvaluationError::TooDeep => Fault::Deep,
                EvaluationError::Other(message) => {
                    self.message = message;
                    Fault::Other
                }
            }),
            Err(EnumerationError::Stuck { .. } | EnumerationError::Endless { .. }) => {
                let start = self.push_all(t, body, quantifier.captured, base)?;
                let stuck = self.quantifier_form(t, quantifier.binder, start)?;
                self.stack.truncate(start);
                Ok(stuck)
            }
        }
    }

    /// All combinations of values of finite sorts, unless there are too many.
    pub(super) fn rows(&mut self, t: &Arc<Tables>, sorts: &[SortId]) -> Option<Vec<Vec<Value>>> {
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for &sort in sorts {
            let values = self.finite(t, sort)?;
            if rows.len() * values.len() > MAX_ENUMERATED {
                return None;
            }
            rows = rows
                .iter()
                .flat_map(|row| {
                    values.iter().map(move |&value| {
                        let mut longer = row.clone();
                        longer.push(value);
                        longer
                    })
                })
                .collect();
        }
        Some(rows)
    }

    /// All values of a finite sort, unless there are too many.
    pub(super) fn finite(&mut self, t: &Arc<Tables>, sort: SortId) -> Option<Arc<[Value]>> {
        if let Some(known) = self.finite.get(&sort) {
            return known.clone();
        }
        if sort.index() >= t.program.sorts.len() {
            return None;
        }
        // A sort that contains itself is infinite.
        self.finite.insert(sort, None);
        let found = self
            .finite_values(t, sort)
            .map(|values| values.into_iter().map(|value| self.heap.keep(value)).collect::<Arc<[Value]>>());
        if found.is_some() {
            self.finite.insert(sort, found.clone());
        }
        found
    }

    fn finite_values(&mut self, t: &Arc<Tables>, sort: SortId) -> Option<Vec<Value>> {
        match t.program.sorts.get(sort) {
            Sort::Bool => Some(vec![Value::TRUE, Value::FALSE]),
            Sort::Container(Container::Set | Container::FSet, element) => {
                let elements = self.finite(t, *element)?;
                if 1_usize.checked_shl(elements.len() as u32).is_none_or(|count| count > MAX_ENUMERATED) {
                    return None;
                }
                let subset = |mask: usize| -> Vec<Value> {
                    (0..elements.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| elements[bit]).collect()
                };
                Some((0..1 << elements.len()).map(|mask| self.heap.set_of(&subset(mask))).collect())
            }
            Sort::Struct(_) | Sort::Basic(_) => {
                let constructors = t.program.constructors(sort).to_vec();
                if constructors.is_empty() {
                    return None;
                }
                let mut values = Vec::new();
                for constructor in constructors {
                    // Rules may rewrite a constructor to another value.
                    if self.rules.known.has_rules(constructor) {
                        return None;
                    }
                    for fields in self.rows(t, t.program.signature(constructor).0)? {
                        values.push(self.heap.make(Head::Symbol(constructor), &fields));
                    }
                    if values.len() > MAX_ENUMERATED {
                        return None;
                    }
                }
                Some(values)
            }
            _ => None,
        }
    }
}
