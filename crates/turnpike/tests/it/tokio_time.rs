//! Time of tasks: sleeping, time limits and intervals on the virtual clock.

use turnpike::future::{block_on, spawn};
use turnpike::sync::Arc;
use turnpike::sync::atomic::{AtomicBool, Ordering};
use turnpike::tokio::sync::oneshot;
use turnpike::tokio::time::{self, Duration, Instant};
use turnpike::tokio::{join, select};
use turnpike::{Config, Timeouts};

use crate::futures::{broken, proved};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn sleeping_takes_virtual_time() {
    proved(|| {
        block_on(async {
            let start = Instant::now();
            time::sleep(SECOND).await;
            assert_eq!(start.elapsed(), SECOND);
            join!(time::sleep(SECOND), time::sleep(3 * SECOND));
            assert_eq!(start.elapsed(), 4 * SECOND);
            let mut ticks = time::interval(SECOND);
            for _ in 0..3 {
                ticks.tick().await;
            }
            assert_eq!(start.elapsed(), 6 * SECOND, "the first tick comes at once");
        });
    });
}

#[test]
fn waiting_by_sleeping_is_found() {
    let report = broken(|| {
        block_on(async {
            let done = Arc::new(AtomicBool::new(false));
            let theirs = done.clone();
            let worker = spawn(async move { theirs.store(true, Ordering::SeqCst) });
            time::sleep(SECOND).await;
            assert!(done.load(Ordering::SeqCst), "a second was not enough");
            worker.await.unwrap();
        });
    });
    assert!(report.contains("a second was not enough"), "{report}");
}

fn answer_in_time() {
    block_on(async {
        let (sender, receiver) = oneshot::channel();
        let worker = spawn(async move { sender.send(1).is_ok() });
        let answer = time::timeout(SECOND, receiver).await;
        assert_eq!(answer, Ok(Ok(1)), "no answer");
        worker.await.unwrap();
    });
}

#[test]
fn time_limits_follow_the_setting() {
    let when_stuck = Config::new().strategy("exhaustive").run(answer_in_time).expect("the answer comes");
    assert!(!when_stuck.complete, "late answers were left out");
    let always = Config::new().timeouts(Timeouts::Always).run(answer_in_time);
    assert!(always.is_err_and(|error| error.to_string().contains("no answer")));
}

#[test]
fn a_time_limit_ends_a_wait_for_nothing() {
    let checked = Config::new().strategy("exhaustive").run(|| {
        block_on(async {
            let (_sender, receiver) = oneshot::channel::<()>();
            let start = Instant::now();
            let late = select! {
                _ = receiver => false,
                () = time::sleep(2 * SECOND) => true,
            };
            assert!(late && start.elapsed() == 2 * SECOND);
        });
    });
    assert!(checked.is_ok(), "{checked:?}");
}

#[test]
fn time_passes_outside_checks() {
    block_on(async {
        let start = Instant::now();
        let short = Duration::from_millis(2);
        time::sleep(short).await;
        assert!(time::timeout(short, std::future::pending::<()>()).await.is_err());
        assert!(start.elapsed() >= 2 * short);
    });
}
