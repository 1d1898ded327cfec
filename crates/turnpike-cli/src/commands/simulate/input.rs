//! Where commands come from: a terminal, with line editing and a history, or a script.

use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::failure::{Failure, Outcome};

pub(super) enum Input {
    Terminal(Box<Terminal>),
    Script,
}

/// A terminal. What is typed ahead waits inside the editor from one line to the next; for that, `rustyline` needs its
/// feature `buffer-redux`.
pub(super) struct Terminal {
    editor: DefaultEditor,
    /// The rest of several lines that were pasted at once: the editor takes them for one.
    pasted: VecDeque<String>,
}

impl Input {
    /// Standard input. Lines are edited if it is a terminal and `quiet` is false.
    pub(super) fn open(quiet: bool) -> Self {
        if quiet || !std::io::stdin().is_terminal() {
            return Input::Script;
        }
        // A terminal that cannot be set up is read as it is.
        DefaultEditor::new().map_or(Input::Script, |editor| {
            Input::Terminal(Box::new(Terminal { editor, pasted: VecDeque::new() }))
        })
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Terminal(_))
    }

    /// The next line; `None` at the end of input, and when the user interrupts it.
    pub(super) fn next_line(&mut self) -> Outcome<Option<String>> {
        match self {
            Input::Terminal(terminal) => terminal.next_line(),
            Input::Script => {
                let mut line = Vec::new();
                let read = std::io::stdin().lock().read_until(b'\n', &mut line).map_err(unreadable)?;
                Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
            }
        }
    }
}

impl Terminal {
    fn next_line(&mut self) -> Outcome<Option<String>> {
        if let Some(line) = self.pasted.pop_front() {
            // So that what is printed next stands below its command, as when it is typed.
            crate::output::line(&format!("> {line}"));
            return Ok(Some(line));
        }
        match self.editor.readline("> ") {
            Ok(text) => {
                self.pasted.extend(text.lines().map(str::to_owned));
                for line in &self.pasted {
                    // A line that cannot be remembered can still be performed.
                    let _ = self.editor.add_history_entry(line);
                }
                Ok(Some(self.pasted.pop_front().unwrap_or_default()))
            }
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
            Err(error) => Err(unreadable(std::io::Error::other(error))),
        }
    }
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::file("standard input", "read", &error)
}
