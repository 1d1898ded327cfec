//! A program as a transition system: a state is the fingerprint of a happens-before order, together
//! with one schedule that leads to it. The schedule is executed again whenever the state's
//! successors are needed.
//!
//! Executions with equal happens-before orders are in the same state, whatever the order of
//! independent steps was: that is what the fingerprint captures, and why the choices in a state are
//! a function of it. With sleep sets the choices also depend on the path to a state. States are
//! then distinguished by their schedules, and none are merged.

mod explorer;
mod labels;
mod table;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use turnpike_model::paths::Paths;
use turnpike_model::{
    Explorer, Label, MeasureInfo, Model, ModelInfo, Signatures, StepError, ViolationKind, Vocabulary, Word,
};
use turnpike_scheduler::{
    Detail, End, Execution, Executor, GuestError, GuestErrorKind, Memory, Plan, Policy,
};

use crate::guard::Guarded;
use crate::incident::path;
use crate::names::Names;
use crate::paths::ProgramPaths;
use crate::settings::{LeftOut, ProgramOptions};
use explorer::ProgramExplorer;
use labels::Labels;
use table::Table;

/// Makes executors of one program, one for each thread of the search.
pub type Launch = dyn Fn() -> Result<Box<dyn Executor>, GuestError> + Send + Sync;

/// The number of executions that learn the names of threads and objects.
const PROBES: u64 = 3;
/// The most steps of such an execution.
const PROBE_STEPS: u32 = 5_000;
/// The most threads that have a value of their own in descriptions of states.
const NAMED_THREADS: usize = 64;

/// A program under a controlled scheduler.
pub struct ProgramModel {
    info: ModelInfo,
    launch: Arc<Launch>,
    options: ProgramOptions,
    left_out: Arc<LeftOut>,
    /// The names of objects, once some executions were seen.
    names: Arc<OnceLock<Names>>,
    table: Table,
    labels: Labels,
    /// The operations of threads.
    operations: Signatures,
    /// The key of the initial state.
    root: u128,
    /// Idle executors, which are reused because launching one may mean starting a process.
    idle: Mutex<Vec<Box<dyn Executor>>>,
}

impl ProgramModel {
    /// A program by its name and the hash of what it is (recorded in schedule files). It is
    /// executed a few times, so that a program that cannot be executed is reported now.
    pub fn new(
        name: &str,
        fingerprint: u64,
        launch: Box<Launch>,
        options: ProgramOptions,
    ) -> Result<Self, GuestError> {
        let mut info = ModelInfo::new(name, 4);
        info.fingerprint = fingerprint;
        info.capabilities.violations_on_expansion = true;
        info.violations = ViolationKind::ALL;
        info.measures = measures();
        info.suggestions =
            ["any-error", "deadlock", "race", "leak", "max threads"].map(str::to_owned).to_vec();
        let mut model = ProgramModel {
            info,
            launch: Arc::from(launch),
            options,
            left_out: Arc::default(),
            names: Arc::default(),
            table: Table::new(),
            labels: Labels::default(),
            operations: operations(),
            root: 0,
            idle: Mutex::default(),
        };
        let mut executor = model.launched()?;
        let mut execution = Execution::default();
        executor.run(&Plan { detail: Detail::Full, ..model.options.plan() }, &mut execution)?;
        model.root = execution.fingerprint;
        model.table.insert_root(model.root, model.root);
        executor.set_probing(true);
        let (threads, names) = learned(&mut executor, &model.options, execution)?;
        executor.set_probing(false);
        model.info.parameters = threads;
        let _ = model.names.set(names);
        model.put_back(Box::new(executor));
        Ok(model)
    }

    /// How it is executed.
    pub fn options(&self) -> &ProgramOptions {
        &self.options
    }

    pub(crate) fn launch(&self) -> Arc<Launch> {
        Arc::clone(&self.launch)
    }

