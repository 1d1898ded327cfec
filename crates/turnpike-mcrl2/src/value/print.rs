//! Prints values as the mCRL2 tools do.
//!
//! Stuck terms and bodies of functions are printed as expressions. Every value or expression is
//! first classified as one of a few shapes, [`Form`], which determine how tightly it binds and what
//! is printed next. The printer uses an explicit stack.
//!
//! A function is printed with the values that it captured in place of their variables. Comparisons
//! are printed as the tools normalise them: `x != y` as `!(x == y)`, `x > y` as `y < x`.

mod comprehension;

use super::{Head, Heap, Value};
use crate::syntax::{BinaryOperator, Binder, UnaryOperator};
use crate::typed::expression::{infix, prefix};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};

/// The level of something that never needs parentheses.
const TIGHT: u8 = 14;
/// The level of prefix operators.
const PREFIX: u8 = 13;
/// The tools put elements of lists and sets that bind weaker than this into parentheses, unless
/// there is only one.
const ELEMENT: u8 = 6;

/// Resolves the numbers of [`Head::Lambda`] and [`Head::Quantifier`].
pub trait Binders {
    /// The lambda, comprehension or quantifier with this number, and the variables whose values are
    /// the arguments of the node.
    fn binder(&self, number: u32) -> Option<(ExpressionId, Vec<VariableId>)>;
}

/// For values without functions and quantifiers.
impl Binders for () {
    fn binder(&self, _: u32) -> Option<(ExpressionId, Vec<VariableId>)> {
        None
    }
}

/// Something to print.
#[derive(Clone, Debug)]
enum Node {
    /// A value, with the number of the [`Names`] of its enclosing binders.
    Value(Value, usize),
    /// An expression inside a function value, with the number of its [`Closure`].
    Expression(ExpressionId, usize),
    Word(String),
    Infix(BinaryOperator, Box<(Node, Node)>),
    Apply(Box<Node>, Vec<Node>),
    Call(&'static str, Vec<Node>),
}

/// The shape of something to print.
#[derive(Debug)]
enum Form {
    /// A word or number, with its level.
    Word(String, u8),
    Infix(BinaryOperator, Node, Node),
    /// Elements before a list that cannot be written in brackets.
    Chain(Vec<Node>, Node),
    Prefix(UnaryOperator, Node),
    /// A function and arguments. Only binders need parentheses as functions.
    Apply(Node, Vec<Node>),
    Updates(Node, Vec<(Node, Node)>),
    List(Vec<Node>),
    Set(Vec<Node>),
    /// The complement of a set of elements.
    Complement(Vec<Node>),
    Bag(Vec<(Node, Node)>),
    /// Variables with their sorts, and body.
    Binder(&'static str, String, Node),
    /// Variable with sort, and body.
    Comprehension(String, Node),
    Where(Node, Vec<(VariableId, Node)>),
}

/// A step of printing. Nodes come with the weakest level that needs no parentheses there.
enum Item {
    Text(&'static str),
    Owned(String),
    Node(Node, u8),
}

/// A function value whose expressions are printed.
#[derive(Debug)]
struct Closure {
    value: Value,
    captured: Vec<VariableId>,
    /// The number of the names for the captured values.
    names: usize,
}

/// The names of the variables of a binder in normal form, linked to those of the enclosing binder.
#[derive(Debug)]
struct Names {
    own: Vec<String>,
    outer: usize,
}

struct Printer<'p> {
    heap: &'p Heap,
    program: &'p Program,
    binders: &'p dyn Binders,
    closures: Vec<Closure>,
    /// The first entry has no names.
    names: Vec<Names>,
}

impl Heap {
    /// The text of a value.
    pub fn print(&self, program: &Program, binders: &dyn Binders, value: Value) -> String {
        let mut text = String::new();
        self.print_to(program, binders, value, &mut text);
        text
    }

    /// Adds the text of a value.
    pub fn print_to(&self, program: &Program, binders: &dyn Binders, value: Value, text: &mut String) {
        let names = vec![Names { own: Vec::new(), outer: 0 }];
        let mut printer = Printer { heap: self, program, binders, closures: Vec::new(), names };
        let mut stack = vec![Item::Node(Node::Value(value, 0), 0)];
        let mut parts = Vec::new();
        while let Some(item) = stack.pop() {
            match item {
                Item::Text(part) => text.push_str(part),
                Item::Owned(part) => text.push_str(&part),
                Item::Node(node, least) => printer.node(node, least, &mut parts),
            }
            stack.extend(parts.drain(..).rev());
        }
    }
}

impl Form {
    fn word(text: impl Into<String>) -> Form {
        Form::Word(text.into(), TIGHT)
    }

