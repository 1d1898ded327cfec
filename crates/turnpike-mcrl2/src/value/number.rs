//! Numbers: 31-bit integers are stored in the word itself, larger ones and fractions as nodes.
//! Every number has one representation: an integer is never a fraction, a small integer is never a
//! node, and fractions are reduced.
//!
//! All operations return `None` if an operand is not a number or the result is undefined; the term
//! is then stuck.

use std::cmp::Ordering;

use dashu_int::{IBig, Sign, UBig};
use dashu_ratio::RBig;

use super::{Head, Heap, Value};
use crate::builtin::number;
use crate::typed::Builtin;

/// Numerator and denominator of 31 bits each, so that sums of their products fit.
type Short = (i64, i64);

impl Heap {
    /// An integer.
    #[inline]
    pub fn whole(&mut self, number: i64) -> Value {
        match i32::try_from(number).ok().and_then(Value::small) {
            Some(value) => value,
            None => self.big(&IBig::from(number)),
        }
    }

    /// An integer of any size.
    pub fn whole_big(&mut self, number: &IBig) -> Value {
        match i64::try_from(number) {
            Ok(small) => self.whole(small),
            Err(_) => self.big(number),
        }
    }

    /// An integer that does not fit into a word.
    #[cold]
    fn big(&mut self, number: &IBig) -> Value {
        let negative = number.sign() == Sign::Negative;
        let bytes = number.clone().into_parts().1.to_le_bytes();
        let digits = bytes
            .chunks(4)
            .map(|chunk| Value(chunk.iter().rev().fold(0, |digit, &byte| digit << 8 | u32::from(byte))));
        let words: Vec<Value> = std::iter::once(Value(u32::from(negative))).chain(digits).collect();
        self.make(Head::Big, &words)
    }

    /// A fraction, stored as an integer if it is one.
    pub fn fraction(&mut self, number: RBig) -> Value {
        let (numerator, denominator) = number.into_parts();
        let numerator = self.whole_big(&numerator);
        if denominator.is_one() {
            return numerator;
        }
        let denominator = self.whole_big(&IBig::from(denominator));
        self.make(Head::Rational, &[numerator, denominator])
    }

