//! From typed expressions to nodes.
//!
//! Every compiled expression knows its *level*: the outermost binder whose variables it uses. Whatever uses no variable at all is evaluated
//! once only. Lambdas and delayed arguments become bodies of their own with a frame of their own; what they need from around them is copied
//! there ("captured").

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::keys::describe;
use super::node::{Binder, Body, Delay, Function, Least, List, Node, NodeId, Once, Otherwise, Quantifier};
use super::{Rules, Scope};
use crate::enumerate::{Plan, QUANTIFIER_LIMIT, Query};
use crate::sorts::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};
use crate::syntax;
use crate::value::{Head, Heap, Value};

/// The level of what uses no variable.
const CLOSED: u32 = u32::MAX;
/// Expressions deeper than this look after the stack.
const DEEP: u32 = 24;
/// An argument with more nodes than this is not evaluated before it is needed.
const CHEAP: u32 = 24;

/// An expression, compiled.
#[derive(Clone, Copy, Debug)]
struct Compiled {
    node: NodeId,
    level: u32,
    depth: u32,
}

/// What code is being made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// An expression or a rule: unknown variables get slots.
    Outermost,
    /// A delayed argument: unknown variables are captured, delayed or not.
    Delay,
}

#[derive(Debug)]
struct Context {
    purpose: Purpose,
    scope: Scope,
    body: Body,
    /// Slots that may hold delayed evaluations.
    lazy: FxHashSet<u32>,
    /// What was captured, as slots of the context outside.
    captured: Vec<u32>,
    memo: FxHashMap<ExpressionId, Compiled>,
}

