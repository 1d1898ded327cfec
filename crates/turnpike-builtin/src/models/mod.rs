//! The models.

mod backloops;
mod bakery;
mod buffers;
mod diamond;
mod philosophers;
mod philosophers_either;
mod scc;
mod sliding_puzzle;
mod two_phase_commit;

use crate::catalogue::BuiltinInfo;

/// All models, from simple to complex.
pub(crate) const ALL: &[BuiltinInfo] = &[
    diamond::INFO,
    backloops::INFO,
    scc::INFO,
    buffers::INFO,
    philosophers::INFO,
    philosophers_either::EITHER,
    philosophers_either::PARITY,
    two_phase_commit::INFO,
    bakery::INFO,
    sliding_puzzle::INFO,
];
