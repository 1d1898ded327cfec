//! Flags for timed automata.

use clap::{Args, ValueEnum};
use turnpike_session::TimedReading;
use turnpike_timed::explore::Cover;
use turnpike_timed::zone::Extrapolation;

/// How timed automata are explored.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Timed automata")]
pub(crate) struct TimedArgs {
    /// How zones are made coarser [default: the coarsest way that is right for what is asked]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) extrapolation: Option<ExtrapolationArg>,
    /// Leave out states that another one covers: by inclusion of their zones, or by what the bounds of clocks let them do
    /// (alu); for bfs and dfs
    #[arg(long, value_enum, value_name = "RELATION")]
    pub(crate) cover: Option<CoverArg>,
    /// Let time pass before transitions rather than after them
    #[arg(long)]
    pub(crate) delay_first: bool,
    /// What an assignment out of range is: an error of the model, or a transition that is not there
    #[arg(long, value_enum, value_name = "MEANING")]
    pub(crate) out_of_range: Option<OutOfRange>,
    /// Let an automaton watch the model, which it never keeps from moving: declarations of a .tck file, in which it takes part weakly
    /// (sync:P@a:Watch@seen?), or UPPAAL text that ends with `system Watch;` and hears broadcast channels (repeatable)
    #[arg(long = "observer", value_name = "FILE")]
    pub(crate) observers: Vec<String>,
}

impl TimedArgs {
    pub(super) fn reading(&self) -> TimedReading {
        TimedReading {
            extrapolation: self.extrapolation.map(|how| match how {
                ExtrapolationArg::None => Extrapolation::None,
                ExtrapolationArg::M => Extrapolation::M,
                ExtrapolationArg::MPlus => Extrapolation::MPlus,
                ExtrapolationArg::Lu => Extrapolation::Lu,
                ExtrapolationArg::LuPlus => Extrapolation::LuPlus,
            }),
            cover: self.cover.and_then(|cover| match cover {
                CoverArg::None => None,
                CoverArg::Inclusion => Some(Cover::Inclusion),
                CoverArg::Alu => Some(Cover::Alu),
            }),
            delay_first: self.delay_first,
            out_of_range_disables: self.out_of_range == Some(OutOfRange::Disable),
            observers: self.observers.clone(),
        }
    }

    /// The first flag that was given, for models it means nothing for.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--extrapolation", self.extrapolation.is_some()),
            ("--delay-first", self.delay_first),
            ("--out-of-range", self.out_of_range.is_some()),
            ("--observer", !self.observers.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// How zones are made coarser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtrapolationArg {
    /// Not at all; the search may not end.
    None,
    /// By the largest constant of each clock.
    M,
    /// The same, coarser above the constants.
    #[value(name = "m+")]
    MPlus,
    /// By lower and upper bounds apart.
    Lu,
    /// The same, coarser above the constants.
    #[value(name = "lu+")]
    LuPlus,
}

/// Which states cover which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoverArg {
    /// States are merged only when they are equal.
    None,
    /// A zone covers those it includes.
    Inclusion,
    /// A zone covers those it simulates, by the bounds that clocks are still compared with.
    Alu,
}

/// What an assignment out of range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutOfRange {
    /// An error of the model.
    Error,
    /// A transition that is not there.
    Disable,
}
