//! The texts of typed expressions are parsed as the same expressions, and those of simplified ones
//! are correct.

use crate::sorts_support;

use crate::public_models;

use turnpike_mcrl2::syntax::{parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::expression::{free_variables, simplify, text};
use turnpike_mcrl2::typed::{Expression, ExpressionId, Program, check_specification};

/// Expressions that are not part of others.
fn roots(program: &Program) -> Vec<ExpressionId> {
    let mut is_part = vec![false; program.expression_count()];
    for id in program.expression_ids() {
        program.expression(id).for_each_child(|child| is_part[child.index()] = true);
    }
    program.expression_ids().filter(|id| !is_part[id.index()]).collect()
}

/// The structure of an expression: functions by number, sorts, conversions, and bound variables by
/// name.
fn shape(program: &Program, root: ExpressionId) -> String {
    let mut shape = String::new();
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        let expression = program.expression(id);
        shape.push_str(&program.sort_text(program.sort_of(id)));
        let name = |variable| program.text(program.variable(variable).name);
        shape.push_str(&match expression {
            Expression::Variable(variable) => format!(" variable {}", name(*variable)),
            Expression::Symbol(symbol) => format!(" symbol {}", symbol.index()),
            Expression::Bool(value) => format!(" {value}"),
            Expression::Number(digits) => format!(" {}", program.text(*digits)),
            Expression::Call { symbol, .. } => format!(" call {}", symbol.index()),
            Expression::List(all) => format!(" list {}", all.len()),
            Expression::Set(all) => format!(" set {}", all.len()),
            Expression::Bag(all) => format!(" bag {}", all.len()),
            Expression::Comprehension { variable, .. } => format!(" comprehension {}", name(*variable)),
            Expression::Apply { .. } => " apply".to_owned(),
            Expression::Upcast(_) => " upcast".to_owned(),
            Expression::Binder { binder, variables, .. } => {
                let names: Vec<&str> = variables.iter().map(|&one| name(one)).collect();
                format!(" {} {}", binder.text(), names.join(","))
            }
            Expression::Where { definitions, .. } => {
                let names: Vec<&str> = definitions.iter().map(|&(one, _)| name(one)).collect();
                format!(" where {}", names.join(","))
            }
        });
        shape.push('\n');
        expression.for_each_child(|child| todo.push(child));
    }
    shape
}

fn read(program: &mut Program, source: &str, like: ExpressionId) -> Result<ExpressionId, String> {
    let (parsed, errors) = parse_data_expression(source, &program.words);
    let parsed = parsed.ok_or_else(|| format!("{source}: {errors:?}"))?;
    let (free, sort) = (free_variables(program, like), program.sort_of(like));
    program
        .check_expression(&parsed.tree, parsed.root, &free, Some(sort))
        .map_err(|errors| format!("{source}: {errors:?}"))
}

/// The errors, and the number of expressions.
fn check(source: &str) -> (usize, Vec<String>) {
    let (specification, _) = parse_specification(source);
    let (Some(mut program), _) = check_specification(&specification) else { return (0, Vec::new()) };
    let mut wrong = Vec::new();
    let all = roots(&program);
    for &root in &all {
        let printed = text(&program, root);
        match read(&mut program, &printed, root) {
            Ok(again) if shape(&program, again) == shape(&program, root) => {}
            Ok(again) => {
                wrong.push(format!("{printed}\n{}{}", shape(&program, root), shape(&program, again)))
            }
            Err(error) => wrong.push(error),
        }
        let simple = simplify(&mut program, root);
        let printed = text(&program, simple);
        match read(&mut program, &printed, root) {
            Ok(again) => {
                let again = simplify(&mut program, again);
                if text(&program, again) != printed {
                    wrong.push(format!("{printed} becomes {}", text(&program, again)));
                }
            }
            Err(error) => wrong.push(format!("simplified: {error}")),
        }
    }
    sorts_support::well_sorted(&program);
    (all.len(), wrong)
}

