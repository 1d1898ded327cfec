use super::*;
use crate::syntax::{parse_data_expression, parse_specification};
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId, check_specification};

/// A program whose `glob` variables are for expressions.
fn program(declarations: &str) -> Program {
    let (specification, errors) = parse_specification(&format!("{declarations} init delta;"));
    assert!(errors.is_empty(), "{errors:?}");
    let (program, errors) = check_specification(&specification);
    program.unwrap_or_else(|| panic!("{errors:?}"))
}

fn parse(program: &mut Program, source: &str, sort: Option<SortId>) -> ExpressionId {
    let (parsed, errors) = parse_data_expression(source, &program.words);
    let parsed = parsed.unwrap_or_else(|| panic!("{source}: {errors:?}"));
    let globals = program.globals.clone();
    program
        .check_expression(&parsed.tree, parsed.root, &globals, sort)
        .unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

fn global(program: &Program, name: &str) -> VariableId {
    *program
        .globals
        .iter()
        .find(|&&one| program.text(program.variable(one).name) == name)
        .expect("the name of a global variable")
}

const DECLARATIONS: &str = "sort D; S = struct A | B(px: Nat)?isB | C(px: Nat, py: Bool); T = struct leaf | node(T, T);
    cons d1, d2: D; map K, M, L: Nat; F: Nat -> Nat; G: List(Nat); R: S; N: Int;
    var n: Nat;
    eqn K = M + 1; M = 7; L = F(1); F(n) = n; G = [K, 2]; R = B(K); N = -3; d1 == d2 = false; B(9) = A;
    glob b, c: Bool; m, n: Nat; p, q: Pos; i: Int; r: Real; k: List(Nat); s: S; t: T; d: D; f: Nat -> Nat; e: Set(Nat); u: FSet(Nat);";

// Long because it is one table.
#[test]
fn simplified() {
    let mut program = program(DECLARATIONS);
    for (source, expected) in [
        // Truth values.
        ("true && b", "b"),
        ("b && true", "b"),
        ("b && false", "false"),
        ("b || true", "true"),
        ("false || b", "b"),
        ("b => true", "true"),
        ("b => false", "!b"),
        ("true => b", "b"),
        ("false => b", "true"),
        ("b => b", "b => b"),
        ("!!b", "b"),
        ("!true", "false"),
        ("if(1 < 2, n, m)", "n"),
        ("if(b, n, n)", "n"),
        ("if(b, n, m)", "if(b, n, m)"),
        ("b == true", "b"),
        ("false == b", "!b"),
        ("b == c", "b == c"),
        ("b != false", "b"),
        ("forall x: Nat. 1 < 2", "true"),
        // Equality.
        ("n == n", "true"),
        ("n + m == n + m", "true"),
        ("n != n", "false"),
        ("d == d", "true"),
        ("d1 == d2", "d1 == d2"),
        ("d2 == d1", "d2 == d1"),
        ("1 == 2", "false"),
        ("-1 == 2 - 3", "true"),
        ("1/2 == 2/4", "true"),
        ("A == C(1, true)", "false"),
        ("C(n, b) == C(m, true)", "n == m && b"),
        ("C(n, b) != C(m, true)", "!(n == m && b)"),
        ("C(1, b) == C(2, c)", "false"),
        ("node(t, leaf) == node(t, leaf)", "true"),
        ("[n, 2] == [1, m]", "n == 1 && 2 == m"),
        ("[n] == []", "false"),
        ("[d1] == [d2]", "d1 == d2"),
        ("B(n) == A", "B(n) == A"),
        ("Pos2Int(p) == i", "Pos2Int(p) == i"),
        // Numbers.
        ("2 + 3 * 4", "14"),
        ("2 - 3", "-1"),
        ("-(2 - 3)", "1"),
        ("-7 div 2", "-4"),
        ("-7 mod 3", "2"),
        ("7 / 14", "1 / 2"),
        ("1/3 + 1/6", "1 / 2"),
        ("-1 / 3", "-1 / 3"),
        ("floor(-7/2)", "-4"),
        ("round(5/2)", "3"),
        ("ceil(5/2)", "3"),
        ("exp(2, 70)", "1180591620717411303424"),
        ("max(2, -5)", "2"),
        ("min(2, -5)", "-5"),
        ("succ(3)", "4"),
        ("pred(0)", "-1"),
        ("abs(-3)", "3"),
        ("Int2Nat(3 - 1)", "2"),
        ("Int2Nat(1 - 3)", "Int2Nat(-2)"),
        ("Nat2Pos(0)", "Nat2Pos(0)"),
        ("Real2Int(1/2)", "Real2Int(1 / 2)"),
        ("1 / 0", "1 / 0"),
        ("1 < 2 && 3 >= 4", "false"),
        ("n < n", "false"),
        ("n <= n", "true"),
        ("n + 1 < 2", "n + 1 < 2"),
        // Structures.
        ("py(C(n, b))", "b"),
        ("px(C(n, b))", "n"),
        ("py(A)", "py(A)"),
        ("isB(A)", "false"),
        ("isB(s)", "isB(s)"),
        // Lists.
        ("head([n, m])", "n"),
        ("tail([n, m])", "[m]"),
        ("head(n |> k)", "n"),
        ("tail(n |> k)", "k"),
        ("rhead([n, m])", "m"),
        ("rtail([n, m])", "[n]"),
        ("head([])", "head([])"),
        ("#[n, m]", "2"),
        ("[n, m] . 1", "m"),
        ("[n, m] . 2", "[n, m] . 2"),
        ("n |> [m]", "[n, m]"),
        ("[n] <| m", "[n, m]"),
        ("[n] ++ [m] ++ k", "[n, m] ++ k"),
        ("k ++ []", "k"),
        ("n in []", "false"),
        ("n in {}", "false"),
        // Constants.
        ("K", "8"),
        ("N", "-3"),
        ("G", "[8, 2]"),
        ("L", "L"),
        ("R", "R"),
        ("F(K)", "F(8)"),
        ("M == 7", "true"),
    ] {
        let root = parse(&mut program, source, None);
        let simple = simplify(&mut program, root);
        assert_eq!(text(&program, simple), expected, "{source}");
        assert_eq!(program.sort_of(simple), program.sort_of(root), "{source}");
        let again = simplify(&mut program, simple);
        assert!(same(&program, again, simple), "{source}: simplified twice");
    }
}

#[test]
fn free_variables_are_those_outside_binders() {
    let mut program = program(DECLARATIONS);
    for (source, expected) in [
        ("n + m + n", vec!["m", "n"]),
        ("forall n: Nat. n < m", vec!["m"]),
        ("n < 3 && forall n: Nat. n < m", vec!["m", "n"]),
        ("(x + n whr x = m, y = p end) + 1", vec!["m", "n", "p"]),
        ("{ x: Nat | x < n }", vec!["n"]),
        ("(lambda x: Nat. x)(3)", vec![]),
    ] {
        let root = parse(&mut program, source, None);
        let found = free_variables(&program, root);
        let names: Vec<&str> = found.iter().map(|&one| program.text(program.variable(one).name)).collect();
        assert_eq!(names, expected, "{source}");
    }
}

#[test]
fn substituted_without_capture() {
    let mut program = program(DECLARATIONS);
    for (source, variable, by, expected) in [
        ("n + m", "n", "m * 2", "m * 2 + m"),
        ("forall x: Nat. x < n", "n", "m", "forall x: Nat. x < m"),
        ("n == 1 && (forall n: Nat. n > 0)", "n", "m", "m == 1 && (forall n: Nat. n > 0)"),
        ("n + x whr x = n end", "n", "2", "2 + x whr x = 2 end"),
        ("f(n)", "f", "lambda z: Nat. z", "(lambda z: Nat. z)(n)"),
    ] {
        let (root, by) = (parse(&mut program, source, None), parse(&mut program, by, None));
        let with = Substitution::from_iter([(global(&program, variable), by)]);
        let new = substitute(&mut program, root, &with);
        assert_eq!(text(&program, new), expected, "{source}");
    }
    // A binder captures a variable of the replacement.
    let root = parse(&mut program, "(forall x: Nat. x < n) && n < 3", None);
    let Expression::Call { arguments, .. } = program.expression(root).clone() else {
        panic!("a conjunction")
    };
    let Expression::Binder { variables, .. } = program.expression(arguments[0]).clone() else {
        panic!("a quantifier")
    };
    let outer = variable(&mut program, variables[0]);
    let with = Substitution::from_iter([(global(&program, "n"), outer)]);
    let new = substitute(&mut program, root, &with);
    assert_eq!(text(&program, new), "(forall x_1: Nat. x_1 < x) && x < 3");
    assert_eq!(free_variables(&program, new), [variables[0]]);
    // Only free occurrences of a variable are replaced.
    let three = parse(&mut program, "3", Some(SortId::NAT));
    let with = Substitution::from_iter([(variables[0], three)]);
    let mixed = substitute(&mut program, new, &with);
    assert_eq!(text(&program, mixed), "(forall x_1: Nat. x_1 < 3) && 3 < 3");
    assert_eq!(substitute(&mut program, mixed, &with), mixed, "nothing left to replace");
}

#[test]
fn texts_do_not_confuse_variables_of_one_name() {
    let mut program = program(DECLARATIONS);
    let root = parse(&mut program, "forall n: Nat. n < m", None);
    let n = global(&program, "n");
    let outer = variable(&mut program, n);
    let with = Substitution::from_iter([(global(&program, "m"), outer)]);
    let new = substitute(&mut program, root, &with);
    assert_eq!(text(&program, new), "forall n_1: Nat. n_1 < n");
}

#[test]
fn joined_and_split() {
    let mut program = program(DECLARATIONS);
    let root = parse(&mut program, "(b && n < 1) && (c && b)", None);
    let parts = conjuncts(&program, root);
    let texts: Vec<String> = parts.iter().map(|&one| text(&program, one)).collect();
    assert_eq!(texts, ["b", "n < 1", "c", "b"]);
    let joined = all(&mut program, &parts);
    assert_eq!(text(&program, joined), "b && n < 1 && c && b");
    let joined = any(&mut program, &parts[..2]);
    assert_eq!(text(&program, joined), "b || n < 1");
    assert_eq!(disjuncts(&program, joined), parts[..2]);
    let no = boolean(&mut program, false);
    let (none, never) = (all(&mut program, &[]), all(&mut program, &[parts[0], no]));
    assert_eq!((text(&program, none), text(&program, never)), ("true".to_owned(), "false".to_owned()));
}

#[test]
fn every_sort_has_a_representative_if_it_can() {
    let mut program = program(
        "sort D; E; S = struct c(T) | a(Nat, S); T = struct t(S) | u(List(S), U); U = struct w(Set(Nat), Nat -> Bool);
         map e: E; glob d: D; e': E; s: S; b: Bag(Pos); p: Pos; r: Real; f: Nat # Bool -> U; v: Bool;",
    );
    let mut found = Vec::new();
    for global in program.globals.clone() {
        let sort = program.variable(global).sort;
        let one = representative(&mut program, sort);
        if let Some(one) = one {
            assert_eq!(program.sort_of(one), sort);
            assert!(free_variables(&program, one).is_empty());
        }
        found.push(one.map_or("none".to_owned(), |one| text(&program, one)));
    }
    found[6] = found[6].split('.').next().expect("a part").chars().filter(|one| !one.is_numeric()).collect();
    let mut c: String = found[2].chars().filter(|one| !one.is_numeric()).collect();
    std::mem::swap(&mut c, &mut found[2]);
    assert_eq!(
        found,
        [
            "none",
            "e",
            "c(u([], w({}, lambda _: Nat. false)))",
            "{:}",
            "1",
            "0",
            "lambda _: Nat, _: Bool",
            "false"
        ]
    );
}

#[test]
fn deep_nesting_works() {
    let mut program = program(DECLARATIONS);
    let t = parse(&mut program, "t", None);
    let node = parse(&mut program, "node(t, leaf)", None);
    let v = global(&program, "t");
    let mut deep = t;
    for _ in 0..100_000 {
        let Expression::Call { symbol, arguments } = program.expression(node).clone() else {
            panic!("a call")
        };
        let call = Expression::Call { symbol, arguments: [deep, arguments[1]].into() };
        deep = program.add_expression(call, program.sort_of(node), program.span_of(node));
    }
    assert_eq!(free_variables(&program, deep), [v]);
    let leaf = parse(&mut program, "leaf", None);
    let with = Substitution::from_iter([(v, leaf)]);
    let closed = substitute(&mut program, deep, &with);
    assert!(free_variables(&program, closed).is_empty() && !same(&program, deep, closed));
    assert_eq!(simplify(&mut program, closed), closed);
    let equality = equal(&mut program, deep, closed);
    assert_eq!(text(&program, equality), "t == leaf");
    assert_eq!(text(&program, deep).len(), 100_000 * "node(, leaf)".len() + 1);
    // A thousand nested binders that capture.
    let n = global(&program, "n");
    let mut nested = parse(&mut program, "forall x: Nat. n < x", None);
    let Expression::Binder { binder, variables, .. } = program.expression(nested).clone() else { panic!() };
    for _ in 0..1_000 {
        let one = Expression::Binder { binder, variables: variables.clone(), body: nested };
        nested = program.add_expression(one, SortId::BOOL, program.span_of(nested));
    }
    let x = variable(&mut program, variables[0]);
    let new = substitute(&mut program, nested, &Substitution::from_iter([(n, x)]));
    assert_eq!(free_variables(&program, new), [variables[0]]);
}
