//! Prints data expressions.

use super::super::tree::{Data, DataId};
use super::{Item, Parentheses, Printer, TIGHT, push_separated, sides};

/// Elements of bags must not have a `|` outside parentheses, or they would parse as a
/// comprehension.
const IN_BAG: u8 = 2;

impl<'t> Printer<'t> {
    pub(super) fn data(&self, id: DataId, least: u8, parts: &mut Vec<Item<'t>>) {
        let data = self.tree.data(id);
        let enclosed = self.enclose(level(data), least);
        if enclosed {
            parts.push(Item::Text("("));
        }
        match data {
            Data::Name(symbol) | Data::Number(symbol) => parts.push(Item::Word(*symbol)),
            Data::Bool(true) => parts.push(Item::Text("true")),
            Data::Bool(false) => parts.push(Item::Text("false")),
            Data::List(elements) => enumeration(parts, "[", elements, "]"),
            Data::Set(elements) => enumeration(parts, "{", elements, "}"),
            Data::Bag(pairs) if pairs.is_empty() => parts.push(Item::Text("{:}")),
            Data::Bag(pairs) => {
                parts.push(Item::Text("{"));
                push_separated(parts, pairs, ", ", |parts, &(element, count)| {
                    parts.extend([Item::Data(element, IN_BAG), Item::Text(": "), Item::Data(count, IN_BAG)]);
                });
                parts.push(Item::Text("}"));
            }
            Data::Comprehension { variable, body } => parts.extend([
                Item::Text("{ "),
                Item::Variables(std::slice::from_ref(variable), 1),
                Item::Text(" | "),
                Item::Data(*body, 0),
                Item::Text(" }"),
            ]),
            Data::Apply { function, arguments } => {
                parts.push(Item::Data(*function, TIGHT));
                enumeration(parts, "(", arguments, ")");
            }
            Data::Update { function, key, value } => parts.extend([
                Item::Data(*function, TIGHT),
                Item::Text("["),
                Item::Data(*key, 0),
                Item::Text(" -> "),
                Item::Data(*value, 0),
                Item::Text("]"),
            ]),
            Data::Unary(operator, operand) => {
                parts.extend([Item::Text(operator.text()), Item::Data(*operand, TIGHT - 1)]);
            }
            Data::Binary(operator, left, right) => {
                let (at_left, at_right) = sides(operator.level(), operator.associativity());
                parts.extend([
                    Item::Data(*left, at_left),
                    Item::Text(" "),
                    Item::Text(operator.text()),
                    Item::Text(" "),
                    Item::Data(*right, at_right),
                ]);
            }
            Data::Binder { binder, variables, body } => parts.extend([
                Item::Text(binder.text()),
                Item::Text(" "),
                Item::Variables(variables, 0),
                Item::Text(". "),
                Item::Data(*body, 1),
            ]),
            Data::Where { body, definitions } => {
                // `whr` includes everything to its left, so nothing there needs parentheses.
                let least = u8::from(self.parentheses == Parentheses::All);
                parts.extend([Item::Data(*body, least), Item::Text(" whr ")]);
                push_separated(parts, definitions, ", ", |parts, definition| {
                    parts.extend([
                        Item::Word(definition.name.symbol),
                        Item::Text(" = "),
                        Item::Data(definition.value, 0),
                    ]);
                });
                parts.push(Item::Text(" end"));
            }
        }
        if enclosed {
            parts.push(Item::Text(")"));
        }
    }

    /// Prints data before `->` or after `@`.
    pub(super) fn unit(&self, id: DataId, parts: &mut Vec<Item<'t>>) {
        if self.is_unit(id) {
            parts.push(Item::Data(id, TIGHT - 1));
        } else {
            parts.extend([Item::Text("("), Item::Data(id, 0), Item::Text(")")]);
        }
    }

    /// Whether data may be printed before `->`, with parentheses around operators.
    fn is_unit(&self, mut id: DataId) -> bool {
        while let Data::Unary(_, operand) = self.tree.data(id) {
            id = *operand;
        }
        while let Data::Apply { function, .. } = self.tree.data(id) {
            id = *function;
        }
        !matches!(
            self.tree.data(id),
            Data::List(_) | Data::Set(_) | Data::Bag(_) | Data::Comprehension { .. } | Data::Update { .. }
        )
    }
}

/// The level, as in the parser. Prefix operators and atoms are higher.
fn level(data: &Data) -> u8 {
    match data {
        Data::Where { .. } => 0,
        Data::Binder { .. } => 1,
        Data::Binary(operator, ..) => operator.level(),
        Data::Unary(..) => TIGHT - 1,
        _ => TIGHT,
    }
}

fn enumeration<'t>(
    parts: &mut Vec<Item<'t>>,
    open: &'static str,
    elements: &'t [DataId],
    close: &'static str,
) {
    parts.push(Item::Text(open));
    push_separated(parts, elements, ", ", |parts, &element| parts.push(Item::Data(element, 0)));
    parts.push(Item::Text(close));
}
