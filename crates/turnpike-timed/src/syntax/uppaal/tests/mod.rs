//! What is accepted, what is rejected, and that printing and parsing again changes nothing.

mod round_trip;
mod xml;

use turnpike_model::Diagnostic;

use super::tree::{Declaration, Dialect, Dimension, Direction, Model, TypeKind};
use super::{parse_condition, parse_xta};

/// The tree without its places.
fn erased(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut erased = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        erased.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let first = digits(rest);
        let second = rest[first..].strip_prefix("..").map_or(0, digits);
        if second > 0 {
            rest = &rest[first + 2 + second..];
        } else {
            erased.push_str(&rest[..first]);
            rest = &rest[first..];
        }
    }
    erased + rest
}

fn read(text: &str) -> Model {
    parse_xta(text).unwrap_or_else(|errors| panic!("{text}: {errors:#?}")).0
}

/// The first error, and the text that it points at.
fn first_error(text: &str) -> (String, &str) {
    let errors = parse_xta(text).expect_err(text);
    pointed(text, &errors[0])
}

fn pointed<'a>(text: &'a str, diagnostic: &Diagnostic) -> (String, &'a str) {
    let range = diagnostic.span.clone().expect("a place").range;
    (diagnostic.message.clone(), text.get(range).expect("inside the text"))
}

/// A model around declarations.
fn with(declarations: &str) -> String {
    format!("{declarations}\nprocess P() {{ state A; init A; }}\nsystem P;")
}

