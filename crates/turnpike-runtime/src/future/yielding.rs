//! Yielding to other tasks.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context;

/// Lets other tasks go first. A task that has only read since it last yielded in the same state is
/// not polled again before something that it read has changed.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        match context::active() {
            Some(runtime) => runtime.poll_again(),
            None => context.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}
