//! Interned words, and byte ranges of the source.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// Bytes of a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// From the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }

    /// The span as a range, for diagnostics.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A word of a specification, interned in [`Symbols`]: equal words have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

impl Symbol {
    pub(crate) fn new(index: u32) -> Symbol {
        Symbol(index)
    }

    /// Dense, from 0 in order of first occurrence: an index for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The words of a specification.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    words: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, Symbol>,
}

impl Symbols {
    /// The id of a word, added if it is new.
    pub fn intern(&mut self, word: &str) -> Symbol {
        if let Some(&symbol) = self.ids.get(word) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.words.len()).expect("fewer than 2^32 different words"));
        self.words.push(word.into());
        self.ids.insert(word.into(), symbol);
        symbol
    }

    /// The id of a word, if it occurs.
    pub fn find(&self, word: &str) -> Option<Symbol> {
        self.ids.get(word).copied()
    }

    /// The word itself.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.words[symbol.index()]
    }

    /// All words by id.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// An occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The word.
    pub symbol: Symbol,
    /// Its position.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_have_equal_ids() {
        let mut symbols = Symbols::default();
        let (a, b) = (symbols.intern("a"), symbols.intern("b'"));
        assert_eq!((symbols.intern("a"), symbols.find("b'"), symbols.find("c")), (a, Some(b), None));
        assert_eq!((symbols.text(b), symbols.len(), b.index()), ("b'", 2, 1));
        assert!(!symbols.is_empty());
    }

    #[test]
    fn spans_join() {
        assert_eq!(Span::new(3, 5).to(Span::new(9, 12)).range(), 3..12);
    }
}
