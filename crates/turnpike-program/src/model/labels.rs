//! Labels, interned: the same step has the same label in every explorer, whatever the order in
//! which steps were met.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::{Label, LabelId};
use turnpike_scheduler::{Choice, Execution, Executor, Kind, ObjectId, ThreadId};

use crate::texts;
use crate::words::names_thread;

/// What makes a step the same step in another execution.
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
            // Other arguments are values or addresses: nothing that a label shows.
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
    fn intern(&self, label: Label) -> LabelId {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = ids.get(&label.text) {
            return id;
        }
        let text = label.text.clone();
        let id = LabelId(self.labels.push(label) as u32);
        ids.insert(text, id);
        id
    }

    /// The label behind an id.
    pub(super) fn get(&self, id: LabelId) -> Label {
        self.labels.get(id.index()).cloned().unwrap_or_else(|| Label::parse("unknown"))
    }
}

/// One explorer's short way to the ids of labels: most steps were met before, and need not be put
/// into words again.
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
