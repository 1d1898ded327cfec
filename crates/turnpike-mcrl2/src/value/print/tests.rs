//! Texts of values. A small evaluator creates values from constructors and literals, and does not
//! evaluate other expressions.

use super::*;
use crate::syntax::parse_specification;
use crate::typed::check_specification;
use crate::value::Terms;

/// Functions by the number of their expression.
struct Functions<'p>(&'p Program);

impl Binders for Functions<'_> {
    fn binder(&self, number: u32) -> Option<(ExpressionId, Vec<VariableId>)> {
        let id = self.0.expression_ids().nth(number as usize)?;
        Some((id, crate::typed::expression::free_variables(self.0, id)))
    }
}

/// The value of an expression, in which all variables are 13.
fn value(heap: &mut Heap, program: &Program, id: ExpressionId) -> Value {
    let all = |heap: &mut Heap, ids: &[ExpressionId]| -> Vec<Value> {
        ids.iter().map(|&id| value(heap, program, id)).collect()
    };
    match program.expression(id) {
        Expression::Bool(truth) => Value::bool(*truth),
        Expression::Number(digits) => heap.number_from_digits(program.text(*digits)).unwrap(),
        Expression::Symbol(symbol) => heap.make(Head::Symbol(*symbol), &[]),
        Expression::List(elements) => {
            let elements = all(heap, elements);
            heap.list_of(&elements)
        }
        Expression::Set(elements) => {
            let elements = all(heap, elements);
            heap.set_of(&elements)
        }
        Expression::Bag(pairs) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|&(one, count)| (value(heap, program, one), value(heap, program, count)))
                .collect();
            heap.bag_of(&pairs).unwrap()
        }
        Expression::Upcast(operand) => value(heap, program, *operand),
        Expression::Call { symbol, arguments } => {
            let arguments = all(heap, arguments);
            let computed = match program.symbol(*symbol).kind {
                SymbolKind::Builtin(Builtin::Cons) => Some(heap.cons(arguments[0], arguments[1])),
                SymbolKind::Builtin(Builtin::Negate) => heap.negate(arguments[0]),
                SymbolKind::Builtin(Builtin::Divide) => heap.divide(arguments[0], arguments[1]),
                SymbolKind::Builtin(Builtin::Complement) => heap.set_complement(arguments[0]),
                SymbolKind::Builtin(Builtin::Update) => {
                    heap.update(arguments[0], arguments[1], arguments[2], None)
                }
                _ => None,
            };
            computed.unwrap_or_else(|| heap.make(Head::Symbol(*symbol), &arguments))
        }
        Expression::Apply { function, arguments } => {
            let function = value(heap, program, *function);
            let arguments = [vec![function], all(heap, arguments)].concat();
            heap.make(Head::Apply, &arguments)
        }
        Expression::Binder { binder, .. } => {
            let number = id.word();
            let captured =
                vec![Value::small(13).unwrap(); crate::typed::expression::free_variables(program, id).len()];
            let head =
                if *binder == Binder::Lambda { Head::Lambda(number) } else { Head::Quantifier(number) };
            heap.make(head, &captured)
        }
        Expression::Comprehension { .. } => {
            let captured =
                vec![Value::small(13).unwrap(); crate::typed::expression::free_variables(program, id).len()];
            let function = heap.make(Head::Lambda(id.word()), &captured);
            let is_set = program.sort_text(program.sort_of(id)).starts_with("Set");
            if is_set {
                heap.set_by(None, function, Value::EMPTY_SET)
            } else {
                heap.bag_by(false, function, Value::EMPTY_BAG)
            }
        }
        other => panic!("{other:?}"),
    }
}

/// The text of an expression's value, with some declarations.
fn print(expression: &str, sort: &str) -> String {
    let text = format!(
        "sort D; E = struct c0 | c1(left: Nat, right: Bool)?is1; F = Nat -> Nat;
         cons d1, d2: D;
         map f: Nat -> Nat; g: Nat # Bool -> Nat -> Nat; p: Nat -> Bool; l: List(Nat); it: {sort}; n: Nat; holds: Nat -> Bool;
         var y: Nat;
         eqn it = {expression};
         act a; init a;"
    );
    let (specification, _) = parse_specification(&text);
    let (program, diagnostics) = check_specification(&specification);
    let program = program.unwrap_or_else(|| panic!("{expression}: {diagnostics:?}"));
    let mut heap = Heap::new(Terms::new(&program));
    let value = value(&mut heap, &program, program.equations[0].right);
    let before = heap.print(&program, &Functions(&program), value);
    let kept = heap.keep(value);
    assert_eq!(heap.print(&program, &Functions(&program), kept), before);
    before
}