/// Compiles expressions of one program.
pub(super) struct Compiler<'a> {
    rules: &'a Arc<Rules>,
    program: &'a Program,
    contexts: Vec<Context>,
    /// The levels of the variables that are bound at the moment.
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

    /// Which slots may hold delayed evaluations from now on.
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
        if depth > DEEP {
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

    /// What is closed is evaluated once.
    fn closed_once(&mut self, compiled: Compiled) -> Compiled {
        if compiled.level != CLOSED || self.as_constant(compiled).is_some() {
            return compiled;
        }
        // A delay belongs to one frame, and is no value.
        if let Node::Once(_) | Node::Delay(_) = self.body().nodes[compiled.node as usize] {
            return compiled;
        }
        let body = self.body();
        body.once.push(Once { root: compiled.node, value: OnceLock::new() });
        let node = Node::Once(body.once.len() as u32 - 1);
        self.add(node, CLOSED, 0)
    }

    /// The operands of a node, and its level: closed operands of a node that is not are evaluated once.
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
        let compiled = stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.fresh_expression(id));
        self.context().memo.insert(id, compiled);
        compiled
    }

    fn fresh_expression(&mut self, id: ExpressionId) -> Compiled {
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
        self.rules.name_function(self.program, symbol);
        let value = self.rules.constant(|heap| heap.make(Head::Symbol(symbol), &[]));
        self.constant(value)
    }

    fn definitions(&mut self, body: ExpressionId, definitions: &[(VariableId, ExpressionId)]) -> Compiled {
        let ids: Vec<ExpressionId> = definitions.iter().map(|&(_, value)| value).collect();
        let values: Vec<Compiled> = ids.iter().map(|&id| self.expression(id)).collect();
        let variables: Vec<VariableId> = definitions.iter().map(|&(variable, _)| variable).collect();
        let (slots, saved) = self.bind(&variables);
        let level = self.level;
        let mut inner = self.expression(body);
        self.unbind(saved);
        let around = values.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let total = around.min(outside(inner.level, level));
        if total != CLOSED {
            inner = self.closed_once(inner);
        }
        for (&slot, &value) in slots.iter().zip(&values).rev() {
            let value = if total == CLOSED { value } else { self.closed_once(value) };
            let depth = inner.depth.max(value.depth);
            inner = self.add(Node::Let { slot, value: value.node, body: inner.node }, total, depth);
        }
        inner
    }

    /// Gives variables fresh slots, and a level of their own.
    fn bind(&mut self, variables: &[VariableId]) -> (Vec<u32>, Saved) {
        self.level += 1;
        let level = self.level;
        let mut previous = Vec::new();
        let mut slots = Vec::new();
        for &variable in variables {
            let old_level = self.levels.insert(variable, level);
            let context = self.context();
            let slot = context.scope.fresh();
            let old_slot = context.scope.slots.insert(variable, slot);
            previous.push((variable, old_slot, old_level));
            slots.push(slot);
        }
        let memo = std::mem::take(&mut self.context().memo);
        (slots, Saved { previous, memo })
    }

    fn unbind(&mut self, saved: Saved) {
        self.level -= 1;
        for (variable, slot, level) in saved.previous.into_iter().rev() {
            restore(&mut self.context().scope.slots, variable, slot);
            restore(&mut self.levels, variable, level);
        }
        self.context().memo = saved.memo;
    }

    /// A lambda or comprehension.
    fn closure(
        &mut self,
        id: ExpressionId,
        variables: &[VariableId],
        body: ExpressionId,
        node: impl Fn(u32, List) -> Node,
    ) -> Compiled {
        let (key, free) = describe(self.program, id);
        let binder = self.binder(id, key, &free, variables, Some(body));
        let captured: Vec<Compiled> = free.iter().map(|&variable| self.variable(variable)).collect();
        let level = captured.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let nodes: Vec<NodeId> = captured.iter().map(|one| one.node).collect();
        let captured = self.body().list(&nodes);
        self.add(node(binder, captured), level, 1)
    }

    /// The binder of an expression, the same for expressions that differ only in the names of variables.
    fn binder(
        &mut self,
        id: ExpressionId,
        key: Vec<u32>,
        free: &[VariableId],
        variables: &[VariableId],
        body: Option<ExpressionId>,
    ) -> u32 {
        if let Some(known) = self.rules.known_binder(&key) {
            return known;
        }
        // What is never applied needs no code.
        let code = body.map(|body| self.binder_code(free, variables, body));
        let binder = Binder {
            expression: id,
            captured: free.into(),
            sorts: variables.iter().map(|&variable| self.program.variable(variable).sort).collect(),
            is_bag: matches!(self.program.expression(id), Expression::Comprehension { .. })
                && body.is_some_and(|body| self.program.sort_of(body) != SortId::BOOL),
            function: code.map(Arc::new),
        };
        self.rules.add_binder(self.program, key, binder)
    }

    fn binder_code(&mut self, free: &[VariableId], variables: &[VariableId], body: ExpressionId) -> Function {
        let mut scope = Scope::default();
        for &variable in variables {
            let slot = scope.fresh();
            scope.slots.insert(variable, slot);
        }
        for &variable in free {
            scope.slot(variable);
        }
        let mut compiler = Compiler::new(self.rules, self.program, scope, Body::default());
        for &variable in variables {
            compiler.levels.insert(variable, 0);
        }
        let root = compiler.root(body);
        let (scope, nodes) = compiler.finish();
        Function {
            symbol: None,
            arity: variables.len() as u32,
            first: variables.len() as u32,
            frame: scope.size() as u32,
            conditional: None,
            body: nodes,
            root,
            otherwise: Otherwise::Stuck,
        }
    }

    fn quantifier(
        &mut self,
        id: ExpressionId,
        exists: bool,
        variables: &[VariableId],
        body: ExpressionId,
    ) -> Compiled {
        let (key, free) = describe(self.program, id);
        let captured: Vec<Compiled> = free.iter().map(|&variable| self.variable(variable)).collect();
        let level = captured.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let nodes: Vec<NodeId> = captured.iter().map(|one| one.node).collect();
        let mut force = Vec::new();
        for &node in &nodes {
            if let Node::Lazy(slot) = self.body().nodes[node as usize] {
                force.push(slot);
            }
        }
        let binder = self.binder(id, key, &free, variables, None);
        let (_, saved) = self.bind(variables);
        let (rules, program) = (self.rules, self.program);
        let scope = &mut self.context().scope;
        let conditions = [(body, exists)];
        let query = Query { variables, conditions: &conditions, witness: true, limit: QUANTIFIER_LIMIT };
        let plan = Plan::for_query(rules, program, &query, scope);
        self.unbind(saved);
        let code = self.body();
        let captured = code.list(&nodes);
        code.quantifiers.push(Quantifier { plan, when_none: !exists, binder, captured, force: force.into() });
        let index = code.quantifiers.len() as u32 - 1;
        self.add(Node::Quantifier(index), level, 1)
    }

    fn apply(&mut self, function: ExpressionId, arguments: &[ExpressionId]) -> Compiled {
        if let Some((symbol, all)) = self.curried(function, arguments)
            && let Some(index) = self.rules.known.curried(symbol, all.len())
            && self.rules.known.nullary(symbol).is_none()
            && self.rules.known.function(symbol).is_none()
        {
            return self.user_call(index, &all);
        }
        let mut all = vec![function];
        all.extend_from_slice(arguments);
        let (operands, level) = self.operands(&all);
        self.application(operands, level)
    }

    fn application(&mut self, operands: Vec<Compiled>, level: u32) -> Compiled {
        let nodes: Vec<NodeId> = operands[1..].iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let arguments = self.body().list(&nodes);
        self.add(Node::Apply { function: operands[0].node, arguments }, level, depth)
    }

    /// `f(x)(y)` as `f` with all arguments.
    fn curried(
        &self,
        function: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Option<(SymbolId, Vec<ExpressionId>)> {
        let mut groups = vec![arguments];
        let mut function = function;
        let symbol = loop {
            match self.program.expression(function) {
                Expression::Apply { function: inner, arguments } => {
                    groups.push(arguments);
                    function = *inner;
                }
                Expression::Call { symbol, arguments } => {
                    groups.push(arguments);
                    break *symbol;
                }
                _ => return None,
            }
        };
        Some((symbol, groups.into_iter().rev().flatten().copied().collect()))
    }

    /// A call of a function with rules.
    fn user_call(&mut self, function: u32, arguments: &[ExpressionId]) -> Compiled {
        let shape = self.rules.known.shape(function);
        if let Some([condition, then, otherwise]) = shape.conditional {
            let ids = [condition, then, otherwise].map(|index| arguments[index as usize]);
            let (operands, level) = self.operands(&ids);
            let depth = deepest(&operands);
            let [condition, then, otherwise] = [0, 1, 2].map(|index: usize| operands[index].node);
            return self.add(Node::Choose { condition, then, otherwise, function }, level, depth);
        }
        let mut operands = Vec::new();
        for (index, &argument) in arguments.iter().enumerate() {
            let lazy = index < 64 && shape.lazy >> index & 1 == 1;
            operands.push(if lazy { self.lazy_argument(argument) } else { self.expression(argument) });
        }
        let (operands, level) = self.finish_operands(operands);
        let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let arguments = self.body().list(&nodes);
        self.add(Node::Call { function, arguments }, level, depth)
    }

    /// An argument that may not be needed.
    fn lazy_argument(&mut self, id: ExpressionId) -> Compiled {
        if let Expression::Variable(variable) = self.program.expression(id) {
            let compiled = self.variable(*variable);
            return match self.body().nodes[compiled.node as usize] {
                Node::Lazy(slot) => self.add(Node::Pass(slot), compiled.level, 0),
                _ => compiled,
            };
        }
        if self.is_cheap(id, &mut CHEAP.clone()) {
            return self.expression(id);
        }
        let free = crate::expression::free_variables(self.program, id);
        let level = free.iter().map(|one| self.levels.get(one).copied().unwrap_or(0)).min().unwrap_or(CLOSED);
        self.contexts.push(Context {
            purpose: Purpose::Delay,
            scope: Scope::default(),
            body: Body::default(),
            lazy: FxHashSet::default(),
            captured: Vec::new(),
            memo: FxHashMap::default(),
        });
        // All that is captured comes first in the frame.
        for variable in free {
            if self.rules.global(variable).is_none() {
                self.resolve(self.contexts.len() - 1, variable);
            }
        }
        let root = self.root(id);
        let context = self.contexts.pop().expect("pushed above");
        let delay = Delay {
            captured: context.captured.into(),
            frame: context.scope.size() as u32,
            body: context.body,
            root,
        };
        let index = self.rules.add_delay(delay);
        self.add(Node::Delay(index), level, 0)
    }

    /// Whether evaluating an expression surely ends after few steps.
    fn is_cheap(&mut self, id: ExpressionId, budget: &mut u32) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => {
                let context = self.context();
                context.scope.get(*variable).is_none_or(|slot| !context.lazy.contains(&slot))
            }
            Expression::Bool(_) | Expression::Number(_) => true,
            Expression::Symbol(symbol) => self.rules.known.nullary(*symbol).is_none(),
            Expression::Upcast(of) => self.is_cheap(*of, budget),
            Expression::List(all) | Expression::Set(all) => all.iter().all(|&one| self.is_cheap(one, budget)),
            Expression::Call { symbol, arguments } => {
                let known = &self.rules.known;
                known.nullary(*symbol).is_none()
                    && known.function(*symbol).is_none()
                    && self.is_cheap_symbol(*symbol)
                    && arguments.iter().all(|&one| self.is_cheap(one, budget))
            }
            _ => false,
        }
    }

    fn is_cheap_symbol(&self, symbol: SymbolId) -> bool {
        match self.program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => match builtin {
                Builtin::Exp
                | Builtin::In
                | Builtin::Concat
                | Builtin::Union
                | Builtin::Intersection
                | Builtin::Difference
                | Builtin::Update
                | Builtin::Count => false,
                Builtin::Equal
                | Builtin::NotEqual
                | Builtin::Less
                | Builtin::LessEqual
                | Builtin::Greater
                | Builtin::GreaterEqual => {
                    let sort = self.program.signature(symbol).0[0];
                    sort.is_number() || sort == SortId::BOOL || self.program.sorts.structure(sort).is_some()
                }
                _ => true,
            },
            _ => true,
        }
    }

    /// A call whose arguments are the first slots.
    pub(super) fn call_by_name(&mut self, symbol: SymbolId, arity: u32) -> NodeId {
        let operands: Vec<Compiled> = (0..arity).map(|slot| self.add(Node::Slot(slot), 0, 0)).collect();
        if let Some(function) = self.rules.known.function(symbol) {
            let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
            let arguments = self.body().list(&nodes);
            return self.body().add(Node::Call { function, arguments });
        }
        self.primitive(symbol, operands, 0).node
    }

    fn call(&mut self, symbol: SymbolId, arguments: &[ExpressionId]) -> Compiled {
        let known = &self.rules.known;
        if known.nullary(symbol).is_some() {
            let function = self.symbol(symbol);
            let mut operands = vec![function];
            operands.extend(arguments.iter().map(|&id| self.expression(id)));
            let (operands, level) = self.finish_operands(operands);
            return self.application(operands, level);
        }
        if let Some(function) = known.function(symbol) {
            return self.user_call(function, arguments);
        }
        let (operands, level) = self.operands(arguments);
        self.primitive(symbol, operands, level)
    }

    /// A function without rules of the user.
    fn primitive(&mut self, symbol: SymbolId, operands: Vec<Compiled>, level: u32) -> Compiled {
        let program = self.program;
        let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let node = match &program.symbol(symbol).kind {
            SymbolKind::Builtin(builtin) => return self.builtin(*builtin, symbol, operands, level),
            SymbolKind::Constructor | SymbolKind::Map | SymbolKind::StructConstructor { .. } => {
                let constants: Option<Vec<Value>> =
                    operands.iter().map(|&operand| self.as_constant(operand)).collect();
                if let Some(values) = constants {
                    let value = self.rules.constant(|heap| heap.make(Head::Symbol(symbol), &values));
                    return self.constant(value);
                }
                let arguments = self.body().list(&nodes);
                Node::Construct { symbol, arguments }
            }
            SymbolKind::Projection { .. } => {
                let fields = projection(program, symbol);
                if let [(constructor, position)] = *fields {
                    Node::Project { of: nodes[0], constructor, position, symbol }
                } else {
                    let body = self.body();
                    body.fields.push(fields);
                    Node::ProjectAny { of: nodes[0], fields: body.fields.len() as u32 - 1, symbol }
                }
            }
            SymbolKind::Recogniser { sort, index } => {
                let constructor = program.constructors(*sort)[*index as usize];
                Node::Recognise { of: nodes[0], constructor, symbol }
            }
        };
        self.add(node, level, depth)
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        symbol: SymbolId,
        operands: Vec<Compiled>,
        level: u32,
    ) -> Compiled {
        let program = self.program;
        let node = |index: usize| operands[index].node;
        let depth = deepest(&operands);
        let made = match builtin {
            Builtin::Convert => {
                let (from, to) = (program.signature(symbol).0[0], program.signature(symbol).1);
                match conversion(from, to) {
                    None => return operands[0],
                    Some(least) => Node::Convert { of: node(0), least, symbol },
                }
            }
            Builtin::Not => Node::Not { of: node(0), symbol },
            Builtin::And => Node::And { left: node(0), right: node(1), symbol },
            Builtin::Or => Node::Or { left: node(0), right: node(1), symbol },
            Builtin::Implies => Node::Implies { left: node(0), right: node(1), symbol },
            Builtin::If => Node::If { condition: node(0), then: node(1), otherwise: node(2), symbol },
            Builtin::Equal | Builtin::NotEqual => {
                let is = builtin == Builtin::Equal;
                let slot =
                    |this: &Self, one: Compiled| match this.contexts.last()?.body.nodes[one.node as usize] {
                        Node::Slot(slot) => Some(slot),
                        _ => None,
                    };
                let found = (slot(self, operands[0]).zip(self.as_constant(operands[1])))
                    .or_else(|| slot(self, operands[1]).zip(self.as_constant(operands[0])));
                match found {
                    Some((slot, value)) if is && self.rules.is_plain(value) => {
                        Node::Is { slot, value, symbol }
                    }
                    _ if is => Node::Equal { left: node(0), right: node(1), symbol },
                    _ => Node::NotEqual { left: node(0), right: node(1), symbol },
                }
            }
            Builtin::Less | Builtin::LessEqual | Builtin::Greater | Builtin::GreaterEqual => {
                let (left, right) = (node(0), node(1));
                match builtin {
                    Builtin::Less => Node::Less { left, right, symbol },
                    Builtin::LessEqual => Node::LessEqual { left, right, symbol },
                    Builtin::Greater => Node::Greater { left, right, symbol },
                    _ => Node::GreaterEqual { left, right, symbol },
                }
            }
            Builtin::Add => Node::Add { left: node(0), right: node(1), symbol },
            Builtin::Subtract => Node::Subtract { left: node(0), right: node(1), symbol },
            Builtin::Update => Node::Update { function: node(0), key: node(1), value: node(2), symbol },
            _ if operands.len() == 1 => Node::Unary { builtin, of: node(0), symbol },
            _ => Node::Binary { builtin, left: node(0), right: node(1), symbol },
        };
        self.add(made, level, depth)
    }
}

