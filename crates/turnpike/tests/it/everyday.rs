//! Programs as people write them, which compile unchanged with the original crates. Each has a right form, in which no
//! schedule breaks it, and a wrong one with a typical mistake, which is found, explained and replayed.

mod corners;
mod messages;
mod tasks;
mod threads;

use turnpike::future::block_on;
use turnpike::{CheckError, Config, Timeouts};

use crate::futures::{broken, proved};

/// The crates that the programs use. With the originals it is
/// `pub use {crossbeam, lazy_static::lazy_static, once_cell, parking_lot, std::{sync, thread}, tokio};`.
mod rt {
    pub(super) use turnpike::{
        crossbeam, lazy_static::lazy_static, once_cell, parking_lot, sync, thread, tokio,
    };
}

/// Tests of programs: whether the right form is proved or only tried, and what the report of the wrong one says.
macro_rules! programs {
    ($run:expr, $right:ident: $($module:ident::$name:ident: $says:expr;)*) => {
        $(
            #[test]
            fn $name() {
                $right(|| ($run)($module::$name(false)));
                told(&broken(|| ($run)($module::$name(true))), &$says);
            }
        )*
    };
}

/// Nothing is found in the executions that there are, or in 2,000 of them.
#[track_caller]
fn tried(body: impl Fn() + Send + Sync + 'static) {
    let checked = Config::new().strategy("exhaustive").executions(2_000).run(body);
    assert!(checked.as_ref().is_ok_and(|checked| !checked.complete), "{checked:?}");
}

/// The report says what is wrong.
#[track_caller]
fn told(report: &str, says: &[&str]) {
    for part in says {
        assert!(report.contains(part), "{part:?} is missing in:\n{report}");
    }
}

programs! { block_on, proved:
    messages::cancelled_branch: ["a message is lost"];
    messages::actor: ["the actor forgot the question"];
    messages::own_sender: ["deadlock", "main.0 waits to be woken by channel 0", "it is empty and has 1 sender"];
    messages::full_circle: [
        "deadlock", "main.0 waits to be woken by channel 0", "main.1 waits to be woken by channel 1", "it is full"
    ];
    messages::reserved_room: ["deadlock", "main waits to be woken by channel 0"];
    messages::slow_subscriber: ["missed 2 messages"];
    messages::late_subscriber: ["late_subscriber"];
    messages::configuration: ["an old configuration"];
    messages::shutdown_flag: [
        "deadlock", "main.0 waits to be woken by watch 0 or channel 0", "last used by main at messages.rs"
    ];
    messages::receiver_is_gone: ["called `Result::unwrap()` on an `Err` value: \"done\""];
    tasks::queue: ["deadlock", "main waits to be woken by notify 0", "nobody waited for the notification at tasks.rs"];
    tasks::double_notify: [
        "deadlock", "waits to be woken by notify 0", "the notification at tasks.rs:62:18 was lost: another one was stored"
    ];
    tasks::two_accounts: [
        "deadlock", "held by main.0 since tasks.rs", "each waits for the next: main -> main.0 -> main"
    ];
    tasks::plain_lock_over_await: [
        "deadlock", "held by main.0 since tasks.rs", "each waits for the next: main -> main.0 -> main"
    ];
    tasks::one_at_a_time: ["two at once"];
    tasks::closed_semaphore: ["semaphore closed"];
    tasks::computed_once: ["computed twice"];
    tasks::cache: ["filled twice"];
    tasks::guards_that_travel: ["a writer came in between"];
    tasks::aborted: ["someone is still inside"];
    tasks::task_set: ["a task was aborted before it did its work"];
    tasks::phases: ["here ^ other.await.unwrap()"];
    tasks::blocking_work: ["not finished yet"];
    tasks::first_error: ["half written"];
    tasks::ticks: ["one tick too few"];
    tasks::nothing_left: ["a part is missing"];
}

programs! { block_on, tried:
    messages::batches: ["a batch is torn apart"];
}

programs! { |()| (), proved:
    threads::buffer: ["nothing to take"];
    threads::look_then_write: ["an update is lost"];
    threads::taken_again: ["deadlock", "which it holds itself since threads.rs"];
    threads::part_of_a_lock: ["it changed while it was locked"];
    threads::stop_and_work: ["work was left"];
    threads::meeting: ["nobody is there"];
    threads::scoped: ["a part is missing"];
    threads::tokens: ["deadlock", "main waits to be woken by parker 0", "last used by main.0 at threads.rs"];
    threads::queues: ["an update is lost"];
    threads::made_when_used: ["called `Result::unwrap()` on an `Err` value: 3"];
}

// Loops that wait and time limits are never proved.
programs! { |()| (), tried:
    threads::time_limits: ["no tick before the answer"];
    threads::spinning: ["not written yet"];
}

#[test]
fn late_answer() {
    let config = || Config::new().timeouts(Timeouts::Always).strategy("exhaustive");
    let right = config().run(|| block_on(messages::late_answer(false)));
    assert!(right.as_ref().is_ok_and(|checked| checked.complete), "{right:?}");
    let wrong = config().run(|| block_on(messages::late_answer(true)));
    let Err(CheckError::Failed(failed)) = wrong else { panic!("{wrong:?}") };
    told(&failed.to_string(), &["nobody waits for the answer"]);
}

/// Programs that are right.
macro_rules! right {
    (async $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                proved(|| block_on(corners::$name()));
            }
        )*
    };
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                proved(corners::$name);
            }
        )*
    };
}

right! { async
    values_of_tasks ids sets blocking_beside_local_tasks local_tasks_end set_once parts ends_of_channels notifications
    branches a_limit_on_a_loop_that_counts
}
right! { runtimes computations_that_fail without_async }

#[test]
fn locks_and_channels_of_threads() {
    tried(corners::locks_of_threads);
    tried(corners::channels_of_threads);
}
