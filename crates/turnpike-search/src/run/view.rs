//! What a run explores: the model's own states, or single states of it.

use turnpike_model::{Explorer, Model, StepError};

use super::Run;
use crate::error::SearchError;
use crate::objective::{Hit, HitKind, Monitor, Objective};
use crate::options::SearchOptions;
use crate::witness::{Path, TraceDetail, Witness, confirm};

/// States to explore, and the monitor that tests them.
pub(crate) struct View<'m> {
    pub(crate) explorer: Box<dyn Explorer + 'm>,
    pub(crate) monitor: Monitor,
    /// Words of a state.
    pub(super) width: usize,
    /// The initial state is only a place from which the proper ones are reached.
    pub(super) virtual_root: bool,
    /// States this many transitions from the initial state are not expanded. A virtual root counts
    /// here.
    pub(crate) max_depth: u32,
    /// Single states of the model are explored instead of its own.
    pub(super) is_concrete: bool,
}

impl<'m> View<'m> {
    /// The model's own states.
    pub(crate) fn of_model(
        model: &'m dyn Model,
        options: &SearchOptions,
        objectives: &[Objective],
    ) -> Result<Self, SearchError> {
        View::new(model, model.explorer(), options, objectives, model.info().virtual_root)
    }

    /// The model's own states for another thread of the same run.
    pub(crate) fn for_worker(
        run_view: &View<'m>,
        model: &'m dyn Model,
        options: &SearchOptions,
        objectives: &[Objective],
    ) -> Result<Self, SearchError> {
        let mut view = View::of_model(model, options, objectives)?;
        if view.virtual_root && !run_view.virtual_root {
            view.monitor.count_root();
        }
        (view.virtual_root, view.max_depth) = (run_view.virtual_root, run_view.max_depth);
        Ok(view)
    }

    /// Words of a state.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Single states of the model; `None` when it has no such view.
    fn concrete(
        model: &'m dyn Model,
        options: &SearchOptions,
        objectives: &[Objective],
    ) -> Result<Option<Self>, SearchError> {
        let Some(concrete) = model.concrete() else { return Ok(None) };
        // Such an explorer has a virtual root, whether the model has one or not.
        let view = View::new(model, concrete.explorer(), options, objectives, true)?;
        Ok(Some(View { width: concrete.width(), is_concrete: true, ..view }))
    }

    fn new(
        model: &'m dyn Model,
        mut explorer: Box<dyn Explorer + 'm>,
        options: &SearchOptions,
        objectives: &[Objective],
        virtual_root: bool,
    ) -> Result<Self, SearchError> {
        let mut info = model.info().clone();
        info.virtual_root = virtual_root;
        let mut monitor =
            Monitor::new(objectives, &options.internal, options.lookahead, &mut *explorer, &info)?;
        monitor.accept_at(options.accept);
        let max_depth = options.limits.depth.unwrap_or(u32::MAX).saturating_add(virtual_root.into());
        Ok(View { explorer, monitor, width: info.width, virtual_root, max_depth, is_concrete: false })
    }
}

impl<'m> Run<'m> {
    /// Whether single states are explored instead of the model's own.
    pub(crate) fn is_concrete(&self) -> bool {
        self.view.is_concrete
    }

    /// Whether a portfolio can walk on single states: these show neither cycles nor extremes, and not every condition.
    pub(crate) fn offers_concrete(&self) -> bool {
        let unsuitable = |objective: &Objective| objective.is_about_cycles() || objective.is_measure();
        !self.objectives.iter().any(unsuitable)
            && matches!(View::concrete(self.model, self.options, self.objectives), Ok(Some(_)))
    }

    /// From now on single states of the model are explored. Gives the view to go back to; `None` when the model has
    /// none of single states.
    pub(crate) fn enter_concrete(&mut self) -> Result<Option<View<'m>>, SearchError> {
        let concrete = View::concrete(self.model, self.options, self.objectives)?;
        Ok(concrete.map(|concrete| std::mem::replace(&mut self.view, concrete)))
    }

    /// Goes back to the model's own states. The counters go on.
    pub(crate) fn leave_concrete(&mut self, outside: View<'m>) {
        let walked = std::mem::replace(&mut self.view, outside);
        self.view.monitor.absorb(&walked.monitor);
    }

    /// The witness of the model itself that a walk on single states stands for; `None` when there is none.
    pub(super) fn follow_concrete(&self, path: Path, hit: &Hit) -> Result<Option<Witness>, SearchError> {
        let failed = |error: StepError| SearchError::Replay(error.message);
        let (Path::Choices(mut choices), Some(concrete)) = (path, self.model.concrete()) else {
            return Ok(None);
        };
        if let HitKind::Step(choice) = hit.kind {
            choices.push(choice);
        }
        let objective = &self.objectives[hit.objective];
        for mut way in concrete.follow(&choices).map_err(failed)? {
            let kind = match hit.kind {
                HitKind::Step(_) => way.pop().map_or(HitKind::Here, HitKind::Step),
                _ => HitKind::Here,
            };
            let mut explorer = self.model.explorer();
            let witness = Witness::new(&mut *explorer, Path::Choices(way), hit.objective, &kind);
            if let Ok(witness) = witness
                && confirm(self.model, &witness, objective, self.options, TraceDetail::default()).is_ok()
            {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }
}
