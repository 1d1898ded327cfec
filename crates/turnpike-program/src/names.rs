//! Numbers of objects that have no names: the same in every execution.
//!
//! The scheduler numbers what has no name in the order in which an execution meets it, so that one
//! schedule's `mutex 0` is another's `mutex 1`. Here objects keep the numbers of the first
//! executions of a program; others are named by a part of their hash.

use rustc_hash::FxHashMap;
use turnpike_scheduler::Execution;

/// Names of objects by their hash.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: FxHashMap<u64, String>,
    /// How many objects of each kind were numbered so far.
    counts: FxHashMap<String, u32>,
}

impl Names {
    /// Learns the objects of an execution with full detail.
    pub(crate) fn learn(&mut self, execution: &Execution) {
        for object in &execution.objects {
            let Some(kind) = numbered(&object.name) else { continue };
            if !self.known.contains_key(&object.name_hash) {
                let count = self.counts.entry(kind.to_owned()).or_default();
                self.known.insert(object.name_hash, format!("{kind} {count}"));
                *count += 1;
            }
        }
    }

    /// Gives the objects of an execution their names.
    pub(crate) fn apply(&self, execution: &mut Execution) {
        for object in &mut execution.objects {
            let Some(kind) = numbered(&object.name) else { continue };
            match self.known.get(&object.name_hash) {
                Some(name) if *name == object.name => {}
                Some(name) => object.name.clone_from(name),
                None => object.name = format!("{kind} {:04x}", object.name_hash & 0xffff),
            }
        }
    }
}

/// The kind in a name that the scheduler made: `mutex 2`.
fn numbered(name: &str) -> Option<&str> {
    const KINDS: [&str; 10] =
        ["mutex", "rwlock", "condvar", "semaphore", "barrier", "once", "queue", "memory", "futex", "region"];
    // What futures wait for: the Rust runtime numbers it in the same way.
    const ASYNC: [&str; 10] = [
        "task",
        "async mutex",
        "async rwlock",
        "notify",
        "async barrier",
        "channel",
        "oneshot",
        "broadcast",
        "watch",
        "async semaphore",
    ];
    let (kind, number) = name.rsplit_once(' ')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (KINDS.contains(&kind) || ASYNC.contains(&kind))).then_some(kind)
}

#[cfg(test)]
mod tests {
    use turnpike_scheduler::{Object, ObjectRecord, Site};

    use super::*;

    fn execution(objects: &[(&str, u64)]) -> Execution {
        let record = |&(name, name_hash): &(&str, u64)| ObjectRecord {
            name: name.to_owned(),
            name_hash,
            object: Object::Condvar,
            site: Site(0),
            created: true,
        };
        Execution { objects: objects.iter().map(record).collect(), ..Execution::default() }
    }

    #[test]
    fn numbers_do_not_depend_on_the_order_of_registration() {
        let mut names = Names::default();
        names.learn(&execution(&[("mutex 0", 70), ("mutex 1", 80), ("condvar 0", 90), ("bank.lock", 91)]));
        names.learn(&execution(&[("mutex 0", 80), ("mutex 1", 71)]));
        let mut other =
            execution(&[("mutex 0", 71), ("mutex 1", 80), ("bank.lock", 91), ("mutex 2", 0xabcde)]);
        names.apply(&mut other);
        let told: Vec<&str> = other.objects.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(told, ["mutex 2", "mutex 1", "bank.lock", "mutex bcde"]);
    }
}