#[test]
fn operators_bind_as_documented() {
    for (text, means) in [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a << b + c", "a << (b + c)"),
        ("a <? b << c", "a <? (b << c)"),
        ("a < b >? c", "a < (b >? c)"),
        ("a == b < c", "a == (b < c)"),
        ("a & b == c", "a & (b == c)"),
        ("a ^ b & c", "a ^ (b & c)"),
        ("a | b ^ c", "a | (b ^ c)"),
        ("a && b | c", "a && (b | c)"),
        ("a or b and c", "a || (b && c)"),
        ("a imply b imply c", "(a imply b) imply c"),
        ("a or b imply c", "(a || b) imply c"),
        ("a imply b or c", "(a imply b) || c"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a || b ? c : d", "(a || b) ? c : d"),
        ("a = b = c", "a = (b = c)"),
        ("a := b ? c : d", "a = (b ? c : d)"),
        ("a += b || c", "a += (b || c)"),
        ("not a == b", "(!a) == b"),
        ("-a * b", "(-a) * b"),
        ("-a[1].b(c)", "-(a[1].b(c))"),
        ("!a.b", "!(a.b)"),
        ("forall (i : T) a && b imply c", "forall (i : T) ((a && b) imply c)"),
        ("x || exists (i : T) a && b", "x || (exists (i : T) (a && b))"),
        ("sum (i : int[0,3]) a[i] == 3 && b", "sum (i : int[0,3]) ((a[i] == 3) && b)"),
        ("x' == 0 && y", "((x') == 0) && y"),
        ("- - a++", "-(-(a++))"),
        ("a && (b && c) && d", "(a && b) && (c && d)"),
    ] {
        let (left, right) = (parse_condition(text).unwrap(), parse_condition(means).unwrap());
        assert_eq!(erased(&left), erased(&right), "{text}");
    }
    for (text, other) in [("a - (b - c)", "a - b - c"), ("a imply (b imply c)", "a imply b imply c")] {
        let (left, right) = (parse_condition(text).unwrap(), parse_condition(other).unwrap());
        assert_ne!(erased(&left), erased(&right), "{text}");
    }
}

#[test]
fn integers_have_32_bits() {
    assert!(parse_condition("2147483647 - -2147483648").is_ok());
    assert_eq!(parse_condition("2147483648").unwrap_err().message, "this number is too large");
    assert_eq!(parse_condition("-99999999999999999999").unwrap_err().message, "this number is too large");
}

#[test]
fn long_chains_are_read_and_deep_nests_refused() {
    let long = vec!["a == 1"; 100_000].join(" && ");
    assert!(parse_condition(&long).is_ok());
    let sum = vec!["a"; 200].join(" + ");
    assert!(parse_condition(&sum).is_ok());
    for deep in [
        "(".repeat(100_000),
        "-".repeat(99_999),
        vec!["a"; 100_000].join(" + "),
        format!("a{}", "[0]".repeat(10_000)),
        "a ? ".repeat(50_000),
        "a = ".repeat(50_000),
        "forall (i : int[0,forall (i : int[0,".repeat(10_000),
    ] {
        assert_eq!(parse_condition(&deep).unwrap_err().message, "this is nested too deeply");
    }
    for deep in [
        format!("void f() {}", "{ ".repeat(100_000)),
        format!("void f() {{ {}", "if (a) ".repeat(100_000)),
        format!("int a = {}", "{".repeat(100_000)),
        "struct { ".repeat(100_000),
    ] {
        let (message, _) = first_error(&deep);
        assert_eq!(message, "this is nested too deeply");
    }
}

#[test]
fn a_name_is_a_type_when_it_was_declared_as_one() {
    let model = read(&with(
        "typedef int[0,3] id_t; const int N = 2; int a[id_t][N]; int f(int id_t) { int b[id_t]; }",
    ));
    let Declaration::Variables(variables) = &model.declarations[2] else { panic!("variables") };
    let [Dimension::Index(_), Dimension::Size(_)] = &variables.variables[0].dimensions[..] else {
        panic!("dimensions")
    };
    let Declaration::Function(function) = &model.declarations[3] else { panic!("a function") };
    let Declaration::Variables(variables) = &function.body.declarations[0] else { panic!("variables") };
    assert!(
        matches!(variables.variables[0].dimensions[0], Dimension::Size(_)),
        "the parameter hides the type"
    );
}

const OLD: &str = "
clock x, y; chan go; urgent chan now; int select, i:=3, a[2];
const K 10, L[2] {1, 2}; const M := 3;
process P(clock z; int i, j; const k, m; chan c) {
  const n 4;
  state A{ z =< K, i == 0 }, B, C;
  commit B; urgent C;
  init A;
  trans A -> B { guard x >= 3, i==0 and j => 2; sync c!; assign z:=0, i := i+1; },
          -> C { guard y < 3, z > 1, x == 1, i != 3; },
        B -> A { };
}
process Q { state S; init S; }
P1 := P(x, i, a, K, 3, go);
system P1, Q;
";

#[test]
fn the_old_syntax_looks_like_the_new_one_afterwards() {
    let model = read(OLD);
    assert_eq!(model.dialect, Dialect::Old);
    let new = model.to_string();
    for line in [
        "int select, i = 3, a[2];",
        "const int K = 10, L[2] = {1, 2};",
        "process P(clock &z, int &i, int &j, const int k, const int m, chan &c) {",
        "  const int n = 4;",
        "  state A { z <= K && i == 0 }, B, C;",
        "    A -> B { guard x >= 3 && i == 0 && j >= 2; sync c!; assign z = 0, i = i + 1; },",
        "    A -> C { guard y < 3 && z > 1 && x == 1 && i != 3; },",
        "process Q() {",
        "P1 = P(x, i, a, K, 3, go);",
        "system P1, Q;",
    ] {
        assert!(new.lines().any(|other| other == line), "{line}\n{new}");
    }
}

#[test]
fn errors_are_those_of_the_syntax_that_got_further() {
    // The new syntax has `const int`, the old one has not.
    let text = with("const int N = 3; int x = ;");
    assert_eq!(first_error(&text), ("expected an expression, found `;`".into(), ";"));
    let text = "const K 10; process P { state A; init B; } system P;";
    assert_eq!(first_error(text), ("`P` has no location `B`".into(), "B"));
    // With an error in new syntax, old syntax is not assumed: a comma in a guard does not turn
    // parameters into references.
    let text =
        "const int N = 3; process P() { state A; init A; trans A -> A { guard N > 1, N < 3; }; } system P;";
    assert_eq!(first_error(text), ("expected one condition, found `,`".into(), ","));
}

#[test]
fn branchpoints_disappear() {
    let text = "int v; process P() { state A, B, C; branchpoint D; init A;
        trans A -> D { select i : int[0,1]; guard v > 0; assign v = i; },
              D -> B { assign v = 2; probability 3; }, D -> C { probability 0; }, B -> A { }; } system P;";
    let (model, warnings) = parse_xta(text).unwrap();
    let printed = model.templates[0].to_string();
    assert!(
        printed.contains("A -> B { select i : int[0, 1]; guard v > 0; assign v = i, v = 2; }"),
        "{printed}"
    );
    assert!(printed.contains("A -> C { select i : int[0, 1]; guard v > 0; assign v = i; }"), "{printed}");
    assert_eq!(model.templates[0].edges.len(), 3);
    let all: Vec<_> = warnings.iter().map(|warning| pointed(text, warning)).collect();
    assert_eq!(all, [("probability weights are ignored".to_owned(), "3")]);
}

