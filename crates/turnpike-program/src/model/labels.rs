//! Labels, interned: the same step has the same label in every explorer, whatever the order in
//! which steps were met.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::nearest;
use turnpike_model::label::Action;
use turnpike_model::{Label, LabelId, Pattern, Signatures, Word};
use turnpike_scheduler::{Choice, Execution, Executor, Kind, ObjectId, ThreadId};

use crate::texts;
use crate::words::names_thread;

/// What identifies a step across executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    thread: u64,
    object: u64,
    second: u64,
    argument: u64,
    site: u64,
    alternative: u32,
    kind: Kind,
}

impl Key {
    fn of(execution: &Execution, choice: &Choice) -> Self {
        let thread = |id: ThreadId| execution.threads.get(id.0 as usize).map_or(0, |record| record.name_hash);
        let object = |id: ObjectId| execution.objects.get(id.0 as usize).map_or(0, |record| record.name_hash);
        Key {
            thread: thread(choice.thread),
            object: object(choice.object),
            second: object(choice.second),
            // Other arguments are values or addresses, which labels do not show.
            argument: match choice.kind {
                kind if names_thread(kind) => thread(ThreadId(choice.argument as u32)),
                Kind::NotifyOne if choice.argument != u64::MAX => thread(ThreadId(choice.argument as u32)),
                Kind::Sleep | Kind::Assert | Kind::NotifyOne => choice.argument,
                _ => 0,
            },
            site: choice.site.0,
            alternative: choice.alternative,
            kind: choice.kind,
        }
    }
}

/// The labels of a model.
#[derive(Default)]
pub(super) struct Labels {
    ids: Mutex<FxHashMap<String, LabelId>>,
    labels: boxcar::Vec<Label>,
}

impl Labels {
    pub(super) fn intern(&self, label: Label) -> LabelId {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = ids.get(&label.text) {
            return id;
        }
        let text = label.text.clone();
        let id = LabelId(self.labels.push(label) as u32);
        ids.insert(text, id);
        id
    }

    /// Why no label so far matches a pattern, if it has too few or too many arguments or one of
    /// them occurs nowhere.
    pub(super) fn why_missing(&self, pattern: &str) -> Option<Word> {
        let wanted = Signatures::actions_of(pattern);
        let [Action { name, arguments: wanted }] = wanted.as_slice() else { return None };
        let all: Vec<&Label> = self.labels.iter().map(|(_, label)| label).collect();
        let actions =
            |label: &&Label| label.actions.first().is_some_and(|one| Pattern::new(name).matches(&one.name));
        let alike: Vec<&Label> = all.iter().copied().filter(actions).collect();
        let example = if alike.is_empty() { &all } else { &alike };
        let example = example.iter().map(|label| &label.text).min()?;
        let count = |label: &Label| label.actions.iter().map(|action| action.arguments.len()).sum::<usize>();
        let patterns: Vec<Pattern> = wanted.iter().map(|argument| Pattern::new(argument)).collect();
        let has_star = |pattern: &Pattern| pattern.text().contains('*');
        let found = patterns.len();
        if !alike.is_empty()
            && !patterns.iter().any(has_star)
            && !alike.iter().any(|label| count(label) == found)
        {
            let arities: BTreeSet<usize> = alike.iter().map(|label| count(label)).collect();
            return Some(Word::WrongArity {
                name: name.clone(),
                arities: arities.into_iter().collect(),
                found,
            });
        }
        let arguments: Vec<&[String]> =
            all.iter().flat_map(|label| &label.actions).map(|action| action.arguments.as_slice()).collect();
        for (index, pattern) in patterns.iter().enumerate() {
            // A star may stand for several arguments.
            let from_start = !patterns[..index].iter().any(has_star);
            let from_end = !patterns[index + 1..].iter().any(has_star);
            let fits = |at: Option<usize>, all: &&[String]| {
                at.and_then(|at| all.get(at)).is_some_and(|argument| pattern.matches(argument))
            };
            let occurs = |all: &&[String]| match has_star(pattern) {
                true => Pattern::new(&format!("*{pattern}*")).matches(&all.join(",")),
                false => all.iter().any(|argument| pattern.matches(argument)),
            };
            let is_there = |all: &&[String]| {
                from_start && fits(Some(index), all)
                    || from_end && fits((all.len() + index).checked_sub(found), all)
                    || (has_star(pattern) || !from_start && !from_end) && occurs(all)
            };
            if arguments.iter().any(is_there) {
                continue;
            }
            let mut names: Vec<&str> = arguments.iter().copied().flatten().map(String::as_str).collect();
            names.sort_unstable();
            let near = nearest(pattern.text(), names).map(|near| format!("did you mean `{near}`?"));
            let (problem, help) = match arguments.iter().any(occurs) {
                true => ("no step has it at that position", None),
                false => ("no step has it", near),
            };
            return Some(Word::BadArgument {
                name: name.clone(),
                position: index + 1,
                argument: pattern.text().to_owned(),
                problem: problem.to_owned(),
                help: Some(help.unwrap_or_else(|| format!("a label of this program is `{example}`"))),
            });
        }
        None
    }

    /// The label of an id.
    pub(super) fn get(&self, id: LabelId) -> Label {
        self.labels.get(id.index()).cloned().unwrap_or_else(|| Label::parse("unknown"))
    }
}

/// One explorer's cache of label ids: most steps were met before, and need not be formatted again.
#[derive(Default)]
pub(super) struct KnownLabels {
    known: FxHashMap<Key, LabelId>,
}

impl KnownLabels {
    pub(super) fn label(
        &mut self,
        labels: &Labels,
        execution: &Execution,
        choice: &Choice,
        executor: &mut dyn Executor,
    ) -> LabelId {
        let key = Key::of(execution, choice);
        *self.known.entry(key).or_insert_with(|| labels.intern(texts::label(execution, choice, executor)))
    }
}
