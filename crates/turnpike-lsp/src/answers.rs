//! Answers to an editor's questions, read off an analysis.

use std::collections::HashMap;

use lsp_types::{
    CodeLens, Command, CompletionItem, CompletionItemKind, Diagnostic as Shown, DiagnosticSeverity,
    DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind, SymbolKind, TextEdit, Uri,
    WorkspaceEdit,
};
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::Severity;

use crate::analysis::{Analysis, Kind, Language, Symbol};
use crate::text::Text;

/// An open document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) language: Language,
    pub(crate) text: Text,
    pub(crate) analysis: Analysis,
    /// The specification that a formula is about.
    pub(crate) related: Option<Related>,
}

/// A text that another one is about.
#[derive(Debug)]
pub(crate) struct Related {
    pub(crate) uri: Uri,
    pub(crate) text: Text,
}

impl Document {
    pub(crate) fn new(language: Language, content: String, related: Option<Related>) -> Document {
        let text = Text::new(content);
        let mut document = Document { language, text, analysis: Analysis::default(), related };
        document.analyse();
        document
    }

    pub(crate) fn analyse(&mut self) {
        self.analysis = self.language.analyse(&self.text.content, self.related_text());
    }

    /// All that can be said about the text.
    pub(crate) fn check(&self) -> Vec<Diagnostic> {
        self.language.check(&self.text.content, self.related_text())
    }

    fn related_text(&self) -> Option<&str> {
        self.related.as_ref().map(|related| related.text.content.as_str())
    }

    /// Diagnostics as an editor shows them.
    pub(crate) fn show(&self, diagnostics: &[Diagnostic]) -> Vec<Shown> {
        diagnostics.iter().map(|one| self.show_one(one)).collect()
    }

    fn show_one(&self, diagnostic: &Diagnostic) -> Shown {
        let range = match (&diagnostic.span, diagnostic.line) {
            (Some(span), _) => span.range.clone(),
            (None, Some(line)) => self.text.line(line),
            (None, None) => 0..0,
        };
        let mut message = diagnostic.message.clone();
        let notes = diagnostic.span.iter().map(|span| span.note.as_str()).chain(diagnostic.help.as_deref());
        for note in notes.filter(|note| !note.is_empty()) {
            message.push('\n');
            message.push_str(note);
        }
        let severity = match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        Shown {
            range: self.text.place(&range),
            severity: Some(severity),
            source: Some("turnpike".to_owned()),
            message,
            ..Shown::default()
        }
    }

    fn symbol_at(&self, offset: usize) -> Option<usize> {
        self.analysis.use_at(offset).map(|one| one.symbol)
    }

    pub(crate) fn hover(&self, offset: usize) -> Option<Hover> {
        let found = self.analysis.use_at(offset)?;
        let detail = &self.analysis.symbols[found.symbol].detail;
        let contents = MarkupContent { kind: MarkupKind::Markdown, value: format!("```\n{detail}\n```") };
        Some(Hover { contents: HoverContents::Markup(contents), range: Some(self.text.place(&found.range)) })
    }

    pub(crate) fn definition(&self, uri: &Uri, offset: usize) -> Option<Location> {
        self.declaration(uri, self.symbol_at(offset)?)
    }

    /// Where a symbol is declared.
    fn declaration(&self, uri: &Uri, symbol: usize) -> Option<Location> {
        let symbol = &self.analysis.symbols[symbol];
        Some(match symbol.elsewhere {
            false => Location::new(uri.clone(), self.text.place(&symbol.range)),
            true => {
                let related = self.related.as_ref()?;
                Location::new(related.uri.clone(), related.text.place(&symbol.range))
            }
        })
    }

    pub(crate) fn references(&self, uri: &Uri, offset: usize, declaration: bool) -> Vec<Location> {
        let Some(symbol) = self.symbol_at(offset) else { return Vec::new() };
        let here = !self.analysis.symbols[symbol].elsewhere;
        let places = self.analysis.places(symbol).into_iter().skip(usize::from(here));
        let places = places.map(|range| Location::new(uri.clone(), self.text.place(&range)));
        self.declaration(uri, symbol).filter(|_| declaration).into_iter().chain(places).collect()
    }

