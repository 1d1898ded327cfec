//! The fitness of a path, and its penalties.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use turnpike_model::{Diagnostic, LabelId, ModelInfo, Successors};

use crate::objective::Pattern;
use crate::run::Run;
use crate::store::Fingerprints;
use crate::strategy::unknown_measure;

/// What makes a path fit. Every fitness is between 0 and 1, and more is better; only the order matters to selection.
///
/// Written and parsed as `enabled`, `label PATTERN`, `measure NAME` (or `measure max NAME`), `measure min NAME`,
/// `assertions`, `messages`, `branches` and `novelty`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Fitness {
    /// Few enabled transitions along the path: 1 / (1 + their sum over all states of the path, the first and the last
    /// included). Leads to deadlocks that are approached through fewer and fewer choices.
    #[default]
    Enabled,
    /// Labels along the path that match a pattern: 1 - 1 / (1 + count).
    Label(Pattern),
    /// The largest value v of a measure along the path: (1 + v / (1 + |v|)) / 2, which grows with v.
    Measure(String),
    /// The smallest value v of a measure along the path: (1 - v / (1 + |v|)) / 2, which grows as v falls.
    LeastMeasure(String),
    /// Assertions evaluated along the path: the model's measure `assertions`, which counts them. A model without it
    /// is refused.
    Assertions,
    /// Messages sent along the path: 1 - 1 / (1 + count). Programs count them; of another model its measure `messages` is
    /// asked.
    Messages,
    /// Distinct branches taken along the path, where a program has hooks for them: 1 - 1 / (1 +
    /// count).
    Branches,
    /// States along the path that no path of this run had met before: 1 - 1 / (1 + count). A
    /// survivor loses half of it in each further generation, or the first discoverers would be
    /// parents for ever. Needs few parents: most paths discover nothing.
    Novelty,
}

impl Fitness {
    /// Whether it can be computed from paths alone, without their states.
    pub(super) fn is_told_by_paths(&self) -> bool {
        !matches!(self, Fitness::Measure(_) | Fitness::LeastMeasure(_))
    }

    /// The fitness of a path with this count.
    pub(super) fn of_sum(&self, sum: f64) -> f64 {
        if *self == Fitness::Enabled { few(sum) } else { many(sum) }
    }

    /// Whether it depends on when a path is looked at, so that the best of all times means nothing.
    pub(super) fn fades(&self) -> bool {
        *self == Fitness::Novelty
    }

    /// What is left of a survivor's fitness in the next generation, as a factor.
    pub(super) fn fading(&self) -> f64 {
        if self.fades() { 0.5 } else { 1.0 }
    }
}

const WORDS: [&str; 7] = ["enabled", "label", "measure", "assertions", "messages", "branches", "novelty"];

impl fmt::Display for Fitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fitness::Enabled => f.write_str("enabled"),
            Fitness::Label(pattern) => write!(f, "label {pattern}"),
            Fitness::Measure(name) => write!(f, "measure {name}"),
            Fitness::LeastMeasure(name) => write!(f, "measure min {name}"),
            Fitness::Assertions => f.write_str("assertions"),
            Fitness::Messages => f.write_str("messages"),
            Fitness::Branches => f.write_str("branches"),
            Fitness::Novelty => f.write_str("novelty"),
        }
    }
}