    fn level(&self) -> u8 {
        match self {
            Form::Where(..) => 0,
            Form::Binder(..) => 1,
            Form::Infix(operator, ..) => operator.level(),
            Form::Chain(..) => BinaryOperator::Cons.level(),
            Form::Prefix(..) => PREFIX,
            Form::Word(_, level) => *level,
            _ => TIGHT,
        }
    }
}

impl Printer<'_> {
    fn node(&mut self, node: Node, least: u8, parts: &mut Vec<Item>) {
        let form = self.form(node);
        let enclosed = form.level() < least;
        if enclosed {
            parts.push(Item::Text("("));
        }
        match form {
            Form::Word(text, _) => parts.push(Item::Owned(text)),
            Form::Infix(operator, left, right) => {
                let (at_left, at_right) = operator.sides();
                parts.push(Item::Node(left, at_left));
                parts.extend([Item::Text(" "), Item::Text(operator.text()), Item::Text(" ")]);
                parts.push(Item::Node(right, at_right));
            }
            Form::Chain(elements, rest) => {
                let (at_left, at_right) = BinaryOperator::Cons.sides();
                for element in elements {
                    parts.extend([Item::Node(element, at_left), Item::Text(" |> ")]);
                }
                parts.push(Item::Node(rest, at_right));
            }
            Form::Prefix(operator, operand) => {
                parts.extend([Item::Text(operator.text()), Item::Node(operand, PREFIX)]);
            }
            Form::Apply(function, arguments) => {
                parts.push(Item::Node(function, 2));
                parts.push(Item::Text("("));
                push_separated(arguments, 0, parts);
                parts.push(Item::Text(")"));
            }
            Form::Updates(function, updates) => {
                parts.push(Item::Node(function, 2));
                for (key, value) in updates {
                    parts.extend([Item::Text("["), Item::Node(key, 0), Item::Text(" -> ")]);
                    parts.extend([Item::Node(value, 0), Item::Text("]")]);
                }
            }
            Form::List(elements) => enumeration("[", elements, "]", parts),
            Form::Set(elements) => enumeration("{", elements, "}", parts),
            Form::Complement(elements) => enumeration("!{", elements, "}", parts),
            Form::Bag(pairs) if pairs.is_empty() => parts.push(Item::Text("{:}")),
            Form::Bag(pairs) => {
                parts.push(Item::Text("{"));
                for (index, (element, count)) in pairs.into_iter().enumerate() {
                    if index > 0 {
                        parts.push(Item::Text(", "));
                    }
                    parts.extend([Item::Node(element, 0), Item::Text(": "), Item::Node(count, 0)]);
                }
                parts.push(Item::Text("}"));
            }
            Form::Binder(word, variables, body) => {
                parts.extend([Item::Text(word), Item::Text(" "), Item::Owned(variables)]);
                parts.extend([Item::Text(". "), Item::Node(body, 1)]);
            }
            Form::Comprehension(variable, body) => {
                parts.extend([Item::Text("{ "), Item::Owned(variable), Item::Text(" | ")]);
                parts.extend([Item::Node(body, 0), Item::Text(" }")]);
            }
            Form::Where(body, definitions) => {
                parts.extend([Item::Node(body, 0), Item::Text(" whr ")]);
                for (index, (variable, value)) in definitions.into_iter().enumerate() {
                    if index > 0 {
                        parts.push(Item::Text(", "));
                    }
                    parts.extend([Item::Owned(self.name(variable)), Item::Text(" = "), Item::Node(value, 0)]);
                }
                parts.push(Item::Text(" end"));
            }
        }
        if enclosed {
            parts.push(Item::Text(")"));
        }
    }

    fn name(&self, variable: VariableId) -> String {
        self.program.text(self.program.variable(variable).name).to_owned()
    }

    /// `x,y: S, z: T`
    fn variables(&self, variables: &[VariableId]) -> String {
        let sort = |variable: VariableId| self.program.variable(variable).sort;
        let groups: Vec<String> = variables
            .chunk_by(|&left, &right| sort(left) == sort(right))
            .map(|group| {
                let names: Vec<String> = group.iter().map(|&variable| self.name(variable)).collect();
                format!("{}: {}", names.join(","), self.program.sort_text(sort(group[0])))
            })
            .collect();
        groups.join(", ")
    }

