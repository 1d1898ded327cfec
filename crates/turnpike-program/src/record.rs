//! Which thread accesses which object, learned from executions: what persistent sets need if the
//! program has no annotations.

use std::collections::BTreeMap;

use turnpike_model::Model;
use turnpike_scheduler::{
    Choice, Detail, Execution, GuestError, MayAccess, ObjectId, Plan, Policy, Reduction,
};

use crate::model::{Launch, ProgramModel};
use crate::settings::ProgramOptions;

impl ProgramModel {
    /// The same program with persistent sets, by a table learned from this many random executions.
    /// It is not proved, because there may be accesses that none of them made.
    pub fn with_recorded_accesses(self, executions: u64) -> Result<ProgramModel, GuestError> {
        let persistent = Some(self.record_accesses(executions)?);
        let options = ProgramOptions { persistent, ..self.options().clone() };
        let launch = self.launch();
        let launch: Box<Launch> = Box::new(move || launch());
        ProgramModel::new(&self.info().name, self.info().fingerprint, launch, options)
    }

    fn record_accesses(&self, executions: u64) -> Result<MayAccess, GuestError> {
        let mut executor = self.executor()?;
        let mut execution = Execution::default();
        let mut table = BTreeMap::new();
        for seed in 0..executions {
            let reduction = Reduction::default();
            let policy = if seed == 0 { Policy::Continue } else { Policy::Uniform { seed } };
            let plan = Plan { policy, reduction, detail: Detail::Full, ..self.options().plan() };
            executor.run(&plan, &mut execution)?;
            let blocked = execution.threads.iter().filter_map(|thread| Some(&thread.waits.as_ref()?.0));
            for choice in execution.choices.iter().chain(blocked) {
                note(&execution, choice, &mut table);
            }
        }
        self.put_back(executor);
        let entries = table.into_iter().map(|((thread, object), exclusive)| (thread, object, exclusive));
        Ok(MayAccess { entries: entries.collect(), proved: false })
    }
}

fn note(execution: &Execution, choice: &Choice, table: &mut BTreeMap<(u64, u64), bool>) {
    let Some(thread) = execution.threads.get(choice.thread.0 as usize) else { return };
    for id in [choice.object, choice.second].into_iter().filter(|&id| id != ObjectId::NONE) {
        let Some(object) = execution.objects.get(id.0 as usize) else { continue };
        *table.entry((thread.name_hash, object.name_hash)).or_default() |= choice.exclusive;
    }
}
