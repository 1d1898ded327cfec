//! Processes of XTA files, and the labels that edges have in both formats.

use std::ops::Range;

use turnpike_model::Diagnostic;

use super::super::lexer::Kind;
use super::super::template::{Draft, Labels, Node};
use super::super::tree::{Direction, Identifier, Location, Select, Synchronisation, Template};
use super::declaration::Scope;
use super::{Context, Parser, Reading};

impl Parser<'_> {
    /// `process P(int i) { … }`
    pub(super) fn process(&mut self) -> Reading<Template> {
        let start = self.start();
        self.bump();
        let name = self.name("the name of the process")?;
        self.context.enter();
        let template = self.process_rest(start, name);
        self.context.leave();
        template
    }

    fn process_rest(&mut self, start: usize, name: Identifier) -> Reading<Template> {
        let mut draft = Draft::new(name);
        if self.old() && self.peek() == Kind::LeftBrace {
            // No parameters.
        } else {
            self.expect(Kind::LeftParenthesis, "`(`")?;
            draft.parameters = self.parameters(Kind::RightParenthesis)?;
            self.expect(Kind::RightParenthesis, "`)`")?;
        }
        let span = self.since(start);
        self.expect(Kind::LeftBrace, "`{`")?;
        while self.peek() != Kind::RightBrace {
            if self.peek() == Kind::End || self.context.is_full() {
                return Err(self.unexpected("`}`"));
            }
            let before = self.position();
            if self.process_part(&mut draft).is_err() {
                self.skip_declaration();
                if matches!(self.peek(), Kind::Process | Kind::System) {
                    // The closing brace is missing.
                    return Err(super::Failed);
                }
                if self.position() == before && self.peek() != Kind::RightBrace {
                    self.bump();
                }
            }
        }
        self.bump();
        if draft.initial.is_none() && !draft.locations.is_empty() && !draft.incomplete {
            self.context.error(no_initial(&draft));
        }
        Ok(draft.finish(span, self.context))
    }

    fn process_part(&mut self, draft: &mut Draft) -> Reading<()> {
        match self.peek() {
            Kind::State => {
                self.bump();
                let states = self.listed(|parser| parser.state(draft));
                draft.incomplete |= states.is_err();
                states
            }
            Kind::Branchpoint => {
                self.bump();
                self.listed(|parser| {
                    let name = parser.name("the name of a branchpoint")?;
                    draft.add_branchpoint(&name.name, name.span, parser.context);
                    Ok(())
                })
            }
            Kind::Commit => {
                self.bump();
                self.listed(|parser| {
                    let location = parser.location(draft)?;
                    draft.locations[location].committed = true;
                    Ok(())
                })
            }
            Kind::Urgent
                if self.peek_at(1) == Kind::Name
                    && matches!(self.peek_at(2), Kind::Comma | Kind::Semicolon) =>
            {
                self.bump();
                self.listed(|parser| {
                    let location = parser.location(draft)?;
                    draft.locations[location].urgent = true;
                    Ok(())
                })
            }
            Kind::Init => {
                let start = self.start();
                self.bump();
                let location = self.location(draft)?;
                self.expect(Kind::Semicolon, "`;`")?;
                if draft.initial.replace(location).is_some() {
                    let diagnostic = Diagnostic::error("a process has one initial location")
                        .at(self.since(start), "the second one");
                    return Err(self.context.error(diagnostic));
                }
                Ok(())
            }
            Kind::Trans => self.transitions(draft),
            _ if draft.locations.is_empty() => {
                draft.declarations.extend(self.declaration(Scope::Template)?);
                Ok(())
            }
            _ => Err(self.unexpected("`commit`, `urgent`, `init`, `trans` or `}`")),
        }
    }

    /// A comma-separated list, terminated by a semicolon.
    fn listed(&mut self, mut read: impl FnMut(&mut Self) -> Reading<()>) -> Reading<()> {
        loop {
            read(self)?;
            if !self.eat(Kind::Comma) {
                return self.expect(Kind::Semicolon, "`,` or `;`").map(|_| ());
            }
        }
    }

    fn location(&mut self, draft: &Draft) -> Reading<usize> {
        let name = self.name("the name of a location")?;
        draft.location(&name.name, name.span, self.context)
    }

    fn state(&mut self, draft: &mut Draft) -> Reading<()> {
        let name = self.name("the name of a location")?;
        self.context.declare(&name.name, false);
        let mut invariant = None;
        if self.eat(Kind::LeftBrace) {
            if !matches!(self.peek(), Kind::Semicolon | Kind::RightBrace) {
                invariant = Some(self.condition()?);
            }
            if self.eat(Kind::Semicolon) && self.peek() != Kind::RightBrace {
                let start = self.start();
                self.expression()?;
                if self.eat(Kind::Colon) {
                    self.expression()?;
                }
                let place = self.since(start);
                exponential_rate(self.context, place);
            }
            self.expect(Kind::RightBrace, "an operator or `}`")?;
        }
        let Identifier { name, span } = name;
        let location = Location {
            name: name.clone(),
            anonymous: false,
            invariant,
            urgent: false,
            committed: false,
            span,
        };
        draft.add_location(&name, location, self.context);
        Ok(())
    }

    fn transitions(&mut self, draft: &mut Draft) -> Reading<()> {
        self.bump();
        let mut source = None;
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        loop {
            let before = self.position();
            if self.transition(draft, &mut source).is_err() {
                self.skip_edge();
                if self.position() == before {
                    return Err(super::Failed);
                }
            }
            if !self.eat(Kind::Comma) {
                return self.expect(Kind::Semicolon, "`,` or `;`").map(|_| ());
            }
        }
    }

    /// After an error in an edge, skips to the end of its braces, if there is one.
    fn skip_edge(&mut self) {
        let mut open = 1_usize;
        loop {
            match self.peek() {
                Kind::End | Kind::Process | Kind::System => return,
                Kind::LeftBrace => open += 1,
                Kind::RightBrace => {
                    open = open.saturating_sub(1);
                    // It is unknown whether the error was inside nested braces: these tokens follow
                    // an edge.
                    if open <= 1 && matches!(self.peek_at(1), Kind::Comma | Kind::Semicolon) {
                        self.bump();
                        return;
                    }
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn transition(&mut self, draft: &mut Draft, source: &mut Option<Node>) -> Reading<()> {
        let start = self.start();
        if self.peek() == Kind::Name {
            let name = self.name("the name of a location")?;
            *source = None;
            let node = draft.node(&name.name, name.span, self.context);
            // Parse the labels nevertheless.
            *source = node.ok();
        } else if source.is_none() && self.context.errors() == 0 {
            return Err(self.unexpected("the name of a location"));
        }
        match self.peek() {
            Kind::UncontrollableArrow => {
                let place = self.token().span.clone();
                uncontrollable(self.context, place);
            }
            Kind::Arrow => {}
            _ => return Err(self.unexpected("`->`")),
        }
        self.bump();
        let name = self.name("the name of a location")?;
        let target = draft.node(&name.name, name.span, self.context);
        let span = self.since(start);
        self.expect(Kind::LeftBrace, "`{`")?;
        self.context.enter();
        let labels = self.labels();
        self.context.leave();
        let mut labels = labels?;
        labels.size = self.since(start).len();
        if let (Some(source), Ok(target)) = (*source, target) {
            draft.add_edge(source, target, labels, span);
        }
        Ok(())
    }

    /// The labels of an edge and its closing brace.
    fn labels(&mut self) -> Reading<Labels> {
        let mut labels = Labels::default();
        // Each label may occur once, in this order.
        let order = [Kind::Select, Kind::Guard, Kind::Sync, Kind::Assign, Kind::Probability];
        let mut next = 0;
        while !self.eat(Kind::RightBrace) {
            let kind = self.peek();
            let Some(found) = order[next..].iter().position(|&label| label == kind) else {
                let known = order.contains(&kind);
                let expected = "`select`, `guard`, `sync`, `assign`, `probability` or `}`";
                let mut diagnostic = self.expected(expected);
                if known {
                    diagnostic = diagnostic
                        .help("labels come once each, in the order select, guard, sync, assign, probability");
                }
                return Err(self.context.error(diagnostic));
            };
            next += found + 1;
            self.bump();
            match kind {
                Kind::Select => labels.select = self.selects()?,
                Kind::Guard => labels.guard = Some(self.condition()?),
                Kind::Sync => labels.sync = Some(self.synchronisation()?),
                Kind::Assign => labels.update = self.expressions()?,
                _ => {
                    let start = self.start();
                    self.expression()?;
                    let place = self.since(start);
                    probability(self.context, place);
                }
            }
            self.expect(Kind::Semicolon, "an operator or `;`")?;
        }
        Ok(labels)
    }

    /// `i : id_t, j : int[0,3]`
    pub(in super::super) fn selects(&mut self) -> Reading<Vec<Select>> {
        let mut all = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            self.expect(Kind::Colon, "`:` and a type")?;
            let ty = self.ty()?;
            self.context.declare(&name.name, false);
            all.push(Select { name, ty });
            if !self.eat(Kind::Comma) {
                return Ok(all);
            }
        }
    }

    /// `c[i]!`, `c[i]?` or just `c[i]`
    pub(in super::super) fn synchronisation(&mut self) -> Reading<Synchronisation> {
        let start = self.start();
        let channel = self.reference()?;
        let direction = match self.peek() {
            Kind::Not if self.token().text == "!" => Direction::Send,
            Kind::Question => Direction::Receive,
            Kind::Semicolon | Kind::End => {
                let span = self.since(start);
                return Ok(Synchronisation { channel, direction: Direction::Together, span });
            }
            _ => return Err(self.unexpected("`!` or `?`")),
        };
        self.bump();
        Ok(Synchronisation { channel, direction, span: self.since(start) })
    }
}

/// The error for a template without an initial location.
pub(in super::super) fn no_initial(draft: &Draft) -> Diagnostic {
    Diagnostic::error(format!("`{}` has no initial location", draft.name.name))
        .at(draft.name.span.clone(), "no location is marked as initial")
}

/// Weights of branches are irrelevant without probabilities.
pub(in super::super) fn probability(context: &mut Context, place: Range<usize>) {
    context.warn(
        Diagnostic::warning("probability weights are ignored")
            .at(place, "a weight")
            .help("every branch is possible, even one with weight 0"),
    );
}

/// Rates are irrelevant without probabilities.
pub(in super::super) fn exponential_rate(context: &mut Context, place: Range<usize>) {
    context.warn(
        Diagnostic::warning("rates of exponential distributions are ignored")
            .at(place, "a rate")
            .help("every delay that invariants allow is possible"),
    );
}

/// Controllability is irrelevant outside games.
pub(in super::super) fn uncontrollable(context: &mut Context, place: Range<usize>) {
    context.warn(
        Diagnostic::warning("the controllability of edges is ignored")
            .at(place, "an edge of the environment")
            .help("timed games are not supported: the supported queries treat all edges alike"),
    );
}
