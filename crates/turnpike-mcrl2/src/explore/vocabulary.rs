//! The names of actions that a specification can do. The alphabet is an over-approximation: what it
//! lacks never occurs.

use std::collections::BTreeSet;

use turnpike_model::{Absence, Label, Pattern, Signatures, Vocabulary, Word};

use super::Mcrl2Model;
use crate::lower::{LinearProcess, Loss};
use crate::syntax::parse_data_expression;
use crate::typed::{Action, Program, SortId};

/// More different multi-actions than this are not remembered; then any combination passes.
const MOST_COMBINATIONS: usize = 10_000;

/// What can be named.
#[derive(Debug)]
pub(super) struct Names {
    signatures: Signatures,
    /// Whether labels may have a time or a probability after their actions.
    suffixes: bool,
}

impl Names {
    /// The names of a process. If not all its summands are known, the structure of its components
    /// says which names there can be.
    pub(super) fn new(process: &LinearProcess) -> Self {
        let program = &process.program;
        let mut signatures = Signatures::new();
        let arities = |name| {
            let declared = program.actions.iter().filter(move |action| action.name == name);
            declared.map(|action| action.sorts.len())
        };
        let mut possible = BTreeSet::new();
        match &process.later {
            None => {
                let mut combinations: BTreeSet<Vec<String>> = BTreeSet::new();
                for summand in &process.summands {
                    possible.extend(summand.actions.iter().map(|action| action.name));
                    let names = summand.actions.iter();
                    combinations.insert(names.map(|action| program.text(action.name).to_owned()).collect());
                    for action in &summand.actions {
                        signatures.add(program.text(action.name), action.arguments.len());
                    }
                }
                if combinations.len() <= MOST_COMBINATIONS {
                    combinations.into_iter().for_each(|names| signatures.add_combination(names));
                }
            }
            Some(later) => {
                possible.extend(later.actions());
                for &name in &possible {
                    arities(name).for_each(|arity| signatures.add(program.text(name), arity));
                }
                if later.may_terminate() {
                    signatures.add("Terminate", 0);
                }
            }
        }
        let (losses, whole) = (process.structure.losses(), process.structure.names());
        for action in &program.actions {
            let absence = match losses.get(&action.name) {
                _ if possible.contains(&action.name) => continue,
                Some(Loss::Hidden) => Absence::Hidden,
                Some(Loss::NotAllowed) => Absence::NotAllowed,
                Some(Loss::Blocked) => Absence::Blocked,
                // Its data never fits that of a partner.
                None if whole.contains(&action.name) => Absence::Blocked,
                Some(Loss::Renamed) | None => Absence::Unused,
            };
            signatures.add_absent(program.text(action.name), absence);
        }
        let suffixes = process.initial_distribution.is_some()
            || process.summands.iter().any(|one| one.time.is_some() || one.distribution.is_some())
            || process.later.as_ref().is_some_and(|one| one.is_probabilistic() || one.timed().is_some());
        Names { signatures, suffixes }
    }
}

/// The first argument that has another sort than every action of its name takes there.
fn wrong_sort(program: &Program, label: &Label) -> Option<Word> {
    label.actions.iter().find_map(|action| {
        let same = |one: &&Action| {
            program.text(one.name) == action.name && one.sorts.len() == action.arguments.len()
        };
        let declared: Vec<&Action> = program.actions.iter().filter(same).collect();
        let position = (0..action.arguments.len()).find(|&position| {
            let argument = &action.arguments[position];
            !declared.is_empty()
                && declared.iter().all(|one| has_other_sort(program, argument, one.sorts[position]))
        })?;
        let mut sorts: Vec<String> =
            declared.iter().map(|one| program.sort_text(one.sorts[position])).collect();
        sorts.dedup();
        Some(Word::WrongSort {
            name: action.name.clone(),
            position: position + 1,
            sort: sorts.join(" or "),
            argument: action.arguments[position].clone(),
        })
    })
}

/// Whether a text is an expression that does not have this sort. What cannot be read is left alone:
/// some values have texts that are not expressions.
fn has_other_sort(program: &Program, text: &str, sort: SortId) -> bool {
    let (Some(parsed), _) = parse_data_expression(text, &program.words) else { return false };
    let mut program = program.clone();
    let globals = program.globals.clone();
    let mut has = |sort| program.check_expression(&parsed.tree, parsed.root, &globals, sort).is_ok();
    has(None) && !has(Some(sort))
}

impl Vocabulary for Mcrl2Model {
    fn action(&self, name: &str) -> Word {
        match self.has_initial_choice() && name == "dist" {
            true => Word::Known,
            false => self.names.signatures.action(name),
        }
    }

    fn label(&self, pattern: &str) -> Word {
        let Names { signatures, suffixes } = &self.names;
        let open = Pattern::new(pattern).is_open();
        if *suffixes && open {
            // A wildcard may stand for a time or a probability.
            return Word::Known;
        }
        let bare = if *suffixes { without_suffix(pattern) } else { pattern };
        if self.has_initial_choice() && bare == "dist" {
            return Word::Known;
        }
        let word = signatures.label(bare);
        if !word.is_known() || open {
            return word;
        }
        wrong_sort(&self.network.program, &Label::parse(bare)).unwrap_or(word)
    }

    fn argument(&self, action: &str, position: usize) -> Word {
        self.names.signatures.argument(action, position)
    }

    fn names(&self) -> Vec<&str> {
        self.names.signatures.names()
    }
}

/// A label without its time and its probability: `a(1) @ 2 [1/3]` is `a(1)`.
fn without_suffix(label: &str) -> &str {
    let label = match label.rfind(" [") {
        Some(at) if label.ends_with(']') => &label[..at],
        _ => label,
    };
    // Data has no `@`.
    label.split_once('@').map_or(label, |(actions, _)| actions).trim_end()
}
