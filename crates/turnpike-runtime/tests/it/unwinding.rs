//! Panics, destructors, and executions that are cut short.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize as Plain;

use crate::common::{all, all_with, once};
use turnpike_runtime::sync::atomic::{AtomicUsize, Ordering};
use turnpike_runtime::sync::mpsc::channel;
use turnpike_runtime::sync::{Arc, Condvar, Mutex, RwLock};
use turnpike_runtime::{Guest, GuestOptions, Panics, thread};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

/// A pool whose destructor stops and joins its threads.
struct Pool {
    work: Option<turnpike_runtime::sync::mpsc::Sender<u32>>,
    handle: Option<thread::JoinHandle<u32>>,
}

impl Pool {
    fn new() -> Self {
        let (work, receiver) = channel();
        let handle = thread::spawn(move || receiver.iter().sum());
        Pool { work: Some(work), handle: Some(handle) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.work.take();
        let _ = self.handle.take().unwrap().join();
    }
}

#[test]
fn destructors_may_join_and_lock_while_a_thread_unwinds() {
    let ends = all(|| {
        let pool = Pool::new();
        pool.work.as_ref().unwrap().send(1).unwrap();
        panic!("with a pool");
    });
    for end in ends {
        assert!(matches!(&end, End::Failed(failure) if failure.message == "with a pool"), "{end:?}");
    }
}

#[test]
fn executions_are_cut_anywhere_and_leave_nothing() {
    static LIVE: Plain = Plain::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::SeqCst);
        }
    }
    fn counted() -> Counted {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Counted
    }
    for max_steps in 0..14 {
        let ends = all_with(GuestOptions::default(), Plan { max_steps, ..Plan::new(&[]) }, || {
            let _one = counted();
            let pool = Pool::new();
            let shared = Arc::new((Mutex::new(counted()), Condvar::new(), RwLock::new(counted())));
            let other = shared.clone();
            let handle = thread::spawn(move || {
                let guard = other.0.lock().unwrap();
                let _read = other.2.read().unwrap();
                let _guard = other.1.wait(guard).unwrap();
            });
            pool.work.as_ref().unwrap().send(1).unwrap();
            drop(shared.0.lock().unwrap());
            shared.1.notify_all();
            let _ = handle;
        });
        assert!(!ends.is_empty());
        assert_eq!(LIVE.load(Ordering::SeqCst), 0, "after {max_steps} steps");
    }
}

#[test]
fn a_panic_in_a_destructor_is_a_failure_too() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let (execution, _) = once(Policy::First, || drop(Bad));
    assert!(matches!(&execution.end, End::Failed(failure) if failure.message == "in a destructor"));
}

#[test]
fn a_destructor_may_catch_its_own_panic_while_its_thread_unwinds() {
    struct Careful(Arc<Mutex<u32>>);
    impl Drop for Careful {
        fn drop(&mut self) {
            let _ = catch_unwind(AssertUnwindSafe(|| panic!("inner")));
            *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
        }
    }
    let (execution, mut guest) = once(Policy::First, || {
        let _careful = Careful(Arc::new(Mutex::new(0)));
        panic!("outer");
    });
    assert!(matches!(execution.end, End::Failed(_)));
    assert_eq!(*guest.take_payload().unwrap().downcast_ref::<&str>().unwrap(), "outer");
}

