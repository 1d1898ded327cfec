//! What help shows: `-h` fits on a screen, `--help` has everything that applies to the command.

use clap::{Arg, Command};

/// The flags that people use most. In commands with many flags, `-h` shows only these.
const EVERYDAY: [&str; 11] = [
    "program",
    "find",
    "query",
    "set",
    "strategy",
    "max-states",
    "max-time",
    "trace",
    "output",
    "quiet",
    "format",
];

/// A command with more flags than this shows only the everyday ones with `-h`.
const MANY: usize = 12;

/// Headings of flags that mean nothing to a command.
const USELESS: [(&str, &[&str]); 2] = [("convert", &[MCRL2, EXPLICIT]), ("linearise", &[TIMED, EXPLICIT])];

const MCRL2: &str = "mCRL2 specifications";
const EXPLICIT: &str = "Explicit systems";
const TIMED: &str = "Timed automata";

/// Flags that mean nothing to commands that only read a model.
const OF_EXECUTIONS: [&str; 16] = [
    "max-steps",
    "timeouts",
    "spurious",
    "memory",
    "preemptions",
    "delays",
    "around",
    "suppress",
    "visible",
    "threads-as",
    "isolation",
    "guest-memory",
    "guest-timeout",
    "reduction",
    "check-every",
    "show_output",
];

/// What `-h` ends with.
const MORE: &str = "See --help for all flags, examples and exit codes.";

/// Arranges the help of a command and of its subcommands.
pub(crate) fn arrange(command: Command) -> Command {
    arrange_one(command).mut_subcommands(arrange)
}

fn arrange_one(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let useless =
        USELESS.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, headings)| headings);
    let command = command.mut_args(|arg| {
        let arg = match heading(arg.get_id().as_str()) {
            Some(heading) => arg.help_heading(heading),
            None => arg,
        };
        let hidden = arg.get_help_heading().is_some_and(|heading| useless.contains(&heading))
            || (matches!(name.as_str(), "info" | "check") && OF_EXECUTIONS.contains(&arg.get_id().as_str()));
        if hidden { arg.hide(true) } else { arg }
    });
    let flags = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).count();
    let is_rare = |arg: &Arg| !arg.is_positional() && !EVERYDAY.contains(&arg.get_id().as_str());
    let command = match flags > MANY {
        true => command.mut_args(|arg| if is_rare(&arg) { arg.hide_short_help(true) } else { arg }),
        false => command,
    };
    match command.get_after_help().cloned() {
        Some(all) if command.get_after_long_help().is_none() => command.after_long_help(all).after_help(MORE),
        _ => command,
    }
}

/// The kind of models that a flag is for.
fn heading(flag: &str) -> Option<&'static str> {
    match flag {
        "unhide" | "timed" | "keep-dead" | "quantifier-limit" => Some(MCRL2),
        "cadp" => Some(EXPLICIT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn commands() -> Vec<Command> {
        fn add(command: &Command, out: &mut Vec<Command>) {
            out.push(command.clone());
            command.get_subcommands().for_each(|command| add(command, out));
        }
        let mut out = Vec::new();
        let mut grammar = arrange(Cli::command());
        grammar.build();
        add(&grammar, &mut out);
        out
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        for mut command in commands() {
            let help = command.render_help().to_string();
            assert!(help.lines().count() <= 44, "{}: {} lines", command.get_name(), help.lines().count());
        }
    }

    #[test]
    fn examples_are_not_wrapped() {
        for command in commands() {
            let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with("  turnpike ")) {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn flags_that_mean_nothing_are_not_shown() {
        let find = |name: &str| {
            commands().into_iter().find(|command| command.get_name() == name).expect("a command")
        };
        let help = find("linearise").render_long_help().to_string();
        assert!(help.contains("--unhide") && !help.contains("--extrapolation"), "{help}");
        for name in ["info", "check"] {
            let help = find(name).render_long_help().to_string();
            assert!(help.contains("--program"), "{help}");
            for flag in ["--reduction", "--check-every", "--show-output", "--guest-timeout"] {
                assert!(!help.contains(flag), "{name} {flag}");
            }
        }
        let help = find("convert").render_long_help().to_string();
        assert!(!help.contains("--unhide"), "{help}");
        let help = find("search").render_long_help().to_string();
        for heading in [MCRL2, TIMED, "Programs", "Examples"] {
            assert!(help.contains(&format!("\n{heading}:\n")), "{heading}");
        }
    }
}
