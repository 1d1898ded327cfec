//! Actions with their arities: a vocabulary for systems whose labels are multi-actions such as
//! `send(1)|log`.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::nearest;
use crate::facets::{Vocabulary, Word};
use crate::label::{Action, Label, TAU};
use crate::pattern::{Pattern, Piece};

/// Why a declared action cannot occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// It is renamed to `tau`.
    Hidden,
    /// It is blocked, or never finds the partner that it needs.
    Blocked,
    /// No allowed combination of actions contains it.
    NotAllowed,
    /// No transition takes it.
    Unused,
}

/// The actions that can occur, and those that are declared but cannot.
///
/// Without combinations ([`add_combination`](Self::add_combination)), actions may occur together in
/// any way. The internal action may always occur.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    /// The arities of each action that can occur.
    actions: BTreeMap<String, BTreeSet<usize>>,
    absent: BTreeMap<String, Absence>,
    /// The names of each label, in the order of its text.
    combinations: Option<BTreeSet<Vec<String>>>,
    /// The common sort of all arguments.
    sort: Option<Sort>,
}

/// Stands for all arities.
const ANY_ARITY: usize = usize::MAX;

/// A sort of arguments, and a function that normalises the text of a value, if it is one.
type Sort = (&'static str, fn(&str) -> Option<String>);

impl Signatures {
    /// Only the internal action.
    pub fn new() -> Self {
        Signatures::default()
    }

    /// Gives all arguments this sort. `print` normalises its values.
    #[must_use]
    pub fn with_sort(mut self, sort: &'static str, print: fn(&str) -> Option<String>) -> Self {
        self.sort = Some((sort, print));
        self
    }

    /// Adds an action that can occur with this number of arguments.
    pub fn add(&mut self, name: impl Into<String>, arity: usize) {
        self.actions.entry(name.into()).or_default().insert(arity);
    }

    /// Adds an action that can occur with any number of arguments.
    pub fn add_with_any_arity(&mut self, name: impl Into<String>) {
        self.actions.entry(name.into()).or_default().extend([0, ANY_ARITY]);
    }

    /// Adds an action that is declared but cannot occur. Actions that can occur stay possible.
    pub fn add_absent(&mut self, name: impl Into<String>, why: Absence) {
        self.absent.entry(name.into()).or_insert(why);
    }

    /// Adds a label by the names of its actions, in the order of its text. From the first call on,
    /// only added combinations are possible.
    pub fn add_combination(&mut self, names: Vec<String>) {
        self.combinations.get_or_insert_default().insert(names);
    }

    /// Adds a label that can occur, with its actions and their combination.
    pub fn add_label(&mut self, label: &Label) {
        for Action { name, arguments } in &label.actions {
            self.add(name.as_str(), arguments.len());
        }
        self.add_combination(label.actions.iter().map(|action| action.name.clone()).collect());
    }

    /// The actions of a label pattern, if it is clear despite wildcards where each begins and ends.
    /// Names and arguments may have wildcards themselves.
    pub fn actions_of(pattern: &str) -> Vec<Action> {
        Label::parse(pattern).actions
    }

    /// Whether some label matches for some values of its arguments.
    fn fits(&self, pattern: &Pattern) -> bool {
        if pattern.matches(TAU) {
            return true;
        }
        let shapes = |name: &str| -> Vec<Vec<Piece<'_>>> {
            let Some((name, arities)) = self.actions.get_key_value(name) else { return Vec::new() };
            let with = [Piece::Text(name), Piece::Text("("), Piece::Any, Piece::Text(")")];
            let without = arities.contains(&0).then(|| with[..1].to_vec());
            without.into_iter().chain(arities.iter().any(|&arity| arity > 0).then(|| with.to_vec())).collect()
        };
        match &self.combinations {
            None => {
                let all: Vec<Vec<Piece<'_>>> = self.actions.keys().flat_map(|name| shapes(name)).collect();
                let all: Vec<&[Piece<'_>]> = all.iter().map(Vec::as_slice).collect();
                pattern.matches_some_parts(&all, '|')
            }
            Some(combinations) => combinations
                .iter()
                .any(|names| pattern.matches_some(names.iter().map(|name| shapes(name)), '|')),
        }
    }

    fn unknown(&self, name: &str) -> Word {
        // Unused actions would not be better suggestions.
        let absent = self.absent.iter().filter(|(_, why)| **why != Absence::Unused);
        let names = self.actions.keys().chain(absent.map(|(name, _)| name));
        let nearest = nearest(name, names.map(String::as_str)).map(str::to_owned);
        Word::Unknown { name: name.to_owned(), nearest }
    }

    /// The problem with an action of a pattern that is visible from the action alone.
    fn judge(&self, action: &Action) -> Word {
        let pattern = Pattern::new(&action.name);
        let known = self.actions.iter().filter(|(name, _)| pattern.matches(name));
        let arities: BTreeSet<usize> = known.flat_map(|(_, arities)| arities.iter().copied()).collect();
        if arities.is_empty() {
            return if pattern.is_open() { self.unknown(&action.name) } else { self.action(&action.name) };
        }
        let found = action.arguments.len();
        // A wildcard may stand for any number of arguments.
        let counted =
            !pattern.is_open() && !action.arguments.iter().any(|argument| Pattern::new(argument).is_open());
        if counted && !arities.contains(&found) && !arities.contains(&ANY_ARITY) {
            let arities = arities.into_iter().collect();
            return Word::WrongArity { name: action.name.clone(), arities, found };
        }
        let wrong = |(sort, print): Sort| {
            let position = action.arguments.iter().position(|argument| print(argument).is_none())?;
            Some(Word::WrongSort {
                name: action.name.clone(),
                position: position + 1,
                sort: sort.to_owned(),
                argument: action.arguments[position].clone(),
            })
        };
        self.sort.filter(|_| counted).and_then(wrong).unwrap_or(Word::Known)
    }
}

impl Vocabulary for Signatures {
    fn action(&self, name: &str) -> Word {
        if name == TAU || self.actions.contains_key(name) {
            return Word::Known;
        }
        let owned = name.to_owned();
        match self.absent.get(name) {
            Some(Absence::Hidden) => Word::Hidden { name: owned },
            Some(Absence::Blocked) => Word::Blocked { name: owned },
            Some(Absence::NotAllowed) => Word::NotAllowed { name: owned },
            Some(Absence::Unused) => Word::Unused { name: owned },
            None => self.unknown(name),
        }
    }

    fn label(&self, pattern: &str) -> Word {
        let actions = Signatures::actions_of(pattern);
        let closed = !Pattern::new(pattern).is_open();
        let names: Vec<String> = actions.iter().map(|action| action.name.clone()).collect();
        // Without wildcards it is clear where actions begin and end.
        let combined = self.combinations.as_ref().is_none_or(|all| all.contains(&names));
        let fits = self.fits(&Pattern::new(pattern)) && (!closed || combined || actions.is_empty());
        for action in &actions {
            let word = self.judge(action);
            // A label can be any text, and then match although its parts are not actions.
            if !word.is_known() && (!fits || matches!(word, Word::WrongArity { .. } | Word::WrongSort { .. }))
            {
                return word;
            }
        }
        match fits {
            true => Word::Known,
            false if actions.len() > 1 => Word::NotAllowed { name: Label::parse(pattern).name() },
            false if self.actions.contains_key(&Label::parse(pattern).name()) => {
                Word::NotAllowed { name: Label::parse(pattern).name() }
            }
            false => self.unknown(pattern),
        }
    }

    fn normal_form(&self, pattern: &str) -> Option<String> {
        let (_, print) = self.sort?;
        let label = Label::parse(pattern);
        let plain = |text: &String| !Pattern::new(text).is_open();
        if label.actions.iter().any(|action| !plain(&action.name)) {
            return None;
        }
        let argument = |text: &String| {
            Some(text).filter(|text| plain(text)).and_then(|text| print(text)).unwrap_or_else(|| text.clone())
        };
        let action = |Action { name, arguments }: &Action| {
            let arguments: Vec<String> = arguments.iter().map(argument).collect();
            if arguments.is_empty() { name.clone() } else { format!("{name}({})", arguments.join(", ")) }
        };
        let normal = label.actions.iter().map(action).collect::<Vec<_>>().join("|");
        let changed = !label.actions.is_empty() && Pattern::new(&normal) != Pattern::new(pattern);
        changed.then_some(normal)
    }

    fn argument(&self, action: &str, position: usize) -> Word {
        let word = self.action(action);
        match self.actions.get(action) {
            Some(arities) if arities.iter().all(|&arity| arity < position) => Word::WrongArity {
                name: action.to_owned(),
                arities: arities.iter().copied().collect(),
                found: position,
            },
            _ => word,
        }
    }

    fn names(&self) -> Vec<&str> {
        self.actions.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Signatures {
        let mut signatures = Signatures::new();
        for (name, arity) in [("send", 2), ("log", 0), ("log", 1), ("stop", 0)] {
            signatures.add(name, arity);
        }
        signatures.add_absent("receive", Absence::Hidden);
        signatures.add_absent("read", Absence::Blocked);
        signatures.add_absent("write", Absence::NotAllowed);
        signatures.add_absent("later", Absence::Unused);
        signatures
    }

    fn unknown(name: &str, nearest: Option<&str>) -> Word {
        Word::Unknown { name: name.into(), nearest: nearest.map(str::to_owned) }
    }

    fn arity(name: &str, arities: &[usize], found: usize) -> Word {
        Word::WrongArity { name: name.into(), arities: arities.to_vec(), found }
    }

    #[test]
    fn actions_by_name() {
        let signatures = sample();
        for name in ["send", "log", "stop", "tau"] {
            assert_eq!(signatures.action(name), Word::Known);
        }
        assert_eq!(signatures.action("sedn"), unknown("sedn", Some("send")));
        assert_eq!(signatures.action("zzzzzz"), unknown("zzzzzz", None));
        assert_eq!(signatures.action("receive"), Word::Hidden { name: "receive".into() });
        assert_eq!(signatures.action("read"), Word::Blocked { name: "read".into() });
        assert_eq!(signatures.action("write"), Word::NotAllowed { name: "write".into() });
        assert_eq!(signatures.action("later"), Word::Unused { name: "later".into() });
        assert_eq!(signatures.argument("send", 2), Word::Known);
        assert_eq!(signatures.argument("send", 3), arity("send", &[2], 3));
        assert_eq!(signatures.argument("sedn", 1), unknown("sedn", Some("send")));
    }

    #[test]
    fn labels_by_pattern() {
        let signatures = sample();
        for pattern in [
            "send(1, 2)",
            "send(7,[1,2])",
            "send(*)",
            "send(3,*)",
            "*",
            "se*",
            "?og",
            "log",
            "log(x)",
            "tau",
            "t*u",
            "stop|log",
            "send(1,2)|stop",
            "*(1,2)",
            "send(f(1,2), {3})",
            "*|stop",
            "send(?,?)",
        ] {
            assert_eq!(signatures.label(pattern), Word::Known, "{pattern}");
        }
        assert_eq!(signatures.label("send(1)"), arity("send", &[2], 1));
        assert_eq!(signatures.label("send"), arity("send", &[2], 0));
        assert_eq!(signatures.label("stop(1)"), arity("stop", &[0], 1));
        assert_eq!(signatures.label("log(1,2)"), arity("log", &[0, 1], 2));
        assert_eq!(signatures.label("sned(1,2)"), unknown("sned", Some("send")));
        assert_eq!(signatures.label("stop|sned(1,2)"), unknown("sned", Some("send")));
        assert_eq!(signatures.label("x*"), unknown("x*", None));
        assert_eq!(signatures.label("receive(*)"), Word::Hidden { name: "receive".into() });
        assert_eq!(signatures.label("C(3)"), unknown("C", None));
        assert_eq!(signatures.label("send(1,2"), unknown("send(1,2", None));
    }

    #[test]
    fn any_number_of_arguments() {
        let mut signatures = Signatures::new();
        signatures.add_with_any_arity("lock");
        for pattern in ["lock", "lock(1)", "lock(main.0, mutex 2, bank.c:31)", "*mutex*"] {
            assert_eq!(signatures.label(pattern), Word::Known, "{pattern}");
        }
        assert_eq!(signatures.argument("lock", 9), Word::Known);
        assert_eq!(signatures.label("lokc(1)"), unknown("lokc", Some("lock")));
    }

    #[test]
    fn arguments_of_one_sort() {
        let mut signatures =
            Signatures::new().with_sort("number", |text| Some(text.parse::<u64>().ok()?.to_string()));
        signatures.add("send", 2);
        for pattern in ["send(1,2)", "send(100,*)", "send(x,*)", "*"] {
            assert_eq!(signatures.label(pattern), Word::Known, "{pattern}");
        }
        let (name, sort, argument) = ("send".to_owned(), "number".to_owned(), "x".to_owned());
        assert_eq!(signatures.label("send(1,x)"), Word::WrongSort { name, position: 2, sort, argument });
        assert_eq!(signatures.normal_form("send(01,*)").as_deref(), Some("send(1, *)"));
        for pattern in ["send(1,2)", "s*(01,2)", "*", "tau", "send(0?,1)"] {
            assert_eq!(signatures.normal_form(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn only_combinations_that_are_allowed() {
        let mut signatures = sample();
        signatures.add_combination(vec!["send".into(), "log".into()]);
        signatures.add_combination(vec!["stop".into()]);
        for pattern in ["send(1,2)|log", "send(1,2)|log(3)", "stop", "*log*", "tau"] {
            assert_eq!(signatures.label(pattern), Word::Known, "{pattern}");
        }
        assert_eq!(signatures.label("send(1,2)"), Word::NotAllowed { name: "send".into() });
        assert_eq!(signatures.label("stop|log"), Word::NotAllowed { name: "stop|log".into() });
        assert_eq!(signatures.action("send"), Word::Known, "among others");
        signatures.add_combination(vec!["send".into()]);
        assert_eq!(signatures.label("send(1,2)|stop"), Word::NotAllowed { name: "send|stop".into() });
        assert_eq!(signatures.label("send(1,2)"), Word::Known);
    }
}
