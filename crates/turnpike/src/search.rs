use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use turnpike_model::native::{Native, NativeModel};
use turnpike_model::{Diagnostic, Model};
use turnpike_session::{
    Plan, Problem, Search as Request, SearchError, SearchReport, StrategyChoice, Verdict, WitnessReport,
};

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

    /// Runs the search and panics with the witness when something is found.
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
            }
            Err(error) => panic!("the search failed: {error}"),
        }
    }
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