// Long because it is one table.
#[test]
fn as_the_tools_print() {
    for (expression, sort, expected) in [
        ("1", "Nat", "1"),
        ("-5", "Int", "-5"),
        ("1/2", "Real", "1 / 2"),
        ("-7/3", "Real", "-7 / 3"),
        ("1/0", "Real", "1 / 0"),
        ("123456789012345678901234567890", "Nat", "123456789012345678901234567890"),
        ("true", "Bool", "true"),
        ("[1, 2]", "List(Nat)", "[1, 2]"),
        ("[]", "List(Nat)", "[]"),
        ("3 |> [1, 2]", "List(Nat)", "[3, 1, 2]"),
        ("{2, 1}", "FSet(Nat)", "{1, 2}"),
        ("{}", "FSet(Nat)", "{}"),
        ("!{2, 1}", "Set(Nat)", "!{1, 2}"),
        ("{1: 2, 3: 0, 1: 1}", "FBag(Nat)", "{1: 3}"),
        ("{:}", "FBag(Nat)", "{:}"),
        ("c1(1, true)", "E", "c1(1, true)"),
        ("[c0, c1(0, false)]", "List(E)", "[c0, c1(0, false)]"),
        // Stuck terms.
        ("head([])", "Nat", "head([])"),
        ("head(tail([]))", "Nat", "head(tail([]))"),
        ("1 |> tail([])", "List(Nat)", "1 |> tail([])"),
        ("1 |> 2 |> tail([])", "List(Nat)", "1 |> 2 |> tail([])"),
        ("[1] ++ tail([])", "List(Nat)", "[1] ++ tail([])"),
        ("(l ++ l) <| 1", "List(Nat)", "l ++ l <| 1"),
        ("(1 |> l) ++ l", "List(Nat)", "(1 |> l) ++ l"),
        ("[] . 5", "Nat", "[] . 5"),
        ("d1 == d2", "Bool", "d1 == d2"),
        ("d1 != d2", "Bool", "!(d1 == d2)"),
        ("f(1) > f(2)", "Bool", "f(2) < f(1)"),
        ("f(1) >= f(2)", "Bool", "f(2) <= f(1)"),
        ("[d1 == d2, true]", "List(Bool)", "[(d1 == d2), true]"),
        ("[d1 == d2]", "List(Bool)", "[d1 == d2]"),
        ("[f(1) < 2, true]", "List(Bool)", "[f(1) < 2, true]"),
        ("c1(n + 1, d1 == d2)", "E", "c1(n + 1, d1 == d2)"),
        ("left(c0)", "Nat", "left(c0)"),
        ("is1(c0) && is1(c0) || is1(c0)", "Bool", "is1(c0) && is1(c0) || is1(c0)"),
        ("is1(c0) && (is1(c0) || is1(c0))", "Bool", "is1(c0) && (is1(c0) || is1(c0))"),
        ("(n + 1) * 2", "Nat", "(n + 1) * 2"),
        ("n + (1 + 2)", "Nat", "n + (1 + 2)"),
        ("n + 1 + 2", "Nat", "n + 1 + 2"),
        ("(is1(c0) => is1(c0)) => is1(c0)", "Bool", "(is1(c0) => is1(c0)) => is1(c0)"),
        ("-5 * f(1)", "Int", "-5 * f(1)"),
        ("-f(1)", "Int", "-f(1)"),
        ("-(f(1) + 1)", "Int", "-(f(1) + 1)"),
        ("f(1) * (1/2)", "Real", "f(1) * (1 / 2)"),
        ("f(1) + 1/2", "Real", "f(1) + 1 / 2"),
        ("#tail([])", "Nat", "#tail([])"),
        ("#(l ++ l)", "Nat", "#(l ++ l)"),
        ("Int2Nat(-1)", "Nat", "Int2Nat(-1)"),
        ("Nat2Pos(0)", "Pos", "Nat2Pos(0)"),
        ("Real2Int(1/2)", "Int", "Real2Int(1 / 2)"),
        ("Nat2Int(n)", "Int", "n"),
        ("if(d1 == d2, 1, f(2))", "Nat", "if(d1 == d2, 1, f(2))"),
        ("f(1) div 2 + f(3) mod 4", "Nat", "f(1) div 2 + f(3) mod 4"),
        ("1 in l", "Bool", "1 in l"),
        // Functions.
        ("f", "F", "f"),
        ("f[1 -> 2]", "F", "f[1 -> 2]"),
        ("f[1 -> 2][2 -> 3]", "F", "f[2 -> 3][1 -> 2]"),
        ("(lambda x: Nat. 0)[2 -> 3]", "F", "(lambda x: Nat. 0)[2 -> 3]"),
        ("g(1, true)(2)", "Nat", "g(1, true)(2)"),
        ("g(1, true)[2 -> 3]", "F", "g(1, true)[2 -> 3]"),
        ("lambda x: Nat. x + y", "F", "lambda x: Nat. x + 13"),
        ("lambda x, z: Nat, b: Bool. 1", "Nat # Nat # Bool -> Nat", "lambda x,z: Nat, b: Bool. 1"),
        ("(lambda x: Nat. x)(1)", "Nat", "(lambda x: Nat. x)(1)"),
        (
            "forall m: Pos. 1 < m && m < y => y mod m != 0",
            "Bool",
            "forall m: Pos. 1 < m && m < 13 => !(13 mod m == 0)",
        ),
        ("holds(1) && exists m: Nat. m > n", "Bool", "holds(1) && (exists m: Nat. n < m)"),
        ("{ x: Nat | x < 3 }", "Set(Nat)", "{ x: Nat | x < 3 }"),
        ("{ x: Nat | x * 2 }", "Bag(Nat)", "{ x: Nat | x * 2 }"),
        ("lambda x: Nat. [x, 2] ++ (x |> [1])", "Nat -> List(Nat)", "lambda x: Nat. [x, 2] ++ [x, 1]"),
        ("lambda x: Nat. x |> l", "Nat -> List(Nat)", "lambda x: Nat. x |> l"),
        ("lambda x: Nat. (x + z whr z = x + 1 end)", "F", "lambda x: Nat. (x + z whr z = x + 1 end)"),
    ] {
        assert_eq!(print(expression, sort), expected, "{expression}");
    }
}

