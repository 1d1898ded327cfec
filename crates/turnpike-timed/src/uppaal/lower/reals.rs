//! Numbers that are not computed: `double`, hybrid clocks, the cost of priced automata, and clocks that run at other speeds than 0 and 1.
//!
//! They are read where nothing depends on them. A real variable has no cells, so it cannot influence a state; its assignments are kept only for
//! what else they do. Whatever would turn one into an integer, a truth value or a bound of a clock is refused by name, unless its value
//! is a constant.

use turnpike_model::Diagnostic;

use super::expressions::Operand;
use super::fold::{self, Value, has_effects};
use super::types::{Real, Type};
use super::{Entity, FunctionKey, Lowerer, Lvalue, Outcome};
use crate::network::{Binary, ClockCell, ClockValue, Expression, Place, Statement, Unary};
use crate::uppaal::syntax::tree::{self, ExpressionKind, StatementKind};

/// How the refusals of this module go on.
const WHERE: &str = "only supported where nothing depends on";

/// Clocks that zones cannot hold.
const ODD: &str = "clocks with a rate other than 0 or 1, or with fractions,";

/// A real value that something would depend on.
pub(crate) fn decides(kind: Real, place: &Place) -> Diagnostic {
    let (message, note) = match kind {
        Real::Double => (format!("`double` is {WHERE} it"), "this is a `double`"),
        Real::Hybrid => (format!("hybrid clocks are {WHERE} them"), "this is a hybrid clock"),
        Real::Cost => (format!("`cost` is {WHERE} it"), "this is the cost"),
    };
    Diagnostic::error(message).at(place.clone(), note).help(
        "such values are not computed: they can be assigned, be rates and weights, and be compared when they are constants",
    )
}

/// Whether an error is about a real value that something depends on.
pub(crate) fn is_about_reals(error: &Diagnostic) -> bool {
    error.message.contains(WHERE)
}

/// The kind of real value that an operand is, and its value when that is known.
pub(crate) fn real(operand: &Operand) -> Option<(Real, Option<f64>)> {
    match operand {
        Operand::Real { known, .. } => Some((Real::Double, *known)),
        Operand::Lvalue(Lvalue { ty: Type::Real(kind), .. })
        | Operand::Result(_, Lvalue { ty: Type::Real(kind), .. }) => Some((*kind, None)),
        _ => None,
    }
}

/// A number that is known, whether it is real or not.
pub(crate) fn known(operand: &Operand) -> Option<f64> {
    match operand {
        Operand::Value(value) => value.known().map(f64::from),
        Operand::Lvalue(Lvalue { ty: Type::Int { .. } | Type::Bool, memory, base, offset: None, .. }) => {
            match memory {
                super::Memory::Constant(values) => values.get(*base as usize).copied().map(f64::from),
                _ => None,
            }
        }
        other => real(other).and_then(|(_, known)| known),
    }
}

/// An integer that is written as a real number.
pub(crate) fn whole(known: Option<f64>) -> Option<i32> {
    known
        .filter(|value| value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(value))
        .map(|value| value as i32)
}

