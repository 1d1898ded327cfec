//! `turnpike formula`: ready formulas for common requirements.

use clap::ValueEnum;
use serde_json::json;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// Flags of `turnpike formula`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kind of requirement
    #[arg(value_enum, value_name = "PATTERN")]
    pattern: Pattern,
    /// The actions it is about, such as 'send(d)' or 'exists d: Nat. send(d)'
    #[arg(value_name = "ACTION")]
    actions: Vec<String>,
    /// Variables that the actions share, such as 'd: Nat'
    #[arg(long, value_name = "VARIABLES")]
    forall: Option<String>,
}

/// Kinds of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pattern {
    /// A never happens
    Absence,
    /// A can happen
    Existence,
    /// B happens only after A
    Precedence,
    /// After A, B happens on every path
    Response,
    /// After A, B happens unless a choice that leads to it is avoided for ever
    FairResponse,
    /// A stays possible, whatever happened
    AlwaysPossible,
    /// After A, B never happens
    NeverAfter,
    /// A happens again and again on some path
    InfinitelyOften,
    /// Something can always happen
    DeadlockFreedom,
}

impl Pattern {
    /// How many actions it needs.
    fn actions(self) -> usize {
        match self {
            Pattern::DeadlockFreedom => 0,
            Pattern::Absence | Pattern::Existence | Pattern::AlwaysPossible | Pattern::InfinitelyOften => 1,
            Pattern::Precedence | Pattern::Response | Pattern::FairResponse | Pattern::NeverAfter => 2,
        }
    }

    /// The formula; `bind` is a quantifier, if there is one, for a place where actions bound it.
    fn formula(self, actions: &[String], bind: &str) -> String {
        let action = |index: usize| format!("({})", actions[index]);
        match self {
            Pattern::Absence => format!("[true*] {bind}[{}]false", action(0)),
            Pattern::Existence => format!("{bind}<true* . {}>true", action(0)),
            Pattern::Precedence => format!("{bind}[(!{})* . {}]false", action(0), action(1)),
            Pattern::Response => {
                format!("[true*] {bind}[{}](mu X. [!{}]X && <true>true)", action(0), action(1))
            }
            Pattern::FairResponse => {
                let (first, second) = (action(0), action(1));
                format!("[true*] {bind}[{first} . (!{second})*]<(!{second})* . {second}>true")
            }
            Pattern::AlwaysPossible => format!("[true*] {bind}<true* . {}>true", action(0)),
            Pattern::NeverAfter => format!("[true*] {bind}[{} . true* . {}]false", action(0), action(1)),
            Pattern::InfinitelyOften => {
                format!("{bind}nu X. mu Y. <{0}>X || <!{0}>Y", action(0))
            }
            Pattern::DeadlockFreedom => "[true*]<true>true".to_owned(),
        }
    }
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let (needed, found) = (args.pattern.actions(), args.actions.len());
    if needed != found {
        let plural = if needed == 1 { "" } else { "s" };
        return Err(Failure::usage(format!("this pattern needs {needed} action{plural}, not {found}")));
    }
    let bind = args.forall.map(|variables| format!("forall {variables}. ")).unwrap_or_default();
    let formula = args.pattern.formula(&args.actions, &bind);
    match format {
        Format::Human => output::line(&formula),
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "formula",
            "formula": formula,
        })),
    }
    Ok(Exit::Clean)
}
