//! The command line that repeats a result, ready to be pasted into a shell.

/// The arguments of this process, without the program's name.
fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// The command as typed.
pub(crate) fn as_typed() -> String {
    command(&arguments())
}

/// The command as typed, with the seed made explicit.
pub(crate) fn exactly(seed: u64) -> String {
    with_seed(without(arguments(), &["--seed"], &[]), seed)
}

/// The command for the result alone: without what only changes speed and presentation.
pub(crate) fn result(seed: u64) -> String {
    let valued = ["--seed", "--threads", "--progress", "--format", "--trace"];
    with_seed(without(arguments(), &valued, &["--quiet", "-q"]), seed)
}

/// The command for one run out of many.
pub(crate) fn one_run(seed: u64) -> String {
    with_seed(without(arguments(), &["--seed", "--runs", "--threads"], &[]), seed)
}

fn with_seed(mut arguments: Vec<String>, seed: u64) -> String {
    // What comes after `--` belongs to a program.
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.splice(end..end, ["--seed".to_owned(), self::seed(seed)]);
    command(&arguments)
}

/// The command that replays a witness of the program that was searched.
pub(crate) fn replay(file: &str) -> String {
    replay_command(&arguments(), file)
}

fn replay_command(arguments: &[String], file: &str) -> String {
    const VALUED: [&str; 9] = [
        "--program",
        "--max-steps",
        "--timeouts",
        "--spurious",
        "--visible",
        "--threads-as",
        "--guest-memory",
        "--guest-timeout",
        "--reduction",
    ];
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let mut kept = vec!["replay".to_owned()];
    let mut flags = arguments[..end].iter();
    while let Some(flag) = flags.next() {
        if VALUED.contains(&flag.as_str()) {
            kept.push(flag.clone());
            kept.extend(flags.next().cloned());
        } else if VALUED.iter().any(|name| flag.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
        {
            kept.push(flag.clone());
        }
    }
    kept.push(file.to_owned());
    kept.extend_from_slice(&arguments[end..]);
    command(&kept)
}

/// Small seeds as people write them, derived ones as the 64 bits they are.
pub(crate) fn seed(seed: u64) -> String {
    if seed <= u64::from(u32::MAX) { seed.to_string() } else { format!("{seed:#018x}") }
}

/// `turnpike` and these arguments, quoted.
fn command(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments.iter().map(|argument| quote(argument)).collect();
    format!("turnpike {}", quoted.join(" "))
}

/// Leaves out flags, those with a value together with it.
fn without(arguments: Vec<String>, valued: &[&str], plain: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            kept.push(argument);
            kept.extend(arguments.by_ref());
        } else if valued.contains(&argument.as_str()) {
            arguments.next();
        } else if !plain.contains(&argument.as_str())
            && !valued
                .iter()
                .any(|flag| argument.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
        {
            kept.push(argument);
        }
    }
    kept
}

/// One word of a shell command.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        for (word, quoted) in [
            ("builtin:philosophers", "builtin:philosophers"),
            ("--set=n=5", "--set=n=5"),
            ("action error", "'action error'"),
            ("label f(*)", "'label f(*)'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }

    #[test]
    fn flags_are_left_out_with_their_values() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let typed = words("search m.aut --seed 7 --seedling --runs=20 -q --find deadlock");
        assert_eq!(
            without(typed, &["--seed", "--runs"], &["-q"]),
            words("search m.aut --seedling --find deadlock")
        );
        assert_eq!(with_seed(words("search m.aut"), 7), "turnpike search m.aut --seed 7");
        let typed = words("search --program ./a.out --spurious 1 -q -- --seed 7 -q");
        let expected = "turnpike search --program ./a.out --spurious 1 --seed 3 -- --seed 7 -q";
        assert_eq!(with_seed(without(typed.clone(), &["--seed"], &["-q"]), 3), expected);
        let expected = "turnpike replay --program ./a.out --spurious 1 w.json -- --seed 7 -q";
        assert_eq!(replay_command(&typed, "w.json"), expected);
        assert_eq!(seed(u64::MAX), "0xffffffffffffffff");
    }
}
