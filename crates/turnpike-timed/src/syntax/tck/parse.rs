//! Parses the values of attributes.

use turnpike_model::Diagnostic;

use super::EXPRESSION_WORDS;
use super::lines::Word;
use super::tree::{Node, Step, StepNode, Tree};
use crate::network::{Binary, Place};

/// Limit on the nesting of parentheses, signs and statements.
const NESTING: u32 = 200;
/// Limit on the height of an expression tree: long sums and conjunctions are high without being
/// nested.
const HEIGHT: u32 = 500;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Parses an expression.
pub(crate) fn expression<'a>(value: &Word<'a>) -> Result<Tree<'a>> {
    let mut parser = Parser::new(value)?;
    let tree = parser.conjunction()?;
    parser.end("an operator or the end of the expression")?;
    Ok(tree)
}

/// Parses a sequence of statements.
pub(crate) fn statements<'a>(value: &Word<'a>) -> Result<Vec<Step<'a>>> {
    let mut parser = Parser::new(value)?;
    let steps = parser.steps()?;
    parser.end("`;` or the end of the statement")?;
    Ok(steps)
}

/// A name that can be used in expressions.
pub(crate) fn is_expression_name(name: &str) -> bool {
    !name.contains('.')
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Number(i64),
    Name(&'a str),
    /// A reserved word or an operator.
    Fixed(&'static str),
    End,
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Place)>,
    at: usize,
    nesting: u32,
}

const OPERATORS: [&str; 20] =
    ["&&", "==", "!=", "<=", ">=", "<", ">", "=", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ";", ","];

fn tokens<'a>(value: &Word<'a>) -> Result<Vec<(Token<'a>, Place)>> {
    let mut found = Vec::new();
    let mut at = 0;
    let text = value.text;
    let start = value.place.start;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if c.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..length].parse().ok().filter(|&number: &i64| number <= 1 << 31);
            let Some(number) = number else {
                return Err(Box::new(
                    Diagnostic::error("this number does not fit into 32 bits")
                        .at(start + at..start + at + length, ""),
                ));
            };
            (Token::Number(number), length)
        } else if c.is_ascii_alphabetic() || matches!(c, '_' | '$') {
            // A `$` is allowed only as the first character.
            let length = 1 + rest[1..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len() - 1);
            let name = &rest[..length];
            let word = EXPRESSION_WORDS.iter().find(|&&word| word == name);
            (word.map_or(Token::Name(name), |word| Token::Fixed(word)), length)
        } else if let Some(operator) = OPERATORS.iter().find(|&&operator| rest.starts_with(operator)) {
            (Token::Fixed(operator), operator.len())
        } else {
            let place = start + at..start + at + c.len_utf8();
            return Err(Box::new(illegal(c, rest).at(place, "")));
        };
        found.push((token, start + at..start + at + length));
        at += length;
    }
    found.push((Token::End, start + at..start + at));
    Ok(found)
}

fn illegal(c: char, rest: &str) -> Diagnostic {
    let error = Diagnostic::error(format!("`{}` is not allowed in an expression", c.escape_debug()));
    match c {
        '.' => error.help("names in expressions contain no dots: such a variable can be declared, but not used"),
        '|' if rest.starts_with("||") => {
            error.help("there is no disjunction: write it with numbers, as in `(if a then 1 else 0) + (if b then 1 else 0) > 0`, or use two edges")
        }
        '&' => error.help("conjunction is written `&&`"),
        _ => error,
    }
}

impl<'a> Parser<'a> {
    fn new(value: &Word<'a>) -> Result<Self> {
        Ok(Parser { tokens: tokens(value)?, at: 0, nesting: 0 })
    }

