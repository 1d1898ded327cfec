//! Interactive simulation of a system: a tree of visited states.

use rustc_hash::FxHashMap;
use turnpike_model::{
    Delay, Describer, Diagnostic, Explorer, Model, Outlook, Schedule, StateValues, Step, StepError,
    StuckComponent, Successors, Trace,
};
use turnpike_search::Pattern;

/// A visited state, by its number in a [`Simulation`]. The initial state is [`Visit::INITIAL`].
///
/// A state that is reached in two ways is two visits: each visit has a unique path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Visit(pub u32);

impl Visit {
    /// The initial state.
    pub const INITIAL: Visit = Visit(0);
}

/// An enabled transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enabled {
    /// Its position among those of its state.
    pub choice: u32,
    /// Its label.
    pub label: String,
    /// All values of its target state.
    pub target: StateValues,
}

/// A trace without the values that are abstractions in the states of a model, so that another view
/// of the same system can follow it.
pub fn without_abstractions(model: &dyn Model, mut trace: Trace) -> Trace {
    let abstracted = model.exact_states().map(|exact| exact.abstracted_parameters()).unwrap_or_default();
    let names: Vec<&str> = abstracted.iter().map(|&index| model.info().parameters[index].as_str()).collect();
    let strip = |values: &StateValues| -> StateValues {
        let kept = values.iter().filter(|(name, _)| !names.contains(name));
        kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    trace.initial = trace.initial.as_ref().map(strip);
    for step in &mut trace.steps {
        step.state = step.state.as_ref().map(strip);
    }
    trace
}

/// Blocked transitions are not reported if more transitions than this are enabled.
const MOST_COMPARED: usize = 200;

/// A system for stepping. Every visited state is kept, so one can go back and continue elsewhere.
pub struct Simulation<'m> {
    model: &'m dyn Model,
    explorer: Box<dyn Explorer + 'm>,
    describer: Describer,
    visits: Vec<Visited>,
    /// The targets of choices, with the delay if one was chosen.
    children: FxHashMap<(Visit, u32, Option<Delay>), Visit>,
    /// The visit whose outgoing transitions are in the buffer.
    expanded: Option<Visit>,
    successors: Successors,
    /// The most visits that are kept.
    most_visits: usize,
    /// Whether a step was refused because of that limit.
    is_full: bool,
}

struct Visited {
    /// The previous visit and the choice that led here. The initial state has none.
    from: Option<(Visit, u32)>,
    label: String,
    state: Vec<u32>,
    /// The components that took part in that transition, computed on demand.
    who: Option<String>,
    /// If the delay of the last step was chosen: all delays up to it, as they were then.
    delays: Option<Vec<Option<Delay>>>,
}

impl<'m> Simulation<'m> {
    /// Begins in the initial state.
    pub fn new(model: &'m dyn Model) -> Result<Self, StepError> {
        let mut explorer = model.explorer();
        let mut state = Vec::new();
        explorer.initial(&mut state)?;
        let mut simulation = Simulation {
            model,
            explorer,
            describer: Describer::of_states(model.info()),
            visits: vec![Visited { from: None, label: String::new(), state, who: None, delays: None }],
            children: FxHashMap::default(),
            expanded: None,
            successors: Successors::new(model.info().width),
            most_visits: usize::MAX,
            is_full: false,
        };
        simulation.expand(Visit::INITIAL)?;
        Ok(simulation)
    }

    /// Keeps at most this many visits. Further steps are refused.
    #[must_use]
    pub fn with_most_visits(self, most_visits: usize) -> Self {
        Simulation { most_visits, ..self }
    }

    /// Whether a step was refused because of too many visits since the last call.
    pub fn take_fullness(&mut self) -> bool {
        std::mem::take(&mut self.is_full)
    }

