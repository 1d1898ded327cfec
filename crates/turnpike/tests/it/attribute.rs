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

/// The attributes of tokio.
mod of_tokio {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use turnpike::sync::Arc;
    use turnpike::tokio;
    use turnpike::tokio::runtime::{Handle, RuntimeFlavor};

    #[tokio::test]
    async fn tests_take_turns() {
        assert!(turnpike::is_checking());
        assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
        let count = Arc::new(std::sync::Mutex::new(0));
        let theirs = count.clone();
        // As on one thread, nothing comes between two points at which a task waits.
        let other = tokio::spawn(async move { *theirs.lock().unwrap() += 1 });
        *count.lock().unwrap() += 1;
        other.await.unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[should_panic(expected = "lost")]
    async fn or_run_in_parallel() -> Result<(), tokio::task::JoinError> {
        let count = Arc::new(turnpike::sync::atomic::AtomicUsize::new(0));
        let add = |count: Arc<turnpike::sync::atomic::AtomicUsize>| async move {
            let value = count.load(Ordering::SeqCst);
            count.store(value + 1, Ordering::SeqCst);
        };
        let other = tokio::spawn(add(count.clone()));
        add(count.clone()).await;
        other.await?;
        assert_eq!(count.load(Ordering::SeqCst), 2, "lost");
        Ok(())
    }

    #[tokio::main]
    async fn program(number: usize, calls: &AtomicUsize) -> Result<usize, tokio::task::JoinError> {
        calls.fetch_add(1, Ordering::Relaxed);
        let double = tokio::spawn(async move { 2 * number }).await?;
        Ok(double + 1)
    }

    #[test]
    fn main_functions_run_outside_and_inside_of_checks() {
        let calls = AtomicUsize::new(0);
        assert_eq!(program(3, &calls).unwrap(), 7);
        turnpike::check(|| assert_eq!(program(4, &AtomicUsize::new(0)).unwrap(), 9));
        assert_eq!(calls.into_inner(), 1);
    }
}
