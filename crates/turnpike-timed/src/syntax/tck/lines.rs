//! Declarations: one per line, except that an attribute list may span several lines.

use turnpike_model::Diagnostic;

use super::DECLARATION_WORDS;
use crate::network::Place;

/// A slice of the text and its place.
#[derive(Clone, Debug)]
pub(crate) struct Word<'a> {
    /// The text.
    pub text: &'a str,
    /// Its place.
    pub place: Place,
}

/// A number that may carry a sign.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    /// Its value, saturated if it does not fit.
    pub value: i64,
    /// Its place.
    pub place: Place,
}

/// `KEY:VALUE`
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'a> {
    /// The key.
    pub key: Word<'a>,
    /// The value without blanks around it; may be empty.
    pub value: Word<'a>,
}

/// `PROCESS@EVENT`, `PROCESS@EVENT?`
#[derive(Clone, Debug)]
pub(crate) struct SyncItem<'a> {
    /// The process.
    pub process: Word<'a>,
    /// The event.
    pub event: Word<'a>,
    /// Whether it ends with `?`.
    pub weak: bool,
}

/// A declaration.
#[derive(Clone, Debug)]
pub(crate) struct Declaration<'a> {
    /// What is declared.
    pub kind: Kind<'a>,
    /// Its attributes.
    pub attributes: Vec<Attribute<'a>>,
    /// From the keyword to the end of the attributes.
    pub place: Place,
}