impl FromStr for Fitness {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let plain = |fitness: Fitness| {
            if rest.is_empty() {
                Ok(fitness)
            } else {
                Err(Diagnostic::error(format!("'{word}' takes no argument, but got '{rest}'")))
            }
        };
        let needs = |what: &str, example: &str| {
            Diagnostic::error(format!("the fitness '{word}' needs {what}"))
                .help(format!("for example '{word} {example}'"))
        };
        match word {
            "enabled" => plain(Fitness::Enabled),
            "assertions" => plain(Fitness::Assertions),
            "messages" => plain(Fitness::Messages),
            "branches" => plain(Fitness::Branches),
            "novelty" => plain(Fitness::Novelty),
            "label" if rest.is_empty() => Err(needs("a label pattern", "send(*)")),
            "label" => Ok(Fitness::Label(Pattern::new(rest))),
            "measure" => match rest.split_once(char::is_whitespace) {
                Some(("max", name)) => Ok(Fitness::Measure(name.trim().to_owned())),
                Some(("min", name)) => Ok(Fitness::LeastMeasure(name.trim().to_owned())),
                Some(_) => Err(Diagnostic::error(format!("'{rest}' is not a measure"))
                    .help("write 'measure NAME', 'measure max NAME' or 'measure min NAME'")),
                None if rest.is_empty() => Err(needs("the name of a measure", "waiting")),
                None => Ok(Fitness::Measure(rest.to_owned())),
            },
            _ => Err(Diagnostic::error(format!("there is no fitness `{word}`")).suggest_or_list(
                word,
                WORDS,
                "the fitnesses are",
            )),
        }
    }
}

/// A fitness at work on a model: adds up what it sees along one path after the other.
pub(super) struct Scorer {
    kind: Kind,
    /// What this path has collected so far.
    sum: f64,
}

enum Kind {
    Enabled,
    /// Whether a label matches, by its id, once known.
    Label {
        pattern: Pattern,
        known: Vec<Option<bool>>,
    },
    /// The measure and its sign: -1 looks for small values.
    Measure {
        index: usize,
        sign: f64,
    },
    Novelty {
        seen: Fingerprints,
    },
}

impl Scorer {
    /// Compiles a fitness against a model.
    pub(super) fn new(fitness: &Fitness, info: &ModelInfo) -> Result<Self, Diagnostic> {
        let measure = |name: &str, sign: f64| match info.measure(name) {
            Some(index) => Ok(Kind::Measure { index, sign }),
            None => Err(unknown_measure(name, info)),
        };
        let kind = match fitness {
            Fitness::Enabled => Kind::Enabled,
            Fitness::Label(pattern) => Kind::Label { pattern: pattern.clone(), known: Vec::new() },
            Fitness::Measure(name) => measure(name, 1.0)?,
            Fitness::LeastMeasure(name) => measure(name, -1.0)?,
            Fitness::Assertions | Fitness::Messages | Fitness::Branches => {
                let counted = fitness.to_string();
                measure(&counted, 1.0).map_err(|_| {
                    Diagnostic::error(format!("{} counts no {counted}", info.name))
                        .help("another fitness is 'enabled', 'label PATTERN', 'measure NAME' or 'novelty'")
                })?
            }
            Fitness::Novelty => Kind::Novelty { seen: Fingerprints::default() },
        };
        Ok(Scorer { kind, sum: 0.0 })
    }

    /// Begins a path.
    pub(super) fn begin(&mut self) {
        self.sum = match self.kind {
            Kind::Measure { .. } => f64::NEG_INFINITY,
            _ => 0.0,
        };
    }

    /// Sees a state of the path, with its transitions.
    #[inline]
    pub(super) fn state(&mut self, run: &mut Run<'_>, state: &[u32], successors: &Successors) {
        match &mut self.kind {
            Kind::Enabled => self.sum += successors.len() as f64,
            // `max` passes over what is not a number.
            Kind::Measure { index, sign } => {
                let measures = run.view.explorer.measures();
                let value = measures.map_or(f64::NAN, |measures| measures.measure(state, *index));
                self.sum = self.sum.max(*sign * value);
            }
            Kind::Novelty { seen } => {
                self.sum += f64::from(u8::from(seen.insert(run.view.explorer.content_hash(state))));
            }
            Kind::Label { .. } => {}
        }
    }

    /// Sees a transition of the path.
    #[inline]
    pub(super) fn step(&mut self, run: &mut Run<'_>, label: LabelId) {
        let Kind::Label { pattern, known } = &mut self.kind else { return };
        if known.len() <= label.index() {
            known.resize(label.index() + 1, None);
        }
        let matches = *known[label.index()]
            .get_or_insert_with(|| pattern.matches(&run.view.explorer.label(label).text));
        self.sum += f64::from(u8::from(matches));
    }

