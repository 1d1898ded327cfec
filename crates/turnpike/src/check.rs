//! Checking a closure: searching for a schedule that breaks it, and telling it.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::io::Write as _;
use std::panic::{Location, resume_unwind};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use turnpike_model::{Model, StepErrorKind, Trace};
use turnpike_program::{Incident, ProgramModel, ProgramOptions};
use turnpike_runtime::schedule::encode;
use turnpike_runtime::{Guest, GuestOptions, Watch};
use turnpike_scheduler::{Detail, End, Execution, Executor, GuestErrorKind, Memory, Plan, Policy};
use turnpike_session::{
    Goals, Limits, Running, Search, SearchError, StopReason, StrategyChoice, Verdict, WitnessReport,
    WitnessSettings,
};

use crate::config::Config;
use crate::debugger;
use crate::replay;
use crate::result::TestResult;
use crate::watch::{Stuck, watched};

/// Columns of the report.
const WIDTH: usize = 120;

thread_local! {
    /// Checks that this OS thread, which usually is one test, has begun.
    static CHECKS: Cell<u32> = const { Cell::new(0) };
}

/// Executes `body` under many schedules, and panics with the shortest one found that breaks it. Its threads, locks, channels
/// and atomics must be those of this crate; see [`Config`] for settings.
///
/// ```should_panic
/// use turnpike::sync::Arc;
/// use turnpike::sync::atomic::{AtomicUsize, Ordering};
///
/// turnpike::check(|| {
///     let count = Arc::new(AtomicUsize::new(0));
///     let other = count.clone();
///     let handle = turnpike::thread::spawn(move || {
///         let value = other.load(Ordering::SeqCst);
///         other.store(value + 1, Ordering::SeqCst);
///     });
///     let value = count.load(Ordering::SeqCst);
///     count.store(value + 1, Ordering::SeqCst);
///     handle.join().unwrap();
///     assert_eq!(count.load(Ordering::SeqCst), 2);
/// });
/// ```
///
/// # Panics
/// When a schedule breaks it, or it is not deterministic.
#[track_caller]
pub fn check<R: TestResult>(body: impl Fn() -> R + Send + Sync + 'static) {
    Config::new().check(body);
}

/// What is known after a check that found nothing. As text, it says whether that is a proof.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Executions, where the strategy counts them.
    pub executions: Option<u64>,
    /// Whether all schedules were covered: nothing was bounded, cut or outside control.
    pub complete: bool,
    /// What was left out, if something was.
    pub left_out: Option<String>,
    /// Why the search ended, unless it covered everything.
    pub stopped: Option<String>,
    /// Whether atomic operations ask for weaker orders than memory had: [`Config::memory`] explores what
    /// they allow.
    pub weaker_orders: bool,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let executions = match self.executions {
            Some(1) => "1 execution".to_owned(),
            Some(number) => format!("{number} executions"),
            None => "executions".to_owned(),
        };
        if self.complete {
            write!(f, "proved: {executions} cover all schedules")?;
            if self.weaker_orders {
                f.write_str(
                    " of sequentially consistent memory; \
                     the program uses weaker orders, which memory = Memory::Rc11 explores",
                )?;
            }
            return Ok(());
        }
        write!(f, "not proved: nothing was found in {executions}, but not all schedules were covered")?;
        let reasons = self.stopped.iter().chain(&self.left_out);
        for (number, reason) in reasons.enumerate() {
            write!(f, "{} {reason}", if number == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}

/// A schedule that breaks the program.
#[derive(Clone, Debug)]
pub struct Failed {
    /// What happened, and by which schedule.
    pub incident: Incident,
    /// The schedule as text, for [`Config::replay`].
    pub schedule: String,
    /// The order that decides, when one was found.
    pub explanation: Option<String>,
    /// The seed of the search.
    pub seed: u64,
    /// The line that executes the schedule again.
    pub replay: String,
}

/// Why a check did not pass.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// A schedule breaks the program.
    Failed(Box<Failed>),
    /// The program did something else when it was executed again with the same schedule.
    Nondeterministic(String),
    /// An execution blocked outside control: on a lock of the standard library, in a system call.
    /// Nothing is known of the schedules that were not executed.
    Blocked(Box<Stuck>),
    /// The check could not be carried out.
    Unusable(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.incident.report(WIDTH, verbose()) {
            writeln!(f, "{line}")?;
        }
        writeln!(f)?;
        if let Some(explanation) = &self.explanation {
            writeln!(f, "{explanation}")?;
        }
        writeln!(f, "seed: {}", self.seed)?;
        write!(f, "replay: {}", self.replay)
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Failed(failed) => failed.fmt(f),
            CheckError::Nondeterministic(why) => write!(
                f,
                "the test is not deterministic, so no schedule means anything: {why}\n\
                 Threads, locks, clocks, hash maps and random numbers must be those of turnpike, and a `static` must not \
                 carry data from one execution to the next."
            ),
            CheckError::Blocked(stuck) => write!(f, "the check had to be ended: {stuck}"),
            CheckError::Unusable(why) => write!(f, "the check could not be carried out: {why}"),
        }
    }
}

