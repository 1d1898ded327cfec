//! Code templates with holes for tokens of the user.

use proc_macro::{Group, Spacing, TokenStream, TokenTree};

use crate::is_punct;

/// Expands a template, replacing each word of `holes` by its tokens.
pub(crate) fn fill(template: &str, holes: &[(&str, TokenStream)]) -> TokenStream {
    let code: TokenStream = template.parse().expect("a template is Rust");
    replace(code, holes)
}

fn replace(code: TokenStream, holes: &[(&str, TokenStream)]) -> TokenStream {
    let mut out = TokenStream::new();
    for token in code {
        match token {
            TokenTree::Group(group) => {
                let mut filled = Group::new(group.delimiter(), replace(group.stream(), holes));
                filled.set_span(group.span());
                out.extend([TokenTree::Group(filled)]);
            }
            TokenTree::Ident(word) => {
                let text = word.to_string();
                match holes.iter().find(|(hole, _)| *hole == text) {
                    Some((_, tokens)) => out.extend(tokens.clone()),
                    None => out.extend([TokenTree::Ident(word)]),
                }
            }
            other => out.extend([other]),
        }
    }
    out
}

/// The next comma that separates expressions, not the arguments of `::<A, B>`.
pub(crate) fn next_comma(tokens: &[TokenTree]) -> Option<usize> {
    let joint = |at: usize, char| matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == char && punct.spacing() == Spacing::Joint);
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate() {
        let arrow = at > 0 && (joint(at - 1, '-') || joint(at - 1, '='));
        if is_punct(token, '<')
            && (depth > 0 || (at >= 2 && joint(at - 2, ':') && is_punct(&tokens[at - 1], ':')))
        {
            depth += 1;
        } else if is_punct(token, '>') && !arrow {
            depth = depth.saturating_sub(1);
        } else if is_punct(token, ',') && depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The expressions between commas.
pub(crate) fn split_commas(mut tokens: &[TokenTree]) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    while !tokens.is_empty() {
        let end = next_comma(tokens).unwrap_or(tokens.len());
        parts.push(tokens[..end].iter().cloned().collect());
        tokens = tokens.get(end + 1..).unwrap_or_default();
    }
    parts
}
