//! Random expressions, compared with the slow rewriter.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Machine, Rules, Scope, prepare};
use crate::rewriter;
use crate::sorts::check_specification;
use crate::syntax::{parse_data_expression, parse_specification};

const SPECIFICATION: &str = "
    sort S = struct A | B(x: Nat)?is_b | C(y: Nat, z: Bool)?is_c;
    map len: List(Nat) -> Nat; part: Nat -> Nat; ite: Bool # Nat # Nat -> Nat; k: Nat # Nat -> Nat; del: Nat # List(Nat) -> List(Nat);
        kind: S -> Nat; both: S # S -> Nat; elements: List(Nat) -> FSet(Nat); down: Nat -> List(Nat); twice: (Nat -> Nat) # Nat -> Nat;
        add: Nat -> Nat -> Nat; pick2: Bool # List(Nat) # List(Nat) -> List(Nat);
    var n, m: Nat; l, h: List(Nat); b, c: Bool; s, t: S; f: Nat -> Nat;
    eqn len([]) = 0; len(n |> l) = len(l) + 1;
        part(0) = 1; part(2) = 3; n > 4 -> part(n) = n;
        ite(true, n, m) = n; ite(false, n, m) = m;
        k(n, m) = n;
        del(n, []) = []; n == m -> del(n, m |> l) = l; n != m -> del(n, m |> l) = m |> del(n, l);
        kind(A) = 0; kind(B(n)) = n + 1; kind(C(n, true)) = n; kind(C(n, false)) = n + 10;
        both(A, s) = 1; both(B(n), B(n)) = 2; both(C(n, b), C(m, b)) = n + m;
        elements([]) = {}; elements(n |> l) = {n} + elements(l);
        down(n) = if(n == 0, [], n |> down(Int2Nat(n - 1)));
        twice(f, n) = f(f(n)); add(n)(m) = n + m;
        pick2(true, l, h) = l ++ l; pick2(false, l, h) = h;
    init delta;";

/// What may remain in a normal form that is no plain value.
const PARTIAL: [&str; 14] = [
    "head", "tail", " . ", "part", "both", "x(", "y(", "z(", "Int2Nat", "lambda", "pick", "whr", "forall",
    "exists",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nat,
    Bool,
    List,
    Struct,
    Set,
}

use Kind::{Bool, List, Nat, Set, Struct};

/// Ways to write an expression: `@` stands for an operand.
fn forms(kind: Kind) -> &'static [(&'static str, &'static [Kind])] {
    match kind {
        Nat => &[
            ("(@ + @)", &[Nat, Nat]),
            ("(@ * @)", &[Nat, Nat]),
            ("Int2Nat(@ - @)", &[Nat, Nat]),
            ("max(@, @)", &[Nat, Nat]),
            ("if(@, @, @)", &[Bool, Nat, Nat]),
            ("ite(@, @, @)", &[Bool, Nat, Nat]),
            ("k(@, @)", &[Nat, Nat]),
            ("len(@)", &[List]),
            ("#(@)", &[List]),
            ("#(@)", &[Set]),
            ("head(@)", &[List]),
            ("((@) . (@))", &[List, Nat]),
            ("part(@)", &[Nat]),
            ("kind(@)", &[Struct]),
            ("both(@, @)", &[Struct, Struct]),
            ("x(@)", &[Struct]),
            ("twice(lambda q: Nat. q + @, @)", &[Nat, Nat]),
            ("twice(add(@), @)", &[Nat, Nat]),
            ("(lambda q: Nat. 0)[@ -> @](@)", &[Nat, Nat, Nat]),
            ("(w + w whr w = @ end)", &[Nat]),
        ],
        Bool => &[
            ("(@ == @)", &[Nat, Nat]),
            ("(@ < @)", &[Nat, Nat]),
            ("(@ >= @)", &[Nat, Nat]),
            ("(@ != @)", &[List, List]),
            ("(@ < @)", &[List, List]),
            ("(@ == @)", &[Struct, Struct]),
            ("(@ <= @)", &[Struct, Struct]),
            ("(@ && @)", &[Bool, Bool]),
            ("(@ || @)", &[Bool, Bool]),
            ("(@ => @)", &[Bool, Bool]),
            ("!@", &[Bool]),
            ("(@ in @)", &[Nat, List]),
            ("(@ in @)", &[Nat, Set]),
            ("(@ == @)", &[Set, Set]),
            ("(@ < @)", &[Set, Set]),
            ("is_b(@)", &[Struct]),
            ("z(@)", &[Struct]),
        ],
        List => &[
            ("(@ |> @)", &[Nat, List]),
            ("(@ <| @)", &[List, Nat]),
            ("(@ ++ @)", &[List, List]),
            ("tail(@)", &[List]),
            ("rtail(@)", &[List]),
            ("del(@, @)", &[Nat, List]),
            ("down(@ mod 4)", &[Nat]),
            ("[@, @]", &[Nat, Nat]),
            ("if(@, @, @)", &[Bool, List, List]),
            ("pick2(@, @, @)", &[Bool, List, List]),
        ],
        Struct => &[("B(@)", &[Nat]), ("C(@, @)", &[Nat, Bool]), ("if(@, @, @)", &[Bool, Struct, Struct])],
        Set => &[
            ("{@, @}", &[Nat, Nat]),
            ("(@ + @)", &[Set, Set]),
            ("(@ * @)", &[Set, Set]),
            ("(@ - @)", &[Set, Set]),
            ("elements(@)", &[List]),
        ],
    }
}

