//! Labels: actions with values, numbered consistently for all explorers of a model. Their text is
//! computed on request.

use std::sync::{PoisonError, RwLock};

use turnpike_model::label::{Action, TAU};
use turnpike_model::{IdTable, Label, LabelId};

use crate::compile::process::Signature;
use crate::value::Value;

/// The number of entries at which a front is emptied.
const FRONT_ENTRIES: usize = 1 << 16;

/// A numbered list of word sequences.
#[derive(Debug, Default)]
struct Table {
    index: IdTable,
    words: Vec<u32>,
    /// The end of each entry. It begins where the previous one ends.
    ends: Vec<usize>,
}

/// The labels that all explorers share.
#[derive(Debug, Default)]
pub(super) struct Labels {
    table: RwLock<Table>,
}

/// An explorer's cache of the labels it has met, so that most look-ups need no lock.
#[derive(Debug, Default)]
pub(super) struct Front {
    table: Table,
    ids: Vec<LabelId>,
}

fn hash(words: &[u32]) -> u64 {
    let mut hash = 0x2545_f491_4f6c_dd1d_u64 ^ words.len() as u64;
    for &word in words {
        hash = (hash.rotate_left(29) ^ u64::from(word)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    hash ^ hash >> 31
}

impl Table {
    fn get(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.words[start..self.ends[id]]
    }

    fn find(&self, hash: u64, words: &[u32]) -> Option<u32> {
        self.index.find(hash, |id| self.get(id) == words)
    }

    fn find_or_insert(&mut self, hash: u64, words: &[u32]) -> u32 {
        let Table { index, words: all, ends } = self;
        let get = |id: u32| {
            let id = id as usize;
            let start = if id == 0 { 0 } else { ends[id - 1] };
            &all[start..ends[id]]
        };
        let (id, new) = index.find_or_insert(hash, |id| get(id) == words, |id| self::hash(get(id)));
        if new {
            all.extend_from_slice(words);
            ends.push(all.len());
        }
        id
    }

    fn clear(&mut self) {
        self.index.clear();
        self.words.clear();
        self.ends.clear();
    }
}

impl Labels {
    /// The id of a label, given by the number of its signature and values that are kept alive.
    pub(super) fn intern(&self, front: &mut Front, words: &[u32]) -> LabelId {
        let hash = hash(words);
        if let Some(local) = front.table.find(hash, words) {
            return front.ids[local as usize];
        }
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner).find(hash, words);
        let id = known.unwrap_or_else(|| {
            self.table.write().unwrap_or_else(PoisonError::into_inner).find_or_insert(hash, words)
        });
        if front.ids.len() >= FRONT_ENTRIES {
            front.table.clear();
            front.ids.clear();
        }
        front.table.find_or_insert(hash, words);
        front.ids.push(LabelId(id));
        LabelId(id)
    }

    /// The words that were interned for an id.
    pub(super) fn words(&self, id: LabelId) -> Vec<u32> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).get(id.0).to_vec()
    }
}

/// The actions of a label without their values.
pub(super) fn bare(signature: &Signature) -> Label {
    let named = |name: &String| Action { name: name.clone(), arguments: Vec::new() };
    let mut actions: Vec<Action> = signature.actions.iter().map(|action| named(&action.name)).collect();
    actions.sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    let text = if names.is_empty() { TAU.to_owned() } else { names.join("|") };
    Label { text, actions }
}

/// A label as printed, such as `a(1, true)|b @ 3 [1/2]`. `values` follow the signature.
pub(super) fn label(signature: &Signature, values: &[u32], mut text: impl FnMut(Value) -> String) -> Label {
    let mut values = values.iter().map(|&word| text(Value::from_word(word)));
    let mut actions: Vec<(Action, String)> = signature
        .actions
        .iter()
        .map(|action| {
            let (name, arity) = (&action.name, action.arity());
            let action = Action { name: name.clone(), arguments: values.by_ref().take(arity).collect() };
            let text = match arity {
                0 => name.clone(),
                _ => format!("{name}({})", action.arguments.join(", ")),
            };
            (action, text)
        })
        .collect();
    actions.sort_by(|(one, _), (other, _)| {
        (one.name.as_bytes(), &one.arguments).cmp(&(other.name.as_bytes(), &other.arguments))
    });
    let mut text = actions.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("|");
    if actions.is_empty() {
        text.push_str(TAU);
    }
    if signature.timed {
        text.push_str(" @ ");
        text.push_str(&unit(values.next().unwrap_or_default()));
    }
    if signature.weighted {
        text.push_str(&format!(" [{}]", values.next().unwrap_or_default().replace(' ', "")));
    }
    Label { text, actions: actions.into_iter().map(|(action, _)| action).collect() }
}

/// A time, in parentheses unless it is one word or one application.
pub(super) fn unit(time: String) -> String {
    let mut depth = 0;
    let mut apart = time.starts_with(['-', '!', '#']);
    for letter in time.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 => apart = true,
            _ => {}
        }
    }
    if apart { format!("({time})") } else { time }
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_units() {
        for (time, expected) in [
            ("3", "3"),
            ("1 / 2", "(1 / 2)"),
            ("f(1 / 2)", "f(1 / 2)"),
            ("f(1) + g(2)", "(f(1) + g(2))"),
            ("-1", "(-1)"),
        ] {
            assert_eq!(unit(time.to_owned()), expected);
        }
    }

    use super::*;
    use crate::compile::process::SignatureAction;
    use crate::typed::SortId;

    fn text(value: Value) -> String {
        value.as_small().map_or("?".to_owned(), |number| number.to_string())
    }

    fn word(number: i32) -> u32 {
        Value::small(number).expect("small").word()
    }

    #[test]
    fn labels_are_printed_in_one_order() {
        let signature = |actions: &[(&str, usize)], timed, weighted| Signature {
            actions: actions
                .iter()
                .map(|&(name, arity)| {
                    let sorts = vec![SortId::NAT; arity].into();
                    SignatureAction { name: name.to_owned(), sorts }
                })
                .collect(),
            timed,
            weighted,
        };
        let cases = [
            (signature(&[], false, false), vec![], "tau"),
            (signature(&[("a", 2), ("b", 0)], false, false), vec![1, 2], "a(1, 2)|b"),
            (signature(&[("a", 1), ("a", 1)], false, false), vec![7, 3], "a(3)|a(7)"),
            (signature(&[("b", 0)], true, false), vec![3], "b @ 3"),
            (signature(&[], true, true), vec![3, 1], "tau @ 3 [1]"),
        ];
        for (signature, numbers, expected) in cases {
            let words: Vec<u32> = numbers.into_iter().map(word).collect();
            assert_eq!(label(&signature, &words, text).text, expected);
        }
    }

    #[test]
    fn explorers_agree_on_ids() {
        let labels = Labels::default();
        let (mut one, mut other) = (Front::default(), Front::default());
        for round in 0..3 {
            for label in 0..100u32 {
                let words = [label % 10, label, label / 3];
                let id = labels.intern(&mut one, &words);
                assert_eq!(id.0, label, "round {round}");
                assert_eq!(labels.words(id), words);
            }
        }
        for label in (0..100u32).rev() {
            assert_eq!(labels.intern(&mut other, &[label % 10, label, label / 3]).0, label);
        }
    }

    #[test]
    fn a_front_forgets_without_harm() {
        let labels = Labels::default();
        let mut front = Front::default();
        for _ in 0..2 {
            for label in 0..(2 * FRONT_ENTRIES as u32 + 17) {
                assert_eq!(labels.intern(&mut front, &[0, label]).0, label);
            }
        }
    }
}
