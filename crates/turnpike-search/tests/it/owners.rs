//! Workers that own states give the result of one thread: on random systems, wherever a search ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use serde_json::Value;
use turnpike_model::{
    Explorer, Label, LabelId, MeasureInfo, Measures, Model, ModelInfo, Names, PortableStates, PortableWords,
    StepError, Successors, decode_words, hash,
};
use turnpike_search::checkpoint::Checkpoints;
use turnpike_search::exchange::{Link, ProcessLost, Processes, connect_locally};
use turnpike_search::generate::{Discard, GenerateOptions, generate};
use turnpike_search::strategy::{Beam, Bfs, Guide, Highway};
use turnpike_search::{Accept, Limits, SearchOptions, StoreKind, Strategy, search};

/// A random system: state `n` leads to states not far from it, and some states cannot be expanded. Words
/// differ from one copy of the system to another, like interned ids.
pub(crate) struct Random {
    info: ModelInfo,
    seed: u64,
    states: u32,
    degree: u64,
    /// One state in so many cannot be expanded.
    faults: Option<u64>,
    /// What the number of a state is mixed with in its words.
    salt: u32,
    /// Whether states travel as a whole, not word by word.
    whole: bool,
    /// After so many expansions somebody interrupts the search.
    fuse: AtomicU64,
    interrupt: AtomicBool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let draw = |what: u64, bound: u64| hash::mix(seed, what) % bound;
        let mut info = ModelInfo::new(format!("random({seed})"), 2);
        info.measures = vec![MeasureInfo::new("colour", "a number")];
        Random {
            info,
            seed,
            states: 40 + draw(1, 400) as u32,
            degree: 1 + draw(2, 5),
            faults: (draw(3, 4) == 0).then(|| 30 + draw(4, 100)),
            salt: 0,
            whole: draw(5, 3) == 0,
            fuse: AtomicU64::new(0),
            interrupt: AtomicBool::new(false),
        }
    }

    /// The same system in another process.
    pub(crate) fn copy(seed: u64, process: usize) -> Self {
        Random { salt: 0x5a5a * process as u32, ..Random::new(seed) }
    }
}

impl Model for Random {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(View(self))
    }

    fn left_out(&self) -> Option<String> {
        None
    }
}

struct View<'m>(&'m Random);

impl Explorer for View<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.extend([self.0.salt, 7]);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        let Random { seed, states, degree, faults, salt, .. } = *self.0;
        let state = [state[0] ^ salt];
        if self.0.fuse.load(Relaxed) > 0 && self.0.fuse.fetch_sub(1, Relaxed) == 1 {
            self.0.interrupt.store(true, Relaxed);
        }
        let draw = hash::mix(seed, u64::from(state[0]) + 1000);
        if state[0] > 0 && faults.is_some_and(|faults| draw.is_multiple_of(faults)) {
            return Err(StepError::new(format!("state {} is out of order", state[0])));
        }
        // Some states have no way on.
        for number in 0..if draw.is_multiple_of(29) { 0 } else { degree + draw % 3 } {
            let draw = hash::mix(draw, number);
            let to = (state[0] * 2 + (draw >> 20) as u32 % 9) % states;
            // Numbers of labels depend on the process, too.
            out.push(LabelId(((draw % 23) as u32 + salt % 23) % 23), &[to ^ salt, 7]);
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        Label::parse(&match (id.0 + 23 - self.0.salt % 23) % 23 {
            number @ 0..9 => format!("report({number})"),
            other => format!("step{}", other % 4),
        })
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        out.push((state[0] ^ self.0.salt).to_string());
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        hash::words(&[state[0] ^ self.0.salt])
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        out.extend_from_slice(&(state[0] ^ self.0.salt).to_le_bytes());
    }

    fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
        Some(self)
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }
}

impl PortableStates for View<'_> {
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
        decode_words(bytes, 1, out)?;
        let number = out.pop()?;
        out.extend([number ^ self.0.salt, 7]);
        Some(())
    }

    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        (!self.0.whole).then_some(self)
    }
}

impl PortableWords for View<'_> {
    fn names(&self) -> Names {
        Names { positions: 0..1, mask: 0 }
    }

    fn name_hash(&mut self, name: u32) -> u64 {
        (name ^ self.0.salt).into()
    }

    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>) {
        self.encode(&[name], out);
    }

    fn decode_name(&mut self, bytes: &[u8]) -> Option<u32> {
        let mut words = Vec::new();
        self.decode(bytes, &mut words)?;
        words.first().copied()
    }
}

