//! Compares the product with the naive interpreter, for one specification or many.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use turnpike_mcrl2::explore::{Mcrl2Model, Options, Refusal};
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::{Program, check_specification};
use turnpike_model::Severity;

use super::compare::{Verdict, compare};
use super::data::Trouble;
use super::draw::Draw;
use super::generate;
use super::semantics::Interpreter;
use super::shrink::shrink;
use super::specification::{Infix, Operator, Process, Specification};
use super::system::{of_interpreter, of_product};

/// The result for a specification.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Both agree. `complete` says whether the product has no further states.
    Agreed { states: usize, naive: usize, complete: bool },
    /// The product refuses the specification, with this message.
    Refused(String),
    /// The product fails in a step that the interpreter has, with this message.
    Failed(String),
    /// The interpreter does not know the behaviour.
    Undecided(Trouble),
    /// The specification is not correct.
    Wrong(String),
    /// Both differ, or the product panicked.
    Different(String),
}

/// The number of states that each side expands.
pub(crate) const MOST: usize = 150;

/// Parses and checks a specification.
pub(crate) fn program(text: &str) -> Result<Program, String> {
    let (specification, mut diagnostics) = parse_specification(text);
    let program = match diagnostics.is_empty() {
        true => {
            let (program, more) = check_specification(&specification);
            diagnostics = more;
            program
        }
        false => None,
    };
    program.ok_or_else(|| diagnostics.first().map_or_else(String::new, |one| one.message.clone()))
}

/// Compares the product with the naive interpreter.
pub(crate) fn judge(text: &str, options: &Options, most: usize) -> Outcome {
    let program = match program(text) {
        Ok(program) => program,
        Err(message) => return Outcome::Wrong(message),
    };
    let naive = catch_unwind(AssertUnwindSafe(|| {
        of_interpreter(&mut Interpreter::new(program, &options.unhide), most)
    }));
    let Ok(naive) = naive else { return Outcome::Different("the naive interpreter panicked".to_owned()) };
    if naive.as_ref().is_err_and(|trouble| *trouble == Trouble::TooMany) {
        // The product cannot explore it either, or a test would take too long.
        return Outcome::Undecided(Trouble::TooMany);
    }
    let product = catch_unwind(AssertUnwindSafe(|| {
        let (model, _) = Mcrl2Model::new("random.mcrl2", text, options)?;
        Ok::<_, Refusal>(of_product(&model, most))
    }));
    let product = match product {
        Err(_) => return Outcome::Different("the product panicked".to_owned()),
        Ok(Ok(product)) => product,
        Ok(Err(refusal)) => {
            return match refusal.diagnostics.iter().find(|one| one.severity == Severity::Error) {
                Some(first) => Outcome::Refused(first.message.clone()),
                None => Outcome::Different("refused without a message".to_owned()),
            };
        }
    };
    let naive = match (naive, &product) {
        (Ok(naive), _) => naive,
        // An error that both find in a complete exploration.
        (Err(Trouble::NotOne), Ok(product)) if product.is_complete() => {
            return Outcome::Different("the product does not see that probabilities are wrong".to_owned());
        }
        (Err(trouble), _) => return Outcome::Undecided(trouble),
    };
    let product = match product {
        Ok(product) => product,
        Err(message) if message.starts_with("mistake:") => return Outcome::Different(message),
        Err(message) => return Outcome::Failed(message),
    };
    match compare(&product, &naive) {
        Verdict::Different(steps) => Outcome::Different(format!(
            "they differ within {} steps\nthe product:\n{}the naive interpreter:\n{}",
            steps - 1,
            product.text(30),
            naive.text(30)
        )),
        verdict => Outcome::Agreed {
            states: product.transitions.len() - 1,
            naive: naive.transitions.len() - 1,
            complete: verdict == Verdict::Same,
        },
    }
}

/// The origin of random specifications, and an option for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    pub(crate) seed: u64,
    pub(crate) keep_dead: bool,
}

/// A specification by its number, and the options of the product.
pub(crate) fn specification(series: Series, number: u64) -> (Specification, Options) {
    let mut draw = Draw::new(series.seed, number);
    let specification = generate::specification(&mut draw);
    let options = Options {
        // Summands are combined in advance, on demand, or partly in advance.
        combinations: draw.weighted(&[(3, None), (2, Some(0)), (1, Some(6))]),
        unhide: if draw.percent(10) { declared_of(&specification, "a") } else { Vec::new() },
        keep_dead: series.keep_dead,
        ..Options::default()
    };
    (specification, options)
}

/// The name, if the text declares it.
fn declared_of(specification: &Specification, name: &str) -> Vec<String> {
    let text = specification.text();
    let known = program(&text)
        .is_ok_and(|program| program.actions.iter().any(|action| program.text(action.name) == name));
    if known { vec![name.to_owned()] } else { Vec::new() }
}

