//! Parsing, writing and parsing again yields the same network.

use crate::public_files::tck_files;
use crate::tck_support::shape;
use proptest::prelude::*;
use turnpike_timed::tck;

fn check(text: &str) -> Result<(), String> {
    let (network, _) = tck::read(text).map_err(|errors| format!("refused: {errors:?}\n{text}"))?;
    let written = tck::write(&network).map_err(|errors| format!("not written: {errors:?}\n{text}"))?;
    let (again, _) =
        tck::read(&written).map_err(|errors| format!("not read again: {errors:?}\n{written}"))?;
    if shape(&network) != shape(&again) {
        return Err(format!("{text}\nbecame\n{written}\n{}\n{}", shape(&network), shape(&again)));
    }
    match tck::write(&again) {
        Ok(same) if same == written => Ok(()),
        other => Err(format!("{written}\nbecame {other:?}")),
    }
}

#[test]
fn public_models_survive() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let mut checked = 0;
    for path in tck_files(&corpus.path("models/timed")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        if tck::read(&text).is_ok() {
            check(&text).unwrap_or_else(|message| panic!("{}: {message}", path.display()));
            checked += 1;
        }
    }
    assert!(checked > 90, "{checked} files");
}

#[test]
fn local_variables_survive() {
    for statements in [
        "local i; i=1 : do:local i=2; n=i",
        "local i; i=1 : do:local j; j=2; local i; i=j",
        "local b[3]; b[n]=1; local c[2]; c[0]=b[1]",
        "while n<3 do local k=n; n=k+1 end; while n>0 do local k; n=n-1 end",
        "if n==0 then local k=1; n=k else nop end; n=k",
        "while n<3 do local b[2]; if b[0]==0 then local k; k=b[n] end; n=n+1 end; local k=3; n=k",
        "local b[1]; b[0]=1; b[n]=2; n=n[b[n]]",
        "local $i=1; local $=2; n=$i+$",
        "nop",
    ] {
        let text = format!(
            "system:s\nint:1:0:9:0:n\nevent:e\nprocess:P\nlocation:P:l{{initial:}}\nedge:P:l:l:e{{do:{statements}}}\n"
        );
        check(&text).unwrap_or_else(|message| panic!("{message}"));
    }
}

#[derive(Clone, Debug)]
enum Number {
    Constant(i32),
    Variable(u8),
    Element(Box<Number>),
    Minus(Box<Number>),
    Operator(&'static str, Box<[Number; 2]>),
    If(Box<(Condition, Number, Number)>),
}

#[derive(Clone, Debug)]
enum Condition {
    Number(Number),
    Compare(&'static str, Number, Number),
    Chain(Number, Number, Number),
    Not(Box<Condition>),
    /// Negations use only the first.
    And(Vec<Condition>),
}

#[derive(Clone, Debug)]
enum Step {
    Assign(u8, Number),
    Element(Number, Number),
    Clock(u8, Option<u8>, u8),
    Local(u8, Option<Number>),
    LocalArray(u8, u8),
    If(Condition, Vec<Step>, Vec<Step>),
    While(Condition, Vec<Step>),
    Nop,
}

/// Writes trees, with the visible local variables.
#[derive(Default)]
struct Writer {
    visible: Vec<(String, bool)>,
}

impl Writer {
    fn variable(&self, choice: u8) -> String {
        let local = self.visible.get(choice as usize / 4);
        match (choice % 4, local) {
            (0, Some((name, false))) => name.clone(),
            (1, Some((name, true))) => format!("{name}[1]"),
            (2, _) => "m".to_owned(),
            (3, _) => "t[2]".to_owned(),
            _ => "n".to_owned(),
        }
    }

