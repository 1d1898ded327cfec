//! The objective `accepting`: a reachable cycle through accepting states (Büchi acceptance), or
//! through a state of each of several sets (generalised).
//!
//! | strategy | algorithm |
//! |---|---|
//! | `dfs`, `rdfs` | nested depth-first search with colours ([`nested`]); one set. `rdfs` tries successors in a random order |
//! | `bfs`, several sets, or on request | strongly connected components on the fly ([`components`]) |
//! | `drs` | Deep Random Search for cycles of its tree, then components of all it stored ([`walks`]) |
//! | `auto` | `drs` with a budget, then components from what it left |
//!
//! All of them store the transitions they computed ([`graph`]), so that no state is expanded twice,
//! and stop at the first cycle. The witness is a path to the cycle and once around it, both
//! shortened within what is stored. States are merged by equality only. If everything was expanded
//! and there is no such cycle, that is a proof.

mod components;
mod graph;
mod nested;
mod walks;

use turnpike_model::Diagnostic;

use super::descriptor::{Given, OptionInfo, ValueKind};
use super::{Drs, Strategy};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::Objective;
use crate::options::SearchOptions;
use crate::run::Run;
use graph::Graph;

/// How the strategies that search depth first look for accepting cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LassoAlgorithm {
    /// Nested depth-first search with colours.
    Nested,
    /// Strongly connected components.
    Components,
}

/// The order in which successors are tried.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    Given,
    Random,
}

/// How a strategy looks for accepting cycles.
pub enum Cycles {
    /// By Deep Random Search.
    Walks(Drs),
    /// By walks with a budget, then by components.
    Portfolio,
    /// By nested search or by components.
    Stored { order: Order, breadth_first: bool, algorithm: Option<LassoAlgorithm> },
}

/// The option of strategies that can do it in two ways.
pub(super) const ALGORITHM: OptionInfo = OptionInfo {
    name: "algorithm",
    value: ValueKind::Word(&[
        ("ndfs", "Nested depth-first search"),
        ("scc", "Strongly connected components"),
    ]),
    default: "ndfs for dfs and rdfs, else scc",
    doc: "how to search for accepting cycles",
};

impl Given<'_> {
    pub(super) fn algorithm(&self) -> Option<LassoAlgorithm> {
        self.text(&ALGORITHM).map(|word| match word {
            "scc" => LassoAlgorithm::Components,
            _ => LassoAlgorithm::Nested,
        })
    }
}

/// Expansions of random walks before the portfolio turns to components.
const PORTFOLIO_BUDGET: u64 = 10_000;

/// Refuses what cannot be combined with accepting cycles, or makes no sense without them.
pub(crate) fn validate(options: &SearchOptions) -> Result<(), Diagnostic> {
    let Some(objective) = options.objectives.iter().find(|objective| objective.is_accepting()) else {
        return match options.strategy.cycles() {
            Some(Cycles::Stored { algorithm: Some(_), .. }) => {
                Err(Diagnostic::error("an algorithm is chosen only for accepting cycles")
                    .help("add the objective `accepting`, or leave the algorithm out"))
            }
            _ => Ok(()),
        };
    };
    if options.objectives.len() > 1 {
        let others = options.objectives.iter().filter(|other| !other.is_accepting()).map(Objective::text);
        let others: Vec<&str> = others.collect();
        return Err(Diagnostic::error(format!("'{objective}' is looked for in a way of its own"))
            .help(format!("search for {} in a run of its own", others.join(", "))));
    }
    match options.strategy.cycles() {
        None => {
            let name = options.strategy.name();
            return Err(Diagnostic::error(format!("{name} cannot find accepting cycles"))
                .help("use the strategy dfs, rdfs, bfs, drs or auto"));
        }
        Some(Cycles::Walks(drs)) => walks::validate(&drs)?,
        Some(Cycles::Stored { algorithm: Some(LassoAlgorithm::Nested), breadth_first, .. }) => {
            if breadth_first {
                return Err(Diagnostic::error("nested depth-first search is not breadth-first")
                    .help("use the strategy dfs or rdfs, or the algorithm scc"));
            }
            if objective.acceptance_sets() > 1 {
                return Err(Diagnostic::error("nested depth-first search knows one set of accepting states")
                    .help("leave the algorithm out, or use scc"));
            }
        }
        Some(_) => {}
    }
    if !options.store.is_exact() {
        return Err(Diagnostic::error(format!(
            "accepting cycles cannot be found with the {} store",
            options.store
        ))
        .help("a cycle closes only where a state is known for certain: use the exact or the tree store"));
    }
    Ok(())
}

/// Runs to the end. `Exhausted` claims that there is no accepting cycle.
pub(crate) fn search(run: &mut Run<'_>, strategy: &Strategy) -> Result<StopReason, Halt> {
    let mut graph = Graph::new(run)?;
    let outcome = by_strategy(run, strategy, &mut graph);
    run.counters.considered = Some(graph.len() as u64);
    outcome
}

fn by_strategy(run: &mut Run<'_>, strategy: &Strategy, graph: &mut Graph) -> Result<StopReason, Halt> {
    match strategy.cycles() {
        // Requests are checked before they are carried out.
        None => Ok(StopReason::Finished),
        Some(Cycles::Walks(drs)) => walks::search(run, graph, &drs),
        Some(Cycles::Portfolio) => {
            let limit = run.state_limit();
            run.cap_states(run.counters.states.saturating_add(PORTFOLIO_BUDGET));
            let outcome = walks::search(run, graph, &Drs::default());
            run.cap_states(u64::MAX);
            run.counters.generated = None;
            match outcome {
                Err(Halt::Stop(StopReason::MaxStates)) if run.counters.states < limit => {
                    components::search(run, graph, Order::Given)
                }
                outcome => outcome,
            }
        }
        Some(Cycles::Stored { order, breadth_first, algorithm }) => {
            let nested = !breadth_first && graph.sets() == 1;
            match algorithm {
                Some(LassoAlgorithm::Components) => components::search(run, graph, order),
                _ if nested => nested::search(run, graph, order),
                _ => components::search(run, graph, order),
            }
        }
    }
}
