//! Benchmarks of stores, strategies and reduction on built-in models. Each row has a target.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use turnpike_lts::{AutDialect, read_lts_file, write_lts_file};
use turnpike_lts::{DEFAULT_LIMIT, Equivalence, reduce};
use turnpike_model::Model;
use turnpike_session::{Limits, Objective, Plan, Search, StoreKind, StrategyChoice};

use super::costly::Costly;
use super::hand_written;
use super::measure::{best, generation};
use super::table::Row;
use crate::explicit;
use crate::failure::{Failure, Outcome};

/// How large everything is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Philosophers that are generated.
    philosophers: u32,
    /// Philosophers on the highway, and how many states are expanded.
    highway: (u32, u64),
    /// Philosophers whose steps are costly, and how many nanoseconds an expansion takes.
    costly: (u32, u64),
    /// Resource managers.
    managers: u32,
    /// Bakery customers and tickets of the system that is written, read and reduced.
    bakery: (u32, u32),
    /// Whether promises can be judged.
    judged: bool,
}

pub(super) const FULL: Sizes = Sizes {
    philosophers: 12,
    highway: (14, 1_000_000),
    costly: (10, 2_000),
    managers: 7,
    bakery: (4, 13),
    judged: true,
};
pub(super) const QUICK: Sizes = Sizes {
    philosophers: 6,
    highway: (7, 2_000),
    costly: (5, 2_000),
    managers: 3,
    bakery: (2, 4),
    judged: false,
};

const WIDTH: u64 = 100_000;
/// Promised transitions per second and core.
const RATE: f64 = 2e6;
const TREE_BYTES: f64 = 16.0;
/// Promised speed-up by a second thread when steps are costly.
const THREADS: f64 = 1.5;
/// Reading and reducing together, in seconds.
const REDUCTION: f64 = 10.0;

/// Measures all rows, and reports each as soon as it is known.
pub(super) fn measure(sizes: &Sizes, repeat: u32, tell: &mut dyn FnMut(&Row)) -> Outcome<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut add = |row: Row| {
        tell(&row);
        rows.push(row.clone());
        row
    };
    let philosophers = builtin("philosophers", &[("n", sizes.philosophers)])?;
    let name = format!("philosophers({})", sizes.philosophers);

    let (time, (states, transitions)) = best(repeat, || Ok(hand_written::philosophers(sizes.philosophers)))?;
    let counting = add(Row::new("hand-written, counting", &name, states, transitions, time));
    // The yardstick does the work of `generate`: it numbers the states, so that transitions have two ends.
    let (time, numbered) = best(repeat, || Ok(hand_written::numbered(sizes.philosophers)))?;
    let yardstick = Row::new("hand-written, numbering", &name, numbered.0, numbered.1, time);
    let yardstick = add(yardstick.relative_to(&counting));

    let exact = generation("generate", &name, &*philosophers, StoreKind::Exact, repeat)?;
    if (exact.states, exact.transitions) != (states, transitions) {
        return Err(Failure {
            exit: crate::exit::Exit::Internal,
            ..Failure::usage("the generated system differs from the hand-written one")
        });
    }
    let per_state = exact.bytes_per_state.unwrap_or_default();
    let most = 4.0 * philosophers.info().width as f64 + 24.0;
    let exact = exact.relative_to(&yardstick);
    let (fast, close) = (exact.transitions_per_second >= RATE, exact.ratio >= Some(0.5));
    let exact = exact
        .promised("2 Mtrans/s", fast, sizes.judged)
        .promised("half the numbering rate", close, sizes.judged)
        .promised(format!("{most} bytes"), per_state <= most, sizes.judged);
    let exact = add(exact);

    let tree = generation("generate --store tree", &name, &*philosophers, StoreKind::Tree, repeat)?;
    let small = tree.bytes_per_state.is_some_and(|bytes| bytes <= TREE_BYTES);
    add(tree.relative_to(&exact).promised(format!("{TREE_BYTES} bytes"), small, sizes.judged));

    let (seats, expansions) = sizes.highway;
    let larger = builtin("philosophers", &[("n", seats)])?;
    let mut search = unmet(StrategyChoice::named("highway").with("width", WIDTH));
    search.limits.states = Some(expansions);
    let label = format!("philosophers({seats})");
    let highway = searching("highway --width 100000", &label, &larger, &search, repeat)?;
    let highway = highway.relative_to(&exact);
    let met = highway.transitions_per_second >= RATE / 2.0;
    add(highway.promised("1 Mtrans/s", met, sizes.judged));

    let commit = builtin("two-phase-commit", &[("n", sizes.managers)])?;
    let label = format!("two-phase-commit({})", sizes.managers);
    let row = generation("generate", &label, &*commit, StoreKind::Exact, repeat)?;
    let met = row.cpu_seconds.unwrap_or(row.seconds) <= 1.0;
    add(row.promised("1 s", met, sizes.judged));

    let mut search = unmet(StrategyChoice::named("bfs"));
    let one = searching("bfs, 1 thread", &name, &philosophers, &search, repeat)?;
    let one = add(one.by_the_clock());
    search.running.threads = Some(2);
    let two = searching("bfs, 2 threads", &name, &philosophers, &search, repeat)?;
    add(two.by_the_clock().relative_to(&one));

    costly_steps(sizes, repeat, &mut search, &mut add)?;
    reduction(sizes, repeat, &mut add)?;
    Ok(rows)
}

