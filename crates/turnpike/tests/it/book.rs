//! The example of the chapter "Testing Rust code": its report is the one that the chapter shows.

use turnpike::sync::{Arc, Mutex};
use turnpike::{CheckError, Config, thread};

struct Account {
    balance: Mutex<i64>,
}

impl Account {
    /// Takes the money if it is there.
    fn withdraw(&self, amount: i64) -> bool {
        if *self.balance.lock().unwrap() < amount {
            return false;
        }
        *self.balance.lock().unwrap() -= amount;
        true
    }

    fn withdraw_at_once(&self, amount: i64) -> bool {
        let mut balance = self.balance.lock().unwrap();
        if *balance < amount {
            return false;
        }
        *balance -= amount;
        true
    }
}

fn nobody_overdraws(withdraw: fn(&Account, i64) -> bool) {
    let account = Arc::new(Account { balance: Mutex::new(100) });
    let other = account.clone();
    let thread = thread::spawn(move || withdraw(&other, 70));
    withdraw(&account, 70);
    thread.join().unwrap();
    assert!(*account.balance.lock().unwrap() >= 0, "overdrawn");
}

#[test]
fn the_report_is_that_of_the_chapter() {
    let error = Config::new().run(|| nobody_overdraws(Account::withdraw)).expect_err("an error");
    let CheckError::Failed(failed) = error else { panic!("{error}") };
    let report = failed.to_string();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/rust-programs.md");
    let page = std::fs::read_to_string(page).expect("the chapter");
    for line in report.lines().filter(|line| !line.starts_with("replay: ")) {
        assert!(page.contains(line.trim_end()), "the chapter does not have the line\n{line}\nof\n{report}");
    }
}

#[test]
fn the_fixed_account_is_proved() {
    let config = Config::new().strategy("exhaustive");
    let checked = config.run(|| nobody_overdraws(Account::withdraw_at_once)).expect("no error");
    assert!(checked.complete);
}
