//! What it takes to decide the nodes of a formula along a path.

use turnpike_model::formula::{Formula, Node};

/// Facts about every node.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    /// Data alone decides the node.
    pub(crate) data: Box<[bool]>,
    /// Data and the labels of enabled steps decide the node.
    pub(crate) local: Box<[bool]>,
}

impl Kinds {
    /// The parts of a node come before it, so one pass is enough.
    pub(crate) fn new(formula: &Formula) -> Kinds {
        let count = formula.nodes.len();
        let (mut data, mut local) = (vec![false; count], vec![false; count]);
        for (at, node) in formula.nodes.iter().enumerate() {
            (data[at], local[at]) = match node {
                Node::Constant(_) | Node::Condition { .. } => (true, true),
                Node::Junction { parts, .. } => (
                    parts.iter().all(|&part| data[part as usize]),
                    parts.iter().all(|&part| local[part as usize]),
                ),
                Node::Quantifier { body, .. } => (false, local[*body as usize]),
                Node::Modality { body, .. } => (false, data[*body as usize]),
                Node::Call { .. } => (false, false),
            };
        }
        Kinds { data: data.into(), local: local.into() }
    }

    /// The nodes that only a step can decide against the player who is not `all`: whatever is enabled,
    /// what they require of a step depends on that step and on data. For a path that refutes (`all`),
    /// these are boxes below conjunctions, quantifiers and exceptions by data.
    pub(crate) fn guarded(&self, formula: &Formula, all: bool) -> Box<[bool]> {
        let mut guarded = vec![true; formula.nodes.len()];
        // Calls may lead anywhere: the greatest solution.
        loop {
            let mut changed = false;
            for (at, node) in formula.nodes.iter().enumerate() {
                let now = match node {
                    Node::Constant(value) => *value == all,
                    Node::Condition { .. } => false,
                    Node::Junction { all: own, parts } if *own == all => {
                        parts.iter().all(|&part| guarded[part as usize])
                    }
                    Node::Junction { parts, .. } => {
                        let mut open = parts.iter().filter(|&&part| !self.data[part as usize]);
                        let only = open.next().filter(|_| open.next().is_none());
                        only.is_some_and(|&part| guarded[part as usize])
                    }
                    Node::Quantifier { all: own, body, .. } => *own == all && guarded[*body as usize],
                    Node::Modality { all: own, .. } => *own == all,
                    Node::Call { point, .. } => guarded[formula.points[*point as usize].body as usize],
                };
                changed |= guarded[at] && !now;
                guarded[at] &= now;
            }
            if !changed {
                return guarded.into();
            }
        }
    }
}
