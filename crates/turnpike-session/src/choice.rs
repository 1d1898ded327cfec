//! Settings with a few possible words, which requests, command lines and help share.

use turnpike_model::Diagnostic;

/// A setting with a few possible words.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every word with its meaning.
    const WORDS: &'static [(&'static str, &'static str)];
    /// Every value, in the order of the words.
    const VALUES: &'static [Self];

    /// The word for this value.
    fn word(self) -> &'static str {
        let index = Self::VALUES.iter().position(|value| *value == self).unwrap_or(0);
        Self::WORDS[index].0
    }

    /// The value for this word.
    fn from_word(text: &str) -> Result<Self, Diagnostic> {
        let index = Self::WORDS.iter().position(|(word, _)| *word == text);
        index.map(|index| Self::VALUES[index]).ok_or_else(|| {
            Diagnostic::error(format!("`{text}` is not one of the possible values")).suggest_or_list(
                text,
                Self::WORDS.iter().map(|(word, _)| *word),
                "the possible values are",
            )
        })
    }
}

/// The word, unless it is the default.
pub(crate) fn unusual<T: Choice + Default>(value: T) -> Vec<String> {
    if value == T::default() { Vec::new() } else { vec![value.word().to_owned()] }
}

/// An enumeration with one word and one line of documentation for each value.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident $(= $default:ident)? {
        $(#[doc = $doc:literal] $variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = $doc] #[serde(rename = $word)] $variant),+
        }

        $(impl Default for $name {
            fn default() -> Self {
                $name::$default
            }
        })?

        impl $crate::choice::Choice for $name {
            const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $doc)),+];
            const VALUES: &'static [Self] = &[$($name::$variant),+];
        }
    };
}

pub(crate) use choice;
