//! The part of the compiled rules that grows while expressions are compiled: lambdas, delayed
//! arguments and functions used as values. Code refers to them by number.
//!
//! The library is behind a lock. A machine reads a snapshot of it, the [`Tables`], and takes a
//! newer one when it meets a number that its snapshot does not have.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::compile::Compiler;
use super::node::{Binder, Body, Delay, Function, Otherwise};
use super::{Machine, Rules, Scope};
use crate::syntax::Symbol;
use crate::typed::{Builtin, Program, Sort, SortId, SymbolId, SymbolKind, VariableId};
use crate::value::{Head, Heap, Value};

/// The growing part of [`Rules`].
#[derive(Debug)]
pub(super) struct Library {
    version: u32,
    program: Arc<Program>,
    /// For constants that are built while compiling.
    heap: Heap,
    binders: Vec<Arc<Binder>>,
    keys: FxHashMap<Vec<u32>, u32>,
    delays: Vec<Arc<Delay>>,
    /// Functions used as values, as code that calls them.
    function_values: FxHashMap<SymbolId, Arc<Function>>,
    snapshot: Option<Arc<Tables>>,
}

/// A snapshot of the library.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) version: u32,
    pub(super) program: Arc<Program>,
    pub(super) functions: Arc<[Function]>,
    pub(super) binders: Vec<Arc<Binder>>,
    pub(super) delays: Vec<Arc<Delay>>,
    pub(super) function_values: FxHashMap<SymbolId, Arc<Function>>,
    /// The built-in functions that the program has, by the sort of their first argument.
    builtins: FxHashMap<(Builtin, SortId), SymbolId>,
}

impl Library {
    pub(super) fn new(program: Arc<Program>, heap: Heap) -> Library {
        Library {
            version: 1,
            program,
            heap,
            binders: Vec::new(),
            keys: FxHashMap::default(),
            delays: Vec::new(),
            function_values: FxHashMap::default(),
            snapshot: None,
        }
    }

    pub(super) fn binder(&self, number: u32) -> Option<&Arc<Binder>> {
        self.binders.get(number as usize)
    }

    pub(super) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.program)
    }

    pub(super) fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn mark_changed(&mut self) {
        self.version += 1;
        self.snapshot = None;
    }

    /// Adopts symbols and sorts that were added to the program.
    pub(super) fn extend(&mut self, program: &Program) {
        if program.symbols.len() > self.program.symbols.len()
            || program.sorts.len() > self.program.sorts.len()
        {
            self.program = Arc::new(program.clone());
            self.mark_changed();
        }
    }

    pub(super) fn tables(&mut self, rules: &Rules) -> Arc<Tables> {
        if let Some(known) = &self.snapshot {
            return Arc::clone(known);
        }
        let mut builtins = FxHashMap::default();
        for (index, symbol) in self.program.symbols.iter().enumerate() {
            if let SymbolKind::Builtin(builtin) = symbol.kind {
                let sorts = self.program.sorts.signature(symbol.sort).0;
                let id = SymbolId::new(index);
                builtins.entry((builtin, sorts.first().copied().unwrap_or(symbol.sort))).or_insert(id);
            }
        }
        let made = Arc::new(Tables {
            version: self.version,
            program: Arc::clone(&self.program),
            functions: rules.functions.get().cloned().unwrap_or_default(),
            binders: self.binders.clone(),
            delays: self.delays.clone(),
            function_values: self.function_values.clone(),
            builtins,
        });
        self.snapshot = Some(Arc::clone(&made));
        made
    }
}

impl Tables {
    /// A built-in function at a sort, if the program has it.
    pub(super) fn builtin(&self, builtin: Builtin, sort: SortId) -> Option<SymbolId> {
        self.builtins.get(&(builtin, sort)).copied()
    }

    /// The sort of the first argument of a function.
    pub(super) fn first_sort(&self, symbol: SymbolId) -> Option<SortId> {
        let symbol = self.program.symbols.get(symbol.index())?;
        self.program.sorts.signature(symbol.sort).0.first().copied()
    }

    /// Whether a symbol is an alternative of a structured sort.
    pub(super) fn is_struct_constructor(&self, symbol: SymbolId) -> bool {
        let symbol = self.program.symbols.get(symbol.index());
        symbol.is_some_and(|symbol| matches!(symbol.kind, SymbolKind::StructConstructor { .. }))
    }

