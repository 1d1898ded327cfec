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

/// One step of an evaluation. A `symbol` is the head of the result if that is stuck.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Constant(Value),
    /// A slot that holds a value.
    Slot(u32),
    /// A slot that holds a value or a delayed evaluation, which is forced.
    Lazy(u32),
    /// The content of a slot, which may be delayed.
    Pass(u32),
    /// A delayed evaluation: an index into the delays of the tables.
    Delay(u32),
    /// A closed expression, evaluated once: an index into [`Body::once`].
    Once(u32),
    /// Evaluates into a slot, then continues.
    Let {
        slot: u32,
        value: NodeId,
        body: NodeId,
    },
    /// Makes sure that enough stack is left.
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
    /// A user function that is equivalent to `if`.
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
    /// Checks that a number is an integer and at least this.
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
    /// A lambda with its captured values.
    Closure {
        binder: u32,
        captured: List,
    },
    /// A comprehension with its captured values.
    Comprehension {
        binder: u32,
        captured: List,
    },
    /// An index into [`Body::quantifiers`].
    Quantifier(u32),

    // The remaining nodes occur only in the decision trees of functions.
    /// Evaluates the content of a slot.
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

/// The lower bound that a conversion requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Least {
    Whole,
    Zero,
    One,
}

/// The test that a pattern makes on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// It is this value.
    Word(Value),
    /// It has this head and this number of arguments.
    Head(Head, u32),
}

/// Branches on a value.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub(super) cases: Box<[(Test, NodeId)]>,
    /// The same cases by word or by head, if there are many.
    pub(super) table: Option<FxHashMap<(bool, u32), NodeId>>,
    pub(super) otherwise: NodeId,
}

/// With more cases than this a table is built.
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
    /// The value of the quantifier if none is found.
    pub(super) when_none: bool,
    /// The binder of the stuck value, and the slots of the captured variables.
    pub(super) binder: u32,
    pub(super) captured: List,
    /// Slots that must be evaluated first.
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

/// What to do when no rule applies.
#[derive(Clone, Debug)]
pub(super) enum Otherwise {
    /// The application is its own value.
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
    /// For functions equivalent to `if`: the positions of condition, first and second choice.
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

/// A lambda, comprehension or quantifier, as values refer to it.
#[derive(Debug)]
pub(super) struct Binder {
    pub(super) expression: ExpressionId,
    /// The captured variables, in the order of the captured values.
    pub(super) captured: Box<[VariableId]>,
    /// The names and sorts of the bound variables.
    pub(super) names: Box<[(Symbol, SortId)]>,
    /// Whether it is a comprehension of a bag.
    pub(super) is_bag: bool,
    /// Its code, if it is a function. The frame begins with the parameters, then the captured
    /// values.
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
