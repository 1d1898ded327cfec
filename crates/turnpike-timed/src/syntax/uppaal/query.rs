//! Queries, and query files.

use std::ops::Range;

use turnpike_model::{Diagnostic, Severity};

use super::lexer::Kind;
use super::parser::{Context, Failed, Parser, Reading};
use super::passage::Passage;
use super::tree::{Dialect, Expression, Extremum, Formula, Query};

/// Parses one query.
pub fn parse_query(text: &str) -> Result<Formula, Diagnostic> {
    read(text, 0, formula)
}

/// The same with spans that start at some offset, to distinguish them from those of another text.
pub(crate) fn parse_query_behind(text: &str, start: usize) -> Result<Formula, Diagnostic> {
    read(text, start, formula)
}

/// Parses a condition on states: an expression as in a query.
pub fn parse_condition(text: &str) -> Result<Expression, Diagnostic> {
    parse_condition_behind(text, 0)
}

/// The same with spans that start at some offset.
pub(crate) fn parse_condition_behind(text: &str, start: usize) -> Result<Expression, Diagnostic> {
    read(text, start, |parser| {
        let condition = parser.expression()?;
        parser.finish("an operator or the end")?;
        Ok(condition)
    })
}

fn read<T>(text: &str, start: usize, read: impl FnOnce(&mut Parser) -> Reading<T>) -> Result<T, Diagnostic> {
    let passage = Passage::verbatim_behind(text, start);
    let mut context = Context::new(Dialect::New);
    let result = read(&mut Parser::new(&passage, &mut context));
    let first = context.diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    match (result, first) {
        (Ok(value), None) => Ok(value),
        (_, first) => Err(first.unwrap_or_else(|| Diagnostic::error("this cannot be read"))),
    }
}

fn formula(parser: &mut Parser) -> Reading<Formula> {
    if let Some(construct) = unsupported_form(parser) {
        let place = parser.token().span.clone();
        return Err(parser.unsupported(construct, place, "use E<>, A[], E[], A<>, -->, sup, inf or bounds"));
    }
    let formula = match (parser.word_at(0), parser.peek_at(1), parser.peek_at(2)) {
        (Some("E"), Kind::Less, Kind::Greater) => Formula::Possibly(after(parser, 3)?),
        (Some("A"), Kind::LeftBracket, Kind::RightBracket) => Formula::Invariantly(after(parser, 3)?),
        (Some("E"), Kind::LeftBracket, Kind::RightBracket) => Formula::PotentiallyAlways(after(parser, 3)?),
        (Some("A"), Kind::Less, Kind::Greater) => Formula::Eventually(after(parser, 3)?),
        (Some("sup"), Kind::Colon | Kind::LeftBrace, _) => extremum(parser, Extremum::Supremum)?,
        (Some("inf"), Kind::Colon | Kind::LeftBrace, _) => extremum(parser, Extremum::Infimum)?,
        (Some("bounds"), Kind::Colon | Kind::LeftBrace, _) => extremum(parser, Extremum::Bounds)?,
        _ => leads_to(parser)?,
    };
    if parser.word_at(0) == Some("under") {
        let place = parser.token().span.clone();
        return Err(parser.unsupported("queries under a strategy", place, ""));
    }
    if parser.peek() == Kind::LeadsTo {
        let place = parser.token().span.clone();
        let diagnostic = Diagnostic::error("`-->` cannot be combined with other path formulas")
            .at(place, "unexpected")
            .help("`p --> q` alone means that every state with p is followed by one with q");
        return Err(parser.context.error(diagnostic));
    }
    parser.finish("an operator or the end of the query")?;
    Ok(formula)
}

fn after(parser: &mut Parser, tokens: usize) -> Reading<Expression> {
    for _ in 0..tokens {
        parser.bump();
    }
    parser.expression()
}

