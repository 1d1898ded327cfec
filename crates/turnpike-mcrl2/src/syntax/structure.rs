//! A pass over the tokens before parsing. It pairs brackets and determines, in linear time, two
//! things that would otherwise need unbounded look-ahead: which conditions have an else branch, and
//! which braces are a comprehension.
//!
//! A `<>` belongs to the nearest `->` before it, inside the same brackets, that has none yet. Only
//! complete conditionals may come between the two.

use turnpike_model::Diagnostic;

use super::lexer::{Kind, Token};

/// An open bracket.
struct Open {
    /// The index of the bracket; none at the level of declarations.
    token: Option<usize>,
    /// The arrows from this index on are inside the bracket.
    arrows: usize,
    /// Inside the variables of a `sum` or `dist`, arrows belong to sorts.
    variables_of: Option<Kind>,
}

/// Sets [`Token::partner`] and [`Token::flag`], and reports brackets without a partner, at most one
/// per declaration.
pub(super) fn find(tokens: &mut [Token], diagnostics: &mut Vec<Diagnostic>) {
    let ground = || Open { token: None, arrows: 0, variables_of: None };
    let mut open = vec![ground()];
    let mut arrows: Vec<usize> = Vec::new();
    // After an error the rest of the declaration is skipped.
    let mut broken = false;
    for index in 0..tokens.len() {
        let kind = tokens[index].kind;
        if kind == Kind::Semicolon || kind == Kind::End || kind.starts_section() {
            if !broken && open.len() > 1 {
                diagnostics.push(unclosed_bracket(tokens, &open));
            }
            open.clear();
            open.push(ground());
            arrows.clear();
            broken = false;
            continue;
        }
        if broken {
            continue;
        }
        let top = open.last_mut().expect("the ground level is never left");
        match kind {
            Kind::OpenParen | Kind::OpenBracket | Kind::OpenBrace => {
                if kind == Kind::OpenBracket && top.variables_of == Some(Kind::Dist) {
                    top.variables_of = None;
                }
                open.push(Open { token: Some(index), arrows: arrows.len(), variables_of: None });
            }
            Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace => match top.token {
                Some(partner) if closing(tokens[partner].kind) == kind => {
                    arrows.truncate(top.arrows);
                    open.pop();
                    tokens[partner].partner = index as u32;
                    tokens[index].partner = partner as u32;
                }
                partner => {
                    diagnostics.push(wrong_bracket(tokens, partner, index));
                    broken = true;
                }
            },
            Kind::Sum | Kind::Dist => top.variables_of = Some(kind),
            Kind::Dot if top.variables_of == Some(Kind::Sum) => top.variables_of = None,
            Kind::Arrow if top.variables_of.is_none() => arrows.push(index),
            Kind::Else if arrows.len() > top.arrows => {
                if let Some(arrow) = arrows.pop() {
                    tokens[arrow].flag = true;
                }
            }
            Kind::Bar => {
                if let Some(brace) = top.token {
                    tokens[brace].flag = true;
                }
            }
            _ => {}
        }
    }
}

/// The closing bracket for an opening one.
fn closing(open: Kind) -> Kind {
    match open {
        Kind::OpenParen => Kind::CloseParen,
        Kind::OpenBracket => Kind::CloseBracket,
        _ => Kind::CloseBrace,
    }
}

fn text(kind: Kind) -> &'static str {
    match kind {
        Kind::OpenParen => "(",
        Kind::OpenBracket => "[",
        Kind::OpenBrace => "{",
        Kind::CloseParen => ")",
        Kind::CloseBracket => "]",
        _ => "}",
    }
}

fn unclosed_bracket(tokens: &[Token], open: &[Open]) -> Diagnostic {
    let innermost = open.last().and_then(|open| open.token).unwrap_or_default();
    let token = &tokens[innermost];
    let diagnostic = Diagnostic::error(format!("this `{}` is never closed", text(token.kind)))
        .at(token.span.range(), "opened here");
    match open.len() - 2 {
        0 => diagnostic
            .help(format!("a `{}` is missing before the end of the declaration", text(closing(token.kind)))),
        1 => diagnostic.help("and neither is one more bracket around it"),
        more => diagnostic.help(format!("and neither are {more} more brackets around it")),
    }
}

fn wrong_bracket(tokens: &[Token], partner: Option<usize>, index: usize) -> Diagnostic {
    let found = &tokens[index];
    match partner {
        None => Diagnostic::error(format!("this `{}` closes nothing", text(found.kind)))
            .at(found.span.range(), "")
            .help("remove it, or open a bracket before it"),
        Some(partner) => {
            let open = &tokens[partner];
            let right = text(closing(open.kind));
            Diagnostic::error(format!("this `{}` is closed by `{}`", text(open.kind), text(found.kind)))
                .at(
                    open.span.to(found.span).range(),
                    format!("from `{}` to `{}`", text(open.kind), text(found.kind)),
                )
                .help(format!("a `{right}` is missing or `{}` is one too many", text(found.kind)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer;
    use super::*;

    /// The byte offsets of flagged tokens.
    fn flags(source: &str) -> Vec<u32> {
        let mut diagnostics = Vec::new();
        let mut tokens = lexer::tokens(source, &mut diagnostics);
        find(&mut tokens, &mut diagnostics);
        assert_eq!(diagnostics, []);
        tokens.iter().filter(|token| token.flag).map(|token| token.span.start).collect()
    }

    #[test]
    fn an_else_belongs_to_the_nearest_condition_without_one() {
        assert_eq!(flags("x -> y -> a <> b"), [7]);
        assert_eq!(flags("x -> y -> a <> b <> c"), [2, 7]);
        assert_eq!(flags("x -> a + (y -> b) <> c"), [2]);
        assert_eq!(flags("x -> a <> y -> b <> c"), [2, 12]);
        assert_eq!(flags("x -> a <> y -> b; z -> c <> d"), [2, 20]);
        assert_eq!(flags("x -> sum f: A -> B. a <> b"), [2]);
        assert_eq!(flags("x -> dist f: A -> B[w]. a <> b"), [2]);
    }

    #[test]
    fn a_bar_directly_inside_braces_makes_a_comprehension() {
        assert_eq!(flags("{x: Nat | {y: 1} == z}"), [0]);
        assert_eq!(flags("{x: {y: Nat | b}}"), [4]);
    }

    #[test]
    fn brackets_without_partner() {
        for (source, place, message) in [
            (
                "f(a, (b)",
                1..2,
                "this `(` is never closed (a `)` is missing before the end of the declaration)",
            ),
            ("f(a, [b; (c)", 5..6, "this `[` is never closed (and neither is one more bracket around it)"),
            ("f(a])])", 1..4, "this `(` is closed by `]` (a `)` is missing or `]` is one too many)"),
            ("a); (b)", 1..2, "this `)` closes nothing (remove it, or open a bracket before it)"),
        ] {
            let mut diagnostics = Vec::new();
            let mut tokens = lexer::tokens(source, &mut diagnostics);
            find(&mut tokens, &mut diagnostics);
            let [one] = &diagnostics[..] else { panic!("{source}: {diagnostics:?}") };
            assert_eq!((one.to_string().as_str(), &one.span.as_ref().unwrap().range), (message, &place));
        }
    }
}
