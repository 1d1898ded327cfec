//! Functions that only compute with real values, which need not be executed.

use super::functions::is_predeclared;
use crate::syntax::uppaal::tree::{self, ExpressionKind, StatementKind};
use crate::typed::types::Type;
use crate::typed::{Checker, Entity, FunctionKey};

impl Checker<'_> {
    /// Whether a function only computes with real values: then it is not executed, whatever it
    /// depends on.
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
                // A reference denotes an object outside the function.
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

    /// Whether a function has no effects, whatever it returns.
    fn is_pure(&mut self, key: FunctionKey, function: &tree::Function, scope: usize) -> bool {
        if let Some(&known) = self.pure.get(&(key, scope)) {
            return known;
        }
        // Recursion is rejected elsewhere.
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

/// Searches a function for observable effects.
struct Harmless {
    /// Names by block, the innermost last, with whether they may be assigned.
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

    fn block(&mut self, checker: &mut Checker<'_>, block: &tree::Block) {
        self.names.push(Vec::new());
        for declaration in &block.declarations {
            match declaration {
                tree::Declaration::Variables(group) => {
                    for variable in &group.variables {
                        if let Some(tree::Initializer::Value(value)) = &variable.initial {
                            self.expression(checker, value);
                        }
                        self.declare(&variable.name.name, true);
                    }
                }
                tree::Declaration::Typedef(_) => {}
                _ => self.harmless = false,
            }
        }
        for statement in &block.statements {
            self.statement(checker, statement);
        }
        self.names.pop();
    }

    fn statement(&mut self, checker: &mut Checker<'_>, statement: &tree::Statement) {
        let mut all = |this: &mut Self, list: &[tree::Expression]| {
            for expression in list {
                this.expression(checker, expression);
            }
        };
        match &statement.kind {
            StatementKind::Empty | StatementKind::Return(None) => {}
            StatementKind::Block(block) => self.block(checker, block),
            StatementKind::Expression(expression) | StatementKind::Return(Some(expression)) => {
                self.expression(checker, expression);
            }
            // An assertion is observable.
            StatementKind::Assert(_) => self.harmless = false,
            StatementKind::If { condition, then, otherwise } => {
                all(self, condition);
                self.statement(checker, then);
                if let Some(otherwise) = otherwise {
                    self.statement(checker, otherwise);
                }
            }
            StatementKind::While { condition, body } | StatementKind::DoWhile { body, condition } => {
                all(self, condition);
                self.statement(checker, body);
            }
            StatementKind::For { initial, condition, step, body } => {
                all(self, initial);
                all(self, condition);
                all(self, step);
                self.statement(checker, body);
            }
            StatementKind::Iterate { variable, body, .. } => {
                self.names.push(vec![(variable.name.clone(), true)]);
                self.statement(checker, body);
                self.names.pop();
            }
        }
    }

    fn visit_target(&mut self, checker: &mut Checker<'_>, target: &tree::Expression) {
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
        match checker.lookup(name, &root.span) {
            Some(Entity::Stored { lvalue, .. }) if lvalue.ty.is_all_real() => self.reals = true,
            _ => self.harmless = false,
        }
    }

    fn expression(&mut self, checker: &mut Checker<'_>, expression: &tree::Expression) {
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
                self.expression(checker, left);
                self.expression(checker, right);
            }
            ExpressionKind::Field(inner, _)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Quantified(_, _, _, inner)
            | ExpressionKind::Rate(inner) => self.expression(checker, inner),
            ExpressionKind::Conditional(test, yes, no) => {
                self.expression(checker, test);
                self.expression(checker, yes);
                self.expression(checker, no);
            }
            ExpressionKind::Assign(_, target, value) => {
                self.visit_target(checker, target);
                self.expression(checker, target);
                self.expression(checker, value);
            }
            ExpressionKind::Step(_, target) => self.visit_target(checker, target),
            ExpressionKind::Call(callee, arguments) => {
                for argument in arguments {
                    self.expression(checker, argument);
                }
                let ExpressionKind::Name(name) = &callee.kind else {
                    self.harmless = false;
                    return;
                };
                match checker.lookup(name, &callee.span) {
                    Some(Entity::Function(key, scope)) => {
                        let Some(function) = checker.function(key) else { return };
                        let by_value = function.parameters.iter().all(|parameter| !parameter.reference);
                        self.harmless &= by_value && checker.is_pure(key, function, scope);
                    }
                    None => self.harmless &= is_predeclared(name),
                    Some(_) => self.harmless = false,
                }
            }
        }
    }
}
