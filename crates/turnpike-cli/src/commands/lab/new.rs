//! `turnpike lab new`: an experiment file for the user's own model.

use crate::failure::Outcome;
use turnpike_session::quote_word;

use crate::output;

/// Flags of `turnpike lab new`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The model, as `turnpike search` takes it
    #[arg(value_name = "MODEL")]
    model: String,
    /// What to look for (repeatable) [default: deadlock; any-error for programs]
    #[arg(long, value_name = "OBJECTIVE")]
    find: Vec<String>,
    /// Set a constant of the model (repeatable)
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

pub(super) fn run(args: &Args) -> Outcome<()> {
    let program = [".c", ".cc", ".cpp"].iter().any(|extension| args.model.ends_with(extension));
    let usual = if program { "any-error" } else { "deadlock" };
    let find = if args.find.is_empty() { vec![usual.to_owned()] } else { args.find.clone() };
    let flags = find
        .iter()
        .map(|objective| format!("--find {}", quote_word(objective)))
        .chain(args.settings.iter().map(|setting| format!("--set {}", quote_word(setting))))
        .collect::<Vec<_>>()
        .join(" ");
    let text = format!(
        r#"# Which strategy finds it, how fast, and with how short a witness?
#
#   turnpike lab run THIS_FILE
#   turnpike lab report
#
# Flags are those of `turnpike search`. Models are relative to this file's folder.

title = {title}
runs = 50
flags = "--max-states 100000"

[[model]]
name = {title}
use = {model}
flags = {flags}
# One row for each value: put {{n}} into the name, and a flag such as --set N={{n}}.
# vary = {{ n = [2, 3, 4] }}

[[strategy]]
name = "random"
flags = "--strategy random --restart"

[[strategy]]
name = "rdfs"
flags = "--strategy rdfs"

[[strategy]]
name = "highway {{width}}"
flags = "--strategy highway --width {{width}}"
vary = {{ width = [8, 32, 128] }}

[[strategy]]
name = "drs"
flags = "--strategy drs"

[[strategy]]
name = "auto"
flags = "--strategy auto"

[[draw]]
kind = "table"

[[draw]]
kind = "success-by-states"

[[draw]]
kind = "success-by-length"
"#,
        title = toml_text(&args.model),
        model = toml_text(&args.model),
        flags = toml_text(&flags),
    );
    for line in text.lines() {
        output::line(line);
    }
    Ok(())
}

/// A text as TOML has it: JSON's strings are TOML's.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