#[test]
fn labels_behind_a_branchpoint_belong_to_the_whole_way() {
    let text = "int v; chan c; process P() { state A, B, C; branchpoint D; init A;
        trans A -> D { select i : int[0,1]; guard v > 0; assign v = i; },
              D -> B { select j : int[0,1]; guard v < j; sync c!; assign v = j; }, D -> C { guard v > 3; }; }
        system P;";
    let (model, warnings) = parse_xta(text).unwrap();
    let printed = model.templates[0].to_string();
    for way in [
        "A -> B { select i : int[0, 1], j : int[0, 1]; guard v > 0 && v < j; sync c!; assign v = i, v = j; }",
        "A -> C { select i : int[0, 1]; guard v > 0 && v > 3; assign v = i; }",
    ] {
        assert!(printed.contains(way), "{printed}");
    }
    assert!(warnings.iter().any(|warning| warning.message.contains("after a branchpoint")), "{warnings:?}");
    let twice = text.replace("guard v > 0; assign", "guard v > 0; sync c?; assign");
    let errors = parse_xta(&twice).unwrap_err();
    let error =
        errors.iter().find(|error| error.message == "a path through a branchpoint can synchronise only once");
    assert_eq!(error.map(|error| pointed(&twice, error).1), Some("c!"), "{errors:?}");
}

#[test]
fn numbers_with_a_fraction_are_read() {
    let text = with("const double x = 1.5, y = 2e3; hybrid clock h; double f(double z) { return z / 0.25; }");
    let model = read(&text);
    assert_eq!(erased(&read(&model.to_string())), erased(&model));
    assert!(model.to_string().contains("const double x = 1.5, y = 2000.0;"), "{model}");
    assert!(model.to_string().contains("hybrid clock h;"), "{model}");
}

