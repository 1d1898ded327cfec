//! Comparisons of measures, such as `eating >= 2 && waiting == 0`: the condition language of models
//! without one of their own.
//!
//! ```text
//! condition  = condition "||" condition | condition "&&" condition | "!" condition
//!            | "true" | "false" | value comparison value | "(" condition ")"
//! comparison = "==" | "!=" | "<" | "<=" | ">" | ">="
//! value      = value "+" value | value "-" value | value "*" value | "-" value
//!            | number | name of a measure | "(" value ")"
//! ```
//!
//! From loose to tight: `||`, `&&`, `!`, comparisons, `+` and `-`, `*`; so `!a == b` means `!(a ==
//! b)`. Numbers are written `12`, `0.5` or `1e3`. **Names may contain `-`** (such as `out-degree`),
//! so a minus after a name needs a blank before it: `x - 1`, not `x-1`. Values are 64-bit floating
//! point numbers; `==` is exact.
//!
//! ```
//! use turnpike_model::native::{Measure, Native, NativeModel};
//! use turnpike_model::predicate::MeasureExpression;
//! use turnpike_model::Model;
//!
//! struct Countdown;
//!
//! impl NativeModel for Countdown {
//!     type State = u32;
//!     type Action = &'static str;
//!
//!     fn initial(&self) -> u32 {
//!         3
//!     }
//!     fn actions(&self, state: &u32, actions: &mut Vec<&'static str>) {
//!         actions.extend((*state > 0).then_some("tick"));
//!     }
//!     fn next(&self, state: &u32, _: &&'static str) -> Option<u32> {
//!         Some(state - 1)
//!     }
//!     fn measures(&self) -> Vec<Measure<u32>> {
//!         vec![Measure::new("left", "ticks left", |&state: &u32| state.into())]
//!     }
//! }
//!
//! let model = Native::new(Countdown);
//! let mut explorer = model.explorer();
//! let mut state = Vec::new();
//! explorer.initial(&mut state).expect("a countdown starts");
//! assert!(MeasureExpression::parse("left == 3 && left > 1", model.info())?.holds(&mut *explorer, &state));
//!
//! let error = MeasureExpression::parse("lef > 0", model.info()).unwrap_err();
//! assert_eq!(error.help.unwrap(), "did you mean `left`?");
//! # Ok::<(), turnpike_model::Diagnostic>(())
//! ```

mod lexer;
mod parser;

use crate::diagnostic::Diagnostic;
use crate::system::{Explorer, ModelInfo};

/// A condition on states, compiled for one model.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureExpression {
    text: String,
    /// Instructions of a stack machine. A tree would have to be walked and dropped recursively,
    /// while a condition with a million terms is just a long list.
    code: Vec<Op>,
    /// The maximum height of the stack.
    stack: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Number(f64),
    Measure(u32),
    Add,
    Subtract,
    Multiply,
    Negate,
    Compare(Comparison),
    /// Truth values are numbers, 1 and 0.
    Not,
    /// If the top is false, jumps to this instruction and keeps it; otherwise drops it.
    AndElse(u32),
    /// If the top is true, jumps to this instruction and keeps it; otherwise drops it.
    OrElse(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    #[inline]
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Different => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }
}

/// Enough for conditions written by hand.
const SMALL_STACK: usize = 16;

impl MeasureExpression {
    /// Compiles a condition; the module documentation has the grammar. Errors refer to bytes of
    /// `text`, and an unknown name comes with the nearest known one.
    pub fn parse(text: &str, info: &ModelInfo) -> Result<Self, Diagnostic> {
        let (code, stack) = parser::parse(text, info)?;
        Ok(MeasureExpression { text: text.to_owned(), code, stack })
    }

    /// The original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value, if it is the same in all states.
    pub fn constant(&self) -> Option<bool> {
        let reads = self.code.iter().any(|op| matches!(op, Op::Measure(_)));
        (!reads).then(|| self.run(&mut |_| f64::NAN, &mut vec![0.0; self.stack.max(1)]))
    }

