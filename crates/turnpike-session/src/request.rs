//! Requests of clients: a source, and a search of it. Requests are plain values that can be
//! serialised to JSON and back.

mod sections;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use turnpike_model::Diagnostic;
use turnpike_search::strategy::{self, Descriptor, Options};
use turnpike_search::{Limits, Objective, StoreKind, resources};

use crate::choice::choice;
use crate::options::{Given, Section, all_names, is_of_strategy};
use crate::problem::Problem;
use crate::source::Source;
use crate::values;

/// A source and a search of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The source.
    pub source: Source,
    /// The search.
    #[serde(default)]
    pub search: Search,
}

/// The goals of a search, its strategy, and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The goals.
    pub goals: Goals,
    /// The strategy and its options.
    pub strategy: StrategyChoice,
    /// Limits on each run.
    #[serde(with = "LimitsAsText")]
    pub limits: Limits,
    /// How to carry out the search.
    pub running: Running,
    /// How to handle witnesses.
    pub witness: WitnessSettings,
}

/// The goals of a search. Without objectives and queries these are the model's own queries, any
/// error of a program, or a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Goals {
    /// Objectives.
    #[serde(with = "objectives")]
    pub find: Vec<Objective>,
    /// Queries about timed automata, each answered by a separate search.
    pub queries: Vec<String>,
    /// A file with more queries.
    pub query_file: Option<String>,
    /// Formulas of the modal mu-calculus: files, folders or texts.
    pub formulas: Vec<String>,
    /// Only count cycles and runs of timed automata along which time diverges.
    pub non_zeno: bool,
    /// Continue until every objective is met, not just one.
    pub all: bool,
    /// Also test successors for deadlock, not only expanded states.
    pub lookahead: bool,
    /// When states are tested against objectives on states.
    pub accept: AcceptAt,
    /// Actions that count as internal besides `tau`.
    pub internal: Vec<String>,
    /// Objectives may have names that do not occur in the model.
    pub allow_unknown: bool,
    /// What counts as success. The default is that queries hold and objectives are not met.
    pub expect: Option<Expect>,
    /// A partial search does not count as success.
    pub strict: bool,
}

choice! {
    /// What counts as success.
    Expect {
        /// An objective is met
        Found = "found",
        /// No objective is met
        None = "none",
        /// Every query holds, whatever the model expects
        Satisfied = "satisfied",
        /// No query holds
        NotSatisfied = "not-satisfied",
        /// Any answer
        Any = "any",
    }
}

choice! {
    /// When states are tested against objectives on states.
    AcceptAt = Generation {
        /// As soon as a transition leads to them
        Generation = "generation",
        /// When they are expanded
        Pop = "pop",
    }
}

/// The name of a strategy, with its options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StrategyChoice {
    /// The name. The default strategy if absent.
    pub name: Option<String>,
    /// Its options by name. A switch has the value `true`.
    #[serde(deserialize_with = "option_values")]
    pub options: BTreeMap<String, String>,
}

/// How to carry out a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Running {
    /// The number of searches, each with its own seed. Once without statistics if absent.
    pub runs: Option<u64>,
    /// The random seed.
    pub seed: u64,
    /// The number of threads. All cores where they help if absent.
    pub threads: Option<usize>,
    /// How visited states are stored.
    pub store: Store,
    /// The size of the bit table of the store `bitstate`, in bytes.
    pub bitstate_size: Option<u64>,
}

choice! {
    /// How visited states are remembered.
    Store = Auto {
        /// Exact, or tree for wide states
        Auto = "auto",
        /// Every state in full
        Exact = "exact",
        /// Every state in full, equal parts shared
        Tree = "tree",
        /// A 64-bit fingerprint a state: lossy
        Compact = "compact",
        /// A few bits a state: lossy
        Bitstate = "bitstate",
    }
}

/// How to handle witnesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WitnessSettings {
    /// Store what is needed to build a witness.
    pub keep: bool,
    /// Shorten witnesses.
    pub shorten: bool,
    /// The number of expansions that shortening may take.
    pub shorten_budget: Option<u64>,
    /// Include states in witnesses, not only labels.
    pub states: bool,
}

impl Default for WitnessSettings {
    fn default() -> Self {
        WitnessSettings { keep: true, shorten: true, shorten_budget: None, states: true }
    }
}

