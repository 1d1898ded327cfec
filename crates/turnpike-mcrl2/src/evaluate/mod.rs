//! Evaluation, compiled: equations become decision trees, expressions become code over slots of a frame.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::sorts::{ExpressionId, Program, VariableId};
use crate::value::{Heap, Terms, Value};

/// The equations of a specification, compiled, and its lambdas. Shared by all machines.
#[derive(Debug)]
pub struct Rules {}

/// Where variables stand in a frame. Compiling may add slots for variables bound inside.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    slots: FxHashMap<VariableId, u32>,
    size: u32,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Code {}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// More steps than the budget of one evaluation allows: equations that do not terminate.
    OutOfSteps,
    /// Nested deeper than memory allows.
    TooDeep,
    /// Something else, for the user.
    Other(String),
}

impl Scope {
    /// The slot of a variable, new if need be.
    pub fn slot(&mut self, variable: VariableId) -> u32 {
        let size = &mut self.size;
        *self.slots.entry(variable).or_insert_with(|| {
            *size += 1;
            *size - 1
        })
    }

    /// The slot of a variable that has one.
    pub fn get(&self, variable: VariableId) -> Option<u32> {
        self.slots.get(&variable).copied()
    }

    /// A slot for something without a name.
    pub fn fresh(&mut self) -> u32 {
        self.size += 1;
        self.size - 1
    }

    /// Slots that a frame needs.
    pub fn size(&self) -> usize {
        self.size as usize
    }
}

impl Rules {
    /// Compiles the equations of a program, which must not change afterwards but for additions.
    pub fn new(program: Arc<Program>) -> Arc<Rules> {
        let _ = program;
        unimplemented!()
    }

    /// Compiles an expression of `program`, which is the program of these rules or one that adds expressions, variables and built-in
    /// symbols to it. Free variables get slots in `scope`.
    pub fn compile(self: &Arc<Rules>, program: &Program, root: ExpressionId, scope: &mut Scope) -> Code {
        let _ = (program, root, scope);
        unimplemented!()
    }

    /// The nodes that values of these rules live in.
    pub fn terms(&self) -> &Arc<Terms> {
        unimplemented!()
    }
}

/// Evaluates code: one for each thread.
#[derive(Debug)]
pub struct Machine {
    /// Where values live.
    pub heap: Heap,
}

impl Machine {
    /// A machine with an empty stack.
    pub fn new(rules: Arc<Rules>) -> Machine {
        let _ = rules;
        unimplemented!()
    }

    /// Makes room for a frame of `size` slots and returns its base.
    pub fn enter(&mut self, size: usize) -> usize {
        let _ = size;
        unimplemented!()
    }

    /// Drops the frame at `base`, the newest, and everything above it.
    pub fn leave(&mut self, base: usize) {
        let _ = base;
        unimplemented!()
    }

    /// What a slot holds.
    pub fn slot(&self, base: usize, slot: u32) -> Value {
        let _ = (base, slot);
        unimplemented!()
    }

    /// Fills a slot.
    pub fn set_slot(&mut self, base: usize, slot: u32, value: Value) {
        let _ = (base, slot, value);
        unimplemented!()
    }

    /// The normal form of a compiled expression, its variables being the slots of the frame at `base`.
    pub fn evaluate(&mut self, code: &Code, base: usize) -> Result<Value, EvaluationError> {
        let _ = (code, base);
        unimplemented!()
    }

    /// Applies a function value.
    pub fn apply(&mut self, function: Value, arguments: &[Value]) -> Result<Value, EvaluationError> {
        let _ = (function, arguments);
        unimplemented!()
    }
}