    fn number(&self, number: &Number) -> String {
        match number {
            Number::Constant(value) if *value < 0 => format!("(-{})", value.unsigned_abs()),
            Number::Constant(value) => value.to_string(),
            Number::Variable(choice) => self.variable(*choice),
            Number::Element(index) => format!("t[n+{}]", self.number(index)),
            Number::Minus(operand) => format!("-({})", self.number(operand)),
            Number::Operator(operator, operands) => {
                format!("({}{operator}{})", self.number(&operands[0]), self.number(&operands[1]))
            }
            Number::If(parts) => format!(
                "(if {} then {} else {})",
                self.condition(&parts.0),
                self.number(&parts.1),
                self.number(&parts.2)
            ),
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Number(number) => self.number(number),
            Condition::Compare(relation, left, right) => {
                format!("{}{relation}{}", self.number(left), self.number(right))
            }
            Condition::Chain(a, b, c) => {
                format!("{}<{}<={}", self.number(a), self.number(b), self.number(c))
            }
            Condition::Not(operand) => match &**operand {
                Condition::And(parts) => {
                    format!("!{}", self.condition(&Condition::Not(Box::new(parts[0].clone()))))
                }
                Condition::Chain(a, b, _) => format!("!({}<{})", self.number(a), self.number(b)),
                other => format!("!({})", self.condition(other)),
            },
            Condition::And(parts) => {
                parts.iter().map(|part| self.condition(part)).collect::<Vec<_>>().join(" && ")
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) -> String {
        let texts: Vec<String> = steps.iter().map(|step| self.step(step)).collect();
        if texts.is_empty() { "nop".to_owned() } else { texts.join(";\n") }
    }

    fn declare(&mut self, name: u8, array: bool) -> Option<String> {
        let name = ["i", "j", "k"][usize::from(name % 3)].to_owned();
        if self.visible.iter().any(|(visible, _)| *visible == name) {
            return None;
        }
        self.visible.push((name.clone(), array));
        Some(name)
    }

    fn step(&mut self, step: &Step) -> String {
        match step {
            Step::Assign(target, value) => format!("{}={}", self.variable(*target), self.number(value)),
            Step::Element(index, value) => format!("t[m+{}]={}", self.number(index), self.number(value)),
            Step::Clock(target, from, number) => {
                let clock = |choice: u8| ["x", "c[0]", "c[n]"][usize::from(choice % 3)];
                match from {
                    None => format!("{}={number}", clock(*target)),
                    Some(from) => format!("{}={}+{number}", clock(*target), clock(*from)),
                }
            }
            Step::Local(name, value) => {
                let value = value.as_ref().map(|value| format!("={}", self.number(value)));
                match self.declare(*name, false) {
                    Some(name) => format!("local {name}{}", value.unwrap_or_default()),
                    None => "nop".to_owned(),
                }
            }
            Step::LocalArray(name, size) => match self.declare(*name, true) {
                Some(name) => format!("local {name}[{}]", 2 + size % 3),
                None => "nop".to_owned(),
            },
            Step::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                format!("if {condition} then {} else {} end", self.steps(then), self.steps(otherwise))
            }
            Step::While(condition, body) => {
                let condition = self.condition(condition);
                let visible = self.visible.len();
                let body = self.steps(body);
                self.visible.truncate(visible);
                format!("while {condition} do {body}; end")
            }
            Step::Nop => "nop".to_owned(),
        }
    }
}

fn numbers() -> BoxedStrategy<Number> {
    let leaf = prop_oneof![
        prop_oneof![Just(0), Just(1), -3..40i32, Just(i32::MAX), Just(i32::MIN)].prop_map(Number::Constant),
        any::<u8>().prop_map(Number::Variable),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let condition = conditions(inner.clone());
        prop_oneof![
            inner.clone().prop_map(|index| Number::Element(Box::new(index))),
            inner.clone().prop_map(|operand| Number::Minus(Box::new(operand))),
            (prop::sample::select(vec!["+", "-", "*", "/", "%"]), inner.clone(), inner.clone())
                .prop_map(|(operator, left, right)| Number::Operator(operator, Box::new([left, right]))),
            (condition, inner.clone(), inner).prop_map(|parts| Number::If(Box::new(parts))),
        ]
    })
    .boxed()
}

fn conditions(number: impl Strategy<Value = Number> + Clone + 'static) -> impl Strategy<Value = Condition> {
    let relations = prop::sample::select(vec!["==", "!=", "<", "<=", ">=", ">"]);
    let leaf = prop_oneof![
        number.clone().prop_map(Condition::Number),
        (relations, number.clone(), number.clone()).prop_map(|(r, a, b)| Condition::Compare(r, a, b)),
        (number.clone(), number.clone(), number).prop_map(|(a, b, c)| Condition::Chain(a, b, c)),
    ];
    let single = leaf
        .clone()
        .prop_recursive(2, 4, 1, |inner| inner.prop_map(|operand| Condition::Not(Box::new(operand))));
    prop_oneof![3 => leaf, 1 => single.clone(), 1 => prop::collection::vec(single, 2..4).prop_map(Condition::And)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        (any::<u8>(), numbers()).prop_map(|(target, value)| Step::Assign(target, value)),
        (numbers(), numbers()).prop_map(|(index, value)| Step::Element(index, value)),
        (any::<u8>(), any::<Option<u8>>(), any::<u8>()).prop_map(|(a, b, c)| Step::Clock(a, b, c)),
        (any::<u8>(), prop::option::of(numbers())).prop_map(|(name, value)| Step::Local(name, value)),
        (any::<u8>(), any::<u8>()).prop_map(|(name, size)| Step::LocalArray(name, size)),
        Just(Step::Nop),
    ];
    let step = leaf.prop_recursive(3, 20, 4, |inner| {
        let block = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (conditions(numbers()), block(), block()).prop_map(|(c, a, b)| Step::If(c, a, b)),
            (conditions(numbers()), block()).prop_map(|(c, body)| Step::While(c, body)),
        ]
    });
    prop::collection::vec(step, 0..6)
}

fn clock_conditions() -> impl Strategy<Value = String> {
    let clock = || prop::sample::select(vec!["x", "y", "c[0]", "c[1]", "c[m]"]);
    let relation = || prop::sample::select(vec!["==", "<", "<=", ">=", ">"]);
    let bound = || numbers().prop_map(|number| Writer::default().number(&number));
    prop_oneof![
        (clock(), relation(), bound()).prop_map(|(x, r, n)| format!("{x}{r}{n}")),
        (bound(), relation(), clock()).prop_map(|(n, r, x)| format!("{n}{r}{x}")),
        (clock(), clock(), relation(), bound()).prop_map(|(x, y, r, n)| format!("{x}-{y}{r}{n}")),
        (clock(), relation(), clock()).prop_map(|(x, r, y)| format!("{x}{r}{y}")),
        (bound(), clock(), bound()).prop_map(|(m, x, n)| format!("{m}<={x}<{n}")),
    ]
}

fn constraints() -> impl Strategy<Value = String> {
    let data = conditions(numbers()).prop_map(|condition| Writer::default().condition(&condition));
    prop::collection::vec(prop_oneof![data, clock_conditions()], 1..4).prop_map(|parts| parts.join(" && "))
}

/// One or two `do` attributes.
fn updates() -> impl Strategy<Value = String> {
    prop::collection::vec(steps(), 1..3).prop_map(|updates| {
        let texts: Vec<String> =
            updates.iter().map(|steps| format!("do:{}", Writer::default().steps(steps))).collect();
        texts.join(" : ")
    })
}

fn files_of_networks() -> impl Strategy<Value = String> {
    let location = (any::<[bool; 3]>(), prop::option::of(constraints()), 0..3usize).prop_map(
        |([initial, urgent, committed], invariant, labels)| {
            let mut attributes = Vec::new();
            for (flag, name) in [(initial, "initial:"), (urgent, "urgent:"), (committed, "committed:")] {
                if flag {
                    attributes.push(name.to_owned());
                }
            }
            attributes.extend(invariant.map(|invariant| format!("invariant:{invariant}")));
            if labels > 0 {
                attributes.push(format!("labels:{}", ["a", "b, c.d"][labels - 1]));
            }
            attributes.join(" : ")
        },
    );
    let edge = (0..3u8, 0..3u8, 0..3u8, prop::option::of(constraints()), updates());
    let process = (prop::collection::vec(location, 3), prop::collection::vec(edge, 0..4));
    let vectors =
        prop::sample::subsequence(vec!["P0@e0:P1@e1", "P0@e0:P1@e2?", "P1@e1?:P0@e2?", "P1@e2:P0@e2"], 0..4);
    (prop::collection::vec(process, 2), vectors).prop_map(|(processes, vectors)| {
        let mut text =
            "system:s\nclock:1:x\nclock:1:y\nclock:2:c\nint:1:0:9:1:n\nint:1:-5:9:0:m\nint:4:0:9:2:t\n\
                        int:1:-1:1:0:P.dotted\nevent:e0\nevent:e1\nevent:e2\n"
                .to_owned();
        let weak = |process: usize, event: u8| {
            vectors.iter().any(|vector| vector.contains(&format!("P{process}@e{event}?")))
        };
        for (index, (locations, edges)) in processes.iter().enumerate() {
            text.push_str(&format!("process:P{index}\n"));
            for (number, attributes) in locations.iter().enumerate() {
                text.push_str(&format!("location:P{index}:l{number}{{{attributes}}}\n"));
            }
            for (source, target, event, guard, update) in edges {
                let guard = guard.as_ref().filter(|_| !weak(index, *event));
                let guard = guard.map_or(String::new(), |guard| format!("provided:{guard} : "));
                text.push_str(&format!("edge:P{index}:l{source}:l{target}:e{event}{{{guard}{update}}}\n"));
            }
        }
        for vector in vectors {
            text.push_str(&format!("sync:{vector}\n"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn generated_networks_survive(text in files_of_networks()) {
        check(&text).map_err(TestCaseError::fail)?;
    }
}
