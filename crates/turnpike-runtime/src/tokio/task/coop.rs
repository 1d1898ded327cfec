//! `tokio::task::coop`: cooperation by budgets. Here the scheduler decides who runs, so there are
//! none.
#![allow(unsafe_code)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future without a budget: the future itself.
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

/// The future of [`unconstrained`].
#[derive(Debug)]
#[must_use = "Unconstrained does nothing unless polled"]
pub struct Unconstrained<F> {
    inner: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the field is pinned like all of this, which has no destructor.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(context)
    }
}

/// Lets other tasks go first, as if the budget were used up.
pub async fn consume_budget() {
    super::yield_now().await;
}

/// Always true.
pub fn has_budget_remaining() -> bool {
    true
}