/// The serialised form of limits.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Limits", deny_unknown_fields)]
struct LimitsAsText {
    #[serde(default)]
    states: Option<u64>,
    #[serde(default)]
    executions: Option<u64>,
    #[serde(default)]
    depth: Option<u32>,
    #[serde(default, with = "values::time")]
    time: Option<std::time::Duration>,
    #[serde(default)]
    memory: Option<u64>,
}

/// Serialises objectives as text.
pub(crate) mod objectives {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use turnpike_search::Objective;

    pub(crate) fn serialize<S: Serializer>(objectives: &[Objective], out: S) -> Result<S::Ok, S::Error> {
        objectives.iter().map(Objective::text).collect::<Vec<_>>().serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Objective>, D::Error> {
        let texts = Vec::<String>::deserialize(input)?;
        texts.iter().map(|text| text.parse().map_err(de::Error::custom)).collect()
    }
}

/// Options of strategies may also be numbers and truth values.
fn option_values<'de, D: serde::Deserializer<'de>>(input: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Text(String),
        Switch(bool),
        Count(u64),
        Number(f64),
    }
    let values = BTreeMap::<String, Value>::deserialize(input)?;
    let text = |value| match value {
        Value::Text(text) => Some(text),
        Value::Switch(on) => on.then(|| "true".to_owned()),
        Value::Count(count) => Some(count.to_string()),
        Value::Number(number) => Some(number.to_string()),
    };
    Ok(values.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect())
}

impl Request {
    /// A request with default settings.
    pub fn new(source: Source) -> Self {
        Request { source, search: Search::default() }
    }

    /// Sets an option by its name, in any part of the request.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), Diagnostic> {
        if let Some(why) = crate::options::takes(name).and_then(|takes| takes.mistake(text)) {
            let message = format!("invalid value `{text}` for the option `{name}`: {why}");
            return Err(Diagnostic::error(message));
        }
        let of_models = |wrong: &str| {
            Err(Diagnostic::error(format!("the option `{wrong}` is for models, not for programs")))
        };
        let done = match &mut self.source {
            Source::Model { reading, .. } => {
                let done = reading.set(name, text);
                done.or_else(|| reading.timed_automata.set(name, text)).or_else(|| {
                    let known = crate::ProgramSource::OPTIONS.iter().any(|option| option.name == name);
                    known.then(|| {
                        Err(Diagnostic::error(format!("the option `{name}` is for programs, not for models")))
                    })
                })
            }
            Source::Program(program) => program.set(name, text).or_else(|| {
                let known = crate::Reading::OPTIONS.iter().any(|option| option.name == name)
                    || crate::TimedReading::OPTIONS.iter().any(|option| option.name == name);
                known.then(|| of_models(name))
            }),
        };
        done.or_else(|| self.search.set(name, text)).unwrap_or_else(|| {
            Err(Diagnostic::error(format!("there is no option `{name}`")).suggest(name, all_names()))
        })
    }
}

