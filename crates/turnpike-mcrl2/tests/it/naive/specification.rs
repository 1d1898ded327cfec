//! Random specifications as trees, whose texts contain all brackets.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A sort of variables and of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Bool,
    Nat,
    /// `struct d1 | d2(Bool)`
    D,
    /// Only for times and probabilities.
    Real,
}

impl Sort {
    /// Its text.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Sort::Bool => "Bool",
            Sort::Nat => "Nat",
            Sort::D => "D",
            Sort::Real => "Real",
        }
    }

    /// Simple values, from simple to complex.
    pub(crate) fn constants(self) -> &'static [&'static str] {
        match self {
            Sort::Bool => &["true", "false"],
            Sort::Nat => &["0", "1"],
            Sort::D => &["d1", "d2(true)"],
            Sort::Real => &["1", "2"],
        }
    }
}

/// The text of a data expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) sort: Sort,
    pub(crate) text: String,
}

/// A variable with its sort.
pub(crate) type Variable = (String, Sort);

/// Groups of names of actions with the same sorts. The names of the second group occur with and
/// without data.
pub(crate) const GROUPS: [(&[&str], &[&[Sort]]); 4] = [
    (&["a", "b", "c", "d"], &[&[]]),
    (&["e", "f", "g"], &[&[], &[Sort::Bool]]),
    (&["r", "s", "t"], &[&[Sort::Nat]]),
    (&["u", "v"], &[&[Sort::D, Sort::Bool]]),
];

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Infix {
    Choice,
    Sequence,
    Parallel,
    LeftMerge,
    Synchronise,
    Before,
}

impl Infix {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Infix::Choice => "+",
            Infix::Sequence => ".",
            Infix::Parallel => "||",
            Infix::LeftMerge => "||_",
            Infix::Synchronise => "|",
            Infix::Before => "<<",
        }
    }
}

/// An operator on the actions of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Block(Vec<String>),
    Hide(Vec<String>),
    Allow(Vec<Vec<String>>),
    Rename(Vec<(String, String)>),
    Comm(Vec<(Vec<String>, String)>),
}

/// A process expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    Delta,
    Tau,
    Action(String, Vec<Data>),
    /// `P(e, …)`
    Call(usize, Vec<Data>),
    /// `P(x = e, …)`
    Assign(usize, Vec<(String, Data)>),
    Infix(Infix, Box<Process>, Box<Process>),
    Sum(Vec<Variable>, Box<Process>),
    Dist(Vec<Variable>, Data, Box<Process>),
    If(Data, Box<Process>, Option<Box<Process>>),
    At(Box<Process>, Data),
    Under(Operator, Box<Process>),
}

/// `proc P(x: S) = …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Variable>,
    pub(crate) body: Process,
}

/// A specification. Calls refer to processes by their index in `definitions`. Processes without a
/// call are not in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Specification {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) init: Process,
}

impl Process {
    /// The direct subexpressions.
    pub(crate) fn parts(&self) -> Vec<&Process> {
        match self {
            Process::Delta | Process::Tau | Process::Action(..) | Process::Call(..) | Process::Assign(..) => {
                Vec::new()
            }
            Process::Infix(_, left, right) => vec![left, right],
            Process::If(_, then, otherwise) => std::iter::once(&**then).chain(otherwise.as_deref()).collect(),
            Process::Sum(_, body)
            | Process::Dist(_, _, body)
            | Process::At(body, _)
            | Process::Under(_, body) => vec![body],
        }
    }

    /// The same expression with other direct subexpressions, of the same number.
    pub(crate) fn with_parts(&self, parts: Vec<Process>) -> Process {
        let mut parts = parts.into_iter().map(Box::new);
        let mut next = || parts.next().expect("as many as before");
        match self {
            Process::Infix(operator, ..) => Process::Infix(*operator, next(), next()),
            Process::If(condition, _, otherwise) => {
                let then = next();
                Process::If(condition.clone(), then, otherwise.as_ref().map(|_| next()))
            }
            Process::Sum(variables, _) => Process::Sum(variables.clone(), next()),
            Process::Dist(variables, weight, _) => Process::Dist(variables.clone(), weight.clone(), next()),
            Process::At(_, time) => Process::At(next(), time.clone()),
            Process::Under(operator, _) => Process::Under(operator.clone(), next()),
            other => other.clone(),
        }
    }

    /// Calls `visit` for this expression and all its subexpressions.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Process)) {
        visit(self);
        self.parts().into_iter().for_each(|part| part.walk(visit));
    }
}

impl Specification {
    /// The definitions that are reachable from the initial process.
    pub(crate) fn reachable(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut todo = vec![&self.init];
        while let Some(process) = todo.pop() {
            process.walk(&mut |one| {
                if let Process::Call(index, _) | Process::Assign(index, _) = one
                    && found.insert(*index)
                {
                    todo.push(&self.definitions[*index].body);
                }
            });
        }
        found
    }

    /// The bodies of the initial process and of reachable definitions.
    pub(crate) fn bodies(&self) -> Vec<&Process> {
        let called = self.reachable().into_iter().map(|index| &self.definitions[index].body);
        called.chain([&self.init]).collect()
    }

