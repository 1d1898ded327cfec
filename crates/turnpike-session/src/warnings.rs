//! Warnings about a request: worth a word before the search, not an error.

use turnpike_model::label::TAU;
use turnpike_model::{Diagnostic, Model, ModelInfo, ViolationKind};
use turnpike_program::verb;
use turnpike_scheduler::Kind;
use turnpike_search::{Goal, Objective};

use crate::request::Goals;

/// Everything odd about what is looked for.
pub(crate) fn of_goals(model: &dyn Model, objectives: &[Objective], goals: &Goals) -> Vec<Diagnostic> {
    let info = model.info();
    let mut warnings = turnpike_search::warnings(model, objectives);
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
    warnings.extend(goals.internal.iter().filter_map(|name| unknown(name, info)));
    warnings.extend(objectives.iter().filter_map(|objective| impossible(objective, info)));
    if info.capabilities.violations_on_expansion {
        warnings.extend(objectives.iter().flat_map(unknown_operations));
    }
    warnings
}

/// Actions that no thread can take, because there is no such operation.
fn unknown_operations(objective: &Objective) -> Vec<Diagnostic> {
    let Goal::Action(names) = objective.goal() else { return Vec::new() };
    let verbs = || Kind::ALL.iter().map(|&kind| verb(kind));
    let unknown = names.iter().filter(|name| !verbs().any(|verb| verb == *name));
    let warn = |name: &String| {
        Diagnostic::warning(format!("no operation of a thread is called `{name}`")).suggest_or_list(
            name,
            verbs(),
            "the operations are",
        )
    };
    unknown.map(warn).collect()
}

/// Covering by a model in which no state covers another.
pub(crate) fn of_covering(model: &dyn Model, covering: bool) -> Option<Diagnostic> {
    (covering && model.explorer().covering().is_none()).then(|| {
        let name = &model.info().name;
        Diagnostic::warning(format!("the option `cover` has no effect: no state of {name} covers another"))
            .help("only states of timed automata do")
    })
}

/// An internal action that the model does not have.
fn unknown(name: &str, info: &ModelInfo) -> Option<Diagnostic> {
    if info.actions.is_empty() || name == TAU || info.actions.iter().any(|action| action == name) {
        return None;
    }
    let actions = info.actions.iter().map(String::as_str);
    Some(
        Diagnostic::warning(format!("{} has no action `{name}` to count as internal", info.name))
            .suggest_or_list(name, actions, "its actions are"),
    )
}

/// An error that a model of this kind cannot have, so that finding none says nothing.
fn impossible(objective: &Objective, info: &ModelInfo) -> Option<Diagnostic> {
    let warning =
        |what: &str| Some(Diagnostic::warning(format!("{objective} cannot occur in {}: {what}", info.name)));
    match objective.goal() {
        Goal::Violation(kind) if info.violations.contains(kind) => None,
        Goal::Violation(ViolationKind::Assertion) => warning("a transition system has no assertions"),
        Goal::Violation(_) => warning("only programs have such errors"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(find: &str, tau: &[&str], lookahead: bool) -> Vec<String> {
        let model = turnpike_builtin::build("philosophers", &[]).expect("builds");
        let internal = tau.iter().map(|&name| name.to_owned()).collect();
        let goals = Goals { lookahead, internal, ..Goals::default() };
        let objective: Objective = find.parse().expect("an objective");
        of_goals(&*model, &[objective], &goals).into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn only_what_is_odd_is_mentioned() {
        assert_eq!(warned("deadlock", &[], true), Vec::<String>::new());
        assert_eq!(warned("livelock", &["eat", "tau"], false), Vec::<String>::new());
        assert_eq!(warned("assertion", &[], false), Vec::<String>::new());
        assert!(warned("livelock", &["aet"], false)[0].contains("no action `aet`"));
        assert!(warned("deadlock", &["eat"], false)[0].contains("`tau` has no effect"));
        assert!(warned("livelock", &[], true)[0].contains("`lookahead` has no effect"));
        assert!(warned("race", &[], false)[0].contains("race cannot occur in"));
        assert!(warned("action aet", &[], false)[0].contains("no action `aet`"));
    }
}
