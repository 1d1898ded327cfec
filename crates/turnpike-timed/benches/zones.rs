//! How fast the operations on zones are, by dimension: `cargo bench -p turnpike-timed --bench zones
//! [-- DIMENSION...]`.
//!
//! The sample of a dimension are zones of a random walk like that of a protocol: a clock is tested
//! from below, one is set to zero, time passes within invariants, and the result is extrapolated.
//! Figures are nanoseconds an operation on one thread; operations that change a zone are measured
//! on a fresh copy, and the copy is taken off. `step` is a whole successor, from number to number.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use turnpike_timed::zone::{Bound, Dbm, Extrapolation, Origin, ZoneId, Zones};

const SAMPLE: usize = 256;
const BATCH: usize = 16;
const DURATION: Duration = Duration::from_millis(150);
const OPERATIONS: [&str; 14] = [
    "copy",
    "upper",
    "lower",
    "gather",
    "extra",
    "extra-m",
    "meet",
    "incl",
    "sim",
    "keep",
    "load",
    "covers",
    "covers-sim",
    "step",
];

/// A small generator of numbers, so that every run measures the same zones.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = turnpike_model::hash::mix(self.0, 1);
        (self.0 >> 20) as usize % limit
    }
}

/// What happens in one step of the walk.
struct Step {
    guard: (usize, Bound),
    origins: Vec<Origin>,
    invariants: Vec<(usize, Bound)>,
}

struct Walk {
    lower: Vec<i32>,
    upper: Vec<i32>,
    steps: Vec<Step>,
    zones: Vec<Dbm>,
}

impl Walk {
    fn new(dimension: usize) -> Walk {
        let mut numbers = Numbers(dimension as u64);
        let clocks = dimension - 1;
        let lower: Vec<i32> = (0..clocks).map(|_| numbers.below(30) as i32).collect();
        let upper: Vec<i32> = (0..clocks).map(|_| numbers.below(30) as i32).collect();
        let mut walk = Walk { lower, upper, steps: Vec::new(), zones: Vec::new() };
        let mut zone = Dbm::zero(dimension);
        zone.up();
        let mut next = Dbm::default();
        while walk.zones.len() < SAMPLE {
            let tested = 1 + numbers.below(clocks);
            let reset = 1 + numbers.below(clocks);
            let origin = |row: usize| Origin { row: if row == reset { 0 } else { row as u32 }, offset: 0 };
            let mut bounded: Vec<usize> = (0..2).map(|_| 1 + numbers.below(clocks)).collect();
            bounded.dedup();
            let step = Step {
                guard: (tested, Bound::weak(-(numbers.below(walk.lower[tested - 1] as usize + 1) as i32))),
                origins: (1..dimension).map(origin).collect(),
                invariants: bounded.iter().map(|&i| (i, Bound::weak(walk.upper[i - 1]))).collect(),
            };
            if walk.successor(&zone, &step, &mut next, &mut Dbm::default()) {
                walk.zones.push(zone.clone());
                walk.steps.push(step);
                std::mem::swap(&mut zone, &mut next);
            }
        }
        walk
    }

    fn successor(&self, zone: &Dbm, step: &Step, out: &mut Dbm, scratch: &mut Dbm) -> bool {
        scratch.clone_from(zone);
        let (tested, least) = step.guard;
        if !scratch.conjoin(0, tested, least) {
            return false;
        }
        out.gather(scratch, &step.origins);
        out.up();
        if !step.invariants.iter().all(|&(i, bound)| out.conjoin(i, 0, bound)) {
            return false;
        }
        out.extrapolate(Extrapolation::LuPlus, &self.lower, &self.upper);
        true
    }

    /// Nanoseconds of one call: the mean over the sample of the best of several rounds, in batches
    /// short enough to be left alone.
    fn time(&self, mut run: impl FnMut(usize)) -> f64 {
        let start = Instant::now();
        let mut best = [f64::MAX; SAMPLE / BATCH];
        while start.elapsed() < DURATION {
            for (batch, best) in best.iter_mut().enumerate() {
                let round = Instant::now();
                (batch * BATCH..(batch + 1) * BATCH).for_each(&mut run);
                *best = best.min(round.elapsed().as_nanos() as f64);
            }
        }
        best.iter().sum::<f64>() / SAMPLE as f64
    }

