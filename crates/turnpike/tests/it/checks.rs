//! Checks of Rust code: what is found, how it is told, and how it is replayed.

use std::panic::catch_unwind;
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize as Plain};

use turnpike::sync::atomic::{AtomicUsize, Ordering};
use turnpike::sync::mpsc;
use turnpike::sync::{Arc, Condvar, Mutex};
use turnpike::{CheckError, Config, Failed, TestResult, thread};

/// The strategies that are fit for small programs.
const STRATEGIES: [&str; 6] = ["auto", "random", "pct", "pos", "exhaustive", "rdfs"];

fn lost_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = count.clone();
    let handle = thread::spawn(move || {
        let value = other.load(Ordering::SeqCst);
        other.store(value + 1, Ordering::SeqCst);
    });
    let value = count.load(Ordering::SeqCst);
    count.store(value + 1, Ordering::SeqCst);
    handle.join().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2, "an update was lost");
}

fn lock_order() {
    let first = Arc::new(Mutex::new(()));
    let second = Arc::new(Mutex::new(()));
    let (one, two) = (first.clone(), second.clone());
    let handle = thread::spawn(move || {
        let _one = one.lock().unwrap();
        let _two = two.lock().unwrap();
    });
    {
        let _two = second.lock().unwrap();
        let _one = first.lock().unwrap();
    }
    handle.join().unwrap();
}

fn correct() {
    let count = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || *count.lock().unwrap() += 1)
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 2);
}

fn failed<R: TestResult + 'static>(config: Config, body: fn() -> R) -> Failed {
    match config.run(body) {
        Err(CheckError::Failed(failed)) => *failed,
        Err(other) => panic!("{other}"),
        Ok(checked) => panic!("nothing was found: {checked:?}"),
    }
}

#[test]
fn all_strategies_find_a_lost_update_and_a_deadlock() {
    for strategy in STRATEGIES {
        let found = failed(Config::new().strategy(strategy), lost_update);
        assert!(found.incident.message.contains("an update was lost"), "{strategy}: {found}");
        assert_eq!(found.incident.kind.keyword(), "assertion", "{strategy}");
        let found = failed(Config::new().strategy(strategy), lock_order);
        assert_eq!(found.incident.kind.keyword(), "deadlock", "{strategy}");
        assert_eq!(found.incident.waiting.len(), 2, "{strategy}: {found}");
    }
}

#[test]
fn nothing_is_found_in_a_correct_program() {
    for strategy in STRATEGIES {
        let checked = Config::new().strategy(strategy).executions(500).run(correct).unwrap();
        assert!(checked.left_out.is_none(), "{strategy}: {checked:?}");
    }
    assert!(Config::new().strategy("exhaustive").run(correct).unwrap().complete);
    turnpike::check(correct);
}

#[test]
fn the_report_tells_everything() {
    let text = failed(Config::new().seed(7), lock_order).to_string();
    for part in
        ["deadlock", "checks.rs:", "held by", "main.0", "context switch", "seed: 7", "TURNPIKE_REPLAY="]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let text = failed(Config::new(), lost_update).to_string();
    for part in
        ["assertion", "an update was lost", "checks.rs:", "--exact checks::the_report_tells_everything"]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn a_failing_check_panics_and_its_schedule_replays_every_time() {
    let found = failed(Config::new(), lost_update);
    for _ in 0..100 {
        let schedule = found.schedule.clone();
        let panic = catch_unwind(move || Config::new().replay(schedule).check(lost_update)).unwrap_err();
        let message = panic.downcast_ref::<String>().expect("assert_eq panics with a String");
        assert!(message.contains("an update was lost"), "{message}");
    }
    // The schedule of one program does not fit another one, or does no harm there.
    let _ = catch_unwind(move || Config::new().replay(found.schedule).check(correct));
}

#[test]
fn a_schedule_is_replayed_through_the_environment() {
    let found = failed(Config::new(), lock_order);
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "checks::panics_in_a_child", "--include-ignored", "--nocapture"])
        .env("TURNPIKE_REPLAY", &found.schedule)
        .env("TURNPIKE_CHILD", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && text.contains("deadlock"), "{text}");
}

