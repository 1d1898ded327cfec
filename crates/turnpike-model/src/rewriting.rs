//! A text written by the user with parts replaced, so that places in errors can be mapped back.

use std::ops::Range;

/// A text in which parts of another one are replaced.
#[derive(Clone, Debug, Default)]
pub struct Rewriting {
    text: String,
    /// The replacements, in order.
    replaced: Vec<Replaced>,
}

#[derive(Clone, Debug)]
struct Replaced {
    /// The range in the new text.
    new: Range<usize>,
    /// The range in the original.
    old: Range<usize>,
}

impl Rewriting {
    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a part of the original as it is.
    pub fn keep(&mut self, part: &str) {
        self.text.push_str(part);
    }

    /// Adds other words for the range `old` of the original.
    pub fn replace(&mut self, old: Range<usize>, with: &str) {
        let start = self.text.len();
        self.text.push_str(with);
        self.replaced.push(Replaced { new: start..self.text.len(), old });
    }

    /// The range of the original that corresponds to a range of the new text.
    pub fn restore(&self, range: Range<usize>) -> Range<usize> {
        self.restore_position(range.start, false)..self.restore_position(range.end, true)
    }

    /// Maps a position to the original text. Inside a replacement it becomes its start, or its end
    /// if `end`.
    fn restore_position(&self, position: usize, end: bool) -> usize {
        let starts = |one: &&Replaced| one.new.start < position || (!end && one.new.start == position);
        match self.replaced.iter().rev().find(starts) {
            None => position,
            Some(one) if position >= one.new.end => position - one.new.end + one.old.end,
            Some(one) if end => one.old.end,
            Some(one) => one.old.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_original() {
        let mut rewriting = Rewriting::default();
        rewriting.replace(0..4, "P");
        rewriting.keep(" + ");
        rewriting.replace(7..8, "====");
        assert_eq!(rewriting.text(), "P + ====");
        assert_eq!(rewriting.restore(0..1), 0..4);
        assert_eq!(rewriting.restore(1..4), 4..7);
        assert_eq!(rewriting.restore(5..6), 7..8);
        assert_eq!(rewriting.restore(8..8), 8..8);
    }
}
