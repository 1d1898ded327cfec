//! What `none` rests on, reduction by reduction: each is held against the search without any, on random programs over
//! everything that threads can do.
//!
//! - *Source-DPOR*, *sleep sets* and *states by their fingerprints* must show all that the plain enumeration shows: every
//!   end, with everything that the threads saw, and nothing else.
//! - *Persistent sets*, with a table of everything that threads do, must show all deadlocks, or an error if there is one.
//! - Two executions with one fingerprint must be the same to every thread.
//! - `none` is said exactly when no execution fails, and none left control or was cut.
//!
//! `TURNPIKE_RANDOM_PROGRAMS=200000 cargo test --release -p turnpike-search --test it reductions -- --nocapture` tries so many
//! programs instead of 2,000.

#![allow(clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_os = "linux")]
use crate::native;
use crate::scripts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use scripts::one;
use scripts::outcomes::exhaustive;
use scripts::vocabulary::{Act, Code, observed, random};
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{
    Choice, Detail, End, Execution, Executor, GuestError, Kind, MayAccess, ObjectId, Plan, Site,
};
use turnpike_search::strategy::Bfs;
use turnpike_search::{SearchOptions, StopReason, Verdict};

/// Programs in the ordinary run of the tests.
const PROGRAMS: u64 = 2_000;
/// A program with more executions is left out.
const MOST: u64 = 1_500;

/// How an execution ended, and all that its threads saw.
type Seen = (String, Vec<Vec<u64>>, Vec<u64>);

#[derive(Debug, Default)]
struct Log {
    ends: BTreeSet<Seen>,
    /// By fingerprint.
    states: BTreeMap<u128, Seen>,
    /// Two executions with one fingerprint that differ.
    differ: Option<(Seen, Seen)>,
    incomplete: bool,
    /// Who touches what, when that is asked for.
    table: BTreeMap<(u64, u64), bool>,
    errors: usize,
}

/// Notes what executions come to.
struct Noting {
    inner: Box<dyn Executor>,
    log: Arc<Mutex<Log>>,
    tabled: bool,
}

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        let detail = if self.tabled { Detail::Full } else { plan.detail };
        self.inner.run(&Plan { detail, ..*plan }, out)?;
        let mut log = self.log.lock().unwrap();
        if !matches!(out.end, End::Asleep | End::Stopped | End::Diverged(_)) {
            let (threads, values) = observed();
            let end = match &out.end {
                End::Failed(failure) => failure.message.clone(),
                other => format!("{other:?}"),
            };
            log.errors += usize::from(!matches!(out.end, End::Finished));
            let seen = (end, threads, values.to_vec());
            let old = log.states.insert(out.fingerprint, seen.clone()).filter(|old| *old != seen);
            log.differ = log.differ.take().or(old.map(|old| (old, seen.clone())));
            // Where others are when one fails makes no difference.
            let failed = matches!(out.end, End::Failed(_));
            log.ends.insert(if failed { (seen.0, Vec::new(), Vec::new()) } else { seen });
        }
        log.incomplete |= out.incomplete;
        if self.tabled {
            let blocked = out.threads.iter().filter_map(|thread| Some(thread.waits.as_ref()?.0));
            let choices: Vec<Choice> = out.choices.iter().copied().chain(blocked).collect();
            for choice in choices {
                note(out, &choice, &mut log.table);
            }
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// Everything that a step touches, for its thread and for those that started it.
fn note(execution: &Execution, choice: &Choice, table: &mut BTreeMap<(u64, u64), bool>) {
    let mut touched: Vec<(u64, bool)> = Vec::new();
    let named = matches!(choice.kind, Kind::Join | Kind::TryJoin | Kind::Unpark);
    if let Some(other) = execution.threads.get(choice.argument as usize).filter(|_| named) {
        touched.push((other.name_hash, true));
    }
    let objects = [(choice.object, true), (choice.second, true)];
    let regions = choice.within.map(|region| (region, false));
    for (id, writes) in objects.into_iter().chain(regions).filter(|&(id, _)| id != ObjectId::NONE) {
        touched.push((execution.objects[id.0 as usize].name_hash, writes));
    }
    // A thread that touches nothing needs an entry.
    touched.push((7, false));
    let path = &execution.threads[choice.thread.0 as usize].name;
    for thread in &execution.threads {
        let starts = path.strip_prefix(thread.name.as_str());
        if starts.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            for &(object, writes) in &touched {
                *table.entry((thread.name_hash, object)).or_default() |= writes;
            }
        }
    }
}

