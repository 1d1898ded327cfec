//! Measures the best of several runs, by wall clock and by processor time.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use turnpike_model::Model;
use turnpike_session::StoreKind;
use turnpike_session::generate::{Discard, GenerateError, GenerateOptions, generate};

use super::table::{Row, Time};
use crate::failure::{Failure, Outcome};

/// Runs shorter than this are measured by the clock.
const SHORTEST: f64 = 0.05;

/// The whole state space of a model.
pub(super) fn generation(
    name: &str,
    label: &str,
    model: &dyn Model,
    store: StoreKind,
    repeat: u32,
) -> Outcome<Row> {
    let options = GenerateOptions { store, ..GenerateOptions::default() };
    let (time, report) = best(repeat, || {
        generate(model, &options, &mut Discard, &|_| {}, &AtomicBool::new(false)).map_err(|error| match error
        {
            GenerateError::Search(error) => Failure::from(error),
            error => Failure::usage(error.to_string()),
        })
    })?;
    let mut row = Row::new(name, label, report.states, report.transitions, time);
    row.bytes_per_state = Some(report.store_bytes as f64 / report.states as f64);
    Ok(row)
}

/// Runs the work again and again; gives the shortest times and the last result.
pub(super) fn best<T>(repeat: u32, mut work: impl FnMut() -> Outcome<T>) -> Outcome<(Time, T)> {
    let mut timed = || -> Outcome<(Time, T)> {
        let (started, on_processor) = (Instant::now(), processor_seconds());
        let result = work()?;
        let seconds = started.elapsed().as_secs_f64();
        let cpu_seconds = processor_seconds().zip(on_processor).map(|(end, start)| end - start);
        // The account is kept in ticks: of a short run it says nothing.
        let cpu_seconds = cpu_seconds.filter(|&cpu| seconds >= SHORTEST && cpu > 0.0);
        Ok((Time { seconds, cpu_seconds }, result))
    };
    let (mut best, mut result) = timed()?;
    for _ in 1..repeat {
        // The former result goes before the next run, so that memory is not held twice.
        drop(result);
        let (next, fresh) = timed()?;
        best.seconds = best.seconds.min(next.seconds);
        best.cpu_seconds = best.cpu_seconds.zip(next.cpu_seconds).map(|(one, other)| one.min(other));
        result = fresh;
    }
    Ok((best, result))
}

/// Time that this thread has spent on a processor, where the system keeps account of it.
fn processor_seconds() -> Option<f64> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = account.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
