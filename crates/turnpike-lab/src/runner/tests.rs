use std::sync::atomic::AtomicUsize;

use super::*;
use crate::experiment::Experiment;

/// Runs whose result is a function of strategy and number; counts them, and stops the lab after so many.
struct Counting {
    made: Arc<AtomicUsize>,
    interrupt_after: usize,
    fail_at: Option<u64>,
}

struct Counted {
    name: String,
    made: Arc<AtomicUsize>,
    interrupt_after: usize,
    fail_at: Option<u64>,
}

impl Workshop for Counting {
    fn content(&self, cell: &Cell) -> Result<u64, Diagnostic> {
        Ok(cell.model.len() as u64)
    }

    fn check(&self, _: &[&Cell]) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn prepare(&self, cell: &Cell) -> Result<Arc<dyn Job>, Diagnostic> {
        let Counting { made, interrupt_after, fail_at } = self;
        let name = cell.strategy.clone();
        Ok(Arc::new(Counted {
            name,
            made: made.clone(),
            interrupt_after: *interrupt_after,
            fail_at: *fail_at,
        }))
    }
}

impl Job for Counted {
    fn run(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<Record>, Diagnostic> {
        if self.fail_at == Some(number) {
            return Err(Diagnostic::error("it broke"));
        }
        if self.made.fetch_add(1, Ordering::Relaxed) + 1 == self.interrupt_after {
            interrupt.store(true, Ordering::Relaxed);
        }
        let states = number * 10 + self.name.len() as u64;
        Ok(Some(Record { number, found: true, states, stop: "found".into(), ..Record::default() }))
    }
}

fn experiment() -> Vec<Cell> {
    let text = "title = 'T'\nruns = 40\n[[model]]\nname = 'a'\nuse = 'a'\n[[model]]\nname = 'bb'\nuse = 'b'\nruns = 3\n\
                [[strategy]]\nname = 's {w}'\nflags = '--width {w}'\nvary = { w = [1, 20] }\n";
    Experiment::parse(text).expect("an experiment").cells(false)
}

fn lab(
    path: &std::path::Path,
    jobs: usize,
    scale: f64,
    workshop: &Counting,
) -> Result<(u64, Vec<String>), Diagnostic> {
    let mut store = Store::open(path)?;
    let cells = experiment();
    let interrupt = AtomicBool::new(false);
    let settings = Settings { jobs, scale, least: LEAST_RUNS };
    let new = run(
        Series { experiment: "e", version: "1", cells: &cells },
        workshop,
        &mut store,
        settings,
        &interrupt,
        &mut |_| {},
    )?;
    let mut rows = Vec::new();
    for (id, key) in store.cells("e")? {
        rows.extend(
            store
                .runs(id)?
                .iter()
                .map(|run| format!("{} {} {} {}", key.model, key.strategy, run.number, run.states)),
        );
    }
    Ok((new, rows))
}

fn workshop(interrupt_after: usize) -> Counting {
    Counting { made: Arc::default(), interrupt_after, fail_at: None }
}

#[test]
fn an_interrupted_lab_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = lab(&folder.path().join("whole.db"), 3, 1.0, &workshop(usize::MAX)).expect("all runs");
    assert_eq!((whole.0, whole.1.len()), (86, 86));

    let path = folder.path().join("parts.db");
    let mut parts = 0;
    for jobs in [1, 2, 3, 1] {
        let workshop = workshop(25);
        let (new, _) = lab(&path, jobs, 1.0, &workshop).expect("some runs");
        // Nothing that was made is lost, nothing is made twice.
        assert_eq!(new as usize, workshop.made.load(Ordering::Relaxed));
        parts += new;
    }
    assert_eq!(parts, 86);
    let again = lab(&path, 2, 1.0, &workshop(usize::MAX)).expect("nothing to do");
    assert_eq!((again.0, again.1), (0, whole.1));
}

#[test]
fn scaling_changes_the_number_of_runs_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.db");
    // 40 runs become 10; 3 stay 3, because fewer would say nothing.
    let small = lab(&path, 2, 0.25, &workshop(usize::MAX)).expect("some runs");
    assert_eq!(small.0, 2 * 10 + 2 * 3);
    let whole = lab(&path, 2, 1.0, &workshop(usize::MAX)).expect("the other runs");
    assert_eq!(whole.0, 2 * 30);
    assert!(small.1.iter().all(|row| whole.1.contains(row)));
    let usual = |runs, scale| scaled(runs, scale, LEAST_RUNS);
    assert_eq!([usual(100, 0.05), usual(100, 0.001), usual(1, 0.5), usual(10, 2.0)], [5, 5, 1, 20]);
    assert_eq!([scaled(100, 0.001, 1), scaled(100, 0.02, 1), scaled(100, 0.001, 0)], [1, 2, 1]);
}

#[test]
fn a_broken_run_is_told_and_the_others_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.db");
    let broken = Counting { fail_at: Some(10), ..workshop(usize::MAX) };
    let error = lab(&path, 1, 1.0, &broken).expect_err("it breaks");
    assert_eq!(error.message, "a / s 1, run 10: it broke");
    let (new, _) = lab(&path, 1, 1.0, &workshop(usize::MAX)).expect("the others");
    assert_eq!(new, 86 - 10);
}

/// A model whose content is another one each time it is asked for.
struct Changing(AtomicUsize);

impl Workshop for Changing {
    fn content(&self, _: &Cell) -> Result<u64, Diagnostic> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed) as u64)
    }

    fn check(&self, _: &[&Cell]) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn prepare(&self, _: &Cell) -> Result<Arc<dyn Job>, Diagnostic> {
        let made = Arc::new(AtomicUsize::new(0));
        Ok(Arc::new(Counted { name: "s".into(), made, interrupt_after: usize::MAX, fail_at: None }))
    }
}

#[test]
fn a_model_that_changes_meanwhile_is_not_filed_under_what_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a database");
    let (cells, interrupt) = (experiment(), AtomicBool::new(false));
    let series = Series { experiment: "e", version: "1", cells: &cells };
    let settings = Settings { jobs: 1, scale: 1.0, least: LEAST_RUNS };
    let outcome = run(series, &Changing(AtomicUsize::new(0)), &mut store, settings, &interrupt, &mut |_| {});
    let error = outcome.expect_err("it changed");
    assert!(error.message.contains("was changed while the lab was running"), "{}", error.message);
    assert_eq!(store.cells("e").expect("cells"), [], "nothing was kept");
}
