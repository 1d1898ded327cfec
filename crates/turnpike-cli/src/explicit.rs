//! Explicit transition systems of anything that can be read: files as they are, models generated in memory; and
//! where they go.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashMap;
use turnpike_lts::{AutDialect, Lts, Transition, dot, svg, write_lts, write_lts_file};
use turnpike_model::{Diagnostic, LabelId, Model};
use turnpike_session::generate::{GenerateError, GenerateOptions, TransitionSink, generate};
use turnpike_session::{Limits, StopReason};
use turnpike_session::{Location, Purpose, Session};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::output::progress::{Phase, ProgressArgs, Reporter};
use crate::source::ReadingArgs;

/// The system a user names: an `.aut` file, or any model, generated within the limits.
pub(crate) fn named(name: &str, reading: &ReadingArgs, limits: &Limits) -> Outcome<Lts> {
    if reading.names_model(name) {
        let session = Session::open(&reading.source(name))?;
        return generated(&*session.prepare(&Purpose::default())?.model, limits);
    }
    let _phase = Phase::new(&format!("reading {name}"));
    Ok(proportionate(turnpike_session::read_system(&Location::from(name), &reading.reading())?))
}

/// All reachable states of a model, in memory. A limit that is reached makes the system useless, so it is an error.
pub(crate) fn generated(model: &dyn Model, limits: &Limits) -> Outcome<Lts> {
    let mut sink = Collected::default();
    let options = GenerateOptions { limits: limits.clone(), ..GenerateOptions::default() };
    let reporter = Reporter::new(ProgressArgs::default(), 1);
    let report =
        generate(model, &options, &mut sink, &|event| reporter.event(event), &AtomicBool::new(false));
    drop(reporter);
    let report = report.map_err(|error| match error {
        GenerateError::Search(error) => Failure::from(error),
        error => Failure::usage(error.to_string()),
    })?;
    if report.stop != StopReason::Exhausted {
        let message = format!(
            "the state space of {} is not complete after {} states: {}",
            model.info().name,
            output::grouped(report.states),
            report.stop.describe()
        );
        let help = "this command needs the complete state space; raise the limit or choose a smaller model";
        return Err(Failure {
            exit: Exit::Inconclusive,
            ..Failure::from(Diagnostic::error(message).help(help))
        });
    }
    let mut explorer = model.explorer();
    let labels = (0..sink.labels).map(|id| explorer.label(LabelId(id)).text).collect();
    Ok(merged(Lts { initial: 0, states: report.states as u32, labels, transitions: sink.transitions }))
}

/// Label ids of a model may share a text; those of a system may not.
fn merged(mut lts: Lts) -> Lts {
    let mut texts = Vec::new();
    let mut ids: FxHashMap<String, u32> = FxHashMap::default();
    let mut number = Vec::with_capacity(lts.labels.len());
    for text in std::mem::take(&mut lts.labels) {
        let id = *ids.entry(text.clone()).or_insert(texts.len() as u32);
        if id as usize == texts.len() {
            texts.push(text);
        }
        number.push(LabelId(id));
    }
    for transition in &mut lts.transitions {
        transition.label = number[transition.label.index()];
    }
    lts.labels = texts;
    lts
}

#[derive(Default)]
struct Collected {
    transitions: Vec<Transition>,
    /// One more than the largest label id.
    labels: u32,
}

impl TransitionSink for Collected {
    fn transition(&mut self, from: u32, label: LabelId, to: u32) -> std::io::Result<()> {
        self.labels = self.labels.max(label.0 + 1);
        self.transitions.push(Transition { from, label, to });
        Ok(())
    }
}

/// A header may claim billions of states that no transition mentions, and what works on systems has tables of them:
/// such a system is cut down to its reachable part.
fn proportionate(lts: Lts) -> Lts {
    if u64::from(lts.states) <= 4 * lts.transitions.len() as u64 + 1024 {
        return lts;
    }
    let outgoing = lts.outgoing();
    let mut number: FxHashMap<u32, u32> = FxHashMap::from_iter([(lts.initial, 0)]);
    let mut order = vec![lts.initial];
    let mut transitions = Vec::new();
    let mut at = 0;
    while at < order.len() {
        for &(label, target) in outgoing.of(order[at]) {
            let to = *number.entry(target).or_insert_with(|| {
                order.push(target);
                order.len() as u32 - 1
            });
            transitions.push(Transition { from: at as u32, label, to });
        }
        at += 1;
    }
    Lts { initial: 0, states: order.len() as u32, labels: lts.labels, transitions }
}

/// Writes a system to a file in the format its name asks for, or as `.aut` to standard output for `-`.
pub(crate) fn write(lts: &Lts, target: &str, dialect: AutDialect) -> Outcome<()> {
    let in_file = |diagnostic: Diagnostic| Failure::from(diagnostic);
    if target == "-" {
        return write_lts(lts, std::io::BufWriter::new(output::Standard), dialect).map_err(in_file);
    }
    if target.ends_with(".aut") || target.ends_with(".aut.gz") {
        return write_lts_file(lts, Path::new(target), dialect).map_err(in_file);
    }
    let picture = if target.ends_with(".dot") {
        dot(lts)
    } else if target.ends_with(".svg") {
        svg(lts)
    } else {
        Err(Diagnostic::error(format!("{target}: unknown file extension"))
            .help("use .aut, .aut.gz, .dot or .svg"))
    };
    write_text(target, &picture.map_err(in_file)?)
}

/// Replaces a file with this text.
pub(crate) fn write_text(target: &str, text: &str) -> Outcome<()> {
    std::fs::File::create(target)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::file(target, "write", &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_lts::read_lts;

    #[test]
    fn generates_a_model() {
        let model = turnpike_builtin::build("philosophers", &[("n".into(), "3".into())]).expect("builds");
        let lts = generated(&*model, &Limits::default()).expect("small");
        assert_eq!((lts.states, lts.deadlocks()), (35, 1));
        assert_eq!(lts.check(), Ok(()));
        let few = Limits { states: Some(3), ..Limits::default() };
        let failure = generated(&*model, &few).expect_err("a limit");
        assert_eq!(failure.exit, Exit::Inconclusive);
    }

    #[test]
    fn claims_of_a_header_cost_no_memory() {
        let text = "des (4000000000,2,4000000001)\n(4000000000,\"a\",7)\n(7,\"a\",7)\n";
        let lts = proportionate(read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("reads"));
        assert_eq!((lts.states, lts.initial, lts.transitions.len()), (2, 0, 2));
        assert_eq!(lts.check(), Ok(()));
    }
}
