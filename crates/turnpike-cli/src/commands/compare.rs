//! `turnpike compare`: checks whether two systems are bisimilar, and explains why not.

use std::time::Instant;

use serde_json::{Value, json};
use turnpike_lts::Lts;
use turnpike_lts::{Comparison, Difference, Equivalence, Side, compare};
use turnpike_session::Limits;

use crate::cli::Format;
use crate::commands::reduce::{EquivalenceArgs, size};
use crate::exit::Exit;
use crate::explicit;
use crate::failure::{Failure, Outcome};
use crate::output::progress::Phase;
use crate::output::{self, VERSION};
use crate::source::ReadingArgs;

/// Flags of `turnpike compare`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The left system (.aut, .aut.gz), `-` for standard input, or a model (.mcrl2, `builtin:NAME`)
    #[arg(value_name = "LEFT")]
    left: String,
    /// The right system
    #[arg(value_name = "RIGHT")]
    right: String,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    equivalence: EquivalenceArgs,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if args.left == "-" && args.right == "-" {
        return Err(Failure::usage("only one of the two systems can come from standard input"));
    }
    let equivalence = args.equivalence.equivalence;
    let limits = args.equivalence.limits.limits()?;
    let started = Instant::now();
    let left = system(&args.left, &args.right, &args.reading, &limits)?;
    let right = system(&args.right, &args.left, &args.reading, &limits)?;
    let reading = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let phase = Phase::new(&format!("comparing {} with {}", size(&left), size(&right)));
    let comparison = compare(&left, &right, equivalence);
    drop(phase);
    let comparing = started.elapsed().as_secs_f64();
    match format {
        Format::Human => {
            output::line(&format!("left   {}: {}", args.left, size(&left)));
            output::line(&format!("right  {}: {}", args.right, size(&right)));
            let times = format!("read {reading:.2} s, compared {comparing:.2} s");
            match &comparison {
                Comparison::Equal => output::line(&format!("equal: {} ({times})", bisimilar(equivalence))),
                Comparison::Different(difference) => {
                    output::line(&format!("different: not {} ({times})", bisimilar(equivalence)));
                    output::line(&difference.to_string());
                }
            }
        }
        Format::Json => {
            let difference = match &comparison {
                Comparison::Equal => Value::Null,
                Comparison::Different(difference) => explanation(difference),
            };
            let size = |lts: &Lts| json!({"states": lts.states, "transitions": lts.transitions.len()});
            output::json(&json!({
                "turnpike": VERSION,
                "command": "compare",
                "left": args.left,
                "right": args.right,
                "equivalence": equivalence.name(),
                "equal": comparison.is_equal(),
                "difference": difference,
                "left_size": size(&left),
                "right_size": size(&right),
                "read_seconds": reading,
                "seconds": comparing,
            }));
        }
    }
    Ok(if comparison.is_equal() { Exit::Clean } else { Exit::Found })
}

/// `strongly bisimilar`, `branching bisimilar`.
fn bisimilar(equivalence: Equivalence) -> String {
    let ly = if equivalence == Equivalence::Strong { "ly" } else { "" };
    format!("{equivalence}{ly} bisimilar")
}

/// Settings are for models: beside a model, a file goes without them.
fn system(name: &str, other: &str, reading: &ReadingArgs, limits: &Limits) -> Outcome<Lts> {
    if !reading.names_model(name) && reading.names_model(other) {
        let reading = reading.of_system();
        return explicit::named(name, &reading, limits);
    }
    explicit::named(name, reading, limits)
}

fn explanation(difference: &Difference) -> Value {
    let text = difference.to_string();
    let side = |side: &Side| side.to_string();
    match difference {
        Difference::Trace { trace, label, offered_by } => json!({
            "kind": "trace", "trace": trace, "label": label, "offered_by": side(offered_by), "text": text,
        }),
        Difference::Experiment { moves, label, offered_by } => {
            let moves: Vec<Value> = moves
                .iter()
                .map(|m| json!({"side": side(&m.side), "label": m.label, "answers": m.answers}))
                .collect();
            json!({
                "kind": "experiment", "moves": moves, "label": label, "offered_by": side(offered_by), "text": text,
            })
        }
        _ => json!({"kind": "structure", "text": text}),
    }
}
