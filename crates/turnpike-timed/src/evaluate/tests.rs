//! Tests of the evaluator: tables of expressions and updates with their values and faults.

use super::*;
use crate::network::{
    Binary, Cells, ClockValue, Function, FunctionId, LocationId, Process, ProcessId, Quantifier, Space,
    Statement, Unary, Variable,
};

fn number(value: i32) -> Expression {
    Expression::Constant(value)
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), 7..9)
}

fn global(base: u32) -> Expression {
    Expression::Read(Cells::fixed(Space::Global, base))
}

fn local(base: u32) -> Expression {
    Expression::Read(Cells::fixed(Space::Local, base))
}

fn assign(base: u32, value: Expression) -> Statement {
    Statement::Assign { target: Cells::fixed(Space::Global, base), value, place: 1..2 }
}

/// `i` in 0..5, `t[3]` in -2..9, clocks `x` and `y`.
fn network() -> Network {
    let variable =
        |name: &str, low, high| Variable { name: name.to_owned(), low, high, initial: 0, meta: false };
    Network {
        clocks: vec!["x".to_owned(), "y".to_owned()],
        variables: vec![
            variable("i", 0, 5),
            variable("t[0]", -2, 9),
            variable("t[1]", -2, 9),
            variable("t[2]", -2, 9),
        ],
        ..Network::default()
    }
}

fn table(index: Expression) -> Cells {
    let checked = Expression::InRange { value: Box::new(index), low: 0, high: 2, place: 3..5 };
    Cells { space: Space::Global, base: 1, count: 3, offset: Some(Box::new(checked)) }
}

#[test]
fn operators_have_their_values() {
    use Binary::*;
    let cases = [
        (Add, 2, 3, Some(5)),
        (Add, i32::MAX, 1, None),
        (Subtract, i32::MIN, 1, None),
        (Multiply, 1 << 20, 1 << 20, None),
        (Multiply, -3, 4, Some(-12)),
        (Divide, -7, 2, Some(-3)),
        (Divide, 1, 0, None),
        (Divide, i32::MIN, -1, None),
        (Remainder, -7, 2, Some(-1)),
        (Remainder, 7, 0, None),
        (Remainder, i32::MIN, -1, Some(0)),
        (ShiftLeft, 1, 30, Some(1 << 30)),
        (ShiftLeft, 1, 31, None),
        (ShiftLeft, 1, 32, None),
        (ShiftRight, -8, 1, Some(-4)),
        (ShiftRight, 1, -1, None),
        (BitAnd, 6, 3, Some(2)),
        (BitOr, 6, 3, Some(7)),
        (BitXor, 6, 3, Some(5)),
        (Minimum, 6, 3, Some(3)),
        (Maximum, 6, 3, Some(6)),
        (Less, 3, 3, Some(0)),
        (LessEqual, 3, 3, Some(1)),
        (Equal, 3, 3, Some(1)),
        (NotEqual, 3, 3, Some(0)),
        (GreaterEqual, 3, 4, Some(0)),
        (Greater, 4, 3, Some(1)),
        (And, 2, 4, Some(1)),
        (Or, 0, 0, Some(0)),
    ];
    let network = network();
    let mut machine = Machine::new(&network);
    for (operator, left, right, expected) in cases {
        let value = machine.value(&binary(operator, number(left), number(right)));
        assert_eq!(value.clone().ok(), expected, "{operator:?} {left} {right}");
        assert!(value.is_ok() || value.is_err_and(|fault| fault.place == (7..9)));
    }
    let fault = || Box::new(binary(Divide, number(1), number(0)));
    for (expression, expected) in [
        (Expression::Binary(And, Box::new(number(0)), fault(), 0..0), 0),
        (Expression::Binary(Or, Box::new(number(5)), fault(), 0..0), 1),
        (Expression::Conditional(Box::new([number(1), number(8), *fault()])), 8),
        (Expression::Unary(Unary::Not, Box::new(number(5))), 0),
        (Expression::Unary(Unary::Minus, Box::new(number(5))), -5),
    ] {
        assert_eq!(machine.value(&expression), Ok(expected), "{expression:?}");
    }
    assert!(machine.value(&Expression::Unary(Unary::Minus, Box::new(number(i32::MIN)))).is_err());
    machine.locations = vec![2];
    for (location, expected) in [(2, 1), (0, 0)] {
        assert_eq!(machine.value(&Expression::At(ProcessId(0), LocationId(location))), Ok(expected));
    }
}

