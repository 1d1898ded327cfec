//! Decides unbounded quantifiers over numbers that are only compared with arguments of labels.
//!
//! Numbers that occur in no label are indistinguishable there: any comparison with a label fails.
//! Once all labels of the system are known, the numbers in labels and one other are therefore
//! enough.

use rustc_hash::FxHashSet;
use turnpike_model::formula::{DataError, Node};
use turnpike_model::{Explorer, LabelId};

use super::Requirement;
use super::judge::DataJudge;
use crate::typed::expression::free_variables;
use crate::typed::formula::{ActionFormula, TypedFormula};
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

/// Products with more groups of values than this are not tried.
const MOST_GROUPS: usize = 1 << 16;

/// For each sort, the numbers that occur in labels and one other.
#[derive(Debug, Default)]
pub(super) struct Occurring {
    numbers: Vec<(SortId, Vec<u32>)>,
}

/// The sorts that this applies to.
const NUMBERS: [SortId; 3] = [SortId::POS, SortId::NAT, SortId::INT];

impl Occurring {
    /// All combinations of values for variables of these sorts.
    pub(super) fn groups(&self, sorts: &[SortId]) -> Option<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = vec![Vec::new()];
        for sort in sorts {
            let (_, values) = self.numbers.iter().find(|one| one.0 == *sort)?;
            if groups.len() * values.len() > MOST_GROUPS {
                return None;
            }
            let longer = |group: &Vec<u32>| {
                let group = group.clone();
                values.iter().map(move |&value| group.iter().copied().chain([value]).collect())
            };
            groups = groups.iter().flat_map(longer).collect();
        }
        Some(groups.concat())
    }
}

impl Requirement {
    /// Whether knowing all labels of the system may decide a quantifier that is otherwise
    /// unbounded.
    pub fn gains_from_labels(&self) -> bool {
        self.occurring.get().is_none() && self.compared.iter().any(Option::is_some)
    }

    /// Provides all labels of the system. No others may occur.
    ///
    /// # Errors
    /// A label cannot be read.
    pub fn learn_all_labels(&self, labels: &[LabelId], explorer: &mut dyn Explorer) -> Result<(), DataError> {
        use turnpike_model::formula::Judge as _;
        let mut judge = DataJudge::new(self);
        judge.learn(labels, explorer)?;
        let mut numbers = Vec::new();
        for sort in NUMBERS {
            let (mut seen, mut values, mut highest) = (FxHashSet::default(), Vec::new(), Some(0));
            for &id in labels {
                let words = judge.label(id);
                let signature = self.model.network.signatures.get(words[0]);
                let sorts = signature.actions.iter().flat_map(|one| one.sorts.iter());
                for (_, &word) in sorts.zip(&words[1..]).filter(|(one, _)| **one == sort) {
                    let number = Value::from_word(word).as_small();
                    highest = highest.zip(number).map(|(most, number)| most.max(number));
                    if seen.insert(word) {
                        values.push(word);
                    }
                }
            }
            // A number that does not fit into a word is not supported here.
            let other = highest.and_then(|most| Value::small(most.checked_add(1)?));
            if let Some(other) = other {
                values.push(other.word());
                numbers.push((sort, values));
            }
        }
        let _ = self.occurring.set(Occurring { numbers });
        Ok(())
    }
}

/// The sorts of each quantifier's variables, if they are numbers that are only compared with
/// arguments of labels.
pub(super) fn compared(program: &Program, formula: &TypedFormula) -> Vec<Option<Vec<SortId>>> {
    let sorts = |number: usize| {
        let variables = &formula.quantifiers[number].variables;
        let sorts: Vec<SortId> = variables.iter().map(|&one| program.variable(one).sort).collect();
        let node = formula.quantifiers[number].node;
        let fits = sorts.iter().all(|sort| NUMBERS.contains(sort));
        (fits && Uses { program, formula, variables }.are_comparisons(node)).then_some(sorts)
    };
    (0..formula.quantifiers.len()).map(sorts).collect()
}

/// Checks how a formula uses variables.
struct Uses<'a> {
    program: &'a Program,
    formula: &'a TypedFormula,
    variables: &'a [VariableId],
}

impl Uses<'_> {
    fn are_comparisons(&self, root: u32) -> bool {
        let graph = &self.formula.graph;
        let (mut rest, mut seen) = (vec![root], vec![false; graph.nodes.len()]);
        while let Some(node) = rest.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            match &graph.nodes[node as usize] {
                Node::Constant(_) => {}
                Node::Condition { condition, .. } => {
                    if self.uses(self.formula.conditions[*condition as usize]) {
                        return false;
                    }
                }
                Node::Junction { parts, .. } => rest.extend_from_slice(parts),
                Node::Quantifier { body, .. } => rest.push(*body),
                Node::Modality { action, body, .. } => {
                    let action = self.formula.actions.get(*action as usize);
                    if action.is_some_and(|action| !self.compares(action)) {
                        return false;
                    }
                    rest.push(*body);
                }
                Node::Call { point, arguments } => {
                    if self.formula.arguments[*arguments as usize].iter().any(|&one| self.uses(one)) {
                        return false;
                    }
                    rest.push(graph.points[*point as usize].body);
                }
            }
        }
        true
    }

    fn uses(&self, expression: ExpressionId) -> bool {
        free_variables(self.program, expression).iter().any(|one| self.variables.contains(one))
    }

    /// Whether the variables occur only as whole arguments of actions.
    fn compares(&self, action: &ActionFormula) -> bool {
        match action {
            ActionFormula::Data(condition) => !self.uses(*condition),
            ActionFormula::Multi(actions) => actions.iter().flat_map(|one| one.1.iter()).all(|&argument| {
                matches!(self.program.expression(argument), Expression::Variable(_)) || !self.uses(argument)
            }),
            ActionFormula::Not(body) | ActionFormula::Quantifier { body, .. } => self.compares(body),
            ActionFormula::Junction { parts, .. } => parts.iter().all(|part| self.compares(part)),
        }
    }
}
