//! `turnpike strategies`.

use serde_json::{Value, json};
use turnpike_search::strategy::{StrategyInfo, TABLE, find};

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::{self, VERSION};

/// Flags of `turnpike strategies`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one
    #[arg(value_name = "NAME", value_parser = super::search::flags::StrategyName, hide_possible_values = true)]
    name: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let shown = match &args.name {
        Some(name) => std::slice::from_ref(find(name)?),
        None => TABLE,
    };
    match format {
        Format::Human => {
            for (index, info) in shown.iter().enumerate() {
                if index > 0 {
                    output::line("");
                }
                text(info).iter().for_each(|line| output::line(line));
            }
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "strategies",
            "strategies": shown.iter().map(object).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

fn text(info: &StrategyInfo) -> Vec<String> {
    let default = if info.name == TABLE[0].name { " (default)" } else { "" };
    let mut out = vec![format!("{}{default}: {}", info.name, info.summary)];
    for (what, told) in
        [("guarantee", info.guarantee), ("memory", info.memory), ("when", info.when), ("flags", info.flags)]
    {
        if !told.is_empty() {
            out.push(format!("  {what:10} {told}"));
        }
    }
    out
}

fn object(info: &StrategyInfo) -> Value {
    json!({
        "name": info.name,
        "summary": info.summary,
        "guarantee": info.guarantee,
        "memory": info.memory,
        "when": info.when,
        "flags": info.flags.split_whitespace().filter(|word| word.starts_with("--")).collect::<Vec<_>>(),
    })
}
