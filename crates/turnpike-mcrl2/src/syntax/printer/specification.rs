//! Prints specifications.

use std::fmt;

use super::super::specification::{FunctionDeclaration, Section, SortDeclaration, Specification};
use super::super::tree::Variable;
use super::{Item, Parentheses, Printer, groups, push_separated};

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Parentheses::Needed))
    }
}

impl<'t> Printer<'t> {
    /// Sections that lost all declarations to errors are omitted, since empty ones are not valid.
    pub(super) fn specification(&mut self, specification: &'t Specification) {
        for section in &specification.sections {
            let start = self.text.len();
            match section {
                Section::Sorts(all) => {
                    self.section("sort", all, |printer, declaration| match declaration {
                        SortDeclaration::Basic { names, .. } => printer.add(Item::Names(names, ", ")),
                        SortDeclaration::Alias { name, sort, .. } => {
                            printer.all([Item::Word(name.symbol), Item::Text(" = "), Item::Sort(*sort, 0)]);
                        }
                    });
                }
                Section::Constructors(all) => self.functions("cons", all),
                Section::Maps(all) => self.functions("map", all),
                Section::Globals(variables) => self.variables("glob", variables),
                Section::Equations { variables, equations } => {
                    if !equations.is_empty() {
                        self.variables("var", variables);
                    }
                    self.section("eqn", equations, |printer, equation| {
                        if let Some(condition) = equation.condition {
                            printer.all([Item::Data(condition, 0), Item::Text(" -> ")]);
                        }
                        printer.all([
                            Item::Data(equation.left, 0),
                            Item::Text(" = "),
                            Item::Data(equation.right, 0),
                        ]);
                    });
                }
                Section::Actions(all) => self.section("act", all, |printer, action| {
                    printer.add(Item::Names(&action.names, ", "));
                    let least = if action.sorts.len() > 1 { 2 } else { 0 };
                    let mut parts = Vec::new();
                    push_separated(&mut parts, &action.sorts, " # ", |parts, &sort| {
                        parts.push(Item::Sort(sort, least));
                    });
                    if !parts.is_empty() {
                        printer.add(Item::Text(": "));
                    }
                    printer.all(parts);
                }),
                Section::Processes(all) => self.section("proc", all, |printer, process| {
                    printer.add(Item::Word(process.name.symbol));
                    if !process.parameters.is_empty() {
                        let parameters = Item::Variables(&process.parameters, 0);
                        printer.all([Item::Text("("), parameters, Item::Text(")")]);
                    }
                    printer.all([Item::Text(" = "), Item::Process(process.body, 0)]);
                }),
                Section::Init(init) => {
                    self.section("init", std::slice::from_ref(init), |printer, init| {
                        printer.add(Item::Process(init.process, 0));
                    });
                }
            }
            if start > 0 && self.text.len() > start {
                self.text.insert(start, '\n');
            }
        }
    }

    fn all(&mut self, items: impl IntoIterator<Item = Item<'t>>) {
        items.into_iter().for_each(|item| self.add(item));
    }

    fn section<T>(&mut self, word: &str, declarations: &'t [T], mut one: impl FnMut(&mut Self, &'t T)) {
        if declarations.is_empty() {
            return;
        }
        self.text.push_str(word);
        self.text.push('\n');
        for declaration in declarations {
            self.text.push_str("  ");
            one(self, declaration);
            self.text.push_str(";\n");
        }
    }

    fn functions(&mut self, word: &str, functions: &'t [FunctionDeclaration]) {
        self.section(word, functions, |printer, function| {
            printer.all([Item::Names(&function.names, ", "), Item::Text(": "), Item::Sort(function.sort, 0)]);
        });
    }

    fn variables(&mut self, word: &str, variables: &'t [Variable]) {
        let groups: Vec<&[Variable]> = groups(variables).collect();
        if groups.is_empty() {
            return;
        }
        self.text.push_str(word);
        self.text.push('\n');
        for group in groups {
            self.all([Item::Text("  "), Item::Variables(group, 0), Item::Text(";\n")]);
        }
    }
}
