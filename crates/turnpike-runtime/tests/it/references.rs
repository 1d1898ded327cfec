//! Reference counting: a step where it can be observed, and nothing otherwise.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::common::all_with;
use turnpike_runtime::sync::mpsc::channel;
use turnpike_runtime::sync::{Arc, Weak};
use turnpike_runtime::{Guest, GuestOptions, thread};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

fn counting() -> GuestOptions {
    let mut options = GuestOptions::default();
    options.counts = true;
    options
}

/// The results of the program under all schedules, with visible counting.
fn seen<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> Vec<T> {
    let results = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let log = std::sync::Arc::clone(&results);
    let ends = all_with(counting(), Plan::new(&[]), move || {
        let result = body();
        log.lock().unwrap().insert(result);
    });
    assert!(ends.iter().all(|end| *end == End::Finished));
    std::mem::take(&mut *results.lock().unwrap()).into_iter().collect()
}

/// One execution without visible counting: its steps, whether it proves something, whether counts
/// matter.
fn once(body: impl Fn() + Send + Sync + 'static) -> (usize, bool, bool) {
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    guest.run(&Plan { policy: Policy::Continue, ..Plan::new(&[]) }, &mut execution).unwrap();
    assert_eq!(execution.end, End::Finished);
    (execution.steps.len(), !execution.incomplete, guest.counts_matter())
}

#[test]
fn upgrading_finds_an_owner_or_not() {
    let program = || {
        let owner = Arc::new(1);
        let weak = Arc::downgrade(&owner);
        let thread = thread::spawn(move || drop(owner));
        let found = weak.upgrade().is_some();
        thread.join().unwrap();
        assert!(weak.upgrade().is_none());
        found
    };
    assert_eq!(seen(program), [false, true]);
    let (_, proves, matters) = once(move || {
        let _ = program();
    });
    assert!(!proves && matters);
}

#[test]
fn the_only_reference_may_not_be_alone_yet() {
    let with = |ask: fn(Arc<u32>) -> bool| {
        seen(move || {
            let mine = Arc::new(1);
            let other = Arc::clone(&mine);
            let thread = thread::spawn(move || drop(other));
            let alone = ask(mine);
            thread.join().unwrap();
            alone
        })
    };
    assert_eq!(with(|mut mine| Arc::get_mut(&mut mine).is_some()), [false, true]);
    assert_eq!(with(|mine| Arc::try_unwrap(mine).is_ok()), [false, true]);
    assert_eq!(with(|mine| Arc::strong_count(&mine) == 1), [false, true]);
    assert_eq!(with(|mine| Arc::into_inner(mine).is_some()), [false, true]);
    assert_eq!(
        with(|mut mine| {
            let before = Arc::as_ptr(&mine);
            *Arc::make_mut(&mut mine) += 1;
            std::ptr::eq(before, Arc::as_ptr(&mine))
        }),
        [false, true]
    );
    // A weak reference is an obstacle, too.
    let weak = seen(|| {
        let mut mine = Arc::new(1);
        let weak = Arc::downgrade(&mine);
        let thread = thread::spawn(move || drop(weak));
        let alone = Arc::get_mut(&mut mine).is_some();
        thread.join().unwrap();
        alone
    });
    assert_eq!(weak, [false, true]);
}

/// Of two threads that drop their references at most one gets the value, and with `into_inner`
/// exactly one.
#[test]
fn the_last_one_gets_the_value() {
    let program = |ask: fn(Arc<u32>) -> bool| {
        seen(move || {
            let mine = Arc::new(1);
            let other = Arc::clone(&mine);
            let thread = thread::spawn(move || ask(other));
            let here = ask(mine);
            (here, thread.join().unwrap())
        })
    };
    assert_eq!(program(|it| Arc::into_inner(it).is_some()), [(false, true), (true, false)]);
    let tried = program(|it| Arc::try_unwrap(it).is_ok());
    assert_eq!(tried, [(false, false), (false, true), (true, false)]);
}

#[test]
fn whoever_drops_the_last_reference_runs_the_destructor() {
    let program = || {
        let (sender, receiver) = channel();
        struct Tells(turnpike_runtime::sync::mpsc::Sender<thread::ThreadId>);
        impl Drop for Tells {
            fn drop(&mut self) {
                let _ = self.0.send(thread::current().id());
            }
        }
        let mine = Arc::new(Tells(sender));
        let other = Arc::clone(&mine);
        let thread = thread::spawn(move || drop(other));
        drop(mine);
        thread.join().unwrap();
        receiver.recv().unwrap() == thread::current().id()
    };
    assert_eq!(seen(program), [false, true]);
    let (_, proves, matters) = once(move || {
        let _ = program();
    });
    assert!(!proves && matters, "without steps only one of them was seen");
}

/// Programs that only share and drop have the same steps as without counting.
#[test]
fn nobody_counts_where_nobody_can_notice() {
    let (steps, proves, matters) = once(|| {
        let mine = Arc::new(vec![1, 2, 3]);
        let others: Vec<_> = (0..3)
            .map(|_| {
                let other = Arc::clone(&mine);
                thread::spawn(move || other.len())
            })
            .collect();
        drop(mine);
        for other in others {
            other.join().unwrap();
        }
    });
    assert_eq!((steps, proves, matters), (3, true, false));
    // Before there are threads, reading the count is harmless.
    let (steps, proves, matters) = once(|| {
        let mut mine = Arc::new_cyclic(|weak: &Weak<u32>| {
            assert!(weak.upgrade().is_none());
            1
        });
        assert!(Arc::get_mut(&mut mine).is_some());
        assert_eq!((Arc::strong_count(&mine), Arc::weak_count(&mine)), (1, 0));
        let raw = Arc::into_raw(Arc::clone(&mine));
        // SAFETY: it was made a pointer above.
        #[allow(unsafe_code)]
        let again = unsafe { Arc::from_raw(raw) };
        assert!(Arc::ptr_eq(&again, &mine));
        assert_eq!(Arc::strong_count(&mine), 2);
    });
    assert_eq!((steps, proves, matters), (0, true, false));
}

#[test]
fn an_arc_is_what_it_refers_to() {
    let words: Arc<str> = Arc::from("two words");
    assert_eq!(words.len(), 9);
    assert_eq!(format!("{words} {words:?}"), "two words \"two words\"");
    let list: Arc<[u32]> = [3, 1].into_iter().collect();
    assert!(list > Arc::from(vec![2, 9]));
    let boxed: Arc<dyn Fn(u32) -> u32> = Arc::from(Box::new(|x: u32| x + 1) as Box<dyn Fn(u32) -> u32>);
    assert_eq!(boxed(1), 2);
    let std: std::sync::Arc<dyn std::fmt::Debug> = std::sync::Arc::new(5);
    assert_eq!(format!("{:?}", Arc::from_std(std)), "5");
    assert!(Weak::<u32>::new().upgrade().is_none());
    assert_eq!(Arc::unwrap_or_clone(Arc::new(7)), 7);
}
