//! Compiles arguments that a function may not need. Cheap ones are evaluated eagerly, the others
//! are delayed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{CLOSED, Compiled, Compiler, Context, Purpose};
use crate::compile::evaluator::Scope;
use crate::compile::evaluator::node::{Body, Delay, Node};
use crate::typed::{Builtin, Expression, ExpressionId, SortId, SymbolId, SymbolKind};

/// An argument with more nodes than this is always delayed.
const MAX_CHEAP_NODES: u32 = 24;

impl Compiler<'_> {
    /// An argument that may not be needed.
    pub(super) fn lazy_argument(&mut self, id: ExpressionId) -> Compiled {
        if let Expression::Variable(variable) = self.program.expression(id) {
            let compiled = self.variable(*variable);
            return match self.body().nodes[compiled.node as usize] {
                Node::Lazy(slot) => self.add(Node::Pass(slot), compiled.level, 0),
                _ => compiled,
            };
        }
        if self.is_cheap(id, &mut MAX_CHEAP_NODES.clone()) {
            return self.expression(id);
        }
        let free = crate::typed::expression::free_variables(self.program, id);
        let level = free.iter().map(|one| self.levels.get(one).copied().unwrap_or(0)).min().unwrap_or(CLOSED);
        self.contexts.push(Context {
            purpose: Purpose::Delay,
            scope: Scope::default(),
            body: Body::default(),
            lazy: FxHashSet::default(),
            captured: Vec::new(),
            memo: FxHashMap::default(),
        });
        // Captured values come first in the frame.
        for variable in free {
            if self.rules.global(variable).is_none() {
                self.resolve(self.contexts.len() - 1, variable);
            }
        }
        let root = self.root(id);
        let context = self.contexts.pop().expect("pushed above");
        let delay = Delay {
            captured: context.captured.into(),
            frame: context.scope.size() as u32,
            body: context.body,
            root,
        };
        let index = self.rules.add_delay(delay);
        self.add(Node::Delay(index), level, 0)
    }

    /// Whether evaluating an expression is certain to end after few steps.
    fn is_cheap(&mut self, id: ExpressionId, budget: &mut u32) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => {
                let context = self.context();
                context.scope.get(*variable).is_none_or(|slot| !context.lazy.contains(&slot))
            }
            Expression::Bool(_) | Expression::Number(_) => true,
            Expression::Symbol(symbol) => self.rules.known.nullary(*symbol).is_none(),
            Expression::Upcast(of) => self.is_cheap(*of, budget),
            Expression::List(all) | Expression::Set(all) => all.iter().all(|&one| self.is_cheap(one, budget)),
            Expression::Call { symbol, arguments } => {
                let known = &self.rules.known;
                known.nullary(*symbol).is_none()
                    && known.function(*symbol).is_none()
                    && self.is_cheap_symbol(*symbol)
                    && arguments.iter().all(|&one| self.is_cheap(one, budget))
            }
            _ => false,
        }
    }

    fn is_cheap_symbol(&self, symbol: SymbolId) -> bool {
        match self.program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => match builtin {
                Builtin::Exp
                | Builtin::In
                | Builtin::Concat
                | Builtin::Union
                | Builtin::Intersection
                | Builtin::Difference
                | Builtin::Update
                | Builtin::Count => false,
                Builtin::Equal
                | Builtin::NotEqual
                | Builtin::Less
                | Builtin::LessEqual
                | Builtin::Greater
                | Builtin::GreaterEqual => {
                    let sort = self.program.signature(symbol).0[0];
                    sort.is_number() || sort == SortId::BOOL || self.program.sorts.structure(sort).is_some()
                }
                _ => true,
            },
            _ => true,
        }
    }
}