impl Measures for View<'_> {
    fn measure(&mut self, state: &[u32], _: usize) -> f64 {
        f64::from((state[0] ^ self.0.salt) % 61)
    }
}

/// A search of the system with this number: strategy, goal and limits differ from one to the next.
pub(crate) fn request(number: u64, strategy: Strategy) -> SearchOptions {
    let draw = |what: u64, bound: u64| hash::mix(number, what) % bound;
    let goals: [&[&str]; 8] = [
        &["deadlock"],
        &["label report(8)"],
        &["state colour == 60"],
        &["max report.1", "cover step*"],
        &["nondeterminism"],
        &["deadlock", "state colour == 59", "label report(7)", "max colour"],
        &["action none"],
        &["state colour == 57", "action none"],
    ];
    let mut options = SearchOptions::new(strategy);
    options.objectives = goals[draw(10, 8) as usize].iter().map(|text| text.parse().unwrap()).collect();
    options.all = draw(11, 3) == 0;
    options.lookahead = draw(12, 5) == 0;
    options.accept = if draw(13, 4) == 0 { Accept::Pop } else { Accept::Generation };
    options.store = [StoreKind::Auto, StoreKind::Tree][draw(14, 2) as usize];
    options.seed = number;
    options.limits = Limits {
        states: (draw(15, 2) == 0).then(|| draw(16, 300)),
        depth: (draw(17, 4) == 0).then(|| draw(18, 9) as u32),
        ..Limits::default()
    };
    options.eager_threads = true;
    options
}

/// What a search reports, or the error that it ends with, without times and memory.
pub(crate) fn outcome(model: &Random, options: &SearchOptions) -> Value {
    match search(model, options, &|_| {}, &model.interrupt) {
        Ok(report) => {
            let mut value = serde_json::to_value(&report.runs[0]).unwrap();
            let fields = value.as_object_mut().unwrap();
            assert!(fields.remove("seconds").is_some() && fields.remove("peak_bytes").is_some());
            value
        }
        Err(error) => Value::String(error.to_string()),
    }
}

#[test]
fn any_number_of_workers_gives_the_result_of_one() {
    let (mut found, mut limited, mut failed) = (0, 0, 0);
    for number in 0..200 {
        let model = Random::new(number);
        let width = [3, 20, 1000][number as usize % 3];
        let guide = Guide { measure: "colour".into(), maximise: number.is_multiple_of(2) };
        for strategy in [
            Strategy::from(Bfs::default()),
            Strategy::from(Highway { width }),
            Strategy::from(Beam { width, guide: guide.clone() }),
        ] {
            let mut options = request(number, strategy);
            let alone = outcome(&model, &options);
            found += u32::from(alone["verdict"] == "found");
            limited += u32::from(alone["stop"] == "max-states");
            failed += u32::from(alone.is_string());
            let threads = if number.is_multiple_of(2) { [2, 7] } else { [3, 4] };
            for threads in threads {
                options.threads = threads;
                let what = format!("{} on system {number} with {threads} threads", options.strategy.name());
                assert_eq!(outcome(&model, &options), alone, "{what}");
            }
        }
    }
    // Otherwise nothing would be shown.
    assert!(found > 100 && limited > 30 && failed > 30, "{found} found, {limited} limited, {failed} failed");
}

#[test]
fn any_number_of_workers_generates_the_same() {
    for number in 0..60 {
        let model = Random::new(number);
        let mut options = GenerateOptions { eager_threads: true, ..GenerateOptions::default() };
        options.limits.states = number.is_multiple_of(3).then(|| number * 4);
        options.limits.depth = number.is_multiple_of(5).then_some(4);
        let mut counts = |threads: usize| {
            options.threads = threads;
            let report = generate(&model, &options, &mut Discard, &|_| {}, &AtomicBool::new(false));
            report.map_err(|error| error.to_string()).map(|report| {
                let size = (report.states, report.transitions, report.deadlocks, report.levels);
                (report.stop, size, report.actions)
            })
        };
        let alone = counts(1);
        for threads in [2, 3, 4, 7] {
            assert_eq!(counts(threads), alone, "system {number} with {threads} threads");
        }
    }
}

