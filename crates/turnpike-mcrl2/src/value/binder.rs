//! Binders in normal form: the body is a value in which variables are numbers, so functions that
//! differ only in their variable names are the same value.
//!
//! A body is evaluated with a [`Head::Free`] for each variable, and then *closed*: these become
//! [`Head::Bound`]. Variables are counted from the innermost binder outwards, and from the first
//! variable within a binder. The names of variables are kept because labels show them.

use rustc_hash::FxHashMap;

use super::{Head, Heap, Value};
use crate::syntax::{Binder, Symbol};
use crate::typed::SortId;

/// The stack that must be left for a step of a walk over values, and the size of a new segment.
const STACK: (usize, usize) = (64 * 1024, 1024 * 1024);

/// A body with more nodes than this, counting shared ones repeatedly, has no normal form.
const LARGE: usize = 20_000;

/// The variables to bind: `count` many from `first` on.
#[derive(Clone, Copy, Debug)]
struct Closing {
    first: u32,
    count: u32,
}

impl Heap {
    /// A variable without a value, used while the body of its binder is evaluated.
    pub fn free(&mut self, number: u32) -> Value {
        self.make(Head::Free(number), &[])
    }

    /// The binder that binds the variables from `first` on in a body. For a lambda, `source` is the
    /// value to apply instead; `FALSE` if there is none. `None` if the body is too large.
    pub fn close(
        &mut self,
        binder: Binder,
        variables: &[(Symbol, SortId)],
        first: u32,
        body: Value,
        source: Value,
    ) -> Option<Value> {
        let closing = Closing { first, count: variables.len() as u32 };
        let (body, size) = self.bind_variables(closing, 0, body, &mut FxHashMap::default());
        if size > LARGE {
            return None;
        }
        let number = |index: usize| Value::small(index as i32).unwrap_or(Value::ZERO);
        let mut arguments: Vec<Value> = Vec::with_capacity(variables.len() * 2 + 1);
        for (name, sort) in variables {
            arguments.extend([number(name.index()), number(sort.index())]);
        }
        arguments.push(body);
        // A source that depends on a variable of an enclosing binder is useless once that is bound.
        let source = if self.is_open(source) { Value::FALSE } else { source };
        Some(self.make_from(Head::Bind(binder, closing.count), &arguments, source))
    }

    /// Binds variables in a term below `depth` other binders. Also returns the number of its nodes.
    fn bind_variables(
        &mut self,
        closing: Closing,
        depth: u32,
        term: Value,
        done: &mut FxHashMap<(Value, u32), (Value, usize)>,
    ) -> (Value, usize) {
        if !self.is_open(term) {
            return (term, 1);
        }
        let Some(head) = self.head(term) else { return (term, 1) };
        if let Head::Free(number) = head {
            let own = number.checked_sub(closing.first).filter(|&own| own < closing.count);
            return (own.map_or(term, |own| self.make(Head::Bound(depth + own), &[])), 1);
        }
        if let Some(&known) = done.get(&(term, depth)) {
            return known;
        }
        let inner = if let Head::Bind(_, count) = head { depth + count } else { depth };
        let arguments: Vec<Value> = self.arguments(term).collect();
        let mut size = 1_usize;
        let mut parts = Vec::with_capacity(arguments.len());
        for one in arguments {
            let (part, nodes) =
                stacker::maybe_grow(STACK.0, STACK.1, || self.bind_variables(closing, inner, one, done));
            parts.push(part);
            size = size.saturating_add(nodes);
        }
        let closed = (self.rebuild(head, parts), size);
        done.insert((term, depth), closed);
        closed
    }

    /// A node with other arguments, sorted if its head requires that.
    fn rebuild(&mut self, head: Head, mut arguments: Vec<Value>) -> Value {
        let first = match head {
            Head::Set | Head::CoSet => {
                arguments.sort_by(|&one, &other| self.compare(one, other));
                return self.make(head, &arguments);
            }
            Head::Bag => 0,
            Head::Update => 1,
            _ => return self.make(head, &arguments),
        };
        let mut pairs: Vec<[Value; 2]> =
            arguments[first..].chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        pairs.sort_by(|one, other| self.compare(one[0], other[0]));
        arguments.truncate(first);
        arguments.extend(pairs.into_iter().flatten());
        self.make(head, &arguments)
    }

    /// The body of a binder in normal form.
    pub fn bound_body(&self, value: Value) -> Value {
        self.argument(value, self.arity(value).saturating_sub(1))
    }

    /// The name and the sort of a variable of a binder in normal form.
    pub fn bound_variable(&self, value: Value, index: usize) -> Option<(Symbol, SortId)> {
        let number =
            |index: usize| self.argument(value, index).as_small().and_then(|number| number.try_into().ok());
        Some((Symbol::new(number(index * 2)?), SortId::new(number(index * 2 + 1)?)))
    }

    /// The result of a function in normal form that ignores its arguments.
    pub fn constant_function(&self, function: Value) -> Option<Value> {
        match self.head(function)? {
            Head::Bind(Binder::Lambda, _) => {
                let body = self.bound_body(function);
                (self.is_number(body) || body.as_bool().is_some()).then_some(body)
            }
            _ => None,
        }
    }
}
