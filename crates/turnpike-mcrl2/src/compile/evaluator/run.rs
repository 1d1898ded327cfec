//! Runs the nodes: the inner loop of the evaluator.

mod calls;
mod delays;

use std::sync::Arc;

pub(super) use self::delays::Thunk;
use super::library::Tables;
use super::node::{Body, Least, List, Node, NodeId};
use super::{Fault, Machine};
use crate::builtin::logic;
use crate::typed::{Builtin, SymbolId};
use crate::value::{Head, Value};

/// The result of an evaluation step.
pub(super) type Answer = Result<Value, Fault>;

/// How an evaluation continues.
enum Next {
    /// It continues with another node.
    Node(NodeId),
    /// It ends with this value.
    Value(Value),
}

/// The stack that must be left when evaluation goes deeper, and the size of a new segment.
const RED_ZONE: usize = 192 * 1024;
const MORE_STACK: usize = 2 * 1024 * 1024;

impl Machine {
    /// Evaluates a node. One long match, so that the inner loop of every search is a single jump
    /// table.
    pub(super) fn eval(&mut self, t: &Arc<Tables>, body: &Body, mut node: NodeId, base: usize) -> Answer {
        loop {
            return match body.nodes[node as usize] {
                Node::Constant(value) => Ok(value),
                Node::Slot(slot) => Ok(self.stack[base + slot as usize]),
                Node::Lazy(slot) => self.force_slot(t, base + slot as usize),
                Node::Pass(slot) => Ok(self.stack[base + slot as usize]),
                Node::Is { slot, value, symbol } => {
                    let found = self.stack[base + slot as usize];
                    if found == value {
                        Ok(Value::TRUE)
                    } else if found.as_small().is_some() {
                        Ok(Value::FALSE)
                    } else {
                        self.equal(t, symbol, found, value)
                    }
                }
                Node::Connective { builtin, left, right, symbol } => {
                    match self.connect(t, body, (builtin, symbol), (left, right), base)? {
                        Next::Node(next) => {
                            node = next;
                            continue;
                        }
                        Next::Value(value) => Ok(value),
                    }
                }
                Node::If { condition, then, otherwise, symbol } => {
                    match self.branch(t, body, condition, (then, otherwise), base)? {
                        Ok(next) => {
                            node = next;
                            continue;
                        }
                        Err([condition, then, otherwise]) => {
                            Ok(self.stuck_if(symbol, condition, then, otherwise))
                        }
                    }
                }
                Node::Choose { condition, then, otherwise, function } => {
                    match self.branch(t, body, condition, (then, otherwise), base)? {
                        Ok(next) => {
                            node = next;
                            continue;
                        }
                        Err(choice) => self.stuck_choice(t, function, choice),
                    }
                }
                Node::Not { of, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    Ok(self.negate(t, of).unwrap_or_else(|| self.stuck(symbol, &[of])))
                }
                Node::Equal { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    if left == right {
                        Ok(Value::TRUE)
                    } else if left.as_small().is_some() && right.as_small().is_some() {
                        Ok(Value::FALSE)
                    } else {
                        self.equal(t, symbol, left, right)
                    }
                }
                Node::NotEqual { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    if left == right {
                        Ok(Value::FALSE)
                    } else if left.as_small().is_some() && right.as_small().is_some() {
                        Ok(Value::TRUE)
                    } else {
                        self.not_equal(t, symbol, left, right)
                    }
                }
                Node::Less { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left < right)),
                        _ => self.order(t, Builtin::Less, symbol, left, right),
                    }
                }
                Node::LessEqual { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left <= right)),
                        _ => self.order(t, Builtin::LessEqual, symbol, left, right),
                    }
                }
                Node::Greater { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left > right)),
                        _ => self.order(t, Builtin::Greater, symbol, left, right),
                    }
                }
                Node::GreaterEqual { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left >= right)),
                        _ => self.order(t, Builtin::GreaterEqual, symbol, left, right),
                    }
                }
                Node::Add { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    if let (Some(left), Some(right)) = (left.as_small(), right.as_small())
                        && let Some(sum) = Value::small(left + right)
                    {
                        return Ok(sum);
                    }
                    self.binary(t, Builtin::Add, symbol, left, right)
                }
                Node::Subtract { left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    if let (Some(left), Some(right)) = (left.as_small(), right.as_small())
                        && let Some(difference) = Value::small(left - right)
                    {
                        return Ok(difference);
                    }
                    self.binary(t, Builtin::Subtract, symbol, left, right)
                }
                Node::Unary { builtin, of, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    self.unary(t, builtin, symbol, of)
                }
                Node::Binary { builtin, left, right, symbol } => {
                    let (left, right) = self.operands(t, body, left, right, base)?;
                    self.binary(t, builtin, symbol, left, right)
                }
                Node::Convert { of, least, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    match (of.as_small(), least) {
                        (Some(_), Least::Whole) => Ok(of),
                        (Some(number), Least::Zero) if number >= 0 => Ok(of),
                        (Some(number), Least::One) if number >= 1 => Ok(of),
                        _ => Ok(self.convert(t, least, symbol, of)),
                    }
                }
                Node::Project { of, constructor, position, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    if self.heap.is(of, Head::Symbol(constructor)) {
                        Ok(self.heap.argument(of, position as usize))
                    } else {
                        Ok(self.heap.make(Head::Symbol(symbol), &[of]))
                    }
                }
                Node::ProjectAny { of, fields, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    Ok(self.project(&body.fields[fields as usize], symbol, of))
                }
                Node::Recognise { of, constructor, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    Ok(self.recognise(t, constructor, symbol, of))
                }
                Node::Once(index) => match body.once[index as usize].value.get() {
                    Some(&value) => Ok(value),
                    None => self.evaluate_once(t, body, index, base),
                },
                Node::Let { slot, value, body: inner } => {
                    let value = self.operand(t, body, value, base)?;
                    self.stack[base + slot as usize] = value;
                    node = inner;
                    continue;
                }
                Node::Deep(inner) => deeper(|| self.eval(t, body, inner, base)),
                Node::Construct { symbol, arguments } => self.construct(t, body, symbol, arguments, base),
                Node::Call { function, arguments } => self.call(t, body, function, arguments, base),
                Node::Delay(delay) => Ok(self.delay(t, delay, base)),
                Node::Update { function, key, value, symbol } => {
                    let function = self.operand(t, body, function, base)?;
                    let key = self.operand(t, body, key, base)?;
                    let value = self.operand(t, body, value, base)?;
                    self.update(t, symbol, function, key, value)
                }
                _ => self.rare(t, body, node, base),
            };
        }
    }

    /// Evaluates a node that is likely to be a variable or a constant.
    #[inline(always)]
    fn operand(&mut self, t: &Arc<Tables>, body: &Body, node: NodeId, base: usize) -> Answer {
        match body.nodes[node as usize] {
            Node::Constant(value) => Ok(value),
            Node::Slot(slot) | Node::Pass(slot) => Ok(self.stack[base + slot as usize]),
            _ => self.eval(t, body, node, base),
        }
    }

    #[inline(always)]
    fn operands(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        left: NodeId,
        right: NodeId,
        base: usize,
    ) -> Result<(Value, Value), Fault> {
        Ok((self.operand(t, body, left, base)?, self.operand(t, body, right, base)?))
    }

    /// `&&`, `||` or `=>`, whose second operand is evaluated only if the first does not decide.
    #[inline(always)]
    fn connect(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        (builtin, symbol): (Builtin, SymbolId),
        (left, right): (NodeId, NodeId),
        base: usize,
    ) -> Result<Next, Fault> {
        let left = self.operand(t, body, left, base)?;
        let (decides, result) = logic::deciding(builtin);
        if left == Value::bool(decides) {
            return Ok(Next::Value(Value::bool(result)));
        }
        if left == Value::bool(!decides) {
            return Ok(Next::Node(right));
        }
        let right = self.operand(t, body, right, base)?;
        Ok(Next::Value(self.connective(t, builtin, symbol, left, right)))
    }

    /// The branch that a condition selects; if it is stuck, its value and those of both branches.
    #[inline(always)]
    fn branch(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        condition: NodeId,
        (then, otherwise): (NodeId, NodeId),
        base: usize,
    ) -> Result<Result<NodeId, [Value; 3]>, Fault> {
        Ok(match self.eval(t, body, condition, base)? {
            Value::TRUE => Ok(then),
            Value::FALSE => Ok(otherwise),
            stuck => {
                let then = self.eval(t, body, then, base)?;
                let otherwise = self.eval(t, body, otherwise, base)?;
                Err([stuck, then, otherwise])
            }
        })
    }

    /// The rarer nodes, kept out of the hot loop.
    #[inline(never)]
    fn rare(&mut self, t: &Arc<Tables>, body: &Body, node: NodeId, base: usize) -> Answer {
        match body.nodes[node as usize] {
            Node::ListOf(elements) => {
                let start = self.push_all(t, body, elements, base)?;
                let mut list = Value::NIL;
                while self.stack.len() > start {
                    let element = self.stack.pop().unwrap_or(Value::NIL);
                    list = self.heap.make(Head::Cons, &[element, list]);
                }
                Ok(list)
            }
            Node::SetOf(elements) => {
                let start = self.push_all(t, body, elements, base)?;
                let elements = self.stack.split_off(start);
                Ok(self.heap.set_of(&elements))
            }
            Node::BagOf(elements) => {
                let start = self.push_all(t, body, elements, base)?;
                let elements = self.stack.split_off(start);
                self.bag_literal(t, &elements)
            }
            Node::Apply { function, arguments } => {
                let function = self.operand(t, body, function, base)?;
                let start = self.push_all(t, body, arguments, base)?;
                let answer = self.apply_pushed(t, function, start)?;
                self.stack.truncate(start);
                Ok(answer)
            }
            Node::Closure { binder, captured } => {
                let start = self.push_all(t, body, captured, base)?;
                let captured = self.stack.split_off(start);
                let function = self.heap.make(Head::Lambda(binder), &captured);
                self.form(t, function)
            }
            Node::Comprehension { binder, captured } => {
                let start = self.push_all(t, body, captured, base)?;
                let captured = self.stack.split_off(start);
                self.comprehension(t, binder, &captured)
            }
            Node::Quantifier(index) => self.quantifier(t, body, index, base),
            // Nodes of decision trees are handled by `run`.
            _ => Ok(Value::FALSE),
        }
    }

    /// Evaluates nodes onto the stack and returns the position of the first value.
    pub(super) fn push_all(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        list: List,
        base: usize,
    ) -> Result<usize, Fault> {
        let start = self.stack.len();
        for &node in body.nodes_of(list) {
            let value = self.operand(t, body, node, base)?;
            self.stack.push(value);
        }
        Ok(start)
    }

    #[inline(never)]
    fn construct(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        symbol: SymbolId,
        arguments: List,
        base: usize,
    ) -> Answer {
        match *body.nodes_of(arguments) {
            [one] => {
                let one = self.operand(t, body, one, base)?;
                Ok(self.heap.make(Head::Symbol(symbol), &[one]))
            }
            [one, two] => {
                let one = self.operand(t, body, one, base)?;
                let two = self.operand(t, body, two, base)?;
                Ok(self.heap.make(Head::Symbol(symbol), &[one, two]))
            }
            _ => {
                let start = self.push_all(t, body, arguments, base)?;
                let value = self.heap.make(Head::Symbol(symbol), &self.stack[start..]);
                self.stack.truncate(start);
                Ok(value)
            }
        }
    }

    /// The first evaluation of a closed expression.
    #[cold]
    fn evaluate_once(&mut self, t: &Arc<Tables>, body: &Body, index: u32, base: usize) -> Answer {
        let once = &body.once[index as usize];
        // Its value must not depend on which evaluation needs it first.
        let (steps, bound) = (self.steps, self.bound);
        if bound > 0 {
            (self.steps, self.bound) = (self.step_limit, 0);
        }
        let value = deeper(|| self.eval(t, body, once.root, base));
        if bound > 0 {
            (self.steps, self.bound) = (steps, bound);
        }
        let value = self.heap.keep(value?);
        Ok(*once.value.get_or_init(|| value))
    }
}

/// Runs with enough stack.
#[inline]
pub(super) fn deeper<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, MORE_STACK, run)
}
