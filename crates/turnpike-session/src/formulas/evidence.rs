//! Evidence is decided on its own before it is reported, with the same verdict required.

use turnpike_formula::{Decision, Evidence, Taken, solve};
use turnpike_lts::{AutDialect, LtsModel, read_lts};
use turnpike_mcrl2::explore::LabelSource;
use turnpike_model::{Model, StepError, Successors};

use super::{CheckedFormula, FormulaText};
use crate::labels::visit_labels;
use crate::problem::{Problem, ProblemKind};

/// Evidence with more steps is not checked on its own.
const MOST_CHECKED: usize = 5_000;

impl CheckedFormula {
    /// Refuses evidence that does not show the verdict.
    pub(super) fn confirm(
        &self,
        formula: &FormulaText,
        evidence: &Evidence,
        holds: bool,
    ) -> Result<(), Problem> {
        if self.shows(formula, evidence, holds) != Some(false) {
            return Ok(());
        }
        let message = format!("the evidence for `{}` does not show its verdict", formula.name());
        Err(Problem { kind: ProblemKind::Internal, ..Problem::new(message) })
    }

    /// Whether the formula has this value on the evidence alone; `None` if that cannot be decided.
    fn shows(&self, formula: &FormulaText, evidence: &Evidence, holds: bool) -> Option<bool> {
        if evidence.edges.len() > MOST_CHECKED {
            return None;
        }
        let lts = read_lts(evidence.to_aut().as_bytes(), AutDialect::Mcrl2).ok()?;
        let labels = match self.labels {
            LabelSource::Own => LabelSource::Declared,
            other => other,
        };
        let system = LtsModel::new("evidence", lts).ok()?;
        let (requirement, _) = self.data.requirement(&formula.text, labels).ok()?;
        let requirement = match self.state_actions.is_empty() {
            true => requirement,
            false => requirement.with_state_actions(&self.state_actions),
        };
        if requirement.gains_from_labels() {
            let mut explorer = system.explorer();
            let (ids, _) = visit_labels(&system, &mut *explorer, usize::MAX, &mut |_| false).ok()?;
            requirement.learn_all_labels(&ids, &mut *explorer).ok()?;
        }
        // Some values have texts that cannot be parsed.
        let again = solve(&system, &requirement, &mut |_| false).ok()?;
        Some(match again.decision {
            Decision::Holds => holds,
            Decision::Violated => !holds,
            Decision::Open => false,
        })
    }

    /// The steps of a witness as evidence. If conditions on enabled steps matter, the enabled steps
    /// are added: a single one at the end if that suffices, otherwise all of them.
    pub(super) fn run_evidence(
        &self,
        formula: &FormulaText,
        steps: &[Taken],
        loop_start: Option<usize>,
        holds: bool,
    ) -> Result<Evidence, Problem> {
        let run = Evidence::of_run(steps, loop_start);
        if self.shows(formula, &run, holds) != Some(false) {
            return Ok(run);
        }
        let failed =
            |error: StepError| Problem::new(error.to_string()).in_file(self.model.info().name.clone());
        let enabled = self.enabled_along(steps).map_err(failed)?;
        if let (None, Some(last)) = (loop_start, enabled.last()) {
            for taken in last {
                let longer: Vec<Taken> = steps.iter().chain([taken]).cloned().collect();
                let longer = Evidence::of_run(&longer, None);
                if self.shows(formula, &longer, holds) == Some(true) {
                    return Ok(longer);
                }
            }
        }
        let mut whole = run;
        for (from, labels) in (0..).zip(&enabled) {
            whole.add_ends(from, labels);
        }
        self.confirm(formula, &whole, holds)?;
        Ok(whole)
    }

    /// The enabled steps of each state along a run.
    fn enabled_along(&self, steps: &[Taken]) -> Result<Vec<Vec<Taken>>, StepError> {
        let mut explorer = self.model.explorer();
        let mut state = Vec::new();
        explorer.initial(&mut state)?;
        let mut successors = Successors::new(state.len());
        let mut enabled = Vec::new();
        for at in 0..=steps.len() {
            explorer.successors(&state, &mut successors)?;
            let labels = successors.labels().to_vec();
            let taken = (0..).zip(labels).map(|(choice, label)| {
                let label = explorer.label(label).text;
                Taken { label, choice }
            });
            enabled.push(taken.collect());
            let Some(step) = steps.get(at).filter(|step| (step.choice as usize) < successors.len()) else {
                break;
            };
            state = successors.state(step.choice as usize).to_vec();
        }
        Ok(enabled)
    }
}
