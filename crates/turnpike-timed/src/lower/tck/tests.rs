//! What is accepted, what is rejected, and with which messages.

use crate::network::{
    Binary, Cells, ClockAtom, ClockCell, ClockId, ClockValue, Constraint, Expression, LocationId, Network,
    Space, Statement, Unary,
};
use crate::tck::read;

/// A network with clocks `x`, `y`, `c[3]`, integers `n`, `m` (0..9), `t[4]` (-1..5) and one edge
/// with these attributes.
fn with_edge(attributes: &str) -> String {
    format!(
        "system:s\nclock:1:x\nclock:1:y\nclock:3:c\nint:1:0:9:1:n\nint:1:0:9:2:m\nint:4:-1:5:0:t\nevent:e\nprocess:P\n\
         location:P:a{{initial:}}\nlocation:P:b\nedge:P:a:b:e{{{attributes}}}\n"
    )
}

fn network(text: &str) -> Network {
    read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).0
}

fn guard(condition: &str) -> Constraint {
    let mut guard = network(&with_edge(&format!("provided:{condition}"))).processes[0].edges[0].guard.clone();
    for atom in &mut guard.clocks {
        atom.place = 0..0;
    }
    for condition in &mut guard.data {
        forget(condition);
    }
    guard
}

/// Places are tested separately.
fn forget(expression: &mut Expression) {
    match expression {
        Expression::Binary(_, left, right, place) => {
            *place = 0..0;
            forget(left);
            forget(right);
        }
        Expression::Unary(_, operand) => forget(operand),
        Expression::Conditional(parts) => parts.iter_mut().for_each(forget),
        Expression::InRange { value, place, .. } => {
            *place = 0..0;
            forget(value);
        }
        Expression::Read(Cells { offset: Some(offset), .. }) => forget(offset),
        _ => {}
    }
}

fn number(value: i32) -> Expression {
    Expression::Constant(value)
}

fn cell(base: u32) -> Expression {
    Expression::Read(Cells::fixed(Space::Global, base))
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), 0..0)
}

fn atom(left: Option<u32>, right: Option<u32>, strict: bool, bound: Expression) -> ClockAtom {
    let clock = |id| ClockCell::fixed(ClockId(id));
    ClockAtom { when: None, left: left.map(clock), right: right.map(clock), strict, bound, place: 0..0 }
}

/// The messages of the errors, with the text that they point at.
fn errors(text: &str) -> Vec<(String, String)> {
    let errors = read(text).expect_err("this must be refused");
    errors
        .into_iter()
        .map(|error| {
            let place = error.span.expect("every error has a place").range;
            (error.message, text[place].to_owned())
        })
        .collect()
}

fn error(text: &str) -> (String, String) {
    let mut errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

#[test]
fn declarations_become_a_network() {
    let network = network(
        "# a comment\r\n\r\nsystem : two.parts # another\r\n\
         clock:2:x\nint:2:-3:+4:1:v\nint:1:0:1:0:w{}\nprocess:P\nprocess:Q{}\nevent:e\nevent:f\n\
         location:P:l0{initial: : labels: a, b,a : invariant:x[0]<=3}\n\
         location:P:nop{initial::committed:\n:urgent: }\n\
         location:Q:l0{labels:c:labels:d}\n\
         edge:P:l0:nop:e{provided:w==0\n  && v[1]>0 :\n do: w=1;\n v[0]=2 : do : x[1]=0}\n\
         sync:P@e:Q@f?\nsync : Q@e : P@f\n",
    );
    assert_eq!(network.name, "two.parts");
    assert_eq!(network.clocks, ["x[0]", "x[1]"]);
    let names: Vec<&str> = network.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["v[0]", "v[1]", "w"]);
    assert_eq!(
        (network.variables[1].low, network.variables[1].high, network.variables[1].initial),
        (-3, 4, 1)
    );
    let process = &network.processes[0];
    assert_eq!(process.initial, [LocationId(0), LocationId(1)]);
    assert_eq!(process.locations[0].labels, ["a", "b"]);
    assert_eq!(process.locations[0].invariant.clocks.len(), 1);
    assert!(process.locations[1].committed && process.locations[1].urgent);
    assert_eq!(network.processes[1].locations[0].labels, ["c", "d"]);
    assert_eq!(process.edges[0].guard.data.len(), 2);
    assert_eq!(process.edges[0].update.len(), 3);
    let weak: Vec<Vec<(u32, u32, bool)>> = network
        .vectors
        .iter()
        .map(|vector| vector.iter().map(|item| (item.process.0, item.event.0, item.weak)).collect())
        .collect();
    assert_eq!(weak, [vec![(0, 0, false), (1, 1, true)], vec![(1, 0, false), (0, 1, false)]]);
}

