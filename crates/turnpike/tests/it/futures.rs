//! Tasks, wakers and joins: right programs are proved, wrong ones found and explained.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use turnpike::future::{block_on, spawn, yield_now};
use turnpike::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnpike::sync::{Arc, Mutex};
use turnpike::{CheckError, Checked, Config, Panics};

pub(crate) fn exhaustive(body: impl Fn() + Send + Sync + 'static) -> Result<Checked, CheckError> {
    Config::new().strategy("exhaustive").run(body)
}

/// Executes `body` under every schedule; none may break it. Tells how many executions that took.
#[track_caller]
pub(crate) fn proved(body: impl Fn() + Send + Sync + 'static) -> u64 {
    match exhaustive(body) {
        Ok(checked) => {
            assert!(checked.complete, "{checked}");
            checked.executions.unwrap_or(0)
        }
        Err(error) => panic!("{error}"),
    }
}

/// The report of a failure that every default search finds, and that can be replayed.
#[track_caller]
pub(crate) fn broken(body: impl Fn() + Send + Sync + Clone + 'static) -> String {
    let Err(CheckError::Failed(failed)) = Config::new().run(body.clone()) else {
        panic!("nothing was found")
    };
    let report = failed.to_string();
    let again = Config::new().replay(failed.schedule.clone()).run(body);
    let Err(CheckError::Failed(again)) = again else { panic!("not replayed:\n{report}") };
    assert_eq!(again.incident.kind, failed.incident.kind, "{report}");
    report
}

#[test]
fn tasks_run_in_any_order_and_are_joined() {
    let executions = proved(|| {
        block_on(async {
            let count = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<_> = (0..2)
                .map(|number| {
                    let count = count.clone();
                    spawn(async move {
                        count.fetch_add(1, Ordering::SeqCst);
                        number
                    })
                })
                .collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            assert_eq!((sum, count.load(Ordering::SeqCst)), (1, 2));
        });
    });
    assert!(executions > 1, "{executions}");
}

#[test]
fn an_update_that_is_lost_between_two_awaits_is_found() {
    let report = broken(|| {
        block_on(async {
            let count = Arc::new(AtomicUsize::new(0));
            let add = |count: Arc<AtomicUsize>| async move {
                let value = count.load(Ordering::SeqCst);
                yield_now().await;
                count.store(value + 1, Ordering::SeqCst);
            };
            let other = spawn(add(count.clone()));
            add(count.clone()).await;
            other.await.unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 2, "lost");
        });
    });
    assert!(report.contains("lost") && report.contains("futures.rs"), "{report}");
}

/// A flag that a future waits for. Wrong if the flag is looked at before the waker is stored.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<AtomicBool>,
    waker: Arc<Mutex<Option<Waker>>>,
    careless: bool,
}

impl Gate {
    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.careless && self.open.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        if !self.careless && self.open.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

fn pass_gate(careless: bool) {
    block_on(async move {
        let gate = Gate { careless, ..Gate::default() };
        let other = gate.clone();
        let opener = spawn(async move { other.open() });
        gate.await;
        opener.await.unwrap();
    });
}

#[test]
fn a_lost_wake_up_is_found_and_told() {
    proved(|| pass_gate(false));
    let report = broken(|| pass_gate(true));
    assert!(report.contains("deadlock") && report.contains("main waits to be unparked"), "{report}");
    assert!(report.contains("its waker was stored after the step at futures.rs"), "{report}");
}

#[test]
fn a_future_that_forgets_its_waker_is_told() {
    let report = broken(|| block_on(poll_fn(|_| Poll::<()>::Pending)));
    assert!(report.contains("its waker is gone"), "{report}");
}

#[test]
fn a_task_that_never_finishes_is_told_by_who_waits_for_it() {
    let report = broken(|| {
        block_on(async {
            let stuck = spawn(std::future::pending::<()>());
            stuck.await.unwrap();
        });
    });
    assert!(report.contains("main waits for the end of main.0"), "{report}");
}

#[test]
fn aborted_tasks_drop_their_futures() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let results = seen.clone();
    proved(move || {
        let results = results.clone();
        block_on(async move {
            let (drops, began) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
            let (dropped, begins) = (Dropped(drops.clone()), began.clone());
            let task = spawn(async move {
                let _dropped = dropped;
                begins.store(true, Ordering::SeqCst);
                yield_now().await;
                7
            });
            task.abort();
            let result = task.await;
            assert_eq!(drops.load(Ordering::SeqCst), 1, "dropped once, before it is joined");
            let outcome = match result {
                Ok(value) => value,
                Err(error) => {
                    assert!(error.is_cancelled() && !error.is_panic());
                    assert_eq!(error.to_string(), "task 0 was cancelled");
                    0
                }
            };
            results.lock().unwrap().insert((began.load(Ordering::SeqCst), outcome));
        });
    });
    let seen: Vec<_> = seen.lock().unwrap().iter().copied().collect();
    assert_eq!(seen, [(false, 0), (true, 0), (true, 7)], "before it began, in the middle, too late");
}

#[test]
fn panics_of_tasks_are_failures_or_told_to_who_joins() {
    let panics = || {
        block_on(async {
            let error = spawn(async { panic!("on purpose") }).await.unwrap_err();
            assert!(error.is_panic() && !error.is_cancelled());
            assert_eq!(error.to_string(), "task 0 panicked with message \"on purpose\"");
            assert_eq!(error.into_panic().downcast_ref::<&str>(), Some(&"on purpose"));
        });
    };
    assert!(broken(panics).contains("on purpose"));
    let told = Config::new().strategy("exhaustive").panics(Panics::Join).run(panics);
    assert!(told.is_ok_and(|checked| checked.complete));
}

#[test]
fn handles_say_whether_a_task_is_finished() {
    proved(|| {
        block_on(async {
            let task = spawn(async {});
            if task.is_finished() {
                task.abort();
                assert!(task.await.is_ok(), "too late to abort it");
            } else {
                assert!(task.await.is_ok());
            }
        });
    });
}

#[test]
fn spinning_tasks_wait_for_a_change() {
    let spin = |stop: bool| {
        block_on(async move {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let task = spawn(async move {
                while !other.load(Ordering::SeqCst) {
                    yield_now().await;
                }
            });
            if stop {
                flag.store(true, Ordering::SeqCst);
            }
            task.await.unwrap();
        });
    };
    assert!(exhaustive(move || spin(true)).is_ok());
    assert!(broken(move || spin(false)).contains("livelock"));
}

#[test]
fn a_future_may_wake_itself() {
    proved(|| {
        block_on(async {
            let mut left = 3;
            poll_fn(|context| {
                left -= 1;
                if left == 0 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        });
    });
}

#[test]
fn futures_work_outside_checks() {
    block_on(async {
        let gate = Gate::default();
        let other = gate.clone();
        let opener = spawn(async move {
            yield_now().await;
            other.open();
            5
        });
        gate.await;
        assert_eq!(opener.await.unwrap(), 5);
        let stuck = spawn(std::future::pending::<()>());
        stuck.abort();
        assert!(stuck.await.unwrap_err().is_cancelled());
    });
}
