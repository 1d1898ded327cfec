//! What makes two failures the same: the kind, the place and the message; for deadlocks, who waits
//! for what.

use turnpike_model::hash;
use turnpike_scheduler::{End, Execution, Finding, ObjectId};

/// Tells errors apart, whatever the schedule. Executions must be recorded with full detail.
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
