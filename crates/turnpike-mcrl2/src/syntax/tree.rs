//! The arena of expressions. Nodes refer to each other by id, and **the id of a child is smaller
//! than that of its parent**. A pass from the leaves up is a loop over the ids, and a pass from the
//! root down is the same loop backwards, so nesting cannot overflow the stack. Parentheses are not
//! stored.

use super::operator::{BinaryOperator, Binder, BuiltinSort, Container, ProcessOperator, UnaryOperator};
use super::symbol::{Name, Span, Symbol, Symbols};

/// A sort expression in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortId(u32);

/// A data expression in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataId(u32);

/// A process expression in a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(u32);

/// A sort expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `Bool`, `Pos`, `Nat`, `Int`, `Real`.
    Builtin(BuiltinSort),
    /// `List(S)`, `Set(S)` and so on.
    Container(Container, SortId),
    /// A declared sort.
    Name(Symbol),
    /// `struct c(p: S)?r | …`
    Struct(Box<[Constructor]>),
    /// `A # B -> C`: products are flat.
    Function {
        /// At least one.
        domain: Box<[SortId]>,
        /// The result.
        codomain: SortId,
    },
}

/// An alternative of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: Name,
    /// Its fields; empty for constants.
    pub fields: Box<[Field]>,
    /// The function that recognises it, after `?`.
    pub recogniser: Option<Name>,
}

/// A field of a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The function that selects it, if there is one.
    pub projection: Option<Name>,
    /// Its sort.
    pub sort: SortId,
}

/// A declared variable. Variables declared together, as in `x, y: Nat`, share the id of their sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// Its sort.
    pub sort: SortId,
}

/// A data expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// A variable, constant or function, built-in functions included.
    Name(Symbol),
    /// A number of any size: decimal digits, without leading zeros.
    Number(Symbol),
    /// `true` or `false`.
    Bool(bool),
    /// `[a, b]`, including `[]`.
    List(Box<[DataId]>),
    /// `{a, b}`, including `{}`.
    Set(Box<[DataId]>),
    /// `{a: 1, b: 2}` as pairs of element and count, including `{:}`.
    Bag(Box<[(DataId, DataId)]>),
    /// `{x: S | body}`: a set if the body is a truth value, a bag if it is a number.
    Comprehension {
        /// The bound variable.
        variable: Variable,
        /// Truth value or count.
        body: DataId,
    },
    /// `f(a, b)`
    Apply {
        /// The function.
        function: DataId,
        /// At least one.
        arguments: Box<[DataId]>,
    },
    /// `f[key -> value]`
    Update {
        /// The function that is updated.
        function: DataId,
        /// The argument.
        key: DataId,
        /// The new result.
        value: DataId,
    },
    /// A prefix operator.
    Unary(UnaryOperator, DataId),
    /// An infix operator.
    Binary(BinaryOperator, DataId, DataId),
    /// `forall`, `exists` or `lambda`.
    Binder {
        /// The kind of binder.
        binder: Binder,
        /// At least one.
        variables: Box<[Variable]>,
        /// The scope of the variables.
        body: DataId,
    },
    /// `body whr x = e, … end`: the values do not see the names, the body does.
    Where {
        /// The scope of the names.
        body: DataId,
        /// At least one.
        definitions: Box<[Assignment]>,
    },
}

/// `x = e`, in a `whr` clause or in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable or parameter.
    pub name: Name,
    /// Its value.
    pub value: DataId,
}

/// A process expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// `delta`
    Delta,
    /// `tau`
    Tau,
    /// `a` or `a(e, …)`: an action, or a process with values for all its parameters, depending on
    /// the name.
    Action {
        /// The action or process.
        name: Name,
        /// Data or parameters; none if there are no parentheses.
        arguments: Box<[DataId]>,
    },
    /// `P(x = e, …)` or `P()`: other parameters keep the value of the variable with that name.
    Call {
        /// The process.
        name: Name,
        /// The new values, all evaluated before any is assigned.
        assignments: Box<[Assignment]>,
    },
    /// An infix operator.
    Binary(ProcessOperator, ProcessId, ProcessId),
    /// `p @ t`
    At {
        /// The process.
        process: ProcessId,
        /// The time of its first action.
        time: DataId,
    },
    /// `sum x: S. p`
    Sum {
        /// At least one.
        variables: Box<[Variable]>,
        /// The scope of the variables.
        body: ProcessId,
    },
    /// `dist x: S[weight]. p`
    Dist {
        /// At least one; bound in the weight, too.
        variables: Box<[Variable]>,
        /// The probability of a choice.
        weight: DataId,
        /// The scope of the variables.
        body: ProcessId,
    },
    /// `c -> p` or `c -> p <> q`
    If {
        /// The condition.
        condition: DataId,
        /// When it holds.
        then: ProcessId,
        /// When it does not.
        otherwise: Option<ProcessId>,
    },
    /// `block({a, b}, p)`
    Block {
        /// At least one action.
        actions: Box<[Name]>,
        /// The process.
        body: ProcessId,
    },
    /// `hide({a, b}, p)`
    Hide {
        /// At least one action.
        actions: Box<[Name]>,
        /// The process.
        body: ProcessId,
    },
    /// `allow({a, a|b}, p)`
    Allow {
        /// What may happen; may be empty.
        actions: Box<[MultiAction]>,
        /// The process.
        body: ProcessId,
    },
    /// `rename({a -> b}, p)`
    Rename {
        /// All at once; may be empty.
        renamings: Box<[Renaming]>,
        /// The process.
        body: ProcessId,
    },
    /// `comm({a|b -> c}, p)`
    Comm {
        /// May be empty.
        rules: Box<[CommRule]>,
        /// The process.
        body: ProcessId,
    },
}

