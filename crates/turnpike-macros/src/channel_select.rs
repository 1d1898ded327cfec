//! `select!` over channels.

use proc_macro::{Span, TokenStream, TokenTree};

use crate::select::{split_arrow, split_handler};
use crate::tokens::fill;
use crate::{Mistake, is_punct, is_word};

/// `recv(r) -> pattern => handler` or `send(s, message) -> pattern => handler`.
struct Branch {
    channel: TokenStream,
    /// The message, for a send branch.
    message: Option<TokenStream>,
    pattern: TokenStream,
    handler: TokenStream,
}

const EXPECTED: &str =
    "expected `recv(r) -> result => …`, `send(s, message) -> result => …` or `default => …`";

/// With `biased`, the first ready branch is taken, otherwise each of them is tried.
pub(crate) fn expand(input: TokenStream, biased: bool) -> Result<TokenStream, Mistake> {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let mut rest = tokens.as_slice();
    let (mut branches, mut default) = (Vec::new(), None);
    while let Some(first) = rest.first() {
        let span = first.span();
        let (head, after) = split_arrow(rest, span)?;
        let handler;
        (handler, rest) = split_handler(after, span)?;
        if is_word(first, "default") {
            let limit = match head {
                [_] => fill("::core::option::Option::None", &[]),
                [_, TokenTree::Group(limit)] => {
                    fill("::core::option::Option::Some(LIMIT)", &[("LIMIT", limit.stream())])
                }
                _ => return Err((EXPECTED, span)),
            };
            default = Some((limit, handler));
        } else {
            branches.push(parse(head, handler, span)?);
        }
    }
    if branches.is_empty() && default.is_none() {
        return Err(("select! requires at least one branch", Span::call_site()));
    }
    Ok(code(branches, default, biased))
}

fn parse(head: &[TokenTree], handler: TokenStream, span: Span) -> Result<Branch, Mistake> {
    let [word, TokenTree::Group(arguments), dash, arrow, pattern @ ..] = head else {
        return Err((EXPECTED, span));
    };
    if !is_punct(dash, '-') || !is_punct(arrow, '>') || pattern.is_empty() {
        return Err((EXPECTED, span));
    }
    let arguments: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let parts: Vec<TokenStream> = arguments
        .splitn(2, |token| is_punct(token, ','))
        .map(|part| part.iter().cloned().collect())
        .collect();
    let (channel, message) = match parts.as_slice() {
        [receiver] if is_word(word, "recv") => (receiver.clone(), None),
        [sender, message] if is_word(word, "send") => (sender.clone(), Some(message.clone())),
        _ => return Err((EXPECTED, span)),
    };
    Ok(Branch { channel, message, pattern: pattern.iter().cloned().collect(), handler })
}

fn code(branches: Vec<Branch>, default: Option<(TokenStream, TokenStream)>, biased: bool) -> TokenStream {
    let count = branches.len();
    let types: String = (0..count).map(|i| format!("T{i},")).collect();
    let variants: String = (0..count).map(|i| format!("Branch{i}(T{i}),")).collect();
    let (mut operations, mut polls, mut handlers) =
        (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for (i, branch) in branches.into_iter().enumerate() {
        // A channel may be created in its branch: the variable keeps it alive.
        let make = match &branch.message {
            None => format!("::turnpike::crossbeam::channel::receive(__channel{i})"),
            Some(_) => format!("::turnpike::crossbeam::channel::send(__channel{i}, MESSAGE)"),
        };
        operations.extend(fill(
            &format!("let __channel{i} = &CHANNEL; let mut __operation{i} = {make};"),
            &[("CHANNEL", branch.channel), ("MESSAGE", branch.message.unwrap_or_default())],
        ));
        polls.extend(fill(
            &format!("{i}usize => __operation{i}.poll(__context).map(__Output::Branch{i}),"),
            &[],
        ));
        handlers.extend(fill(
            &format!("::core::option::Option::Some(__Output::Branch{i}(PATTERN)) => HANDLER,"),
            &[("PATTERN", branch.pattern), ("HANDLER", branch.handler)],
        ));
    }
    let (limit, otherwise) = match default {
        Some((limit, handler)) => (fill("::core::option::Option::Some(LIMIT)", &[("LIMIT", limit)]), handler),
        None => (fill("::core::option::Option::None", &[]), fill("::core::unreachable!()", &[])),
    };
    fill(
        &format!(
            "{{
                enum __Output<{types}> {{ {variants} }}
                let __output = {{
                    OPERATIONS
                    ::turnpike::crossbeam::channel::select_branch(
                        {count}usize,
                        {biased},
                        LIMIT,
                        |__branch, __context| match __branch {{
                            POLLS
                            _ => ::core::unreachable!(),
                        }},
                    )
                }};
                match __output {{
                    HANDLERS
                    ::core::option::Option::None => OTHERWISE,
                }}
            }}"
        ),
        &[
            ("OPERATIONS", operations),
            ("LIMIT", limit),
            ("POLLS", polls),
            ("HANDLERS", handlers),
            ("OTHERWISE", otherwise),
        ],
    )
}
