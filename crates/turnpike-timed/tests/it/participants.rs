//! The participants of transitions, compared with labels and states.

use std::path::Path;

use turnpike_model::{Model, Participant, Role, Successors, hash};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::uppaal::{self, Format};

fn part(component: &str, action: &str, role: Role) -> Participant {
    Participant { component: component.into(), action: action.into(), role, ..Participant::default() }
}

/// Checks the transitions along a random walk; returns their participants.
fn walk(model: &TimedModel, steps: u64) -> Vec<Vec<Participant>> {
    let mut explorer = model.explorer();
    let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut state).expect("an initial state");
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut all = Vec::new();
    for step in 0..steps {
        explorer.successors(&state, &mut out).expect("successors");
        if out.is_empty() {
            break;
        }
        explorer.state_values(&state, &mut before);
        for position in 0..out.len() {
            let label = explorer.label(out.label(position)).text;
            let participants = explorer.participants().expect("timed automata have processes");
            let components = participants.components();
            let parts = participants.participants(&state, position).expect("participants");
            let texts: Vec<String> =
                parts.iter().map(|part| format!("{}@{}", part.component, part.action)).collect();
            // Following a path needs the target of the transition next.
            let mut again = Successors::new(model.info().width);
            explorer.successors_up_to(&state, position, &mut again).expect("successors");
            assert_eq!(again.label(position), out.label(position));
            assert_eq!(again.state(position), out.state(position));
            assert_eq!(texts.join(","), if label == "initial" { "" } else { &label });
            for part in &parts {
                let expected = match part.action.as_bytes().last() {
                    Some(b'!') => Role::Sends,
                    Some(b'?') => Role::Receives,
                    _ => Role::TakesPart,
                };
                assert_eq!(part.role, expected, "{label}");
            }
            explorer.state_values(out.state(position), &mut after);
            // Locations come first among the values, one for each process.
            for (index, name) in components.iter().enumerate() {
                assert_eq!(model.info().parameters[index], *name);
                let takes_part = parts.iter().any(|part| part.component == *name);
                assert!(takes_part || label == "initial" || before[index] == after[index], "{label}: {name}");
            }
            all.push(parts);
        }
        state = out.state(hash::mix(3, step) as usize % out.len()).to_vec();
    }
    all
}

fn open(name: &str, text: &str) -> TimedModel {
    let read = uppaal::read(text, Format::Xta, &[]);
    let (network, names, _) = read.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    TimedModel::new(name, text, network, names, &Options::default()).expect("a model").0
}

#[test]
fn processes_take_part_as_their_labels_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timed");
    let mut count = 0;
    for name in ["fischer.xta", "train_gate.xta", "csma_cd.xta", "fddi.xta"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a model");
        count += walk(&open(name, &text), 60).len();
    }
    assert!(count > 300, "{count}");
}

#[test]
fn senders_and_receivers_of_broadcasts() {
    let text = "broadcast chan go; process P() { state A; init A; trans A -> A { sync go!; }; }
        process Q() { state A, B; init A; trans A -> B { sync go?; }; }
        process R() { state A; init A; trans A -> A { }; }
        one = Q(); two = Q(); p = P(); r = R(); system p, one, r, two;";
    let all = walk(&open("m.xta", text), 1);
    let both = [
        part("p", "go!", Role::Sends),
        part("one", "go?", Role::Receives),
        part("two", "go?", Role::Receives),
    ];
    assert!(all.contains(&both.to_vec()), "{all:?}");
    assert!(all.contains(&vec![part("r", "tau", Role::TakesPart)]), "{all:?}");
}
