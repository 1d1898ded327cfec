//! Statements of functions, updates of edges, and assignments in expressions.

use turnpike_model::Diagnostic;

use super::constants::{parts, repeatable};
use super::expressions::{Operand, numeric};
use super::fold::{self, Value};
use super::operators::operator;
use super::types::{ANY_INT, Class, Real, Type};
use super::{Checker, Entity, Lvalue, Memory, Outcome, Purpose, reals};
use crate::network::{Binary, Cells, ClockValue, Expression, Place, Statement};
use crate::syntax::uppaal::tree::{self, ExpressionKind, StatementKind};

impl Checker<'_> {
    /// `{ … }`
    pub(crate) fn block(&mut self, block: &tree::Block, out: &mut Vec<Statement>) -> Outcome<()> {
        self.within(|this| {
            for declaration in &block.declarations {
                this.local_declaration(declaration, out)?;
            }
            for statement in &block.statements {
                this.statement(statement, out)?;
            }
            Ok(())
        })
    }

    fn nested(&mut self, statement: &tree::Statement) -> Outcome<Vec<Statement>> {
        let mut out = Vec::new();
        self.statement(statement, &mut out)?;
        Ok(out)
    }

    fn statement(&mut self, statement: &tree::Statement, out: &mut Vec<Statement>) -> Outcome<()> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.statement_inner(statement, out))
    }

    fn statement_inner(&mut self, statement: &tree::Statement, out: &mut Vec<Statement>) -> Outcome<()> {
        let place = &statement.span;
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Block(block) => self.block(block, out)?,
            StatementKind::Expression(expression) => self.effect(expression, out)?,
            StatementKind::If { condition, then, otherwise } => {
                let test = self.test(condition, out)?;
                match test.known() {
                    Some(0) => {
                        if let Some(otherwise) = otherwise {
                            self.statement(otherwise, out)?;
                        }
                    }
                    Some(_) => self.statement(then, out)?,
                    None => {
                        let yes = self.nested(then)?;
                        let no = match otherwise {
                            Some(otherwise) => self.nested(otherwise)?,
                            None => Vec::new(),
                        };
                        out.push(Statement::If(test.expression, yes, no));
                    }
                }
            }
            StatementKind::While { condition, body } => {
                let test = self.repeated_test(condition)?;
                if test.known() == Some(0) {
                    return Ok(());
                }
                let body = self.nested(body)?;
                out.push(Statement::While(test.expression, body, place.clone()));
            }
            StatementKind::DoWhile { body, condition } => {
                // An extra cell marks the first iteration.
                let first = self.allocate("first round", &Type::Bool, place)?;
                let set = |value| Statement::Assign {
                    target: Cells::fixed(crate::network::Space::Local, first.base),
                    value: Expression::Constant(value),
                    place: place.clone(),
                };
                out.push(set(1));
                let mut round = vec![set(0)];
                self.statement(body, &mut round)?;
                let again = self.repeated_test(condition)?;
                let test = fold::binary(Binary::Or, self.read(&first), again, place);
                out.push(Statement::While(test.expression, round, place.clone()));
            }
            StatementKind::For { initial, condition, step, body } => {
                for expression in initial {
                    self.effect(expression, out)?;
                }
                let test = self.repeated_test(condition)?;
                let mut round = self.nested(body)?;
                for expression in step {
                    self.effect(expression, &mut round)?;
                }
                out.push(Statement::While(test.expression, round, place.clone()));
            }
            StatementKind::Iterate { variable, ty, body } => {
                let (domain, low, high) = self.domain(ty)?;
                let iteration = self.within(|this| {
                    let mut lvalue = this.allocate(&variable.name, &domain, &variable.span)?;
                    lvalue.read_only = true;
                    let local = lvalue.base;
                    this.declare(variable, Entity::Stored { lvalue, computable: false })?;
                    Ok(Statement::For { local, low, high, body: this.nested(body)? })
                })?;
                out.push(iteration);
            }
            StatementKind::Return(value) => self.return_value(value.as_ref(), place, out)?,
            StatementKind::Assert(condition) => {
                let test = self.truth(condition)?;
                out.push(Statement::Assert(test.expression, place.clone()));
            }
        }
        Ok(())
    }

    /// A condition that is evaluated once: everything before the last comma is executed first.
    fn test(&mut self, condition: &[tree::Expression], out: &mut Vec<Statement>) -> Outcome<Value> {
        let Some((last, before)) = condition.split_last() else { return Ok(Value::bool(true)) };
        for expression in before {
            self.effect(expression, out)?;
        }
        self.truth(last)
    }

    /// A condition that is evaluated in every iteration.
    fn repeated_test(&mut self, condition: &[tree::Expression]) -> Outcome<Value> {
        let Some((last, before)) = condition.split_last() else { return Ok(Value::bool(true)) };
        let mut firsts = Vec::new();
        for expression in before {
            firsts.push(self.value(expression)?.expression);
        }
        let mut test = self.truth(last)?;
        while let Some(first) = firsts.pop() {
            test =
                Value { ty: test.ty, expression: Expression::Sequence(Box::new([first, test.expression])) };
        }
        Ok(test)
    }

    fn return_value(
        &mut self,
        value: Option<&tree::Expression>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        let result = self.result.clone();
        match (result, value) {
            (Type::Void, None) => out.push(Statement::Return(None)),
            (Type::Void, Some(value)) => {
                return Err(Diagnostic::error("this function has no result")
                    .at(value.span.clone(), "but a value is returned"));
            }
            (_, None) => {
                return Err(Diagnostic::error("this function must return a value").at(place.clone(), ""));
            }
            (result, Some(value)) => {
                if let Type::Real(_) = result {
                    out.extend(self.ignored(value)?);
                    out.push(Statement::Return(None));
                    return Ok(());
                }
                if let Some(target) = self.out.clone() {
                    self.copy(&target, value, out)?;
                    out.push(Statement::Return(None));
                    return Ok(());
                }
                let returned = self.value(value)?;
                let expression = checked_value(&result, returned, &value.span)?;
                out.push(Statement::Return(Some(expression)));
            }
        }
        Ok(())
    }

    fn local_declaration(
        &mut self,
        declaration: &tree::Declaration,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        match declaration {
            tree::Declaration::Typedef(typedef) => self.typedef(typedef),
            tree::Declaration::Variables(group) => {
                let shared = self.declared(&group.ty, &[])?;
                for variable in &group.variables {
                    let declared =
                        self.with_dimensions(shared.clone(), &variable.dimensions, &variable.span)?;
                    if declared.ty.class() != Class::Data || declared.ty == Type::Void {
                        return Err(Diagnostic::error(
                            "local variables are integers, truth values, arrays or structs",
                        )
                        .at(variable.name.span.clone(), format!("this is {}", declared.ty.describe())));
                    }
                    if declared.constant
                        && let Some(initial) = &variable.initial
                        && let Ok(values) = self.initial(&declared.ty, initial)
                    {
                        let lvalue = Lvalue::constant(declared.ty, values);
                        self.declare(&variable.name, Entity::Stored { lvalue, computable: true })?;
                        continue;
                    }
                    let mut lvalue = self.allocate(&variable.name.name, &declared.ty, &variable.span)?;
                    self.initialise(&lvalue, variable.initial.as_ref(), &variable.span, out)?;
                    lvalue.read_only = declared.constant;
                    self.declare(&variable.name, Entity::Stored { lvalue, computable: false })?;
                }
                Ok(())
            }
            tree::Declaration::Function(function) => {
                Err(Diagnostic::error("functions cannot be declared within functions")
                    .at(function.name.span.clone(), ""))
            }
            tree::Declaration::ChannelPriority(priority) => {
                Err(Diagnostic::error("priorities of channels are declared globally")
                    .at(priority.span.clone(), ""))
            }
        }
    }

    /// Initialises a local variable each time its block is entered.
    fn initialise(
        &mut self,
        lvalue: &Lvalue,
        initial: Option<&tree::Initializer>,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        match initial {
            Some(tree::Initializer::Value(value)) if matches!(lvalue.ty, Type::Real(_)) => {
                out.extend(self.ignored(value)?);
            }
            Some(tree::Initializer::Value(value)) if lvalue.ty.range().is_none() => {
                self.copy(lvalue, value, out)?;
            }
            Some(tree::Initializer::Value(value)) => {
                let initial = self.value(value)?;
                let expression = checked_value(&lvalue.ty, initial, &value.span)?;
                out.extend(assignment(lvalue, expression, place));
            }
            Some(tree::Initializer::List { items, span }) => {
                for (ty, skip, item) in parts(&lvalue.ty, items, span)? {
                    self.initialise(&lvalue.part(&ty, skip), Some(item), place, out)?;
                }
            }
            None => {
                for part in lvalue.each() {
                    let value = part.ty.default_value();
                    out.extend(assignment(&part, Expression::Constant(value), place));
                }
            }
        }
        Ok(())
    }

    /// Lowers an expression for its effect.
    pub(crate) fn effect(&mut self, expression: &tree::Expression, out: &mut Vec<Statement>) -> Outcome<()> {
        let place = &expression.span;
        match &expression.kind {
            ExpressionKind::Assign(_, target, value) if self.is_real_target(target) => {
                self.note_cost(target);
                out.extend(self.ignored(target)?);
                out.extend(self.ignored(value)?);
                Ok(())
            }
            ExpressionKind::Step(_, target) if self.is_real_target(target) => {
                self.note_cost(target);
                out.extend(self.ignored(target)?);
                Ok(())
            }
            ExpressionKind::Assign(None, target, value) => {
                let lvalue = self.target(target)?;
                match (lvalue.ty.class(), lvalue.ty.range()) {
                    (Class::Clock, _) => self.assign_clock(&lvalue, value, place, out),
                    (Class::Data, None) => self.copy(&lvalue, value, out),
                    (Class::Data, Some(_)) => {
                        let given = self.value(value)?;
                        let value = checked_value(&lvalue.ty, given, &value.span)?;
                        out.extend(assignment(&lvalue, value, place));
                        Ok(())
                    }
                    (Class::Channel, _) => {
                        Err(Diagnostic::error("channels cannot be assigned").at(place.clone(), ""))
                    }
                }
            }
            ExpressionKind::Step(step, target) => {
                // The value is unused, so both kinds are the same.
                let step = match step {
                    tree::Step::PostIncrement => tree::Step::PreIncrement,
                    tree::Step::PostDecrement => tree::Step::PreDecrement,
                    other => *other,
                };
                let value = self.step_value(step, target, place)?;
                out.push(as_statement(value.expression));
                Ok(())
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                let test = self.truth(condition)?;
                match test.known() {
                    Some(0) => self.effect(no, out),
                    Some(_) => self.effect(yes, out),
                    None => {
                        let (mut first, mut second) = (Vec::new(), Vec::new());
                        self.effect(yes, &mut first)?;
                        self.effect(no, &mut second)?;
                        out.push(Statement::If(test.expression, first, second));
                        Ok(())
                    }
                }
            }
            _ => match self.operand(expression)? {
                Operand::Value(value) => {
                    if !matches!(value.expression, Expression::Constant(_)) {
                        out.push(as_statement(value.expression));
                    }
                    Ok(())
                }
                Operand::Result(first, _) => {
                    out.push(Statement::Evaluate(first));
                    Ok(())
                }
                Operand::Real { effect, .. } => {
                    out.extend(effect.map(Statement::Evaluate));
                    Ok(())
                }
                other => {
                    let value = self.value_of(other, place)?;
                    out.push(Statement::Evaluate(value.expression));
                    Ok(())
                }
            },
        }
    }

    fn note_cost(&mut self, target: &tree::Expression) {
        if let Ok(Operand::Lvalue(Lvalue { ty: Type::Real(Real::Cost), .. })) = self.operand(target) {
            self.warn_about(Real::Cost, &target.span);
        }
    }

    /// An expression that can be assigned.
    fn target(&mut self, target: &tree::Expression) -> Outcome<Lvalue> {
        let place = &target.span;
        let Operand::Lvalue(lvalue) = self.operand(target)? else {
            return Err(Diagnostic::error("only variables can be assigned")
                .at(place.clone(), "this is not a variable"));
        };
        if lvalue.read_only {
            return Err(
                Diagnostic::error("a constant cannot be assigned").at(place.clone(), "this keeps its value")
            );
        }
        if lvalue.memory != Memory::Local {
            let word = match self.purpose {
                Purpose::Action => {
                    self.effects = true;
                    return Ok(lvalue);
                }
                Purpose::Pure(word) => word,
                Purpose::Constant => "a constant",
                Purpose::Query => "a query",
            };
            return Err(Diagnostic::error(format!("{word} must not change anything"))
                .at(place.clone(), "this is assigned")
                .help("assign variables in updates; compare with =="));
        }
        Ok(lvalue)
    }

    fn assign_clock(
        &mut self,
        clock: &Lvalue,
        value: &tree::Expression,
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        if clock.ty != Type::Clock {
            return Err(Diagnostic::error("clocks are assigned one by one")
                .at(place.clone(), format!("this is {}", clock.ty.describe())));
        }
        // `x = y = 0` assigns y first.
        let mut inner = value;
        if let ExpressionKind::Assign(None, _, last) = &value.kind {
            self.effect(value, out)?;
            inner = last;
            while let ExpressionKind::Assign(None, _, last) = &inner.kind {
                inner = last;
            }
        }
        let mut operand = self.operand(inner)?;
        if let Some((_, known)) = reals::real(&operand) {
            match known.filter(|&value| value >= 0.0) {
                Some(value) if reals::whole(known).is_some() => {
                    operand = Operand::Value(Value::int(value as i32))
                }
                Some(value) => {
                    match self.exact_number(value, reals::Use::Assigned, &inner.span) {
                        Ok(number) if self.state.parts.is_some() => operand = Operand::Clocks(number),
                        // A clock that nothing depends on need not be exact.
                        _ => {
                            self.set_odd(&clock.clock(), place);
                            return Ok(());
                        }
                    }
                }
                None => {
                    out.extend(self.ignored(inner)?);
                    self.set_odd(&clock.clock(), place);
                    return Ok(());
                }
            }
        }
        let difference = self.difference(operand, &inner.span)?;
        let Some((source, data)) = difference.without_right() else {
            return Err(Diagnostic::error(
                "a clock can be assigned an integer, or another clock plus an integer",
            )
            .at(inner.span.clone(), "this is a difference of clocks"));
        };
        if let (None, Some(value)) = (&source, data.known())
            && value < 0
        {
            let value = i64::from(value) / self.state.parts.map_or(1, |parts| i64::from(parts.get()));
            return Err(Diagnostic::error(format!("a clock cannot be set to {value}"))
                .at(inner.span.clone(), "clocks are never negative"));
        }
        let value = match source {
            None => ClockValue::Constant(data.expression),
            Some(source) => ClockValue::Clock(source, data.expression),
        };
        out.push(Statement::Clock { clock: clock.clock(), value, place: place.clone() });
        Ok(())
    }

    /// Assigns a whole array or struct.
    fn copy(&mut self, target: &Lvalue, value: &tree::Expression, out: &mut Vec<Statement>) -> Outcome<()> {
        let place = &value.span;
        let source = match &value.kind {
            // `a = b = c` assigns b first.
            ExpressionKind::Assign(None, inner, _) => {
                self.effect(value, out)?;
                self.operand(inner)?
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                let test = self.truth(condition)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                self.copy(target, yes, &mut first)?;
                self.copy(target, no, &mut second)?;
                out.push(Statement::If(test.expression, first, second));
                return Ok(());
            }
            _ => self.operand(value)?,
        };
        let source = match source {
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Result(first, lvalue) => {
                out.push(Statement::Evaluate(first));
                lvalue
            }
            other => {
                let value = self.value_of(other, place)?;
                return Err(Diagnostic::error(format!("the value must be {}", target.ty.describe()))
                    .at(place.clone(), format!("this is {}", value.ty.describe())));
            }
        };
        if !target.ty.fits(&source.ty) {
            return Err(Diagnostic::error(format!("the value must be {}", target.ty.describe()))
                .at(place.clone(), format!("this is {}", source.ty.describe())));
        }
        self.reads |= source.memory == Memory::Global;
        match (target.cells(), source.cells()) {
            (Some(to), Some(from)) => out.push(Statement::Copy {
                target: to,
                source: from,
                count: target.ty.cells(),
                place: place.clone(),
            }),
            _ => {
                if !repeatable(target.offset.as_ref()) || !repeatable(source.offset.as_ref()) {
                    return Err(
                        Diagnostic::error("the index must not have effects here").at(place.clone(), "")
                    );
                }
                for (to, from) in target.each().iter().zip(&source.each()) {
                    let value = self.read(from).expression;
                    out.extend(assignment(to, value, place));
                }
            }
        }
        Ok(())
    }

    /// `x = e` or `x += e` as a value.
    pub(crate) fn assign_value(
        &mut self,
        symbol: Option<tree::Binary>,
        target: &tree::Expression,
        value: &tree::Expression,
        place: &Place,
    ) -> Outcome<Value> {
        let lvalue = self.target(target)?;
        self.single(&lvalue, place)?;
        let Some(symbol) = symbol else {
            let given = self.value(value)?;
            let given = checked_value(&lvalue.ty, given, &value.span)?;
            return Ok(assign_value_to(&lvalue, given, place));
        };
        let (first, lvalue) = self.evaluated_once(lvalue, place)?;
        let before = numeric(self.read(&lvalue), &target.span)?;
        let by = self.number(value)?;
        let after = fold::binary(operator(symbol), before, by, place);
        let after = checked_value(&lvalue.ty, after, place)?;
        Ok(preceded(first, assign_value_to(&lvalue, after, place)))
    }

    /// `x++` and the like, as a value.
    pub(crate) fn step_value(
        &mut self,
        step: tree::Step,
        target: &tree::Expression,
        place: &Place,
    ) -> Outcome<Value> {
        let lvalue = self.target(target)?;
        self.single(&lvalue, place)?;
        let (first, lvalue) = self.evaluated_once(lvalue, place)?;
        let (operator, post) = match step {
            tree::Step::PreIncrement => (Binary::Add, false),
            tree::Step::PostIncrement => (Binary::Add, true),
            tree::Step::PreDecrement => (Binary::Subtract, false),
            tree::Step::PostDecrement => (Binary::Subtract, true),
        };
        let before = numeric(self.read(&lvalue), &target.span)?;
        if !post {
            let after = fold::binary(operator, before, Value::int(1), place);
            let after = checked_value(&lvalue.ty, after, place)?;
            return Ok(preceded(first, assign_value_to(&lvalue, after, place)));
        }
        // A separate cell keeps the old value.
        let kept = self.allocate("before", &lvalue.ty, place)?;
        let keep = assign_value_to(&kept, before.expression, place);
        let old = self.read(&kept);
        let after = fold::binary(operator, old.clone(), Value::int(1), place);
        let after = checked_value(&lvalue.ty, after, place)?;
        let change = assign_value_to(&lvalue, after, place);
        let rest = Expression::Sequence(Box::new([change.expression, old.expression]));
        let whole = Expression::Sequence(Box::new([keep.expression, rest]));
        Ok(preceded(first, Value { ty: old.ty, expression: whole }))
    }

    fn single(&self, lvalue: &Lvalue, place: &Place) -> Outcome<()> {
        if lvalue.ty.range().is_none() {
            return Err(Diagnostic::error("this assignment has no value")
                .at(place.clone(), format!("it assigns {}", lvalue.ty.describe()))
                .help("assign it in a separate statement"));
        }
        Ok(())
    }

    /// Ensures that an index with effects is evaluated only once.
    fn evaluated_once(&mut self, lvalue: Lvalue, place: &Place) -> Outcome<(Option<Expression>, Lvalue)> {
        if repeatable(lvalue.offset.as_ref()) {
            return Ok((None, lvalue));
        }
        let mut lvalue = lvalue;
        let Some(offset) = lvalue.offset.take() else { return Ok((None, lvalue)) };
        let kept = self.allocate("index", &ANY_INT, place)?;
        let keep = assign_value_to(&kept, offset, place);
        lvalue.offset = Some(self.read(&kept).expression);
        Ok((Some(keep.expression), lvalue))
    }
}

