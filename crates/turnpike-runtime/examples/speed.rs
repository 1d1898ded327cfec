//! Measures the speed of executing Rust programs: `cargo run --release -p turnpike-runtime
//! --example speed`.
#![allow(clippy::print_stdout)]

use std::time::Duration;

use turnpike_runtime::bench::{measure, shapes};
use turnpike_scheduler::{GuestError, Memory, Policy};

fn main() -> Result<(), GuestError> {
    let only = std::env::args().nth(1);
    for shape in shapes() {
        if only.as_ref().is_some_and(|only| !shape.name.contains(only.as_str())) {
            continue;
        }
        for (policy, name) in [("random", false), ("pct", true)].map(|(name, pct)| (pct, name)) {
            let plan = |seed| match policy {
                false => Policy::Uniform { seed },
                true => Policy::Pct { seed, depth: 2, length: 10_000 },
            };
            let speed = measure(&shape, plan, Memory::Sc, Duration::from_secs(1))?;
            println!(
                "{:45} {name:8} {:>12.0} steps/s {:>10.0} executions/s",
                shape.name,
                speed.steps_per_second(),
                speed.executions_per_second()
            );
        }
    }
    Ok(())
}
