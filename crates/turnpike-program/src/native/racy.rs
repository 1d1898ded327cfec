//! The racy code locations of a program, found once and shared by all that execute it.

use std::sync::{Arc, Mutex, PoisonError};

use turnpike_scheduler::{Executor, GuestError, Site};

use super::{NativeExecutor, NativeProgram};
use crate::discover::discover;

/// A program, and where it races.
type Found = (String, Vec<Site>);

/// Code locations that were found to race; clones share them. Found by the first [`NativeProgram::launch`].
#[derive(Clone, Debug, Default)]
pub struct RacySites(Arc<Mutex<Vec<Found>>>);

/// Makes accesses at racy code locations steps of this executor; finds them if that was not done yet.
pub(super) fn find(program: &NativeProgram, executor: &mut NativeExecutor) -> Result<(), GuestError> {
    let NativeProgram { path, arguments, environment, threads, visibility, .. } = program;
    let key = format!("{path:?} {arguments:?} {environment:?} {threads:?} {visibility:?}");
    // Others who want to know wait here.
    let mut known = program.racy.0.lock().unwrap_or_else(PoisonError::into_inner);
    let sites = match known.iter().find(|(same, _)| *same == key) {
        Some((_, sites)) => sites.clone(),
        None => {
            let found = discover(|sites, plan, out| {
                executor.set_racy_sites(sites);
                executor.run(plan, out)
            })?;
            known.push((key, found.clone()));
            found
        }
    };
    executor.set_racy_sites(&sites);
    Ok(())
}
