//! Compiles a linear process. Every expression becomes code over the slots of one frame, every
//! summand knows the words of a state that it reads, and summands that need the same locations form
//! a cluster.

mod index;
mod network;
mod on_demand;
mod signature;
mod termination;

pub(crate) use self::network::{
    Choice, Cluster, Guard, Network, Source, Summand, Update, location_of, location_word,
};
pub(crate) use self::on_demand::OnDemand;
pub(crate) use self::signature::{Signature, SignatureAction, Signatures};
pub(crate) use self::termination::Termination;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::index::Index;
use self::termination::{find_termination, is_termination};

use crate::compile::evaluator::{Code, Machine, Rules, Scope, prepare};
use crate::compile::solver::Plan;
use crate::lower::{self, Composition, Goto, LinearProcess};
use crate::syntax::Span;
use crate::typed::expression;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

/// How many calls a constant may take to be computed at compile time. Costlier constants are
/// computed when they are first needed, so that exploration starts at once.
const CONSTANT_STEPS: u64 = 5_000;

/// Compiles a linear process. Each step extends the scope, the program or the compiler for the next
/// one.
pub(crate) fn compile(process: LinearProcess) -> Network {
    let LinearProcess { mut program, parameters, summands, later, initial_distribution, initial, structure } =
        process;
    let has_choices = summands.iter().any(|summand| summand.distribution.is_some())
        || later.as_ref().is_some_and(Composition::is_probabilistic);
    let timed = summands.iter().any(|summand| summand.time.is_some())
        || later.as_ref().is_some_and(|later| later.timed().is_some());
    let Layout { mut scope, words, now } = Layout::new(&mut program, &parameters, timed);
    let termination = match &later {
        None => find_termination(&program, &parameters, &summands, &initial, &mut scope),
        Some(later) if later.may_terminate() => Termination::Word(scope.fresh()),
        Some(_) => Termination::Never,
    };
    let width = scope.size().max(1);
    if scope.size() == 0 {
        scope.fresh();
    }
    // Everything that expressions need beyond the process is added before the program is shared.
    let extras: Vec<Extras> =
        summands.iter().map(|summand| Extras::new(&mut program, summand, now)).collect();
    let initial_possible = initial_distribution.as_ref().map(|one| not_zero(&mut program, one.weight));
    let globals = represent_globals(&mut program, &mut scope);

    prepare(&mut program);
    let program = Arc::new(program);
    let rules = Rules::new(Arc::clone(&program));
    let mut machine = Machine::new(Arc::clone(&rules));
    machine.set_step_limit(CONSTANT_STEPS);
    let frame = scope.size();
    let ended = if let Termination::Word(word) = termination { Some(word) } else { None };
    let signatures = Arc::new(Signatures::default());
    let mut compiler = Compiler {
        program: Arc::clone(&program),
        rules: Arc::clone(&rules),
        machine,
        words,
        scope,
        frame,
        now,
        ended,
        signatures: Arc::clone(&signatures),
    };
    let constants = compiler.represent(globals);
    let (clusters, index) = compiler.clusters(&summands, &extras);
    let mut scope = compiler.scope.clone();
    let initial_choice = initial_distribution
        .as_ref()
        .map(|distribution| compiler.choice(distribution, initial_possible, &mut scope));
    let initial: Vec<Update> = initial.iter().map(|update| compiler.update(update, &mut scope)).collect();
    compiler.frame = compiler.frame.max(scope.size());
    let beginning = Signature { actions: vec![SignatureAction::plain("dist")], timed: false, weighted: true };
    let initial_signature = signatures.number(beginning).0;
    let mut frame = compiler.frame;
    let on_demand = later.map(|later| OnDemand::new(later, compiler, &mut frame));
    let controls =
        (0..parameters.len() as u32).filter(|&word| parameters[word as usize].locations.is_some()).collect();
    Network {
        parameters,
        width,
        now: now.map(|(word, _)| word),
        controls,
        frame,
        constants,
        signatures,
        clusters,
        index,
        on_demand,
        has_choices,
        initial,
        initial_choice,
        initial_signature,
        termination,
        program,
        rules,
        structure,
    }
}