    fn token(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    fn here(&self) -> Place {
        self.tokens[self.at].1.clone()
    }

    /// End of the last consumed token.
    fn last(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].1.end
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn eat(&mut self, fixed: &'static str) -> bool {
        let found = self.token() == Token::Fixed(fixed);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, fixed: &'static str) -> Result<()> {
        if self.eat(fixed) { Ok(()) } else { Err(self.unexpected(&format!("`{fixed}`"))) }
    }

    fn end(&self, wanted: &str) -> Result<()> {
        if self.token() == Token::End { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let message = match self.token() {
            Token::End => format!("expected {wanted}, but this ends"),
            Token::Number(number) => format!("expected {wanted}, not `{number}`"),
            Token::Name(name) => format!("expected {wanted}, not `{name}`"),
            Token::Fixed(text) => format!("expected {wanted}, not `{text}`"),
        };
        let error = Diagnostic::error(message).at(self.here(), "");
        Box::new(match self.token() {
            Token::Fixed("=") => error.help("equality is written `==`"),
            Token::Fixed(",") => error.help("statements are separated by `;`, conditions are joined by `&&`"),
            Token::Fixed("if") => {
                error.help("an `if` with a value needs parentheses: `(if a then b else c)`")
            }
            _ => error,
        })
    }

    /// Parses a part of the grammar one nesting level deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == NESTING {
            return Err(Box::new(
                Diagnostic::error(format!("this is nested more than {NESTING} levels deep"))
                    .at(self.here(), ""),
            ));
        }
        self.nesting += 1;
        let result = part(self);
        self.nesting -= 1;
        result
    }

    /// Builds a tree, given the height of its parts.
    fn tree(&self, node: Node<'a>, start: usize, height: u32) -> Result<Tree<'a>> {
        let place = start..self.last();
        if height >= HEIGHT {
            return Err(Box::new(
                Diagnostic::error("this expression is too long")
                    .at(place, "")
                    .help(format!("an expression may have {HEIGHT} operators in a row; compute it in steps with `local` variables")),
            ));
        }
        Ok(Tree { node, place, height: height + 1 })
    }

    /// `atom && atom && ...`
    fn conjunction(&mut self) -> Result<Tree<'a>> {
        let start = self.here().start;
        let first = self.atom()?;
        if self.token() != Token::Fixed("&&") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat("&&") {
            parts.push(self.atom()?);
        }
        let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
        self.tree(Node::And(parts), start, height)
    }