    /// Skips captured variables and conversions, which are not printed.
    fn resolve(&self, mut node: Node) -> Node {
        loop {
            let next = match node {
                Node::Expression(id, closure) => match *self.program.expression(id) {
                    Expression::Upcast(operand) => Some(Node::Expression(operand, closure)),
                    Expression::Variable(variable) => {
                        let Closure { value, captured, names } = &self.closures[closure];
                        let position = captured.iter().position(|&one| one == variable);
                        position.map(|position| Node::Value(self.heap.argument(*value, position), *names))
                    }
                    Expression::Call { symbol, ref arguments } if self.is_widening(symbol) => {
                        Some(Node::Expression(arguments[0], closure))
                    }
                    _ => None,
                },
                Node::Value(value, names) => match self.heap.head(value) {
                    Some(Head::Symbol(symbol)) if self.heap.arity(value) == 1 && self.is_widening(symbol) => {
                        Some(Node::Value(self.heap.argument(value, 0), names))
                    }
                    _ => None,
                },
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return node,
            }
        }
    }

    /// Whether a function converts to a larger sort, as from `Pos` to `Nat`.
    fn is_widening(&self, symbol: SymbolId) -> bool {
        self.builtin(symbol) == Some(Builtin::Convert) && {
            let (domain, codomain) = self.program.signature(symbol);
            domain.first().is_some_and(|from| from.is_number() && *from <= codomain)
        }
    }

    fn builtin(&self, symbol: SymbolId) -> Option<Builtin> {
        match self.program.symbols.get(symbol.index())?.kind {
            SymbolKind::Builtin(builtin) => Some(builtin),
            _ => None,
        }
    }

    fn form(&mut self, node: Node) -> Form {
        match self.resolve(node) {
            Node::Value(value, names) => self.value(value, names),
            Node::Expression(id, closure) => self.expression(id, closure),
            Node::Word(text) => Form::word(text),
            Node::Infix(operator, sides) => Form::Infix(operator, sides.0, sides.1),
            Node::Apply(function, arguments) => Form::Apply(*function, arguments),
            Node::Call(name, arguments) => Form::Apply(Node::Word(name.to_owned()), arguments),
        }
    }

    fn value(&mut self, value: Value, names: usize) -> Form {
        let heap = self.heap;
        if let Some(number) = heap.number_text(value) {
            let fraction = heap.is(value, Head::Rational);
            return Form::Word(number, if fraction { BinaryOperator::Divide.level() } else { TIGHT });
        }
        let Some(head) = heap.head(value) else { return Form::word("?") };
        let node = |value: Value| Node::Value(value, names);
        let nodes = |first: usize| heap.arguments(value).skip(first).map(node).collect::<Vec<_>>();
        let pairs = |first: usize| {
            let all = heap.arguments(value).skip(first).collect::<Vec<_>>();
            all.chunks_exact(2).map(|pair| (node(pair[0]), node(pair[1]))).collect::<Vec<_>>()
        };
        match head {
            Head::Bool(truth) => Form::word(if truth { "true" } else { "false" }),
            Head::Nil | Head::Cons => self.list(node(value)),
            Head::Set => Form::Set(nodes(0)),
            Head::CoSet => Form::Complement(nodes(0)),
            Head::Bag => Form::Bag(pairs(0)),
            Head::Symbol(symbol) => self.call(symbol, nodes(0)),
            Head::Apply => Form::Apply(node(heap.argument(value, 0)), nodes(1)),
            Head::Update => {
                // The update with the largest key is innermost.
                let updates = pairs(1).into_iter().rev().collect();
                Form::Updates(node(heap.argument(value, 0)), updates)
            }
            Head::Lambda(number) => match self.open(value, number, names) {
                Some((_, variables, body)) => {
                    Form::Binder(Binder::Lambda.text(), self.variables(&variables), body)
                }
                None => Form::Apply(Node::Word("lambda".to_owned()), nodes(0)),
            },
            Head::Quantifier(number) => match self.open(value, number, names) {
                Some((binder, variables, body)) => {
                    Form::Binder(binder.text(), self.variables(&variables), body)
                }
                None => Form::Apply(Node::Word("forall".to_owned()), nodes(0)),
            },
            Head::Bind(binder, count) => {
                let (variables, body) = self.enter(value, count, names);
                Form::Binder(binder.text(), variables, body)
            }
            Head::Bound(number) => Form::word(self.bound_name(number as usize, names)),
            Head::Free(number) => Form::word(format!("x{number}")),
            Head::SetBy | Head::BagBy => {
                let parts = (heap.argument(value, 0), heap.argument(value, 1));
                self.comprehension(parts.0, parts.1, head == Head::SetBy, names)
            }
            Head::Big | Head::Rational => Form::word("?"),
        }
    }