    /// All operations, one after the other: long, because each is a line or two of its own.
    fn measure(&self) -> [f64; OPERATIONS.len()] {
        let mut out = Dbm::default();
        let mut scratch = Dbm::default();
        let zones = &self.zones;
        let table = Zones::default();
        let ids: Vec<ZoneId> = zones.iter().map(|zone| table.keep(zone)).collect();
        let exact: Vec<Dbm> = zones
            .iter()
            .zip(&self.steps)
            .map(|(zone, step)| {
                // From the table, like every zone whose successors are wanted.
                let (mut kept, mut exact) = (Dbm::default(), Dbm::default());
                table.load(table.keep(zone), &mut kept);
                exact.gather(&kept, &step.origins);
                exact.up();
                assert!(step.invariants.iter().all(|&(i, bound)| exact.conjoin(i, 0, bound)));
                exact
            })
            .collect();
        let copy = self.time(|k| {
            out.clone_from(&zones[k]);
            black_box(&out);
        });
        let mut changed = |list: &[Dbm], change: &mut dyn FnMut(&mut Dbm, usize)| {
            let time = self.time(|k| {
                out.clone_from(&list[k]);
                change(&mut out, k);
                black_box(&out);
            });
            time - copy
        };
        let upper = changed(zones, &mut |zone, k| {
            let (i, bound) = self.steps[k].invariants[0];
            black_box(zone.conjoin(i, 0, bound));
        });
        let lower = changed(zones, &mut |zone, k| {
            let (j, bound) = self.steps[k].guard;
            black_box(zone.conjoin(0, j, bound));
        });
        let extra =
            changed(&exact, &mut |zone, _| zone.extrapolate(Extrapolation::LuPlus, &self.lower, &self.upper));
        let extra_m =
            changed(&exact, &mut |zone, _| zone.extrapolate(Extrapolation::M, &self.lower, &self.upper));
        let meet = changed(zones, &mut |zone, k| {
            black_box(zone.intersect(&zones[(k + 1) % SAMPLE]));
        });
        let gather = self.time(|k| {
            scratch.gather(&zones[k], &self.steps[k].origins);
            black_box(&scratch);
        });
        let incl = self.time(|k| {
            black_box(zones[k].includes(black_box(&zones[k])));
        });
        let sim = self.time(|k| {
            black_box(zones[k].simulates(black_box(&zones[k]), &self.lower, &self.upper));
        });
        let keep = self.time(|k| {
            black_box(table.keep(&zones[k]));
        });
        let load = self.time(|k| {
            table.load(ids[k], &mut scratch);
            black_box(&scratch);
        });
        let covers = self.time(|k| {
            black_box(table.covers(ids[k], ids[(k + 1) % SAMPLE]));
        });
        let covers_sim = self.time(|k| {
            black_box(table.covers_simulated(ids[k], ids[(k + 1) % SAMPLE], &self.lower, &self.upper));
        });
        let mut loaded = Dbm::default();
        let step = self.time(|k| {
            table.load(ids[k], &mut loaded);
            assert!(self.successor(&loaded, &self.steps[k], &mut out, &mut scratch));
            black_box(table.keep(&out));
        });
        [copy, upper, lower, gather, extra, extra_m, meet, incl, sim, keep, load, covers, covers_sim, step]
    }
}

fn main() {
    let named: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let dimensions = if named.is_empty() { vec![3, 5, 7, 9, 13, 17, 25, 41, 60] } else { named };
    print!("{:>4}", "dim");
    OPERATIONS.iter().for_each(|name| print!("{name:>11}"));
    println!();
    for dimension in dimensions.into_iter().filter(|&dimension| dimension > 1) {
        print!("{dimension:>4}");
        Walk::new(dimension).measure().iter().for_each(|time| print!("{time:>11.1}"));
        println!();
    }
}