    /// The text of the specification.
    pub(crate) fn text(&self) -> String {
        let mut body = String::new();
        for index in self.reachable() {
            let definition = &self.definitions[index];
            let parameters = match definition.parameters.is_empty() {
                true => String::new(),
                false => format!("({})", declared(&definition.parameters)),
            };
            let _ = write!(body, "proc {}{parameters} = ", definition.name);
            self.write(&definition.body, false, &mut body);
            body.push_str(";\n");
        }
        body.push_str("init ");
        self.write(&self.init, false, &mut body);
        body.push_str(";\n");
        let names: BTreeSet<&str> = body
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let mut text = String::new();
        if ["D", "d1", "d2", "u", "v", "q"].iter().any(|word| names.contains(word)) {
            text.push_str("sort D = struct d1 | d2(Bool);\n");
        }
        if names.contains("h") {
            text.push_str("map h: Nat -> Nat; var i: Nat; eqn h(i) = (i + 1) mod 3;\n");
        }
        if names.contains("q") {
            text.push_str("map q: D -> Bool; var j: Bool; eqn q(d1) = false; q(d2(j)) = j;\n");
        }
        for (group, signatures) in GROUPS {
            let used: Vec<&str> = group.iter().copied().filter(|name| names.contains(name)).collect();
            for sorts in signatures.iter().filter(|_| !used.is_empty()) {
                let sorts: Vec<&str> = sorts.iter().map(|sort| sort.text()).collect();
                let sorts = if sorts.is_empty() { String::new() } else { format!(": {}", sorts.join(" # ")) };
                let _ = writeln!(text, "act {}{sorts};", used.join(", "));
            }
        }
        text + &body
    }

    fn write(&self, process: &Process, inner: bool, text: &mut String) {
        let simple = matches!(
            process,
            Process::Delta
                | Process::Tau
                | Process::Action(..)
                | Process::Call(..)
                | Process::Assign(..)
                | Process::Under(..)
        );
        if inner && !simple {
            text.push('(');
        }
        match process {
            Process::Delta => text.push_str("delta"),
            Process::Tau => text.push_str("tau"),
            Process::Action(name, data) => text.push_str(&applied(name, data)),
            Process::Call(index, data) => text.push_str(&applied(&self.definitions[*index].name, data)),
            Process::Assign(index, data) => {
                let data: Vec<String> =
                    data.iter().map(|(name, value)| format!("{name} = {}", value.text)).collect();
                let _ = write!(text, "{}({})", self.definitions[*index].name, data.join(", "));
            }
            Process::Infix(operator, left, right) => {
                self.write(left, true, text);
                let _ = write!(text, " {} ", operator.text());
                self.write(right, true, text);
            }
            Process::Sum(variables, body) => {
                let _ = write!(text, "sum {}. ", declared(variables));
                self.write(body, true, text);
            }
            Process::Dist(variables, weight, body) => {
                let _ = write!(text, "dist {}[{}]. ", declared(variables), weight.text);
                self.write(body, true, text);
            }
            Process::If(condition, then, otherwise) => {
                let _ = write!(text, "({}) -> ", condition.text);
                self.write(then, true, text);
                if let Some(otherwise) = otherwise {
                    text.push_str(" <> ");
                    self.write(otherwise, true, text);
                }
            }
            Process::At(body, time) => {
                self.write(body, true, text);
                let _ = write!(text, " @ ({})", time.text);
            }
            Process::Under(operator, body) => {
                let (name, set) = operator.name_and_set();
                let _ = write!(text, "{name}({{{set}}}, ");
                self.write(body, false, text);
                text.push(')');
            }
        }
        if inner && !simple {
            text.push(')');
        }
    }
}

impl Operator {
    /// Its name and the text of its set.
    pub(crate) fn name_and_set(&self) -> (&'static str, String) {
        match self {
            Operator::Block(names) => ("block", names.join(", ")),
            Operator::Hide(names) => ("hide", names.join(", ")),
            Operator::Allow(all) => {
                ("allow", all.iter().map(|names| names.join("|")).collect::<Vec<_>>().join(", "))
            }
            Operator::Rename(all) => {
                let all: Vec<String> = all.iter().map(|(old, new)| format!("{old} -> {new}")).collect();
                ("rename", all.join(", "))
            }
            Operator::Comm(rules) => {
                let rules: Vec<String> =
                    rules.iter().map(|(names, new)| format!("{} -> {new}", names.join("|"))).collect();
                ("comm", rules.join(", "))
            }
        }
    }
}

fn declared(variables: &[Variable]) -> String {
    let all: Vec<String> = variables.iter().map(|(name, sort)| format!("{name}: {}", sort.text())).collect();
    all.join(", ")
}

fn applied(name: &str, data: &[Data]) -> String {
    let texts: Vec<&str> = data.iter().map(|one| one.text.as_str()).collect();
    if texts.is_empty() { name.to_owned() } else { format!("{name}({})", texts.join(", ")) }
}