    /// The binder, variables and body of a function or quantifier.
    fn open(&mut self, value: Value, number: u32, names: usize) -> Option<(Binder, Vec<VariableId>, Node)> {
        let (id, captured) = self.binders.binder(number)?;
        let (binder, variables, body) = match self.program.expression(id) {
            Expression::Binder { binder, variables, body } => (*binder, variables.to_vec(), *body),
            Expression::Comprehension { variable, body } => (Binder::Lambda, vec![*variable], *body),
            _ => return None,
        };
        self.closures.push(Closure { value, captured, names });
        Some((binder, variables, Node::Expression(body, self.closures.len() - 1)))
    }

    /// Prints the variables of a binder in normal form, with names that differ from those of
    /// enclosing binders. Also returns its body.
    fn enter(&mut self, value: Value, count: u32, names: usize) -> (String, Node) {
        let mut own: Vec<String> = Vec::new();
        let mut sorts = Vec::new();
        for index in 0..count as usize {
            let (name, sort) = self.heap.bound_variable(value, index).unzip();
            let name = name.filter(|name| name.index() < self.program.words.len());
            let name = name.map_or("x", |name| self.program.text(name));
            let mut candidates = std::iter::once(name.to_owned()).chain((1..).map(|n| format!("{name}{n}")));
            let free = |candidate: &String| !own.contains(candidate) && !self.is_bound(candidate, names);
            let name = candidates.find(free).unwrap_or_default();
            own.push(name);
            sorts.push(sort.filter(|sort| sort.index() < self.program.sorts.len()));
        }
        let all: Vec<(&String, &Option<SortId>)> = own.iter().zip(&sorts).collect();
        let groups: Vec<String> = all
            .chunk_by(|one, other| one.1 == other.1)
            .map(|group| {
                let names: Vec<&str> = group.iter().map(|(name, _)| name.as_str()).collect();
                let sort = group[0].1.map_or("?".to_owned(), |sort| self.program.sort_text(sort));
                format!("{}: {sort}", names.join(","))
            })
            .collect();
        self.names.push(Names { own, outer: names });
        (groups.join(", "), Node::Value(self.heap.bound_body(value), self.names.len() - 1))
    }

    /// Whether a variable of an enclosing binder has this name.
    fn is_bound(&self, name: &str, mut names: usize) -> bool {
        while names > 0 {
            if self.names[names].own.iter().any(|own| own == name) {
                return true;
            }
            names = self.names[names].outer;
        }
        false
    }

    /// The name of a variable, given the number of variables bound in between.
    fn bound_name(&self, mut number: usize, mut names: usize) -> String {
        while names > 0 {
            let Names { own, outer } = &self.names[names];
            match own.get(number) {
                Some(name) => return name.clone(),
                None => number -= own.len(),
            }
            names = *outer;
        }
        "?".to_owned()
    }

