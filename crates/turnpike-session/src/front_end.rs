//! The input languages, one row each.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use turnpike_model::{Diagnostic, Model};

use crate::problem::Problem;
use crate::session::Document;
use crate::source::{Location, Reading};
use crate::{explicit, specification, timed};

/// All input languages. A new one needs a line here, and its own crate.
pub static FRONT_ENDS: &[&FrontEnd] =
    &[&explicit::AUT, &specification::MCRL2, &timed::TCK, &timed::XML, &timed::XTA];

/// An input language.
pub struct FrontEnd {
    /// The name in requests.
    pub name: &'static str,
    /// A description of its files.
    pub doc: &'static str,
    /// The extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// The options of [`Reading`] that only some languages support, including this one.
    pub(crate) options: &'static [&'static str],
    /// A phrase for its models, in the singular and in the plural.
    pub(crate) called: (&'static str, &'static str),
    pub(crate) read: Read,
}

/// The way to read a file.
pub(crate) enum Read {
    /// Parses its text to a model that serves every purpose.
    Text(ReadText),
    /// Reads it in a specific way.
    Document(fn(&Location, &Reading) -> Result<Document, Problem>),
}

/// Parses a text to a model.
pub type ReadText = fn(&SourceText<'_>) -> Result<Box<dyn Model>, Vec<Diagnostic>>;

/// A text to read.
pub struct SourceText<'a> {
    /// The name for the user.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// Names and values of settings.
    pub settings: &'a [(String, String)],
}

impl FrontEnd {
    /// A language whose models serve every purpose.
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        extensions: &'static [&'static str],
        read: ReadText,
    ) -> Self {
        let called = ("such a model", "such models");
        FrontEnd { name, doc, extensions, options: &[], called, read: Read::Text(read) }
    }

    /// The language of a file with this name.
    pub(crate) fn of_file(languages: &[&'static FrontEnd], path: &str) -> Option<&'static FrontEnd> {
        let lower = path.to_ascii_lowercase();
        let fits = |language: &&&FrontEnd| language.extensions.iter().any(|end| lower.ends_with(end));
        languages.iter().find(fits).copied()
    }

    pub(crate) fn open(&self, location: &Location, reading: &Reading) -> Result<Document, Problem> {
        let name = location.to_string();
        refuse_options_of_others(&name, reading, self.options)?;
        let read = match self.read {
            Read::Document(open) => return open(location, reading).map_err(|one| self.explain_other(one)),
            Read::Text(read) => read,
        };
        let (text, settings) = (location.read_text()?, reading.split_settings()?);
        match read(&SourceText { name: &name, text: &text, settings: &settings }) {
            Ok(model) => Ok(Document::Model { model: Arc::from(model), size: None }),
            Err(diagnostics) => Err(Problem::of_text(&name, text, diagnostics)),
        }
    }

    /// Names the language of a text that is in another one. Its first error is enough then.
    fn explain_other(&self, mut problem: Problem) -> Problem {
        let language = problem.source.as_deref().and_then(language_of);
        let Some(language) = language.filter(|language| *language != self.name) else { return problem };
        problem.diagnostics.truncate(1);
        let help = match language {
            BINARY => "the file is binary".to_owned(),
            _ => format!("the content seems to be in the format {language}; add the option `as` {language}"),
        };
        problem.diagnostics.iter_mut().for_each(|error| error.help = Some(help.clone()));
        problem
    }
}

/// Stands for the language of what is not text.
const BINARY: &str = "binary";

/// The name of the language that a text seems to be in, by the beginnings of its lines.
fn language_of(text: &str) -> Option<&'static str> {
    let begins = |words: &[&str]| {
        let mut lines = text.lines().map(str::trim_start);
        lines.any(|line| words.iter().any(|word| line.starts_with(word)))
    };
    let first = text.trim_start();
    match () {
        () if text.contains('\0') => Some(BINARY),
        () if first.starts_with('<') => Some(timed::XML.name),
        () if first.starts_with("des ") || first.starts_with("des(") => Some(explicit::AUT.name),
        () if begins(&["system:"]) && begins(&["process:"]) => Some(timed::TCK.name),
        () if begins(&["system "]) && begins(&["process "]) => Some(timed::XTA.name),
        () if begins(&["init "]) && begins(&["act ", "proc ", "sort "]) => Some(specification::MCRL2.name),
        () => None,
    }
}

/// Refuses options for other languages.
pub(crate) fn refuse_options_of_others(
    name: &str,
    reading: &Reading,
    understood: &[&str],
) -> Result<(), Problem> {
    for option in reading.all_given() {
        let understands = |language: &&&FrontEnd| language.options.contains(&option.as_str());
        let mut kinds: Vec<(&str, &str)> =
            FRONT_ENDS.iter().filter(understands).map(|one| one.called).collect();
        kinds.dedup();
        if kinds.is_empty() || understood.contains(&option.as_str()) {
            continue;
        }
        let many: Vec<&str> = kinds.iter().map(|(_, many)| *many).collect();
        let not = match kinds.as_slice() {
            [(one, _)] => format!("not {one}"),
            _ => "neither of these".to_owned(),
        };
        let many = many.join(" and ");
        return Err(Problem::new(format!("the option `{option}` is for {many}, but {name} is {not}")));
    }
    Ok(())
}

impl fmt::Debug for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// One of the input languages.
#[derive(Clone, Copy, Debug)]
pub struct Format(pub(crate) &'static FrontEnd);

impl Format {
    /// Explicit transition systems.
    pub const AUT: Format = Format(&explicit::AUT);
    /// mCRL2 specifications.
    pub const MCRL2: Format = Format(&specification::MCRL2);
    /// Every language with a description of its files.
    pub(crate) const WORDS: &'static [(&'static str, &'static str)] = {
        const COUNT: usize = FRONT_ENDS.len();
        const WORDS: [(&str, &str); COUNT] = {
            let mut words = [("", ""); COUNT];
            let mut index = 0;
            while index < COUNT {
                words[index] = (FRONT_ENDS[index].name, FRONT_ENDS[index].doc);
                index += 1;
            }
            words
        };
        &WORDS
    };

    /// The name in requests.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether it describes timed automata.
    pub fn is_timed(self) -> bool {
        self.0.called == timed::CALLED
    }

    pub(crate) fn from_word(text: &str) -> Result<Self, Diagnostic> {
        let known = FRONT_ENDS.iter().find(|language| language.name == text);
        known.map(|language| Format(language)).ok_or_else(|| {
            let names = FRONT_ENDS.iter().map(|language| language.name);
            Diagnostic::error(format!("there is no input format `{text}`")).suggest_or_list(
                text,
                names,
                "the input formats are",
            )
        })
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Format::from_word(&String::deserialize(input)?).map_err(de::Error::custom)
    }
}