#[test]
fn sets_and_bags_with_exceptions() {
    let (specification, _) = parse_specification(
        "map p: Nat -> Bool; f: Nat -> Nat; q: Bool -> Nat -> Bool; s: Set(Nat);
         eqn s = { x: Nat | x < 3 }; act a; init a;",
    );
    let program = check_specification(&specification).0.unwrap();
    let mut heap = Heap::new(Terms::new(&program));
    let symbol = |heap: &mut Heap, name: &str, arguments: &[Value]| {
        let id = program.symbols_named(program.words.find(name).unwrap())[0];
        heap.make(Head::Symbol(id), arguments)
    };
    let one = heap.set_of(&[Value::ONE]);
    let bag = heap.set_to_bag(one).unwrap();
    let (p, f, q) =
        (symbol(&mut heap, "p", &[]), symbol(&mut heap, "f", &[]), symbol(&mut heap, "q", &[Value::TRUE]));
    let lambda = heap.make(Head::Lambda(program.equations[0].right.word()), &[]);
    let updated = heap.update(q, Value::ZERO, Value::TRUE, None).unwrap();
    for (value, expected) in [
        (heap.set_by(None, p, Value::EMPTY_SET), "{ x: Nat | p(x) }"),
        (heap.set_by(None, p, one), "{ x: Nat | p(x) != x in {1} }"),
        (heap.set_by(None, q, Value::EMPTY_SET), "{ x: Nat | q(true)(x) }"),
        (heap.set_by(None, updated, Value::EMPTY_SET), "{ x: Nat | q(true)[0 -> true](x) }"),
        (heap.set_by(None, lambda, one), "{ x1: Nat | (lambda x: Nat. x < 3)(x1) != x1 in {1} }"),
        (heap.bag_by(false, f, bag), "{ x: Nat | if(x == 1, 1, f(x)) }"),
        (lambda, "lambda x: Nat. x < 3"),
    ] {
        assert_eq!(heap.print(&program, &Functions(&program), value), expected);
    }
}

#[test]
fn deep_nesting_works() {
    let mut heap = Heap::new(Terms::new(&Program::default()));
    let mut value = Value::ONE;
    for _ in 0..100_000 {
        value = heap.list_of(&[value]);
    }
    let text = heap.print(&Program::default(), &(), value);
    assert_eq!((text.len(), &text[99_998..100_003]), (200_001, "[[1]]"));
    let long: Vec<Value> = (0..100_000).map(|number| Value::small(number % 10).unwrap()).collect();
    let list = heap.list_of(&long);
    assert_eq!(heap.print(&Program::default(), &(), list).len(), 300_000);
}
