//! The objective `accepting`: a cycle that can be reached and that goes through accepting states (Büchi acceptance), or
//! through a state of each of several sets (generalised).
//!
//! | strategy | algorithm |
//! |---|---|
//! | `dfs`, `rdfs` | nested depth-first search with colours ([`nested`]); one set. `rdfs` tries successors in a random order |
//! | `bfs`, several sets, or on request | strongly connected components on the fly ([`components`]) |
//! | `drs` | Deep Random Search for cycles of its tree, then components of all it stored ([`walks`]) |
//! | `auto` | `drs` with a budget, then components from what it left |
//!
//! All of them store the transitions they computed ([`graph`]), so that no state is expanded twice, and stop at the first cycle. The
//! witness is a way to the cycle and once around it, both made short within what is stored. States are merged by equality only.
//! When everything was expanded and there is no such cycle, that is a proof.

mod components;
mod graph;
mod nested;
mod walks;

use turnpike_model::Diagnostic;

use super::Strategy;
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
enum Order {
    Given,
    Random,
}

/// Expansions of random walks before the portfolio turns to components.
const PORTFOLIO_BUDGET: u64 = 10_000;

/// Refuses what cannot be combined with accepting cycles, or makes no sense without them.
pub(crate) fn validate(options: &SearchOptions) -> Result<(), Diagnostic> {
    let Some(objective) = options.objectives.iter().find(|objective| objective.is_accepting()) else {
        return match options.algorithm {
            Some(_) => Err(Diagnostic::error("an algorithm is chosen only for accepting cycles")
                .help("add --find accepting, or leave out --algorithm")),
            None => Ok(()),
        };
    };
    if options.objectives.len() > 1 {
        let others = options.objectives.iter().filter(|other| !other.is_accepting()).map(Objective::text);
        let others: Vec<&str> = others.collect();
        return Err(Diagnostic::error(format!("'{objective}' is looked for in a way of its own"))
            .help(format!("search for {} in a run of its own", others.join(", "))));
    }
    let (strategy, name) = (&options.strategy, options.strategy.name());
    if !matches!(strategy, Strategy::Auto | Strategy::Bfs | Strategy::Dfs | Strategy::Rdfs | Strategy::Drs(_))
    {
        return Err(Diagnostic::error(format!("{name} cannot find accepting cycles"))
            .help("use --strategy dfs, rdfs, bfs, drs or auto"));
    }
    if let Strategy::Drs(drs) = strategy {
        walks::validate(drs)?;
    }
    if options.algorithm.is_some() && matches!(strategy, Strategy::Auto | Strategy::Drs(_)) {
        return Err(Diagnostic::error(format!("the algorithm of {name} for accepting cycles is its own"))
            .help("--algorithm belongs to dfs, rdfs and bfs"));
    }
    if options.algorithm == Some(LassoAlgorithm::Nested) {
        if matches!(strategy, Strategy::Bfs) {
            return Err(Diagnostic::error("nested depth-first search is not breadth-first")
                .help("use --strategy dfs or rdfs, or --algorithm scc"));
        }
        if objective.acceptance_sets() > 1 {
            return Err(Diagnostic::error("nested depth-first search knows one set of accepting states")
                .help("leave out --algorithm, or use --algorithm scc"));
        }
    }
    if !options.store.is_exact() {
        return Err(Diagnostic::error(format!(
            "accepting cycles cannot be found with the {} store",
            options.store
        ))
        .help("a cycle closes only where a state is known for certain: use --store exact or tree"));
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
    let order = if matches!(strategy, Strategy::Rdfs) { Order::Random } else { Order::Given };
    match strategy {
        Strategy::Drs(options) => walks::search(run, graph, options),
        Strategy::Auto => {
            let limit = run.state_limit();
            run.cap_states(run.counters.states.saturating_add(PORTFOLIO_BUDGET));
            let outcome = walks::search(run, graph, &super::DrsOptions::default());
            run.cap_states(u64::MAX);
            run.counters.generated = None;
            match outcome {
                Err(Halt::Stop(StopReason::MaxStates)) if run.counters.states < limit => {
                    components::search(run, graph, order)
                }
                outcome => outcome,
            }
        }
        _ => {
            let nested = !matches!(strategy, Strategy::Bfs) && graph.sets() == 1;
            match run.options.algorithm {
                Some(LassoAlgorithm::Components) => components::search(run, graph, order),
                _ if nested => nested::search(run, graph, order),
                _ => components::search(run, graph, order),
            }
        }
    }
}