/// The expression stored when a value is assigned to a cell of this type.
pub(crate) fn checked_value(ty: &Type, value: Value, place: &Place) -> Outcome<Expression> {
    if !ty.fits(&value.ty) {
        return Err(Diagnostic::error(format!("the value must be {}", ty.describe()))
            .at(place.clone(), format!("this is {}", value.ty.describe())));
    }
    Ok(if *ty == Type::Bool { value.normalised(place) } else { value.expression })
}

fn assignment(target: &Lvalue, value: Expression, place: &Place) -> Option<Statement> {
    target.cells().map(|target| Statement::Assign { target, value, place: place.clone() })
}

fn assign_value_to(target: &Lvalue, value: Expression, place: &Place) -> Value {
    let expression = match target.cells() {
        Some(cells) => Expression::Assign { target: cells, value: Box::new(value), place: place.clone() },
        None => value,
    };
    Value { ty: target.ty.clone(), expression }
}

fn preceded(first: Option<Expression>, value: Value) -> Value {
    match first {
        None => value,
        Some(first) => {
            Value { ty: value.ty, expression: Expression::Sequence(Box::new([first, value.expression])) }
        }
    }
}

/// Turns an assignment into a statement.
fn as_statement(expression: Expression) -> Statement {
    match expression {
        Expression::Assign { target, value, place } => Statement::Assign { target, value: *value, place },
        other => Statement::Evaluate(other),
    }
}
