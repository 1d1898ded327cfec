//! Code templates with holes for tokens of the user.

use proc_macro::{Group, TokenStream, TokenTree};

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
