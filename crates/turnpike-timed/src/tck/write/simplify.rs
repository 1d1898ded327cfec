//! Removes from expressions what the format cannot express: expands quantifiers, replaces functions
//! by their results, folds constants.

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use crate::network::{
    Binary, Cells, Expression, Function, Network, Place, Quantifier, Space, Statement, Unary,
};

/// Why something cannot be written.
pub(super) type Refusal = Box<Diagnostic>;
type Result<T> = std::result::Result<T, Refusal>;

/// Limit on the subexpressions generated for one attribute.
const BUDGET: usize = 100_000;
/// Limit on nested calls.
const CALLS: usize = 50;

/// The values of local cells.
pub(super) type Values = FxHashMap<u32, Expression>;

pub(super) fn refusal(what: &str, place: &Place) -> Refusal {
    Box::new(Diagnostic::error(format!("{what} cannot be written in this format")).at(place.clone(), ""))
}

/// Simplifies the expressions of one location or edge.
pub(super) struct Simplify<'a> {
    pub(super) network: &'a Network,
    /// The place to report if no more precise one is known.
    pub(super) place: Place,
    budget: usize,
    calls: usize,
}

enum Item<'a> {
    Step(&'a Statement),
    Set(u32, i32),
}

impl<'a> Simplify<'a> {
    pub(super) fn new(network: &'a Network, place: &Place) -> Self {
        Simplify { network, place: place.clone(), budget: BUDGET, calls: 0 }
    }

    fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(refusal(what, &self.place))
    }

    pub(super) fn spend(&mut self) -> Result<()> {
        match self.budget.checked_sub(1) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => self.refuse("an expression that becomes this long"),
        }
    }

    /// The expression with values substituted for local cells.
    pub(super) fn expression(&mut self, expression: &Expression, values: &Values) -> Result<Expression> {
        self.spend()?;
        Ok(match expression {
            Expression::Constant(value) => Expression::Constant(*value),
            Expression::Read(cells) => self.read(cells, values)?,
            Expression::Table(table, index) => {
                let index = self.expression(index, values)?;
                match constant_index(&index).and_then(|index| table.get(index)) {
                    Some(value) => Expression::Constant(*value),
                    None => Expression::Table(table.clone(), Box::new(index)),
                }
            }
            Expression::Unary(operator, operand) => {
                let operand = self.expression(operand, values)?;
                match (operator, &operand) {
                    (Unary::Minus, Expression::Constant(value)) if *value != i32::MIN => {
                        Expression::Constant(-value)
                    }
                    (Unary::Not, Expression::Constant(value)) => Expression::Constant(i32::from(*value == 0)),
                    _ => Expression::Unary(*operator, Box::new(operand)),
                }
            }
            Expression::Binary(operator, left, right, place) => {
                let left = self.expression(left, values)?;
                let right = self.expression(right, values)?;
                joined(*operator, left, right, place)
            }
            Expression::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.expression(condition, values)? {
                    Expression::Constant(0) => self.expression(otherwise, values)?,
                    Expression::Constant(_) => self.expression(then, values)?,
                    condition => Expression::Conditional(Box::new([
                        condition,
                        self.expression(then, values)?,
                        self.expression(otherwise, values)?,
                    ])),
                }
            }
            Expression::InRange { value, low, high, place } => match self.expression(value, values)? {
                Expression::Constant(number) if (*low..=*high).contains(&number) => {
                    Expression::Constant(number)
                }
                value => {
                    let (low, high, place) = (*low, *high, place.clone());
                    Expression::InRange { value: Box::new(value), low, high, place }
                }
            },
            Expression::Quantified { quantifier, local, low, high, body } => {
                self.quantified(*quantifier, *local, (*low, *high), body, values)?
            }
            Expression::Call { function, arguments, place } => {
                let Some(function) = self.network.functions.get(function.0 as usize) else {
                    return self.refuse("a function that does not exist");
                };
                let before = std::mem::replace(&mut self.place, place.clone());
                let result = self.call(function, arguments, values)?;
                self.place = before;
                result
            }
            Expression::Assign { place, .. } => {
                return Err(refusal("an assignment inside of an expression", place));
            }
            Expression::Sequence(_) => return self.refuse("an expression with effects"),
            Expression::At(..) => return self.refuse("a location inside of an expression"),
        })
    }

    fn read(&mut self, cells: &Cells, values: &Values) -> Result<Expression> {
        let Some(offset) = &cells.offset else {
            return Ok(match (cells.space, values.get(&cells.base)) {
                (Space::Local, Some(value)) => value.clone(),
                _ => Expression::Read(cells.clone()),
            });
        };
        let offset = self.expression(offset, values)?;
        if let Some(index) = constant_index(&offset)
            && let Ok(index) = u32::try_from(index)
            && index < cells.count
        {
            return self.read(&Cells::fixed(cells.space, cells.base + index), values);
        }
        let known = |cell| values.contains_key(&cell);
        if cells.space == Space::Local && (cells.base..cells.base + cells.count).any(known) {
            return self.refuse("a function that indexes a local array by a variable");
        }
        Ok(Expression::Read(Cells { offset: Some(Box::new(offset)), ..cells.clone() }))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        local: u32,
        (low, high): (i32, i32),
        body: &Expression,
        values: &Values,
    ) -> Result<Expression> {
        let mut values = values.clone();
        let mut result: Option<Expression> = None;
        for value in low..=high {
            values.insert(local, Expression::Constant(value));
            let next = self.expression(body, &values)?;
            let operator = match quantifier {
                Quantifier::ForAll => Binary::And,
                Quantifier::Exists => Binary::Or,
                Quantifier::Sum => Binary::Add,
            };
            result = Some(match result {
                None => next,
                Some(result) => joined(operator, result, next, &self.place),
            });
        }
        Ok(match (result, quantifier) {
            (Some(result), Quantifier::Sum) => result,
            (Some(result), _) => truth(result, &self.place),
            (None, Quantifier::ForAll) => Expression::Constant(1),
            (None, _) => Expression::Constant(0),
        })
    }

    /// The result of a function as an expression: executes it symbolically; branches become
    /// conditionals.
    fn call(
        &mut self,
        function: &'a Function,
        arguments: &[Expression],
        values: &Values,
    ) -> Result<Expression> {
        if function.shared {
            return self
                .refuse(&format!("a call of `{}`, which changes variables of its caller,", function.name));
        }
        if self.calls == CALLS {
            return self.refuse("functions whose calls nest this deeply");
        }
        let mut frame = Values::default();
        for (cell, local) in (0u32..).zip(&function.locals) {
            frame.insert(cell, Expression::Constant(0.clamp(local.low, local.high)));
        }
        for (cell, argument) in (0u32..).zip(arguments) {
            frame.insert(cell, self.expression(argument, values)?);
        }
        self.calls += 1;
        let mut work: Vec<Item<'a>> = Vec::new();
        push_all(&function.body, &mut work);
        let result = self.run(work, frame, &function.name);
        self.calls -= 1;
        result
    }

    fn run(&mut self, mut work: Vec<Item<'a>>, mut frame: Values, name: &str) -> Result<Expression> {
        while let Some(item) = work.pop() {
            self.spend()?;
            let statement = match item {
                Item::Set(local, value) => {
                    frame.insert(local, Expression::Constant(value));
                    continue;
                }
                Item::Step(statement) => statement,
            };
            match statement {
                Statement::Assign { target, value, place } => {
                    self.assign(target, value, &mut frame, name, place)?;
                }
                Statement::Evaluate(expression) => self.effect(expression, &mut frame, name)?,
                Statement::If(condition, then, otherwise) => {
                    match self.expression(condition, &frame)? {
                        Expression::Constant(0) => push_all(otherwise, &mut work),
                        Expression::Constant(_) => push_all(then, &mut work),
                        condition => {
                            let mut other = work
                                .iter()
                                .map(|item| match item {
                                    Item::Step(step) => Item::Step(step),
                                    Item::Set(local, value) => Item::Set(*local, *value),
                                })
                                .collect();
                            push_all(then, &mut work);
                            push_all(otherwise, &mut other);
                            // Each branch continues to the end of the function, so the depth is
                            // that of the result.
                            if self.calls == CALLS {
                                return self.refuse("a function with this many branches");
                            }
                            self.calls += 1;
                            let first = self.run(work, frame.clone(), name);
                            let second = self.run(other, frame, name);
                            self.calls -= 1;
                            return Ok(Expression::Conditional(Box::new([condition, first?, second?])));
                        }
                    }
                }
                Statement::While(condition, body, _) => match self.expression(condition, &frame)? {
                    Expression::Constant(0) => {}
                    Expression::Constant(_) => {
                        work.push(Item::Step(statement));
                        push_all(body, &mut work);
                    }
                    _ => {
                        return self.refuse(&format!(
                            "a condition or value with the function `{name}`, whose loop depends on variables,"
                        ));
                    }
                },
                Statement::For { local, low, high, body } => {
                    for value in (*low..=*high).rev() {
                        self.spend()?;
                        push_all(body, &mut work);
                        work.push(Item::Set(*local, value));
                    }
                }
                Statement::Return(Some(value)) => return self.expression(value, &frame),
                Statement::Return(None) => return Ok(Expression::Constant(0)),
                Statement::Assert(..) => {}
                Statement::Copy { place, .. } => {
                    return Err(refusal("a copy of an array in a condition", place));
                }
                Statement::Clock { place, .. } => {
                    return Err(refusal("an assignment of a clock in a condition", place));
                }
            }
        }
        Ok(Expression::Constant(0))
    }

    fn assign(
        &mut self,
        target: &Cells,
        value: &Expression,
        frame: &mut Values,
        name: &str,
        place: &Place,
    ) -> Result<()> {
        let value = self.expression(value, frame)?;
        let offset = match &target.offset {
            None => Some(0),
            Some(offset) => constant_index(&self.expression(offset, frame)?),
        };
        match (target.space, offset.and_then(|offset| u32::try_from(offset).ok())) {
            (Space::Local, Some(offset)) if offset < target.count => {
                frame.insert(target.base + offset, value);
                Ok(())
            }
            _ => Err(refusal(
                &format!("a condition or value with the function `{name}`, which has effects,"),
                place,
            )),
        }
    }

    fn effect(&mut self, expression: &Expression, frame: &mut Values, name: &str) -> Result<()> {
        match expression {
            Expression::Assign { target, value, place } => self.assign(target, value, frame, name, place),
            Expression::Sequence(parts) => {
                self.effect(&parts[0], frame, name)?;
                self.effect(&parts[1], frame, name)
            }
            other => self.expression(other, frame).map(|_| ()),
        }
    }
}

