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
        // Positions of steps count from the new beginning.
        let before = before as u32;
        for thread in &mut out.threads {
            thread.born = thread.born.saturating_sub(before);
        }
        out.values.retain(|value| value.step >= before);
        for value in &mut out.values {
            value.step -= before;
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

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_scheduler::{Choice, Kind, ObjectId, Step, StepValue, ThreadId, ThreadRecord};

    /// Four steps, with a thread that is created after two of them and a value behind the last one.
    struct FourSteps;

    impl Executor for FourSteps {
        fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
            assert_eq!(plan.prefix, [0, 0, 7]);
            let choice = |thread: u32| Choice {
                thread: ThreadId(thread),
                alternative: 0,
                kind: Kind::Yield,
                object: ObjectId::NONE,
                second: ObjectId::NONE,
                within: [ObjectId::NONE; 2],
                gives_up: false,
                exclusive: true,
                argument: 0,
                site: Site::default(),
            };
            out.choices = vec![choice(0); 5];
            out.last_choices = 4;
            let step = |at: u32| Step {
                taken: 0,
                count: 1,
                first_choice: at,
                choice: choice(at),
                fingerprint: at.into(),
            };
            out.steps = (0..4).map(step).collect();
            out.threads = [0, 1, 3]
                .map(|born| ThreadRecord {
                    name: String::new(),
                    name_hash: 0,
                    waits: None,
                    holds: Vec::new(),
                    ended: true,
                    born,
                    site: Site::default(),
                })
                .into();
            out.values = [1, 3].map(|step| StepValue { step, value: step.into(), bytes: 4 }).into();
            Ok(())
        }

        fn site(&mut self, _: Site) -> String {
            String::new()
        }
    }

    #[test]
    fn positions_of_steps_count_from_the_new_beginning() {
        let mut after = After { inner: Box::new(FourSteps), prefix: [0, 0].into(), whole: Vec::new() };
        let mut out = Execution::default();
        after.run(&Plan::new(&[7]), &mut out).expect("it can be executed");
        assert_eq!(out.steps.iter().map(|step| step.choice.thread.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(out.steps.iter().map(|step| step.first_choice).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((out.choices.len(), out.last_choices), (3, 2));
        // The third thread was created by the first step that is left, the others before it.
        assert_eq!(out.threads.iter().map(|thread| thread.born).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(out.values, [StepValue { step: 1, value: 3, bytes: 4 }]);
    }
}
