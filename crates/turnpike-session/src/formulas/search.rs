//! Decides a formula by searching for a path or a loop, with any strategy.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use turnpike_formula::{Evidence, Fragment, Product, Progress, Runs, Taken};
use turnpike_model::formula::Property;
use turnpike_model::{Diagnostic, Model, StepError, Trace, hash};
use turnpike_search::{Limits, SearchReport, StopReason, Verdict};

use super::{AskedFormula, CheckedFormula, FormulaReply, FormulaText};
use crate::plan::Plan;
use crate::problem::{Problem, ProblemKind};
use crate::report::choices_of;
use crate::request::{Goals, Search, StrategyChoice};
use crate::run::{Observer, Silent};
use crate::session::Session;

/// The number of states that the game explores before a search is tried. Further searches follow
/// whenever it has explored four times as many.
pub(super) const TRY_AFTER: u64 = 25_000;
/// A search that finds nothing gets half of the states that the game explored, and no more than this:
/// searches that go deep make states whose data grow, so each may cost much more than those of the game.
pub(super) const MOST_TRIED: u64 = 25_000;

/// A model in which a witness decides the formula.
enum Searched {
    /// A path decides it.
    Paths(Arc<Product>),
    /// A path with a loop decides it.
    Runs(Arc<Runs>),
}

impl Searched {
    fn new(checked: &CheckedFormula) -> Option<Searched> {
        let property = || Arc::clone(&checked.requirement) as Arc<dyn Property>;
        let model = || Arc::clone(&checked.model);
        let product = Product::new(model(), property()).map(|one| Searched::Paths(Arc::new(one)));
        product.or_else(|| Some(Searched::Runs(Arc::new(Runs::new(model(), property())?))))
    }

    /// A search for the witness that decides the formula.
    fn plan(&self, search: &Search) -> Result<Plan, Problem> {
        let (model, objective) = self.model();
        let goals = Goals { find: vec![objective.parse()?], ..Goals::default() };
        Plan::of_model(model, &Search { goals, ..search.clone() })
    }

    fn model(&self) -> (Arc<dyn Model>, &'static str) {
        match self {
            Searched::Paths(product) => (Arc::clone(product) as Arc<dyn Model>, "assertion"),
            Searched::Runs(runs) => (Arc::clone(runs) as Arc<dyn Model>, Runs::OBJECTIVE),
        }
    }

    /// The steps of the model for a witness, and the start of its loop.
    fn steps(&self, trace: &Trace) -> Result<(Vec<Taken>, Option<usize>), StepError> {
        match self {
            Searched::Paths(_) => {
                let step = |step: &turnpike_model::Step| Taken {
                    label: step.label.clone(),
                    choice: step.choice.unwrap_or_default(),
                };
                Ok((trace.steps.iter().map(step).collect(), None))
            }
            Searched::Runs(runs) => {
                let taken = runs.taken(&choices_of(trace))?;
                // A run that stays where the formula is decided is a path.
                let loops = trace.loop_start.filter(|_| taken.len() == trace.len());
                Ok((taken, loops))
            }
        }
    }
}

impl Session {
    /// A search for the path or loop that decides a formula, for clients that make many of them. A
    /// witness refutes the formula, or proves it if it states that something is possible.
    pub(crate) fn plan_formula(&self, search: &Search, formulas: Vec<AskedFormula>) -> Result<Plan, Problem> {
        let [(formula, problem)] = <[AskedFormula; 1]>::try_from(formulas).map_err(|all| {
            Problem::new(format!("one formula at a time can be an objective, not {}", all.len()))
        })?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let checked = self.check_formula(&formula)?;
        if !search.goals.allow_unknown && !checked.vacuous.is_empty() {
            return Err(super::mistake(&formula, checked.vacuous));
        }
        let (searched, _) = checked.searched()?;
        let mut plan = searched.plan(search)?;
        plan.warnings.extend(checked.warnings);
        Ok(plan)
    }
}

impl CheckedFormula {
    /// The system to search, and whether a witness refutes the formula.
    fn searched(&self) -> Result<(Searched, bool), Problem> {
        match (Searched::new(self), self.fragment.run_refutes()) {
            (Some(searched), Some(refutes)) => Ok((searched, refutes)),
            _ => {
                let message = format!("no path decides a formula of the fragment {}", self.fragment);
                let error = Diagnostic::error(message);
                Err(error.help("leave out the option `strategy`: its game is solved then").into())
            }
        }
    }

