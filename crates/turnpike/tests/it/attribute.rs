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

#[turnpike::test]
fn may_return_a_result() -> Result<(), std::num::ParseIntError> {
    let handle = thread::spawn(|| "12".parse::<u32>());
    assert_eq!(handle.join().unwrap()?, 12);
    Ok(())
}

#[turnpike::test]
#[should_panic(expected = "the test returned an error: ParseIntError")]
fn an_error_that_is_returned_is_a_failure() -> Result<(), Box<dyn std::error::Error>> {
    thread::spawn(|| "twelve".parse::<u32>()).join().unwrap()?;
    Ok(())
}

#[turnpike::test]
#[should_panic(expected = "the test returned ExitCode")]
fn so_is_an_exit_code() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

mod inside {
    /// The name does not come from the thread, which has none when tests run one after the other.
    #[turnpike::test]
    #[should_panic(expected = " -- --exact attribute::inside::the_line_has_the_whole_name --nocapture")]
    fn the_line_has_the_whole_name() {
        panic!("it fails");
    }
}