impl Lowerer<'_> {
    /// An operator with a real operand, if there is one.
    pub(crate) fn real_binary(
        &mut self,
        operator: Binary,
        (left, left_place): (&Operand, &Place),
        (right, right_place): (&Operand, &Place),
    ) -> Outcome<Option<Operand>> {
        let Some((kind, place)) = real(left)
            .map(|(kind, _)| (kind, left_place))
            .or_else(|| real(right).map(|(kind, _)| (kind, right_place)))
        else {
            return Ok(None);
        };
        let both = known(left).zip(known(right));
        if fold::is_truth(operator) {
            let Some((left, right)) = both else { return Err(decides(kind, place)) };
            let holds = match operator {
                Binary::Less => left < right,
                Binary::LessEqual => left <= right,
                Binary::Equal => left == right,
                Binary::NotEqual => left != right,
                Binary::GreaterEqual => left >= right,
                Binary::Greater => left > right,
                _ => return Err(decides(kind, place)),
            };
            return Ok(Some(Operand::Value(Value::bool(holds))));
        }
        let value = both.and_then(|(left, right)| {
            Some(match operator {
                Binary::Add => left + right,
                Binary::Subtract => left - right,
                Binary::Multiply => left * right,
                Binary::Divide => left / right,
                Binary::Minimum => left.min(right),
                Binary::Maximum => left.max(right),
                _ => return None,
            })
        });
        Ok(Some(Operand::Real { known: value.filter(|value| value.is_finite()), effect: None }))
    }

    /// What an expression does besides having a value that nobody needs.
    pub(crate) fn ignored(&mut self, expression: &tree::Expression) -> Outcome<Vec<Statement>> {
        let mut out = Vec::new();
        self.ignore(expression, false, &mut out)?;
        Ok(out)
    }

    /// `perhaps`: whether it depends on other values that the expression is evaluated at all.
    fn ignore(
        &mut self,
        expression: &tree::Expression,
        perhaps: bool,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        let certain = |done: &[Statement]| {
            if perhaps && !done.is_empty() {
                return Err(Diagnostic::error(
                    "what a `double` is computed from must not change anything on a condition",
                )
                .at(expression.span.clone(), "this assigns variables")
                .help("make it an assignment of its own"));
            }
            Ok(())
        };
        match &expression.kind {
            ExpressionKind::Name(name) => {
                if self.lookup(name, &expression.span).is_none() {
                    return Err(self.unknown(name, &expression.span, "name", |e| {
                        matches!(e, Entity::Stored { .. } | Entity::Function(..) | Entity::Number(_))
                    }));
                }
                Ok(())
            }
            ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Deadlock => Ok(()),
            ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
                let lazy = matches!(
                    expression.kind,
                    ExpressionKind::Binary(tree::Binary::And | tree::Binary::Or | tree::Binary::Imply, ..)
                );
                self.ignore(left, perhaps, out)?;
                self.ignore(right, perhaps || lazy, out)
            }
            ExpressionKind::Field(inner, _) | ExpressionKind::Unary(_, inner) | ExpressionKind::Rate(inner) => {
                self.ignore(inner, perhaps, out)
            }
            ExpressionKind::Conditional(test, yes, no) => {
                self.ignore(test, perhaps, out)?;
                self.ignore(yes, true, out)?;
                self.ignore(no, true, out)
            }
            // The variable that is bound is not worth declaring: without effects there is nothing to look at.
            ExpressionKind::Quantified(_, _, _, body) if !may_act(body) => Ok(()),
            ExpressionKind::Quantified(..) => Err(Diagnostic::error(
                "what a `double` is computed from must not call functions or assign variables under a quantifier",
            )
            .at(expression.span.clone(), "")),
            ExpressionKind::Call(callee, arguments) => {
                let name = match &callee.kind {
                    ExpressionKind::Name(name) => name.as_str(),
                    _ => "",
                };
                if self.lookup(name, &callee.span).is_none() && is_predeclared(name) {
                    for argument in arguments {
                        self.ignore(argument, perhaps, out)?;
                    }
                    return Ok(());
                }
                let mut done = Vec::new();
                match self.call(callee, arguments, &expression.span)? {
                    // Calls without effects on variables are not worth making.
                    Operand::Value(value) if self.changes(&value.expression) => {
                        done.push(Statement::Evaluate(value.expression));
                    }
                    Operand::Real { effect: Some(effect), .. } => done.push(Statement::Evaluate(effect)),
                    Operand::Result(first, _) if self.changes(&first) => {
                        done.push(Statement::Evaluate(first));
                    }
                    _ => {}
                }
                certain(&done)?;
                out.extend(done);
                Ok(())
            }
            ExpressionKind::Assign(..) | ExpressionKind::Step(..) => {
                let mut done = Vec::new();
                self.effect(expression, &mut done)?;
                certain(&done)?;
                out.extend(done);
                Ok(())
            }
        }
    }

    /// Whether a call changes variables or clocks: a function that was lowered without effects does not.
    fn changes(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Call { function, arguments, .. } => {
                arguments.iter().any(has_effects)
                    || !self
                        .state
                        .instances
                        .values()
                        .any(|instance| instance.id == *function && !instance.effects)
            }
            other => has_effects(other),
        }
    }

    /// Whether something that is assigned is real, and so is not computed.
    pub(crate) fn is_real_target(&mut self, target: &tree::Expression) -> bool {
        let reads = self.reads;
        let found = match &target.kind {
            ExpressionKind::Name(_) | ExpressionKind::Index(..) | ExpressionKind::Field(..) => {
                self.operand(target).is_ok_and(|operand| real(&operand).is_some())
            }
            _ => false,
        };
        self.reads = reads;
        found
    }

    /// `h' == e` for something that is not computed, or for a clock at a speed that zones do not know: it always holds, and the clock is of no
    /// use for anything else. `None` when this is no such rate.
    pub(crate) fn ignored_rate(
        &mut self,
        left: &tree::Expression,
        right: &tree::Expression,
        place: &Place,
    ) -> Outcome<Option<Operand>> {
        let (clock, speed) = match (&left.kind, &right.kind) {
            (ExpressionKind::Rate(clock), _) => (clock, right),
            (_, ExpressionKind::Rate(clock)) => (clock, left),
            _ => return Ok(None),
        };
        let operand = self.operand(clock)?;
        let holds = Operand::Value(Value::bool(true));
        if let Some((kind, _)) = real(&operand) {
            self.ignored(speed)?;
            if kind == Real::Cost {
                self.warn_about_cost(place);
            }
            return Ok(Some(holds));
        }
        let Operand::Lvalue(lvalue @ Lvalue { ty: Type::Clock, .. }) = operand else { return Ok(None) };
        let speed_place = &speed.span;
        let odd = match self.operand(speed) {
            Ok(operand) if real(&operand).is_some() => !matches!(whole(known(&operand)), Some(0 | 1)),
            Ok(Operand::Rate(_) | Operand::Clocks(_)) => true,
            Ok(Operand::Lvalue(Lvalue { ty: Type::Clock, .. })) => true,
            Ok(operand) => {
                let value = self.value_of(operand, speed_place)?;
                value.ty.range().is_none_or(|(low, high)| low < 0 || high > 1)
            }
            Err(error) if is_about_reals(&error) => true,
            Err(error) => return Err(error),
        };
        if !odd {
            return Ok(None);
        }
        self.set_odd(&lvalue.clock(), place);
        Ok(Some(holds))
    }

    /// From here on nothing may depend on a clock.
    pub(crate) fn set_odd(&mut self, clock: &ClockCell, place: &Place) {
        for clock in clock.base.0..clock.base.0 + clock.count {
            self.state.odd_clocks.entry(clock).or_insert_with(|| place.clone());
        }
    }

    fn warn_about_cost(&mut self, place: &Place) {
        self.warn_once(
            Diagnostic::warning("costs are ignored")
                .at(place.clone(), "a cost")
                .help("what is reachable does not depend on them; the cheapest way is not looked for"),
        );
    }

    /// Tells something once, wherever it occurs.
    pub(crate) fn warn_once(&mut self, warning: Diagnostic) {
        if !self.warnings.iter().any(|known| known.message == warning.message) {
            self.warnings.push(warning);
        }
    }

    /// Tells that variables are read but not computed.
    pub(crate) fn warn_about(&mut self, kind: Real, place: &Place) {
        let (what, note) = match kind {
            Real::Double => ("`double` values are ignored", "not computed"),
            Real::Hybrid => ("hybrid clocks are ignored", "does not run"),
            Real::Cost => return self.warn_about_cost(place),
        };
        self.warn_once(
            Diagnostic::warning(what).at(place.clone(), note).help(
                "nothing that is reachable depends on them: where something would, the model is refused",
            ),
        );
    }

    /// Refuses models in which something depends on a clock that runs at a speed of its own, and tells of the others.
    pub(crate) fn check_odd_clocks(&mut self) {
        if self.state.odd_clocks.is_empty() {
            return;
        }
        let mut used: Option<u32> = None;
        let odd = &self.state.odd_clocks;
        let mut look = |cell: &ClockCell| {
            used = used.or((cell.base.0..cell.base.0 + cell.count).find(|clock| odd.contains_key(clock)));
        };
        for process in &self.network.processes {
            let invariants = process.locations.iter().map(|location| &location.invariant);
            for constraint in invariants.chain(process.edges.iter().map(|edge| &edge.guard)) {
                for atom in &constraint.clocks {
                    atom.left.iter().chain(&atom.right).for_each(&mut look);
                }
            }
            for edge in &process.edges {
                copied_clocks(&edge.update, &mut look);
            }
        }
        for function in &self.network.functions {
            copied_clocks(&function.body, &mut look);
        }
        let Some(clock) = used else {
            if let Some((&clock, place)) = odd.iter().next() {
                let name = self.network.clocks[clock as usize].clone();
                let place = place.clone();
                self.warn_once(
                    Diagnostic::warning(format!("the clock `{name}` is ignored"))
                        .at(place, "it runs at a speed of its own, or is given a fraction")
                        .help("nothing that is reachable depends on it"),
                );
            }
            return;
        };
        let name = &self.network.clocks[clock as usize];
        let error = Diagnostic::error(format!("{ODD} are {WHERE} them"))
            .at(odd[&clock].clone(), format!("`{name}` is such a clock"))
            .help(format!("`{name}` is compared or copied elsewhere in the model"));
        self.note(error);
    }

    /// Refuses a query about a clock that is not computed.
    pub(crate) fn check_asked_clock(&self, cell: &ClockCell, place: &Place) -> Outcome<()> {
        let asked =
            (cell.base.0..cell.base.0 + cell.count).find(|clock| self.state.odd_clocks.contains_key(clock));
        match asked {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(format!("{ODD} are {WHERE} them"))
                .at(place.clone(), "this clock is not computed")),
        }
    }

    /// A function that every model may use, if there is one of this name.
    pub(crate) fn predeclared_function(
        &mut self,
        name: &str,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Option<Operand>> {
        if !is_predeclared(name) {
            return Ok(None);
        }
        if name == "abs"
            && let [argument] = arguments
        {
            let operand = self.operand(argument)?;
            if real(&operand).is_none() {
                let value = self.value_of(operand, &argument.span)?;
                let value = super::expressions::numeric(value, &argument.span)?;
                if has_effects(&value.expression) {
                    return Err(Diagnostic::error("the argument of `abs` must not have effects")
                        .at(argument.span.clone(), "")
                        .help("assign it to a variable first"));
                }
                let minus = fold::unary(Unary::Minus, value.clone());
                return Ok(Some(Operand::Value(fold::binary(Binary::Maximum, value, minus, place))));
            }
        }
        let mut numbers = Vec::new();
        for argument in arguments {
            let operand = self.operand(argument)?;
            numbers.push(known(&operand));
        }
        let result = match numbers.as_slice() {
            [Some(one)] => computed(name, *one),
            [Some(one), Some(other)] => match name {
                "pow" => Some(one.powf(*other)),
                "fmod" => Some(one % other),
                "fmax" => Some(one.max(*other)),
                "fmin" => Some(one.min(*other)),
                "hypot" => Some(one.hypot(*other)),
                _ => None,
            },
            _ => None,
        };
        let result = result.filter(|value| value.is_finite());
        if name == "fint" {
            return match whole(result) {
                Some(value) => Ok(Some(Operand::Value(Value::int(value)))),
                None => Err(decides(Real::Double, place)),
            };
        }
        Ok(Some(Operand::Real { known: result, effect: None }))
    }

    /// Whether a function does nothing but compute with real values: it is not worth executing, whatever it depends on.
    pub(crate) fn is_harmless(&mut self, key: FunctionKey, function: &tree::Function, scope: usize) -> bool {
        if let Some(&known) = self.harmless.get(&(key, scope)) {
            return known;
        }
        let harmless = self.looks_harmless(function, scope);
        self.harmless.insert((key, scope), harmless);
        harmless
    }

    fn looks_harmless(&mut self, function: &tree::Function, scope: usize) -> bool {
        let mut reader = Harmless { names: vec![Vec::new()], reals: false, harmless: true };
        let real_result = self.written_in(scope, |this| {
            let result = this.declared(&function.result, &[]);
            for parameter in &function.parameters {
                let real = this
                    .declared(&parameter.ty, &parameter.dimensions)
                    .is_ok_and(|declared| matches!(declared.ty, Type::Real(_)));
                // What a reference stands for belongs to somebody else.
                reader.declare(&parameter.name.name, !parameter.reference || real);
                reader.reals |= real;
            }
            let (real, void) = match result {
                Ok(declared) => (matches!(declared.ty, Type::Real(_)), declared.ty == Type::Void),
                Err(_) => (false, false),
            };
            if !real && !void {
                reader.harmless = false;
                return real;
            }
            reader.block(this, &function.body);
            real
        });
        reader.harmless && (real_result || reader.reals)
    }
}

