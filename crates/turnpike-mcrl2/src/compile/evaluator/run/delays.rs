//! Delayed evaluations of arguments, each evaluated at most once.

use std::sync::Arc;

use super::{Answer, deeper};
use crate::compile::evaluator::Machine;
use crate::compile::evaluator::library::Tables;
use crate::value::Value;

/// A delayed evaluation of a machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::compile::evaluator) enum Thunk {
    /// Not evaluated yet: its code, and where its captured values begin.
    Waiting {
        delay: u32,
        start: u32,
    },
    Done(Value),
}

impl Machine {
    /// A delayed evaluation, with what it captures of the frame at `base`.
    pub(super) fn delay(&mut self, t: &Arc<Tables>, delay: u32, base: usize) -> Value {
        let start = self.captured.len() as u32;
        for &slot in &t.delays[delay as usize].captured {
            self.captured.push(self.stack[base + slot as usize]);
        }
        self.thunks.push(Thunk::Waiting { delay, start });
        Value::private(self.thunks.len() as u32 - 1)
    }

    /// Evaluates the content of a slot and stores the value there.
    #[inline]
    pub(in crate::compile::evaluator) fn force_slot(&mut self, t: &Arc<Tables>, place: usize) -> Answer {
        let held = self.stack[place];
        match held.as_private() {
            None => Ok(held),
            Some(index) => {
                let value = self.force(t, index)?;
                self.stack[place] = value;
                Ok(value)
            }
        }
    }

    #[inline(never)]
    fn force(&mut self, t: &Arc<Tables>, index: u32) -> Answer {
        match self.thunks[index as usize] {
            Thunk::Done(value) => Ok(value),
            Thunk::Waiting { delay, start } => {
                let delay = &t.delays[delay as usize];
                let frame = self.stack.len();
                let start = start as usize;
                self.stack.extend_from_slice(&self.captured[start..start + delay.captured.len()]);
                self.stack.resize(frame + delay.frame as usize, Value::FALSE);
                let thunks = (self.thunks.len(), self.captured.len());
                let value = deeper(|| self.eval(t, &delay.body, delay.root, frame))?;
                self.thunks.truncate(thunks.0);
                self.captured.truncate(thunks.1);
                self.stack.truncate(frame);
                self.thunks[index as usize] = Thunk::Done(value);
                Ok(value)
            }
        }
    }
}