/// A slot for each global variable, and an expression for a value of its sort if there is one.
fn represent_globals(
    program: &mut Program,
    scope: &mut Scope,
) -> Vec<(u32, VariableId, Option<ExpressionId>)> {
    let globals = program.globals.clone();
    let represent = |variable: VariableId| {
        let sort = program.variable(variable).sort;
        (scope.slot(variable), variable, expression::representative(program, sort))
    };
    globals.into_iter().map(represent).collect()
}

/// The layout of a state.
struct Layout {
    scope: Scope,
    words: FxHashMap<VariableId, u32>,
    /// The word and the variable that hold the time of the last timed action.
    now: Option<(u32, VariableId)>,
}

impl Layout {
    /// A word for each parameter, and one for the time if actions are timed.
    fn new(program: &mut Program, parameters: &[lower::Parameter], timed: bool) -> Self {
        let mut scope = Scope::default();
        let mut words: FxHashMap<VariableId, u32> = FxHashMap::default();
        for parameter in parameters {
            words.insert(parameter.variable, scope.slot(parameter.variable));
        }
        let now = timed.then(|| {
            let name = program.words.intern("now");
            let variable = program.add_variable(name, SortId::REAL, Span::default());
            words.insert(variable, scope.slot(variable));
            (scope.size() as u32 - 1, variable)
        });
        Layout { scope, words, now }
    }
}

/// Conditions that a compiled summand needs beyond its own.
struct Extras {
    /// The time is later than that of the last timed action.
    after: Option<ExpressionId>,
    /// The outcome of the choice has a probability other than 0.
    possible: Option<ExpressionId>,
}

impl Extras {
    fn new(program: &mut Program, summand: &lower::Summand, now: Option<(u32, VariableId)>) -> Self {
        let after = summand.time.zip(now).map(|(time, (_, now))| {
            let now = expression::variable(program, now);
            compare(program, Builtin::Greater, ">", time, now)
        });
        let possible = summand.distribution.as_ref().map(|one| not_zero(program, one.weight));
        Extras { after, possible }
    }
}

/// A comparison of two numbers of sort `Real`.
fn compare(
    program: &mut Program,
    builtin: Builtin,
    name: &str,
    left: ExpressionId,
    right: ExpressionId,
) -> ExpressionId {
    let name = program.words.intern(name);
    let sort = program.sorts.function(&[SortId::REAL, SortId::REAL], SortId::BOOL);
    let symbol = program.builtin(builtin, name, sort);
    let span = program.span_of(left);
    program.add_expression(Expression::Call { symbol, arguments: [left, right].into() }, SortId::BOOL, span)
}

fn not_zero(program: &mut Program, weight: ExpressionId) -> ExpressionId {
    let digits = program.words.intern("0");
    let zero = program.add_expression(Expression::Number(digits), SortId::REAL, program.span_of(weight));
    compare(program, Builtin::NotEqual, "!=", weight, zero)
}

/// Compiles expressions to code, and summands to clusters.
#[derive(Debug)]
pub(crate) struct Compiler {
    pub(crate) program: Arc<Program>,
    rules: Arc<Rules>,
    machine: Machine,
    /// Variables that are words of a state.
    words: FxHashMap<VariableId, u32>,
    /// Slots of the words of a state and of global variables.
    scope: Scope,
    frame: usize,
    /// The word and the variable that hold the time.
    now: Option<(u32, VariableId)>,
    /// The word that is 1 when all components have terminated.
    ended: Option<u32>,
    signatures: Arc<Signatures>,
}

impl Compiler {
    /// The program, for additions.
    pub(crate) fn program(&mut self) -> &mut Program {
        Arc::make_mut(&mut self.program)
    }

    /// Compiles summands that need the same locations to a cluster. Also returns the frame size it
    /// needs.
    pub(crate) fn cluster(&mut self, summands: &[lower::Summand]) -> (Cluster, usize) {
        self.frame = self.scope.size();
        let now = self.now;
        let mut compiled = Vec::with_capacity(summands.len());
        for summand in summands {
            let extras = Extras::new(self.program(), summand, now);
            compiled.push(self.summand(summand, &extras));
        }
        (Cluster::new(compiled), self.frame)
    }

    /// Compiles conditions over the parameters. Also returns the words that they read and the frame
    /// size they need.
    pub(crate) fn conditions(&mut self, conditions: &[ExpressionId]) -> (Vec<Code>, Vec<u32>, usize) {
        let mut scope = self.scope.clone();
        let codes = conditions.iter().map(|&one| self.code(one, &mut scope)).collect();
        (codes, self.reads(self.free(conditions).iter()), scope.size())
    }

