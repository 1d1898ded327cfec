//! Timed automata: TChecker and UPPAAL files, with observers and queries.

use std::path::Path;
use std::sync::Arc;

use turnpike_model::Diagnostic;
use turnpike_timed::explore::{Cover, Options, TIMELOCK, TimedModel};
use turnpike_timed::liveness::{Formula, LivenessModel};
use turnpike_timed::network::{Network, QueryText};
use turnpike_timed::observe::{self, Joined};
use turnpike_timed::query::Names;
use turnpike_timed::uppaal;
use turnpike_timed::zone::Extrapolation;

use crate::front_end::{FrontEnd, Read};
use crate::problem::Problem;
use crate::purpose::Purpose;
use crate::session::Document;
use crate::source::{Covering, Location, OutOfRange, Reading};
use crate::zeno::Zeno;

/// A phrase for these models, in the singular and in the plural.
pub(crate) const CALLED: (&str, &str) = ("a timed automaton", "timed automata");

/// Options for timed automata.
const OPTIONS: &[&str] = &["keep-dead", "extrapolation", "delay-first", "out-of-range", "observer"];

pub(crate) static TCK: FrontEnd = FrontEnd {
    name: "tck",
    doc: "TChecker timed automata",
    extensions: &[".tck"],
    options: OPTIONS,
    called: CALLED,
    read: Read::Document(|location, reading| open(location, reading, Language::Tck)),
};

pub(crate) static XML: FrontEnd = FrontEnd {
    name: "xml",
    doc: "UPPAAL timed automata, XML",
    extensions: &[".xml"],
    options: OPTIONS,
    called: CALLED,
    read: Read::Document(|location, reading| open(location, reading, Language::Uppaal(uppaal::Format::Xml))),
};

pub(crate) static XTA: FrontEnd = FrontEnd {
    name: "xta",
    doc: "UPPAAL timed automata, text; also the old syntax",
    extensions: &[".xta", ".ta"],
    options: OPTIONS,
    called: CALLED,
    read: Read::Document(|location, reading| open(location, reading, Language::Uppaal(uppaal::Format::Xta))),
};

/// The languages of timed automata.
enum Language {
    Tck,
    Uppaal(uppaal::Format),
}

fn open(location: &Location, reading: &Reading, language: Language) -> Result<Document, Problem> {
    Ok(Document::Timed(Box::new(Timed::read(location, language, reading)?)))
}

/// A parsed timed model, independent of a purpose.
pub struct Timed {
    /// Its name.
    pub name: String,
    /// Its text and those of its observers.
    pub source: String,
    /// The automata.
    pub network: Network,
    /// The names that queries use.
    pub names: Names,
    /// Warnings about its text.
    pub warnings: Vec<Diagnostic>,
    /// The location of the model, for finding its queries.
    location: Location,
}

/// The model of timed automata for a purpose.
pub(crate) enum AnyModel {
    /// Their zone graph.
    Zones(Arc<TimedModel>),
    /// The runs for a formula.
    Runs(Arc<LivenessModel>),
}

