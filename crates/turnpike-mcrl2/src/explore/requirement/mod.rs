//! Requirements: formulas over the actions and data of a specification, ready to be decided.
//!
//! For labels of one signature, an action formula is a condition on their arguments. Matching a
//! label is evaluating a condition (`matching`), and finding the values of a quantified variable
//! that a label determines is solving one (`candidates`), just as for the sums and quantifiers of
//! the specification.

mod absent;
mod candidates;
mod declare;
mod foreign;
mod judge;
mod matching;
mod mentions;
mod occurring;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::formula::{ANY_ACTION, Formula, Judge, Node, Property};
use turnpike_model::{Diagnostic, Word};

use self::candidates::{Alternative, Finder, Finders};
pub use self::declare::{Declarations, declare_labels, declare_labels_for};
use self::judge::DataJudge;
use self::matching::Condition;
use self::occurring::Occurring;
use super::Mcrl2Model;
use super::extended::ExtendedProgram;
use crate::compile::evaluator::Scope;
use crate::syntax::parse_formula;
use crate::typed::expression;
use crate::typed::formula::{ActionFormula, TypedFormula};
use crate::typed::{ExpressionId, SortId};
use crate::value::Value;

/// A formula about a specification, or about another system whose labels are parsed as if they
/// belonged to it.
pub struct Requirement {
    model: Arc<Mcrl2Model>,
    /// Whether the labels are those of another system, given as text.
    foreign: bool,
    formula: TypedFormula,
    conditions: Vec<Condition>,
    arguments: Vec<Vec<Condition>>,
    alternatives: Vec<Vec<Alternative>>,
    /// The sorts of each quantifier's variables, if the values in labels are enough to decide it.
    compared: Vec<Option<Vec<SortId>>>,
    /// The values in labels, once all labels are known.
    occurring: OnceLock<Occurring>,
    /// Actions that describe a state rather than being taken.
    state_actions: Vec<String>,
    caches: Mutex<Caches>,
}

/// Compiled on demand, once for all judges.
#[derive(Default)]
struct Caches {
    matchers: FxHashMap<(u32, u32), Arc<Condition>>,
    finders: Finders,
}

/// What is locked while code is compiled, in this order.
struct Shared<'a> {
    program: ExtendedProgram<'a>,
    caches: MutexGuard<'a, Caches>,
}

impl Mcrl2Model {
    /// Parses and checks a formula about this specification, or about another system whose labels
    /// this specification declares.
    ///
    /// # Errors
    /// Places in the diagnostics refer to `text`.
    pub fn requirement(
        self: &Arc<Self>,
        text: &str,
        labels: LabelSource,
    ) -> Result<(Requirement, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut program = self.extended_program();
        let (file, diagnostics) = parse_formula(text, &program.words);
        let Some(file) = file else { return Err(diagnostics) };
        if self.is_probabilistic() {
            let message = "formulas about probabilistic specifications are not supported";
            return Err(vec![Diagnostic::unsupported(message)]);
        }
        // Exploration does not bound how long components wait, so it may include impossible steps.
        if self.network.now.is_some() {
            let message = "formulas about specifications with times are not supported";
            return Err(vec![Diagnostic::unsupported(message)]);
        }
        let formula = program.check_formula(&file, labels == LabelSource::Seen)?;
        let foreign = labels != LabelSource::Own;
        drop(program);
        Ok((Requirement::new(Arc::clone(self), formula, foreign), diagnostics))
    }
}

/// The system whose labels a formula is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelSource {
    /// Those of the specification itself.
    Own,
    /// Those of another system, all declared by the specification.
    Declared,
    /// Those of another system without declarations. The specification declares the labels seen so
    /// far.
    Seen,
}

/// A multi-action of a formula that no label of the specification matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentAction {
    /// Why it cannot occur.
    pub word: Word,
    /// Its place in the formula.
    pub place: Range<usize>,
    /// Whether the formula may hold for this reason alone.
    pub helps: bool,
}

/// An action of a formula about a system without declarations that no known label has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedAction {
    /// Its name.
    pub name: String,
    /// Its place in the formula.
    pub place: Range<usize>,
    /// Whether the formula may hold because no label has it.
    pub helps: bool,
}

