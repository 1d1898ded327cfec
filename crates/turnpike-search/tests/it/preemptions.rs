//! Searches within a bound on preemptions or delays, held against the plain enumeration of all
//! executions, whose preemptions and delays are counted here from their records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::scripts::one;
use crate::scripts::outcomes::exhaustive;
use crate::scripts::vocabulary::{Code, observed, random};
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{
    Bounds, Choice, Detail, End, Execution, Executor, GuestError, Kind, Plan, Site, ThreadId,
};
use turnpike_search::strategy::Bfs;
use turnpike_search::{RunReport, SearchOptions, StopReason, Verdict};

/// A program with more executions is left out.
const MOST: u64 = 1_500;

/// How an execution ended, and all that its threads saw.
type Seen = (String, Vec<Vec<u64>>, Vec<u64>);

/// What executions came to, by the preemptions and delays that they took.
type Log = BTreeMap<(u32, u32), BTreeSet<Seen>>;

struct Noting {
    inner: Box<dyn Executor>,
    log: Arc<Mutex<Log>>,
}

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(&Plan { detail: Detail::Full, ..*plan }, out)?;
        if !matches!(out.end, End::Stopped | End::Diverged(_)) {
            let (threads, values) = observed();
            let end = match &out.end {
                End::Failed(failure) => failure.message.clone(),
                other => format!("{other:?}"),
            };
            let seen = (end, threads, values.to_vec());
            self.log.lock().unwrap().entry(count(out)).or_default().insert(seen);
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// The place of a thread in the order of names: parents before children, children by their age.
fn place(execution: &Execution, thread: ThreadId) -> Vec<u32> {
    let name = &execution.threads[thread.0 as usize].name;
    name.split('.').skip(1).map(|part| part.parse().unwrap()).collect()
}

/// The preemptions and delays of an execution.
fn count(execution: &Execution) -> (u32, u32) {
    let (mut preemptions, mut delays) = (0, 0);
    let mut last: Option<ThreadId> = None;
    for step in &execution.steps {
        let first = step.first_choice as usize;
        let choices = &execution.choices[first..first + step.count as usize];
        let waits = [Choice::TIMEOUT, Choice::SPURIOUS, Choice::STAY];
        let goes_on = |choice: &&Choice| {
            Some(choice.thread) == last
                && !waits.contains(&choice.alternative)
                && !matches!(choice.kind, Kind::Yield | Kind::Sleep)
        };
        let going_on = choices.iter().any(|choice| goes_on(&choice));
        let taken = step.choice.thread;
        preemptions += u32::from(going_on && Some(taken) != last);
        // The round begins with the thread that goes on, or behind the one that does not.
        let mut round: Vec<Vec<u32>> = choices.iter().map(|choice| place(execution, choice.thread)).collect();
        round.dedup();
        if let Some(last) = last {
            let last = place(execution, last);
            let start = round.partition_point(|other| if going_on { *other < last } else { *other <= last });
            let behind = start % round.len();
            round.rotate_left(behind);
        }
        delays += round.iter().position(|other| *other == place(execution, taken)).unwrap() as u32;
        last = Some(taken);
    }
    (preemptions, delays)
}

/// What a search comes to, and its report; `None` when it takes too long.
fn explore(code: &Code, bounds: Bounds, search: SearchOptions) -> Option<(Log, RunReport)> {
    let log = Arc::new(Mutex::new(Log::new()));
    let options = ProgramOptions { bounds, ..code.options.clone() };
    let inner = Arc::new(code.model(options.clone()));
    let noted = Arc::clone(&log);
    let launch = move || {
        let inner = inner.executor()?;
        Ok(Box::new(Noting { inner, log: Arc::clone(&noted) }) as Box<dyn Executor>)
    };
    let model = ProgramModel::new("noted", 1, Box::new(launch), options).expect("a script can be executed");
    log.lock().unwrap().clear();
    let mut search = search;
    search.limits.executions = Some(MOST * 4);
    search.limits.states = Some(MOST * 200);
    search.objectives = vec!["race".parse().unwrap()];
    let report = one(&model, &search);
    let ended = !matches!(report.stop, StopReason::MaxExecutions | StopReason::MaxStates);
    let log = std::mem::take(&mut *log.lock().unwrap());
    ended.then_some((log, report))
}

fn within(log: &Log, preemptions: u32, delays: u32) -> BTreeSet<Seen> {
    let cheap = log.iter().filter(|((one, other), _)| *one <= preemptions && *other <= delays);
    // Where others are when one fails makes no difference.
    let plain = |seen: &Seen| match seen.0.as_str() {
        "Finished" | "Deadlock" | "Livelock" | "StepLimit" | "Hung" => seen.clone(),
        failed => (failed.to_owned(), Vec::new(), Vec::new()),
    };
    cheap.flat_map(|(_, seen)| seen).map(plain).collect()
}

#[test]
fn bounded_searches_show_exactly_what_lies_within_the_bound() {
    let (mut compared, mut bounded, mut complete) = (0, 0, 0);
    for seed in 0..260 {
        let code = random(seed);
        let Some((all, plain)) = explore(&code, Bounds::default(), exhaustive(false)) else { continue };
        if all.values().map(BTreeSet::len).sum::<usize>() > MOST as usize {
            continue;
        }
        let most =
            (all.keys().map(|cost| cost.0).max().unwrap(), all.keys().map(|cost| cost.1).max().unwrap());
        for (preemptions, delays) in [
            (Some(0), None),
            (Some(1), None),
            (Some(2), None),
            (None, Some(0)),
            (None, Some(1)),
            (Some(1), Some(2)),
        ] {
            let bounds = Bounds { preemptions, delays, around: false };
            let limits = (preemptions.unwrap_or(u32::MAX), delays.unwrap_or(u32::MAX));
            let expected = within(&all, limits.0, limits.1);
            let cuts = most.0 > limits.0 || most.1 > limits.1;
            let mut searches = vec![("exhaustive", exhaustive(true))];
            if seed % 4 == 0 {
                searches.push(("bfs", SearchOptions::new(Bfs::default())));
            }
            for (name, search) in searches {
                let (few, report) = explore(&code, bounds, search).expect("fewer executions");
                assert_eq!(
                    within(&few, u32::MAX, u32::MAX),
                    expected,
                    "seed {seed}, {name}, {bounds:?}: {code:?}"
                );
                assert!(few.keys().all(|cost| cost.0 <= limits.0 && cost.1 <= limits.1), "{bounds:?}");
                if cuts {
                    assert_ne!(report.verdict, Verdict::None, "seed {seed}, {name}, {bounds:?}");
                    bounded += 1;
                } else {
                    assert_eq!(report.verdict, plain.verdict, "seed {seed}, {name}, {bounds:?}");
                    complete += u32::from(report.verdict == Verdict::None);
                }
            }
        }
        compared += 1;
    }
    assert!(compared > 100 && bounded > 300 && complete > 50, "{compared} {bounded} {complete}");
}
