//! Flags made from the options of the session: one flag for each row of their tables.

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use turnpike_model::Diagnostic;
use turnpike_session::{Limits, OptionRow, Section, Takes};

use crate::failure::Failure;

/// The options of a section, as far as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options<T> {
    value: Result<T, Diagnostic>,
    given: Vec<&'static str>,
}

impl<T: Section> Default for Options<T> {
    fn default() -> Self {
        Options { value: Ok(T::default()), given: Vec::new() }
    }
}

impl<T: Section + Clone> Options<T> {
    /// The section, or what is wrong with one of its options.
    pub(crate) fn section(&self) -> Result<T, Failure> {
        Ok(self.value.clone()?)
    }

    /// The first flag that was given, for sources that it means nothing for.
    pub(crate) fn first_given(&self) -> Option<String> {
        self.given.first().map(|name| spell(name))
    }
}

impl Options<Limits> {
    /// The limits, unless they are beyond the machine.
    pub(crate) fn limits(&self) -> Result<Limits, Failure> {
        let limits = self.section()?;
        turnpike_session::check_limits(&limits)?;
        Ok(limits)
    }
}

/// An option as a flag.
pub(crate) fn spell(name: &str) -> String {
    format!("--{name}")
}

/// Sentences of the session with options as flags: "the option `all`" becomes `--all`.
pub(crate) fn spell_all(text: &str) -> String {
    const INTRODUCTION: &str = "the option `";
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(INTRODUCTION) {
        out.push_str(before);
        match after.split_once('`') {
            Some((name, after)) if turnpike_session::takes(name).is_some() => {
                out.push_str(&spell(name));
                rest = after;
            }
            _ => {
                out.push_str(INTRODUCTION);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn argument<T: Section>(option: &'static OptionRow<T>) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.doc);
    let argument = match T::TITLE {
        // What clap calls the rest.
        "Options" => argument.help_heading(None::<&str>),
        title => argument.help_heading(title),
    };
    let argument = argument.conflicts_with_all(option.conflicts);
    let takes = option.takes;
    match takes {
        Takes::Switch => argument.action(ArgAction::SetTrue),
        Takes::Word(words) => {
            argument.value_name(option.placeholder).value_parser(PossibleValuesParser::new(
                words.iter().map(|(word, doc)| PossibleValue::new(*word).help(doc.trim())),
            ))
        }
        _ => {
            let check = move |text: &str| takes.mistake(text).map_or_else(|| Ok(text.to_owned()), Err);
            let action = if takes.is_repeated() { ArgAction::Append } else { ArgAction::Set };
            argument.value_name(option.placeholder).action(action).value_parser(ValueParser::from(check))
        }
    }
}

impl<T: Section> clap::Args for Options<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Section> clap::FromArgMatches for Options<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Options::<T>::default();
        for option in T::OPTIONS {
            let texts: Vec<String> = match option.takes {
                Takes::Switch if matches.get_flag(option.name) => vec![String::new()],
                Takes::Switch => Vec::new(),
                _ => matches.get_many::<String>(option.name).into_iter().flatten().cloned().collect(),
            };
            if !texts.is_empty() {
                options.given.push(option.name);
            }
            for text in texts {
                let set = |mut section: T| (option.set)(&mut section, &text).map(|()| section);
                options.value = options.value.and_then(set);
            }
        }
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::spell_all;

    #[test]
    fn options_are_spelled_as_flags() {
        assert_eq!(spell_all("the option `cover` has no effect"), "--cover has no effect");
        let two = "the option `query` cannot be given together with the option `find`";
        assert_eq!(spell_all(two), "--query cannot be given together with --find");
        assert_eq!(spell_all("the option `nothing` and `cover`"), "the option `nothing` and `cover`");
    }
}
