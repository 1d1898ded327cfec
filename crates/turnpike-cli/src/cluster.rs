//! The part that this process has in a search by several processes.

use std::sync::OnceLock;

use turnpike_session::cluster::{
    Identity, Joined, Membership, identity_of, source_identity, with_checkpoints,
};
use turnpike_session::{Checkpoints, Search, Session};

use crate::failure::Outcome;
use crate::output::{self, VERSION, interrupt};

static MEMBERSHIP: OnceLock<Membership> = OnceLock::new();
/// The words that start the processes, before those of what they do.
static LAUNCH: OnceLock<Vec<String>> = OnceLock::new();

/// From now on this process is one of several, which `launch` starts. All but process 0 print errors only.
pub(crate) fn become_member(membership: Membership, launch: Vec<String>) {
    let _ = LAUNCH.set(launch);
    if membership.process > 0 {
        output::mute();
    }
    let _ = MEMBERSHIP.set(membership);
}

/// Whether this process is one of several.
pub(crate) fn is_member() -> bool {
    MEMBERSHIP.get().is_some()
}

/// The words that start the processes again; none for a process on its own.
pub(crate) fn launch_words() -> &'static [String] {
    LAUNCH.get().map_or(&[], Vec::as_slice)
}

/// Whether another process prints and writes the results.
pub(crate) fn is_silent() -> bool {
    MEMBERSHIP.get().is_some_and(|membership| membership.process > 0)
}

/// Whether an error is one that process 0 meets, too, and reports to the same user.
pub(crate) fn is_said_by_another() -> bool {
    output::is_mute() && MEMBERSHIP.get().is_some_and(|membership| membership.neighbours > 1)
}

/// Joins the other processes, if there are any, to make this search of a model.
pub(crate) fn join_search(
    session: &Session,
    search: &Search,
    checkpoints: &Checkpoints,
) -> Outcome<Option<Joined>> {
    if !is_member() {
        return Ok(None);
    }
    join(&with_checkpoints(identity_of(VERSION, session, search)?, checkpoints))
}

/// Joins the other processes, if there are any, to do `what` with a model.
pub(crate) fn join_to(session: &Session, what: &str, checkpoints: &Checkpoints) -> Outcome<Option<Joined>> {
    if !is_member() {
        return Ok(None);
    }
    let identity = source_identity(VERSION, session)?.with("command", what);
    join(&with_checkpoints(identity, checkpoints))
}

fn join(identity: &Identity) -> Outcome<Option<Joined>> {
    let Some(membership) = MEMBERSHIP.get() else { return Ok(None) };
    let note = |note: &turnpike_session::cluster::Note| output::error_note(&format!("note: {note}"));
    let joined = membership.join(identity, &note, &interrupt::shared());
    if joined.is_err() {
        // Whatever it is, it concerns this process.
        output::unmute();
    }
    Ok(Some(joined?))
}

/// Leaves the other processes, and says which one was lost. Whether one was.
pub(crate) fn leave(joined: Option<Joined>) -> bool {
    let Some(joined) = joined else { return false };
    let lost = joined.lost();
    if let Some(lost) = &lost {
        let number = MEMBERSHIP.get().map_or(0, |membership| membership.process);
        output::error_note(&format!("process {number}: {lost}"));
    }
    joined.leave();
    lost.is_some()
}