#[test]
fn clock_conditions_become_bounds_on_differences() {
    let cases: [(&str, Vec<ClockAtom>); 14] = [
        ("x<3", vec![atom(Some(0), None, true, number(3))]),
        ("x <= 2*3 - 1", vec![atom(Some(0), None, false, number(5))]),
        ("x>3", vec![atom(None, Some(0), true, number(-3))]),
        ("3 <= x", vec![atom(None, Some(0), false, number(-3))]),
        ("3 > x", vec![atom(Some(0), None, true, number(3))]),
        ("x == 3", vec![atom(Some(0), None, false, number(3)), atom(None, Some(0), false, number(-3))]),
        ("x - y < -2", vec![atom(Some(0), Some(1), true, number(-2))]),
        ("x - y >= 2", vec![atom(Some(1), Some(0), false, number(-2))]),
        (
            "2 == x - y",
            vec![atom(Some(0), Some(1), false, number(2)), atom(Some(1), Some(0), false, number(-2))],
        ),
        ("x < y", vec![atom(Some(0), Some(1), true, number(0))]),
        ("1 < x <= 4", vec![atom(None, Some(0), true, number(-1)), atom(Some(0), None, false, number(4))]),
        ("x <= n", vec![atom(Some(0), None, false, cell(0))]),
        ("x > n", vec![atom(None, Some(0), true, Expression::Unary(Unary::Minus, Box::new(cell(0))))]),
        (
            "(c[1] < 1 && c[2] < 1)",
            vec![atom(Some(3), None, true, number(1)), atom(Some(4), None, true, number(1))],
        ),
    ];
    for (text, clocks) in cases {
        assert_eq!(guard(text), Constraint { data: Vec::new(), clocks }, "{text}");
    }
}

#[test]
fn operators_bind_as_the_grammar_says() {
    use Binary::{Add, And, Divide, Equal, Less, LessEqual, Multiply, Subtract};
    let not = |operand| Expression::Unary(Unary::Not, Box::new(operand));
    let (n, m) = (|| cell(0), || cell(1));
    let cases: [(&str, Vec<Expression>); 12] = [
        ("n", vec![n()]),
        ("!n", vec![not(n())]),
        ("!n == m", vec![not(binary(Equal, n(), m()))]),
        ("!n && m", vec![not(n()), m()]),
        (
            "n - m - 1 < 2",
            vec![binary(Less, binary(Subtract, binary(Subtract, n(), m()), number(1)), number(2))],
        ),
        (
            "n + m * 2 / m == 1",
            vec![binary(
                Equal,
                binary(Add, n(), binary(Divide, binary(Multiply, m(), number(2)), m())),
                number(1),
            )],
        ),
        (
            "-n + m == 0",
            vec![binary(Equal, binary(Add, Expression::Unary(Unary::Minus, Box::new(n())), m()), number(0))],
        ),
        ("1 < n <= m", vec![binary(Less, number(1), n()), binary(LessEqual, n(), m())]),
        ("!(n && m)", vec![not(binary(And, n(), m()))]),
        (
            "(n) == 1 && (m == 2 && n)",
            vec![binary(Equal, n(), number(1)), binary(Equal, m(), number(2)), n()],
        ),
        ("1 && 2 < 3", vec![]),
        (
            "(if n then m else 3) == 1",
            vec![binary(Equal, Expression::Conditional(Box::new([n(), m(), number(3)])), number(1))],
        ),
    ];
    for (text, data) in cases {
        assert_eq!(guard(text), Constraint { data, clocks: Vec::new() }, "{text}");
    }
}

#[test]
fn indices_are_constants_or_checked() {
    assert_eq!(guard("t[3]").data, [cell(5)]);
    assert_eq!(guard("n[0]").data, [cell(0)]);
    let offset = Expression::InRange { value: Box::new(cell(0)), low: 0, high: 3, place: 0..0 };
    let read = Cells { space: Space::Global, base: 2, count: 4, offset: Some(Box::new(offset)) };
    assert_eq!(guard("t[n]").data, [Expression::Read(read)]);
    let clock = guard("c[n] < 1").clocks[0].left.clone().expect("a clock");
    assert_eq!((clock.base, clock.count, clock.offset.is_some()), (ClockId(2), 3, true));
}

fn update(statements: &str) -> Vec<Statement> {
    network(&with_edge(&format!("do:{statements}"))).processes[0].edges[0].update.clone()
}