/// What each of so many processes, here threads with copies of the system, finds.
pub(crate) fn in_processes<T: Send>(processes: usize, work: impl Fn(usize, Processes) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let links = connect_locally(processes).into_iter().enumerate();
        let start = |(process, link)| scope.spawn(move || work(process, Processes::new(link)));
        let started: Vec<_> = links.map(start).collect();
        started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

#[test]
fn any_number_of_processes_gives_the_result_of_one() {
    for number in 0..200 {
        let model = Random::new(number);
        let width = [3, 20, 1000][number as usize % 3];
        let guide = Guide { measure: "colour".into(), maximise: number.is_multiple_of(2) };
        let strategies = [
            Strategy::from(Bfs::default()),
            Strategy::from(Highway { width }),
            Strategy::from(Beam { width, guide: guide.clone() }),
        ];
        let options = request(number, strategies[number as usize % 3].clone());
        let alone = outcome(&model, &options);
        for (processes, threads) in [(1, 1), (2, 1), (2, 2), (4, 1)] {
            let outcomes = in_processes(processes, |process, all| {
                let options = SearchOptions { processes: Some(all), threads, ..options.clone() };
                outcome(&Random::copy(number, process), &options)
            });
            let name = options.strategy.name();
            for (process, outcome) in outcomes.iter().enumerate() {
                let what = format!("{name} on system {number}, process {process} of {processes}x{threads}");
                assert_eq!(*outcome, alone, "{what}");
            }
        }
    }
}

#[test]
fn any_number_of_processes_generates_the_same() {
    for number in 0..60u64 {
        let mut options = GenerateOptions { eager_threads: true, ..GenerateOptions::default() };
        options.limits.states = number.is_multiple_of(3).then(|| number * 4);
        let counts = |process, options: &GenerateOptions| {
            let (model, interrupt) = (Random::copy(number, process), AtomicBool::new(false));
            let report = generate(&model, options, &mut Discard, &|_| {}, &interrupt);
            report.map_err(|error| error.to_string()).map(|report| {
                let size = (report.states, report.transitions, report.deadlocks, report.levels);
                (report.stop, size, report.actions)
            })
        };
        let alone = counts(0, &options);
        for (processes, threads) in [(2, 1), (3, 2)] {
            let outcomes = in_processes(processes, |process, all| {
                let processes = Some(all);
                counts(process, &GenerateOptions { processes, threads, ..options.clone() })
            });
            outcomes.iter().for_each(|outcome| assert_eq!(*outcome, alone, "system {number}"));
        }
    }
}

/// A link of a process that is lost after some messages.
struct Failing {
    inner: Arc<dyn Link>,
    left: AtomicU64,
}

impl Failing {
    fn count(&self) -> Result<(), ProcessLost> {
        let counted = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        counted.map(|_| ()).map_err(|_| ProcessLost { process: 0, reason: "as the test wants".into() })
    }
}

impl Link for Failing {
    fn index(&self) -> usize {
        self.inner.index()
    }

    fn processes(&self) -> usize {
        self.inner.processes()
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), ProcessLost> {
        self.count()?;
        self.inner.send(to, message)
    }

    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>, ProcessLost> {
        self.inner.receive()
    }

    fn wait(&self) -> Result<(usize, Vec<u8>), ProcessLost> {
        self.count()?;
        self.inner.wait()
    }
}

#[test]
fn a_lost_process_never_gives_a_proof() {
    let mut lost = 0;
    for number in 0..120 {
        let strategies = [Strategy::from(Bfs::default()), Strategy::from(Highway { width: 1000 })];
        let mut options = request(number, strategies[number as usize % 2].clone());
        let alone = outcome(&Random::new(number), &options);
        options.threads = 1 + number as usize % 3;
        let mut links = connect_locally(2);
        let last = Arc::new(Failing { inner: links.remove(1), left: AtomicU64::new(number / 2) });
        links.push(last);
        let outcomes: Vec<Value> = std::thread::scope(|scope| {
            let start = |(process, link)| {
                let options = SearchOptions { processes: Some(Processes::new(link)), ..options.clone() };
                scope.spawn(move || outcome(&Random::copy(number, process), &options))
            };
            let started: Vec<_> = links.into_iter().enumerate().map(start).collect();
            started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for outcome in outcomes {
            // Whoever came to the end before knows the result; the others claim nothing.
            if outcome != alone {
                assert_eq!(outcome["stop"], "process-lost", "system {number}: {outcome} instead of {alone}");
                assert_ne!(outcome["verdict"], "none", "system {number}");
                let (met, expanded) = (outcome["considered"].as_u64(), outcome["states"].as_u64());
                assert!(met.is_none() || met >= expanded, "system {number}: {met:?} of {expanded:?}");
                lost += 1;
            }
        }
    }
    assert!(lost > 60, "{lost} lost");
}

#[test]
fn whoever_goes_on_from_a_checkpoint_comes_to_the_same_result() {
    let folder = std::env::temp_dir().join(format!("turnpike-checkpoints-{}", std::process::id()));
    let (mut resumed, mut interrupted) = (0, 0);
    for number in 0..120 {
        let _ = std::fs::remove_dir_all(&folder);
        let guide = Guide { measure: "colour".into(), maximise: true };
        let strategies = [
            Strategy::from(Bfs::default()),
            Strategy::from(Highway { width: 20 }),
            Strategy::from(Beam { width: 20, guide }),
        ];
        let mut options = request(number, strategies[number as usize % 3].clone());
        let alone = outcome(&Random::new(number), &options);
        options.threads = 1 + number as usize % 3;
        options.checkpoints.identity = format!("search {number}");
        options.checkpoints.write = Some((folder.clone(), std::time::Duration::ZERO));
        // By one process or by two; somebody interrupts it somewhere.
        let fuse = 1 + hash::mix(number, 99) % 150;
        let processes = 1 + number as usize / 3 % 2;
        let outcomes = in_processes(processes, |process, all| {
            let processes = (processes > 1).then_some(all);
            let options = SearchOptions { processes, ..options.clone() };
            let model = Random { fuse: AtomicU64::new(fuse), ..Random::copy(number, process) };
            outcome(&model, &options)
        });
        interrupted += u32::from(outcomes[0]["stop"] == "interrupted");
        let Ok(chosen) = Checkpoints::choose(&folder, &options.checkpoints.identity) else { continue };
        assert!(Checkpoints::choose(&folder, "another search").is_err());
        resumed += 1;
        options.checkpoints.write = None;
        options.checkpoints.resume = Some(chosen);
        for threads in [1, 4] {
            options.threads = threads;
            let what = format!("system {number}, {} on {threads} threads", options.strategy.name());
            assert_eq!(outcome(&Random::copy(number, 3), &options), alone, "{what}");
        }
        let outcomes = in_processes(3, |process, all| {
            let options = SearchOptions { processes: Some(all), threads: 1, ..options.clone() };
            outcome(&Random::copy(number, process), &options)
        });
        outcomes.iter().for_each(|outcome| assert_eq!(*outcome, alone, "system {number} on 3 processes"));
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(resumed > 60 && interrupted > 10, "{resumed} resumed, {interrupted} interrupted");
}

#[test]
fn a_broken_checkpoint_is_refused_and_the_one_before_it_used() {
    let folder = std::env::temp_dir().join(format!("turnpike-broken-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut options = request(6, Bfs::default().into());
    options.limits = Limits::default();
    options.objectives = vec!["action none".parse().unwrap()];
    let alone = outcome(&Random::new(6), &options);
    options.checkpoints.identity = "broken".into();
    options.checkpoints.write = Some((folder.clone(), std::time::Duration::ZERO));
    assert_eq!(outcome(&Random::new(6), &options), alone);
    let newest = Checkpoints::choose(&folder, "broken").expect("two are kept");
    let part = folder.join(format!("level-{:08}/part-0", newest.depth));
    let whole = std::fs::read(&part).expect("a file");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for broken in [&whole[..whole.len() - 9], &flipped, b""] {
        std::fs::write(&part, broken).expect("writes");
        let before = Checkpoints::choose(&folder, "broken").expect("the one before");
        assert!(before.depth < newest.depth && before.refused.len() == 1, "{before:?}");
        options.checkpoints = Checkpoints { resume: Some(before), ..Checkpoints::default() };
        assert_eq!(outcome(&Random::new(6), &options), alone);
    }
    std::fs::remove_dir_all(&folder).expect("removes");
}