#[test]
fn what_a_check_found_is_written_as_a_trace() {
    let path = std::env::temp_dir().join(format!("turnpike-trace-{}.json", std::process::id()));
    let child = |name: &str, value: &std::path::Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "checks::panics_in_a_child", "--nocapture"]).env("TURNPIKE_CHILD", "1");
        let out = command.env(name, value).output().unwrap();
        assert!(!out.status.success() && String::from_utf8_lossy(&out.stderr).contains("deadlock"));
    };
    child("TURNPIKE_TRACE", &path);
    let trace = turnpike_lts::trace::read_file(&path).unwrap();
    assert_eq!(trace.components, ["main", "main.0"]);
    assert!(trace.steps.iter().all(|step| step.parts.iter().flatten().count() == 1), "{trace:?}");
    assert_eq!(trace.stuck.len(), 2, "{:?}", trace.stuck);
    let page = turnpike_lts::trace::html_page(&trace);
    assert!(page.contains("held by main") && page.contains("class=\"process\""));
    child("TURNPIKE_REPLAY", &path);
    std::fs::remove_file(&path).unwrap();
}

/// Only does something when the tests above run it.
#[test]
fn panics_in_a_child() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        turnpike::check(lock_order);
    } else {
        assert!(std::env::var("TURNPIKE_REPLAY").is_err());
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    for strategy in ["random", "pct", "auto"] {
        let once = failed(Config::new().strategy(strategy).seed(3), lost_update);
        let again = failed(Config::new().strategy(strategy).seed(3), lost_update);
        assert_eq!(once.schedule, again.schedule, "{strategy}");
        let together = failed(Config::new().strategy(strategy).seed(3).threads(2), lost_update);
        assert_eq!(once.schedule, together.schedule, "{strategy} with two threads");
    }
}

