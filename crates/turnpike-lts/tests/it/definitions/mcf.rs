//! A small evaluator of formulas, which is independent of their construction.

use std::collections::{BTreeSet, HashMap};

use turnpike_lts::Lts;

type States = BTreeSet<u32>;

/// Whether a formula holds in the initial state.
pub(crate) fn holds(lts: &Lts, formula: &str) -> bool {
    let mut parser = Parser { rest: formula, lts };
    let parsed = parser.either();
    assert!(parser.rest.trim().is_empty(), "`{}` is left of `{formula}`", parser.rest);
    evaluate(lts, &parsed, &mut HashMap::new()).contains(&lts.initial)
}

enum State {
    Constant(bool),
    Not(Box<State>),
    Both(Box<State>, Box<State>),
    Either(Box<State>, Box<State>),
    Some(Regular, Box<State>),
    Variable(String),
    Fixed { greatest: bool, name: String, body: Box<State> },
}

/// A sequence of labels, where a starred label occurs any number of times.
type Regular = Vec<(String, bool)>;

struct Parser<'a> {
    rest: &'a str,
    lts: &'a Lts,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        self.rest = &rest[end..];
        &rest[..end]
    }

    fn either(&mut self) -> State {
        let mut left = self.both();
        while self.eat("||") {
            left = State::Either(Box::new(left), Box::new(self.both()));
        }
        left
    }

    fn both(&mut self) -> State {
        let mut left = self.unary();
        while self.eat("&&") {
            left = State::Both(Box::new(left), Box::new(self.unary()));
        }
        left
    }

    fn unary(&mut self) -> State {
        if self.eat("!") {
            return State::Not(Box::new(self.unary()));
        }
        if self.eat("<") {
            let path = self.regular(">");
            return State::Some(path, Box::new(self.unary()));
        }
        if self.eat("[") {
            // After all paths: the negation of a path to the negation.
            let path = self.regular("]");
            let inner = Box::new(State::Not(Box::new(self.unary())));
            return State::Not(Box::new(State::Some(path, inner)));
        }
        if self.eat("(") {
            let inner = self.either();
            assert!(self.eat(")"), "a parenthesis is missing before `{}`", self.rest);
            return inner;
        }
        match self.word() {
            "true" => State::Constant(true),
            "false" => State::Constant(false),
            fixed @ ("mu" | "nu") => {
                let name = self.word().to_owned();
                assert!(self.eat("."));
                State::Fixed { greatest: fixed == "nu", name, body: Box::new(self.either()) }
            }
            name => State::Variable(name.to_owned()),
        }
    }

    fn regular(&mut self, end: &str) -> Regular {
        let mut path = Vec::new();
        while !self.eat(end) {
            assert!(path.is_empty() || self.eat("."), "a dot is missing before `{}`", self.rest);
            let label = self.word().to_owned();
            assert!(label == "tau" || self.lts.labels.contains(&label), "`{label}` is not a label");
            path.push((label, self.eat("*")));
        }
        path
    }
}

/// The states that satisfy a formula, with fixed points by iteration.
fn evaluate(lts: &Lts, formula: &State, values: &mut HashMap<String, States>) -> States {
    let all = || (0..lts.states).collect::<States>();
    match formula {
        State::Constant(true) => all(),
        State::Constant(false) => States::new(),
        State::Not(inner) => all().difference(&evaluate(lts, inner, values)).copied().collect(),
        State::Both(a, b) => &evaluate(lts, a, values) & &evaluate(lts, b, values),
        State::Either(a, b) => &evaluate(lts, a, values) | &evaluate(lts, b, values),
        State::Variable(name) => values[name].clone(),
        State::Some(path, then) => {
            let mut set = evaluate(lts, then, values);
            for (label, starred) in path.iter().rev() {
                loop {
                    let into = |t: &&turnpike_lts::Transition| {
                        lts.labels[t.label.index()] == *label && set.contains(&t.to)
                    };
                    let before: States = lts.transitions.iter().filter(into).map(|t| t.from).collect();
                    if !starred {
                        set = before;
                        break;
                    }
                    if before.is_subset(&set) {
                        break;
                    }
                    set.extend(before);
                }
            }
            set
        }
        State::Fixed { greatest, name, body } => {
            let mut value = if *greatest { all() } else { States::new() };
            loop {
                values.insert(name.clone(), value.clone());
                let next = evaluate(lts, body, values);
                if next == value {
                    return value;
                }
                value = next;
            }
        }
    }
}

#[test]
fn cases_worked_out_by_hand() {
    let lts = super::system(3, &[(0, "a", 1), (1, "b", 0), (1, "c", 2)]);
    for (formula, expected) in [
        ("<a.c>true", true),
        ("[a]<c>true", true),
        ("[a.c]false", false),
        ("<a.b.a.c>true", true),
        ("nu X. <a>X || <b>X", true),
        ("mu X. <a>X || <b>X", false),
        ("mu X. [b]false && <a>X", false),
        ("!<b>true && (<a>(<b>true && <c>true))", true),
        ("<tau*.a.tau*.c.tau*>true", true),
    ] {
        assert_eq!(holds(&lts, formula), expected, "{formula}");
    }
}
