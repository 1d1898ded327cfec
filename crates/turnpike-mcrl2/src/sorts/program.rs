//! A specification after type checking: every name is resolved, every expression has its sort, every implicit conversion is
//! a node of its own. Expressions stand in arenas, and **a child's id is smaller than its parent's**, so that no walk needs
//! recursion.

use rustc_hash::FxHashMap;

use super::builtin::Builtin;
use super::table::{Sort, SortId, Sorts, StructConstructor, StructField};
use crate::syntax::{Binder, ProcessOperator, Span, Symbol, Symbols};

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident;)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(u32);

        impl $id {
            pub(crate) fn new(index: usize) -> Self {
                $id(u32::try_from(index).expect("fewer than 2^32 of a kind"))
            }

            /// The index as a word.
            pub const fn word(self) -> u32 {
                self.0
            }

            /// Dense, from 0: an index for side tables.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        })+
    };
}

ids! {
    /// A function or constant with one sort: a [`FunctionSymbol`].
    SymbolId;
    /// A declared variable: a [`Variable`].
    VariableId;
    /// A data expression: an [`Expression`].
    ExpressionId;
    /// A declared action with one list of sorts: an [`Action`].
    ActionId;
    /// A declared process: a [`Process`].
    ProcessId;
    /// A process expression: a [`Behaviour`].
    BehaviourId;
}

/// A function or constant with one sort. Overloaded functions are several of these.
#[derive(Clone, Debug)]
pub struct FunctionSymbol {
    /// Its name; for built-in functions that are written as operators, the operator.
    pub name: Symbol,
    /// Where it comes from.
    pub kind: SymbolKind,
    /// Its sort: a function sort, or the sort of a constant.
    pub sort: SortId,
    /// Where it is declared; empty for built-in functions.
    pub span: Span,
}

/// Where a function comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A `cons` section.
    Constructor,
    /// A `map` section.
    Map,
    /// An alternative of a structured sort.
    StructConstructor {
        /// The structured sort.
        sort: SortId,
        /// Which alternative.
        index: u32,
    },
    /// A function that selects a field of a structured sort.
    Projection {
        /// The structured sort.
        sort: SortId,
        /// The fields it selects, as alternative and position: at most one for each alternative.
        fields: Box<[(u32, u32)]>,
    },
    /// A function that recognises an alternative of a structured sort.
    Recogniser {
        /// The structured sort.
        sort: SortId,
        /// Which alternative.
        index: u32,
    },
    /// A function that every specification has.
    Builtin(Builtin),
}

/// The functions of an alternative that was added to a structured sort.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Makes a value of it.
    pub constructor: SymbolId,
    /// Tells whether a value is one of it.
    pub recogniser: SymbolId,
    /// Select its fields, in their order.
    pub projections: Box<[SymbolId]>,
}

/// A declared variable: of an equation, a process, a sum, a quantifier, or of the whole specification.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name. Different variables may have the same.
    pub name: Symbol,
    /// Its sort.
    pub sort: SortId,
    /// Where it is declared.
    pub span: Span,
}

/// A data expression; its sort is [`Program::sort_of`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A variable.
    Variable(VariableId),
    /// A constant, or a function as a value.
    Symbol(SymbolId),
    /// `true` or `false`.
    Bool(bool),
    /// A number of any size, as decimal digits. Its sort may be larger than need be: a 1 used as `Real` is a constant of that
    /// sort, without conversion.
    Number(Symbol),
    /// `[a, b]`, also `[]`.
    List(Box<[ExpressionId]>),
    /// `{a, b}`, also `{}`: always of sort `FSet`.
    Set(Box<[ExpressionId]>),
    /// `{a: 1, b: 2}` as pairs of element and count, also `{:}`: always of sort `FBag`.
    Bag(Box<[(ExpressionId, ExpressionId)]>),
    /// `{x: S | body}`: of sort `Set` with a truth value, of sort `Bag` with a `Nat` as body.
    Comprehension {
        /// The bound variable.
        variable: VariableId,
        /// Truth value or count.
        body: ExpressionId,
    },
    /// A known function with all its arguments, operators and updates included.
    Call {
        /// The function.
        symbol: SymbolId,
        /// As many as its sort says.
        arguments: Box<[ExpressionId]>,
    },
    /// A computed function with all its arguments: a variable, a result of a call, a lambda.
    Apply {
        /// The function.
        function: ExpressionId,
        /// As many as its sort says.
        arguments: Box<[ExpressionId]>,
    },
    /// An implicit conversion, from the sort of the operand to the sort of this: `Pos` to `Nat` to `Int` to `Real`, `FSet` to `Set`,
    /// `FBag` to `Bag`. May take several of these steps at once.
    Upcast(ExpressionId),
    /// `forall`, `exists` or `lambda`.
    Binder {
        /// Which.
        binder: Binder,
        /// At least one.
        variables: Box<[VariableId]>,
        /// What they are bound in.
        body: ExpressionId,
    },
    /// `body whr x = e, … end`: values are taken outside, then named inside the body.
    Where {
        /// What the names are bound in.
        body: ExpressionId,
        /// At least one.
        definitions: Box<[(VariableId, ExpressionId)]>,
    },
}

