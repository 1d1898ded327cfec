//! Ways to enumerate an open variable, and the choice of the cheapest.

use crate::syntax::Container;
use crate::typed::{Builtin, Expression, ExpressionId, Program, Sort, SortId, SymbolId, VariableId};

use super::finite::{LIST_LIMIT, Sizes};
use super::linear_form::{Sum, least, mentions, sum};
use super::literal::{Literal, Relation, builtin, comparison};
use super::pattern::{Draft, Kind, Pattern, Patterns};

/// The assumed size of a collection that gives no estimate.
const MEMBERS: u64 = 8;
/// The assumed length of an interval that gives no estimate.
const LENGTH: u64 = 16;

/// `factor * x + sum <= 0`, or `<`.
#[derive(Clone, Debug)]
pub(super) struct DraftBound {
    pub(super) factor: i64,
    pub(super) constant: i64,
    pub(super) known: Vec<(i64, ExpressionId)>,
    pub(super) strict: bool,
    /// The index of the literal that it comes from.
    pub(super) literal: usize,
    /// Whether the literal says nothing else.
    pub(super) exact: bool,
}

/// A way to enumerate values.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    /// `value == pattern`
    Solve { literal: usize, value: ExpressionId, pattern: Draft },
    /// `pattern == 0`
    Root { literal: usize, pattern: Draft },
    /// The literal is a variable itself.
    Truth { literal: usize, variable: VariableId },
    /// `pattern in collection`
    Member { literal: usize, collection: ExpressionId, pattern: Draft, certain: bool },
    /// Bounds on both sides.
    Interval { variable: VariableId, lower: Vec<DraftBound>, upper: Vec<DraftBound> },
    /// All values of the sort.
    Values { variable: VariableId },
}

/// The state of a plan from which the next step is chosen.
pub(super) struct Choices<'a> {
    pub(super) program: &'a Program,
    pub(super) rewritten: &'a [SymbolId],
    /// Sorts whose equality is defined by equations.
    pub(super) equalities: &'a [SortId],
    pub(super) sizes: &'a mut Sizes,
    pub(super) open: &'a [VariableId],
    pub(super) literals: &'a [Literal],
    /// Literals whose collection turned out not to be finite.
    pub(super) avoid: &'a [ExpressionId],
}