/// Action names that occur together: `a|b|b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiAction {
    /// At least one, as written: order and repetition are kept.
    pub names: Box<[Name]>,
}

/// `from -> to` in `rename`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The old name.
    pub from: Name,
    /// The new name.
    pub to: Name,
}

/// `a|b -> c` in `comm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommRule {
    /// At least two, as written.
    pub from: Box<[Name]>,
    /// What they become.
    pub to: Name,
}

/// All expressions of a specification, with their places and words.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The words.
    pub symbols: Symbols,
    sorts: Vec<Sort>,
    sort_spans: Vec<Span>,
    data: Vec<Data>,
    data_spans: Vec<Span>,
    processes: Vec<Process>,
    process_spans: Vec<Span>,
}

/// An id for the next element of a list.
fn next(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 nodes: every node has a byte of its own in the source")
}

macro_rules! nodes {
    ($id:ident, $node:ident, $add:ident, $get:ident, $span:ident, $count:ident, $list:ident, $spans:ident) => {
        impl $id {
            /// Dense, from 0, children before parents: an index for side tables.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Tree {
            /// Adds a node whose children are in the tree already.
            pub fn $add(&mut self, node: $node, span: Span) -> $id {
                let id = $id(next(self.$list.len()));
                self.$list.push(node);
                self.$spans.push(span);
                id
            }

            /// A node.
            pub fn $get(&self, id: $id) -> &$node {
                &self.$list[id.index()]
            }

            /// Where a node stands, without the parentheses around it.
            pub fn $span(&self, id: $id) -> Span {
                self.$spans[id.index()]
            }

            /// All ids, children before parents.
            pub fn $count(&self) -> impl DoubleEndedIterator<Item = $id> + ExactSizeIterator + use<> {
                (0..next(self.$list.len())).map($id)
            }
        }
    };
}

nodes!(SortId, Sort, add_sort, sort, sort_span, sort_ids, sorts, sort_spans);
nodes!(DataId, Data, add_data, data, data_span, data_ids, data, data_spans);
nodes!(ProcessId, Process, add_process, process, process_span, process_ids, processes, process_spans);

impl Tree {
    /// A tree without nodes, in which these words keep their ids.
    pub fn new(symbols: Symbols) -> Self {
        Tree { symbols, ..Tree::default() }
    }

    /// The word of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.symbols.text(symbol)
    }
}

impl Sort {
    /// Calls `visit` with every sort directly below, from left to right.
    pub fn for_each_child(&self, mut visit: impl FnMut(SortId)) {
        match self {
            Sort::Builtin(_) | Sort::Name(_) => {}
            Sort::Container(_, element) => visit(*element),
            Sort::Struct(constructors) => {
                constructors
                    .iter()
                    .flat_map(|constructor| &constructor.fields)
                    .for_each(|field| visit(field.sort));
            }
            Sort::Function { domain, codomain } => {
                domain.iter().copied().for_each(&mut visit);
                visit(*codomain);
            }
        }
    }
}

impl Data {
    /// Calls `visit` with every data expression directly below, from left to right.
    pub fn for_each_child(&self, mut visit: impl FnMut(DataId)) {
        match self {
            Data::Name(_) | Data::Number(_) | Data::Bool(_) => {}
            Data::List(elements) | Data::Set(elements) => elements.iter().copied().for_each(visit),
            Data::Bag(pairs) => pairs.iter().for_each(|&(element, count)| {
                visit(element);
                visit(count);
            }),
            Data::Comprehension { body, .. } | Data::Binder { body, .. } => visit(*body),
            Data::Apply { function, arguments } => {
                visit(*function);
                arguments.iter().copied().for_each(visit);
            }
            Data::Update { function, key, value } => [*function, *key, *value].into_iter().for_each(visit),
            Data::Unary(_, operand) => visit(*operand),
            Data::Binary(_, left, right) => [*left, *right].into_iter().for_each(visit),
            Data::Where { body, definitions } => {
                visit(*body);
                definitions.iter().for_each(|definition| visit(definition.value));
            }
        }
    }
}

impl Process {
    /// Calls `visit` with every process expression directly below, from left to right.
    pub fn for_each_child(&self, mut visit: impl FnMut(ProcessId)) {
        match self {
            Process::Delta | Process::Tau | Process::Action { .. } | Process::Call { .. } => {}
            Process::Binary(_, left, right) => [*left, *right].into_iter().for_each(visit),
            Process::If { then, otherwise, .. } => {
                visit(*then);
                otherwise.iter().copied().for_each(visit);
            }
            Process::At { process: body, .. }
            | Process::Sum { body, .. }
            | Process::Dist { body, .. }
            | Process::Block { body, .. }
            | Process::Hide { body, .. }
            | Process::Allow { body, .. }
            | Process::Rename { body, .. }
            | Process::Comm { body, .. } => visit(*body),
        }
    }
}