    /// An executor for whole executions.
    pub fn executor(&self) -> Result<Box<dyn Executor>, GuestError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(executor) => Ok(executor),
            None => Ok(Box::new(self.launched()?)),
        }
    }

    fn launched(&self) -> Result<Guarded, GuestError> {
        let inner = (self.launch)()?;
        self.left_out.never_seen(inner.unseen());
        let (left_out, names) = (Arc::clone(&self.left_out), Arc::clone(&self.names));
        Ok(Guarded::new(inner, &self.options, left_out, names))
    }

    /// Whether an atomic operation so far asked for a weaker order than memory had.
    pub fn asks_for_weaker_orders(&self) -> bool {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.options.memory == Memory::Sc && idle.iter().any(|executor| executor.asks_for_weaker_orders())
    }

    /// Steps after which executions were cut, if some were.
    pub(crate) fn steps_when_cut(&self) -> Option<u32> {
        self.left_out.steps_when_cut()
    }

    /// An executor for trials: executions that are cut do not count as leaving something out.
    pub(crate) fn probe(&self) -> Result<Guarded, GuestError> {
        let mut executor = self.launched()?;
        executor.set_probing(true);
        Ok(executor)
    }

    /// The signatures of suppressed errors, each with whether an execution showed it.
    pub fn suppressed(&self) -> Vec<(String, bool)> {
        let suppress = self.options.suppress.iter();
        suppress.map(|signature| (signature.clone(), self.left_out.was_passed_over(signature))).collect()
    }

    /// The bound within which everything else was searched, if executions reached it and nothing
    /// else was left out: `2 preemptions`.
    pub fn bound(&self) -> Option<String> {
        let alone = self.left_out.describe_besides_bound(&self.options).is_none();
        self.left_out.bound(&self.options).filter(|_| alone)
    }

    /// Records a label, so that a name that occurs in none is noticed.
    pub(crate) fn keep_label(&self, label: &Label) {
        self.labels.intern(label.clone());
    }

    /// Why no step of the executions so far matches this pattern, if a name in it occurs in no
    /// label.
    pub fn why_missing(&self, pattern: &str) -> Option<Word> {
        self.labels.why_missing(pattern)
    }

    /// Returns an executor for others to use.
    pub fn put_back(&self, executor: Box<dyn Executor>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(executor);
    }
}

impl Model for ProgramModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(ProgramExplorer::new(self))
    }

    fn paths(&self) -> Option<Box<dyn Paths + '_>> {
        Some(Box::new(ProgramPaths::new(self)))
    }

    fn left_out(&self) -> Option<String> {
        self.left_out.describe(&self.options)
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        Some(&self.operations)
    }
}

/// What threads can do, whatever they work on.
fn operations() -> Signatures {
    let mut signatures = Signatures::new();
    for kind in turnpike_scheduler::Kind::ALL {
        signatures.add_with_any_arity(crate::verb(kind));
        signatures.add_combination(vec![crate::verb(kind).to_owned()]);
    }
    signatures
}

/// The measures of a state, in the order in which explorers return them.
fn measures() -> Vec<MeasureInfo> {
    [
        ("enabled", "choices: threads that can take a step, with their alternatives"),
        ("messages", "messages sent so far"),
        ("assertions", "assertions evaluated so far"),
        ("branches", "distinct branches taken so far, if the program reports them"),
        ("threads", "threads that have not ended"),
        ("depth", "steps so far"),
    ]
    .map(|(name, doc)| MeasureInfo::new(name, doc))
    .to_vec()
}

/// The names of the threads that some executions have, in order, and those of objects.
fn learned(
    executor: &mut dyn Executor,
    options: &ProgramOptions,
    first: Execution,
) -> Result<(Vec<String>, Names), GuestError> {
    let mut threads: Vec<String> = Vec::new();
    let mut names = Names::default();
    let mut execution = first;
    let mut learn = |execution: &Execution| {
        threads.extend(execution.threads.iter().map(|record| record.name.clone()));
        names.learn(execution);
    };
    learn(&execution);
    for seed in 0..PROBES {
        if execution.end == End::Hung {
            break;
        }
        let policy = if seed == 0 { Policy::Continue } else { Policy::Uniform { seed } };
        let max_steps = options.max_steps.min(PROBE_STEPS);
        let plan = Plan { policy, max_steps, detail: Detail::Full, ..options.plan() };
        executor.run(&plan, &mut execution)?;
        learn(&execution);
    }
    threads.sort_by(|one, other| path(one).cmp(&path(other)));
    threads.dedup();
    threads.truncate(NAMED_THREADS);
    Ok((threads, names))
}

/// The same error in the engine's terms.
pub(crate) fn step_error(error: GuestError) -> StepError {
    match error.kind {
        GuestErrorKind::Nondeterministic => StepError::nondeterministic(error.message),
        GuestErrorKind::Unavailable => StepError::new(error.message),
    }
}
