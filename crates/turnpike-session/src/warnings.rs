//! Warnings about a request, which do not prevent the search.

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
