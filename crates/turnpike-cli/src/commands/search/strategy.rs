//! From flags to a strategy. A flag that another strategy would need is a contradiction, never ignored.

use turnpike_model::{Diagnostic, ModelInfo};
use turnpike_search::Strategy;
use turnpike_search::strategy::{
    self, DrsOptions, Fringe, GeneticOptions, Guide, Over, RandomOptions, StrategyInfo,
};

use super::flags::{FringeArg, OverArg, StrategyArgs};
use crate::failure::Outcome;

/// States per level when none are asked for.
const DEFAULT_WIDTH: u64 = 32;

const LEVELS: &[&str] = &["highway", "highway-ideal", "highway-approx", "beam"];
const GUIDED: &[&str] = &["beam", "best-first"];
const RANDOM: &[&str] = &["random"];
const DRS: &[&str] = &["drs"];
const GENETIC: &[&str] = &["genetic", "mutation"];

/// Every flag that belongs to some strategies only: its name, whether it was given, and to which.
fn owned_flags(args: &StrategyArgs) -> Vec<(&'static str, bool, &'static [&'static str])> {
    vec![
        ("--algorithm", args.algorithm.is_some(), &["dfs", "rdfs", "bfs"]),
        ("--width", args.width.is_some(), LEVELS),
        ("--guide", args.guide.is_some(), GUIDED),
        ("--queue", args.queue.is_some(), &["best-first"]),
        ("--over", args.over.is_some(), RANDOM),
        ("--restart", args.restart, RANDOM),
        ("--restart-depth", args.restart_depth.is_some(), RANDOM),
        ("--concrete", args.concrete, RANDOM),
        ("--bug-depth", args.bug_depth.is_some(), &["pct"]),
        ("--walks", args.walks.is_some(), DRS),
        ("--cutoff", args.cutoff.is_some(), DRS),
        ("--increment", args.increment.is_some(), DRS),
        ("--literal", args.literal, DRS),
        ("--fringe", args.fringe.is_some(), DRS),
        ("--depth-aware", args.depth_aware, DRS),
        ("--anytime", args.anytime, DRS),
        ("--population", args.population.is_some(), GENETIC),
        ("--parents", args.parents.is_some(), GENETIC),
        ("--mutation", args.mutation.is_some(), GENETIC),
        ("--generations", args.generations.is_some(), GENETIC),
        ("--depth", args.depth.is_some(), &["exhaustive", "genetic", "mutation"]),
        ("--fitness", args.fitness.is_some(), GENETIC),
        ("--stagnation", args.stagnation.is_some(), GENETIC),
    ]
}

/// Finds the strategy and refuses flags that contradict it. Needs no model, but to know whether there will be a program.
pub(crate) fn chosen(args: &StrategyArgs, program: bool) -> Outcome<&'static StrategyInfo> {
    let info = strategy::find(&args.strategy)?;
    for (flag, given, owners) in owned_flags(args) {
        if given && !owners.contains(&info.name) {
            let strategies = if owners.len() == 1 { "strategy" } else { "strategies" };
            let message = format!(
                "{flag} belongs to the {strategies} {}, but the strategy is {}",
                owners.join(", "),
                info.name
            );
            let help = format!("leave it out, or add --strategy {}", owners[0]);
            return Err(Diagnostic::error(message).help(help).into());
        }
    }
    let clashes = [
        ("--depth-aware", args.depth_aware),
        ("--anytime", args.anytime),
        ("--fringe children", args.fringe == Some(FringeArg::Children)),
    ];
    if args.literal
        && let Some((flag, _)) = clashes.into_iter().find(|(_, given)| *given)
    {
        let message = format!("--literal runs the algorithm as printed, which {flag} departs from");
        return Err(Diagnostic::error(message).help("give one of the two").into());
    }
    if info.name == "exhaustive" && args.depth.is_none() && !program {
        return Err(Diagnostic::error("exhaustive needs --depth: it follows every path up to that depth")
            .help("for example --depth 20; bfs covers everything without a bound")
            .into());
    }
    Ok(info)
}

