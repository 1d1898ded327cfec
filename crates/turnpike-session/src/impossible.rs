//! Objectives that a model cannot meet because of the names in them. Not finding a misspelt name
//! would look like a proof.

use turnpike_model::label::TAU;
use turnpike_model::{Diagnostic, Model, ModelInfo, Severity, Signatures, ViolationKind, Vocabulary, Word};
use turnpike_search::strategy::Fitness;
use turnpike_search::{Goal, Objective, RunReport, StopReason, Verdict};

use turnpike_program::ProgramModel;

use crate::problem::Problem;
use crate::request::Search;

/// Refuses objectives with names that do not occur in the model. If unknown names are allowed,
/// these are warnings.
pub(crate) fn check(
    model: &dyn Model,
    objectives: &[Objective],
    search: &Search,
) -> Result<Vec<Diagnostic>, Problem> {
    let goals = &search.goals;
    // What a strategy counts is named like what is covered.
    let fitness = search.strategy.options.get("fitness").and_then(|text| text.parse().ok());
    let counted = match fitness {
        Some(Fitness::Label(pattern)) => Some(format!("cover {pattern}").parse()?),
        _ => None,
    };
    let objectives: Vec<Objective> = objectives.iter().cloned().chain(counted).collect();
    let found = find(model, &objectives, &goals.internal);
    if goals.allow_unknown {
        let warning = |error: Diagnostic| Diagnostic { severity: Severity::Warning, ..error };
        return Ok(found.into_iter().map(warning).collect());
    }
    match found.is_empty() {
        true => Ok(Vec::new()),
        false => Err(Problem { diagnostics: found, ..Problem::new("") }),
    }
}

/// The objectives with labels as the model prints them: `label e(03)` searches for `e(3)`.
pub(crate) fn normalise(model: &dyn Model, objectives: Vec<Objective>) -> Vec<Objective> {
    let Some(vocabulary) = model.vocabulary() else { return objectives };
    let normal = |objective: Objective| {
        let normal = match objective.goal() {
            Goal::Label(pattern) => vocabulary.normal_form(pattern.text()).map(|one| format!("label {one}")),
            Goal::Cover(pattern) => vocabulary.normal_form(pattern.text()).map(|one| format!("cover {one}")),
            _ => None,
        };
        normal.and_then(|text| text.parse().ok()).unwrap_or(objective)
    };
    objectives.into_iter().map(normal).collect()
}

fn find(model: &dyn Model, objectives: &[Objective], internal: &[String]) -> Vec<Diagnostic> {
    let known = Known { vocabulary: model.vocabulary(), info: model.info() };
    // Labels of timed automata belong to locations, and explorers compile them.
    let labels_of_states = model.explorer().state_labels().is_some();
    find_unknown(&known, labels_of_states, objectives, internal)
}

fn find_unknown(
    known: &Known<'_>,
    labels_of_states: bool,
    objectives: &[Objective],
    internal: &[String],
) -> Vec<Diagnostic> {
    let info = known.info;
    let mut errors = Vec::new();
    for objective in objectives {
        let words: Vec<Word> = match objective.goal() {
            Goal::Action(names) if names.iter().any(|name| is_pattern(name)) => {
                errors.extend(known.explain_pattern(objective));
                Vec::new()
            }
            Goal::Action(names) => names.iter().map(|name| known.action(name)).collect(),
            Goal::Label(pattern) if !labels_of_states => vec![known.label(pattern.text())],
            Goal::Cover(pattern) => vec![known.label(pattern.text())],
            Goal::Extreme { quantity, .. } if info.measure(quantity).is_none() => {
                let argument = quantity
                    .rsplit_once('.')
                    .and_then(|(action, position)| Some(known.argument(action, position.parse().ok()?)));
                argument.into_iter().collect()
            }
            Goal::Violation(kind) => {
                errors.extend(missing_error(*kind, objective, info));
                Vec::new()
            }
            _ => Vec::new(),
        };
        errors.extend(words.into_iter().filter_map(|word| known.explain(word)));
    }
    // Actions that never occur are harmless as internal ones, but misspelt ones are a mistake.
    let misspelt = internal.iter().map(|name| known.action(name));
    let misspelt = misspelt.filter(|word| matches!(word, Word::Unknown { .. }));
    errors.extend(misspelt.filter_map(|word| known.explain(word)));
    errors
}

