//! Prints typed expressions as source text, with an explicit stack.

use rustc_hash::{FxHashMap, FxHashSet};

use super::walk::{bound, free_variables, reachable, scope};
use crate::syntax::{Associativity, BinaryOperator, UnaryOperator};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolId, SymbolKind, VariableId};

/// The level of something that never needs parentheses.
const TIGHT: u8 = 14;
/// The level of prefix operators.
const PREFIX: u8 = 13;
/// Elements of bags must not have a `|` outside parentheses, or they would parse as a
/// comprehension.
const IN_BAG: u8 = 2;

/// Prints an expression with few parentheses and without conversions. Bound variables are renamed
/// where the text would be ambiguous.
pub fn text(program: &Program, root: ExpressionId) -> String {
    text_with(program, root, &|variable| program.text(program.variable(variable).name).to_owned())
}

/// As [`text`], with other names for variables.
pub fn text_with(program: &Program, root: ExpressionId, name: &dyn Fn(VariableId) -> String) -> String {
    let names = names(program, root, name);
    let mut printer = Printer { program, names, text: String::new() };
    printer.print(root);
    printer.text
}

/// The names of all variables of an expression.
fn names(
    program: &Program,
    root: ExpressionId,
    name: &dyn Fn(VariableId) -> String,
) -> FxHashMap<VariableId, String> {
    let nodes = reachable(program, &[root]);
    let mut names = FxHashMap::default();
    let mut binders = Vec::new();
    for &id in &nodes {
        match program.expression(id) {
            &Expression::Variable(variable) => {
                names.entry(variable).or_insert_with(|| name(variable));
            }
            expression if scope(expression).is_some() => {
                for variable in bound(expression) {
                    names.entry(variable).or_insert_with(|| name(variable));
                }
                binders.push(id);
            }
            _ => {}
        }
    }
    let mut used: FxHashSet<String> = names.values().cloned().collect();
    if used.len() == names.len() {
        return names;
    }
    // If some have the same name, does one shadow another that is used there?
    for id in binders {
        let expression = program.expression(id);
        let Some(body) = scope(expression) else { continue };
        let free = free_variables(program, body);
        for variable in bound(expression) {
            let own = names[&variable].clone();
            if free.iter().any(|one| *one != variable && names[one] == own) {
                let fresh = (1..)
                    .map(|number: u64| format!("{own}_{number}"))
                    .find(|new| program.words.find(new).is_none() && !used.contains(new))
                    .unwrap_or(own);
                used.insert(fresh.clone());
                names.insert(variable, fresh);
            }
        }
    }
    names
}

/// An item to print. Expressions come with the weakest level that needs no parentheses there.
enum Item {
    Text(&'static str),
    Expression(ExpressionId, u8),
    /// `x: S`, and whether a structured sort needs parentheses.
    Variable(VariableId),
    Name(VariableId),
}

struct Printer<'p> {
    program: &'p Program,
    names: FxHashMap<VariableId, String>,
    text: String,
}

impl Printer<'_> {
    fn print(&mut self, root: ExpressionId) {
        let mut stack = vec![Item::Expression(root, 0)];
        let mut parts = Vec::new();
        while let Some(item) = stack.pop() {
            match item {
                Item::Text(text) => self.text.push_str(text),
                Item::Expression(id, least) => self.expression(id, least, &mut parts),
                Item::Name(variable) => self.text.push_str(&self.names[&variable]),
                Item::Variable(variable) => {
                    self.text.push_str(&self.names[&variable]);
                    self.text.push_str(": ");
                    self.text.push_str(&self.program.sort_text(self.program.variable(variable).sort));
                }
            }
            stack.extend(parts.drain(..).rev());
        }
    }

    fn expression(&mut self, id: ExpressionId, least: u8, parts: &mut Vec<Item>) {
        let program = self.program;
        let expression = program.expression(id);
        if let Expression::Upcast(operand) = *expression {
            parts.push(Item::Expression(operand, least));
            return;
        }
        let enclosed = level(program, expression) < least;
        if enclosed {
            self.text.push('(');
        }
        match expression {
            Expression::Variable(variable) => self.text.push_str(&self.names[variable]),
            Expression::Symbol(symbol) => self.text.push_str(program.text(program.symbol(*symbol).name)),
            Expression::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Expression::Number(digits) => self.text.push_str(program.text(*digits)),
            Expression::List(elements) => enumeration(parts, "[", elements, "]"),
            Expression::Set(elements) => enumeration(parts, "{", elements, "}"),
            Expression::Bag(pairs) if pairs.is_empty() => self.text.push_str("{:}"),
            Expression::Bag(pairs) => {
                parts.push(Item::Text("{"));
                for (index, &(element, count)) in pairs.iter().enumerate() {
                    comma(parts, index);
                    parts.extend([
                        Item::Expression(element, IN_BAG),
                        Item::Text(": "),
                        Item::Expression(count, IN_BAG),
                    ]);
                }
                parts.push(Item::Text("}"));
            }
            Expression::Comprehension { variable, body } => parts.extend([
                Item::Text("{ "),
                Item::Variable(*variable),
                Item::Text(" | "),
                Item::Expression(*body, 0),
                Item::Text(" }"),
            ]),
            Expression::Call { symbol, arguments } => self.call(expression, *symbol, arguments, parts),
            Expression::Apply { function, arguments } => {
                parts.push(Item::Expression(*function, TIGHT));
                enumeration(parts, "(", arguments, ")");
            }
            Expression::Upcast(_) => {}
            Expression::Binder { binder, variables, body } => {
                parts.extend([Item::Text(binder.text()), Item::Text(" ")]);
                for (index, &variable) in variables.iter().enumerate() {
                    comma(parts, index);
                    parts.push(Item::Variable(variable));
                }
                parts.extend([Item::Text(". "), Item::Expression(*body, 1)]);
            }
            Expression::Where { body, definitions } => {
                parts.extend([Item::Expression(*body, 0), Item::Text(" whr ")]);
                for (index, &(name, value)) in definitions.iter().enumerate() {
                    comma(parts, index);
                    parts.extend([Item::Name(name), Item::Text(" = "), Item::Expression(value, 0)]);
                }
                parts.push(Item::Text(" end"));
            }
        }
        if enclosed {
            parts.push(Item::Text(")"));
        }
    }

    /// A call, in the notation of its operator if it has one.
    fn call(
        &mut self,
        expression: &Expression,
        symbol: SymbolId,
        arguments: &[ExpressionId],
        parts: &mut Vec<Item>,
    ) {
        let program = self.program;
        match notation(program, expression) {
            Notation::Infix(operator) => {
                let (at_left, at_right) = match operator.associativity() {
                    Associativity::Left => (operator.level(), operator.level() + 1),
                    Associativity::Right => (operator.level() + 1, operator.level()),
                };
                parts.extend([
                    Item::Expression(arguments[0], at_left),
                    Item::Text(" "),
                    Item::Text(operator.text()),
                    Item::Text(" "),
                    Item::Expression(arguments[1], at_right),
                ]);
            }
            Notation::Prefix(operator) => {
                parts.extend([Item::Text(operator.text()), Item::Expression(arguments[0], PREFIX)]);
            }
            Notation::Update => parts.extend([
                Item::Expression(arguments[0], TIGHT),
                Item::Text("["),
                Item::Expression(arguments[1], 0),
                Item::Text(" -> "),
                Item::Expression(arguments[2], 0),
                Item::Text("]"),
            ]),
            Notation::Function => {
                self.text.push_str(program.text(program.symbol(symbol).name));
                enumeration(parts, "(", arguments, ")");
            }
        }
    }
}

