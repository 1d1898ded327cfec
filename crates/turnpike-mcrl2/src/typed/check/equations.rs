//! Checks equations: the sort of the left side determines that of the right side.

use turnpike_model::diagnostic::Diagnostic;

use super::checker::Checker;
use crate::syntax::{self, DataId, Specification};
use crate::typed::items::{Equation, Expression, ExpressionId};
use crate::typed::sorts::SortId;

impl Checker<'_> {
    /// Types all equations.
    pub(super) fn check_equations(&mut self, specification: &Specification) {
        self.in_equations = true;
        for (variables, equations) in specification.equations() {
            let mark = self.mark();
            let first = self.program.variables.len() as u32;
            for &variable in &self.declare_variables(variables) {
                self.bind(variable);
            }
            let range = first..self.program.variables.len() as u32;
            for equation in equations {
                self.check_equation(equation, range.clone());
            }
            self.unbind(mark);
        }
        self.in_equations = false;
    }

    fn check_equation(&mut self, equation: &syntax::Equation, variables: std::ops::Range<u32>) {
        let condition = match equation.condition {
            None => Some(None),
            Some(condition) => self.check(condition, SortId::BOOL, "the condition of an equation").map(Some),
        };
        self.inference.clear();
        let (left, right) = (self.infer(equation.left), self.infer(equation.right));
        let (Some(left), Some(right)) = (left, right) else { return };
        let Some(sort) = self.common_sort(equation.left, equation.right) else { return };
        let (Some(left), Some(right)) = (self.elaborate(&left, sort), self.elaborate(&right, sort)) else {
            return;
        };
        let Some(condition) = condition else { return };
        let equation = Equation { variables, condition, left, right, span: equation.span };
        self.check_use(&equation);
        self.program.equations.push(equation);
    }

    /// The sort of the left side without conversion, if the right side can have it.
    fn common_sort(&mut self, left: DataId, right: DataId) -> Option<SortId> {
        let (lefts, rights) =
            (self.inference.alternatives(left).to_vec(), self.inference.alternatives(right).to_vec());
        let mut best: Option<(u32, SortId)> = None;
        let mut tie = false;
        for one in &lefts {
            let pinned = self.patterns.pin(&mut self.program.sorts, one.pattern);
            for other in &rights {
                let Some(both) = self.patterns.intersect(&mut self.program.sorts, pinned, other.pattern)
                else {
                    continue;
                };
                let sort = self.patterns.minimum(&mut self.program.sorts, both);
                let cost = one.cost.saturating_add(other.cost);
                match best {
                    Some((least, _)) if least < cost => {}
                    Some((least, same)) if least == cost => tie |= same != sort,
                    _ => (best, tie) = (Some((cost, sort)), false),
                }
            }
        }
        if tie {
            self.explain_ambiguity(left);
            return None;
        }
        if best.is_none() {
            let sort = self.patterns.minimum(&mut self.program.sorts, lefts[0].pattern);
            self.explain_mismatch(right, sort, "the right side of this equation");
        }
        best.map(|(_, sort)| sort)
    }

    /// Warns about equations that are never used.
    fn check_use(&mut self, equation: &Equation) {
        let mut seen = Vec::new();
        let mut converted = None;
        self.walk(equation.left, |checker, id| match *checker.program.expression(id) {
            Expression::Variable(variable) => seen.push(variable),
            Expression::Upcast(operand) => {
                if let Expression::Variable(variable) = *checker.program.expression(operand) {
                    converted.get_or_insert((variable, id));
                }
            }
            _ => {}
        });
        if let Some((variable, id)) = converted {
            let found = self.program.variable(variable);
            let message = format!(
                "this pattern never matches: {} has sort {}, but {} is matched here",
                self.text(found.name),
                self.sort_text(found.sort),
                self.sort_text(self.program.sort_of(id))
            );
            let help = format!("declare a variable of sort {}", self.sort_text(self.program.sort_of(id)));
            self.report(Diagnostic::warning(message).at(self.program.span_of(id).range(), "").help(help));
        }
        let mut unbound = None;
        for root in equation.condition.into_iter().chain([equation.right]) {
            self.walk(root, |checker, id| {
                if let Expression::Variable(variable) = *checker.program.expression(id)
                    && equation.variables.contains(&(variable.index() as u32))
                    && !seen.contains(&variable)
                {
                    unbound.get_or_insert((variable, id));
                }
            });
        }
        if let Some((variable, id)) = unbound {
            let name = self.text(self.program.variable(variable).name);
            let message = format!("this equation is never used: {name} does not occur on its left side");
            self.report(Diagnostic::warning(message).at(self.program.span_of(id).range(), ""));
        }
    }

    /// Visits an expression and all its subexpressions.
    fn walk(&self, root: ExpressionId, mut visit: impl FnMut(&Self, ExpressionId)) {
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            visit(self, id);
            self.program.expression(id).for_each_child(|child| todo.push(child));
        }
    }
}
