//! Declarations: variables, types, functions, channel priorities.

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::tree::{
    Block, ChannelPriority, Declaration, Dimension, Function, Identifier, Initializer, Parameter, Prefix,
    Prioritised, Type, TypeKind, Typedef, Variable, Variables,
};
use super::{Parser, Reading};

/// The context of a declaration, which decides what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Scope {
    /// Of the whole model.
    Global,
    /// Of a template.
    Template,
    /// Inside a function.
    Block,
}

impl Parser<'_> {
    /// Parses declarations up to the end of the passage, recovering from errors.
    pub(in super::super) fn all_declarations(&mut self, scope: Scope) -> Vec<Declaration> {
        let mut all = Vec::new();
        while self.peek() != Kind::End && !self.context.is_full() {
            match self.declaration(scope) {
                Ok(declaration) => all.extend(declaration),
                Err(_) => self.recover(),
            }
        }
        all
    }

    /// Skips to the next declaration.
    pub(super) fn recover(&mut self) {
        let before = self.position();
        self.skip_declaration();
        // A stray closing brace, or a word that is not allowed here.
        if self.position() == before {
            self.bump();
        }
    }

    /// One declaration; `None` for a stray semicolon.
    pub(super) fn declaration(&mut self, scope: Scope) -> Reading<Option<Declaration>> {
        let start = self.start();
        let place = self.token().span.clone();
        match self.peek() {
            // Not in the grammar, but harmless, and common after functions.
            Kind::Semicolon => {
                self.bump();
                Ok(None)
            }
            Kind::Typedef => self.typedef().map(|typedef| Some(Declaration::Typedef(typedef))),
            Kind::Chan if self.peek_at(1) == Kind::Priority => {
                let priority = self.channel_priority()?;
                if scope != Scope::Global {
                    let diagnostic = Diagnostic::error("channel priorities cannot be declared here")
                        .at(priority.span, "not among the global declarations")
                        .help("move this to the global declarations");
                    return Err(self.context.error(diagnostic));
                }
                Ok(Some(Declaration::ChannelPriority(priority)))
            }
            Kind::Const if self.old() => self.old_constants(start).map(Some),
            Kind::Import => Err(self.unsupported("functions of external libraries (`import`)", place, "")),
            Kind::Dynamic => Err(self.unsupported("dynamic templates", place, "")),
            Kind::BeforeUpdate => Err(self.unsupported("`before_update` blocks", place, "")),
            Kind::AfterUpdate => Err(self.unsupported("`after_update` blocks", place, "")),
            Kind::Reserved => Err(self.unexpected("a declaration")),
            _ => {
                if !self.at_type() {
                    return Err(self.no_type());
                }
                let ty = self.ty()?;
                if let TypeKind::Name(name) = &ty.kind
                    && ty.prefix.constant
                    && matches!(self.peek(), Kind::Becomes | Kind::Integer)
                {
                    let place = ty.span.end - name.len()..ty.span.end;
                    let diagnostic = Diagnostic::error(format!("the constant `{name}` has no type"))
                        .at(place, "a name, but no type before it")
                        .help(format!("write `const int {name} = …`"));
                    return Err(self.context.error(diagnostic));
                }
                let name = self.name("a name")?;
                if self.peek() == Kind::LeftParenthesis && !self.old() {
                    self.function(scope, start, ty, name)
                        .map(|function| Some(Declaration::Function(function)))
                } else {
                    let variables = self.variables(ty, name)?;
                    let span = self.since(start);
                    Ok(Some(Declaration::Variables(Variables { span, ..variables })))
                }
            }
        }
    }

    fn no_type(&mut self) -> super::Failed {
        let token = self.token().clone();
        if token.kind == Kind::Name && !self.context.is_type(token.text) {
            let diagnostic = Diagnostic::error(format!(
                "expected a declaration, found {}",
                super::display_token(token.text)
            ))
            .at(token.span, "neither a type nor followed by a name")
            .help("declarations begin with a type, as in `int x;`");
            return self.context.error(diagnostic);
        }
        self.unexpected("a declaration")
    }

    fn variables(&mut self, ty: Type, first: Identifier) -> Reading<Variables> {
        let mut variables = Vec::new();
        let mut name = first;
        loop {
            let start = name.span.start;
            self.context.declare(&name.name, false);
            let dimensions = self.dimensions()?;
            let initial = if self.eat(Kind::Becomes) { Some(self.initializer()?) } else { None };
            let array = !dimensions.is_empty();
            variables.push(Variable { name, dimensions, initial, span: self.since(start) });
            if !self.eat(Kind::Comma) {
                self.end_of_variables(&ty, array)?;
                return Ok(Variables { ty, variables, span: 0..0 });
            }
            name = self.name("a name")?;
        }
    }

    fn end_of_variables(&mut self, ty: &Type, array: bool) -> Reading<()> {
        let written = self.peek() == Kind::Integer || (array && self.peek() == Kind::LeftBrace);
        if !self.old() && ty.prefix.constant && written {
            let place = self.token().span.clone();
            let diagnostic = Diagnostic::error("expected `=` before the value of a constant")
                .at(place, "unexpected")
                .help("only the old syntax leaves it out, and writes no type either: `const N 3;`");
            return Err(self.context.error(diagnostic));
        }
        self.expect(Kind::Semicolon, "`,`, `=` or `;`").map(|_| ())
    }

    /// `const a 1, b[2] {1, 2};`
    fn old_constants(&mut self, start: usize) -> Reading<Declaration> {
        self.bump();
        let ty = self.old_constant(start);
        let mut variables = Vec::new();
        loop {
            let begin = self.start();
            let name = self.name("the name of a constant")?;
            let dimensions: Vec<Dimension> = self.dimensions()?;
            self.eat(Kind::Becomes);
            let initial = Some(self.initializer()?);
            variables.push(Variable { name, dimensions, initial, span: self.since(begin) });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`,` or `;`")?;
        Ok(Declaration::Variables(Variables { ty, variables, span: self.since(start) }))
    }

    fn initializer(&mut self) -> Reading<Initializer> {
        if self.peek() != Kind::LeftBrace {
            return self.expression().map(Initializer::Value);
        }
        self.nested(|parser| {
            let start = parser.start();
            parser.bump();
            let mut items = Vec::new();
            loop {
                let field = if parser.peek() == Kind::Name && parser.peek_at(1) == Kind::Colon {
                    let field = parser.name("the name of a field")?;
                    parser.bump();
                    Some(field)
                } else {
                    None
                };
                items.push((field, parser.initializer()?));
                if !parser.eat(Kind::Comma) {
                    break;
                }
            }
            parser.expect(Kind::RightBrace, "`,` or `}`")?;
            Ok(Initializer::List { items, span: parser.since(start) })
        })
    }

    fn typedef(&mut self) -> Reading<Typedef> {
        let start = self.start();
        self.bump();
        let ty = self.ty()?;
        let mut names = vec![self.type_name()?];
        while self.eat(Kind::Comma) {
            names.push(self.type_name()?);
        }
        self.expect(Kind::Semicolon, "`,` or `;`")?;
        Ok(Typedef { ty, names, span: self.since(start) })
    }

    fn function(&mut self, scope: Scope, start: usize, result: Type, name: Identifier) -> Reading<Function> {
        if scope == Scope::Block {
            let diagnostic = Diagnostic::error("functions cannot be declared inside functions")
                .at(name.span, "a function")
                .help("move it out");
            return Err(self.context.error(diagnostic));
        }
        self.context.declare(&name.name, false);
        self.context.enter();
        let rest = self.function_rest();
        self.context.leave();
        let (parameters, body) = rest?;
        if result.prefix != Prefix::default() && result.kind == TypeKind::Void {
            let diagnostic =
                Diagnostic::error("`void` has no values to qualify").at(result.span, "unexpected");
            return Err(self.context.error(diagnostic));
        }
        Ok(Function { result, name, parameters, body, span: self.since(start) })
    }

    fn function_rest(&mut self) -> Reading<(Vec<Parameter>, Block)> {
        self.expect(Kind::LeftParenthesis, "`(`")?;
        let parameters = self.parameters(Kind::RightParenthesis)?;
        self.expect(Kind::RightParenthesis, "`,` or `)`")?;
        let body = self.block()?;
        Ok((parameters, body))
    }

    fn channel_priority(&mut self) -> Reading<ChannelPriority> {
        let start = self.start();
        self.bump();
        self.bump();
        let mut levels = vec![Vec::new()];
        loop {
            let channel = if self.peek() == Kind::Default {
                Prioritised::Default(self.bump().span)
            } else {
                Prioritised::Channel(self.reference()?)
            };
            if let Some(level) = levels.last_mut() {
                level.push(channel);
            }
            match self.peek() {
                Kind::Comma => {}
                Kind::Less => levels.push(Vec::new()),
                _ => break,
            }
            self.bump();
        }
        self.expect(Kind::Semicolon, "`,`, `<` or `;`")?;
        Ok(ChannelPriority { levels, span: self.since(start) })
    }
}
