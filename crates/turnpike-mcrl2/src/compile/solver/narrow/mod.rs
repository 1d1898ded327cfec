//! Narrowing, the last resort of the solver: builds candidates constructor by constructor, and
//! prunes those that make the condition false.
//!
//! A candidate is a value with holes. The condition is evaluated on it in three values
//! (`evaluate`). An undecided number is a range such as `[4, …)`; `n * n < 10` is false for this
//! range, which prunes all larger numbers at once. The oldest hole is filled first, in every way
//! that its sort offers, so the search is fair and finds every solution: `0, 1, 2, …` for `Nat`,
//! `0, -1, 1, -2, …` for `Int`, `[]` and `x |> l` for lists, constructors in their order.
//!
//! The search ends when no candidate is left. It does not end if the condition is true for a
//! candidate with infinitely many values. A call without an applicable equation is treated as an
//! arbitrary value of its sort; the test of the complete candidate decides.

mod builtin;
mod candidate;
mod collection;
mod evaluate;
mod partial;
mod term;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use self::candidate::{Candidate, Growth, Place};
use self::evaluate::Evaluation;
use self::partial::{Partial, Range};
use self::term::{Compiler, TermId, Terms};
use super::EnumerationError;
use super::finite::{LIST_LIMIT, Sizes};
use super::linear_form::least;
use super::run::{Doubt, Outcome, Run};
use super::step::{Bound, Step};
use super::values::list;
use crate::compile::evaluator::{Machine, Rules, Scope};
use crate::syntax::Container;
use crate::typed::expression::free_variables;
use crate::typed::{
    Builtin, Expression, ExpressionId, Program, Sort, SortId, SymbolId, SymbolKind, VariableId,
};
use crate::value::Value;

/// The most steps of one evaluation.
const MAX_STEPS: usize = 20_000;
/// The most candidates that a search done once for all runs refines.
const MAX_LISTED: usize = 5_000;

/// Whether equations say what `==`, `<` or `<=` is at some sort.
fn compares(program: &Program) -> bool {
    program.equations.iter().any(|equation| match program.expression(equation.left) {
        Expression::Call { symbol, .. } => matches!(
            program.symbol(*symbol).kind,
            SymbolKind::Builtin(Builtin::Equal | Builtin::Less | Builtin::LessEqual)
        ),
        _ => false,
    })
}

/// A search for values of some variables.
#[derive(Clone, Debug)]
pub(super) struct Narrowing {
    variables: Vec<Searched>,
    literals: Vec<Condition>,
    /// Whether conditions that depend on nothing else are searched once for all, in a frame of that
    /// size.
    once: Option<usize>,
    /// What that search found, when the first run has asked for it; `None` if there was too much to
    /// do.
    listed: OnceLock<Option<Listed>>,
    terms: Terms,
    growth: FxHashMap<SortId, Growth>,
    infinite: FxHashMap<SortId, bool>,
    /// All constructors that values are built from.
    constructors: Vec<SymbolId>,
    /// Whether no equation says what `==`, `<` or `<=` is.
    natural: bool,
}

/// The candidates that are left by those conditions that depend on nothing else.
#[derive(Clone, Debug)]
struct Listed {
    candidates: Box<[Box<[Value]>]>,
    /// Whether all such conditions are known to hold for them.
    settled: bool,
}

/// What a solution must satisfy.
#[derive(Clone, Debug)]
struct Condition {
    term: TermId,
    /// How many local variables it has.
    locals: usize,
    holds: bool,
    /// Whether it is only about the variables that are searched.
    alone: bool,
}

#[derive(Clone, Debug)]
struct Searched {
    variable: VariableId,
    slot: u32,
    sort: SortId,
    text: String,
    /// What is known about a number.
    bounds: [Vec<Bound>; 2],
}

impl Narrowing {
    /// For the `variables` such that all literals hold, as far as that can be said: other `open`
    /// variables may be anything. For each variable its bounds are given, if it is a number, and
    /// the caller's variable that it is part of.
    pub(super) fn new(
        rules: &Arc<Rules>,
        program: &Program,
        scope: &mut Scope,
        variables: &[VariableId],
        open: &[VariableId],
        literals: &[(ExpressionId, bool)],
        bounds: Vec<([Vec<Bound>; 2], VariableId)>,
    ) -> Narrowing {
        let searched = variables
            .iter()
            .zip(bounds)
            .map(|(&variable, (bounds, root))| {
                let sort = program.variable(variable).sort;
                let text = program.sort_text(sort);
                Searched { variable: root, slot: scope.slot(variable), sort, text, bounds }
            })
            .collect();
        let mut compiler = Compiler::new(rules, program, scope, variables, open);
        let literals: Vec<Condition> = literals
            .iter()
            .map(|&(literal, holds)| {
                let (term, locals) = compiler.literal(literal);
                let free = free_variables(program, literal);
                let alone = free.iter().all(|variable| variables.contains(variable));
                Condition { term, locals, holds, alone }
            })
            .collect();
        let terms = compiler.finish();
        let mut narrowing = Narrowing {
            variables: searched,
            literals,
            once: None,
            listed: OnceLock::new(),
            terms,
            growth: FxHashMap::default(),
            infinite: FxHashMap::default(),
            constructors: Vec::new(),
            natural: !compares(program),
        };
        narrowing.grow(rules, program, variables);
        narrowing
    }

