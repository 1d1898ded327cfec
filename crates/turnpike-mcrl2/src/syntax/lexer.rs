//! Lexer. Characters that do not form a token are reported and skipped.

use logos::Logos;
use turnpike_model::Diagnostic;

use super::symbol::Span;

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"%[^\r\n]*", allow_greedy = true))]
pub(super) enum Kind {
    #[regex("[A-Za-z_][A-Za-z_0-9']*")]
    Identifier,
    #[regex("0|[1-9][0-9]*")]
    Number,
    /// A number with a leading zero, which could be read as octal. The language rejects it.
    #[regex("0[0-9]+")]
    LeadingZero,

    #[token("sort")]
    SortKeyword,
    #[token("cons")]
    ConsKeyword,
    #[token("map")]
    MapKeyword,
    #[token("var")]
    VarKeyword,
    #[token("eqn")]
    EqnKeyword,
    #[token("glob")]
    GlobKeyword,
    #[token("act")]
    ActKeyword,
    #[token("proc")]
    ProcKeyword,
    #[token("init")]
    InitKeyword,

    #[token("struct")]
    Struct,
    #[token("Bool")]
    Bool,
    #[token("Pos")]
    Pos,
    #[token("Nat")]
    Nat,
    #[token("Int")]
    Int,
    #[token("Real")]
    Real,
    #[token("List")]
    List,
    #[token("Set")]
    Set,
    #[token("Bag")]
    Bag,
    #[token("FSet")]
    FSet,
    #[token("FBag")]
    FBag,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("div")]
    Div,
    #[token("mod")]
    Mod,
    #[token("in")]
    In,
    #[token("lambda")]
    Lambda,
    #[token("forall")]
    Forall,
    #[token("exists")]
    Exists,
    #[token("whr")]
    Whr,
    #[token("end")]
    EndKeyword,
    #[token("delta")]
    Delta,
    #[token("tau")]
    Tau,
    #[token("sum")]
    Sum,
    #[token("dist")]
    Dist,
    #[token("block")]
    Block,
    #[token("allow")]
    Allow,
    #[token("hide")]
    Hide,
    #[token("rename")]
    Rename,
    #[token("comm")]
    Comm,
    /// A word that is only reserved for formulas and equation systems.
    #[token("val")]
    #[token("mu")]
    #[token("nu")]
    #[token("delay")]
    #[token("yaled")]
    #[token("form")]
    #[token("inf")]
    #[token("sup")]
    #[token("pbes")]
    #[token("pres")]
    #[token("eqinf")]
    #[token("eqninf")]
    #[token("condsm")]
    #[token("condeq")]
    Reserved,

    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("=")]
    Is,
    #[token("->")]
    Arrow,
    #[token("<>")]
    Else,
    #[token("=>")]
    Implies,
    #[token("||")]
    BarBar,
    #[token("||_")]
    LeftMerge,
    #[token("|")]
    Bar,
    #[token("&&")]
    And,
    /// Reported, then treated as `&&`.
    #[token("&")]
    Ampersand,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token(">")]
    Greater,
    #[token("|>")]
    Cons,
    #[token("<|")]
    Snoc,
    #[token("++")]
    Concat,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("/")]
    Slash,
    #[token("*")]
    Star,
    #[token(".")]
    Dot,
    #[token("!")]
    Not,
    #[token("#")]
    Hash,
    #[token("<<")]
    Before,
    #[token("@")]
    At,

    /// After the last token.
    End,
}

impl Kind {
    /// Whether a section starts here.
    pub(super) fn starts_section(self) -> bool {
        use Kind::*;
        matches!(
            self,
            SortKeyword
                | ConsKeyword
                | MapKeyword
                | VarKeyword
                | EqnKeyword
                | GlobKeyword
                | ActKeyword
                | ProcKeyword
                | InitKeyword
        )
    }
}

/// A token with its position and the findings of [`super::structure`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// For `->`: it has a `<>`. For `{`: there is a `|` directly inside.
    pub(super) flag: bool,
    pub(super) span: Span,
    /// The index of the partner of a bracket; [`NO_PARTNER`] for other tokens and unmatched
    /// brackets.
    pub(super) partner: u32,
}

/// See [`Token::partner`].
pub(super) const NO_PARTNER: u32 = u32::MAX;

