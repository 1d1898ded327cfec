//! Normal forms of functions, comprehensions and quantifiers, found by evaluating their bodies with
//! variables as values.
//!
//! Two lambdas are the same value if their bodies have the same normal form. Evaluating a body may
//! not terminate, because equations may recurse until a variable has a value. It therefore gets a
//! small number of steps; if they do not suffice, the lambda stays as written, with the values that
//! it captured. The result must not depend on earlier evaluations: cached results are not used, and
//! cached normal forms cost as many steps again.
//!
//! A rule whose condition is undecided because of such a variable ends the search for a rule,
//! because a later rule may be wrong for some values of the variable.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::library::Tables;
use super::node::Binder;
use super::run::{Answer, deeper};
use super::{Code, Fault, Machine, Scope};
use crate::syntax::{self, Symbol};
use crate::typed::{Builtin, Expression, SortId, SymbolId, SymbolKind};
use crate::value::{Head, Heap, Value};

/// How many calls the normal form of a function may take.
const FORM_STEPS: u64 = 1_000;
/// The largest number of cached normal forms.
const MAX_FORMS: usize = 1 << 16;

/// Cached normal forms of lambdas, with the steps that they took.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// Of shared values.
    lasting: FxHashMap<Value, (Value, u64)>,
    /// Of values of this generation of the heap, which a reset invalidates.
    passing: FxHashMap<Value, (Value, u64)>,
    generation: u64,
}

impl Forms {
    fn find(&mut self, heap: &Heap, function: Value) -> Option<(Value, u64)> {
        if heap.shared(function) {
            return self.lasting.get(&function).copied();
        }
        if self.generation != heap.generation() {
            self.generation = heap.generation();
            self.passing.clear();
        }
        self.passing.get(&function).map(|&(form, cost)| (heap.current(form), cost))
    }

    fn remember(&mut self, heap: &Heap, function: Value, form: Value, cost: u64) {
        if heap.shared(function) && heap.shared(form) {
            if self.lasting.len() >= MAX_FORMS {
                self.lasting.clear();
            }
            self.lasting.insert(function, (form, cost));
        } else if !heap.shared(function) && self.generation == heap.generation() {
            self.passing.insert(function, (form, cost));
        }
    }
}

/// The body of a quantifier as code.
#[derive(Clone, Debug)]
pub(super) struct Quantified {
    code: Code,
    bound: Box<[u32]>,
    captured: Box<[u32]>,
    frame: usize,
}

impl Machine {
    /// Runs with `count` more variables that have no values. `run` gets the number of the first
    /// one. Also returns the steps taken; `None` if they did not suffice.
    pub(super) fn under<R>(
        &mut self,
        count: usize,
        run: impl FnOnce(&mut Self, u32) -> Result<R, Fault>,
    ) -> Result<Option<(R, u64)>, Fault> {
        let first = self.bound;
        let before = self.steps;
        if first == 0 {
            self.steps = FORM_STEPS;
        }
        let budget = self.steps;
        let marks = (self.stack.len(), self.thunks.len(), self.captured.len(), self.calls);
        self.bound += count as u32;
        let answer = run(self, first);
        self.bound = first;
        let cost = budget - self.steps;
        match answer {
            Err(fault @ Fault::Other) => Err(fault),
            // Enclosing evaluations are out of steps as well.
            Err(fault) if first > 0 => Err(fault),
            Err(_) => {
                self.steps = before;
                self.stack.truncate(marks.0);
                self.thunks.truncate(marks.1);
                self.captured.truncate(marks.2);
                self.calls = marks.3;
                Ok(None)
            }
            Ok(result) => {
                if first == 0 {
                    self.steps = before;
                }
                Ok(Some((result, cost)))
            }
        }
    }

    /// The normal form of a lambda, or the lambda itself if it has none.
    pub(super) fn form(&mut self, t: &Arc<Tables>, function: Value) -> Answer {
        let Some(Head::Lambda(index)) = self.heap.head(function) else { return Ok(function) };
        if let Some((form, cost)) = self.forms.find(&self.heap, function) {
            if self.bound > 0 {
                self.steps = self.steps.checked_sub(cost).ok_or(Fault::Steps)?;
            }
            return Ok(form);
        }
        let Some(binder) = t.binders.get(index as usize) else {
            let newer = self.rules.library().tables(&self.rules);
            return if newer.binders.len() > index as usize {
                self.form(&newer, function)
            } else {
                Ok(function)
            };
        };
        let Some(code) = &binder.function else { return Ok(function) };
        let done = deeper(|| {
            self.under(binder.names.len(), |machine, first| {
                let start = machine.stack.len();
                machine.push_variables(first, binder.names.len());
                for index in 0..machine.heap.arity(function) {
                    let value = machine.heap.argument(function, index);
                    machine.stack.push(value);
                }
                let body = machine.enter_function(t, code, start)?;
                Ok(machine.heap.close(syntax::Binder::Lambda, &binder.names, first, body, function))
            })
        })?;
        let (form, cost) = match done {
            Some((Some(form), cost)) => (form, cost),
            _ => (function, FORM_STEPS),
        };
        self.forms.remember(&self.heap, function, form, cost);
        Ok(form)
    }

