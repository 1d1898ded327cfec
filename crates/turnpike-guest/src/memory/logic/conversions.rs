//! The conversions of a `printf` format: which arguments each of them takes.

/// One conversion, from its `%` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// The width is an argument (`%*d`), which comes first.
    pub width_taken: bool,
    pub precision: Precision,
    pub takes: Takes,
}

/// The most bytes of a text that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// All of them.
    None,
    /// As many as the format says.
    Is(usize),
    /// As many as an argument says (`%.*s`), which comes before the text; all if that is negative.
    Taken,
}

/// The argument of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// A number or a pointer that is not followed.
    Word,
    Real,
    LongReal,
    Text,
    /// The address of an integer of this many bytes, for the number of characters so far.
    Count(usize),
    /// The format ends in the middle of the conversion.
    End,
    /// Wide texts, arguments by number, and what no C library has.
    Unknown,
}

/// Conversions in a format, one after the other. Nothing comes after one that ends early or is
/// unknown.
pub(crate) struct Conversions<'a> {
    rest: &'a [u8],
}

impl<'a> Conversions<'a> {
    pub(crate) fn of(format: &'a [u8]) -> Self {
        Conversions { rest: format }
    }

    fn skip_if(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        wanted(first).then(|| {
            self.rest = rest;
            first
        })
    }

    fn number(&mut self) -> usize {
        let mut number = 0usize;
        while let Some(digit) = self.skip_if(|byte| byte.is_ascii_digit()) {
            number = number.saturating_mul(10).saturating_add((digit - b'0').into());
        }
        number
    }

    /// The conversion whose `%` was just before this place.
    fn conversion(&mut self) -> Conversion {
        let mut found = Conversion { width_taken: false, precision: Precision::None, takes: Takes::Unknown };
        while self.skip_if(|byte| b"-+ #0'I".contains(&byte)).is_some() {}
        found.width_taken = self.skip_if(|byte| byte == b'*').is_some();
        self.number();
        if self.rest.first() == Some(&b'$') {
            return found;
        }
        if self.skip_if(|byte| byte == b'.').is_some() {
            found.precision = match self.skip_if(|byte| byte == b'*') {
                Some(_) => Precision::Taken,
                None => Precision::Is(self.number()),
            };
            if self.rest.first() == Some(&b'$') {
                return found;
            }
        }
        let (mut shorts, mut longs, mut long_real) = (0u32, 0u32, false);
        while let Some(size) = self.skip_if(|byte| b"hlqLjzZt".contains(&byte)) {
            match size {
                b'h' => shorts += 1,
                b'L' => long_real = true,
                _ => longs += 1,
            }
        }
        found.takes = match self.skip_if(|_| true) {
            None => Takes::End,
            Some(b'%' | b'm') => Takes::Nothing,
            Some(b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'p' | b'C') => Takes::Word,
            Some(b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A') if long_real => Takes::LongReal,
            Some(b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A') => Takes::Real,
            Some(b's') if longs == 0 => Takes::Text,
            Some(b'n') => Takes::Count(if longs > 0 { 8 } else { 4 >> shorts.min(2) }),
            Some(_) => Takes::Unknown,
        };
        found
    }
}

impl Iterator for Conversions<'_> {
    type Item = Conversion;

    fn next(&mut self) -> Option<Conversion> {
        let start = self.rest.iter().position(|&byte| byte == b'%')?;
        self.rest = &self.rest[start + 1..];
        let found = self.conversion();
        if matches!(found.takes, Takes::End | Takes::Unknown) {
            self.rest = &[];
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn takes(format: &str) -> Vec<Takes> {
        Conversions::of(format.as_bytes()).map(|found| found.takes).collect()
    }

    fn only(format: &str) -> Conversion {
        let all: Vec<Conversion> = Conversions::of(format.as_bytes()).collect();
        assert_eq!(all.len(), 1, "{format}");
        all[0]
    }

    #[test]
    fn arguments_are_told_apart_by_how_they_are_passed() {
        assert_eq!(takes("no conversion"), []);
        assert_eq!(
            takes("%d %5.2f %s, 100%% of %p\n"),
            [Takes::Word, Takes::Real, Takes::Text, Takes::Nothing, Takes::Word]
        );
        assert_eq!(takes("%Lf%lf%Lg"), [Takes::LongReal, Takes::Real, Takes::LongReal]);
        assert_eq!(takes("%hhd %lld %zu %jx %m"), [[Takes::Word; 4].as_slice(), &[Takes::Nothing]].concat());
    }

    #[test]
    fn counts_have_the_size_that_the_conversion_says() {
        assert_eq!(
            takes("%hhn%hn%n%ln%lln"),
            [Takes::Count(1), Takes::Count(2), Takes::Count(4), Takes::Count(8), Takes::Count(8)]
        );
    }

    #[test]
    fn width_and_precision_may_be_arguments() {
        let plain = only("%-08.12s");
        assert_eq!((plain.width_taken, plain.precision), (false, Precision::Is(12)));
        let taken = only("%*.*s");
        assert_eq!((taken.width_taken, taken.precision), (true, Precision::Taken));
        assert_eq!(only("%.s").precision, Precision::Is(0));
        assert_eq!(only("%s").precision, Precision::None);
        assert_eq!(only("%.99999999999999999999999s").precision, Precision::Is(usize::MAX));
    }

    #[test]
    fn nothing_is_said_behind_what_is_not_understood() {
        assert_eq!(takes("%d %1$d %s"), [Takes::Word, Takes::Unknown]);
        assert_eq!(takes("%.2$d %s"), [Takes::Unknown]);
        assert_eq!(takes("%ls %d"), [Takes::Unknown]);
        assert_eq!(takes("%d %y %d"), [Takes::Word, Takes::Unknown]);
        assert_eq!(takes("%d %-5.3l"), [Takes::Word, Takes::End]);
        assert_eq!(takes("%"), [Takes::End]);
    }

    proptest! {
        /// Every `%` begins a conversion, belongs to one, or comes after one that is not
        /// understood.
        #[test]
        fn no_conversion_is_lost(format in "[%a-z0-9.*$ ]{0,24}") {
            let found = takes(&format);
            let begun = format.bytes().filter(|&byte| byte == b'%').count();
            let doubled = found.iter().filter(|&&takes| takes == Takes::Nothing).count();
            let early = found.iter().any(|takes| matches!(takes, Takes::End | Takes::Unknown));
            prop_assert!(found.len() <= begun);
            prop_assert!(early || found.len() + doubled >= begun);
        }
    }
}
