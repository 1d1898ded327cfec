//! A model in which every expansion takes a given time, as in most front-ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnpike_model::{Explorer, Label, LabelId, Model, ModelInfo, StepError, Successors};

/// Another model, slowed down.
pub(super) struct Costly {
    model: Arc<dyn Model>,
    expansion: Duration,
}

impl Costly {
    pub(super) fn new(model: Arc<dyn Model>, expansion: Duration) -> Self {
        Costly { model, expansion }
    }
}

impl Model for Costly {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(CostlyExplorer { explorer: self.model.explorer(), expansion: self.expansion })
    }

    fn left_out(&self) -> Option<String> {
        self.model.left_out()
    }
}

struct CostlyExplorer<'a> {
    explorer: Box<dyn Explorer + 'a>,
    expansion: Duration,
}

impl Explorer for CostlyExplorer<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        self.explorer.initial(out)
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        let started = Instant::now();
        self.explorer.successors(state, out)?;
        // Busy, as a computation would be: sleeping would leave the processor to others.
        while started.elapsed() < self.expansion {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        self.explorer.label(id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.explorer.state_values(state, out);
    }
}
