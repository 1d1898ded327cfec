//! Alpha-equivalence: when two binders are equal up to the names of their variables.

use rustc_hash::FxHashMap;

use crate::syntax::Binder;
use crate::typed::{Expression, ExpressionId, Program, VariableId};

/// An encoding of a binder that all alpha-equivalent binders share, and the free variables of the
/// binder in order of first occurrence.
pub(super) fn describe(program: &Program, root: ExpressionId) -> (Vec<u32>, Vec<VariableId>) {
    let mut description =
        Description { program, key: Vec::new(), free: Vec::new(), bound: FxHashMap::default(), count: 0 };
    description.visit(root);
    (description.key, description.free)
}

struct Description<'a> {
    program: &'a Program,
    key: Vec<u32>,
    free: Vec<VariableId>,
    /// Bound variables, numbered in the order in which they are bound.
    bound: FxHashMap<VariableId, u32>,
    count: u32,
}

impl Description<'_> {
    fn visit(&mut self, id: ExpressionId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.visit_node(id));
    }

    fn open(&mut self, tag: u32, length: usize) {
        self.key.extend([tag, length as u32]);
    }

    fn visit_node(&mut self, id: ExpressionId) {
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => match self.bound.get(variable) {
                Some(&number) => self.key.extend([0, number]),
                None => {
                    let known = self.free.iter().position(|one| one == variable);
                    let position = known.unwrap_or_else(|| {
                        self.free.push(*variable);
                        self.free.len() - 1
                    });
                    let sort = program.variable(*variable).sort;
                    self.key.extend([1, position as u32, sort.index() as u32]);
                }
            },
            Expression::Symbol(symbol) => self.key.extend([2, symbol.index() as u32]),
            Expression::Bool(value) => self.key.extend([3, u32::from(*value)]),
            Expression::Number(digits) => {
                let digits = program.text(*digits).as_bytes();
                self.open(4, digits.len());
                self.key.extend(digits.iter().map(|&digit| u32::from(digit)));
            }
            Expression::List(all) => {
                self.open(5, all.len());
                all.iter().for_each(|&one| self.visit(one));
            }
            Expression::Set(all) => {
                self.open(6, all.len());
                all.iter().for_each(|&one| self.visit(one));
            }
            Expression::Bag(pairs) => {
                self.open(7, pairs.len());
                for &(element, count) in pairs {
                    self.visit(element);
                    self.visit(count);
                }
            }
            Expression::Call { symbol, arguments } => {
                self.open(8, arguments.len());
                self.key.push(symbol.index() as u32);
                arguments.iter().for_each(|&one| self.visit(one));
            }
            Expression::Apply { function, arguments } => {
                self.open(9, arguments.len());
                self.visit(*function);
                arguments.iter().for_each(|&one| self.visit(one));
            }
            Expression::Upcast(of) => self.visit(*of),
            Expression::Comprehension { variable, body } => {
                self.open(10, 1);
                self.within(&[*variable], *body);
            }
            Expression::Binder { binder, variables, body } => {
                let tag = match binder {
                    Binder::Forall => 11,
                    Binder::Exists => 12,
                    Binder::Lambda => 13,
                };
                self.open(tag, variables.len());
                self.within(variables, *body);
            }
            Expression::Where { body, definitions } => {
                self.open(14, definitions.len());
                definitions.iter().for_each(|&(_, value)| self.visit(value));
                let variables: Vec<VariableId> = definitions.iter().map(|&(variable, _)| variable).collect();
                self.within(&variables, *body);
            }
        }
    }

    fn within(&mut self, variables: &[VariableId], body: ExpressionId) {
        let mut previous = Vec::new();
        for &variable in variables {
            self.key.push(self.program.variable(variable).sort.index() as u32);
            previous.push((variable, self.bound.insert(variable, self.count)));
            self.count += 1;
        }
        self.visit(body);
        for (variable, old) in previous.into_iter().rev() {
            match old {
                Some(old) => self.bound.insert(variable, old),
                None => self.bound.remove(&variable),
            };
        }
    }
}