/// The kinds of declarations with their fields in the order of the file.
#[derive(Clone, Debug)]
pub(crate) enum Kind<'a> {
    /// `system:NAME`
    System(Word<'a>),
    /// `clock:SIZE:NAME`
    Clock(Number, Word<'a>),
    /// `int:SIZE:MIN:MAX:INIT:NAME`
    Int([Number; 4], Word<'a>),
    /// `process:NAME`
    Process(Word<'a>),
    /// `event:NAME`
    Event(Word<'a>),
    /// `location:PROCESS:NAME`
    Location(Word<'a>, Word<'a>),
    /// `edge:PROCESS:SOURCE:TARGET:EVENT`
    Edge([Word<'a>; 4]),
    /// `sync:PROCESS@EVENT:...`
    Sync(Vec<SyncItem<'a>>),
}

/// Splits a file into declarations. A declaration with an error is skipped.
pub(crate) fn declarations<'a>(text: &'a str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Declaration<'a>> {
    let mut lines = Lines { text, at: 0, braces: None };
    let mut found = Vec::new();
    loop {
        lines.skip_empty();
        if lines.at == text.len() {
            return found;
        }
        lines.braces = None;
        match lines.declaration() {
            Ok(declaration) => found.push(declaration),
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                lines.recover();
            }
        }
    }
}

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

struct Lines<'a> {
    text: &'a str,
    at: usize,
    /// The opening brace of the current declaration's attribute list.
    braces: Option<usize>,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// The place of the next character, or of the end of the line.
    fn here(&self) -> Place {
        match self.peek() {
            Some('\n') | None => self.at..self.at,
            Some(c) => self.at..self.at + c.len_utf8(),
        }
    }

    fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> Word<'a> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let place = self.at..self.at + length;
        self.at += length;
        Word { text: &rest[..length], place }
    }

    fn skip_blanks(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\t' | '\r'));
    }

    fn skip_white(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
    }

    /// Skips blanks, empty lines and comments.
    fn skip_empty(&mut self) {
        self.skip_white();
        while self.peek() == Some('#') {
            self.take_while(|c| c != '\n');
            self.skip_white();
        }
    }

    /// Skips to the next line that looks like a declaration; inside braces, to the first such line
    /// after the opening one.
    fn recover(&mut self) {
        if let Some(open) = self.braces {
            self.at = open;
        }
        loop {
            self.take_while(|c| c != '\n');
            if self.at == self.text.len() {
                return;
            }
            self.at += 1;
            let start = self.at;
            self.skip_blanks();
            let word = self.take_while(is_name_character);
            self.skip_blanks();
            let declares = DECLARATION_WORDS.contains(&word.text) && self.peek() == Some(':');
            self.at = start;
            if declares {
                return;
            }
        }
    }

    fn declaration(&mut self) -> Result<Declaration<'a>> {
        let start = self.at;
        let keyword = self.take_while(is_name_character);
        let kind = match keyword.text {
            "system" => Kind::System(self.field("a name for the system")?),
            "clock" => Kind::Clock(
                self.number("the number of clocks (1 for a single clock)")?,
                self.field("the clock's name")?,
            ),
            "int" => Kind::Int(
                [
                    self.number("the number of variables (1 for a single one)")?,
                    self.number("the smallest value")?,
                    self.number("the largest value")?,
                    self.number("the initial value")?,
                ],
                self.field("the variable's name")?,
            ),
            "process" => Kind::Process(self.field("the process's name")?),
            "event" => Kind::Event(self.field("the event's name")?),
            "location" => Kind::Location(self.field("a process")?, self.field("the location's name")?),
            "edge" => Kind::Edge([
                self.field("a process")?,
                self.field("the source location")?,
                self.field("the target location")?,
                self.field("an event")?,
            ]),
            "sync" => Kind::Sync(self.sync_items()?),
            _ => return Err(self.unknown_keyword(&keyword)),
        };
        self.skip_blanks();
        let attributes = if self.peek() == Some('{') { self.attributes()? } else { Vec::new() };
        let end = self.at;
        self.skip_blanks();
        match self.peek() {
            None | Some('\n' | '#') => {
                let place = start..start + self.text[start..end].trim_end().len();
                Ok(Declaration { kind, attributes, place })
            }
            Some(':') => Err(Box::new(
                Diagnostic::error(format!("there is more on this line than `{}` takes", keyword.text))
                    .at(self.here(), "not expected here")
                    .help(form(keyword.text)),
            )),
            Some(c) => Err(Box::new(
                Diagnostic::error(format!("`{}` is not allowed here", c.escape_debug()))
                    .at(self.here(), "expected the end of the line")
                    .help(if is_name_character(c) || attributes.is_empty() {
                        "names are made of letters, digits, `_` and `.`, and do not begin with a digit"
                    } else {
                        "a declaration ends with its attributes; the next one begins on a new line"
                    }),
            )),
        }
    }

    fn unknown_keyword(&self, keyword: &Word<'a>) -> Box<Diagnostic> {
        if keyword.text.is_empty() {
            let found = self.peek().map_or(String::new(), |c| c.escape_debug().to_string());
            return Box::new(
                Diagnostic::error(format!("`{found}` cannot begin a declaration"))
                    .at(self.here(), "expected `process`, `clock`, `edge`, ...")
                    .help("comments begin with `#`"),
            );
        }
        Box::new(
            Diagnostic::error(format!("`{}` is not a kind of declaration", keyword.text))
                .at(keyword.place.clone(), "")
                .suggest_or_list(keyword.text, DECLARATION_WORDS, "a line begins with one of"),
        )
    }

    fn colon(&mut self, what: &str) -> Result<()> {
        self.skip_blanks();
        if self.peek() == Some(':') {
            self.at += 1;
            self.skip_blanks();
            return Ok(());
        }
        Err(self.missing(&format!("expected `:` and {what}")))
    }

    fn missing(&self, message: &str) -> Box<Diagnostic> {
        let note = match self.peek() {
            None => "the file ends here".to_owned(),
            Some('\n' | '#') => "the line ends here".to_owned(),
            Some(c) => format!("found `{}`", c.escape_debug()),
        };
        Box::new(Diagnostic::error(message).at(self.here(), note))
    }

    /// `:NAME`
    fn field(&mut self, what: &str) -> Result<Word<'a>> {
        self.colon(what)?;
        let name = self.name(what)?;
        self.skip_blanks();
        match self.peek() {
            None | Some(':' | '{' | '\n' | '#') => Ok(name),
            Some(c) => Err(Box::new(
                Diagnostic::error(format!("`{}` cannot be part of a name", c.escape_debug()))
                    .at(self.here(), "")
                    .help("names are made of letters, digits, `_` and `.`, and do not begin with a digit"),
            )),
        }
    }

    fn name(&mut self, what: &str) -> Result<Word<'a>> {
        if !self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Err(self.missing(&format!("expected {what}")));
        }
        let name = self.take_while(is_name_character);
        if DECLARATION_WORDS.contains(&name.text) {
            return Err(Box::new(
                Diagnostic::error(format!("`{}` is a reserved word and cannot be a name", name.text))
                    .at(name.place, "")
                    .help("choose another name"),
            ));
        }
        Ok(name)
    }

    /// `:NUMBER`
    fn number(&mut self, what: &str) -> Result<Number> {
        self.colon(what)?;
        let start = self.at;
        let negative = self.peek() == Some('-');
        if matches!(self.peek(), Some('-' | '+')) {
            self.at += 1;
            self.skip_blanks();
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.text.is_empty() {
            return Err(self.missing(&format!("expected a number: {what}")));
        }
        // A number with too many digits is treated like one that is out of range.
        let value = digits.text.parse().unwrap_or(i64::MAX);
        Ok(Number { value: if negative { -value } else { value }, place: start..self.at })
    }

    fn sync_items(&mut self) -> Result<Vec<SyncItem<'a>>> {
        let mut items = Vec::new();
        self.colon("PROCESS@EVENT")?;
        loop {
            let process = self.name("a process of a synchronisation")?;
            self.skip_blanks();
            if self.peek() != Some('@') {
                return Err(Box::new(
                    self.missing("expected `@` and an event after the process")
                        .help("a synchronisation is written `sync:P1@e1:P2@e2`"),
                ));
            }
            self.at += 1;
            self.skip_blanks();
            let event = self.name("an event of a synchronisation")?;
            self.skip_blanks();
            let weak = self.peek() == Some('?');
            if weak {
                self.at += 1;
                self.skip_blanks();
            }
            items.push(SyncItem { process, event, weak });
            if self.peek() != Some(':') {
                return Ok(items);
            }
            self.at += 1;
            self.skip_blanks();
        }
    }

    /// `{KEY:VALUE:...}`
    fn attributes(&mut self) -> Result<Vec<Attribute<'a>>> {
        let open = self.at;
        self.braces = Some(open);
        self.at += 1;
        self.skip_white();
        let mut attributes = Vec::new();
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(attributes);
        }
        loop {
            attributes.push(self.attribute(open)?);
            match self.peek() {
                Some(':') => {
                    self.at += 1;
                    self.skip_white();
                }
                _ => {
                    self.at += 1;
                    return Ok(attributes);
                }
            }
        }
    }

    /// One attribute, up to the `:` or `}` that ends it.
    fn attribute(&mut self, open: usize) -> Result<Attribute<'a>> {
        let key = self.take_while(is_name_character);
        if key.text.is_empty() || key.text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(Box::new(match self.peek() {
                Some('=') if self.text[..self.at].ends_with(':') => {
                    Diagnostic::error("`:=` is not an assignment in this format")
                        .at(self.at - 1..self.at + 1, "`:` begins the next attribute")
                        .help("assignments are written with `=` alone: `x=0`")
                }
                None => self.unclosed(open),
                _ => self
                    .missing("expected the name of an attribute")
                    .help("attributes are written `{key:value : key:value}`; values cannot contain `:`"),
            }));
        }
        self.skip_white();
        if self.peek() != Some(':') {
            if self.at == self.text.len() {
                return Err(Box::new(self.unclosed(open)));
            }
            return Err(Box::new(
                Diagnostic::error(format!("expected `:` after the attribute `{}`", key.text))
                    .at(self.here(), "")
                    .help(format!("an attribute without value is written `{}:`", key.text)),
            ));
        }
        self.at += 1;
        let value = self.take_while(|c| !matches!(c, ':' | '{' | '}' | '#'));
        match self.peek() {
            Some(':' | '}') => {
                let blank = value.text.len() - value.text.trim_ascii_start().len();
                let text = value.text.trim_ascii();
                let start = value.place.start + blank;
                Ok(Attribute { key, value: Word { text, place: start..start + text.len() } })
            }
            Some('#') => Err(Box::new(
                Diagnostic::error("`#` is not allowed inside an attribute list")
                    .at(self.here(), "")
                    .help("comments are possible only outside of braces"),
            )),
            Some(c) => Err(Box::new(
                Diagnostic::error(format!("`{c}` is not allowed inside an attribute list"))
                    .at(self.here(), "")
                    .help("the attribute list before it may lack its `}`"),
            )),
            None => Err(Box::new(self.unclosed(open))),
        }
    }

    fn unclosed(&self, open: usize) -> Diagnostic {
        Diagnostic::error("this attribute list is never closed")
            .at(open..open + 1, "")
            .help("add the missing `}`")
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// The syntax of a declaration.
fn form(keyword: &str) -> &'static str {
    match keyword {
        "system" => "it is written `system:NAME`",
        "clock" => "it is written `clock:SIZE:NAME`",
        "int" => "it is written `int:SIZE:MIN:MAX:INIT:NAME`",
        "process" => "it is written `process:NAME`",
        "event" => "it is written `event:NAME`",
        "location" => "it is written `location:PROCESS:NAME{attributes}`",
        "edge" => "it is written `edge:PROCESS:SOURCE:TARGET:EVENT{attributes}`",
        _ => "it is written `sync:PROCESS@EVENT:PROCESS@EVENT`",
    }
}
