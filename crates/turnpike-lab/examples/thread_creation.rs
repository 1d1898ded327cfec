//! What the creation of threads costs partial-order sampling (`pos`): a simulation without any program.
//!
//! `twostage` has T threads that set two values one after the other, each under its own lock, and R threads that
//! read the first and, if it is set, the second. A reader that comes between the two settings is the error. In
//! turnpike all threads exist before the first step. In other tools the main thread is scheduled like any other
//! while it creates them, so that early threads are done before the last one is there. This simulation gives the
//! main thread `k` steps for each thread it creates, and prints how many executions a success takes.
//!
//!   cargo run --release -p turnpike-lab --example thread_creation
#![allow(clippy::print_stdout, reason = "an example")]

/// What a thread does next.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Lock(usize),
    Unlock(usize),
}

const STEPS: [Step; 4] = [Step::Lock(0), Step::Unlock(0), Step::Lock(1), Step::Unlock(1)];

/// The setters that create the value, and the readers that come after them.
#[derive(Clone, Copy)]
struct Program {
    setters: usize,
    readers: usize,
    /// Steps of the main thread for each thread that it creates.
    creation: usize,
}

/// SplitMix64: numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A thread that was created.
struct Thread {
    at: usize,
    priority: u64,
    /// For a reader: the first value as it saw it.
    seen: bool,
}

/// One execution by partial-order sampling: the step with the highest priority is taken, and the steps that race
/// with it get new ones. Returns whether a reader saw the first value without the second.
fn execute(program: Program, random: &mut Random) -> bool {
    let Program { setters, readers, creation } = program;
    let all = setters + readers;
    let mut threads: Vec<Thread> = Vec::new();
    let mut main_steps = 0_usize;
    let mut main_priority = random.next();
    let (mut holder, mut set) = ([None; 2], [false; 2]);
    loop {
        let created = main_steps.checked_div(creation).unwrap_or(all).min(all);
        while threads.len() < created {
            threads.push(Thread { at: 0, priority: random.next(), seen: false });
        }
        let enabled = threads.iter().enumerate().filter(|(_, thread)| match STEPS.get(thread.at) {
            Some(Step::Lock(lock)) => holder[*lock].is_none(),
            step => step.is_some(),
        });
        let best = enabled.max_by_key(|(_, thread)| thread.priority).map(|(index, _)| index);
        let main_is_first = best.is_none_or(|index| main_priority > threads[index].priority);
        if created < all && main_is_first {
            main_steps += 1;
            main_priority = random.next();
            continue;
        }
        let Some(index) = best else { return false };
        let step = STEPS[threads[index].at];
        let is_setter = index < setters;
        threads[index].at += 1;
        match step {
            Step::Lock(lock) => {
                holder[lock] = Some(index);
                match (is_setter, lock) {
                    (true, lock) => set[lock] = true,
                    (false, 0) => threads[index].seen = set[0],
                    (false, _) if !set[1] => return true,
                    (false, _) => {}
                }
            }
            Step::Unlock(lock) => {
                holder[lock] = None;
                // A reader that saw nothing is done.
                if !is_setter && lock == 0 && !threads[index].seen {
                    threads[index].at = STEPS.len();
                }
            }
        }
        threads[index].priority = random.next();
        let object = |step: &Step| match step {
            Step::Lock(lock) | Step::Unlock(lock) => *lock,
        };
        for (other, thread) in threads.iter_mut().enumerate() {
            let races = STEPS.get(thread.at).is_some_and(|next| object(next) == object(&step));
            if other != index && races {
                thread.priority = random.next();
            }
        }
    }
}

/// Executions for each success.
fn executions_per_success(program: Program, executions: u32) -> f64 {
    let mut random = Random(1);
    let successes = (0..executions).filter(|_| execute(program, &mut random)).count();
    f64::from(executions) / successes.max(1) as f64
}

fn main() {
    println!("steps of main for each thread: executions per success with 10 + 10 and with 40 + 10 threads");
    for creation in 0..=3 {
        let cost = |setters| executions_per_success(Program { setters, readers: 10, creation }, 40_000);
        println!("{creation}: {:.0} and {:.0}", cost(10), cost(40));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_created_in_steps_make_the_error_rare() {
        let cost = |creation| executions_per_success(Program { setters: 10, readers: 10, creation }, 4_000);
        assert!(cost(0) < 10.0, "{}", cost(0));
        assert!(cost(1) > 5.0 * cost(0), "{}", cost(1));
        assert!(cost(3) > 1.5 * cost(1), "{}", cost(3));
    }
}
