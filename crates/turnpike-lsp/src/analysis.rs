//! What is known of a text, whatever its language.

use std::ops::Range;

use turnpike_model::Diagnostic;

use crate::{formula, mcrl2, timed};

/// A language that the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// mCRL2 specifications.
    Mcrl2,
    /// Formulas about them and other systems: `.mcf`.
    Formula,
    /// Timed automata as TChecker reads them.
    Tck,
    /// Timed automata as UPPAAL writes them in text: `.xta` and `.ta`.
    Uppaal,
}

/// A text with what is known of it.
#[derive(Debug, Default)]
pub struct Analysis {
    /// What is wrong with it, or suspicious.
    pub diagnostics: Vec<Diagnostic>,
    /// What is declared in it, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Where names stand, their declarations included, in the order of the text.
    pub uses: Vec<Use>,
    /// The words that mean something by themselves.
    pub keywords: &'static [&'static str],
}

/// Something that is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Where its name is declared.
    pub range: Range<usize>,
    /// The whole declaration, which contains `range`.
    pub whole: Range<usize>,
    /// Its sort, or its declaration, in words of the language.
    pub detail: String,
    /// Where it can be used; everywhere if `None`.
    pub scope: Option<Range<usize>>,
    /// Whether it is declared in the related text, in which its ranges stand.
    pub elsewhere: bool,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sort or type.
    Sort,
    /// A constructor.
    Constructor,
    /// A function or constant.
    Function,
    /// An action, event or channel.
    Action,
    /// A process or template.
    Process,
    /// A variable, parameter or clock.
    Variable,
    /// The initial process or the system.
    Init,
    /// A name whose kind is not known.
    Name,
}

/// A name in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Where it stands.
    pub range: Range<usize>,
    /// Which of [`Analysis::symbols`] it means.
    pub symbol: usize,
}

impl Language {
    /// The language of a file by its name.
    pub fn of_file(name: &str) -> Option<Language> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension {
            "mcrl2" => Language::Mcrl2,
            "mcf" => Language::Formula,
            "tck" => Language::Tck,
            "xta" | "ta" => Language::Uppaal,
            _ => return None,
        })
    }

    /// Reads a text: quick enough for every keystroke. A formula is about the specification in
    /// `related`, if that is known.
    pub fn analyse(self, text: &str, related: Option<&str>) -> Analysis {
        match self {
            Language::Mcrl2 => mcrl2::analyse(text),
            Language::Formula => formula::analyse(text, related),
            Language::Tck | Language::Uppaal => timed::analyse(self, text),
        }
    }

    /// All that `turnpike check` says of a text: may take longer.
    pub fn check(self, text: &str, related: Option<&str>) -> Vec<Diagnostic> {
        match self {
            Language::Mcrl2 => mcrl2::check(text),
            Language::Formula => formula::check(text, related),
            Language::Tck | Language::Uppaal => timed::check(self, text),
        }
    }
}

impl Analysis {
    /// The use at this place, or just before it.
    pub fn use_at(&self, offset: usize) -> Option<&Use> {
        let inside = |one: &&Use| one.range.start <= offset && offset <= one.range.end;
        // Where two names meet, the one that begins here is meant.
        self.uses.iter().rfind(inside)
    }

    /// All places of this text where a symbol stands, its declaration first if it is here.
    pub fn places(&self, symbol: usize) -> Vec<Range<usize>> {
        let Symbol { range: declared, elsewhere, .. } = &self.symbols[symbol];
        let used = self.uses.iter().filter(|one| one.symbol == symbol).map(|one| one.range.clone());
        let mut places: Vec<Range<usize>> = used.filter(|range| *elsewhere || range != declared).collect();
        if !elsewhere {
            places.insert(0, declared.clone());
        }
        places
    }

    /// The symbols that can be used at this place, the innermost first.
    pub fn visible(&self, offset: usize) -> Vec<&Symbol> {
        let here = |one: &&Symbol| one.scope.as_ref().is_none_or(|scope| scope.contains(&offset));
        let mut visible: Vec<&Symbol> = self.symbols.iter().filter(here).collect();
        visible.sort_by_key(|one| (one.scope.is_none(), one.name.clone()));
        visible.dedup_by(|one, other| one.name == other.name);
        visible
    }
}
