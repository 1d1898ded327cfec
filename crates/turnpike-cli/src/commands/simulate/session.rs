//! A simulation without its terminal: the current state, the path to it, and the enabled
//! transitions.

use turnpike_model::{Delay, Model, Moment, Outlook, StateValues, StepError, StuckComponent, Trace, hash};
use turnpike_session::{Enabled, Pattern, Simulation, Visit};

/// A model being stepped through. What lies ahead after going back is kept until another step is taken.
pub(crate) struct Session<'m> {
    simulation: Simulation<'m>,
    /// The initial state and the states after the steps taken, those ahead of `at` included.
    path: Vec<Visit>,
    /// Number of steps from the initial state to the current one.
    at: usize,
    /// Transitions that the current state has.
    enabled: usize,
    /// How long to wait before the next step, if that was chosen.
    delay: Option<Delay>,
    seed: u64,
    /// Random choices made so far.
    drawn: u64,
}

impl<'m> Session<'m> {
    /// Begins in the initial state.
    pub(crate) fn new(model: &'m dyn Model, seed: u64) -> Result<Self, StepError> {
        let mut simulation = Simulation::new(model)?;
        let enabled = simulation.enabled_count(Visit::INITIAL)?;
        Ok(Session { simulation, path: vec![Visit::INITIAL], at: 0, enabled, delay: None, seed, drawn: 0 })
    }

    /// Number of steps from the initial state.
    pub(crate) fn depth(&self) -> usize {
        self.at
    }

    /// Number of steps that were undone and can be jumped to.
    pub(crate) fn ahead(&self) -> usize {
        self.path.len() - 1 - self.at
    }

    /// Values of the state after step `index`.
    pub(crate) fn values(&mut self, index: usize) -> StateValues {
        self.simulation.values(self.path[index])
    }

    /// The label of step `index`, from 1.
    pub(crate) fn label(&self, index: usize) -> &str {
        self.simulation.label(self.path[index])
    }

    pub(crate) fn enabled_count(&self) -> usize {
        self.enabled
    }

    pub(crate) fn is_deadlock(&mut self) -> Result<bool, String> {
        self.simulation.is_deadlock(self.path[self.at]).map_err(|error| error.to_string())
    }

    /// The enabled transitions whose labels match; all without a pattern; at most `most` of them, and how many match.
    pub(crate) fn enabled(
        &mut self,
        pattern: Option<&Pattern>,
        most: usize,
    ) -> Result<(Vec<Enabled>, usize), String> {
        self.simulation.enabled(self.path[self.at], pattern, most).map_err(|error| error.to_string())
    }

    /// Takes the enabled transition of this number, from 1.
    pub(crate) fn choose(&mut self, number: usize) -> Result<(), String> {
        match self.enabled {
            0 => Err("no transition is enabled here; u goes back".to_owned()),
            count if number == 0 || number > count => {
                Err(format!("there is no transition {number}: the enabled ones are 1 to {count}"))
            }
            _ => self.step(number - 1),
        }
    }

    /// Takes the only enabled transition whose label matches.
    pub(crate) fn take(&mut self, pattern: &str) -> Result<(), String> {
        let (found, matching) = self.enabled(Some(&Pattern::new(pattern)), 1)?;
        match found.first() {
            Some(only) if matching == 1 => self.choose(only.choice as usize + 1),
            Some(_) => Err(format!("{matching} enabled transitions match '{pattern}'; f lists them")),
            None => Err(format!("no enabled transition matches '{pattern}'")),
        }
    }

    fn step(&mut self, index: usize) -> Result<(), String> {
        let taken = self.simulation.step_after(self.path[self.at], index as u32, self.delay);
        let Some(visit) = taken.map_err(|error| error.to_string())? else {
            return Err(format!("there is no transition {}", index + 1));
        };
        self.path.truncate(self.at + 1);
        self.path.push(visit);
        self.arrive(self.at + 1)
    }

    /// Takes up to `count` uniformly drawn transitions; fewer when a state has none. Gives the number taken.
    pub(crate) fn random(&mut self, count: usize) -> Result<usize, String> {
        for taken in 0..count {
            if self.enabled == 0 {
                return Ok(taken);
            }
            let draw = hash::mix(self.seed, self.drawn);
            self.drawn += 1;
            // The high bits of the product: a bias of one in 2^64 / enabled does not matter.
            let index = (u128::from(draw) * self.enabled as u128) >> 64;
            self.step(index as usize)?;
        }
        Ok(count)
    }

    /// Goes back `count` steps.
    pub(crate) fn undo(&mut self, count: usize) -> Result<(), String> {
        match self.at.checked_sub(count) {
            Some(index) => self.jump(index),
            None => Err(format!("only {} can be undone", steps(self.at))),
        }
    }

    /// Goes to the state after step `index` of the trace, back or ahead.
    pub(crate) fn jump(&mut self, index: usize) -> Result<(), String> {
        if index >= self.path.len() {
            return Err(format!("the trace has only {}", steps(self.path.len() - 1)));
        }
        self.arrive(index)
    }

    /// Takes these choices from the initial state, forgetting what was before.
    pub(crate) fn follow(&mut self, choices: &[u32]) -> Result<(), String> {
        self.jump(0)?;
        self.path.truncate(1);
        choices.iter().try_for_each(|&choice| self.choose(choice as usize + 1))
    }

