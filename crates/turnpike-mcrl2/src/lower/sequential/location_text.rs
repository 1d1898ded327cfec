//! Short descriptions of the next steps at a location.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::continuation::{ChainId, Chains, Rest};
use super::terms::Terms;
use super::unfold::Place;
use crate::syntax::ProcessOperator;
use crate::typed::expression;
use crate::typed::{Behaviour, BehaviourId, ProcessId, Program};

/// The most characters of a text.
const WIDTH: usize = 40;
/// The deepest nesting of terms that is printed.
const DEPTH: usize = 12;

/// Describes the locations of a component.
pub(super) struct LocationTexts<'a> {
    program: &'a Program,
    terms: &'a Terms,
    chains: &'a Chains,
    /// For the first term of process bodies: the processes, each with the terms that follow it.
    starts: FxHashMap<BehaviourId, Vec<(ProcessId, Vec<BehaviourId>)>>,
    /// The processes whose bodies contain a term. Empty if the component has only one process,
    /// whose name would add nothing.
    owners: FxHashMap<BehaviourId, Vec<ProcessId>>,
}

impl<'a> LocationTexts<'a> {
    pub(super) fn new(program: &'a Program, terms: &'a Terms, chains: &'a Chains) -> Self {
        let mut starts: FxHashMap<BehaviourId, Vec<_>> = FxHashMap::default();
        for (process, body) in terms.bodies() {
            let (mut first, mut following) = (body, Vec::new());
            while let Behaviour::Binary(ProcessOperator::Sequence, left, right) = program.behaviour(first) {
                following.push(terms.canonical(*right));
                first = terms.canonical(*left);
            }
            following.reverse();
            starts.entry(first).or_default().push((process, following));
        }
        // The process that covers most of the remaining terms comes first.
        starts.values_mut().for_each(|all| all.sort_by_key(|(_, following)| Reverse(following.len())));
        LocationTexts { program, terms, chains, starts, owners: find_owners(program, terms) }
    }

    /// The text of a location: the name of a process at its beginning, otherwise the process and
    /// the remaining term, such as `Off: put(n, number(1)) . First(n)`.
    pub(super) fn text(&self, place: Place) -> String {
        let (rest, chain) = match place {
            Place::Delta => return "delta".to_owned(),
            Place::Done => return "terminated".to_owned(),
            Place::Term(rest, chain) => (rest, chain),
        };
        let mut text = String::new();
        let start = self.process_at(rest, chain);
        let inside = if start.is_none() { self.process_around(rest, chain) } else { None };
        let mut chain = chain;
        match start {
            Some((process, after)) => {
                text.push_str(self.program.text(self.program.process(process).name));
                chain = after;
            }
            None => write(self.program, self.terms, rest.term, chain != ChainId::DONE, 0, &mut text),
        }
        if let Some((next, after)) = self.chains.first(chain) {
            text.push_str(" . ");
            write(self.program, self.terms, next.term, true, 0, &mut text);
            if after != ChainId::DONE {
                text.push_str(" . …");
            }
        } else if chain == ChainId::RETURN {
            text.push_str(" . …");
        }
        let text = shorten(text);
        match inside {
            Some(process) => format!("{}: {text}", self.program.text(self.program.process(process).name)),
            None => text,
        }
    }

    /// The process whose body contains a term, unless there are several.
    fn process_around(&self, rest: Rest, chain: ChainId) -> Option<ProcessId> {
        let owners = self.owners.get(&rest.term)?;
        if let [owner] = owners[..] {
            return Some(owner);
        }
        let (next, _) = self.chains.first(chain)?;
        let also = self.owners.get(&next.term)?;
        let mut both = owners.iter().filter(|owner| also.contains(owner));
        both.next().filter(|_| both.next().is_none()).copied()
    }

    /// The process that begins with this term and chain, and the continuation after it.
    fn process_at(&self, rest: Rest, chain: ChainId) -> Option<(ProcessId, ChainId)> {
        self.starts.get(&rest.term)?.iter().find_map(|(process, following)| {
            let mut chain = chain;
            for &term in following {
                let (next, after) = self.chains.first(chain)?;
                if next.term != term {
                    return None;
                }
                chain = after;
            }
            Some((*process, chain))
        })
    }
}

fn find_owners(program: &Program, terms: &Terms) -> FxHashMap<BehaviourId, Vec<ProcessId>> {
    let mut owners: FxHashMap<BehaviourId, Vec<ProcessId>> = FxHashMap::default();
    let bodies = terms.bodies();
    if bodies.len() < 2 {
        return owners;
    }
    for (process, body) in bodies {
        let mut todo = vec![body];
        while let Some(id) = todo.pop() {
            let known = owners.entry(terms.canonical(id)).or_default();
            if known.last() != Some(&process) {
                known.push(process);
                todo.extend(program.behaviour(id).parts());
            }
        }
    }
    owners
}

fn shorten(text: String) -> String {
    if text.chars().count() <= WIDTH {
        return text;
    }
    let mut short: String = text.chars().take(WIDTH - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

fn write(program: &Program, terms: &Terms, id: BehaviourId, inside: bool, depth: usize, text: &mut String) {
    if depth > DEPTH || text.len() > 4 * WIDTH {
        text.push('…');
        return;
    }
    let id = terms.canonical(id);
    if let Some(process) = terms.named_process(id) {
        text.push_str(program.text(program.process(process).name));
        return;
    }
    let go = |id: BehaviourId, inside: bool, text: &mut String| {
        write(program, terms, id, inside, depth + 1, text);
    };
    match program.behaviour(id) {
        Behaviour::Delta => text.push_str("delta"),
        Behaviour::Tau => text.push_str("tau"),
        Behaviour::Action { action, arguments } => {
            text.push_str(program.text(program.action(*action).name));
            data(program, arguments, text);
        }
        Behaviour::Call { process, arguments } => {
            text.push_str(program.text(program.process(*process).name));
            data(program, arguments, text);
        }
        Behaviour::Binary(ProcessOperator::Choice, ..) => {
            let mut first = id;
            while let Behaviour::Binary(ProcessOperator::Choice, left, _) = program.behaviour(first) {
                first = *left;
            }
            text.push_str(if inside { "(" } else { "" });
            go(first, false, text);
            text.push_str(if inside { " + …)" } else { " + …" });
        }
        Behaviour::Binary(operator, left, right) => {
            go(*left, true, text);
            let tight = *operator == ProcessOperator::Synchronise;
            text.push_str(if tight { "|" } else { " . " });
            go(*right, true, text);
        }
        Behaviour::At { body, time } => {
            go(*body, true, text);
            text.push_str(" @ ");
            text.push_str(&expression::text(program, *time));
        }
        Behaviour::Sum { variables, body } => {
            text.push_str("sum ");
            for (index, &one) in variables.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                text.push_str(program.text(program.variable(one).name));
            }
            text.push_str(". ");
            go(*body, true, text);
        }
        Behaviour::Dist { body, .. } => go(*body, inside, text),
        Behaviour::If { condition, then, .. } => {
            text.push_str(&expression::text(program, *condition));
            text.push_str(" -> ");
            go(*then, true, text);
        }
        _ => text.push('…'),
    }
}

fn data(program: &Program, arguments: &[crate::typed::ExpressionId], text: &mut String) {
    for (index, &argument) in arguments.iter().enumerate() {
        text.push_str(if index > 0 { ", " } else { "(" });
        if text.len() > 4 * WIDTH {
            text.push('…');
            break;
        }
        text.push_str(&expression::text(program, argument));
    }
    if !arguments.is_empty() {
        text.push(')');
    }
}
