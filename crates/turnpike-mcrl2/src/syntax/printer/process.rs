//! Prints process expressions.

use super::super::tree::{Process, ProcessId};
use super::{Item, Printer, TIGHT, push_separated, sides};

/// The level of a then branch before `<>`. Anything that could contain a condition without else
/// needs parentheses.
const BEFORE_ELSE: u8 = 6;

impl<'t> Printer<'t> {
    pub(super) fn process(&self, id: ProcessId, least: u8, parts: &mut Vec<Item<'t>>) {
        let process = self.tree.process(id);
        let level = level(process);
        let enclosed = self.enclose(level, least);
        if enclosed {
            parts.push(Item::Text("("));
        }
        match process {
            Process::Delta => parts.push(Item::Text("delta")),
            Process::Tau => parts.push(Item::Text("tau")),
            Process::Action { name, arguments } => {
                parts.push(Item::Word(name.symbol));
                if !arguments.is_empty() {
                    parts.push(Item::Text("("));
                    push_separated(parts, arguments, ", ", |parts, &argument| {
                        parts.push(Item::Data(argument, 0))
                    });
                    parts.push(Item::Text(")"));
                }
            }
            Process::Call { name, assignments } => {
                parts.extend([Item::Word(name.symbol), Item::Text("(")]);
                push_separated(parts, assignments, ", ", |parts, assignment| {
                    parts.extend([
                        Item::Word(assignment.name.symbol),
                        Item::Text(" = "),
                        Item::Data(assignment.value, 0),
                    ]);
                });
                parts.push(Item::Text(")"));
            }
            Process::Binary(operator, left, right) => {
                let (at_left, at_right) = sides(operator.level(), operator.associativity());
                parts.extend([
                    Item::Process(*left, at_left),
                    Item::Text(" "),
                    Item::Text(operator.text()),
                    Item::Text(" "),
                    Item::Process(*right, at_right),
                ]);
            }
            Process::At { process, time } => {
                parts.extend([Item::Process(*process, level), Item::Text(" @ "), Item::Unit(*time)]);
            }
            Process::Sum { variables, body } => parts.extend([
                Item::Text("sum "),
                Item::Variables(variables, 0),
                Item::Text(". "),
                Item::Process(*body, level),
            ]),
            Process::Dist { variables, weight, body } => parts.extend([
                Item::Text("dist "),
                Item::Variables(variables, 0),
                Item::Text("["),
                Item::Data(*weight, 0),
                Item::Text("]. "),
                Item::Process(*body, level),
            ]),
            Process::If { condition, then, otherwise } => {
                parts.extend([Item::Unit(*condition), Item::Text(" -> ")]);
                match otherwise {
                    None => parts.push(Item::Process(*then, level)),
                    Some(otherwise) => parts.extend([
                        Item::Process(*then, BEFORE_ELSE),
                        Item::Text(" <> "),
                        Item::Process(*otherwise, level),
                    ]),
                }
            }
            _ => static_operator(process, parts),
        }
        if enclosed {
            parts.push(Item::Text(")"));
        }
    }
}

/// Prints `block`, `hide`, `allow`, `rename` or `comm`.
fn static_operator<'t>(process: &'t Process, parts: &mut Vec<Item<'t>>) {
    match process {
        Process::Block { actions, body } => {
            around(parts, "block", *body, |parts| parts.push(Item::Names(actions, ", ")));
        }
        Process::Hide { actions, body } => {
            around(parts, "hide", *body, |parts| parts.push(Item::Names(actions, ", ")));
        }
        Process::Allow { actions, body } => around(parts, "allow", *body, |parts| {
            push_separated(parts, actions, ", ", |parts, action| parts.push(Item::Names(&action.names, "|")));
        }),
        Process::Rename { renamings, body } => around(parts, "rename", *body, |parts| {
            push_separated(parts, renamings, ", ", |parts, renaming| {
                parts.extend([
                    Item::Word(renaming.from.symbol),
                    Item::Text(" -> "),
                    Item::Word(renaming.to.symbol),
                ]);
            });
        }),
        Process::Comm { rules, body } => around(parts, "comm", *body, |parts| {
            push_separated(parts, rules, ", ", |parts, rule| {
                parts.extend([Item::Names(&rule.from, "|"), Item::Text(" -> "), Item::Word(rule.to.symbol)]);
            });
        }),
        _ => {}
    }
}

/// The level, as in the parser. Atoms are higher.
fn level(process: &Process) -> u8 {
    match process {
        Process::Binary(operator, ..) => operator.level(),
        Process::Sum { .. } | Process::Dist { .. } => 2,
        Process::If { .. } => 5,
        Process::At { .. } => 8,
        _ => TIGHT,
    }
}

/// `word({set}, body)`
fn around<'t>(
    parts: &mut Vec<Item<'t>>,
    word: &'static str,
    body: ProcessId,
    set: impl FnOnce(&mut Vec<Item<'t>>),
) {
    parts.extend([Item::Text(word), Item::Text("({")]);
    set(parts);
    parts.extend([Item::Text("}, "), Item::Process(body, 0), Item::Text(")")]);
}
