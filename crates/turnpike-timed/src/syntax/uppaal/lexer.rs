//! The lexer.

use std::ops::Range;

use logos::Logos;

use super::passage::Passage;
use super::tree::Dialect;

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: &'a str,
    /// Its place in the file.
    pub(super) span: Range<usize>,
}

/// Kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0c\u{feff}]+")]
#[logos(skip r"\\[ \t]*\r?\n")]
#[logos(skip(r"//[^\r\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Kind {
    #[regex("[A-Za-z_][A-Za-z_0-9]*")]
    Name,
    #[regex("[0-9]+")]
    Integer,
    /// A number with a fraction or an exponent.
    #[regex(r"[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")]
    Float,
    #[regex(r#""[^"\r\n]*""#)]
    Text,

    #[token("bool")]
    Bool,
    #[token("broadcast")]
    Broadcast,
    #[token("chan")]
    Chan,
    #[token("clock")]
    Clock,
    #[token("commit")]
    Commit,
    #[token("const")]
    Const,
    #[token("deadlock")]
    Deadlock,
    #[token("default")]
    Default,
    #[token("do")]
    Do,
    #[token("double")]
    Double,
    #[token("else")]
    Else,
    #[token("exists")]
    Exists,
    #[token("false")]
    False,
    #[token("for")]
    For,
    #[token("forall")]
    Forall,
    #[token("guard")]
    Guard,
    #[token("if")]
    If,
    #[token("imply")]
    Imply,
    #[token("init")]
    Init,
    #[token("int")]
    Int,
    #[token("meta")]
    Meta,
    #[token("process")]
    Process,
    #[token("progress")]
    Progress,
    #[token("priority")]
    Priority,
    #[token("return")]
    Return,
    #[token("scalar")]
    Scalar,
    #[token("select")]
    Select,
    #[token("state")]
    State,
    #[token("string")]
    String,
    #[token("struct")]
    Struct,
    #[token("sync")]
    Sync,
    #[token("sum")]
    Sum,
    #[token("system")]
    System,
    #[token("trans")]
    Trans,
    #[token("true")]
    True,
    #[token("typedef")]
    Typedef,
    #[token("urgent")]
    Urgent,
    #[token("void")]
    Void,
    #[token("while")]
    While,
    #[token("assert")]
    Assert,
    #[token("assign")]
    Assign,
    #[token("branchpoint")]
    Branchpoint,
    #[token("probability")]
    Probability,
    #[token("hybrid")]
    Hybrid,
    #[token("before_update")]
    BeforeUpdate,
    #[token("after_update")]
    AfterUpdate,
    #[token("gantt")]
    Gantt,
    #[token("import")]
    Import,
    #[token("dynamic")]
    Dynamic,
    #[regex("switch|case|break|continue|enum")]
    Reserved,

    #[token("not")]
    #[token("!")]
    Not,
    #[token("and")]
    #[token("&&")]
    And,
    #[token("or")]
    #[token("||")]
    Or,
    #[token("?")]
    Question,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("'")]
    Prime,
    #[token("(")]
    LeftParenthesis,
    #[token(")")]
    RightParenthesis,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("->")]
    Arrow,
    #[token("-u->")]
    UncontrollableArrow,
    #[token("-->")]
    LeadsTo,

    #[token("=")]
    #[token(":=")]
    Becomes,
    #[token("+=")]
    AddBecomes,
    #[token("-=")]
    SubtractBecomes,
    #[token("*=")]
    MultiplyBecomes,
    #[token("/=")]
    DivideBecomes,
    #[token("%=")]
    RemainderBecomes,
    #[token("&=")]
    BitAndBecomes,
    #[token("|=")]
    BitOrBecomes,
    #[token("^=")]
    BitXorBecomes,
    #[token("<<=")]
    ShiftLeftBecomes,
    #[token(">>=")]
    ShiftRightBecomes,
    #[token("++")]
    Increment,
    #[token("--")]
    Decrement,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("<?")]
    Minimum,
    #[token(">?")]
    Maximum,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token(">")]
    Greater,
    /// `=<` of the old syntax.
    #[token("=<")]
    OldLessEqual,
    /// `=>` of the old syntax.
    #[token("=>")]
    OldGreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("&")]
    Ampersand,
    #[token("^")]
    Caret,
    #[token("|")]
    Bar,

    /// The start of an unterminated comment.
    #[token("/*")]
    OpenComment,
    /// Not a token.
    Unknown,
    /// After the last token.
    End,
}

/// The tokens of a passage, with [`Kind::End`] at the end. Invalid characters become
/// [`Kind::Unknown`], which the parser reports.
pub(super) fn tokens(passage: &Passage, dialect: Dialect) -> Vec<Token<'_>> {
    let text = passage.text.as_str();
    let mut tokens = Vec::new();
    let mut lexer = Kind::lexer(text);
    while let Some(kind) = lexer.next() {
        let mut kind = kind.unwrap_or(Kind::Unknown);
        if dialect == Dialect::Old && is_new(kind) {
            kind = Kind::Name;
        }
        let range = lexer.span();
        tokens.push(Token { kind, text: &text[range.clone()], span: passage.place(range) });
        if kind == Kind::OpenComment {
            break;
        }
    }
    let end = text.trim_end().len();
    tokens.push(Token { kind: Kind::End, text: "", span: passage.place(end..end) });
    tokens
}

/// Words that were ordinary names in the old syntax.
fn is_new(kind: Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::Bool
            | K::Deadlock
            | K::Default
            | K::Do
            | K::Double
            | K::Else
            | K::Exists
            | K::For
            | K::Forall
            | K::If
            | K::Meta
            | K::Progress
            | K::Priority
            | K::Return
            | K::Scalar
            | K::Select
            | K::String
            | K::Struct
            | K::Sum
            | K::Typedef
            | K::Void
            | K::While
            | K::Assert
            | K::Branchpoint
            | K::Probability
            | K::Hybrid
            | K::BeforeUpdate
            | K::AfterUpdate
            | K::Gantt
            | K::Import
            | K::Dynamic
            | K::Reserved
    )
}
