//! A simulation without its terminal: the current state, the path to it, and the enabled
//! transitions.

use turnpike_model::{
    Describer, Explorer, Model, ModelInfo, StateValues, Step, StepError, Successors, Trace, hash,
};
use turnpike_session::Pattern;

/// A model being stepped through. What lies ahead after going back is kept until another step is taken.
pub(crate) struct Session<'m> {
    info: &'m ModelInfo,
    explorer: Box<dyn Explorer + 'm>,
    describer: Describer,
    initial: Vec<u32>,
    /// Steps taken, those ahead of `at` included.
    steps: Vec<Taken>,
    /// Number of steps from the initial state to the current one.
    at: usize,
    /// Outgoing transitions of the current state.
    successors: Successors,
    seed: u64,
    /// Random choices made so far.
    drawn: u64,
}

struct Taken {
    choice: u32,
    label: String,
    state: Vec<u32>,
}

/// A transition that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enabled {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) label: String,
    /// All values of the state it leads to.
    pub(crate) target: StateValues,
}

impl<'m> Session<'m> {
    /// Begins in the initial state.
    pub(crate) fn new(model: &'m dyn Model, seed: u64) -> Result<Self, StepError> {
        let info = model.info();
        let mut explorer = model.explorer();
        let mut initial = Vec::new();
        explorer.initial(&mut initial)?;
        let successors = Successors::new(info.width);
        let describer = Describer::of_states(info);
        let steps = Vec::new();
        let mut session =
            Session { info, explorer, describer, initial, steps, at: 0, successors, seed, drawn: 0 };
        session.arrive(0)?;
        Ok(session)
    }

    /// Number of steps from the initial state.
    pub(crate) fn depth(&self) -> usize {
        self.at
    }

    /// Number of steps that were undone and can be jumped to.
    pub(crate) fn ahead(&self) -> usize {
        self.steps.len() - self.at
    }

    /// Values of the state after step `index`.
    pub(crate) fn values(&mut self, index: usize) -> StateValues {
        let state = state_after(&self.initial, &self.steps, index);
        self.describer.state(&mut *self.explorer, state)
    }

    /// The label of step `index`, from 1.
    pub(crate) fn label(&self, index: usize) -> &str {
        &self.steps[index - 1].label
    }

    pub(crate) fn enabled_count(&self) -> usize {
        self.successors.len()
    }

    pub(crate) fn is_deadlock(&mut self) -> bool {
        let state = state_after(&self.initial, &self.steps, self.at);
        self.explorer.is_deadlock(state, &self.successors)
    }

    /// The enabled transitions whose labels match; all without a pattern; at most `most` of them, and how many match.
    pub(crate) fn enabled(&mut self, pattern: Option<&Pattern>, most: usize) -> (Vec<Enabled>, usize) {
        let mut found = Vec::new();
        let mut matching = 0;
        for index in 0..self.successors.len() {
            let label = self.explorer.label(self.successors.label(index)).text;
            if pattern.is_some_and(|pattern| !pattern.matches(&label)) {
                continue;
            }
            matching += 1;
            if found.len() < most {
                let target = self.describer.state(&mut *self.explorer, self.successors.state(index));
                found.push(Enabled { number: index + 1, label, target });
            }
        }
        (found, matching)
    }

    /// Takes the enabled transition of this number, from 1.
    pub(crate) fn choose(&mut self, number: usize) -> Result<(), String> {
        match self.successors.len() {
            0 => Err("no transition is enabled here; u goes back".to_owned()),
            count if number == 0 || number > count => {
                Err(format!("there is no transition {number}: the enabled ones are 1 to {count}"))
            }
            _ => self.step(number - 1),
        }
    }

    /// Takes the only enabled transition whose label matches.
    pub(crate) fn take(&mut self, pattern: &str) -> Result<(), String> {
        let (found, matching) = self.enabled(Some(&Pattern::new(pattern)), 1);
        match found.first() {
            Some(only) if matching == 1 => self.choose(only.number),
            Some(_) => Err(format!("{matching} enabled transitions match '{pattern}'; f lists them")),
            None => Err(format!("no enabled transition matches '{pattern}'")),
        }
    }

