//! Evaluates `forall` and `exists` by trying values.

use std::rc::Rc;

use dashu_int::IBig;
use dashu_ratio::RBig;
use rustc_hash::FxHashMap;

use super::compare::{Answer, either};
use super::engine::{Environment, Lazy, Rewriter, Rewritten};
use super::term::{Node, Term, Var};
use turnpike_mcrl2::syntax::Binder;
use turnpike_mcrl2::typed::{Builtin, SortId, SymbolKind};

/// The number of values that are tried for unbounded numbers.
const TRIES: i32 = 300;
/// The number of values that are tried for bounded numbers.
const MOST: i32 = 10_000;

impl Rewriter<'_> {
    /// The value of a quantified formula, or the formula simplified as far as possible.
    pub(super) fn quantify(
        &mut self,
        exists: bool,
        variables: &[Var],
        body: &Term,
        environment: &Environment,
    ) -> Rewritten {
        let (variables, body) = self.below(variables, body, environment)?;
        let variables: Vec<Var> = variables.into_iter().filter(|&one| body.mentions(one)).collect();
        if variables.is_empty() {
            return Ok(body);
        }
        Ok(match self.decide(exists, &variables, &body)? {
            Some(answer) => Term::bool(answer),
            None => {
                let binder = if exists { Binder::Exists } else { Binder::Forall };
                Term::new(Node::Binder(binder, variables, body))
            }
        })
    }

    fn decide(&mut self, exists: bool, variables: &[Var], body: &Term) -> Rewritten<Answer> {
        if let Some(answer) = body.as_bool() {
            return Ok(Some(answer));
        }
        let open: Vec<Var> = variables.iter().copied().filter(|&one| body.mentions(one)).collect();
        let mut choices = Vec::new();
        for &variable in &open {
            if let Some((values, complete)) = self.candidates(exists, variable, body) {
                choices.push((!complete, values.len(), variable, values));
            }
        }
        let Some((partial, _, variable, values)) =
            choices.into_iter().min_by_key(|(partial, count, ..)| (*partial, *count))
        else {
            return Ok(None);
        };
        let rest: Vec<Var> = open.into_iter().filter(|&one| one != variable).collect();
        // Both quantifiers search for a value that decides: a witness or a counterexample.
        let mut found = Some(false);
        for value in values {
            let with = FxHashMap::from_iter([(variable, Lazy::done(value))]);
            let instance = self.rewrite(body, &Rc::new(with))?;
            let answer = self.decide(exists, &rest, &instance)?;
            found = either(found, answer.map(|answer| answer == exists));
            if found == Some(true) {
                return Ok(Some(exists));
            }
        }
        Ok(if partial { None } else { found.map(|_| !exists) })
    }

    /// The values of a variable that may decide, and whether no others do.
    fn candidates(&self, exists: bool, variable: Var, body: &Term) -> Option<(Vec<Term>, bool)> {
        let sort = self.sort_of(variable);
        if let Some(values) = self.values(sort) {
            return Some((values, true));
        }
        let (mut low, mut high) = match sort {
            SortId::POS => (Some(IBig::ONE), None),
            SortId::NAT => (Some(IBig::ZERO), None),
            SortId::INT => (None, None),
            _ => return None,
        };
        for fact in self.facts(exists, body) {
            self.bound(variable, fact, &mut low, &mut high);
        }
        let complete = match (&low, &high) {
            (Some(low), Some(high)) => high - low < IBig::from(MOST),
            _ => false,
        };
        let numbers: Vec<IBig> = match (low, high) {
            (Some(low), Some(high)) if complete => {
                std::iter::successors(Some(low), |one| Some(one + IBig::ONE))
                    .take_while(|one| *one <= high)
                    .collect()
            }
            (Some(low), _) => (0..TRIES).map(|one| &low + IBig::from(one)).collect(),
            (None, Some(high)) => (0..TRIES).map(|one| &high - IBig::from(one)).collect(),
            (None, None) => (0..TRIES).flat_map(|one| [IBig::from(one), IBig::from(-1 - one)]).collect(),
        };
        Some((numbers.into_iter().map(|one| Term::number(RBig::from(one))).collect(), complete))
    }

    /// The conditions for a value to decide: the conjuncts of the body, or of the premises.
    fn facts<'t>(&self, exists: bool, body: &'t Term) -> Vec<&'t Term> {
        let kind = |term: &Term| match term.node() {
            Node::Call(symbol, _) => match self.program.symbol(*symbol).kind {
                SymbolKind::Builtin(builtin) => Some(builtin),
                _ => None,
            },
            _ => None,
        };
        let (mut found, mut todo) = (Vec::new(), Vec::new());
        match body.node() {
            _ if exists => todo.push(body),
            Node::Call(_, sides) if kind(body) == Some(Builtin::Implies) => todo.push(&sides[0]),
            _ => {}
        }
        while let Some(term) = todo.pop() {
            match term.node() {
                Node::Call(_, parts) if kind(term) == Some(Builtin::And) => todo.extend(parts),
                _ => found.push(term),
            }
        }
        found
    }

    fn bound(&self, variable: Var, fact: &Term, low: &mut Option<IBig>, high: &mut Option<IBig>) {
        let Node::Call(symbol, sides) = fact.node() else { return };
        let SymbolKind::Builtin(builtin) = self.program.symbol(*symbol).kind else { return };
        let is_variable = |term: &Term| *term.node() == Node::Variable(variable);
        let raise = |low: &mut Option<IBig>, to: IBig| {
            if low.as_ref().is_none_or(|low| *low < to) {
                *low = Some(to);
            }
        };
        let lower = |high: &mut Option<IBig>, to: IBig| {
            if high.as_ref().is_none_or(|high| *high > to) {
                *high = Some(to);
            }
        };
        let [left, right] = &sides[..] else { return };
        let step = IBig::from(i32::from(builtin == Builtin::Less));
        match (builtin, left.as_number(), right.as_number()) {
            (Builtin::Less | Builtin::LessEqual, None, Some(limit)) if is_variable(left) => {
                lower(high, limit.ceil() - step);
            }
            (Builtin::Less | Builtin::LessEqual, Some(limit), None) if is_variable(right) => {
                raise(low, limit.floor() + step);
            }
            (Builtin::Equal, None, Some(value)) if is_variable(left) => {
                raise(low, value.floor());
                lower(high, value.ceil());
            }
            (Builtin::Equal, Some(value), None) if is_variable(right) => {
                raise(low, value.floor());
                lower(high, value.ceil());
            }
            _ => {}
        }
    }
}
