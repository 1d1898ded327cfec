//! The attribute `#[turnpike::test]`: a test that runs under many thread schedules.
//!
//! It uses only the compiler's own token streams: the function is unchanged, nested in a new test
//! function that calls `turnpike::Config::check` with it.

mod channel_select;
mod join;
mod select;
mod tokens;
mod tokio;

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Turns a function into a test that is executed under many schedules.
///
/// ```text
/// #[turnpike::test]
/// fn withdrawals_do_not_overlap() { /* … */ }
///
/// #[turnpike::test(strategy = "pct", executions = 1000)]
/// fn a_long_one() { /* … */ }
/// ```
///
/// Every setting is a method of `turnpike::Config` with one argument: `strategy = "pct"` calls
/// `.strategy("pct")`. Other attributes of tests, such as `#[should_panic]`, work as usual. The
/// function takes no arguments, and returns nothing or a `Result`: an error fails the test. It may
/// be `async`.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, item: TokenStream) -> TokenStream {
    match calls(settings).and_then(|calls| expand(Runs::Checked(calls), item.clone())) {
        Ok(out) => out,
        Err((message, span)) => {
            let mut out = error(message, span);
            // Keep the function, to avoid follow-up errors about its absence.
            out.extend(item);
            out
        }
    }
}

/// `tokio::select!`: waits for the first of several futures, and drops the others.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input).unwrap_or_else(|(message, span)| error(message, span))
}

/// `crossbeam::channel::select!`: waits for the first of several channels.
#[proc_macro]
pub fn select_channel(input: TokenStream) -> TokenStream {
    channel_select::expand(input, false).unwrap_or_else(|(message, span)| error(message, span))
}

/// `crossbeam::channel::select_biased!`: waits for the first of several channels, and prefers the
/// earlier ones.
#[proc_macro]
pub fn select_biased_channel(input: TokenStream) -> TokenStream {
    channel_select::expand(input, true).unwrap_or_else(|(message, span)| error(message, span))
}

/// `#[tokio::main]`: a function that runs an async one in a runtime of its own.
#[proc_macro_attribute]
pub fn tokio_main(settings: TokenStream, item: TokenStream) -> TokenStream {
    tokio::main(settings, item).unwrap_or_else(|(message, span)| error(message, span))
}

/// `#[tokio::test]`: a test that runs under many schedules, its tasks taking turns as on one
/// thread unless it has `flavor = "multi_thread"`.
#[proc_macro_attribute]
pub fn tokio_test(settings: TokenStream, item: TokenStream) -> TokenStream {
    match tokio::runtime(settings, "current_thread").and_then(|runtime| expand(Runs::In(runtime), item)) {
        Ok(out) => out,
        Err((message, span)) => error(message, span),
    }
}

/// `tokio::join!`: waits for all of several futures.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    join::expand(input, false)
}

/// `tokio::try_join!`: waits for all of several futures, or for the first error.
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    join::expand(input, true)
}

type Mistake = (&'static str, Span);

/// How the function of a test runs.
enum Runs {
    /// With these settings of the check.
    Checked(TokenStream),
    /// In this runtime of tokio.
    In(TokenStream),
}

/// A function without arguments and type parameters.
struct Function {
    attributes: Vec<TokenTree>,
    /// What comes before `fn`, but for `async`.
    head: Vec<TokenTree>,
    asynchronous: Option<TokenTree>,
    name: Ident,
    /// What comes after the name.
    rest: Vec<TokenTree>,
}

impl Function {
    fn parse(item: TokenStream) -> Result<Self, Mistake> {
        let mut attributes = Vec::new();
        let mut head = Vec::new();
        let mut tokens = item.into_iter().peekable();
        // Attributes apply to the test; everything else before the name belongs to the function.
        while let Some(token) = tokens.peek() {
            if !is_punct(token, '#') {
                break;
            }
            attributes.extend(tokens.by_ref().take(2));
        }
        let mut name = None;
        let mut asynchronous = None;
        while let Some(token) = tokens.next() {
            if is_word(&token, "async") {
                asynchronous = Some(token);
                continue;
            }
            if is_word(&token, "fn") {
                let Some(TokenTree::Ident(ident)) = tokens.next() else {
                    return Err(("#[turnpike::test] is for functions", token.span()));
                };
                name = Some(ident);
                break;
            }
            head.push(token);
        }
        let Some(name) = name else {
            return Err(("#[turnpike::test] is for functions", Span::call_site()));
        };
        let rest: Vec<TokenTree> = tokens.collect();
        match rest.first() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                if !group.stream().is_empty() {
                    return Err(("a function with #[turnpike::test] takes no arguments", group.span()));
                }
            }
            _ => return Err(("a function with #[turnpike::test] has no type parameters", name.span())),
        }
        Ok(Function { attributes, head, asynchronous, name, rest })
    }
}

