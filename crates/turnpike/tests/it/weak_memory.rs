//! Rust code under weak memory: what orderings forbid is proved, and what they allow is found.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use turnpike::{CheckError, Checked, Config, Memory, hint, thread};

fn exhaustive(memory: Memory, body: impl Fn() + Send + Sync + 'static) -> Result<Checked, CheckError> {
    Config::new().memory(memory).strategy("exhaustive").run(body)
}

/// Whether all executions were tried, and none failed.
fn holds(memory: Memory, body: impl Fn() + Send + Sync + 'static) -> bool {
    match exhaustive(memory, body) {
        Ok(checked) => {
            assert!(checked.complete, "{checked}");
            true
        }
        Err(CheckError::Failed(_)) => false,
        Err(other) => panic!("{other}"),
    }
}

fn pass_message(store: Ordering, load: Ordering, fences: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        let sender = thread::spawn(move || {
            other.0.store(7, Relaxed);
            if fences {
                fence(Release);
            }
            other.1.store(true, store);
        });
        if shared.1.load(load) {
            if fences {
                fence(Acquire);
            }
            assert_eq!(shared.0.load(Relaxed), 7);
        }
        sender.join().unwrap();
        assert_eq!(shared.0.load(Relaxed), 7, "joining acquires");
    }
}

#[test]
fn messages_need_release_and_acquire() {
    assert!(holds(Memory::Sc, pass_message(Relaxed, Relaxed, false)));
    assert!(holds(Memory::Tso, pass_message(Relaxed, Relaxed, false)), "stores reach memory in order on x86");
    assert!(!holds(Memory::Rc11, pass_message(Relaxed, Relaxed, false)));
    assert!(!holds(Memory::Rc11, pass_message(Release, Relaxed, false)));
    assert!(!holds(Memory::Rc11, pass_message(Relaxed, Acquire, false)));
    assert!(holds(Memory::Rc11, pass_message(Release, Acquire, false)));
    assert!(holds(Memory::Rc11, pass_message(Relaxed, Relaxed, true)));
}

fn dekker(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let enter = move |flags: &[AtomicBool; 2], me: usize| {
            flags[me].store(true, store);
            !flags[1 - me].load(load)
        };
        let theirs = flags.clone();
        let other = thread::spawn(move || enter(&theirs, 1));
        let here = enter(&flags, 0);
        assert!(!(here && other.join().unwrap()), "one at a time");
    }
}

#[test]
fn flags_need_sequential_consistency() {
    assert!(holds(Memory::Sc, dekker(Release, Acquire)));
    assert!(!holds(Memory::Tso, dekker(Release, Acquire)));
    assert!(!holds(Memory::Rc11, dekker(Release, Acquire)));
    assert!(holds(Memory::Tso, dekker(SeqCst, SeqCst)));
    assert!(holds(Memory::Rc11, dekker(SeqCst, SeqCst)));
}

fn spin_lock(unlock: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let add = move |shared: &(AtomicBool, AtomicUsize)| {
            while shared.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                hint::spin_loop();
            }
            let value = shared.1.load(Relaxed);
            shared.1.store(value + 1, Relaxed);
            shared.0.store(false, unlock);
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || add(&theirs));
        add(&shared);
        other.join().unwrap();
        assert_eq!(shared.1.load(Relaxed), 2, "no update is lost");
    }
}

#[test]
fn a_spin_lock_must_release() {
    let lost = Config::new().memory(Memory::Rc11).run(spin_lock(Relaxed));
    let Err(CheckError::Failed(failed)) = lost else { panic!("{lost:?}") };
    let report = failed.to_string();
    assert!(report.contains("sees an old value of"), "{report}");
    assert!(report.contains("sees old initial value"), "{report}");
    // A loop taken for waiting proves nothing here, so it is enough that nothing is found.
    let right = Config::new().memory(Memory::Rc11).executions(2_000).run(spin_lock(Release));
    assert!(right.is_ok(), "{right:?}");
}

#[test]
fn failures_under_weak_memory_are_replayed() {
    let body = dekker(Release, Acquire);
    let Err(CheckError::Failed(failed)) = Config::new().memory(Memory::Rc11).run(body) else {
        panic!("not found")
    };
    let again = Config::new().memory(Memory::Rc11).replay(failed.schedule).run(dekker(Release, Acquire));
    assert!(matches!(again, Err(CheckError::Failed(_))), "{again:?}");
}

#[test]
fn updates_see_and_leave_values_of_their_types() {
    let body = || {
        let pointer = AtomicPtr::new(std::ptr::null_mut::<u8>());
        let mut byte = 3u8;
        assert!(pointer.compare_exchange(std::ptr::null_mut(), &raw mut byte, AcqRel, Acquire).is_ok());
        assert_eq!(pointer.load(Acquire), &raw mut byte);
        let flag = AtomicBool::new(true);
        assert!(flag.fetch_not(Relaxed) && !flag.swap(true, Relaxed) && flag.load(Relaxed));
        let number = turnpike::sync::atomic::AtomicI8::new(-3);
        assert_eq!(number.fetch_add(-125, Relaxed), -3, "wraps around");
        assert_eq!(number.fetch_max(5, Relaxed), -128);
        assert_eq!(number.compare_exchange(6, 7, Relaxed, Relaxed), Err(5));
        assert_eq!(number.fetch_update(Relaxed, Relaxed, |value| value.checked_mul(2)), Ok(5));
        assert_eq!(number.into_inner(), 10);
    };
    for memory in [Memory::Tso, Memory::Rc11] {
        assert!(holds(memory, body));
    }
}

#[test]
fn proofs_under_sequential_consistency_name_weaker_orders() {
    let said = |memory, store, load| exhaustive(memory, dekker(store, load)).expect("holds").to_string();
    let weaker = said(Memory::Sc, Release, Acquire);
    assert!(weaker.contains("of sequentially consistent memory; the program uses weaker orders"), "{weaker}");
    assert!(said(Memory::Sc, SeqCst, SeqCst).ends_with("cover all schedules"));
    assert!(said(Memory::Rc11, SeqCst, SeqCst).ends_with("cover all schedules"));
}