fn leads_to(parser: &mut Parser) -> Reading<Formula> {
    if parser.peek() == Kind::End {
        return Err(parser.unexpected("a query"));
    }
    let start = parser.start();
    let premise = parser.expression()?;
    if parser.eat(Kind::LeadsTo) {
        return Ok(Formula::LeadsTo(premise, parser.expression()?));
    }
    if parser.peek() == Kind::End {
        let place = parser.since(start);
        let diagnostic = Diagnostic::error("expected a query, found a condition")
            .at(place, "only a condition")
            .help("put `E<>` (some reachable state), `A[]` (all of them), `E[]` or `A<>` before it");
        return Err(parser.context.error(diagnostic));
    }
    Err(parser.unexpected("an operator, `-->` or the end of the query"))
}

fn extremum(parser: &mut Parser, kind: Extremum) -> Reading<Formula> {
    parser.bump();
    let mut condition = None;
    if parser.eat(Kind::LeftBrace) {
        if parser.peek() != Kind::RightBrace {
            condition = Some(parser.expression()?);
        }
        parser.expect(Kind::RightBrace, "an operator or `}`")?;
    }
    parser.expect(Kind::Colon, "`:` and expressions")?;
    Ok(Formula::Extremum { kind, condition, expressions: parser.expressions()? })
}

/// The name of a known but unsupported form of query.
fn unsupported_form(parser: &Parser) -> Option<&'static str> {
    let next = parser.peek_at(1);
    let opens = matches!(next, Kind::LeftBracket | Kind::LeftParenthesis | Kind::LeftBrace);
    let word = match parser.word_at(0) {
        Some(word) => word,
        None if parser.peek() == Kind::LeftBrace => return Some("games of partial observation"),
        None => return None,
    };
    match word {
        "A" | "E" if next == Kind::LeftBracket && parser.peek_at(2) != Kind::RightBracket => {
            // `A[p U q]`, `E[<=10](max: x)`; but `A[1].x --> …` is about a process.
            if word == "E" && matches!(parser.peek_at(2), Kind::LessEqual | Kind::Unknown) {
                return Some("statistical queries (`E[...]`)");
            }
            until(parser).then_some("queries with `U` or `W` (until)")
        }
        "Pr" if opens => Some("statistical queries (`Pr`)"),
        "simulate" | "simulation" if opens || next == Kind::Integer => {
            Some("simulation queries (`simulate`)")
        }
        "strategy" if next == Kind::Name => Some("strategies (`strategy`)"),
        "saveStrategy" | "loadStrategy" if opens => Some("strategies"),
        "minE" | "maxE" | "minPr" | "maxPr" if opens => Some("learning queries"),
        "control" | "control_t" | "acontrol" if next == Kind::Colon || next == Kind::Star || opens => {
            Some("game queries (`control`)")
        }
        "E" if matches!(next, Kind::Less) && parser.word_at(2) == Some("control") => {
            Some("game queries (`control`)")
        }
        "refinement" | "specification" | "implementation" | "consistency" if next == Kind::Colon => {
            Some("refinement queries")
        }
        "PO" if next == Kind::Name => Some("games of partial observation"),
        "scenario" | "sat" if matches!(next, Kind::Name | Kind::Colon) => Some("scenario queries"),
        _ => None,
    }
}

/// Whether the brackets after the first word contain `U` or `W` between expressions.
fn until(parser: &Parser) -> bool {
    let mut open = 0_usize;
    let mut ahead = 1;
    loop {
        match parser.peek_at(ahead) {
            Kind::End => return false,
            Kind::LeftBracket | Kind::LeftParenthesis => open += 1,
            Kind::RightBracket | Kind::RightParenthesis => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return false;
                }
            }
            // The word is an operator only if two operands would otherwise be adjacent.
            Kind::Name if open == 1 && ahead > 2 && matches!(parser.word_at(ahead), Some("U" | "W")) => {
                let before = parser.peek_at(ahead - 1);
                let operand = matches!(
                    before,
                    Kind::Name
                        | Kind::Integer
                        | Kind::RightParenthesis
                        | Kind::RightBracket
                        | Kind::True
                        | Kind::False
                        | Kind::Deadlock
                );
                if operand {
                    return true;
                }
            }
            _ => {}
        }
        ahead += 1;
    }
}