impl Timed {
    fn read(location: &Location, language: Language, reading: &Reading) -> Result<Self, Problem> {
        let source = location.read_text()?;
        let name = location.to_string();
        let settings = reading.split_settings()?;
        let files = &reading.timed_automata.observers;
        let mut observers = Vec::new();
        for file in files {
            observers.push(Location::from(file.as_str()).read_text()?);
        }
        let outcome = match language {
            Language::Tck => {
                if let Some((setting, _)) = settings.first() {
                    let error = Diagnostic::error(format!(
                        "{name} has no constants to set, but got a value for `{setting}`"
                    ));
                    return Err(error.help("only UPPAAL files have constants").into());
                }
                observe::tck(&source, &observers).map(|(network, warnings)| {
                    let names = Names::of(&network);
                    (network, names, warnings)
                })
            }
            Language::Uppaal(format) => observe::uppaal(&source, format, &settings, &observers),
        };
        // Positions beyond the text of the model are in an observer. Traces belong to the model
        // with its observers.
        let joined = Joined::new(&source, &observers);
        match outcome {
            Ok((mut network, names, warnings)) => {
                network.out_of_range_disables = reading.timed_automata.out_of_range == OutOfRange::Disable;
                let (source, location) = (joined.text, location.clone());
                Ok(Timed { name, source, network, names, warnings, location })
            }
            Err(diagnostics) => {
                let Some(first) = diagnostics.first().and_then(|error| error.span.as_ref()) else {
                    return Err(Problem::of_text(&name, joined.text, diagnostics));
                };
                // Report one text at a time, because errors in the first may cause the others.
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
                    None => Problem::of_text(&name, source, own),
                    Some(number) => Problem::of_text(&files[number], observers.swap_remove(number), own),
                })
            }
        }
    }

    /// The model for a purpose, with warnings about its exploration.
    pub fn model(
        &self,
        reading: &Reading,
        purpose: &Purpose,
    ) -> Result<(TimedModel, Vec<Diagnostic>), Problem> {
        self.plain_model(&self.options(reading, purpose)?)
    }

    fn plain_model(&self, options: &Options) -> Result<(TimedModel, Vec<Diagnostic>), Problem> {
        TimedModel::new(&self.name, &self.source, self.network.clone(), self.names.clone(), options)
            .map_err(|diagnostics| Problem::of_text(&self.name, self.source.clone(), diagnostics))
    }

    /// The model with a finer time unit, so that the fractions in questions become whole; `None` if
    /// they are.
    pub(crate) fn refined(&self, reading: &Reading, questions: &[&str]) -> Result<Option<Timed>, Problem> {
        let settings = reading.split_settings()?;
        let Some(refined) = self.names.refined(&self.network, &settings, questions) else { return Ok(None) };
        let (mut network, names) =
            refined.map_err(|diagnostics| Problem::of_text(&self.name, self.source.clone(), diagnostics))?;
        network.out_of_range_disables = self.network.out_of_range_disables;
        Ok(Some(Timed {
            name: self.name.clone(),
            source: self.source.clone(),
            network,
            names,
            warnings: self.warnings.clone(),
            location: self.location.clone(),
        }))
    }

    /// The locations of all processes as in conditions: `P(1).critical`.
    pub fn location_names(&self) -> Vec<String> {
        let of = |process: &turnpike_timed::network::Process| {
            let name =
                |location: &turnpike_timed::network::Location| format!("{}.{}", process.name, location.name);
            process.locations.iter().map(name).collect::<Vec<_>>()
        };
        self.network.processes.iter().flat_map(of).collect()
    }

    /// As [`Timed::model`], for any purpose: formulas about whole runs have a model of their own.
    pub(crate) fn any_model(
        &self,
        reading: &Reading,
        purpose: &Purpose,
        zeno: Option<Zeno>,
    ) -> Result<(AnyModel, Vec<Diagnostic>), Problem> {
        let options = Options { non_zeno: zeno == Some(Zeno::Excluded), ..self.options(reading, purpose)? };
        let Some(text) = &purpose.runs else {
            let (model, warnings) = self.plain_model(&options)?;
            return Ok((AnyModel::Zones(Arc::new(model)), warnings));
        };
        let formula = Formula::read(&self.names, &self.network, text)?;
        let made =
            LivenessModel::new(&self.name, &self.source, &self.network, &self.names, &options, &formula);
        match made {
            Ok((model, warnings)) => Ok((AnyModel::Runs(Arc::new(model)), warnings)),
            Err(diagnostics) => Err(Problem::of_text(&self.name, self.source.clone(), diagnostics)),
        }
    }

    /// The exploration options for a purpose.
    pub fn options(&self, reading: &Reading, purpose: &Purpose) -> Result<Options, Problem> {
        let mut conditions = purpose.conditions.clone();
        // A list of labels is not a condition. If a text is neither, the search will report that.
        let is_condition = |text: &&String| self.names.condition(&self.network, text).is_ok();
        conditions.extend(purpose.doubtful.iter().filter(is_condition).cloned());
        for text in purpose.conditions.iter().filter(|text| *text != TIMELOCK) {
            if let Err(error) = self.names.condition(&self.network, text) {
                return Err(Problem::from(error).in_text(text));
            }
        }
        Ok(Options {
            extrapolation: reading.timed_automata.extrapolation.map(Extrapolation::from),
            cover: match reading.timed_automata.cover {
                Covering::Alu => Cover::Alu,
                Covering::None | Covering::Inclusion => Cover::Inclusion,
            },
            elapsed: !reading.timed_automata.delay_first,
            conditions,
            deadlock: purpose.deadlock,
            non_zeno: false,
            accepting: purpose.doubtful.clone(),
            keep_dead: reading.keep_dead,
            settings: reading.split_settings()?,
            exact: purpose.exact,
            ..Options::default()
        })
    }

    /// The queries of the model: its own, or those in a file with the same name next to it.
    pub fn queries(&self) -> Result<Vec<QueryText>, Problem> {
        if !self.network.queries.is_empty() {
            return Ok(self.network.queries.clone());
        }
        let Location::File(path) = &self.location else { return Ok(Vec::new()) };
        let beside = Path::new(path).with_extension("q");
        if beside.is_file() { read_queries(&beside.display().to_string()) } else { Ok(Vec::new()) }
    }
}

/// The queries of a file.
pub fn read_queries(path: &str) -> Result<Vec<QueryText>, Problem> {
    let text = Location::from(path).read_text()?;
    uppaal::query_file(&text)
        .map_err(|diagnostic| Problem::from(diagnostic).in_file(path).in_text(text.clone()))
}
