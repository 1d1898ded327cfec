//! `select!`: parsing the branches, and generating the code that polls them.

use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

use crate::tokens::{fill, next_comma};
use crate::{Mistake, is_punct, is_word};

/// `pattern = future, if condition => handler`.
struct Branch {
    pattern: TokenStream,
    future: TokenStream,
    condition: TokenStream,
    handler: TokenStream,
}

/// The input of `select!`.
struct Branches {
    biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<TokenStream>,
}

/// Each branch has a bit in one number.
const MOST_BRANCHES: usize = 64;

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream, Mistake> {
    let Branches { biased, branches, otherwise } = parse(input)?;
    let count = branches.len();
    if count == 0 && otherwise.is_none() {
        return Err(("select! requires at least one branch", Span::call_site()));
    }
    if count > MOST_BRANCHES {
        return Err(("select! has at most 64 branches", Span::call_site()));
    }
    let types: String = (0..count).map(|i| format!("T{i},")).collect();
    let variants: String = (0..count).map(|i| format!("Branch{i}(T{i}),")).collect();
    let Parts { conditions, values, futures, polls, handlers } = Parts::of(branches);
    let otherwise = otherwise.unwrap_or_else(|| {
        fill("::core::panic!(\"all branches are disabled and there is no else branch\")", &[])
    });
    let first = if biased {
        "0usize".to_owned()
    } else {
        format!("::turnpike::tokio::first_branch({count}usize, __disabled)")
    };
    Ok(fill(
        &format!(
            "{{
                enum __Output<{types}> {{ {variants} Disabled }}
                let __output = {{
                    let mut __disabled = 0u64;
                    CONDITIONS
                    VALUES
                    FUTURES
                    ::core::future::poll_fn(|__context| {{
                        let _ = &__context;
                        let __first: usize = {first};
                        let mut __pending = false;
                        for __turn in 0..{count}usize {{
                            match (__first + __turn) % {count}usize {{
                                POLLS
                                _ => ::core::unreachable!(),
                            }}
                        }}
                        if __pending {{
                            ::core::task::Poll::Pending
                        }} else {{
                            ::core::task::Poll::Ready(__Output::Disabled)
                        }}
                    }})
                    .await
                }};
                match __output {{
                    HANDLERS
                    __Output::Disabled => OTHERWISE,
                    #[allow(unreachable_patterns)]
                    _ => ::core::unreachable!(\"the pattern was tried before\"),
                }}
            }}"
        ),
        &[
            ("CONDITIONS", conditions),
            ("VALUES", values),
            ("FUTURES", fill(&futures, &[])),
            ("POLLS", polls),
            ("HANDLERS", handlers),
            ("OTHERWISE", otherwise),
        ],
    ))
}

/// What the branches contribute to the parts of the expansion.
#[derive(Default)]
struct Parts {
    conditions: TokenStream,
    values: TokenStream,
    futures: String,
    polls: TokenStream,
    handlers: TokenStream,
}

impl Parts {
    fn of(branches: Vec<Branch>) -> Self {
        let mut parts = Parts::default();
        for (i, branch) in branches.into_iter().enumerate() {
            let bit = format!("(1u64 << {i}u32)");
            parts.conditions.extend(fill(
                &format!("if !(CONDITION) {{ __disabled |= {bit}; }}"),
                &[("CONDITION", branch.condition)],
            ));
            // What a future borrows from its expression lives as long as it.
            parts.values.extend(fill(&format!("let __future{i} = FUTURE;"), &[("FUTURE", branch.future)]));
            // Pinned in reverse, so that they are dropped in their order, as tokio does.
            parts.futures.insert_str(
                0,
                &format!(
                    "let mut __future{i} = \
                     ::core::pin::pin!(::core::future::IntoFuture::into_future(__future{i}));"
                ),
            );
            parts.polls.extend(fill(
                &format!(
                    "{i}usize => {{
                        if __disabled & {bit} != 0 {{ continue; }}
                        match ::core::future::Future::poll(__future{i}.as_mut(), __context) {{
                            ::core::task::Poll::Ready(__value) => {{
                                __disabled |= {bit};
                                #[allow(unused_variables)]
                                match &__value {{
                                    PATTERN => {{}}
                                    #[allow(unreachable_patterns)]
                                    _ => continue,
                                }}
                                return ::core::task::Poll::Ready(__Output::Branch{i}(__value));
                            }}
                            ::core::task::Poll::Pending => __pending = true,
                        }}
                    }}"
                ),
                &[("PATTERN", without_bindings(branch.pattern.clone()))],
            ));
            parts.handlers.extend(fill(
                &format!("__Output::Branch{i}(PATTERN) => HANDLER,"),
                &[("PATTERN", branch.pattern), ("HANDLER", branch.handler)],
            ));
        }
        parts
    }
}

