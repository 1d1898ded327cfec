//! A specification after type checking: every name is resolved, every expression has its sort, and
//! every implicit conversion is a node. Expressions are in arenas, and **the id of a child is
//! smaller than that of its parent**, so no walk needs recursion.

use rustc_hash::FxHashMap;

use super::builtin::Builtin;
use super::items::{
    Action, ActionId, Alternative, Behaviour, BehaviourId, Equation, Expression, ExpressionId,
    FunctionSymbol, Process, ProcessId, SymbolId, SymbolKind, Variable, VariableId,
};
use super::sorts::{Sort, SortId, Sorts, StructConstructor, StructField};
use crate::syntax::{Span, Symbol, Symbols};

/// A type-checked specification.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The words: all names of the specification, and the digits of numbers.
    pub words: Symbols,
    /// The sorts.
    pub sorts: Sorts,
    /// Functions and constants: first the declared ones, then the built-in ones that are used, one
    /// for each sort.
    pub symbols: Vec<FunctionSymbol>,
    /// All variables. Those declared together have consecutive ids.
    pub variables: Vec<Variable>,
    /// The variables of `glob` sections.
    pub globals: Vec<VariableId>,
    /// The equations in the order of the text.
    pub equations: Vec<Equation>,
    /// The actions in the order of the text.
    pub actions: Vec<Action>,
    /// The processes in the order of the text.
    pub processes: Vec<Process>,
    /// The initial process. Absent if the specification has none, which the parser reports.
    pub init: Option<BehaviourId>,
    /// Options for its execution.
    pub execution: ExecutionOptions,
    expressions: Vec<(Expression, SortId, Span)>,
    behaviours: Vec<(Behaviour, Span)>,
    named: FxHashMap<Symbol, Vec<SymbolId>>,
    instances: FxHashMap<(Builtin, SortId), SymbolId>,
    pub(super) sort_names: FxHashMap<Symbol, SortId>,
    constructors: FxHashMap<SortId, Vec<SymbolId>>,
    /// Cached facts about the equations, for simplification.
    pub(crate) facts: Option<std::sync::Arc<crate::typed::expression::Facts>>,
}

/// Options for executing a specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionOptions {
    /// Whether states hold all variables in scope and the outcomes of choices on the way, even if
    /// nothing depends on them.
    pub keep_dead: bool,
    /// How many values of a quantified variable are tried, from the least one. Without a limit, as
    /// many as its bounds allow.
    pub quantifier_limit: Option<u32>,
}

