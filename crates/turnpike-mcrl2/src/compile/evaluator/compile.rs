//! Compiles typed expressions to nodes.
//!
//! Every compiled expression has a *level*: the outermost binder whose variables it uses. A closed
//! expression is evaluated only once. Lambdas and delayed arguments have bodies and frames of their
//! own; they capture the values that they need from the surrounding frame.

mod binders;
mod calls;
mod delays;
mod primitives;

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use self::primitives::{conversion, projection};
use super::node::{Body, List, Node, NodeId, Once};
use super::{Rules, Scope};
use crate::syntax;
use crate::typed::{Expression, ExpressionId, Program, SymbolId, VariableId};
use crate::value::{Head, Heap, Value};

/// The level of an expression without variables.
const CLOSED: u32 = u32::MAX;
/// An expression deeper than this checks that enough stack is left.
const STACK_CHECK_DEPTH: u32 = 24;

/// An expression, compiled.
#[derive(Clone, Copy, Debug)]
struct Compiled {
    node: NodeId,
    level: u32,
    depth: u32,
}

/// What code is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// An expression or a rule: unknown variables get slots.
    Outermost,
    /// A delayed argument: unknown variables are captured, whether delayed or not.
    Delay,
}

#[derive(Debug)]
struct Context {
    purpose: Purpose,
    scope: Scope,
    body: Body,
    /// Slots that may hold delayed evaluations.
    lazy: FxHashSet<u32>,
    /// The captured variables, as slots of the enclosing context.
    captured: Vec<u32>,
    memo: FxHashMap<ExpressionId, Compiled>,
}

