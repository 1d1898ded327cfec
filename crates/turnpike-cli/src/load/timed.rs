//! Timed automata named on the command line: TChecker and UPPAAL files, the flags for them, and their queries.

use std::path::Path;

use clap::{Args, ValueEnum};
use turnpike_model::{Diagnostic, Model};
use turnpike_search::{Goal, Objective};
use turnpike_timed::explore::{Cover, Options, TIMELOCK, TimedModel};
use turnpike_timed::liveness::{Formula, LivenessModel};
use turnpike_timed::network::{Network, QueryText};
use turnpike_timed::observe::{self, Joined};
use turnpike_timed::uppaal::{self, Names};
use turnpike_timed::zone::Extrapolation;

use super::zeno::Zeno;
use super::{InputFormat, ReadingArgs, bytes, settings};
use crate::failure::Failure;

/// How timed automata are explored.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Timed automata")]
pub(crate) struct TimedArgs {
    /// How zones are made coarser [default: the coarsest way that is right for what is asked]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) extrapolation: Option<ExtrapolationArg>,
    /// Leave out states that another one covers: by inclusion of their zones, or by what the bounds of clocks let them do
    /// (alu); for bfs and dfs
    #[arg(long, value_enum, value_name = "RELATION")]
    pub(crate) cover: Option<CoverArg>,
    /// Let time pass before transitions rather than after them
    #[arg(long)]
    pub(crate) delay_first: bool,
    /// What an assignment out of range is: an error of the model, or a transition that is not there
    #[arg(long, value_enum, value_name = "MEANING")]
    pub(crate) out_of_range: Option<OutOfRange>,
    /// Let an automaton watch the model, which it never keeps from moving: declarations of a .tck file, in which it takes part weakly
    /// (sync:P@a:Watch@seen?), or UPPAAL text that ends with `system Watch;` and hears broadcast channels (repeatable)
    #[arg(long = "observer", value_name = "FILE")]
    pub(crate) observers: Vec<String>,
}

impl TimedArgs {
    /// The first flag that was given, for models it means nothing for.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--extrapolation", self.extrapolation.is_some()),
            ("--delay-first", self.delay_first),
            ("--out-of-range", self.out_of_range.is_some()),
            ("--observer", !self.observers.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// How zones are made coarser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtrapolationArg {
    /// Not at all; the search may not end.
    None,
    /// By the largest constant of each clock.
    M,
    /// The same, coarser above the constants.
    #[value(name = "m+")]
    MPlus,
    /// By lower and upper bounds apart.
    Lu,
    /// The same, coarser above the constants.
    #[value(name = "lu+")]
    LuPlus,
}

/// Which states cover which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoverArg {
    /// States are merged only when they are equal.
    None,
    /// A zone covers those it includes.
    Inclusion,
    /// A zone covers those it simulates, by the bounds that clocks are still compared with.
    Alu,
}

/// What an assignment out of range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutOfRange {
    /// An error of the model.
    Error,
    /// A transition that is not there.
    Disable,
}

/// What will be asked about a model. Zones of timed automata depend on it: they must be fine enough to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Purpose {
    /// Conditions on states.
    pub(crate) conditions: Vec<String>,
    /// Texts that are conditions or lists of labels.
    pub(crate) doubtful: Vec<String>,
    pub(crate) deadlock: bool,
    /// A formula about whole runs: it has a model of its own.
    pub(crate) runs: Option<String>,
    /// Cycles.
    pub(crate) cycles: bool,
    /// Whether only cycles count along which time passes all bounds.
    pub(crate) non_zeno: bool,
}