impl Program {
    /// A data expression.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        &self.expressions[id.index()].0
    }

    /// The sort of a data expression.
    pub fn sort_of(&self, id: ExpressionId) -> SortId {
        self.expressions[id.index()].1
    }

    /// The position of a data expression.
    pub fn span_of(&self, id: ExpressionId) -> Span {
        self.expressions[id.index()].2
    }

    /// The number of data expressions. Smaller ids are valid.
    pub fn expression_count(&self) -> usize {
        self.expressions.len()
    }

    /// All ids of data expressions, children before parents.
    pub fn expression_ids(&self) -> impl DoubleEndedIterator<Item = ExpressionId> + use<> {
        (0..self.expressions.len()).map(ExpressionId::new)
    }

    /// A process expression.
    pub fn behaviour(&self, id: BehaviourId) -> &Behaviour {
        &self.behaviours[id.index()].0
    }

    /// The position of a process expression.
    pub fn behaviour_span(&self, id: BehaviourId) -> Span {
        self.behaviours[id.index()].1
    }

    /// The number of process expressions. Smaller ids are valid.
    pub fn behaviour_count(&self) -> usize {
        self.behaviours.len()
    }

    /// All ids of process expressions, children before parents.
    pub fn behaviour_ids(&self) -> impl DoubleEndedIterator<Item = BehaviourId> + use<> {
        (0..self.behaviours.len()).map(BehaviourId::new)
    }

    /// A function or constant.
    pub fn symbol(&self, id: SymbolId) -> &FunctionSymbol {
        &self.symbols[id.index()]
    }

    /// The sorts of the arguments of a function, and of its result.
    pub fn signature(&self, id: SymbolId) -> (&[SortId], SortId) {
        self.sorts.signature(self.symbol(id).sort)
    }

    /// A variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.index()]
    }

    /// An action.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.index()]
    }

    /// A process.
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.index()]
    }

    /// The declared functions and constants with a name, in source order, those of structured sorts
    /// first.
    pub fn symbols_named(&self, name: Symbol) -> &[SymbolId] {
        self.named.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The constructors of a sort in their order: alternatives of a structured sort, then those of
    /// `cons` sections.
    pub fn constructors(&self, sort: SortId) -> &[SymbolId] {
        self.constructors.get(&sort).map_or(&[], Vec::as_slice)
    }

    /// The text of a word.
    pub fn text(&self, word: Symbol) -> &str {
        self.words.text(word)
    }

    /// The text of a sort.
    pub fn sort_text(&self, sort: SortId) -> String {
        self.sorts.text(sort, &self.words)
    }

    /// Adds an expression whose children exist already, for phases that rewrite a program. The
    /// caller guarantees the sort.
    pub fn add_expression(&mut self, expression: Expression, sort: SortId, span: Span) -> ExpressionId {
        let id = ExpressionId::new(self.expressions.len());
        self.expressions.push((expression, sort, span));
        id
    }

    /// Adds a process expression whose children exist already.
    pub fn add_behaviour(&mut self, behaviour: Behaviour, span: Span) -> BehaviourId {
        let id = BehaviourId::new(self.behaviours.len());
        self.behaviours.push((behaviour, span));
        id
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: Symbol, sort: SortId, span: Span) -> VariableId {
        let id = VariableId::new(self.variables.len());
        self.variables.push(Variable { name, sort, span });
        id
    }

    /// A built-in function at a sort, added if it is new. The caller guarantees that it has this
    /// signature. `name` is its notation.
    pub fn builtin(&mut self, builtin: Builtin, name: Symbol, sort: SortId) -> SymbolId {
        if let Some(&id) = self.instances.get(&(builtin, sort)) {
            return id;
        }
        let id = SymbolId::new(self.symbols.len());
        let kind = SymbolKind::Builtin(builtin);
        self.symbols.push(FunctionSymbol { name, kind, sort, span: Span::default() });
        self.instances.insert((builtin, sort), id);
        id
    }

    /// Adds an alternative to a structured sort that a later phase added with
    /// [`Sorts::add_struct`]. Its functions are not found by name, so that they cannot conflict
    /// with those of the specification. `None` if the sort is not a structured one.
    pub fn add_alternative(
        &mut self,
        sort: SortId,
        name: Symbol,
        recogniser: Symbol,
        fields: &[(Symbol, SortId)],
    ) -> Option<Alternative> {
        let Sort::Struct(structure) = *self.sorts.get(sort) else { return None };
        let mut all = self.sorts.structs[structure as usize].constructors.to_vec();
        let index = u32::try_from(all.len()).expect("fewer than 2^32 alternatives");
        all.push(StructConstructor {
            name,
            fields: fields
                .iter()
                .map(|&(projection, sort)| StructField { projection: Some(projection), sort })
                .collect(),
            recogniser: Some(recogniser),
        });
        self.sorts.structs[structure as usize].constructors = all.into();
        let domain: Vec<SortId> = fields.iter().map(|field| field.1).collect();
        let constructor_sort = self.sorts.function(&domain, sort);
        let constructor =
            self.push_symbol(name, SymbolKind::StructConstructor { sort, index }, constructor_sort);
        self.constructors.entry(sort).or_default().push(constructor);
        let recogniser_sort = self.sorts.function(&[sort], SortId::BOOL);
        let recogniser =
            self.push_symbol(recogniser, SymbolKind::Recogniser { sort, index }, recogniser_sort);
        let projections = (0..)
            .zip(fields)
            .map(|(position, &(name, field))| {
                let kind = SymbolKind::Projection { sort, fields: Box::new([(index, position)]) };
                let function = self.sorts.function(&[sort], field);
                self.push_symbol(name, kind, function)
            })
            .collect();
        Some(Alternative { constructor, recogniser, projections })
    }

    fn push_symbol(&mut self, name: Symbol, kind: SymbolKind, sort: SortId) -> SymbolId {
        let id = SymbolId::new(self.symbols.len());
        self.symbols.push(FunctionSymbol { name, kind, sort, span: Span::default() });
        id
    }

    /// Adds a declared function or constant.
    pub(super) fn declare(&mut self, symbol: FunctionSymbol) -> SymbolId {
        let id = SymbolId::new(self.symbols.len());
        self.named.entry(symbol.name).or_default().push(id);
        if matches!(symbol.kind, SymbolKind::Constructor | SymbolKind::StructConstructor { .. }) {
            let sort = self.sorts.signature(symbol.sort).1;
            self.constructors.entry(sort).or_default().push(id);
        }
        self.symbols.push(symbol);
        id
    }
}