    /// When the last step is taken in one possible run, for models with time.
    pub(crate) fn moment(&self, index: usize) -> Option<Moment> {
        self.simulation.schedule(self.path[index]).ok().flatten()?.moments.pop()
    }

    /// What can happen next in that run, and when, for models with time.
    pub(crate) fn outlook(&self, next: &[u32]) -> Option<Outlook> {
        self.simulation.outlook(self.path[self.at], next).ok().flatten()
    }

    /// Waits before the next step.
    pub(crate) fn wait(&mut self, delay: Option<Delay>) -> Result<(), String> {
        if self.simulation.model().delays().is_none() {
            return Err("time does not pass in this model".to_owned());
        }
        self.delay = delay;
        Ok(())
    }

    /// What is not possible now, and why.
    pub(crate) fn hindered(&mut self) -> Result<Vec<StuckComponent>, String> {
        self.simulation.hindered(self.path[self.at]).map_err(|error| error.to_string())
    }

    /// The choices from the initial state to the current one.
    pub(crate) fn choices(&self) -> Vec<u32> {
        self.simulation.choices(self.path[self.at])
    }

    /// The way from the initial state to the current one.
    pub(crate) fn trace(&mut self) -> Trace {
        let mut trace = self.simulation.trace(self.path[self.at]);
        if let Ok(Some(schedule)) = self.simulation.schedule(self.path[self.at]) {
            trace.set_times(schedule);
        }
        trace
    }

    /// Makes the state after step `index` the current one.
    fn arrive(&mut self, index: usize) -> Result<(), String> {
        self.enabled = self.simulation.enabled_count(self.path[index]).map_err(|error| error.to_string())?;
        self.at = index;
        self.delay = None;
        Ok(())
    }
}

fn steps(count: usize) -> String {
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Box<dyn Model> {
        turnpike_builtin::build("philosophers", &[("n".into(), "2".into())]).expect("builds")
    }

    fn labels(session: &mut Session<'_>) -> Vec<String> {
        session
            .enabled(None, usize::MAX)
            .expect("computed")
            .0
            .into_iter()
            .map(|enabled| enabled.label)
            .collect()
    }

    #[test]
    fn steps_and_goes_back() {
        let model = model();
        let mut session = Session::new(&*model, 0).expect("begins");
        assert_eq!(labels(&mut session), ["lock(1,1)", "lock(2,2)"]);
        session.choose(1).expect("enabled");
        session.take("lock(2,*)").expect("enabled");
        assert_eq!(session.is_deadlock(), Ok(true));
        assert!(session.choose(1).expect_err("deadlock").contains("no transition is enabled"));
        session.undo(1).expect("one back");
        assert_eq!((session.depth(), session.ahead()), (1, 1));
        session.jump(2).expect("ahead again");
        assert_eq!(session.is_deadlock(), Ok(true));
        session.jump(0).expect("the start");
        assert_eq!(session.ahead(), 2);
        session.choose(2).expect("enabled");
        assert_eq!((session.depth(), session.ahead()), (1, 0), "another step forgets what was ahead");
        assert_eq!(session.label(1), "lock(2,2)");
        assert!(session.undo(2).expect_err("too far").contains("only 1 step can be undone"));
        assert!(session.jump(7).is_err());
        assert!(session.choose(0).is_err() && session.choose(9).is_err());
        assert_eq!(session.depth(), 1, "errors change nothing");
    }

    #[test]
    fn patterns_must_be_clear() {
        let model = model();
        let mut session = Session::new(&*model, 0).expect("begins");
        assert!(session.take("lock(*)").expect_err("two").contains("2 enabled transitions match"));
        assert!(session.take("eat(*)").expect_err("none").contains("no enabled transition"));
        assert_eq!(session.enabled(Some(&Pattern::new("*2)")), 10).expect("computed").0[0].choice, 1);
        assert_eq!(session.enabled(None, 1).expect("computed").1, 2);
    }

    #[test]
    fn random_steps_repeat_with_the_seed() {
        let model = model();
        let walk = |seed| {
            let mut session = Session::new(&*model, seed).expect("begins");
            let taken = session.random(40).expect("walks");
            assert_eq!(taken, session.depth());
            session.trace()
        };
        assert_eq!(walk(7), walk(7));
        assert!((0..20).any(|seed| walk(seed) != walk(7)));
    }

    #[test]
    fn a_saved_trace_can_be_followed() {
        let model = model();
        let mut session = Session::new(&*model, 3).expect("begins");
        session.choose(1).expect("enabled");
        session.choose(1).expect("enabled");
        let trace = session.trace();
        let replayed = turnpike_session::replay(&*model, &trace).expect("replays");
        assert!(replayed.divergence.is_none());
        let choices: Vec<u32> = trace.steps.iter().filter_map(|step| step.choice).collect();
        let mut again = Session::new(&*model, 0).expect("begins");
        again.random(3).expect("walks");
        again.follow(&choices).expect("fits");
        assert_eq!(again.trace(), trace);
        assert!(again.follow(&[0, 77]).is_err());
        assert_eq!(again.depth(), 1, "follows as far as it goes");
    }
}