#[test]
fn clocks_are_assigned_numbers_and_clocks() {
    let cases = [
        ("x=0", ClockValue::Constant(number(0))),
        ("x=n", ClockValue::Constant(cell(0))),
        ("x=y", ClockValue::Clock(ClockCell::fixed(ClockId(1)), number(0))),
        ("x=y+3", ClockValue::Clock(ClockCell::fixed(ClockId(1)), number(3))),
        ("x=3+y", ClockValue::Clock(ClockCell::fixed(ClockId(1)), number(3))),
    ];
    for (text, expected) in cases {
        let update = update(text);
        let [Statement::Clock { clock, value, .. }] = update.as_slice() else { panic!("{update:?}") };
        assert_eq!((clock, value), (&ClockCell::fixed(ClockId(0)), &expected), "{text}");
    }
}

#[test]
fn local_variables_are_cells_of_the_edge() {
    let network = network(&with_edge(
        "do: local i = n; local b[2]; while i < 3 do local k; k = i; i = k + 1; end; local k; \
         if i == 3 then local z = 1 else nop end; n = z + k; : do: local i; i = 2; nop;",
    ));
    let edge = &network.processes[0].edges[0];
    let names: Vec<&str> = edge.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["i", "b[0]", "b[1]", "k", "k", "z", "i"]);
    assert!(edge.locals.iter().all(|local| (local.low, local.high) == (i32::MIN, i32::MAX)));
    let targets: Vec<u32> = edge
        .update
        .iter()
        .filter_map(|statement| match statement {
            Statement::Assign { target, .. } if target.space == Space::Local => Some(target.base),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [0, 1, 2, 4, 6, 6]);
    let Statement::While(_, body, _) = &edge.update[3] else { panic!("{:?}", edge.update) };
    assert_eq!(body.len(), 3);
}

#[test]
fn faulty_lines_are_refused_where_they_are_faulty() {
    let base = "system:s\nclock:1:x\nint:1:0:3:0:n\nevent:e\nprocess:P\nlocation:P:l{initial:}\n";
    let cases: [(&str, &str, &str); 36] = [
        ("clok:1:y", "`clok` is not a kind of declaration", "clok"),
        ("clock:0:y", "an array cannot have 0 cells", "0"),
        ("clock:-1:y", "an array cannot have -1 cells", "-1"),
        ("clock:9999999999999999999999:y", "there are too many clocks", "9999999999999999999999"),
        ("int:99999999:0:1:0:y", "there are too many variables", "99999999"),
        ("clock:1", "expected `:` and the clock's name", ""),
        ("clock:1:x", "the clock or variable `x` is declared twice", "x"),
        ("int:1:0:1:0:x", "the clock or variable `x` is declared twice", "x"),
        ("int:1:3:1:2:k", "`k` has no values: 3 is more than 1", "3:1"),
        ("int:1:0:3:4:k", "the initial value 4 of `k` is out of range", "4"),
        ("int:1:0:99999999999:0:k", "this number does not fit into 32 bits", "99999999999"),
        ("int:1:0:1:0:nop", "`nop` is a word of the expression language", "nop"),
        ("int:1:0:a:0:k", "expected a number: the largest value", "a"),
        ("process:P", "the process `P` is declared twice", "P"),
        ("process:event", "`event` is a reserved word and cannot be a name", "event"),
        ("event:e", "the event `e` is declared twice", "e"),
        ("event:a-b", "`-` cannot be part of a name", "-"),
        ("event:e1 e2", "`e` cannot be part of a name", "e"),
        ("event:e1:e2", "there is more on this line than `event` takes", ":"),
        ("location:Q:l", "there is no process called `Q`", "Q"),
        ("location:P:l", "the location `l` is declared twice", "l"),
        ("location:P:k{initial}", "expected `:` after the attribute `initial`", "}"),
        ("location:P:k{invariant:x<1} x", "`x` is not allowed here", "x"),
        ("location:P:k{invariant:x<1 # no\n}", "`#` is not allowed inside an attribute list", "#"),
        ("location:P:k{initial:", "this attribute list is never closed", "{"),
        ("edge:P:l:k:e", "there is no location of process `P` called `k`", "k"),
        ("edge:P:l:l:f", "there is no event called `f`", "f"),
        ("edge:P:l:l:e:{do:x=0}", "there is more on this line than `edge` takes", ":"),
        ("edge:P:l:l:e{do:x:=0}", "`:=` is not an assignment in this format", ":="),
        ("sync:P", "expected `@` and an event after the process", ""),
        ("sync:P@e:P@e", "process `P` takes part twice", "P"),
        ("sync:P@e\nsync:P@e", "this synchronisation is declared twice", "sync:P@e"),
        (
            "process:Q\nevent:f\nsync:P@e:Q@f\nsync:Q@f:P@e",
            "this synchronisation is declared twice",
            "sync:Q@f:P@e",
        ),
        (
            "process:Q\nevent:f\nsync:P@e?:Q@f\nsync:Q@f:P@e?",
            "this synchronisation is declared twice",
            "sync:Q@f:P@e?",
        ),
        ("system:t", "the system is named twice", "system:t"),
        ("é", "`é` cannot begin a declaration", "é"),
    ];
    for (line, message, place) in cases {
        let text = format!("{base}{line}\n");
        assert_eq!(error(&text), (message.to_owned(), place.to_owned()), "{line}");
    }
    assert_eq!(error("process:P\n").0, "the first declaration must name the system");
    assert_eq!(error("# nothing").0, "the first declaration must name the system");
}

