//! Schedules as text: positions in the choice lists, `3x12` standing for twelve times a 3, joined
//! by points.

use std::fmt::Write as _;

/// Positions as text.
pub fn encode(choices: &[u32]) -> String {
    let mut text = String::new();
    for run in choices.chunk_by(|one, other| one == other) {
        if !text.is_empty() {
            text.push('.');
        }
        // Writing to a string cannot fail.
        let _ = match run.len() {
            1 => write!(text, "{}", run[0]),
            count => write!(text, "{}x{count}", run[0]),
        };
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

/// Text as positions.
pub fn decode(text: &str) -> Result<Vec<u32>, String> {
    let text = text.trim();
    if text == "-" {
        return Ok(Vec::new());
    }
    let mut choices = Vec::new();
    for run in text.split('.') {
        let (position, count) = run.split_once('x').unwrap_or((run, "1"));
        let position: u32 = position.parse().map_err(|_| format!("`{run}` is not a valid schedule item"))?;
        let count: usize = count.parse().map_err(|_| format!("`{run}` is not a valid schedule item"))?;
        if count > MOST_STEPS || choices.len() + count > MOST_STEPS {
            return Err("the schedule is too long".to_owned());
        }
        choices.resize(choices.len() + count, position);
    }
    Ok(choices)
}

/// Longer schedules are taken for mistakes.
const MOST_STEPS: usize = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_come_back_from_text() {
        let cases: [(&[u32], &str); 4] =
            [(&[], "-"), (&[7], "7"), (&[0, 0, 0, 2, 1, 1], "0x3.2.1x2"), (&[1, 0, 1], "1.0.1")];
        for (choices, text) in cases {
            assert_eq!(encode(choices), text);
            assert_eq!(decode(text).as_deref(), Ok(choices));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "a", "1.", "0x", "0x99999999999", "-1", "4294967296"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