/// The strategy with its parameters, for this model.
pub(crate) fn built(args: &StrategyArgs, info: &StrategyInfo, model: &ModelInfo) -> Outcome<Strategy> {
    let width = args.width.unwrap_or(DEFAULT_WIDTH);
    Ok(match info.name {
        "auto" => Strategy::Auto,
        "random" => Strategy::Random(RandomOptions {
            over: match args.over {
                Some(OverArg::Transitions) => Over::Transitions,
                Some(OverArg::States) | None => Over::States,
            },
            // One execution of a program says little: it is executed again and again.
            restart: args.restart || model.capabilities.violations_on_expansion,
            restart_depth: args.restart_depth,
            concrete: args.concrete,
        }),
        "pct" => Strategy::Pct { depth: args.bug_depth.unwrap_or(strategy::DEFAULT_BUG_DEPTH) },
        "pos" => Strategy::Pos,
        "weighted" => Strategy::Weighted,
        "bfs" => Strategy::Bfs,
        "dfs" => Strategy::Dfs,
        "rdfs" => Strategy::Rdfs,
        "highway" => Strategy::Highway { width },
        "highway-ideal" => Strategy::HighwayIdeal { width },
        "highway-approx" => Strategy::HighwayApprox { width },
        "drs" => Strategy::Drs(DrsOptions {
            walks: args.walks,
            cutoff: args.cutoff,
            increment: args.increment,
            literal: args.literal,
            fringe: match args.fringe {
                Some(FringeArg::Children) => Fringe::Children,
                Some(FringeArg::Node) | None => Fringe::Node,
            },
            depth_aware: args.depth_aware,
            anytime: args.anytime,
        }),
        "genetic" | "mutation" => Strategy::Genetic(genetic(args, info.name == "genetic")?),
        "exhaustive" => Strategy::Exhaustive { depth: args.depth.unwrap_or(u32::MAX) },
        "beam" => Strategy::Beam { width, guide: guide(args, model)? },
        "best-first" => Strategy::BestFirst { guide: guide(args, model)?, queue: args.queue },
        other => return Err(Diagnostic::error(format!("the strategy {other} has no flags yet")).into()),
    })
}

fn genetic(args: &StrategyArgs, crossover: bool) -> Outcome<GeneticOptions> {
    let usual = GeneticOptions::default();
    Ok(GeneticOptions {
        population: args.population.unwrap_or(usual.population),
        parents: args.parents.unwrap_or(usual.parents),
        mutation: args.mutation.unwrap_or(usual.mutation),
        generations: args.generations.unwrap_or(usual.generations),
        depth: args.depth.unwrap_or(usual.depth),
        fitness: args.fitness.as_deref().map_or(Ok(usual.fitness), str::parse)?,
        crossover,
        stagnation: args.stagnation.unwrap_or(usual.stagnation),
    })
}

/// The guide, which guided strategies cannot do without.
fn guide(args: &StrategyArgs, model: &ModelInfo) -> Outcome<Guide> {
    let Some(text) = &args.guide else {
        let error =
            Diagnostic::error(format!("{} needs --guide: the measure that leads the search", args.strategy));
        let names: Vec<&str> = model.measures.iter().map(|measure| measure.name.as_str()).collect();
        return Err(match names.is_empty() {
            true => error.help(format!("{} has no measures; choose another strategy", model.name)),
            false => error.help(format!("the measures of {} are {}", model.name, names.join(", "))),
        }
        .into());
    };
    Ok(text.parse::<Guide>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(strategy: &str) -> StrategyArgs {
        StrategyArgs { strategy: strategy.to_owned(), ..StrategyArgs::default() }
    }

    #[test]
    fn every_strategy_can_be_built() {
        let model = ModelInfo::new("m", 1);
        for info in strategy::TABLE {
            let mut args = args(info.name);
            args.depth = (info.name == "exhaustive").then_some(5);
            args.guide = GUIDED.contains(&info.name).then(|| "max x".to_owned());
            let info = chosen(&args, false).expect("no contradiction");
            assert_eq!(built(&args, info, &model).expect("complete").name(), info.name);
        }
    }

    /// The words of `turnpike strategies` and the flags that are accepted must not drift apart.
    #[test]
    fn the_table_names_the_flags_that_are_accepted() {
        let general = ["--threads", "--store", "--max-depth", "--cover"];
        let flags = owned_flags(&args("auto"));
        for info in strategy::TABLE {
            let words = match info.flags.strip_prefix("as ") {
                Some(other) => strategy::find(other).expect("a strategy").flags,
                None => info.flags,
            };
            let mut told: Vec<&str> =
                words.split_whitespace().filter(|flag| !general.contains(flag)).collect();
            let mut accepted: Vec<&str> =
                flags.iter().filter(|(_, _, of)| of.contains(&info.name)).map(|(flag, _, _)| *flag).collect();
            told.sort_unstable();
            accepted.sort_unstable();
            assert_eq!(told, accepted, "{}", info.name);
        }
    }
}
