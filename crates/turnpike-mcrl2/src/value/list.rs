//! Lists: chains of [`Head::Cons`] that end in `[]`, or in a stuck term.

use super::{Head, Heap, Value};

/// The elements of a list from the front.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'h> {
    heap: &'h Heap,
    rest: Value,
}

impl Elements<'_> {
    /// What is left: after the last element `[]` or a stuck term.
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

    /// These elements before those of a list (or before a stuck term).
    pub fn list_before(&mut self, elements: &[Value], rest: Value) -> Value {
        elements.iter().rev().fold(rest, |rest, &element| self.make(Head::Cons, &[element, rest]))
    }

    /// The first element and the rest; nothing for `[]` and for stuck terms.
    #[inline]
    pub fn list_parts(&self, list: Value) -> Option<(Value, Value)> {
        self.is(list, Head::Cons).then(|| (self.argument(list, 0), self.argument(list, 1)))
    }

    /// The elements from the front.
    #[inline]
    pub fn list_elements(&self, list: Value) -> Elements<'_> {
        Elements { heap: self, rest: list }
    }

    /// The elements, when the list is not stuck anywhere.
    pub fn list_to_vec(&self, list: Value) -> Option<Vec<Value>> {
        let mut elements = self.list_elements(list);
        let found: Vec<Value> = elements.by_ref().collect();
        (elements.rest() == Value::NIL).then_some(found)
    }

    /// How many elements there are; `None` when the end is stuck.
    pub fn list_length(&self, list: Value) -> Option<usize> {
        let mut elements = self.list_elements(list);
        let length = elements.by_ref().count();
        (elements.rest() == Value::NIL).then_some(length)
    }

    /// The element at a position, from 0; `None` when there is none.
    pub fn list_nth(&self, list: Value, position: usize) -> Option<Value> {
        self.list_elements(list).nth(position)
    }

    /// `list <| element`; `None` when the end is stuck.
    pub fn list_append(&mut self, list: Value, element: Value) -> Option<Value> {
        let elements = self.list_to_vec(list)?;
        let end = self.cons(element, Value::NIL);
        Some(self.list_before(&elements, end))
    }

    /// `left ++ right`; `None` when the end of the left list is stuck, unless nothing comes after it.
    pub fn list_concat(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left, right) {
            (_, Value::NIL) => Some(left),
            (Value::NIL, _) => Some(right),
            _ => {
                let elements = self.list_to_vec(left)?;
                Some(self.list_before(&elements, right))
            }
        }
    }

    /// The last element and all before it; `None` for `[]` and when the end is stuck.
    pub fn list_end(&mut self, list: Value) -> Option<(Value, Value)> {
        let mut elements = self.list_to_vec(list)?;
        let last = elements.pop()?;
        Some((last, self.list_of(&elements)))
    }

    /// The last element; `None` for `[]` and when the end is stuck.
    pub fn list_last(&self, list: Value) -> Option<Value> {
        let (mut elements, mut last) = (self.list_elements(list), None);
        for element in elements.by_ref() {
            last = Some(element);
        }
        last.filter(|_| elements.rest() == Value::NIL)
    }

    /// `element in list`; `None` when that cannot be told from the terms alone.
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
        assert_eq!((heap.list_length(list), heap.list_to_vec(list)), (Some(100_000), Some(numbers.clone())));
        assert_eq!(
            (heap.list_nth(list, 99_999), heap.list_nth(list, 100_000)),
            (numbers.last().copied(), None)
        );
        let (front, back) = (heap.list_of(&numbers[..60_000]), heap.list_of(&numbers[60_000..]));
        assert_eq!(heap.list_concat(front, back), Some(list));
        let shorter = heap.list_of(&numbers[..99_999]);
        assert_eq!(heap.list_append(shorter, numbers[99_999]), Some(list));
        assert_eq!(heap.list_end(list), Some((numbers[99_999], shorter)));
        assert_eq!((heap.list_last(list), heap.list_last(Value::NIL)), (Some(numbers[99_999]), None));
        assert_eq!(heap.list_contains(list, numbers[77]), Some(true));
        assert_eq!(heap.list_contains(list, Value::small(-1).unwrap()), Some(false));
        assert_eq!((heap.list_end(Value::NIL), heap.list_parts(Value::NIL)), (None, None));
    }

    #[test]
    fn lists_with_a_stuck_end() {
        let mut heap = Heap::new(Terms::new(&crate::typed::Program::default()));
        let one = Value::ONE;
        let stuck = heap.make(Head::Apply, &[Value::NIL]);
        let list = heap.cons(one, stuck);
        assert_eq!(
            (heap.list_length(list), heap.list_append(list, one), heap.list_last(list)),
            (None, None, None)
        );
        assert_eq!((heap.list_concat(list, list), heap.list_concat(list, Value::NIL)), (None, Some(list)));
        assert_eq!((heap.list_nth(list, 0), heap.list_nth(list, 1)), (Some(one), None));
        assert_eq!(
            (heap.list_contains(list, one), heap.list_contains(list, Value::ZERO)),
            (Some(true), None)
        );
        let front = heap.list_of(&[one]);
        assert_eq!(heap.list_concat(front, stuck), Some(list));
        let mut elements = heap.list_elements(list);
        assert_eq!((elements.next(), elements.next(), elements.rest()), (Some(one), None, stuck));
    }
}