impl std::error::Error for CheckError {}

impl Config {
    /// Carries out the check, and panics with the schedule found.
    ///
    /// # Panics
    /// When a schedule breaks the program, it is not deterministic, or a setting makes no sense.
    #[track_caller]
    pub fn check<R: TestResult>(mut self, body: impl Fn() -> R + Send + Sync + 'static) {
        self.guest.caller = Some((Location::caller(), file!()));
        let (body, number) = (shared(body), next_number());
        match self.schedule(number) {
            Ok(Some(_)) if setting(debugger::VARIABLE).is_some() => {
                if let Err(why) = debugger::open() {
                    panic!("{why}");
                }
            }
            Ok(Some(schedule)) => {
                let replayed = self.watched(move |config| config.execute(body, &schedule).map(Replayed::new));
                match replayed.map_err(|error| error.to_string()).and_then(|replayed| replayed) {
                    Ok(Replayed::Fine) => {}
                    Ok(Replayed::Panicked(payload)) => resume_unwind(payload),
                    Ok(Replayed::Failed(report)) => panic!("{report}"),
                    Err(why) => panic!("{why}"),
                }
            }
            Ok(None) => {
                let name = self.test_name();
                match self.watched(move |config| config.search(body, number)).and_then(|done| done) {
                    Ok(checked) => say_passed(name.as_deref(), &checked),
                    Err(error) => panic!("{error}"),
                }
            }
            Err(mistake) => panic!("{mistake}"),
        }
    }

    /// Carries out the check and returns the result.
    #[track_caller]
    pub fn run<R: TestResult>(
        mut self,
        body: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<Checked, CheckError> {
        self.guest.caller = Some((Location::caller(), file!()));
        let (body, number) = (shared(body), next_number());
        let schedule = self.schedule(number).map_err(CheckError::Unusable)?;
        self.watched(move |config| match schedule {
            Some(schedule) => config.replay_and_report(body, &schedule, number),
            None => config.search(body, number),
        })?
    }

    /// Does `work` where it can be left behind if it blocks.
    fn watched<T: Send + 'static>(
        mut self,
        work: impl FnOnce(&Config) -> T + Send + 'static,
    ) -> Result<T, CheckError> {
        let (watch, limits) = (Watch::new(), (self.idle, self.time));
        self.test = self.test_name();
        self.guest.watch = Some(watch.clone());
        watched(watch, limits, move || work(&self)).map_err(|stuck| CheckError::Blocked(Box::new(stuck)))
    }

    /// The schedule to replay instead of searching, if there is one for the check of this number.
    fn schedule(&self, number: u32) -> Result<Option<Vec<u32>>, String> {
        let read = |given: &str| {
            replay::read(given).map_err(|mistake| format!("the schedule to replay cannot be read: {mistake}"))
        };
        if let Some(given) = &self.replay {
            return read(given).map(|given| Some(given.choices));
        }
        let Some(given) = setting("TURNPIKE_REPLAY") else { return Ok(None) };
        read(&given).map(|given| (given.check == number).then_some(given.choices))
    }

