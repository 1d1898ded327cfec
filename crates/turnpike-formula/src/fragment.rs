//! What it takes to decide a formula.

use std::fmt;

use turnpike_model::formula::{Formula, Node};

use crate::kinds::Kinds;

/// Fragments of the mu-calculus, from the simplest to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// Only `[]`, `&&`, `forall` and `nu`: a path refutes it.
    Safety,
    /// Only `<>`, `||`, `exists` and `mu`: a path proves it.
    Reachability,
    /// As safety, with conditions on what is enabled: a path refutes it whose last state fails one.
    Invariant,
    /// As reachability, with conditions on what is enabled.
    Attainability,
    /// One player alone has choices, with `mu` and `nu`: a path with a loop decides it.
    Linear {
        /// Whether the path refutes it; otherwise it proves it.
        refutes: bool,
    },
    /// Everything else.
    Full,
}

impl Fragment {
    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            Fragment::Safety => "safety",
            Fragment::Reachability => "reachability",
            Fragment::Invariant => "invariant",
            Fragment::Attainability => "attainability",
            Fragment::Linear { .. } => "linear",
            Fragment::Full => "full",
        }
    }

    /// What a search looks for.
    pub fn searched_for(self) -> &'static str {
        match self {
            Fragment::Safety => "a path that violates it",
            Fragment::Reachability => "a path that satisfies it",
            Fragment::Invariant => "a path to a state that violates a condition on what is enabled",
            Fragment::Attainability => "a path to a state that satisfies a condition on what is enabled",
            Fragment::Linear { .. } => "a path with a loop",
            Fragment::Full => "a strategy in its parity game",
        }
    }

    /// Whether a path refutes the formula, or proves it; neither for those that need more.
    pub fn path_refutes(self) -> Option<bool> {
        match self {
            Fragment::Safety | Fragment::Invariant => Some(true),
            Fragment::Reachability | Fragment::Attainability => Some(false),
            Fragment::Linear { .. } | Fragment::Full => None,
        }
    }

    /// The same for a path that may end in a loop.
    pub fn run_refutes(self) -> Option<bool> {
        match self {
            Fragment::Linear { refutes } => Some(refutes),
            other => other.path_refutes(),
        }
    }
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The fragment of a formula.
pub fn fragment(formula: &Formula) -> Fragment {
    let survey = Survey::new(formula);
    let refutes = survey.is_one_sided(true);
    let (refuting, proving) =
        (refutes && survey.points_are(false), survey.is_one_sided(false) && survey.points_are(true));
    match (refuting, proving) {
        (true, _) if survey.strictly(true) => Fragment::Safety,
        (_, true) if survey.strictly(false) => Fragment::Reachability,
        (true, _) => Fragment::Invariant,
        (_, true) => Fragment::Attainability,
        _ if refutes || survey.is_one_sided(false) => Fragment::Linear { refutes },
        _ => Fragment::Full,
    }
}

/// What occurs in a formula.
struct Survey<'f> {
    formula: &'f Formula,
    kinds: Kinds,
    /// The nodes that a search has to follow, without those that the state itself decides.
    followed: Vec<u32>,
}

impl<'f> Survey<'f> {
    fn new(formula: &'f Formula) -> Self {
        let mut survey = Survey { formula, kinds: Kinds::new(formula), followed: Vec::new() };
        let mut rest = vec![formula.root];
        let mut seen = vec![false; formula.nodes.len()];
        while let Some(node) = rest.pop() {
            if std::mem::replace(&mut seen[node as usize], true) || survey.kinds.data[node as usize] {
                continue;
            }
            survey.followed.push(node);
            match &formula.nodes[node as usize] {
                Node::Junction { parts, .. } => rest.extend_from_slice(parts),
                Node::Quantifier { body, .. } | Node::Modality { body, .. } => rest.push(*body),
                Node::Call { point, .. } => rest.push(formula.points[*point as usize].body),
                Node::Constant(_) | Node::Condition { .. } => {}
            }
        }
        survey
    }

    /// Whether every choice is of one kind, without exception for local conditions.
    fn strictly(&self, all: bool) -> bool {
        self.followed.iter().all(|&node| match &self.formula.nodes[node as usize] {
            Node::Junction { all: other, parts } => *other == all || self.has_one_side(parts),
            Node::Quantifier { all: other, .. } | Node::Modality { all: other, .. } => *other == all,
            _ => true,
        })
    }

    /// Whether only one player has choices that matter: all others are decided by the state.
    fn is_one_sided(&self, all: bool) -> bool {
        let mut rest = vec![self.formula.root];
        let mut seen = vec![false; self.formula.nodes.len()];
        while let Some(node) = rest.pop() {
            if std::mem::replace(&mut seen[node as usize], true) || self.kinds.local[node as usize] {
                continue;
            }
            match &self.formula.nodes[node as usize] {
                Node::Junction { all: other, parts } => {
                    let undecided = parts.iter().filter(|&&part| !self.kinds.local[part as usize]).count();
                    if *other != all && undecided > 1 {
                        return false;
                    }
                    rest.extend_from_slice(parts);
                }
                Node::Quantifier { all: other, body, .. } | Node::Modality { all: other, body, .. } => {
                    if *other != all {
                        return false;
                    }
                    rest.push(*body);
                }
                Node::Call { point, .. } => rest.push(self.formula.points[*point as usize].body),
                Node::Constant(_) | Node::Condition { .. } => {}
            }
        }
        true
    }

    /// Whether at most one part needs more than data.
    fn has_one_side(&self, parts: &[u32]) -> bool {
        parts.iter().filter(|&&part| !self.kinds.data[part as usize]).count() <= 1
    }

    /// Whether all fixed points that matter are `mu`, or `nu`.
    fn points_are(&self, least: bool) -> bool {
        self.followed.iter().all(|&node| match &self.formula.nodes[node as usize] {
            Node::Call { point, .. } => self.formula.points[*point as usize].least == least,
            _ => true,
        })
    }
}
