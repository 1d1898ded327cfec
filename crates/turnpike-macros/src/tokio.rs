//! `#[tokio::main]`, and the settings that it shares with `#[tokio::test]`.

use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

use crate::tokens::{fill, split_commas};
use crate::{Mistake, is_punct, is_word};

pub(crate) const NOT_ASYNC: &str = "the `async` keyword is missing from the function declaration";

/// The runtime that the settings ask for. Those that only concern threads and clocks have no effect.
pub(crate) fn runtime(settings: TokenStream, flavor: &str) -> Result<TokenStream, Mistake> {
    let mut flavor = flavor.to_owned();
    let tokens: Vec<TokenTree> = settings.into_iter().collect();
    for setting in split_commas(&tokens) {
        let tokens: Vec<TokenTree> = setting.into_iter().collect();
        let [name, equals, value] = tokens.as_slice() else {
            return Err(("expected a setting like `flavor = \"current_thread\"`", Span::call_site()));
        };
        if !is_punct(equals, '=') {
            return Err(("expected `=` and a value", name.span()));
        }
        if is_word(name, "flavor") {
            flavor = value.to_string().trim_matches('"').to_owned();
        } else if !["worker_threads", "start_paused", "crate", "unhandled_panic", "name"]
            .iter()
            .any(|known| is_word(name, known))
        {
            return Err(("unknown setting", name.span()));
        }
    }
    let builder = match flavor.as_str() {
        "current_thread" | "local" => "new_current_thread",
        "multi_thread" => "new_multi_thread",
        _ => return Err(("no such runtime flavor", Span::call_site())),
    };
    Ok(fill(&format!("::turnpike::tokio::runtime::Builder::{builder}().enable_all().build().unwrap()"), &[]))
}

/// The function without `async`, which runs its body in the runtime.
pub(crate) fn main(settings: TokenStream, item: TokenStream) -> Result<TokenStream, Mistake> {
    let runtime = runtime(settings, "multi_thread")?;
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let keyword = tokens.iter().position(|token| is_word(token, "async"));
    let keyword = keyword.ok_or((NOT_ASYNC, Span::call_site()))?;
    tokens.remove(keyword);
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return Err(("expected the body of a function", Span::call_site()));
    };
    let block = TokenStream::from(TokenTree::Group(body));
    let code = fill("RUNTIME.block_on(async BODY)", &[("RUNTIME", runtime), ("BODY", block)]);
    tokens.push(TokenTree::Group(Group::new(Delimiter::Brace, code)));
    Ok(tokens.into_iter().collect())
}
