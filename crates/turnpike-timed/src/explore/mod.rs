//! The zone graph of a network on turnpike's waist.
//!
//! A state is its discrete part, packed in bit fields, and the number of an interned zone. The zone
//! has rows only for the clocks that are active in the state's locations. After each transition,
//! time passes as far as urgency and invariants allow, so a zone contains the valuations at every
//! moment until the next transition. The zone is then extrapolated, so that there are finitely
//! many.
//!
//! **Order of successors.** In a network with events (`.tck`, and UPPAAL without directions): first
//! the vectors in order, each with the product of the edges of its participants (the last varies
//! fastest); then the edges that are taken alone, process by process. In a network with channels:
//! process by process, edge by edge, the transitions that the edge initiates: alone; as sender,
//! with every receiver in the order of processes and edges; as the sender of a broadcast, with the
//! product of the edges of all that can receive.

mod automata;
mod candidates;
mod channels;
mod concrete;
mod condition;
mod configuration;
mod credit;
mod delay;
mod delays;
mod diagonal;
pub(crate) mod exact;
mod explorer;
mod fire;
mod labels;
mod lines;
mod measure;
mod memo;
mod obstacles;
mod parts;
mod path;
mod plan;
mod priority;
mod quick;
mod receivers;
mod stay;
mod tuple;
mod vocabulary;
mod walker;
mod wide;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use turnpike_model::{
    Approximation, Claim, Diagnostic, ExactStates, Explorer, LabelId, MeasureInfo, Model, ModelInfo, Moment,
    Schedule, StateValues, StepError, StepErrorKind, Timing, hash,
};

pub(crate) use self::condition::{Compiled, asks_for_deadlock};
use self::configuration::{ExtrapolationChoice, choose_extrapolation, is_quick, is_wide};
use self::labels::Labels;
use self::lines::Lines;
pub(crate) use self::measure::{Extent, quantity_frame};
use self::path::Recorded;
pub(crate) use self::walker::{ROOT, Walker};
use crate::compile::analysis::{self, Bounds};
use crate::compile::layout::Layout;
use crate::compile::scale;
use crate::compile::tables::{FixedAtom, Tables};
use crate::evaluate::{Fault, FaultKind};
use crate::network::{Edge, Network, Sync};
use crate::query::{Condition, Names, QUESTIONS};
use crate::schedule;
use crate::zeno::{self, Ticks};
use crate::zone::{self, Extrapolation, Zones};

/// Which states make others redundant in exhaustive search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A zone covers the zones that it includes.
    Inclusion,
    /// A zone covers those that it simulates with respect to the bounds of future comparisons.
    Alu,
}

/// The condition of timelocks: no transition is possible, now or after any delay, and an invariant
/// or an urgent location stops time. A deadlock in which time can diverge is not a timelock.
pub const TIMELOCK: &str = "timelock";

/// How a network is explored.
#[derive(Clone, Debug)]
pub struct Options {
    /// The extrapolation of zones; `None`: the coarsest one that preserves the requested
    /// conditions.
    pub extrapolation: Option<Extrapolation>,
    /// The relation behind [`turnpike_model::Covering::covers`].
    pub cover: Cover,
    /// Let time pass after each transition (the default, as in TChecker's analyses) rather than
    /// before it.
    pub elapsed: bool,
    /// The conditions that will be evaluated (`state EXPR`, the parts of queries): their constants
    /// count as the model's.
    pub conditions: Vec<String>,
    /// Whether deadlocks must be preserved.
    pub deadlock: bool,
    /// Only runs along which time diverges count: conditions and labels then hold only in states in
    /// which a certain time has passed since they last did (see [`crate::zeno`]). For cycle
    /// searches only: reachability would miss states.
    pub non_zeno: bool,
    /// Zones have rows for all clocks, even for those that are reset before their next comparison:
    /// more states, the same answers.
    pub keep_dead: bool,
    /// Zones have rows for all clocks, and are exact unless `extrapolation` is set: for looking at
    /// single states, of which there may then be infinitely many.
    pub exact: bool,
    /// Computes every successor from scratch: slow and simple, a reference for tests.
    pub plain: bool,
    /// Computes successors as for networks with many processes, however few there are: for tests.
    pub wide: bool,
    /// With `non_zeno`, the sets of states that cycles must pass through, if known. Each is a
    /// condition or a list of labels, and time is counted only in those states. The others never
    /// count.
    pub accepting: Vec<String>,
    /// Constants set when the source was read: the network contains their values, the text does
    /// not.
    pub settings: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            extrapolation: None,
            cover: Cover::Inclusion,
            elapsed: true,
            conditions: Vec::new(),
            deadlock: false,
            non_zeno: false,
            keep_dead: false,
            exact: false,
            plain: false,
            wide: false,
            accepting: Vec::new(),
            settings: Vec::new(),
        }
    }
}