    /// Groups summands by the locations they need, in the order of the first summand of each group.
    fn clusters(&mut self, summands: &[lower::Summand], extras: &[Extras]) -> (Vec<Arc<Cluster>>, Index) {
        let mut tests: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut parts: Vec<Vec<(Summand, Vec<u32>)>> = Vec::new();
        let mut known: FxHashMap<Vec<(u32, u32)>, usize> = FxHashMap::default();
        for (summand, extras) in summands.iter().zip(extras) {
            let locations = summand.locations.iter();
            let mut locations: Vec<(u32, u32)> =
                locations.map(|&(parameter, location)| (parameter as u32, location)).collect();
            locations.sort_unstable();
            let at = *known.entry(locations).or_insert_with_key(|locations| {
                tests.push(locations.clone());
                parts.push(Vec::new());
                parts.len() - 1
            });
            let compiled = self.summand(summand, extras);
            parts[at].push(compiled);
        }
        let clusters = parts.into_iter().map(|part| Arc::new(Cluster::new(part))).collect();
        (clusters, Index::new(tests.iter().map(Vec::as_slice)))
    }

    /// A summand, and the words of a state that it reads.
    fn summand(&mut self, summand: &lower::Summand, extras: &Extras) -> (Summand, Vec<u32>) {
        let mut conditions = summand.conditions.clone();
        conditions.extend(extras.after);
        let mut seen = Vec::new();
        for action in &summand.actions {
            seen.extend_from_slice(&action.arguments);
        }
        seen.extend(summand.time);
        if let Some(distribution) = &summand.distribution {
            seen.push(distribution.weight);
        }
        summand.updates.iter().for_each(|update| expressions_of(&self.program, update, &mut seen));
        let shown = self.free(&seen);
        let tested = self.free(&conditions);
        let reads = self.reads(shown.iter().chain(&tested));

        // Variables that occur nowhere are dropped, because no sort is empty.
        let variables: Vec<VariableId> = summand
            .variables
            .iter()
            .copied()
            .filter(|variable| shown.contains(variable) || tested.contains(variable))
            .collect();
        let mut scope = self.scope.clone();
        let guard = if variables.is_empty() {
            let codes = conditions.iter().map(|&one| (self.code(one, &mut scope), one)).collect();
            Guard::Conditions(codes)
        } else {
            let plan = Plan::new(&self.rules, &self.program, &variables, &conditions, &mut scope);
            match variables.iter().any(|variable| shown.contains(variable)) {
                true => Guard::Plan(plan),
                false => Guard::Once(plan),
            }
        };
        let repeats =
            matches!(guard, Guard::Plan(_)) && variables.iter().any(|variable| !shown.contains(variable));
        let mut arguments = Vec::new();
        for action in &summand.actions {
            arguments.extend(action.arguments.iter().map(|&one| self.source(one, &mut scope)));
        }
        let time = summand.time.map(|time| self.source(time, &mut scope));
        let signature = self.signatures.number(Signature {
            actions: summand
                .actions
                .iter()
                .map(|action| SignatureAction::new(&self.program, action))
                .collect(),
            timed: time.is_some(),
            weighted: summand.distribution.is_some(),
        });
        let choice =
            summand.distribution.as_ref().map(|choice| self.choice(choice, extras.possible, &mut scope));
        let mut updates: Vec<Update> =
            summand.updates.iter().map(|update| self.update(update, &mut scope)).collect();
        if let Some(word) = self.ended.filter(|_| is_termination(&self.program, summand)) {
            updates.push(Update::Go(vec![(word, Source::Constant(Value::from_word(location_word(1))))]));
        }
        let variables = variables.into_iter().map(|variable| (variable, scope.slot(variable))).collect();
        self.frame = self.frame.max(scope.size());
        let (span, parts) = (summand.span, Arc::clone(&summand.parts));
        let summand =
            Summand { guard, signature, arguments, time, choice, updates, span, repeats, variables, parts };
        (summand, reads)
    }