/// What threads are for: a model whose steps cost more than remembering them.
fn costly_steps(
    sizes: &Sizes,
    repeat: u32,
    search: &mut Search,
    add: &mut dyn FnMut(Row) -> Row,
) -> Outcome<()> {
    let (seats, nanoseconds) = sizes.costly;
    let slowed = builtin("philosophers", &[("n", seats)])?;
    let costly: Arc<dyn Model> = Arc::new(Costly::new(slowed, Duration::from_nanos(nanoseconds)));
    let label = format!("{} us a step", nanoseconds as f64 / 1e3);
    search.running.threads = Some(1);
    let one = searching("bfs, costly, 1 thread", &label, &costly, search, repeat)?;
    let one = add(one.by_the_clock());
    search.running.threads = Some(2);
    let two = searching("bfs, costly, 2 threads", &label, &costly, search, repeat)?;
    let two = two.by_the_clock().relative_to(&one);
    let met = two.ratio >= Some(THREADS);
    // One processor cannot keep a promise about two.
    let judged =
        sizes.judged && std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
    add(two.promised(format!("{THREADS} times one thread"), met, judged));
    Ok(())
}

/// Writes, reads and reduces a system in a temporary file.
fn reduction(sizes: &Sizes, repeat: u32, add: &mut dyn FnMut(Row) -> Row) -> Outcome<()> {
    let (customers, tickets) = sizes.bakery;
    let model = builtin("bakery", &[("n", customers), ("limit", tickets)])?;
    let lts = explicit::generated(&*model, &Limits::default())?;
    let (states, transitions) = (u64::from(lts.states), lts.transitions.len() as u64);
    let name = format!("bakery({customers},{tickets})");
    let failed = |error: std::io::Error| Failure::file("a temporary file", "make", &error);
    let file = tempfile::Builder::new().suffix(".aut").tempfile().map_err(failed)?;
    let path = file.path();
    let (time, ()) = best(repeat, || Ok(write_lts_file(&lts, path, AutDialect::Mcrl2)?))?;
    add(Row::new("write .aut", &name, states, transitions, time));
    drop(lts);
    let (reading, lts) = best(repeat, || Ok(read_lts_file(path, AutDialect::Mcrl2)?))?;
    add(Row::new("read .aut", &name, states, transitions, reading));
    let (reducing, smaller) = best(repeat, || Ok(reduce(&lts, Equivalence::Strong, DEFAULT_LIMIT)?))?;
    let met = reading.work() + reducing.work() < REDUCTION;
    let row = Row::new("reduce, strong", &name, states, transitions, reducing);
    let target = format!("reading and reducing under {REDUCTION} s; {} states are left", smaller.states);
    add(row.promised(target, met, sizes.judged));
    Ok(())
}

fn builtin(name: &str, settings: &[(&str, u32)]) -> Outcome<Arc<dyn Model>> {
    let settings: Vec<_> =
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_string())).collect();
    let model = turnpike_builtin::build(name, &settings);
    Ok(model.map_err(|error| Failure::usage(error.to_string()))?.into())
}

/// A search that goes on to its end, with one thread.
fn unmet(strategy: StrategyChoice) -> Search {
    let mut search = Search { strategy, ..Search::default() };
    search.goals.find.extend("action no-such-action".parse::<Objective>());
    search.goals.allow_unknown = true;
    search.running.threads = Some(1);
    search
}

fn searching(name: &str, label: &str, model: &Arc<dyn Model>, search: &Search, repeat: u32) -> Outcome<Row> {
    let plan = Plan::of_model(Arc::clone(model), search)?;
    let (time, report) = best(repeat, || Ok(plan.run(&|_| {}, &AtomicBool::new(false))?))?;
    let (states, transitions) = report.runs.first().map_or((0, 0), |run| (run.states, run.transitions));
    Ok(Row::new(name, label, states, transitions, time))
}
