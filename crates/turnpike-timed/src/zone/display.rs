//! Zones as text, in TChecker's notation: `(0<=x<=3 && y==2 && x==y+1)`.

use std::fmt;

use super::{Bound, Dbm};

/// Displays a zone with names for its clocks.
#[derive(Clone, Copy, Debug)]
pub struct ZoneText<'a, S> {
    zone: &'a Dbm,
    names: &'a [S],
}

impl Dbm {
    /// The zone as text; `names[i - 1]` is the clock of row `i`.
    pub fn text<'a, S: AsRef<str>>(&'a self, names: &'a [S]) -> ZoneText<'a, S> {
        debug_assert_eq!(names.len() + 1, self.dimension());
        ZoneText { zone: self, names }
    }
}

impl<S: AsRef<str>> fmt::Display for ZoneText<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.zone;
        let mut separator = "(";
        let mut begin = |f: &mut fmt::Formatter<'_>| f.write_str(std::mem::replace(&mut separator, " && "));
        for (i, name) in self.names.iter().enumerate() {
            begin(f)?;
            write_range(f, name.as_ref(), zone.get(0, i + 1), zone.get(i + 1, 0))?;
        }
        for (i, first) in self.names.iter().enumerate() {
            for (j, second) in self.names.iter().enumerate().skip(i + 1) {
                let (lower, upper) = (zone.get(j + 1, i + 1), zone.get(i + 1, j + 1));
                if lower.is_infinite() && upper.is_infinite() {
                    continue;
                }
                begin(f)?;
                let (first, second) = (first.as_ref(), second.as_ref());
                if lower + upper == Bound::ZERO {
                    write!(f, "{first}=={second}")?;
                    if upper.value() != 0 {
                        write!(f, "{:+}", upper.value())?;
                    }
                } else {
                    write_range(f, &format!("{first}-{second}"), lower, upper)?;
                }
            }
        }
        f.write_str(if self.names.is_empty() { "()" } else { ")" })
    }
}

/// Writes `what==1`, `1<what<=2`, or less if bounds are missing. `lower` is the bound on the
/// opposite difference.
fn write_range(f: &mut fmt::Formatter<'_>, what: &str, lower: Bound, upper: Bound) -> fmt::Result {
    if lower + upper == Bound::ZERO {
        return write!(f, "{what}=={}", upper.value());
    }
    if !lower.is_infinite() {
        write!(f, "{}{}", -lower.value(), if lower.is_strict() { "<" } else { "<=" })?;
    }
    f.write_str(what)?;
    if upper.is_infinite() { Ok(()) } else { write!(f, "{upper}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_zones() {
        assert_eq!(Dbm::zero(1).text::<&str>(&[]).to_string(), "()");
        assert_eq!(Dbm::zero(3).text(&["x", "y"]).to_string(), "(x==0 && y==0 && x==y)");
        assert_eq!(Dbm::universe(3).text(&["x", "y"]).to_string(), "(0<=x && 0<=y)");
        let mut zone = Dbm::zero(3);
        zone.up();
        assert_eq!(zone.text(&["x", "y"]).to_string(), "(0<=x && 0<=y && x==y)");
        assert!(zone.conjoin(1, 0, Bound::strict(3)));
        assert_eq!(zone.text(&["x", "y"]).to_string(), "(0<=x<3 && 0<=y<3 && x==y)");

        let table = [
            (vec![(1, 2, Bound::weak(2)), (2, 1, Bound::weak(-2))], "(2<=x && 0<=y && x==y+2)"),
            (vec![(1, 2, Bound::weak(-2)), (2, 1, Bound::weak(2))], "(0<=x && 2<=y && x==y-2)"),
            (vec![(0, 1, Bound::strict(-1)), (1, 2, Bound::weak(4))], "(1<x && 0<=y && x-y<=4)"),
            (vec![(2, 1, Bound::strict(3)), (1, 2, Bound::weak(4))], "(0<=x && 0<=y && -3<x-y<=4)"),
            (vec![(2, 1, Bound::strict(-3))], "(3<x && 0<=y && 3<x-y)"),
        ];
        for (constraints, text) in table {
            let mut zone = Dbm::universe(3);
            for (i, j, bound) in constraints {
                assert!(zone.conjoin(i, j, bound));
            }
            assert_eq!(zone.text(&["x", "y"]).to_string(), text);
        }
    }
}
