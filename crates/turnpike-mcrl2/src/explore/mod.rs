//! A specification as a model for the engine: parsed, checked, linearised, compiled and explored.
//!
//! A state has one word for each parameter of the linear process, and one for the time if actions
//! are timed. Locations are small numbers, data are shared [values](crate::value::Value).

mod cache;
mod emit;
mod extended;
mod labels;
mod measure;
mod obstacles;
mod participants;
mod places;
mod predicate;
mod requirement;
mod settings;
mod source;
mod spelling;
mod state_names;
mod view;
mod vocabulary;
mod walker;

use std::collections::BTreeSet;
use std::sync::Mutex;

use turnpike_model::{Diagnostic, Explorer, Model, ModelInfo, Severity, Vocabulary, hash};

use self::extended::Extended;
use self::labels::Labels;
use self::measure::Measure;
use self::predicate::Predicates;
pub use self::requirement::{
    AbsentAction, AssumedAction, Declarations, LabelSource, Requirement, declare_labels, declare_labels_for,
};
use self::source::SourceText;
use self::vocabulary::Names;
use self::walker::Walker;
use crate::compile::process::Network;
use crate::lint::lints;
use crate::lower::{self, Composition, LinearProcess};
use crate::syntax::parse_specification;
use crate::typed::{ExecutionOptions, Program, check_specification};

/// Options for a specification.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `NAME=EXPR`: constant maps with new values.
    pub settings: Vec<(String, String)>,
    /// Actions that stay visible although the specification hides them.
    pub unhide: Vec<String>,
    /// Whether components must keep their times.
    pub timed: bool,
    /// Whether to look for equations that never apply or contradict each other.
    pub lints: bool,
    /// How many combinations of steps are tried before summands are built only for reachable
    /// locations, by default [`MOST_COMBINATIONS`]. The behaviour of the model does not depend on
    /// it.
    pub combinations: Option<usize>,
    /// Whether a state holds all variables in scope and the outcome of the choice that led to it,
    /// even if nothing depends on them, as states of the mCRL2 tools do. States that only differ in
    /// these are then different.
    pub keep_dead: bool,
    /// How many values of a quantified variable are tried, from the least one.
    pub quantifier_limit: Option<u32>,
    /// Where the declarations of a formula begin, which follow the text of the specification.
    pub added_from: Option<usize>,
}

/// Trying this many combinations of steps takes much less time than a user notices.
pub const MOST_COMBINATIONS: usize = 50_000;

/// The text that the places of diagnostics refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The specification.
    Specification,
    /// The value of a setting, by its index.
    Setting(usize),
    /// None: the diagnostic is about the request itself.
    Request,
}

/// Why a specification cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The text that the places of the diagnostics refer to.
    pub place: Place,
    /// At least one error, possibly among warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// A specification, ready to be explored.
#[derive(Debug)]
pub struct Mcrl2Model {
    info: ModelInfo,
    source: SourceText,
    network: Network,
    summands: Option<usize>,
    labels: Labels,
    names: Names,
    measures: Vec<Measure>,
    predicates: Mutex<Predicates>,
    extended: Extended,
}

/// Parses and checks a specification, applies settings and linearises it to a process with all its
/// summands. Also returns warnings.
pub fn linearise(text: &str, options: &Options) -> Result<(LinearProcess, Vec<Diagnostic>), Refusal> {
    let how = lower::Options { unhide: options.unhide.clone(), ..lower::Options::default() };
    linearise_with(text, options, &how)
}

fn linearise_with(
    text: &str,
    options: &Options,
    how: &lower::Options,
) -> Result<(LinearProcess, Vec<Diagnostic>), Refusal> {
    let (program, warnings) = check(text, options)?;
    let process = lower::linearise_with(program, how)
        .map_err(|diagnostics| Refusal { place: Place::Specification, diagnostics })?;
    Ok((process, warnings))
}

/// Parses and checks a specification, and applies settings.
fn check(text: &str, options: &Options) -> Result<(Program, Vec<Diagnostic>), Refusal> {
    let refused = |diagnostics| Refusal { place: Place::Specification, diagnostics };
    let (mut specification, mut diagnostics) = parse_specification(text);
    specification.added_from = options.added_from.map_or(u32::MAX, |at| at as u32);
    if diagnostics.iter().any(|one| one.severity == Severity::Error) {
        return Err(refused(diagnostics));
    }
    let (program, more) = check_specification(&specification);
    diagnostics.extend(more);
    let Some(mut program) = program else { return Err(refused(diagnostics)) };
    program.execution =
        ExecutionOptions { keep_dead: options.keep_dead, quantifier_limit: options.quantifier_limit };
    if options.lints {
        diagnostics.extend(lints(&program));
        diagnostics.sort_by_key(|one| one.span.as_ref().map_or(0, |span| span.range.start));
    }
    for (index, (name, value)) in options.settings.iter().enumerate() {
        settings::set(&mut program, name, value)
            .map_err(|diagnostics| Refusal { place: Place::Setting(index), diagnostics })?;
    }
    for name in &options.unhide {
        let known = || program.actions.iter().map(|action| program.text(action.name));
        if !known().any(|action| action == name) {
            let error = Diagnostic::error(format!("the specification has no action `{name}` to unhide"))
                .suggest_or_list(name, known(), "its actions are");
            return Err(Refusal { place: Place::Request, diagnostics: vec![error] });
        }
    }
    Ok((program, diagnostics))
}

