//! Expressions: their kind, and their value.

use turnpike_model::Diagnostic;

use super::conditions::Difference;
use super::fold::{self, Value, balanced};
use super::types::{ANY_INT, Class, Real, Type};
use super::{Checker, Entity, Lvalue, Memory, Outcome, Purpose, Wanted, reals, suggest_or_show};
use crate::network::{self, Binary, Expression, LocationId, ProcessId, Quantifier, Unary};
use crate::query::Condition;
use crate::syntax::uppaal::tree::{self, ExpressionKind};

/// The result of resolving an expression.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// A value to be computed.
    Value(Value),
    /// An object stored in cells.
    Lvalue(Lvalue),
    /// Cells that are valid once the expression has been evaluated: a struct that a function
    /// returns.
    Result(Expression, Lvalue),
    /// A difference of clocks.
    Clocks(Difference),
    /// A condition that depends on clocks.
    Condition(Condition),
    /// `x'`
    Rate(Lvalue),
    /// A process, in a query.
    Process(u32),
    /// A real number: its value if it is constant, and the effect of evaluating it on variables.
    Real {
        /// The value.
        known: Option<f64>,
        /// A call with effects.
        effect: Option<Expression>,
    },
}

/// Quantifiers over at most this many values are expanded.
const SMALL: i64 = 8;

/// Limit on the quantifier bodies expanded for one expression.
const MOST_EXPANDED: u32 = 1 << 20;

