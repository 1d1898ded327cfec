//! A program as a transition system: a state is the fingerprint of a happens-before order, together with one schedule
//! that leads to it, which is executed again whenever the state's successors are asked for.

use turnpike_model::scheduler::{Executor, GuestError, MayAccess, Timeouts};
use turnpike_model::{Explorer, Model, ModelInfo};

/// Makes executors of one program, one for each thread of the search.
pub type Launch = dyn Fn() -> Result<Box<dyn Executor>, GuestError> + Send + Sync;

/// How the program is executed.
#[derive(Clone, Debug, Default)]
pub struct ProgramOptions {
    /// Steps after which an execution is cut.
    pub max_steps: u32,
    /// Sleep sets on the choice list of every strategy.
    pub sleep: bool,
    /// Persistent sets on the choice list of every strategy, by this table.
    pub persistent: Option<MayAccess>,
    /// When timed operations time out.
    pub timeouts: Timeouts,
    /// Spurious wake-ups that an execution may have.
    pub spurious: u32,
}

/// A program under a controlled scheduler.
pub struct ProgramModel {
    info: ModelInfo,
    launch: Box<Launch>,
    options: ProgramOptions,
}

impl ProgramModel {
    /// A program by its name and the hash of what it is (recorded in schedule files).
    pub fn new(
        name: &str,
        fingerprint: u64,
        launch: Box<Launch>,
        options: ProgramOptions,
    ) -> Result<Self, GuestError> {
        let mut info = ModelInfo::new(name, 4);
        info.fingerprint = fingerprint;
        info.capabilities.violations_on_expansion = true;
        Ok(ProgramModel { info, launch, options })
    }
}

impl Model for ProgramModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        let _ = (&self.launch, &self.options);
        unimplemented!()
    }
}
