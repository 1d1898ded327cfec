//! The items of a typed program: functions, variables, expressions, equations, actions and
//! processes, each with its own kind of id.

use super::builtin::Builtin;
use super::sorts::SortId;
use crate::syntax::{Binder, ProcessOperator, Span, Symbol};

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
    /// Its name, or the operator of a built-in function.
    pub name: Symbol,
    /// The origin of the function.
    pub kind: SymbolKind,
    /// Its sort: a function sort, or the sort of a constant.
    pub sort: SortId,
    /// The position of its declaration; empty for built-in functions.
    pub span: Span,
}

/// The origin of a function.
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
        /// The index of the alternative.
        index: u32,
    },
    /// A function that selects a field of a structured sort.
    Projection {
        /// The structured sort.
        sort: SortId,
        /// The selected fields as alternative and position, at most one for each alternative.
        fields: Box<[(u32, u32)]>,
    },
    /// A function that recognises an alternative of a structured sort.
    Recogniser {
        /// The structured sort.
        sort: SortId,
        /// The index of the alternative.
        index: u32,
    },
    /// A built-in function.
    Builtin(Builtin),
}

/// The functions of an alternative that was added to a structured sort.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Constructs a value of the alternative.
    pub constructor: SymbolId,
    /// Recognises values of the alternative.
    pub recogniser: SymbolId,
    /// Select the fields, in order.
    pub projections: Box<[SymbolId]>,
}

/// A declared variable: of an equation, a process, a sum, a quantifier, or the whole specification.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name. Different variables may have the same.
    pub name: Symbol,
    /// Its sort.
    pub sort: SortId,
    /// The position of its declaration.
    pub span: Span,
}

/// A data expression; its sort is [`Program::sort_of`](super::Program::sort_of).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A variable.
    Variable(VariableId),
    /// A constant, or a function as a value.
    Symbol(SymbolId),
    /// `true` or `false`.
    Bool(bool),
    /// A number of any size, as decimal digits. Its sort may be larger than necessary: a 1 used as
    /// `Real` is a constant of that sort, without conversion.
    Number(Symbol),
    /// `[a, b]`, including `[]`.
    List(Box<[ExpressionId]>),
    /// `{a, b}`, including `{}`: always of sort `FSet`.
    Set(Box<[ExpressionId]>),
    /// `{a: 1, b: 2}` as pairs of element and count, including `{:}`: always of sort `FBag`.
    Bag(Box<[(ExpressionId, ExpressionId)]>),
    /// `{x: S | body}`: of sort `Set` if the body is a truth value, of sort `Bag` if it is a `Nat`.
    Comprehension {
        /// The bound variable.
        variable: VariableId,
        /// Truth value or count.
        body: ExpressionId,
    },
    /// A known function with all its arguments, including operators and updates.
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
    /// An implicit conversion from the sort of the operand to the sort of this expression: `Pos` to
    /// `Nat` to `Int` to `Real`, `FSet` to `Set`, `FBag` to `Bag`. May combine several of these
    /// steps.
    Upcast(ExpressionId),
    /// `forall`, `exists` or `lambda`.
    Binder {
        /// The kind of binder.
        binder: Binder,
        /// At least one.
        variables: Box<[VariableId]>,
        /// The scope of the variables.
        body: ExpressionId,
    },
    /// `body whr x = e, … end`: the values do not see the names, the body does.
    Where {
        /// The scope of the names.
        body: ExpressionId,
        /// At least one.
        definitions: Box<[(VariableId, ExpressionId)]>,
    },
}

/// `condition -> left = right;`
#[derive(Clone, Debug)]
pub struct Equation {
    /// The variables declared for it, not all of which need to occur.
    pub variables: std::ops::Range<u32>,
    /// The condition under which it applies.
    pub condition: Option<ExpressionId>,
    /// The side that is matched.
    pub left: ExpressionId,
    /// The side that replaces it, of the same sort.
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
    /// The position of its declaration.
    pub span: Span,
}

/// A declared process. Several may have the same name and different parameters.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: Symbol,
    /// Its parameters.
    pub parameters: Box<[VariableId]>,
    /// Its body. Absent only while a specification with errors is being checked.
    pub body: Option<BehaviourId>,
    /// The position of its declaration.
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
        /// The action.
        action: ActionId,
        /// Arguments of exactly its sorts.
        arguments: Box<[ExpressionId]>,
    },
    /// A process with values for all its parameters, in order. `P(x = e)` and `P()` are expanded:
    /// other parameters get the variable with that name that is visible at the call.
    Call {
        /// The process.
        process: ProcessId,
        /// Arguments of exactly the sorts of its parameters.
        arguments: Box<[ExpressionId]>,
    },
    /// An infix operator.
    Binary(ProcessOperator, BehaviourId, BehaviourId),
    /// `p @ t`
    At {
        /// The process.
        body: BehaviourId,
        /// The time of its first action, of sort `Real`.
        time: ExpressionId,
    },
    /// `sum x: S. p`
    Sum {
        /// At least one.
        variables: Box<[VariableId]>,
        /// The scope of the variables.
        body: BehaviourId,
    },
    /// `dist x: S[weight]. p`
    Dist {
        /// At least one; bound in the weight, too.
        variables: Box<[VariableId]>,
        /// The probability of a choice, of sort `Real`.
        weight: ExpressionId,
        /// The scope of the variables.
        body: BehaviourId,
    },
    /// `c -> p` or `c -> p <> q`
    If {
        /// Of sort `Bool`.
        condition: ExpressionId,
        /// The process if it is true.
        then: BehaviourId,
        /// The process if it is false.
        otherwise: Option<BehaviourId>,
    },
    /// `block({a, b}, p)`: blocks all actions with these names.
    Block {
        /// Action names.
        actions: Box<[Symbol]>,
        /// The process.
        body: BehaviourId,
    },
    /// `hide({a, b}, p)`: hides all actions with these names.
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
        /// Old and new action names. Old names are distinct.
        renamings: Box<[(Symbol, Symbol)]>,
        /// The process.
        body: BehaviourId,
    },
    /// `comm({a|b -> c}, p)`
    Comm {
        /// Action names that communicate, with repetition, and the resulting name. No name occurs
        /// on two left sides.
        rules: Box<[(Box<[Symbol]>, Symbol)]>,
        /// The process.
        body: BehaviourId,
    },
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

impl Behaviour {
    /// The process expressions directly below, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = BehaviourId> + use<> {
        let parts = match *self {
            Behaviour::Delta | Behaviour::Tau | Behaviour::Action { .. } | Behaviour::Call { .. } => {
                [None, None]
            }
            Behaviour::Binary(_, left, right) => [Some(left), Some(right)],
            Behaviour::If { then, otherwise, .. } => [Some(then), otherwise],
            Behaviour::At { body, .. }
            | Behaviour::Sum { body, .. }
            | Behaviour::Dist { body, .. }
            | Behaviour::Block { body, .. }
            | Behaviour::Hide { body, .. }
            | Behaviour::Allow { body, .. }
            | Behaviour::Rename { body, .. }
            | Behaviour::Comm { body, .. } => [Some(body), None],
        };
        parts.into_iter().flatten()
    }
}