/// A network of timed automata as a model of the waist.
#[derive(Debug)]
pub struct TimedModel {
    info: ModelInfo,
    network: Network,
    names: Names,
    lines: Lines,
    bounds: Bounds,
    tables: Tables,
    layout: Layout,
    labels: Arc<Labels>,
    /// The label of each edge that is taken alone.
    alone: Vec<LabelId>,
    zones: Zones,
    /// The names of all location labels, sorted.
    location_labels: Vec<String>,
    /// By label, the processes and locations that carry it.
    label_places: Vec<Vec<(u32, u32)>>,
    /// The cells that the measures read.
    measures: Vec<u32>,
    conditions: Vec<(String, Compiled)>,
    extrapolation: Extrapolation,
    /// The differences of clocks that the network compares.
    differences: Vec<FixedAtom>,
    cover: Cover,
    elapsed: bool,
    /// Whether successors are computed by plans and cached results ([`quick`]).
    quick: bool,
    /// Whether there are so many processes that tuples of locations hardly ever recur.
    wide: bool,
    /// Whether zones are exact enough to decide deadlocks.
    deadlock: bool,
    /// The number of units of the model that one unit of time in zones represents.
    unit: i32,
    /// The conditions of the [`Demand`], in units of zones.
    demanded: Vec<Compiled>,
    /// Time is counted only in states with one of these, or everywhere if there are none.
    counted: Vec<Counted>,
    /// Runs end where they would leave this condition.
    stay: Option<Compiled>,
    /// Where this holds, resting runs must always have some transition possible.
    live: Option<Compiled>,
    /// Whether differences of clocks are compared.
    diagonals: bool,
    /// For walks on single valuations; `None` where these are not supported.
    grid: Option<concrete::Grid>,
    /// Whether clocks can be stopped.
    stopwatches: bool,
    /// Whether some zone contains unreachable valuations, because clocks can be stopped.
    inexact: AtomicBool,
    /// The number of findings in zones that no run confirmed.
    unconfirmed: AtomicU64,
    /// The initial state, if there is exactly one.
    initial: Option<Vec<u32>>,
    /// Zones are coarser than what runs reach; they are shown only if the user chose the
    /// extrapolation.
    hides_zones: bool,
    /// The path that was followed most recently.
    last_path: Mutex<Option<Arc<Recorded>>>,
}

/// A set of states in which time is counted.
#[derive(Clone, Debug)]
enum Counted {
    /// The states that have all these labels.
    Labels(Vec<usize>),
    /// The states that meet a condition, ignoring clocks.
    Condition(Box<Compiled>),
}

/// Further requirements on the exploration, from callers that build conditions themselves.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    /// Their constants count as the model's.
    conditions: Vec<Condition>,
    /// Runs end where they would leave the last condition, as if it were part of every invariant.
    stay: bool,
    /// With `stay`: where this holds, a run does not rest in a state without possible transitions.
    /// It contains no clocks.
    live: Option<Condition>,
    /// Labels are numbered as in the model that these belong to.
    labels: Arc<Labels>,
    /// States have the layout of a model with [`Options::non_zeno`], but time is not counted.
    idle: bool,
}

