//! What a search looks for.

mod execution;
mod extreme;
mod livelock;
mod monitor;
mod sightings;
mod state_test;

use std::fmt;
use std::str::FromStr;

pub(crate) use execution::{ExecutionHit, Judge};
pub(crate) use monitor::{Counted, Hit, HitKind, Monitor};
pub(crate) use sightings::Sightings;
pub use turnpike_model::Pattern;
use turnpike_model::{Diagnostic, Label, ViolationKind};

/// One objective, in the words of `--find`: a keyword, a blank, and the rest verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    text: String,
    pub(crate) goal: Goal,
}

/// What is to be found or measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Goal {
    /// A state without a way on.
    Deadlock,
    /// A transition with one of these actions.
    Action(Vec<String>),
    /// A transition with a label like this; of timed automata, a location.
    Label(Pattern),
    /// A state that meets this condition, in the model's own language.
    State(String),
    /// A cycle of internal steps; of a program, threads that all spin.
    Livelock,
    /// Two transitions of a state with the same label.
    Nondeterminism,
    /// An error that a state shows by itself.
    Violation(ViolationKind),
    /// Any error that the model can show.
    AnyError,
    /// The largest or smallest value of a label's argument or of a measure.
    Extreme {
        /// The largest one.
        maximise: bool,
        /// Of what.
        quantity: String,
    },
    /// The labels of this kind that occur.
    Cover(Pattern),
    /// A cycle through a state of each of these sets; through any state when there are none.
    Accepting(Vec<String>),
}

const KEYWORDS: [&str; 18] = [
    "deadlock",
    "action",
    "label",
    "state",
    "livelock",
    "nondeterminism",
    "assertion",
    "panic",
    "crash",
    "heap",
    "race",
    "leak",
    "hang",
    "any-error",
    "min",
    "max",
    "cover",
    "accepting",
];

impl Objective {
    /// The objective used when none is given.
    pub fn deadlock() -> Self {
        Objective { text: "deadlock".into(), goal: Goal::Deadlock }
    }

    /// What it asks for.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The text it was written as.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is only measured: it never ends a search.
    pub fn is_measure(&self) -> bool {
        matches!(self.goal, Goal::Extreme { .. } | Goal::Cover(_))
    }