#[test]
fn a_destructor_that_waits_for_ever_costs_its_thread_only() {
    struct Stuck(Arc<(Mutex<bool>, Condvar)>);
    impl Drop for Stuck {
        fn drop(&mut self) {
            // It is never set.
            let mut done = self.0.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            while !*done {
                done = self.0.1.wait(done).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
    }
    let body = || {
        let stuck = Stuck(Arc::new((Mutex::new(false), Condvar::new())));
        let count = Arc::new(AtomicUsize::new(0));
        let other = count.clone();
        let handle = thread::spawn(move || other.fetch_add(1, Ordering::SeqCst));
        handle.join().unwrap();
        let _ = &stuck;
        panic!("with something stuck");
    };
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    for round in 1..=3 {
        let plan = Plan { policy: Policy::First, ..Plan::new(&[]) };
        guest.run(&plan, &mut execution).unwrap();
        assert!(
            matches!(&execution.end, End::Failed(failure) if failure.message == "with something stuck"),
            "{:?}",
            execution.end
        );
        assert_eq!(guest.forgotten_threads(), round);
    }
}

#[test]
fn panics_are_silent_and_others_are_not_disturbed() {
    // Two OS threads execute failing programs at once, while a third panics on its own.
    let failing = || {
        for seed in 0..200 {
            let (execution, _) = once(Policy::Uniform { seed }, || {
                let handle = thread::spawn(|| panic!("inside"));
                let _ = handle.join();
            });
            assert!(matches!(&execution.end, End::Failed(failure) if failure.message == "inside"));
        }
    };
    let (one, two) = (std::thread::spawn(failing), std::thread::spawn(failing));
    let outside =
        std::thread::spawn(|| catch_unwind(|| panic!("expected in the output of this test")).is_err());
    assert!(outside.join().unwrap());
    one.join().unwrap();
    two.join().unwrap();
}

#[test]
fn backtraces_on_request() {
    let mut options = GuestOptions::default();
    options.backtraces = true;
    let mut guest = Guest::new(|| panic!("traced"), options);
    let mut execution = Execution::default();
    guest.run(&Plan { policy: Policy::First, ..Plan::new(&[]) }, &mut execution).unwrap();
    assert!(guest.backtrace().unwrap().contains("backtraces_on_request"));
}

#[test]
fn statics_with_locks_are_fit_for_the_next_execution() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let body = || {
        let mut guard = LOCK.lock().unwrap();
        *guard += 1;
        panic!("poisons the lock");
    };
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    for _ in 0..3 {
        guest.run(&Plan { policy: Policy::First, ..Plan::new(&[]) }, &mut execution).unwrap();
        assert!(matches!(&execution.end, End::Failed(failure) if failure.message == "poisons the lock"));
    }
    assert_eq!(*LOCK.lock().unwrap_err().into_inner(), 3);
}

#[test]
fn a_panic_held_back_by_a_scope_explains_a_deadlock() {
    let (execution, _) = once(Policy::First, || {
        let (sender, receiver) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || receiver.recv());
            let _ = &sender;
            panic!("before sending");
        });
    });
    let told = matches!(&execution.end, End::Failed(failure) if failure.message == "before sending");
    assert!(told, "{:?}", execution.end);
}

#[test]
fn a_panic_inside_a_panic_aborts_with_the_schedule() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("second");
            }
        }
        once(Policy::First, || {
            let _bad = Bad;
            thread::yield_now();
            thread::yield_now();
            panic!("first");
        });
        unreachable!("the process was aborted");
    }
    let out = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "unwinding::a_panic_inside_a_panic_aborts_with_the_schedule", "--nocapture"])
        .env("TURNPIKE_CHILD", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success());
    for part in ["first", "second", "TURNPIKE_REPLAY=0x2", "unwinding.rs:"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn a_thread_that_panics_releases_everything_for_those_who_go_on() {
    let mut options = GuestOptions::default();
    options.panics = Panics::Join;
    static SEEN: Plain = Plain::new(0);
    let ends = all_with(options, Plan::new(&[]), || {
        let shared = Arc::new((Mutex::new(0), RwLock::new(0)));
        let (sender, receiver) = channel();
        let other = shared.clone();
        let handle = thread::spawn(move || {
            let _guard = other.0.lock().unwrap();
            let _write = other.1.write().unwrap();
            sender.send(1).unwrap();
            panic!("with everything in hand");
        });
        if shared.0.lock().is_err() {
            SEEN.fetch_add(1, Ordering::SeqCst);
        }
        assert_eq!((receiver.recv().ok(), receiver.recv().ok()), (Some(1), None));
        assert!(handle.join().is_err());
        assert!(shared.0.is_poisoned() && shared.1.read().is_err());
    });
    assert!(ends.len() > 1 && ends.iter().all(|end| *end == End::Finished), "{ends:?}");
    assert!(SEEN.load(Ordering::SeqCst) > 0);
}

#[test]
fn a_loop_that_catches_every_panic_is_given_up() {
    let body = || {
        let (sender, receiver) = channel::<()>();
        thread::spawn(move || {
            loop {
                let _ = catch_unwind(AssertUnwindSafe(|| receiver.recv()));
            }
        });
        thread::yield_now();
        let _sender = sender;
        panic!("the main function fails");
    };
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    for _ in 0..3 {
        guest.run(&Plan { policy: Policy::First, ..Plan::new(&[]) }, &mut execution).unwrap();
        assert!(matches!(&execution.end, End::Failed(failure) if failure.message.contains("main function")));
    }
    assert_eq!(guest.forgotten_threads(), 3);
}