/// `condition -> left = right;`
#[derive(Clone, Debug)]
pub struct Equation {
    /// The variables declared for it, which it need not use all.
    pub variables: std::ops::Range<u32>,
    /// When it may be used.
    pub condition: Option<ExpressionId>,
    /// The side that is matched.
    pub left: ExpressionId,
    /// What it becomes; of the same sort.
    pub right: ExpressionId,
    /// The whole equation.
    pub span: Span,
}

impl Equation {
    /// The variables declared for it.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> + use<> {
        self.variables.clone().map(VariableId)
    }
}

/// A declared action. Several may have the same name and different sorts.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name.
    pub name: Symbol,
    /// The sorts of its arguments.
    pub sorts: Box<[SortId]>,
    /// Where it is declared.
    pub span: Span,
}

/// A declared process. Several may have the same name and different parameters.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: Symbol,
    /// Its parameters.
    pub parameters: Box<[VariableId]>,
    /// What it does; absent only while a specification with errors is being checked.
    pub body: Option<BehaviourId>,
    /// Where it is declared.
    pub span: Span,
}

/// A process expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Behaviour {
    /// `delta`
    Delta,
    /// `tau`
    Tau,
    /// An action with its data.
    Action {
        /// Which.
        action: ActionId,
        /// Of exactly its sorts.
        arguments: Box<[ExpressionId]>,
    },
    /// A process with values for all its parameters, in their order. `P(x = e)` and `P()` are written out: a parameter that was
    /// not mentioned gets the variable of that name visible at the call.
    Call {
        /// Which.
        process: ProcessId,
        /// Of exactly the sorts of its parameters.
        arguments: Box<[ExpressionId]>,
    },
    /// An infix operator.
    Binary(ProcessOperator, BehaviourId, BehaviourId),
    /// `p @ t`
    At {
        /// What happens.
        body: BehaviourId,
        /// When, of sort `Real`.
        time: ExpressionId,
    },
    /// `sum x: S. p`
    Sum {
        /// At least one.
        variables: Box<[VariableId]>,
        /// What they are bound in.
        body: BehaviourId,
    },
    /// `dist x: S[weight]. p`
    Dist {
        /// At least one; bound in the weight, too.
        variables: Box<[VariableId]>,
        /// The probability of a choice, of sort `Real`.
        weight: ExpressionId,
        /// What they are bound in.
        body: BehaviourId,
    },
    /// `c -> p` or `c -> p <> q`
    If {
        /// Of sort `Bool`.
        condition: ExpressionId,
        /// When it holds.
        then: BehaviourId,
        /// When it does not.
        otherwise: Option<BehaviourId>,
    },
    /// `block({a, b}, p)`; all actions of these names.
    Block {
        /// Action names.
        actions: Box<[Symbol]>,
        /// The process.
        body: BehaviourId,
    },
    /// `hide({a, b}, p)`; all actions of these names.
    Hide {
        /// Action names.
        actions: Box<[Symbol]>,
        /// The process.
        body: BehaviourId,
    },
    /// `allow({a, a|b}, p)`
    Allow {
        /// Multisets of action names, as written.
        actions: Box<[Box<[Symbol]>]>,
        /// The process.
        body: BehaviourId,
    },
    /// `rename({a -> b}, p)`
    Rename {
        /// Old and new action names; no old name twice.
        renamings: Box<[(Symbol, Symbol)]>,
        /// The process.
        body: BehaviourId,
    },
    /// `comm({a|b -> c}, p)`
    Comm {
        /// Action names that communicate, with repetition, and the name of what they become. No name is in two of them.
        rules: Box<[(Box<[Symbol]>, Symbol)]>,
        /// The process.
        body: BehaviourId,
    },
}

