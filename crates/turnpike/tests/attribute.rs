//! The attribute `#[turnpike::test]`.

use turnpike::sync::{Arc, Mutex};
use turnpike::thread;

#[turnpike::test]
fn plain() {
    let shared = Arc::new(Mutex::new(0));
    let other = shared.clone();
    let handle = thread::spawn(move || *other.lock().unwrap() += 1);
    *shared.lock().unwrap() += 1;
    handle.join().unwrap();
    assert!(turnpike::is_checking());
    assert_eq!(*shared.lock().unwrap(), 2);
}

#[turnpike::test(strategy = "pct", executions = 300, seed = 5)]
#[should_panic(expected = "they met")]
fn with_settings() {
    let turn = Arc::new(Mutex::new(0));
    let other = turn.clone();
    let handle = thread::spawn(move || *other.lock().unwrap() = 1);
    let seen = *turn.lock().unwrap();
    assert!(seen == 0, "they met");
    handle.join().unwrap();
}