    /// Executes one schedule, on this OS thread.
    fn execute(
        &self,
        body: Arc<dyn Fn() + Send + Sync>,
        schedule: &[u32],
    ) -> Result<(Guest, Execution), String> {
        let mut options = self.guest.clone();
        options.show_panics = true;
        let mut guest = Guest::shared(Arc::clone(&body), options.clone());
        let mut execution = Execution::default();
        let plan = Plan {
            prefix: schedule,
            policy: Policy::Continue,
            detail: Detail::Stacks,
            max_steps: self.steps.max(u32::try_from(schedule.len()).unwrap_or(u32::MAX)),
            timeouts: self.timeouts,
            spurious: self.spurious,
            memory: self.memory,
            bounds: self.bounds,
            ..Plan::new(&[])
        };
        let mut run = |guest: &mut Guest| {
            let done = guest.run(&plan, &mut execution);
            done.map_err(|error| format!("the schedule could not be executed: {error}"))
        };
        run(&mut guest)?;
        if adapt(&mut options, &guest) {
            // Then the schedule is one of an execution with these steps.
            guest = Guest::shared(body, options);
            run(&mut guest)?;
        }
        match execution.end {
            End::Diverged(step) => Err(format!(
                "the schedule does not fit the program, from step {} on: the program was changed, or it is not deterministic",
                u64::from(step) + 1
            )),
            _ => Ok((guest, execution)),
        }
    }

    /// Executes one schedule and reports what happened.
    fn replay_and_report(
        &self,
        body: Arc<dyn Fn() + Send + Sync>,
        schedule: &[u32],
        number: u32,
    ) -> Result<Checked, CheckError> {
        let (mut guest, execution) = self.execute(body, schedule).map_err(CheckError::Unusable)?;
        if fine(&execution.end) {
            let left_out = Some("one schedule was executed again, and no other".to_owned());
            return Ok(Checked {
                executions: Some(1),
                complete: false,
                left_out,
                stopped: None,
                weaker_orders: false,
            });
        }
        let incident = Incident::of(&execution, &mut guest);
        Err(CheckError::Failed(Box::new(self.failed(incident, schedule, number, self.seed, None))))
    }

    /// What breaks the program, with the line that does it again.
    fn failed(
        &self,
        incident: Incident,
        choices: &[u32],
        number: u32,
        seed: u64,
        explanation: Option<String>,
    ) -> Failed {
        let schedule = encode(choices);
        let which = if number > 1 { format!("{number}:{schedule}") } else { schedule.clone() };
        let package = std::env::var("CARGO_PKG_NAME").map_or(String::new(), |name| format!(" -p {name}"));
        let replay = match self.test_name() {
            Some(test) => {
                format!("TURNPIKE_REPLAY={which} cargo test{package} -- --exact {test} --nocapture")
            }
            None => format!("TURNPIKE_REPLAY={which}, with the same command"),
        };
        Failed { incident, schedule, explanation, seed, replay }
    }

    /// The name of the test: the harness names threads after tests, unless it has one thread only.
    fn test_name(&self) -> Option<String> {
        self.test.clone().or_else(|| {
            let thread = std::thread::current();
            thread.name().filter(|name| *name != "main").map(str::to_owned)
        })
    }

    /// The strategy by its name. `None` when the test made one itself.
    fn strategy_choice(&self) -> Option<StrategyChoice> {
        let name = match (setting("TURNPIKE_STRATEGY"), &self.chosen) {
            (None, Some(_)) => return None,
            (None, None) => self.strategy.clone(),
            (Some(name), _) => name,
        };
        let choice = StrategyChoice::named(&name);
        Some(match name.as_str() {
            "exhaustive" => choice.with("depth", self.steps),
            // A single walk checks little: it goes on until a limit is reached.
            "random" => choice.with("restart", true),
            _ => choice,
        })
    }

    /// What the session is asked.
    fn request(&self) -> Result<Search, CheckError> {
        let objective = self.objective.parse();
        let objective = objective.map_err(|error| CheckError::Unusable(format!("{error}")))?;
        Ok(Search {
            goals: Goals { find: vec![objective], ..Goals::default() },
            strategy: self.strategy_choice().unwrap_or_default(),
            limits: Limits {
                executions: Some(number_setting("TURNPIKE_EXECUTIONS", self.executions)?),
                time: self.time,
                ..Limits::default()
            },
            running: Running {
                seed: number_setting("TURNPIKE_SEED", self.seed)?,
                threads: Some(self.threads),
                ..Running::default()
            },
            witness: WitnessSettings { states: false, ..WitnessSettings::default() },
        })
    }

