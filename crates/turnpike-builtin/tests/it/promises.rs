//! The requirements of the model interface.

use crate::common::{build, check_promises, explore};

#[test]
fn every_model_keeps_the_contract() {
    for info in turnpike_builtin::catalogue() {
        let model = build(info.name, &[]);
        check_promises(&*model, 3000);
        assert!(model.info().measures.len() >= 2, "{}", info.name);
        assert!(model.info().measures.iter().all(|measure| !measure.doc.is_empty()));
        assert!(!model.info().suggestions.is_empty(), "{}", info.name);
    }
}

#[test]
fn every_label_is_in_the_vocabulary() {
    for info in turnpike_builtin::catalogue() {
        let model = build(info.name, &[]);
        let vocabulary = model.vocabulary().expect("a vocabulary");
        let mut seen = std::collections::BTreeSet::<String>::new();
        let mut steps = 0;
        let (mut explorer, width) = (model.explorer(), model.info().width);
        let (mut state, mut successors) = (Vec::new(), turnpike_model::Successors::new(width));
        explorer.initial(&mut state).expect("an initial state");
        // A walk that takes each successor in turn.
        for step in 0..3000 {
            explorer.successors(&state, &mut successors).expect("successors");
            for &label in successors.labels() {
                steps += 1;
                let label = explorer.label(label);
                assert!(vocabulary.label(&label.text).is_known(), "{}: {}", info.name, label.text);
                seen.extend(label.actions.into_iter().map(|action| action.name));
            }
            if successors.is_empty() {
                explorer.initial(&mut state).expect("an initial state");
            } else {
                state = successors.state(step * 7 % successors.len()).to_vec();
            }
        }
        assert!(steps > 0, "{}", info.name);
        assert!(seen.iter().all(|name| vocabulary.action(name).is_known()));
        for name in vocabulary.names() {
            assert!(!vocabulary.label(&format!("{name}(1,2,3,4)")).is_known(), "{}: {name}", info.name);
            assert!(!vocabulary.label(&format!("{name}x(1)")).is_known(), "{}: {name}", info.name);
        }
        assert!(!vocabulary.action("no-such-action").is_known());
    }
}

#[test]
fn the_ends_of_the_ranges_work() {
    for info in turnpike_builtin::catalogue() {
        for parameter in info.parameters {
            for value in [parameter.range.0, parameter.range.1] {
                check_promises(&*build(info.name, &[(parameter.name, value)]), 3);
            }
        }
    }
}

#[test]
fn the_front_page_lists_every_model() {
    let readme = include_str!("../../README.md");
    for info in turnpike_builtin::catalogue() {
        let parameters: Vec<String> = info
            .parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.name, parameter.default))
            .collect();
        let row = format!("| `{}` | {} |", info.name, parameters.join(", "));
        assert!(readme.contains(&row), "the table lacks: {row}");
    }
}

/// Measures have the documented meaning: in the deadlock all philosophers wait, none eats, and
/// nothing is enabled.
#[test]
fn measures_of_the_philosophers() {
    for name in ["philosophers", "philosophers-either", "philosophers-parity"] {
        let model = build(name, &[("n", 4)]);
        let index = |name: &str| model.info().measure(name).expect("a measure");
        let (waiting, holding, eating, enabled) =
            (index("waiting"), index("holding-one"), index("eating"), index("enabled"));
        let mut deadlocks = 0;
        explore(&*model, |explorer, state, _, successors| {
            let mut measure = |index: usize| crate::common::measure(explorer, state, index);
            assert_eq!(measure(enabled), successors.len() as f64);
            assert!(measure(waiting) <= measure(holding));
            // Two forks for a philosopher who eats, one for a philosopher who holds one, and as
            // many forks as there are.
            assert!(2.0 * measure(eating) + measure(holding) <= 4.0);
            if successors.is_empty() {
                deadlocks += 1;
                assert_eq!((measure(waiting), measure(holding), measure(eating)), (4.0, 4.0, 0.0));
            } else {
                assert!(measure(waiting) < 4.0 || name != "philosophers");
            }
        });
        assert_eq!(deadlocks, if name == "philosophers" { 1 } else { 2 });
    }
}

/// Whoever does not take part in a step keeps its value.
#[test]
fn only_participants_change() {
    let mut checked = 0;
    for (name, n) in [("philosophers", 3), ("philosophers-either", 3), ("two-phase-commit", 2)] {
        let model = build(name, &[("n", n)]);
        let parameters = &model.info().parameters;
        let components = model.explorer().participants().expect("components").components();
        assert!(components.iter().all(|one| parameters.contains(one)), "{name}: {components:?}");
        let mut taking_part = vec![0; components.len()];
        let mut view = model.explorer();
        explore(&*model, |explorer, state, _, successors| {
            let mut values_of = |state: &[u32]| {
                let mut values = Vec::new();
                explorer.state_values(state, &mut values);
                values
            };
            let before = values_of(state);
            for position in 0..successors.len() {
                let after = values_of(successors.state(position));
                let parts = view.participants().expect("components").participants(state, position);
                let parts = parts.expect("participants");
                assert!(!parts.is_empty());
                for (index, component) in components.iter().enumerate() {
                    let place = parameters.iter().position(|one| one == component).expect("a parameter");
                    let takes_part = parts.iter().any(|part| part.component == *component);
                    assert!(takes_part || before[place] == after[place], "{name}: {component} {before:?}");
                    taking_part[index] += usize::from(takes_part);
                    checked += 1;
                }
            }
            let beyond = view.participants().expect("components").participants(state, successors.len());
            assert!(beyond.is_err());
        });
        assert!(taking_part.iter().all(|&steps| 0 < steps), "{name}: {taking_part:?}");
    }
    assert!(checked > 1000, "{checked}");
}
