//! A short description of what happens next at a location.

use super::continuation::{ChainId, Chains};
use super::terms::Terms;
use super::unfold::Place;
use crate::syntax::ProcessOperator;
use crate::typed::expression;
use crate::typed::{Behaviour, BehaviourId, Program};

/// Texts have at most this many characters.
const WIDTH: usize = 40;
/// How deep terms are looked into.
const DEPTH: usize = 12;

/// The text of a location.
pub(super) fn place_text(program: &Program, terms: &Terms, chains: &Chains, place: Place) -> String {
    let (rest, chain) = match place {
        Place::Delta => return "delta".to_owned(),
        Place::Done => return "terminated".to_owned(),
        Place::Term(rest, chain) => (rest, chain),
    };
    let mut text = String::new();
    write(program, terms, rest.term, chain != ChainId::DONE, 0, &mut text);
    if let Some((next, after)) = chains.first(chain) {
        text.push_str(" . ");
        write(program, terms, next.term, true, 0, &mut text);
        if after != ChainId::DONE {
            text.push_str(" . …");
        }
    } else if chain == ChainId::RETURN {
        text.push_str(" . …");
    }
    shorten(text)
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
