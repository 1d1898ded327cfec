//! `UnsafeCell` notices data races, and `Arc` orders what it protects.
#![allow(unsafe_code)]

use turnpike::cell::UnsafeCell;
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, Ordering, fence};
use turnpike::{Memory, thread};

use crate::futures::{broken, proved};

/// A value that its users must synchronise themselves.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: the tests are about whether it is used rightly.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn get(&self) -> T {
        // SAFETY: threads of a check run one at a time; races are what the tests look for.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, new: T) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

fn publish(store: Ordering, load: Ordering) {
    let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
    let other = shared.clone();
    let writer = thread::spawn(move || {
        other.0.set(1);
        other.1.store(true, store);
    });
    if shared.1.load(load) {
        assert_eq!(shared.0.get(), 1);
    }
    writer.join().unwrap();
    assert_eq!(shared.0.get(), 1, "joining orders, too");
}

#[test]
fn publishing_needs_release_and_acquire() {
    proved(|| publish(Ordering::Release, Ordering::Acquire));
    // Found although memory is sequentially consistent, and the value that is read is right.
    for (store, load) in [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)] {
        let report = broken(move || publish(store, load));
        assert!(
            report.contains("data race: nothing orders this read and the write by main.0 at cells.rs"),
            "{report}"
        );
    }
}

#[test]
fn races_are_found_under_weak_memory_too() {
    let run = |store, load| {
        turnpike::Config::new().memory(Memory::Rc11).strategy("exhaustive").run(move || publish(store, load))
    };
    assert!(run(Ordering::Release, Ordering::Acquire).is_ok_and(|checked| checked.complete));
    assert!(run(Ordering::Relaxed, Ordering::Acquire).is_err());
}

#[test]
fn two_writers_race_and_readers_do_not() {
    let both = |write: bool| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let other = cell.clone();
        let thread = thread::spawn(move || if write { other.set(1) } else { assert_eq!(other.get(), 0) });
        if write {
            cell.set(2)
        } else {
            assert_eq!(cell.get(), 0)
        }
        thread.join().unwrap();
    };
    proved(move || both(false));
    assert!(broken(move || both(true)).contains("this write and the write by"));
}

/// Dropping the value writes the cell.
struct Wiped(Shared<u32>);

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.set(0);
    }
}

#[test]
fn the_last_reference_comes_after_the_others() {
    proved(|| {
        let value = Arc::new(Wiped(Shared(UnsafeCell::new(7))));
        let other = value.clone();
        let thread = thread::spawn(move || assert_eq!(other.0.get(), 7));
        drop(value);
        thread.join().unwrap();
    });
    proved(|| {
        let mut value = Arc::new(Shared(UnsafeCell::new(7)));
        let other = value.clone();
        let thread = thread::spawn(move || {
            assert_eq!(other.get(), 7);
            drop(other);
        });
        if let Some(only) = Arc::get_mut(&mut value) {
            only.set(8);
        }
        thread.join().unwrap();
    });
}

/// A reference counter of one's own, which forgets to acquire before it drops.
fn count_down(acquire: bool) {
    struct Counted {
        count: turnpike::sync::atomic::AtomicUsize,
        value: Shared<u32>,
    }
    let shared = std::sync::Arc::new(Counted {
        count: turnpike::sync::atomic::AtomicUsize::new(2),
        value: Shared(UnsafeCell::new(7)),
    });
    let release = move |shared: &Counted| {
        assert_eq!(shared.value.get(), 7);
        if shared.count.fetch_sub(1, Ordering::Release) == 1 {
            if acquire {
                fence(Ordering::Acquire);
            }
            shared.value.set(0);
        }
    };
    let other = shared.clone();
    let thread = thread::spawn(move || release(&other));
    release(&shared);
    thread.join().unwrap();
}

#[test]
fn own_reference_counts_must_acquire() {
    proved(|| count_down(true));
    assert!(broken(|| count_down(false)).contains("this write and the read by"));
}