    fn push_variables(&mut self, first: u32, count: usize) {
        for number in first..first + count as u32 {
            let variable = self.heap.free(number);
            self.stack.push(variable);
        }
    }

    /// The membership or counting function of a term that is an operation on sets or bags. The
    /// bound variable gets its name from the function `like`. `None` if the term does not determine
    /// it.
    pub(super) fn function_of(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        like: Value,
        term: Value,
        bag: bool,
    ) -> Result<Option<Value>, Fault> {
        let name = match self.heap.head(like) {
            Some(Head::Bind(syntax::Binder::Lambda, 1)) => self.heap.bound_variable(like, 0),
            Some(Head::Lambda(index)) => t.binders.get(index as usize).map(|binder| binder.names[0]),
            _ => None,
        };
        let Some(name) = name.or_else(|| default_name(t, sort)) else { return Ok(None) };
        let done = self.under(1, |machine, first| {
            let variable = machine.heap.free(first);
            let body = if bag {
                machine.count_of(t, sort, variable, term)?
            } else {
                machine.set_member(t, sort, variable, term)?
            };
            let Some(body) = body else { return Ok(None) };
            Ok(machine.heap.close(syntax::Binder::Lambda, &[name], first, body, term))
        })?;
        Ok(done.and_then(|(form, _)| form))
    }

    /// A function with the same result for all elements of a sort.
    pub(super) fn constant_function(&mut self, t: &Tables, sort: SortId, value: Value) -> Option<Value> {
        let name = default_name(t, sort)?;
        self.heap.close(syntax::Binder::Lambda, &[name], self.bound, value, Value::FALSE)
    }

    /// The normal form of an undecided quantifier. Its captured values begin at `start` of the
    /// stack.
    pub(super) fn quantifier_form(&mut self, t: &Arc<Tables>, index: u32, start: usize) -> Answer {
        let stuck = self.heap.make(Head::Quantifier(index), &self.stack[start..]);
        let Some(binder) = t.binders.get(index as usize).map(Arc::clone) else { return Ok(stuck) };
        if !self.quantified.contains_key(&index) {
            let body = self.compile_quantified(t, &binder);
            self.quantified.insert(index, body);
        }
        let Some(Some((exists, body))) = self.quantified.get(&index).cloned() else { return Ok(stuck) };
        let captured: Vec<Value> = self.stack[start..].to_vec();
        let kind = if exists { syntax::Binder::Exists } else { syntax::Binder::Forall };
        let done = deeper(|| {
            self.under(binder.names.len(), |machine, first| {
                let base = machine.enter(body.frame);
                for (number, &slot) in (first..).zip(&body.bound) {
                    let variable = machine.heap.free(number);
                    machine.set_slot(base, slot, variable);
                }
                for (&slot, &value) in body.captured.iter().zip(&captured) {
                    machine.set_slot(base, slot, value);
                }
                let value = machine.eval(t, &body.code.body, body.code.root, base)?;
                machine.leave(base);
                if value.as_bool().is_some() {
                    return Ok(Some(value));
                }
                Ok(machine.heap.close(kind, &binder.names, first, value, Value::FALSE))
            })
        })?;
        Ok(done.and_then(|(form, _)| form).unwrap_or(stuck))
    }

    fn compile_quantified(&self, t: &Arc<Tables>, binder: &Binder) -> Option<(bool, Quantified)> {
        if binder.expression.index() >= t.program.expression_count() {
            return None;
        }
        let Expression::Binder { binder: kind, variables, body } = t.program.expression(binder.expression)
        else {
            return None;
        };
        let mut scope = Scope::default();
        let bound = variables.iter().map(|&variable| scope.slot(variable)).collect();
        let captured = binder.captured.iter().map(|&variable| scope.slot(variable)).collect();
        let code = self.rules.compile(&t.program, *body, &mut scope);
        // The code must not refer to anything newer than the tables in use.
        if code.version > t.version {
            return None;
        }
        let exists = *kind == syntax::Binder::Exists;
        Some((exists, Quantified { code, bound, captured, frame: scope.size() }))
    }