    /// Whether the condition holds in `state`. Measures are evaluated only if needed. A measure
    /// that the explorer does not offer is NaN.
    pub fn holds(&self, explorer: &mut dyn Explorer, state: &[u32]) -> bool {
        let mut measures = explorer.measures();
        let mut measure = |index: usize| match &mut measures {
            Some(measures) => measures.measure(state, index),
            None => f64::NAN,
        };
        if self.stack <= SMALL_STACK {
            self.run(&mut measure, &mut [0.0; SMALL_STACK])
        } else {
            self.run(&mut measure, &mut vec![0.0; self.stack])
        }
    }

    fn run(&self, measure: &mut impl FnMut(usize) -> f64, stack: &mut [f64]) -> bool {
        // `top` is the height of the stack. The compiler guarantees that there are enough values.
        let (mut top, mut next) = (0, 0);
        while let Some(&op) = self.code.get(next) {
            next += 1;
            match op {
                Op::Number(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Measure(index) => {
                    stack[top] = measure(index as usize);
                    top += 1;
                }
                Op::Add | Op::Subtract | Op::Multiply | Op::Compare(_) => {
                    top -= 1;
                    let (left, right) = (stack[top - 1], stack[top]);
                    stack[top - 1] = match op {
                        Op::Add => left + right,
                        Op::Subtract => left - right,
                        Op::Multiply => left * right,
                        Op::Compare(comparison) => truth(comparison.holds(left, right)),
                        _ => left,
                    };
                }
                Op::Negate => stack[top - 1] = -stack[top - 1],
                Op::Not => stack[top - 1] = truth(stack[top - 1] == 0.0),
                Op::AndElse(target) | Op::OrElse(target) => {
                    let settled = matches!(op, Op::OrElse(_)) == (stack[top - 1] != 0.0);
                    if settled {
                        next = target as usize;
                    } else {
                        top -= 1;
                    }
                }
            }
        }
        stack[0] != 0.0
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facets::{MeasureInfo, Measures};
    use crate::label::{Label, LabelId};
    use crate::successors::Successors;
    use crate::system::StepError;
    use proptest::prelude::*;

    /// Measures are the words of the state.
    struct Words {
        asked: Vec<usize>,
    }

    impl Explorer for Words {
        fn initial(&mut self, _: &mut Vec<u32>) -> Result<(), StepError> {
            Ok(())
        }
        fn successors(&mut self, _: &[u32], _: &mut Successors) -> Result<(), StepError> {
            Ok(())
        }
        fn label(&mut self, _: LabelId) -> Label {
            Label::parse("tau")
        }
        fn state_values(&mut self, _: &[u32], _: &mut Vec<String>) {}
        fn measures(&mut self) -> Option<&mut dyn Measures> {
            Some(self)
        }
    }

    impl Measures for Words {
        fn measure(&mut self, state: &[u32], index: usize) -> f64 {
            self.asked.push(index);
            f64::from(state[index])
        }
    }

    fn info() -> ModelInfo {
        let mut info = ModelInfo::new("words", 4);
        info.measures = ["x", "out-degree", "y2", "queue[0]"].map(|name| MeasureInfo::new(name, "")).to_vec();
        info
    }

    fn holds(text: &str, state: [u32; 4]) -> bool {
        let expression = MeasureExpression::parse(text, &info()).expect(text);
        assert_eq!(expression.text(), text);
        expression.holds(&mut Words { asked: Vec::new() }, &state)
    }

    fn refused(text: &str) -> (String, String, String) {
        let error = MeasureExpression::parse(text, &info()).expect_err(text);
        let span = error.span.expect("a place");
        (error.message, text[span.range].to_owned(), error.help.unwrap_or_default())
    }

    #[test]
    fn values_and_comparisons() {
        let state = [3, 5, 0, 7];
        for text in [
            "true",
            "!false",
            "x == 3",
            "x != 4",
            "x < 4 && x <= 3 && x > 2 && x >= 3",
            "out-degree - x == 2",
            "out-degree -x == 2",
            "x -1 == 2",
            "x - -1 == 4",
            "2 + 3 * x == 11",
            "(2 + 3) * x == 15",
            "10 - 2 - 3 == 5",
            "-x == 0 - 3",
            "-(x + 1) * 2 == -8",
            "queue[0]+x==10",
            "0.5 * x == 1.5 && 1e1 == 10 && .5 == 0.5 && 2.5e-1 == 0.25",
            "((((x)))) == 3",
            "(x == 3)",
            "! x == 4",
            "!!(x == 3)",
            "x == 4 || y2 == 0",
            "true || false && false",
            "x==3&&y2==0",
        ] {
            assert!(holds(text, state), "{text}");
        }
        for text in ["false", "x == 4", "!(x == 3)", "(true || false) && false", "x != 3 || y2 > 0"] {
            assert!(!holds(text, state), "{text}");
        }
    }

    #[test]
    fn measures_are_asked_only_as_far_as_needed() {
        let asked = |text: &str| {
            let mut words = Words { asked: Vec::new() };
            MeasureExpression::parse(text, &info()).expect(text).holds(&mut words, &[1, 1, 1, 1]);
            words.asked
        };
        assert_eq!(asked("x == 0 && y2 == 1"), [0]);
        assert_eq!(asked("x == 1 || y2 == 1"), [0]);
        assert_eq!(asked("x == 1 && y2 == 1"), [0, 2]);
        assert_eq!(asked("x == 0 && y2 == 1 || out-degree == 1"), [0, 1]);
    }

    #[test]
    fn unknown_names_come_with_advice() {
        let of = |name: &str| format!("`{name}` is not a measure of this model");
        let text = str::to_owned;
        assert_eq!(
            refused("1 < out-degre"),
            (of("out-degre"), text("out-degre"), text("did you mean `out-degree`?"))
        );
        assert_eq!(
            refused("x-1 > 0"),
            (of("x-1"), text("x-1"), text("minus needs blanks around it: `x - 1`"))
        );
        let (message, place, help) = refused("zzzzzzzz == 1");
        assert_eq!((message, place), (of("zzzzzzzz"), text("zzzzzzzz")));
        assert_eq!(help, "the measures are x, out-degree, y2, queue[0]");
        assert_eq!(refused("x == 1 and x == 2").2, "write `&&`");
        assert_eq!(refused("not x == 1").2, "write `!`");
        assert!(MeasureExpression::parse("x=1 && y2 = 2", &info()).is_ok(), "as states are printed");
        let none = MeasureExpression::parse("x > 1", &ModelInfo::new("bare", 1)).expect_err("no measures");
        assert_eq!(none.help.as_deref(), Some("this model has no measures"));
    }

    #[test]
    fn mistakes_are_pointed_at() {
        for (text, place, message, help) in [
            ("", "", "a condition is missing", ""),
            ("x == 1 & true", "&", "`&` is not an operator", "write `&&`"),
            ("true | false", "|", "`|` is not an operator", "write `||`"),
            ("x", "x", "this is a number, but a condition is needed", "compare it"),
            ("x && true", "x", "this is a number", "compare it"),
            ("true + 1 == 2", "true", "this is a condition, but a number is needed", ""),
            ("true == true", "true", "this is a condition", ""),
            ("1 < x < 3", "<", "comparisons cannot be chained", "&&"),
            ("(x == 1", "(", "is never closed", ""),
            ("x == 1)", ")", "has no `(`", ""),
            ("x ==", "", "a number or a measure is missing", ""),
            ("x == && true", "&&", "a number or a measure is missing", ""),
            ("x == 1 y2", "y2", "an operator is missing", ""),
            ("x == 1 2", "2", "an operator is missing", ""),
            ("x == #", "#", "`#` has no meaning", ""),
            ("x == 1e", "1e", "not a number", ""),
            ("x == 1.2.3", "1.2.3", "not a number", ""),
            ("x == 1e999", "1e999", "too large", ""),
            ("x / 2 == 1", "/", "`/` has no meaning", ""),
            ("é == 1", "é", "is not a measure", ""),
            ("x == \u{1F600}", "\u{1F600}", "has no meaning", ""),
            ("-true", "true", "this is a condition", ""),
            ("!x", "x", "this is a number", "compare it"),
        ] {
            let (actual, at, advice) = refused(text);
            assert!(actual.contains(message), "{text}: {actual}");
            assert_eq!(at, place, "{text}: {actual}");
            assert!(advice.contains(help), "{text}: {advice}");
        }
    }

    #[test]
    fn nesting_has_a_limit_and_length_has_none() {
        let deep = |depth: usize| format!("{}true{}", "(".repeat(depth), ")".repeat(depth));
        assert!(holds(&deep(100), [0; 4]));
        for text in [deep(100_000), "(".repeat(1_000_000), "!".repeat(1_000_000), "-".repeat(1_000_000)] {
            let error = MeasureExpression::parse(&text, &info()).expect_err("too deep");
            assert!(error.message.contains("nested more than"), "{error}");
        }
        assert!(holds(&format!("x == 9{}", " || x == 3".repeat(200_000)), [3, 0, 0, 0]));
        assert!(holds(&format!("x{} == 100000", " + 1".repeat(99_999)), [1, 0, 0, 0]));
        let stacked = format!("{}1{} == 91", "1 + (".repeat(90), ")".repeat(90));
        assert!(holds(&stacked, [0; 4]));
    }

    #[test]
    fn not_a_number_compares_false() {
        assert!(!Comparison::Equal.holds(f64::NAN, f64::NAN));
        assert!(!Comparison::LessOrEqual.holds(f64::NAN, 0.0));
    }

    /// Texts of conditions with their value in the state 1, 2, 3, 4.
    fn conditions() -> impl Strategy<Value = (String, bool)> {
        let value = prop_oneof![
            (0u32..5).prop_map(|number| (number.to_string(), f64::from(number))),
            prop::sample::select(vec![("x", 1.0), ("out-degree", 2.0), ("y2", 3.0), ("queue[0]", 4.0)])
                .prop_map(|(name, value)| (name.to_owned(), value)),
        ]
        .prop_recursive(3, 12, 2, |inner| {
            (inner.clone(), 0..3usize, inner).prop_map(|((a, left), op, (b, right))| match op {
                0 => (format!("({a} + {b})"), left + right),
                1 => (format!("({a} - {b})"), left - right),
                _ => (format!("({a} * {b})"), left * right),
            })
        });
        let comparison = (value.clone(), 0..6usize, value).prop_map(|((a, left), op, (b, right))| {
            let (sign, result) = [
                ("==", left == right),
                ("!=", left != right),
                ("<", left < right),
                ("<=", left <= right),
                (">", left > right),
                (">=", left >= right),
            ][op];
            (format!("{a} {sign} {b}"), result)
        });
        comparison.prop_recursive(4, 24, 2, |inner| {
            (inner.clone(), 0..3usize, inner).prop_map(|((a, left), op, (b, right))| match op {
                0 => (format!("({a} || {b})"), left || right),
                1 => (format!("({a} && {b})"), left && right),
                _ => (format!("!({a})"), !left),
            })
        })
    }

    proptest! {
        #[test]
        fn agrees_with_direct_evaluation((text, expected) in conditions()) {
            prop_assert_eq!(holds(&text, [1, 2, 3, 4]), expected);
        }

        #[test]
        fn any_text_is_compiled_or_refused(text in r#"[-x2y.e()!&|<>=+* é]{0,24}"#) {
            match MeasureExpression::parse(&text, &info()) {
                Ok(expression) => { expression.holds(&mut Words { asked: Vec::new() }, &[1, 2, 3, 4]); }
                Err(error) => { let _ = &text[error.span.expect("a place").range]; }
            }
        }
    }
}
