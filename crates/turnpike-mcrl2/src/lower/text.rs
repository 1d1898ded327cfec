//! Prints a linear process as a readable specification that every mCRL2 tool accepts: the original
//! declarations, then one process with one summand per line.

mod declarations;

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use self::declarations::{declarations, variables_text};
use super::{Distribution, Goto, LinearProcess, Summand, Update};
use crate::typed::expression::{free_variables, reachable, representative, text, text_with};
use crate::typed::{
    Builtin, Expression, ExpressionId, Program, Sort, SymbolKind, VariableId, is_builtin_name,
};

/// The stack that must be left for a step of the walk over an update, and the size of a new
/// segment.
const STACK: (usize, usize) = (64 * 1024, 1024 * 1024);

/// Reserved words.
const KEYWORDS: [&str; 53] = [
    "sort", "cons", "map", "var", "eqn", "glob", "act", "proc", "init", "struct", "Bool", "Pos", "Nat",
    "Int", "Real", "List", "Set", "Bag", "FSet", "FBag", "true", "false", "div", "mod", "in", "lambda",
    "forall", "exists", "whr", "end", "delta", "tau", "sum", "dist", "block", "allow", "hide", "rename",
    "comm", "val", "mu", "nu", "delay", "yaled", "form", "inf", "sup", "pbes", "pres", "eqinf", "eqninf",
    "condsm", "condeq",
];

impl LinearProcess {
    /// The process as a complete specification. Control parameters number their locations from 1,
    /// with comments that describe them.
    pub fn text(&self) -> String {
        // A structured sort that was declared inside another sort has constructors, but no name
        // yet.
        let nameless: Vec<usize> = self
            .program
            .sorts
            .iter()
            .filter_map(|(id, sort)| match *sort {
                Sort::Struct(index) if !self.program.constructors(id).is_empty() => Some(index as usize),
                _ => None,
            })
            .filter(|&index| self.program.sorts.structs[index].name.is_none())
            .collect();
        if !nameless.is_empty() {
            let mut named = self.clone();
            for index in nameless {
                let words = &mut named.program.words;
                let name = unique(&format!("Struct{index}"), |name| words.find(name).is_some());
                named.program.sorts.structs[index].name = Some(words.intern(&name));
            }
            return named.text();
        }
        let writer = Writer::new(self);
        let terminates = self.summands.iter().flat_map(|one| &one.actions).any(|action| {
            self.program.text(action.name) == "Terminate"
                && !self.program.actions.iter().any(|one| one.name == action.name)
        });
        let mut out = declarations(&self.program, if terminates { &["Terminate"] } else { &[] });
        let globals = writer.globals();
        if !globals.is_empty() {
            let _ = writeln!(
                out,
                "glob {};",
                variables_text(&self.program, &globals, "; ", &|one| writer.name(one))
            );
        }
        writer.locations(&mut out);
        out.push_str("\nproc ");
        out.push_str(&writer.process);
        if !self.parameters.is_empty() {
            let variables: Vec<VariableId> = self.parameters.iter().map(|one| one.variable).collect();
            let _ =
                write!(out, "({})", variables_text(&self.program, &variables, ", ", &|one| writer.name(one)));
        }
        out.push_str(" =\n");
        for (index, summand) in self.summands.iter().enumerate() {
            out.push_str(if index == 0 { "    " } else { "  + " });
            writer.summand(summand, &mut out);
            out.push('\n');
        }
        if self.summands.is_empty() {
            out.push_str("    delta\n");
        }
        out.push_str("  ;\n\ninit ");
        writer.initial(&mut out);
        out.push_str(";\n");
        out
    }
}

struct Writer<'l> {
    linear: &'l LinearProcess,
    program: &'l Program,
    process: String,
    /// The names of parameters, and of variables of sums and choices.
    names: FxHashMap<VariableId, String>,
}

impl<'l> Writer<'l> {
    fn new(linear: &'l LinearProcess) -> Self {
        let program = &linear.program;
        let mut taken: FxHashSet<String> =
            program.symbols.iter().map(|one| program.text(one.name).to_owned()).collect();
        let mut names = FxHashMap::default();
        for parameter in &linear.parameters {
            let name = unique(&parameter.name, |name| taken.contains(name));
            taken.insert(name.clone());
            names.insert(parameter.variable, name);
        }
        // The variables of sums, of choices and inside data have distinct names within a summand.
        for summand in &linear.summands {
            let mut here = FxHashSet::default();
            let (known, new): (Vec<VariableId>, Vec<VariableId>) =
                variables_of(program, summand).into_iter().partition(|one| names.contains_key(one));
            here.extend(known.iter().map(|one| names[one].clone()));
            for variable in new {
                let base = program.text(program.variable(variable).name);
                let name = unique(base, |name| taken.contains(name) || here.contains(name));
                here.insert(name.clone());
                names.insert(variable, name);
            }
        }
        let actions = program.actions.iter().map(|one| program.text(one.name).to_owned());
        taken.extend(actions);
        let process = unique("P", |name| taken.contains(name));
        Writer { linear, program, process, names }
    }

