//! The labels of systems that are not mCRL2 specifications, declared as actions with data for use
//! in formulas.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use turnpike_mcrl2::explore::{Mcrl2Model, Options, declare_labels_for};
use turnpike_model::{Diagnostic, Explorer, LabelId, Model, Successors};

use crate::formulas::FormulaText;
use crate::problem::Problem;

/// The number of states visited to learn the labels of a system.
pub(crate) const MOST_STATES: usize = 50_000;

/// Whether all labels of a system are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    All,
    Some,
}

/// The known labels of a system.
pub(crate) struct Labels {
    /// A specification that declares them, without a process.
    pub(crate) data: Arc<Mcrl2Model>,
    pub(crate) known: Known,
    /// Notes about what only the formula mentions.
    pub(crate) assumed: Vec<String>,
}

/// Declares the labels of a system, including `more` that are known without exploration. If the
/// system has no declarations (`open`), elements and sorts of the formula may be missing in its
/// labels.
pub(crate) fn declarations(
    model: &dyn Model,
    more: &[String],
    open: bool,
    formula: &FormulaText,
) -> Result<Labels, Problem> {
    let (mut labels, known) = labels_of(model)?;
    labels.extend(more.iter().cloned());
    let mentioned = if open { formula.text.as_str() } else { "" };
    let declared = declare_labels_for(labels.iter().map(String::as_str), mentioned);
    let name = &model.info().name;
    let element = |one: &String| format!("no label of {name} has an argument `{one}`");
    let sort = |(one, other): &(String, String)| {
        format!("{name} declares no sort {one}: it is assumed to be {other}, based on its elements in labels")
    };
    let assumed = declared.assumed_elements.iter().map(element);
    let assumed = assumed.chain(declared.assumed_sorts.iter().filter(|one| one.0 != one.1).map(sort));
    let assumed = assumed.collect();
    let text = format!("{}init delta;", declared.text);
    match Mcrl2Model::new("labels", &text, &Options::default()) {
        Ok((data, _)) => Ok(Labels { data: Arc::new(data), known, assumed }),
        Err(refusal) => {
            let why = refusal.diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
            let message = format!(
                "the labels of {} cannot be read as actions, which `{}` needs: {why}",
                model.info().name,
                formula.name()
            );
            Err(Problem::new(message))
        }
    }
}

/// The texts of labels found by a bounded exploration.
fn labels_of(model: &dyn Model) -> Result<(BTreeSet<String>, Known), Problem> {
    let mut explorer = model.explorer();
    let (ids, known) = visit_labels(model, &mut *explorer, MOST_STATES, &mut |_| false)?;
    Ok((ids.into_iter().map(|id| explorer.label(id).text).collect(), known))
}

/// The labels found by a bounded exploration, in the order of their discovery.
pub(crate) fn visit_labels(
    model: &dyn Model,
    explorer: &mut dyn Explorer,
    most: usize,
    stop: &mut dyn FnMut(usize) -> bool,
) -> Result<(Vec<LabelId>, Known), Problem> {
    let failed =
        |error: turnpike_model::StepError| Problem::new(error.to_string()).in_file(model.info().name.clone());
    let mut initial = Vec::new();
    explorer.initial(&mut initial).map_err(failed)?;
    let mut successors = Successors::new(initial.len());
    let (mut seen, mut queue) = (FxHashSet::default(), vec![initial.clone()]);
    seen.insert(initial);
    let (mut met, mut ids) = (FxHashSet::default(), Vec::new());
    let (mut next, mut known) = (0, Known::All);
    while next < queue.len() {
        if stop(next) {
            return Ok((ids, Known::Some));
        }
        explorer.successors(&queue[next], &mut successors).map_err(failed)?;
        for (label, target) in successors.iter() {
            if met.insert(label) {
                ids.push(label);
            }
            if seen.contains(target) {
                continue;
            }
            if queue.len() == most {
                known = Known::Some;
                continue;
            }
            seen.insert(target.to_vec());
            queue.push(target.to_vec());
        }
        next += 1;
    }
    Ok((ids, known))
}

/// A note for formulas about labels that were not found.
pub(crate) fn not_all_known(model: &str) -> Diagnostic {
    let message = format!("only the labels of the first {MOST_STATES} states of {model} are known");
    Diagnostic::warning(message)
}
