//! A type-checked formula: a graph without negations, whose numbers refer to lists of typed data.

use std::ops::Range;

use turnpike_model::formula::{Formula, Node};

use super::items::{ActionId, ExpressionId, VariableId};

/// A type-checked formula.
#[derive(Clone, Debug)]
pub struct TypedFormula {
    /// The graph.
    pub graph: Formula,
    /// The variable of each slot.
    pub variables: Vec<VariableId>,
    /// The conditions on data, of sort `Bool`.
    pub conditions: Vec<ExpressionId>,
    /// The action formulas.
    pub actions: Vec<ActionFormula>,
    /// The arguments of calls.
    pub arguments: Vec<Box<[ExpressionId]>>,
    /// The variables of quantifiers.
    pub quantifiers: Vec<BoundVariables>,
    /// The names of actions in the formula, each with a position.
    pub action_names: Vec<(String, Range<usize>)>,
    /// Those without a declaration, if that is not an error.
    pub assumed: Vec<(String, Range<usize>)>,
}

/// The variables of a quantifier, and where it stands.
#[derive(Clone, Debug)]
pub struct BoundVariables {
    /// At least one.
    pub variables: Box<[VariableId]>,
    /// The node that binds them.
    pub node: u32,
    /// Its position.
    pub place: Range<usize>,
}

/// A set of multi-actions.
#[derive(Clone, Debug)]
pub enum ActionFormula {
    /// All multi-actions if the condition holds, otherwise none.
    Data(ExpressionId),
    /// Exactly these actions together; `tau` if there are none.
    Multi(Box<[(ActionId, Box<[ExpressionId]>)]>),
    /// The complement.
    Not(Box<ActionFormula>),
    /// The intersection if all, else the union.
    Junction {
        /// Whether it is the intersection.
        all: bool,
        /// The parts.
        parts: Box<[ActionFormula]>,
    },
    /// `forall` if all, else `exists`.
    Quantifier {
        /// Whether it is `forall`.
        all: bool,
        /// The variables.
        variables: Box<[VariableId]>,
        /// The scope of the variables.
        body: Box<ActionFormula>,
    },
}

impl ActionFormula {
    fn for_each_multi(&self, helps: bool, visit: &mut impl FnMut(&[(ActionId, Box<[ExpressionId]>)], bool)) {
        match self {
            ActionFormula::Data(_) => {}
            ActionFormula::Multi(actions) => visit(actions, helps),
            ActionFormula::Not(body) => body.for_each_multi(!helps, visit),
            ActionFormula::Quantifier { body, .. } => body.for_each_multi(helps, visit),
            ActionFormula::Junction { parts, .. } => {
                parts.iter().for_each(|part| part.for_each_multi(helps, visit));
            }
        }
    }

    /// Calls `visit` with every data expression.
    pub fn for_each_expression(&self, visit: &mut impl FnMut(ExpressionId)) {
        match self {
            ActionFormula::Data(condition) => visit(*condition),
            ActionFormula::Multi(actions) => {
                actions.iter().flat_map(|one| one.1.iter()).for_each(|&argument| visit(argument));
            }
            ActionFormula::Not(body) | ActionFormula::Quantifier { body, .. } => {
                body.for_each_expression(visit);
            }
            ActionFormula::Junction { parts, .. } => {
                parts.iter().for_each(|part| part.for_each_expression(visit));
            }
        }
    }
}

impl TypedFormula {
    /// Calls `visit` with every multi-action of the formula, and whether the formula can only
    /// become true, not false, if nothing matches it.
    pub fn for_each_multi_action(&self, visit: &mut impl FnMut(&[(ActionId, Box<[ExpressionId]>)], bool)) {
        for node in &self.graph.nodes {
            if let Node::Modality { all, action, .. } = node
                && let Some(action) = self.actions.get(*action as usize)
            {
                action.for_each_multi(*all, visit);
            }
        }
    }
}

/// Assigns ranks to the fixed points of a graph. `levels` has the number of enclosing fixed points
/// of each.
///
/// Only fixed points that call each other affect each other's rank, so alternation is counted
/// within strongly connected components.
pub(super) fn rank(graph: &mut Formula, levels: &[usize]) {
    let count = graph.points.len();
    let calls: Vec<Vec<u32>> =
        graph.points.iter().map(|point| calls_below(&graph.nodes, point.body)).collect();
    let (component, _) = turnpike_model::components::components(count, |point, index| {
        calls[point as usize].get(index).copied()
    });
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&point| std::cmp::Reverse(levels[point]));
    let mut highest = vec![0u32; count];
    for point in order {
        let least = graph.points[point].least;
        let slot = &mut highest[component[point] as usize];
        let parity = u32::from(least);
        *slot += u32::from(*slot % 2 != parity);
        graph.points[point].rank = *slot;
    }
}

/// The fixed points called below a node, without entering them.
fn calls_below(nodes: &[Node], root: u32) -> Vec<u32> {
    let (mut found, mut rest, mut seen) = (Vec::new(), vec![root], vec![false; nodes.len()]);
    while let Some(id) = rest.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        match &nodes[id as usize] {
            Node::Constant(_) | Node::Condition { .. } => {}
            Node::Junction { parts, .. } => rest.extend_from_slice(parts),
            Node::Quantifier { body, .. } | Node::Modality { body, .. } => rest.push(*body),
            Node::Call { point, .. } => found.push(*point),
        }
    }
    found
}
