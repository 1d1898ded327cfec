//! The evaluator: equations become decision trees, expressions become code over the slots of a
//! frame.
//!
//! Compiled code is a graph of small nodes (`node`), made from typed expressions (`compile`). The
//! equations of a function are ordered (`equations`) and merged into a decision tree of such nodes
//! (`tree`). A [`Machine`] runs the nodes (`run`), with one stack of values for all frames.
//! Arguments that a function may not need are passed as delayed evaluations, unless they are cheap.
//! A term to which no rule applies is stuck; it is a value like any other.

mod alpha;
mod builtins;
mod closures;
mod compare;
mod compile;
mod distinguish;
mod equations;
mod library;
mod listing;
mod memo;
mod node;
mod normal_forms;
mod prepare;
mod run;
mod sets;
#[cfg(test)]
mod tests;
mod tree;
mod values;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use self::compile::Compiler;
use self::equations::FunctionTable;
use self::library::{Library, Tables};
use self::node::{Body, Function};
pub use self::prepare::prepare;
use self::run::Thunk;
use crate::syntax::Symbol;
use crate::typed::{ExpressionId, Program, SortId, VariableId};
use crate::value::{Binders, Heap, Terms, Value};

/// Calls of functions that one evaluation may make.
const DEFAULT_STEPS: u64 = 50_000_000;

/// The equations of a specification, compiled, and its lambdas. Shared by all machines.
#[derive(Debug)]
pub struct Rules {
    terms: Arc<Terms>,
    /// How many words the program had originally, and the name for variables whose own name is not
    /// among these.
    words: usize,
    default_name: Symbol,
    known: FunctionTable,
    functions: OnceLock<Arc<[Function]>>,
    globals: OnceLock<FxHashMap<VariableId, Value>>,
    library: Mutex<Library>,
}

/// Assigns slots of a frame to variables. Compiling may add slots for bound variables.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    slots: FxHashMap<VariableId, u32>,
    size: u32,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Code {
    body: Arc<Body>,
    root: u32,
    version: u32,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// The budget of one evaluation is exhausted: the equations may not terminate.
    OutOfSteps,
    /// The evaluation nests too deeply.
    TooDeep,
    /// Another reason, for the user.
    Other(String),
}

/// Why an evaluation stopped, as passed around internally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Steps,
    Deep,
    /// Another reason, stored in the machine.
    Other,
}

impl Scope {
    /// The slot of a variable, added if it has none.
    pub fn slot(&mut self, variable: VariableId) -> u32 {
        let size = &mut self.size;
        *self.slots.entry(variable).or_insert_with(|| {
            *size += 1;
            *size - 1
        })
    }

    /// The slot of a variable, if it has one.
    pub fn get(&self, variable: VariableId) -> Option<u32> {
        self.slots.get(&variable).copied()
    }

    /// A slot that belongs to no variable.
    pub fn fresh(&mut self) -> u32 {
        self.size += 1;
        self.size - 1
    }

    /// The number of slots that a frame needs.
    pub fn size(&self) -> usize {
        self.size as usize
    }
}