/// Compiles expressions of one program.
pub(super) struct Compiler<'a> {
    rules: &'a Arc<Rules>,
    program: &'a Program,
    contexts: Vec<Context>,
    /// The levels of the variables in scope.
    levels: FxHashMap<VariableId, u32>,
    level: u32,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(rules: &'a Arc<Rules>, program: &'a Program, scope: Scope, body: Body) -> Self {
        let outermost = Context {
            purpose: Purpose::Outermost,
            scope,
            body,
            lazy: FxHashSet::default(),
            captured: Vec::new(),
            memo: FxHashMap::default(),
        };
        Compiler { rules, program, contexts: vec![outermost], levels: FxHashMap::default(), level: 0 }
    }

    pub(super) fn finish(mut self) -> (Scope, Body) {
        let context = self.contexts.pop().expect("the outermost context");
        (context.scope, context.body)
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        &mut self.context().scope
    }

    pub(super) fn body(&mut self) -> &mut Body {
        &mut self.context().body
    }

    /// Sets which slots may hold delayed evaluations from now on.
    pub(super) fn set_lazy(&mut self, slots: FxHashSet<u32>) {
        let context = self.context();
        context.lazy = slots;
        context.memo.clear();
    }

    /// Compiles a whole expression.
    pub(super) fn root(&mut self, id: ExpressionId) -> NodeId {
        let compiled = self.expression(id);
        self.closed_once(compiled).node
    }

    fn context(&mut self) -> &mut Context {
        self.contexts.last_mut().expect("the outermost context")
    }

    fn add(&mut self, node: Node, level: u32, depth: u32) -> Compiled {
        let body = self.body();
        let mut node = body.add(node);
        let mut depth = depth.saturating_add(1);
        if depth > STACK_CHECK_DEPTH {
            node = body.add(Node::Deep(node));
            depth = 0;
        }
        Compiled { node, level, depth }
    }

    fn constant(&mut self, value: Value) -> Compiled {
        self.add(Node::Constant(value), CLOSED, 0)
    }

    fn as_constant(&self, compiled: Compiled) -> Option<Value> {
        match self.contexts.last()?.body.nodes[compiled.node as usize] {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Makes a closed expression be evaluated only once.
    fn closed_once(&mut self, compiled: Compiled) -> Compiled {
        if compiled.level != CLOSED || self.as_constant(compiled).is_some() {
            return compiled;
        }
        // A delay belongs to one frame and is not a value.
        if let Node::Once(_) | Node::Delay(_) = self.body().nodes[compiled.node as usize] {
            return compiled;
        }
        let body = self.body();
        body.once.push(Once { root: compiled.node, value: OnceLock::new() });
        let node = Node::Once(body.once.len() as u32 - 1);
        self.add(node, CLOSED, 0)
    }

    /// The operands of a node and its level. If the node is not closed, its closed operands are
    /// evaluated only once.
    fn operands(&mut self, ids: &[ExpressionId]) -> (Vec<Compiled>, u32) {
        let operands: Vec<Compiled> = ids.iter().map(|&id| self.expression(id)).collect();
        self.finish_operands(operands)
    }

    fn finish_operands(&mut self, mut operands: Vec<Compiled>) -> (Vec<Compiled>, u32) {
        let level = operands.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        if level != CLOSED {
            for one in &mut operands {
                *one = self.closed_once(*one);
            }
        }
        (operands, level)
    }

    fn expression(&mut self, id: ExpressionId) -> Compiled {
        if let Some(&known) = self.context().memo.get(&id) {
            return known;
        }
        let compiled = stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.compile_expression(id));
        self.context().memo.insert(id, compiled);
        compiled
    }

    fn compile_expression(&mut self, id: ExpressionId) -> Compiled {
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => self.variable(*variable),
            Expression::Bool(value) => self.constant(Value::bool(*value)),
            Expression::Number(digits) => {
                let value = self.rules.constant(|heap| number(heap, program.text(*digits)));
                self.constant(value)
            }
            Expression::Symbol(symbol) => self.symbol(*symbol),
            Expression::Upcast(of) => self.expression(*of),
            Expression::List(elements) => {
                if elements.is_empty() {
                    return self.constant(Value::NIL);
                }
                let (elements, level) = self.operands(elements);
                self.aggregate(elements, level, Node::ListOf)
            }
            Expression::Set(elements) => {
                if elements.is_empty() {
                    return self.constant(Value::EMPTY_SET);
                }
                let (elements, level) = self.operands(elements);
                self.aggregate(elements, level, Node::SetOf)
            }
            Expression::Bag(pairs) => {
                if pairs.is_empty() {
                    return self.constant(Value::EMPTY_BAG);
                }
                let flat: Vec<ExpressionId> = pairs.iter().flat_map(|&(one, count)| [one, count]).collect();
                let (elements, level) = self.operands(&flat);
                self.aggregate(elements, level, Node::BagOf)
            }
            Expression::Call { symbol, arguments } => self.call(*symbol, arguments),
            Expression::Apply { function, arguments } => self.apply(*function, arguments),
            Expression::Binder { binder: syntax::Binder::Lambda, variables, body } => {
                self.closure(id, variables, *body, |binder, captured| Node::Closure { binder, captured })
            }
            Expression::Comprehension { variable, body } => {
                self.closure(id, &[*variable], *body, |binder, captured| Node::Comprehension {
                    binder,
                    captured,
                })
            }
            Expression::Binder { binder, variables, body } => {
                self.quantifier(id, *binder == syntax::Binder::Exists, variables, *body)
            }
            Expression::Where { body, definitions } => self.definitions(*body, definitions),
        }
    }

    fn aggregate(&mut self, elements: Vec<Compiled>, level: u32, node: fn(List) -> Node) -> Compiled {
        let nodes: Vec<NodeId> = elements.iter().map(|one| one.node).collect();
        let depth = deepest(&elements);
        let list = self.body().list(&nodes);
        self.add(node(list), level, depth)
    }

    fn variable(&mut self, variable: VariableId) -> Compiled {
        let known = self.contexts.iter().any(|context| context.scope.get(variable).is_some());
        if !known && let Some(value) = self.rules.global(variable) {
            return self.constant(value);
        }
        let (slot, lazy) = self.resolve(self.contexts.len() - 1, variable);
        let level = self.levels.get(&variable).copied().unwrap_or(0);
        if lazy { self.add(Node::Lazy(slot), level, 0) } else { self.add(Node::Slot(slot), level, 0) }
    }

    /// The slot of a variable, and whether it may be delayed.
    fn resolve(&mut self, index: usize, variable: VariableId) -> (u32, bool) {
        let context = &mut self.contexts[index];
        if let Some(slot) = context.scope.get(variable) {
            return (slot, context.lazy.contains(&slot));
        }
        if index == 0 || context.purpose == Purpose::Outermost {
            return (context.scope.slot(variable), false);
        }
        let (outer, lazy) = self.resolve(index - 1, variable);
        let context = &mut self.contexts[index];
        let slot = context.scope.slot(variable);
        debug_assert_eq!(slot as usize, context.captured.len());
        context.captured.push(outer);
        if lazy {
            context.lazy.insert(slot);
        }
        (slot, lazy)
    }

    fn symbol(&mut self, symbol: SymbolId) -> Compiled {
        if let Some(function) = self.rules.known.nullary(symbol) {
            let arguments = self.body().list(&[]);
            return self.add(Node::Call { function, arguments }, CLOSED, 0);
        }
        self.rules.make_callable(self.program, symbol);
        let value = self.rules.constant(|heap| heap.make(Head::Symbol(symbol), &[]));
        self.constant(value)
    }
}

/// A number in decimal digits.
pub(super) fn number(heap: &mut Heap, digits: &str) -> Value {
    heap.number_from_digits(digits).unwrap_or(Value::FALSE)
}

fn deepest(operands: &[Compiled]) -> u32 {
    operands.iter().map(|one| one.depth).max().unwrap_or(0)
}
