//! One module per command: its flags and what it does.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explore;
pub(crate) mod formula;
pub(crate) mod generate;
pub(crate) mod header;
pub(crate) mod info;
pub(crate) mod lab;
pub(crate) mod launch;
pub(crate) mod linearise;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod reduce;
pub(crate) mod replay;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod strategies;
