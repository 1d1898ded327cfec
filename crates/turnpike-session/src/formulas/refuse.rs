//! Refuses requests that formulas do not support. Ignoring them would change the meaning of the
//! verdict.

use turnpike_formula::Fragment;
use turnpike_mcrl2::syntax::{Symbols, parse_formula};
use turnpike_model::{Diagnostic, Model};
use turnpike_timed::network::Network;

use super::{FormulaText, mistake};
use crate::options::Section;
use crate::problem::Problem;
use crate::request::{Expect, Goals, Search};
use crate::session::Session;

/// The goals that apply to formulas.
const GOALS: [&str; 4] = ["formula", "expect", "strict", "allow-unknown"];

/// Refuses systems that formulas do not apply to.
pub(super) fn refuse_system(session: &Session) -> Result<(), Problem> {
    if session.is_program() {
        return Err(Problem::new("the option `formula` is for models, not for programs"));
    }
    Ok(())
}

/// Refuses formulas about timed automata that zones do not preserve: a step between zones means
/// that some state of one leads to the other, not that all do. So only finite paths are those of
/// the automata.
pub(super) fn refuse_zones(model: &dyn Model, fragment: Fragment) -> Result<(), Problem> {
    let name = &model.info().name;
    if model.info().virtual_root {
        return Err(Problem::new(format!(
            "formulas about {name} are not supported, because it has several initial states"
        )));
    }
    if model.approximation().is_some() {
        let message = format!("formulas about {name} are not supported, because it has stopwatches");
        return Err(Problem::new(message));
    }
    if matches!(fragment, Fragment::Safety | Fragment::Reachability) {
        return Ok(());
    }
    let message = format!(
        "{name} is a timed automaton, about which only safety and reachability formulas are supported, not \
         those of the fragment {fragment}"
    );
    let error = Diagnostic::error(message);
    Err(error.help("zones preserve paths, but not the choices of a state; use the option `query`").into())
}

/// Refuses channels with the names of actions for locations.
pub(super) fn refuse_ambiguous_channels(network: &Network, locations: &[String]) -> Result<(), Problem> {
    let mut names = network.channels.iter().map(|one| &one.name).chain(&network.events);
    let is_taken = |name: &&String| locations.iter().any(|one| Some(one.as_str()) == name.split('[').next());
    match names.find(is_taken) {
        Some(name) => {
            let message = format!("channel {name} has the name of an action for locations");
            let error = Diagnostic::error(message);
            Err(error.help("formulas call the locations of a process P `at_P`; rename the channel").into())
        }
        None => Ok(()),
    }
}

/// Refuses options that would be ignored in deciding formulas.
pub(super) fn refuse_options(search: &Search) -> Result<(), Problem> {
    if let Some(wrong @ (Expect::Found | Expect::None)) = search.goals.expect {
        let message = format!("`{}` is not the result of a formula", crate::Choice::word(wrong));
        let error = Diagnostic::error(message);
        return Err(error.help("the option `expect` takes satisfied, not-satisfied or any here").into());
    }
    let is_useless = |name: &str| !GOALS.contains(&name);
    let useless =
        Goals::OPTIONS.iter().find(|row| is_useless(row.name) && !(row.get)(&search.goals).is_empty());
    if let Some(row) = useless {
        let message = format!("the option `{}` does not apply to formulas", row.name);
        return Err(Problem::new(message));
    }
    if search.strategy.name.is_some() {
        return Ok(());
    }
    let depth = search.limits.depth.map(|_| "max-depth");
    let running = search.running.given().into_iter().map(|given| given.name);
    let running = running.filter(|name| *name != "seed").collect::<Vec<_>>();
    let option = depth.or_else(|| search.strategy.options.keys().next().map(String::as_str));
    let option = option.or_else(|| running.first().map(String::as_str));
    match option {
        None => Ok(()),
        Some(option) => {
            let error = Diagnostic::error(format!("the option `{option}` needs a strategy"));
            Err(error.help("without the option `strategy`, the game of the formula is solved").into())
        }
    }
}

/// Refuses checkpoints and other processes, which only searches use.
pub(super) fn refuse_aids(session: &Session) -> Result<(), Problem> {
    if session.checkpoints.write.is_some() || session.checkpoints.resume.is_some() {
        return Err(Problem::new("formulas do not support checkpoints"));
    }
    if session.spill.is_some() {
        return Err(Problem::new("formulas do not move states to files"));
    }
    match session.processes {
        Some(_) => Err(Problem::new("formulas can only be decided by a single process")),
        None => Ok(()),
    }
}

/// Refuses declarations in formulas about systems without declarations.
pub(super) fn refuse_declarations(session: &Session, formula: &FormulaText) -> Result<(), Problem> {
    let (file, _) = parse_formula(&formula.text, &Symbols::default());
    let Some(file) = file.filter(|file| !file.sections.is_empty()) else { return Ok(()) };
    let message = format!(
        "{} is not an mCRL2 specification, so its formulas cannot contain declarations",
        session.name()
    );
    let error = Diagnostic::error(message).at(file.declarations.range(), "");
    let help = "actions and the sort `Data` come from the labels; remove the declarations";
    Err(mistake(formula, vec![error.help(help)]))
}