#[test]
fn everything_after_the_templates_is_read() {
    let model = read(
        "chan a, b[2]; chan priority a, b[0] < default < b[1];
         process P(int &x, const int i) { state A; init A; }
         int y; typedef int[0,1] t;
         process Q() { }
         int z[2] = {0, 1};
         R(const t i) = P(y, i); S = P(z[0], 1 + 2);
         system R < S, Q;
         progress { y; z[0]; } gantt { G: y -> 1; }
         query { E<> // some
           Q.A }",
    );
    assert_eq!(model.declarations.len(), 4, "declarations before the last process are global");
    assert_eq!(model.system.declarations.len(), 1);
    assert_eq!(model.system.levels.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(model.system.instantiations[0].parameters.len(), 1);
    assert_eq!(model.queries[0].text.split_whitespace().collect::<Vec<_>>(), ["E<>", "Q.A"]);
    let Declaration::ChannelPriority(priority) = &model.declarations[1] else { panic!("priorities") };
    assert_eq!(priority.levels.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    assert!(model.templates[1].initial.is_none());
    let Declaration::Typedef(typedef) = &model.declarations[3] else { panic!("a type") };
    assert!(matches!(typedef.ty.kind, TypeKind::Range(..)));
}

#[test]
fn what_is_not_supported_is_named_and_pointed_at() {
    for (text, message, place) in [
        (with("const string s = \"a\";"), "variables of type `string` are not supported", "string"),
        (
            with("import \"lib\" { int f(); };"),
            "functions of external libraries (`import`) are not supported",
            "import",
        ),
        (with("dynamic T(int x);"), "dynamic templates are not supported", "dynamic"),
        (with("void f() { spawn T(1); }"), "dynamic templates (`spawn`) are not supported", "spawn"),
        (with("void f() { exit(); }"), "dynamic templates (`exit`) are not supported", "exit"),
        (with("int f() { return numOf(T); }"), "dynamic templates (`numOf`) are not supported", "numOf"),
        (
            with("bool f() { foreach (t : T) 1; }"),
            "dynamic templates (`foreach`) are not supported",
            "foreach",
        ),
        (with("before_update { x = 1 }"), "`before_update` blocks are not supported", "before_update"),
        (with("after_update { x = 1 }"), "`after_update` blocks are not supported", "after_update"),
        (with("void f() { break; }"), "`break` statements are not supported", "break"),
        (with("void f() { switch (a) { } }"), "`switch` statements are not supported", "switch"),
        (with("chan b;") + " IO P {b?}", "directions in `IO` lines are not supported", "?"),
    ] {
        assert_eq!(first_error(&text), (message.into(), place), "{text}");
    }
}

#[test]
fn channels_may_lack_a_direction_and_processes_list_theirs() {
    let text = "chan a, b[3]; process P(const int[0,1] i) { state A; init A; trans A -> A { sync b[i]; }, A -> A { sync a; }; }
        system P; IO P(1) { a, b[1], b }IO P { } query { E<> deadlock }";
    let model = read(text);
    let edges = &model.templates[0].edges;
    let syncs: Vec<_> = edges.iter().filter_map(|edge| edge.sync.as_ref()).collect();
    assert!(syncs.iter().all(|sync| sync.direction == Direction::Together));
    assert_eq!(syncs.iter().map(|sync| &text[sync.span.clone()]).collect::<Vec<_>>(), ["b[i]", "a"]);
    let lines: Vec<_> = model
        .system
        .alphabets
        .iter()
        .map(|line| (&text[line.span.clone()], line.arguments.len(), line.channels.len()))
        .collect();
    assert_eq!(lines, [("IO P(1) { a, b[1], b }", 1, 3), ("IO P { }", 0, 0)]);
    assert_eq!(model.queries.len(), 1);
    assert_eq!(erased(&read(&model.to_string())), erased(&model));
    for (tail, message, place) in [
        ("IO", "expected the name of a process, but the text ends", ""),
        ("IO P a", "expected `{` and channels, found `a`", "a"),
        ("IO P { a b }", "expected `,` or `}`, found `b`", "b"),
        ("IO P { a", "expected `,` or `}`, but the text ends", ""),
        ("EA P { a }", "expected `IO`, `progress`, `gantt`, `query` or the end, found `EA`", "EA"),
    ] {
        assert_eq!(first_error(&format!("{}{tail}", with("chan a, b;"))), (message.into(), place), "{tail}");
    }
}

#[test]
fn what_does_not_matter_is_ignored_with_a_warning() {
    let text = "process P() { state A { ; 2 }, B { 1 < 2 ; 3 }; init A; trans A -u-> B { }, B -u-> A { }; } system P;";
    let (_, warnings) = parse_xta(text).unwrap();
    let all: Vec<_> = warnings.iter().map(|warning| pointed(text, warning)).collect();
    assert_eq!(
        all,
        [
            ("rates of exponential distributions are ignored".to_owned(), "2"),
            ("the controllability of edges is ignored".to_owned(), "-u->"),
        ]
    );
}

#[test]
fn mistakes_are_told_in_plain_words() {
    let process = |body: &str| format!("bool b; process P() {{ state A, B; init A; {body} }} system P;");
    for (text, message, place) in [
        (with("int x"), "expected `,`, `=` or `;`, found `process`", "process"),
        (with("int 3;"), "expected a name, found `3`", "3"),
        (with("const int N = 1; int while;"), "expected a name, found `while`", "while"),
        (with("bool b; const N = 3;"), "the constant `N` has no type", "N"),
        (with("x = 3;"), "expected the name of a template, found `3`", "3"),
        (with("int a = 3 /* 4;"), "this comment does not end", "/*"),
        (with("int x; x;"), "expected a declaration, found `x`", "x"),
        (with("int a$;"), "unexpected `$`", "$"),
        (
            with("void f() { int x; x = 1; int y; }"),
            "declarations come before the statements of a block",
            "int",
        ),
        (
            with("void f() { for (int i = 0; i < 3; i++) { } }"),
            "`for` cannot declare a variable with a value",
            "int",
        ),
        (with("void f() { x = 1 }"), "expected an operator or `;`, found `}`", "}"),
        (with("const int N 3;"), "expected `=` before the value of a constant", "3"),
        (process("trans A -> C { };"), "`P` has no location `C`", "C"),
        (process("trans A -> B { guard x =< 3; };"), "expected an operator or `;`, found `=<`", "=<"),
        (
            process("trans A -> B { sync a!; guard x < 3; };"),
            "expected `select`, `guard`, `sync`, `assign`, `probability` or `}`, found `guard`",
            "guard",
        ),
        (process("trans A -> B { guard x < ; };"), "expected an expression, found `;`", ";"),
        (process("state A;"), "`A` occurs twice", "A"),
        ("process P() { state A; } system P;".into(), "`P` has no initial location", "P"),
        ("int x;".into(), "there is no `system` line", ""),
        (String::new(), "there is no `system` line", ""),
        (
            "process P() { state A; init A; } system P(1);".into(),
            "processes on the `system` line have no arguments",
            "(",
        ),
        ("process P() { state A; init A;".into(), "expected `}`, but the text ends", ""),
    ] {
        assert_eq!(first_error(&text), (message.into(), place), "{text}");
    }
}

#[test]
fn several_errors_are_told_at_once() {
    let text = "int x = ; clock 3; int y;
        process P() { int z = ]; state A, B; init A;
          trans A -> B { guard x < ; sync a!; }, A -> C { }, B -> A { assign = 3; }; }
        system P, ;";
    let errors = parse_xta(text).unwrap_err();
    let all: Vec<_> = errors.iter().map(|error| pointed(text, error).0).collect();
    assert_eq!(
        all,
        [
            "expected an expression, found `;`",
            "expected a name, found `3`",
            "expected an expression, found `]`",
            "expected an expression, found `;`",
            "`P` has no location `C`",
            "expected an expression, found `=`",
            "expected the name of a process, found `;`",
        ]
    );
    // A list of locations with a syntax error does not make its locations unknown.
    let text = "process P() { state A, = B, C; init C; trans A -> B { }; } system P;";
    assert_eq!(parse_xta(text).unwrap_err().len(), 1);
}