/// What binding variables changed.
struct Saved {
    previous: Vec<(VariableId, Option<u32>, Option<u32>)>,
    memo: FxHashMap<ExpressionId, Compiled>,
}

fn restore(map: &mut FxHashMap<VariableId, u32>, variable: VariableId, old: Option<u32>) {
    match old {
        Some(old) => map.insert(variable, old),
        None => map.remove(&variable),
    };
}

/// A number in decimal digits.
pub(super) fn number(heap: &mut Heap, digits: &str) -> Value {
    heap.number_from_digits(digits).unwrap_or(Value::FALSE)
}

/// The level of something seen from outside a binder of level `bound`.
fn outside(level: u32, bound: u32) -> u32 {
    if level >= bound { CLOSED } else { level }
}

fn deepest(operands: &[Compiled]) -> u32 {
    operands.iter().map(|one| one.depth).max().unwrap_or(0)
}

/// The constructors and positions that a projection selects.
pub(super) fn projection(program: &Program, symbol: SymbolId) -> Box<[(SymbolId, u32)]> {
    let SymbolKind::Projection { sort, fields } = &program.symbol(symbol).kind else { return Box::default() };
    let constructors = program.constructors(*sort);
    fields.iter().map(|&(index, position)| (constructors[index as usize], position)).collect()
}

/// What a conversion demands; nothing when every value may be converted.
pub(super) fn conversion(from: SortId, to: SortId) -> Option<Least> {
    if from <= to {
        return None;
    }
    Some(match to {
        SortId::POS => Least::One,
        SortId::NAT => Least::Zero,
        _ => Least::Whole,
    })
}
