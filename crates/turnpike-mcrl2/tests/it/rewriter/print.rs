//! Prints terms like the mCRL2 tools.

use super::term::{Base, Node, STACK, Term, Var};
use turnpike_mcrl2::syntax::{Associativity, Binder};
use turnpike_mcrl2::typed::expression::{infix, prefix};
use turnpike_mcrl2::typed::{Builtin, Program, SymbolKind};

const TIGHT: u8 = 14;
const PREFIX: u8 = 13;

impl Term {
    /// The text of the term.
    pub(crate) fn text(&self, program: &Program) -> String {
        let mut text = String::new();
        write(program, self, 0, &mut text);
        text
    }
}

fn name(program: &Program, variable: Var) -> String {
    let name = program.text(program.variable(variable.id).name);
    if variable.copy == 0 { name.to_owned() } else { format!("{name}_{}", variable.copy) }
}

fn declared(program: &Program, variable: Var) -> String {
    format!("{}: {}", name(program, variable), program.sort_text(program.variable(variable.id).sort))
}

fn level(program: &Program, term: &Term) -> u8 {
    match term.node() {
        Node::Where(..) => 0,
        Node::Binder(..) => 1,
        Node::Number(value) if !value.is_int() => 11,
        Node::Number(value) if *value < dashu_ratio::RBig::ZERO => PREFIX,
        Node::Set { base: Base::Everything, .. } => PREFIX,
        Node::Call(symbol, _) => match program.symbol(*symbol).kind {
            SymbolKind::Builtin(builtin) => match infix(builtin) {
                Some(operator) => operator.level(),
                None if prefix(builtin).is_some() => PREFIX,
                None => TIGHT,
            },
            _ => TIGHT,
        },
        _ => TIGHT,
    }
}

fn write(program: &Program, term: &Term, least: u8, text: &mut String) {
    stacker::maybe_grow(STACK.0, STACK.1, || {
        let enclosed = level(program, term) < least;
        if enclosed {
            text.push('(');
        }
        inside(program, term, text);
        if enclosed {
            text.push(')');
        }
    });
}

fn all(program: &Program, terms: &[Term], open: &str, close: &str, text: &mut String) {
    text.push_str(open);
    for (index, term) in terms.iter().enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        write(program, term, 0, text);
    }
    text.push_str(close);
}

// Long because each kind of term has a case.
fn inside(program: &Program, term: &Term, text: &mut String) {
    match term.node() {
        Node::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Node::Number(value) if value.is_int() => text.push_str(&value.numerator().to_string()),
        Node::Number(value) => text.push_str(&format!("{} / {}", value.numerator(), value.denominator())),
        Node::Variable(variable) => text.push_str(&name(program, *variable)),
        Node::List(elements) => all(program, elements, "[", "]", text),
        Node::Set { base: Base::Nothing, elements } => all(program, elements, "{", "}", text),
        Node::Set { base: Base::Everything, elements } => all(program, elements, "!{", "}", text),
        Node::Set { base: Base::By(function), elements } => {
            comprehension(program, function, text, |body, variable, text| {
                if elements.is_empty() {
                    return write(program, body, 0, text);
                }
                write(program, body, 6, text);
                text.push_str(&format!(" != {} in ", name(program, variable)));
                all(program, elements, "{", "}", text);
            });
        }
        Node::Bag { base: None, entries } => {
            text.push('{');
            for (index, (element, count)) in entries.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                write(program, element, 2, text);
                text.push_str(": ");
                write(program, count, 2, text);
            }
            text.push_str(if entries.is_empty() { ":}" } else { "}" });
        }
        Node::Bag { base: Some(function), entries } => {
            comprehension(program, function, text, |body, variable, text| {
                for (element, count) in entries {
                    text.push_str(&format!("if({} == ", name(program, variable)));
                    write(program, element, 6, text);
                    text.push_str(", ");
                    write(program, count, 0, text);
                    text.push_str(", ");
                }
                write(program, body, 0, text);
                text.push_str(&")".repeat(entries.len()));
            });
        }
        Node::Symbol(symbol) => text.push_str(program.text(program.symbol(*symbol).name)),
        Node::Call(symbol, arguments) => {
            let declared = program.symbol(*symbol);
            if let SymbolKind::Builtin(builtin) = declared.kind {
                if let Some(operator) = infix(builtin) {
                    let (at_left, at_right) = match operator.associativity() {
                        Associativity::Left => (operator.level(), operator.level() + 1),
                        Associativity::Right => (operator.level() + 1, operator.level()),
                    };
                    write(program, &arguments[0], at_left, text);
                    text.push_str(&format!(" {} ", operator.text()));
                    return write(program, &arguments[1], at_right, text);
                }
                if let Some(operator) = prefix(builtin) {
                    text.push_str(operator.text());
                    return write(program, &arguments[0], PREFIX, text);
                }
                if builtin == Builtin::Update {
                    write(program, &arguments[0], TIGHT, text);
                    return entry(program, &arguments[1], &arguments[2], text);
                }
            }
            text.push_str(program.text(declared.name));
            all(program, arguments, "(", ")", text);
        }
        Node::Apply(function, arguments) => {
            write(program, function, TIGHT, text);
            all(program, arguments, "(", ")", text);
        }
        Node::Binder(binder, variables, body) => {
            let sort = |variable: Var| program.variable(variable.id).sort;
            let groups: Vec<String> = variables
                .chunk_by(|&one, &other| sort(one) == sort(other))
                .map(|group| {
                    let names: Vec<String> = group.iter().map(|&one| name(program, one)).collect();
                    format!("{}: {}", names.join(","), program.sort_text(sort(group[0])))
                })
                .collect();
            text.push_str(&format!("{} {}. ", binder.text(), groups.join(", ")));
            write(program, body, 1, text);
        }
        Node::Comprehension(variable, body, _) => {
            text.push_str(&format!("{{ {} | ", declared(program, *variable)));
            write(program, body, 0, text);
            text.push_str(" }");
        }
        Node::Where(definitions, body) => {
            write(program, body, 0, text);
            text.push_str(" whr ");
            for (index, (variable, value)) in definitions.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                text.push_str(&format!("{} = ", name(program, *variable)));
                write(program, value, 0, text);
            }
            text.push_str(" end");
        }
        Node::Update(base, entries) => {
            write(program, base, TIGHT, text);
            for (key, value) in entries.iter().rev() {
                entry(program, key, value, text);
            }
        }
        Node::Never => text.push('?'),
    }
}

fn entry(program: &Program, key: &Term, value: &Term, text: &mut String) {
    text.push('[');
    write(program, key, 0, text);
    text.push_str(" -> ");
    write(program, value, 0, text);
    text.push(']');
}

/// `{ x: S | body }` for a predicate.
fn comprehension(
    program: &Program,
    function: &Term,
    text: &mut String,
    body: impl Fn(&Term, Var, &mut String),
) {
    match function.node() {
        Node::Binder(Binder::Lambda, variables, inner) => {
            text.push_str(&format!("{{ {} | ", declared(program, variables[0])));
            body(inner, variables[0], text);
            text.push_str(" }");
        }
        _ => write(program, function, TIGHT, text),
    }
}