    /// Finds out how the values of all sorts that can be met are built.
    fn grow(&mut self, rules: &Arc<Rules>, program: &Program, variables: &[VariableId]) {
        let mut sizes = Sizes::default();
        let (rewritten, _) = super::pattern::find_redefined(program);
        let mut todo: Vec<SortId> =
            variables.iter().map(|&variable| program.variable(variable).sort).collect();
        for term in &self.terms.terms {
            if let term::Term::Quantifier { variables, .. } = term {
                todo.extend(variables.iter().map(|&(_, sort)| sort));
            }
        }
        while let Some(sort) = todo.pop() {
            if self.growth.contains_key(&sort) {
                continue;
            }
            let size = sizes.of(program, sort);
            self.infinite.insert(sort, size.is_none());
            let listed =
                size.filter(|&size| size <= LIST_LIMIT).and_then(|_| list(rules, program, &rewritten, sort));
            let growth = match (program.sorts.get(sort), listed) {
                (_, Some(values)) => Growth::Values(values.into()),
                (Sort::Pos | Sort::Nat | Sort::Int, _) => Growth::Number(least(sort).map(i128::from)),
                (Sort::Container(Container::List, element), _) => {
                    todo.push(*element);
                    Growth::List(*element)
                }
                (Sort::Basic(_) | Sort::Struct(_), _)
                    if !program.constructors(sort).is_empty()
                        && program.constructors(sort).iter().all(|symbol| !rewritten.contains(symbol)) =>
                {
                    let with = |&symbol: &SymbolId| (symbol, program.signature(symbol).0.into());
                    let constructors: Vec<(SymbolId, Box<[SortId]>)> =
                        program.constructors(sort).iter().map(with).collect();
                    todo.extend(constructors.iter().flat_map(|(_, sorts)| sorts.iter().copied()));
                    Growth::Constructors(constructors)
                }
                _ => Growth::None,
            };
            self.constructors.extend_from_slice(program.constructors(sort));
            self.growth.insert(sort, growth);
        }
        self.constructors.extend(self.terms.free.keys().copied());
        // Values that are known may have any constructor.
        let structured = |kind: &SymbolKind| matches!(kind, SymbolKind::StructConstructor { .. });
        let all = program.symbols.iter().enumerate().filter(|(_, symbol)| structured(&symbol.kind));
        self.constructors.extend(all.map(|(index, _)| SymbolId::new(index)));
        self.constructors.sort_unstable();
        self.constructors.dedup();
        for &symbol in &self.constructors {
            let free = matches!(program.symbol(symbol).kind, SymbolKind::StructConstructor { .. });
            self.terms.free.insert(symbol, free && !rewritten.contains(&symbol));
        }
    }

    /// Whether a symbol is a constructor.
    fn is_constructor(&self, symbol: SymbolId) -> bool {
        self.constructors.binary_search(&symbol).is_ok()
    }

    /// Whether a candidate stands for infinitely many values.
    fn is_infinite(&self, candidate: &Candidate) -> bool {
        candidate.holes.iter().any(|&(index, _)| match &candidate.places[index] {
            Place::Hole(sort) => self.infinite[sort],
            Place::Number(range) => range.from.is_none() || range.to.is_none(),
            _ => false,
        })
    }

    fn start(&self, run: &mut Run) -> Result<Option<Candidate>, EnumerationError> {
        let mut start = Candidate::default();
        for (index, variable) in self.variables.iter().enumerate() {
            let place = match self.growth[&variable.sort] {
                Growth::Number(_) => {
                    let [lower, upper] = &variable.bounds;
                    let (from, to, _) = run.limits(lower, upper, least(variable.sort))?;
                    if from.is_some() && to.is_some() && from > to {
                        return Ok(None);
                    }
                    let word =
                        |bound: Option<dashu_int::IBig>| bound.and_then(|bound| i128::try_from(&bound).ok());
                    Place::Number(Range { from: word(from), to: word(to) })
                }
                _ => Place::Hole(variable.sort),
            };
            start.add(place, index);
        }
        Ok(Some(start))
    }

    fn endless(&self, variable: usize, infinite: bool, limit: usize) -> EnumerationError {
        let Searched { variable, text, .. } = &self.variables[variable];
        let reason = if infinite {
            format!("infinitely many values of sort {text} satisfy the condition")
        } else {
            format!(
                "the values of sort {text} that satisfy the condition cannot be bounded: no end after {limit} steps"
            )
        };
        EnumerationError::Endless { variable: *variable, reason }
    }

