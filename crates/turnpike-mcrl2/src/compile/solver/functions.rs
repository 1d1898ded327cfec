//! Functions between finite sorts as values: a constant function with exceptions, or for several
//! arguments a lambda that compares them with the rows of a table. Equal tables give the same
//! value.

use std::sync::Arc;

use super::unfold::extensible;
use crate::compile::evaluator::{Code, Machine, Rules, Scope};
use crate::syntax::{Binder, Span};
use crate::typed::expression;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

pub(super) struct Functions {
    code: Code,
    size: usize,
    /// The slots of each row: those of the arguments, and that of their result.
    rows: Vec<(Vec<u32>, u32)>,
    /// The slot of the result for all other arguments.
    otherwise: u32,
}

impl Functions {
    /// Compiles the lambda for a sort. `rows` are all its arguments.
    pub(super) fn new(
        rules: &Arc<Rules>,
        program: &Program,
        domain: &[SortId],
        codomain: SortId,
        rows: &[Vec<Value>],
    ) -> Functions {
        let (mut program, mut scope) = (extensible(rules, program), Scope::default());
        let program = &mut program;
        let name = program.words.intern("x");
        let span = Span::default();
        let arguments: Box<[VariableId]> =
            domain.iter().map(|&sort| program.add_variable(name, sort, span)).collect();
        let result = program.add_variable(name, codomain, span);
        let otherwise = scope.slot(result);
        let mut body = expression::variable(program, result);
        let mut slots = Vec::new();
        if domain.len() > 1 {
            let choice = program.sorts.function(&[SortId::BOOL, codomain, codomain], codomain);
            let word = program.words.intern("if");
            let choice = program.builtin(Builtin::If, word, choice);
            // A sort that is listed has at most 16 rows, unless all results are equal and no row is
            // needed.
            for _ in rows.iter().take(16) {
                let keys: Vec<VariableId> =
                    domain.iter().map(|&sort| program.add_variable(name, sort, span)).collect();
                let value = program.add_variable(name, codomain, span);
                let tests: Vec<ExpressionId> = arguments
                    .iter()
                    .zip(&keys)
                    .map(|(&argument, &key)| {
                        let sides = [argument, key].map(|side| expression::variable(program, side));
                        expression::equal(program, sides[0], sides[1])
                    })
                    .collect();
                let test = expression::all(program, &tests);
                let then = expression::variable(program, value);
                let call = Expression::Call { symbol: choice, arguments: Box::new([test, then, body]) };
                body = program.add_expression(call, codomain, span);
                slots.push((keys.iter().map(|&key| scope.slot(key)).collect(), scope.slot(value)));
            }
        }
        let sort = program.sorts.function(domain, codomain);
        let lambda = Expression::Binder { binder: Binder::Lambda, variables: arguments, body };
        let lambda = program.add_expression(lambda, sort, span);
        let code = rules.compile(program, lambda, &mut scope);
        Functions { code, size: scope.size(), rows: slots, otherwise }
    }

    /// The functions with these tables of results, one result for each row of arguments. `usual` is
    /// the first value of the result sort.
    pub(super) fn all(
        &self,
        machine: &mut Machine,
        rows: &[Vec<Value>],
        tables: &[Vec<Value>],
        usual: Value,
    ) -> Option<Vec<Value>> {
        let frame = machine.enter(self.size);
        let mut functions = Vec::with_capacity(tables.len());
        for table in tables {
            machine.set_slot(frame, self.otherwise, usual);
            for (index, (keys, result)) in self.rows.iter().enumerate() {
                for (&slot, &key) in keys.iter().zip(&rows[index]) {
                    machine.set_slot(frame, slot, key);
                }
                machine.set_slot(frame, *result, table.get(index).copied().unwrap_or(usual));
            }
            let mut function = machine.evaluate(&self.code, frame).ok();
            if self.rows.is_empty() {
                for (row, &value) in rows.iter().zip(table) {
                    function = machine.heap.update(function?, row[0], value, Some(usual));
                }
            }
            functions.push(function);
        }
        machine.leave(frame);
        functions.into_iter().collect()
    }
}
