//! Formulas: recursive descent with a limit on the depth. Formulas are short, and the limit keeps
//! all later walks simple. Data inside them have no such limit.

use turnpike_model::Diagnostic;

use super::super::formula::{Connective, DEEPEST, FormulaFile, State, StateKind};
use super::super::symbol::{Span, Symbol, Symbols};
use super::super::tree::{Data, DataId, Variable};
use super::{Kind, Parsed, Parser};

/// Parses a formula, alone or after its own declarations. Words in `symbols` keep their ids.
pub fn parse_formula(source: &str, symbols: &Symbols) -> (Option<FormulaFile>, Vec<Diagnostic>) {
    let mut parser = match Parser::new(source, symbols.clone()) {
        Ok(parser) => parser,
        Err(diagnostic) => return (None, vec![*diagnostic]),
    };
    let outcome = parser.formula_file();
    let parsed = match outcome {
        Ok(parsed) => Some(parsed),
        Err(diagnostic) => {
            parser.report(*diagnostic, Span::new(0, source.len() as u32));
            None
        }
    };
    let (tree, diagnostics) = parser.finish();
    let file =
        parsed.map(|(sections, declarations, formula)| FormulaFile { tree, sections, declarations, formula });
    (file.filter(|_| diagnostics.is_empty()), diagnostics)
}

type Parts = (Vec<super::super::specification::Section>, Span, State);

/// The levels of connectives, weakest first; a modality binds tightest.
fn connective(kind: Kind) -> Option<(Connective, u8)> {
    match kind {
        Kind::Implies => Some((Connective::Implies, 1)),
        Kind::BarBar => Some((Connective::Or, 2)),
        Kind::And => Some((Connective::And, 3)),
        _ => None,
    }
}