    /// The fitness of the path that ended.
    pub(super) fn end(&self) -> f64 {
        match self.kind {
            Kind::Enabled => few(self.sum),
            Kind::Label { .. } | Kind::Novelty { .. } => many(self.sum),
            Kind::Measure { .. } => squash(self.sum),
        }
    }
}

/// The fewer, the fitter.
fn few(count: f64) -> f64 {
    1.0 / (1.0 + count)
}

/// The more, the fitter.
fn many(count: f64) -> f64 {
    1.0 - 1.0 / (1.0 + count)
}

/// Maps all numbers into [0, 1], in order.
fn squash(value: f64) -> f64 {
    if value.is_infinite() {
        return if value > 0.0 { 1.0 } else { 0.0 };
    }
    (1.0 + value / (1.0 + value.abs())) / 2.0
}

/// Errors that paths have met while the search goes on to look for others.
///
/// The fitness of a path that meets an error for the n-th time is divided by 1 + n: a new error
/// costs little, and a known one soon loses to paths that lead elsewhere.
#[derive(Default)]
pub(super) struct Penalties {
    /// For each error, how many paths met it, and the last of them.
    known: FxHashMap<u64, (u64, u64)>,
    /// The number of the current path.
    path: u64,
    /// The best known error of the current path.
    worst: u64,
}

impl Penalties {
    /// Begins a path.
    pub(super) fn begin(&mut self) {
        self.path += 1;
        self.worst = 0;
    }

    /// The path meets an error, known by a number of its own.
    pub(super) fn meet(&mut self, error: u64) {
        let (met, last) = self.known.entry(error).or_default();
        if *last != self.path {
            *last = self.path;
            *met += 1;
        }
        self.worst = self.worst.max(*met);
    }

    /// What the current path's fitness is divided by.
    pub(super) fn divisor(&self) -> f64 {
        1.0 + self.worst as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitnesses_are_written_as_they_are_read() {
        for text in [
            "enabled",
            "label send(*)",
            "measure waiting",
            "measure min enabled",
            "assertions",
            "messages",
            "branches",
            "novelty",
        ] {
            assert_eq!(text.parse::<Fitness>().unwrap().to_string(), text);
        }
        assert_eq!("  measure  max  waiting ".parse(), Ok(Fitness::Measure("waiting".into())));
        assert_eq!(Fitness::default(), Fitness::Enabled);
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |text: &str| text.parse::<Fitness>().unwrap_err().to_string();
        assert_eq!(message("enable"), "there is no fitness `enable` (did you mean `enabled`?)");
        assert_eq!(
            message("xyz"),
            "there is no fitness `xyz` (the fitnesses are enabled, label, measure, assertions, messages, branches, novelty)"
        );
        assert!(message("label").contains("needs a label pattern"));
        assert!(message("measure").contains("needs the name of a measure"));
        assert!(message("measure waiting now").contains("'measure min NAME'"));
        assert!(message("novelty 3").contains("takes no argument"));
    }

    #[test]
    fn squashing_keeps_the_order() {
        let values = [f64::NEG_INFINITY, -1e9, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 17.0, 1e9, f64::INFINITY];
        let squashed = values.map(squash);
        assert!(squashed.is_sorted_by(|a, b| a < b), "{squashed:?}");
        assert_eq!((squashed[0], squash(0.0), squashed[10]), (0.0, 0.5, 1.0));
    }

    #[test]
    fn well_known_errors_cost_more() {
        let mut penalties = Penalties::default();
        let mut path = |errors: &[u64]| {
            penalties.begin();
            errors.iter().for_each(|&error| penalties.meet(error));
            penalties.divisor()
        };
        assert_eq!(path(&[]), 1.0);
        assert_eq!(path(&[7, 7]), 2.0, "met twice by one path counts once");
        assert_eq!(path(&[7]), 3.0);
        assert_eq!(path(&[8]), 2.0, "another error");
        assert_eq!(path(&[9, 7]), 4.0, "the best known error counts");
    }
}