fn expand(runs: Runs, item: TokenStream) -> Result<TokenStream, Mistake> {
    let Function { attributes, head, asynchronous, name, rest } = Function::parse(item)?;
    // #[::core::prelude::v1::test] attributes head
    // fn name() { fn name() {…} ::turnpike::Config::new()….check(name); }
    let mut inner = TokenStream::new();
    let is_async = asynchronous.is_some();
    inner.extend(asynchronous);
    inner.extend([word("fn", Span::call_site()), TokenTree::Ident(name.clone())]);
    inner.extend(rest);
    inner.extend(path(&["turnpike", "Config", "new"]));
    inner.extend([group(Delimiter::Parenthesis, TokenStream::new())]);
    inner.extend(name_call(&name));
    let body = TokenStream::from(TokenTree::Ident(name.clone()));
    let argument = match runs {
        Runs::In(_) if !is_async => return Err((tokio::NOT_ASYNC, name.span())),
        Runs::In(runtime) => {
            tokens::fill("|| RUNTIME.block_on(BODY())", &[("RUNTIME", runtime), ("BODY", body)])
        }
        Runs::Checked(calls) => {
            inner.extend(calls);
            match is_async {
                false => body,
                true => tokens::fill("|| ::turnpike::future::block_on(BODY())", &[("BODY", body)]),
            }
        }
    };
    inner.extend([punct('.', Spacing::Alone), word("check", Span::call_site())]);
    inner.extend([group(Delimiter::Parenthesis, argument), punct(';', Spacing::Alone)]);

    let mut out = TokenStream::new();
    out.extend([
        punct('#', Spacing::Alone),
        group(Delimiter::Bracket, path(&["core", "prelude", "v1", "test"])),
    ]);
    out.extend(attributes);
    out.extend(head);
    out.extend([
        word("fn", Span::call_site()),
        TokenTree::Ident(name),
        group(Delimiter::Parenthesis, TokenStream::new()),
        group(Delimiter::Brace, inner),
    ]);
    Ok(out)
}

/// `.named(::core::module_path!(), "name")`.
fn name_call(name: &Ident) -> TokenStream {
    let text = name.to_string();
    let text = proc_macro::Literal::string(text.strip_prefix("r#").unwrap_or(&text));
    let mut arguments = path(&["core", "module_path"]);
    arguments.extend([
        punct('!', Spacing::Alone),
        group(Delimiter::Parenthesis, TokenStream::new()),
        punct(',', Spacing::Alone),
        text.into(),
    ]);
    [punct('.', Spacing::Alone), word("named", Span::call_site()), group(Delimiter::Parenthesis, arguments)]
        .into_iter()
        .collect()
}

/// `strategy = "pct", executions = 1000` as `.strategy("pct").executions(1000)`.
fn calls(settings: TokenStream) -> Result<TokenStream, Mistake> {
    let mut out = TokenStream::new();
    let mut tokens = settings.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(name) = token else {
            return Err(("expected a setting like `strategy = \"pct\"`", token.span()));
        };
        match tokens.next() {
            Some(equals) if is_punct(&equals, '=') => {}
            _ => return Err(("expected `=` and a value", name.span())),
        }
        let mut value = TokenStream::new();
        while let Some(token) = tokens.next_if(|token| !is_punct(token, ',')) {
            value.extend([token]);
        }
        if value.is_empty() {
            return Err(("expected a value", name.span()));
        }
        tokens.next();
        out.extend([
            punct('.', Spacing::Alone),
            TokenTree::Ident(name),
            group(Delimiter::Parenthesis, value),
        ]);
    }
    Ok(out)
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

fn punct(char: char, spacing: Spacing) -> TokenTree {
    TokenTree::Punct(Punct::new(char, spacing))
}

fn word(text: &str, span: Span) -> TokenTree {
    TokenTree::Ident(Ident::new(text, span))
}

fn group(delimiter: Delimiter, stream: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(delimiter, stream))
}

/// `::one::two`.
fn path(parts: &[&str]) -> TokenStream {
    let mut out = TokenStream::new();
    for part in parts {
        out.extend([punct(':', Spacing::Joint), punct(':', Spacing::Alone), word(part, Span::call_site())]);
    }
    out
}

/// `::core::compile_error!{ "message" }` at a place.
fn error(message: &str, span: Span) -> TokenStream {
    let mut literal = proc_macro::Literal::string(message);
    literal.set_span(span);
    let mut out: Vec<TokenTree> = path(&["core", "compile_error"]).into_iter().collect();
    out.push(punct('!', Spacing::Alone));
    out.push(group(Delimiter::Brace, TokenTree::Literal(literal).into()));
    for token in &mut out {
        token.set_span(span);
    }
    out.into_iter().collect()
}
