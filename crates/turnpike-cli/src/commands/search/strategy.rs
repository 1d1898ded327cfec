//! The flags of strategies, made from their descriptors.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use turnpike_search::strategy::{self, Descriptor, OptionInfo, Options, STRATEGIES, ValueKind};

use crate::failure::Outcome;

/// Which strategy, and its own options.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Strategy")]
pub(crate) struct StrategyArgs {
    /// How to search; `turnpike strategies` explains them
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = StrategyName, hide_possible_values = true)]
    pub(crate) strategy: String,
    #[command(flatten)]
    pub(crate) options: StrategyOptions,
}

impl StrategyArgs {
    /// The strategy by its name. Refuses options of others; needs no model.
    pub(crate) fn descriptor(&self) -> Outcome<&'static Descriptor> {
        let descriptor = strategy::find(&self.strategy)?;
        descriptor.check(&self.options.0)?;
        Ok(descriptor)
    }
}

/// The options of all strategies, as far as they were given.
#[derive(Clone, Debug)]
pub(crate) struct StrategyOptions(pub(crate) Options);

/// Every option once, in the order of the strategies.
fn all_options() -> Vec<&'static OptionInfo> {
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
        let mut options = Options::new();
        for option in all_options() {
            match option.value {
                ValueKind::Switch if matches.get_flag(option.name) => options.set(option.name, "true"),
                ValueKind::Switch => {}
                _ => {
                    if let Some(value) = matches.get_one::<String>(option.name) {
                        options.set(option.name, value);
                    }
                }
            }
        }
        Ok(StrategyOptions(options))
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
    use turnpike_model::ModelInfo;

    use super::*;

    #[test]
    fn every_strategy_can_be_built() {
        let model = ModelInfo::new("m", 1);
        for descriptor in STRATEGIES {
            let mut options = Options::new();
            let takes = |name: &str| descriptor.options.iter().any(|option| option.name == name);
            if takes("depth") {
                options.set("depth", "5");
            }
            if takes("guide") {
                options.set("guide", "max x");
            }
            let strategy = descriptor.build(&options, &model).expect("complete");
            assert_eq!(strategy.name(), descriptor.name);
        }
    }

    #[test]
    fn strategies_that_share_an_option_describe_it_alike() {
        for option in STRATEGIES.iter().flat_map(|strategy| strategy.options) {
            let first = all_options().into_iter().find(|known| known.name == option.name);
            assert_eq!(first, Some(option));
        }
    }

    #[test]
    fn an_option_of_another_strategy_is_refused() {
        let mut options = Options::new();
        options.set("width", "8");
        let bfs = strategy::find("bfs").expect("a strategy");
        let error = bfs.check(&options).expect_err("no option of bfs");
        assert!(error.message.contains("--width belongs to the strategies highway"), "{error}");
    }
}
