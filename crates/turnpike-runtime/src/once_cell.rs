//! Replacements for the crates `once_cell` and `lazy_static`, under control of the scheduler.

/// Cells for many threads.
pub mod sync {
    pub use crate::sync::{LazyLock as Lazy, OnceLock as OnceCell};
}

/// Cells for one thread.
pub mod unsync {
    pub use std::cell::{LazyCell as Lazy, OnceCell};
}

/// `lazy_static!`: values that are computed when they are first used, once in each execution.
///
/// ```
/// turnpike_runtime::lazy_static! {
///     /// A table.
///     pub static ref SQUARES: Vec<u32> = (0..4).map(|number| number * number).collect();
/// }
/// assert_eq!(SQUARES[3], 9);
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $value:expr;)*) => {
        $(
            $(#[$attribute])*
            $visible static $name: $crate::sync::LazyLock<$type> = $crate::sync::LazyLock::new(|| $value);
        )*
    };
}
