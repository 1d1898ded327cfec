//! Calls of functions with rules: decision trees, and tail calls, which reuse the frame.

use std::sync::Arc;

use super::{Answer, Next, deeper};
use crate::compile::evaluator::library::Tables;
use crate::compile::evaluator::memo::Recall;
use crate::compile::evaluator::node::{Body, Function, List, Node, NodeId, Switch, Test};
use crate::compile::evaluator::{Fault, Machine};
use crate::value::{Head, Value};

/// The deepest nesting of calls.
const MAX_CALLS: u32 = 600_000;

impl Machine {
    #[inline(never)]
    pub(super) fn call(
        &mut self,
        t: &Arc<Tables>,
        body: &Body,
        function: u32,
        arguments: List,
        base: usize,
    ) -> Answer {
        let Some(code) = t.functions.get(function as usize) else { return self.fail_uncompiled() };
        let thunks = (self.thunks.len(), self.captured.len());
        let frame = self.push_all(t, body, arguments, base)?;
        // A cached result would make the number of steps depend on earlier evaluations.
        let recall = if self.bound > 0 {
            Recall::Never
        } else {
            self.memo.recall(function, code, &self.stack[frame..], &self.heap)
        };
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

    /// Calls a function whose arguments are the top of the stack, from `frame` on, and removes
    /// them.
    pub(in crate::compile::evaluator) fn enter_function(
        &mut self,
        t: &Arc<Tables>,
        function: &Function,
        frame: usize,
    ) -> Answer {
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

    /// Runs the function in the frame at `frame`. A tail call reuses the frame. One long match, as
    /// in `eval`: these two loops decide how fast a search is.
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
                        node = if condition == Value::TRUE {
                            then
                        } else if self.bound > 0 && self.heap.is_open(condition) {
                            return self.no_rule(t, function, frame);
                        } else {
                            otherwise
                        };
                    }
                    Node::Fail => return self.no_rule(t, function, frame),
                    Node::If { condition, then, otherwise, symbol } => {
                        match self.branch(t, body, condition, (then, otherwise), frame)? {
                            Ok(next) => node = next,
                            Err([condition, then, otherwise]) => {
                                return Ok(self.stuck_if(symbol, condition, then, otherwise));
                            }
                        }
                    }
                    Node::Choose { condition, then, otherwise, function } => {
                        match self.branch(t, body, condition, (then, otherwise), frame)? {
                            Ok(next) => node = next,
                            Err(choice) => return self.stuck_choice(t, function, choice),
                        }
                    }
                    Node::Connective { builtin, left, right, symbol } => {
                        match self.connect(t, body, (builtin, symbol), (left, right), frame)? {
                            Next::Node(next) => node = next,
                            Next::Value(value) => return Ok(value),
                        }
                    }
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
                        let Some(next) = self.code_to_apply(t, value, start) else {
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
            // The scan below checks the number of arguments, and finds private copies of constants.
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

    /// Evaluates a function when no rule applies. All arguments are evaluated first.
    #[inline(never)]
    fn no_rule(&mut self, t: &Arc<Tables>, function: &Function, frame: usize) -> Answer {
        for index in 0..function.arity as usize {
            self.force_slot(t, frame + index)?;
        }
        let arguments = frame..frame + function.arity as usize;
        // A fast path for built-in functions with rules, which often fall through to the built-in.
        if let &[one, two] = &self.stack[arguments.clone()] {
            return self.otherwise(t, function, &[one, two]);
        }
        let arguments = self.stack[arguments].to_vec();
        self.otherwise(t, function, &arguments)
    }
}
