//! Equations as rules: the order in which they are tried, and matching.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::engine::{Environment, Lazy, Rewriter, Rewritten};
use super::term::{Node, Term, Var, of_expression, of_pattern};
use turnpike_mcrl2::typed::{Builtin, Expression, Program, SymbolId, SymbolKind};

pub(super) struct Rule {
    /// The patterns of all arguments, including those of curried functions.
    patterns: Vec<Term>,
    /// Whether each argument must be evaluated before this rule is tried.
    needs: Vec<bool>,
    condition: Option<Term>,
    right: Term,
}

/// The result of matching a rule.
enum Fit {
    No,
    /// The condition depends on a variable that is bound outside.
    Open,
    /// The right side, and the values of its variables.
    Yes(Term, Environment),
}

impl Rewriter<'_> {
    /// Applies the equations of a function. Rules that need fewer arguments are tried first, and
    /// arguments are evaluated only if a rule needs them.
    pub(super) fn by_rules(&mut self, symbol: SymbolId, arguments: &[Lazy]) -> Rewritten<Option<Term>> {
        let Some(rules) = self.rules.get(&symbol) else { return Ok(None) };
        let mut rules: Vec<Rc<Rule>> =
            rules.iter().filter(|rule| rule.patterns.len() <= arguments.len()).cloned().collect();
        // Among rules with equally many patterns, those with smaller patterns come first, and then
        // the order of the text decides.
        rules.sort_by_key(|rule| (rule.patterns.len(), rule.patterns.iter().map(Term::size).sum::<usize>()));
        let mut evaluated = vec![false; arguments.len()];
        for class in rules.chunk_by(|one, other| one.patterns.len() == other.patterns.len()) {
            let mut open: Vec<&Rc<Rule>> = class.iter().collect();
            while !open.is_empty() {
                let missing = |rule: &Rule, index: usize| rule.needs[index] && !evaluated[index];
                let arity = open[0].patterns.len();
                let (ready, waiting): (Vec<&Rc<Rule>>, Vec<&Rc<Rule>>) =
                    open.iter().partition(|rule| (0..arity).all(|index| !missing(rule, index)));
                for rule in &ready {
                    let fit = self.by_rule(rule, arguments)?;
                    if let Fit::Open = fit {
                        return Ok(None);
                    }
                    if let Fit::Yes(right, environment) = fit {
                        let result = (right, environment);
                        let result = self.rewrite(&result.0, &result.1)?;
                        let rest = &arguments[arity..];
                        if rest.is_empty() {
                            return Ok(Some(result));
                        }
                        return self.apply_groups(result, symbol, arity, rest).map(Some);
                    }
                }
                if ready.is_empty() {
                    let demand = |index: usize| waiting.iter().filter(|rule| missing(rule, index)).count();
                    let next = (0..arity).max_by_key(|&index| (demand(index), arity - index)).unwrap_or(0);
                    evaluated[next] = true;
                    self.force(&arguments[next])?;
                }
                open = waiting;
            }
        }
        Ok(None)
    }

    /// Applies a result to the arguments that the rule did not consume.
    fn apply_groups(
        &mut self,
        mut function: Term,
        symbol: SymbolId,
        used: usize,
        mut rest: &[Lazy],
    ) -> Rewritten {
        let mut sort = self.program.symbol(symbol).sort;
        let mut seen = 0;
        while !rest.is_empty() {
            let (domain, codomain) = self.program.sorts.signature(sort);
            let size = domain.len().max(1);
            sort = codomain;
            seen += size;
            if seen > used {
                let (group, others) = rest.split_at(size.min(rest.len()));
                rest = others;
                function = self.apply(&function, group)?;
            }
        }
        Ok(function)
    }

    /// The right side of a rule and the values of its variables, if it matches.
    fn by_rule(&mut self, rule: &Rule, arguments: &[Lazy]) -> Rewritten<Fit> {
        let mut found = FxHashMap::default();
        for (index, (pattern, argument)) in rule.patterns.iter().zip(arguments).enumerate() {
            if let Node::Variable(variable) = *pattern.node()
                && !rule.needs[index]
            {
                found.insert(variable, argument.clone());
                continue;
            }
            let value = self.force(argument)?;
            if !self.matches(pattern, &value, &mut found)? {
                return Ok(Fit::No);
            }
        }
        let environment = Rc::new(found);
        if let Some(condition) = &rule.condition {
            let condition = self.rewrite(condition, &environment)?;
            if condition.as_bool() != Some(true) {
                return Ok(if condition.is_open() { Fit::Open } else { Fit::No });
            }
        }
        Ok(Fit::Yes(rule.right.clone(), environment))
    }

    fn matches(&mut self, pattern: &Term, value: &Term, found: &mut FxHashMap<Var, Lazy>) -> Rewritten<bool> {
        let all = |rewriter: &mut Self, patterns: &[Term], values: &[Term], found: &mut _| {
            for (pattern, value) in patterns.iter().zip(values) {
                if !rewriter.matches(pattern, value, found)? {
                    return Ok(false);
                }
            }
            Ok(patterns.len() == values.len())
        };
        match (pattern.node(), value.node()) {
            (Node::Variable(variable), _) => {
                if let Some(known) = found.get(variable).cloned() {
                    return Ok(self.force(&known)? == *value);
                }
                found.insert(*variable, Lazy::done(value.clone()));
                Ok(true)
            }
            (Node::Call(symbol, patterns), Node::List(elements))
                if self.program.symbol(*symbol).kind == SymbolKind::Builtin(Builtin::Cons) =>
            {
                let Some((first, rest)) = elements.split_first() else { return Ok(false) };
                let rest = Term::new(Node::List(rest.to_vec()));
                all(self, patterns, &[first.clone(), rest], found)
            }
            (Node::List(patterns), Node::List(values)) => all(self, patterns, values, found),
            (Node::Call(one, patterns), Node::Call(other, values)) if one == other => {
                all(self, patterns, values, found)
            }
            (Node::Apply(one, patterns), Node::Apply(other, values)) => {
                Ok(self.matches(one, other, found)? && all(self, patterns, values, found)?)
            }
            (Node::Never, _) => Ok(false),
            _ => Ok(pattern == value),
        }
    }
}