impl Requirement {
    fn new(model: Arc<Mcrl2Model>, formula: TypedFormula, foreign: bool) -> Self {
        let program = model.extended_program();
        let alternatives = candidates::alternatives(&program, &formula);
        let compared = occurring::compared(&program, &formula);
        drop(program);
        let mut requirement = Requirement {
            model,
            foreign,
            formula,
            conditions: Vec::new(),
            arguments: Vec::new(),
            alternatives,
            compared,
            occurring: OnceLock::new(),
            state_actions: Vec::new(),
            caches: Mutex::default(),
        };
        let code = |roots: &[ExpressionId]| -> Vec<Condition> {
            let shared = requirement.shared();
            roots.iter().map(|&root| requirement.compile(&shared.program, root, None)).collect()
        };
        let conditions = code(&requirement.formula.conditions);
        let arguments = requirement.formula.arguments.iter().map(|all| code(all)).collect();
        (requirement.conditions, requirement.arguments) = (conditions, arguments);
        requirement
    }

    /// Makes these actions describe a state rather than being taken: steps with them are matched
    /// only by name, not by `true` or by the negation of another action.
    #[must_use]
    pub fn with_state_actions(mut self, names: &[String]) -> Self {
        let always = expression::boolean(&mut self.model.extended_program(), true);
        self.formula.actions.push(ActionFormula::Data(always));
        let every = self.formula.actions.len() as u32 - 1;
        for node in &mut self.formula.graph.nodes {
            if let Node::Modality { action, .. } = node
                && *action == ANY_ACTION
            {
                *action = every;
            }
        }
        self.state_actions = names.to_vec();
        self
    }

    /// The actions that occur only in the formula, if it is about a system without declarations.
    pub fn assumed_actions(&self) -> Vec<AssumedAction> {
        let declared = self.model.network.program().actions.len();
        let shared = self.shared();
        let mut helping: Vec<&str> = Vec::new();
        self.formula.for_each_multi_action(&mut |actions, helps| {
            let assumed = actions.iter().map(|one| one.0).filter(|id| helps && id.index() >= declared);
            helping.extend(assumed.map(|id| shared.program.text(shared.program.action(id).name)));
        });
        let assumed = self.formula.assumed.iter().map(|(name, place)| AssumedAction {
            name: name.clone(),
            place: place.clone(),
            helps: helping.contains(&name.as_str()),
        });
        assumed.collect()
    }

    fn shared(&self) -> Shared<'_> {
        let program = self.model.extended_program();
        Shared { program, caches: self.caches.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// A scope whose first slots are the variables of the formula, followed by the constants that
    /// stand for global variables.
    fn scope(&self) -> (Scope, Vec<(u32, Value)>) {
        let mut scope = Scope::default();
        for &variable in &self.formula.variables {
            scope.slot(variable);
        }
        let constants = self.model.network.constants.iter();
        let constants = constants.map(|&(_, (variable, value))| (scope.slot(variable), value)).collect();
        (scope, constants)
    }

    /// The condition under which an action formula matches labels of a signature.
    fn matcher(&self, action: u32, signature: u32) -> Arc<Condition> {
        let mut shared = self.shared();
        if let Some(known) = shared.caches.matchers.get(&(action, signature)) {
            return Arc::clone(known);
        }
        let actions = self.model.network.signatures.get(signature);
        let arguments = matching::argument_variables(&mut shared.program, &actions);
        let formula = &self.formula.actions[action as usize];
        let says = actions.actions.iter().any(|one| self.state_actions.contains(&one.name));
        let root = match says {
            true => matching::state_condition(&mut shared.program, formula, &actions, &arguments),
            false => matching::condition(&mut shared.program, formula, &actions, &arguments),
        };
        let compiled = Arc::new(self.compile(&shared.program, root, Some(&arguments)));
        shared.caches.matchers.insert((action, signature), Arc::clone(&compiled));
        compiled
    }

    /// The finder for an alternative of a quantifier, given the signatures of the labels.
    fn finder(&self, quantifier: u32, alternative: u32, signatures: &[u32]) -> Arc<Finder> {
        let mut shared = self.shared();
        let key = (quantifier, alternative, signatures.into());
        if let Some(known) = shared.caches.finders.get(&key) {
            return Arc::clone(known);
        }
        let finder =
            Arc::new(candidates::finder(self, &mut shared.program, quantifier, alternative, signatures));
        shared.caches.finders.insert(key, Arc::clone(&finder));
        finder
    }
}

impl Property for Requirement {
    fn formula(&self) -> &Formula {
        &self.formula.graph
    }

    fn judge(&self) -> Box<dyn Judge + '_> {
        Box::new(DataJudge::new(self))
    }
}
