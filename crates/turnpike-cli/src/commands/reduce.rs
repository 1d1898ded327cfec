//! `turnpike reduce`: the smallest equivalent system.

use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use turnpike_lts::Lts;
use turnpike_lts::{DEFAULT_LIMIT, Equivalence, reduce};

use crate::cli::Format;
use crate::commands::search::human::counted;
use crate::exit::Exit;
use crate::explicit;
use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::output::progress::Phase;
use crate::output::{self, VERSION};
use crate::source::ReadingArgs;
use turnpike_session::Limits;

/// Flags of `turnpike reduce`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A transition system (.aut, .aut.gz), `-` for standard input, or a model (.mcrl2, `builtin:NAME`)
    #[arg(value_name = "IN")]
    input: String,
    /// Write the result (.aut, .aut.gz; .dot, .svg if it is small), or `-` for .aut on standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    equivalence: EquivalenceArgs,
}

/// Which states count as equal, and how large the inputs may be.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct EquivalenceArgs {
    /// Which states count as equal
    #[arg(long, short, value_name = "NAME", default_value = "strong", value_parser = equivalences())]
    pub(crate) equivalence: Equivalence,
    /// Members of sets of states, pairs of states and steps up to `tau` to hold at most
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    pub(crate) max_entries: usize,
    #[command(flatten)]
    pub(crate) limits: Options<Limits>,
}

fn equivalences() -> impl TypedValueParser<Value = Equivalence> {
    // Every possible value is a name of an equivalence.
    PossibleValuesParser::new(Equivalence::ALL.map(Equivalence::name))
        .map(|name| name.parse().unwrap_or_default())
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let equivalence = args.equivalence.equivalence;
    let to_stdout = args.output.as_deref() == Some("-");
    if to_stdout && format == Format::Json {
        return Err(Failure::usage("standard output cannot hold both the result and a JSON report"));
    }
    let started = Instant::now();
    let before = explicit::named(&args.input, &args.reading, &args.equivalence.limits.limits()?)?;
    let reading = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let phase = Phase::new(&format!("reducing {}", size(&before)));
    let after = reduce(&before, equivalence, args.equivalence.max_entries)?;
    drop(phase);
    let reducing = started.elapsed().as_secs_f64();
    if let Some(target) = &args.output {
        explicit::write(&after, target, args.reading.dialect())?;
    }
    match format {
        Format::Human => {
            let summary = format!(
                "{}: {} -> {} ({}; read {reading:.2} s, reduced {reducing:.2} s)",
                args.input,
                size(&before),
                size(&after),
                describe(equivalence),
            );
            // The result itself has standard output.
            let tell = if to_stdout { output::note } else { output::line };
            tell(&summary);
            if let Some(target) = args.output.as_deref().filter(|_| !to_stdout) {
                tell(&format!("wrote {target}"));
            }
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "reduce",
            "model": args.input,
            "equivalence": equivalence.name(),
            "before": {"states": before.states, "transitions": before.transitions.len()},
            "after": {"states": after.states, "transitions": after.transitions.len()},
            "output": args.output,
            "read_seconds": reading,
            "seconds": reducing,
        })),
    }
    Ok(Exit::Clean)
}

/// The equivalence in words.
fn describe(equivalence: Equivalence) -> String {
    let kind = match equivalence {
        Equivalence::Trace | Equivalence::WeakTrace => "equivalence",
        _ => "bisimilarity",
    };
    format!("{equivalence} {kind}")
}

/// States and transitions in words.
pub(crate) fn size(lts: &Lts) -> String {
    let transitions = counted(lts.transitions.len() as u64, "transition");
    format!("{}, {transitions}", counted(u64::from(lts.states), "state"))
}
