//! Liveness of formula variables: the variables that each node depends on. Vertices of a game only
//! store the values of these.

use turnpike_model::formula::Node;

use crate::typed::expression::free_variables;
use crate::typed::formula::TypedFormula;
use crate::typed::{ExpressionId, Program, VariableId};

/// For each node the slots that it depends on, ascending: a least fixed point.
pub(super) fn live_slots(program: &Program, formula: &TypedFormula) -> Vec<Box<[u32]>> {
    let slots = formula.variables.len();
    let slot = |variable: VariableId| formula.variables.iter().position(|&one| one == variable);
    let used = |expressions: &mut dyn Iterator<Item = ExpressionId>| -> Vec<usize> {
        expressions.flat_map(|one| free_variables(program, one)).filter_map(slot).collect()
    };
    let conditions: Vec<Vec<usize>> =
        formula.conditions.iter().map(|&one| used(&mut std::iter::once(one))).collect();
    let actions: Vec<Vec<usize>> = formula
        .actions
        .iter()
        .map(|action| {
            let mut all = Vec::new();
            action.for_each_expression(&mut |one| all.push(one));
            used(&mut all.into_iter())
        })
        .collect();
    let arguments: Vec<Vec<usize>> =
        formula.arguments.iter().map(|all| used(&mut all.iter().copied())).collect();
    let graph = &formula.graph;
    let mut live = vec![vec![false; slots]; graph.nodes.len()];
    let mut changed = slots > 0;
    while changed {
        changed = false;
        for (index, node) in graph.nodes.iter().enumerate() {
            let mut now = vec![false; slots];
            let mut add = |from: &[bool], without: &[u32]| {
                for (slot, &is_live) in from.iter().enumerate() {
                    now[slot] |= is_live && !without.contains(&(slot as u32));
                }
            };
            let own: &[usize] = match node {
                Node::Constant(_) => &[],
                Node::Condition { condition, .. } => &conditions[*condition as usize],
                Node::Junction { parts, .. } => {
                    parts.iter().for_each(|&part| add(&live[part as usize], &[]));
                    &[]
                }
                Node::Quantifier { quantifier, body, .. } => {
                    add(&live[*body as usize], &graph.quantifiers[*quantifier as usize]);
                    &[]
                }
                Node::Modality { action, body, .. } => {
                    add(&live[*body as usize], &[]);
                    actions.get(*action as usize).map_or(&[], Vec::as_slice)
                }
                Node::Call { point, arguments: number } => {
                    let point = &graph.points[*point as usize];
                    add(&live[point.body as usize], &point.parameters);
                    &arguments[*number as usize]
                }
            };
            own.iter().for_each(|&slot| now[slot] = true);
            if now != live[index] {
                live[index] = now;
                changed = true;
            }
        }
    }
    let numbers = |one: &Vec<bool>| (0..slots as u32).filter(|&slot| one[slot as usize]).collect();
    live.iter().map(numbers).collect()
}
