//! Compiles functions without user rules: built-in functions, constructors, projections and
//! recognisers.

use super::{Compiled, Compiler, deepest};
use crate::compile::evaluator::node::{Least, Node, NodeId};
use crate::typed::{Builtin, Program, SortId, SymbolId, SymbolKind};
use crate::value::{Head, Value};

impl Compiler<'_> {
    /// A function without user rules.
    pub(super) fn primitive(&mut self, symbol: SymbolId, operands: Vec<Compiled>, level: u32) -> Compiled {
        let program = self.program;
        let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let node = match &program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => return self.builtin(*builtin, symbol, operands, level),
            SymbolKind::Constructor | SymbolKind::Map | SymbolKind::StructConstructor { .. } => {
                let constants: Option<Vec<Value>> =
                    operands.iter().map(|&operand| self.as_constant(operand)).collect();
                if let Some(values) = constants {
                    let value = self.rules.constant(|heap| heap.make(Head::Symbol(symbol), &values));
                    return self.constant(value);
                }
                let arguments = self.body().list(&nodes);
                Node::Construct { symbol, arguments }
            }
            SymbolKind::Projection { .. } => {
                let fields = projection(program, symbol);
                if let [(constructor, position)] = *fields {
                    Node::Project { of: nodes[0], constructor, position, symbol }
                } else {
                    let body = self.body();
                    body.fields.push(fields);
                    Node::ProjectAny { of: nodes[0], fields: body.fields.len() as u32 - 1, symbol }
                }
            }
            SymbolKind::Recogniser { sort, index } => {
                let constructor = program.constructors(*sort)[*index as usize];
                Node::Recognise { of: nodes[0], constructor, symbol }
            }
        };
        self.add(node, level, depth)
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        symbol: SymbolId,
        operands: Vec<Compiled>,
        level: u32,
    ) -> Compiled {
        let program = self.program;
        let node = |index: usize| operands[index].node;
        let depth = deepest(&operands);
        let made = match builtin {
            Builtin::Convert => {
                let (from, to) = (program.signature(symbol).0[0], program.signature(symbol).1);
                match conversion(from, to) {
                    None => return operands[0],
                    Some(least) => Node::Convert { of: node(0), least, symbol },
                }
            }
            Builtin::Not => Node::Not { of: node(0), symbol },
            Builtin::And | Builtin::Or | Builtin::Implies => {
                Node::Connective { builtin, left: node(0), right: node(1), symbol }
            }
            Builtin::If => Node::If { condition: node(0), then: node(1), otherwise: node(2), symbol },
            Builtin::Equal | Builtin::NotEqual => {
                let is = builtin == Builtin::Equal;
                let slot =
                    |this: &Self, one: Compiled| match this.contexts.last()?.body.nodes[one.node as usize] {
                        Node::Slot(slot) => Some(slot),
                        _ => None,
                    };
                let found = (slot(self, operands[0]).zip(self.as_constant(operands[1])))
                    .or_else(|| slot(self, operands[1]).zip(self.as_constant(operands[0])));
                match found {
                    Some((slot, value)) if is && self.rules.is_plain(value) => {
                        Node::Is { slot, value, symbol }
                    }
                    _ if is => Node::Equal { left: node(0), right: node(1), symbol },
                    _ => Node::NotEqual { left: node(0), right: node(1), symbol },
                }
            }
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual => {
                let (left, right) = (node(0), node(1));
                match builtin {
                    Builtin::Less => Node::Less { left, right, symbol },
                    Builtin::LessEqual => Node::LessEqual { left, right, symbol },
                    Builtin::Greater => Node::Greater { left, right, symbol },
                    _ => Node::GreaterEqual { left, right, symbol },
                }
            }
            Builtin::Add => Node::Add { left: node(0), right: node(1), symbol },
            Builtin::Subtract => Node::Subtract { left: node(0), right: node(1), symbol },
            Builtin::Update => Node::Update { function: node(0), key: node(1), value: node(2), symbol },
            _ if operands.len() == 1 => Node::Unary { builtin, of: node(0), symbol },
            _ => Node::Binary { builtin, left: node(0), right: node(1), symbol },
        };
        self.add(made, level, depth)
    }
}

/// The constructors and positions that a projection selects.
pub(in crate::compile::evaluator) fn projection(
    program: &Program,
    symbol: SymbolId,
) -> Box<[(SymbolId, u32)]> {
    let SymbolKind::Projection { sort, fields } = &program.symbol(symbol).kind else { return Box::default() };
    let constructors = program.constructors(*sort);
    fields.iter().map(|&(index, position)| (constructors[index as usize], position)).collect()
}

/// What a conversion demands; `None` if every value may be converted.
pub(in crate::compile::evaluator) fn conversion(from: SortId, to: SortId) -> Option<Least> {
    if from <= to {
        return None;
    }
    Some(match to {
        SortId::POS => Least::One,
        SortId::NAT => Least::Zero,
        _ => Least::Whole,
    })
}
