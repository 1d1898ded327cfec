//! `turnpike strategies`.

use serde_json::{Value, json};
use turnpike_session::strategy::{Descriptor, STRATEGIES, Setting, find};

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::{self, VERSION};

/// Flags of `turnpike strategies`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Describe only this strategy
    #[arg(value_name = "NAME", value_parser = super::search::strategy::StrategyName, hide_possible_values = true)]
    name: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let shown = match &args.name {
        Some(name) => vec![find(name)?],
        None => STRATEGIES.to_vec(),
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
            "strategies": shown.iter().map(|info| object(info)).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

fn text(info: &Descriptor) -> Vec<String> {
    let default = if info.name == STRATEGIES[0].name { " (default)" } else { "" };
    let mut out = vec![format!("{}{default}: {}", info.name, info.summary)];
    let flags = flags(info).join(" ");
    for (what, told) in [
        ("guarantee", info.guarantee),
        ("memory", info.memory),
        ("threads", info.parallel.describe()),
        ("when", info.when),
        ("flags", &flags),
    ] {
        if !told.is_empty() {
            out.push(format!("  {what:10} {told}"));
        }
    }
    out
}

fn object(info: &Descriptor) -> Value {
    json!({
        "name": info.name,
        "summary": info.summary,
        "guarantee": info.guarantee,
        "memory": info.memory,
        "threads": info.parallel.describe(),
        "when": info.when,
        "flags": flags(info),
    })
}

/// The flags that matter to a strategy: its own, then those of the whole search.
fn flags(info: &Descriptor) -> Vec<String> {
    let own = info.options.iter().map(|option| format!("--{}", option.name));
    let shared = info.settings.iter().map(|setting| {
        let flag = match setting {
            Setting::Threads => "--threads",
            Setting::Store => "--store",
            Setting::MaxDepth => "--max-depth",
            Setting::Cover => "--cover",
            _ => "",
        };
        flag.to_owned()
    });
    own.chain(shared).filter(|flag| !flag.is_empty()).collect()
}