/// Looks for anything in a function that others could notice.
struct Harmless {
    /// Names by block, the innermost last: whether they may be assigned.
    names: Vec<Vec<(String, bool)>>,
    /// Whether real values are assigned.
    reals: bool,
    harmless: bool,
}

impl Harmless {
    fn declare(&mut self, name: &str, own: bool) {
        if let Some(block) = self.names.last_mut() {
            block.push((name.to_owned(), own));
        }
    }

    fn block(&mut self, lowerer: &mut Lowerer<'_>, block: &tree::Block) {
        self.names.push(Vec::new());
        for declaration in &block.declarations {
            match declaration {
                tree::Declaration::Variables(group) => {
                    for variable in &group.variables {
                        if let Some(tree::Initializer::Value(value)) = &variable.initial {
                            self.expression(lowerer, value);
                        }
                        self.declare(&variable.name.name, true);
                    }
                }
                tree::Declaration::Typedef(_) => {}
                _ => self.harmless = false,
            }
        }
        for statement in &block.statements {
            self.statement(lowerer, statement);
        }
        self.names.pop();
    }

    fn statement(&mut self, lowerer: &mut Lowerer<'_>, statement: &tree::Statement) {
        let mut all = |this: &mut Self, list: &[tree::Expression]| {
            for expression in list {
                this.expression(lowerer, expression);
            }
        };
        match &statement.kind {
            StatementKind::Empty | StatementKind::Return(None) => {}
            StatementKind::Block(block) => self.block(lowerer, block),
            StatementKind::Expression(expression) | StatementKind::Return(Some(expression)) => {
                self.expression(lowerer, expression);
            }
            // A promise is something that others notice.
            StatementKind::Assert(_) => self.harmless = false,
            StatementKind::If { condition, then, otherwise } => {
                all(self, condition);
                self.statement(lowerer, then);
                if let Some(otherwise) = otherwise {
                    self.statement(lowerer, otherwise);
                }
            }
            StatementKind::While { condition, body } | StatementKind::DoWhile { body, condition } => {
                all(self, condition);
                self.statement(lowerer, body);
            }
            StatementKind::For { initial, condition, step, body } => {
                all(self, initial);
                all(self, condition);
                all(self, step);
                self.statement(lowerer, body);
            }
            StatementKind::Iterate { variable, body, .. } => {
                self.names.push(vec![(variable.name.clone(), true)]);
                self.statement(lowerer, body);
                self.names.pop();
            }
        }
    }

