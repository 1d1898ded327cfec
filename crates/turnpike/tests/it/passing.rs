//! What a check that found nothing says of itself: whether that is a proof, and on what it rests.

use std::process::{Command, Output};

use turnpike::sync::{Arc, Mutex};
use turnpike::{Config, NativeModel, Search, thread};

/// Threads that lock in the same order.
fn correct(threads: usize) {
    let count = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || *count.lock().unwrap() += 1)
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), threads);
}

#[test]
fn a_result_in_words_says_whether_it_is_a_proof() {
    let proved = Config::new().strategy("exhaustive").run(|| correct(2)).unwrap();
    assert!(proved.complete && proved.stopped.is_none(), "{proved:?}");
    let executions = proved.executions.expect("they are counted");
    assert_eq!(proved.to_string(), format!("proved: {executions} executions cover all schedules"));

    let spent = Config::new().strategy("pos").executions(20).run(|| correct(3)).unwrap();
    assert_eq!(
        spent.to_string(),
        "not proved: nothing was found in 20 executions, but not all schedules were covered: \
         the limit on executions was reached"
    );

    let cut = Config::new().strategy("exhaustive").steps(4).run(|| correct(2)).unwrap();
    let text = cut.to_string();
    assert!(text.starts_with("not proved: ") && text.contains("executions were cut after 4 steps"), "{text}");
}

fn child(name: &str, flags: &[&str], log: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", name]).args(flags).env("TURNPIKE_CHILD", "1").env_remove("TURNPIKE_LOG");
    if let Some(log) = log {
        command.env("TURNPIKE_LOG", log);
    }
    command.output().expect("this test runs again")
}

#[test]
fn a_check_that_passes_says_what_it_is_worth() {
    let proved = "turnpike: passing::is_proved_in_a_child: proved: ";
    let spent =
        "turnpike: passing::runs_out_of_its_budget_in_a_child: not proved: nothing was found in 5 executions";
    let model =
        "turnpike: passing::covers_a_model_in_a_child: proved: nothing was found in any reachable state";
    let part = "turnpike: passing::covers_a_part_in_a_child: not proved: nothing was found, but";
    for (test, line) in [
        ("is_proved_in_a_child", proved),
        ("runs_out_of_its_budget_in_a_child", spent),
        ("covers_a_model_in_a_child", model),
        ("covers_a_part_in_a_child", part),
    ] {
        let test = format!("passing::{test}");
        let said = |flags: &[&str], log| {
            let output = child(&test, flags, log);
            assert!(output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        let text = said(&["--nocapture"], None);
        assert!(text.contains(line), "{text}");
        // The harness hides what tests print, but not this.
        let text = said(&[], Some("info"));
        assert!(text.contains(line), "{text}");
        let text = said(&[], None);
        assert!(!text.contains("turnpike: "), "{text}");
    }
}

/// Only does something when the test above runs it.
#[test]
fn is_proved_in_a_child() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        Config::new().strategy("exhaustive").check(|| correct(2));
    }
}

/// Only does something when the test above runs it.
#[test]
fn runs_out_of_its_budget_in_a_child() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        Config::new().strategy("pos").executions(5).check(|| correct(3));
    }
}

/// Counts to nine, and begins again.
struct Counter;

impl NativeModel for Counter {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
        actions.push(*state);
    }

    fn next(&self, state: &u8, _: &u8) -> Option<u8> {
        Some((state + 1) % 10)
    }
}

/// Only does something when the test above runs it.
#[test]
fn covers_a_model_in_a_child() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        Search::of(Counter).find("deadlock").assert_absent();
    }
}

/// Only does something when the test above runs it.
#[test]
fn covers_a_part_in_a_child() {
    if std::env::var("TURNPIKE_CHILD").is_ok() {
        Search::of(Counter).find("deadlock").max_states(3).assert_absent();
    }
}
