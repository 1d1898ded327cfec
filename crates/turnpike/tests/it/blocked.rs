//! Executions that block outside control: the check ends, and says which call it was.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar as StdCondvar, Mutex as StdMutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

use turnpike::sync::{Arc, Mutex};
use turnpike::{CheckError, Config, Stuck, thread};

/// Without a visible operation for so long, an execution is blocked.
const IDLE: Duration = Duration::from_millis(300);

fn stuck<F: Fn() + Send + Sync + 'static>(config: Config, body: F) -> Stuck {
    match config.guest_timeout(IDLE).run(body) {
        Err(CheckError::Blocked(stuck)) => *stuck,
        other => panic!("{other:?}"),
    }
}

#[inline(never)]
fn take_standard_lock(lock: &StdMutex<()>) -> MutexGuard<'_, ()> {
    std::hint::black_box(lock.lock().unwrap())
}

/// A lock of the standard library is held while another thread runs, which wants it too.
fn standard_lock() {
    let lock = Arc::new((StdMutex::new(()), Mutex::new(())));
    let other = lock.clone();
    let handle = thread::spawn(move || {
        let _held = take_standard_lock(&other.0);
        drop(other.1.lock().unwrap());
    });
    let held = take_standard_lock(&lock.0);
    drop(lock.1.lock().unwrap());
    drop(held);
    handle.join().unwrap();
}

#[test]
fn a_standard_lock_ends_the_check_with_the_call_that_blocks() {
    for strategy in ["auto", "exhaustive", "random", "bfs"] {
        let found = stuck(Config::new().strategy(strategy), standard_lock);
        let text = found.to_string();
        assert!(found.thread.starts_with("main"), "{strategy}: {text}");
        let call = found.call.as_deref().unwrap_or_default();
        assert!(call.contains("std::") && call.contains("lock"), "{strategy}: {text}");
        assert!(text.contains("blocks outside turnpike's control"), "{text}");
        assert!(text.contains("take_standard_lock"), "no stack in\n{text}");
        assert!(text.contains("use `turnpike::sync` in place of `std::sync`"), "{text}");
        assert!(!text.contains("turnpike_runtime"), "{text}");
    }
}

#[test]
fn the_schedule_that_blocks_blocks_again_and_is_ended_again() {
    let found = stuck(Config::new(), standard_lock);
    let schedule = found.schedule.expect("a schedule");
    let again = stuck(Config::new().replay(schedule.clone()), standard_lock);
    assert_eq!(again.thread, found.thread);
    let check = move || Config::new().guest_timeout(IDLE).replay(schedule).check(standard_lock);
    let panic = catch_unwind(check).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("blocks outside turnpike's control"), "{text}");
}

#[test]
fn a_check_that_blocks_panics_and_other_checks_go_on() {
    let panic = catch_unwind(|| Config::new().guest_timeout(IDLE).threads(2).check(standard_lock));
    let text = panic.unwrap_err().downcast_ref::<String>().cloned().expect("a message");
    assert!(text.starts_with("the check had to be ended: main"), "{text}");
    turnpike::check(|| {
        let shared = Arc::new(Mutex::new(0));
        let other = shared.clone();
        let handle = thread::spawn(move || *other.lock().unwrap() += 1);
        *shared.lock().unwrap() += 1;
        handle.join().unwrap();
        assert_eq!(*shared.lock().unwrap(), 2);
    });
}

#[test]
fn other_calls_that_never_return_end_the_check() {
    let receive = stuck(Config::new(), || {
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
    });
    assert!(receive.call.as_deref().is_some_and(|call| call.contains("std::")), "{receive}");
    let wait = stuck(Config::new(), || {
        let (lock, condition) = (StdMutex::new(()), StdCondvar::new());
        drop(condition.wait(lock.lock().unwrap()).unwrap());
    });
    assert!(wait.call.as_deref().is_some_and(|call| call.contains("std::")), "{wait}");
    let sleep = stuck(Config::new(), || std::thread::sleep(Duration::from_secs(3600)));
    assert!(sleep.to_string().contains("blocks outside"), "{sleep}");
    let join = stuck(Config::new(), || {
        let _ = std::thread::spawn(std::thread::park).join();
    });
    assert!(join.to_string().contains("blocks outside"), "{join}");
}

static NEVER: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn spin_unseen() {
    while !NEVER.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

#[test]
fn a_loop_without_visible_operations_ends_the_check() {
    let found = stuck(Config::new(), || {
        let handle = thread::spawn(spin_unseen);
        handle.join().unwrap();
    });
    let text = found.to_string();
    // The thread that was left behind may end.
    NEVER.store(true, Ordering::Relaxed);
    assert!(text.contains("main.0 does nothing visible"), "{text}");
    assert!(text.contains("spin_unseen"), "{text}");
}

#[test]
fn destructors_that_block_end_the_check() {
    struct Blocks;
    impl Drop for Blocks {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
    let found = stuck(Config::new(), || {
        let _blocks = Blocks;
        panic!("unwinds into the destructor");
    });
    assert!(found.to_string().contains("blocks outside"), "{found}");
}

#[test]
fn the_limit_on_time_holds_for_an_execution_that_goes_on_and_on() {
    let begin = Instant::now();
    let config = Config::new().time(Duration::from_millis(200));
    let found = stuck(config, || {
        let lock = Mutex::new(());
        for _ in 0..10_000 {
            std::thread::sleep(Duration::from_millis(20));
            drop(lock.lock().unwrap());
        }
    });
    assert!(found.to_string().starts_with("one execution took more than 0.5 s"), "{found}");
    assert!(begin.elapsed() < Duration::from_secs(60), "the watchdog did not look");
}

#[test]
fn quiet_executions_that_come_back_in_time_pass() {
    let slow = || {
        let lock = Mutex::new(());
        std::thread::sleep(Duration::from_millis(30));
        drop(lock.lock().unwrap());
    };
    let config = Config::new().strategy("exhaustive").guest_timeout(Duration::from_secs(60));
    assert!(config.run(slow).unwrap().complete);
    // Zero: as long as it takes.
    let config = Config::new().strategy("exhaustive").guest_timeout(Duration::ZERO);
    assert!(config.run(slow).unwrap().complete);
}

#[test]
fn a_check_inside_a_check_counts_as_progress() {
    let inner = || {
        let lock = Mutex::new(());
        std::thread::sleep(Duration::from_millis(100));
        drop(lock.lock().unwrap());
    };
    let outer = move || Config::new().strategy("random").executions(8).check(inner);
    let config = Config::new().strategy("random").executions(1).guest_timeout(IDLE).run(outer);
    assert!(config.is_ok(), "{config:?}");
}
