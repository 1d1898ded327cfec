//! Philosophers who toss a coin for the fork that they take first:
//! `cargo run --release -p turnpike --example philosophers -- 5 genetic parity`.
//!
//! Each of them tosses, takes one fork, then the other, eats, and puts both back. All may end up with one fork in hand. The
//! third argument is the variant: `coin`, `parity` or `ordered`, the fixed one. `models/programs` has the same in C.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use turnpike::sync::{Arc, Mutex};
use turnpike::{CheckError, Config, choose, thread};

/// How a philosopher decides which fork to take first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The coin says left or right. A deadlock is 2 N steps away: N tosses and N first forks.
    Coin,
    /// The coin means different things to neighbours: it is combined with the parity of the seat. The same deadlock.
    Parity,
    /// The fork with the smaller number, whatever the coin says: no circle of waiting can close.
    Ordered,
}

impl Variant {
    fn left_first(self, seat: usize, left: usize, right: usize) -> bool {
        let coin = choose(2);
        match self {
            Variant::Coin => coin == 0,
            Variant::Parity => coin == seat % 2,
            Variant::Ordered => left < right,
        }
    }
}

/// `count` philosophers eat so many times each.
pub fn philosophers(count: usize, rounds: usize, variant: Variant) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
    let handles: Vec<_> = (0..count)
        .map(|seat| {
            let forks = forks.clone();
            thread::spawn(move || {
                for _ in 0..rounds {
                    let (left, right) = (seat, (seat + 1) % count);
                    let left_first = variant.left_first(seat, left, right);
                    let (first, second) = if left_first { (left, right) } else { (right, left) };
                    let _one = forks[first].lock();
                    let _other = forks[second].lock();
                }
            })
        })
        .collect();
    for handle in handles {
        let _ = handle.join();
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(5).clamp(2, 1000);
    let strategy = arguments.next().unwrap_or_else(|| "auto".to_owned());
    let variant = match arguments.next().as_deref() {
        None | Some("coin") => Variant::Coin,
        Some("parity") => Variant::Parity,
        Some("ordered") => Variant::Ordered,
        Some(other) => {
            println!("there is no variant '{other}': coin, parity or ordered");
            return ExitCode::FAILURE;
        }
    };
    let config = Config::new().strategy(strategy).executions(200_000).seconds(60);
    match config.run(move || philosophers(count, 3, variant)) {
        Ok(checked) => println!("nothing found: {checked:?}"),
        Err(CheckError::Failed(failed)) => println!("{failed}"),
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
