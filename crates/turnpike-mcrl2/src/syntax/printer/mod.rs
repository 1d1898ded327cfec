//! Prints trees. The text parses to the same tree. Like the parser, the printer uses an explicit
//! stack.

mod data;
mod process;
mod specification;

use super::operator::Associativity;
use super::specification::Specification;
use super::symbol::{Name, Symbol};
use super::tree::{DataId, ProcessId, Sort, SortId, Tree, Variable};

/// Which parentheses to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parentheses {
    /// Little more than those that change the meaning.
    #[default]
    Needed,
    /// Around every operand with an operator, to show how a text was parsed.
    All,
}

impl Tree {
    /// The text of a sort.
    pub fn sort_text(&self, id: SortId, parentheses: Parentheses) -> String {
        Printer::new(self, parentheses).print(Item::Sort(id, 0))
    }

    /// The text of a data expression.
    pub fn data_text(&self, id: DataId, parentheses: Parentheses) -> String {
        Printer::new(self, parentheses).print(Item::Data(id, 0))
    }

    /// The text of a process expression.
    pub fn process_text(&self, id: ProcessId, parentheses: Parentheses) -> String {
        Printer::new(self, parentheses).print(Item::Process(id, 0))
    }
}

impl Specification {
    /// The text of the specification, one declaration per line.
    pub fn text(&self, parentheses: Parentheses) -> String {
        let mut printer = Printer::new(&self.tree, parentheses);
        printer.specification(self);
        printer.text
    }
}

/// The level of something that never needs parentheses.
const TIGHT: u8 = 14;

/// An item to print. Expressions come with the weakest level that needs no parentheses there.
#[derive(Clone, Copy)]
enum Item<'t> {
    Text(&'static str),
    Word(Symbol),
    Sort(SortId, u8),
    Data(DataId, u8),
    /// Data in the restricted form before `->` and after `@`.
    Unit(DataId),
    Process(ProcessId, u8),
    /// Variables, with the level of their sorts.
    Variables(&'t [Variable], u8),
    Names(&'t [Name], &'static str),
}

struct Printer<'t> {
    tree: &'t Tree,
    parentheses: Parentheses,
    text: String,
    /// The items to print, last first.
    stack: Vec<Item<'t>>,
}

impl<'t> Printer<'t> {
    fn new(tree: &'t Tree, parentheses: Parentheses) -> Self {
        Printer { tree, parentheses, text: String::new(), stack: Vec::new() }
    }

    fn print(mut self, item: Item<'t>) -> String {
        self.add(item);
        self.text
    }

    /// Prints an item and everything in it.
    fn add(&mut self, item: Item<'t>) {
        self.stack.push(item);
        let mut parts = Vec::new();
        while let Some(item) = self.stack.pop() {
            match item {
                Item::Text(text) => self.text.push_str(text),
                Item::Word(symbol) => self.text.push_str(self.tree.text(symbol)),
                Item::Sort(id, least) => self.sort(id, least, &mut parts),
                Item::Data(id, least) => self.data(id, least, &mut parts),
                Item::Unit(id) => self.unit(id, &mut parts),
                Item::Process(id, least) => self.process(id, least, &mut parts),
                Item::Variables(variables, least) => variables_parts(variables, least, &mut parts),
                Item::Names(names, separator) => {
                    push_separated(&mut parts, names, separator, |parts, name| {
                        parts.push(Item::Word(name.symbol))
                    });
                }
            }
            self.stack.extend(parts.drain(..).rev());
        }
    }

    /// Whether an item of a level needs parentheses where `least` is required.
    fn enclose(&self, level: u8, least: u8) -> bool {
        level < least || (self.parentheses == Parentheses::All && least > 0 && level < TIGHT)
    }

    /// Levels: 0 for structs, 1 for functions, higher for sorts that need no parentheses.
    fn sort(&self, id: SortId, least: u8, parts: &mut Vec<Item<'t>>) {
        let sort = self.tree.sort(id);
        let level = match sort {
            Sort::Struct(_) => 0,
            Sort::Function { .. } => 1,
            _ => TIGHT,
        };
        let enclosed = self.enclose(level, least);
        if enclosed {
            parts.push(Item::Text("("));
        }
        match sort {
            Sort::Builtin(builtin) => parts.push(Item::Text(builtin.text())),
            Sort::Name(symbol) => parts.push(Item::Word(*symbol)),
            Sort::Container(container, element) => {
                parts.extend([
                    Item::Text(container.text()),
                    Item::Text("("),
                    Item::Sort(*element, 0),
                    Item::Text(")"),
                ]);
            }
            Sort::Function { domain, codomain } => {
                push_separated(parts, domain, " # ", |parts, &sort| parts.push(Item::Sort(sort, 2)));
                parts.extend([Item::Text(" -> "), Item::Sort(*codomain, 1)]);
            }
            Sort::Struct(constructors) => {
                parts.push(Item::Text("struct "));
                push_separated(parts, constructors, " | ", |parts, constructor| {
                    parts.push(Item::Word(constructor.name.symbol));
                    if !constructor.fields.is_empty() {
                        parts.push(Item::Text("("));
                        push_separated(parts, &constructor.fields, ", ", |parts, field| {
                            if let Some(projection) = field.projection {
                                parts.extend([Item::Word(projection.symbol), Item::Text(": ")]);
                            }
                            parts.push(Item::Sort(field.sort, 0));
                        });
                        parts.push(Item::Text(")"));
                    }
                    if let Some(recogniser) = constructor.recogniser {
                        parts.extend([Item::Text("?"), Item::Word(recogniser.symbol)]);
                    }
                });
            }
        }
        if enclosed {
            parts.push(Item::Text(")"));
        }
    }
}

/// Elements with a separator.
fn push_separated<'t, T>(
    parts: &mut Vec<Item<'t>>,
    elements: &'t [T],
    separator: &'static str,
    mut one: impl FnMut(&mut Vec<Item<'t>>, &'t T),
) {
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            parts.push(Item::Text(separator));
        }
        one(parts, element);
    }
}

/// Groups variables that were declared together.
fn groups(variables: &[Variable]) -> impl Iterator<Item = &[Variable]> {
    variables.chunk_by(|left, right| left.sort == right.sort)
}

/// `x, y: S, z: T`
fn variables_parts<'t>(variables: &'t [Variable], least: u8, parts: &mut Vec<Item<'t>>) {
    for (index, group) in groups(variables).enumerate() {
        if index > 0 {
            parts.push(Item::Text(", "));
        }
        push_separated(parts, group, ", ", |parts, variable| parts.push(Item::Word(variable.name.symbol)));
        parts.extend([Item::Text(": "), Item::Sort(group[0].sort, least)]);
    }
}

/// The weakest levels that need no parentheses left and right of an operator.
fn sides(level: u8, associativity: Associativity) -> (u8, u8) {
    match associativity {
        Associativity::Left => (level, level + 1),
        Associativity::Right => (level + 1, level),
    }
}
