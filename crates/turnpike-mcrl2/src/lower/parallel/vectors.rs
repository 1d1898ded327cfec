//! Joint steps of several components, computed from the leaves of the operator tree to its root.
//!
//! A [`Vector`] is a set of edges, at most one per component, that happen together, with the
//! resulting multi-action so far. Vectors that an enclosing `allow` rules out are never built:
//! below `||`, the steps of the operands are grouped by name, and for every allowed multiset of
//! names the ways to compose it are enumerated.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::alphabet::{Bag, Filter, bag, is_part, without};
use crate::lower::{ActionInstance, Automaton, Step};
use crate::syntax::Symbol;
use crate::typed::expression;
use crate::typed::{Expression, ExpressionId, Program};

/// Edges that happen together.
#[derive(Clone, Debug, Default)]
pub(super) struct Vector {
    /// Pairs of component and edge, increasing.
    pub(super) edges: Vec<(u32, u32)>,
    /// The visible actions.
    pub(super) actions: Vec<ActionInstance>,
    /// Conditions in addition to those of the edges.
    pub(super) conditions: Vec<ExpressionId>,
}

/// The steps of a node of the operator tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// The steps by the names of their visible actions.
    pub(super) groups: BTreeMap<Bag, Vec<Vector>>,
    /// Terminations of all components below.
    pub(super) ends: Vec<Vector>,
}

/// There are more vectors than the limit.
#[derive(Debug)]
pub(super) struct TooMany;

/// The result of an equation, as far as it is known before evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Always,
    Never,
    Open(ExpressionId),
}

/// The known results of equations, by their sides.
pub(super) type Equations = FxHashMap<(ExpressionId, ExpressionId), Truth>;

/// Builds vectors of a program.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) program: &'a mut Program,
    pub(super) equations: Equations,
    left: usize,
}

impl Vector {
    /// The names of the visible actions.
    pub(super) fn names(&self) -> Bag {
        self.actions.iter().map(|action| action.name).collect::<NameList>().0
    }
}

/// Collects names into a multiset.
struct NameList(Bag);

impl FromIterator<Symbol> for NameList {
    fn from_iter<I: IntoIterator<Item = Symbol>>(names: I) -> Self {
        let names: Vec<Symbol> = names.into_iter().collect();
        NameList(bag(&names))
    }
}

impl Steps {
    fn add(&mut self, vector: Vector) {
        self.groups.entry(vector.names()).or_default().push(vector);
    }

    /// The steps of some edges of a component that pass the filter.
    pub(super) fn of_component(
        component: usize,
        automaton: &Automaton,
        edges: impl Iterator<Item = usize>,
        filter: &Filter,
    ) -> Steps {
        let mut steps = Steps::default();
        for index in edges {
            let edge = &automaton.edges[index];
            let edges = vec![(component as u32, index as u32)];
            match &edge.what {
                Step::Terminate => steps.ends.push(Vector { edges, ..Vector::default() }),
                Step::Actions(actions) => {
                    let vector = Vector { edges, actions: actions.clone(), conditions: Vec::new() };
                    if filter.accepts(&vector.names()) {
                        steps.add(vector);
                    }
                }
            }
        }
        steps
    }

    /// The steps whose names pass a test.
    pub(super) fn retain(mut self, test: impl Fn(&Bag) -> bool) -> Steps {
        self.groups.retain(|names, _| test(names));
        self
    }

    /// The steps with actions of these names hidden.
    pub(super) fn hide(self, names: &[Symbol]) -> Steps {
        self.map(|vector| vector.actions.retain(|action| !names.contains(&action.name)))
    }

    /// The steps with actions renamed.
    pub(super) fn rename(self, renamings: &[(Symbol, Symbol)]) -> Steps {
        self.map(|vector| {
            for action in &mut vector.actions {
                if let Some(&(_, new)) = renamings.iter().find(|(old, _)| *old == action.name) {
                    action.name = new;
                }
            }
        })
    }

    fn map(self, change: impl Fn(&mut Vector)) -> Steps {
        let mut steps = Steps { ends: self.ends, ..Steps::default() };
        for mut vector in self.groups.into_values().flatten() {
            change(&mut vector);
            steps.add(vector);
        }
        steps
    }
}

