//! Chooses how a network is explored, by what it contains: the extrapolation of zones, and how
//! successors are computed.

use turnpike_model::Diagnostic;

use super::condition::Compiled;
use super::{Options, diagonal};
use crate::compile::analysis::{self, Bounds};
use crate::compile::layout::Layout;
use crate::compile::tables::{FixedAtom, Tables};
use crate::network::{Edge, Network, Sync};
use crate::query::Condition;
use crate::zone::Extrapolation;

/// Whether every transition leads from a whole zone to at most one zone, judging by the clocks in
/// its guard, its updates and the invariants.
pub(super) fn is_quick(
    network: &Network,
    tables: &Tables,
    differences: &[FixedAtom],
    stay: Option<&Compiled>,
    options: &Options,
) -> bool {
    let whole = !tables.has_priorities && options.elapsed;
    let one = differences.is_empty() && stay.is_none();
    // Clocks decide who receives, or when time stops. Cells of an array share one declaration.
    let splits = |edge: &Edge| match &edge.sync {
        Sync::Send(cell) | Sync::Receive(cell) if !edge.guard.clocks.is_empty() => {
            let channel = &network.channels[cell.base.0 as usize];
            channel.urgent || channel.broadcast && matches!(edge.sync, Sync::Receive(_))
        }
        _ => false,
    };
    let mut edges = network.processes.iter().flat_map(|process| &process.edges);
    whole && one && network.ticker.is_none() && !network.has_stopwatches() && !edges.any(splits)
}

/// Networks with this many words of locations hardly ever revisit a tuple of locations.
const MANY_WORDS: usize = 3;

/// Whether a network that [`is_quick`] has many processes, each with its own clocks.
pub(super) fn is_wide(
    network: &Network,
    tables: &Tables,
    bounds: &Bounds,
    layout: &Layout,
    options: &Options,
) -> bool {
    let many = layout.location_words >= MANY_WORDS || options.wide;
    many && !network.by_events() && !tables.has_unknown_receivers && bounds.are_private()
}

/// The selected extrapolation, with warnings about it.
pub(super) struct ExtrapolationChoice {
    pub(super) extrapolation: Extrapolation,
    pub(super) differences: Vec<FixedAtom>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// The coarsest extrapolation that preserves what is requested. `exact`: it must preserve what is
/// *not* possible, too.
pub(super) fn choose_extrapolation(
    network: &Network,
    conditions: &[Condition],
    options: &Options,
    exact: bool,
) -> Result<ExtrapolationChoice, Vec<Diagnostic>> {
    if options.exact && options.extrapolation.is_none() {
        return Ok(ExtrapolationChoice {
            extrapolation: Extrapolation::None,
            differences: Vec::new(),
            warnings: Vec::new(),
        });
    }
    let is_lu = matches!(options.extrapolation, Some(Extrapolation::Lu | Extrapolation::LuPlus));
    let refuse = |why: &str, help: &str| Err(vec![Diagnostic::error(why).help(help)]);
    let chosen =
        |extrapolation| ExtrapolationChoice { extrapolation, differences: Vec::new(), warnings: Vec::new() };
    if !analysis::has_diagonals(network, conditions) {
        if exact && is_lu {
            return refuse(
                "extrapolation by lower and upper bounds preserves neither deadlocks nor priorities",
                "choose the extrapolation m+, m or none",
            );
        }
        let coarsest = if exact { Extrapolation::MPlus } else { Extrapolation::LuPlus };
        return Ok(chosen(options.extrapolation.unwrap_or(coarsest)));
    }
    if is_lu {
        return refuse(
            "differences of clocks are compared, which extrapolation by lower and upper bounds does not preserve",
            "choose the extrapolation m or none",
        );
    }
    let differences = diagonal::differences(network, conditions);
    let exactly = differences.is_none() || options.extrapolation == Some(Extrapolation::None);
    let extrapolation = if exactly { Extrapolation::None } else { Extrapolation::M };
    let mut chosen =
        ExtrapolationChoice { differences: differences.unwrap_or_default(), ..chosen(extrapolation) };
    if exactly && options.extrapolation != Some(Extrapolation::None) {
        let warning = Diagnostic::warning("differences of clocks are compared: zones are kept exact");
        chosen.warnings.push(warning.help("the search does not end if there are infinitely many of them"));
    }
    Ok(chosen)
}
