//! Whole XTA files, and the declarations after the templates in both formats.

use std::ops::Range;

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::query::one_line;
use super::super::tree::{Alphabet, Declaration, Identifier, Instantiation, Model, Query, System};
use super::declaration::Scope;
use super::{Failed, Parser, Reading};

/// Processes by priority, the lowest first, and the place of the line.
type SystemLine = (Vec<Vec<Identifier>>, Range<usize>);

/// The declarations of a text outside templates.
#[derive(Default)]
pub(in super::super) struct Parts {
    pub(in super::super) instantiations: Vec<Instantiation>,
    /// Declarations that templates do not see.
    pub(in super::super) declarations: Vec<Declaration>,
    pub(in super::super) system: Option<SystemLine>,
    /// The channels of processes.
    pub(in super::super) alphabets: Vec<Alphabet>,
}

impl Parts {
    /// Combines them with the system line.
    pub(in super::super) fn system(self, (levels, span): SystemLine) -> System {
        let Parts { declarations, instantiations, alphabets, .. } = self;
        System { declarations, instantiations, levels, span, alphabets }
    }
}

impl Parser<'_> {
    /// A whole XTA file. `source` is its text, for the queries in it.
    pub(in super::super) fn xta(&mut self, source: &str) -> Reading<Model> {
        let mut declarations = Vec::new();
        let mut templates = Vec::new();
        let mut parts = Parts::default();
        while parts.system.is_none() && self.peek() != Kind::End && !self.context.is_full() {
            let read = if self.peek() == Kind::Process {
                self.process().map(|template| {
                    templates.push(template);
                    // Declarations between processes are visible to later processes.
                    declarations.append(&mut parts.declarations);
                })
            } else {
                self.part(&mut parts)
            };
            if read.is_err() {
                self.recover_top();
            }
        }
        let queries = self.tail(source, &mut parts);
        let line = parts.system.take();
        let system = parts.system(self.system_line(line)?);
        Ok(Model { dialect: self.context.dialect, declarations, templates, system, queries })
    }

    /// The text of a `system` or `instantiation` element.
    pub(in super::super) fn parts(&mut self, parts: &mut Parts) {
        while parts.system.is_none() && self.peek() != Kind::End && !self.context.is_full() {
            if self.part(parts).is_err() {
                self.recover();
            }
        }
        self.tail("", parts);
    }

    /// The system line, or an error if it is missing.
    pub(in super::super) fn system_line(&mut self, line: Option<SystemLine>) -> Reading<SystemLine> {
        match line {
            Some(line) => Ok(line),
            // After other errors, the line may have been skipped.
            None if self.context.errors() > 0 => Err(Failed),
            None => {
                let place = self.token().span.clone();
                let diagnostic = Diagnostic::error("there is no `system` line")
                    .at(place, "expected here")
                    .help("list the processes of the system: `system P, Q;`");
                Err(self.context.error(diagnostic))
            }
        }
    }

    fn recover_top(&mut self) {
        let before = self.position();
        self.skip_declaration();
        // After an error inside a process, skip its closing brace.
        while self.peek() == Kind::RightBrace {
            self.bump();
        }
        if self.position() == before && !matches!(self.peek(), Kind::Process | Kind::System) {
            self.bump();
        }
    }

    fn part(&mut self, parts: &mut Parts) -> Reading<()> {
        match self.peek() {
            Kind::System => {
                parts.system = Some(self.system()?);
                Ok(())
            }
            Kind::Process => Err(self.unexpected("a declaration, an instantiation or the `system` line")),
            Kind::Name if matches!(self.peek_at(1), Kind::Becomes | Kind::LeftParenthesis) => {
                parts.instantiations.push(self.instantiation()?);
                Ok(())
            }
            _ => {
                parts.declarations.extend(self.declaration(Scope::Global)?);
                Ok(())
            }
        }
    }

    fn instantiation(&mut self) -> Reading<Instantiation> {
        let start = self.start();
        let name = self.name("a name")?;
        let mut parameters = Vec::new();
        self.context.declare(&name.name, false);
        if self.eat(Kind::LeftParenthesis) {
            self.context.enter();
            let read = self.parameters(Kind::RightParenthesis);
            self.context.leave();
            parameters = read?;
            self.expect(Kind::RightParenthesis, "`,` or `)`")?;
        }
        self.expect(Kind::Becomes, "`=` and a template with arguments")?;
        let template = self.name("the name of a template")?;
        self.expect(Kind::LeftParenthesis, "`(` and the arguments")?;
        let arguments = if self.peek() == Kind::RightParenthesis { Vec::new() } else { self.expressions()? };
        self.expect(Kind::RightParenthesis, "`,` or `)`")?;
        self.expect(Kind::Semicolon, "`;`")?;
        Ok(Instantiation { name, parameters, template, arguments, span: self.since(start) })
    }

    fn system(&mut self) -> Reading<SystemLine> {
        let start = self.start();
        self.bump();
        let mut levels = vec![Vec::new()];
        loop {
            let name = self.name("the name of a process")?;
            if let Some(level) = levels.last_mut() {
                level.push(name);
            }
            match self.peek() {
                Kind::Comma => {}
                Kind::Less => levels.push(Vec::new()),
                Kind::LeftParenthesis => {
                    let place = self.token().span.clone();
                    let diagnostic = Diagnostic::error("processes on the `system` line have no arguments")
                        .at(place, "unexpected")
                        .help("give the process a name first: `Q = P(1); system Q;`");
                    return Err(self.context.error(diagnostic));
                }
                _ => break,
            }
            self.bump();
        }
        self.expect(Kind::Semicolon, "`,`, `<` or `;`")?;
        Ok((levels, self.since(start)))
    }

    /// `IO P(1) { a, b[2] }`
    fn alphabet(&mut self) -> Reading<Alphabet> {
        let start = self.start();
        self.bump();
        let process = self.name("the name of a process")?;
        let mut arguments = Vec::new();
        if self.eat(Kind::LeftParenthesis) {
            arguments = self.expressions()?;
            self.expect(Kind::RightParenthesis, "`,` or `)`")?;
        }
        self.expect(Kind::LeftBrace, "`{` and channels")?;
        let mut channels = Vec::new();
        while self.peek() != Kind::RightBrace {
            channels.push(self.reference()?);
            if matches!(self.peek(), Kind::Not | Kind::Question) {
                let place = self.token().span.clone();
                let help = "list the channels that edges name without a direction";
                return Err(self.unsupported("directions in `IO` lines", place, help));
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RightBrace, "`,` or `}`")?;
        Ok(Alphabet { process, arguments, channels, span: self.since(start) })
    }

    /// The rest after the system line: the channels of processes; progress measures and charts,
    /// which do not affect behaviour; and queries.
    fn tail(&mut self, source: &str, parts: &mut Parts) -> Vec<Query> {
        let mut queries = Vec::new();
        while self.peek() != Kind::End && !self.context.is_full() {
            let start = self.start();
            let read = match self.peek() {
                Kind::Progress | Kind::Gantt => {
                    self.bump();
                    self.skip_braces()
                }
                Kind::Name if self.word_at(0) == Some("query") && self.peek_at(1) == Kind::LeftBrace => {
                    self.bump();
                    let inside = self.token().span.end;
                    let read = self.skip_braces();
                    let end = self.since(start).end;
                    if read.is_ok()
                        && let Some(text) = source.get(inside..end - 1)
                    {
                        let line = one_line(text).unwrap_or_else(|_| text.replace(['\r', '\n'], " "));
                        let lead = line.len() - line.trim_start().len();
                        let text = line.trim().to_owned();
                        let span = inside + lead..inside + lead + text.len();
                        queries.push(Query { text, comment: String::new(), expect: None, span });
                    }
                    read
                }
                Kind::Name if self.word_at(0) == Some("IO") => {
                    self.alphabet().map(|alphabet| parts.alphabets.push(alphabet))
                }
                _ => Err(self.unexpected("`IO`, `progress`, `gantt`, `query` or the end")),
            };
            if read.is_err() {
                break;
            }
        }
        queries
    }
}