impl Purpose {
    /// What these objectives ask.
    pub(crate) fn of(objectives: &[Objective]) -> Self {
        let mut purpose = Purpose::default();
        for objective in objectives {
            purpose.cycles |= objective.is_accepting();
            match objective.goal() {
                Goal::State(condition) => purpose.conditions.push(condition.clone()),
                Goal::Accepting(sets) => match &sets[..] {
                    [formula] if Formula::is_one(formula) => purpose.runs = Some(formula.clone()),
                    sets => purpose.doubtful.extend_from_slice(sets),
                },
                Goal::Deadlock | Goal::AnyError => purpose.deadlock = true,
                _ => {}
            }
        }
        purpose
    }
}

/// A timed model that was read, before anybody knows what will be asked of it.
pub(crate) struct Timed {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) network: Network,
    pub(crate) names: Names,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The language of a timed model, if it is one.
fn language(name: &str, reading: &ReadingArgs) -> Option<InputFormat> {
    if name.starts_with("builtin:") {
        return None;
    }
    let timed =
        |format: &InputFormat| matches!(format, InputFormat::Tck | InputFormat::Xml | InputFormat::Xta);
    if let Some(format) = reading.input_format {
        return Some(format).filter(timed);
    }
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "tck" => Some(InputFormat::Tck),
        "xml" => Some(InputFormat::Xml),
        "xta" | "ta" => Some(InputFormat::Xta),
        _ => None,
    }
}

/// Whether the user names timed automata.
pub(crate) fn is_timed(name: &str, reading: &ReadingArgs) -> bool {
    language(name, reading).is_some()
}

/// Reads timed automata; with `None` the name is that of another kind of model.
pub(crate) fn read(name: &str, reading: &ReadingArgs) -> Result<Option<Timed>, Failure> {
    let Some(language) = language(name, reading) else { return Ok(None) };
    let source = String::from_utf8_lossy(&bytes(name)?).into_owned();
    let settings = settings(&reading.settings)?;
    let files = &reading.timed_automata.observers;
    let mut observers = Vec::new();
    for file in files {
        observers.push(String::from_utf8_lossy(&bytes(file)?).into_owned());
    }
    let outcome = match language {
        InputFormat::Tck => {
            if let Some((setting, _)) = settings.first() {
                let error =
                    Diagnostic::error(format!("{name} has no constants to set, but got --set {setting}"));
                return Err(error.help("TChecker files have none; UPPAAL files do").into());
            }
            observe::tck(&source, &observers).map(|(network, warnings)| {
                let names = Names::of(&network);
                (network, names, warnings)
            })
        }
        InputFormat::Xml => observe::uppaal(&source, uppaal::Format::Xml, &settings, &observers),
        _ => observe::uppaal(&source, uppaal::Format::Xta, &settings, &observers),
    };
    // What points behind the model points into an observer; traces belong to the model with its observers.
    let joined = Joined::new(&source, &observers);
    match outcome {
        Ok((mut network, names, warnings)) => {
            network.out_of_range_disables = reading.timed_automata.out_of_range == Some(OutOfRange::Disable);
            Ok(Some(Timed { name: name.to_owned(), source: joined.text, network, names, warnings }))
        }
        Err(diagnostics) => {
            let Some(first) = diagnostics.first().and_then(|error| error.span.as_ref()) else {
                return Err(refused(name, joined.text, diagnostics));
            };
            // One text at a time: what is wrong with the first may be why there are others.
            let (wrong, _) = joined.place(first.range.start);
            let own = diagnostics.into_iter().filter_map(|mut error| {
                if let Some(span) = &mut error.span {
                    let (text, start) = joined.place(span.range.start);
                    span.range = start..start + span.range.len();
                    if text != wrong {
                        return None;
                    }
                }
                Some(error)
            });
            let own = own.collect();
            Err(match wrong {
                None => refused(name, source, own),
                Some(number) => refused(&files[number], observers.swap_remove(number), own),
            })
        }
    }
}

fn refused(name: &str, source: String, diagnostics: Vec<Diagnostic>) -> Failure {
    Failure { origin: name.to_owned(), source: Some(source), diagnostics, ..Failure::usage("") }
}