    /// Applies a function in normal form to the arguments from `start` of the stack on.
    pub(super) fn apply_form(&mut self, t: &Arc<Tables>, function: Value, start: usize) -> Answer {
        if let Some(source) = self.heap.source(function)
            && let Some((_, sort)) = self.heap.bound_variable(function, 0)
        {
            let element = self.stack[start];
            let found = if self.is_bag(t, source) {
                deeper(|| self.count_of(t, sort, element, source))?
            } else {
                deeper(|| self.set_member(t, sort, element, source))?
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let arguments: Vec<Value> = self.stack[start..].to_vec();
        let body = self.heap.bound_body(function);
        self.instantiate(t, body, &arguments)
    }

    /// The value of a body with values for its variables.
    fn instantiate(&mut self, t: &Arc<Tables>, term: Value, values: &[Value]) -> Answer {
        let Some(head) = self.heap.head(term) else { return Ok(term) };
        if self.heap.is_plain(term) {
            return Ok(term);
        }
        self.steps = self.steps.checked_sub(1).ok_or(Fault::Steps)?;
        let count = self.heap.arity(term);
        match head {
            Head::Bound(number) => return Ok(values.get(number as usize).copied().unwrap_or(term)),
            Head::Symbol(symbol) if count > 0 => return self.instantiate_call(t, symbol, term, values),
            Head::Bind(kind, bound) => {
                let variables: Option<Vec<(Symbol, SortId)>> =
                    (0..bound as usize).map(|index| self.heap.bound_variable(term, index)).collect();
                let Some(variables) = variables else { return Ok(term) };
                let body = self.heap.bound_body(term);
                let first = self.bound;
                self.bound += bound;
                let mut inner: Vec<Value> =
                    (first..first + bound).map(|number| self.heap.free(number)).collect();
                inner.extend_from_slice(values);
                let body = deeper(|| self.instantiate(t, body, &inner));
                self.bound = first;
                let body = body?;
                return Ok(match body.as_bool() {
                    Some(_) if kind != syntax::Binder::Lambda => body,
                    _ => self.heap.close(kind, &variables, first, body, Value::FALSE).unwrap_or(term),
                });
            }
            _ => {}
        }
        let mut parts = Vec::with_capacity(count);
        for index in 0..count {
            let part = self.heap.argument(term, index);
            parts.push(deeper(|| self.instantiate(t, part, values))?);
        }
        match head {
            Head::Set => Ok(self.heap.set_of(&parts)),
            Head::CoSet => {
                let set = self.heap.set_of(&parts);
                Ok(self.heap.set_complement(set).unwrap_or(set))
            }
            Head::Bag => self.bag_literal(t, &parts),
            Head::Update => {
                let mut function = parts[0];
                for pair in parts[1..].chunks_exact(2) {
                    let base = self.heap.update_base(function);
                    let before = self.apply_values(t, base, &[pair[0]])?;
                    match self.heap.update(function, pair[0], pair[1], Some(before)) {
                        Some(updated) => function = updated,
                        None => return Ok(self.heap.make(head, &parts)),
                    }
                }
                Ok(function)
            }
            Head::Apply => self.apply_values(t, parts[0], &parts[1..]),
            Head::Lambda(_) => {
                let function = self.heap.make(head, &parts);
                self.form(t, function)
            }
            _ => Ok(self.heap.make(head, &parts)),
        }
    }

    fn instantiate_call(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        term: Value,
        values: &[Value],
    ) -> Answer {
        let builtin = match t.program.symbols.get(symbol.index()).map(|symbol| &symbol.kind) {
            Some(SymbolKind::Builtin(builtin)) => Some(*builtin),
            _ => None,
        };
        let mut parts = Vec::new();
        for index in 0..self.heap.arity(term) {
            // The remaining arguments are not needed if the first one decides.
            match (builtin, parts.first(), index) {
                (Some(Builtin::And), Some(&Value::FALSE), _) => return Ok(Value::FALSE),
                (Some(Builtin::Or), Some(&Value::TRUE), _)
                | (Some(Builtin::Implies), Some(&Value::FALSE), _) => return Ok(Value::TRUE),
                (Some(Builtin::If), Some(&Value::TRUE), 2) => return Ok(parts[1]),
                (Some(Builtin::If), Some(&Value::FALSE), 1) => {
                    parts.push(Value::FALSE);
                    continue;
                }
                _ => {}
            }
            let part = self.heap.argument(term, index);
            parts.push(deeper(|| self.instantiate(t, part, values))?);
        }
        self.rules.make_callable(&t.program, symbol);
        let function = self.heap.make(Head::Symbol(symbol), &[]);
        self.apply_values(t, function, &parts)
    }
}

/// A name for bound variables of a sort.
fn default_name(t: &Tables, sort: SortId) -> Option<(Symbol, SortId)> {
    t.program.words.find("x").map(|name| (name, sort))
}