impl<'a> Builder<'a> {
    /// Builds at most `limit` vectors.
    pub(super) fn new(program: &'a mut Program, equations: Equations, limit: usize) -> Self {
        Builder { program, equations, left: limit }
    }

    pub(super) fn spend(&mut self) -> Result<(), TooMany> {
        self.left = self.left.checked_sub(1).ok_or(TooMany)?;
        Ok(())
    }

    /// The result of `left == right`, as far as it is known.
    pub(super) fn equation(&mut self, left: ExpressionId, right: ExpressionId) -> Truth {
        if left == right {
            return Truth::Always;
        }
        let key = if left < right { (left, right) } else { (right, left) };
        if let Some(&known) = self.equations.get(&key) {
            return known;
        }
        let equation = expression::equal(self.program, left, right);
        let truth = match *self.program.expression(equation) {
            Expression::Bool(true) => Truth::Always,
            Expression::Bool(false) => Truth::Never,
            _ => Truth::Open(equation),
        };
        self.equations.insert(key, truth);
        truth
    }

    /// Whether two actions have arguments of the same sorts, so that they can communicate.
    pub(super) fn same_sorts(&self, left: &ActionInstance, right: &ActionInstance) -> bool {
        let sort = |&argument: &ExpressionId| self.program.sort_of(argument);
        left.arguments.iter().map(sort).eq(right.arguments.iter().map(sort))
    }

    /// Whether the data of two actions may be equal.
    pub(super) fn may_agree(&mut self, left: &ActionInstance, right: &ActionInstance) -> bool {
        self.same_sorts(left, right)
            && left
                .arguments
                .iter()
                .zip(&right.arguments)
                .all(|(&one, &other)| self.equation(one, other) != Truth::Never)
    }

    /// The steps of `||` that pass the filter.
    pub(super) fn join(&mut self, operands: &[Arc<Steps>], filter: &Filter) -> Result<Steps, TooMany> {
        let mut steps = Steps::default();
        let names = operands.iter().flat_map(|one| one.groups.keys()).flat_map(|names| names.iter().copied());
        match filter.targets(&names.collect()) {
            Some(targets) => {
                let mut cover = Cover::new(operands);
                cover.add_invisible(self, &mut steps, &[], 0)?;
                for target in &targets {
                    cover.links = filter.links(target);
                    cover.run(self, &mut steps, target, None)?;
                }
            }
            None => {
                let mut product = Product { operands, filter, chosen: Vec::new() };
                product.run(self, &mut steps, 0, &[])?;
            }
        }
        steps.ends = vec![Vector::default()];
        for operand in operands {
            let mut longer = Vec::new();
            for vector in &steps.ends {
                for other in &operand.ends {
                    self.spend()?;
                    longer.push(Vector {
                        edges: [&vector.edges[..], &other.edges].concat(),
                        ..Vector::default()
                    });
                }
            }
            steps.ends = longer;
        }
        Ok(steps)
    }

    /// Adds all combinations of one vector from each chosen group in which linked actions may have
    /// equal data.
    fn combine(
        &mut self,
        steps: &mut Steps,
        operands: &[Arc<Steps>],
        chosen: &[(usize, &Bag)],
        links: &[Bag],
    ) -> Result<(), TooMany> {
        let mut chosen = chosen.to_vec();
        chosen.sort_unstable();
        let mut all = vec![Vector::default()];
        for (operand, names) in chosen {
            let mut longer = Vec::new();
            for vector in &all {
                for other in &operands[operand].groups[names] {
                    if self.are_linked(vector, other, links) {
                        self.spend()?;
                        longer.push(vector.with(other));
                    }
                }
            }
            all = longer;
        }
        all.into_iter().for_each(|vector| steps.add(vector));
        Ok(())
    }

    fn are_linked(&mut self, vector: &Vector, other: &Vector, links: &[Bag]) -> bool {
        links.iter().all(|link| {
            other.actions.iter().filter(|new| link.contains(&new.name)).all(|new| {
                let old = vector.actions.iter().filter(|old| link.contains(&old.name));
                old.into_iter().all(|old| self.may_agree(old, new))
            })
        })
    }
}