fn push_all<'a>(statements: &'a [Statement], work: &mut Vec<Item<'a>>) {
    work.extend(statements.iter().rev().map(Item::Step));
}

fn constant_index(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Constant(value) => usize::try_from(*value).ok(),
        _ => None,
    }
}

/// Whether the value is always 0 or 1.
pub(super) fn is_truth(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(value) => matches!(value, 0 | 1),
        Expression::Unary(Unary::Not, _) => true,
        Expression::Binary(operator, ..) => operator.is_truth(),
        _ => false,
    }
}

/// Maps non-zero values to 1.
fn truth(expression: Expression, place: &Place) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(i32::from(value != 0)),
        other if is_truth(&other) => other,
        other => Expression::Binary(
            Binary::NotEqual,
            Box::new(other),
            Box::new(Expression::Constant(0)),
            place.clone(),
        ),
    }
}

/// Applies an operator, folding constants.
fn joined(operator: Binary, left: Expression, right: Expression, place: &Place) -> Expression {
    match (operator, &left, &right) {
        (Binary::And, Expression::Constant(0), _) => return Expression::Constant(0),
        (Binary::Or, Expression::Constant(value), _) if *value != 0 => return Expression::Constant(1),
        (Binary::And | Binary::Or, Expression::Constant(_), _) => return truth(right, place),
        (Binary::And, _, Expression::Constant(value)) if *value != 0 => return truth(left, place),
        (Binary::Or, _, Expression::Constant(0)) => return truth(left, place),
        (_, Expression::Constant(a), Expression::Constant(b)) => {
            if let Ok(value) = operator.apply(*a, *b) {
                return Expression::Constant(value);
            }
        }
        _ => {}
    }
    Expression::Binary(operator, Box::new(left), Box::new(right), place.clone())
}
