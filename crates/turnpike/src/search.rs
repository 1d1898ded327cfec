use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use turnpike_model::native::{Native, NativeModel};
use turnpike_model::{Diagnostic, Model};
use turnpike_session::{
    Evidence, FormulaReply, Outcome, Plan, Problem, Search as Request, SearchError, SearchReport, Session,
    Shape, Silent, StrategyChoice, Verdict, WitnessReport,
};

use crate::check::say_passed;

/// A search over a model, ready to be narrowed down and run.
#[must_use = "a search does nothing until it is run"]
pub struct Search {
    model: Arc<dyn Model>,
    request: Request,
    mistake: Option<Diagnostic>,
}

impl Search {
    /// A search over a Rust-native model: the default portfolio, looking for any error the model shows.
    pub fn of<M: NativeModel + 'static>(model: M) -> Self {
        Search::over(Box::new(Native::new(model)))
    }

    /// A search over any model.
    pub fn over(model: Box<dyn Model>) -> Self {
        let mut request = Request::default();
        request.running.threads = Some(1);
        Search { model: model.into(), request, mistake: None }
    }

    /// Adds an objective in the words of the command line: `deadlock`, `action send`, `state counter > 3`,
    /// `assertion`.
    pub fn find(mut self, objective: &str) -> Self {
        match objective.parse() {
            Ok(objective) => self.request.goals.find.push(objective),
            Err(mistake) => self.mistake = Some(mistake),
        }
        self
    }

    /// Chooses a strategy by name, with its default options. See [`option`](Self::option) for others.
    pub fn strategy(mut self, name: &str) -> Self {
        self.request.strategy = StrategyChoice::named(name);
        self
    }

    /// Sets an option of the strategy, such as `width` of `highway`.
    pub fn option(mut self, name: &str, value: impl ToString) -> Self {
        self.request.strategy = self.request.strategy.with(name, value);
        self
    }

    /// Sets the seed; the same seed gives the same result.
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.running.seed = seed;
        self
    }

    /// Repeats the search with derived seeds.
    pub fn runs(mut self, runs: u64) -> Self {
        self.request.running.runs = Some(runs);
        self
    }

    /// Bounds the number of expansions of a run.
    pub fn max_states(mut self, states: u64) -> Self {
        self.request.limits.states = Some(states);
        self
    }

    /// Bounds the time of a run.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.request.limits.time = Some(time);
        self
    }

    /// Changes anything else.
    pub fn with_request(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.request);
        self
    }

    /// Runs the search. Without an objective it looks for `any-error`.
    pub fn run(mut self) -> Result<SearchReport, SearchError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake.into());
        }
        if self.request.goals.find.is_empty() {
            self.request.goals.find.push("any-error".parse()?);
        }
        let refused = |problem: Problem| SearchError::from(problem.into_diagnostic());
        let plan = Plan::of_model(self.model, &self.request).map_err(refused)?;
        plan.run(&|_| {}, &AtomicBool::new(false))
    }

    /// Decides a formula of the modal mu-calculus over the labels of the model: the text of the formula, or
    /// the path of a `.mcf` file. Without a strategy its game is solved; with one, a path that decides the
    /// formula is searched for. Labels are read as actions: `write(1)` is an action with a number.
    ///
    /// ```
    /// # use turnpike::{NativeModel, Search};
    /// # struct Lamp;
    /// # #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    /// # enum Switch { On, Off }
    /// # impl NativeModel for Lamp {
    /// #     type State = bool;
    /// #     type Action = Switch;
    /// #     fn initial(&self) -> bool { false }
    /// #     fn actions(&self, on: &bool, actions: &mut Vec<Switch>) {
    /// #         actions.push(if *on { Switch::Off } else { Switch::On });
    /// #     }
    /// #     fn next(&self, on: &bool, _: &Switch) -> Option<bool> { Some(!on) }
    /// # }
    /// let reply = Search::of(Lamp).decide("[true*.on.on]false").unwrap();
    /// assert_eq!(reply.holds, Some(true));
    /// ```
    ///
    /// # Errors
    /// The formula is wrong, or an objective was added too.
    pub fn decide(mut self, formula: &str) -> Result<FormulaReply, SearchError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake.into());
        }
        self.request.goals.formulas = vec![formula.to_owned()];
        // One thread solves a game, and its result does not depend on a seed.
        if self.request.strategy.name.is_none() {
            self.request.running.threads = None;
        }
        let refused = |problem: Problem| SearchError::from(problem.into_diagnostic());
        let session = Session::of_model(self.model);
        let report = session.run(&self.request, &Silent, &AtomicBool::new(false)).map_err(refused)?;
        let Outcome::Formulas(answers) = report.outcome else {
            return Err(Diagnostic::error("the formula was not decided").into());
        };
        let answer = answers.into_iter().next().ok_or_else(|| Diagnostic::error("there is no formula"))?;
        answer.reply.map_err(refused)
    }

    /// Decides a formula and panics with the path that violates it.
    ///
    /// # Panics
    /// When the formula is violated, cannot be decided, or is wrong.
    #[track_caller]
    pub fn assert_holds(self, formula: &str) {
        match self.decide(formula) {
            Ok(FormulaReply { holds: Some(true), .. }) => {}
            Ok(FormulaReply { holds: Some(false), evidence, .. }) => {
                panic!("violated: {formula}\n{}", evidence.map(|one| steps(&one)).unwrap_or_default())
            }
            Ok(reply) => panic!("not decided: {formula}: {}", reply.reason.unwrap_or_default()),
            Err(error) => panic!("{formula}: {error}"),
        }
    }

    /// Runs the search and panics with the witness when something is found. A search that passes says
    /// whether that is a proof, like [`check`](crate::check).
    ///
    /// # Panics
    /// When an objective is met, or the search cannot be carried out.
    #[track_caller]
    pub fn assert_absent(self) {
        let seed = self.request.running.seed;
        match self.run() {
            Ok(report) => {
                if let Some(witness) = report.witness() {
                    panic!("{}", describe(witness, seed));
                }
                assert!(report.verdict != Verdict::Found, "the objective was met");
                let worth = match report.verdict {
                    Verdict::None => "proved: nothing was found in any reachable state",
                    _ => "not proved: nothing was found, but not every reachable state was covered",
                };
                let thread = std::thread::current();
                say_passed(thread.name().filter(|name| *name != "main"), &worth);
            }
            Err(error) => panic!("the search failed: {error}"),
        }
    }
}

/// Evidence as the message of a failing test: its path, or its transitions if it has branches.
fn steps(evidence: &Evidence) -> String {
    let mut text = String::new();
    if let Shape::Branching = evidence.shape() {
        for edge in &evidence.edges {
            let _ = writeln!(text, "{:>4}  {}  {}", edge.from, edge.label, edge.to);
        }
        return text;
    }
    for (index, edge) in evidence.path().iter().enumerate() {
        let _ = writeln!(text, "{:>4}  {}", index + 1, edge.label);
    }
    if let Shape::Lasso { stem, .. } = evidence.shape() {
        let _ = writeln!(text, "      again from step {}", stem + 1);
    }
    text
}

/// A witness as the message of a failing test.
fn describe(witness: &WitnessReport, seed: u64) -> String {
    let mut text = format!("found: {} in {} steps (seed {seed})\n", witness.objective, witness.length);
    for (index, step) in witness.steps.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>4}  {}", index + 1, step.label);
    }
    text
}
