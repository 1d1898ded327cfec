//! The flags of strategies, generated from their descriptors.

use std::collections::BTreeMap;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use turnpike_session::StrategyChoice;
use turnpike_session::strategy::{self, OptionInfo, STRATEGIES, ValueKind};

/// Which strategy, and its own options.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Strategy")]
pub(crate) struct StrategyArgs {
    /// How to search; `turnpike strategies` describes the strategies [default: auto]
    #[arg(long, value_name = "NAME", value_parser = StrategyName, hide_possible_values = true)]
    strategy: Option<String>,
    #[command(flatten)]
    options: StrategyOptions,
}

impl StrategyArgs {
    /// Chooses a strategy unless one is named. Whether it did.
    pub(crate) fn default_to(&mut self, strategy: &str) -> bool {
        let default = self.strategy.is_none();
        self.strategy.get_or_insert_with(|| strategy.to_owned());
        default
    }

    /// The strategy that is named, with its options.
    pub(crate) fn choice(&self) -> StrategyChoice {
        StrategyChoice { name: self.strategy.clone(), options: self.options.0.clone() }
    }
}

/// The options of all strategies, as far as they were given.
#[derive(Clone, Debug)]
pub(crate) struct StrategyOptions(BTreeMap<String, String>);

/// Every option once, in the order of the strategies.
pub(crate) fn all_options() -> Vec<&'static OptionInfo> {
    let mut options: Vec<&OptionInfo> = Vec::new();
    for option in STRATEGIES.iter().flat_map(|strategy| strategy.options) {
        if !options.iter().any(|known| known.name == option.name) {
            options.push(option);
        }
    }
    options
}

fn argument(option: &'static OptionInfo) -> Arg {
    let owners: Vec<&str> = strategy::owners(option.name).map(|owner| owner.name).collect();
    let default = match option.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    let argument = Arg::new(option.name).long(option.name).help(format!(
        "{}: {}{default}",
        owners.join(", "),
        option.doc
    ));
    match option.value {
        ValueKind::Switch => argument.action(ArgAction::SetTrue),
        ValueKind::Count { .. } => argument.value_name("N").value_parser(checked(option)),
        ValueKind::Probability => argument.value_name("P").value_parser(checked(option)),
        ValueKind::Text(name) => argument.value_name(name),
        ValueKind::Word(words) => argument.value_parser(PossibleValuesParser::new(
            words.iter().map(|(word, meaning)| PossibleValue::new(*word).help(*meaning)),
        )),
    }
}

/// Accepts the values that the option accepts.
fn checked(option: &'static OptionInfo) -> ValueParser {
    let check = |text: &str| option.mistake(text).map_or_else(|| Ok(text.to_owned()), Err);
    ValueParser::from(check)
}

impl clap::Args for StrategyOptions {
    fn augment_args(command: Command) -> Command {
        command.args(all_options().into_iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for StrategyOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |option: &OptionInfo| match option.value {
            ValueKind::Switch => matches.get_flag(option.name).then(|| "true".to_owned()),
            _ => matches.get_one::<String>(option.name).cloned(),
        };
        let given = |option: &OptionInfo| Some((option.name.to_owned(), value(option)?));
        Ok(StrategyOptions(all_options().into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Any text, so that the error can be ours; completions know the names.
#[derive(Clone)]
pub(crate) struct StrategyName;

impl TypedValueParser for StrategyName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(STRATEGIES.iter().map(|one| PossibleValue::new(one.name).help(one.summary))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_share_an_option_describe_it_alike() {
        for option in STRATEGIES.iter().flat_map(|strategy| strategy.options) {
            let first = all_options().into_iter().find(|known| known.name == option.name);
            assert_eq!(first, Some(option));
        }
    }

    #[test]
    fn an_option_of_another_strategy_is_refused() {
        let error = StrategyChoice::named("bfs").with("width", 8).descriptor().expect_err("not of bfs");
        assert!(error.message.contains("the option `width` belongs to the strategies highway"), "{error}");
    }
}
