//! What executions teach about a program, shared by all its executors: its racy code locations, and
//! where it hangs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use turnpike_scheduler::{Executor, GuestError};

use super::{NativeExecutor, NativeProgram};
use crate::discover::{Discovered, discover};

/// A program, and what trial executions found in it.
type Found = (String, Discovered);

/// What executions taught about a program; clones share it. Code locations that race are found by
/// the first [`NativeProgram::launch`].
#[derive(Clone, Debug, Default)]
pub struct RacySites {
    found: Arc<Mutex<Vec<Found>>>,
    hangs: Arc<Mutex<Vec<Moment>>>,
    /// Executions that were ended because they hung.
    ended: Arc<AtomicU32>,
}

/// How far an execution has come: announcements, and the fingerprint then.
pub(super) type Moment = (u64, u128);

impl RacySites {
    /// Whether an execution that had come this far hung. Then it hangs there every time.
    pub(super) fn hung(&self, moment: Moment) -> bool {
        self.hangs.lock().unwrap_or_else(PoisonError::into_inner).contains(&moment)
    }

    /// Notes that an execution hung there.
    pub(super) fn note_hang(&self, moment: Moment) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        let mut hangs = self.hangs.lock().unwrap_or_else(PoisonError::into_inner);
        if !hangs.contains(&moment) && hangs.len() < 1_000 {
            hangs.push(moment);
        }
    }

    /// How many executions were ended because they hung.
    pub(super) fn ended(&self) -> u32 {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Makes accesses at racy code locations steps of this executor. Finds them if that was not done
/// yet.
pub(super) fn find(program: &NativeProgram, executor: &mut NativeExecutor) -> Result<(), GuestError> {
    let NativeProgram { path, arguments, environment, threads, visibility, .. } = program;
    let key = format!("{path:?} {arguments:?} {environment:?} {threads:?} {visibility:?}");
    // Other executors wait here for the result.
    let mut known = program.racy.found.lock().unwrap_or_else(PoisonError::into_inner);
    let found = match known.iter().find(|(same, _)| *same == key) {
        Some((_, found)) => found.clone(),
        None => {
            let found = discover(|sites, audit, plan, out| {
                executor.set_racy_sites(sites);
                executor.set_audit(audit);
                executor.run(plan, out)
            });
            executor.set_audit(false);
            let found = found?;
            known.push((key, found.clone()));
            found
        }
    };
    executor.set_racy_sites(&found.sites);
    executor.note_unreported(&found.unreported);
    Ok(())
}
