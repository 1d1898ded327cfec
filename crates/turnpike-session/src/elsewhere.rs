//! Checks whether a failure under weak memory also exists under stronger memory.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use turnpike_search::{Limits, Verdict};

use crate::choice::Choice;
use crate::problem::Problem;
use crate::program::{MemoryModel, ProgramSource};
use crate::report::choices_of;
use crate::request::{Running, Search, StrategyChoice, WitnessSettings};
use crate::run::Silent;
use crate::session::Session;
use crate::source::Source;

/// After this many executions the failure counts as not found.
const EXECUTIONS: u64 = 2_000;

/// Whether a failure exists under another memory model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// The model, as in `--memory`.
    pub memory: &'static str,
    /// Whether the failure exists there.
    pub answer: Existence,
}

/// Whether a failure exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Existence {
    /// It exists, with this schedule.
    Yes(Vec<u32>),
    /// It was not found in this many executions.
    NotIn(u64),
    /// It does not exist: all executions were covered.
    No,
}

impl Elsewhere {
    /// `under sc: not in 2000 executions`.
    pub fn sentence(&self) -> String {
        let answer = match &self.answer {
            Existence::Yes(schedule) => {
                format!("yes, in {} steps (--memory {} --strategy exhaustive)", schedule.len(), self.memory)
            }
            Existence::NotIn(executions) => format!("not in {executions} executions"),
            Existence::No => "no".to_owned(),
        };
        format!("under {}: {answer}", self.memory)
    }
}

/// Searches for the same failure under each stronger model, exhaustively within a bound.
pub(crate) fn look(
    program: &ProgramSource,
    search: &Search,
    interrupt: &AtomicBool,
) -> Result<Vec<Elsewhere>, Problem> {
    let stronger: &[MemoryModel] = match program.memory {
        MemoryModel::Sc => &[],
        MemoryModel::Tso => &[MemoryModel::Sc],
        MemoryModel::Rc11 => &[MemoryModel::Sc, MemoryModel::Tso],
    };
    let search = Search {
        goals: search.goals.clone(),
        strategy: StrategyChoice { name: Some("exhaustive".to_owned()), ..StrategyChoice::default() },
        limits: Limits { executions: Some(EXECUTIONS), ..search.limits },
        running: Running { seed: search.running.seed, ..Running::default() },
        witness: WitnessSettings::default(),
    };
    let look_under = |&memory: &MemoryModel| {
        let source = Source::Program(ProgramSource { memory, reduction: None, ..program.clone() });
        let session = Session::open(&source)?;
        let (plan, prepared) = session.ready(&search)?;
        let findings = session.findings(&plan, &prepared, &Silent, interrupt)?;
        let executions = findings
            .runs
            .iter()
            .filter_map(|run| run.executions.as_ref())
            .map(|counts| counts.executions)
            .sum();
        let answer = match (findings.verdict, findings.witness()) {
            (Verdict::Found, Some(witness)) => Existence::Yes(choices_of(&witness.trace)),
            (Verdict::None, _) => Existence::No,
            _ => Existence::NotIn(executions),
        };
        Ok(Elsewhere { memory: memory.word(), answer })
    };
    stronger.iter().map(look_under).collect()
}
