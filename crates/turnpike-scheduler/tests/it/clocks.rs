//! What a thread knows of other threads' steps.

use crate::common::op;
use turnpike_scheduler::{
    Execution, Kernel, Kind, Next, Object, ObjectId, Operation, Plan, Policy, Site, ThreadId,
};

/// What thread 0 knows of its child's steps after both performed one operation on an object, the child first; and what
/// it knows when it has joined the child, which yields once more and ends.
fn after(object: Object, child: Kind, main: Kind) -> (u32, u32) {
    let mut kernel = Kernel::new();
    kernel.keep_clocks(true);
    // The child's operation, then its yield: each the second choice, but where nothing can be received yet.
    let prefix = [u32::from(main != Kind::Receive), 1];
    kernel.begin(&Plan { policy: Policy::Continue, ..Plan::new(&prefix) });
    let id = kernel.register(object, 0, Site(0));
    let one = kernel.spawn(Site(0));
    assert_eq!(kernel.clock(), [2], "the creation is known");
    assert_eq!(kernel.announce(op(child, id)), Next::Run(ThreadId(0)));
    let own = kernel.clock()[0];
    assert_eq!(kernel.announce(op(main, id)), Next::Run(one), "{child:?} {main:?}");
    assert_eq!(kernel.clock()[1], 1);
    assert_eq!(kernel.announce(op(Kind::Yield, ObjectId::NONE)), Next::Run(one));
    assert_eq!(kernel.end_thread(), Next::Run(ThreadId(0)));
    assert!(kernel.clock()[0] > own);
    let seen = kernel.clock().get(1).copied().unwrap_or(0);
    let join = Operation { argument: 1, ..op(Kind::Join, ObjectId::NONE) };
    assert_eq!(kernel.announce(join), Next::Run(ThreadId(0)));
    (seen, kernel.clock()[1])
}

#[test]
fn acquiring_learns_what_was_released() {
    let memory = Object::Memory;
    let semaphore = Object::Semaphore { value: 1 };
    for (object, child, main, seen) in [
        (memory, Kind::Store, Kind::Load, 1),
        (memory, Kind::Update, Kind::Update, 1),
        (memory, Kind::Load, Kind::Store, 0),
        (memory, Kind::Store, Kind::Store, 0),
        (memory, Kind::Write, Kind::Read, 0),
        (memory, Kind::Read, Kind::Write, 0),
        (memory, Kind::Write, Kind::Write, 0),
        (semaphore, Kind::SemPost, Kind::SemWait, 1),
        (semaphore, Kind::SemWait, Kind::SemPost, 0),
        (semaphore, Kind::SemPost, Kind::SemGet, 0),
        (Object::RwLock, Kind::ReadLock, Kind::ReadLock, 0),
        (Object::Queue { capacity: 4 }, Kind::Send, Kind::Receive, 1),
    ] {
        // Joining always teaches two steps and the end.
        assert_eq!(after(object, child, main), (seen, 3), "{child:?} {main:?}");
    }
}

#[test]
fn clocks_that_are_not_kept_are_empty() {
    let mut kernel = Kernel::new();
    kernel.keep_clocks(true);
    let plan = Plan { policy: Policy::First, ..Plan::new(&[]) };
    kernel.begin(&plan);
    kernel.keep_clocks(false);
    assert!(!kernel.clock().is_empty(), "only from the next execution on");
    kernel.finish(&mut Execution::default());
    kernel.begin(&plan);
    assert!(kernel.clock().is_empty());
}
