//! Distinguishes successful termination from deadlock.

use rustc_hash::FxHashSet;

use crate::compile::evaluator::Scope;
use crate::lower::{self, Goto};
use crate::typed::Program;

/// How to recognise a state in which all components have terminated.
#[derive(Debug)]
pub(crate) enum Termination {
    /// There is no such state.
    Never,
    /// The location words all hold locations of this set, which happens in no other way.
    Locations(FxHashSet<(u32, u32)>),
    /// A dedicated word is 1.
    Word(u32),
}

/// Whether a summand is the termination of all components.
pub(crate) fn is_termination(program: &Program, summand: &lower::Summand) -> bool {
    matches!(&*summand.actions, [only] if only.arguments.is_empty() && program.text(only.name) == "Terminate")
}

/// Recognises termination by the locations if they determine it, otherwise by a dedicated word.
pub(crate) fn find_termination(
    program: &Program,
    parameters: &[lower::Parameter],
    summands: &[lower::Summand],
    initial: &[lower::Update],
    scope: &mut Scope,
) -> Termination {
    let (mut ended, mut others) = (FxHashSet::default(), FxHashSet::default());
    initial.iter().for_each(|update| locations_of(update, &mut others));
    for summand in summands {
        let into = if is_termination(program, summand) { &mut ended } else { &mut others };
        summand.updates.iter().for_each(|update| locations_of(update, into));
    }
    let certain = (0..parameters.len() as u32).any(|word| {
        let mut here = ended.iter().filter(|&&(control, _)| control == word).peekable();
        here.peek().is_some() && here.all(|place| !others.contains(place))
    });
    match (ended.is_empty(), certain) {
        (true, _) => Termination::Never,
        (false, true) => Termination::Locations(ended),
        (false, false) => Termination::Word(scope.fresh()),
    }
}

/// All locations that an update may lead to, with their words.
fn locations_of(update: &lower::Update, out: &mut FxHashSet<(u32, u32)>) {
    let mut rest = vec![update];
    while let Some(update) = rest.pop() {
        match update {
            lower::Update::If { then, otherwise, .. } => rest.extend([&**then, &**otherwise]),
            lower::Update::Go { location: Goto::Parameter(Some((word, location))), .. } => {
                out.insert((*word as u32, *location));
            }
            lower::Update::Go { .. } => {}
        }
    }
}