#[test]
fn small_programs_read_back() {
    let declarations = "sort D; S = struct A | B(px: Nat)?isB | C(px: Nat, py: Bool); cons d: D;
        map f: Nat -> Nat; g: Nat # Bool -> Nat -> Bool; h: Int -> Int; h: Nat -> Nat;
        glob b, c: Bool; m, n: Nat; p, q: Pos; i: Int; r: Real; k: List(Nat); s: S; e: Set(Nat); u: FSet(Nat);
        v: FBag(Nat); w: Bag(Nat); z: Nat -> Nat;";
    let booleans = [
        "b && (c || b) => !b",
        "(b && c) && b",
        "(b => c) => b",
        "b && (forall x: Nat. x < n) && c",
        "b && forall x: Nat. x < n",
        "!(b || c)",
        "!(forall x: Nat. x < n) || c",
        "-n * m == -(n * m)",
        "n - (m - n) == n - m - n",
        "n div 2 * 3 == n div p div q",
        "(n * p) div q == n * (m div q)",
        "1 / 2 < r && -1 / 3 == r && r == -2",
        "-(1 / 2) < r && -r == 3",
        "n + 1 == i && p == n && p - p == n",
        "k == 1 |> 2 |> [] && [n] <| 3 == k ++ (k ++ k)",
        "(k ++ k) . 0 == 3 * (k . 1)",
        "#k == #(k ++ k) && #u + 1 == 3",
        "n in k && n in u && n in e && n in v && n in w && n in k == true",
        "u + {1, n} == u * e && e - u == !e && (e + u) * u == {}",
        "{ x: Nat | x < n } == e + u && { x: Nat | x } == w",
        "v + {1: 2, n: p} == {:} && {(forall x: Nat. x < n): 1} == {b: n}",
        "z[1 -> 2][n -> m](3) == z(n) && (lambda x: Nat. x + 1)(3) == 4",
        "g(n, b)(m) && (x == n whr x = n + 1 end)",
        "(exists x, y: Nat, b': Bool. x == y && b') => c",
        "if(b, n, p) == 3 && if(b, z, f)(2) == n",
        "isB(s) && px(s) == 2 && s == C(n, b) && s < A",
        "h(n) == n && h(i) == i && h(-1) == i",
        "Int2Nat(i) == Real2Nat(r) && floor(r) == i",
        "succ(n) == exp(2, n) && max(p, i) == p && pred(p) == abs(i)",
        "head(k) == rhead(tail(k)) && rtail(k) == []",
        "[[], [1]] == [[n]] && [1/2, 1] == [r]",
        "{1/2, 1} == {r} && count(n, v) == count(1, w) && Set2Bag(e) == w && Bag2Set(w) == e",
        "pick(u) == pick(v)",
        "(n == m) == (m == n) && (n < m) == b",
        "(x whr x = b end) && (y == n whr y = m end)",
    ];
    let mut source = declarations.to_owned();
    source.push_str("act a: Bool; init delta");
    for one in booleans {
        source.push_str(&format!(" + a({one})"));
    }
    source.push(';');
    let (specification, errors) = parse_specification(&source);
    assert!(errors.is_empty(), "{errors:?}");
    let (program, errors) = check_specification(&specification);
    assert!(program.is_some(), "{errors:?}");
    let (count, wrong) = check(&source);
    assert_eq!((count, wrong), (booleans.len(), Vec::new()));
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was tested")]
fn public_models_read_back() {
    let Some(found) = public_models::read() else { return };
    let (mut total, mut wrong) = (0, Vec::new());
    for (path, source) in &found {
        let (count, errors) = check(source);
        total += count;
        wrong.extend(errors.into_iter().map(|error| format!("{}: {error}", path.display())));
    }
    eprintln!("{} models, {total} expressions", found.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
