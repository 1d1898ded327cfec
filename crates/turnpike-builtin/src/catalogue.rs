use turnpike_model::Model;
use turnpike_model::diagnostic::nearest;

use crate::models;

/// What a user must know to choose a built-in model and to set its parameters.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuiltinInfo {
    /// The name that follows `builtin:`.
    pub name: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// The model's origin, its number of states, and the order of its successors.
    pub details: &'static str,
    /// The parameters, in the order of the model's full name.
    pub parameters: &'static [ParameterInfo],
    /// Creates the model from its full name and a value for each parameter, each within its range.
    pub(crate) make: fn(String, &[u64]) -> Box<dyn Model>,
}

/// A numeric parameter of a built-in model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParameterInfo {
    /// The name for `--set`.
    pub name: &'static str,
    /// The default value.
    pub default: u64,
    /// The smallest and the largest value.
    pub range: (u64, u64),
    /// A description of one line.
    pub doc: &'static str,
}

impl ParameterInfo {
    pub(crate) const fn new(name: &'static str, default: u64, range: (u64, u64), doc: &'static str) -> Self {
        ParameterInfo { name, default, range, doc }
    }

    /// Parses a setting. Underscores may separate digits, as in Rust.
    fn read(&self, model: &'static str, text: &str) -> Result<u64, BuiltinError> {
        let (min, max) = self.range;
        let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            let value = text.to_owned();
            return Err(BuiltinError::NotANumber { model, parameter: self.name, value, min, max });
        }
        // A number that overflows is still a number, but out of every range.
        match digits.parse::<u64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            _ => Err(BuiltinError::OutOfRange { model, parameter: self.name, value: digits, min, max }),
        }
    }
}

/// The errors of [`build`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltinError {
    /// There is no model of this name.
    #[error("there is no built-in model `{name}`{}", hint(suggestion, &known_models()))]
    UnknownModel {
        /// The requested name.
        name: String,
        /// The most similar name, if there is a similar one.
        suggestion: Option<&'static str>,
    },
    /// The model has no parameter of this name.
    #[error("`builtin:{model}` has no parameter `{name}`{}", hint(suggestion, known))]
    UnknownParameter {
        /// The model.
        model: &'static str,
        /// The requested parameter.
        name: String,
        /// The most similar name, if there is a similar one.
        suggestion: Option<&'static str>,
        /// The parameters of the model.
        known: Vec<&'static str>,
    },
    /// A setting is not a number.
    #[error(
        "`{value}` is not a number: `{parameter}` of `builtin:{model}` is a whole number from {min} to {max}"
    )]
    NotANumber {
        /// The model.
        model: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The text of the setting.
        value: String,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A setting is too small or too large.
    #[error(
        "{value} is out of range: `{parameter}` of `builtin:{model}` is a whole number from {min} to {max}"
    )]
    OutOfRange {
        /// The model.
        model: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The digits of the setting.
        value: String,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
}

fn known_models() -> Vec<&'static str> {
    catalogue().iter().map(|info| info.name).collect()
}

fn hint(suggestion: &Option<&'static str>, known: &[&'static str]) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; it is one of {}", known.join(", ")),
    }
}

/// All built-in models, from simple to complex.
pub fn catalogue() -> &'static [BuiltinInfo] {
    models::ALL
}

/// Creates the built-in model `name`. Each setting is a parameter's name and its value. If a
/// parameter is set twice, the later value counts. Other parameters have their default values.
///
/// # Errors
/// The name of the model or a parameter is unknown, or a value is not a number in the parameter's
/// range.
pub fn build(name: &str, settings: &[(String, String)]) -> Result<Box<dyn Model>, BuiltinError> {
    let Some(info) = catalogue().iter().find(|info| info.name == name) else {
        return Err(BuiltinError::UnknownModel {
            name: name.to_owned(),
            suggestion: nearest(name, known_models()),
        });
    };
    let mut values: Vec<u64> = info.parameters.iter().map(|parameter| parameter.default).collect();
    for (name, text) in settings {
        let Some(index) = info.parameters.iter().position(|parameter| parameter.name == name) else {
            let known: Vec<&'static str> = info.parameters.iter().map(|parameter| parameter.name).collect();
            return Err(BuiltinError::UnknownParameter {
                model: info.name,
                name: name.clone(),
                suggestion: nearest(name, known.iter().copied()),
                known,
            });
        };
        values[index] = info.parameters[index].read(info.name, text)?;
    }
    let shown: Vec<String> = info
        .parameters
        .iter()
        .zip(&values)
        .map(|(parameter, value)| format!("{}={value}", parameter.name))
        .collect();
    let full_name = format!("builtin:{}({})", info.name, shown.join(","));
    Ok((info.make)(full_name, &values))
}