/// Splits a `.q` file into queries: one per line, with the comment before it; a backslash continues
/// a line. Comments are replaced by blanks, so that offsets stay those in the file.
pub fn split_queries(text: &str) -> Result<Vec<Query>, Diagnostic> {
    let (blanked, comments) = blank(text)?;
    let mut queries = Vec::new();
    let mut line = 0;
    for part in blanked.split_inclusive('\n') {
        let query = part.trim();
        if !query.is_empty() && query != "\u{feff}" {
            let start = line + (part.len() - part.trim_start().len());
            let comment = comment_before(text, &comments, start);
            queries.push(Query {
                text: query.to_owned(),
                comment,
                expect: None,
                span: start..start + query.len(),
            });
        }
        line += part.len();
    }
    Ok(queries)
}

/// The formula of an XML file as one line without comments.
pub(super) fn one_line(text: &str) -> Result<String, Failed> {
    let (blanked, _) = blank(text).map_err(|_| Failed)?;
    Ok(blanked.replace(['\r', '\n'], " "))
}

/// The text with blanks for comments and continued line ends, and the places of the comments.
fn blank(text: &str) -> Result<(String, Vec<Range<usize>>), Diagnostic> {
    let mut bytes = text.as_bytes().to_vec();
    let mut comments = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let end = if rest.starts_with(b"//") {
            let length = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
            let end = length.map_or(text.len(), |length| at + length);
            comments.push(at..end);
            end
        } else if rest.starts_with(b"/*") {
            let Some(length) = rest[2..].windows(2).position(|pair| pair == b"*/") else {
                return Err(Diagnostic::error("this comment does not end")
                    .at(at..at + 2, "begins here")
                    .help("comments end with `*/`; they do not nest"));
            };
            let end = at + 2 + length + 2;
            comments.push(at..end);
            end
        } else if rest[0] == b'\\' {
            let blanks = rest[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
            if rest.get(1 + blanks) != Some(&b'\n') {
                at += 1;
                continue;
            }
            at + blanks + 2
        } else {
            at += 1;
            continue;
        };
        bytes[at..end].fill(b' ');
        at = end;
    }
    // Only whole characters were replaced, so this is still UTF-8.
    Ok((String::from_utf8_lossy(&bytes).into_owned(), comments))
}