/// Whether the name of an action has characters that only occur in label patterns.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '(', ')', '|'])
}

/// Explains why something in a formula cannot occur in a model.
pub(crate) fn explain(model: &dyn Model, word: Word) -> Option<Diagnostic> {
    Known { vocabulary: model.vocabulary(), info: model.info() }.explain(word)
}

/// Explains that no action has this name, if the model knows all its actions.
pub(crate) fn unknown_action(model: &dyn Model, name: &str) -> Option<Diagnostic> {
    let known = Known { vocabulary: model.vocabulary(), info: model.info() };
    let word = known.action(name);
    matches!(word, Word::Unknown { .. }).then(|| known.explain(word))?
}

/// Reports an error that models of this kind cannot have.
fn missing_error(kind: ViolationKind, objective: &Objective, info: &ModelInfo) -> Option<Diagnostic> {
    let what = match kind {
        kind if info.violations.contains(&kind) => return None,
        ViolationKind::Assertion => "a transition system has no assertions",
        _ => "only programs have such errors",
    };
    Some(Diagnostic::error(format!("{objective} cannot occur in {}: {what}", info.name)))
}

/// The names of a model, as far as they are known.
struct Known<'a> {
    vocabulary: Option<&'a dyn Vocabulary>,
    info: &'a ModelInfo,
}

impl Known<'_> {
    fn action(&self, name: &str) -> Word {
        let actions = &self.info.actions;
        match self.vocabulary {
            Some(vocabulary) => vocabulary.action(name),
            None if actions.is_empty() || name == TAU || actions.iter().any(|action| action == name) => {
                Word::Known
            }
            None => {
                let nearest = turnpike_model::diagnostic::nearest(name, actions.iter().map(String::as_str));
                Word::Unknown { name: name.to_owned(), nearest: nearest.map(str::to_owned) }
            }
        }
    }

    fn label(&self, pattern: &str) -> Word {
        self.vocabulary.map_or(Word::Known, |vocabulary| vocabulary.label(pattern))
    }

    fn argument(&self, action: &str, position: usize) -> Word {
        match self.vocabulary {
            Some(vocabulary) => vocabulary.argument(action, position),
            None => self.action(action),
        }
    }

    fn names(&self) -> Vec<&str> {
        match self.vocabulary {
            Some(vocabulary) => vocabulary.names(),
            None => self.info.actions.iter().map(String::as_str).collect(),
        }
    }

    /// Reports a pattern where names of actions are expected.
    fn explain_pattern(&self, objective: &Objective) -> Option<Diagnostic> {
        let pattern = objective.text().strip_prefix("action").unwrap_or_default().trim();
        let word = self.label(pattern);
        if !word.is_known() {
            return self.explain(word);
        }
        let error =
            Diagnostic::error(format!("`action` takes names of actions, but `{pattern}` is a pattern"));
        Some(error.help(format!("write `label {pattern}`")))
    }

    /// Explains why a word cannot occur, for the user.
    fn explain(&self, word: Word) -> Option<Diagnostic> {
        let model = &self.info.name;
        let error = |message: String| Some(Diagnostic::error(message));
        match word {
            Word::Known => None,
            Word::Unknown { name, nearest } => {
                // The name of an action is not always a label.
                let is_label = name.contains(['*', '?', '(', '@']) || self.action(&name).is_known();
                let what = if is_label { "label like" } else { "action" };
                let error = Diagnostic::error(format!("{model} has no {what} `{name}`"));
                Some(match nearest {
                    Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
                    None => match self.names() {
                        names if names.is_empty() => error.help("it has only internal transitions"),
                        names => error.help(format!("its actions are {}", list(&names))),
                    },
                })
            }
            Word::Hidden { name } => error(format!("`{name}` is hidden by `hide` in {model}"))
                .map(|error| error.help(format!("to see it, add the option `unhide` {name}"))),
            Word::Blocked { name } => error(format!(
                "`{name}` cannot occur in {model}: it is blocked, or nothing synchronises with it"
            )),
            Word::NotAllowed { name } => {
                error(format!("`{name}` cannot occur in {model}: `allow` does not let it through"))
            }
            Word::Unused { name } => {
                error(format!("`{name}` is declared, but no transition of {model} has it"))
            }
            Word::WrongArity { name, arities, found } => {
                let takes: Vec<String> = arities.iter().map(usize::to_string).collect();
                let noun = if arities == [1] { "argument" } else { "arguments" };
                let message = format!("`{name}` takes {} {noun} in {model}, not {found}", takes.join(" or "));
                error(message).map(|error| error.help(format!("`{name}*` matches it with any arguments")))
            }
            Word::WrongSort { name, position, sort, argument } => error(format!(
                "argument {position} of `{name}` has sort {sort} in {model}, but `{argument}` is not of that sort"
            )),
            Word::BadArgument { name, position, argument, problem, help } => {
                let message = match argument.is_empty() {
                    true => format!("argument {position} of `{name}` is missing in {model}"),
                    false => {
                        format!(
                            "argument {position} of `{name}` cannot be `{argument}` in {model}: {problem}"
                        )
                    }
                };
                let help = help.unwrap_or_else(|| "`*` stands for any argument".to_owned());
                error(message).map(|error| error.help(help))
            }
            Word::AmbiguousArgument { name, position, argument, readings } => {
                let message =
                    format!("argument {position} of `{name}` is ambiguous in {model}: `{argument}`");
                error(message).map(|error| error.help(format!("write `{}`", readings.join("` or `"))))
            }
            Word::NeedsSuffix { label } => error(format!(
                "every label of these actions in {model} has a time or a probability after `{label}`"
            ))
            .map(|error| error.help(format!("`{label} *` matches it with any"))),
            _ => error(format!("this cannot occur in {model}")),
        }
    }
}

