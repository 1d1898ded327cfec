//! Lowers UPPAAL models to networks: declarations, the system line, locations and edges of every
//! process. Expressions are lowered by [`crate::typed`].

mod alphabets;
mod declare;
mod edges;
mod instantiate;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use turnpike_model::Diagnostic;

use crate::compile::analysis;
use crate::network::{Expression, Language, Network, QueryText, Rate};
use crate::syntax::uppaal::tree;
use crate::typed::{Checker, GLOBAL, PREDECLARED, Scope, State, functions};

/// The result of lowering: the network, its names and warnings, or errors.
type Lowered = Result<(Network, State, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Lowers a model. `settings` override global constants.
///
/// All fractions are known only at the end, and every clock constant depends on their common
/// denominator: a model with fractions is lowered twice.
pub(crate) fn lower(model: &tree::Model, settings: &[(String, String)]) -> Lowered {
    match lower_in_parts(model, settings, None) {
        (_, Some(parts)) => lower_in_parts(model, settings, Some(parts)).0,
        (lowered, None) => lowered,
    }
}

/// Lowers a model with the unit of time divided into parts, or returns the number of parts that it
/// should be divided into instead.
fn lower_in_parts(
    model: &tree::Model,
    settings: &[(String, String)],
    parts: Option<NonZeroU32>,
) -> (Lowered, Option<NonZeroU32>) {
    let mut state = State { parts, ..State::default() };
    state.scopes.push(Scope { parent: Some(PREDECLARED), ..Scope::default() });
    state.scopes.push(Scope { parent: Some(GLOBAL), ..Scope::default() });
    state.scopes.push(declare::predeclared(model.dialect));
    let mut checker = Checker::new(model, state);
    checker.settings = settings.iter().cloned().collect();
    checker.network.language = Language::Uppaal;
    checker.network.queries = model
        .queries
        .iter()
        .map(|query| QueryText {
            text: query.text.clone(),
            comment: query.comment.clone(),
            expect: query.expect,
        })
        .collect();
    checker.check_directions();
    checker.declarations(&model.declarations, functions::Owner::Global);
    checker.check_settings();
    if checker.errors.is_empty() {
        checker.system();
    }
    if checker.errors.is_empty() {
        checker.events();
    }
    if checker.errors.is_empty() {
        checker.remaining_functions();
    }
    let mut finer = None;
    if checker.errors.is_empty() {
        checker.check_odd_clocks();
        if parts.is_none() {
            checker.divide_for_queries();
        }
        finer = checker.finer_parts();
    }
    let Checker { state, mut network, errors, warnings, .. } = checker;
    network.parts = parts;
    analysis::narrow(&mut network);
    drop_usual_rates(&mut network);
    (if errors.is_empty() { Ok((network, state, warnings)) } else { Err(errors) }, finer)
}

/// Removes rates if no clock is ever stopped.
fn drop_usual_rates(network: &mut Network) {
    let mut locations = network.processes.iter().flat_map(|process| &process.locations);
    let stops = |rate: &Rate| rate.value != Expression::Constant(1);
    if locations.any(|location| location.rates.iter().any(stops)) {
        return;
    }
    for location in network.processes.iter_mut().flat_map(|process| &mut process.locations) {
        location.rates.clear();
    }
}

impl Checker<'_> {
    fn check_settings(&mut self) {
        let mut unused: Vec<String> =
            self.settings.keys().filter(|name| !self.used_settings.contains(*name)).cloned().collect();
        unused.sort_unstable();
        for name in unused {
            let constants: Vec<&str> = declare::constant_names(self.tree);
            let error = Diagnostic::error(format!("the model has no constant `{name}` that could be set"))
                .suggest(&name, constants)
                .help_if_none("global `const int` and `const bool` can be set");
            self.note(error);
        }
    }
}
