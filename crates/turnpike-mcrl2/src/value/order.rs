//! A total order on values that depends only on their content. It agrees with `<` of the language
//! wherever that is a total order: on truth values, numbers, and lists and structured sorts of
//! these.

use std::cmp::Ordering;

use super::{Head, Heap, Value};
use crate::syntax::Binder;

/// The rank of a head. Values of the same sort only differ in it if one is stuck, except that `[]`
/// comes before all other lists.
fn rank(head: Head) -> u8 {
    match head {
        Head::Big | Head::Rational => 0,
        Head::Bool(_) => 1,
        Head::Nil => 2,
        Head::Cons => 3,
        Head::Set => 4,
        Head::CoSet => 5,
        Head::SetBy => 6,
        Head::Bag => 7,
        Head::BagBy => 8,
        Head::Symbol(_) => 9,
        Head::Lambda(_) | Head::Bind(Binder::Lambda, _) => 10,
        Head::Quantifier(_) | Head::Bind(..) => 11,
        Head::Update => 12,
        Head::Apply => 13,
        Head::Bound(_) => 14,
        Head::Free(_) => 15,
    }
}

impl Heap {
    /// Compares two values: numbers by size, `false` before `true`, lists lexicographically,
    /// constructors as declared and then by their fields from left to right, sets and bags
    /// lexicographically as sequences of their elements, everything else by kind, then by its
    /// parts. Equal only for the same term.
    #[inline]
    pub fn compare(&self, left: Value, right: Value) -> Ordering {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.compare_nodes(left, right),
        }
    }

    fn compare_nodes(&self, mut left: Value, mut right: Value) -> Ordering {
        // Different terms are never equal here, so the first difference decides without
        // backtracking.
        while !self.same(left, right) {
            let (heads, ranks) = {
                let heads = (self.head(left), self.head(right));
                (heads, (heads.0.map_or(0, rank), heads.1.map_or(0, rank)))
            };
            if ranks == (0, 0) {
                return self.compare_numbers(left, right).unwrap_or(Ordering::Equal);
            }
            if ranks.0 != ranks.1 {
                return ranks.0.cmp(&ranks.1);
            }
            if heads.0 != heads.1 {
                return self.code(left).cmp(&self.code(right));
            }
            let difference =
                self.arguments(left).zip(self.arguments(right)).find(|&(one, other)| !self.same(one, other));
            match difference {
                Some(next) => (left, right) = next,
                None => return self.arity(left).cmp(&self.arity(right)),
            }
        }
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Terms;
    use super::*;
    use crate::typed::{Program, SymbolId};

    /// Terms as plain data. For terms of the same shape, the derived order is the expected one.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Term {
        Number(i64),
        Bool(bool),
        List(Vec<Term>),
        Set(Vec<Term>),
        Symbol(usize, Vec<Term>),
    }

    fn make(heap: &mut Heap, term: &Term) -> Value {
        let mut parts = |terms: &[Term]| terms.iter().map(|term| make(heap, term)).collect::<Vec<_>>();
        match term {
            Term::Number(number) => heap.whole(*number),
            Term::Bool(value) => Value::bool(*value),
            Term::List(terms) => {
                let elements = parts(terms);
                heap.list_of(&elements)
            }
            Term::Set(terms) => {
                let elements = parts(terms);
                heap.set_of(&elements)
            }
            Term::Symbol(symbol, terms) => {
                let arguments = parts(terms);
                heap.make(Head::Symbol(SymbolId::new(*symbol)), &arguments)
            }
        }
    }

    fn terms() -> impl Strategy<Value = Term> {
        let leaf = prop_oneof![
            (-3..3_i64).prop_map(Term::Number),
            any::<i64>().prop_map(Term::Number),
            any::<bool>().prop_map(Term::Bool),
            (0..3_usize).prop_map(|symbol| Term::Symbol(symbol, Vec::new())),
        ];
        leaf.prop_recursive(3, 24, 3, |inner| {
            let many = prop::collection::vec(inner, 0..3);
            prop_oneof![
                many.clone().prop_map(Term::List),
                many.clone().prop_map(Term::Set),
                (0..3_usize, many).prop_map(|(symbol, terms)| Term::Symbol(symbol, terms)),
            ]
        })
    }

    /// Terms whose order is part of the language.
    fn ordered() -> impl Strategy<Value = Term> {
        let pair = (0..3_usize, -3..3_i64, any::<bool>()).prop_map(|(symbol, number, value)| {
            Term::Symbol(symbol, vec![Term::Number(number), Term::Bool(value)])
        });
        prop::collection::vec(pair, 0..4).prop_map(Term::List)
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in terms(), b in terms(), c in terms()) {
            let mut heap = Heap::new(Terms::new(&Program::default()));
            let mut values = [make(&mut heap, &a), make(&mut heap, &b), make(&mut heap, &c)];
            for left in values {
                for right in values {
                    prop_assert_eq!(heap.compare(left, right), heap.compare(right, left).reverse());
                    prop_assert_eq!(heap.compare(left, right) == Ordering::Equal, left == right);
                }
            }
            values.sort_by(|&left, &right| heap.compare(left, right));
            prop_assert!(heap.compare(values[0], values[2]) != Ordering::Greater);
            // The order does not depend on words.
            let mut other = Heap::new(Terms::new(&Program::default()));
            let (second, first) = (make(&mut other, &b), make(&mut other, &a));
            let second = other.keep(second);
            let (x, y) = (make(&mut heap, &a), make(&mut heap, &b));
            prop_assert_eq!(other.compare(first, second), heap.compare(x, y));
            prop_assert_eq!(other.content_hash(first) == other.content_hash(second), x == y);
            prop_assert_eq!(other.content_hash(first), heap.content_hash(x));
        }

        #[test]
        fn the_order_is_that_of_the_language(a in ordered(), b in ordered()) {
            let mut heap = Heap::new(Terms::new(&Program::default()));
            let (x, y) = (make(&mut heap, &a), make(&mut heap, &b));
            prop_assert_eq!(heap.compare(x, y), a.cmp(&b));
        }
    }

    #[test]
    fn constructors_come_as_declared() {
        let text = "sort S = struct B | A(x: Nat) | C(y: Nat, z: Bool); T = struct D | C; act a; init a;";
        let (specification, _) = crate::syntax::parse_specification(text);
        let program = crate::typed::check_specification(&specification).0.unwrap();
        let mut heap = Heap::new(Terms::new(&program));
        let symbol = |name: &str| program.symbols_named(program.words.find(name).unwrap())[0];
        let hundred = Value::small(100).unwrap();
        let sorted = [
            heap.make(Head::Symbol(symbol("B")), &[]),
            heap.make(Head::Symbol(symbol("A")), &[Value::ZERO]),
            heap.make(Head::Symbol(symbol("A")), &[hundred]),
            heap.make(Head::Symbol(symbol("C")), &[Value::ZERO, Value::FALSE]),
            heap.make(Head::Symbol(symbol("C")), &[Value::ONE, Value::FALSE]),
            heap.make(Head::Symbol(symbol("C")), &[Value::ONE, Value::TRUE]),
        ];
        for pair in sorted.windows(2) {
            assert_eq!(heap.compare(pair[0], pair[1]), Ordering::Less);
        }
        assert!(sorted.iter().all(|&value| heap.is_plain(value)));
        let function = heap.make(Head::Symbol(symbol("A")), &[]);
        assert!(!heap.is_plain(function));
    }

    #[test]
    fn numbers_and_long_lists() {
        let mut heap = Heap::new(Terms::new(&Program::default()));
        let half = heap.divide(Value::ONE, Value::small(2).unwrap()).unwrap();
        let big = heap.whole(1 << 40);
        let small = heap.whole(-(1 << 40));
        let sorted = [small, Value::ZERO, half, Value::ONE, big];
        for (index, &left) in sorted.iter().enumerate() {
            for (other, &right) in sorted.iter().enumerate() {
                assert_eq!(heap.compare(left, right), index.cmp(&other));
            }
        }
        let numbers: Vec<Value> = (0..200_000).map(|number| Value::small(number).unwrap()).collect();
        let (long, longer) = (heap.list_of(&numbers[..199_999]), heap.list_of(&numbers));
        assert_eq!(
            (heap.compare(long, longer), heap.compare(longer, long)),
            (Ordering::Less, Ordering::Greater)
        );
    }
}
