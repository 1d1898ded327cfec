//! Threads: joining, scopes, parking, local values, time, choices.

use crate::common;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use common::{all, all_with, fails, finishes, outcomes};
use turnpike_runtime::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnpike_runtime::sync::{Arc, Mutex};
use turnpike_runtime::time::{Instant, SystemTime, UNIX_EPOCH};
use turnpike_runtime::{Guest, GuestOptions, Panics, choose, hint, thread};
use turnpike_scheduler::{End, Execution, Executor, FailureKind, Finding, Plan, Policy};

#[test]
fn threads_return_values_and_have_names() {
    finishes(|| {
        let builder = thread::Builder::new().name("worker".to_owned()).stack_size(512 * 1024);
        let handle = builder
            .spawn(|| {
                assert_eq!(thread::current().name(), Some("worker"));
                thread::current().id()
            })
            .unwrap();
        assert_eq!(handle.thread().name(), Some("worker"));
        let id = handle.thread().id();
        assert_eq!(handle.join().unwrap(), id);
        assert_ne!(thread::current().id(), id);
        assert_eq!(thread::current().name(), Some("main"));
        assert_eq!(thread::available_parallelism().unwrap().get(), 2);
    });
}

#[test]
fn is_finished_tells_both() {
    let seen = outcomes(|report| {
        let handle = thread::spawn(thread::yield_now);
        report(handle.is_finished());
        handle.join().unwrap();
    });
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn scoped_threads_borrow() {
    finishes(|| {
        let mut values = vec![1, 2];
        let count = AtomicUsize::new(0);
        let sum = thread::scope(|scope| {
            let (left, right) = values.split_at_mut(1);
            let one = scope.spawn(|| {
                left[0] += 10;
                count.fetch_add(1, Ordering::SeqCst);
                left[0]
            });
            scope.spawn(|| {
                right[0] += 20;
                count.fetch_add(1, Ordering::SeqCst);
            });
            one.join().unwrap()
        });
        assert_eq!((sum, values, count.into_inner()), (11, vec![11, 22], 2));
    });
}

#[test]
fn scopes_end_safely_when_an_execution_does() {
    // The scope's owner and its threads are interrupted when the execution is cut.
    for max_steps in 0..9 {
        let ends = all_with(GuestOptions::default(), Plan { max_steps, ..Plan::new(&[]) }, || {
            let text = String::from("borrowed");
            let lock = Mutex::new(0);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        *lock.lock().unwrap() += text.len();
                        assert_eq!(text, "borrowed");
                    });
                }
            });
        });
        assert!(ends.iter().all(|end| *end == End::StepLimit), "{max_steps}: {ends:?}");
    }
}

#[test]
fn a_panic_is_a_failure_of_its_thread() {
    let (execution, mut guest) = common::once(Policy::First, || {
        let number = std::hint::black_box(7);
        let handle = thread::spawn(move || panic!("number {number}"));
        let _ = handle.join();
    });
    let End::Failed(failure) = execution.end else { panic!("{:?}", execution.end) };
    assert_eq!(
        (failure.kind, failure.message.as_str(), failure.thread.0),
        (FailureKind::Panic, "number 7", 1)
    );
    let place = turnpike_scheduler::Executor::site(&mut guest, failure.site);
    assert!(place.contains("threads.rs:"), "{place}");
    let payload = guest.take_payload().unwrap();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "number 7");
}

#[test]
fn a_panic_can_be_left_to_whoever_joins() {
    let mut options = GuestOptions::default();
    options.panics = Panics::Join;
    let ends = all_with(options.clone(), Plan::new(&[]), || {
        let handle = thread::spawn(|| panic!("told"));
        let payload = handle.join().unwrap_err();
        assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "told");
        thread::scope(|scope| {
            let handle = scope.spawn(|| panic!("told too"));
            assert!(handle.join().is_err());
        });
    });
    assert!(ends.iter().all(|end| *end == End::Finished), "{ends:?}");
    let ends = all_with(options, Plan::new(&[]), || {
        thread::scope(|scope| {
            scope.spawn(|| panic!("not joined"));
        });
    });
    let message =
        |end: &End| matches!(end, End::Failed(failure) if failure.message == "a scoped thread panicked");
    assert!(ends.iter().all(message), "{ends:?}");
}

#[test]
fn parking_waits_for_a_token() {
    finishes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, main) = (flag.clone(), thread::current());
        let handle = thread::spawn(move || {
            other.store(true, Ordering::SeqCst);
            main.unpark();
        });
        while !flag.load(Ordering::SeqCst) {
            thread::park();
        }
        handle.join().unwrap();
    });
    assert!(all(thread::park).iter().all(|end| *end == End::Deadlock));
    finishes(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park_timeout(Duration::from_secs(1));
    });
}

