//! Narrowing, the last resort of the solver: builds candidates constructor by constructor, and
//! prunes those that make the condition false.
//!
//! A candidate is a value with holes. The condition is evaluated on it in three values
//! (`evaluate`). An undecided number is a range such as `[4, …)`; `n * n < 10` is false for this
//! range, which prunes all larger numbers at once. Holes are filled oldest first, in every way that
//! the sort offers, so the search is fair and finds every solution: `0, 1, 2, …` for `Nat`,
//!
//! The search ends when no candidate is left. It does not end if infinitely many values satisfy the
//! condition. A call without an applicable equation is treated as an arbitrary value of its sort,
//! since complete candidates are tested anyway.

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
/// The most candidates that a search shared by all runs refines.
const MAX_LISTED: usize = 5_000;

/// Whether equations define `==`, `<` or `<=` at some sort.
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
    /// The frame size for searching the independent conditions once for all runs, if that is
    /// planned.
    once: Option<usize>,
    /// The result of that search, computed by the first run; `None` if it took too long.
    listed: OnceLock<Option<Listed>>,
    terms: Terms,
    growth: FxHashMap<SortId, Growth>,
    infinite: FxHashMap<SortId, bool>,
    /// All constructors that values are built from.
    constructors: Vec<SymbolId>,
    /// Whether `==`, `<` and `<=` have their built-in meaning at all sorts.
    natural: bool,
}

/// The candidates that satisfy the independent conditions.
#[derive(Clone, Debug)]
struct Listed {
    candidates: Box<[Box<[Value]>]>,
    /// Whether the independent conditions are known to hold for all of them.
    settled: bool,
}

/// What a solution must satisfy.
#[derive(Clone, Debug)]
struct Condition {
    term: TermId,
    /// How many local variables it has.
    locals: usize,
    holds: bool,
    /// Whether it depends on no variables but those that are searched.
    independent: bool,
}

#[derive(Clone, Debug)]
struct Searched {
    variable: VariableId,
    slot: u32,
    sort: SortId,
    text: String,
    /// The lower and upper bounds of a number.
    bounds: [Vec<Bound>; 2],
}

impl Narrowing {
    /// Prepares a search for `variables`. It prunes by all literals, treating other `open`
    /// variables as unknown. For each variable, `bounds` has its bounds if it is a number, and the
    /// caller's variable that it is part of.
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
                let independent = free.iter().all(|variable| variables.contains(variable));
                Condition { term, locals, holds, independent }
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

    /// Determines how to enumerate the values of all sorts that may occur.
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
        // Known values may begin with any constructor.
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

    /// Whether a candidate has infinitely many values.
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

    /// Makes the first run search by the independent conditions on behalf of all runs, in a frame
    /// of this size. False if there are no such conditions.
    pub(super) fn search_once(&mut self, size: usize) -> bool {
        self.once = self.literals.iter().any(|literal| literal.independent).then_some(size);
        self.once.is_some()
    }

    /// Whether the independent conditions are known to hold for all candidates of a run.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.listed.get(), Some(Some(listed)) if listed.settled)
    }

    /// The candidates that satisfy the independent conditions, if these are few.
    fn list(&self, rules: &Arc<Rules>, size: usize) -> Option<Listed> {
        let mut start = Candidate::default();
        for (index, variable) in self.variables.iter().enumerate() {
            start.add(Place::Hole(variable.sort), index);
        }
        let mut machine = Machine::new(rules.clone());
        let base = machine.enter(size);
        let mut found: Vec<Box<[Value]>> = Vec::new();
        let search = Search { independent: true, limit: MAX_LISTED, base };
        let mut settled = true;
        let outcome = self.search(&mut machine, &search, start, &mut |machine, values, certain| {
            found.push(values.iter().map(|&value| machine.heap.keep(value)).collect());
            settled &= certain;
            Ok(ControlFlow::Continue(()))
        });
        outcome.ok().map(|_| Listed { candidates: found.into(), settled })
    }

    /// Runs the search, then `rest` for every complete candidate.
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
        let search = Search { independent: false, limit: run.limit, base: run.base };
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

    /// Calls `complete` with the values of every remaining complete candidate, and whether the
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

    /// Whether all conditions certainly hold; `None` if one certainly fails.
    fn judge(
        &self,
        machine: &mut Machine,
        search: &Search,
        candidate: &Candidate,
        cache: &mut [Option<Partial>],
    ) -> Option<bool> {
        let mut certain = true;
        for literal in self.literals.iter().filter(|literal| literal.independent || !search.independent) {
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

/// The parameters of a search.
struct Search {
    /// Whether only the independent conditions are used.
    independent: bool,
    limit: usize,
    base: usize,
}
