//! Runs with delays chosen by the user, in models with time.

use std::fmt;
use std::str::FromStr;

use super::Schedule;
use crate::diagnostic::Diagnostic;
use crate::system::StepError;

/// Runs with chosen delays. Without a choice, time passes only as long as necessary.
///
/// **Contract.** `delays[k]` belongs to transition `k` of `choices`; a shorter list leaves the rest
/// open. A run that is returned was executed once more, as for [`Timing`](super::Timing).
pub trait Delays {
    /// The times of the transitions of a run.
    fn schedule_with(&self, choices: &[u32], delays: &[Option<Delay>]) -> Result<Schedule, StepError>;

    /// The possible next steps at the end of that run, with their times. `next` are positions among
    /// the successors of its last state. `None` for a virtual root, where no time passes.
    fn outlook(
        &self,
        choices: &[u32],
        delays: &[Option<Delay>],
        next: &[u32],
    ) -> Result<Option<Outlook>, StepError>;
}

/// The possible next steps at the end of a run. Times are exact rationals such as `5/2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Time since the start.
    pub time: String,
    /// The clocks.
    pub clocks: Vec<ClockReading>,
    /// The possible delays in this state.
    pub waits: Vec<Window>,
    /// For each requested transition, the delays after which it can be taken. Empty if it is not
    /// possible in this run, even though other earlier delays might allow it.
    pub windows: Vec<Vec<Window>>,
}

/// The value of a clock at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it runs. A stopwatch may be stopped.
    pub runs: bool,
}

/// An interval of delays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The least delay.
    pub from: String,
    /// Whether the least delay is excluded.
    pub after: bool,
    /// The greatest delay; `None` if there is none.
    pub to: Option<String>,
    /// Whether the greatest delay is excluded.
    pub before: bool,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Window { from, after, to, before } = self;
        match to {
            Some(to) if to == from => write!(f, "{from}"),
            Some(to) => {
                let (open, close) = (if *after { '(' } else { '[' }, if *before { ')' } else { ']' });
                write!(f, "{open}{from}, {to}{close}")
            }
            None => write!(f, "{} {from}", if *after { '>' } else { '≥' }),
        }
    }
}

/// An exact delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delay {
    numerator: u32,
    denominator: u32,
}

impl Delay {
    /// The largest denominator of a delay.
    const FINEST: u32 = 1000;

    /// The numerator.
    pub fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator, which is not zero.
    pub fn denominator(self) -> u32 {
        self.denominator
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            below => write!(f, "{}/{below}", self.numerator),
        }
    }
}

impl FromStr for Delay {
    type Err = Diagnostic;

    /// Parses `3`, `5/2` and `2.5`.
    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let digits = |text: &str| -> Option<u32> {
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let parse = || -> Option<(u32, u32)> {
            if let Some((above, below)) = text.split_once('/') {
                return Some((digits(above.trim())?, digits(below.trim())?));
            }
            let Some((whole, part)) = text.split_once('.') else { return Some((digits(text)?, 1)) };
            let below = 10_u32.checked_pow(u32::try_from(part.len()).ok()?)?;
            Some((digits(whole)?.checked_mul(below)?.checked_add(digits(part)?)?, below))
        };
        let wrong = || {
            Diagnostic::error(format!("`{text}` is not a delay"))
                .help("write 3, 5/2 or 2.5, with at most 1000 parts of a unit of time")
        };
        let (above, below) = parse().filter(|&(_, below)| below > 0).ok_or_else(wrong)?;
        let (mut divisor, mut rest) = (above, below);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let delay = Delay { numerator: above / divisor, denominator: below / divisor };
        if delay.denominator <= Self::FINEST { Ok(delay) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_exact() {
        for (text, shown) in [
            ("3", "3"),
            ("0", "0"),
            ("5/2", "5/2"),
            ("2.50", "5/2"),
            ("6/4", "3/2"),
            ("0.125", "1/8"),
            ("8/4", "2"),
        ] {
            assert_eq!(text.parse::<Delay>().map(|delay| delay.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for text in ["", "-1", "1/0", "x", "1.2.3", "1/3/4", "99999999999", "0.0001", ".", "1e3", "+1"] {
            assert!(text.parse::<Delay>().is_err(), "{text}");
        }
    }

    #[test]
    fn windows_are_intervals() {
        let window = |after, to: Option<&str>, before| Window {
            from: "2".into(),
            after,
            to: to.map(str::to_owned),
            before,
        };
        assert_eq!(window(false, Some("5"), true).to_string(), "[2, 5)");
        assert_eq!(window(true, None, false).to_string(), "> 2");
        assert_eq!(window(false, Some("2"), false).to_string(), "2");
    }
}