    /// The edits that rename what stands here; an error if the text would then mean something else.
    // The protocol's own type: `Uri` keys are not changed while they are in the map.
    #[allow(clippy::mutable_key_type)]
    pub(crate) fn rename(&self, uri: &Uri, offset: usize, new: &str) -> Result<WorkspaceEdit, String> {
        let symbol = self.symbol_at(offset).ok_or("there is no name here")?;
        if self.analysis.symbols[symbol].elsewhere {
            return Err(
                "this is declared in the specification, which renaming here does not change".to_owned()
            );
        }
        let starts_well = new.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if !starts_well || !new.chars().all(|one| one.is_alphanumeric() || one == '_' || one == '\'') {
            return Err(format!("`{new}` is not a name"));
        }
        if self.analysis.keywords.contains(&new) {
            return Err(format!("`{new}` is a word of the language"));
        }
        let mut places = self.analysis.places(symbol);
        places.sort_by_key(|range| range.start);
        let mut renamed = self.text.content.clone();
        for range in places.iter().rev() {
            renamed.replace_range(range.clone(), new);
        }
        let after = self.language.analyse(&renamed, self.related_text());
        if !self.means_the_same(&after) {
            return Err(format!("`{new}` would mean something else somewhere: choose another name"));
        }
        let edits =
            places.iter().map(|range| TextEdit::new(self.text.place(range), new.to_owned())).collect();
        Ok(WorkspaceEdit::new(HashMap::from([(uri.clone(), edits)])))
    }

    /// Whether every name of another analysis means what it means in this one.
    fn means_the_same(&self, after: &Analysis) -> bool {
        let own = self.analysis.uses.iter().map(|one| one.symbol);
        let errors = |all: &[Diagnostic]| all.iter().filter(|one| one.severity == Severity::Error).count();
        errors(&self.analysis.diagnostics) == errors(&after.diagnostics)
            && self.analysis.symbols.len() == after.symbols.len()
            && own.eq(after.uses.iter().map(|one| one.symbol))
    }

    pub(crate) fn completions(&self, offset: usize) -> Vec<CompletionItem> {
        let item = |label: &str, kind, detail| CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail,
            ..CompletionItem::default()
        };
        let visible = self.analysis.visible(offset);
        let names =
            visible.iter().map(|one| item(&one.name, completion_kind(one.kind), Some(one.detail.clone())));
        let keywords =
            self.analysis.keywords.iter().map(|word| item(word, CompletionItemKind::KEYWORD, None));
        names.chain(keywords).collect()
    }

    #[allow(deprecated, reason = "the protocol's type has a field of old versions")]
    pub(crate) fn outline(&self) -> Vec<DocumentSymbol> {
        let listed = |one: &&Symbol| !matches!(one.kind, Kind::Variable | Kind::Name) || one.scope.is_none();
        let symbols = self.analysis.symbols.iter().filter(listed).filter(|one| !one.elsewhere);
        symbols
            .map(|one| DocumentSymbol {
                name: one.name.clone(),
                detail: Some(one.detail.clone()),
                kind: symbol_kind(one.kind),
                tags: None,
                deprecated: None,
                range: self.text.place(&one.whole),
                selection_range: self.text.place(&one.range),
                children: None,
            })
            .collect()
    }

    /// "Search for …" above the initial process.
    pub(crate) fn lenses(&self, uri: &Uri) -> Vec<CodeLens> {
        let Some(init) = self.analysis.symbols.iter().find(|one| one.kind == Kind::Init) else {
            return Vec::new();
        };
        let range = self.text.place(&init.range);
        let actions = self.analysis.symbols.iter().filter(|one| one.kind == Kind::Action);
        let telling =
            |one: &&Symbol| ["error", "fail", "wrong", "bad"].iter().any(|part| one.name.contains(part));
        let goals = actions.filter(telling).map(|one| format!("action {}", one.name));
        let lens = |goal: String| CodeLens {
            range,
            command: Some(Command {
                title: format!("Search for {goal}"),
                command: "turnpike.search".to_owned(),
                arguments: Some(vec![uri.as_str().into(), goal.into()]),
            }),
            data: None,
        };
        std::iter::once("deadlock".to_owned()).chain(goals).map(lens).collect()
    }

    /// The edits that tidy the text.
    pub(crate) fn format(&self) -> Vec<TextEdit> {
        let tidy = crate::layout::format(self.language, &self.text.content);
        if tidy == self.text.content {
            return Vec::new();
        }
        vec![TextEdit::new(self.text.place(&(0..self.text.content.len())), tidy)]
    }
}

fn completion_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Sort => CompletionItemKind::CLASS,
        Kind::Constructor => CompletionItemKind::ENUM_MEMBER,
        Kind::Function => CompletionItemKind::FUNCTION,
        Kind::Action => CompletionItemKind::EVENT,
        Kind::Process | Kind::Init => CompletionItemKind::MODULE,
        Kind::Variable => CompletionItemKind::VARIABLE,
        Kind::Name => CompletionItemKind::TEXT,
    }
}

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Sort => SymbolKind::CLASS,
        Kind::Constructor => SymbolKind::ENUM_MEMBER,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Action => SymbolKind::EVENT,
        Kind::Process | Kind::Init => SymbolKind::MODULE,
        Kind::Variable | Kind::Name => SymbolKind::VARIABLE,
    }
}