    /// Whether it is an error, of which a program may have several.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.goal, Goal::Deadlock | Goal::Livelock | Goal::AnyError | Goal::Violation(_))
    }

    /// Whether it is an accepting cycle, which is looked for in a way of its own.
    pub fn is_accepting(&self) -> bool {
        matches!(self.goal, Goal::Accepting(_))
    }

    /// Whether it is met by a cycle.
    pub(crate) fn is_about_cycles(&self) -> bool {
        matches!(self.goal, Goal::Accepting(_) | Goal::Livelock)
    }

    /// Whether breadth-first search meets it as early as possible. Some of the errors that any-error
    /// stands for are seen one step later than others, and cycles have more than one length.
    pub(crate) fn is_met_at_one_depth(&self) -> bool {
        !matches!(self.goal, Goal::AnyError) && !self.is_about_cycles()
    }

    /// How many sets of states an accepting cycle must go through; 0 for other objectives.
    pub(crate) fn acceptance_sets(&self) -> usize {
        match &self.goal {
            Goal::Accepting(sets) => sets.len().max(1),
            _ => 0,
        }
    }

    /// Whether a deadlock meets it.
    pub(crate) fn is_met_by_deadlock(&self) -> bool {
        matches!(self.goal, Goal::Deadlock | Goal::AnyError)
    }

    /// Whether an error with this signature meets it: the word before `@` is its kind.
    pub(crate) fn is_met_by_signature(&self, signature: &str) -> bool {
        let kind = signature.split('@').next().unwrap_or_default();
        let of_kind = ViolationKind::ALL.iter().find(|one| one.keyword() == kind);
        of_kind.map_or_else(|| self.is_met_by_deadlock(), |&kind| self.is_met_by_violation(kind))
    }

    /// Whether an error of this kind meets it.
    pub(crate) fn is_met_by_violation(&self, kind: ViolationKind) -> bool {
        self.violation_kinds().contains(&kind)
    }

    /// Whether a transition with this label meets it, where labels belong to transitions.
    pub(crate) fn is_met_by_label(&self, label: &Label) -> bool {
        match &self.goal {
            Goal::Action(names) => names.iter().any(|name| label.has_action(name)),
            Goal::Label(pattern) => pattern.matches(&label.text),
            _ => false,
        }
    }

    /// The errors that meet it, other than deadlocks.
    fn violation_kinds(&self) -> &'static [ViolationKind] {
        use ViolationKind::{Assertion, Crash, Hang, Heap, Leak, Livelock, Panic, Race};
        match self.goal {
            // A program that does not come to its end is as good as deadlocked: decision 0019.
            // Hangs are detected by the clock, so they are only looked for on request: decision
            // 0069.
            Goal::AnyError => &[Assertion, Panic, Crash, Heap, Livelock],
            Goal::Livelock => &[Livelock],
            Goal::Violation(Hang) => &[Hang],
            Goal::Violation(Assertion) => &[Assertion],
            Goal::Violation(Panic) => &[Panic],
            Goal::Violation(Crash) => &[Crash],
            Goal::Violation(Heap) => &[Heap],
            Goal::Violation(Race) => &[Race],
            Goal::Violation(Leak) => &[Leak],
            _ => &[],
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Objective {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let text = text.trim();
        let (keyword, rest) = match text.split_once(char::is_whitespace) {
            Some((keyword, rest)) => (keyword, rest.trim()),
            None => (text, ""),
        };
        let plain = |goal: Goal| {
            if rest.is_empty() {
                Ok(goal)
            } else {
                Err(Diagnostic::error(format!("`{keyword}` takes no argument, but got `{rest}`")))
            }
        };
        let needs = |what: &str, example: &str| {
            if rest.is_empty() {
                Err(Diagnostic::error(format!("`{keyword}` needs {what}"))
                    .help(format!("for example `{keyword} {example}`")))
            } else {
                Ok(rest.to_owned())
            }
        };
        let goal = match keyword {
            "deadlock" => plain(Goal::Deadlock)?,
            "livelock" => plain(Goal::Livelock)?,
            "nondeterminism" => plain(Goal::Nondeterminism)?,
            "any-error" => plain(Goal::AnyError)?,
            "assertion" => plain(Goal::Violation(ViolationKind::Assertion))?,
            "panic" => plain(Goal::Violation(ViolationKind::Panic))?,
            "crash" => plain(Goal::Violation(ViolationKind::Crash))?,
            "heap" => plain(Goal::Violation(ViolationKind::Heap))?,
            "race" => plain(Goal::Violation(ViolationKind::Race))?,
            "leak" => plain(Goal::Violation(ViolationKind::Leak))?,
            "hang" => plain(Goal::Violation(ViolationKind::Hang))?,
            "action" => {
                let names = needs("one or more action names", "error,timeout")?;
                let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
                if names.iter().any(String::is_empty) {
                    return Err(Diagnostic::error(format!("'{rest}' has an empty action name")));
                }
                Goal::Action(names)
            }
            "label" => Goal::Label(Pattern::new(&needs("a label pattern", "report(*)")?)),
            "state" => Goal::State(needs("a state expression", "x >= 3")?),
            "cover" => Goal::Cover(Pattern::new(&needs("a label pattern", "report(*)")?)),
            "accepting" => {
                let sets: Vec<String> = rest.split(';').map(|set| set.trim().to_owned()).collect();
                match sets.iter().any(String::is_empty) {
                    true if rest.is_empty() => Goal::Accepting(Vec::new()),
                    true => return Err(Diagnostic::error(format!("'{rest}' has an empty set of states"))),
                    false => Goal::Accepting(sets),
                }
            }
            "min" | "max" => Goal::Extreme {
                maximise: keyword == "max",
                quantity: needs("a label argument or a measure", "report.1")?,
            },
            _ => {
                return Err(Diagnostic::error(format!("there is no objective `{keyword}`")).suggest_or_list(
                    keyword,
                    KEYWORDS,
                    "the objectives are",
                ));
            }
        };
        Ok(Objective { text: text.to_owned(), goal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_every_keyword() {
        for text in [
            "deadlock",
            "action a,b",
            "label x(*)",
            "state n > 3",
            "livelock",
            "nondeterminism",
            "assertion",
            "any-error",
            "min report.1",
            "max depth",
            "cover report(*)",
            "accepting",
            "accepting a,b; x > 3",
        ] {
            let objective: Objective = text.parse().unwrap();
            assert_eq!(objective.text(), text);
        }
        assert!("max x".parse::<Objective>().unwrap().is_measure());
        assert!(!"deadlock".parse::<Objective>().unwrap().is_measure());
    }

    #[test]
    fn explains_mistakes() {
        let message = |text: &str| text.parse::<Objective>().unwrap_err().to_string();
        assert_eq!(message("deadlok"), "there is no objective `deadlok` (did you mean `deadlock`?)");
        assert!(message("action").contains("needs one or more action names"));
        assert!(message("deadlock now").contains("takes no argument"));
        assert!(message("accepting a;;b").contains("empty set of states"));
        assert!(message("action a,,b").contains("empty action name"));
    }
}