impl Code {
    /// The value, when the expression is a constant.
    pub fn constant(&self) -> Option<Value> {
        match self.body.nodes[self.root as usize] {
            node::Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The slot, when the expression is just a variable.
    pub fn slot(&self) -> Option<u32> {
        match self.body.nodes[self.root as usize] {
            node::Node::Slot(slot) => Some(slot),
            _ => None,
        }
    }
}

impl Rules {
    /// Compiles the equations of a program. Afterwards the program may only be extended.
    pub fn new(program: Arc<Program>) -> Arc<Rules> {
        let terms = Terms::new(&program);
        let mut heap = Heap::new(Arc::clone(&terms));
        let known = FunctionTable::new(&program, &mut heap);
        library::keep_constants(&program, &mut heap);
        heap.reset();
        let rules = Arc::new(Rules {
            terms,
            words: program.words.len(),
            default_name: program.words.find("x").unwrap_or(Symbol::new(0)),
            known,
            functions: OnceLock::new(),
            globals: OnceLock::new(),
            library: Mutex::new(Library::new(Arc::clone(&program), heap)),
        });
        let globals = library::globals(&rules, &program);
        let _ = rules.globals.set(globals);
        let functions: Vec<Function> = (0..rules.known.groups.len() as u32)
            .map(|index| tree::function(&rules, &program, index))
            .collect();
        let _ = rules.functions.set(functions.into());
        rules.library().mark_changed();
        rules
    }

    /// Compiles an expression of `program`, which is the program of these rules or one that adds
    /// expressions, variables and built-in symbols to it. Free variables get slots in `scope`.
    pub fn compile(self: &Arc<Rules>, program: &Program, root: ExpressionId, scope: &mut Scope) -> Code {
        self.library().extend(program);
        let mut compiler = Compiler::new(self, program, std::mem::take(scope), Body::default());
        let root = compiler.root(root);
        let (used, body) = compiler.finish();
        *scope = used;
        Code { body: Arc::new(body), root, version: self.library().version() }
    }

    /// The program with everything that compiled expressions added to it: what [`Binders`] refers
    /// to.
    pub fn program(&self) -> Arc<Program> {
        self.library().program()
    }

    /// The nodes that values of these rules live in.
    pub fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    fn library(&self) -> std::sync::MutexGuard<'_, Library> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Binders for Rules {
    fn binder(&self, number: u32) -> Option<(ExpressionId, Vec<VariableId>)> {
        let library = self.library();
        let binder = library.binder(number)?;
        Some((binder.expression, binder.captured.to_vec()))
    }
}

/// Evaluates code: one for each thread.
#[derive(Debug)]
pub struct Machine {
    /// Where values live.
    pub heap: Heap,
    rules: Arc<Rules>,
    /// Absent while an evaluation uses them.
    tables: Option<Arc<Tables>>,
    stack: Vec<Value>,
    thunks: Vec<Thunk>,
    captured: Vec<Value>,
    steps: u64,
    step_limit: u64,
    calls: u32,
    nested: u32,
    /// The values of finite sorts, where known.
    finite: FxHashMap<SortId, Option<Arc<[Value]>>>,
    /// How to enumerate the members of comprehensions.
    listings: FxHashMap<u32, Option<listing::Listing>>,
    memo: memo::Memo,
    /// The number of bound variables without values, in binders whose bodies are being evaluated.
    bound: u32,
    forms: normal_forms::Forms,
    /// The bodies of undecided quantifiers, and whether they are `exists`.
    quantified: FxHashMap<u32, Option<(bool, normal_forms::Quantified)>>,
    searches: FxHashMap<(distinguish::Difference, SortId), Option<distinguish::Search>>,
    message: String,
}

impl Machine {
    /// A machine with an empty stack.
    pub fn new(rules: Arc<Rules>) -> Machine {
        Machine {
            heap: Heap::new(Arc::clone(&rules.terms)),
            rules,
            tables: None,
            stack: Vec::new(),
            thunks: Vec::new(),
            captured: Vec::new(),
            steps: 0,
            step_limit: DEFAULT_STEPS,
            calls: 0,
            nested: 0,
            finite: FxHashMap::default(),
            listings: FxHashMap::default(),
            memo: memo::Memo::default(),
            bound: 0,
            forms: normal_forms::Forms::default(),
            quantified: FxHashMap::default(),
            searches: FxHashMap::default(),
            message: String::new(),
        }
    }

    /// The rules that this machine evaluates with.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Sets how many calls of functions one evaluation may make.
    pub fn set_step_limit(&mut self, steps: u64) {
        self.step_limit = steps;
    }

    /// Makes room for a frame of `size` slots and returns its base.
    #[inline]
    pub fn enter(&mut self, size: usize) -> usize {
        let base = self.stack.len();
        self.stack.resize(base + size, Value::FALSE);
        base
    }

    /// Drops the frame at `base`, the newest, and everything above it.
    #[inline]
    pub fn leave(&mut self, base: usize) {
        self.stack.truncate(base);
    }

    /// What a slot holds.
    #[inline]
    pub fn slot(&self, base: usize, slot: u32) -> Value {
        self.stack[base + slot as usize]
    }

    /// Fills a slot.
    #[inline]
    pub fn set_slot(&mut self, base: usize, slot: u32, value: Value) {
        self.stack[base + slot as usize] = value;
    }

    /// Fills the first slots.
    #[inline]
    pub fn fill(&mut self, base: usize, values: &[Value]) {
        self.stack[base..base + values.len()].copy_from_slice(values);
    }

    /// The normal form of a compiled expression, its variables being the slots of the frame at
    /// `base`.
    #[inline]
    pub fn evaluate(&mut self, code: &Code, base: usize) -> Result<Value, EvaluationError> {
        match code.body.nodes[code.root as usize] {
            node::Node::Constant(value) => return Ok(value),
            node::Node::Slot(slot) => return Ok(self.slot(base, slot)),
            _ => {}
        }
        self.outermost(code.version, |machine, tables| machine.eval(tables, &code.body, code.root, base))
    }

    /// Applies a function value.
    pub fn apply(&mut self, function: Value, arguments: &[Value]) -> Result<Value, EvaluationError> {
        self.outermost(0, |machine, tables| machine.apply_values(tables, function, arguments))
    }

    /// Runs an evaluation with the tables. If it fails, the stack is left as it was.
    #[inline]
    fn outermost(
        &mut self,
        version: u32,
        run: impl FnOnce(&mut Machine, &Arc<Tables>) -> Result<Value, Fault>,
    ) -> Result<Value, EvaluationError> {
        let tables = match self.tables.take() {
            Some(tables) if tables.version >= version => tables,
            _ => self.rules.library().tables(&self.rules),
        };
        if self.nested == 0 {
            self.steps = self.step_limit;
        }
        self.nested += 1;
        let marks = (self.stack.len(), self.thunks.len(), self.captured.len(), self.calls);
        let bound = self.bound;
        let answer = run(self, &tables);
        self.nested -= 1;
        self.tables = Some(tables);
        match answer {
            Ok(value) if !self.heap.is_full() => Ok(value),
            Ok(_) => Err(EvaluationError::Other("the values do not fit into memory".to_owned())),
            Err(fault) => {
                self.stack.truncate(marks.0);
                self.thunks.truncate(marks.1);
                self.captured.truncate(marks.2);
                self.calls = marks.3;
                self.bound = bound;
                Err(self.error(fault))
            }
        }
    }

    #[cold]
    fn error(&mut self, fault: Fault) -> EvaluationError {
        match fault {
            Fault::Steps => EvaluationError::OutOfSteps,
            Fault::Deep => EvaluationError::TooDeep,
            Fault::Other => EvaluationError::Other(std::mem::take(&mut self.message)),
        }
    }
}
