use proptest::prelude::*;

use super::*;
use crate::value::Terms;

fn heap() -> Heap {
    Heap::new(Terms::new(&crate::typed::Program::default()))
}

fn text(heap: &Heap, value: Option<Value>) -> String {
    value.map_or("-".into(), |value| heap.number_text(value).unwrap())
}

/// Parses `7`, `-7`, `7/3`.
fn number(heap: &mut Heap, text: &str) -> Value {
    match text.split_once('/') {
        Some((left, right)) => {
            let (left, right) = (number(heap, left), number(heap, right));
            heap.divide(left, right).unwrap()
        }
        None => match text.strip_prefix('-') {
            Some(digits) => {
                let digits = heap.number_from_digits(digits).unwrap();
                heap.negate(digits).unwrap()
            }
            None => heap.number_from_digits(text).unwrap(),
        },
    }
}

#[test]
fn arithmetic_of_the_reference() {
    type Operation = fn(&mut Heap, Value, Value) -> Option<Value>;
    let table: &[(Operation, &str, &str, &str)] = &[
        (Heap::div, "-7", "2", "-4"),
        (Heap::modulo, "-7", "3", "2"),
        (Heap::div, "7", "0", "-"),
        (Heap::modulo, "7", "0", "-"),
        (Heap::div, "7", "-2", "-"),
        (Heap::div, "1/2", "2", "-"),
        (Heap::add, "1/3", "1/6", "1 / 2"),
        (Heap::divide, "-1", "3", "-1 / 3"),
        (Heap::divide, "1", "-3", "-1 / 3"),
        (Heap::divide, "1", "0", "-"),
        (Heap::divide, "1/2", "0", "-"),
        (Heap::divide, "6", "3", "2"),
        (Heap::exp, "0", "-1", "-"),
        (Heap::exp, "0", "0", "1"),
        (Heap::exp, "7", "0", "1"),
        (Heap::exp, "-2", "3", "-8"),
        (Heap::exp, "-2", "-3", "-1 / 8"),
        (Heap::exp, "2/3", "-2", "9 / 4"),
        (Heap::exp, "2", "1/2", "-"),
        (Heap::exp, "2", "70", "1180591620717411303424"),
        (Heap::exp, "2", "2000000", "-"),
        (Heap::exp, "2", "100000000000000000000000", "-"),
        (Heap::exp, "-1", "100000000000000000000001", "-1"),
        (Heap::exp, "-1", "100000000000000000000000", "1"),
        (Heap::exp, "-1", "-5", "-1"),
        (Heap::exp, "0", "100000000000000000000000", "0"),
        (Heap::max, "1/2", "1/3", "1 / 2"),
        (Heap::min, "1/2", "1/3", "1 / 3"),
        (Heap::max, "-100000000000000000000", "-2", "-2"),
        (Heap::multiply, "1/2", "4", "2"),
        (Heap::subtract, "1073741823", "-1", "1073741824"),
        (Heap::subtract, "100000000000000000000", "99999999999999999999", "1"),
        (Heap::div, "-100000000000000000001", "10", "-10000000000000000001"),
        (Heap::modulo, "-100000000000000000001", "10", "9"),
    ];
    let mut heap = heap();
    for &(operation, left, right, expected) in table {
        let operands = (number(&mut heap, left), number(&mut heap, right));
        let result = operation(&mut heap, operands.0, operands.1);
        assert_eq!(text(&heap, result), expected, "{left} and {right}");
    }
}

#[test]
fn rounding_roots_and_conversions() {
    type Operation = fn(&mut Heap, Value) -> Option<Value>;
    let table: &[(Operation, &str, &str)] = &[
        (Heap::floor, "-7/2", "-4"),
        (Heap::ceil, "-7/2", "-3"),
        (Heap::ceil, "7/2", "4"),
        (Heap::round, "5/2", "3"),
        (Heap::round, "-5/2", "-2"),
        (Heap::round, "-8/3", "-3"),
        (Heap::floor, "12345678901234567890", "12345678901234567890"),
        (Heap::sqrt, "17", "4"),
        (Heap::sqrt, "-1", "-"),
        (Heap::sqrt, "100000000000000000000000000000000000000", "10000000000000000000"),
        (Heap::abs, "-7/2", "7 / 2"),
        (Heap::succ, "-1/2", "1 / 2"),
        (Heap::pred, "0", "-1"),
        (Heap::negate, "-1073741824", "1073741824"),
        (|heap, value| heap.to_nat(value), "-1", "-"),
        (|heap, value| heap.to_nat(value), "0", "0"),
        (|heap, value| heap.to_pos(value), "0", "-"),
        (|heap, value| heap.to_pos(value), "-99999999999999999999", "-"),
        (|heap, value| heap.to_pos(value), "99999999999999999999", "99999999999999999999"),
        (|heap, value| heap.to_int(value), "1/2", "-"),
        (|heap, value| heap.to_int(value), "-5", "-5"),
    ];
    let mut heap = heap();
    for &(operation, operand, expected) in table {
        let value = number(&mut heap, operand);
        let result = operation(&mut heap, value);
        assert_eq!(text(&heap, result), expected, "{operand}");
    }
}