impl Demand {
    /// Zones are fine enough for these conditions; with `stay`, runs end where they would leave the
    /// last of them.
    pub(crate) fn new(conditions: Vec<Condition>, stay: bool) -> Demand {
        Demand { conditions, stay, ..Demand::default() }
    }

    /// Excludes runs that rest where this holds and no transition is possible any more.
    pub(crate) fn live(self, live: Option<Condition>) -> Demand {
        Demand { live, ..self }
    }

    /// Gives states the layout of a model that counts time, without counting it.
    pub(crate) fn idle(self, idle: bool) -> Demand {
        Demand { idle, ..self }
    }

    /// Numbers labels as another model of the same network does.
    pub(crate) fn labels_of(self, other: &TimedModel) -> Demand {
        Demand { labels: Arc::clone(&other.labels), ..self }
    }
}

impl TimedModel {
    /// Prepares a network for exploration. `name` is the name that the user knows, `source` the
    /// text that the network's places point into. Returns warnings with the model.
    pub fn new(
        name: &str,
        source: &str,
        network: Network,
        names: Names,
        options: &Options,
    ) -> Result<(TimedModel, Vec<Diagnostic>), Vec<Diagnostic>> {
        TimedModel::demanding(name, source, network, names, options, Demand::default())
    }

    /// As [`TimedModel::new`], with requirements that have no text. A long function, because it
    /// fills in the model field by field.
    pub(crate) fn demanding(
        name: &str,
        source: &str,
        mut network: Network,
        names: Names,
        options: &Options,
        demand: Demand,
    ) -> Result<(TimedModel, Vec<Diagnostic>), Vec<Diagnostic>> {
        let one = |mut error: Diagnostic| {
            // Positions behind the model's text belong to queries.
            error.span = error.span.take().filter(|span| span.range.start < QUESTIONS);
            vec![error]
        };
        analysis::check_initial(&network).map_err(one)?;
        let mut parsed = parse_conditions(&network, &names, &options.conditions).map_err(one)?;
        let own = parsed.len();
        parsed.extend(demand.conditions);
        let unit = scale::reduce(&mut network, &mut parsed);
        if options.non_zeno {
            zeno::add_ticker(&mut network, if demand.idle { Ticks::Idle } else { Ticks::Counted });
        }
        let mut tables = Tables::new(&network)?;
        let mut bounds = Bounds::new(&network, &parsed).map_err(one)?;
        // Who looks at single states sees all clocks.
        if options.keep_dead || options.exact {
            bounds.keep_dead();
        }
        let layout = Layout::new(&network);
        let deadlock = options.deadlock || parsed.iter().any(condition::asks_for_deadlock);
        let exact = deadlock || tables.has_priorities;
        let stopwatches = network.has_stopwatches();
        let diagonals = analysis::has_diagonals(&network, &parsed);
        let split = tables.has_timed_urgency || stopwatches;
        let ExtrapolationChoice { extrapolation, differences, warnings } =
            choose_extrapolation(&network, &parsed, options, exact)?;
        // Simulation by lower and upper bounds preserves what is possible, but not what is
        // impossible, and no differences of clocks.
        let cover = if exact || !differences.is_empty() { Cover::Inclusion } else { options.cover };
        let demanded: Vec<Compiled> =
            parsed[own..].iter().map(|condition| Compiled::new(&network, condition.clone())).collect();
        let live = demand.live.map(|condition| Compiled::new(&network, condition));
        let stay = demanded.last().filter(|_| demand.stay).cloned();
        let compiled = |(text, condition): (&String, Condition)| match text.as_str() {
            TIMELOCK => (text.clone(), Compiled::timelock()),
            _ => (text.clone(), Compiled::new(&network, condition)),
        };
        let conditions = options.conditions.iter().zip(parsed).map(compiled).collect();
        let labels = demand.labels;
        let alone = alone_labels(&network, &tables, &labels);
        let location_labels = location_labels(&network);
        let label_places = label_places(&network, &location_labels);
        let is_state = |&cell: &u32| !network.variables[cell as usize].meta;
        let measures = (0..network.variables.len() as u32).filter(is_state).collect();
        let mut info = info(name, source, &network, &layout, options);
        info.suggestions.extend(["deadlock".to_owned(), format!("state {TIMELOCK}")]);
        info.suggestions.extend(location_labels.iter().map(|label| format!("label {label}")));
        // Pieces along differences are extrapolated as if all clocks ran.
        let inexact = stopwatches && !differences.is_empty();
        let quick = !options.plain && is_quick(&network, &tables, &differences, stay.as_ref(), options);
        let wide = quick && is_wide(&network, &tables, &bounds, &layout, options);
        if wide {
            tables.find_kinds(&bounds);
        }
        let hides_zones = options.extrapolation.is_none() && extrapolation != Extrapolation::None;
        let mut model = TimedModel {
            info,
            lines: Lines::new(source),
            network,
            names,
            bounds,
            tables,
            layout,
            labels,
            alone,
            zones: Zones::default(),
            label_places,
            location_labels,
            measures,
            conditions,
            extrapolation,
            differences,
            cover,
            // The parts of a state after a delay are separate states.
            elapsed: options.elapsed || split,
            quick,
            wide,
            deadlock,
            unit,
            demanded,
            counted: Vec::new(),
            stay,
            live,
            diagonals,
            grid: None,
            stopwatches,
            inexact: AtomicBool::new(inexact),
            unconfirmed: AtomicU64::new(0),
            initial: None,
            hides_zones,
            last_path: Mutex::default(),
        };
        model.grid = concrete::Grid::of(&model);
        model.counted = model.counted(&options.accepting);
        let only =
            Walker::new(&model).only_initial().map_err(|error| one(Diagnostic::error(error.message)))?;
        model.info.virtual_root = only.is_none();
        model.initial = only;
        Ok((model, warnings))
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether successors are computed as for networks with many processes.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// The names that queries can use.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The conditions of the [`Demand`], in units of zones.
    pub(crate) fn demanded(&self) -> &[Compiled] {
        &self.demanded
    }

    /// The number of units of the model that one unit of time in zones represents.
    pub(crate) fn unit(&self) -> i32 {
        self.unit
    }

    /// Where time is counted; everywhere if conditions may depend on what states do not store. Text
    /// that is neither a condition nor a list of labels is rejected later, when the search compiles
    /// it.
    fn counted(&self, sets: &[String]) -> Vec<Counted> {
        if self.network.variables.iter().any(|variable| variable.meta) {
            return Vec::new();
        }
        let label = |name: &str| self.location_labels.iter().position(|label| label == name.trim());
        let of = |set: &String| match set.split(',').map(label).collect::<Option<Vec<usize>>>() {
            Some(labels) => Some(Counted::Labels(labels)),
            None => {
                let condition = self.names.condition(&self.network, set).ok()?;
                Some(Counted::Condition(Box::new(Compiled::new(&self.network, condition))))
            }
        };
        sets.iter().map(of).collect::<Option<Vec<Counted>>>().unwrap_or_default()
    }

    /// The extrapolation of zones.
    pub fn extrapolation(&self) -> Extrapolation {
        self.extrapolation
    }

    fn edge(&self, step: u32) -> &Edge {
        let step = &self.tables.steps[step as usize];
        &self.network.processes[step.process as usize].edges[step.index as usize]
    }

    /// The grid of single states; only facets that need one call this.
    fn known_grid(&self) -> &concrete::Grid {
        self.grid.as_ref().expect("single states are offered only on a grid")
    }

    pub(crate) fn error(&self, fault: &Fault) -> StepError {
        self.error_about(fault, None)
    }

    /// The same for a fault in the evaluation of a condition, whose text may be known.
    fn error_about(&self, fault: &Fault, condition: Option<&str>) -> StepError {
        let kind = match fault.kind {
            FaultKind::TooLarge => StepErrorKind::TooLarge,
            FaultKind::Model | FaultKind::Range => StepErrorKind::Model,
        };
        let (start, message) = (fault.place.start, &fault.message);
        let message = match (fault.place.is_empty(), condition) {
            (true, _) => message.clone(),
            (false, Some(text)) if start >= QUESTIONS => {
                let column = text.get(..start - QUESTIONS).map_or(0, |before| before.chars().count()) + 1;
                format!("in the condition `{text}`, column {column}: {message}")
            }
            (false, None) if start >= QUESTIONS => format!("in the query: {message}"),
            (false, _) => {
                let (line, column) = self.lines.position(start);
                format!("{line}:{column}: {message}")
            }
        };
        StepError { kind, message }
    }
}

impl Model for TimedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(Walker::new(self))
    }

    fn left_out(&self) -> Option<String> {
        let count = self.unconfirmed.load(Ordering::Relaxed);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        (count > 0).then(|| {
            format!("found {times} in a zone, but no run confirms it: clocks stand still in this model")
        })
    }

    fn timing(&self) -> Option<&dyn Timing> {
        Some(self)
    }

    fn delays(&self) -> Option<&dyn turnpike_model::Delays> {
        Some(self)
    }

    fn approximation(&self) -> Option<&dyn Approximation> {
        self.stopwatches.then_some(self as &dyn Approximation)
    }

    fn exact_states(&self) -> Option<&dyn ExactStates> {
        self.hides_zones.then_some(self as &dyn ExactStates)
    }

    fn descriptions_agree(&self, parameter: &str, one: &str, other: &str) -> bool {
        one == other || parameter == ZONE && zone::texts_agree(one, other)
    }

    fn concrete(&self) -> Option<&dyn turnpike_model::Concrete> {
        self.grid.is_some().then_some(self as &dyn turnpike_model::Concrete)
    }

    fn vocabulary(&self) -> Option<&dyn turnpike_model::Vocabulary> {
        Some(self)
    }
}