#[test]
fn faulty_expressions_are_refused_where_they_are_faulty() {
    let cases: [(&str, &str, &str); 42] = [
        ("provided:x", "a clock cannot be used as an integer", "x"),
        ("provided:t", "`t` is an array and has no single value", "t"),
        ("provided:c < 1", "`c` is an array and has no single value", "c"),
        ("provided:!x < 1", "clocks cannot be compared here", "x < 1"),
        ("provided:x != 1", "`!=` cannot be used with clocks", "x != 1"),
        ("provided:x + 1 < 2", "clocks cannot be compared like this", "x + 1 < 2"),
        ("provided:x * 2 < 2", "this cannot be computed with clocks", "x * 2"),
        ("provided:x - y < x", "clocks cannot be compared like this", "x - y < x"),
        ("provided:-x < 2", "a clock cannot be used as an integer", "x"),
        ("provided:(n == 1) + 1 == 2", "a condition cannot be used as an integer", "n == 1"),
        ("provided:(n == 1) == m", "a condition cannot be used as an integer", "n == 1"),
        ("provided:n == 1 == m", "these comparisons cannot be chained", "=="),
        ("provided:1 > n > 0", "these comparisons cannot be chained", ">"),
        ("provided:n = 1", "expected an operator or the end of the expression, not `=`", "="),
        ("provided:n || m", "`|` is not allowed in an expression", "|"),
        ("provided:P.n == 1", "`.` is not allowed in an expression", "."),
        ("provided:k == 1", "there is no clock or variable `k`", "k"),
        ("provided:t[4] == 1", "the index 4 is out of range", "4"),
        ("provided:t[-1] == 1", "the index -1 is out of range", "-1"),
        ("provided:t[x] == 1", "a clock cannot be used as an integer", "x"),
        ("provided:n == 2147483648", "this number does not fit into 32 bits", "2147483648"),
        ("provided:n == 99999999999", "this number does not fit into 32 bits", "99999999999"),
        ("provided:(n == 1", "expected `)`, but this ends", ""),
        ("provided:if n then 1 else 0", "expected a number, a variable or `(`, not `if`", "if"),
        ("provided:(if x < 1 then 1 else 0)", "clocks cannot be compared here", "x < 1"),
        ("provided:n + ", "expected a number, a variable or `(`, but this ends", ""),
        ("do:n == 1", "expected `=`, not `==`", "=="),
        ("do:n = x", "a clock cannot be used as an integer", "x"),
        ("do:t = 1", "`t` is an array and has no single value", "t"),
        ("do:x = -1", "a clock cannot become negative, and nothing can be subtracted from one", "x = -1"),
        (
            "do:x = y + -1",
            "a clock cannot become negative, and nothing can be subtracted from one",
            "x = y + -1",
        ),
        ("do:x = x - y", "a clock cannot become the difference of two clocks", "x = x - y"),
        ("do:n = 1, m = 2", "expected `;` or the end of the statement, not `,`", ","),
        ("do:local n", "`n` is declared already", "n"),
        ("do:local x", "`x` is declared already", "x"),
        ("do:local i; local i = 2", "`i` is declared already", "i"),
        ("do:local b[n]", "the size of a local array must be a constant", "n"),
        ("do:local b[0]", "an array cannot have 0 cells", "0"),
        ("do:local b[1000000]", "this edge has too many local variables", "b"),
        ("do:local i = i", "there is no clock or variable `i`", "i"),
        ("do:while n < 3 do local i; n = n + 1 end; i = 1", "there is no clock or variable `i`", "i"),
        ("do:if x < 1 then nop end", "clocks cannot be compared here", "x < 1"),
    ];
    for (attributes, message, place) in cases {
        assert_eq!(error(&with_edge(attributes)), (message.to_owned(), place.to_owned()), "{attributes}");
    }
    // A local variable of one `do` is unknown to the next and to the guard.
    assert_eq!(error(&with_edge("do:local i:do:i=1")).0, "there is no clock or variable `i`");
    assert_eq!(error(&with_edge("do:local i:provided:i")).0, "there is no clock or variable `i`");
}

