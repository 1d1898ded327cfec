//! Executes closures under all schedules, or some.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use turnpike_runtime::{Guest, GuestOptions};
use turnpike_scheduler::{Detail, End, Execution, Executor, Plan, Policy};

/// Executes `body` under every schedule, in depth-first order, and counts how executions end.
pub(crate) fn all(body: impl Fn() + Send + Sync + 'static) -> Vec<End> {
    all_with(GuestOptions::default(), Plan::new(&[]), body)
}

/// The same with options.
pub(crate) fn all_with(
    options: GuestOptions,
    plan: Plan<'_>,
    body: impl Fn() + Send + Sync + 'static,
) -> Vec<End> {
    let mut guest = Guest::new(body, options);
    let mut execution = Execution::default();
    let mut prefix = Vec::new();
    let mut ends = Vec::new();
    loop {
        guest
            .run(&Plan { prefix: &prefix, policy: Policy::First, ..plan }, &mut execution)
            .expect("the program can be executed");
        ends.push(execution.end.clone());
        assert!(ends.len() < 2_000_000, "too many schedules");
        let steps = &execution.steps;
        let Some(last) = steps.iter().rposition(|step| step.taken + 1 < step.count) else { return ends };
        prefix.clear();
        prefix.extend(steps[..last].iter().map(|step| step.taken));
        prefix.push(steps[last].taken + 1);
    }
}

/// Executes `body` under every schedule; each execution must finish. Returns the reported results
/// and their frequencies.
pub(crate) fn outcomes<T: Ord + Send + 'static>(
    body: impl Fn(&dyn Fn(T)) + Send + Sync + 'static,
) -> BTreeMap<T, usize> {
    let results = Arc::new(Mutex::new(BTreeMap::new()));
    let seen = results.clone();
    let ends = all(move || {
        body(&|result| *seen.lock().expect("no panic").entry(result).or_insert(0) += 1);
    });
    for end in ends {
        assert_eq!(end, End::Finished);
    }
    std::mem::take(&mut *results.lock().expect("no panic"))
}

/// Executes `body` under `count` random schedules; each execution must finish. Returns the reported
/// results.
pub(crate) fn sampled<T: Ord + Send + 'static>(
    count: u64,
    body: impl Fn(&dyn Fn(T)) + Send + Sync + 'static,
) -> BTreeMap<T, usize> {
    let results = Arc::new(Mutex::new(BTreeMap::new()));
    let seen = results.clone();
    let body = move || body(&|result| *seen.lock().expect("no panic").entry(result).or_insert(0) += 1);
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    for seed in 0..count {
        let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) };
        guest.run(&plan, &mut execution).expect("the program can be executed");
        assert_eq!(execution.end, End::Finished);
    }
    std::mem::take(&mut *results.lock().expect("no panic"))
}

/// Checks that all schedules finish; returns their number.
pub(crate) fn finishes(body: impl Fn() + Send + Sync + 'static) -> usize {
    let ends = all(body);
    for end in &ends {
        assert_eq!(*end, End::Finished);
    }
    ends.len()
}

/// The message of the first failing schedule.
pub(crate) fn fails(body: impl Fn() + Send + Sync + 'static) -> Option<String> {
    all(body).into_iter().find_map(|end| match end {
        End::Failed(failure) => Some(failure.message),
        _ => None,
    })
}

/// Executes `body` once, with this policy.
pub(crate) fn once(policy: Policy<'_>, body: impl Fn() + Send + Sync + 'static) -> (Execution, Guest) {
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    guest
        .run(&Plan { policy, detail: Detail::Full, ..Plan::new(&[]) }, &mut execution)
        .expect("the program can be executed");
    (execution, guest)
}