impl Choices<'_> {
    /// The cheapest way. Ties go to the first literal, then to the first variable. Ways that may
    /// turn out to be impossible are considered only if `uncertain`.
    pub(super) fn best(&mut self, uncertain: bool) -> Option<Choice> {
        let mut best: Option<(u64, Choice)> = None;
        let mut consider = |cost: u64, choice: Choice| {
            if best.as_ref().is_none_or(|(old, _)| cost < *old) {
                best = Some((cost, choice));
            }
        };
        for index in 0..self.literals.len() {
            if let Some((cost, choice)) = self.of_literal(index, uncertain) {
                if cost == 0 {
                    return Some(choice);
                }
                consider(cost, choice);
            }
        }
        let sums = self.sums();
        for &variable in self.open {
            let sort = self.program.variable(variable).sort;
            if let Some(size) = self.sizes.of(self.program, sort).filter(|&size| size <= LIST_LIMIT) {
                consider(size, Choice::Values { variable });
            }
            let (lower, upper) = self.bounds(&sums, variable);
            if !upper.is_empty() && (!lower.is_empty() || least(sort).is_some()) {
                consider(length(sort, &lower, &upper), Choice::Interval { variable, lower, upper });
            }
        }
        best.map(|(_, choice)| choice)
    }

    fn pattern(&self, id: ExpressionId) -> Option<Draft> {
        let mut patterns =
            Patterns { program: self.program, rewritten: self.rewritten, open: self.open.to_vec(), parts: 0 };
        patterns.find(id, 0)
    }

    fn of_literal(&self, index: usize, uncertain: bool) -> Option<(u64, Choice)> {
        let program = self.program;
        let Literal { expression, holds, .. } = self.literals[index];
        if let Expression::Variable(variable) = *program.expression(expression) {
            return Some((0, Choice::Truth { literal: index, variable }));
        }
        if let Some((Relation::Equal, left, right)) = comparison(program, expression, holds) {
            if self.equalities.contains(&program.sort_of(left)) {
                return None;
            }
            for (value, pattern) in [(left, right), (right, left)] {
                if !mentions(program, value, self.open) {
                    let pattern = self.pattern(pattern)?;
                    return Some((0, Choice::Solve { literal: index, value, pattern }));
                }
            }
            if program.sort_of(left).is_number() {
                let sum = self.difference(left, right)?;
                let &[(factor, variable)] = sum.open.as_slice() else { return None };
                let kind = Kind::of_number(program.variable(variable).sort);
                let (constant, known) = (sum.constant, sum.known);
                let pattern = Pattern::Sum { constant, known, factor, variable, kind };
                return Some((0, Choice::Root { literal: index, pattern }));
            }
            return None;
        }
        if let (Some((Builtin::In, &[element, collection])), true) = (builtin(program, expression), holds) {
            if mentions(program, collection, self.open)
                || self.avoid.contains(&expression)
                || self.equalities.contains(&program.sort_of(element))
            {
                return None;
            }
            let certain = self.certain(collection);
            if !certain && !uncertain {
                return None;
            }
            let pattern = self.pattern(element)?;
            let cost = self.members(collection);
            return Some((cost, Choice::Member { literal: index, collection, pattern, certain }));
        }
        None
    }

    /// Whether a collection is finite because of its sort.
    fn certain(&self, collection: ExpressionId) -> bool {
        match self.program.sorts.get(self.program.sort_of(collection)) {
            Sort::Container(Container::List | Container::FSet | Container::FBag, _) => true,
            _ => matches!(self.program.expression(collection), Expression::Upcast(_)),
        }
    }

    /// An estimate of the number of elements. At least 1, so that an equation is cheaper.
    fn members(&self, collection: ExpressionId) -> u64 {
        match self.program.expression(collection) {
            Expression::List(elements) | Expression::Set(elements) => (elements.len() as u64).max(1),
            Expression::Bag(pairs) => (pairs.len() as u64).max(1),
            Expression::Upcast(body) => self.members(*body),
            _ => MEMBERS,
        }
    }

    fn difference(&self, left: ExpressionId, right: ExpressionId) -> Option<Sum> {
        sum(self.program, left, self.open)?.plus(-1, &sum(self.program, right, self.open)?)
    }

    /// The literals that compare linear forms, as comparisons with 0.
    pub(super) fn sums(&self) -> Vec<(usize, Relation, Sum)> {
        let mut sums = Vec::new();
        for (index, literal) in self.literals.iter().enumerate() {
            let found = comparison(self.program, literal.expression, literal.holds);
            if let Some((relation, left, right)) = found
                && self.program.sort_of(left).is_number()
                && let Some(sum) = self.difference(left, right)
            {
                sums.push((index, relation, sum));
            }
        }
        sums
    }

    /// The lower and upper bounds that the literals give for an integer.
    pub(super) fn bounds(
        &self,
        sums: &[(usize, Relation, Sum)],
        variable: VariableId,
    ) -> (Vec<DraftBound>, Vec<DraftBound>) {
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        let sort = self.program.variable(variable).sort;
        if !sort.is_number() || sort == SortId::REAL {
            return (lower, upper);
        }
        for &(literal, relation, ref sum) in sums {
            let signs: &[i64] = if relation == Relation::Equal { &[1, -1] } else { &[1] };
            for &sign in signs {
                let Some(sum) = Sum::default().plus(sign, sum) else { continue };
                let factor = sum.factor(variable);
                if factor == 0 {
                    continue;
                }
                // Other open variables are at least the least value of their sort.
                let mut constant = Some(sum.constant);
                for &(times, other) in sum.open.iter().filter(|(_, other)| *other != variable) {
                    let least = least(self.program.variable(other).sort).filter(|_| times > 0);
                    constant = constant.and_then(|old| old.checked_add(times.checked_mul(least?)?));
                }
                let Some(constant) = constant else { continue };
                let exact = sum.open.len() == 1 && relation != Relation::Equal;
                let strict = relation == Relation::Less;
                let side = if factor > 0 { &mut upper } else { &mut lower };
                side.push(DraftBound { factor, constant, known: sum.known, strict, literal, exact });
            }
        }
        (lower, upper)
    }
}

/// An estimate of the number of integers. At least 1, so that an equation is cheaper.
fn length(sort: SortId, lower: &[DraftBound], upper: &[DraftBound]) -> u64 {
    let visible = |bounds: &[DraftBound]| -> Vec<i64> {
        let constant = bounds.iter().filter(|bound| bound.known.is_empty());
        constant.map(|bound| bound.constant.saturating_neg() / bound.factor).collect()
    };
    let from = visible(lower).into_iter().chain(least(sort)).max();
    match (from, visible(upper).into_iter().min()) {
        (Some(from), Some(to)) => to.saturating_sub(from).unsigned_abs().max(1),
        _ => LENGTH,
    }
}
