//! Nesting is limited only by memory: parsing, printing and dropping do not use the call stack.

use turnpike_mcrl2::syntax::{Parentheses, Symbols, parse_data_expression, parse_specification};

const DEEP: usize = 100_000;

/// A text of many openings, a middle and as many closings. The stack of the thread is too small for
/// a frame for each of them.
fn nested(begin: &str, middle: &str, end: &str) -> String {
    format!("{}{middle}{}", begin.repeat(DEEP), end.repeat(DEEP))
}

fn small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(test).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn deep_data() {
    small_stack(|| {
        for (begin, middle, end) in [
            ("(", "x", ")"),
            ("f(", "x", ")"),
            ("", "f", "(x)"),
            ("", "f", "[x->y]"),
            ("f[", "x", "->y]"),
            ("[", "x", "]"),
            ("{", "x", "}"),
            ("{x:", "1", "}"),
            ("{x: Nat | ", "b", "}"),
            ("!", "x", ""),
            ("-(", "x", ")"),
            ("x => ", "y", ""),
            ("x |> ", "[]", ""),
            ("", "x", " - y"),
            ("x + (", "y", ") * z"),
            ("forall x: Nat. ", "b", ""),
            ("b && exists x: Nat. ", "b", ""),
            ("", "x", " whr x = 1 end"),
            ("x whr x = ", "1", " end"),
        ] {
            let source = nested(begin, middle, end);
            let (expression, diagnostics) = parse_data_expression(&source, &Symbols::default());
            let expression = expression.unwrap_or_else(|| panic!("{begin}{middle}{end}: {diagnostics:?}"));
            for parentheses in [Parentheses::Needed, Parentheses::All] {
                let text = expression.tree.data_text(expression.root, parentheses);
                let (again, _) = parse_data_expression(&text, &Symbols::default());
                let again = again.expect("what is printed can be read");
                assert!(again.tree.data_text(again.root, parentheses) == text, "{begin}{middle}{end}");
            }
        }
    });
}

#[test]
fn deep_processes_and_sorts() {
    small_stack(|| {
        for (begin, middle, end) in [
            ("(", "a", ")"),
            ("a . ", "b", ""),
            ("", "a", " + b"),
            ("a || ", "b", ""),
            ("sum x: Nat. ", "a", ""),
            ("c -> ", "a", ""),
            ("c -> a <> ", "b", ""),
            ("c -> (", "a", ") <> b"),
            ("c -> ", "a", " <> b"),
            ("x -> a + ", "b", ""),
            ("hide({a}, ", "a", ")"),
            ("", "a", " @ 1"),
            ("sum x: Nat. c -> a . ", "b", ""),
        ] {
            let source = format!("init {};", nested(begin, middle, end));
            let (specification, diagnostics) = parse_specification(&source);
            assert!(diagnostics.is_empty(), "{begin}{middle}{end}: {diagnostics:?}");
            let text = specification.to_string();
            assert!(parse_specification(&text).0.to_string() == text, "{begin}{middle}{end}");
        }
        for (begin, middle, end) in [
            ("(", "A", ")"),
            ("List(", "A", ")"),
            ("A -> ", "A", ""),
            ("(", "A", " -> B)"),
            ("A # ", "A -> A", ""),
            ("struct c(p: ", "A", ")"),
            ("struct d | c(", "A", ")?r | e"),
        ] {
            let source = format!("map f: {}; init delta;", nested(begin, middle, end));
            let (specification, diagnostics) = parse_specification(&source);
            assert!(diagnostics.is_empty(), "{begin}{middle}{end}: {diagnostics:?}");
            let text = specification.to_string();
            assert!(parse_specification(&text).0.to_string() == text, "{begin}{middle}{end}");
        }
    });
}

#[test]
fn deep_mistakes_are_reported() {
    small_stack(|| {
        for begin in [
            "(",
            "[",
            "{",
            "{x:",
            "f(",
            "c -> (",
            "!",
            "x -> ",
            "sum x: ",
            "a(x)(",
            "struct c(",
            "whr x = ",
            "end ",
            "<> ",
        ] {
            for source in [
                format!("init {};", begin.repeat(DEEP)),
                format!("eqn f = {};", begin.repeat(DEEP)),
                begin.repeat(DEEP),
            ] {
                let (_, diagnostics) = parse_specification(&source);
                assert!(!diagnostics.is_empty());
            }
        }
    });
}
