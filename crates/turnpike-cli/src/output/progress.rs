//! Signs of life: one status line on a terminal, or every event as a line of JSON. Both go to standard error.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use turnpike_session::{Event, Progress};

use super::{bytes, grouped};

/// How progress is shown.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct ProgressArgs {
    /// Progress on standard error [default: line on a terminal, none elsewhere]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) progress: Option<ProgressKind>,
    /// Print the verdict only, and no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressKind {
    /// Nothing.
    None,
    /// One status line a second.
    Line,
    /// Every event as a line of JSON.
    Json,
}

impl ProgressArgs {
    fn kind(self) -> ProgressKind {
        match self.progress {
            Some(kind) => kind,
            None if !self.quiet && std::io::stderr().is_terminal() => ProgressKind::Line,
            None => ProgressKind::None,
        }
    }
}

/// Shows events as they come, from any thread. Dropping it clears the status line.
pub(crate) struct Reporter {
    kind: ProgressKind,
    terminal: bool,
    runs: u64,
    line: Mutex<StatusLine>,
}

/// What the status line needs to remember.
struct StatusLine {
    shown: bool,
    last: Instant,
    finished: u64,
}

const INTERVAL: Duration = Duration::from_secs(1);
/// Back to the first column, and erase to the end.
pub(crate) const CLEAR: &str = "\r\x1b[2K";
/// What is too long for the terminal is cut off, not wrapped: only one line is cleared afterwards.
const CUT: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// Replaces the status line. A terminal that went away does not stop the work.
fn replace_line(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{CLEAR}{CUT}{text}{WRAP}").and_then(|()| err.flush());
}

impl Reporter {
    pub(crate) fn new(args: ProgressArgs, runs: u64) -> Self {
        let line = StatusLine { shown: false, last: Instant::now(), finished: 0 };
        let terminal = std::io::stderr().is_terminal();
        Reporter { kind: args.kind(), terminal, runs, line: Mutex::new(line) }
    }

    pub(crate) fn event(&self, event: &Event) {
        match self.kind {
            ProgressKind::None => {}
            ProgressKind::Json => {
                if let Ok(text) = serde_json::to_string(event) {
                    super::note(&text);
                }
            }
            ProgressKind::Line => match event {
                Event::Progress(progress) => self.show(progress),
                Event::RunFinished { .. } => self.line().finished += 1,
                _ => {}
            },
        }
    }

    /// Erases the status line; the next search counts its runs anew.
    pub(crate) fn clear(&self) {
        let mut line = self.line();
        if line.shown {
            replace_line("");
        }
        (line.shown, line.finished) = (false, 0);
    }

    fn line(&self) -> MutexGuard<'_, StatusLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, progress: &Progress) {
        let mut line = self.line();
        if line.last.elapsed() < INTERVAL {
            return;
        }
        line.last = Instant::now();
        let text = status(progress, line.finished, self.runs);
        if self.terminal {
            line.shown = true;
            replace_line(&text);
        } else {
            super::note(&text);
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Says on a terminal what is being done, as long as it lasts.
pub(crate) struct Phase {
    terminal: bool,
}

impl Phase {
    pub(crate) fn new(what: &str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        if terminal {
            replace_line(&format!("{what} ..."));
        }
        Phase { terminal }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if self.terminal {
            replace_line("");
        }
    }
}

/// The words of a status line.
fn status(progress: &Progress, finished: u64, runs: u64) -> String {
    let rate = progress.states as f64 / progress.seconds.max(1e-3);
    let of_runs = if runs > 1 {
        format!("run {} of {}: ", grouped(finished + 1), grouped(runs))
    } else {
        String::new()
    };
    let all = progress.shares.iter().sum::<u64>().max(1);
    let percent = |share: &u64| format!("{:.0}", *share as f64 * 100.0 / all as f64);
    let shares = match &progress.shares[..] {
        [] => String::new(),
        shares => format!(", shares {} %", shares.iter().map(percent).collect::<Vec<_>>().join(" ")),
    };
    format!(
        "{of_runs}{} states ({}/s), {} transitions, depth {}, {}, {:.0} s{shares}",
        grouped(progress.states),
        grouped(rate as u64),
        grouped(progress.transitions),
        grouped(u64::from(progress.depth)),
        bytes(progress.bytes),
        progress.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_tells_what_matters() {
        let progress = Progress {
            run: 3,
            states: 1_200_000,
            transitions: 5,
            depth: 7,
            seconds: 2.0,
            bytes: 3 << 30,
            member: None,
            shares: Vec::new(),
        };
        let expected = "1,200,000 states (600,000/s), 5 transitions, depth 7, 3.0 GiB, 2 s";
        assert_eq!(status(&progress, 0, 1), expected);
        assert_eq!(status(&progress, 2, 20), format!("run 3 of 20: {expected}"));
        let shared = Progress { shares: vec![3, 5, 0], ..progress };
        assert_eq!(status(&shared, 0, 1), format!("{expected}, shares 38 62 0 %"));
    }
}
