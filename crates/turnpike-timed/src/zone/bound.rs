//! One bound on a difference of clocks, packed into a machine integer.

/// `< c`, `<= c` or no bound: twice the number, plus one when weak, so that the order of integers is the order of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound(pub i32);

impl Bound {
    /// No bound.
    pub const INFINITY: Bound = Bound(1 << 29);
    /// `<= 0`
    pub const ZERO: Bound = Bound(1);
    /// Numbers in a model must be smaller than this in size: then no sum of two bounds overflows.
    pub const LIMIT: i32 = 1 << 26;

    /// `<= value`
    pub const fn weak(value: i32) -> Bound {
        Bound(2 * value + 1)
    }

    /// `< value`
    pub const fn strict(value: i32) -> Bound {
        Bound(2 * value)
    }

    /// The number, which means nothing for [`INFINITY`](Self::INFINITY).
    pub const fn value(self) -> i32 {
        self.0 >> 1
    }
}