impl Checker<'_> {
    /// Resolves an expression.
    pub(crate) fn operand(&mut self, expression: &tree::Expression) -> Outcome<Operand> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.operand_inner(expression))
    }

    fn operand_inner(&mut self, expression: &tree::Expression) -> Outcome<Operand> {
        let place = &expression.span;
        Ok(match &expression.kind {
            ExpressionKind::Integer(value) => Operand::Value(Value::int(*value)),
            ExpressionKind::Real(value) => Operand::Real { known: Some(*value), effect: None },
            ExpressionKind::Bool(value) => Operand::Value(Value::bool(*value)),
            ExpressionKind::Name(name) => self.name(name, place)?,
            ExpressionKind::Deadlock => {
                if self.purpose != Purpose::Query {
                    return Err(
                        Diagnostic::error("`deadlock` can only be used in queries").at(place.clone(), "")
                    );
                }
                Operand::Condition(Condition::Deadlock)
            }
            ExpressionKind::Index(array, index) => {
                let whole = self.operand(array)?;
                match whole {
                    Operand::Lvalue(lvalue) if matches!(lvalue.ty, Type::Array(_)) => {
                        let value = self.value(index)?;
                        self.check_asked_index(&lvalue, index)?;
                        Operand::Lvalue(self.index(lvalue, value, &index.span)?)
                    }
                    Operand::Result(first, lvalue) if matches!(lvalue.ty, Type::Array(_)) => {
                        let value = self.value(index)?;
                        Operand::Result(first, self.index(lvalue, value, &index.span)?)
                    }
                    _ => {
                        return Err(Diagnostic::error("only arrays can be indexed")
                            .at(array.span.clone(), "this is not an array"));
                    }
                }
            }
            ExpressionKind::Field(record, field) => match self.operand(record)? {
                Operand::Lvalue(lvalue) => Operand::Lvalue(self.field(&lvalue, field)?),
                Operand::Result(first, lvalue) => Operand::Result(first, self.field(&lvalue, field)?),
                Operand::Process(process) => self.member(process, field)?,
                _ => {
                    return Err(Diagnostic::error("only structs have fields")
                        .at(field.span.clone(), "there is no struct before the dot"));
                }
            },
            ExpressionKind::Call(callee, arguments) => self.call(callee, arguments, place)?,
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand)?,
            ExpressionKind::Binary(operator, left, right) => self.binary(*operator, left, right, place)?,
            ExpressionKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no)?,
            ExpressionKind::Assign(operator, target, value) => {
                Operand::Value(self.assign_value(*operator, target, value, place)?)
            }
            ExpressionKind::Step(step, target) => Operand::Value(self.step_value(*step, target, place)?),
            ExpressionKind::Quantified(quantifier, variable, ty, body) => {
                self.quantified(*quantifier, variable, ty, body, place)?
            }
            ExpressionKind::Rate(clock) => {
                let clock_operand = self.operand(clock)?;
                match clock_operand {
                    Operand::Lvalue(lvalue) if lvalue.ty == Type::Clock => Operand::Rate(lvalue),
                    _ => {
                        return Err(Diagnostic::error("only clocks have a rate")
                            .at(clock.span.clone(), "this is not a clock"));
                    }
                }
            }
        })
    }

    fn name(&mut self, name: &str, place: &network::Place) -> Outcome<Operand> {
        match self.lookup(name, place) {
            Some(Entity::Stored { lvalue, computable }) => {
                if self.purpose == Purpose::Constant && !computable && lvalue.ty.real_part().is_none() {
                    return Err(not_computable(name, &lvalue, place));
                }
                Ok(Operand::Lvalue(lvalue))
            }
            Some(Entity::Number(value)) => Ok(Operand::Real { known: Some(value), effect: None }),
            Some(Entity::NoValue(error)) => Err(*error),
            Some(Entity::Label(locations)) if !self.state.families.contains_key(name) => {
                Ok(Operand::Value(Value::truth(locations)))
            }
            other => {
                if self.purpose == Purpose::Query
                    && let Some(family) = self.state.families.get(name)
                {
                    if !family.parameters.is_empty() {
                        return Err(Diagnostic::error(format!("there are several processes `{name}`"))
                            .at(place.clone(), "ambiguous")
                            .help(format!("write its arguments: {name}({})", family.example())));
                    }
                    return Ok(Operand::Process(family.first));
                }
                match other {
                    Some(other) => Err(Diagnostic::error(format!("`{name}` is not a value"))
                        .at(place.clone(), format!("this is {}", other.describe()))),
                    None => Err(self.unknown(name, place, Wanted::Name, |e| {
                        matches!(e, Entity::Stored { .. } | Entity::Function(..) | Entity::Label(_))
                    })),
                }
            }
        }
    }

    /// `P.x`: a location of a process, or a declaration of it.
    fn member(&mut self, process: u32, member: &tree::Identifier) -> Outcome<Operand> {
        let names = &self.state.processes[process as usize];
        if let Some(&location) = names.locations.get(&member.name) {
            let at = Expression::At(ProcessId(process), LocationId(location));
            return Ok(Operand::Value(Value::truth(at)));
        }
        let scope = &self.state.scopes[names.scope];
        if let Some(Entity::Stored { lvalue, .. }) = scope.get(&member.name) {
            return Ok(Operand::Lvalue(lvalue.clone()));
        }
        if let Some(Entity::NoValue(error)) = scope.get(&member.name) {
            return Err(Diagnostic::error(format!("`{}` has no value", member.name))
                .at(member.span.clone(), error.message.clone()));
        }
        let mut candidates: Vec<&str> = names.locations.keys().map(String::as_str).collect();
        candidates.extend(
            scope
                .names
                .iter()
                .filter(|(_, named)| matches!(named.entity, Entity::Stored { .. }))
                .map(|(name, _)| name.as_str()),
        );
        candidates.sort_unstable();
        let message = format!("the process has no location or variable `{}`", member.name);
        let error = Diagnostic::error(message).at(member.span.clone(), super::NOT_DECLARED);
        Err(suggest_or_show(error, &member.name, &candidates, "it has"))
    }

    /// An integer, truth value or scalar.
    pub(crate) fn value(&mut self, expression: &tree::Expression) -> Outcome<Value> {
        let operand = self.operand(expression)?;
        self.value_of(operand, &expression.span)
    }

    /// The value of a resolved expression.
    pub(crate) fn value_of(&mut self, operand: Operand, place: &network::Place) -> Outcome<Value> {
        match operand {
            Operand::Value(Value { ty: Type::Void, .. }) => {
                Err(Diagnostic::error("the function has no result")
                    .at(place.clone(), "a value is needed here"))
            }
            Operand::Value(value) => Ok(value),
            Operand::Real { .. } => Err(reals::decides(Real::Double, place)),
            Operand::Lvalue(Lvalue { ty: Type::Real(kind), .. })
            | Operand::Result(_, Lvalue { ty: Type::Real(kind), .. }) => Err(reals::decides(kind, place)),
            Operand::Lvalue(lvalue) if lvalue.ty.range().is_some() => Ok(self.read(&lvalue)),
            Operand::Result(first, lvalue) if lvalue.ty.range().is_some() => {
                let value = self.read(&lvalue);
                Ok(Value {
                    ty: value.ty,
                    expression: Expression::Sequence(Box::new([first, value.expression])),
                })
            }
            Operand::Lvalue(lvalue) | Operand::Result(_, lvalue) => {
                Err(Diagnostic::error("a number or truth value is needed here")
                    .at(place.clone(), format!("this is {}", lvalue.ty.describe())))
            }
            Operand::Clocks(_) | Operand::Condition(_) => {
                Err(Diagnostic::error("clocks cannot be used here")
                    .at(place.clone(), "this depends on a clock")
                    .help("clocks can be compared with integers, in guards, invariants and queries"))
            }
            Operand::Rate(_) => {
                Err(Diagnostic::error("the rate of a clock can only be compared").at(place.clone(), ""))
            }
            Operand::Process(_) => Err(Diagnostic::error("a process is not a value")
                .at(place.clone(), "this is a process")
                .help("refer to one of its locations or variables: P.loc")),
        }
    }

    /// A value that supports arithmetic.
    pub(crate) fn number(&mut self, expression: &tree::Expression) -> Outcome<Value> {
        let value = self.value(expression)?;
        numeric(value, &expression.span)
    }

    /// A condition without clocks.
    pub(crate) fn truth(&mut self, expression: &tree::Expression) -> Outcome<Value> {
        self.number(expression)
    }

    fn unary(&mut self, operator: tree::Unary, inner: &tree::Expression) -> Outcome<Operand> {
        let operand = self.operand(inner)?;
        if operator != tree::Unary::Not
            && let Some((_, known)) = reals::real(&operand)
        {
            let sign = if operator == tree::Unary::Minus { -1.0 } else { 1.0 };
            return Ok(Operand::Real { known: known.map(|value| sign * value), effect: None });
        }
        Ok(match (operator, operand) {
            (tree::Unary::Not, Operand::Condition(condition)) => {
                Operand::Condition(Condition::Not(Box::new(condition)))
            }
            (tree::Unary::Minus, Operand::Clocks(clocks)) => Operand::Clocks(clocks.negated(&inner.span)),
            (tree::Unary::Minus, Operand::Lvalue(lvalue)) if lvalue.ty == Type::Clock => {
                Operand::Clocks(Difference::of(&lvalue).negated(&inner.span))
            }
            (tree::Unary::Plus, Operand::Clocks(clocks)) => Operand::Clocks(clocks),
            (operator, operand) => {
                let value = self.value_of(operand, &inner.span)?;
                let value = numeric(value, &inner.span)?;
                Operand::Value(match operator {
                    tree::Unary::Not => fold::unary(Unary::Not, value),
                    tree::Unary::Minus => fold::unary(Unary::Minus, value),
                    tree::Unary::Plus => value,
                })
            }
        })
    }

    fn conditional(
        &mut self,
        condition: &tree::Expression,
        yes: &tree::Expression,
        no: &tree::Expression,
    ) -> Outcome<Operand> {
        let test = self.truth(condition)?;
        match test.known() {
            Some(0) => {
                self.check_names(yes)?;
                return self.operand(no);
            }
            Some(_) => {
                self.check_names(no)?;
                return self.operand(yes);
            }
            None => {}
        }
        let (left, right) = (self.operand(yes)?, self.operand(no)?);
        if reals::real(&left).or(reals::real(&right)).is_some() {
            return Ok(Operand::Real { known: None, effect: None });
        }
        if matches!(left, Operand::Condition(_)) || matches!(right, Operand::Condition(_)) {
            let left = self.condition_of(left, &yes.span)?;
            let right = self.condition_of(right, &no.span)?;
            let not = fold::unary(Unary::Not, test.clone());
            let first = self.or(Condition::Data(not.expression), left, &yes.span);
            let second = self.or(Condition::Data(test.expression), right, &no.span);
            return Ok(Operand::Condition(Condition::And(vec![first, second])));
        }
        let left = self.value_of(left, &yes.span)?;
        let right = self.value_of(right, &no.span)?;
        let ty = match (&left.ty, &right.ty) {
            (a, b) if a == b => a.clone(),
            (Type::Scalar { .. }, _) | (_, Type::Scalar { .. }) => {
                return Err(Diagnostic::error("both results must have the same type")
                    .at(no.span.clone(), format!("this is {}", right.ty.describe())));
            }
            (a, b) => match (a.range(), b.range()) {
                (Some((a, b)), Some((c, d))) => Type::Int { low: a.min(c), high: b.max(d) },
                _ => ANY_INT,
            },
        };
        let parts = Box::new([test.expression, left.expression, right.expression]);
        Ok(Operand::Value(Value { ty, expression: Expression::Conditional(parts) }))
    }

    fn quantified(
        &mut self,
        quantifier: tree::Quantifier,
        variable: &tree::Identifier,
        ty: &tree::Type,
        body: &tree::Expression,
        place: &network::Place,
    ) -> Outcome<Operand> {
        let (domain, low, high) = self.domain(ty)?;
        let size = i64::from(high) - i64::from(low) + 1;
        if size > SMALL && self.frame.available {
            let before = self.frame.locals.len();
            let attempt = self.within(|this| {
                let mut cell = this.allocate(&variable.name, &domain, &variable.span)?;
                cell.read_only = true;
                let local = cell.base;
                this.declare(variable, Entity::Stored { lvalue: cell, computable: false })?;
                let value = this.number(body)?;
                Ok((local, value))
            });
            match attempt {
                Ok((local, value)) => {
                    return Ok(Operand::Value(over_local(quantifier, local, (low, high), value)));
                }
                Err(_) => self.frame.locals.truncate(before),
            }
        }
        let mut parts = Vec::new();
        for value in low..=high {
            self.expanded += 1;
            if self.expanded > MOST_EXPANDED {
                return Err(Diagnostic::error("the quantifier ranges over too many values")
                    .at(place.clone(), "it would have to be expanded"));
            }
            let part = self.within(|this| {
                let lvalue = Lvalue::constant(domain.clone(), vec![value]);
                this.declare(variable, Entity::Stored { lvalue, computable: true })?;
                let operand = this.operand(body)?;
                if quantifier == tree::Quantifier::Sum {
                    let value = this.value_of(operand, &body.span)?;
                    return Ok(Condition::Data(numeric(value, &body.span)?.expression));
                }
                this.condition_of(operand, &body.span)
            })?;
            // A value that decides the result makes the remaining ones redundant.
            match (quantifier, &part) {
                (tree::Quantifier::Forall, Condition::Data(Expression::Constant(0))) => {
                    return Ok(Operand::Value(Value::bool(false)));
                }
                (tree::Quantifier::Exists, Condition::Data(Expression::Constant(value))) if *value != 0 => {
                    return Ok(Operand::Value(Value::bool(true)));
                }
                (tree::Quantifier::Forall, Condition::Data(Expression::Constant(_)))
                | (tree::Quantifier::Exists, Condition::Data(Expression::Constant(_))) => {}
                _ => parts.push(part),
            }
        }
        Ok(self.join_values(quantifier, parts, place))
    }

    /// Combines the values of a quantifier's body.
    fn join_values(
        &mut self,
        quantifier: tree::Quantifier,
        parts: Vec<Condition>,
        place: &network::Place,
    ) -> Operand {
        let joined = balanced(parts, &mut |left, right| match quantifier {
            tree::Quantifier::Forall => self.and(left, right, place),
            tree::Quantifier::Exists => self.or(left, right, place),
            tree::Quantifier::Sum => {
                let number = |part| match part {
                    Condition::Data(expression) => Value {
                        ty: if let Expression::Constant(value) = expression {
                            Type::Int { low: value, high: value }
                        } else {
                            ANY_INT
                        },
                        expression,
                    },
                    _ => Value::int(0),
                };
                Condition::Data(fold::binary(Binary::Add, number(left), number(right), place).expression)
            }
        });
        match joined {
            None => Operand::Value(Value::bool(quantifier == tree::Quantifier::Forall)),
            Some(Condition::Data(expression)) if quantifier == tree::Quantifier::Sum => {
                let ty = match expression {
                    Expression::Constant(value) => Type::Int { low: value, high: value },
                    _ => ANY_INT,
                };
                Operand::Value(Value { ty, expression })
            }
            Some(Condition::Data(expression)) => Operand::Value(Value::truth(expression)),
            Some(condition) => Operand::Condition(condition),
        }
    }

    /// `P(1)`: a process of a family, in a query.
    pub(crate) fn process(
        &mut self,
        name: &str,
        arguments: &[tree::Expression],
        place: &network::Place,
    ) -> Outcome<Option<u32>> {
        if self.purpose != Purpose::Query {
            return Ok(None);
        }
        let Some(family) = self.state.families.get(name).cloned() else { return Ok(None) };
        if arguments.len() != family.parameters.len() {
            let counted = |count: usize, noun| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
            return Err(Diagnostic::error(format!(
                "`{name}` has {}, but got {}",
                counted(family.parameters.len(), "free parameter"),
                counted(arguments.len(), "argument")
            ))
            .at(place.clone(), ""));
        }
        let mut index = 0u32;
        for (argument, &(low, high)) in arguments.iter().zip(&family.parameters) {
            let Some(value) = self.value(argument)?.known() else {
                return Err(Diagnostic::error("the process index must be a constant")
                    .at(argument.span.clone(), "this depends on the state")
                    .help("use numbers, constants and variables of quantifiers"));
            };
            if !(low..=high).contains(&value) {
                return Err(Diagnostic::error(format!("there is no process `{name}({value})`"))
                    .at(argument.span.clone(), format!("its arguments range from {low} to {high}")));
            }
            index = index * (high - low + 1) as u32 + (value - low) as u32;
        }
        Ok(Some(family.first + index))
    }
}

