//! Parsing, printing and parsing again yields the same tree.

use proptest::prelude::*;

use super::super::{parse_condition, parse_query, parse_xta};
use super::erased;

fn joined(items: Vec<String>, between: &str) -> String {
    items.join(between)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "x", "i", "P", "A", "E", "U", "sup"]).prop_map(str::to_owned)
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        name(),
        (0..100_i32).prop_map(|number| number.to_string()),
        Just("-2147483648".to_owned()),
        Just("true".to_owned()),
        Just("deadlock".to_owned()),
    ];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let binary = prop::sample::select(vec![
            "*", "/", "%", "+", "-", "<<", ">>", "<?", ">?", "<", "<=", ">=", ">", "==", "!=", "&", "^", "|", "&&",
            "and", "||", "or", "imply", "=", ":=", "+=", "-=", "<<=", "|=", "%=",
        ]);
        let prefix = prop::sample::select(vec!["-", "+", "!", "not ", "++", "--"]);
        let postfix = prop::sample::select(vec!["++", "--", "'", ".f", "()", "[1]"]);
        let quantifier = prop::sample::select(vec!["forall", "exists", "sum"]);
        prop_oneof![
            4 => (inner.clone(), binary, inner.clone()).prop_map(|(left, sign, right)| format!("{left} {sign} {right}")),
            2 => inner.clone().prop_map(|inner| format!("({inner})")),
            1 => (prefix, inner.clone()).prop_map(|(sign, inner)| format!("{sign} {inner}")),
            1 => (inner.clone(), postfix).prop_map(|(inner, sign)| format!("({inner}){sign}")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a} ? {b} : {c}")),
            1 => (name(), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(name, arguments)| format!("{name}({})", joined(arguments, ", "))),
            1 => (name(), inner.clone()).prop_map(|(name, index)| format!("{name}[{index}]")),
            1 => (quantifier, name(), ty(inner.clone().boxed()), inner)
                .prop_map(|(word, name, ty, body)| format!("{word} ({name} : {ty}) {body}")),
        ]
    })
}

fn ty(expression: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    prop_oneof![
        Just("T".to_owned()),
        Just("bool".to_owned()),
        Just("int".to_owned()),
        (expression.clone(), expression.clone()).prop_map(|(low, high)| format!("int[({low}), ({high})]")),
        expression.prop_map(|size| format!("scalar[({size})]")),
    ]
}

fn declaration() -> impl Strategy<Value = String> {
    let expression = expression().boxed();
    let dimension = prop_oneof![
        Just(String::new()),
        expression.clone().prop_map(|size| format!("[{size}]")),
        Just("[T]".to_owned()),
        Just("[x][int[0,1]]".to_owned()),
    ];
    let initial = prop_oneof![
        Just(String::new()),
        expression.clone().prop_map(|value| format!(" = {value}")),
        (expression.clone(), expression.clone()).prop_map(|(a, b)| format!(" := {{ {a}, {{f: {b}}} }}")),
    ];
    let prefix = prop::sample::select(vec!["", "const ", "meta ", "urgent ", "broadcast urgent "]);
    let variable = (name(), dimension.clone(), initial)
        .prop_map(|(name, dimension, initial)| format!("{name}{dimension}{initial}"));
    let variables = (prefix, ty(expression.clone()), prop::collection::vec(variable, 1..4))
        .prop_map(|(prefix, ty, variables)| format!("{prefix}{ty} {};", joined(variables, ", ")));
    let parameter =
        (prop::sample::select(vec!["int ", "const T ", "clock &", "T &"]), name(), dimension.clone())
            .prop_map(|(ty, name, dimension)| format!("{ty}{name}{dimension}"));
    let function = (prop::collection::vec(parameter, 0..3), prop::collection::vec(statement(), 0..4))
        .prop_map(|(parameters, statements)| {
            format!("void f({}) {{ int y; {} }}", joined(parameters, ", "), joined(statements, " "))
        });
    prop_oneof![
        variables,
        function,
        (ty(expression), dimension).prop_map(|(ty, dimension)| format!(
            "typedef struct {{ {ty} f{dimension}, g; bool h; }} S, V[2];"
        )),
        Just("chan priority a, b[1] < default < x;".to_owned()),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    let expression = expression().boxed();
    let leaf = prop_oneof![
        Just(";".to_owned()),
        Just("return;".to_owned()),
        expression.clone().prop_map(|value| format!("return {value};")),
        expression.clone().prop_map(|value| format!("{value};")),
        expression.clone().prop_map(|value| format!("assert {value};")),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let condition = expression.clone();
        prop_oneof![
            (condition.clone(), inner.clone())
                .prop_map(|(condition, then)| format!("if ({condition}) {then}")),
            (condition.clone(), inner.clone(), inner.clone()).prop_map(
                |(condition, then, otherwise)| format!("if ({condition}, x) {then} else {otherwise}")
            ),
            (condition.clone(), inner.clone())
                .prop_map(|(condition, body)| format!("while ({condition}) {body}")),
            (condition.clone(), inner.clone())
                .prop_map(|(condition, body)| format!("do {body} while ({condition});")),
            (condition.clone(), inner.clone())
                .prop_map(|(condition, body)| format!("for (i = 0, x++; {condition}; i++) {body}")),
            inner.clone().prop_map(|body| format!("for (;;) {body}")),
            inner.clone().prop_map(|body| format!("for (i : T) {body}")),
            prop::collection::vec(inner, 0..3).prop_map(|body| format!("{{ int x; {} }}", joined(body, " "))),
        ]
    })
}

