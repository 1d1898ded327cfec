//! Returns to frames of the stack. All frames are known only when everything is unfolded. Until
//! then [`RETURN`] stands for them.

use std::rc::Rc;

use turnpike_model::diagnostic::Diagnostic;

use super::{Place, Unfolding};
use crate::lower::sequential::distribution::PendingChoices;
use crate::lower::sequential::terms::error;
use crate::lower::{Goto, Update};
use crate::typed::expression::Substitution;

/// Stands for a return to the newest frame of the stack until all frames are known.
pub(super) const RETURN: Goto = Goto::Local(u32::MAX);

impl Unfolding<'_> {
    /// The update of a return to a frame.
    pub(super) fn return_to(&mut self, index: usize) -> Result<Update, Diagnostic> {
        let Some(stack) = &self.stack else { return self.go(Place::Delta, &Substitution::default(), &[]) };
        let mut values = stack.restore_variables(self.program, index);
        let chain = stack.frames[index].chain;
        values.extend(self.globals.iter().map(|(&one, &value)| (one, value)));
        let mut pending = PendingChoices::default();
        let update = self.after(chain, Rc::new(values), &mut pending)?;
        match (pending.distribution(), self.chains.first(chain)) {
            (Some(_), Some((rest, _))) => Err(error(
                self.program.behaviour_span(rest.term),
                "a probabilistic choice directly after a recursive call is not supported",
            )
            .help("put an action between the call and the dist")),
            _ => Ok(update),
        }
    }

    /// The update of a return that distinguishes all frames.
    pub(super) fn return_by_frame(&mut self, returns: Vec<Update>) -> Option<Update> {
        let stack = self.stack.as_ref()?;
        let mut all: Option<Update> = None;
        for (index, then) in returns.into_iter().enumerate().rev() {
            all = Some(match all {
                None => then,
                Some(otherwise) => Update::If {
                    condition: stack.recognise(self.program, index),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                    control: None,
                },
            });
        }
        all
    }
}

pub(super) fn replace_returns(update: &mut Update, by: &Update) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        match update {
            Update::Go { location, .. } if *location == RETURN => *update = by.clone(),
            Update::Go { .. } => {}
            Update::If { then, otherwise, .. } => work.extend([&mut **then, &mut **otherwise]),
        }
    }
}