impl Timing for TimedModel {
    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Schedule, StepError> {
        let known = target.and_then(|text| self.conditions.iter().find(|(condition, _)| condition == text));
        let condition = match (known, target) {
            (Some((_, compiled)), _) => Some(compiled.condition.clone()),
            // Text that is not a condition, such as a list of labels, imposes nothing on clocks.
            (None, Some(text)) => self.names.condition(&self.network, text).ok(),
            (None, None) => None,
        };
        let path = self.recorded(choices)?.path(self);
        let mut schedule = schedule::schedule(&self.network, &path, condition.as_ref(), self.unit)?;
        self.add_beginning(choices, &mut schedule);
        Ok(schedule)
    }
}

impl TimedModel {
    /// The choice of an initial state takes no edges and no time.
    fn add_beginning(&self, choices: &[u32], schedule: &mut Schedule) {
        if self.info.virtual_root && !choices.is_empty() {
            let begins =
                Moment { delay: "0".to_owned(), time: "0".to_owned(), clocks: StateValues::default() };
            schedule.moments.insert(0, begins);
        }
    }
}

impl turnpike_model::Concrete for TimedModel {
    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(concrete::Concrete::new(self, self.known_grid()))
    }

    fn width(&self) -> usize {
        concrete::Concrete::width(self)
    }

    fn follow(&self, choices: &[u32]) -> Result<Vec<Vec<u32>>, StepError> {
        concrete::on_zones(self, self.known_grid(), choices)
    }
}

