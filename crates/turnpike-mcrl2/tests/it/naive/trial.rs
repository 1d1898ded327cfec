//! One specification under both opinions, and what came of many.

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

/// What came of one specification.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Both say the same. How many states the product has and whether these are all, and how many
    /// the naive interpreter has.
    Agreed { states: usize, naive: usize, complete: bool },
    /// The product refuses it, with a message.
    Refused(String),
    /// The product cannot take a step that the interpreter can take, with its message.
    Failed(String),
    /// The interpreter cannot tell.
    Untold(Trouble),
    /// It is no correct specification.
    Wrong(String),
    /// They differ, or the product panicked: what both say.
    Different(String),
}

/// States expanded on either side.
pub(crate) const MOST: usize = 150;

/// Reads and checks a specification.
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

/// Holds what the product makes of a specification against the naive interpreter.
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
        // Too much for the product, too, or for the patience of a test.
        return Outcome::Untold(Trouble::TooMany);
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
        // An error that both must see, if they see everything.
        (Err(Trouble::NotOne), Ok(product)) if product.is_complete() => {
            return Outcome::Different("the product does not see that probabilities are wrong".to_owned());
        }
        (Err(trouble), _) => return Outcome::Untold(trouble),
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

/// Where random specifications come from, and how the product reads all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    pub(crate) seed: u64,
    pub(crate) keep_dead: bool,
}

/// The specification of a series and a number, and how the product is asked for it.
pub(crate) fn specification(series: Series, number: u64) -> (Specification, Options) {
    let mut draw = Draw::new(series.seed, number);
    let specification = generate::specification(&mut draw);
    let options = Options {
        // Summands are made beforehand, or where a state asks, or first the one and then the other.
        combinations: draw.weighted(&[(3, None), (2, Some(0)), (1, Some(6))]),
        unhide: if draw.percent(10) { declared_of(&specification, "a") } else { Vec::new() },
        keep_dead: series.keep_dead,
        ..Options::default()
    };
    (specification, options)
}

/// A name, if the text declares it.
fn declared_of(specification: &Specification, name: &str) -> Vec<String> {
    let text = specification.text();
    let known = program(&text)
        .is_ok_and(|program| program.actions.iter().any(|action| program.text(action.name) == name));
    if known { vec![name.to_owned()] } else { Vec::new() }
}

/// Holds many specifications against the naive interpreter: those with numbers in the range, on
/// some threads. `report` gets what came of each, in no particular order, and says whether to go
/// on.
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

/// The specification of a number about which the two differ, made small, with what both say of it.
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

/// What came of many specifications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) specifications: u64,
    pub(crate) agreed: u64,
    pub(crate) complete: u64,
    pub(crate) states: u64,
    pub(crate) naive_states: u64,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) untold: BTreeMap<String, u64>,
    pub(crate) wrong: BTreeMap<String, u64>,
    /// Numbers of specifications about which the two differ.
    pub(crate) different: Vec<u64>,
    /// How many of the specifications on which both agree have an operator.
    pub(crate) operators: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Adds what came of one.
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
            Outcome::Untold(trouble) => count(&mut self.untold, format!("{trouble:?}")),
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
            (&mut self.untold, other.untold),
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

/// A message without what it quotes.
fn general(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.chars().filter(|letter| !letter.is_ascii_digit()).take(100).collect()
}

/// The operators that occur.
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
