//! Implements the built-in functions for values.

use super::library::Tables;
use crate::builtin::Domain;
use crate::typed::{Builtin, SortId, SymbolId};
use crate::value::{Head, Heap, Value};

/// The values of a heap during the evaluation of the function `symbol`.
pub(super) struct Values<'a> {
    pub(super) heap: &'a mut Heap,
    pub(super) tables: &'a Tables,
    pub(super) symbol: SymbolId,
}

impl Domain for Values<'_> {
    type Term = Value;
    /// The rest of the list.
    type Cursor = Value;
    const HAS_RESIDUALS: bool = true;

    #[inline]
    fn truth(&self, term: &Value) -> Option<bool> {
        term.as_bool()
    }

    #[inline]
    fn bool(&mut self, value: bool) -> Value {
        Value::bool(value)
    }

    #[cold]
    fn operand_of_negation(&self, term: &Value) -> Option<Value> {
        let not = self.tables.builtin(Builtin::Not, SortId::BOOL)?;
        self.heap.is(*term, Head::Symbol(not)).then(|| self.heap.argument(*term, 0))
    }

    #[cold]
    fn negation(&mut self, term: &Value) -> Option<Value> {
        let not = self.tables.builtin(Builtin::Not, SortId::BOOL)?;
        Some(self.heap.make(Head::Symbol(not), &[*term]))
    }

    #[inline]
    fn same(&self, one: &Value, other: &Value) -> bool {
        self.heap.same(*one, *other)
    }

    #[inline]
    fn index(&self, term: &Value) -> Option<usize> {
        self.heap.to_usize(*term)
    }

    fn count(&mut self, count: usize) -> Value {
        self.heap.whole(count as i64)
    }

    #[inline]
    fn cursor(&self, list: &Value) -> Value {
        *list
    }

    #[inline]
    fn next(&self, cursor: &mut Value) -> Option<Value> {
        let (element, rest) = self.heap.list_parts(*cursor)?;
        *cursor = rest;
        Some(element)
    }

    #[inline]
    fn is_end(&self, cursor: &Value) -> bool {
        *cursor == Value::NIL
    }

    #[inline]
    fn rest(&mut self, cursor: Value) -> Value {
        cursor
    }

    fn prepend(&mut self, elements: Vec<Value>, list: Value) -> Option<Value> {
        Some(self.heap.list_before(&elements, list))
    }

    #[inline]
    fn empty_list(&mut self) -> Value {
        Value::NIL
    }

    fn residual(&mut self, operands: [Value; 2]) -> Option<Value> {
        Some(self.heap.make(Head::Symbol(self.symbol), &operands))
    }
}