    fn step(&mut self, index: usize) -> Result<(), String> {
        let label = self.explorer.label(self.successors.label(index)).text;
        let taken = Taken { choice: index as u32, label, state: self.successors.state(index).to_vec() };
        self.steps.truncate(self.at);
        self.steps.push(taken);
        // A state whose successors cannot be computed is no place to be: the step is not taken.
        self.arrive(self.at + 1).map_err(|error| {
            self.steps.pop();
            error.to_string()
        })
    }

    /// Takes up to `count` uniformly drawn transitions; fewer when a state has none. Gives the number taken.
    pub(crate) fn random(&mut self, count: usize) -> Result<usize, String> {
        for taken in 0..count {
            let enabled = self.successors.len();
            if enabled == 0 {
                return Ok(taken);
            }
            let draw = hash::mix(self.seed, self.drawn);
            self.drawn += 1;
            // The high bits of the product: a bias of one in 2^64 / enabled is no bias.
            let index = (u128::from(draw) * enabled as u128) >> 64;
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
        if index > self.steps.len() {
            return Err(format!("the trace has only {}", steps(self.steps.len())));
        }
        self.arrive(index).map_err(|error| error.to_string())
    }

    /// Takes these choices from the initial state, forgetting what was before.
    pub(crate) fn follow(&mut self, choices: &[u32]) -> Result<(), String> {
        self.jump(0)?;
        self.steps.clear();
        choices.iter().try_for_each(|&choice| self.choose(choice as usize + 1))
    }

    /// The way from the initial state to the current one.
    pub(crate) fn trace(&mut self) -> Trace {
        let Session { info, explorer, describer, initial, steps, at, .. } = self;
        let explorer = &mut **explorer;
        Trace {
            model: info.name.clone(),
            fingerprint: info.fingerprint,
            initial: Some(describer.state(explorer, initial)),
            steps: steps[..*at]
                .iter()
                .map(|taken| Step {
                    label: taken.label.clone(),
                    choice: Some(taken.choice),
                    state: Some(describer.state(explorer, &taken.state)),
                    ..Step::default()
                })
                .collect(),
            ..Trace::default()
        }
    }

    /// Makes the state after step `index` the current one; on an error nothing changes.
    fn arrive(&mut self, index: usize) -> Result<(), StepError> {
        let mut successors = Successors::new(self.info.width);
        let state = state_after(&self.initial, &self.steps, index);
        self.explorer.successors(state, &mut successors)?;
        self.successors = successors;
        self.at = index;
        Ok(())
    }
}

fn steps(count: usize) -> String {
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

fn state_after<'a>(initial: &'a [u32], steps: &'a [Taken], index: usize) -> &'a [u32] {
    match index {
        0 => initial,
        step => &steps[step - 1].state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Box<dyn Model> {
        turnpike_builtin::build("philosophers", &[("n".into(), "2".into())]).expect("builds")
    }

    fn labels(session: &mut Session<'_>) -> Vec<String> {
        session.enabled(None, usize::MAX).0.into_iter().map(|enabled| enabled.label).collect()
    }

    #[test]
    fn steps_and_goes_back() {
        let model = model();
        let mut session = Session::new(&*model, 0).expect("begins");
        assert_eq!(labels(&mut session), ["lock(1,1)", "lock(2,2)"]);
        session.choose(1).expect("enabled");
        session.take("lock(2,*)").expect("enabled");
        assert!(session.is_deadlock());
        assert!(session.choose(1).expect_err("deadlock").contains("no transition is enabled"));
        session.undo(1).expect("one back");
        assert_eq!((session.depth(), session.ahead()), (1, 1));
        session.jump(2).expect("ahead again");
        assert!(session.is_deadlock());
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
        assert_eq!(session.enabled(Some(&Pattern::new("*2)")), 10).0[0].number, 2);
        assert_eq!(session.enabled(None, 1).1, 2);
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