/// Executes a program as a search wants it, looking for nothing; `None` when it takes too long.
fn explore(code: &Code, options: ProgramOptions, search: &SearchOptions, tabled: bool) -> Option<Log> {
    let log = Arc::new(Mutex::new(Log::default()));
    let model = noted(code, options, &log, tabled);
    *log.lock().unwrap() = Log::default();
    let mut search = search.clone();
    search.objectives = vec!["race".parse().unwrap()];
    let report = one(&model, &search);
    drop(model);
    let ended = !matches!(report.stop, StopReason::MaxExecutions | StopReason::MaxStates);
    ended.then(|| std::mem::take(&mut *log.lock().unwrap()))
}

fn noted(code: &Code, options: ProgramOptions, log: &Arc<Mutex<Log>>, tabled: bool) -> ProgramModel {
    let inner = Arc::new(code.model(options.clone()));
    let log = Arc::clone(log);
    let launch = move || {
        let inner = inner.executor()?;
        Ok(Box::new(Noting { inner, log: Arc::clone(&log), tabled }) as Box<dyn Executor>)
    };
    ProgramModel::new("noted", 1, Box::new(launch), options).expect("a script can be executed")
}

fn bfs() -> SearchOptions {
    let mut options = SearchOptions::new(Bfs::default());
    options.objectives.push("any-error".parse().unwrap());
    options.shorten = false;
    options
}

fn limited(mut options: SearchOptions, executions: u64) -> SearchOptions {
    options.limits.executions = Some(executions);
    options.limits.states = Some(executions * 50);
    options
}

/// The ends that are errors.
fn errors(log: &Log) -> BTreeSet<&Seen> {
    log.ends.iter().filter(|(end, ..)| end != "Finished").collect()
}

/// What is wrong with a reduction on a program, if anything; `Err` when the program is too large.
fn check(code: &Code) -> Result<Option<String>, ()> {
    let plain = code.options.clone();
    let sleep = ProgramOptions { sleep: true, ..plain.clone() };
    let all = explore(code, plain.clone(), &limited(exhaustive(false), MOST), true).ok_or(())?;
    if let Some((one, other)) = &all.differ {
        return Ok(Some(format!("one fingerprint, two executions: {one:?} {other:?}")));
    }
    let table = MayAccess {
        entries: all.table.iter().map(|(&(thread, object), &writes)| (thread, object, writes)).collect(),
        proved: true,
    };
    let persistent = ProgramOptions { persistent: Some(table), ..plain.clone() };
    let both = ProgramOptions { sleep: true, ..persistent.clone() };

    // Where others are when the process ends makes no difference to it.
    let exits = code.has(|act| matches!(act, Act::Do(Kind::Exit, ..)));
    let exact = [
        ("source-dpor", plain.clone(), exhaustive(true)),
        ("sleep sets", sleep, exhaustive(false)),
        ("fingerprints", plain.clone(), bfs()),
    ];
    for (name, options, search) in exact {
        let few = explore(code, options, &limited(search, MOST * 4), false).expect("fewer executions");
        let same = if exits { errors(&few) == errors(&all) } else { few.ends == all.ends };
        if !same {
            let missing: Vec<_> = all.ends.difference(&few.ends).take(2).collect();
            let new: Vec<_> = few.ends.difference(&all.ends).take(2).collect();
            return Ok(Some(format!("{name}: missing {missing:?}, new {new:?}")));
        }
        if few.incomplete != all.incomplete && !exits && all.errors == 0 {
            return Ok(Some(format!("{name}: incomplete {} instead of {}", few.incomplete, all.incomplete)));
        }
    }
    for (name, options) in [("persistent sets", persistent), ("persistent and sleep sets", both)] {
        let few =
            explore(code, options, &limited(exhaustive(false), MOST * 4), false).expect("fewer executions");
        let failed = |log: &Log| errors(log).iter().any(|(end, ..)| end != "Deadlock");
        let same = match failed(&all) {
            // A failure cuts short what others would have done.
            true => failed(&few),
            false => errors(&few) == errors(&all),
        };
        if !same {
            return Ok(Some(format!("{name}: {:?} instead of {:?}", errors(&few), errors(&all))));
        }
    }

    // What is said in the end.
    let log = Arc::default();
    for (name, search) in [("exhaustive", exhaustive(true)), ("bfs", bfs())] {
        let report = one(&noted(code, plain.clone(), &log, false), &limited(search, MOST * 8));
        let expected = match () {
            () if !errors(&all).is_empty() => Verdict::Found,
            () if all.incomplete => Verdict::Inconclusive,
            () => Verdict::None,
        };
        if report.verdict != expected {
            return Ok(Some(format!("{name} says {:?} instead of {expected:?}", report.verdict)));
        }
    }
    Ok(None)
}

