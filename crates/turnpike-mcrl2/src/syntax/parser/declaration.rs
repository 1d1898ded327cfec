//! Sections and declarations. After an error, parsing continues after the next `;` or at the next
//! section.

use turnpike_model::Diagnostic;

use super::super::specification::{
    ActionDeclaration, Equation, FunctionDeclaration, Init, ProcessDeclaration, Section, SortDeclaration,
};
use super::super::symbol::Span;
use super::super::tree::Variable;
use super::{Kind, MOST_ERRORS, Parsed, Parser};

impl Parser<'_> {
    /// All sections.
    pub(super) fn sections(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut init: Option<Span> = None;
        while self.kind() != Kind::End && self.diagnostics.len() < MOST_ERRORS {
            if !self.kind().starts_section() {
                let error = self.no_section();
                self.recover(*error);
                continue;
            }
            sections.extend(self.section(&mut init));
        }
        if init.is_none() && self.diagnostics.len() < MOST_ERRORS {
            let end = self.source.len();
            self.diagnostics.push(
                Diagnostic::error("the specification has no `init`")
                    .at(end..end, "expected before the end")
                    .help("add `init P;`, where P is the initial process"),
            );
        }
        sections
    }

    /// The sections before a formula: declarations of sorts, functions and actions.
    pub(super) fn declaration_sections(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        while self.kind().starts_section() && self.diagnostics.len() < MOST_ERRORS {
            if matches!(self.kind(), Kind::ProcKeyword | Kind::InitKeyword | Kind::GlobKeyword) {
                let error = self.unexpected("`sort`, `cons`, `map`, `var`, `eqn`, `act` or `form`");
                self.bump();
                self.recover(*error);
                continue;
            }
            sections.extend(self.section(&mut None));
        }
        sections
    }

    /// Parses a section. `init` is the position of the first initial process.
    fn section(&mut self, init: &mut Option<Span>) -> Option<Section> {
        let (keyword, kind) = (self.span(), self.kind());
        self.bump();
        Some(match kind {
            Kind::SortKeyword => Section::Sorts(self.declarations(keyword, Self::sort_declaration)),
            Kind::ConsKeyword => {
                Section::Constructors(self.declarations(keyword, |parser| parser.function("a constructor")))
            }
            Kind::MapKeyword => Section::Maps(self.declarations(keyword, |parser| parser.function("a map"))),
            Kind::GlobKeyword => Section::Globals(self.variable_declarations(keyword)),
            Kind::VarKeyword => {
                let variables = self.variable_declarations(keyword);
                let here = self.span();
                if !self.accept(Kind::EqnKeyword) {
                    let mut error = self.unexpected("`eqn` after `var`");
                    error.help = Some("variables belong to the equations that follow them".to_owned());
                    self.report(*error, here);
                }
                Section::Equations { variables, equations: self.declarations(here, Self::equation) }
            }
            Kind::EqnKeyword => Section::Equations {
                variables: Vec::new(),
                equations: self.declarations(keyword, Self::equation),
            },
            Kind::ActKeyword => Section::Actions(self.declarations(keyword, Self::action_declaration)),
            Kind::ProcKeyword => Section::Processes(self.declarations(keyword, Self::process_declaration)),
            _ => {
                if let Some(first) = *init {
                    self.second_init(keyword, first);
                }
                *init = init.or(Some(keyword));
                match self.init(keyword) {
                    Ok(init) => Section::Init(init),
                    Err(error) => {
                        self.recover(*error);
                        return None;
                    }
                }
            }
        })
    }

    fn no_section(&self) -> Box<Diagnostic> {
        let expected = "a section: `sort`, `cons`, `map`, `var`, `eqn`, `glob`, `act`, `proc` or `init`";
        self.unexpected(expected)
    }

    fn second_init(&mut self, keyword: Span, first: Span) {
        let line = self.source[..first.range().start].matches('\n').count() + 1;
        let error = Diagnostic::error("a specification has only one `init`")
            .at(keyword.range(), "the second one")
            .help(format!("the first one is on line {line}"));
        self.report(error, keyword);
    }

    /// One or more declarations, up to the next section.
    fn declarations<T>(&mut self, keyword: Span, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Vec<T> {
        let mut all = Vec::new();
        if self.at_section() || self.kind() == Kind::End {
            let error = Diagnostic::error(format!("the section `{}` is empty", self.text(keyword)))
                .at(keyword.range(), "")
                .help("add a declaration or remove the word");
            self.report(error, keyword);
        }
        while !self.at_section()
            && self.kind() != Kind::End
            && !self.is_word("form")
            && self.diagnostics.len() < MOST_ERRORS
        {
            match one(self) {
                Ok(declaration) => all.push(declaration),
                Err(error) => self.recover(*error),
            }
        }
        all
    }

    /// Reports an error and continues after the next `;` or at the next section.
    fn recover(&mut self, error: Diagnostic) {
        let mut first = self.position;
        while first > 0 {
            let before = self.tokens[first - 1].kind;
            if before == Kind::Semicolon || before.starts_section() {
                break;
            }
            first -= 1;
        }
        // Keywords at the error end the declaration. Everything else is skipped.
        while !matches!(self.kind(), Kind::Semicolon | Kind::End) && !self.at_section() {
            self.bump();
        }
        let end = if self.kind() == Kind::Semicolon { self.bump().end } else { self.span().start };
        self.report(error, Span::new(self.tokens[first].span.start, end));
    }

    /// Parses the `;` after a declaration. If it was clearly forgotten, that is reported and the
    /// declaration kept.
    fn end_of_declaration(&mut self, start: Span, expected: &str) -> Parsed<Span> {
        let whole = start.to(self.previous());
        if self.accept(Kind::Semicolon) {
            return Ok(whole);
        }
        let kind = self.kind();
        let between = &self.source[self.previous().range().end..self.span().range().start];
        let new_declaration = kind == Kind::Identifier
            && between.contains(['\n', '\r'])
            && matches!(
                self.peek(1),
                Kind::Is | Kind::Colon | Kind::Comma | Kind::OpenParen | Kind::Semicolon
            );
        if kind == Kind::End || self.at_section() || new_declaration {
            let error = Diagnostic::error("a `;` is missing after this declaration")
                .at(self.previous().range(), "`;` expected after this")
                .help("every declaration ends with `;`");
            self.report(error, whole);
            return Ok(whole);
        }
        Err(self.unexpected(expected))
    }

    fn sort_declaration(&mut self) -> Parsed<SortDeclaration> {
        let start = self.span();
        let names = self.names("a sort")?;
        if let [name] = names[..]
            && self.accept(Kind::Is)
        {
            let sort = self.sort()?;
            let span = self.end_of_declaration(start, "`;`")?;
            return Ok(SortDeclaration::Alias { name, sort, span });
        }
        let expected = if names.len() == 1 { "`,`, `=` or `;`" } else { "`,` or `;`" };
        if self.kind() == Kind::Is {
            let error = Diagnostic::error("only one sort can be defined at a time")
                .at(self.span().range(), "")
                .help("give each sort a definition of its own");
            return Err(Box::new(error));
        }
        let span = self.end_of_declaration(start, expected)?;
        Ok(SortDeclaration::Basic { names: names.into(), span })
    }

    fn function(&mut self, role: &str) -> Parsed<FunctionDeclaration> {
        let start = self.span();
        let names = self.names(role)?.into();
        self.expect(Kind::Colon, "`,` or `:` and a sort")?;
        let sort = self.sort()?;
        let span = self.end_of_declaration(start, "`;`")?;
        Ok(FunctionDeclaration { names, sort, span })
    }

    fn variable_declarations(&mut self, keyword: Span) -> Vec<Variable> {
        let lists = self.declarations(keyword, |parser| {
            let start = parser.span();
            let mut variables = Vec::new();
            parser.variables("a variable", &mut variables)?;
            parser.end_of_declaration(start, "`,` or `;`")?;
            Ok(variables)
        });
        lists.into_iter().flatten().collect()
    }

    fn equation(&mut self) -> Parsed<Equation> {
        let start = self.span();
        let first = self.data()?;
        let (condition, left) =
            if self.accept(Kind::Arrow) { (Some(first), self.data()?) } else { (None, first) };
        if !self.accept(Kind::Is) {
            let mut error = self.unexpected("`=` and the right side of the equation");
            if self.kind() == Kind::Semicolon {
                error.help = Some("the sides of an equation are separated by `=`, not by `==`".to_owned());
            }
            return Err(error);
        }
        let right = self.data()?;
        let span = self.end_of_declaration(start, "`;` or an operator")?;
        Ok(Equation { condition, left, right, span })
    }

    fn action_declaration(&mut self) -> Parsed<ActionDeclaration> {
        let start = self.span();
        let names = self.names("an action")?.into();
        let (sorts, expected) = if self.accept(Kind::Colon) {
            (self.sort_product()?, "`#` or `;`")
        } else {
            (Box::default(), "`,`, `:` or `;`")
        };
        let span = self.end_of_declaration(start, expected)?;
        Ok(ActionDeclaration { names, sorts, span })
    }

    fn process_declaration(&mut self) -> Parsed<ProcessDeclaration> {
        let start = self.span();
        let name = self.name("a process")?;
        let mut parameters = Vec::new();
        if self.accept(Kind::OpenParen) {
            self.variables("a parameter", &mut parameters)?;
            self.expect(Kind::CloseParen, "`,` or `)` after the parameters")?;
        }
        if self.kind() == Kind::Equal {
            let error = Diagnostic::error("a process is defined with `=`, not with `==`");
            return Err(Box::new(error.at(self.span().range(), "").help("write `=`")));
        }
        self.expect(Kind::Is, "`=` and what the process does")?;
        let body = self.process()?;
        let span = self.end_of_declaration(start, "`;` or an operator")?;
        Ok(ProcessDeclaration { name, parameters: parameters.into(), body, span })
    }

    fn init(&mut self, keyword: Span) -> Parsed<Init> {
        let process = self.process()?;
        let span = self.end_of_declaration(keyword, "`;` or an operator")?;
        Ok(Init { process, span })
    }
}