    fn choice(
        &mut self,
        distribution: &lower::Distribution,
        possible: Option<ExpressionId>,
        scope: &mut Scope,
    ) -> Choice {
        let weighted = possible.and_then(|possible| {
            let lower::Distribution { variables, weight } = distribution;
            Plan::weighted(&self.rules, &self.program, variables, *weight, possible, scope)
        });
        if let Some((plan, slot)) = weighted {
            return Choice { plan, weight: Source::Slot(slot) };
        }
        let conditions: Vec<ExpressionId> = possible.into_iter().collect();
        let plan = Plan::new(&self.rules, &self.program, &distribution.variables, &conditions, scope);
        Choice { plan, weight: self.source(distribution.weight, scope) }
    }

    fn update(&mut self, update: &lower::Update, scope: &mut Scope) -> Update {
        match update {
            lower::Update::If { condition, then, otherwise, control } => {
                let code = self.code(*condition, scope);
                // The recursion is as deep as the conditions nest in the source.
                let (then, otherwise) = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    (self.update(then, scope), self.update(otherwise, scope))
                });
                Update::If {
                    condition: code,
                    expression: *condition,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                    control: control.map(|word| word as u32),
                }
            }
            lower::Update::Go { location, assignments } => {
                let mut writes = Vec::with_capacity(assignments.len() + 1);
                if let Goto::Parameter(Some((word, location))) = location {
                    writes.push((*word as u32, Source::Constant(Value::from_word(location_word(*location)))));
                }
                for &(variable, value) in assignments {
                    let Some(&word) = self.words.get(&variable) else { continue };
                    match self.source(value, scope) {
                        Source::Slot(slot) if slot == word => {}
                        source => writes.push((word, source)),
                    }
                }
                Update::Go(writes)
            }
        }
    }

    fn code(&mut self, root: ExpressionId, scope: &mut Scope) -> Code {
        self.rules.compile(&self.program, root, scope)
    }

    fn source(&mut self, root: ExpressionId, scope: &mut Scope) -> Source {
        let mut bare = root;
        // Conversions do not change a value.
        while let Expression::Upcast(inner) = *self.program.expression(bare) {
            bare = inner;
        }
        if let Expression::Variable(variable) = *self.program.expression(bare) {
            return Source::Slot(scope.slot(variable));
        }
        match self.constant(root) {
            Some(value) => Source::Constant(value),
            None => Source::Code(self.code(root, scope)),
        }
    }

    /// The values of the expressions that stand for global variables, where they have any.
    fn represent(
        &mut self,
        globals: Vec<(u32, VariableId, Option<ExpressionId>)>,
    ) -> Vec<(u32, (VariableId, Value))> {
        globals
            .into_iter()
            .filter_map(|(slot, variable, value)| Some((slot, (variable, self.constant(value?)?))))
            .collect()
    }

    /// The value of an expression without variables.
    fn constant(&mut self, root: ExpressionId) -> Option<Value> {
        if !expression::free_variables(&self.program, root).is_empty() {
            return None;
        }
        let mut scope = Scope::default();
        let code = self.rules.compile(&self.program, root, &mut scope);
        let base = self.machine.enter(scope.size());
        let value = self.machine.evaluate(&code, base);
        self.machine.leave(base);
        Some(self.machine.heap.keep(value.ok()?))
    }

    fn free(&self, roots: &[ExpressionId]) -> FxHashSet<VariableId> {
        roots.iter().flat_map(|&root| expression::free_variables(&self.program, root)).collect()
    }

    fn reads<'a>(&self, variables: impl Iterator<Item = &'a VariableId>) -> Vec<u32> {
        let mut reads: Vec<u32> =
            variables.filter_map(|variable| self.words.get(variable).copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        reads
    }
}

/// All expressions of an update except those that leave a parameter unchanged.
fn expressions_of(program: &Program, update: &lower::Update, out: &mut Vec<ExpressionId>) {
    let mut rest = vec![update];
    while let Some(update) = rest.pop() {
        match update {
            lower::Update::If { condition, then, otherwise, .. } => {
                out.push(*condition);
                rest.push(then);
                rest.push(otherwise);
            }
            lower::Update::Go { assignments, .. } => {
                let changes = |&(variable, value): &(VariableId, ExpressionId)| {
                    *program.expression(value) != Expression::Variable(variable)
                };
                out.extend(assignments.iter().filter(|pair| changes(pair)).map(|&(_, value)| value));
            }
        }
    }
}