#[test]
fn reductions_show_what_the_plain_search_shows() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let count = number("TURNPIKE_RANDOM_PROGRAMS").unwrap_or(PROGRAMS);
    // Found by runs of many programs: failing before what another thread waits for, starting
    // threads in orders that are to be tried, giving up, asking whether a thread has ended, offering something to whoever waits, and waiting for a
    // word that changes while others wake nobody.
    for seed in [10_191, 18_105, 24_338, 26_180, 81_202, 121_320] {
        let code = random(seed);
        assert_eq!(check(&code), Ok(None), "seed {seed}: {code:?}");
    }
    let (mut compared, mut failing, mut kinds) = (0u64, 0u64, BTreeSet::new());
    let first = number("TURNPIKE_FIRST_PROGRAM").unwrap_or(0);
    let mut seed = first;
    while compared < count {
        let code = random(seed);
        match check(&code) {
            Ok(None) => {
                compared += 1;
                failing += u64::from(code.has(|act| matches!(act, Act::Free)));
                kinds.extend(code.threads.iter().flatten().filter_map(|act| match act {
                    Act::Do(kind, ..) | Act::Timed(kind, _) | Act::Receive(kind) => Some(*kind),
                    Act::Load(_, kind) | Act::Store(_, kind) => Some(*kind),
                    _ => None,
                }));
            }
            Ok(Some(why)) => panic!("seed {seed}: {why}\n{code:#?}"),
            Err(()) => {}
        }
        seed += 1;
    }
    println!(
        "{compared} programs, {} too large; {failing} free memory; {} kinds of operations",
        seed - first - compared,
        kinds.len()
    );
    assert!(kinds.len() >= 36, "{kinds:?}");
}

/// How many alternatives a choice has may be a matter of what others did before.
#[test]
fn choices_that_others_make_possible_are_all_tried() {
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..400 {
        let code = scripts::vocabulary::offers(seed);
        match check(&code) {
            Ok(None) => {
                compared += 1;
                failing += u32::from(code.has(|act| matches!(act, Act::FailIf(_))));
            }
            Ok(Some(why)) => panic!("seed {seed}: {why}\n{code:#?}"),
            Err(()) => {}
        }
    }
    assert!(compared > 300 && failing > 50, "{compared} {failing}");
}

/// What a step does to one object may hang on what it finds in another: it must be tried in all orders with steps on the former that
/// another order on the latter lets it meet.
#[test]
fn steps_that_look_at_two_objects_meet_all_others() {
    use scripts::vocabulary::objects::{EMPTY, FUTEX};
    let post = Act::Do(Kind::SemPost, EMPTY, 0);
    let wake = Act::Do(Kind::FutexWake, FUTEX, 1);
    let (store, load) = (|x| Act::Store(x, Kind::Store), |x| Act::Load(x, Kind::Load));
    let add = Act::Add(4);
    let programs = [
        vec![vec![Act::FutexWait], vec![post, store(4), wake], vec![wake, wake]],
        vec![vec![Act::FutexWait], vec![post, add, wake], vec![wake], vec![wake]],
        vec![vec![Act::FutexWait], vec![Act::FutexWait], vec![store(4), wake], vec![wake]],
        vec![vec![Act::ExchangeBoth], vec![post, store(1)], vec![load(0), load(0)]],
        vec![vec![Act::ExchangeBoth], vec![post, store(0)], vec![load(1), load(1)]],
        vec![vec![Act::ExchangeBoth], vec![Act::ExchangeBoth], vec![post, store(1)], vec![load(0)]],
    ];
    for threads in programs {
        let started = threads.len();
        let options = ProgramOptions { check_every: 0, ..ProgramOptions::default() };
        let code = Code { threads, started, capacity: 0, senders: 1, options };
        assert_eq!(check(&code), Ok(None), "{code:?}");
    }
}

