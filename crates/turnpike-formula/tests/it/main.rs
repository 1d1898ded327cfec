//! Integration tests of the solver of formulas.

mod by_hand;
mod corpus;
mod data;
mod monitor;
mod naive;
mod random;

use std::sync::Arc;

use turnpike_formula::{Decision, Outcome, solve};
use turnpike_lts::{AutDialect, Lts, LtsModel, read_lts};
use turnpike_mcrl2::explore::{LabelSource, Mcrl2Model, Options, Requirement, declare_labels};
use turnpike_model::Diagnostic;

/// A system in Aldebaran's format.
fn system(text: &str) -> Lts {
    read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("a system")
}

/// The declarations of a system's labels.
fn data(lts: &Lts, more: &str) -> Arc<Mcrl2Model> {
    let labels = declare_labels(lts.labels.iter().map(String::as_str));
    let text = format!("{labels}{more} init delta;");
    let (model, _) = Mcrl2Model::new("labels", &text, &Options::default()).expect("declarations");
    Arc::new(model)
}

/// A formula about a system.
fn requirement(lts: &Lts, formula: &str) -> Result<Requirement, Vec<Diagnostic>> {
    data(lts, "").requirement(formula, LabelSource::Declared).map(|one| one.0)
}

/// Decides a formula about a system.
fn decide(lts: &Lts, formula: &str) -> Outcome {
    let requirement = requirement(lts, formula).unwrap_or_else(|all| panic!("{formula}: {all:?}"));
    let model = LtsModel::new("system", lts.clone()).expect("a system");
    solve(&model, &requirement, &mut |_| false).unwrap_or_else(|error| panic!("{formula}: {error}"))
}

/// Whether a formula holds.
fn holds(lts: &Lts, formula: &str) -> bool {
    match decide(lts, formula).decision {
        Decision::Holds => true,
        Decision::Violated => false,
        Decision::Open => panic!("{formula}: not decided"),
    }
}