/// The number of names listed in a message.
const LISTED: usize = 20;

fn list(names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Refuses objectives with names that no transition of the complete state space has, for models
/// that do not know their names before exploration.
pub(crate) fn refuse_unseen(
    model: &dyn Model,
    objectives: &[Objective],
    internal: &[String],
    runs: &[RunReport],
) -> Result<(), Diagnostic> {
    let info = model.info();
    if model.vocabulary().is_some() || !info.actions.is_empty() {
        return Ok(());
    }
    let covered = |run: &&RunReport| match run.verdict {
        Verdict::None => true,
        Verdict::Measured => run.stop == StopReason::Exhausted,
        _ => false,
    };
    let Some(run) = runs.iter().find(covered) else { return Ok(()) };
    let mut seen = Signatures::new();
    for name in run.actions.keys().flat_map(|names| names.split('|')) {
        seen.add_with_any_arity(name);
    }
    let known = Known { vocabulary: Some(&seen), info };
    match find_unknown(&known, false, objectives, internal).into_iter().next() {
        None => Ok(()),
        // A declared name may never occur. Without declarations it may be misspelt.
        Some(error) => Err(match error.help.clone() {
            Some(help) => error.help(format!("{help}; name actions that need not occur in `action_names`")),
            None => error,
        }),
    }
}

/// Adds to the help of an error that the user may accept what it is about.
pub(crate) fn with_consent(error: Diagnostic) -> Diagnostic {
    let help = match error.help.as_deref() {
        None => "to accept that, add the option `allow-unknown`".to_owned(),
        Some(question) if question.ends_with('?') => {
            format!("{question} (the option `allow-unknown` accepts it as it is)")
        }
        Some(help) => format!("{help}; to accept that, add the option `allow-unknown`"),
    };
    error.help(help)
}

/// Actions of objectives that no execution of a program takes. These are only warnings, because
/// other executions might.
pub(crate) fn never_seen(model: &dyn Model, objectives: &[Objective], runs: &[RunReport]) -> Vec<Diagnostic> {
    let covered = |run: &&RunReport| run.verdict == Verdict::None && run.executions.is_some();
    let Some(run) = runs.iter().find(covered) else { return Vec::new() };
    let seen: Vec<&str> = run.actions.keys().flat_map(|names| names.split('|')).collect();
    let names = objectives.iter().flat_map(|objective| match objective.goal() {
        Goal::Action(names) => names.clone(),
        Goal::Label(pattern) => {
            let actions = Signatures::actions_of(pattern.text()).into_iter().map(|action| action.name);
            actions.filter(|name| !is_pattern(name)).collect()
        }
        _ => Vec::new(),
    });
    let never = names.filter(|name| *name != TAU && !seen.contains(&name.as_str()));
    let warning = |name: String| {
        Diagnostic::warning(format!("{} never does `{name}`", model.info().name)).suggest_or_list(
            &name,
            seen.iter().copied(),
            "its actions are",
        )
    };
    never.map(warning).collect()
}

/// Refuses patterns for labels of a program that name something that no step has. Programs declare
/// nothing, so this shows only after everything was executed.
pub(crate) fn refuse_missing(
    program: &ProgramModel,
    objectives: &[Objective],
    runs: &[RunReport],
) -> Result<(), Diagnostic> {
    if !runs.iter().any(|run| run.verdict == Verdict::None) {
        return Ok(());
    }
    let known = Known { vocabulary: program.vocabulary(), info: program.info() };
    for objective in objectives {
        let Goal::Label(pattern) = objective.goal() else { continue };
        if let Some(error) = program.why_missing(pattern.text()).and_then(|word| known.explain(word)) {
            return Err(with_consent(error));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Goals;

    fn refused(find: &str, tau: &[&str]) -> Vec<String> {
        let model = turnpike_builtin::build("philosophers", &[]).expect("builds");
        let internal: Vec<String> = tau.iter().map(|&name| name.to_owned()).collect();
        let objectives = [find.parse().expect("an objective")];
        let mut search = Search { goals: Goals { internal, ..Goals::default() }, ..Search::default() };
        let errors = check(&*model, &objectives, &search);
        search.goals.allow_unknown = true;
        let warnings = check(&*model, &objectives, &search).expect("only warnings");
        assert!(warnings.iter().all(|warning| warning.severity == Severity::Warning));
        let errors = errors.map_or_else(|problem| problem.diagnostics, |_| Vec::new());
        assert_eq!(errors.len(), warnings.len());
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn misspelt_names_are_refused() {
        let model = "builtin:philosophers(n=5)";
        let none = Vec::<String>::new();
        for (find, tau) in [
            ("deadlock", &[][..]),
            ("livelock", &["eat", "tau"][..]),
            ("assertion", &[][..]),
            ("action eat,lock", &[][..]),
            ("label eat(99)", &[][..]),
            ("label *", &[][..]),
            ("cover lock(1,*)", &[][..]),
            ("max lock.2", &[][..]),
            ("max waiting", &[][..]),
            ("state waiting > 99", &[][..]),
        ] {
            assert_eq!(refused(find, tau), none, "{find}");
        }
        let unknown = |what: &str| vec![format!("{model} has no {what} (did you mean `eat`?)")];
        assert_eq!(refused("action eatt", &[]), unknown("action `eatt`"));
        assert_eq!(refused("livelock", &["eatt"]), unknown("action `eatt`"));
        assert_eq!(refused("label eatt(1)", &[]), unknown("action `eatt`"));
        assert_eq!(refused("max eatt.1", &[]), unknown("action `eatt`"));
        assert_eq!(refused("action eat,lokc,fre", &[]).len(), 2);
        assert!(
            refused("cover zzz*", &[])[0]
                .contains("has no label like `zzz*` (its actions are eat, free, lock)")
        );
        assert!(refused("label eat(1,2)", &[])[0].contains("`eat` takes 1 argument in"));
        assert!(refused("max eat.2", &[])[0].contains("`eat` takes 1 argument in"));
        assert!(refused("label eat(x)", &[])[0].contains("`x` is not of that sort"));
        assert!(refused("race", &[])[0].contains("race cannot occur in"));
        let pattern = |text: &str| {
            format!("`action` takes names of actions, but `{text}` is a pattern (write `label {text}`)")
        };
        assert_eq!(refused("action ea*", &[]), [pattern("ea*")]);
        assert_eq!(refused("action eat(1)", &[]), [pattern("eat(1)")]);
        assert_eq!(refused("action lock(1,2)", &[]), [pattern("lock(1,2)")]);
        assert!(refused("action eat(1,2)", &[])[0].contains("`eat` takes 1 argument in"));
        assert!(refused("action zz*", &[])[0].contains("has no label like `zz*`"));
    }
}