impl Mcrl2Model {
    /// Parses, checks, linearises and compiles a specification. `name` is how messages refer to it.
    /// Also returns warnings.
    pub fn new(name: &str, text: &str, options: &Options) -> Result<(Mcrl2Model, Vec<Diagnostic>), Refusal> {
        let how = lower::Options {
            unhide: options.unhide.clone(),
            limit: options.combinations.unwrap_or(MOST_COMBINATIONS),
            later: true,
        };
        let (process, warnings) = linearise_with(text, options, &how)?;
        if options.timed {
            can_be_timed(&process)
                .map_err(|error| Refusal { place: Place::Specification, diagnostics: vec![error] })?;
        }
        let named = process.summands.iter().flat_map(|summand| &summand.actions).map(|action| action.name);
        let more = process.later.iter().flat_map(Composition::actions);
        let actions: BTreeSet<String> =
            named.chain(more).map(|name| process.program.text(name).to_owned()).collect();
        let summands = process.later.is_none().then_some(process.summands.len());
        let names = Names::new(&process);
        let network = crate::compile::process::compile(process);
        let (measures, measure_infos) = measure::measures(&network).into_iter().unzip();
        let mut info = ModelInfo::new(title(name, options), network.width);
        info.parameters = network.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        info.parameters.extend(network.now.map(|_| "now".to_owned()));
        info.suggestions = suggestions(&actions);
        info.actions = actions.into_iter().collect();
        info.measures = measure_infos;
        info.pace = PACE;
        info.fingerprint = fingerprint(text, options);
        let source = SourceText { name: name.to_owned(), text: text.to_owned() };
        let (labels, predicates, extended) = (Labels::default(), Mutex::default(), Extended::default());
        let model =
            Mcrl2Model { info, source, network, summands, labels, names, measures, predicates, extended };
        Ok((model, warnings))
    }

    /// Whether some step is a probabilistic choice. Its outcomes are consecutive transitions whose
    /// labels end in the probability, as in `a [1/3]`. They belong together until their
    /// probabilities add up to one. If the initial state is a choice, its transitions are labelled
    /// `dist`.
    pub fn is_probabilistic(&self) -> bool {
        self.has_initial_choice() || self.network.has_choices
    }

    /// The number of summands of the linear process, unless they are built on demand.
    pub fn summands(&self) -> Option<usize> {
        self.summands
    }

    /// Whether the initial state stands for a probabilistic choice.
    pub fn has_initial_choice(&self) -> bool {
        self.network.initial_choice.is_some()
    }
}

/// Transitions in about half a second. Between 40 thousand and a million a second were measured, on
/// most models 300 thousand.
const PACE: u64 = 150_000;

impl Model for Mcrl2Model {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(Walker::new(self))
    }

    fn left_out(&self) -> Option<String> {
        None
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        Some(self)
    }
}

/// Rejects time in several components, since none may let time pass beyond what the others allow. A
/// single component never has to wait.
fn can_be_timed(process: &LinearProcess) -> Result<(), Diagnostic> {
    let timed = process.summands.iter().find(|summand| summand.time.is_some()).map(|summand| summand.span);
    match timed.or_else(|| process.later.as_ref()?.timed()) {
        Some(span) if process.initial.len() > 1 => {
            let message = "time in a system of several components is not supported yet";
            Err(Diagnostic::error(message).at(span.range(), "this action has a time").help(
                "without the option `timed`, actions keep their times, and time never goes back, \
                 but a component may wait longer than it says",
            ))
        }
        _ => Ok(()),
    }
}

/// The name with the changed options, such as `lift.mcrl2(N=3, unhide=a)`.
fn title(name: &str, options: &Options) -> String {
    let mut parts: Vec<String> =
        options.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !options.unhide.is_empty() {
        parts.push(format!("unhide={}", options.unhide.join(",")));
    }
    if options.timed {
        parts.push("timed".to_owned());
    }
    parts.extend(changed_options(options));
    if parts.is_empty() { name.to_owned() } else { format!("{name}({})", parts.join(", ")) }
}

fn fingerprint(text: &str, options: &Options) -> u64 {
    let settings: Vec<String> =
        options.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut hash = hash::bytes(text.as_bytes());
    for part in [settings.join("\n"), options.unhide.join("\n"), options.timed.to_string()] {
        hash = hash::mix(hash, hash::bytes(part.as_bytes()));
    }
    for option in changed_options(options) {
        hash = hash::mix(hash, hash::bytes(option.as_bytes()));
    }
    hash
}

/// The options that differ from the defaults.
fn changed_options(options: &Options) -> Vec<String> {
    let kept = options.keep_dead.then(|| "keep-dead".to_owned());
    kept.into_iter().chain(options.quantifier_limit.map(|most| format!("quantifier-limit={most}"))).collect()
}

/// Parts of action names that suggest an error.
const ALARMS: [&str; 9] = ["error", "err", "fail", "bad", "wrong", "violat", "illegal", "collision", "crash"];

fn suggestions(actions: &BTreeSet<String>) -> Vec<String> {
    let alarming = |name: &&String| {
        let lower = name.to_lowercase();
        ALARMS.iter().any(|alarm| lower.contains(alarm)) && !lower.contains("transf")
    };
    let mut all = vec!["deadlock".to_owned()];
    all.extend(actions.iter().filter(alarming).map(|name| format!("action {name}")));
    all
}
