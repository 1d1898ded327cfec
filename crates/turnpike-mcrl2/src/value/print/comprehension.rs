//! Sets and bags given by a function, with exceptions.

use super::{Form, Node, Printer};
use crate::syntax::{BinaryOperator, Binder};
use crate::typed::expression::reachable;
use crate::typed::{Expression, SortId};
use crate::value::{Head, Value};

impl Printer<'_> {
    /// Prints a set or bag given by a function with exceptions.
    pub(super) fn comprehension(
        &mut self,
        function: Value,
        exceptions: Value,
        is_set: bool,
        names: usize,
    ) -> Form {
        let heap = self.heap;
        let node = |value: Value| Node::Value(value, names);
        let lambda = match heap.head(function) {
            Some(Head::Lambda(number)) => Some(number),
            Some(Head::Bind(Binder::Lambda, 1)) => {
                let (variable, body) = self.enter(function, 1, names);
                let name = variable.split(':').next().unwrap_or_default().to_owned();
                let body = self.with_exceptions(Node::Word(name), body, exceptions, is_set, names);
                return Form::Comprehension(variable, body);
            }
            _ => None,
        };
        if heap.arity(exceptions) == 0
            && let Some(number) = lambda
            && let Some((_, variables, body)) = self.open(function, number, names)
        {
            return Form::Comprehension(self.variables(&variables), body);
        }
        let name = self.fresh(lambda);
        let sort = self.domain(function).or_else(|| self.sort_of(heap.arguments(exceptions).next()?));
        let sort = sort.map_or("?".to_owned(), |sort| self.program.sort_text(sort));
        let variable = Node::Word(name.clone());
        let applied = if heap.is_number(function) {
            node(function)
        } else {
            Node::Apply(Box::new(node(function)), vec![variable.clone()])
        };
        let body = self.with_exceptions(variable, applied, exceptions, is_set, names);
        Form::Comprehension(format!("{name}: {sort}"), body)
    }

    /// The condition or count for a variable, given that of the function, with the exceptions
    /// applied.
    fn with_exceptions(
        &self,
        variable: Node,
        body: Node,
        exceptions: Value,
        is_set: bool,
        names: usize,
    ) -> Node {
        let node = |value: Value| Node::Value(value, names);
        if self.heap.arity(exceptions) == 0 {
            body
        } else if is_set {
            let member = Node::Infix(BinaryOperator::In, Box::new((variable, node(exceptions))));
            Node::Infix(BinaryOperator::NotEqual, Box::new((body, member)))
        } else {
            let all: Vec<Value> = self.heap.arguments(exceptions).collect();
            all.chunks_exact(2).rev().fold(body, |otherwise, pair| {
                let test = Node::Infix(BinaryOperator::Equal, Box::new((variable.clone(), node(pair[0]))));
                Node::Call("if", vec![test, node(pair[1]), otherwise])
            })
        }
    }

    /// The sort of a value, if its form reveals it.
    fn sort_of(&self, value: Value) -> Option<SortId> {
        match self.heap.head(value) {
            Some(Head::Bool(_)) => Some(SortId::BOOL),
            Some(Head::Symbol(symbol)) => {
                let symbol = self.program.symbols.get(symbol.index())?;
                Some(self.program.sorts.signature(symbol.sort).1)
            }
            _ => self.heap.is_number(value).then_some(SortId::NAT),
        }
    }

    /// A name for a variable that does not occur in the function.
    fn fresh(&self, lambda: Option<u32>) -> String {
        let mut used = Vec::new();
        if let Some((id, _)) = lambda.and_then(|number| self.binders.binder(number)) {
            for part in reachable(self.program, &[id]) {
                match self.program.expression(part) {
                    Expression::Variable(variable) => used.push(self.name(*variable)),
                    Expression::Binder { variables, .. } => {
                        used.extend(variables.iter().map(|&variable| self.name(variable)));
                    }
                    Expression::Comprehension { variable, .. } => used.push(self.name(*variable)),
                    _ => {}
                }
            }
        }
        let free = |name: &String| !used.contains(name);
        let mut names = std::iter::once("x".to_owned()).chain((1..).map(|number| format!("x{number}")));
        names.find(free).unwrap_or_default()
    }

    /// The sort of the first argument of a function value.
    fn domain(&self, mut function: Value) -> Option<SortId> {
        let mut applied = 0;
        let sort = loop {
            match self.heap.head(function)? {
                Head::Bind(Binder::Lambda, _) => {
                    return self.heap.bound_variable(function, 0).map(|(_, sort)| sort);
                }
                Head::Apply => applied += 1,
                Head::Update => {}
                Head::Symbol(symbol) => {
                    applied += usize::from(self.heap.arity(function) > 0);
                    break self.program.symbols.get(symbol.index())?.sort;
                }
                Head::Lambda(number) => {
                    let (id, _) = self.binders.binder(number)?;
                    if let Expression::Comprehension { variable, .. } = self.program.expression(id) {
                        return Some(self.program.variable(*variable).sort);
                    }
                    break self.program.sort_of(id);
                }
                _ => return None,
            }
            function = self.heap.argument(function, 0);
        };
        let sort = (0..applied).fold(sort, |sort, _| self.program.sorts.signature(sort).1);
        self.program.sorts.signature(sort).0.first().copied()
    }
}