/// The pattern without `mut` and `ref`, so that it matches a reference to the same values.
fn without_bindings(pattern: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut after_reference = false;
    for token in pattern {
        let binds = is_word(&token, "mut") || is_word(&token, "ref");
        let keep = !binds || after_reference;
        after_reference = is_punct(&token, '&');
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_bindings(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other if keep => out.extend([other]),
            _ => {}
        }
    }
    out
}

fn parse(input: TokenStream) -> Result<Branches, Mistake> {
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    let biased =
        matches!(tokens.as_slice(), [word, end, ..] if is_word(word, "biased") && is_punct(end, ';'));
    if biased {
        tokens.drain(..2);
    }
    let mut rest = tokens.as_slice();
    let mut found = Branches { biased, branches: Vec::new(), otherwise: None };
    while let Some(first) = rest.first() {
        let span = first.span();
        if found.otherwise.is_some() {
            return Err(("nothing may follow the `else` branch", span));
        }
        if is_word(first, "else") {
            let (head, after) = split_arrow(rest, span)?;
            if head.len() != 1 {
                return Err(("expected `else => …`", span));
            }
            let handler;
            (handler, rest) = split_handler(after, span)?;
            found.otherwise = Some(handler);
            continue;
        }
        let (head, after) = split_arrow(rest, span)?;
        let (pattern, future, condition) = split_head(head, span)?;
        let handler;
        (handler, rest) = split_handler(after, span)?;
        found.branches.push(Branch { pattern, future, condition, handler });
    }
    Ok(found)
}

/// The tokens before and after the first `=>`.
pub(crate) fn split_arrow(tokens: &[TokenTree], span: Span) -> Result<(&[TokenTree], &[TokenTree]), Mistake> {
    let arrow = tokens.windows(2).position(|pair| is_joint(&pair[0], '=') && is_punct(&pair[1], '>'));
    let arrow = arrow.ok_or(("expected `pattern = future => handler`", span))?;
    Ok((&tokens[..arrow], &tokens[arrow + 2..]))
}

/// `pattern = future, if condition`.
fn split_head(head: &[TokenTree], span: Span) -> Result<(TokenStream, TokenStream, TokenStream), Mistake> {
    let equals = (0..head.len()).find(|&at| {
        let before = at.checked_sub(1).map(|before| &head[before]);
        let part = before.is_some_and(|token| is_joint(token, '.') || is_joint(token, '='));
        is_punct(&head[at], '=') && !is_joint(&head[at], '=') && !part
    });
    let equals = equals.ok_or(("expected `pattern = future => handler`", span))?;
    let (pattern, future) = (&head[..equals], &head[equals + 1..]);
    let guard = future.windows(2).position(|pair| is_punct(&pair[0], ',') && is_word(&pair[1], "if"));
    let (future, condition) = match guard {
        Some(at) => (&future[..at], future[at + 2..].iter().cloned().collect()),
        None => (future, fill("true", &[])),
    };
    if pattern.is_empty() || future.is_empty() {
        return Err(("expected `pattern = future => handler`", span));
    }
    Ok((pattern.iter().cloned().collect(), future.iter().cloned().collect(), condition))
}

/// A handler, and the tokens after it: a block, or an expression up to a comma.
pub(crate) fn split_handler(
    tokens: &[TokenTree],
    span: Span,
) -> Result<(TokenStream, &[TokenTree]), Mistake> {
    let is_block =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let comma = |token: &TokenTree| is_punct(token, ',');
    let end = match tokens.first() {
        None => return Err(("expected a handler after `=>`", span)),
        Some(first) if is_block(first) => 1,
        Some(_) => next_comma(tokens).unwrap_or(tokens.len()),
    };
    let (handler, mut rest) = tokens.split_at(end);
    if rest.first().is_some_and(comma) {
        rest = &rest[1..];
    }
    if handler.is_empty() {
        return Err(("expected a handler after `=>`", span));
    }
    Ok((handler.iter().cloned().collect(), rest))
}

fn is_joint(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char && punct.spacing() == Spacing::Joint)
}