    /// `!` applies to a whole comparison: `!a == b` is `!(a == b)`.
    fn atom(&mut self) -> Result<Tree<'a>> {
        let start = self.here().start;
        if self.eat("!") {
            let operand = self.nested(Self::atom)?;
            let height = operand.height;
            return self.tree(Node::Not(Box::new(operand)), start, height);
        }
        let first = self.term(0)?;
        let Some(relation) = self.relation() else { return Ok(first) };
        let mut relations = vec![relation];
        let mut operands = vec![first, self.term(0)?];
        let chained = self.here();
        if let Some(second) = self.relation() {
            let ascending = |relation| matches!(relation, Binary::Less | Binary::LessEqual);
            if !ascending(relation) || !ascending(second) {
                return Err(Box::new(
                    Diagnostic::error("these comparisons cannot be chained")
                        .at(chained, "the second comparison")
                        .help("only `<` and `<=` can, as in `1 < x <= 5`; otherwise write two comparisons joined by `&&`"),
                ));
            }
            relations.push(second);
            operands.push(self.term(0)?);
        }
        let height = operands.iter().map(|operand| operand.height).max().unwrap_or(0);
        self.tree(Node::Compare(relations, operands), start, height)
    }

    fn relation(&mut self) -> Option<Binary> {
        let relation = match self.token() {
            Token::Fixed("==") => Binary::Equal,
            Token::Fixed("!=") => Binary::NotEqual,
            Token::Fixed("<") => Binary::Less,
            Token::Fixed("<=") => Binary::LessEqual,
            Token::Fixed(">=") => Binary::GreaterEqual,
            Token::Fixed(">") => Binary::Greater,
            _ => return None,
        };
        self.advance();
        Some(relation)
    }

    /// Operators that bind at least as tightly as `level`: 0 sums, 1 products.
    fn term(&mut self, level: u32) -> Result<Tree<'a>> {
        let start = self.here().start;
        let mut left = self.unary()?;
        loop {
            let (operator, binds) = match self.token() {
                Token::Fixed("+") => (Binary::Add, 0),
                Token::Fixed("-") => (Binary::Subtract, 0),
                Token::Fixed("*") => (Binary::Multiply, 1),
                Token::Fixed("/") => (Binary::Divide, 1),
                Token::Fixed("%") => (Binary::Remainder, 1),
                _ => return Ok(left),
            };
            if binds < level {
                return Ok(left);
            }
            self.advance();
            let right = self.term(binds + 1)?;
            let height = left.height.max(right.height);
            left = self.tree(Node::Arithmetic(operator, Box::new([left, right])), start, height)?;
        }
    }

    fn unary(&mut self) -> Result<Tree<'a>> {
        let start = self.here().start;
        if self.eat("-") {
            let operand = self.nested(Self::unary)?;
            let height = operand.height;
            return self.tree(Node::Minus(Box::new(operand)), start, height);
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Tree<'a>> {
        let place = self.here();
        match self.token() {
            Token::Number(number) => {
                self.advance();
                self.tree(Node::Number(number), place.start, 0)
            }
            Token::Name(_) => self.lvalue(),
            Token::Fixed("(") => {
                self.advance();
                let inner = self.nested(|parser| {
                    if parser.token() == Token::Fixed("if") {
                        parser.conditional()
                    } else {
                        parser.conjunction()
                    }
                })?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => Err(self.unexpected("a number, a variable or `(`")),
        }
    }

    /// `if c then a else b`
    fn conditional(&mut self) -> Result<Tree<'a>> {
        let start = self.here().start;
        self.expect("if")?;
        let condition = self.conjunction()?;
        self.expect("then")?;
        let then = self.term(0)?;
        self.expect("else")?;
        let otherwise = self.term(0)?;
        let height = condition.height.max(then.height).max(otherwise.height);
        self.tree(Node::If(Box::new([condition, then, otherwise])), start, height)
    }

    fn name(&mut self, wanted: &str) -> Result<Word<'a>> {
        let Token::Name(text) = self.token() else { return Err(self.unexpected(wanted)) };
        let place = self.here();
        self.advance();
        Ok(Word { text, place })
    }

    fn lvalue(&mut self) -> Result<Tree<'a>> {
        let start = self.here().start;
        let name = self.name("a variable")?;
        if !self.eat("[") {
            return self.tree(Node::Name(name), start, 0);
        }
        let index = self.nested(|parser| parser.term(0))?;
        self.expect("]")?;
        let height = index.height;
        self.tree(Node::Index(name, Box::new(index)), start, height)
    }

    /// `stmt ; stmt ; ...`, with an optional `;` at the end.
    fn steps(&mut self) -> Result<Vec<Step<'a>>> {
        let mut steps = vec![self.step()?];
        while self.eat(";") {
            if matches!(self.token(), Token::End | Token::Fixed("end" | "else")) {
                break;
            }
            steps.push(self.step()?);
        }
        Ok(steps)
    }

    fn step(&mut self) -> Result<Step<'a>> {
        let start = self.here().start;
        let node = match self.token() {
            Token::Fixed("nop") => {
                self.advance();
                StepNode::Nop
            }
            Token::Fixed("local") => self.local()?,
            Token::Fixed("if") => {
                self.advance();
                let condition = self.conjunction()?;
                self.expect("then")?;
                let then = self.nested(Self::steps)?;
                let otherwise = if self.eat("else") { self.nested(Self::steps)? } else { Vec::new() };
                self.expect("end")?;
                StepNode::If(condition, then, otherwise)
            }
            Token::Fixed("while") => {
                self.advance();
                let condition = self.conjunction()?;
                self.expect("do")?;
                let body = self.nested(Self::steps)?;
                self.expect("end")?;
                StepNode::While(condition, body)
            }
            Token::Name(_) => {
                let target = self.lvalue()?;
                self.expect("=")?;
                StepNode::Assign(target, self.term(0)?)
            }
            _ => return Err(self.unexpected("a statement")),
        };
        Ok(Step { node, place: start..self.last() })
    }

    fn local(&mut self) -> Result<StepNode<'a>> {
        self.expect("local")?;
        let name = self.name("the name of a local variable")?;
        if self.eat("[") {
            let size = self.term(0)?;
            self.expect("]")?;
            return Ok(StepNode::LocalArray(name, size));
        }
        let value = if self.eat("=") { Some(self.term(0)?) } else { None };
        Ok(StepNode::Local(name, value))
    }
}