fn leaves(kind: Kind) -> &'static [&'static str] {
    match kind {
        Nat => &["0", "1", "2", "5", "n0", "n1"],
        Bool => &["true", "false", "b0"],
        List => &["[]", "[1]", "[0, 2]", "l0"],
        Struct => &["A", "B(0)", "C(1, true)", "s0"],
        Set => &["{}", "{1}", "e0"],
    }
}

/// Writes an expression as a sequence of choices says.
fn write(kind: Kind, depth: u32, choices: &mut impl Iterator<Item = usize>) -> String {
    let choice = choices.next().unwrap_or(0);
    let (leaves, forms) = (leaves(kind), forms(kind));
    if depth == 0 || choice.is_multiple_of(5) {
        return leaves[choice / 5 % leaves.len()].to_owned();
    }
    let (form, operands) = forms[choice / 5 % forms.len()];
    let mut text = String::new();
    let mut operands = operands.iter();
    for part in form.split_inclusive('@') {
        match part.strip_suffix('@') {
            Some(before) => {
                text.push_str(before);
                let operand = operands.next().expect("as many as there are places");
                text.push_str(&write(*operand, depth - 1, choices));
            }
            None => text.push_str(part),
        }
    }
    text
}

/// What the fast and the slow way make of an expression, and whether the fast result is plain.
fn both(expression: &str) -> Option<(String, bool, String)> {
    let (parsed, _) = parse_specification(SPECIFICATION);
    let mut program = check_specification(&parsed).0.expect("a correct specification");
    let (parsed, _) = parse_data_expression(expression, &program.words);
    let parsed = parsed?;
    let id = program.check_expression(&parsed.tree, parsed.root, &[], None).ok()?;
    prepare(&mut program);
    let shared = Arc::new(program.clone());
    let slow = rewriter::normal_form(&mut program, id, &Default::default()).ok()?.text(&program);
    let rules = Rules::new(Arc::clone(&shared));
    let mut scope = Scope::default();
    let code = rules.compile(&shared, id, &mut scope);
    let mut machine = Machine::new(Arc::clone(&rules));
    let base = machine.enter(scope.size());
    let value = machine.evaluate(&code, base).expect("the slow way came to an end");
    Some((machine.heap.print(&shared, &*rules, value), machine.heap.is_plain(value), slow))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_and_slow_evaluation_agree(kind in 0_usize..5, choices in proptest::collection::vec(0_usize..1000, 60)) {
        let kind = [Nat, Bool, List, Struct, Set][kind];
        let mut choices = choices.into_iter();
        let inner = write(kind, 5, &mut choices);
        // The names stand for slots of the frame; what they are is known only when the code runs.
        let expression =
            format!("{inner} whr n0 = 1 + 2, n1 = k(0, 3), b0 = 1 < 2, l0 = down(3), s0 = C(2, false), e0 = {{2, 3}} end");
        let Some((fast, plain, slow)) = both(&expression) else { return Ok(()) };
        let stuck = |text: &str| PARTIAL.iter().any(|name| text.contains(name));
        if !plain {
            // What is known of stuck terms may differ, but something must be stuck.
            prop_assert!(stuck(&fast), "{} is {}, not {}", expression, fast, slow);
        } else if !stuck(&slow) || !slow.contains('{') {
            // Where the slow way is stuck, the fast one may know more of sets: it compares their elements as terms.
            prop_assert_eq!(fast, slow, "{}", expression);
        }
    }
}

/// So that the test above does not pass because nothing is ever well-typed.
#[test]
fn the_expressions_make_sense() {
    let (fast, plain, slow) = both("n0 + len(l0) whr n0 = 1 + 2, l0 = down(3) end").expect("well-typed");
    assert_eq!((fast.as_str(), plain, slow.as_str()), ("6", true, "6"));
    let mut seed = 7_usize;
    let mut next = std::iter::from_fn(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((seed >> 33) % 1000)
    });
    let decided = (0..40).filter(|_| {
        let inner = write(Nat, 4, &mut next);
        both(&format!(
            "{inner} whr n0 = 3, n1 = 0, b0 = true, l0 = [3, 2, 1], s0 = C(2, false), e0 = {{2, 3}} end"
        ))
        .is_some()
    });
    assert!(decided.count() >= 30);
}