    /// The element sort of a container.
    pub(super) fn element_sort(&self, sort: SortId) -> Option<SortId> {
        match self.program.sorts.get(sort) {
            Sort::Container(_, element) => Some(*element),
            _ => None,
        }
    }
}

impl Rules {
    /// A constant that all machines share.
    pub(super) fn constant(&self, make: impl FnOnce(&mut Heap) -> Value) -> Value {
        let mut library = self.library();
        let value = make(&mut library.heap);
        let kept = library.heap.keep(value);
        library.heap.reset();
        kept
    }

    pub(super) fn is_plain(&self, value: Value) -> bool {
        self.library().heap.is_plain(value)
    }

    pub(super) fn known_binder(&self, key: &[u32]) -> Option<u32> {
        self.library().keys.get(key).copied()
    }

    pub(super) fn add_binder(&self, program: &Program, key: Vec<u32>, binder: Binder) -> u32 {
        let mut library = self.library();
        if program.expression_count() > library.program.expression_count() {
            library.program = Arc::new(program.clone());
        }
        let index = library.binders.len() as u32;
        // Another thread may have added it in the meantime.
        if let Some(&known) = library.keys.get(&key) {
            return known;
        }
        library.keys.insert(key, index);
        library.binders.push(Arc::new(binder));
        library.mark_changed();
        index
    }

    /// A name for a variable that is valid in every program, and its sort. A word that the program
    /// of these rules lacks is replaced by the default name, because its id may stand for another
    /// word in other programs.
    pub(super) fn stable_name(&self, program: &Program, variable: VariableId) -> (Symbol, SortId) {
        let variable = program.variable(variable);
        let name = if variable.name.index() < self.words { variable.name } else { self.default_name };
        (name, variable.sort)
    }

    pub(super) fn add_delay(&self, delay: Delay) -> u32 {
        let mut library = self.library();
        library.delays.push(Arc::new(delay));
        library.mark_changed();
        library.delays.len() as u32 - 1
    }

    /// Makes a function usable as a value.
    pub(crate) fn make_callable(self: &Arc<Rules>, program: &Program, symbol: SymbolId) {
        let arity = program.signature(symbol).0.len();
        if arity == 0 || self.library().function_values.contains_key(&symbol) {
            return;
        }
        let mut scope = Scope::default();
        (0..arity).for_each(|_| {
            scope.fresh();
        });
        let mut compiler = Compiler::new(self, program, scope, Body::default());
        let root = compiler.call_by_name(symbol, arity as u32);
        let (scope, body) = compiler.finish();
        let function = Function {
            symbol: Some(symbol),
            arity: arity as u32,
            first: arity as u32,
            frame: scope.size() as u32,
            conditional: None,
            body,
            root,
            otherwise: Otherwise::Stuck,
        };
        let mut library = self.library();
        library.function_values.insert(symbol, Arc::new(function));
        library.mark_changed();
    }

    /// The value that stands for a variable of a `glob` section.
    pub(super) fn global(&self, variable: VariableId) -> Option<Value> {
        self.globals.get()?.get(&variable).copied()
    }
}

/// Shares constants from the start, so that each has only one word.
pub(super) fn keep_constants(program: &Program, heap: &mut Heap) {
    for (index, symbol) in program.symbols.iter().enumerate() {
        if let SymbolKind::Constructor | SymbolKind::Map | SymbolKind::StructConstructor { .. } = symbol.kind
        {
            let value = heap.make(Head::Symbol(SymbolId::new(index)), &[]);
            heap.keep(value);
        }
    }
}

/// Values for the variables of `glob` sections, where their sorts have any.
pub(super) fn globals(rules: &Arc<Rules>, program: &Program) -> FxHashMap<VariableId, Value> {
    let mut values = FxHashMap::default();
    if program.globals.is_empty() {
        return values;
    }
    let mut larger = program.clone();
    let mut machine = Machine::new(Arc::clone(rules));
    for &variable in &program.globals {
        let sort = program.variable(variable).sort;
        let Some(id) = crate::typed::expression::representative(&mut larger, sort) else { continue };
        let code = rules.compile(&larger, id, &mut Scope::default());
        let base = machine.enter(0);
        if let Ok(value) = machine.evaluate(&code, base) {
            values.insert(variable, machine.heap.keep(value));
        }
        machine.leave(base);
    }
    values
}
