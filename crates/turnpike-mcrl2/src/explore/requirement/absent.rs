//! Finds multi-actions of a formula that can never occur in a specification.

use turnpike_model::{Vocabulary, Word};

use super::{AbsentAction, Requirement};

/// The orders of more actions than this are not tried.
const MOST_ORDERED: usize = 4;

impl Requirement {
    /// The multi-actions that no transition can match, without duplicates.
    pub fn absent_actions(&self) -> Vec<AbsentAction> {
        let mut found: Vec<AbsentAction> = Vec::new();
        if self.foreign {
            return found;
        }
        for (actions, helps) in self.multi_actions() {
            let parts: Vec<(&str, usize)> = actions.iter().map(|(name, arity)| (&**name, *arity)).collect();
            let Some(word) = self.why_absent(&parts) else { continue };
            if let Some(known) = found.iter_mut().find(|one| one.word == word) {
                known.helps |= helps;
                continue;
            }
            let is_named = |one: &&(String, _)| parts.iter().any(|part| part.0 == one.0);
            let place = self.formula.action_names.iter().find(is_named);
            let place = place.map(|one| one.1.clone()).unwrap_or_default();
            found.push(AbsentAction { word, place, helps });
        }
        found
    }

    /// The names and numbers of arguments of all multi-actions, each with whether its absence helps.
    fn multi_actions(&self) -> Vec<(Vec<(String, usize)>, bool)> {
        let (shared, mut all) = (self.shared(), Vec::new());
        self.formula.for_each_multi_action(&mut |actions, helps| {
            let action = |(action, _): &(_, _)| {
                let action = shared.program.action(*action);
                (shared.program.text(action.name).to_owned(), action.sorts.len())
            };
            all.push((actions.iter().map(action).collect(), helps));
        });
        all
    }

    /// Why actions with these numbers of arguments cannot occur together; `None` if they can.
    fn why_absent(&self, parts: &[(&str, usize)]) -> Option<Word> {
        let alone = parts.iter().map(|(name, _)| self.model.action(name));
        if let Some(word) = alone.into_iter().find(|word| !word.is_known()) {
            return Some(word);
        }
        let mut orders = Vec::new();
        if (1..=MOST_ORDERED).contains(&parts.len()) {
            permute(&mut parts.to_vec(), 0, &mut orders);
        }
        let words: Vec<Word> = orders.iter().map(|order| self.model.label(order)).collect();
        // The arguments are placeholders: only names and arities matter.
        let fits = |word: &Word| word.is_known() || matches!(word, Word::WrongSort { .. });
        match words.iter().any(fits) {
            true => None,
            false => words.into_iter().next(),
        }
    }
}

/// The patterns of a multi-action in all orders of its actions.
fn permute(parts: &mut Vec<(&str, usize)>, from: usize, out: &mut Vec<String>) {
    if from == parts.len() {
        let pattern = |(name, arity): &(&str, usize)| match arity {
            0 => (*name).to_owned(),
            arity => format!("{name}({})", vec!["*"; *arity].join(",")),
        };
        return out.push(parts.iter().map(pattern).collect::<Vec<_>>().join("|"));
    }
    for at in from..parts.len() {
        parts.swap(from, at);
        permute(parts, from + 1, out);
        parts.swap(from, at);
    }
}