/// All tokens of a text shorter than 4 GiB; the last is [`Kind::End`].
pub(super) fn tokens(source: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(source.len() / 4 + 1);
    // A byte order mark is not part of the text.
    let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut unknown: Option<Span> = None;
    for (kind, range) in Kind::lexer(&source[start..]).spanned() {
        let span = Span::new((range.start + start) as u32, (range.end + start) as u32);
        let kind = match kind {
            Ok(kind) => kind,
            Err(()) => {
                unknown = match unknown {
                    Some(before) if before.end == span.start => Some(before.to(span)),
                    before => {
                        diagnostics.extend(before.map(|before| invalid_token(source, before)));
                        Some(span)
                    }
                };
                continue;
            }
        };
        let kind = match kind {
            Kind::LeadingZero => {
                diagnostics.push(leading_zero(source, span));
                Kind::Number
            }
            Kind::Ampersand => {
                diagnostics.push(
                    Diagnostic::error("`&` is not an operator")
                        .at(span.range(), "")
                        .help("conjunction is written `&&`"),
                );
                Kind::And
            }
            kind => kind,
        };
        tokens.push(Token { kind, flag: false, span, partner: NO_PARTNER });
    }
    diagnostics.extend(unknown.map(|unknown| invalid_token(source, unknown)));
    let end = source.len() as u32;
    tokens.push(Token { kind: Kind::End, flag: false, span: Span::new(end, end), partner: NO_PARTNER });
    tokens
}

fn leading_zero(source: &str, span: Span) -> Diagnostic {
    let digits = source[span.range()].trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    Diagnostic::error("a number cannot start with a zero")
        .at(span.range(), "")
        .help(format!("write `{digits}`"))
}

fn invalid_token(source: &str, span: Span) -> Diagnostic {
    let text = &source[span.range()];
    let first = text.chars().next().unwrap_or(' ');
    let help = match first {
        '\'' => "a prime may stand inside a name, but not at its start",
        '"' => "the language has no strings",
        '\\' => "set difference is written `-`",
        '~' => "negation is written `!`",
        '∧' => "conjunction is written `&&`",
        '∨' => "disjunction is written `||`",
        '¬' => "negation is written `!`",
        '→' => "an arrow is written `->`",
        '∀' => "write `forall`",
        '∃' => "write `exists`",
        'λ' => "write `lambda`",
        _ if first.is_whitespace() || first == '\u{200b}' || first == '\u{feff}' => {
            "only blanks, tabs and line ends may separate words"
        }
        _ if !first.is_ascii() => "names consist of the letters A to Z and a to z, digits, `_` and `'`",
        _ => "comments start with `%`",
    };
    let shown: String = text.chars().take(20).flat_map(char::escape_debug).collect();
    let plural = if text.chars().nth(1).is_some() { "these characters have" } else { "this character has" };
    Diagnostic::error(format!("{plural} no meaning here: {shown}")).at(span.range(), "").help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind> {
        let mut diagnostics = Vec::new();
        let kinds = tokens(source, &mut diagnostics).iter().map(|token| token.kind).collect();
        assert_eq!(diagnostics, []);
        kinds
    }

    #[test]
    fn the_longest_token_wins() {
        use Kind::*;
        assert_eq!(kinds("p||_q"), [Identifier, LeftMerge, Identifier, End]);
        assert_eq!(kinds("p|| _q"), [Identifier, BarBar, Identifier, End]);
        assert_eq!(kinds("a<|b|>c<>d<=e=>f==g=h"), {
            let i = Identifier;
            [i, Snoc, i, Cons, i, Else, i, LessEqual, i, Implies, i, Equal, i, Is, i, End]
        });
        assert_eq!(kinds("{:}"), [OpenBrace, Colon, CloseBrace, End]);
        assert_eq!(
            kinds("sums sum' in inn nil if"),
            [Identifier, Identifier, In, Identifier, Identifier, Identifier, End]
        );
        assert_eq!(kinds("x'y''_1 _ 0 10 120"), [Identifier, Identifier, Number, Number, Number, End]);
        assert_eq!(kinds("condeq eqninf mu"), [Reserved, Reserved, Reserved, End]);
    }

    #[test]
    fn comments_end_with_the_line() {
        use Kind::*;
        assert_eq!(kinds("a%%b(\nc% d\re%"), [Identifier, Identifier, Identifier, End]);
        assert_eq!(kinds("\u{feff}act\ta\r\n"), [ActKeyword, Identifier, End]);
    }

    #[test]
    fn invalid_tokens_are_reported() {
        for (source, place, message) in [
            ("a & b", 2..3, "`&` is not an operator (conjunction is written `&&`)"),
            ("007", 0..3, "a number cannot start with a zero (write `7`)"),
            ("00", 0..2, "a number cannot start with a zero (write `0`)"),
            (
                "é",
                0..2,
                "this character has no meaning here: é (names consist of the letters A to Z and a to z, digits, `_` and `'`)",
            ),
            ("a $$ b", 2..4, "these characters have no meaning here: $$ (comments start with `%`)"),
            (
                "'a",
                0..1,
                "this character has no meaning here: \\' (a prime may stand inside a name, but not at its start)",
            ),
        ] {
            let mut diagnostics = Vec::new();
            tokens(source, &mut diagnostics);
            let [one] = &diagnostics[..] else { panic!("{source}: {diagnostics:?}") };
            assert_eq!((one.to_string().as_str(), &one.span.as_ref().unwrap().range), (message, &place));
        }
    }
}
