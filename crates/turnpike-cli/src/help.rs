//! What help shows: `-h` fits on a screen, `--help` has everything that applies to the command.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Args, Command};

use crate::source::ProgramArgs;

/// The flags that people use most, in the order in which `-h` shows them, and what it says about them
/// where `--help` says more. In commands with many flags, `-h` shows only these.
const EVERYDAY: [(&str, &str); 20] = [
    ("find", "Look for deadlock, 'action error', 'state x > 3', … (repeatable)"),
    ("query", "Answer a query about timed automata, such as 'A[] not deadlock'"),
    ("program", "Execute this program instead of a model; its arguments follow `--`"),
    ("equivalence", ""),
    ("preorder", ""),
    ("set", "Set a parameter or a constant of the model (repeatable)"),
    ("strategy", "How to search; see `turnpike strategies` [default: auto]"),
    ("max-states", ""),
    ("max-time", ""),
    ("trace", "Write the witness to a file: .json, .txt or .aut"),
    ("tolerant", "For programs: skip steps that no longer exist"),
    ("full", ""),
    ("gdb", "For programs: open gdb where the trace ends"),
    ("port", ""),
    ("no-open", ""),
    ("output", ""),
    ("formula", "Decide a formula of the modal mu-calculus: FILE.mcf, or its text"),
    ("quiet", ""),
    ("format", ""),
    ("help", "Print this; --help prints more"),
];

/// What `-h` says about other arguments.
const BRIEF: [(&str, &str); 14] = [
    ("as", "Read the model as this format: aut, mcrl2, tck, xml or xta"),
    ("timed", "Respect time in an mCRL2 specification"),
    ("keep-dead", "Keep values after their last use"),
    ("quantifier-limit", "Try at most N values of a quantified variable"),
    ("cover", "Prune states that another state covers: none, inclusion or alu"),
    ("observer", "Add an automaton that observes the model (repeatable)"),
    ("html", "Write one page with all charts, the explanation and the steps"),
    ("chart", "Draw a message sequence chart"),
    ("gantt", "Draw locations over time"),
    ("timeline", "Draw the values of variables over time"),
    ("why", "Draw which component waits for which in a deadlock"),
    ("model", "A model file, `builtin:NAME`, or `-` for standard input"),
    ("schema", "Print a JSON schema"),
    ("hide", "Never show these parameters (comma-separated)"),
];

/// A command with more flags than this shows only the everyday ones with `-h`.
const MANY: usize = 12;

/// Flags that mean something else in these commands, so that `-h` shows the commands' own texts.
const OWN: [(&str, &[&str]); 2] = [("trace", &["explore", "simulate", "replay"]), ("formula", &["check"])];

/// Examples that `-h` shows.
const EXAMPLES: usize = 2;

/// Headings of flags that have no effect on a command.
const USELESS: [(&str, &[&str]); 2] = [("convert", &[MCRL2, EXPLICIT]), ("linearise", &[TIMED, EXPLICIT])];

const MCRL2: &str = "mCRL2 specifications";
const EXPLICIT: &str = "Explicit systems";
const TIMED: &str = "Timed automata";
const PROGRAMS: &str = "Programs";

/// Flags that have no effect on commands that only read a model.
const OF_EXECUTIONS: [&str; 17] = [
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
    "prefixes",
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

/// Whether the words ask for the short help.
pub(crate) fn is_brief(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "-h")
}

/// Makes the help of a command and of its subcommands brief, for `-h`: one list of flags, one line for
/// each.
pub(crate) fn shorten(command: Command) -> Command {
    shorten_one(command).mut_subcommands(shorten)
}

fn shorten_one(command: Command) -> Command {
    let examples = command.get_after_long_help().map(first_examples).unwrap_or_default();
    let name = command.get_name().to_owned();
    let has_own_text =
        |id: &str| OWN.iter().any(|(flag, commands)| *flag == id && commands.contains(&name.as_str()));
    let has_more = command.get_after_help().is_some();
    // The flag of clap has a text and a place of its own.
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    let command = command.disable_help_flag(true).arg(help).mut_args(|arg| {
        let id = arg.get_id().as_str();
        let place = EVERYDAY.iter().position(|(everyday, _)| *everyday == id);
        let brief = EVERYDAY.iter().chain(&BRIEF).find(|(one, text)| *one == id && !text.is_empty());
        let brief = brief.filter(|_| !has_own_text(id));
        let arg = match brief {
            Some((_, text)) if arg.get_action().takes_values() => {
                arg.help(*text).hide_default_value(true).hide_possible_values(true)
            }
            Some((_, text)) => arg.help(*text),
            None => arg,
        };
        let arg = arg.help_heading(None::<&str>);
        match place {
            Some(place) => arg.display_order(1000 + place),
            None => arg,
        }
    });
    match has_more {
        true => command.after_help(format!("{examples}{MORE}")),
        false => command,
    }
}

