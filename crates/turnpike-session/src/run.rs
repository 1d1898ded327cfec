//! Carries out requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use turnpike_model::predicate::MeasureExpression;
use turnpike_model::{Diagnostic, Model, ModelInfo, ViolationKind};
use turnpike_program::ProgramModel;
use turnpike_search::{Event, Goal, Objective, SearchError, SearchReport, StopReason, Verdict};

use crate::choice::Choice;
use crate::conclusion::Conclusion;
use crate::elsewhere;
use crate::formulas::FormulaAnswer;
use crate::impossible;
use crate::plan::{Plan, Traits, build_strategy};
use crate::problem::Problem;
use crate::program::Visible;
use crate::purpose::Purpose;
use crate::report::{Answer, Findings, Outcome, ProgramFindings, Report, Scope, Shown};
use crate::request::{Expect, Request, Search};
use crate::session::{Prepared, Session};
use crate::source::Source;
use crate::warnings;
use crate::zeno::Zeno;

/// Receives events while a request is carried out, from any thread.
pub trait Observer: Sync {
    /// A search, or all questions of a request, are about to begin. `text_warnings` is the number
    /// of warnings about the text of the system. Reporting probable mistakes now is better than
    /// after hours.
    fn begins(&self, model: &str, text_warnings: usize, warnings: &[Diagnostic]) {
        let _ = (model, text_warnings, warnings);
    }

    /// The search showed a probable mistake.
    fn doubts(&self, warnings: &[Diagnostic]) {
        let _ = warnings;
    }

    /// An event of the search.
    fn event(&self, event: &Event) {
        let _ = event;
    }

    /// A query was answered. An error ends the request.
    fn answered(&self, answer: &Answer) -> Result<(), Problem> {
        let _ = answer;
        Ok(())
    }

    /// Progress in exploring the game of a formula.
    fn deciding(&self, progress: &turnpike_formula::Progress, elapsed: Duration) {
        let _ = (progress, elapsed);
    }

    /// A formula was decided. An error ends the request.
    fn judged(&self, answer: &FormulaAnswer) -> Result<(), Problem> {
        let _ = answer;
        Ok(())
    }
}

/// Ignores all events.
pub struct Silent;

impl Observer for Silent {}

impl Request {
    /// Opens the source and carries out the search.
    pub fn run(&self, observer: &dyn Observer, interrupt: &AtomicBool) -> Result<Report, Problem> {
        self.search.check()?;
        Session::open(&self.source)?.run(&self.search, observer, interrupt)
    }
}

