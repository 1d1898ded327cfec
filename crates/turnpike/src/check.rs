//! Checking a closure: searching for a schedule that breaks it, and telling it.

use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use turnpike_model::Model;
use turnpike_program::{Incident, ProgramModel, ProgramOptions};
use turnpike_runtime::Guest;
use turnpike_runtime::schedule::encode;
use turnpike_scheduler::{Detail, End, Execution, Executor, Plan, Policy};
use turnpike_search::strategy::RandomOptions;
use turnpike_search::{SearchError, SearchOptions, Strategy, Verdict, WitnessReport, search};

use crate::config::Config;
use crate::replay;

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
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    Config::new().check(body);
}

/// What a check that found nothing tells.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Executions, where the strategy counts them.
    pub executions: Option<u64>,
    /// Whether all schedules were covered: nothing was bounded, cut or outside control.
    pub complete: bool,
    /// What was left out, if something was.
    pub left_out: Option<String>,
}

/// A schedule that breaks the program.
#[derive(Clone, Debug)]
pub struct Failed {
    /// What happened, and by which schedule.
    pub incident: Incident,
    /// The schedule as text, for [`Config::replay`] and `TURNPIKE_REPLAY`.
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
    /// The check could not be carried out.
    Unusable(String),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.incident.report(WIDTH) {
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
    pub fn check(self, body: impl Fn() + Send + Sync + 'static) {
        let body: Arc<dyn Fn() + Send + Sync> = Arc::new(body);
        let number = CHECKS.get() + 1;
        CHECKS.set(number);
        match self.schedule(number) {
            Ok(Some(schedule)) => self.again(body, &schedule),
            Ok(None) => {
                if let Err(error) = self.search(body, number) {
                    panic!("{error}");
                }
            }
            Err(mistake) => panic!("the schedule to replay cannot be read: {mistake}"),
        }
    }

    /// Carries out the check and tells the result.
    pub fn run(self, body: impl Fn() + Send + Sync + 'static) -> Result<Checked, CheckError> {
        self.search(Arc::new(body), CHECKS.get() + 1)
    }

    /// The schedule to replay instead of searching, if there is one for the check of this number.
    fn schedule(&self, number: u32) -> Result<Option<Vec<u32>>, String> {
        if let Some(given) = &self.replay {
            return replay::read(given).map(Some);
        }
        let Ok(given) = std::env::var("TURNPIKE_REPLAY") else { return Ok(None) };
        if std::path::Path::new(&given).is_file() {
            return replay::read(&given).map(Some);
        }
        let (wanted, text) = match given.split_once(':') {
            Some((wanted, text)) => (wanted.parse().map_err(|_| format!("'{wanted}' is no number"))?, text),
            None => (1, given.as_str()),
        };
        if wanted == number { replay::read(text).map(Some) } else { Ok(None) }
    }

    /// Executes one schedule, on this OS thread, and lets the program's own panic through.
    #[track_caller]
    fn again(&self, body: Arc<dyn Fn() + Send + Sync>, schedule: &[u32]) {
        let mut options = self.guest.clone();
        options.show_panics = true;
        let mut guest = Guest::shared(body, options);
        let mut execution = Execution::default();
        let plan = Plan {
            prefix: schedule,
            policy: Policy::Continue,
            detail: Detail::Full,
            max_steps: self.steps.max(u32::try_from(schedule.len()).unwrap_or(u32::MAX)),
            timeouts: self.timeouts,
            spurious: self.spurious,
            ..Plan::new(&[])
        };
        if let Err(error) = guest.run(&plan, &mut execution) {
            panic!("the schedule could not be executed: {error}");
        }
        match &execution.end {
            End::Finished | End::StepLimit => {}
            End::Diverged(step) => panic!(
                "the schedule does not fit the program, from step {} on: the program was changed, or it is not deterministic",
                u64::from(*step) + 1
            ),
            _ => {
                if let Some(payload) = guest.take_payload() {
                    resume_unwind(payload);
                }
                let incident = Incident::of(&execution, &mut guest);
                panic!("{}", incident.report(WIDTH).join("\n"));
            }
        }
    }

    fn chosen(&self) -> Result<Strategy, CheckError> {
        let name = match (setting("TURNPIKE_STRATEGY"), &self.chosen) {
            (None, Some(chosen)) => return Ok(chosen.clone()),
            (None, None) => self.strategy.clone(),
            (Some(name), _) => name,
        };
        Ok(match name.as_str() {
            "exhaustive" => Strategy::Exhaustive { depth: self.steps },
            // One walk is no check: it goes on until a limit is reached.
            "random" => Strategy::Random(RandomOptions { restart: true, ..RandomOptions::default() }),
            name => Strategy::by_name(name).map_err(|error| CheckError::Unusable(error.to_string()))?,
        })
    }

    fn search(&self, body: Arc<dyn Fn() + Send + Sync>, number: u32) -> Result<Checked, CheckError> {
        let unusable = |error: &dyn fmt::Display| CheckError::Unusable(error.to_string());
        let (guest, name) = (self.guest.clone(), test_name());
        let mut first_guest = Guest::shared(Arc::clone(&body), guest.clone());
        let first = First::of(&mut first_guest, self.steps)?;
        let launch = move || -> Result<Box<dyn Executor>, turnpike_scheduler::GuestError> {
            Ok(Box::new(Guest::shared(Arc::clone(&body), guest.clone())))
        };
        let options = ProgramOptions {
            max_steps: self.steps,
            timeouts: self.timeouts,
            spurious: self.spurious,
            ..ProgramOptions::default()
        };
        let name = name.as_deref().unwrap_or("a check");
        let model = ProgramModel::new(name, 0, Box::new(launch), options).map_err(|error| {
            if error.message.contains("not deterministic") {
                CheckError::Nondeterministic(error.message)
            } else {
                unusable(&error)
            }
        })?;

        let strategy = self.chosen()?;
        let mut request = SearchOptions::new(strategy);
        request.objectives.push(self.objective.parse().map_err(|error| unusable(&error))?);
        request.seed = number_setting("TURNPIKE_SEED", self.seed)?;
        request.limits.executions = Some(number_setting("TURNPIKE_EXECUTIONS", self.executions)?);
        request.limits.time = self.time;
        request.threads = self.threads;
        request.states_in_witness = false;
        let report = match search(&model, &request, &|_| {}, &AtomicBool::new(false)) {
            Ok(report) => report,
            Err(SearchError::Nondeterministic(why)) => return Err(CheckError::Nondeterministic(why)),
            Err(SearchError::Step { error, .. }) if error.message.contains("not deterministic") => {
                return Err(CheckError::Nondeterministic(error.message));
            }
            Err(error) => return Err(unusable(&error)),
        };
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
            });
        };
        // Data in a `static` may have made an execution fail that does not fail in a new process.
        if let Some(difference) = first.difference(&mut first_guest)? {
            return Err(CheckError::Nondeterministic(difference));
        }
        Err(CheckError::Failed(Box::new(told(&model, witness, request.seed, number)?)))
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