#[test]
fn a_test_that_is_not_deterministic_is_told_as_such() {
    static EXECUTIONS: Plain = Plain::new(0);
    let changing = || {
        let number = EXECUTIONS.fetch_add(1, Ordering::SeqCst);
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..number % 3 {
            count.fetch_add(1, Ordering::SeqCst);
        }
        assert!(number % 7 != 6, "depends on the number of the execution");
    };
    match Config::new().run(changing) {
        Err(CheckError::Nondeterministic(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn data_in_statics_that_matters_is_told_and_lazy_values_start_anew() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let counting = || {
        // Survives, and the third execution fails.
        assert!(COUNT.fetch_add(1, Ordering::SeqCst) < 2, "third time");
    };
    match Config::new().run(counting) {
        Err(CheckError::Nondeterministic(_)) => {}
        other => panic!("{other:?}"),
    }

    static LAZY: turnpike::sync::LazyLock<Mutex<Vec<u32>>> = turnpike::sync::LazyLock::new(Mutex::default);
    static CELL: turnpike::sync::OnceLock<u32> = turnpike::sync::OnceLock::new();
    let fresh = || {
        let handle = thread::spawn(|| LAZY.lock().unwrap().push(1));
        LAZY.lock().unwrap().push(2);
        handle.join().unwrap();
        assert_eq!(LAZY.lock().unwrap().len(), 2);
        CELL.set(5).unwrap();
        assert_eq!(CELL.get(), Some(&5));
    };
    let checked = Config::new().strategy("exhaustive").run(fresh).unwrap();
    assert!(checked.complete);
}

#[test]
fn settings_that_make_no_sense_are_told() {
    for config in [Config::new().strategy("magic"), Config::new().find("happiness")] {
        match config.run(correct) {
            Err(CheckError::Unusable(why)) => assert!(!why.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_thread_that_is_far_longer_than_another_hides_nothing_from_weighted_walks() {
    // One event against 25: the flag must be set before all of them.
    let uneven = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = flag.clone();
        let long = thread::spawn(move || {
            for _ in 0..25 {
                other.fetch_add(1, Ordering::SeqCst);
            }
        });
        let other = flag.clone();
        let short = thread::spawn(move || {
            assert!(other.load(Ordering::SeqCst) < 25, "the short thread came last");
        });
        long.join().unwrap();
        short.join().unwrap();
    };
    let found = failed(Config::new().strategy("weighted").executions(2000), uneven);
    assert!(found.incident.message.contains("came last"));
}

#[test]
fn a_bounded_buffer_with_one_condition_variable_too_few() {
    // Producers and consumers share a condition variable and wake one waiter: it may be the wrong one.
    let buffer = || {
        let shared = Arc::new((Mutex::new(0_usize), Condvar::new()));
        let mut handles = Vec::new();
        for produces in [true, true, false, false] {
            let shared = shared.clone();
            handles.push(thread::spawn(move || {
                let mut count = shared.0.lock().unwrap();
                while if produces { *count == 1 } else { *count == 0 } {
                    count = shared.1.wait(count).unwrap();
                }
                if produces {
                    *count += 1
                } else {
                    *count -= 1
                }
                shared.1.notify_one();
            }));
        }
        for handle in handles {
            handle.join().unwrap();
        }
    };
    let found = failed(Config::new().executions(100_000), buffer);
    assert_eq!(found.incident.kind.keyword(), "deadlock", "{found}");
}

#[test]
fn choices_and_channels() {
    let body = || {
        let (sender, receiver) = mpsc::channel();
        let value = turnpike::choose(4);
        let handle = thread::spawn(move || sender.send(value).unwrap());
        let got = receiver.recv().unwrap();
        turnpike::check_that!(got != 3, "three was chosen");
        handle.join().unwrap();
    };
    let found = failed(Config::new(), body);
    assert!(found.incident.message.contains("three was chosen"), "{found}");
}

#[test]
fn executions_do_not_leave_threads_or_memory_behind() {
    static LIVE: AtomicU64 = AtomicU64::new(0);
    struct Counted;
    impl Counted {
        fn new() -> Self {
            LIVE.fetch_add(1, Ordering::SeqCst);
            Counted
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let body = || {
        let _mine = Counted::new();
        let (sender, receiver) = mpsc::channel::<()>();
        let handle = thread::spawn(move || {
            let _theirs = Counted::new();
            receiver.recv().unwrap_err();
        });
        drop(sender);
        handle.join().unwrap();
    };
    // Breadth-first search stops executions in the middle, all the time.
    let _ = Config::new().strategy("bfs").run(body).unwrap();
    assert_eq!(LIVE.load(Ordering::SeqCst), 0);
}

/// How many executions a complete search took.
fn traces(body: impl Fn() + Send + Sync + 'static) -> u64 {
    let checked = Config::new().strategy("exhaustive").executions(1_000_000).run(body).unwrap();
    assert!(checked.complete, "{checked:?}");
    checked.executions.unwrap()
}

#[test]
fn exhaustive_search_takes_one_execution_for_each_order_that_matters() {
    let updates = |threads: usize, events: usize| {
        traces(move || {
            let count = Arc::new(AtomicUsize::new(0));
            let handles: Vec<_> = (0..threads)
                .map(|_| {
                    let count = count.clone();
                    thread::spawn(move || {
                        for _ in 0..events {
                            count.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
        })
    };
    assert_eq!([updates(2, 2), updates(2, 3), updates(3, 2)], [6, 20, 90]);
    let readers = |count: usize| {
        traces(move || {
            let value = Arc::new(AtomicUsize::new(0));
            let handles: Vec<_> = (0..count)
                .map(|_| {
                    let value = value.clone();
                    thread::spawn(move || value.load(Ordering::SeqCst))
                })
                .collect();
            value.store(1, Ordering::SeqCst);
            for handle in handles {
                handle.join().unwrap();
            }
        })
    };
    assert_eq!([readers(1), readers(4), readers(8)], [2, 16, 256]);
    let indexer = |threads: usize| {
        traces(move || {
            let table: Arc<Vec<AtomicUsize>> = Arc::new((0..128).map(|_| AtomicUsize::new(0)).collect());
            let handles: Vec<_> = (0..threads)
                .map(|me| {
                    let table = table.clone();
                    thread::spawn(move || {
                        for message in 1..=4 {
                            let word = message * 11 + me;
                            let mut slot = word * 7 % 128;
                            while table[slot]
                                .compare_exchange(0, word, Ordering::SeqCst, Ordering::SeqCst)
                                .is_err()
                            {
                                slot = (slot + 1) % 128;
                            }
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
        })
    };
    assert_eq!([indexer(11), indexer(12)], [1, 8]);
}

#[test]
fn a_schedule_of_any_check_can_be_replayed_and_told() {
    turnpike::check(correct);
    let found = failed(Config::new(), lost_update);
    // The second check of this test: the line says so, the schedule alone fits any check.
    assert!(found.replay.contains(&format!("TURNPIKE_REPLAY=2:{} ", found.schedule)), "{found}");
    let again = failed(Config::new().replay(&found.schedule), lost_update);
    assert_eq!((&again.schedule, &again.incident), (&found.schedule, &found.incident));
    let again = failed(Config::new().replay(format!("2:{}", found.schedule)), lost_update);
    assert_eq!(again.incident, found.incident);
    let fine = Config::new().replay("-").run(correct).unwrap();
    assert!(!fine.complete && fine.executions == Some(1), "{fine:?}");
    for (given, told) in [("no/such.file", "there is no file"), ("0.1y", "`1y`"), ("x:0", "`x`")] {
        match Config::new().replay(given).run(correct) {
            Err(CheckError::Unusable(why)) => assert!(why.contains(told), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_schedule_in_a_file_is_replayed() {
    let found = failed(Config::new(), lock_order);
    let path = std::env::temp_dir().join(format!("turnpike-schedule-{}", std::process::id()));
    std::fs::write(&path, format!("{}\n", found.schedule)).unwrap();
    let again = failed(Config::new().replay(path.to_string_lossy()), lock_order);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.incident, found.incident);
}

#[test]
fn a_difference_between_two_executions_is_told_although_nothing_failed() {
    static FIRST: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let once = || {
        let count = AtomicUsize::new(0);
        if FIRST.swap(false, Ordering::SeqCst) {
            count.fetch_add(1, Ordering::SeqCst);
        }
        count.fetch_add(1, Ordering::SeqCst);
    };
    match Config::new().run(once) {
        Err(CheckError::Nondeterministic(why)) => assert!(why.contains("2 steps"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_read_well() {
    let twice = || {
        let mutex = Mutex::new(0);
        let _guard = mutex.lock().unwrap();
        let _again = mutex.lock().unwrap();
    };
    let text = failed(Config::new(), twice).to_string();
    assert!(text.contains(", which it holds itself since checks.rs:"), "{text}");
    assert!(!text.contains("each waits"), "{text}");
    let lost = || {
        let shared = (Mutex::new(()), Condvar::new());
        let _guard = shared.1.wait(shared.0.lock().unwrap()).unwrap();
    };
    let text = failed(Config::new(), lost).to_string();
    assert!(text.contains("main waits for a notification of condvar 0 with mutex 0 at checks.rs:"), "{text}");
    let woken = || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let handle = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            drop(other.1.wait_while(guard, |ready| !*ready).unwrap());
        });
        let mut guard = shared.0.lock().unwrap();
        *guard = true;
        shared.1.notify_one();
        // Still holds the mutex that the other one needs.
        handle.join().unwrap();
        drop(guard);
    };
    let text = failed(Config::new().strategy("exhaustive"), woken).to_string();
    assert!(text.contains("held by main since checks.rs:"), "{text}");
    let text = failed(Config::new(), || panic!("at once")).to_string();
    assert!(text.contains("schedule: no step is needed"), "{text}");
}

/// A thread whose last effect was seen may not have ended yet.
#[test]
fn ends_of_threads_are_explored() {
    let asks = || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        assert!(thread.is_finished(), "it is still there");
    };
    for strategy in ["exhaustive", "random", "auto"] {
        let failed = failed(Config::new().strategy(strategy), asks);
        let again = Config::new().replay(failed.schedule.clone()).run(asks);
        assert!(matches!(again, Err(CheckError::Failed(_))), "{strategy}: {again:?}");
    }
    let report = Config::new().strategy("exhaustive").run(|| {
        let thread = thread::spawn(|| ());
        let _either = thread.is_finished();
        thread.join().unwrap();
    });
    assert!(report.is_ok_and(|report| report.complete));
}

/// The number of references is part of what is explored when a program looks at it, and only then.
#[test]
fn counted_references_are_explored() {
    use turnpike::sync::Arc;
    let looks = |wanted: bool| {
        move || {
            let owner = Arc::new(1);
            let weak = Arc::downgrade(&owner);
            let thread = turnpike::thread::spawn(move || drop(owner));
            let found = weak.upgrade().is_some();
            thread.join().unwrap();
            assert_eq!(found, wanted);
        }
    };
    for wanted in [false, true] {
        for strategy in ["exhaustive", "random", "pos", "pct", "auto", "bfs"] {
            let result = Config::new().strategy(strategy).run(looks(wanted));
            let Err(CheckError::Failed(failed)) = result else { panic!("{strategy}: {result:?}") };
            // Its schedule is one with counting.
            let again = Config::new().replay(failed.schedule.clone()).run(looks(wanted));
            assert!(matches!(again, Err(CheckError::Failed(_))), "{strategy}: {again:?}");
        }
    }
    let fine = || {
        let mut mine = Arc::new(1);
        let other = Arc::clone(&mine);
        let thread = turnpike::thread::spawn(move || *other);
        assert_eq!(thread.join().unwrap(), 1);
        assert!(Arc::get_mut(&mut mine).is_some());
    };
    let checked = Config::new().strategy("exhaustive").run(fine).unwrap();
    assert!(checked.complete, "{checked:?}");
}

/// What the standard library leaves open is tried both ways, by every strategy.
#[test]
fn outcomes_that_nobody_promises_are_found() {
    use turnpike::sync::RwLock;
    let meets = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || receiver.recv().is_ok());
        let sent = sender.try_send(1);
        drop(sender);
        thread.join().unwrap();
        assert!(sent.is_ok(), "nobody waited yet");
    };
    let leaves = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || drop(receiver));
        let sent = sender.try_send(1);
        thread.join().unwrap();
        assert!(sent == Err(mpsc::TrySendError::Disconnected(1)), "the receiver was there");
    };
    let reads_twice = || {
        let lock = Arc::new(RwLock::new(0));
        let other = lock.clone();
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        let both = (lock.read().unwrap(), lock.read().unwrap());
        drop(both);
        thread.join().unwrap();
    };
    for strategy in ["exhaustive", "random", "pos", "pct", "auto", "bfs"] {
        let config = || Config::new().strategy(strategy).executions(2_000);
        for (what, result) in [
            ("meets", config().run(meets)),
            ("leaves", config().run(leaves)),
            ("reads twice", config().run(reads_twice)),
        ] {
            assert!(matches!(result, Err(CheckError::Failed(_))), "{what} by {strategy}: {result:?}");
        }
    }
}

#[test]
fn spin_locks_are_searched_and_tries_that_end_are_no_livelocks() {
    use turnpike::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    let exhaustive = || Config::new().strategy("exhaustive");
    let lock = |free: &AtomicBool| {
        while free.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_err() {
            turnpike::hint::spin_loop();
        }
    };
    let counted = move || {
        let shared = Arc::new((AtomicBool::new(true), AtomicU32::new(0)));
        let other = shared.clone();
        let add = move |shared: &(AtomicBool, AtomicU32)| {
            lock(&shared.0);
            let old = shared.1.load(Ordering::Relaxed);
            shared.1.store(old + 1, Ordering::Relaxed);
            shared.0.store(true, Ordering::Release);
        };
        let handle = thread::spawn(move || add(&other));
        add(&shared);
        handle.join().unwrap();
        assert_eq!(shared.1.load(Ordering::Relaxed), 2);
    };
    // Memory that is not seen may decide when such a loop ends: nothing is proved.
    let checked = exhaustive().run(counted).unwrap();
    assert!(!checked.complete && checked.left_out.is_some(), "{checked:?}");
    let counts_on_the_heap = || {
        let set = Arc::new(AtomicBool::new(false));
        let other = set.clone();
        let handle = thread::spawn(move || other.store(true, Ordering::Release));
        let mut turns = Box::new(0);
        while !set.load(Ordering::Acquire) {
            *turns += 1;
            assert!(*turns < 5, "gives up");
            thread::yield_now();
        }
        handle.join().unwrap();
    };
    assert!(!exhaustive().run(counts_on_the_heap).is_ok_and(|checked| checked.complete));

    // Three tries, then another way; the error behind it is found.
    let tried = |wrong: bool| {
        move || {
            let free = Arc::new(AtomicBool::new(true));
            let other = free.clone();
            let handle = thread::spawn(move || {
                if other.swap(false, Ordering::Acquire) {
                    thread::yield_now();
                    other.store(true, Ordering::Release);
                }
            });
            let got = (0..3).any(|_| {
                let got = free.swap(false, Ordering::Acquire);
                thread::yield_now();
                got
            });
            assert!(got || !wrong, "nothing after three tries");
            handle.join().unwrap();
        }
    };
    assert!(exhaustive().run(tried(false)).unwrap().complete);
    assert!(exhaustive().run(tried(true)).is_err());

    // Nobody gives it back.
    let lost = move || {
        let free = AtomicBool::new(false);
        lock(&free);
    };
    let error = exhaustive().run(lost).unwrap_err().to_string();
    assert!(error.contains("livelock"), "{error}");
}

#[test]
fn readers_that_wait_for_readers_are_told() {
    use turnpike::sync::RwLock;
    let program = |waits: bool, writes: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let other = lock.clone();
            let writer = writes.then(|| {
                let lock = lock.clone();
                thread::spawn(move || *lock.write().unwrap() += 1)
            });
            let guard = lock.read().unwrap();
            let reader = thread::spawn(move || *other.read().unwrap());
            if waits {
                // A writer in between may keep the other one out.
                reader.join().unwrap();
                drop(guard);
            } else {
                drop(guard);
                reader.join().unwrap();
            }
            if let Some(writer) = writer {
                writer.join().unwrap();
            }
        }
    };
    let run = |waits, writes| Config::new().strategy("exhaustive").run(program(waits, writes)).unwrap();
    let told = run(true, true);
    assert!(!told.complete && told.left_out.is_some_and(|why| why.contains("behind a writer")));
    assert!(run(true, false).complete);
    assert!(run(false, true).complete);
}