    /// A number in decimal digits; `None` for any other text.
    pub fn number_from_digits(&mut self, digits: &str) -> Option<Value> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        match digits.parse::<i64>() {
            Ok(number) => Some(self.whole(number)),
            Err(_) => Some(self.whole_big(&IBig::from(UBig::from_str_radix(digits, 10).ok()?))),
        }
    }

    /// Whether a value is a number, not a stuck term.
    #[inline]
    pub fn is_number(&self, value: Value) -> bool {
        value.as_small().is_some() || matches!(self.head(value), Some(Head::Big | Head::Rational))
    }

    /// An integer; `None` for fractions and for values that are not numbers.
    pub fn to_whole(&self, value: Value) -> Option<IBig> {
        if let Some(small) = value.as_small() {
            return Some(IBig::from(small));
        }
        if !self.is(value, Head::Big) {
            return None;
        }
        let mut words = self.arguments(value).map(Value::word);
        let sign = if words.next()? == 1 { Sign::Negative } else { Sign::Positive };
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        Some(IBig::from_parts(sign, UBig::from_le_bytes(&bytes)))
    }

    /// The number as a fraction.
    pub fn to_fraction(&self, value: Value) -> Option<RBig> {
        if self.is(value, Head::Rational) {
            let numerator = self.to_whole(self.argument(value, 0))?;
            let denominator = self.to_whole(self.argument(value, 1))?;
            return Some(RBig::from_parts_signed(numerator, denominator));
        }
        self.to_whole(value).map(RBig::from)
    }

    /// An integer that fits, for counting and indexing.
    #[inline]
    pub fn to_usize(&self, value: Value) -> Option<usize> {
        match value.as_small() {
            Some(small) => usize::try_from(small).ok(),
            None => usize::try_from(self.to_whole(value)?).ok(),
        }
    }

    /// Compares two numbers.
    #[inline]
    pub fn compare_numbers(&self, left: Value, right: Value) -> Option<Ordering> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => self.compare_large(left, right),
        }
    }

    #[cold]
    fn compare_large(&self, left: Value, right: Value) -> Option<Ordering> {
        if let (Some((a, b)), Some((c, d))) = (self.short(left), self.short(right)) {
            return Some((a * d).cmp(&(c * b)));
        }
        match (self.to_whole(left), self.to_whole(right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => Some(self.to_fraction(left)?.cmp(&self.to_fraction(right)?)),
        }
    }

    /// Numerator and denominator, if both fit into words.
    #[inline]
    fn short(&self, value: Value) -> Option<Short> {
        if let Some(small) = value.as_small() {
            return Some((i64::from(small), 1));
        }
        if !self.is(value, Head::Rational) {
            return None;
        }
        let part = |index| self.argument(value, index).as_small().map(i64::from);
        Some((part(0)?, part(1)?))
    }

    /// A fraction in lowest terms; its denominator is positive.
    fn reduce(&mut self, (numerator, denominator): Short) -> Value {
        let (mut divisor, mut rest) = (denominator.unsigned_abs(), numerator.unsigned_abs());
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        // It divides the denominator, which is positive.
        let divisor = divisor as i64;
        let whole = self.whole(numerator / divisor);
        if denominator == divisor {
            return whole;
        }
        let parts = self.whole(denominator / divisor);
        self.make(Head::Rational, &[whole, parts])
    }

    /// A function on numbers by its definition in exact arithmetic.
    #[cold]
    fn exact(&mut self, builtin: Builtin, operands: &[Value]) -> Option<Value> {
        let result = match *operands {
            [left, right] => number::binary(builtin, self.to_fraction(left)?, self.to_fraction(right)?)?,
            _ => number::unary(builtin, self.to_fraction(*operands.first()?)?)?,
        };
        Some(self.fraction(result))
    }

    /// A function of two operands that are not both small: fractions of words by `short`, others by
    /// definition.
    #[cold]
    fn large(
        &mut self,
        builtin: Builtin,
        left: Value,
        right: Value,
        short: fn(Short, Short) -> Short,
    ) -> Option<Value> {
        if let (Some(left), Some(right)) = (self.short(left), self.short(right)) {
            return Some(self.reduce(short(left, right)));
        }
        self.exact(builtin, &[left, right])
    }

    /// `left + right`
    #[inline]
    pub fn add(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => Some(self.whole(i64::from(left) + i64::from(right))),
            _ => self.large(Builtin::Add, left, right, |(a, b): Short, (c, d): Short| (a * d + c * b, b * d)),
        }
    }

    /// `left - right`
    #[inline]
    pub fn subtract(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => Some(self.whole(i64::from(left) - i64::from(right))),
            _ => self
                .large(Builtin::Subtract, left, right, |(a, b): Short, (c, d): Short| (a * d - c * b, b * d)),
        }
    }

    /// `left * right`
    #[inline]
    pub fn multiply(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => Some(self.whole(i64::from(left) * i64::from(right))),
            _ => self.large(Builtin::Multiply, left, right, |(a, b): Short, (c, d): Short| (a * c, b * d)),
        }
    }

    /// `-number`
    #[inline]
    pub fn negate(&mut self, number: Value) -> Option<Value> {
        self.subtract(Value::ZERO, number)
    }

    /// `left / right`, exactly; undefined for 0.
    pub fn divide(&mut self, left: Value, right: Value) -> Option<Value> {
        if let (Some(left), Some(right)) = (left.as_small(), right.as_small())
            && left.checked_rem(right)? == 0
        {
            return Some(self.whole(i64::from(left) / i64::from(right)));
        }
        if let (Some((a, b)), Some((c, d))) = (self.short(left), self.short(right)) {
            return (c != 0).then(|| self.reduce((a * d * c.signum(), b * c.abs())));
        }
        self.exact(Builtin::Divide, &[left, right])
    }

    /// `left div right`, rounding down; integers, and undefined unless `right` is positive.
    #[inline]
    pub fn div(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => (right > 0).then(|| self.whole(i64::from(left.div_euclid(right)))),
            _ => self.exact(Builtin::Div, &[left, right]),
        }
    }

    /// `left mod right`, never negative; integers, and undefined unless `right` is positive.
    #[inline]
    pub fn modulo(&mut self, left: Value, right: Value) -> Option<Value> {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => (right > 0).then(|| self.whole(i64::from(left.rem_euclid(right)))),
            _ => self.exact(Builtin::Mod, &[left, right]),
        }
    }

    /// `exp(base, exponent)` for whole exponents.
    pub fn exp(&mut self, base: Value, exponent: Value) -> Option<Value> {
        self.exact(Builtin::Exp, &[base, exponent])
    }

    /// The larger one.
    #[inline]
    pub fn max(&mut self, left: Value, right: Value) -> Option<Value> {
        Some(if self.compare_numbers(left, right)? == Ordering::Less { right } else { left })
    }

    /// The smaller one.
    #[inline]
    pub fn min(&mut self, left: Value, right: Value) -> Option<Value> {
        Some(if self.compare_numbers(left, right)? == Ordering::Greater { right } else { left })
    }

    /// `number + 1`
    #[inline]
    pub fn succ(&mut self, number: Value) -> Option<Value> {
        self.add(number, Value::ONE)
    }

    /// `number - 1`
    #[inline]
    pub fn pred(&mut self, number: Value) -> Option<Value> {
        self.subtract(number, Value::ONE)
    }

    /// The number without its sign.
    #[inline]
    pub fn abs(&mut self, number: Value) -> Option<Value> {
        match self.compare_numbers(number, Value::ZERO)? {
            Ordering::Less => self.negate(number),
            _ => Some(number),
        }
    }

    /// The largest integer that is at most this number.
    pub fn floor(&mut self, number: Value) -> Option<Value> {
        self.round_by(Builtin::Floor, number)
    }

    /// The smallest integer that is at least this number.
    pub fn ceil(&mut self, number: Value) -> Option<Value> {
        self.round_by(Builtin::Ceil, number)
    }

    /// The nearest integer, rounding half up.
    pub fn round(&mut self, number: Value) -> Option<Value> {
        self.round_by(Builtin::Round, number)
    }

    fn round_by(&mut self, builtin: Builtin, number: Value) -> Option<Value> {
        if self.is(number, Head::Rational) {
            return self.exact(builtin, &[number]);
        }
        self.is_number(number).then_some(number)
    }

    /// The square root of an integer, rounded down; undefined for negative ones.
    pub fn sqrt(&mut self, number: Value) -> Option<Value> {
        self.exact(Builtin::Sqrt, &[number])
    }

    /// The number itself, if it is an integer.
    #[inline]
    pub fn to_int(&self, number: Value) -> Option<Value> {
        (number.as_small().is_some() || self.is(number, Head::Big)).then_some(number)
    }

    /// The number itself, if it is an integer and not negative.
    #[inline]
    pub fn to_nat(&self, number: Value) -> Option<Value> {
        self.to_int(number).filter(|_| self.at_least(number, 0))
    }

    /// The number itself, if it is a positive integer.
    #[inline]
    pub fn to_pos(&self, number: Value) -> Option<Value> {
        self.to_int(number).filter(|_| self.at_least(number, 1))
    }

    #[inline]
    fn at_least(&self, number: Value, least: i32) -> bool {
        match number.as_small() {
            Some(small) => small >= least,
            // The absolute value of a node is large. Its first argument is the sign.
            None => self.argument(number, 0).word() == 0,
        }
    }

    /// The number as the mCRL2 tools print it: `-7`, `1 / 2`.
    pub fn number_text(&self, value: Value) -> Option<String> {
        match value.as_small() {
            Some(small) => Some(small.to_string()),
            None if self.is(value, Head::Rational) => {
                let (numerator, denominator) = self.to_fraction(value)?.into_parts();
                Some(format!("{numerator} / {denominator}"))
            }
            None => Some(self.to_whole(value)?.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