    fn assigned(&mut self, lowerer: &mut Lowerer<'_>, target: &tree::Expression) {
        let mut root = target;
        while let ExpressionKind::Index(inner, _) | ExpressionKind::Field(inner, _) = &root.kind {
            root = inner;
        }
        let ExpressionKind::Name(name) = &root.kind else {
            self.harmless = false;
            return;
        };
        if let Some((_, own)) = self.names.iter().rev().flatten().find(|(known, _)| known == name) {
            self.harmless &= own;
            return;
        }
        match lowerer.lookup(name, &root.span) {
            Some(Entity::Stored { lvalue, .. }) if lvalue.ty.is_all_real() => self.reals = true,
            _ => self.harmless = false,
        }
    }

    fn expression(&mut self, lowerer: &mut Lowerer<'_>, expression: &tree::Expression) {
        if !self.harmless {
            return;
        }
        match &expression.kind {
            ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Deadlock => {}
            ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
                self.expression(lowerer, left);
                self.expression(lowerer, right);
            }
            ExpressionKind::Field(inner, _)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Quantified(_, _, _, inner)
            | ExpressionKind::Rate(inner) => self.expression(lowerer, inner),
            ExpressionKind::Conditional(test, yes, no) => {
                self.expression(lowerer, test);
                self.expression(lowerer, yes);
                self.expression(lowerer, no);
            }
            ExpressionKind::Assign(_, target, value) => {
                self.assigned(lowerer, target);
                self.expression(lowerer, target);
                self.expression(lowerer, value);
            }
            ExpressionKind::Step(_, target) => self.assigned(lowerer, target),
            ExpressionKind::Call(callee, arguments) => {
                for argument in arguments {
                    self.expression(lowerer, argument);
                }
                let ExpressionKind::Name(name) = &callee.kind else {
                    self.harmless = false;
                    return;
                };
                match lowerer.lookup(name, &callee.span) {
                    Some(Entity::Function(key, scope)) => {
                        let Some(function) = lowerer.function(key) else { return };
                        let by_value = function.parameters.iter().all(|parameter| !parameter.reference);
                        self.harmless &= by_value && lowerer.is_pure(key, function, scope);
                    }
                    None => self.harmless &= is_predeclared(name),
                    Some(_) => self.harmless = false,
                }
            }
        }
    }
}

