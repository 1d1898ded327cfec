//! The stack of a component with unbounded nesting of processes, as in `P = a.P.b + c`. It is a
//! data parameter of a new structured sort, with one constructor for each possible continuation.

use rustc_hash::FxHashMap;

use super::continuation::ChainId;
use crate::syntax::Span;
use crate::typed::expression::{Substitution, variable};
use crate::typed::{Alternative, Expression, ExpressionId, Program, SortId, SymbolId, VariableId};

/// A continuation on the stack.
pub(super) struct Frame {
    /// The chain, which may continue with the frame below.
    pub(super) chain: ChainId,
    variables: Vec<VariableId>,
    functions: Alternative,
}

/// The stack of a component.
pub(super) struct Stack {
    /// The parameter.
    pub(super) variable: VariableId,
    sort: SortId,
    empty: SymbolId,
    /// The frames, in the order in which they were found.
    pub(super) frames: Vec<Frame>,
    known: FxHashMap<ChainId, usize>,
}

impl Stack {
    /// Adds a sort for stacks to the program.
    pub(super) fn new(program: &mut Program) -> Stack {
        let name = program.words.intern("Stack");
        let sort = program.sorts.add_struct(Some(name), Span::default());
        let (empty, is_empty) = (program.words.intern("empty"), program.words.intern("is_empty"));
        let empty = program.add_alternative(sort, empty, is_empty, &[]).map(|one| one.constructor);
        let empty = empty.expect("a new structured sort can be filled");
        let name = program.words.intern("stack");
        let variable = program.add_variable(name, sort, Span::default());
        Stack { variable, sort, empty, frames: Vec::new(), known: FxHashMap::default() }
    }

    /// The empty stack.
    pub(super) fn empty(&self, program: &mut Program) -> ExpressionId {
        program.add_expression(Expression::Symbol(self.empty), self.sort, Span::default())
    }

    /// Pushes a frame for a continuation onto `below`, with the values that `values` has for its
    /// variables.
    pub(super) fn push(
        &mut self,
        program: &mut Program,
        chain: ChainId,
        needed: &[VariableId],
        values: &Substitution,
        below: ExpressionId,
    ) -> ExpressionId {
        let index = match self.known.get(&chain) {
            Some(&index) => index,
            None => {
                let index = self.frames.len();
                let mut fields: Vec<_> = needed
                    .iter()
                    .map(|&one| (program.variable(one).name, program.variable(one).sort))
                    .collect();
                fields.push((program.words.intern("below"), self.sort));
                let name = program.words.intern(&format!("frame{index}"));
                let recogniser = program.words.intern(&format!("is_frame{index}"));
                let functions = program
                    .add_alternative(self.sort, name, recogniser, &fields)
                    .expect("stacks have a structured sort");
                self.frames.push(Frame { chain, variables: needed.to_vec(), functions });
                self.known.insert(chain, index);
                index
            }
        };
        let frame = &self.frames[index];
        let mut arguments: Vec<ExpressionId> = Vec::with_capacity(frame.variables.len() + 1);
        for one in &frame.variables {
            arguments.push(match values.get(one) {
                Some(&value) => value,
                None => variable(program, *one),
            });
        }
        arguments.push(below);
        let call = Expression::Call { symbol: frame.functions.constructor, arguments: arguments.into() };
        program.add_expression(call, self.sort, Span::default())
    }

    /// The continuation and the values of variables after returning to a frame that was just
    /// pushed.
    pub(super) fn pop_frame(
        &self,
        program: &Program,
        stack: ExpressionId,
    ) -> Option<(ChainId, Vec<(VariableId, ExpressionId)>)> {
        let Expression::Call { symbol, arguments } = program.expression(stack) else { return None };
        let frame = self.frames.iter().find(|frame| frame.functions.constructor == *symbol)?;
        let variables = frame.variables.iter().chain([&self.variable]).copied();
        Some((frame.chain, variables.zip(arguments.iter().copied()).collect()))
    }

    /// The values of variables after returning to a frame, which is popped.
    pub(super) fn restore_variables(&self, program: &mut Program, index: usize) -> Substitution {
        let frame = &self.frames[index];
        let stack = variable(program, self.variable);
        frame
            .variables
            .iter()
            .chain([&self.variable])
            .zip(&frame.functions.projections)
            .map(|(&one, &symbol)| {
                let sort = program.variable(one).sort;
                let call = Expression::Call { symbol, arguments: Box::new([stack]) };
                (one, program.add_expression(call, sort, Span::default()))
            })
            .collect()
    }

    /// The condition that the newest frame is this one.
    pub(super) fn recognise(&self, program: &mut Program, index: usize) -> ExpressionId {
        let stack = variable(program, self.variable);
        let symbol = self.frames[index].functions.recogniser;
        let call = Expression::Call { symbol, arguments: Box::new([stack]) };
        program.add_expression(call, SortId::BOOL, Span::default())
    }
}