/// The last comment on lines of its own between the previous query and this one.
fn comment_before(text: &str, comments: &[Range<usize>], start: usize) -> String {
    let end = comments.partition_point(|comment| comment.end <= start);
    let Some(last) = end.checked_sub(1).map(|last| &comments[last]) else { return String::new() };
    let only_blanks = |range: Range<usize>| text[range].chars().all(char::is_whitespace);
    if !only_blanks(last.end..start) {
        return String::new();
    }
    let alone = |comment: &Range<usize>| {
        let line = text[..comment.start].rfind('\n').map_or(0, |before| before + 1);
        only_blanks(line..comment.start)
    };
    let mut first = end - 1;
    if !alone(&comments[first]) {
        return String::new();
    }
    // Consecutive `//` lines are one comment.
    while text[comments[first].clone()].starts_with("//")
        && let Some(before) = first.checked_sub(1)
        && text[comments[before].clone()].starts_with("//")
        && alone(&comments[before])
    {
        let gap = comments[before].end..comments[first].start;
        if !only_blanks(gap.clone()) || text[gap].matches('\n').count() > 1 {
            break;
        }
        first = before;
    }
    let lines = comments[first..end].iter().flat_map(|comment| {
        let comment = &text[comment.clone()];
        comment
            .strip_prefix("/*")
            .map_or_else(
                || comment.trim_start_matches('/'),
                |inside| inside.strip_suffix("*/").unwrap_or(inside),
            )
            .lines()
    });
    lines.map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_files_have_one_query_a_line() {
        let file = "//header\n\n/*\n first\n*/\nA[] not deadlock // why\n\n//two\n// lines é\nE<> ( a and \\\n  b )\r\n\n\nE<> c";
        let queries = split_queries(file).unwrap();
        let all: Vec<_> = queries.iter().map(|query| (query.text.as_str(), query.comment.as_str())).collect();
        assert_eq!(
            all,
            [("A[] not deadlock", "first"), ("E<> ( a and     b )", "two\nlines é"), ("E<> c", "")]
        );
        assert_eq!(&file[queries[1].span.clone()], "E<> ( a and \\\n  b )");
        assert!(split_queries("E<> x /* never").unwrap_err().message.contains("does not end"));
        assert_eq!(split_queries(" \n//nothing\n").unwrap(), []);
    }

    #[test]
    fn every_form_is_read() {
        let kinds = [
            ("E<> P.a", "E<>"),
            ("E <> P.a", "E<>"),
            ("A[]not deadlock", "A[]"),
            ("E[] x<3", "E[]"),
            ("A<>P(1).a imply b", "A<>"),
            ("P.a --> P.b || x > 3", "-->"),
            ("A[1].x --> E.y", "-->"),
            ("sup: x, y", "sup"),
            ("inf{P.a && x>1}: x", "inf"),
            ("bounds{}: v", "bounds"),
        ];
        for (text, expected) in kinds {
            let formula = parse_query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let kind = match formula {
                Formula::Possibly(_) => "E<>",
                Formula::Invariantly(_) => "A[]",
                Formula::PotentiallyAlways(_) => "E[]",
                Formula::Eventually(_) => "A<>",
                Formula::LeadsTo(..) => "-->",
                Formula::Extremum { kind: Extremum::Supremum, .. } => "sup",
                Formula::Extremum { kind: Extremum::Infimum, .. } => "inf",
                Formula::Extremum { kind: Extremum::Bounds, .. } => "bounds",
            };
            assert_eq!(kind, expected, "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused_by_name() {
        for (text, named) in [
            ("Pr[<=10](<> P.a)", "`Pr`"),
            ("simulate 1 [<=1] { x }", "simulate"),
            ("simulate [<=1;10] { x }", "simulate"),
            ("E[<=10;100](max: x)", "E[...]"),
            ("E[#<=10](max: x)", "E[...]"),
            ("strategy S = control: A<> P.a", "strategies"),
            ("control: A[] not P.a", "control"),
            ("control_t*(1,2): A[] not P.a", "control"),
            ("minE(x)[<=10]: <> P.a", "learning"),
            ("saveStrategy(\"f\", S)", "strategies"),
            ("A[p U q]", "until"),
            ("A[ P.a && x < 3 W P.b ]", "until"),
            ("E<> P.a under S", "under a strategy"),
            ("{ a, b } control: A<> x", "partial observation"),
        ] {
            let error = parse_query(text).expect_err(text);
            assert!(error.message.contains(named) && error.unsupported, "{text}: {error}");
            let range = error.span.expect("a place").range;
            assert!(text.get(range).is_some_and(|place| !place.is_empty()), "{text}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, message) in [
            ("", "expected a query, but the text ends"),
            ("P.a", "expected a query, found a condition"),
            ("E<> ", "expected an expression, but the text ends"),
            ("E<> (a", "expected an operator or `)`, but the text ends"),
            ("E<> a b", "expected an operator or the end of the query, found `b`"),
            ("A[] a --> b", "`-->` cannot be combined with other path formulas"),
            ("E<> a =< 3", "expected an operator or the end of the query, found `=<`"),
            ("E<> a # 3", "unexpected `#`"),
            ("sup x", "expected an operator, `-->` or the end of the query, found `x`"),
        ] {
            assert_eq!(parse_query(text).expect_err(text).message, message, "{text}");
        }
    }
}