impl Vector {
    /// The union of both.
    fn with(&self, other: &Vector) -> Vector {
        let mut vector = self.clone();
        vector.edges.extend(&other.edges);
        vector.edges.sort_unstable();
        vector.actions.extend_from_slice(&other.actions);
        vector.conditions.extend(&other.conditions);
        vector
    }
}

/// Enumerates the ways to compose a multiset of names from steps of different operands.
struct Cover<'a> {
    operands: &'a [Arc<Steps>],
    /// For each name the operands and groups that contain it.
    having: FxHashMap<Symbol, Vec<(usize, &'a Bag)>>,
    /// Operands with invisible steps, which combine with any others.
    invisible: Vec<(usize, &'a Bag)>,
    links: &'a [Bag],
    chosen: Vec<(usize, &'a Bag)>,
}

impl<'a> Cover<'a> {
    fn new(operands: &'a [Arc<Steps>]) -> Self {
        let mut having: FxHashMap<Symbol, Vec<(usize, &'a Bag)>> = FxHashMap::default();
        let mut invisible = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            for names in operand.groups.keys() {
                if names.is_empty() {
                    invisible.push((index, names));
                }
                let mut previous = None;
                for &name in names {
                    if previous != Some(name) {
                        having.entry(name).or_default().push((index, names));
                    }
                    previous = Some(name);
                }
            }
        }
        Cover { operands, having, invisible, links: &[], chosen: Vec::new() }
    }

    /// Composes the remaining names. The first of them comes from some operand. `after` keeps
    /// operands that share a name in order, so that no choice is made twice.
    fn run(
        &mut self,
        builder: &mut Builder<'_>,
        steps: &mut Steps,
        rest: &[Symbol],
        after: Option<(Symbol, usize)>,
    ) -> Result<(), TooMany> {
        let Some(&name) = rest.first() else {
            let chosen = self.chosen.clone();
            builder.combine(steps, self.operands, &chosen, self.links)?;
            return self.add_invisible(builder, steps, &chosen, 0);
        };
        for choice in 0..self.having.get(&name).map_or(0, Vec::len) {
            let (operand, names) = self.having[&name][choice];
            let used = self.chosen.iter().any(|&(other, _)| other == operand);
            let again = after.is_some_and(|(last, least)| last == name && operand <= least);
            if used || again || !is_part(names, rest) {
                continue;
            }
            self.chosen.push((operand, names));
            self.run(builder, steps, &without(rest, names), Some((name, operand)))?;
            self.chosen.pop();
        }
        Ok(())
    }

    /// Adds the combinations with at least one invisible step of another operand, from the given
    /// one on.
    fn add_invisible(
        &self,
        builder: &mut Builder<'_>,
        steps: &mut Steps,
        chosen: &[(usize, &'a Bag)],
        from: usize,
    ) -> Result<(), TooMany> {
        for (index, &one) in self.invisible.iter().enumerate().skip(from) {
            if chosen.iter().any(|&(operand, _)| operand == one.0) {
                continue;
            }
            let more = [chosen, &[one]].concat();
            builder.combine(steps, self.operands, &more, self.links)?;
            self.add_invisible(builder, steps, &more, index + 1)?;
        }
        Ok(())
    }
}

/// Enumerates all combinations that pass the filter, if the allowed multisets cannot be enumerated.
struct Product<'a> {
    operands: &'a [Arc<Steps>],
    filter: &'a Filter,
    chosen: Vec<(usize, &'a Bag)>,
}

impl Product<'_> {
    fn run(
        &mut self,
        builder: &mut Builder<'_>,
        steps: &mut Steps,
        operand: usize,
        names: &[Symbol],
    ) -> Result<(), TooMany> {
        builder.spend()?;
        let Some(here) = self.operands.get(operand) else {
            if self.chosen.is_empty() || !self.filter.accepts(names) {
                return Ok(());
            }
            return builder.combine(steps, self.operands, &self.chosen, &[]);
        };
        self.run(builder, steps, operand + 1, names)?;
        for group in here.groups.keys() {
            let more = bag(&[names, group].concat());
            if self.filter.accepts_part(&more) {
                self.chosen.push((operand, group));
                self.run(builder, steps, operand + 1, &more)?;
                self.chosen.pop();
            }
        }
        Ok(())
    }
}