/// Random scripts for the C program that executes them, one for each thread.
#[cfg(target_os = "linux")]
fn scripts_of_threads(seed: u64, descriptors: bool) -> Vec<String> {
    // What is written together is done together; a letter is asked for with its like.
    const FAMILIES: [&[&str]; 10] = [
        &["lRu", "lWu", "t", "t?W"],
        &["k", "k", "d", "r?d"],
        &["b", "B", "A", "m", "f", "r?f", "A?f"],
        &["w", "p", "p"],
        &["q", "Q"],
        &["g", "sn", "n"],
        &["S", "s", "a"],
        &["R", "W", "Rx", "R?W"],
        &["y", "rx", "a"],
        &["v", "v", "V", "e", "ex", "E", "i", "I", "Ix", "e?V"],
    ];
    let dice = &mut scripts::vocabulary::Dice::new(seed);
    let chosen = [FAMILIES[dice.below(9)], FAMILIES[dice.below(9)], &["r", "s", "a", "c", "cx"]];
    let chosen = if descriptors { [FAMILIES[9], FAMILIES[9], FAMILIES[9]] } else { chosen };
    let mut thread = || -> String {
        (0..1 + dice.below(3))
            .map(|_| {
                let family = chosen[dice.below(3)];
                family[dice.below(family.len())]
            })
            .collect()
    };
    vec![thread(), thread()]
}

#[cfg(target_os = "linux")]
fn compare_c_programs(programs: u64, descriptors: bool) -> Option<[usize; 3]> {
    let path = native::guest("script.c")?;
    let (mut compared, mut found, mut proved) = (0, 0, 0);
    for seed in 0..programs {
        let code = scripts_of_threads(seed, descriptors);
        let arguments: Vec<&str> = code.iter().map(String::as_str).collect();
        let plain = ProgramOptions { check_every: 0, max_steps: 300, ..ProgramOptions::default() };
        let verdict = |options: &ProgramOptions, search: SearchOptions, executions: u64| {
            let model = native::model(&path, &arguments, options.clone());
            let report = one(&model, &limited(search, executions));
            (report.stop != StopReason::MaxExecutions).then_some(report.verdict)
        };
        let Some(all) = verdict(&plain, exhaustive(false), 400) else { continue };
        compared += 1;
        found += usize::from(all == Verdict::Found);
        proved += usize::from(all == Verdict::None);
        let sleep = ProgramOptions { sleep: true, ..plain.clone() };
        for (name, options, search) in [
            ("source-dpor", &plain, exhaustive(true)),
            ("sleep sets", &sleep, exhaustive(false)),
            ("states", &plain, bfs()),
        ] {
            assert_eq!(verdict(options, search, 4_000), Some(all), "{name} on {code:?}");
        }
    }
    Some([compared, found, proved])
}

#[cfg(target_os = "linux")]
#[test]
fn reductions_agree_on_c_programs() {
    let Some([compared, found, proved]) = compare_c_programs(60, false) else { return };
    println!("{compared} C programs, {found} with an error, {proved} proved");
    assert!(compared >= 30 && found >= 5 && proved >= 15, "{compared} {found} {proved}");
}

/// Pipes, counters of events and sets of descriptors.
#[cfg(target_os = "linux")]
#[test]
fn reductions_agree_on_programs_with_descriptors() {
    let Some([compared, found, proved]) = compare_c_programs(60, true) else { return };
    println!("{compared} C programs with descriptors, {found} with an error, {proved} proved");
    assert!(compared >= 30 && found >= 5 && proved >= 5, "{compared} {found} {proved}");
}