fn comma(parts: &mut Vec<Item>, index: usize) {
    if index > 0 {
        parts.push(Item::Text(", "));
    }
}

fn enumeration(parts: &mut Vec<Item>, open: &'static str, elements: &[ExpressionId], close: &'static str) {
    parts.push(Item::Text(open));
    for (index, &element) in elements.iter().enumerate() {
        comma(parts, index);
        parts.push(Item::Expression(element, 0));
    }
    parts.push(Item::Text(close));
}

/// The notation of a call.
enum Notation {
    Infix(BinaryOperator),
    Prefix(UnaryOperator),
    Update,
    Function,
}

fn notation(program: &Program, expression: &Expression) -> Notation {
    let Expression::Call { symbol, .. } = expression else { return Notation::Function };
    let SymbolKind::Builtin(builtin) = program.symbol(*symbol).kind else { return Notation::Function };
    if builtin == Builtin::Update {
        return Notation::Update;
    }
    match (infix(builtin), prefix(builtin)) {
        (Some(operator), _) => Notation::Infix(operator),
        (_, Some(operator)) => Notation::Prefix(operator),
        _ => Notation::Function,
    }
}

/// The infix operator of a built-in function.
pub fn infix(builtin: Builtin) -> Option<BinaryOperator> {
    Some(match builtin {
        Builtin::Equal => BinaryOperator::Equal,
        Builtin::NotEqual => BinaryOperator::NotEqual,
        Builtin::Less => BinaryOperator::Less,
        Builtin::LessEqual => BinaryOperator::LessEqual,
        Builtin::Greater => BinaryOperator::Greater,
        Builtin::GreaterEqual => BinaryOperator::GreaterEqual,
        Builtin::And => BinaryOperator::And,
        Builtin::Or => BinaryOperator::Or,
        Builtin::Implies => BinaryOperator::Implies,
        Builtin::Add | Builtin::Union => BinaryOperator::Add,
        Builtin::Subtract | Builtin::Difference => BinaryOperator::Subtract,
        Builtin::Multiply | Builtin::Intersection => BinaryOperator::Multiply,
        Builtin::Divide => BinaryOperator::Divide,
        Builtin::Div => BinaryOperator::Div,
        Builtin::Mod => BinaryOperator::Mod,
        Builtin::Cons => BinaryOperator::Cons,
        Builtin::Snoc => BinaryOperator::Snoc,
        Builtin::Concat => BinaryOperator::Concat,
        Builtin::At => BinaryOperator::At,
        Builtin::In => BinaryOperator::In,
        _ => return None,
    })
}

/// The prefix operator of a built-in function.
pub fn prefix(builtin: Builtin) -> Option<UnaryOperator> {
    Some(match builtin {
        Builtin::Not | Builtin::Complement => UnaryOperator::Not,
        Builtin::Negate => UnaryOperator::Minus,
        Builtin::Size => UnaryOperator::Size,
        _ => return None,
    })
}

fn level(program: &Program, expression: &Expression) -> u8 {
    match expression {
        Expression::Where { .. } => 0,
        Expression::Binder { .. } => 1,
        Expression::Call { .. } => match notation(program, expression) {
            Notation::Infix(operator) => operator.level(),
            Notation::Prefix(_) => PREFIX,
            _ => TIGHT,
        },
        _ => TIGHT,
    }
}
