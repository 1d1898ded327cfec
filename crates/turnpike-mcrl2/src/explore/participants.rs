//! The participants of a transition: the components whose edges make up its summand.

use turnpike_model::label::TAU;
use turnpike_model::{Participant, Participants, Role, StepError};

use super::view::View;
use super::walker::{Located, Walker};
use crate::lower::{Edge, Part, Step};
use crate::typed::Program;
use crate::typed::expression::free_variables;

impl Participants for Walker<'_> {
    fn components(&self) -> Vec<String> {
        self.network().structure.components().iter().map(|component| component.name.clone()).collect()
    }

    fn participants(&mut self, state: &[u32], position: usize) -> Result<Vec<Participant>, StepError> {
        if self.is_root(state) {
            return Ok(Vec::new());
        }
        let located = self.locate(state, position);
        let (network, machine) = self.parts();
        let found = located.map(|located| {
            let Some(Located { parts, bound }) = located else { return Vec::new() };
            let mut view = View { bound, ..View::new(network, machine, state) };
            let receives: Vec<bool> = parts.iter().map(|part| view.receives(part)).collect();
            let one = |(part, receives_data): (&Part, &bool)| Participant {
                component: view.automaton(part.component).name.clone(),
                action: view.own_action(part),
                role: match (receives_data, receives.contains(&true)) {
                    (true, _) if receives.contains(&false) => Role::Receives,
                    (false, true) => Role::Sends,
                    _ => Role::TakesPart,
                },
                ..Participant::default()
            };
            parts.iter().zip(&receives).map(one).collect()
        });
        machine.heap.reset();
        found
    }
}

