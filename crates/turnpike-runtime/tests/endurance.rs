//! Many executions, however they end, take no more memory than a few.
#![cfg(target_os = "linux")]

use turnpike_runtime::sync::{Arc, Mutex};
use turnpike_runtime::{Guest, GuestOptions, choose, thread};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

/// Bytes of resident memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn executions_leave_no_memory_behind() {
    let body = || {
        let locks = Arc::new((Mutex::new(vec![0_u8; 1000]), Mutex::new(())));
        let other = locks.clone();
        let handle = thread::spawn(move || {
            let _one = other.0.lock().unwrap();
            let _two = other.1.lock().unwrap();
        });
        let wrong = choose(3) == 0;
        {
            let _two = locks.1.lock().unwrap();
            let _one = locks.0.lock().unwrap();
            assert!(!wrong, "chosen");
        }
        handle.join().unwrap();
    };
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    let mut ends = [0; 4];
    let mut before = 0;
    for seed in 0..40_000 {
        let max_steps = if seed % 2 == 0 { 4 } else { 1000 };
        let plan = Plan { policy: Policy::Uniform { seed }, max_steps, ..Plan::new(&[]) };
        guest.run(&plan, &mut execution).unwrap();
        ends[match execution.end {
            End::Finished => 0,
            End::Failed(_) => 1,
            End::Deadlock => 2,
            _ => 3,
        }] += 1;
        if seed == 5_000 {
            before = resident();
        }
    }
    assert!(ends.iter().all(|count| *count > 500), "{ends:?}");
    let growth = resident().saturating_sub(before);
    assert!(growth < 2 << 20, "{growth} bytes");
}