impl Session {
    /// Carries out a search, or answers the queries of the model if nothing else is requested.
    pub fn run(
        &self,
        search: &Search,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<Report, Problem> {
        search.check()?;
        let started = Instant::now();
        if let Some(formulas) = self.formulas(search)? {
            return self.judge_all(search, formulas, observer, interrupt, started);
        }
        if let Some(queries) = self.queries(&search.goals)? {
            if self.checkpoints.write.is_some() || self.checkpoints.resume.is_some() {
                let error = Diagnostic::error("queries do not support checkpoints");
                return Err(error.help("name an objective to look for").into());
            }
            if self.spill.is_some() {
                let error = Diagnostic::error("queries do not move states to files");
                return Err(error.help("name an objective to look for").into());
            }
            return self.answer_all(search, queries, observer, interrupt, started);
        }
        if let Some(wrong @ (Expect::Satisfied | Expect::NotSatisfied)) = search.goals.expect {
            let message = format!("`{}` is the result of a query, not of an objective", wrong.word());
            let error = Diagnostic::error(message);
            return Err(error.help("the option `expect` takes found, none or any here").into());
        }
        let (plan, prepared) = self.ready(search)?;
        let mut warnings = plan.warnings.clone();
        warnings.extend(warnings::of_covering(&*plan.model, plan.options.cover));
        let weaker = prepared.program.as_ref().is_some_and(|program| program.asks_for_weaker_orders());
        warnings.extend(weaker.then(warnings::of_weaker_orders));
        observer.begins(&plan.model.info().name, prepared.warnings.len(), &warnings);
        let begun = Instant::now();
        let mut findings = self.findings(&plan, &prepared, observer, interrupt)?;
        findings.seconds = begun.elapsed().as_secs_f64();
        let unseen = impossible::never_seen(&*plan.model, &findings.objectives, &findings.runs);
        observer.doubts(&unseen);
        warnings.extend(unseen);
        findings.warnings = warnings;
        let met = findings.verdict == Verdict::Found;
        findings.zeno = prepared.zeno.filter(|zeno| zeno.is_worth_mentioning(met, search.goals.non_zeno));
        if let Some(program) = &prepared.program {
            self.describe_executions(program, search, &mut findings, interrupt)?;
        }
        let in_part = findings.scope.is_some();
        let each: Vec<Verdict> = findings.of_each(&search.goals).into_iter().map(|(_, one)| one).collect();
        let mut conclusion = match each.is_empty() {
            true => Conclusion::of_search(findings.verdict, in_part, &search.goals),
            false => Conclusion::of_all(&each, in_part, &search.goals),
        };
        if findings.verdict == Verdict::Measured
            && findings.runs.iter().any(|run| run.stop == StopReason::ProcessLost)
        {
            // Unlike a limit, this was not requested.
            conclusion = Conclusion::Inconclusive;
        }
        Ok(Report {
            model: findings.model.clone(),
            verdict: findings.verdict,
            conclusion,
            interrupted: interrupt.load(Ordering::Relaxed),
            seconds: findings.seconds,
            text_warnings: prepared.warnings,
            outcome: Outcome::Search(Box::new(findings)),
        })
    }

    /// Adds the incidents of the witnesses, or advice if nothing was found.
    fn describe_executions(
        &self,
        program: &ProgramModel,
        search: &Search,
        findings: &mut Findings,
        interrupt: &AtomicBool,
    ) -> Result<(), Problem> {
        let met = findings.verdict == Verdict::Found;
        let shown = |witness: &turnpike_search::WitnessReport| {
            let choices = crate::report::choices_of(&witness.trace);
            let incident = program
                .incident(&choices)
                .map_err(|error| Problem::new(error.to_string()).in_file(program.info().name.clone()))?;
            Ok(Shown::new(&witness.trace, incident))
        };
        let incidents = findings.best_witnesses().iter().map(shown).collect::<Result<_, Problem>>()?;
        if !met && !interrupt.load(Ordering::Relaxed) {
            // Without advice the result is the same.
            let advice = program.advise().ok().flatten();
            findings.advice = advice.map(|advice| advice.sentences()).unwrap_or_default();
        }
        let (arguments, hash) = (self.program_arguments(), program.info().fingerprint);
        let elsewhere = match self.source() {
            Source::Program(source) if met => elsewhere::look(source, search, interrupt)?,
            _ => Vec::new(),
        };
        findings.program = Some(ProgramFindings { arguments, hash, incidents, elsewhere });
        Ok(())
    }

    /// A search that is ready to run, for clients that make many of them. Queries are not
    /// supported.
    pub fn plan(&self, search: &Search) -> Result<Plan, Problem> {
        search.check()?;
        if let Some(formulas) = self.formulas(search)? {
            return self.plan_formula(search, formulas);
        }
        if self.queries(&search.goals)?.is_some() {
            let error = Diagnostic::error("queries cannot be planned ahead");
            return Err(error.help("name an objective to look for").into());
        }
        Ok(self.ready(search)?.0)
    }

    /// Prepares the system for the request.
    pub(crate) fn ready(&self, search: &Search) -> Result<(Plan, Prepared), Problem> {
        let objectives = self.objectives(search)?;
        let purpose = Purpose { non_zeno: search.goals.non_zeno, ..Purpose::of(&objectives) };
        if purpose.non_zeno && !purpose.cycles {
            return Err(Zeno::useless("this search does not look for cycles").into());
        }
        let prepared = self.prepare(&purpose)?;
        let strategy = build_strategy(search, prepared.model.info())?;
        let plan = Plan::new(prepared.model.clone(), strategy, search, objectives, self.traits())?
            .of_program(prepared.program.as_ref());
        let plan = plan.shared_out(self.processes.as_ref(), search).with_checkpoints(&self.checkpoints);
        let plan = plan.with_spill(self.spill.as_ref());
        Ok((plan, prepared))
    }

    /// The objectives, including the default ones.
    fn objectives(&self, search: &Search) -> Result<Vec<Objective>, Problem> {
        if search.goals.find.is_empty() {
            return Ok(vec![if self.is_program() { "any-error".parse()? } else { Objective::deadlock() }]);
        }
        // If time is counted in states that meet a condition, any condition will do here.
        let counted = |objective: &Objective| match objective.goal() {
            Goal::Accepting(sets) if search.goals.non_zeno && sets.is_empty() => "accepting true".parse(),
            _ => Ok(objective.clone()),
        };
        Ok(search.goals.find.iter().map(counted).collect::<Result<_, Diagnostic>>()?)
    }

    /// Runs the search of a plan. The caller adds time, warnings and incidents.
    pub(crate) fn findings(
        &self,
        plan: &Plan,
        prepared: &Prepared,
        observer: &dyn Observer,
        interrupt: &AtomicBool,
    ) -> Result<Findings, Problem> {
        let outcome = plan.run(&|event| observer.event(event), interrupt);
        let SearchReport { mut verdict, mut runs, .. } =
            outcome.map_err(|error| explain(error, &plan.options.objectives, &*plan.model))?;
        let mut left_out = match &prepared.program {
            Some(program) => program.left_out(),
            None => plan.model.left_out(),
        };
        let mut scope = self.scope(prepared);
        // If no memory access was visible, the absence of wrong ones means nothing.
        if scope.is_some() && plan.options.objectives.iter().any(is_about_memory) {
            scope = None;
            left_out = left_out.or_else(|| prepared.program.as_ref()?.options().unseen.clone());
            let verdicts = runs.iter_mut().map(|run| &mut run.verdict).chain([&mut verdict]);
            verdicts.filter(|one| **one == Verdict::None).for_each(|one| *one = Verdict::Inconclusive);
        }
        Ok(Findings {
            model: plan.model.info().name.clone(),
            strategy: plan.options.strategy.name(),
            objectives: plan.options.objectives.clone(),
            exact: plan.options.store.is_exact(),
            runs_asked: plan.options.runs,
            verdict,
            runs,
            warnings: Vec::new(),
            left_out,
            advice: Vec::new(),
            suppressed: prepared.program.as_ref().map(|program| program.suppressed()).unwrap_or_default(),
            bound: prepared.program.as_ref().and_then(|program| program.bound()),
            scope,
            zeno: None,
            program: None,
            seconds: 0.0,
        })
    }

    /// The visible part of a source, if it is restricted.
    pub fn scope(&self, prepared: &Prepared) -> Option<Scope> {
        prepared.program.as_ref()?.options().unseen.as_ref()?;
        let asked = matches!(self.source(), Source::Program(program) if program.visible == Visible::Sync);
        Some(Scope::Synchronisation { by_request: asked })
    }

    /// Properties of the source that the engine needs.
    pub(crate) fn traits(&self) -> Traits {
        match self.source() {
            Source::Model { reading, .. } => {
                Traits { cover: reading.leaves_out_covered(), ..Traits::default() }
            }
            Source::Program(program) => {
                Traits { program: true, source_dpor: program.source_dpor(), ..Traits::default() }
            }
        }
    }

    fn program_arguments(&self) -> Vec<String> {
        match self.source() {
            Source::Program(program) => {
                program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
            }
            Source::Model { .. } => Vec::new(),
        }
    }
}

/// An error of the engine, with the text that it refers to.
pub(crate) fn explain(error: SearchError, objectives: &[Objective], model: &dyn Model) -> Problem {
    let SearchError::Usage(diagnostic) = error else {
        return Problem::from(error).in_file(model.info().name.clone());
    };
    let expressions = objectives.iter().flat_map(|objective| match objective.goal() {
        Goal::State(condition) => std::slice::from_ref(condition),
        Goal::Accepting(sets) => sets,
        _ => &[],
    });
    let mut explorer = model.explorer();
    let is_wrong = |text: &&String| {
        let compiled = match explorer.predicates() {
            Some(predicates) => predicates.compile(text).map(|_| ()),
            None => MeasureExpression::parse(text, model.info()).map(|_| ()),
        };
        compiled.is_err_and(|error| error == diagnostic)
    };
    let source = expressions.into_iter().find(is_wrong).cloned();
    let diagnostic = explain_component(diagnostic, source.as_deref(), model.info());
    Problem { source, ..Problem::from(diagnostic) }
}

/// Components are printed like what conditions compare, but where these only compare measures, their
/// values cannot be compared.
fn explain_component(error: Diagnostic, condition: Option<&str>, info: &ModelInfo) -> Diagnostic {
    let name = error.span.as_ref().zip(condition).and_then(|(span, text)| text.get(span.range.clone()));
    match (name, info.measures.as_slice()) {
        (Some(name), [first, ..]) if info.parameters.iter().any(|parameter| parameter == name) => {
            let measures: Vec<&str> = info.measures.iter().map(|measure| measure.name.as_str()).collect();
            let message = format!("`{name}` is a component, but conditions of this model compare measures");
            Diagnostic { message, ..error }.help(format!(
                "the measures are {}; for example `state {} == 1`",
                measures.join(", "),
                first.name
            ))
        }
        _ => error,
    }
}

/// Whether only memory accesses can meet an objective.
fn is_about_memory(objective: &Objective) -> bool {
    matches!(objective.goal(), Goal::Violation(ViolationKind::Race | ViolationKind::Heap))
}