impl Timed {
    /// The model to be explored for a purpose, with warnings about that.
    pub(crate) fn model(
        &self,
        reading: &ReadingArgs,
        purpose: &Purpose,
    ) -> Result<(TimedModel, Vec<Diagnostic>), Failure> {
        self.plain_model(&self.options(reading, purpose)?)
    }

    fn plain_model(&self, options: &Options) -> Result<(TimedModel, Vec<Diagnostic>), Failure> {
        TimedModel::new(&self.name, &self.source, self.network.clone(), self.names.clone(), options)
            .map_err(|diagnostics| refused(&self.name, self.source.clone(), diagnostics))
    }

    /// The same for any purpose: formulas about whole runs have a model of their own.
    pub(crate) fn any_model(
        &self,
        reading: &ReadingArgs,
        purpose: &Purpose,
        zeno: Option<Zeno>,
    ) -> Result<(Box<dyn Model>, Vec<Diagnostic>), Failure> {
        let options = Options { non_zeno: zeno == Some(Zeno::Excluded), ..self.options(reading, purpose)? };
        let Some(text) = &purpose.runs else {
            let (model, warnings) = self.plain_model(&options)?;
            return Ok((Box::new(model), warnings));
        };
        let formula = Formula::read(&self.names, &self.network, text)?;
        let made =
            LivenessModel::new(&self.name, &self.source, &self.network, &self.names, &options, &formula);
        match made {
            Ok((model, warnings)) => Ok((Box::new(model), warnings)),
            Err(diagnostics) => Err(refused(&self.name, self.source.clone(), diagnostics)),
        }
    }

    /// How the model is explored for a purpose.
    pub(crate) fn options(&self, reading: &ReadingArgs, purpose: &Purpose) -> Result<Options, Failure> {
        let mut conditions = purpose.conditions.clone();
        // A list of labels is no condition; if it is neither, the search will say so.
        let is_condition = |text: &&String| self.names.condition(&self.network, text).is_ok();
        conditions.extend(purpose.doubtful.iter().filter(is_condition).cloned());
        for text in purpose.conditions.iter().filter(|text| *text != TIMELOCK) {
            if let Err(error) = self.names.condition(&self.network, text) {
                return Err(Failure { source: Some(text.clone()), ..Failure::from(error) });
            }
        }
        Ok(Options {
            extrapolation: reading.timed_automata.extrapolation.map(|how| match how {
                ExtrapolationArg::None => Extrapolation::None,
                ExtrapolationArg::M => Extrapolation::M,
                ExtrapolationArg::MPlus => Extrapolation::MPlus,
                ExtrapolationArg::Lu => Extrapolation::Lu,
                ExtrapolationArg::LuPlus => Extrapolation::LuPlus,
            }),
            cover: match reading.timed_automata.cover {
                Some(CoverArg::Alu) => Cover::Alu,
                _ => Cover::Inclusion,
            },
            elapsed: !reading.timed_automata.delay_first,
            conditions,
            deadlock: purpose.deadlock,
            non_zeno: false,
            accepting: purpose.doubtful.clone(),
            keep_dead: reading.keep_dead,
            ..Options::default()
        })
    }

    /// The queries of the model: its own, or those of a file of the same name beside it.
    pub(crate) fn queries(&self) -> Result<Vec<QueryText>, Failure> {
        if !self.network.queries.is_empty() {
            return Ok(self.network.queries.clone());
        }
        let beside = Path::new(&self.name).with_extension("q");
        if self.name == "-" || !beside.is_file() {
            return Ok(Vec::new());
        }
        query_file(&beside.display().to_string())
    }
}

/// The queries of a file.
pub(crate) fn query_file(path: &str) -> Result<Vec<QueryText>, Failure> {
    let text = String::from_utf8_lossy(&bytes(path)?).into_owned();
    uppaal::query_file(&text).map_err(|diagnostic| Failure {
        source: Some(text.clone()),
        ..Failure::from(diagnostic).in_file(path)
    })
}