    /// The system.
    pub fn model(&self) -> &'m dyn Model {
        self.model
    }

    /// The visit of this number, if there is one.
    pub fn visit(&self, number: u32) -> Option<Visit> {
        ((number as usize) < self.visits.len()).then_some(Visit(number))
    }

    /// The number of visited states.
    pub fn visited(&self) -> usize {
        self.visits.len()
    }

    fn at(&self, visit: Visit) -> &Visited {
        &self.visits[visit.0 as usize]
    }

    /// The previous visit, and the choice that led from there to this one.
    pub fn parent(&self, visit: Visit) -> Option<(Visit, u32)> {
        self.at(visit).from
    }

    /// The label of the transition that led to a visit; empty for the initial state.
    pub fn label(&self, visit: Visit) -> &str {
        &self.at(visit).label
    }

    /// The words of a state, for facets of the explorer.
    pub fn state(&self, visit: Visit) -> &[u32] {
        &self.at(visit).state
    }

    /// The explorer of the simulation.
    pub fn explorer(&mut self) -> &mut dyn Explorer {
        // The caller may compute other states.
        self.expanded = None;
        &mut *self.explorer
    }

    /// The visits from the initial state to this one, including both.
    pub fn path(&self, visit: Visit) -> Vec<Visit> {
        let mut path = vec![visit];
        while let Some((before, _)) = self.at(path[path.len() - 1]).from {
            path.push(before);
        }
        path.reverse();
        path
    }

    /// The choices that lead to a visit.
    pub fn choices(&self, visit: Visit) -> Vec<u32> {
        self.path(visit).iter().filter_map(|&visit| Some(self.at(visit).from?.1)).collect()
    }

    /// The values of a state.
    pub fn values(&mut self, visit: Visit) -> StateValues {
        self.describer.state(&mut *self.explorer, &self.visits[visit.0 as usize].state)
    }

    /// The number of enabled transitions.
    pub fn enabled_count(&mut self, visit: Visit) -> Result<usize, StepError> {
        self.expand(visit)?;
        Ok(self.successors.len())
    }

    /// Whether a state counts as a deadlock.
    pub fn is_deadlock(&mut self, visit: Visit) -> Result<bool, StepError> {
        self.expand(visit)?;
        Ok(self.explorer.is_deadlock(&self.visits[visit.0 as usize].state, &self.successors))
    }

    /// The enabled transitions whose labels match the pattern, at most `most` of them, and the
    /// number of matches. Without a pattern all match.
    pub fn enabled(
        &mut self,
        visit: Visit,
        pattern: Option<&Pattern>,
        most: usize,
    ) -> Result<(Vec<Enabled>, usize), StepError> {
        self.expand(visit)?;
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
                found.push(Enabled { choice: index as u32, label, target });
            }
        }
        Ok((found, matching))
    }

    /// Takes a transition. `None` if the state has no transition at this position.
    ///
    /// If the successors of the new state cannot be computed, the step is not taken.
    pub fn step(&mut self, visit: Visit, choice: u32) -> Result<Option<Visit>, StepError> {
        self.step_after(visit, choice, None)
    }

    /// Takes a transition after a delay, for models with time. All earlier delays are then fixed.
    /// Without a delay, time passes only as long as necessary, here and before.
    pub fn step_after(
        &mut self,
        visit: Visit,
        choice: u32,
        delay: Option<Delay>,
    ) -> Result<Option<Visit>, StepError> {
        if let Some(&known) = self.children.get(&(visit, choice, delay)) {
            return Ok(Some(known));
        }
        let delays = delay.map(|delay| self.delays_with(visit, choice, delay)).transpose()?;
        self.expand(visit)?;
        let index = choice as usize;
        if index >= self.successors.len() {
            return Ok(None);
        }
        if self.visits.len() >= self.most_visits {
            self.is_full = true;
            return Err(StepError::new(format!("{} states were visited", self.visits.len())));
        }
        let label = self.explorer.label(self.successors.label(index)).text;
        let state = self.successors.state(index).to_vec();
        let target = Visit(self.visits.len() as u32);
        self.visits.push(Visited { from: Some((visit, choice)), label, state, who: None, delays });
        if let Err(error) = self.expand(target) {
            self.visits.pop();
            self.expanded = None;
            return Err(error);
        }
        self.children.insert((visit, choice, delay), target);
        Ok(Some(target))
    }

    /// Takes these choices one after the other as far as possible. Returns the last visit, and the
    /// problem with the next choice.
    pub fn follow(&mut self, from: Visit, choices: &[u32]) -> (Visit, Result<(), StepError>) {
        let mut visit = from;
        for &choice in choices {
            match self.step(visit, choice) {
                Ok(Some(next)) => visit = next,
                Ok(None) => {
                    let message = format!("there is no transition at position {choice}");
                    return (visit, Err(StepError::new(message)));
                }
                Err(error) => return (visit, Err(error)),
            }
        }
        (visit, Ok(()))
    }

    /// The delays that were chosen on the path to a visit.
    fn delays(&self, visit: Visit) -> &[Option<Delay>] {
        let mut at = Some(visit);
        while let Some(visit) = at {
            let visited = self.at(visit);
            if let Some(delays) = &visited.delays {
                return delays;
            }
            at = visited.from.map(|(before, _)| before);
        }
        &[]
    }

    /// The current delays on the path to a visit, and one more.
    fn delays_with(&self, visit: Visit, choice: u32, delay: Delay) -> Result<Vec<Option<Delay>>, StepError> {
        let Some(timed) = self.model.delays() else {
            return Err(StepError::new("time does not pass in this model"));
        };
        let choices = self.choices(visit);
        let before = timed.schedule_with(&choices, self.delays(visit))?;
        let exact = |text: &str| text.parse().map_err(|error: Diagnostic| StepError::new(error.to_string()));
        let mut delays = Vec::with_capacity(before.moments.len() + 1);
        for moment in &before.moments {
            delays.push(Some(exact(&moment.delay)?));
        }
        delays.push(Some(delay));
        let longer: Vec<u32> = choices.into_iter().chain([choice]).collect();
        timed.schedule_with(&longer, &delays)?;
        Ok(delays)
    }

    /// The times of the steps to a visit in one possible run, with the chosen delays; for models
    /// with time.
    pub fn schedule(&self, visit: Visit) -> Result<Option<Schedule>, StepError> {
        let choices = self.choices(visit);
        match (self.model.delays(), self.model.timing()) {
            (Some(timed), _) => timed.schedule_with(&choices, self.delays(visit)).map(Some),
            (None, Some(timing)) => timing.schedule(&choices, None).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The possible next steps in that run, with their delays.
    pub fn outlook(&self, visit: Visit, next: &[u32]) -> Result<Option<Outlook>, StepError> {
        let Some(timed) = self.model.delays() else { return Ok(None) };
        timed.outlook(&self.choices(visit), self.delays(visit), next)
    }

    /// A hash of the state, equal for visits of the same state.
    pub fn content_hash(&mut self, visit: Visit) -> u64 {
        self.explorer.content_hash(&self.visits[visit.0 as usize].state)
    }

    /// The participants of the last step to a visit, if known.
    pub fn who(&mut self, visit: Visit) -> Result<&str, StepError> {
        if let (None, Some((before, choice))) = (&self.at(visit).who, self.at(visit).from) {
            let who = self.participants(before, choice)?;
            self.visits[visit.0 as usize].who = Some(who);
        }
        Ok(self.at(visit).who.as_deref().unwrap_or_default())
    }

    /// The participants of a transition, if known: `Station(3) put(3), Link(3) take(3)`.
    pub fn participants(&mut self, visit: Visit, choice: u32) -> Result<String, StepError> {
        let state = &self.visits[visit.0 as usize].state;
        self.expanded = None;
        let Some(participants) = self.explorer.participants() else { return Ok(String::new()) };
        let parts = participants.participants(state, choice as usize)?;
        let words: Vec<String> =
            parts.iter().map(|part| format!("{} {}", part.component, part.action)).collect();
        Ok(words.join(", "))
    }

    /// The steps that components could take alone but not now, and what prevents them. In a
    /// deadlock these are all offers. In other states, offers with the name of an enabled step are
    /// omitted, because they are possible at least in part.
    pub fn hindered(&mut self, visit: Visit) -> Result<Vec<StuckComponent>, StepError> {
        self.expand(visit)?;
        let (state, enabled) = (&self.visits[visit.0 as usize].state, self.successors.len());
        self.expanded = None;
        let Some(obstacles) = self.explorer.obstacles() else { return Ok(Vec::new()) };
        let mut components = obstacles.stuck_components(state, None)?;
        if obstacles.leaves_out_possible() {
            components.retain(|component| enabled == 0 || !component.offers.is_empty());
            return Ok(components);
        }
        let Some(participants) = self.explorer.participants() else { return Ok(Vec::new()) };
        let name = |action: &str| action.split('(').next().unwrap_or_default().to_owned();
        for position in 0..enabled.min(MOST_COMPARED) {
            for part in participants.participants(state, position)? {
                let taken = name(&part.action);
                let own = components.iter_mut().filter(|one| one.component == part.component);
                own.for_each(|one| one.offers.retain(|offer| name(&offer.action) != taken));
            }
        }
        components.retain(|component| !component.offers.is_empty());
        Ok(if enabled <= MOST_COMPARED { components } else { Vec::new() })
    }

    /// The path from the initial state to a visit.
    pub fn trace(&mut self, visit: Visit) -> Trace {
        let path = self.path(visit);
        let initial = self.values(path[0]);
        let step = |&visit: &Visit| {
            let state = self.values(visit);
            let Visited { from, label, .. } = self.at(visit);
            let choice = from.map(|(_, choice)| choice);
            Step { label: label.clone(), choice, state: Some(state), ..Step::default() }
        };
        let steps = path[1..].iter().map(step).collect();
        let info = self.model.info();
        Trace {
            model: info.name.clone(),
            fingerprint: info.fingerprint,
            initial: Some(initial),
            steps,
            ..Trace::default()
        }
    }

    /// Computes the outgoing transitions of a visit, unless they are known.
    fn expand(&mut self, visit: Visit) -> Result<(), StepError> {
        if self.expanded == Some(visit) {
            return Ok(());
        }
        self.expanded = None;
        let state = &self.visits[visit.0 as usize].state;
        self.explorer.successors(state, &mut self.successors)?;
        self.expanded = Some(visit);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Box<dyn Model> {
        turnpike_builtin::build("philosophers", &[("n".into(), "2".into())]).expect("builds")
    }

    #[test]
    fn steps_branch_and_are_kept() {
        let model = model();
        let mut simulation = Simulation::new(&*model).expect("begins");
        let labels = |simulation: &mut Simulation<'_>, visit| -> Vec<String> {
            let (enabled, _) = simulation.enabled(visit, None, usize::MAX).expect("computed");
            enabled.into_iter().map(|enabled| enabled.label).collect()
        };
        assert_eq!(labels(&mut simulation, Visit::INITIAL), ["lock(1,1)", "lock(2,2)"]);
        let left = simulation.step(Visit::INITIAL, 0).expect("computed").expect("enabled");
        let right = simulation.step(Visit::INITIAL, 1).expect("computed").expect("enabled");
        assert_ne!(left, right);
        assert_eq!(simulation.step(Visit::INITIAL, 0), Ok(Some(left)), "a known step leads where it led");
        assert_eq!(simulation.visited(), 3);
        assert_eq!(simulation.step(left, 99), Ok(None));
        let pattern = Pattern::new("lock(2,*)");
        let (found, matching) = simulation.enabled(left, Some(&pattern), 10).expect("computed");
        assert_eq!((found.len(), matching), (1, 1));
        let stuck = simulation.step(left, found[0].choice).expect("computed").expect("enabled");
        assert_eq!(simulation.is_deadlock(stuck), Ok(true));
        assert_eq!(simulation.choices(stuck), [0, found[0].choice]);
        assert_eq!(simulation.path(stuck), [Visit::INITIAL, left, stuck]);
        assert_eq!(simulation.values(stuck), found[0].target);
    }

    #[test]
    fn what_is_enabled_is_not_hindered() {
        let text = "act s, r, c: Nat; proc S = s(1) . delta; proc R = r(2) . delta + r(1) . delta;
                    init allow({c}, comm({s|r -> c}, S || R));";
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("two.mcrl2");
        std::fs::write(&file, text).expect("written");
        let location = crate::Location::File(file.display().to_string());
        let source = crate::Source::Model { location, reading: crate::Reading::default() };
        let session = crate::Session::open(&source).expect("reads");
        let model = session.prepare(&crate::Purpose::default()).expect("prepared").model;
        let mut simulation = Simulation::new(&*model).expect("begins");
        assert_eq!(simulation.hindered(Visit::INITIAL), Ok(Vec::new()), "both take part in c(1)");
        let end = simulation.step(Visit::INITIAL, 0).expect("computed").expect("enabled");
        assert_eq!(simulation.is_deadlock(end), Ok(true));
    }

    #[test]
    fn a_trace_can_be_followed() {
        let model = model();
        let mut simulation = Simulation::new(&*model).expect("begins");
        let (end, outcome) = simulation.follow(Visit::INITIAL, &[0, 0]);
        assert!(outcome.is_ok());
        let trace = simulation.trace(end);
        assert!(crate::replay(&*model, &trace).expect("replays").divergence.is_none());
        let (end, outcome) = simulation.follow(Visit::INITIAL, &[0, 77]);
        assert_eq!(simulation.choices(end), [0]);
        assert!(outcome.is_err());
    }
}
