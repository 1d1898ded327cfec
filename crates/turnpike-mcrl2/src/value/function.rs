//! Functions with finitely many exceptions: `f[1 -> 2][5 -> 3]` is one node with increasing keys.

use super::{Head, Heap, Value};

impl Heap {
    /// The function without its updates.
    #[inline]
    pub fn update_base(&self, function: Value) -> Value {
        if self.is(function, Head::Update) { self.argument(function, 0) } else { function }
    }

    /// Looks up a key of an update: `Some(Some(value))` if it was updated, `Some(None)` if the base
    /// decides, `None` if that depends on terms that are not plain.
    #[inline]
    pub fn update_at(&self, function: Value, key: Value) -> Option<Option<Value>> {
        if !self.is(function, Head::Update) {
            return Some(None);
        }
        match self.search(function, 1, 2, key) {
            Ok(index) => Some(Some(self.argument(function, index + 1))),
            Err(_) => (self.is_plain(key) && self.has_plain_keys(function)).then_some(None),
        }
    }

    /// `function[key -> value]`. `before` is the result of the base for the key, if known: an
    /// update to that value has no effect. `None` if it depends on terms that are not plain which
    /// update applies.
    pub fn update(
        &mut self,
        function: Value,
        key: Value,
        value: Value,
        before: Option<Value>,
    ) -> Option<Value> {
        let idle = before.is_some_and(|before| self.same(before, value));
        if !self.is(function, Head::Update) {
            return Some(if idle { function } else { self.make(Head::Update, &[function, key, value]) });
        }
        let found = self.search(function, 1, 2, key);
        if found.is_err() && !(self.is_plain(key) && self.has_plain_keys(function)) {
            return None;
        }
        let mut arguments: Vec<Value> = self.arguments(function).collect();
        match found {
            Ok(index) if idle => drop(arguments.drain(index..index + 2)),
            Ok(index) => arguments[index + 1] = value,
            Err(_) if idle => return Some(function),
            Err(index) => drop(arguments.splice(index..index, [key, value])),
        }
        Some(if arguments.len() == 1 { arguments[0] } else { self.make(Head::Update, &arguments) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;

    #[test]
    fn updates_have_one_form() {
        let mut heap = Heap::new(Terms::new(&crate::typed::Program::default()));
        let small = |number| Value::small(number).unwrap();
        let base = heap.make(Head::Lambda(7), &[]);
        let zero = Some(Value::ZERO);
        let set = |heap: &mut Heap, function, key, value| {
            heap.update(function, small(key), small(value), zero).unwrap()
        };
        let one = set(&mut heap, base, 1, 2);
        let both = set(&mut heap, one, 2, 3);
        let other = set(&mut heap, base, 2, 3);
        assert_eq!(set(&mut heap, other, 1, 2), both);
        assert_eq!((set(&mut heap, both, 1, 0), set(&mut heap, other, 2, 0)), (other, base));
        assert_eq!((set(&mut heap, base, 5, 0), set(&mut heap, both, 5, 0)), (base, both));
        assert_eq!(
            (heap.update_at(both, small(2)), heap.update_at(both, small(9))),
            (Some(Some(small(3))), Some(None))
        );
        assert_eq!(
            (heap.update_base(both), heap.update_base(base), heap.update_at(base, small(1))),
            (base, base, Some(None))
        );
        let (stuck, again) = (heap.make(Head::Apply, &[small(1)]), heap.make(Head::Apply, &[small(2)]));
        let open = heap.update(base, stuck, small(1), None).unwrap();
        assert_eq!((heap.update_at(open, again), heap.update(open, again, small(2), None)), (None, None));
        assert_eq!(heap.update_at(open, stuck), Some(Some(small(1))));
    }
}
