//! Normalises arguments to the form that labels print. Data have many texts, such as `03`, `{2, 1}`
//! or `1 + 2`.

use std::collections::BTreeSet;

use turnpike_model::label::{Action, TAU};
use turnpike_model::{Diagnostic, Pattern, Word};

use super::Mcrl2Model;
use super::extended::ExtendedProgram;
use crate::compile::evaluator::{Machine, Scope};
use crate::compile::process::Network;
use crate::syntax::parse_data_expression;
use crate::typed::SortId;

/// Actions as a label prints them; `None` if no label is printed so: `a()` is not `a`.
pub(super) fn join(actions: &[Action]) -> Option<String> {
    let mut text = String::new();
    for action in actions {
        if !text.is_empty() {
            text.push('|');
        }
        text.push_str(&action.name);
        if !action.arguments.is_empty() {
            text.push_str(&format!("({})", action.arguments.join(", ")));
        }
    }
    match actions.is_empty() {
        true => Some(TAU.to_owned()),
        false => Some(text).filter(|text| !text.is_empty()),
    }
}

/// Converts a decimal number such as `0.5` to the fraction that data are printed with.
fn fraction(text: &str) -> Option<String> {
    let (whole, digits) = text.split_once('.')?;
    let mut below = 10u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let mut above: u64 = format!("{whole}{digits}").parse().ok()?;
    let (mut one, mut other) = (above, below);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    (above, below) = (above / one.max(1), below / one.max(1));
    Some(format!("{above}/{below}"))
}

/// Parses data and prints them as labels do.
pub(super) struct Speller<'n> {
    network: &'n Network,
    program: ExtendedProgram<'n>,
    machine: Machine,
}

/// The problem with an argument.
enum Mistake {
    /// It has a sort, but another one.
    Sort,
    /// It is not well typed.
    Data(Diagnostic),
}

impl<'n> Speller<'n> {
    pub(super) fn new(model: &'n Mcrl2Model) -> Self {
        let network = &model.network;
        Speller { network, program: model.extended_program(), machine: Machine::new(network.rules.clone()) }
    }

    /// A number as labels print it.
    pub(super) fn number(&mut self, text: &str) -> Option<String> {
        self.read(text, SortId::REAL).ok()
    }

    /// Replaces the arguments of an action without wildcards by the texts that labels print.
    pub(super) fn spell(&mut self, action: &mut Action) -> Result<(), Word> {
        if Pattern::new(&action.name).is_open() {
            return Ok(());
        }
        let count = action.arguments.len();
        let star = action.arguments.iter().position(|argument| argument.contains('*'));
        let fits = |sorts: &[SortId]| match star {
            None => sorts.len() == count,
            // The wildcard may stand for several arguments.
            Some(_) => sorts.len() >= count,
        };
        let named = self.program.actions.iter().filter(|one| self.program.text(one.name) == action.name);
        let declared: Vec<Box<[SortId]>> =
            named.map(|one| one.sorts.clone()).filter(|one| fits(one)).collect();
        if declared.is_empty() {
            return Ok(());
        }
        for position in 0..count {
            if Pattern::new(&action.arguments[position]).is_open() {
                continue;
            }
            let after_star = star.is_some_and(|star| star < position);
            let sort = |sorts: &[SortId]| match after_star {
                true => sorts[sorts.len() - (count - position)],
                false => sorts[position],
            };
            let sorts: BTreeSet<SortId> = declared.iter().map(|sorts| sort(sorts)).collect();
            match self.spell_argument(action, position, &sorts) {
                Ok(text) => action.arguments[position] = text,
                // An earlier wildcard may reach into the next action.
                Err(_) if after_star => {}
                Err(word) => return Err(word),
            }
        }
        Ok(())
    }

    fn spell_argument(
        &mut self,
        action: &Action,
        position: usize,
        sorts: &BTreeSet<SortId>,
    ) -> Result<String, Word> {
        let (name, argument) = (action.name.clone(), action.arguments[position].clone());
        let position = position + 1;
        if argument.is_empty() {
            let problem = "an argument is missing".to_owned();
            return Err(Word::BadArgument { name, position, argument, problem, help: None });
        }
        let mut texts: Vec<String> = Vec::new();
        let mut problem = None;
        for &sort in sorts {
            match self.read(&argument, sort) {
                Ok(text) if texts.contains(&text) => {}
                Ok(text) => texts.push(text),
                Err(Mistake::Sort) => {}
                Err(Mistake::Data(error)) => problem = Some(error),
            }
        }
        let same = |text: &&String| Pattern::new(text) == Pattern::new(&argument);
        match (texts.as_slice(), problem) {
            ([only], _) => Ok(only.clone()),
            ([_, ..], _) => match texts.iter().find(same) {
                Some(_) => Ok(argument),
                None => Err(Word::AmbiguousArgument { name, position, argument, readings: texts }),
            },
            ([], Some(error)) => {
                let Diagnostic { message: problem, help, .. } = error;
                let help = fraction(&argument).map(|one| format!("write the fraction `{one}`")).or(help);
                Err(Word::BadArgument { name, position, argument, problem, help })
            }
            ([], None) => {
                let sorts: Vec<String> = sorts.iter().map(|&sort| self.program.sort_text(sort)).collect();
                Err(Word::WrongSort { name, position, sort: sorts.join(" or "), argument })
            }
        }
    }

    /// Evaluates a text and prints its value.
    fn read(&mut self, text: &str, sort: SortId) -> Result<String, Mistake> {
        let first = |errors: Vec<Diagnostic>| {
            let error = errors.into_iter().next();
            Mistake::Data(error.unwrap_or_else(|| Diagnostic::error("this is not a data expression")))
        };
        let (parsed, errors) = parse_data_expression(text, &self.program.words);
        let Some(parsed) = parsed else { return Err(first(errors)) };
        let globals = self.program.globals.clone();
        let (tree, root) = (&parsed.tree, parsed.root);
        let Ok(typed) = self.program.check_expression(tree, root, &globals, Some(sort)) else {
            self.program.check_expression(tree, root, &globals, None).map_err(first)?;
            return Err(Mistake::Sort);
        };
        let mut scope = Scope::default();
        let constants = self.network.constants.iter().map(|&(_, (variable, value))| (variable, value));
        let constants: Vec<_> = constants.map(|(variable, value)| (scope.slot(variable), value)).collect();
        let code = self.network.rules.compile(&self.program, typed, &mut scope);
        let base = self.machine.enter(scope.size());
        for (slot, value) in constants {
            self.machine.set_slot(base, slot, value);
        }
        let value = self.machine.evaluate(&code, base);
        self.machine.leave(base);
        // A text without a value is left as it is.
        Ok(value.map_or_else(|_| text.to_owned(), |value| self.network.text(&self.machine.heap, value)))
    }
}