#[test]
fn the_main_function_may_or_may_not_end_the_others() {
    let body = || {
        let shared = Arc::new(Mutex::new(()));
        // Never joined, but not leaked either: dropping the handle detaches the thread.
        drop(thread::spawn(move || drop(shared.lock())));
    };
    assert!(all(body).iter().all(|end| *end == End::Finished));
    let mut options = GuestOptions::default();
    options.exit_with_main = true;
    let ends = all_with(options, Plan::new(&[]), body);
    assert!(ends.len() > 1 && ends.iter().all(|end| *end == End::Finished));
    let (execution, _) = common::once(Policy::First, || {
        std::mem::forget(thread::spawn(thread::park));
    });
    assert!(matches!(execution.end, End::Deadlock), "{:?}", execution.end);
    assert!(!execution.findings.iter().any(|finding| matches!(finding, Finding::Uncontrolled(_))));
}

turnpike_runtime::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![7]);
}

#[test]
fn local_values_belong_to_threads() {
    finishes(|| {
        assert_eq!(COUNT.get(), 1);
        COUNT.set(2);
        let handle = thread::spawn(|| {
            assert_eq!(COUNT.replace(5), 1);
            LIST.with_borrow_mut(|list| list.push(8));
            assert_eq!(LIST.take(), [7, 8]);
        });
        handle.join().unwrap();
        assert_eq!(COUNT.take(), 2);
        LIST.with_borrow(|list| assert_eq!(*list, [7]));
    });
    assert_eq!(COUNT.get(), 1, "outside they are the thread's own");
}

#[test]
fn local_values_are_dropped_at_the_end_of_their_thread() {
    struct Tell(RefCell<Option<Arc<AtomicUsize>>>);
    impl Drop for Tell {
        fn drop(&mut self) {
            if let Some(count) = self.0.take() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    turnpike_runtime::thread_local!(static TELL: Tell = const { Tell(RefCell::new(None)) });
    finishes(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = count.clone();
        let handle = thread::spawn(move || TELL.with(|tell| *tell.0.borrow_mut() = Some(other)));
        handle.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn time_is_virtual() {
    finishes(|| {
        let (begin, wall) = (Instant::now(), SystemTime::now());
        assert!(wall > UNIX_EPOCH);
        thread::sleep(Duration::from_secs(3600));
        assert!(begin.elapsed() >= Duration::from_secs(3600));
        assert!(begin.elapsed() < Duration::from_secs(3700));
        assert!(wall.elapsed().unwrap() >= Duration::from_secs(3600));
    });
}

#[test]
fn spinning_ends_when_the_value_comes_and_is_a_livelock_otherwise() {
    finishes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let handle = thread::spawn(move || other.store(true, Ordering::SeqCst));
        while !flag.load(Ordering::SeqCst) {
            hint::spin_loop();
        }
        handle.join().unwrap();
    });
    let ends = all(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Ordering::SeqCst) {
            hint::spin_loop();
        }
    });
    assert!(ends.iter().all(|end| *end == End::Livelock), "{ends:?}");
}

#[test]
fn loops_that_count_are_no_livelocks() {
    // Ten attempts, counted in a local variable, in a structure on the stack, in a thread-local
    // value.
    let ends = all(|| {
        let flag = AtomicBool::new(false);
        let mut tries = 0;
        while !flag.load(Ordering::SeqCst) && tries < 10 {
            tries += 1;
            thread::yield_now();
        }
    });
    assert_eq!(ends, [End::Finished]);
    struct Backoff {
        tries: std::cell::Cell<u32>,
    }
    let ends = all(|| {
        let (flag, backoff) = (AtomicBool::new(false), Backoff { tries: 0.into() });
        let snooze = |backoff: &Backoff| {
            backoff.tries.set(backoff.tries.get() + 1);
            hint::spin_loop();
            backoff.tries.get() > 20
        };
        while !flag.load(Ordering::SeqCst) && !snooze(&backoff) {}
    });
    assert_eq!(ends, [End::Finished]);
    turnpike_runtime::thread_local! { static TRIES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) } }
    let ends = all(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Ordering::SeqCst) && TRIES.get() < 5 {
            TRIES.set(TRIES.get() + 1);
            thread::yield_now();
        }
    });
    assert_eq!(ends, [End::Finished]);
}

