//! `turnpike formula`: ready formulas for common requirements.

use clap::ValueEnum;
use serde_json::json;
use turnpike_mcrl2::syntax::formula::{Action, Regular, RegularKind, State, StateKind};
use turnpike_mcrl2::syntax::{Data, DataId, Symbol, Symbols, Tree, parse_formula};
use turnpike_model::Diagnostic;

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
    let asked = args.forall.clone().unwrap_or_default();
    let free = free_letters(&args.actions, &args.pattern.formula(&args.actions, &quantifier(&asked)))?;
    refuse_unused(&asked, &args.actions)?;
    let assumed: Vec<String> = free.iter().map(|name| format!("{name}: {}", name.to_uppercase())).collect();
    let variables = std::iter::once(&asked).chain(&assumed).map(String::as_str);
    let variables: Vec<&str> = variables.filter(|one| !one.is_empty()).collect();
    let formula = args.pattern.formula(&args.actions, &quantifier(&variables.join(", ")));
    let doubt = (!assumed.is_empty()).then(|| {
        let message = format!("the sorts of variables are guesses: {}", assumed.join(", "));
        Diagnostic::warning(message).help(format!("name them, for example: --forall '{}: Nat'", free[0]))
    });
    match format {
        Format::Human => {
            output::line(&formula);
            doubt.iter().for_each(|one| output::diagnostic("", None, one));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "formula",
            "formula": formula,
            "warnings": doubt.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(),
        })),
    }
    Ok(Exit::Clean)
}

/// Refuses shared variables that no action has: they would be misspelt ones.
fn refuse_unused(asked: &str, actions: &[String]) -> Outcome<()> {
    let (parsed, _) = parse_formula(&format!("{}true", quantifier(asked)), &Symbols::default());
    let Some(file) = parsed else { return Ok(()) };
    let StateKind::Quantifier { variables, .. } = &file.formula.kind else { return Ok(()) };
    let separates = |c: char| !c.is_alphanumeric() && c != '_' && c != '\'';
    for variable in variables {
        let name = file.tree.text(variable.name.symbol);
        if !actions.iter().any(|action| action.split(separates).any(|word| word == name)) {
            return Err(Failure::usage(format!("no action has the variable `{name}` of --forall")));
        }
    }
    Ok(())
}

/// A quantifier over variables, if there are any.
fn quantifier(variables: &str) -> String {
    match variables.is_empty() {
        true => String::new(),
        false => format!("forall {variables}. "),
    }
}

/// The single letters that nothing binds: they are variables, not constants. Refuses what is not a formula.
fn free_letters(actions: &[String], formula: &str) -> Outcome<Vec<String>> {
    for action in actions {
        let (start, end) = ("[", "]true");
        let (parsed, diagnostics) = parse_formula(&format!("{start}{action}{end}"), &Symbols::default());
        if parsed.is_none() {
            let why = diagnostics.first().map(|one| within(one, start.len(), action)).unwrap_or_default();
            return Err(Failure::usage(format!("`{action}` is not an action formula{why}")));
        }
    }
    let (parsed, diagnostics) = parse_formula(formula, &Symbols::default());
    let Some(file) = parsed else {
        return Err(Failure {
            source: Some(formula.to_owned()),
            diagnostics,
            ..Failure::usage("").in_file("the formula")
        });
    };
    let mut walk = Walk { tree: &file.tree, bound: Vec::new(), free: Vec::new() };
    walk.state(&file.formula);
    Ok(walk.free)
}

/// Why an action is refused, without what was written around it up to `start` and behind it.
fn within(wrong: &Diagnostic, start: usize, action: &str) -> String {
    let inside = |at: usize| (start..start + action.len()).contains(&at);
    match &wrong.span {
        Some(span) if !inside(span.range.start) => ": it ends too early or too late".to_owned(),
        _ => format!(
            ": {}",
            wrong.message.replace("is closed by `]`", "is never closed").replace("`]` or ", "")
        ),
    }
}

/// Looks for single letters among the arguments of actions that nothing binds.
struct Walk<'t> {
    tree: &'t Tree,
    bound: Vec<Symbol>,
    free: Vec<String>,
}

impl Walk<'_> {
    fn state(&mut self, state: &State) {
        let mark = self.bound.len();
        match &state.kind {
            StateKind::Data(_) | StateKind::Call { .. } => {}
            StateKind::Not(body) | StateKind::FixedPoint { body, .. } => self.state(body),
            StateKind::Quantifier { variables, body, .. } => {
                self.bound.extend(variables.iter().map(|one| one.name.symbol));
                self.state(body);
            }
            StateKind::Binary(_, left, right) => {
                self.state(left);
                self.state(right);
            }
            StateKind::Modality { regular, body, .. } => {
                self.regular(regular);
                self.state(body);
            }
        }
        self.bound.truncate(mark);
    }

    fn regular(&mut self, regular: &Regular) {
        match &regular.kind {
            RegularKind::Action(action) => self.action(action),
            RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => {
                self.regular(left);
                self.regular(right);
            }
            RegularKind::Star(body) | RegularKind::Plus(body) => self.regular(body),
        }
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Data(_) => {}
            Action::Multi(actions) => {
                for &argument in actions.iter().flat_map(|one| one.1.iter()) {
                    self.argument(argument);
                }
            }
            Action::Not(body) => self.action(body),
            Action::Binary(_, left, right) => {
                self.action(left);
                self.action(right);
            }
            Action::Quantifier { variables, body, .. } => {
                let mark = self.bound.len();
                self.bound.extend(variables.iter().map(|one| one.name.symbol));
                self.action(body);
                self.bound.truncate(mark);
            }
        }
    }

    fn argument(&mut self, argument: DataId) {
        match self.tree.data(argument) {
            Data::Name(name) => {
                let text = self.tree.text(*name);
                let is_letter = text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_lowercase());
                if is_letter && !self.bound.contains(name) && !self.free.iter().any(|one| one == text) {
                    self.free.push(text.to_owned());
                }
            }
            Data::Unary(_, inner) => self.argument(*inner),
            Data::Binary(_, left, right) => {
                self.argument(*left);
                self.argument(*right);
            }
            Data::Apply { arguments, .. } | Data::List(arguments) | Data::Set(arguments) => {
                arguments.iter().for_each(|&one| self.argument(one));
            }
            _ => {}
        }
    }
}
