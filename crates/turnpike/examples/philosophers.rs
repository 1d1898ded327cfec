//! Philosophers who take either fork first: `cargo run --release -p turnpike --example philosophers -- 5 genetic`.
//!
//! Each of them tosses a coin, takes one fork, then the other, eats, and puts both back, three times. All may end up with one
//! fork in hand. The fixed twin (a third argument, `ordered`) takes the fork with the smaller number first.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use turnpike::sync::{Arc, Mutex};
use turnpike::{CheckError, Config, choose, thread};

const ROUNDS: usize = 3;

fn philosophers(count: usize, ordered: bool) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
    let handles: Vec<_> = (0..count)
        .map(|me| {
            let forks = forks.clone();
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    let (left, right) = (me, (me + 1) % count);
                    let coin = choose(2) == 0;
                    let left_first = if ordered { left < right } else { coin };
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
    let ordered = arguments.next().is_some_and(|word| word == "ordered");
    let config = Config::new().strategy(strategy).executions(200_000).seconds(60);
    match config.run(move || philosophers(count, ordered)) {
        Ok(checked) => println!("nothing found: {checked:?}"),
        Err(CheckError::Failed(failed)) => println!("{failed}"),
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