#[test]
fn without_a_state_nothing_that_depends_on_one_has_a_value() {
    let network = Network { processes: vec![Process::default()], ..network() };
    let clock = ClockCell::fixed(ClockId(0));
    let reset = Statement::Clock { clock, value: ClockValue::Constant(number(0)), place: 0..0 };
    let mut without = Machine::without_state(&network, 10, 0);
    let mut with = Machine::new(&network);
    for expression in [global(0), Expression::At(ProcessId(0), LocationId(0))] {
        assert!(without.value(&expression).is_err(), "{expression:?}");
        // Also as part of a larger expression.
        let larger = binary(Binary::Add, expression.clone(), number(1));
        assert!(without.value(&larger).is_err(), "{expression:?}");
        assert!(with.value(&larger).is_ok(), "{expression:?}");
    }
    assert!(without.value(&local(0)).is_err());
    for statement in [assign(0, number(1)), reset] {
        assert!(without.execute(std::slice::from_ref(&statement)).is_err(), "{statement:?}");
        assert!(with.execute(&[statement]).is_ok());
    }
    let forever = Statement::While(number(1), Vec::new(), 0..0);
    assert!(without.execute(&[forever]).is_err());
    assert_eq!(without.value(&binary(Binary::Add, number(2), number(3))), Ok(5));
}

#[test]
fn cells_are_checked_and_restored() {
    let network = network();
    let mut machine = Machine::new(&network);
    machine.enter(&[]);
    let store = |index, value| Statement::Assign { target: table(index), value, place: 1..2 };
    let update = [
        assign(0, number(2)),
        store(global(0), number(9)),
        store(number(0), Expression::Read(table(global(0)))),
    ];
    assert_eq!(machine.execute(&update), Ok(()));
    assert_eq!(machine.cells, [2, 9, 0, 9]);
    assert_eq!(machine.written().collect::<Vec<_>>(), [0, 3, 1]);
    machine.undo();
    assert_eq!(machine.cells, [0; 4]);
    for (statement, message, place) in [
        (assign(0, number(6)), "i would be 6, which is outside 0..5", 1..2),
        (store(number(3), number(0)), "index 3 is outside 0..2", 3..5),
        (store(number(-1), number(0)), "index -1 is outside 0..2", 3..5),
    ] {
        let fault = machine.execute(&[statement]).expect_err(message);
        assert_eq!((fault.message.as_str(), fault.place, fault.kind), (message, place, FaultKind::Range));
    }
    // Cells are copied as they were before, even if the ranges overlap.
    let part = |offset| Cells { offset: Some(Box::new(number(offset))), ..table(number(0)) };
    machine.cells.copy_from_slice(&[0, 1, 2, 3]);
    let copy = Statement::Copy { target: part(1), source: part(0), count: 2, place: 0..0 };
    assert_eq!(machine.execute(&[copy]), Ok(()));
    assert_eq!(machine.cells, [0, 1, 1, 2]);
    let outside = Statement::Copy { target: part(2), source: part(0), count: 2, place: 0..0 };
    assert!(machine.execute(&[outside]).is_err());
}

