//! `join!` and `try_join!`.

use proc_macro::{TokenStream, TokenTree};

use crate::tokens::{fill, split_commas};
use crate::{is_punct, is_word};

/// Polls all futures until they are ready; with `tries` until one of them is an error. Each time a
/// different one is polled first, unless they are preceded by `biased;`.
pub(crate) fn expand(input: TokenStream, tries: bool) -> TokenStream {
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    let biased =
        matches!(tokens.as_slice(), [word, end, ..] if is_word(word, "biased") && is_punct(end, ';'));
    if biased {
        tokens.drain(..2);
    }
    let parts = split_commas(&tokens);
    let count = parts.len();
    let (mut values, mut futures, mut polls) = (TokenStream::new(), String::new(), TokenStream::new());
    for (i, future) in parts.into_iter().enumerate() {
        values.extend(fill(&format!("let __value{i} = FUTURE;"), &[("FUTURE", future)]));
        // Pinned in reverse, so that they are dropped in their order, as tokio does.
        futures.insert_str(
            0,
            &format!(
                "let mut __future{i} = \
                 ::core::pin::pin!(::core::future::IntoFuture::into_future(__value{i}));
                 let mut __output{i} = ::core::option::Option::None;"
            ),
        );
        let ready = match tries {
            false => format!("__output{i} = ::core::option::Option::Some(__value)"),
            true => format!(
                "match __value {{
                    ::core::result::Result::Ok(__value) => \
                        __output{i} = ::core::option::Option::Some(__value),
                    ::core::result::Result::Err(__error) => \
                        return ::core::task::Poll::Ready(::core::result::Result::Err(__error)),
                }}"
            ),
        };
        polls.extend(fill(
            &format!(
                "{i}usize => if __output{i}.is_none() {{
                    match ::core::future::Future::poll(__future{i}.as_mut(), __context) {{
                        ::core::task::Poll::Ready(__value) => {ready},
                        ::core::task::Poll::Pending => __pending = true,
                    }}
                }}"
            ),
            &[],
        ));
    }
    let outputs: String = (0..count).map(|i| format!("__output{i}.take().unwrap(),")).collect();
    let result =
        if tries { format!("::core::result::Result::Ok(({outputs}))") } else { format!("({outputs})") };
    let turn = if biased { "0" } else { "1" };
    fill(
        &format!(
            "{{
                VALUES
                FUTURES
                let mut __first = 0usize;
                ::core::future::poll_fn(|__context| {{
                    let _ = &__context;
                    let mut __pending = false;
                    for __turn in 0..{count}usize {{
                        match (__first + __turn) % {count}usize {{
                            POLLS
                            _ => ::core::unreachable!(),
                        }}
                    }}
                    __first = __first.wrapping_add({turn}) % ({count}usize + ({count}usize == 0) as usize);
                    if __pending {{
                        ::core::task::Poll::Pending
                    }} else {{
                        ::core::task::Poll::Ready({result})
                    }}
                }})
                .await
            }}"
        ),
        &[("VALUES", values), ("FUTURES", fill(&futures, &[])), ("POLLS", polls)],
    )
}
