//! Warnings about a request, which do not prevent the search.

use turnpike_model::predicate::MeasureExpression;
use turnpike_model::{Diagnostic, Model};
use turnpike_search::strategy::Parallel;
use turnpike_search::{Goal, Objective};

use crate::request::Goals;

/// Warnings about the goals.
pub(crate) fn of_goals(objectives: &[Objective], goals: &Goals) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let seeks = |goals: &[Goal]| objectives.iter().any(|objective| goals.contains(objective.goal()));
    if !goals.internal.is_empty() && !seeks(&[Goal::Livelock]) {
        let warning =
            Diagnostic::warning("the option `tau` has no effect: only livelocks depend on internal actions");
        warnings.push(warning.help("look for a livelock too, or leave it out"));
    }
    if goals.lookahead && !seeks(&[Goal::Deadlock, Goal::AnyError]) {
        let warning = Diagnostic::warning(
            "the option `lookahead` has no effect: the search does not look for deadlocks",
        );
        warnings.push(warning.help("look for a deadlock too, or leave it out"));
    }
    warnings
}

/// Conditions that are the same in all states: whoever asks did not mean to compare constants.
pub(crate) fn of_conditions(model: &dyn Model, objectives: &[Objective]) -> Vec<Diagnostic> {
    let conditions = objectives.iter().flat_map(|objective| match objective.goal() {
        Goal::State(text) => std::slice::from_ref(text),
        Goal::Accepting(sets) => sets,
        _ => &[],
    });
    let warning = |text: &String| {
        // A literal is the same in all states on purpose.
        let is_literal = ["true", "false"].contains(&text.trim());
        let value = constant_value(model, text).filter(|_| !is_literal)?;
        let holds = if value { "always" } else { "never" };
        let message = format!("the condition `{text}` is the same in all states: it {holds} holds");
        Some(Diagnostic::warning(message).help("constants and the ranges of variables decide it"))
    };
    conditions.filter_map(warning).collect()
}

/// The value of a condition if it is the same in all states. Mistakes are reported elsewhere.
fn constant_value(model: &dyn Model, text: &str) -> Option<bool> {
    let mut explorer = model.explorer();
    match explorer.predicates() {
        Some(predicates) => predicates.compile(text).ok().and_then(|id| predicates.constant(id)),
        None => MeasureExpression::parse(text, model.info()).ok()?.constant(),
    }
}

/// Several threads for a strategy whose runs use only one.
pub(crate) fn of_threads(strategy: &str, parallel: Parallel) -> Diagnostic {
    Diagnostic::warning(format!("the option `threads` has no effect: `{strategy}` cannot use several here"))
        .help(format!("`{strategy}`: {}", parallel.describe()))
}

/// Atomic operations that request weaker orders than those explored.
pub(crate) fn of_weaker_orders() -> Diagnostic {
    Diagnostic::warning(
        "the program uses weaker memory orders, which this search treats as sequentially consistent",
    )
    .help("--memory rc11 explores what they allow")
}

/// Covering for a model in which no state covers another.
pub(crate) fn of_covering(model: &dyn Model, covering: bool) -> Option<Diagnostic> {
    (covering && model.explorer().covering().is_none()).then(|| {
        let name = &model.info().name;
        Diagnostic::warning(format!("the option `cover` has no effect: no state of {name} covers another"))
            .help("only states of timed automata do")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(find: &str, tau: &[&str], lookahead: bool) -> Vec<String> {
        let internal = tau.iter().map(|&name| name.to_owned()).collect();
        let goals = Goals { lookahead, internal, ..Goals::default() };
        let objective: Objective = find.parse().expect("an objective");
        of_goals(&[objective], &goals).into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn only_odd_settings_are_mentioned() {
        assert_eq!(warned("deadlock", &[], true), Vec::<String>::new());
        assert_eq!(warned("livelock", &["eat", "tau"], false), Vec::<String>::new());
        assert_eq!(warned("assertion", &[], false), Vec::<String>::new());
        assert!(warned("deadlock", &["eat"], false)[0].contains("`tau` has no effect"));
        assert!(warned("livelock", &[], true)[0].contains("`lookahead` has no effect"));
    }
}
