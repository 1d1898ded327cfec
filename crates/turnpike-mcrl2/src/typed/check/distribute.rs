//! Moves quantifiers inwards, to where an action or a condition bounds them.
//!
//! `forall n. [true*.a(n)]false` is `[true*]forall n. [a(n)]false`: there, the labels of a state
//! determine `n`. `forall` commutes with `&&`, with `[]` whose action does not contain the
//! variable, and with `nu`; dually `exists` commutes with `||`, `<>` and `mu`. It only commutes
//! with a fixed point if all paths back to its calls preserve meets and do not contain the
//! variable: then `nu X. F(n) && G(X)` is the meet of all `G^k(F(n))`, in any order. A quantifier
//! in front of a condition becomes part of it.
//!
//! `forall n. C(n) || F` takes its condition along as a *guard*. The state does not affect it, so
//! `C || [a]F` is `[a](C || F)`, `C || (F && G)` is `(C || F) && (C || G)`, and `C || nu X. F(X)`
//! is `nu X. C || F(X)`.

use rustc_hash::FxHashMap;
use turnpike_model::formula::{Node, NodeId};

use crate::syntax::{Binder, Span};
use crate::typed::expression::{self, free_variables};
use crate::typed::formula::{BoundVariables, TypedFormula};
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId};

/// If the result had more nodes than this, quantifiers stay where they are.
const MOST_NODES: usize = 100_000;

/// Moves the quantifiers of a formula inwards. `levels` has the number of fixed points around each
/// fixed point, and is extended for new ones. Live slots must be known.
pub(super) fn distribute(program: &mut Program, formula: &mut TypedFormula, levels: &mut Vec<usize>) {
    if formula.quantifiers.is_empty() {
        return;
    }
    let original = formula.clone();
    let points = original.graph.points.len();
    let mut mover = Mover {
        program,
        original,
        formula: formula.clone(),
        levels: levels.clone(),
        nodes: FxHashMap::default(),
        points: FxHashMap::default(),
        moved: false,
    };
    let root = mover.node(formula.graph.root, &Quantified::none());
    for point in 0..points as u32 {
        mover.point(point, &Quantified::none());
    }
    // Node numbers are part of hashes, so they must not change if nothing moved.
    if mover.moved && mover.formula.graph.nodes.len() <= MOST_NODES {
        mover.formula.graph.root = root;
        (*formula, *levels) = (mover.formula, mover.levels);
    }
}

/// Variables that are being moved inwards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Quantified {
    all: bool,
    /// The variables, each with the number of its original quantifier.
    variables: Vec<(VariableId, u32)>,
    /// Conditions with their truth values: alternatives to what follows (under `forall`), or
    /// requirements on top of it (under `exists`).
    guards: Vec<(u32, bool)>,
}

impl Quantified {
    fn none() -> Quantified {
        Quantified { all: true, variables: Vec::new(), guards: Vec::new() }
    }

    fn keep(&self, mut keep: impl FnMut(VariableId) -> bool) -> Quantified {
        let variables = self.variables.iter().copied().filter(|one| keep(one.0)).collect();
        Quantified { all: self.all, variables, guards: self.guards.clone() }
    }
}

struct Mover<'p> {
    program: &'p mut Program,
    original: TypedFormula,
    formula: TypedFormula,
    levels: Vec<usize>,
    nodes: FxHashMap<(NodeId, Quantified), NodeId>,
    points: FxHashMap<(u32, Quantified), u32>,
    /// Whether a quantifier commuted with anything.
    moved: bool,
}

