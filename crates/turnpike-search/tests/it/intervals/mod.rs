//! A small kind of model in which states cover each other: a location and an interval of values. A bigger interval can do
//! all that a smaller one can. Each test uses what it needs of it.

use turnpike_model::{
    Covering, Diagnostic, Explorer, Label, LabelId, LabelSetId, MeasureInfo, Measures, Model, ModelInfo,
    Moment, Obstacle, Obstacles, Offer, Schedule, StateLabels, StepError, StuckComponent, Successors, Timing,
};

/// Values go from 0 to this.
pub(crate) const TOP: u32 = 9;
const ACTIONS: [&str; 3] = ["a", "b", "c"];

/// The location of the initial state that is none.
const NOWHERE: u32 = u32::MAX;

/// A way from one location to another for values in `guard`, after which the value is `reset` if that is given, and up to
/// `slack` more in any case.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) action: u32,
    pub(crate) guard: (u32, u32),
    pub(crate) reset: Option<u32>,
    pub(crate) slack: u32,
    pub(crate) to: u32,
}

pub(crate) struct Intervals {
    info: ModelInfo,
    pub(crate) edges: Vec<Edge>,
    pub(crate) initial: Vec<[u32; 3]>,
    /// Whether schedules can be made.
    pub(crate) schedules: bool,
}

/// A generator for test systems, unrelated to the one under test.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

impl Intervals {
    /// A model with these initial states; not exactly one of them means that there is a place before them.
    pub(crate) fn new(edges: Vec<Edge>, initial: Vec<[u32; 3]>) -> Self {
        let mut info = ModelInfo::new("intervals", 3);
        info.virtual_root = initial.len() != 1;
        info.parameters = ["location", "low", "high"].map(str::to_owned).to_vec();
        info.actions = ACTIONS.map(str::to_owned).to_vec();
        info.measures = vec![MeasureInfo::new("high", "the largest value")];
        Intervals { info, edges, initial, schedules: true }
    }

    /// The same with a place before its only initial state.
    pub(crate) fn rooted(mut self) -> Self {
        self.info.virtual_root = true;
        self
    }

    pub(crate) fn random(number: u64) -> Self {
        let mut random = Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xabcd);
        random.below(2);
        let locations = 3 + random.below(5);
        let edges = (0..locations * 3).map(|_| {
            let low = random.below(TOP + 1);
            Edge {
                from: random.below(locations),
                action: random.below(3),
                guard: (low, low + random.below(TOP + 1 - low)),
                reset: (random.below(3) == 0).then(|| random.below(TOP + 1)),
                slack: random.below(4),
                to: random.below(locations),
            }
        });
        let edges = edges.collect();
        let initial = match random.below(3) {
            0 => (0..random.below(4)).map(|_| [random.below(locations), 1, 1 + random.below(4)]).collect(),
            _ => vec![[0, 0, random.below(3)]],
        };
        Intervals::new(edges, initial)
    }

    /// The proper states that a state leads to, in order.
    pub(crate) fn after(&self, state: [u32; 3]) -> Vec<(u32, [u32; 3])> {
        let [at, low, high] = state;
        let mut out = Vec::new();
        for edge in self.edges.iter().filter(|edge| edge.from == at) {
            let (low, high) = (low.max(edge.guard.0), high.min(edge.guard.1));
            if low <= high {
                let (low, high) = edge.reset.map_or((low, high), |value| (value, value));
                out.push((edge.action, [edge.to, low, (high + edge.slack).min(TOP)]));
            }
        }
        out
    }
}

impl Model for Intervals {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(View(self))
    }

    fn left_out(&self) -> Option<String> {
        None
    }

    fn timing(&self) -> Option<&dyn Timing> {
        Some(self)
    }
}

impl Timing for Intervals {
    /// Every transition is taken half a unit after the one before.
    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Schedule, StepError> {
        if !self.schedules {
            return Err(StepError::new("no delay fits"));
        }
        let half = |halves: usize| {
            if halves.is_multiple_of(2) { (halves / 2).to_string() } else { format!("{halves}/2") }
        };
        let moment = |step: usize| Moment {
            delay: "1/2".to_owned(),
            time: half(step + 1),
            clocks: [("x", half(step + 1))].into_iter().collect(),
        };
        let moments = (0..choices.len()).map(moment).collect();
        Ok(Schedule { moments, last_delay: target.map(|_| "3".to_owned()) })
    }
}

struct View<'m>(&'m Intervals);

impl Explorer for View<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.extend(if self.0.info.virtual_root { [NOWHERE, 0, 0] } else { self.0.initial[0] });
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if state[0] == NOWHERE {
            self.0.initial.iter().for_each(|initial| out.push(LabelId(0), initial));
        }
        for (action, target) in self.0.after([state[0], state[1], state[2]]) {
            out.push(LabelId(action), &target);
        }
        Ok(())
    }

    fn label(&mut self, id: LabelId) -> Label {
        Label::parse(ACTIONS[id.index()])
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        out.extend(state.iter().map(u32::to_string));
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        Some(self)
    }

    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        Some(self)
    }

    fn covering(&mut self) -> Option<&mut dyn Covering> {
        Some(self)
    }

    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        Some(self)
    }
}

impl Measures for View<'_> {
    fn measure(&mut self, state: &[u32], _: usize) -> f64 {
        state[2].into()
    }
}

impl StateLabels for View<'_> {
    fn compile_labels(&mut self, text: &str) -> Result<LabelSetId, Diagnostic> {
        let location = text.strip_prefix('l').and_then(|number| number.parse().ok());
        location.map(LabelSetId).ok_or_else(|| Diagnostic::error("no such location"))
    }

    fn has_labels(&mut self, labels: LabelSetId, state: &[u32]) -> bool {
        state[0] == labels.0
    }
}

impl Obstacles for View<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        if condition.is_some() {
            return Ok(Vec::new());
        }
        let leaving = self.0.edges.iter().filter(|edge| edge.from == state[0]);
        let offer = |edge: &Edge| {
            let condition = format!("in {}..{}", edge.guard.0, edge.guard.1);
            let obstacle = Obstacle::Condition { condition, actual: None };
            Offer { action: ACTIONS[edge.action as usize].to_owned(), obstacles: vec![obstacle] }
        };
        Ok(vec![StuckComponent {
            component: "interval".to_owned(),
            position: format!("l{}", state[0]),
            offers: leaving.map(offer).collect(),
            stops_time: None,
        }])
    }

    fn leaves_out_possible(&self) -> bool {
        false
    }
}

impl Covering for View<'_> {
    fn key_words(&self) -> usize {
        1
    }

    fn covers(&mut self, bigger: &[u32], smaller: &[u32]) -> bool {
        bigger[0] == smaller[0] && bigger[1] <= smaller[1] && smaller[2] <= bigger[2]
    }
}
