//! Call stacks for display.

use alloc::string::String;
use core::fmt;

/// A function on a call stack. Inlined functions have their own frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function's name in the source.
    pub function: Option<String>,
    /// The source position: `bank.c:31`.
    pub place: Option<String>,
    /// The source position as a file and a line.
    pub source: Option<SourceLine>,
    /// The position in the loaded object: `bank+0x1139`.
    pub code: String,
    /// Who wrote the function.
    pub origin: Origin,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as passed to the compiler or relative to the compilation directory.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The origin of a function.
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

    /// The source position; if unknown, the function and the position in the loaded object.
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