    fn search(&self, body: Arc<dyn Fn() + Send + Sync>, number: u32) -> Result<Checked, CheckError> {
        let unusable = |error: &dyn fmt::Display| CheckError::Unusable(error.to_string());
        let (mut guest, name) = (self.guest.clone(), self.test_name());
        let mut first_guest = Guest::shared(Arc::clone(&body), guest.clone());
        let mut first = First::of(&mut first_guest, self.steps)?;
        if adapt(&mut guest, &first_guest) {
            first_guest = Guest::shared(Arc::clone(&body), guest.clone());
            first = First::of(&mut first_guest, self.steps)?;
        }
        let launch = move || -> Result<Box<dyn Executor>, turnpike_scheduler::GuestError> {
            Ok(Box::new(Guest::shared(Arc::clone(&body), guest.clone())))
        };
        let options = ProgramOptions {
            max_steps: self.steps,
            timeouts: self.timeouts,
            spurious: self.spurious,
            memory: self.memory,
            bounds: self.bounds,
            ..ProgramOptions::default()
        };
        let name = name.as_deref().unwrap_or("a check");
        let model = ProgramModel::new(name, 0, Box::new(launch), options).map_err(|error| {
            if error.kind == GuestErrorKind::Nondeterministic {
                CheckError::Nondeterministic(error.message)
            } else {
                unusable(&error)
            }
        })?;

        let model = Arc::new(model);
        let request = self.request()?;
        let plan = turnpike_session::Plan::of_model(Arc::clone(&model) as Arc<dyn Model>, &request);
        let mut plan = plan.map_err(|problem| unusable(&problem))?;
        if let (Some(strategy), None) = (&self.chosen, self.strategy_choice()) {
            plan = plan.with_strategy(strategy.clone());
        }
        let report = plan.run(&|_| {}, &AtomicBool::new(false)).map_err(|error| match error {
            SearchError::Nondeterministic(why) => CheckError::Nondeterministic(why),
            SearchError::Step { error, .. } if error.kind == StepErrorKind::Nondeterministic => {
                CheckError::Nondeterministic(error.message)
            }
            error => unusable(&error),
        })?;
        // Data in a `static` may have made an execution fail, or succeed, that does not in a new process.
        if let Some(difference) = first.difference(&mut first_guest)? {
            return Err(CheckError::Nondeterministic(difference));
        }
        let Some(witness) = report.witness() else {
            return Ok(Checked {
                executions: report
                    .runs
                    .iter()
                    .filter_map(|run| run.executions)
                    .map(|run| run.executions)
                    .next(),
                complete: report.verdict == Verdict::None && model.left_out().is_none(),
                left_out: model.left_out(),
                stopped: report
                    .runs
                    .first()
                    .filter(|run| run.stop != StopReason::Exhausted)
                    .map(|run| run.stop.describe().to_owned()),
                weaker_orders: self.memory == Memory::Sc && first_guest.asks_for_weaker_orders(),
            });
        };
        let choices = replay::choices(&witness.trace)
            .ok_or_else(|| CheckError::Unusable("the witness has no schedule".to_owned()))?;
        let incident = model.incident(&choices).map_err(|error| unusable(&error))?;
        if let Some(file) = setting("TURNPIKE_TRACE") {
            let trace = Trace { stuck: incident.stuck_components(), ..witness.trace.clone() };
            turnpike_lts::trace::write_file(&trace, &file).map_err(|error| unusable(&error))?;
        }
        let failed = self.failed(incident, &choices, number, request.running.seed, explanation(witness));
        Err(CheckError::Failed(Box::new(failed)))
    }
}

/// Makes visible what the program turned out to look at: who drops a reference when, when a thread
/// ends, accesses of cells. Returns whether something changed.
fn adapt(options: &mut GuestOptions, executed: &Guest) -> bool {
    let before = (options.counts, options.ends, options.races);
    options.counts |= executed.counts_matter();
    options.ends |= executed.ends_matter();
    options.races |= executed.uses_cells();
    before != (options.counts, options.ends, options.races)
}