impl View<'_> {
    fn edge(&self, part: &Part) -> &Edge {
        &self.automaton(part.component).edges[part.edge]
    }

    /// Whether a component leaves the data of its action to others by summing over them. mCRL2 has
    /// no other notion of sender and receiver.
    fn receives(&self, part: &Part) -> bool {
        let edge = self.edge(part);
        let Step::Actions(actions) = &edge.what else { return false };
        let is_summed = |program: &Program, id| {
            free_variables(program, id).iter().any(|variable| edge.variables.contains(variable))
        };
        actions.iter().flat_map(|action| &action.arguments).any(|&id| is_summed(&self.program, id))
    }

    /// The multi-action of a component with the data of the transition.
    fn own_action(&mut self, part: &Part) -> String {
        if matches!(self.edge(part).what, Step::Terminate) {
            return "Terminate".to_owned();
        }
        let text = |action: &crate::lower::ActionInstance| {
            let arguments: Vec<_> = action.arguments.iter().map(|&one| self.argument(one)).collect();
            self.action_text(action.name, &arguments)
        };
        let texts: Vec<String> = part.actions.iter().map(text).collect();
        if texts.is_empty() { TAU.to_owned() } else { texts.join("|") }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use turnpike_model::label::Action;
    use turnpike_model::{Explorer, Label, Model, Participant, Role, Successors, hash};

    use crate::explore::walker::Walker;
    use crate::explore::{Mcrl2Model, Options};

    fn model(text: &str, options: &Options) -> Mcrl2Model {
        Mcrl2Model::new("m.mcrl2", text, options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}")).0
    }

    /// The participants of all initial transitions, by label: `c(1): P s(1) sends, Q r(1) receives`.
    fn initial(text: &str) -> Vec<String> {
        let list = |combinations| {
            let model = model(text, &Options { combinations, ..Options::default() });
            let mut walker = Walker::new(&model);
            let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
            walker.initial(&mut state).expect("an initial state");
            walker.successors(&state, &mut out).expect("successors");
            let mut all = Vec::new();
            for position in 0..out.len() {
                let label = walker.label(out.label(position)).text;
                let parts = turnpike_model::Participants::participants(&mut walker, &state, position);
                let parts = parts.expect("participants").into_iter().map(in_words).collect::<Vec<_>>();
                all.push(format!("{label}: {}", parts.join(", ")));
            }
            all
        };
        let all = list(None);
        assert_eq!(list(Some(0)), all, "it does not matter when summands are made");
        all
    }

    fn in_words(part: Participant) -> String {
        let role = match part.role {
            Role::Sends => " sends",
            Role::Receives => " receives",
            Role::TakesPart => "",
        };
        format!("{} {}{role}", part.component, part.action)
    }

    #[test]
    fn partners_have_their_own_actions_and_the_data_of_the_transition() {
        let declared = "act s, r, c, t: Nat; a, b, d;\
            proc S(n: Nat) = s(n + 1) . S(n); R = sum x: Nat. r(x) . R; T = sum x: Nat. (x < 3) -> t(x) . T;";
        let check = |init: &str, expected: &[&str]| {
            assert_eq!(initial(&format!("{declared} init {init};")), expected, "{init}");
        };
        let sent = "S s(2) sends, R r(2) receives";
        check("allow({c}, comm({s|r -> c}, S(1) || R))", &[&format!("c(2): {sent}")]);
        check("hide({c}, allow({c}, comm({s|r -> c}, S(1) || R)))", &[&format!("tau: {sent}")]);
        check("rename({c -> t}, allow({c}, comm({s|r -> c}, S(1) || R)))", &[&format!("t(2): {sent}")]);
        let three = "c(2): S s(2) sends, R r(2) receives, T t(2) receives";
        check("allow({c}, comm({s|r|t -> c}, S(1) || R || T))", &[three]);
        // No component determines the data, so all components are equal.
        check(
            "allow({c}, comm({t|r -> c}, T || R))",
            &[0, 1, 2].map(|n| &*Box::leak(format!("c({n}): T t({n}), R r({n})").into_boxed_str())),
        );
        check("allow({s}, S(1) || R)", &["s(2): S s(2)"]);
    }

    #[test]
    fn components_that_act_alone_or_together_by_chance() {
        let check = |text: &str, expected: &[&str]| assert_eq!(initial(text), expected, "{text}");
        check("act a, b; proc P = a . P; Q = b . Q; init P || Q;", &["a: P a", "a|b: P a, Q b", "b: Q b"]);
        check("act a, b; proc P = a|b . P; init P;", &["a|b: P a|b"]);
        check("act a; proc P = tau . P; init P;", &["tau: P tau"]);
        check(
            "act a: Nat; proc P = sum x: Nat. (x < 2) -> a(x) . P; init P;",
            &["a(0): P a(0)", "a(1): P a(1)"],
        );
        // One of the values for the same transition is shown, or none if nothing depends on it.
        let hidden =
            |body: &str| format!("act a: Nat; proc P = sum x: Nat. {body} . P; init hide({{a}}, P);");
        check(&hidden("(x < 2) -> a(x)"), &["tau: P a(0)"]);
        check(&hidden("a(x)"), &["tau: P a(x)"]);
        let ends = "act a; proc P = a; Q = a; init P || Q;";
        assert!(initial(ends).contains(&"a|a: P a, Q a".to_owned()));
    }

    /// Communication by the rules of a text, without any of the machinery above.
    fn communicate(mut actions: Vec<Action>, rules: &[(Vec<String>, String)]) -> Vec<Action> {
        'again: loop {
            for (left, result) in rules {
                for start in 0..actions.len() {
                    let data = actions[start].arguments.clone();
                    let mut chosen: Vec<usize> = Vec::new();
                    for name in left {
                        let fits = |&at: &usize| {
                            !chosen.contains(&at)
                                && actions[at].name == *name
                                && actions[at].arguments == data
                        };
                        chosen.extend((0..actions.len()).find(fits));
                    }
                    if chosen.len() == left.len() {
                        chosen.sort_unstable();
                        chosen.iter().rev().for_each(|&at| drop(actions.remove(at)));
                        actions.push(Action { name: result.clone(), arguments: data });
                        continue 'again;
                    }
                }
            }
            break;
        }
        actions.sort_by(|one, other| (&one.name, &one.arguments).cmp(&(&other.name, &other.arguments)));
        actions
    }

    /// The rules and the hidden names in a text with at most one `comm` and one `hide`.
    fn operators(text: &str) -> (Vec<(Vec<String>, String)>, Vec<String>) {
        let without_comments: String = text
            .lines()
            .map(|line| line.split('%').next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n");
        let inside = |start: &str| {
            let at = without_comments.find(start)? + start.len();
            Some(without_comments[at..].split('}').next().unwrap_or_default())
        };
        let words = |list: &str, at: char| -> Vec<String> {
            list.split(at).map(|word| word.trim().to_owned()).collect()
        };
        let rules = inside("comm({").map_or(Vec::new(), |list| {
            let rule = |rule: &str| {
                let (left, result) = rule.split_once("->").expect("a rule");
                (words(left, '|'), result.trim().to_owned())
            };
            list.split(',').map(rule).collect()
        });
        (rules, inside("hide({").map_or(Vec::new(), |list| words(list, ',')))
    }

    #[test]
    fn other_components_keep_their_values_and_own_actions_explain_labels() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut transitions = 0;
        let files = std::fs::read_dir(folder).expect("the models").map(|entry| entry.expect("a file").path());
        for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "mcrl2")) {
            let text = std::fs::read_to_string(&path).expect("text");
            let (rules, hidden) = operators(&text);
            for combinations in [None, Some(0)] {
                let options = Options { unhide: hidden.clone(), combinations, ..Options::default() };
                transitions += walk(&model(&text, &options), &rules);
            }
        }
        assert!(transitions > 1_000, "{transitions}");
    }

    /// Checks the transitions along a random walk; returns how many.
    fn walk(model: &Mcrl2Model, rules: &[(Vec<String>, String)]) -> usize {
        let mut walker = Walker::new(model);
        let components = turnpike_model::Participants::components(&walker);
        let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
        walker.initial(&mut state).expect("an initial state");
        let mut checked = 0;
        for step in 0..40u64 {
            walker.successors(&state, &mut out).expect("successors");
            if out.is_empty() {
                break;
            }
            for position in 0..out.len().min(12) {
                let parts = turnpike_model::Participants::participants(&mut walker, &state, position);
                let parts = parts.expect("participants");
                if walker.is_root(&state) {
                    assert!(parts.is_empty());
                    continue;
                }
                let names: BTreeSet<&str> = parts.iter().map(|part| part.component.as_str()).collect();
                assert!(!parts.is_empty() && names.len() == parts.len(), "{parts:?}");
                let order: Vec<_> = parts
                    .iter()
                    .map(|part| components.iter().position(|name| *name == part.component).expect("known"))
                    .collect();
                assert!(order.is_sorted());
                for (word, parameter) in model.network.parameters.iter().enumerate() {
                    let same = state[word] == out.state(position)[word];
                    assert!(same || names.contains(&*parameter.component), "{} {parts:?}", parameter.name);
                }
                let label = walker.label(out.label(position));
                // Times and probabilities are not part of what components do.
                let own = parts.iter().flat_map(|part| Label::parse(&part.action).actions).collect();
                let expected = communicate(own, rules);
                let seen: Vec<Action> = label.actions.clone();
                assert_eq!(communicate(seen, &[]), expected, "{} by {parts:?}", label.text);
                checked += 1;
            }
            let next = hash::mix(7, step) as usize % out.len();
            state = out.state(next).to_vec();
        }
        checked
    }
}
