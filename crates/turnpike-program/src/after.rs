//! A program that begins where a schedule leads, for searches that continue after a trace.

use std::sync::Arc;

use turnpike_model::Model;
use turnpike_scheduler::{Execution, Executor, Frame, GuestError, Plan, Site};

use crate::guard::ended;
use crate::model::{Launch, ProgramModel};

impl ProgramModel {
    /// The program after these choices: its initial state is where they lead.
    pub fn after(&self, choices: &[u32]) -> Result<ProgramModel, GuestError> {
        let (launch, prefix) = (self.launch(), Arc::<[u32]>::from(choices));
        let launch: Box<Launch> = Box::new(move || {
            let (inner, prefix) = (launch()?, Arc::clone(&prefix));
            Ok(Box::new(After { inner, prefix, whole: Vec::new() }) as Box<dyn Executor>)
        });
        ProgramModel::new(&self.info().name, self.info().fingerprint, launch, self.options().clone())
    }
}

/// Executes a prefix before every plan, and leaves it out of the record.
struct After {
    inner: Box<dyn Executor>,
    prefix: Arc<[u32]>,
    whole: Vec<u32>,
}

impl Executor for After {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.whole.clear();
        self.whole.extend_from_slice(&self.prefix);
        self.whole.extend_from_slice(plan.prefix);
        let before = self.prefix.len();
        let max_steps = plan.max_steps.saturating_add(before as u32);
        self.inner.run(&Plan { prefix: &self.whole, max_steps, ..*plan }, out)?;
        if out.steps.len() < before {
            return Err(GuestError::new(format!(
                "the schedule that leads to the beginning cannot be executed: {}",
                ended(out)
            )));
        }
        let first = out.steps.get(before).map_or(out.last_choices, |step| step.first_choice as usize);
        let first = first.min(out.choices.len());
        out.steps.drain(..before);
        out.choices.drain(..first);
        out.last_choices = out.last_choices.saturating_sub(first);
        for step in &mut out.steps {
            step.first_choice = step.first_choice.saturating_sub(first as u32);
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }

    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        self.inner.frames(address)
    }

    fn unseen(&self) -> Vec<String> {
        self.inner.unseen()
    }

    fn asks_for_weaker_orders(&self) -> bool {
        self.inner.asks_for_weaker_orders()
    }
}