/// What came of a replay.
enum Replayed {
    /// Nothing is wrong.
    Fine,
    /// The program's own panic.
    Panicked(Box<dyn Any + Send>),
    /// Another failure, as a report.
    Failed(String),
}

impl Replayed {
    fn new((mut guest, execution): (Guest, Execution)) -> Self {
        if fine(&execution.end) {
            return Replayed::Fine;
        }
        match guest.take_payload() {
            Some(payload) => Replayed::Panicked(payload),
            None => {
                Replayed::Failed(Incident::of(&execution, &mut guest).report(WIDTH, verbose()).join("\n"))
            }
        }
    }
}

/// The first execution in this process, to be compared with a later one of the same plan.
struct First {
    execution: Execution,
    steps: u32,
}

impl First {
    fn of(guest: &mut Guest, steps: u32) -> Result<Self, CheckError> {
        let mut first = First { execution: Execution::default(), steps };
        first.run(guest).map(|execution| first.execution = execution)?;
        Ok(first)
    }

    fn run(&self, guest: &mut Guest) -> Result<Execution, CheckError> {
        let mut execution = Execution::default();
        let plan = Plan { policy: Policy::Continue, max_steps: self.steps, ..Plan::new(&[]) };
        let done = guest.run(&plan, &mut execution);
        done.map_err(|error| CheckError::Unusable(error.to_string()))?;
        Ok(execution)
    }

    /// How the same plan goes now, if it goes another way.
    fn difference(&self, guest: &mut Guest) -> Result<Option<String>, CheckError> {
        let now = self.run(guest)?;
        let (then, now) = (&self.execution, &now);
        let same =
            then.end == now.end && then.fingerprint == now.fingerprint && then.steps.len() == now.steps.len();
        Ok((!same).then(|| {
            format!(
                "the same schedule took {} steps in the first execution and {} steps in a later one ({} and {})",
                then.steps.len(),
                now.steps.len(),
                ended(&then.end),
                ended(&now.end)
            )
        }))
    }
}

/// How an execution ended, in few words.
fn ended(end: &End) -> String {
    match end {
        End::Finished => "it finished".to_owned(),
        End::Failed(failure) => format!("it failed: {}", failure.message),
        End::Deadlock => "a deadlock".to_owned(),
        End::Livelock => "a livelock".to_owned(),
        _ => "it was cut".to_owned(),
    }
}

/// The order that decides, when one was found.
fn explanation(witness: &WitnessReport) -> Option<String> {
    let why = witness.schedule.as_ref()?.explanation.as_ref()?;
    Some(format!(
        "it does not happen when the order of these two is reversed:\n  {}\n  {}",
        why.first_label, why.second_label
    ))
}

/// Whether an execution that ended this way shows nothing wrong.
fn fine(end: &End) -> bool {
    matches!(end, End::Finished | End::StepLimit)
}

/// The number of a check that begins, in its test.
fn next_number() -> u32 {
    CHECKS.set(CHECKS.get() + 1);
    CHECKS.get()
}

/// A test as the main function of a program.
fn shared<R: TestResult>(body: impl Fn() -> R + Send + Sync + 'static) -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(move || body().expect_success())
}

/// Says what a check that found nothing is worth: where the test's output goes, or, with
/// `TURNPIKE_LOG`, past the test harness, which hides the output of tests that pass.
#[allow(clippy::print_stderr, reason = "the library stands in for the test, which may print")]
pub(crate) fn say_passed(name: Option<&str>, checked: &dyn fmt::Display) {
    let line = format!("turnpike: {}: {checked}", name.unwrap_or("check"));
    if setting("TURNPIKE_LOG").is_some_and(|level| level != "off") {
        // Nothing depends on it.
        let _ = writeln!(std::io::stderr(), "{line}");
    } else {
        eprintln!("{line}");
    }
}

/// Whether reports show all frames of stacks.
fn verbose() -> bool {
    setting("TURNPIKE_LOG").is_some_and(|level| level == "debug" || level == "trace")
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number_setting(name: &str, otherwise: u64) -> Result<u64, CheckError> {
    match setting(name) {
        None => Ok(otherwise),
        Some(text) => u64::from_str(&text)
            .map_err(|_| CheckError::Unusable(format!("{name} must be a number, not '{text}'"))),
    }
}