/// The rule for an equation; `None` if it cannot be a rule.
pub(super) fn rule(program: &Program, index: usize) -> Option<(SymbolId, Rule)> {
    let equation = &program.equations[index];
    let mut groups = Vec::new();
    let mut head = equation.left;
    while let Expression::Apply { function, arguments } = program.expression(head) {
        groups.push(&**arguments);
        head = *function;
    }
    let symbol = match program.expression(head) {
        Expression::Symbol(symbol) => *symbol,
        Expression::Call { symbol, arguments } => {
            groups.push(&**arguments);
            *symbol
        }
        _ => return None,
    };
    let patterns = groups.iter().rev().flat_map(|group| group.iter());
    let patterns = patterns.map(|&one| of_pattern(program, one)).collect::<Option<Vec<Term>>>()?;
    let condition = equation.condition.map(|one| of_expression(program, one));
    let right = of_expression(program, equation.right);
    let count = |variable: Var| patterns.iter().map(|one| one.occurrences(variable)).sum::<usize>();
    let in_condition = |variable: Var| condition.as_ref().map_or(0, |one| one.occurrences(variable));
    for id in equation.variables() {
        let variable = Var { id, copy: 0 };
        if count(variable) == 0 && (in_condition(variable) > 0 || right.occurrences(variable) > 0) {
            return None;
        }
    }
    let needs = patterns.iter().map(|pattern| match *pattern.node() {
        Node::Variable(variable) => {
            in_condition(variable) > 0 || count(variable) > 1 || right.occurrences(variable) > 1
        }
        _ => true,
    });
    let needs = needs.collect();
    Some((symbol, Rule { patterns, needs, condition, right }))
}
