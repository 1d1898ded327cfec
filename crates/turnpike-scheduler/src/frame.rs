//! Call stacks, as people read them.

use alloc::string::String;
use core::fmt;

/// One function on a call stack. Functions that the compiler inlined have frames of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function's name, as the source has it.
    pub function: Option<String>,
    /// Where it is in the source: `bank.c:31`.
    pub place: Option<String>,
    /// The same for reading the file.
    pub source: Option<SourceLine>,
    /// Where it is in what was loaded: `bank+0x1139`.
    pub code: String,
    /// Whose function it is.
    pub origin: Origin,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler was given it or below the folder it was compiled in.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Whose function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program under test.
    User,
    /// A library or the language's runtime.
    Library,
    /// turnpike.
    Turnpike,
}

impl Frame {
    /// Whether it belongs to the program under test.
    pub fn is_user(&self) -> bool {
        self.origin == Origin::User
    }

    /// The source position; without one, the function and where it was loaded.
    pub fn position(&self) -> String {
        match (&self.place, &self.function) {
            (Some(place), _) => place.clone(),
            (None, Some(function)) => alloc::format!("{function} in {}", self.code),
            (None, None) => self.code.clone(),
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.function, &self.place) {
            (Some(function), Some(place)) => write!(f, "{function}  {place}"),
            _ => f.write_str(&self.position()),
        }
    }
}