impl Lowerer<'_> {
    /// Whether a function changes nothing, whatever it returns.
    fn is_pure(&mut self, key: FunctionKey, function: &tree::Function, scope: usize) -> bool {
        if let Some(&known) = self.pure.get(&(key, scope)) {
            return known;
        }
        // One that calls itself is refused elsewhere.
        self.pure.insert((key, scope), false);
        let mut reader = Harmless { names: vec![Vec::new()], reals: false, harmless: true };
        self.written_in(scope, |this| {
            for parameter in &function.parameters {
                reader.declare(&parameter.name.name, true);
            }
            reader.block(this, &function.body);
        });
        self.pure.insert((key, scope), reader.harmless);
        reader.harmless
    }
}

/// Whether an expression may do more than have a value.
fn may_act(expression: &tree::Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Integer(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Bool(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Deadlock => false,
        ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
            may_act(left) || may_act(right)
        }
        ExpressionKind::Field(inner, _)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Quantified(_, _, _, inner)
        | ExpressionKind::Rate(inner) => may_act(inner),
        ExpressionKind::Conditional(test, yes, no) => may_act(test) || may_act(yes) || may_act(no),
        ExpressionKind::Call(callee, arguments) => {
            let predeclared = matches!(&callee.kind, ExpressionKind::Name(name) if is_predeclared(name));
            !predeclared || arguments.iter().any(may_act)
        }
        ExpressionKind::Assign(..) | ExpressionKind::Step(..) => true,
    }
}

