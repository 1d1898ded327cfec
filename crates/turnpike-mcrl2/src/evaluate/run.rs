//! Walking the nodes: the inner loop of everything.

use std::sync::Arc;

use super::library::Tables;
use super::memo::Recall;
use super::node::{Body, Function, Least, List, Node, NodeId, Switch, Test};
use super::{Fault, Machine};
use crate::sorts::{Builtin, SymbolId};
use crate::value::{Head, Value};

/// What a step of an evaluation gives.
pub(super) type Answer = Result<Value, Fault>;

/// Stack that must be left when evaluation goes deeper, and how much is added then.
const RED_ZONE: usize = 192 * 1024;
const MORE_STACK: usize = 2 * 1024 * 1024;

/// How deep calls may nest.
const MAX_CALLS: u32 = 600_000;

/// A delayed evaluation of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thunk {
    /// Its code, and where its captured values begin.
    Waiting {
        delay: u32,
        start: u32,
    },
    Done(Value),
}

impl Machine {
    /// The value of a node.
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
                Node::And { left, right, symbol } => match self.operand(t, body, left, base)? {
                    Value::FALSE => Ok(Value::FALSE),
                    Value::TRUE => {
                        node = right;
                        continue;
                    }
                    stuck => {
                        let right = self.operand(t, body, right, base)?;
                        Ok(self.logic(t, Builtin::And, symbol, stuck, right))
                    }
                },
                Node::Or { left, right, symbol } => match self.operand(t, body, left, base)? {
                    Value::TRUE => Ok(Value::TRUE),
                    Value::FALSE => {
                        node = right;
                        continue;
                    }
                    stuck => {
                        let right = self.operand(t, body, right, base)?;
                        Ok(self.logic(t, Builtin::Or, symbol, stuck, right))
                    }
                },
                Node::Implies { left, right, symbol } => match self.operand(t, body, left, base)? {
                    Value::FALSE => Ok(Value::TRUE),
                    Value::TRUE => {
                        node = right;
                        continue;
                    }
                    stuck => {
                        let right = self.operand(t, body, right, base)?;
                        Ok(self.logic(t, Builtin::Implies, symbol, stuck, right))
                    }
                },
                Node::If { condition, then, otherwise, symbol } => {
                    match self.eval(t, body, condition, base)? {
                        Value::TRUE => node = then,
                        Value::FALSE => node = otherwise,
                        stuck => {
                            let then = self.eval(t, body, then, base)?;
                            let otherwise = self.eval(t, body, otherwise, base)?;
                            return Ok(self.stuck_if(symbol, stuck, then, otherwise));
                        }
                    }
                    continue;
                }
                Node::Choose { condition, then, otherwise, function } => {
                    match self.eval(t, body, condition, base)? {
                        Value::TRUE => node = then,
                        Value::FALSE => node = otherwise,
                        stuck => {
                            let then = self.eval(t, body, then, base)?;
                            let otherwise = self.eval(t, body, otherwise, base)?;
                            return self.stuck_choice(t, function, [stuck, then, otherwise]);
                        }
                    }
                    continue;
                }
                Node::Not { of, symbol } => {
                    let of = self.operand(t, body, of, base)?;
                    Ok(self.not(symbol, of))
                }
                Node::Equal { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    if left == right {
                        Ok(Value::TRUE)
                    } else if left.as_small().is_some() && right.as_small().is_some() {
                        Ok(Value::FALSE)
                    } else {
                        self.equal(t, symbol, left, right)
                    }
                }
                Node::NotEqual { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    if left == right {
                        Ok(Value::FALSE)
                    } else if left.as_small().is_some() && right.as_small().is_some() {
                        Ok(Value::TRUE)
                    } else {
                        self.not_equal(t, symbol, left, right)
                    }
                }
                Node::Less { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left < right)),
                        _ => self.order(t, Builtin::Less, symbol, left, right),
                    }
                }
                Node::LessEqual { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left <= right)),
                        _ => self.order(t, Builtin::LessEqual, symbol, left, right),
                    }
                }
                Node::Greater { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left > right)),
                        _ => self.order(t, Builtin::Greater, symbol, left, right),
                    }
                }
                Node::GreaterEqual { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    match (left.as_small(), right.as_small()) {
                        (Some(left), Some(right)) => Ok(Value::bool(left >= right)),
                        _ => self.order(t, Builtin::GreaterEqual, symbol, left, right),
                    }
                }
                Node::Add { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
                    if let (Some(left), Some(right)) = (left.as_small(), right.as_small())
                        && let Some(sum) = Value::small(left + right)
                    {
                        return Ok(sum);
                    }
                    self.binary(t, Builtin::Add, symbol, left, right)
                }
                Node::Subtract { left, right, symbol } => {
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
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
                    let left = self.operand(t, body, left, base)?;
                    let right = self.operand(t, body, right, base)?;
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
                    None => self.once(t, body, index, base),
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

    /// The value of a node that is likely to be a variable or a constant.
    #[inline(always)]
    fn operand(&mut self, t: &Arc<Tables>, body: &Body, node: NodeId, base: usize) -> Answer {
        match body.nodes[node as usize] {
            Node::Constant(value) => Ok(value),
            Node::Slot(slot) | Node::Pass(slot) => Ok(self.stack[base + slot as usize]),
            _ => self.eval(t, body, node, base),
        }
    }

    /// The nodes that are not in a hurry.
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
                Ok(self.heap.make(Head::Lambda(binder), &captured))
            }
            Node::Comprehension { binder, captured } => {
                let start = self.push_all(t, body, captured, base)?;
                let captured = self.stack.split_off(start);
                self.comprehension(t, binder, &captured)
            }
            Node::Quantifier(index) => self.quantifier(t, body, index, base),
            // Decision trees are walked by `run`.
            _ => Ok(Value::FALSE),
        }
    }

    /// Evaluates nodes on top of the stack, and says where the first one stands.
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
    fn once(&mut self, t: &Arc<Tables>, body: &Body, index: u32, base: usize) -> Answer {
        let once = &body.once[index as usize];
        let value = deeper(|| self.eval(t, body, once.root, base))?;
        let value = self.heap.keep(value);
        Ok(*once.value.get_or_init(|| value))
    }

    #[inline(never)]
    fn call(&mut self, t: &Arc<Tables>, body: &Body, function: u32, arguments: List, base: usize) -> Answer {
        let Some(code) = t.functions.get(function as usize) else { return self.too_early() };
        let thunks = (self.thunks.len(), self.captured.len());
        let frame = self.push_all(t, body, arguments, base)?;
        let recall = self.memo.recall(function, code, &self.stack[frame..], &self.heap);
        if let Recall::Known(value) = recall {
            self.stack.truncate(frame);
            self.thunks.truncate(thunks.0);
            self.captured.truncate(thunks.1);
            return Ok(value);
        }
        let mut answer = self.enter_function(t, code, frame)?;
        self.thunks.truncate(thunks.0);
        self.captured.truncate(thunks.1);
        if let Recall::New(key, words) = recall {
            answer = self.memo.learn(key, words, answer, &mut self.heap);
        }
        Ok(answer)
    }

    /// Calls a function whose arguments are the top of the stack, from `frame` on, and removes them.
    pub(super) fn enter_function(&mut self, t: &Arc<Tables>, function: &Function, frame: usize) -> Answer {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(Fault::Deep);
        }
        self.stack.resize(frame + function.frame as usize, Value::FALSE);
        let answer = deeper(|| self.run(t, function, frame))?;
        self.stack.truncate(frame);
        self.calls -= 1;
        Ok(answer)
    }

    /// Runs functions in the frame at `frame`: a call that is the last thing a function does takes its place.
    fn run<'a>(&mut self, t: &'a Arc<Tables>, function: &'a Function, frame: usize) -> Answer {
        let mut function = function;
        'functions: loop {
            self.steps = self.steps.checked_sub(1).ok_or(Fault::Steps)?;
            let body = &function.body;
            let mut node = function.root;
            loop {
                match body.nodes[node as usize] {
                    Node::Switch { slot, switch } => {
                        node =
                            self.switch(&body.switches[switch as usize], self.stack[frame + slot as usize]);
                    }
                    Node::Load { from, index, to, next } => {
                        let value = self.stack[frame + from as usize];
                        self.stack[frame + to as usize] = self.heap.argument(value, index as usize);
                        node = next;
                    }
                    Node::Force { slot, next } => {
                        self.force_slot(t, frame + slot as usize)?;
                        node = next;
                    }
                    Node::Same { left, right, next, otherwise } => {
                        let (left, right) =
                            (self.stack[frame + left as usize], self.stack[frame + right as usize]);
                        node = if self.heap.same(left, right) { next } else { otherwise };
                    }
                    Node::When { condition, then, otherwise } => {
                        let condition = self.eval(t, body, condition, frame)?;
                        node = if condition == Value::TRUE { then } else { otherwise };
                    }
                    Node::Fail => return self.no_rule(t, function, frame),
                    Node::If { condition, then, otherwise, symbol } => {
                        match self.eval(t, body, condition, frame)? {
                            Value::TRUE => node = then,
                            Value::FALSE => node = otherwise,
                            stuck => {
                                let then = self.eval(t, body, then, frame)?;
                                let otherwise = self.eval(t, body, otherwise, frame)?;
                                return Ok(self.stuck_if(symbol, stuck, then, otherwise));
                            }
                        }
                    }
                    Node::Choose { condition, then, otherwise, function } => {
                        match self.eval(t, body, condition, frame)? {
                            Value::TRUE => node = then,
                            Value::FALSE => node = otherwise,
                            stuck => {
                                let then = self.eval(t, body, then, frame)?;
                                let otherwise = self.eval(t, body, otherwise, frame)?;
                                return self.stuck_choice(t, function, [stuck, then, otherwise]);
                            }
                        }
                    }
                    Node::And { left, right, symbol } => match self.operand(t, body, left, frame)? {
                        Value::FALSE => return Ok(Value::FALSE),
                        Value::TRUE => node = right,
                        stuck => {
                            let right = self.operand(t, body, right, frame)?;
                            return Ok(self.logic(t, Builtin::And, symbol, stuck, right));
                        }
                    },
                    Node::Or { left, right, symbol } => match self.operand(t, body, left, frame)? {
                        Value::TRUE => return Ok(Value::TRUE),
                        Value::FALSE => node = right,
                        stuck => {
                            let right = self.operand(t, body, right, frame)?;
                            return Ok(self.logic(t, Builtin::Or, symbol, stuck, right));
                        }
                    },
                    Node::Let { slot, value, body: inner } => {
                        let value = self.operand(t, body, value, frame)?;
                        self.stack[frame + slot as usize] = value;
                        node = inner;
                    }
                    Node::Call { function: next, arguments } => {
                        let start = self.push_all(t, body, arguments, frame)?;
                        function = &t.functions[next as usize];
                        let end = self.stack.len();
                        self.stack.copy_within(start..end, frame);
                        self.stack.truncate(frame + arguments.length as usize);
                        self.stack.resize(frame + function.frame as usize, Value::FALSE);
                        continue 'functions;
                    }
                    Node::Apply { function: value, arguments } => {
                        let value = self.operand(t, body, value, frame)?;
                        let start = self.push_all(t, body, arguments, frame)?;
                        let Some(next) = self.applied(t, value, start) else {
                            return self.apply_pushed(t, value, start);
                        };
                        function = next;
                        let end = self.stack.len();
                        self.stack.copy_within(start..end, frame);
                        self.stack.truncate(frame + end - start);
                        self.stack.resize(frame + function.frame as usize, Value::FALSE);
                        continue 'functions;
                    }
                    _ => return self.eval(t, body, node, frame),
                }
            }
        }
    }

    #[inline]
    fn switch(&self, switch: &Switch, value: Value) -> NodeId {
        if let Some(table) = &switch.table {
            if let Some(&target) = table.get(&(false, value.word())) {
                return target;
            }
            let head =
                value.as_small().is_none().then(|| table.get(&(true, self.heap.code(value)))).flatten();
            // Applications with another number of arguments, and twins of constants, are found below.
            if head.is_none() && self.heap.shared(value) {
                return switch.otherwise;
            }
        }
        for &(test, target) in &switch.cases {
            let fits = match test {
                Test::Word(word) => self.heap.same(value, word),
                Test::Head(head, arity) => {
                    self.heap.is(value, head)
                        && (head == Head::Cons || self.heap.arity(value) == arity as usize)
                }
            };
            if fits {
                return target;
            }
        }
        switch.otherwise
    }

    /// A delayed evaluation, with what it captures of the frame at `base`.
    fn delay(&mut self, t: &Arc<Tables>, delay: u32, base: usize) -> Value {
        let start = self.captured.len() as u32;
        for &slot in &t.delays[delay as usize].captured {
            self.captured.push(self.stack[base + slot as usize]);
        }
        self.thunks.push(Thunk::Waiting { delay, start });
        Value::private(self.thunks.len() as u32 - 1)
    }

    /// The value of a slot, which it holds from now on.
    #[inline]
    pub(super) fn force_slot(&mut self, t: &Arc<Tables>, place: usize) -> Answer {
        let held = self.stack[place];
        match held.as_private() {
            None => Ok(held),
            Some(index) => {
                let value = self.force(t, index)?;
                self.stack[place] = value;
                Ok(value)
            }
        }
    }

    #[inline(never)]
    fn force(&mut self, t: &Arc<Tables>, index: u32) -> Answer {
        match self.thunks[index as usize] {
            Thunk::Done(value) => Ok(value),
            Thunk::Waiting { delay, start } => {
                let delay = &t.delays[delay as usize];
                let frame = self.stack.len();
                let start = start as usize;
                self.stack.extend_from_slice(&self.captured[start..start + delay.captured.len()]);
                self.stack.resize(frame + delay.frame as usize, Value::FALSE);
                let thunks = (self.thunks.len(), self.captured.len());
                let value = deeper(|| self.eval(t, &delay.body, delay.root, frame))?;
                self.thunks.truncate(thunks.0);
                self.captured.truncate(thunks.1);
                self.stack.truncate(frame);
                self.thunks[index as usize] = Thunk::Done(value);
                Ok(value)
            }
        }
    }

    /// What a function is when no rule applies: all arguments are evaluated.
    #[inline(never)]
    fn no_rule(&mut self, t: &Arc<Tables>, function: &Function, frame: usize) -> Answer {
        for index in 0..function.arity as usize {
            self.force_slot(t, frame + index)?;
        }
        let arguments = frame..frame + function.arity as usize;
        // Built-in functions have few arguments, and are often asked for what equations leave to them.
        if let &[one, two] = &self.stack[arguments.clone()] {
            return self.otherwise(t, function, &[one, two]);
        }
        let arguments = self.stack[arguments].to_vec();
        self.otherwise(t, function, &arguments)
    }
}

/// Runs with enough stack.
#[inline]
pub(super) fn deeper<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, MORE_STACK, run)
}
