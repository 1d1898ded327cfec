//! The commands of `turnpike simulate`.

use turnpike_model::{Delay, Diagnostic};

/// One line of input, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Take the enabled transition of this number, from 1.
    Choose(usize),
    /// Take the only enabled transition whose label matches.
    Take(String),
    /// Wait this long before the next step; `None` only as long as needed.
    Delay(Option<Delay>),
    /// List the enabled transitions.
    Enabled,
    /// Go back some steps.
    Undo(usize),
    /// Take some random steps.
    Random(usize),
    /// Go to the state after this step of the trace.
    Jump(usize),
    /// Show the trace.
    Trace,
    /// Show all values of the state.
    State,
    /// List the enabled transitions whose label matches.
    Find(String),
    /// Show what is not possible now, and why; the call stacks of a program.
    Why,
    /// Write the trace to a file.
    Save(String),
    /// Follow a trace from a file.
    Load(String),
    Help,
    Quit,
}

/// Names and arguments for people; [`parse`] reads them.
pub(crate) const HELP: &str = "\
NUMBER               take the enabled transition of this number
take PATTERN         take the only enabled transition whose label matches (* and ? are wildcards)
d, delay [TIME]      wait TIME (3, 5/2) before the next step; without TIME, only as long as needed
e, enabled           list the enabled transitions
f, find PATTERN      list the enabled transitions whose label matches
u, undo [N]          go back N steps (1)
r, random [N]        take N random steps (1)
j, jump N            go to the state after step N of the trace; 0 is the initial state
t, trace             show the trace
s, state             show all values of the state
y, why               show what is not possible now, and why; the call stacks of a program
w, save FILE         write the trace (.json, .txt, .aut)
l, load FILE         follow a trace from the initial state
h, help              show this
q, quit              end";

/// Reads a line; `None` when there is nothing in it but blanks or a comment after `#`.
pub(crate) fn parse(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        nothing(word, rest)?;
        return Ok(Some(Command::Choose(number(word)?)));
    }
    let plain = |command: Command| nothing(word, rest).map(|()| command);
    let times = || if rest.is_empty() { Ok(1) } else { number(rest) };
    let text = |what: &str| {
        if rest.is_empty() { Err(format!("'{word}' needs {what}")) } else { Ok(rest.to_owned()) }
    };
    let command = match word {
        "take" => Command::Take(text("a pattern")?),
        "d" | "delay" if rest.is_empty() => Command::Delay(None),
        "d" | "delay" => Command::Delay(Some(rest.parse().map_err(|error: Diagnostic| error.to_string())?)),
        "e" | "enabled" | "list" => plain(Command::Enabled)?,
        "u" | "undo" => Command::Undo(times()?),
        "r" | "random" => Command::Random(times()?),
        "j" | "jump" => Command::Jump(number(&text("the number of a step")?)?),
        "t" | "trace" => plain(Command::Trace)?,
        "s" | "state" => plain(Command::State)?,
        "f" | "find" => Command::Find(text("a pattern")?),
        "y" | "why" => plain(Command::Why)?,
        "w" | "save" => Command::Save(text("a file name")?),
        "l" | "load" => Command::Load(text("a file name")?),
        "h" | "help" | "?" => plain(Command::Help)?,
        "q" | "quit" | "exit" => plain(Command::Quit)?,
        _ => return Err(format!("'{word}' is not a command; h lists them")),
    };
    Ok(Some(command))
}

fn nothing(word: &str, rest: &str) -> Result<(), String> {
    if rest.is_empty() { Ok(()) } else { Err(format!("'{word}' takes no argument, but got '{rest}'")) }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_commands() {
        for (line, command) in [
            ("3", Command::Choose(3)),
            (" u ", Command::Undo(1)),
            ("undo 12", Command::Undo(12)),
            ("r 5", Command::Random(5)),
            ("jump 0", Command::Jump(0)),
            ("find lock(*, 2)", Command::Find("lock(*, 2)".to_owned())),
            ("w my trace.json", Command::Save("my trace.json".to_owned())),
            ("q", Command::Quit),
        ] {
            assert_eq!(parse(line), Ok(Some(command)), "{line}");
        }
        assert_eq!(parse("  "), Ok(None));
        assert_eq!(parse("# a remark"), Ok(None));
    }

    #[test]
    fn says_what_is_wrong() {
        for (line, words) in [
            ("fly", "'fly' is not a command; h lists them"),
            ("jump", "'jump' needs the number of a step"),
            ("j -1", "'-1' is not a number"),
            ("99999999999999999999999", "is not a number"),
            ("w", "'w' needs a file name"),
            ("1 2", "'1' takes no argument, but got '2'"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_help_names_every_command() {
        for line in HELP.lines().filter(|line| !line.starts_with("NUMBER")) {
            let names = line[..20].trim();
            for name in names.split(", ") {
                let name = name.split(' ').next().unwrap_or_default();
                let sample = format!("{name} 1");
                let known = parse(name).is_ok() || parse(&sample).is_ok();
                assert!(known, "{name}");
            }
        }
    }
}
