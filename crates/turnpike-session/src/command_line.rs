//! Requests as words of a command line, ready to be pasted into a shell. All clients that show how
//! to repeat a result use these.

use crate::options::{Given, Section};
use crate::request::Request;
use crate::source::Source;

impl Request {
    /// `turnpike search` with the words of this request and the seed at the end, quoted for a
    /// shell.
    pub fn command_line(&self) -> String {
        join_words(&self.command_words(&[]))
    }

    /// The words after `turnpike`: those of the request, then `presentation`, then the seed and the
    /// arguments of a program.
    pub fn command_words(&self, presentation: &[String]) -> Vec<String> {
        let (mut all, arguments) = self.source.command_words();
        all.insert(0, "search".to_owned());
        let (seed, others): (Vec<Given>, Vec<Given>) =
            self.search.given().into_iter().partition(|given| given.name == "seed");
        all.extend(option_words(&others));
        all.extend_from_slice(presentation);
        all.extend(option_words(&seed));
        all.extend(arguments);
        all
    }
}

impl Source {
    /// The words for the source and its options, and the arguments of a program, which come last.
    pub fn command_words(&self) -> (Vec<String>, Vec<String>) {
        match self {
            Source::Model { location, reading } => {
                let mut all = vec![location.to_string()];
                all.extend(option_words(&reading.given()));
                all.extend(option_words(&reading.timed_automata.given()));
                (all, Vec::new())
            }
            Source::Program(program) => {
                let mut all = vec!["--program".to_owned(), program.path.to_string_lossy().into_owned()];
                all.extend(option_words(&program.given()));
                let mut arguments: Vec<String> =
                    program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                if !arguments.is_empty() {
                    arguments.insert(0, "--".to_owned());
                }
                (all, arguments)
            }
        }
    }
}

/// Options as the words of a command line.
fn option_words(given: &[Given]) -> Vec<String> {
    let mut words = Vec::new();
    for Given { name, value } in given {
        match value {
            None => words.push(format!("--{name}")),
            // As a separate word it would be parsed as a flag.
            Some(value) if value.starts_with('-') => words.push(format!("--{name}={value}")),
            Some(value) => words.extend([format!("--{name}"), value.clone()]),
        }
    }
    words
}

/// `turnpike` and these words, quoted.
pub fn join_words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    format!("turnpike {}", quoted.join(" "))
}

/// One word of a shell command.
pub fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quote_word;

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
            assert_eq!(quote_word(word), quoted);
        }
    }
}