/// Clocks that others are copies of.
fn copied_clocks(statements: &[Statement], look: &mut impl FnMut(&ClockCell)) {
    for statement in statements {
        match statement {
            Statement::Clock { value: ClockValue::Clock(source, _), .. } => look(source),
            Statement::If(_, yes, no) => {
                copied_clocks(yes, look);
                copied_clocks(no, look);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => copied_clocks(body, look),
            _ => {}
        }
    }
}

/// Functions that every model may call without declaring them.
fn is_predeclared(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "abs",
        "fabs",
        "fmod",
        "remainder",
        "fma",
        "fmax",
        "fmin",
        "fdim",
        "exp",
        "exp2",
        "expm1",
        "ln",
        "log",
        "log10",
        "log2",
        "log1p",
        "pow",
        "sqrt",
        "cbrt",
        "hypot",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
        "tgamma",
        "lgamma",
        "ceil",
        "floor",
        "trunc",
        "round",
        "fint",
        "ldexp",
        "ilogb",
        "logb",
        "nextafter",
        "copysign",
        "signbit",
        "random",
        "random_arcsine",
        "random_beta",
        "random_gamma",
        "random_normal",
        "random_poisson",
        "random_tri",
        "random_weibull",
    ];
    NAMES.contains(&name)
}

fn computed(name: &str, value: f64) -> Option<f64> {
    Some(match name {
        "abs" | "fabs" => value.abs(),
        "exp" => value.exp(),
        "exp2" => value.exp2(),
        "ln" | "log" => value.ln(),
        "log10" => value.log10(),
        "log2" => value.log2(),
        "sqrt" => value.sqrt(),
        "cbrt" => value.cbrt(),
        "sin" => value.sin(),
        "cos" => value.cos(),
        "tan" => value.tan(),
        "ceil" => value.ceil(),
        "floor" => value.floor(),
        "trunc" | "fint" => value.trunc(),
        "round" => value.round(),
        _ => return None,
    })
}
