//! `turnpike compare`: checks whether two systems are related, and explains why not.

use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use turnpike_lts::Lts;
use turnpike_lts::{Comparison, Difference, Equivalence, Preorder, Reason, Side, compare, refines};
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
    /// Check that the left system does no more than the right one, instead of equality
    #[arg(long, short, value_name = "NAME", conflicts_with = "equivalence", value_parser = preorders())]
    preorder: Option<Preorder>,
}

fn preorders() -> impl TypedValueParser<Value = Preorder> {
    // Every possible value is a name of a preorder.
    PossibleValuesParser::new(Preorder::ALL.map(Preorder::name))
        .map(|name| name.parse().unwrap_or(Preorder::Simulation))
}

/// What is asked.
#[derive(Clone, Copy)]
enum Relation {
    Equivalence(Equivalence),
    Preorder(Preorder),
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if args.left == "-" && args.right == "-" {
        return Err(Failure::usage("only one of the two systems can come from standard input"));
    }
    let relation =
        args.preorder.map_or(Relation::Equivalence(args.equivalence.equivalence), Relation::Preorder);
    let limits = args.equivalence.limits.limits()?;
    let started = Instant::now();
    let left = system(&args.left, &args.right, &args.reading, &limits)?;
    let right = system(&args.right, &args.left, &args.reading, &limits)?;
    let reading = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let phase = Phase::new(&format!("comparing {} with {}", size(&left), size(&right)));
    let comparison = match relation {
        Relation::Equivalence(equivalence) => {
            compare(&left, &right, equivalence, args.equivalence.max_entries)
        }
        Relation::Preorder(preorder) => refines(&left, &right, preorder, args.equivalence.max_entries),
    };
    let comparison = comparison?;
    drop(phase);
    let comparing = started.elapsed().as_secs_f64();
    match format {
        Format::Human => {
            output::line(&format!("left   {}: {}", args.left, size(&left)));
            output::line(&format!("right  {}: {}", args.right, size(&right)));
            let verdict = verdict(relation, comparison.is_related());
            output::line(&format!("{verdict} (read {reading:.2} s, compared {comparing:.2} s)"));
            if let Comparison::Different(difference) = &comparison {
                output::line(&difference.to_string());
                if let Some(found) = &difference.formula {
                    output::line(&format!(
                        "formula that holds for {} only: {}",
                        found.holds_for, found.formula
                    ));
                }
            }
        }
        Format::Json => {
            let difference = match &comparison {
                Comparison::Related => Value::Null,
                Comparison::Different(difference) => explanation(difference),
            };
            let size = |lts: &Lts| json!({"states": lts.states, "transitions": lts.transitions.len()});
            let (kind, name, result) = match relation {
                Relation::Equivalence(equivalence) => ("equivalence", equivalence.name(), "equal"),
                Relation::Preorder(preorder) => ("preorder", preorder.name(), "included"),
            };
            output::json(&json!({
                "turnpike": VERSION,
                "command": "compare",
                "left": args.left,
                "right": args.right,
                kind: name,
                result: comparison.is_related(),
                "difference": difference,
                "left_size": size(&left),
                "right_size": size(&right),
                "read_seconds": reading,
                "seconds": comparing,
            }));
        }
    }
    Ok(if comparison.is_related() { Exit::Clean } else { Exit::Found })
}

/// The result in words.
fn verdict(relation: Relation, related: bool) -> String {
    let equivalent = |words: &str| match related {
        true => format!("equal: {words}"),
        false => format!("different: not {words}"),
    };
    let simulates = |ready: &str| match related {
        true => format!("included: right {ready}simulates left"),
        false => format!("not included: right does not {ready}simulate left"),
    };
    let contains = |what: &str| match related {
        true => format!("included: every {what} of left is one of right"),
        false => format!("not included: not every {what} of left is one of right"),
    };
    match relation {
        Relation::Equivalence(Equivalence::Strong) => equivalent("strongly bisimilar"),
        Relation::Equivalence(Equivalence::Weak) => equivalent("weakly bisimilar"),
        Relation::Equivalence(Equivalence::Trace) => equivalent("trace equivalent"),
        Relation::Equivalence(Equivalence::WeakTrace) => equivalent("weakly trace equivalent"),
        Relation::Equivalence(equivalence) => equivalent(&format!("{equivalence} bisimilar")),
        Relation::Preorder(Preorder::Simulation) => simulates(""),
        Relation::Preorder(Preorder::ReadySimulation) => simulates("ready-"),
        Relation::Preorder(Preorder::Trace) => contains("trace"),
        Relation::Preorder(Preorder::WeakTrace) => contains("weak trace"),
        Relation::Preorder(Preorder::Failures) => contains("failure"),
        Relation::Preorder(Preorder::WeakFailures) => contains("weak failure"),
        Relation::Preorder(preorder) => contains(preorder.name()),
    }
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
    let side = |side: &Side| side.to_string();
    let mut value = match &difference.reason {
        Reason::Trace { trace, label, offered_by } => json!({
            "kind": "trace", "trace": trace, "label": label, "offered_by": side(offered_by),
        }),
        Reason::Refusal { trace, labels } => json!({
            "kind": "refusal", "trace": trace, "labels": labels,
        }),
        Reason::Experiment { moves, label, offered_by } => {
            let moves: Vec<Value> = moves
                .iter()
                .map(|m| json!({"side": side(&m.side), "label": m.label, "answers": m.answers}))
                .collect();
            json!({"kind": "experiment", "moves": moves, "label": label, "offered_by": side(offered_by)})
        }
        _ => json!({"kind": "structure"}),
    };
    value["text"] = json!(difference.to_string());
    value["formula"] = json!(difference.formula.as_ref().map(|found| found.formula.to_string()));
    value["holds_for"] = json!(difference.formula.as_ref().map(|found| side(&found.holds_for)));
    value
}
