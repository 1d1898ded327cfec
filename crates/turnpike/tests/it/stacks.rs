//! Where threads of a failing check are. Positions in the source need debugging information, which tests may be built
//! without.

use turnpike::sync::{Arc, Mutex, MutexGuard};
use turnpike::{CheckError, Config, Failed, thread};

fn failed(body: fn()) -> Failed {
    match Config::new().run(body) {
        Err(CheckError::Failed(failed)) => *failed,
        other => panic!("{other:?}"),
    }
}

/// The functions of the user on a thread's stack, innermost first.
fn functions(failed: &Failed, thread: &str) -> Vec<String> {
    let stacks = &failed.incident.stacks;
    let stack = stacks.iter().find(|stack| stack.thread == thread).unwrap_or_else(|| panic!("{stacks:?}"));
    stack.frames.iter().filter(|frame| frame.is_user()).filter_map(|frame| frame.function.clone()).collect()
}

#[inline(never)]
fn take(lock: &Mutex<()>) -> MutexGuard<'_, ()> {
    std::hint::black_box(lock.lock().unwrap())
}

#[inline(never)]
fn take_both(one: &Mutex<()>, two: &Mutex<()>) {
    let _one = take(one);
    let _two = take(two);
}

fn lock_order() {
    let first = Arc::new(Mutex::new(()));
    let second = Arc::new(Mutex::new(()));
    let (one, two) = (first.clone(), second.clone());
    let handle = thread::spawn(move || take_both(&one, &two));
    take_both(&second, &first);
    handle.join().unwrap();
}

#[test]
fn threads_in_a_deadlock_have_stacks() {
    let failed = failed(lock_order);
    for thread in ["main", "main.0"] {
        let functions = functions(&failed, thread);
        assert!(functions[0].ends_with("::take"), "{thread}: {functions:?}");
        assert!(functions[1].ends_with("::take_both"), "{thread}: {functions:?}");
        assert!(functions.iter().all(|name| !name.starts_with("turnpike")), "{thread}: {functions:?}");
    }
    let text = failed.to_string();
    assert!(text.contains("stack of main:\n  #0 it::stacks::take"), "{text}");
    assert!(text.contains("stack of main.0:\n  #0 it::stacks::take"), "{text}");
    assert!(text.contains("mutex 0 was created at ") && text.contains("mutex 1 was created at "), "{text}");
}

#[inline(never)]
fn look_up(entries: &std::collections::BTreeMap<u32, u32>) -> u32 {
    entries[&7]
}

#[test]
fn a_panic_has_the_stack_of_the_thread_that_panicked_first() {
    let failed = failed(|| {
        let handle = thread::spawn(|| look_up(&std::collections::BTreeMap::new()));
        let _ = handle.join();
    });
    assert_eq!(failed.incident.thread.as_deref(), Some("main.0"));
    assert!(functions(&failed, "main.0")[0].ends_with("::look_up"), "{failed}");
    let lines: Vec<String> = failed.incident.stack_lines(false);
    assert!(lines[0] == "stack of main.0:", "whoever failed comes first: {lines:?}");
}

#[test]
fn an_error_that_a_test_returns_is_shown_where_the_test_is() {
    let line = line!() + 1;
    let error = Config::new().run(|| "twelve".parse::<u32>().map(|_| ())).expect_err("an error");
    let CheckError::Failed(failed) = error else { panic!("{error}") };
    let place = failed.incident.place.as_deref().unwrap_or_default();
    assert!(place.contains("stacks.rs") && place.contains(&format!(":{line}:")), "{place}");
}