    /// Lets the first run search with those conditions that depend on nothing else, for all runs.
    /// Quantifiers in them use slots of a frame of that size. False when there are no such
    /// conditions.
    pub(super) fn search_once(&mut self, size: usize) -> bool {
        self.once = self.literals.iter().any(|literal| literal.alone).then_some(size);
        self.once.is_some()
    }

    /// Whether all candidates of a run are known to satisfy the conditions that depend on nothing
    /// else.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.listed.get(), Some(Some(listed)) if listed.settled)
    }

    /// The candidates that are left by conditions that depend on nothing else, if they are few.
    fn list(&self, rules: &Arc<Rules>, size: usize) -> Option<Listed> {
        let mut start = Candidate::default();
        for (index, variable) in self.variables.iter().enumerate() {
            start.add(Place::Hole(variable.sort), index);
        }
        let mut machine = Machine::new(rules.clone());
        let base = machine.enter(size);
        let mut found: Vec<Box<[Value]>> = Vec::new();
        let search = Search { alone: true, limit: MAX_LISTED, base };
        let mut settled = true;
        let outcome = self.search(&mut machine, &search, start, &mut |machine, values, certain| {
            found.push(values.iter().map(|&value| machine.heap.keep(value)).collect());
            settled &= certain;
            Ok(ControlFlow::Continue(()))
        });
        outcome.ok().map(|_| Listed { candidates: found.into(), settled })
    }

    /// Runs the search, and `rest` for every complete candidate.
    pub(super) fn run<'s>(&self, run: &mut Run, rest: &'s [Step], doubt: Option<Doubt<'s>>) -> Outcome {
        let listed = self
            .once
            .and_then(|size| self.listed.get_or_init(|| self.list(run.machine.rules(), size)).as_ref());
        if let Some(listed) = listed {
            for values in &listed.candidates {
                for (variable, &value) in self.variables.iter().zip(values) {
                    run.machine.set_slot(run.base, variable.slot, value);
                }
                if run.steps(rest, doubt)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let Some(start) = self.start(run)? else { return Ok(ControlFlow::Continue(())) };
        let search = Search { alone: false, limit: run.limit, base: run.base };
        let Run { machine, base, visit, limit, most, first } = run;
        self.search(machine, &search, start, &mut |machine, values, _| {
            for (variable, &value) in self.variables.iter().zip(values) {
                machine.set_slot(*base, variable.slot, value);
            }
            let mut below = Run {
                machine,
                base: *base,
                visit: &mut **visit,
                limit: *limit,
                most: *most,
                first: first.take(),
            };
            let outcome = below.steps(rest, doubt);
            *first = below.first;
            outcome
        })
    }

    /// Calls `complete` with the values of every candidate that is not ruled out, and whether the
    /// conditions are known to hold.
    fn search(
        &self,
        machine: &mut Machine,
        search: &Search,
        start: Candidate,
        complete: &mut dyn FnMut(&mut Machine, &[Value], bool) -> Outcome,
    ) -> Outcome {
        let mut cache: Vec<Option<Partial>> = vec![None; self.terms.codes.len()];
        let mut queue = VecDeque::from([start]);
        let (mut refined, mut infinite): (usize, Option<usize>) = (0, None);
        while let Some(candidate) = queue.pop_front() {
            let Some(certain) = self.judge(machine, search, &candidate, &mut cache) else { continue };
            if candidate.holes.is_empty() {
                let values: Option<Vec<Value>> =
                    candidate.values[..self.variables.len()].iter().copied().collect();
                if complete(machine, &values.unwrap_or_default(), certain)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if let Some(variable) = infinite {
                    return Err(self.endless(variable, true, search.limit));
                }
                continue;
            }
            let variable = candidate.holes[0].1;
            if certain && infinite.is_none() && self.is_infinite(&candidate) {
                infinite = Some(variable);
            }
            refined += 1;
            if refined > search.limit {
                return Err(self.endless(variable, false, search.limit));
            }
            match candidate.refine(self, &mut machine.heap) {
                Some(refined) => queue.extend(refined),
                None => return Err(self.endless(variable, false, search.limit)),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether all conditions hold for sure; `None` if one does not.
    fn judge(
        &self,
        machine: &mut Machine,
        search: &Search,
        candidate: &Candidate,
        cache: &mut [Option<Partial>],
    ) -> Option<bool> {
        let mut certain = true;
        for literal in self.literals.iter().filter(|literal| literal.alone || !search.alone) {
            let mut evaluation =
                Evaluation { narrowing: self, machine, base: search.base, cache, steps: MAX_STEPS, depth: 0 };
            let mut locals = vec![Partial::Unknown; literal.locals];
            let value = evaluation.term(literal.term, candidate, &mut locals);
            match evaluation.known(&value, candidate).and_then(Value::as_bool) {
                Some(value) if value == literal.holds => {}
                Some(_) => return None,
                None => certain = false,
            }
        }
        Some(certain)
    }
}

/// How to search.
struct Search {
    /// Only with those conditions that depend on nothing else.
    alone: bool,
    limit: usize,
    base: usize,
}