impl Search {
    /// Sets an option of the search. `None` if there is no such option.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), Diagnostic>> {
        if name == "strategy" {
            self.strategy.name = Some(text.to_owned());
            return Some(Ok(()));
        }
        if is_of_strategy(name) {
            let text = if text.is_empty() { "true" } else { text };
            self.strategy.options.insert(name.to_owned(), text.to_owned());
            return Some(Ok(()));
        }
        self.goals
            .set(name, text)
            .or_else(|| self.limits.set(name, text))
            .or_else(|| self.running.set(name, text))
            .or_else(|| self.witness.set(name, text))
    }

    /// The options that differ from their defaults.
    pub fn given(&self) -> Vec<Given> {
        let mut given = self.goals.given();
        given.extend(self.strategy.given());
        given.extend(self.limits.given());
        given.extend(self.witness.given());
        given.extend(self.running.given());
        given
    }

    /// Refuses invalid combinations that can be detected without the source.
    pub fn check(&self) -> Result<(), Problem> {
        self.strategy.descriptor()?;
        self.check_conflicts()?;
        check_limits(&self.limits)?;
        self.store()?;
        Ok(())
    }

    /// Refuses conflicting options, for clients whose grammar does not.
    fn check_conflicts(&self) -> Result<(), Diagnostic> {
        fn conflicts<T: Section>() -> impl Iterator<Item = (&'static str, &'static str)> {
            T::OPTIONS.iter().flat_map(|row| row.conflicts.iter().map(|other| (row.name, *other)))
        }
        let given = self.given();
        let is_given = |name: &str| given.iter().any(|given| given.name == name);
        let mut both = conflicts::<Goals>().chain(conflicts::<WitnessSettings>());
        match both.find(|(one, other)| is_given(one) && is_given(other)) {
            Some((one, other)) => {
                let message =
                    format!("the option `{one}` cannot be given together with the option `{other}`");
                Err(Diagnostic::error(message))
            }
            None => Ok(()),
        }
    }

    /// The store with its size, unless the strategy does not use it.
    pub(crate) fn store(&self) -> Result<StoreKind, Diagnostic> {
        let Running { store, bitstate_size, .. } = self.running;
        let kind = match (store, bitstate_size) {
            (Store::Bitstate, bytes) => {
                if let Some(bytes) = bytes {
                    check_machine_has("bitstate-size", bytes)?;
                }
                StoreKind::Bitstate { bytes: bytes.unwrap_or(StoreKind::DEFAULT_BITSTATE_BYTES) }
            }
            (Store::Auto, None) => StoreKind::Auto,
            (Store::Exact, None) => StoreKind::Exact,
            (Store::Tree, None) => StoreKind::Tree,
            (Store::Compact, None) => StoreKind::Compact,
            (store, Some(_)) => {
                let store = crate::choice::Choice::word(store);
                let message =
                    format!("the option `bitstate-size` needs the store bitstate, but the store is {store}");
                return Err(Diagnostic::error(message).help("remove it, or choose the store bitstate"));
            }
        };
        let descriptor = self.strategy.descriptor()?;
        if !matches!(kind, StoreKind::Auto | StoreKind::Exact) && !descriptor.stores_states {
            let message =
                format!("the store {kind} has no effect: {} does not store states", descriptor.name);
            return Err(Diagnostic::error(message).help("remove it, or choose another strategy"));
        }
        Ok(kind)
    }
}

impl StrategyChoice {
    /// A strategy with its default options.
    pub fn named(name: impl Into<String>) -> Self {
        StrategyChoice { name: Some(name.into()), options: BTreeMap::new() }
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, option: &str, value: impl ToString) -> Self {
        self.options.insert(option.to_owned(), value.to_string());
        self
    }

    /// The descriptor of the strategy. Refuses options of others. Needs no model.
    pub fn descriptor(&self) -> Result<&'static Descriptor, Diagnostic> {
        let descriptor = match &self.name {
            Some(name) => strategy::find(name)?,
            None => strategy::STRATEGIES[0],
        };
        descriptor.check(&self.options())?;
        Ok(descriptor)
    }

    /// The options in the form for the engine.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new();
        for (name, value) in &self.options {
            options.set(name, value);
        }
        options
    }

    /// The name, and the options in the order of the strategy's description.
    fn given(&self) -> Vec<Given> {
        let name = self.name.iter().map(|name| Given { name: "strategy".into(), value: Some(name.clone()) });
        let described: Vec<_> = strategy::all().flat_map(|strategy| strategy.options).collect();
        let mut rows: Vec<(usize, Given)> = Vec::new();
        for (option, value) in &self.options {
            let place = described.iter().position(|info| info.name == option);
            let switch = crate::options::takes(option) == Some(crate::options::Takes::Switch);
            let value = (!switch).then(|| value.clone());
            rows.push((place.unwrap_or(usize::MAX), Given { name: option.clone(), value }));
        }
        rows.sort_by_key(|(place, _)| *place);
        name.chain(rows.into_iter().map(|(_, given)| given)).collect()
    }
}

/// Refuses limits beyond the capacity of the machine.
pub fn check_limits(limits: &Limits) -> Result<(), Problem> {
    Ok(limits.memory.map_or(Ok(()), |bytes| check_machine_has("max-memory", bytes))?)
}

/// Refuses a size larger than the memory of the machine.
pub(crate) fn check_machine_has(option: &str, asked: u64) -> Result<(), Diagnostic> {
    match resources::machine_bytes() {
        Some(machine) if asked > machine => Err(Diagnostic::error(format!(
            "the option `{option}` is {}, but this machine has {}",
            values::write_bytes(asked),
            values::write_bytes(machine)
        ))
        .help("without a limit, a search stops at three quarters of the machine's memory")),
        _ => Ok(()),
    }
}
