//! What makes two failures the same: the kind, the place and the message; for deadlocks, which
//! thread waits for what.
//!
//! The form for users has kinds and places in the source: `deadlock@bank.c:31+bank.c:44`. It does
//! not depend on schedules, seeds or addresses, and can be typed.

use turnpike_model::{Diagnostic, ViolationKind, hash};
use turnpike_scheduler::{Choice, End, Execution, Executor, Finding, Kind, ObjectId, Site};

use crate::paths::violation_kind;
use crate::texts;

/// The kind of error that is not a violation.
const DEADLOCK: &str = "deadlock";

/// Rejects a text that cannot be a signature.
pub fn check_signature(text: &str) -> Result<(), Diagnostic> {
    let kinds = || ViolationKind::ALL.iter().map(|kind| kind.keyword()).chain([DEADLOCK]);
    let known = |word: &str| kinds().any(|kind| kind == word);
    match text.split_once('@') {
        Some((kind, places)) if known(kind) && !places.is_empty() => Ok(()),
        Some((kind, places)) if !places.is_empty() => {
            let message = format!("`{kind}` is not a kind of error, so `{text}` is not a signature");
            Err(Diagnostic::error(message).suggest(kind, kinds()))
        }
        _ => Err(Diagnostic::error(format!("`{text}` is not a signature"))
            .help("signatures are printed with what is found, such as deadlock@bank.c:31+bank.c:44")),
    }
}

/// The signature of how an execution ended, if that is an error. Executions that are stuck must be
/// recorded with full detail.
pub(crate) fn end_signature(execution: &Execution, executor: &mut dyn Executor) -> Option<String> {
    let kind = match &execution.end {
        End::Failed(failure) => {
            // Without a place, the message distinguishes errors.
            let said = || format!("{:08x}", hash::bytes(failure.message.as_bytes()) as u32);
            let place = place(executor, failure.site).unwrap_or_else(said);
            return Some(join(violation_kind(failure.kind).keyword(), vec![place]));
        }
        End::Deadlock => DEADLOCK,
        End::Livelock => ViolationKind::Livelock.keyword(),
        End::Hung => ViolationKind::Hang.keyword(),
        _ => return None,
    };
    Some(join(kind, waiting_places(execution, executor)))
}

/// The signature of a finding, if it is an error. Leaks need an execution with full detail.
pub(crate) fn finding_signature(
    execution: &Execution,
    finding: &Finding,
    executor: &mut dyn Executor,
) -> Option<String> {
    match finding {
        Finding::Race { first, second, .. } => {
            let places = [*first, *second].into_iter().filter_map(|site| place(executor, site)).collect();
            Some(join(ViolationKind::Race.keyword(), places))
        }
        Finding::Leak(thread) => {
            Some(join(ViolationKind::Leak.keyword(), vec![word(&texts::thread(execution, *thread))]))
        }
        Finding::Uncontrolled(_) | Finding::Reuse { .. } => None,
    }
}

/// The signatures of all errors that an execution shows and that are not suppressed.
pub(crate) fn signatures(execution: &Execution, executor: &mut dyn Executor) -> Vec<String> {
    let mut found = Vec::new();
    if !execution.end_is_suppressed {
        found.extend(end_signature(execution, executor));
    }
    let findings = execution.findings.iter();
    found.extend(findings.filter_map(|finding| finding_signature(execution, finding, executor)));
    let mut distinct: Vec<String> = Vec::new();
    for signature in found {
        if !distinct.contains(&signature) {
            distinct.push(signature);
        }
    }
    distinct
}

/// Where the threads that have not ended are, or their names. Those that wait for the end of others
/// add nothing.
fn waiting_places(execution: &Execution, executor: &mut dyn Executor) -> Vec<String> {
    let left = execution.threads.iter().filter(|thread| !thread.ended);
    let waiting: Vec<(&str, &Choice)> =
        left.filter_map(|thread| Some((thread.name.as_str(), &thread.waits.as_ref()?.0))).collect();
    let joins = |choice: &Choice| choice.kind == Kind::Join;
    let all_join = waiting.iter().all(|(_, choice)| joins(choice));
    let telling = waiting.iter().filter(|(_, choice)| all_join || !joins(choice));
    telling
        .map(|(name, choice)| place_of(execution, choice, executor).unwrap_or_else(|| word(name)))
        .collect()
}

fn place_of(execution: &Execution, choice: &Choice, executor: &mut dyn Executor) -> Option<String> {
    texts::place_in(execution, choice.thread, choice.site, executor).map(|place| word(&place))
}

fn place(executor: &mut dyn Executor, site: Site) -> Option<String> {
    texts::place(executor, site).map(|place| word(&place))
}

/// A text without spaces.
fn word(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("_")
}

fn join(kind: &str, mut places: Vec<String>) -> String {
    places.sort();
    places.dedup();
    if places.is_empty() {
        places.push("unknown".to_owned());
    }
    format!("{kind}@{}", places.join("+"))
}

/// A number that distinguishes errors, independent of the schedule. Executions must be recorded
/// with full detail.
pub(crate) fn signature(execution: &Execution) -> u64 {
    let name = |thread: u32| execution.threads.get(thread as usize).map_or(0, |thread| thread.name_hash);
    let mut parts: Vec<u64> = Vec::new();
    match &execution.end {
        End::Failed(failure) => {
            parts.extend([1, failure.kind as u64, failure.site.0, hash::bytes(failure.message.as_bytes())]);
        }
        End::Deadlock | End::Livelock | End::Hung => {
            parts.push(match execution.end {
                End::Deadlock => 2,
                End::Livelock => 3,
                _ => 4,
            });
            let object = |id: ObjectId| match execution.objects.get(id.0 as usize) {
                Some(object) => object.name_hash,
                None => u64::from(id == ObjectId::NONE),
            };
            let mut blocked: Vec<u64> = Vec::new();
            for thread in execution.threads.iter().filter(|thread| !thread.ended) {
                if let Some((choice, _)) = &thread.waits {
                    let what = [thread.name_hash, choice.kind as u64, object(choice.object)];
                    blocked.push(hash::of(&what));
                }
            }
            blocked.sort_unstable();
            parts.extend(blocked);
        }
        _ => {}
    }
    if parts.is_empty() {
        let mut found: Vec<u64> = execution
            .findings
            .iter()
            .filter_map(|finding| match finding {
                Finding::Race { first, second, .. } => {
                    let (low, high) = (first.0.min(second.0), first.0.max(second.0));
                    Some(hash::of(&[5, low, high]))
                }
                Finding::Leak(thread) => Some(hash::of(&[6, name(thread.0)])),
                Finding::Uncontrolled(_) | Finding::Reuse { .. } => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        parts = found;
    }
    hash::of(&parts)
}