impl super::Family {
    /// An example of valid arguments.
    fn example(&self) -> String {
        let lows: Vec<String> = self.parameters.iter().map(|(low, _)| low.to_string()).collect();
        lows.join(", ")
    }
}

fn over_local(quantifier: tree::Quantifier, local: u32, (low, high): (i32, i32), value: Value) -> Value {
    let (quantifier, ty) = match quantifier {
        tree::Quantifier::Forall => (Quantifier::ForAll, Type::Bool),
        tree::Quantifier::Exists => (Quantifier::Exists, Type::Bool),
        tree::Quantifier::Sum => (Quantifier::Sum, ANY_INT),
    };
    // A body that is constant for every value decides the whole.
    if ty == Type::Bool
        && let Some(known) = value.known()
    {
        return Value::bool(known != 0);
    }
    let body = Box::new(value.expression);
    Value { ty, expression: Expression::Quantified { quantifier, local, low, high, body } }
}

/// Rejects scalars.
pub(crate) fn numeric(value: Value, place: &network::Place) -> Outcome<Value> {
    if let Type::Scalar { .. } = value.ty {
        return Err(Diagnostic::error("scalars are not numbers")
            .at(place.clone(), "this is a scalar")
            .help("scalars can be assigned, compared with == and !=, and used as an index"));
    }
    Ok(value)
}

fn not_computable(name: &str, lvalue: &Lvalue, place: &network::Place) -> Diagnostic {
    let error = Diagnostic::error(format!("`{name}` must be known before the system runs"))
        .at(place.clone(), format!("this is {} that is not a constant", lvalue.ty.describe()));
    match (&lvalue.memory, lvalue.ty.class()) {
        (Memory::Constant(_), _) => error.help("declare the parameter `const`, and not as a reference"),
        (_, Class::Data) => error.help("only constants can be used here"),
        _ => error,
    }
}
