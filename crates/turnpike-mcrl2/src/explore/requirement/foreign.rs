//! Labels of systems that are not mCRL2 specifications: their texts are read as multi-actions with
//! data, and what they consist of is declared in a specification made for the purpose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use turnpike_model::Label;
use turnpike_model::formula::DataError;

use super::Requirement;
use crate::compile::evaluator::{Machine, Scope};
use crate::compile::process::{Signature, SignatureAction};
use crate::syntax::{Data, Symbols, parse_data_expression};
use crate::typed::{ExpressionId, Program, SortId, is_builtin_name};

/// What stands at one place of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Truth,
    Natural,
    Integer,
    Word,
}

fn place(text: &str) -> Place {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text {
        "true" | "false" => Place::Truth,
        _ if digits(text) => Place::Natural,
        _ if text.strip_prefix('-').is_some_and(digits) => Place::Integer,
        _ => Place::Word,
    }
}

/// Both kinds at one place.
fn join(one: Place, other: Place) -> Place {
    match (one, other) {
        _ if one == other => one,
        (Place::Natural | Place::Integer, Place::Natural | Place::Integer) => Place::Integer,
        _ => Place::Word,
    }
}

/// Whether a text can be the name of a constant or an action.
fn is_name(text: &str) -> bool {
    let (parsed, _) = parse_data_expression(text, &Symbols::default());
    parsed.is_some_and(|one| matches!(one.tree.data(one.root), Data::Name(_))) && !is_builtin_name(text)
}

/// The constant that stands for an argument which is neither a truth value nor a number: itself if it
/// is a name, else a name made of its bytes.
fn constant(text: &str) -> String {
    if is_name(text) {
        return text.to_owned();
    }
    let mut name = "text_".to_owned();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "_{byte:02x}");
            }
        }
    }
    name
}

/// A specification that declares the actions of these labels. Arguments are truth values, numbers, or
/// elements of the sort `Data`, which has a constant for every other text: an argument that is not a
/// name, such as `f(x)`, cannot be mentioned, but only be bound by a quantifier.
pub fn declare_labels<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    let mut actions: BTreeMap<(String, usize), Vec<Place>> = BTreeMap::new();
    let mut arguments: BTreeMap<(String, usize, usize), Vec<String>> = BTreeMap::new();
    for action in labels.flat_map(|text| Label::parse(text).actions) {
        if !is_name(&action.name) {
            continue;
        }
        let key = (action.name.clone(), action.arguments.len());
        let found: Vec<Place> = action.arguments.iter().map(|text| place(text)).collect();
        for (position, text) in action.arguments.iter().enumerate() {
            let all = arguments.entry((action.name.clone(), found.len(), position)).or_default();
            if !all.contains(text) {
                all.push(text.clone());
            }
        }
        let joined = actions.entry(key).or_insert_with(|| found.clone());
        joined.iter_mut().zip(found).for_each(|(one, other)| *one = join(*one, other));
    }
    let mut words: Vec<String> = Vec::new();
    for ((name, arity), places) in &actions {
        for (position, _) in places.iter().enumerate().filter(|&(_, &place)| place == Place::Word) {
            words.extend(arguments[&(name.clone(), *arity, position)].iter().cloned());
        }
    }
    words.sort();
    words.dedup();
    let mut text = String::new();
    if !words.is_empty() {
        let names: Vec<String> = words.iter().map(|word| constant(word)).collect();
        let _ = writeln!(text, "sort Data = struct {};", names.join(" | "));
    }
    for ((name, _), places) in &actions {
        let sorts: Vec<&str> = places
            .iter()
            .map(|place| match place {
                Place::Truth => "Bool",
                Place::Natural => "Nat",
                Place::Integer => "Int",
                Place::Word => "Data",
            })
            .collect();
        let sorts = if sorts.is_empty() { String::new() } else { format!(": {}", sorts.join(" # ")) };
        let _ = writeln!(text, "act {name}{sorts};");
    }
    text
}

/// A label's signature and values, as the specification would have given them.
pub(super) fn label_words(
    requirement: &Requirement,
    machine: &mut Machine,
    label: &Label,
) -> Result<Vec<u32>, DataError> {
    let network = &requirement.model.network;
    // Declarations come from texts, so labels must be taken apart in the same way.
    let label = &Label::parse(&label.text);
    let unreadable = || {
        let message = format!("the label `{}` has an argument that cannot be read", label.text);
        DataError::new(message)
    };
    let (mut actions, mut words) = (Vec::new(), vec![0]);
    let mut shared = requirement.shared();
    for action in &label.actions {
        let count = action.arguments.len();
        let program = &mut shared.program;
        let declared: Vec<Box<[SortId]>> = program
            .actions
            .iter()
            .filter(|one| one.sorts.len() == count && program.text(one.name) == action.name)
            .map(|one| one.sorts.clone())
            .collect();
        let mut fitting = declared.iter().filter_map(|sorts| {
            let typed = action.arguments.iter().zip(sorts).map(|(text, &sort)| argument(program, text, sort));
            Some((sorts.clone(), typed.collect::<Option<Vec<_>>>()?))
        });
        let (sorts, roots) = match (fitting.next(), fitting.next()) {
            (Some(only), None) => only,
            // No formula can speak about an action that is not declared.
            (None, _) if declared.is_empty() => {
                words.resize(words.len() + count, 0);
                (vec![SortId::BOOL; count].into(), Vec::new())
            }
            _ => return Err(unreadable()),
        };
        for root in roots {
            let mut scope = Scope::default();
            let code = network.rules.compile(program, root, &mut scope);
            let base = machine.enter(scope.size());
            let value = machine.evaluate(&code, base);
            machine.leave(base);
            let value = value.map_err(|_| unreadable())?;
            words.push(machine.heap.keep(value).word());
        }
        actions.push(SignatureAction { name: action.name.clone(), sorts });
    }
    words[0] = network.signatures.number(Signature { actions, timed: false, weighted: false }).0;
    Ok(words)
}

/// An argument of a label as an expression of a sort, if it is one: the text itself, or the constant
/// that stands for it.
fn argument(program: &mut Program, text: &str, sort: SortId) -> Option<ExpressionId> {
    [text, &constant(text)].into_iter().find_map(|text| {
        let (parsed, _) = parse_data_expression(text, &program.words);
        let parsed = parsed?;
        program.check_expression(&parsed.tree, parsed.root, &[], Some(sort)).ok()
    })
}