/// A specification after type checking.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The words: all names of the specification, and digits of numbers.
    pub words: Symbols,
    /// The sorts.
    pub sorts: Sorts,
    /// Functions and constants: the declared ones first, then those built-in ones that are used, one for each sort.
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
    /// The initial process; absent when the specification has none, which the parser reports.
    pub init: Option<BehaviourId>,
    expressions: Vec<(Expression, SortId, Span)>,
    behaviours: Vec<(Behaviour, Span)>,
    named: FxHashMap<Symbol, Vec<SymbolId>>,
    instances: FxHashMap<(Builtin, SortId), SymbolId>,
    pub(super) sort_names: FxHashMap<Symbol, SortId>,
    constructors: FxHashMap<SortId, Vec<SymbolId>>,
    /// What simplifying has found out about the equations.
    pub(crate) facts: Option<std::sync::Arc<crate::expression::Facts>>,
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

    /// Where a data expression stands.
    pub fn span_of(&self, id: ExpressionId) -> Span {
        self.expressions[id.index()].2
    }

    /// How many data expressions there are: ids below this are valid.
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

    /// Where a process expression stands.
    pub fn behaviour_span(&self, id: BehaviourId) -> Span {
        self.behaviours[id.index()].1
    }

    /// How many process expressions there are: ids below this are valid.
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

    /// The declared functions and constants of a name, in the order of the text, those of structured sorts first.
    pub fn symbols_named(&self, name: Symbol) -> &[SymbolId] {
        self.named.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The constructors of a sort in their order: alternatives of a structured sort, then those of `cons` sections.
    pub fn constructors(&self, sort: SortId) -> &[SymbolId] {
        self.constructors.get(&sort).map_or(&[], Vec::as_slice)
    }

    /// The text of a word.
    pub fn text(&self, word: Symbol) -> &str {
        self.words.text(word)
    }

    /// A sort as one would write it.
    pub fn sort_text(&self, sort: SortId) -> String {
        self.sorts.text(sort, &self.words)
    }

    /// Adds an expression whose children are there already. For phases that rewrite a program: the sort is the caller's
    /// promise.
    pub fn add_expression(&mut self, expression: Expression, sort: SortId, span: Span) -> ExpressionId {
        let id = ExpressionId::new(self.expressions.len());
        self.expressions.push((expression, sort, span));
        id
    }

    /// Adds a process expression whose children are there already.
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

    /// A built-in function at a sort, new or known: the caller promises that it has that signature. `name` is how it is
    /// written.
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

    /// Adds an alternative to a structured sort that a later phase made with [`Sorts::add_struct`]. Its functions are not found by
    /// name, so that they never get in the way of those of the specification. `None` when the sort is not a structured one.
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

impl Expression {
    /// Calls `visit` with every data expression directly below, from left to right.
    pub fn for_each_child(&self, mut visit: impl FnMut(ExpressionId)) {
        match self {
            Expression::Variable(_) | Expression::Symbol(_) | Expression::Bool(_) | Expression::Number(_) => {
            }
            Expression::List(all) | Expression::Set(all) => all.iter().copied().for_each(visit),
            Expression::Bag(pairs) => pairs.iter().for_each(|&(element, count)| {
                visit(element);
                visit(count);
            }),
            Expression::Call { arguments, .. } => arguments.iter().copied().for_each(visit),
            Expression::Apply { function, arguments } => {
                visit(*function);
                arguments.iter().copied().for_each(visit);
            }
            Expression::Upcast(body)
            | Expression::Comprehension { body, .. }
            | Expression::Binder { body, .. } => visit(*body),
            Expression::Where { body, definitions } => {
                visit(*body);
                definitions.iter().for_each(|&(_, value)| visit(value));
            }
        }
    }
}