#[test]
fn functions_loops_and_quantifiers_end() {
    // int[0,20] f(int[0,9] n) { int s = 0; while (n > 0) { s = s + n; n = n - 1; } return s; }
    let put = |at, value| Statement::Assign { target: Cells::fixed(Space::Local, at), value, place: 0..0 };
    let body = vec![
        Statement::While(
            binary(Binary::Greater, local(0), number(0)),
            vec![
                put(1, binary(Binary::Add, local(1), local(0))),
                put(0, binary(Binary::Subtract, local(0), number(1))),
            ],
            0..0,
        ),
        Statement::Return(Some(local(1))),
    ];
    let cell = |name: &str, low, high| Local { name: name.to_owned(), low, high };
    let f = Function {
        name: "f".to_owned(),
        parameters: 1,
        locals: vec![cell("n", 0, 9), cell("s", 0, 100)],
        shared: false,
        result: Some((0, 20)),
        body,
    };
    let mut network = network();
    network.functions.push(f);
    let mut machine = Machine::new(&network);
    let call = |n| Expression::Call { function: FunctionId(0), arguments: vec![n], place: 4..6 };
    machine.enter(&[]);
    assert_eq!(machine.value(&call(number(4))), Ok(10));
    assert_eq!(machine.value(&call(call(number(3)))).map_err(|fault| fault.message), {
        Err("f returns 21, which is outside 0..20".to_owned())
    });
    machine.enter(&[]);
    assert!(machine.value(&call(number(10))).is_err_and(|fault| fault.message.contains("argument n of f")));
    let quantified = |quantifier, body| Expression::Quantified {
        quantifier,
        local: 0,
        low: 1,
        high: 4,
        body: Box::new(body),
    };
    for (expression, expected) in [
        (quantified(Quantifier::Sum, call(local(0))), 1 + 3 + 6 + 10),
        (quantified(Quantifier::ForAll, binary(Binary::Less, local(0), number(4))), 0),
        (quantified(Quantifier::Exists, binary(Binary::Equal, local(0), number(4))), 1),
    ] {
        machine.enter_condition(frame_size(&network, &expression));
        assert_eq!(machine.value(&expression), Ok(expected), "{expression:?}");
    }
    machine.enter(&[]);
    let forever = Statement::While(number(1), Vec::new(), 11..12);
    let fault = machine.execute(&[forever]).expect_err("no end");
    assert_eq!((fault.place, fault.kind), (11..12, FaultKind::Model));
    let promise = Statement::Assert(number(0), 5..6);
    machine.enter(&[]);
    assert!(machine.execute(&[promise]).is_err_and(|fault| fault.message.contains("assertion")));
}

#[test]
fn clock_assignments_compose() {
    let network = network();
    let mut machine = Machine::new(&network);
    let (x, y) = (ClockCell::fixed(ClockId(0)), ClockCell::fixed(ClockId(1)));
    let set = |clock: &ClockCell, value| Statement::Clock { clock: clock.clone(), value, place: 2..3 };
    machine.enter(&[]);
    let update = [
        set(&x, ClockValue::Clock(y.clone(), number(2))),
        set(&y, ClockValue::Constant(number(5))),
        set(&x, ClockValue::Clock(x.clone(), number(1))),
        set(&y, ClockValue::Clock(y.clone(), number(-2))),
    ];
    assert_eq!(machine.execute(&update), Ok(()));
    assert_eq!(machine.origin(0), Source { clock: Some(ClockId(1)), offset: 3 });
    assert_eq!(machine.origin(1), Source { clock: None, offset: 3 });
    machine.undo();
    assert_eq!(machine.origin(0), Source { clock: Some(ClockId(0)), offset: 0 });
    for value in [ClockValue::Constant(number(-1)), ClockValue::Clock(y, number(-1))] {
        assert!(
            machine
                .execute(&[set(&x, value)])
                .is_err_and(|fault| fault.kind == FaultKind::Range && fault.place == (2..3))
        );
    }
}

#[test]
fn deep_expressions_do_not_end_the_stack() {
    let network = network();
    let mut machine = Machine::new(&network);
    let mut deep = number(0);
    for _ in 0..100_000 {
        deep = binary(Binary::Add, deep, number(1));
    }
    machine.enter(&[]);
    assert_eq!(machine.value(&deep), Ok(100_000));
    // Drop the tree level by level, without recursion.
    while let Expression::Binary(_, left, _, _) = deep {
        deep = *left;
    }
}
