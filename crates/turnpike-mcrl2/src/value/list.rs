//! Lists: chains of [`Head::Cons`] that end in `[]`, or in a stuck term.

use super::{Head, Heap, Value};

/// The elements of a list from the front.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'h> {
    heap: &'h Heap,
    rest: Value,
}

impl Elements<'_> {
    /// The rest of the list: `[]` or a stuck term after the last element.
    pub fn rest(&self) -> Value {
        self.rest
    }
}

impl Iterator for Elements<'_> {
    type Item = Value;

    #[inline]
    fn next(&mut self) -> Option<Value> {
        let (element, rest) = self.heap.list_parts(self.rest)?;
        self.rest = rest;
        Some(element)
    }
}

impl Heap {
    /// `element |> list`
    #[inline]
    pub fn cons(&mut self, element: Value, list: Value) -> Value {
        self.make(Head::Cons, &[element, list])
    }

    /// A list of these elements.
    pub fn list_of(&mut self, elements: &[Value]) -> Value {
        self.list_before(elements, Value::NIL)
    }

    /// Prepends elements to a list or a stuck term.
    pub fn list_before(&mut self, elements: &[Value], rest: Value) -> Value {
        elements.iter().rev().fold(rest, |rest, &element| self.make(Head::Cons, &[element, rest]))
    }

    /// The first element and the rest; `None` for `[]` and for stuck terms.
    #[inline]
    pub fn list_parts(&self, list: Value) -> Option<(Value, Value)> {
        self.is(list, Head::Cons).then(|| (self.argument(list, 0), self.argument(list, 1)))
    }

    /// The elements from the front.
    #[inline]
    pub fn list_elements(&self, list: Value) -> Elements<'_> {
        Elements { heap: self, rest: list }
    }

    /// The elements, unless the list ends with a stuck term.
    pub fn list_to_vec(&self, list: Value) -> Option<Vec<Value>> {
        let mut elements = self.list_elements(list);
        let found: Vec<Value> = elements.by_ref().collect();
        (elements.rest() == Value::NIL).then_some(found)
    }

    /// `element in list`; `None` if comparing terms does not decide it.
    pub fn list_contains(&self, list: Value, element: Value) -> Option<bool> {
        let mut elements = self.list_elements(list);
        if elements.by_ref().any(|one| self.same(one, element)) {
            return Some(true);
        }
        (self.is_plain(list) && self.is_plain(element)).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;

    #[test]
    fn lists() {
        let mut heap = Heap::new(Terms::new(&crate::typed::Program::default()));
        let numbers: Vec<Value> = (0..100_000).map(|number| Value::small(number).unwrap()).collect();
        let list = heap.list_of(&numbers);
        assert_eq!(heap.list_to_vec(list), Some(numbers.clone()));
        let (front, back) = (heap.list_of(&numbers[..60_000]), heap.list_of(&numbers[60_000..]));
        let first = heap.list_to_vec(front).unwrap();
        assert_eq!(heap.list_before(&first, back), list);
        assert_eq!(heap.list_contains(list, numbers[77]), Some(true));
        assert_eq!(heap.list_contains(list, Value::small(-1).unwrap()), Some(false));
        assert_eq!(heap.list_parts(Value::NIL), None);
    }

    #[test]
    fn lists_with_a_stuck_end() {
        let mut heap = Heap::new(Terms::new(&crate::typed::Program::default()));
        let one = Value::ONE;
        let stuck = heap.make(Head::Apply, &[Value::NIL]);
        let list = heap.cons(one, stuck);
        assert_eq!(heap.list_to_vec(list), None);
        assert_eq!(
            (heap.list_contains(list, one), heap.list_contains(list, Value::ZERO)),
            (Some(true), None)
        );
        let mut elements = heap.list_elements(list);
        assert_eq!((elements.next(), elements.next(), elements.rest()), (Some(one), None, stuck));
    }
}
