use super::super::{ActionInstance, Parameter, Structure};
use super::*;
use crate::syntax::{Span, parse_data_expression, parse_specification};
use crate::typed::{SortId, check_specification};

const SOURCE: &str = "sort D; S = struct A | B(x: Nat, D -> Bool)?isB; E = struct e1 | e2;
    cons c: Nat # (D -> D) -> D; k: D; map f: Nat -> Nat; head': List(S) # (Nat -> Nat) -> S; v: struct m | n;
    var i, j: Nat; s: S; eqn f(0) = 1; i > 3 -> f(i) = i + j whr j = i end; head'([s], f) = s;
    act a: Nat # Bool; b; g: D -> D; h: (Nat -> Nat) # S;
    glob n: Nat; p: Pos; q: Pos; z: Bool; w: Real;
    init delta;";

fn program() -> Program {
    let (specification, errors) = parse_specification(SOURCE);
    assert!(errors.is_empty(), "{errors:?}");
    let (program, errors) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{errors:?}"))
}

fn data(program: &mut Program, source: &str, sort: Option<SortId>) -> ExpressionId {
    let (parsed, errors) = parse_data_expression(source, &program.words);
    let parsed = parsed.unwrap_or_else(|| panic!("{source}: {errors:?}"));
    let globals = program.globals.clone();
    let checked = program.check_expression(&parsed.tree, parsed.root, &globals, sort);
    checked.unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

/// Parses and checks a printed text, and prints its declarations again.
fn read_back(text: &str) {
    let (specification, errors) = parse_specification(text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    let (program, errors) = check_specification(&specification);
    let program = program.unwrap_or_else(|| panic!("{text}\n{errors:?}"));
    let again = declarations(&program, &[]);
    assert!(text.starts_with(&again), "{text}\n{again}");
}

// Long because it is one table.
#[test]
fn a_process_with_everything() {
    let mut program = program();
    let [n, p, q, z, _] = program.globals[..] else { panic!("five variables") };
    let action = |program: &mut Program, name: &str| program.words.intern(name);
    let condition = data(&mut program, "n < 3 || (forall x': Nat. x' >= n)", None);
    let quantified = data(&mut program, "forall n': Nat. n' >= n", None);
    let (more, one) =
        (data(&mut program, "n + 1", Some(SortId::NAT)), data(&mut program, "n + 2", Some(SortId::NAT)));
    let time = data(&mut program, "n / 2", Some(SortId::REAL));
    let weight = data(&mut program, "if(z, 1/3, 2/3)", Some(SortId::REAL));
    let z_data = data(&mut program, "z", None);
    let at_w = data(&mut program, "w < 1", None);
    let (name_a, name_b) = (action(&mut program, "a"), action(&mut program, "b"));
    let end = action(&mut program, "Terminate");
    let go = |location, assignments| Update::Go { location: Goto::Parameter(location), assignments };
    let distribution = Distribution { variables: vec![z], weight };
    let summand = |locations, actions, updates| Summand {
        locations,
        variables: Vec::new(),
        conditions: Vec::new(),
        actions,
        time: None,
        distribution: None,
        updates,
        span: Span::default(),
        parts: [].into(),
    };
    let parameters = vec![
        Parameter {
            variable: p,
            name: "f".into(),
            component: "f".into(),
            locations: Some(vec!["a . b".into(), "b\n  . P".into()]),
        },
        Parameter { variable: n, name: "Buffer.n".into(), component: "Buffer".into(), locations: None },
        Parameter {
            variable: q,
            name: "head".into(),
            component: "head".into(),
            locations: Some(vec!["x".into()]),
        },
    ];
    let first = Summand {
        variables: vec![z],
        conditions: vec![condition, z_data, quantified],
        time: Some(time),
        ..summand(
            vec![(0, 0), (2, 0)],
            vec![
                ActionInstance { name: name_a, arguments: vec![one, z_data] },
                ActionInstance { name: name_b, arguments: Vec::new() },
            ],
            vec![Update::If {
                condition: z_data,
                then: Box::new(go(Some((0, 1)), vec![(n, more)])),
                otherwise: Box::new(go(Some((0, 1)), Vec::new())),
                control: Some(0),
            }],
        )
    };
    let second = Summand {
        distribution: Some(distribution.clone()),
        conditions: vec![at_w],
        ..summand(vec![(0, 1)], Vec::new(), vec![go(Some((0, 0)), vec![(n, one)]), go(None, Vec::new())])
    };
    let third = summand(Vec::new(), vec![ActionInstance { name: end, arguments: Vec::new() }], Vec::new());
    let initial = vec![go(Some((0, 1)), Vec::new())];
    let linear = LinearProcess {
        later: None,
        structure: Structure::default(),
        program,
        parameters,
        summands: vec![first, second, third],
        initial_distribution: Some(distribution),
        initial,
    };
    let text = linear.text();
    read_back(&text);
    let process = &text[text.find("glob").expect("global variables")..];
    assert_eq!(
        process,
        "glob w: Real;

% f_1:
%   1: a . b
%   2: b . P

% head_1:
%   1: x

proc P(f_1: Pos, Buffer_n: Nat, head_1: Pos) =
    sum z: Bool. (f_1 == 1 && head_1 == 1 && (Buffer_n < 3 || (forall x': Nat. x' >= Buffer_n)) && z && \
(forall n': Nat. n' >= Buffer_n)) -> a(Buffer_n + 2, z)|b @ (Buffer_n / 2) . P(f_1 = 2, Buffer_n = if(z, Buffer_n + 1, \
Buffer_n))
  + (f_1 == 2 && w < 1) -> tau . (dist z: Bool[if(z, 1 / 3, 2 / 3)]. P(f_1 = 1, Buffer_n = Buffer_n + 2))
  + Terminate . P()
  ;

init dist z: Bool[if(z, 1 / 3, 2 / 3)]. P(2, 0, 1);
"
    );
}

#[test]
fn a_process_with_nothing() {
    let linear = LinearProcess {
        later: None,
        structure: Structure::default(),
        program: program(),
        parameters: Vec::new(),
        summands: Vec::new(),
        initial_distribution: None,
        initial: Vec::new(),
    };
    let text = linear.text();
    read_back(&text);
    assert!(text.ends_with("\nproc P =\n    delta\n  ;\n\ninit P;\n"), "{text}");
    assert!(text.contains("    (i > 3) -> f(i) = (i + j whr j = i end);\n"), "{text}");
    assert!(text.contains("sort S = struct A | B(x: Nat, D -> Bool)?isB;\n"), "{text}");
    assert!(text.contains("act h: (Nat -> Nat) # S;\n"), "{text}");
}