    /// The first element and the rest of a list value or an expression with `|>`.
    fn list_parts(&self, node: &Node) -> Option<(Node, Node)> {
        match *node {
            Node::Value(value, names) => {
                let parts = self.heap.list_parts(value);
                parts.map(|(first, rest)| (Node::Value(first, names), Node::Value(rest, names)))
            }
            Node::Expression(id, closure) => match self.program.expression(id) {
                Expression::Call { symbol, arguments } if self.builtin(*symbol) == Some(Builtin::Cons) => {
                    let part = |index: usize| Node::Expression(arguments[index], closure);
                    Some((part(0), part(1)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A list, in brackets if its end is known.
    fn list(&self, node: Node) -> Form {
        let (mut elements, mut rest) = (Vec::new(), node);
        while let Some((first, next)) = self.list_parts(&rest) {
            elements.push(first);
            rest = self.resolve(next);
        }
        match &rest {
            Node::Value(Value::NIL, _) => return Form::List(elements),
            Node::Expression(id, closure) => {
                if let Expression::List(last) = self.program.expression(*id) {
                    elements.extend(last.iter().map(|&id| Node::Expression(id, *closure)));
                    return Form::List(elements);
                }
            }
            _ => {}
        }
        Form::Chain(elements, rest)
    }

    /// A function with its arguments, in the notation of its kind.
    fn call(&mut self, symbol: SymbolId, mut arguments: Vec<Node>) -> Form {
        let Some(function) = self.program.symbols.get(symbol.index()) else { return Form::word("?") };
        let name = || self.program.text(function.name).to_owned();
        if arguments.is_empty() {
            return Form::word(name());
        }
        if let SymbolKind::Builtin(builtin) = function.kind {
            if let (Some(operator), 2) = (infix(builtin), arguments.len()) {
                let right = arguments.swap_remove(1);
                let left = arguments.swap_remove(0);
                return match operator {
                    BinaryOperator::NotEqual => Form::Prefix(
                        UnaryOperator::Not,
                        Node::Infix(BinaryOperator::Equal, Box::new((left, right))),
                    ),
                    BinaryOperator::Greater => Form::Infix(BinaryOperator::Less, right, left),
                    BinaryOperator::GreaterEqual => Form::Infix(BinaryOperator::LessEqual, right, left),
                    _ => Form::Infix(operator, left, right),
                };
            }
            if let (Some(operator), 1) = (prefix(builtin), arguments.len()) {
                return Form::Prefix(operator, arguments.swap_remove(0));
            }
            if let (Builtin::Update, 3) = (builtin, arguments.len()) {
                let value = arguments.swap_remove(2);
                let key = arguments.swap_remove(1);
                return Form::Updates(arguments.swap_remove(0), vec![(key, value)]);
            }
        }
        Form::Apply(Node::Word(name()), arguments)
    }

    fn expression(&mut self, id: ExpressionId, closure: usize) -> Form {
        let node = |&id: &ExpressionId| Node::Expression(id, closure);
        let nodes = |ids: &[ExpressionId]| ids.iter().map(node).collect::<Vec<_>>();
        let program = self.program;
        match program.expression(id) {
            Expression::Variable(variable) => Form::word(self.name(*variable)),
            Expression::Symbol(symbol) => self.call(*symbol, Vec::new()),
            Expression::Bool(truth) => Form::word(if *truth { "true" } else { "false" }),
            Expression::Number(digits) => Form::word(program.text(*digits)),
            Expression::List(elements) => Form::List(nodes(elements)),
            Expression::Set(elements) => Form::Set(nodes(elements)),
            Expression::Bag(pairs) => {
                Form::Bag(pairs.iter().map(|(element, count)| (node(element), node(count))).collect())
            }
            Expression::Comprehension { variable, body } => {
                Form::Comprehension(self.variables(&[*variable]), node(body))
            }
            Expression::Call { symbol, .. } if self.builtin(*symbol) == Some(Builtin::Cons) => {
                self.list(Node::Expression(id, closure))
            }
            Expression::Call { symbol, arguments } => self.call(*symbol, nodes(arguments)),
            Expression::Apply { function, arguments } => Form::Apply(node(function), nodes(arguments)),
            // `resolve` has skipped conversions.
            Expression::Upcast(operand) => Form::Apply(Node::Word(String::new()), vec![node(operand)]),
            Expression::Binder { binder, variables, body } => {
                Form::Binder(binder.text(), self.variables(variables), node(body))
            }
            Expression::Where { body, definitions } => {
                let definitions =
                    definitions.iter().map(|(variable, value)| (*variable, node(value))).collect();
                Form::Where(node(body), definitions)
            }
        }
    }
}

fn push_separated(nodes: Vec<Node>, least: u8, parts: &mut Vec<Item>) {
    for (index, node) in nodes.into_iter().enumerate() {
        if index > 0 {
            parts.push(Item::Text(", "));
        }
        parts.push(Item::Node(node, least));
    }
}

fn enumeration(open: &'static str, elements: Vec<Node>, close: &'static str, parts: &mut Vec<Item>) {
    let least = if elements.len() > 1 { ELEMENT } else { 0 };
    parts.push(Item::Text(open));
    push_separated(elements, least, parts);
    parts.push(Item::Text(close));
}

#[cfg(test)]
mod tests;