#[test]
fn all_errors_of_a_file_are_told_in_order() {
    let text = "system:s\nclock:1:x\nbogus\nevent:e\nprocess:P\nlocation:P:l{initial:\nlocation:P:m{}\n\
                edge:P:m:m:e{do:x:=0;\n x=1}\nedge:P:m:q:f{provided:k<1&&j<1:do:z=0;w=1}\n";
    let messages: Vec<String> = errors(text).into_iter().map(|(message, _)| message).collect();
    assert_eq!(
        messages,
        [
            "`bogus` is not a kind of declaration",
            "`{` is not allowed inside an attribute list",
            "`:=` is not an assignment in this format",
            "there is no location of process `P` called `q`",
            "there is no event called `f`",
            "there is no clock or variable `k`",
            "there is no clock or variable `j`",
            "there is no clock or variable `z`",
            "there is no clock or variable `w`",
        ]
    );
}

#[test]
fn weakly_synchronised_edges_have_no_guards() {
    let text = |guard: &str, sync: &str| {
        format!(
            "system:s\nclock:1:x\nevent:e\nprocess:P\nprocess:Q\nlocation:P:l{{initial:}}\nlocation:Q:l{{initial:}}\n\
             edge:P:l:l:e{{provided:{guard}}}\nedge:Q:l:l:e{{provided:x<9}}\nsync:{sync}\n"
        )
    };
    let message = "an edge with the weakly synchronised event `e` cannot have a guard";
    assert_eq!(error(&text("x<1", "Q@e:P@e?")), (message.to_owned(), "x<1".to_owned()));
    assert!(read(&text("1<2", "Q@e:P@e?")).is_ok());
    assert!(read(&text("0", "Q@e:P@e?")).is_ok());
    assert!(read(&text("x<1", "Q@e:P@e")).is_ok());
}

#[test]
fn doubtful_things_are_warned_about() {
    let text = "system:s{author:me}\nclock:1:x\nclock:1:P.y\nint:1:0:3:0:n\nint:1:0:1:0:unused\nevent:e\nevent:f\nprocess:P\n\
                location:P:l{initail:}\nedge:P:l:l:e{do:n=4;x=0:provided:}\nsync:P@e\n";
    let (network, warnings) = read(text).expect("only warnings");
    assert!(network.vectors.is_empty());
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the attribute `author` has no meaning here",
            "`P.y` cannot be used in expressions",
            "`unused` is never used",
            "event `f` is never used",
            "process `P` has no initial location",
            "the attribute `initail` has no meaning here",
            "`n` cannot become 4",
            "the attribute `provided` is empty",
            "a synchronisation of a single process has no effect",
        ]
    );
}

#[test]
fn deep_and_long_inputs_neither_overflow_nor_take_long() {
    let many = 100_000;
    for (open, close) in [("(", ")"), ("-", ""), ("!", ""), ("t[", "]"), ("(if n then n else ", ")")] {
        let text = with_edge(&format!("provided:{}n{}", open.repeat(many), close.repeat(many)));
        assert_eq!(error(&text).0, "this is nested more than 200 levels deep", "{open}");
        let text = with_edge(&format!("provided:{}n{}", open.repeat(150), close.repeat(150)));
        assert!(read(&text).is_ok(), "{open}");
    }
    let text = with_edge(&format!("do:{}nop{}", "if n then ".repeat(many), " end".repeat(many)));
    assert_eq!(error(&text).0, "this is nested more than 200 levels deep");
    let text = with_edge(&format!("provided:n{} == 1", "+n".repeat(many)));
    assert_eq!(error(&text).0, "this expression is too long");
    // Long conjunctions and sequences are lists.
    let text = with_edge(&format!("provided:n{}:do:n=1{}", "&&n".repeat(many), ";n=1".repeat(many)));
    let edge = &network(&text).processes[0].edges[0];
    assert_eq!((edge.guard.data.len(), edge.update.len()), (many + 1, many + 1));
    let text = with_edge(&format!("do:if n{} then nop end", "&&n".repeat(many)));
    assert_eq!(error(&text).0, "more than 500 conditions are joined here");
}