    /// Decides the formula by a search with the requested strategy.
    pub(super) fn search(
        &self,
        formula: &FormulaText,
        search: &Search,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<FormulaReply, Problem> {
        let (searched, refutes) = self.searched()?;
        let plan = searched.plan(search)?;
        let report = plan.run(&|event| observer.event(event), interrupt)?;
        let mut reply = self.reply_to(&report, refutes);
        reply.strategy = Some(plan.strategy());
        let witness = report.runs.iter().find_map(|run| run.witness.as_ref());
        if let (Some(witness), Verdict::Found, Some(holds)) = (witness, report.verdict, reply.holds) {
            let failed = |error: StepError| Problem::new(error.to_string()).in_file(self.name());
            let (steps, loop_start) = searched.steps(&witness.trace).map_err(failed)?;
            reply.evidence = Some(self.run_evidence(formula, &steps, loop_start, holds)?);
        }
        Ok(reply)
    }

    fn name(&self) -> String {
        self.model.info().name.clone()
    }

    fn reply_to(&self, report: &SearchReport, refutes: bool) -> FormulaReply {
        let stop = report.runs.last().map_or(StopReason::Interrupted, |run| run.stop);
        // A path is real whatever was left out, but the absence of steps from its states is not.
        let is_plain = matches!(self.fragment, Fragment::Safety | Fragment::Reachability);
        let left_out = self.model.left_out().filter(|_| !is_plain || report.verdict != Verdict::Found);
        let holds = match report.verdict {
            _ if left_out.is_some() => None,
            Verdict::Found => Some(!refutes),
            // The whole product was visited with an exact store: no path decides the formula.
            Verdict::None => Some(refutes),
            Verdict::Measured | Verdict::Inconclusive => None,
        };
        let (states, considered) = report.runs.iter().fold((0, 0), |(states, considered), run| {
            (states + run.states, considered + run.considered.unwrap_or(run.states))
        });
        let reason = || left_out.clone().unwrap_or_else(|| stop.describe().to_owned());
        FormulaReply {
            holds,
            reason: holds.is_none().then(reason),
            stop,
            fragment: self.fragment,
            evidence: None,
            progress: Progress { states, considered, ..Progress::default() },
            warnings: self.warnings.clone(),
            strategy: None,
        }
    }

    /// A search by the portfolio within limits, while the game is undecided; `None` if it does not
    /// decide the formula either.
    pub(super) fn try_search(
        &self,
        formula: &FormulaText,
        search: &Search,
        (attempt, limits): (u64, Limits),
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<Option<FormulaReply>, Problem> {
        if self.fragment.run_refutes().is_none() {
            return Ok(None);
        }
        let (strategy, mut running) = (StrategyChoice::named("auto"), search.running.clone());
        if attempt > 0 {
            running.seed = hash::mix(running.seed, attempt);
        }
        let attempt = Search { strategy, limits, running, ..Search::default() };
        let reply = self.search(formula, &attempt, observer, interrupt)?;
        Ok(Some(reply).filter(|reply| reply.holds.is_some()))
    }

    /// Replaces the evidence by a shortest path that decides the formula, or a path with a loop, if
    /// finding it takes about as long as deciding the formula did.
    pub(super) fn shorten(
        &self,
        formula: &FormulaText,
        search: &Search,
        interrupt: &AtomicBool,
        started: Instant,
        reply: &mut FormulaReply,
    ) -> Result<(), Problem> {
        let time = search.limits.time.map(|most| most.saturating_sub(started.elapsed()));
        if time.is_some_and(|left| left.is_zero()) {
            return Ok(());
        }
        if self.fragment.run_refutes().is_none_or(|refutes| reply.holds != Some(!refutes)) {
            return Ok(());
        }
        let states = Some(4 * reply.progress.states + 1_000);
        let limits = Limits { states, time, ..search.limits.clone() };
        let strategy = StrategyChoice::named("bfs");
        let shortest = Search { strategy, limits, ..Search::default() };
        let again = self.search(formula, &shortest, &Silent, interrupt)?;
        if again.holds.is_some_and(|holds| reply.holds != Some(holds)) {
            let message = format!("a search and the game of `{}` disagree", formula.name());
            return Err(Problem { kind: ProblemKind::Internal, ..Problem::new(message) });
        }
        if again.evidence.as_ref().is_some_and(Evidence::is_plain) {
            reply.evidence = again.evidence;
        }
        Ok(())
    }
}