/// Compares many specifications, those with numbers in the range, on some threads. `report`
/// receives each result, in any order, and returns whether to continue.
pub(crate) fn run(
    series: Series,
    numbers: std::ops::Range<u64>,
    threads: u64,
    report: &(dyn Fn(u64, &Outcome) -> bool + Sync),
) -> Tally {
    let next = AtomicU64::new(numbers.start);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return tally;
            }
            let (specification, options) = specification(series, number);
            let outcome = judge(&specification.text(), &options, MOST);
            tally.add(number, &specification, &outcome);
            if !report(number, &outcome) {
                next.store(numbers.end, Ordering::Relaxed);
            }
        }
    };
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            tally.join(worker.join().expect("a worker catches panics"));
        }
    });
    tally.different.sort_unstable();
    tally
}

/// The shrunk specification of a number for which both differ, and the difference.
pub(crate) fn smallest(series: Series, number: u64) -> String {
    let (specification, options) = specification(series, number);
    let differs = |one: &Specification| match judge(&one.text(), &options, MOST) {
        Outcome::Different(difference) => Some(difference),
        _ => None,
    };
    let small = shrink(&specification, &mut |one| differs(one).is_some());
    let how = match (options.combinations, &options.unhide[..]) {
        (None, []) => String::new(),
        (combinations, unhide) => format!("% combinations: {combinations:?}, unhide: {unhide:?}\n"),
    };
    let difference = differs(&small).unwrap_or_else(|| "they agree when asked again".to_owned());
    format!("{how}{}{difference}", small.text())
}

/// The results for many specifications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) specifications: u64,
    pub(crate) agreed: u64,
    pub(crate) complete: u64,
    pub(crate) states: u64,
    pub(crate) naive_states: u64,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) undecided: BTreeMap<String, u64>,
    pub(crate) wrong: BTreeMap<String, u64>,
    /// The numbers of specifications for which both differ.
    pub(crate) different: Vec<u64>,
    /// The number of specifications with each operator on which both agree.
    pub(crate) operators: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Adds a result.
    pub(crate) fn add(&mut self, number: u64, specification: &Specification, outcome: &Outcome) {
        self.specifications += 1;
        let count = |all: &mut BTreeMap<String, u64>, key: String| *all.entry(key).or_default() += 1;
        match outcome {
            Outcome::Agreed { states, naive, complete } => {
                self.agreed += 1;
                self.complete += u64::from(*complete);
                self.states += *states as u64;
                self.naive_states += *naive as u64;
                for operator in operators(specification) {
                    *self.operators.entry(operator).or_default() += 1;
                }
            }
            Outcome::Refused(message) => count(&mut self.refused, general(message)),
            Outcome::Failed(message) => count(&mut self.failed, general(message)),
            Outcome::Undecided(trouble) => count(&mut self.undecided, format!("{trouble:?}")),
            Outcome::Wrong(message) => count(&mut self.wrong, general(message)),
            Outcome::Different(_) => self.different.push(number),
        }
    }

    /// Adds another tally.
    pub(crate) fn join(&mut self, other: Tally) {
        self.specifications += other.specifications;
        self.agreed += other.agreed;
        self.complete += other.complete;
        self.states += other.states;
        self.naive_states += other.naive_states;
        self.different.extend(other.different);
        let pairs = [
            (&mut self.refused, other.refused),
            (&mut self.failed, other.failed),
            (&mut self.undecided, other.undecided),
            (&mut self.wrong, other.wrong),
        ];
        for (mine, theirs) in pairs {
            theirs.into_iter().for_each(|(key, count)| *mine.entry(key).or_default() += count);
        }
        for (operator, count) in other.operators {
            *self.operators.entry(operator).or_default() += count;
        }
    }
}

/// The beginning of a message, without digits, so that similar messages count as the same.
fn general(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.chars().filter(|letter| !letter.is_ascii_digit()).take(100).collect()
}

/// The operators in a specification.
pub(crate) fn operators(specification: &Specification) -> Vec<&'static str> {
    let mut found = std::collections::BTreeSet::new();
    for body in specification.bodies() {
        body.walk(&mut |one| {
            found.insert(match one {
                Process::Delta => "delta",
                Process::Tau => "tau",
                Process::Action(_, data) => {
                    if data.is_empty() {
                        "action"
                    } else {
                        "action with data"
                    }
                }
                Process::Call(..) => "P(e)",
                Process::Assign(..) => "P(x = e)",
                Process::Infix(Infix::Synchronise, ..) => "|",
                Process::Infix(operator, ..) => operator.text(),
                Process::Sum(..) => "sum",
                Process::Dist(..) => "dist",
                Process::If(_, _, None) => "c -> p",
                Process::If(_, _, Some(_)) => "c -> p <> q",
                Process::At(..) => "@",
                Process::Under(Operator::Allow(_), _) => "allow",
                Process::Under(Operator::Block(_), _) => "block",
                Process::Under(Operator::Hide(_), _) => "hide",
                Process::Under(Operator::Rename(_), _) => "rename",
                Process::Under(Operator::Comm(_), _) => "comm",
            });
        });
    }
    found.into_iter().collect()
}