fn model() -> impl Strategy<Value = String> {
    let expression = expression().boxed();
    let guarded =
        (prop::option::of(expression.clone()), prop::collection::vec(expression.clone(), 0..3), 0..5_u8);
    let edge = (guarded, 0..3_usize, 0..3_usize).prop_map(|((guard, update, sync), source, target)| {
        let guard = guard.map_or_else(String::new, |guard| format!("guard {guard};"));
        let sync = ["", "sync a!;", "sync b[x]?;", "sync (a).f!;", "sync b[i];"][usize::from(sync)];
        let update =
            if update.is_empty() { String::new() } else { format!("assign {};", joined(update, ", ")) };
        format!("L{source} -> L{target} {{ select i : T; {guard} {sync} {update} }}")
    });
    (
        prop::collection::vec(declaration(), 0..4),
        prop::option::of(expression.clone()),
        prop::collection::vec(edge, 0..4),
        prop::collection::vec(expression, 0..3),
    )
        .prop_map(|(declarations, invariant, edges, arguments)| {
            let invariant = invariant.map_or_else(String::new, |invariant| format!("{{ {invariant} }}"));
            let edges = if edges.is_empty() { String::new() } else { format!("trans {};", joined(edges, ", ")) };
            format!(
                "typedef int[0,3] T; {0} process P(const T i) {{ {0} state L0 {invariant}, L1, L2; commit L1; urgent L2; \
                 init L1; {edges} }} int v; Q(const T i) := P({1}); system P < Q, v; IO P(1, x) {{ a, b[1] }} IO Q {{ }}",
                joined(declarations, "\n").replace("chan priority a, b[1] < default < x;", ""),
                joined(arguments, ", ")
            )
        })
}

proptest! {
    #[test]
    fn expressions(text in expression()) {
        let tree = parse_condition(&text).unwrap();
        let printed = tree.to_string();
        let again = parse_condition(&printed).unwrap();
        prop_assert_eq!(erased(&tree), erased(&again), "{}", printed);
    }

    #[test]
    fn models(text in model()) {
        let (tree, _) = parse_xta(&text).unwrap();
        let printed = tree.to_string();
        let (again, _) = parse_xta(&printed).unwrap();
        prop_assert_eq!(erased(&tree), erased(&again), "{}", printed);
    }

    #[test]
    fn queries(first in expression(), second in expression(), form in 0..6_u8) {
        let text = match form {
            0 => format!("E<> {first}"),
            1 => format!("A[] {first}"),
            2 => format!("({first}) --> {second}"),
            3 => format!("sup{{{first}}}: {second}, x"),
            4 => format!("E[] {first}"),
            _ => format!("A<> {second}"),
        };
        let tree = parse_query(&text).unwrap();
        let again = parse_query(&tree.to_string()).unwrap();
        prop_assert_eq!(erased(&tree), erased(&again), "{}", tree);
    }

    #[test]
    fn any_text_is_read_or_refused_with_places_inside_it(text in "[a-cPx0-3 (){}\\[\\];,:=<>&|!?.'+*/\n\\\\-]{0,60}") {
        for text in [text.clone(), format!("process P() {{ state A; {text}"), format!("int f() {{ {text}")] {
            if let Err(errors) = parse_xta(&text) {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(text.get(error.span.expect("a place").range).is_some());
                }
            }
        }
    }
}
