//! Reads the plan from the shared memory, and writes the record of the execution there.

use alloc::format;
use core::sync::atomic::Ordering;

use turnpike_scheduler::{Detail, End, Execution, Failure, FailureKind};

use crate::protocol::PLAN_AT;
use crate::wire::OwnedPlan;
use crate::{context, control, memory, modules, tape};

/// Touches memory that every execution needs, once, in the fork server.
pub(crate) fn prepare() {
    control::threads(|threads| threads.reserve(16));
}

/// Begins the execution that the shared memory asks for.
pub(crate) fn begin() {
    let header = control::header();
    let base = state_base();
    let Some(owned) = asked() else { panic!("the plan cannot be read") };
    let plan = owned.plan();
    control::DETAIL.set(plan.detail);
    header.steps.store(0, Ordering::Relaxed);
    header.progress.store(0, Ordering::Relaxed);
    // SAFETY: the host has put the list of sites there, aligned, and waits.
    let racy = unsafe {
        let at = base.add((PLAN_AT + header.plan_length as usize + 7) & !7);
        core::slice::from_raw_parts(at as *const u64, header.racy_sites as usize)
    };
    memory::begin(header.memory_level, racy);
    crate::audit::begin(header.audit != 0);
    control::kernel(|kernel| kernel.begin(&plan));
}

/// Goes on with the execution that the shared memory asks for now. It begins with the steps that
/// were taken already.
#[cfg(target_arch = "x86_64")]
pub(crate) fn follow_another() {
    let Some(owned) = asked() else { panic!("the plan cannot be read") };
    control::kernel(|kernel| kernel.follow_another(&owned.plan()));
}

/// The plan in the shared memory.
fn asked() -> Option<OwnedPlan> {
    let length = control::header().plan_length as usize;
    // SAFETY: the host has written the plan and waits.
    OwnedPlan::decode(unsafe { core::slice::from_raw_parts(state_base().add(PLAN_AT), length) })
}

fn state_base() -> *mut u8 {
    control::shared() as *mut u8
}

/// Writes the record of the execution, which is over.
pub(crate) fn end() {
    modules::note_new();
    let mut execution = Execution::default();
    let exit = control::kernel(|kernel| {
        let exit = control::EXITS
            .with(|exits| exits.iter().find(|exit| kernel.ended(exit.thread)).or(exits.first()).copied());
        kernel.finish(&mut execution);
        exit
    });
    if let Some(exit) = exit {
        // The kernel knows that the process ended, not how.
        if execution.end == End::Finished && exit.status != 0 {
            let message = format!("exited with status {}", exit.status);
            let failure = Failure { kind: FailureKind::Crash, message, thread: exit.thread, site: exit.site };
            execution.end = End::Failed(failure);
        }
    }
    execution.values = crate::values::take();
    if control::ABANDONED.load(Ordering::Relaxed) && matches!(execution.end, End::Deadlock | End::Livelock) {
        execution.end = End::Finished;
    }
    if crate::timers::is_expected() && matches!(execution.end, End::Deadlock | End::Livelock) {
        execution.end = End::Hung;
    }
    if execution.end == End::Livelock && control::WAITING_OUTSIDE.load(Ordering::Relaxed) > 0 {
        execution.end = End::Hung;
    }
    let header = control::header();
    // SAFETY: the tape is the guest's until the host has been answered.
    let out = unsafe {
        core::slice::from_raw_parts_mut(
            state_base().add(header.tape_at as usize),
            header.tape_length as usize,
        )
    };
    let full = control::DETAIL.get() > Detail::Positions;
    let mut length =
        control::DECLARED.with(|declared| tape::write(&execution, declared, full, out)).unwrap_or(0);
    if length > 0 && (control::DETAIL.get() == Detail::Stacks || execution.end == End::Hung) {
        length += context::write(&mut out[length..]);
    }
    header.tape_used.store(length as u64, Ordering::Release);
}