#[test]
fn choices_are_all_tried() {
    let seen = outcomes(|report| report((choose(3), choose(2), choose(1), choose(0))));
    assert_eq!(seen.len(), 6);
    assert!(fails(|| assert_ne!(choose(5), 4, "four")).unwrap().contains("four"));
}

#[test]
fn a_child_runs_before_its_creator_goes_on_and_that_is_no_step() {
    let (execution, _) = common::once(Policy::First, || {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let other = flag.clone();
        let handle = thread::spawn(move || other.store(true, Ordering::SeqCst));
        assert!(flag.load(Ordering::SeqCst));
        handle.join().unwrap();
    });
    assert_eq!((execution.end, execution.steps.len()), (End::Finished, 1));
}

#[test]
fn many_threads() {
    let (execution, _) = common::once(Policy::Uniform { seed: 1 }, || {
        let handles: Vec<_> = (0..500).map(|_| thread::spawn(thread::yield_now)).collect();
        for handle in handles {
            handle.join().unwrap();
        }
    });
    assert_eq!((execution.end, execution.steps.len()), (End::Finished, 1000));
}

#[test]
fn who_watches_the_clock_sees_time_pass() {
    // With nothing else to wait for, with a flag that is never set, and with one that is set.
    let ends = all(|| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            hint::spin_loop();
        }
    });
    assert_eq!(ends, [End::Finished]);
    let ends = all(|| {
        let flag = AtomicBool::new(false);
        let deadline = Instant::now() + Duration::from_millis(5);
        while !flag.load(Ordering::SeqCst) && Instant::now() < deadline {
            thread::yield_now();
        }
        assert!(Instant::now() >= deadline);
    });
    assert_eq!(ends, [End::Finished]);
    let seen = outcomes(|report| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let handle = thread::spawn(move || other.store(true, Ordering::SeqCst));
        let begin = Instant::now();
        while !flag.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(1) {
            thread::yield_now();
        }
        report(flag.load(Ordering::SeqCst));
        handle.join().unwrap();
    });
    assert!(seen.contains_key(&true), "{seen:?}");
}

#[test]
fn a_stack_that_no_memory_has_room_for_is_refused() {
    let ends = all(|| {
        let refused = thread::Builder::new().stack_size(usize::MAX).spawn(|| ());
        assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::OutOfMemory);
    });
    assert_eq!(ends, [End::Finished]);
    let mut options = GuestOptions::default();
    options.stack_size = usize::MAX;
    let error = Guest::new(|| (), options).run(&Plan::new(&[]), &mut Execution::default()).unwrap_err();
    assert!(error.message.contains("no stack for the main thread"), "{}", error.message);
}

/// The standard library allows spurious wake-ups: a parked thread must check again.
#[test]
fn parked_threads_wake_for_no_reason_when_asked_for() {
    let waits_once = || {
        let ready = Arc::new(AtomicBool::new(false));
        let (flag, main) = (Arc::clone(&ready), thread::current());
        let thread = thread::spawn(move || {
            flag.store(true, Ordering::SeqCst);
            main.unpark();
        });
        thread::park();
        assert!(ready.load(Ordering::SeqCst));
        thread.join().unwrap();
    };
    let failed = |ends: &[End]| ends.iter().any(|end| matches!(end, End::Failed(_)));
    assert!(!failed(&all(waits_once)));
    let plan = Plan { spurious: 1, ..Plan::new(&[]) };
    assert!(failed(&all_with(GuestOptions::default(), plan, waits_once)));
    let looks_again = || {
        let ready = Arc::new(AtomicBool::new(false));
        let (flag, main) = (Arc::clone(&ready), thread::current());
        let thread = thread::spawn(move || {
            flag.store(true, Ordering::SeqCst);
            main.unpark();
        });
        while !ready.load(Ordering::SeqCst) {
            thread::park();
        }
        thread.join().unwrap();
    };
    for spurious in [1, 2] {
        let plan = Plan { spurious, ..Plan::new(&[]) };
        let ends = all_with(GuestOptions::default(), plan, looks_again);
        assert!(ends.iter().all(|end| *end == End::Finished), "{spurious}");
        // It need not wake up, though.
        let ends = all_with(GuestOptions::default(), plan, thread::park);
        assert!(ends.contains(&End::Deadlock) && ends.contains(&End::Finished), "{spurious}");
        let limited = || thread::park_timeout(Duration::from_millis(1));
        assert!(all_with(GuestOptions::default(), plan, limited).iter().all(|end| *end == End::Finished));
    }
}