/// A witness, executed once more and put into words.
fn told(model: &ProgramModel, witness: &WitnessReport, seed: u64, number: u32) -> Result<Failed, CheckError> {
    let choices = replay::choices(&witness.trace)
        .ok_or_else(|| CheckError::Unusable("the witness has no schedule".to_owned()))?;
    let incident = model.incident(&choices).map_err(|error| CheckError::Unusable(error.to_string()))?;
    let explanation = witness.schedule.as_ref().and_then(|schedule| schedule.explanation.as_ref());
    let explanation = explanation.map(|why| {
        format!(
            "it does not happen when the order of these two is reversed:\n  {}\n  {}",
            why.first_label, why.second_label
        )
    });
    let mut schedule = encode(&choices);
    if number > 1 {
        schedule = format!("{number}:{schedule}");
    }
    Ok(Failed { incident, replay: command(&schedule), schedule, explanation, seed })
}

/// The command that replays a schedule.
fn command(schedule: &str) -> String {
    let package = std::env::var("CARGO_PKG_NAME").map_or(String::new(), |name| format!(" -p {name}"));
    match test_name() {
        Some(test) => format!("TURNPIKE_REPLAY={schedule} cargo test{package} -- --exact {test} --nocapture"),
        None => format!("TURNPIKE_REPLAY={schedule}, with the same command"),
    }
}

/// The test harness names threads after tests.
fn test_name() -> Option<String> {
    let thread = std::thread::current();
    thread.name().filter(|name| *name != "main").map(str::to_owned)
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