#[test]
fn operations_without_a_number_have_no_result() {
    let mut heap = heap();
    let one = Value::ONE;
    for stuck in [Value::NIL, Value::TRUE] {
        assert_eq!((heap.add(stuck, one), heap.divide(one, stuck), heap.exp(one, stuck)), (None, None, None));
        assert_eq!((heap.div(one, stuck), heap.sqrt(stuck), heap.floor(stuck)), (None, None, None));
        assert_eq!(
            (heap.compare_numbers(stuck, one), heap.max(one, stuck), heap.to_int(stuck)),
            (None, None, None)
        );
    }
    assert_eq!((heap.number_from_digits(""), heap.number_from_digits("-1")), (None, None));
}

/// Numbers near the limits between representations.
fn numbers() -> impl Strategy<Value = i128> {
    prop_oneof![
        -20..20_i128,
        ((1_i128 << 30) - 3)..((1_i128 << 30) + 3),
        -((1_i128 << 30) + 3)..(-(1_i128 << 30) + 3),
        any::<i64>().prop_map(i128::from),
        any::<i32>().prop_map(i128::from),
    ]
}

proptest! {
    #[test]
    fn whole_numbers_are_as_in_rust(left in numbers(), right in numbers()) {
        let mut heap = heap();
        let (a, b) = (heap.whole_big(&IBig::from(left)), heap.whole_big(&IBig::from(right)));
        let results = [
                (heap.add(a, b), Some(left + right)),
                (heap.subtract(a, b), Some(left - right)),
                (heap.multiply(a, b), left.checked_mul(right)),
                (heap.negate(a), Some(-left)),
                (heap.div(a, b), (right > 0).then(|| left.div_euclid(right))),
                (heap.modulo(a, b), (right > 0).then(|| left.rem_euclid(right))),
                (heap.max(a, b), Some(left.max(right))),
                (heap.min(a, b), Some(left.min(right))),
                (heap.succ(a), Some(left + 1)),
                (heap.pred(a), Some(left - 1)),
                (heap.abs(a), Some(left.abs())),
                (heap.to_nat(a), (left >= 0).then_some(left)),
                (heap.to_pos(a), (left > 0).then_some(left)),
                (heap.sqrt(a), (left >= 0).then(|| left.isqrt())),
        ];
        for (result, expected) in results {
            let expected = expected.map(|number| heap.whole_big(&IBig::from(number)));
            prop_assert_eq!(result, expected);
        }
        prop_assert_eq!(heap.compare_numbers(a, b), Some(left.cmp(&right)));
        prop_assert_eq!(heap.number_text(a), Some(left.to_string()));
    }

    #[test]
    fn fractions_are_fields(a in numbers(), b in 1..1000_i64, c in numbers(), d in 1..1000_i64) {
        let mut heap = heap();
        let fraction = |numerator: i128, denominator: i64| {
            RBig::from_parts(IBig::from(numerator), UBig::try_from(denominator).unwrap())
        };
        let (left, right) = (fraction(a, b), fraction(c, d));
        let (x, y) = (heap.fraction(left.clone()), heap.fraction(right.clone()));
        let quotient = (!right.is_zero()).then(|| left.clone() / right.clone());
        let cases = [
            (heap.add(x, y), Some(left.clone() + right.clone())),
            (heap.subtract(x, y), Some(left.clone() - right.clone())),
            (heap.multiply(x, y), Some(left.clone() * right.clone())),
            (heap.divide(x, y), quotient),
            (heap.floor(x), Some(RBig::from(left.floor()))),
            (heap.ceil(x), Some(RBig::from(left.ceil()))),
        ];
        for (result, expected) in cases {
            let expected = expected.map(|number| heap.fraction(number));
            prop_assert_eq!(result, expected);
        }
        prop_assert_eq!(heap.compare_numbers(x, y), Some(left.cmp(&right)));
        prop_assert_eq!(heap.is(x, Head::Rational), !left.is_int());
    }
}