impl Mover<'_> {
    fn add(&mut self, node: Node) -> NodeId {
        self.formula.graph.nodes.push(node);
        self.formula.graph.nodes.len() as u32 - 1
    }

    /// Whether the meaning of a node depends on a variable.
    fn depends(&self, node: NodeId, variable: VariableId) -> bool {
        let live = &self.original.graph.live[node as usize];
        live.iter().any(|&slot| self.original.variables[slot as usize] == variable)
    }

    fn action_has(&self, action: u32, variable: VariableId) -> bool {
        let mut found = false;
        if let Some(action) = self.original.actions.get(action as usize) {
            action.for_each_expression(&mut |one| {
                found |= free_variables(self.program, one).contains(&variable)
            });
        }
        found
    }

    fn condition_has(&self, condition: u32, variable: VariableId) -> bool {
        free_variables(self.program, self.original.conditions[condition as usize]).contains(&variable)
    }

    fn arguments_have(&self, arguments: u32, variable: VariableId) -> bool {
        let all = &self.original.arguments[arguments as usize];
        all.iter().any(|&one| free_variables(self.program, one).contains(&variable))
    }

    /// A node of the original formula with quantified variables in front.
    fn node(&mut self, node: NodeId, quantified: &Quantified) -> NodeId {
        let guarded = |variable| quantified.guards.iter().any(|one| self.condition_has(one.0, variable));
        let needed = quantified.keep(|variable| self.depends(node, variable) || guarded(variable));
        self.moved |= needed.variables.len() < quantified.variables.len();
        let quantified = if needed.variables.is_empty() { Quantified::none() } else { needed };
        let key = (node, quantified);
        if let Some(&known) = self.nodes.get(&key) {
            return known;
        }
        if self.formula.graph.nodes.len() > MOST_NODES {
            return node;
        }
        let made = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.make(node, &key.1));
        self.nodes.insert(key, made);
        made
    }

    fn make(&mut self, node: NodeId, quantified: &Quantified) -> NodeId {
        let free = quantified.variables.is_empty();
        match self.original.graph.nodes[node as usize].clone() {
            Node::Condition { condition, expected } if !free => {
                self.moved = true;
                self.quantified_condition(Some((condition, expected)), quantified)
            }
            _ if free || quantified.variables.iter().any(|one| self.depends(node, one.0)) => {
                self.make_dependent(node, quantified)
            }
            // The guards alone have variables.
            Node::Constant(value) if value == quantified.all => self.add(Node::Constant(value)),
            _ => {
                self.moved = true;
                let guard = self.quantified_condition(None, quantified);
                let rest = self.node(node, &Quantified::none());
                self.add(Node::Junction { all: !quantified.all, parts: [guard, rest].into() })
            }
        }
    }

    /// A node whose meaning depends on the quantified variables, unless there are none.
    fn make_dependent(&mut self, node: NodeId, quantified: &Quantified) -> NodeId {
        let free = quantified.variables.is_empty();
        match self.original.graph.nodes[node as usize].clone() {
            kept @ (Node::Constant(_) | Node::Condition { .. }) => self.add(kept),
            Node::Junction { all, parts } if free || all == quantified.all => {
                self.moved |= !free;
                let parts = parts.iter().map(|&part| self.node(part, quantified)).collect();
                self.add(Node::Junction { all, parts })
            }
            Node::Junction { all, parts } => self.split_junction(all, &parts, quantified),
            Node::Quantifier { all, quantifier, body } if free || all == quantified.all => {
                self.moved |= !free;
                let own = self.original.quantifiers[quantifier as usize].variables.iter();
                let own = own.map(|&variable| (variable, quantifier));
                let variables = quantified.variables.iter().copied().chain(own).collect();
                self.node(body, &Quantified { all, variables, guards: quantified.guards.clone() })
            }
            Node::Modality { all, action, body } if free || all == quantified.all => {
                let mut here = quantified.keep(|variable| self.action_has(action, variable));
                let mut later = quantified.keep(|variable| !self.action_has(action, variable));
                self.moved |= !later.variables.is_empty();
                let waits = |guard: &(u32, bool)| {
                    later.variables.iter().any(|&(variable, _)| self.condition_has(guard.0, variable))
                };
                (later.guards, here.guards) = quantified.guards.iter().copied().partition(waits);
                let body = self.node(body, &later);
                let step = self.add(Node::Modality { all, action, body });
                self.bind(&here, step)
            }
            Node::Call { point, arguments } if free || self.passes(point, arguments, quantified) => {
                self.moved |= !free;
                let point = self.point(point, quantified);
                self.add(Node::Call { point, arguments })
            }
            Node::Quantifier { .. } | Node::Modality { .. } | Node::Call { .. } => {
                let inner = self.node(node, &Quantified::none());
                self.bind(quantified, inner)
            }
        }
    }

    /// A quantifier in front of a condition becomes part of it: data may decide it without trying
    /// all values. Each guard stands directly behind the last of its variables, so that it bounds
    /// them before others are tried.
    fn quantified_condition(&mut self, condition: Option<(u32, bool)>, quantified: &Quantified) -> NodeId {
        let mut last: Vec<Vec<(u32, bool)>> = vec![Vec::new(); quantified.variables.len()];
        for &guard in &quantified.guards {
            let is_in = |one: &(VariableId, u32)| self.condition_has(guard.0, one.0);
            last[quantified.variables.iter().rposition(is_in).unwrap_or(0)].push(guard);
        }
        let first = condition.or(quantified.guards.first().copied());
        let span = first
            .map_or(Span::default(), |one| self.program.span_of(self.original.conditions[one.0 as usize]));
        let (mut parts, mut bound) = (Vec::new(), Vec::new());
        parts.extend(condition.map(|one| self.condition_of(one)));
        for (&(variable, _), guards) in quantified.variables.iter().zip(&last).rev() {
            if !guards.is_empty() {
                self.close(quantified.all, &mut bound, &mut parts, span);
                let guards: Vec<_> = guards.iter().map(|&guard| self.condition_of(guard)).collect();
                parts.splice(0..0, guards);
            }
            bound.insert(0, variable);
        }
        self.close(quantified.all, &mut bound, &mut parts, span);
        self.formula.conditions.push(parts[0]);
        let condition = self.formula.conditions.len() as u32 - 1;
        self.add(Node::Condition { condition, expected: true })
    }

    /// A condition or its negation.
    fn condition_of(&mut self, (condition, expected): (u32, bool)) -> ExpressionId {
        let condition = self.original.conditions[condition as usize];
        if expected { condition } else { expression::not(self.program, condition) }
    }

    /// Makes one quantified part of all parts.
    fn close(&mut self, all: bool, bound: &mut Vec<VariableId>, parts: &mut Vec<ExpressionId>, span: Span) {
        if bound.is_empty() {
            return;
        }
        let (binder, body) = match all {
            true => (Binder::Forall, expression::any(self.program, parts)),
            false => (Binder::Exists, expression::all(self.program, parts)),
        };
        let variables = std::mem::take(bound).into();
        let whole = Expression::Binder { binder, variables, body };
        *parts = vec![self.program.add_expression(whole, SortId::BOOL, span)];
    }

    /// A quantifier in front of the other kind of junction: parts without its variables move
    /// outside.
    fn split_junction(&mut self, all: bool, parts: &[NodeId], quantified: &Quantified) -> NodeId {
        let needs = |one: &Self, part: NodeId| {
            quantified.variables.iter().any(|&(variable, _)| one.depends(part, variable))
        };
        let (inside, outside): (Vec<NodeId>, Vec<NodeId>) =
            parts.iter().partition(|&&part| needs(self, part));
        self.moved |= inside.len() == 1 || !outside.is_empty();
        let (mut guards, mut others) = (quantified.guards.clone(), Vec::new());
        for &part in &inside {
            match self.original.graph.nodes[part as usize] {
                Node::Condition { condition, expected } => guards.push((condition, expected)),
                _ => others.push(part),
            }
        }
        let bound = match (&inside[..], &others[..]) {
            ([only], _) => self.node(*only, quantified),
            (_, [only]) => self.node(*only, &Quantified { guards, ..quantified.clone() }),
            _ => {
                let parts = inside.iter().map(|&part| self.node(part, &Quantified::none())).collect();
                let junction = self.add(Node::Junction { all, parts });
                self.bind(quantified, junction)
            }
        };
        if outside.is_empty() {
            return bound;
        }
        let outside: Vec<NodeId> =
            outside.into_iter().map(|part| self.node(part, &Quantified::none())).collect();
        let parts = outside.into_iter().chain([bound]).collect();
        self.add(Node::Junction { all, parts })
    }

    /// Puts guards and a quantifier in front of a new node.
    fn bind(&mut self, quantified: &Quantified, mut body: NodeId) -> NodeId {
        if !quantified.guards.is_empty() {
            let guard = |&(condition, expected): &(u32, bool)| Node::Condition { condition, expected };
            let guards: Vec<Node> = quantified.guards.iter().map(guard).collect();
            let mut parts: Vec<NodeId> = guards.into_iter().map(|guard| self.add(guard)).collect();
            parts.push(body);
            body = self.add(Node::Junction { all: !quantified.all, parts: parts.into() });
        }
        let Some(&(_, source)) = quantified.variables.first() else { return body };
        let variables: Box<[VariableId]> = quantified.variables.iter().map(|one| one.0).collect();
        let slot = |one: &VariableId| self.formula.variables.iter().position(|other| other == one);
        let slots = variables.iter().filter_map(slot).map(|slot| slot as u32).collect();
        let quantifier = self.formula.quantifiers.len() as u32;
        let place = self.original.quantifiers[source as usize].place.clone();
        let node = self.add(Node::Quantifier { all: quantified.all, quantifier, body });
        self.formula.quantifiers.push(BoundVariables { variables, node, place });
        self.formula.graph.quantifiers.push(slots);
        node
    }

    /// The fixed point with the quantifier moved inside.
    fn point(&mut self, point: u32, quantified: &Quantified) -> u32 {
        let key = (point, quantified.clone());
        if let Some(&known) = self.points.get(&key) {
            return known;
        }
        let id = match quantified.variables.is_empty() {
            true => point,
            false => {
                self.formula.graph.points.push(self.original.graph.points[point as usize].clone());
                self.levels.push(self.levels[point as usize]);
                self.formula.graph.points.len() as u32 - 1
            }
        };
        self.points.insert(key, id);
        let body = self.original.graph.points[point as usize].body;
        let body = self.node(body, quantified);
        self.formula.graph.points[id as usize].body = body;
        id
    }

    /// Whether a quantifier commutes with a fixed point.
    fn passes(&self, point: u32, arguments: u32, quantified: &Quantified) -> bool {
        let fixed = &self.original.graph.points[point as usize];
        if fixed.least == quantified.all
            || !fixed.parameters.is_empty()
            || quantified.variables.iter().any(|&(variable, _)| self.arguments_have(arguments, variable))
        {
            return false;
        }
        let nodes = &self.original.graph.nodes;
        let mut reach = Reach { nodes, target: point, known: FxHashMap::default(), mover: self };
        // All nodes from which the fixed point is called again.
        let mut seen = vec![false; nodes.len()];
        let mut rest = vec![fixed.body];
        while let Some(node) = rest.pop() {
            if std::mem::replace(&mut seen[node as usize], true) || !reach.reaches(node) {
                continue;
            }
            let lacks = |has: &dyn Fn(VariableId) -> bool| {
                quantified.variables.iter().all(|&(variable, _)| !has(variable))
            };
            match &nodes[node as usize] {
                Node::Constant(_) | Node::Condition { .. } => {}
                Node::Junction { all, parts } if *all == quantified.all => rest.extend_from_slice(parts),
                Node::Quantifier { all, body, .. } if *all == quantified.all => rest.push(*body),
                Node::Modality { all, action, body }
                    if *all == quantified.all && lacks(&|variable| self.action_has(*action, variable)) =>
                {
                    rest.push(*body);
                }
                Node::Call { point: other, arguments }
                    if lacks(&|variable| self.arguments_have(*arguments, variable))
                        && self.original.graph.points[*other as usize].least != quantified.all =>
                {
                    if *other != point {
                        rest.push(self.original.graph.points[*other as usize].body);
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

/// Determines which nodes lead to a call of a fixed point.
struct Reach<'a> {
    nodes: &'a [Node],
    target: u32,
    known: FxHashMap<NodeId, bool>,
    mover: &'a Mover<'a>,
}

impl Reach<'_> {
    fn reaches(&mut self, from: NodeId) -> bool {
        if let Some(&known) = self.known.get(&from) {
            return known;
        }
        let mut seen = vec![false; self.nodes.len()];
        let mut rest = vec![from];
        let mut found = false;
        while let Some(node) = rest.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            match &self.nodes[node as usize] {
                Node::Constant(_) | Node::Condition { .. } => {}
                Node::Junction { parts, .. } => rest.extend_from_slice(parts),
                Node::Quantifier { body, .. } | Node::Modality { body, .. } => rest.push(*body),
                Node::Call { point, .. } if *point == self.target => {
                    found = true;
                    break;
                }
                Node::Call { point, .. } => {
                    rest.push(self.mover.original.graph.points[*point as usize].body);
                }
            }
        }
        self.known.insert(from, found);
        found
    }
}