    fn name(&self, variable: VariableId) -> String {
        match self.names.get(&variable) {
            Some(name) => name.clone(),
            None => self.program.text(self.program.variable(variable).name).to_owned(),
        }
    }

    fn data(&self, id: ExpressionId) -> String {
        text_with(self.program, id, &|variable| self.name(variable))
    }

    /// Free variables that are neither parameters nor bound.
    fn globals(&self) -> Vec<VariableId> {
        let mut found = FxHashSet::default();
        for summand in &self.linear.summands {
            for id in expressions_of(summand) {
                found.extend(free_variables(self.program, id));
            }
            for variable in summand.variables.iter().chain(choice(summand.distribution.as_ref())) {
                found.remove(variable);
            }
        }
        let mut initial = Vec::new();
        self.linear.initial.iter().for_each(|update| collect(update, &mut initial));
        for id in initial {
            found.extend(free_variables(self.program, id));
        }
        for variable in choice(self.linear.initial_distribution.as_ref()) {
            found.remove(variable);
        }
        for parameter in &self.linear.parameters {
            found.remove(&parameter.variable);
        }
        let mut found: Vec<VariableId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    fn locations(&self, out: &mut String) {
        for parameter in &self.linear.parameters {
            let Some(locations) = &parameter.locations else { continue };
            let _ = writeln!(out, "\n% {}:", self.name(parameter.variable));
            for (index, location) in locations.iter().enumerate() {
                let location = location.split_whitespace().collect::<Vec<_>>().join(" ");
                let _ = writeln!(out, "%   {}: {location}", index + 1);
            }
        }
    }

    fn summand(&self, summand: &Summand, out: &mut String) {
        let name = |one: VariableId| self.name(one);
        if !summand.variables.is_empty() {
            let _ = write!(out, "sum {}. ", variables_text(self.program, &summand.variables, ", ", &name));
        }
        let places = summand.locations.iter().map(|&(index, location)| {
            format!("{} == {}", self.name(self.linear.parameters[index].variable), location + 1)
        });
        let conditions = summand.conditions.iter().map(|&one| self.conjunct(one));
        let conditions: Vec<String> = places.chain(conditions).collect();
        if !conditions.is_empty() {
            let _ = write!(out, "({}) -> ", conditions.join(" && "));
        }
        let actions = summand.actions.iter().map(|action| {
            let arguments: Vec<String> = action.arguments.iter().map(|&one| self.data(one)).collect();
            let name = self.program.text(action.name);
            if arguments.is_empty() { name.to_owned() } else { format!("{name}({})", arguments.join(", ")) }
        });
        let actions: Vec<String> = actions.collect();
        out.push_str(if actions.is_empty() { "tau" } else { "" });
        out.push_str(&actions.join("|"));
        if let Some(time) = summand.time {
            let _ = write!(out, " @ ({})", self.data(time));
        }
        out.push_str(" . ");
        let next = self.call(&summand.updates, false);
        match &summand.distribution {
            Some(one) => {
                let _ = write!(out, "({}{next})", self.choice_text(one));
            }
            None => out.push_str(&next),
        }
    }

    /// Prints a conjunct.
    fn conjunct(&self, id: ExpressionId) -> String {
        let whole = self.data(id);
        let weak = match self.program.expression(id) {
            Expression::Binder { .. } | Expression::Where { .. } => true,
            Expression::Call { symbol, .. } => matches!(
                self.program.symbol(*symbol).kind,
                SymbolKind::Builtin(Builtin::And | Builtin::Or | Builtin::Implies)
            ),
            _ => false,
        };
        if weak { format!("({whole})") } else { whole }
    }

    fn choice_text(&self, distribution: &Distribution) -> String {
        let variables =
            variables_text(self.program, &distribution.variables, ", ", &|one: VariableId| self.name(one));
        format!("dist {variables}[{}]. ", self.data(distribution.weight))
    }

    fn initial(&self, out: &mut String) {
        if let Some(one) = &self.linear.initial_distribution {
            out.push_str(&self.choice_text(one));
        }
        out.push_str(&self.call(&self.linear.initial, true));
    }

    /// The recursive call of the process, with the parameters that change or with all of them.
    fn call(&self, updates: &[Update], everything: bool) -> String {
        let mut arguments = Vec::new();
        for (index, parameter) in self.linear.parameters.iter().enumerate() {
            let own = self.name(parameter.variable);
            let found =
                updates.iter().map(|update| self.value(update, index)).find(Option::is_some).flatten();
            match found {
                Some(value) if everything => arguments.push(value),
                Some(value) if value != own => arguments.push(format!("{own} = {value}")),
                None if everything => arguments.push(self.default(index)),
                _ => {}
            }
        }
        if self.linear.parameters.is_empty() {
            return self.process.clone();
        }
        format!("{}({})", self.process, arguments.join(", "))
    }

    /// The value of a parameter that no update assigns.
    fn default(&self, index: usize) -> String {
        let parameter = &self.linear.parameters[index];
        if parameter.locations.is_some() {
            return "1".to_owned();
        }
        let mut program = self.program.clone();
        let sort = program.variable(parameter.variable).sort;
        representative(&mut program, sort)
            .map_or_else(|| self.name(parameter.variable), |one| text(&program, one))
    }

    /// The new value of a parameter; `None` if the update does not assign it.
    fn value(&self, update: &Update, parameter: usize) -> Option<String> {
        stacker::maybe_grow(STACK.0, STACK.1, || match update {
            Update::If { condition, then, otherwise, .. } => {
                let (then, otherwise) = (self.value(then, parameter), self.value(otherwise, parameter));
                if then.is_none() && otherwise.is_none() {
                    return None;
                }
                let own = || self.name(self.linear.parameters[parameter].variable);
                let (then, otherwise) = (then.unwrap_or_else(own), otherwise.unwrap_or_else(own));
                if then == otherwise {
                    return Some(then);
                }
                Some(format!("if({}, {then}, {otherwise})", self.data(*condition)))
            }
            Update::Go { location, assignments } => {
                if let Goto::Parameter(Some((index, location))) = *location
                    && index == parameter
                {
                    return Some((location + 1).to_string());
                }
                let variable = self.linear.parameters[parameter].variable;
                let (_, value) = assignments.iter().find(|(one, _)| *one == variable)?;
                Some(self.data(*value))
            }
        })
    }
}

/// A valid name like `base` that is not taken.
fn unique(base: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name: String =
        base.chars().map(|one| if one.is_ascii_alphanumeric() || one == '\'' { one } else { '_' }).collect();
    if name.starts_with(|one: char| !one.is_ascii_alphabetic() && one != '_') {
        name.insert(0, '_');
    }
    let free = |name: &String| {
        !taken(name) && !is_builtin_name(name) && !KEYWORDS.contains(&name.as_str()) && !name.is_empty()
    };
    if free(&name) {
        return name;
    }
    (1..).map(|number: u64| format!("{name}_{number}")).find(free).unwrap_or(name)
}

fn choice(distribution: Option<&Distribution>) -> &[VariableId] {
    distribution.map_or(&[], |one| &one.variables)
}

/// All variables that a summand binds, including those inside its data.
fn variables_of(program: &Program, summand: &Summand) -> Vec<VariableId> {
    let mut found = summand.variables.clone();
    found.extend(choice(summand.distribution.as_ref()));
    for id in reachable(program, &expressions_of(summand)) {
        match program.expression(id) {
            Expression::Binder { variables, .. } => found.extend(variables),
            Expression::Comprehension { variable, .. } => found.push(*variable),
            Expression::Where { definitions, .. } => found.extend(definitions.iter().map(|&(name, _)| name)),
            _ => {}
        }
    }
    found
}

fn expressions_of(summand: &Summand) -> Vec<ExpressionId> {
    let mut found = summand.conditions.clone();
    found.extend(summand.actions.iter().flat_map(|action| &action.arguments));
    found.extend(summand.time);
    found.extend(summand.distribution.as_ref().map(|one| one.weight));
    summand.updates.iter().for_each(|update| collect(update, &mut found));
    found
}

fn collect(update: &Update, found: &mut Vec<ExpressionId>) {
    let mut todo = vec![update];
    while let Some(update) = todo.pop() {
        match update {
            Update::If { condition, then, otherwise, .. } => {
                found.push(*condition);
                todo.extend([&**then, &**otherwise]);
            }
            Update::Go { assignments, .. } => found.extend(assignments.iter().map(|&(_, value)| value)),
        }
    }
}

#[cfg(test)]
mod tests;