impl Approximation for TimedModel {
    fn confirms(&self, choices: &[u32], claim: Claim<'_>) -> Result<bool, StepError> {
        let target = match claim {
            Claim::Reaches(target) => target,
            _ => None,
        };
        let deadlock = |text| {
            let known = self.conditions.iter().find(|(condition, _)| condition == text);
            known.is_some_and(|(_, compiled)| condition::asks_for_deadlock(&compiled.condition))
        };
        // That a valuation excludes something can be seen only if zones are exact; and zones do not
        // show whether a loop closes.
        let by_runs = match claim {
            Claim::Reaches(target) => !target.is_some_and(deadlock),
            _ => false,
        };
        let exact = || !self.inexact.load(Ordering::Relaxed);
        let can_confirm = by_runs || (claim != Claim::Repeats && exact());
        let confirmed = can_confirm && self.schedule(choices, target).is_ok();
        if !confirmed {
            self.unconfirmed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(confirmed)
    }
}

fn alone_labels(network: &Network, tables: &Tables, labels: &Labels) -> Vec<LabelId> {
    tables
        .steps
        .iter()
        .map(|step| match network.processes[step.process as usize].edges[step.index as usize].sync {
            Sync::Event(event) => labels.shared(&[step.process, event.0]),
            Sync::Internal | Sync::Send(_) | Sync::Receive(_) => labels.shared(&[step.process]),
        })
        .collect()
}

fn parse_conditions(
    network: &Network,
    names: &Names,
    texts: &[String],
) -> Result<Vec<Condition>, Diagnostic> {
    let parse = |text: &String| match text.as_str() {
        TIMELOCK => Ok(Condition::Deadlock),
        text => names.condition(network, text),
    };
    texts.iter().map(parse).collect()
}

/// All location labels, sorted.
fn location_labels(network: &Network) -> Vec<String> {
    let locations = network.processes.iter().flat_map(|process| &process.locations);
    let labels: BTreeSet<&String> = locations.flat_map(|location| &location.labels).collect();
    labels.into_iter().cloned().collect()
}

fn label_places(network: &Network, labels: &[String]) -> Vec<Vec<(u32, u32)>> {
    let mut places = vec![Vec::new(); labels.len()];
    for (process, index) in network.processes.iter().zip(0..) {
        for (location, number) in process.locations.iter().zip(0..) {
            for label in &location.labels {
                if let Ok(label) = labels.binary_search(label) {
                    places[label].push((index, number));
                }
            }
        }
    }
    places
}

/// Transitions in about half a second: 100 to 300 thousand per second were measured.
const PACE: u64 = 100_000;

/// The last parameter: the zone of a state.
const ZONE: &str = "zone";

fn info(name: &str, source: &str, network: &Network, layout: &Layout, options: &Options) -> ModelInfo {
    let mut info = ModelInfo::new(name, layout.words + 1);
    let kept = || network.variables.iter().filter(|variable| !variable.meta);
    info.parameters = network.processes.iter().map(|process| process.name.clone()).collect();
    info.parameters.extend(kept().map(|variable| variable.name.clone()));
    info.parameters.push(ZONE.to_owned());
    info.pace = PACE;
    let actions: BTreeSet<&String> =
        network.events.iter().chain(network.channels.iter().map(|channel| &channel.name)).collect();
    info.actions = actions.into_iter().cloned().collect();
    info.measures = kept()
        .map(|variable| MeasureInfo::new(&variable.name, format!("the variable {}", variable.name)))
        .collect();
    let mut how = format!(
        "{:?} {:?} {} {} {}{}",
        options.extrapolation,
        options.cover,
        options.elapsed,
        options.deadlock,
        network.out_of_range_disables,
        if options.non_zeno { " non-zeno" } else { "" }
    );
    if options.keep_dead {
        how.push_str(" keep-dead");
    }
    for (name, value) in &options.settings {
        how.push_str(&format!("\n{name}={value}"));
    }
    info.fingerprint = hash::mix(hash::bytes(source.as_bytes()), hash::bytes(how.as_bytes()));
    info
}
