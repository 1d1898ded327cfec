//! Equivalences of states, and the partition into their classes.

use std::fmt;
use std::str::FromStr;

use crate::Lts;

use crate::reduction::components::{self, Contracted};
use crate::reduction::determinise::determinise;
use crate::reduction::graph::{Alphabet, Graph};
use crate::reduction::limit::Explosion;
use crate::reduction::quotient::quotient;
use crate::reduction::saturate::saturate;
use crate::reduction::{branching, strong};

/// An equivalence of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Equivalence {
    /// Strong bisimilarity: every step of one can be answered by the other with the same label, for
    /// ever. `tau` is a label like any other.
    #[default]
    Strong,
    /// Branching bisimilarity: inert `tau` steps need no answer. Ignores divergence.
    Branching,
    /// Branching bisimilarity that also distinguishes states with an endless run of inert `tau`
    /// steps from states without.
    DivergencePreservingBranching,
    /// Weak bisimilarity: every step can be answered by the same one with any number of `tau` steps
    /// before and after it. Ignores divergence.
    Weak,
    /// The same traces. `tau` is a label like any other.
    Trace,
    /// The same traces without `tau`.
    WeakTrace,
}

impl Equivalence {
    /// All equivalences, in the order of this type.
    pub const ALL: [Equivalence; 6] = [
        Equivalence::Strong,
        Equivalence::Branching,
        Equivalence::DivergencePreservingBranching,
        Equivalence::Weak,
        Equivalence::Trace,
        Equivalence::WeakTrace,
    ];

    /// The name that [`FromStr`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Equivalence::Strong => "strong",
            Equivalence::Branching => "branching",
            Equivalence::DivergencePreservingBranching => "divergence-preserving-branching",
            Equivalence::Weak => "weak",
            Equivalence::Trace => "trace",
            Equivalence::WeakTrace => "weak-trace",
        }
    }

    /// Whether `tau` is treated specially.
    pub fn hides_tau(self) -> bool {
        !matches!(self, Equivalence::Strong | Equivalence::Trace)
    }

    /// A finer bisimilarity that is cheap to compute, for preliminary reductions.
    pub(crate) fn finer(self) -> Equivalence {
        match self {
            Equivalence::Trace => Equivalence::Strong,
            Equivalence::Weak | Equivalence::WeakTrace => Equivalence::Branching,
            bisimilarity => bisimilarity,
        }
    }
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is not the name of an [`Equivalence`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown equivalence `{0}`: use strong, branching, divergence-preserving-branching, weak, trace or weak-trace"
)]
pub struct UnknownEquivalence(pub String);

impl FromStr for Equivalence {
    type Err = UnknownEquivalence;

    fn from_str(text: &str) -> Result<Equivalence, UnknownEquivalence> {
        Equivalence::ALL
            .into_iter()
            .find(|e| e.name() == text)
            .ok_or_else(|| UnknownEquivalence(text.to_owned()))
    }
}

/// The classes of an equivalence, numbered in the order of their first state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The class of each state.
    pub block_of: Vec<u32>,
    /// The number of classes.
    pub blocks: u32,
}

/// The classes of equivalent states, including unreachable states.
///
/// # Errors
/// Weak bisimilarity and the trace equivalences may need more than `limit` permits.
///
/// # Panics
/// If a transition leaves `0..lts.states` or has a label that does not exist, or if there are more
/// than 4,294,967,294 transitions.
pub fn partition(lts: &Lts, equivalence: Equivalence, limit: usize) -> Result<Partition, Explosion> {
    let alphabet = Alphabet::of(&[lts]);
    let graph = Graph::of(lts, &alphabet);
    Ok(refine(&graph, &alphabet, equivalence, limit)?.partition)
}

/// A partition, with the additional data for the quotient.
pub(crate) struct Refined {
    pub(crate) partition: Partition,
    /// The divergent classes, if the equivalence distinguishes them; otherwise empty.
    pub(crate) divergent: Vec<u32>,
}

pub(crate) fn refine(
    graph: &Graph,
    alphabet: &Alphabet,
    equivalence: Equivalence,
    limit: usize,
) -> Result<Refined, Explosion> {
    let finer = refine_bisimilar(graph, alphabet, equivalence.finer());
    if equivalence == equivalence.finer() {
        return Ok(finer);
    }
    let classes = quotient(graph, alphabet, equivalence.finer(), &finer);
    let hidden = alphabet.tau.filter(|_| equivalence.hides_tau());
    let (block_of_class, blocks) = match (equivalence, hidden) {
        (Equivalence::Weak, None) => return Ok(finer),
        (Equivalence::Weak, Some(tau)) => strong::partition(&saturate(&classes, tau, limit)?),
        _ => {
            let (deterministic, starts) = determinise(&classes, hidden, 0..classes.states() as u32, limit)?;
            let (block_of, blocks) = strong::partition(&deterministic);
            (starts.iter().map(|&set| block_of[set as usize]).collect(), blocks)
        }
    };
    let coarser = finer.partition.block_of.iter().map(|&class| block_of_class[class as usize]).collect();
    Ok(Refined { partition: number_by_first_state(coarser, blocks), divergent: Vec::new() })
}

/// The classes of an equivalence that takes time proportional to m log n.
fn refine_bisimilar(graph: &Graph, alphabet: &Alphabet, equivalence: Equivalence) -> Refined {
    let Some(tau) = alphabet.tau.filter(|_| equivalence.hides_tau()) else {
        let (block_of, blocks) = strong::partition(graph);
        return Refined { partition: number_by_first_state(block_of, blocks), divergent: Vec::new() };
    };
    // The divergence label follows those of the alphabet.
    let diverging = equivalence == Equivalence::DivergencePreservingBranching;
    let divergence = diverging.then_some(alphabet.texts.len() as u32);
    let Contracted { component_of, graph } = components::contract(graph, tau, divergence);
    let (block_of_component, blocks) = branching::partition(&graph, tau);
    let block_of = component_of.iter().map(|&component| block_of_component[component as usize]).collect();
    let partition = number_by_first_state(block_of, blocks);
    let mut divergent = Vec::new();
    if let Some(label) = divergence {
        let on_cycle = |component: u32| !graph.edges_with(component, label).is_empty();
        let classes = component_of.iter().zip(&partition.block_of);
        divergent.extend(classes.filter(|&(&component, _)| on_cycle(component)).map(|(_, &block)| block));
        divergent.sort_unstable();
        divergent.dedup();
    }
    Refined { partition, divergent }
}

/// Makes the numbers independent of the order of refinement.
fn number_by_first_state(mut block_of: Vec<u32>, blocks: u32) -> Partition {
    let mut number = vec![u32::MAX; blocks as usize];
    let mut next = 0;
    for block in &mut block_of {
        let entry = &mut number[*block as usize];
        if *entry == u32::MAX {
            *entry = next;
            next += 1;
        }
        *block = *entry;
    }
    Partition { block_of, blocks: next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for equivalence in Equivalence::ALL {
            assert_eq!(equivalence.to_string().parse(), Ok(equivalence));
        }
        let error = "week".parse::<Equivalence>().unwrap_err().to_string();
        assert!(error.starts_with("unknown equivalence `week`: use strong, branching"), "{error}");
    }
}