fn join(operator: Connective, left: State, right: State) -> State {
    let span = left.span.to(right.span);
    State { kind: StateKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

/// The names bound by enclosing formulas, innermost last.
#[derive(Default)]
pub(super) struct Bound {
    names: Vec<(Symbol, bool)>,
}

impl Bound {
    fn is_fixed_point(&self, name: Symbol) -> bool {
        self.names.iter().rev().find(|one| one.0 == name).is_some_and(|one| one.1)
    }
}

impl Parser<'_> {
    fn formula_file(&mut self) -> Parsed<Parts> {
        let start = self.span();
        let mut sections = Vec::new();
        if self.kind().starts_section() {
            sections = self.declaration_sections();
        }
        let declarations = Span::new(start.start, self.span().start);
        let wrapped = self.is_word("form");
        if wrapped {
            self.bump();
        } else if !sections.is_empty() {
            return Err(self.unexpected("a section or `form`"));
        }
        let formula = self.state(&mut Bound::default(), 0, 0)?;
        if wrapped {
            self.expect(Kind::Semicolon, "`;` or a connective")?;
        }
        match self.kind() {
            Kind::End => Ok((sections, declarations, formula)),
            Kind::Plus | Kind::Star => Err(self.quantitative()),
            _ => Err(self.unexpected("a connective or the end of the formula")),
        }
    }

    fn quantitative(&self) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error("quantitative formulas are not supported")
                .at(self.span().range(), "")
                .help("a state either satisfies a formula or does not"),
        )
    }

    /// Whether the current token is this reserved word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind() == Kind::Reserved && self.text(self.span()) == word
    }

    pub(super) fn too_deep(&self, depth: usize) -> Parsed<()> {
        if depth < DEEPEST {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error("this formula is nested too deeply")
                .at(self.span().range(), format!("more than {DEEPEST} levels here"))
                .help("name parts of it, or write a shorter formula"),
        ))
    }

    /// A formula whose connectives are of this level or higher.
    fn state(&mut self, bound: &mut Bound, level: u8, depth: usize) -> Parsed<State> {
        self.too_deep(depth)?;
        let mut left = self.prefixed(bound, depth)?;
        while let Some((operator, found)) = connective(self.kind()).filter(|one| one.1 >= level) {
            self.bump();
            if operator != Connective::Implies {
                left = self.chain(bound, (operator, found), left, depth)?;
                continue;
            }
            // Right associative.
            let right = self.state(bound, found, depth + 1)?;
            left = join(operator, left, right);
        }
        Ok(left)
    }

    /// Parses `F && G && …` or `F || G || …` after its first operand, without deep nesting.
    fn chain(
        &mut self,
        bound: &mut Bound,
        (operator, level): (Connective, u8),
        first: State,
        depth: usize,
    ) -> Parsed<State> {
        let mut parts = vec![first];
        loop {
            parts.push(self.state(bound, level + 1, depth + 1)?);
            if connective(self.kind()).is_none_or(|one| one.0 != operator) {
                break;
            }
            self.bump();
        }
        while parts.len() > 1 {
            let mut pairs = Vec::with_capacity(parts.len() / 2 + 1);
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => join(operator, left, right),
                    None => left,
                });
            }
            parts = pairs;
        }
        parts.pop().ok_or_else(|| self.unexpected("a formula"))
    }

    /// A formula without connectives at its top.
    fn prefixed(&mut self, bound: &mut Bound, depth: usize) -> Parsed<State> {
        self.too_deep(depth)?;
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.prefixed_from(bound, depth))
    }

    fn prefixed_from(&mut self, bound: &mut Bound, depth: usize) -> Parsed<State> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::Not => {
                self.bump();
                let body = self.prefixed(bound, depth + 1)?;
                self.refuse_negated_comparison(&body)?;
                StateKind::Not(Box::new(body))
            }
            Kind::OpenBracket | Kind::Less => {
                let all = self.kind() == Kind::OpenBracket;
                self.bump();
                let regular = Box::new(self.regular(0, depth + 1)?);
                match all {
                    true => self.expect(Kind::CloseBracket, "`]` or an operator on actions")?,
                    false => self.expect(Kind::Greater, "`>` or an operator on actions")?,
                };
                let body = Box::new(self.prefixed(bound, depth + 1)?);
                StateKind::Modality { all, regular, body }
            }
            Kind::Forall | Kind::Exists => {
                let all = self.bump_kind() == Kind::Forall;
                let variables = self.bound_variables()?;
                let mark = bound.names.len();
                bound.names.extend(variables.iter().map(|one| (one.name.symbol, false)));
                let body = Box::new(self.state(bound, 0, depth + 1)?);
                bound.names.truncate(mark);
                StateKind::Quantifier { all, variables, body }
            }
            Kind::Sum => return Err(self.quantitative()),
            Kind::Reserved => return self.reserved(bound, depth),
            Kind::OpenParen if !self.is_data_in_parentheses() => {
                self.bump();
                let inner = self.state(bound, 0, depth + 1)?;
                if matches!(self.kind(), Kind::Plus | Kind::Star) {
                    return Err(self.quantitative());
                }
                let close = self.expect(Kind::CloseParen, "`)` or a connective")?;
                return Ok(State { kind: inner.kind, span: start.to(close) });
            }
            Kind::Identifier => {
                let symbol = self.tree.symbols.intern(self.text(start));
                if !bound.is_fixed_point(symbol) {
                    return self.data_operand_of_formula();
                }
                let name = self.name("a fixed point")?;
                let arguments = if self.accept(Kind::OpenParen) { self.arguments()? } else { Box::default() };
                StateKind::Call { name, arguments }
            }
            Kind::True | Kind::False if !super::advice::is_data_operator(self.peek(1)) => {
                let value = self.bump_kind() == Kind::True;
                StateKind::Data(self.tree.add_data(Data::Bool(value), start))
            }
            Kind::True | Kind::False | Kind::Number | Kind::Hash | Kind::OpenBrace | Kind::OpenParen => {
                return self.data_operand_of_formula();
            }
            _ => return Err(self.unexpected("a formula")),
        };
        Ok(State { kind, span: start.to(self.previous()) })
    }

    fn bump_kind(&mut self) -> Kind {
        let kind = self.kind();
        self.bump();
        kind
    }

    /// `x: S, y: T.` after a quantifier.
    pub(super) fn bound_variables(&mut self) -> Parsed<Box<[Variable]>> {
        let mut variables = Vec::new();
        self.variables("a variable", &mut variables)?;
        self.expect(Kind::Dot, "`,` or `.` after the variables")?;
        Ok(variables.into())
    }

    /// Parses fixed points and `val`, and rejects words that are not supported.
    fn reserved(&mut self, bound: &mut Bound, depth: usize) -> Parsed<State> {
        let start = self.span();
        match self.text(start) {
            "val" => {
                let condition = self.value()?;
                Ok(State { kind: StateKind::Data(condition), span: start.to(self.previous()) })
            }
            word @ ("mu" | "nu") => {
                self.bump();
                self.fixed_point(bound, word == "mu", start, depth)
            }
            word @ ("delay" | "yaled") => Err(Box::new(
                Diagnostic::error(format!("`{word}` is not supported: formulas do not see time"))
                    .at(start.range(), ""),
            )),
            "inf" | "sup" => Err(self.quantitative()),
            _ => Err(self.unexpected("a formula")),
        }
    }

    fn fixed_point(&mut self, bound: &mut Bound, least: bool, start: Span, depth: usize) -> Parsed<State> {
        let name = self.name("a fixed point")?;
        let mut parameters: Vec<(Variable, DataId)> = Vec::new();
        if self.accept(Kind::OpenParen) {
            loop {
                let name = self.name("a parameter")?;
                self.expect(Kind::Colon, "`:` and a sort")?;
                let sort = self.sort()?;
                self.expect(Kind::Is, "`=` and a first value")?;
                parameters.push((Variable { name, sort }, self.data()?));
                if !self.accept(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::CloseParen, "`,` or `)` after the parameters")?;
        }
        self.expect(Kind::Dot, "`.` after the name and parameters of a fixed point")?;
        let mark = bound.names.len();
        bound.names.push((name.symbol, true));
        bound.names.extend(parameters.iter().map(|one| (one.0.name.symbol, false)));
        let body = Box::new(self.state(bound, 0, depth + 1)?);
        bound.names.truncate(mark);
        let span = start.to(self.previous());
        Ok(State { kind: StateKind::FixedPoint { least, name, parameters: parameters.into(), body }, span })
    }

    /// `val(e)`
    pub(super) fn value(&mut self) -> Parsed<DataId> {
        self.bump();
        self.expect(Kind::OpenParen, "`(` after `val`")?;
        let condition = self.data()?;
        self.expect_after_data(Kind::CloseParen, "`)` or an operator")?;
        Ok(condition)
    }

    /// Whether an operator on data such as `==` follows the parentheses here.
    fn is_data_in_parentheses(&self) -> bool {
        let after = self.after_brackets(self.position).map(|index| self.tokens[index].kind);
        after.is_some_and(|kind| {
            super::advice::is_data_operator(kind)
                && !matches!(kind, Kind::Implies | Kind::And | Kind::Arrow | Kind::Star)
        })
    }

    /// Parses a condition on data without `val`, up to the next connective outside brackets.
    fn data_operand_of_formula(&mut self) -> Parsed<State> {
        let (start, first) = (self.span(), self.position);
        let mut end = first;
        loop {
            match self.tokens[end].kind {
                Kind::OpenParen | Kind::OpenBracket | Kind::OpenBrace => match self.after_brackets(end) {
                    Some(after) => end = after,
                    None => break,
                },
                Kind::End
                | Kind::Semicolon
                | Kind::Comma
                | Kind::CloseParen
                | Kind::CloseBracket
                | Kind::CloseBrace => break,
                kind if connective(kind).is_some() => break,
                _ => end += 1,
            }
        }
        // The data parser has these connectives as operators, so it must not see them.
        let hidden = std::mem::replace(&mut self.tokens[end].kind, Kind::End);
        let condition = self.data().and_then(|condition| match self.position == end {
            true => Ok(condition),
            false => Err(self.unexpected("a connective")),
        });
        self.tokens[end].kind = hidden;
        Ok(State { kind: StateKind::Data(condition?), span: start.to(self.previous()) })
    }

    /// In data, `!` binds tighter than `==`. In formulas it would negate the comparison.
    fn refuse_negated_comparison(&self, body: &State) -> Parsed<()> {
        let StateKind::Data(condition) = body.kind else { return Ok(()) };
        let inner = self.tree.data_span(condition);
        if matches!(self.tree.data(condition), Data::Binary(..)) && inner == body.span {
            return Err(Box::new(
                Diagnostic::error("this `!` may belong to the comparison or to its left side")
                    .at(body.span.range(), "")
                    .help("write `!val(…)` or add parentheses"),
            ));
        }
        Ok(())
    }
}
