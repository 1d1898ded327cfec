//! The strategies in words: what each guarantees, what it costs, when to use it. Help, manual and errors come from here.

use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::nearest;

/// A strategy in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyInfo {
    /// The name used in `--strategy`.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it guarantees.
    pub guarantee: &'static str,
    /// What it costs in memory.
    pub memory: &'static str,
    /// When to use it.
    pub when: &'static str,
    /// Its flags.
    pub flags: &'static str,
}

/// All strategies, the default first.
pub const TABLE: &[StrategyInfo] = &[
    StrategyInfo {
        name: "auto",
        summary: "portfolio of rdfs, highway, random and drs with doubling budgets (programs: source-DPOR, pos, pct, random, weighted, genetic, highway), then witness shortening",
        guarantee: "complete when one of its members covers everything",
        memory: "that of the member running",
        when: "by default: you do not know the shape of the state space",
        flags: "",
    },
    StrategyInfo {
        name: "random",
        summary: "one random walk, uniform over the set of successor states",
        guarantee: "none",
        memory: "constant; with a witness, the loop-erased walk",
        when: "bugs on likely paths; very large states; a baseline",
        flags: "--over --restart --restart-depth --concrete",
    },
    StrategyInfo {
        name: "pct",
        summary: "programs: random thread priorities, changed at D - 1 random steps",
        guarantee: "a bug of depth d is found with probability 1/(n k^(d-1)) in each execution of n threads and k steps",
        memory: "constant",
        when: "bugs that need few orderings but many threads",
        flags: "--bug-depth --threads",
    },
    StrategyInfo {
        name: "pos",
        summary: "programs: random priorities of operations, drawn again when they race",
        guarantee: "none",
        memory: "constant",
        when: "the first thing to try on a program",
        flags: "--threads",
    },
    StrategyInfo {
        name: "weighted",
        summary: "programs: threads in proportion to the steps they have left, so that interleavings are about equally likely",
        guarantee: "none",
        memory: "constant",
        when: "threads of very different length",
        flags: "--threads",
    },
    StrategyInfo {
        name: "bfs",
        summary: "breadth-first search",
        guarantee: "complete; shortest witness",
        memory: "all reachable states up to the depth of the witness",
        when: "the state space fits, or the bug is near",
        flags: "--threads --store --cover --algorithm",
    },
    StrategyInfo {
        name: "dfs",
        summary: "depth-first search in the model's order",
        guarantee: "complete on finite systems",
        memory: "all states met",
        when: "deep bugs when the order of transitions is meaningful",
        flags: "--max-depth --store --cover --algorithm",
    },
    StrategyInfo {
        name: "rdfs",
        summary: "depth-first search, next unvisited successor at random",
        guarantee: "complete on finite systems",
        memory: "all states met",
        when: "finding a bug with the fewest states; witnesses are long",
        flags: "--max-depth --store --algorithm",
    },
    StrategyInfo {
        name: "highway",
        summary: "breadth-first with at most N states per level, drawn exactly uniformly, in a stream",
        guarantee: "complete only while no level exceeds the width",
        memory: "visited states (at most N per level) and 2N candidates",
        when: "short witnesses in state spaces that do not fit",
        flags: "--width --threads",
    },
    StrategyInfo {
        name: "highway-ideal",
        summary: "highway by definition: all eligible successors of a level, then a uniform draw",
        guarantee: "as highway",
        memory: "visited states and all successors of a level",
        when: "as an oracle, and to reproduce the papers",
        flags: "--width --threads",
    },
    StrategyInfo {
        name: "highway-approx",
        summary: "highway by reservoir; states with many predecessors are favoured",
        guarantee: "as highway",
        memory: "visited states and N candidates",
        when: "to reproduce the papers",
        flags: "--width --threads",
    },
    StrategyInfo {
        name: "drs",
        summary: "Deep Random Search: random walks to the end, then again from a random state of the fringe",
        guarantee: "complete without a cutoff; shortest witness with --depth-aware --increment 1 or --anytime",
        memory: "all states met",
        when: "very deep bugs, and complete when there are none",
        flags: "--cover --walks --cutoff --increment --fringe --literal --depth-aware --anytime",
    },
    StrategyInfo {
        name: "genetic",
        summary: "paths as bit strings, bred by fitness",
        guarantee: "none",
        memory: "the population",
        when: "a fitness is known that grows towards the bug, such as few enabled transitions for deadlocks",
        flags: "--population --parents --mutation --generations --depth --fitness --stagnation",
    },
    StrategyInfo {
        name: "mutation",
        summary: "genetic search without crossover",
        guarantee: "none",
        memory: "the population",
        when: "bugs that are sets of choices rather than sequences",
        flags: "as genetic",
    },
    StrategyInfo {
        name: "exhaustive",
        summary: "every path up to a depth, no states stored; of programs one execution for each order of dependent steps (source-DPOR)",
        guarantee: "complete up to the depth",
        memory: "one path",
        when: "states cannot be stored, and the bug is near",
        flags: "--depth",
    },
    StrategyInfo {
        name: "beam",
        summary: "breadth-first with the N most promising states per level",
        guarantee: "complete only while no level exceeds the width",
        memory: "visited states and 2N candidates",
        when: "the model has a measure that leads to the bug, and the witness should be short",
        flags: "--width --guide --threads",
    },
    StrategyInfo {
        name: "best-first",
        summary: "the most promising state first",
        guarantee: "complete on finite systems unless the queue is bounded",
        memory: "all states met",
        when: "the model has a measure that leads to the bug",
        flags: "--guide --queue",
    },
];

/// Finds a strategy by name, or suggests one.
pub fn find(name: &str) -> Result<&'static StrategyInfo, Diagnostic> {
    TABLE.iter().find(|info| info.name == name).ok_or_else(|| {
        let names: Vec<&str> = TABLE.iter().map(|info| info.name).collect();
        let error = Diagnostic::error(format!("there is no strategy '{name}'"));
        match nearest(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help(format!("the strategies are {}", names.join(", "))),
        }
    })
}
