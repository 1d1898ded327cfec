//! The nodes of compiled code, in an arena. They refer to each other by index.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use crate::compile::solver::Plan;
use crate::syntax::Symbol;
use crate::typed::{Builtin, ExpressionId, SortId, SymbolId, VariableId};
use crate::value::{Head, Value};

/// A node, as an index into [`Body::nodes`].
pub(super) type NodeId = u32;

/// Some nodes: a part of [`Body::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub(super) start: u32,
    pub(super) length: u32,
}

/// One step of an evaluation. Wherever a `symbol` stands, it is what a stuck result is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Constant(Value),
    /// A slot that holds a value.
    Slot(u32),
    /// A slot that holds a value or a delayed evaluation, which is carried out now.
    Lazy(u32),
    /// The content of a slot, which may be delayed.
    Pass(u32),
    /// A delayed evaluation: an index into the delays of the tables.
    Delay(u32),
    /// A closed expression, evaluated once: an index into [`Body::once`].
    Once(u32),
    /// Evaluates into a slot, then goes on.
    Let {
        slot: u32,
        value: NodeId,
        body: NodeId,
    },
    /// Makes sure that there is stack for what comes.
    Deep(NodeId),
    Not {
        of: NodeId,
        symbol: SymbolId,
    },
    /// `&&`, `||` or `=>`
    Connective {
        builtin: Builtin,
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
        symbol: SymbolId,
    },
    /// A function of the user that is `if` by another name.
    Choose {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
        function: u32,
    },
    Equal {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    NotEqual {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    /// `slot == value` for a plain constant.
    Is {
        slot: u32,
        value: Value,
        symbol: SymbolId,
    },
    Less {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    LessEqual {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    /// `left > right`
    Greater {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    GreaterEqual {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    Add {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    Subtract {
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    Unary {
        builtin: Builtin,
        of: NodeId,
        symbol: SymbolId,
    },
    Binary {
        builtin: Builtin,
        left: NodeId,
        right: NodeId,
        symbol: SymbolId,
    },
    Update {
        function: NodeId,
        key: NodeId,
        value: NodeId,
        symbol: SymbolId,
    },
    /// A number that must be at least this, and whole.
    Convert {
        of: NodeId,
        least: Least,
        symbol: SymbolId,
    },
    /// A constructor, or a function without rules.
    Construct {
        symbol: SymbolId,
        arguments: List,
    },
    Project {
        of: NodeId,
        constructor: SymbolId,
        position: u32,
        symbol: SymbolId,
    },
    /// A projection of several alternatives: an index into [`Body::fields`].
    ProjectAny {
        of: NodeId,
        fields: u32,
        symbol: SymbolId,
    },
    Recognise {
        of: NodeId,
        constructor: SymbolId,
        symbol: SymbolId,
    },
    ListOf(List),
    SetOf(List),
    /// Element, count, element, count, …
    BagOf(List),
    Call {
        function: u32,
        arguments: List,
    },
    Apply {
        function: NodeId,
        arguments: List,
    },
    /// A lambda with what it captures.
    Closure {
        binder: u32,
        captured: List,
    },
    /// A comprehension with what it captures.
    Comprehension {
        binder: u32,
        captured: List,
    },
    /// An index into [`Body::quantifiers`].
    Quantifier(u32),

    // The rest stands only in the decision trees of functions.
    /// Evaluates what a slot holds.
    Force {
        slot: u32,
        next: NodeId,
    },
    /// An index into [`Body::switches`].
    Switch {
        slot: u32,
        switch: u32,
    },
    /// Takes an argument of a node.
    Load {
        from: u32,
        index: u32,
        to: u32,
        next: NodeId,
    },
    /// Two slots must hold the same word.
    Same {
        left: u32,
        right: u32,
        next: NodeId,
        otherwise: NodeId,
    },
    /// The condition of a rule.
    When {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    /// No rule applies.
    Fail,
}

/// What a conversion demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Least {
    Whole,
    Zero,
    One,
}

/// What a pattern demands of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// To be this value.
    Word(Value),
    /// To have this head, and so many arguments.
    Head(Head, u32),
}

/// Where to go on, depending on a value.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub(super) cases: Box<[(Test, NodeId)]>,
    /// The same by word, or by head, when there are many.
    pub(super) table: Option<FxHashMap<(bool, u32), NodeId>>,
    pub(super) otherwise: NodeId,
}

/// More cases than this are looked up in a table.
const MANY_CASES: usize = 6;

impl Switch {
    pub(super) fn new(cases: Vec<(Test, NodeId)>, otherwise: NodeId) -> Switch {
        let key = |&(test, target): &(Test, NodeId)| match test {
            Test::Word(value) => ((false, value.word()), target),
            Test::Head(head, _) => ((true, head.code()), target),
        };
        let table = (cases.len() > MANY_CASES).then(|| cases.iter().map(key).collect());
        Switch { cases: cases.into(), table, otherwise }
    }
}

/// A closed expression and its value, once known.
#[derive(Debug)]
pub(super) struct Once {
    pub(super) root: NodeId,
    pub(super) value: OnceLock<Value>,
}

/// `exists` or `forall`.
#[derive(Debug)]
pub(super) struct Quantifier {
    /// Finds a witness, or a counterexample.
    pub(super) plan: Plan,
    /// Its value if none is found.
    pub(super) when_none: bool,
    /// The binder of the stuck value, and where the captured variables stand.
    pub(super) binder: u32,
    pub(super) captured: List,
    /// Slots that must be evaluated before.
    pub(super) force: Box<[u32]>,
}

/// The nodes of one expression or function.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) nodes: Vec<Node>,
    pub(super) lists: Vec<NodeId>,
    pub(super) once: Vec<Once>,
    pub(super) fields: Vec<Box<[(SymbolId, u32)]>>,
    pub(super) switches: Vec<Switch>,
    pub(super) quantifiers: Vec<Quantifier>,
}

/// What happens when no rule applies.
#[derive(Clone, Debug)]
pub(super) enum Otherwise {
    /// The application stands for itself.
    Stuck,
    /// A built-in function.
    Builtin(Builtin),
    /// A conversion.
    Convert(Least),
    /// A projection.
    Project(Box<[(SymbolId, u32)]>),
    /// A recogniser.
    Recognise(SymbolId),
}

/// A function with rules, or the body of a binder.
#[derive(Debug)]
pub(super) struct Function {
    /// `None` for the body of a binder.
    pub(super) symbol: Option<SymbolId>,
    /// Arguments, those of curried applications included.
    pub(super) arity: u32,
    /// Arguments of the first application.
    pub(super) first: u32,
    /// Slots of a frame.
    pub(super) frame: u32,
    /// For functions that just choose: which arguments are condition, first and second choice.
    pub(super) conditional: Option<[u8; 3]>,
    pub(super) body: Body,
    pub(super) root: NodeId,
    pub(super) otherwise: Otherwise,
}

/// A delayed evaluation: code over the captured slots, which become the first slots of its frame.
#[derive(Debug)]
pub(super) struct Delay {
    pub(super) captured: Box<[u32]>,
    pub(super) frame: u32,
    pub(super) body: Body,
    pub(super) root: NodeId,
}

/// Where the variables of a lambda, comprehension or quantifier come from.
#[derive(Debug)]
pub(super) struct Binder {
    pub(super) expression: ExpressionId,
    /// The captured variables, in the order of the captured values.
    pub(super) captured: Box<[VariableId]>,
    /// The names and sorts of the bound variables.
    pub(super) names: Box<[(Symbol, SortId)]>,
    /// Whether it is a comprehension with counts.
    pub(super) is_bag: bool,
    /// Its code, for functions: parameters, then captured values, then the rest.
    pub(super) function: Option<Arc<Function>>,
}

impl Body {
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }

    pub(super) fn list(&mut self, nodes: &[NodeId]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(nodes);
        List { start, length: nodes.len() as u32 }
    }

    #[inline]
    pub(super) fn nodes_of(&self, list: List) -> &[NodeId] {
        &self.lists[list.start as usize..(list.start + list.length) as usize]
    }
}
