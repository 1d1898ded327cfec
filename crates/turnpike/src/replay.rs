//! Schedules that a user gives.

use std::path::Path;

use turnpike_model::Trace;
use turnpike_runtime::schedule::decode;

/// A schedule given by the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// For which check of the test, counted from 1: the number before a colon, otherwise the first.
    pub(crate) check: u32,
    /// Positions in the lists of choices.
    pub(crate) choices: Vec<u32>,
}

/// A schedule as text, or a file with such a text or with a trace of the command line.
pub(crate) fn read(given: &str) -> Result<Given, String> {
    let path = Path::new(given);
    if !path.is_file() {
        let looks_like_a_file = given.contains(['/', '\\']) || path.extension().is_some_and(is_word);
        return parse(given).map_err(|mistake| {
            if looks_like_a_file { format!("there is no file `{given}`") } else { mistake }
        });
    }
    if let Ok(text) = std::fs::read_to_string(path)
        && let Ok(schedule) = parse(&text)
    {
        return Ok(schedule);
    }
    let trace = turnpike_lts::trace::read_file(path).map_err(|error| error.to_string())?;
    let choices = choices(&trace).ok_or_else(|| format!("{given} has no schedule of a program"))?;
    Ok(Given { check: 1, choices })
}

fn parse(text: &str) -> Result<Given, String> {
    let (check, schedule) = match text.trim().split_once(':') {
        Some((check, schedule)) => {
            (check.parse().map_err(|_| format!("`{check}` is not the number of a check"))?, schedule)
        }
        None => (1, text),
    };
    Ok(Given { check, choices: decode(schedule)? })
}

/// Parts of schedules begin with digits.
fn is_word(extension: &std::ffi::OsStr) -> bool {
    extension.to_string_lossy().starts_with(|first: char| first.is_alphabetic())
}

/// The schedule of a trace.
pub(crate) fn choices(trace: &Trace) -> Option<Vec<u32>> {
    trace.steps.iter().map(|step| step.choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_with_and_without_the_number_of_the_check() {
        assert_eq!(read("0x2.1").unwrap(), Given { check: 1, choices: vec![0, 0, 1] });
        assert_eq!(read(" 3:1.0\n").unwrap(), Given { check: 3, choices: vec![1, 0] });
        assert_eq!(read("-").unwrap(), Given { check: 1, choices: Vec::new() });
    }

    #[test]
    fn mistakes_are_told() {
        assert!(read("a:1").unwrap_err().contains("`a` is not the number"));
        assert!(read("0.1.z").unwrap_err().contains("there is no file"));
        assert!(read("nowhere/schedule").unwrap_err().contains("there is no file"));
        assert!(read("0.1.2z").unwrap_err().contains("`2z`"));
    }
}