/// The first examples of a text that ends a long help.
fn first_examples(text: &StyledStr) -> String {
    let text = text.to_string();
    let examples = text.lines().filter(|line| line.starts_with("  turnpike ")).take(EXAMPLES);
    let examples: Vec<&str> = examples.collect();
    if examples.is_empty() { String::new() } else { format!("Examples:\n{}\n\n", examples.join("\n")) }
}

fn arrange_one(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let useless =
        USELESS.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, headings)| headings);
    let of_programs = ProgramArgs::augment_args(Command::new(""));
    let of_programs = |id: &str| of_programs.get_arguments().any(|arg| arg.get_id() == id);
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        // What a command has besides a model follows the flags for programs, and is not one of them.
        let follows = arg.get_help_heading() == Some(PROGRAMS) && !of_programs(id);
        let arg = match heading(id) {
            Some(heading) => arg.help_heading(heading),
            None if follows => arg.help_heading(None::<&str>),
            None => arg,
        };
        let hidden = arg.get_help_heading().is_some_and(|heading| useless.contains(&heading))
            || (matches!(name.as_str(), "info" | "check") && OF_EXECUTIONS.contains(&arg.get_id().as_str()));
        if hidden { arg.hide(true) } else { arg }
    });
    let flags = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).count();
    let is_rare = |arg: &Arg| !arg.is_positional() && !is_everyday(arg.get_id().as_str());
    let command = match flags > MANY {
        true => command.mut_args(|arg| if is_rare(&arg) { arg.hide_short_help(true) } else { arg }),
        false => command,
    };
    match command.get_after_help().cloned() {
        Some(all) if command.get_after_long_help().is_none() => command.after_long_help(all).after_help(MORE),
        _ => command,
    }
}

fn is_everyday(id: &str) -> bool {
    EVERYDAY.iter().any(|(everyday, _)| *everyday == id)
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

    fn all_of(mut grammar: Command) -> Vec<Command> {
        fn add(command: &Command, out: &mut Vec<Command>) {
            out.push(command.clone());
            command.get_subcommands().for_each(|command| add(command, out));
        }
        let mut out = Vec::new();
        grammar.build();
        add(&grammar, &mut out);
        out
    }

    fn commands() -> Vec<Command> {
        all_of(arrange(Cli::command()))
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        for mut command in all_of(shorten(arrange(Cli::command()))) {
            let help = command.render_help().to_string();
            let most = if command.has_subcommands() { 36 } else { 28 };
            assert!(help.lines().count() <= most, "{} lines: {help}", help.lines().count());
        }
    }

    #[test]
    fn short_help_describes_the_flags_of_its_command() {
        let brief = |name: &str| {
            let mut commands = all_of(shorten(arrange(Cli::command()))).into_iter();
            let command = commands.find(|command| command.get_name() == name);
            command.expect("a command").render_help().to_string()
        };
        assert!(brief("explore").contains("Begin at the end of this trace"));
        assert!(brief("simulate").contains("Start at the end of this trace"));
        assert!(brief("replay").contains("Write the executed trace"));
        assert!(brief("check").contains("Also check a formula"));
        assert!(brief("search").contains("Write the witness to a file"));
    }

    #[test]
    fn flags_of_a_command_are_not_flags_of_programs() {
        let of_programs = ProgramArgs::augment_args(Command::new(""));
        let of_programs: Vec<_> = of_programs.get_arguments().map(Arg::get_id).collect();
        let mut seen = 0;
        for command in commands() {
            let listed = command.get_arguments().filter(|arg| arg.get_help_heading() == Some(PROGRAMS));
            for arg in listed {
                seen += 1;
                assert!(of_programs.contains(&arg.get_id()), "{} of {}", arg.get_id(), command.get_name());
            }
        }
        assert!(seen > of_programs.len());
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
