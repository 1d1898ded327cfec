//! Where commands come from: a terminal, with line editing and a history, or a script.

use std::io::{BufRead, IsTerminal};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::failure::{Failure, Outcome};

pub(super) enum Input {
    Terminal(Box<DefaultEditor>),
    Script,
}

impl Input {
    /// Standard input. Lines are edited if it is a terminal and `quiet` is false.
    pub(super) fn open(quiet: bool) -> Self {
        if quiet || !std::io::stdin().is_terminal() {
            return Input::Script;
        }
        // A terminal that cannot be set up is read as it is.
        DefaultEditor::new().map_or(Input::Script, |editor| Input::Terminal(Box::new(editor)))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Terminal(_))
    }

    /// The next line; `None` at the end of input, and when the user interrupts it.
    pub(super) fn next_line(&mut self) -> Outcome<Option<String>> {
        let failed = |error: std::io::Error| Failure::file("standard input", "read", &error);
        match self {
            Input::Terminal(editor) => match editor.readline("> ") {
                Ok(line) => {
                    // A line that cannot be remembered can still be performed.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(failed(std::io::Error::other(error))),
            },
            Input::Script => {
                let mut line = Vec::new();
                let read = std::io::stdin().lock().read_until(b'\n', &mut line).map_err(failed)?;
                Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
            }
        }
    }
}
