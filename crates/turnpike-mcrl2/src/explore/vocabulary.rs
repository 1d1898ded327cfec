//! The action names of a specification. The alphabet is an over-approximation: anything outside it
//! never occurs.

use std::collections::BTreeSet;

use turnpike_model::{Absence, Label, Pattern, Signatures, Vocabulary, Word};

use super::spelling::{self, Speller};
use super::{Mcrl2Model, labels};
use crate::lower::{LinearProcess, Loss};

/// With more multi-actions than this, any combination of actions is accepted.
const MOST_COMBINATIONS: usize = 10_000;

/// The names that a user may refer to.
#[derive(Debug)]
pub(super) struct Names {
    signatures: Signatures,
    /// Whether labels may have a time or a probability after their actions.
    suffixes: bool,
    /// The multi-actions without time or probability, if all summands are known.
    plain: Option<BTreeSet<Vec<String>>>,
}

impl Names {
    /// The names of a process. If its summands are built on demand, the structure of its components
    /// determines the possible names.
    pub(super) fn new(process: &LinearProcess) -> Self {
        let program = &process.program;
        let mut signatures = Signatures::new();
        let arities = |name| {
            let declared = program.actions.iter().filter(move |action| action.name == name);
            declared.map(|action| action.sorts.len())
        };
        let mut possible = BTreeSet::new();
        match &process.later {
            None => {
                let mut combinations: BTreeSet<Vec<String>> = BTreeSet::new();
                for summand in &process.summands {
                    possible.extend(summand.actions.iter().map(|action| action.name));
                    let names = summand.actions.iter();
                    combinations.insert(names.map(|action| program.text(action.name).to_owned()).collect());
                    for action in &summand.actions {
                        signatures.add(program.text(action.name), action.arguments.len());
                    }
                }
                if combinations.len() <= MOST_COMBINATIONS {
                    combinations.into_iter().for_each(|names| signatures.add_combination(names));
                }
            }
            Some(later) => {
                possible.extend(later.actions());
                for &name in &possible {
                    arities(name).for_each(|arity| signatures.add(program.text(name), arity));
                }
                if later.may_terminate() {
                    signatures.add("Terminate", 0);
                }
            }
        }
        let (losses, whole) = (process.structure.losses(), process.structure.names());
        for action in &program.actions {
            let absence = match losses.get(&action.name) {
                _ if possible.contains(&action.name) => continue,
                Some(Loss::Hidden) => Absence::Hidden,
                Some(Loss::NotAllowed) => Absence::NotAllowed,
                Some(Loss::Blocked) => Absence::Blocked,
                // Its data never match those of a partner.
                None if whole.contains(&action.name) => Absence::Blocked,
                Some(Loss::Renamed) | None => Absence::Unused,
            };
            signatures.add_absent(program.text(action.name), absence);
        }
        let suffixes = process.initial_distribution.is_some()
            || process.summands.iter().any(|one| one.time.is_some() || one.distribution.is_some())
            || process.later.as_ref().is_some_and(|one| one.is_probabilistic() || one.timed().is_some());
        let plain = process.later.is_none().then(|| {
            let plain =
                process.summands.iter().filter(|one| one.time.is_none() && one.distribution.is_none());
            plain
                .map(|one| one.actions.iter().map(|one| program.text(one.name).to_owned()).collect())
                .collect()
        });
        Names { signatures, suffixes, plain }
    }
}

impl Vocabulary for Mcrl2Model {
    fn action(&self, name: &str) -> Word {
        match self.has_initial_choice() && name == "dist" {
            true => Word::Known,
            false => self.names.signatures.action(name),
        }
    }

    fn label(&self, pattern: &str) -> Word {
        self.spell(pattern).err().unwrap_or(Word::Known)
    }

    fn normal_form(&self, pattern: &str) -> Option<String> {
        self.spell(pattern).ok().filter(|normal| Pattern::new(normal) != Pattern::new(pattern))
    }

    fn argument(&self, action: &str, position: usize) -> Word {
        self.names.signatures.argument(action, position)
    }

    fn names(&self) -> Vec<&str> {
        self.names.signatures.names()
    }
}

impl Mcrl2Model {
    /// Rewrites a pattern to the form in which labels are printed, or explains why no label
    /// matches.
    fn spell(&self, pattern: &str) -> Result<String, Word> {
        let Names { signatures, suffixes, plain } = &self.names;
        let Suffixed { bare, time, chance } = match suffixes {
            true => Suffixed::new(pattern),
            false => Suffixed { bare: pattern, time: None, chance: None },
        };
        let open = Pattern::new(bare).is_open();
        if self.has_initial_choice() && bare == "dist" {
            return Ok(pattern.to_owned());
        }
        let mut label = Label::parse(bare);
        if !open {
            // Labels sort their actions by name.
            label.actions.sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
        }
        let word = signatures.label(&spelling::join(&label.actions).unwrap_or_else(|| bare.to_owned()));
        // A wildcard may match a time or a probability.
        if !(word.is_known() || *suffixes && open) {
            return Err(word);
        }
        let names: Vec<String> = label.actions.iter().map(|action| action.name.clone()).collect();
        let plain = plain.as_ref().is_none_or(|plain| plain.contains(&names));
        if *suffixes && !open && time.is_none() && chance.is_none() && !plain {
            return Err(Word::NeedsSuffix { label: bare.to_owned() });
        }
        let mut speller = Speller::new(self);
        for action in &mut label.actions {
            speller.spell(action)?;
        }
        if !open {
            label.actions.sort_by(|one, other| {
                (one.name.as_bytes(), &one.arguments).cmp(&(other.name.as_bytes(), &other.arguments))
            });
        }
        let mut text = spelling::join(&label.actions).unwrap_or_else(|| bare.to_owned());
        if let Some(time) = time {
            text.push_str(" @ ");
            text.push_str(&speller.number(time).map_or_else(|| time.to_owned(), labels::unit));
        }
        if let Some(chance) = chance {
            let chance = speller.number(chance).map_or_else(|| chance.to_owned(), |one| one.replace(' ', ""));
            text.push_str(&format!(" [{chance}]"));
        }
        Ok(text)
    }
}

/// The parts of a label such as `a(1) @ 2 [1/3]`.
struct Suffixed<'a> {
    bare: &'a str,
    time: Option<&'a str>,
    chance: Option<&'a str>,
}

impl<'a> Suffixed<'a> {
    fn new(label: &'a str) -> Self {
        let (label, chance) = match label.rfind(" [").zip(label.strip_suffix(']')) {
            Some((at, inner)) => (&label[..at], Some(inner[at + 2..].trim())),
            None => (label, None),
        };
        // There is no `@` in data.
        match label.split_once('@') {
            Some((bare, time)) => Suffixed { bare: bare.trim_end(), time: Some(time.trim()), chance },
            None => Suffixed { bare: label.trim_end(), time: None, chance },
        }
    }
}
