//! Normal forms: from a table, and compared with the slow rewriter for random functions, sets and
//! bags.

use std::sync::Arc;

use proptest::prelude::*;

use crate::evaluator;
use turnpike_mcrl2::compile::evaluator::{Machine, Rules, Scope, prepare};
use turnpike_mcrl2::syntax::{parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::check_specification;
use turnpike_mcrl2::value::{Head, Value};

const SPECIFICATION: &str = "
    sort M = struct p(Nat) | q;
    map f: Nat -> Nat; g: Nat -> Bool; fact: Nat -> Nat; two: Nat; h: Nat -> Nat -> Nat; k: Nat -> Nat -> Nat -> Nat; m: Nat -> Nat;
        cond: Nat -> Nat; ff: Nat -> Nat; gg: Nat -> Bool;
    var n, i, j: Nat;
    eqn fact(n) = if(n == 0, 1, n * fact(Int2Nat(n - 1))); two = 2; m(n) = n + two; h(n)(i) = n + i;
        k(n)(i) = f; k(n)(i)(j) = n + i + j; n < 3 -> cond(n) = n + n; cond(n) = n * n;
        ff(0) = 3; n > 0 -> ff(n) = n + 1; gg(0) = true; n > 0 -> gg(n) = n == 3;
    init delta;";

/// The results of the evaluator and the rewriter; `None` if the expression has no sort.
fn both(expression: &str) -> Option<(String, String)> {
    evaluator::both(SPECIFICATION, expression).map(|both| (both.fast, both.slow))
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (expression, expected) in rows {
        let (fast, slow) = both(expression).unwrap_or_else(|| panic!("{expression} has no value"));
        if fast != *expected || slow != *expected {
            wrong.push(format!("{expression}\n  expected {expected}\n  fast     {fast}\n  slow     {slow}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bodies_are_evaluated() {
    check(&[
        ("lambda x: Nat. 1 + 1", "lambda x: Nat. 2"),
        ("(lambda x: Nat. w whr w = two * 3 end)", "lambda x: Nat. 6"),
        ("lambda x: Nat. m(x)", "lambda x: Nat. x + 2"),
        ("lambda x: Nat. lambda y: Nat. x + m(y)", "lambda x: Nat. lambda y: Nat. x + (y + 2)"),
        ("(lambda x: Nat. lambda y: Nat. x + y)(two)", "lambda y: Nat. 2 + y"),
        ("lambda x: Nat. (lambda y: Nat. y + x)(two)", "lambda x: Nat. 2 + x"),
        ("{x: Nat | x in {1, 3}}", "{ x: Nat | x == 1 || x == 3 }"),
        ("{x: Nat | x in [1, 3]}", "{ x: Nat | x == 1 || x == 3 }"),
        ("{x: Nat | 1 < 0}", "{}"),
        ("{x: Nat | 0 < 1}", "!{}"),
        ("{x: Nat | x in {y: Nat | g(y)}}", "{ x: Nat | g(x) }"),
        ("{x: Nat | 0 * x}", "{:}"),
        ("{x: Nat | f(x)} + {x: Nat | two}", "{ x: Nat | f(x) + 2 }"),
        ("lambda x: Nat. x == x", "lambda x: Nat. true"),
        ("lambda x: M. x == q && false", "lambda x: M. false"),
        ("lambda x: Nat. p(x) == q", "lambda x: Nat. false"),
        ("lambda x: Nat. p(x) == p(two)", "lambda x: Nat. x == 2"),
        ("lambda x: Nat. forall y: Nat. y == y || x == y", "lambda x: Nat. true"),
        (
            "lambda x: Nat. exists y: Nat. g(x) && f(y) == two",
            "lambda x: Nat. exists y: Nat. g(x) && f(y) == 2",
        ),
        ("(lambda x, y: Nat. x + y)", "lambda x,y: Nat. x + y"),
        ("(lambda x: Nat. f(x))[1 -> 2]", "(lambda x: Nat. f(x))[1 -> 2]"),
        // Elements that may be equal.
        ("lambda x: Nat. #{x, 3}", "lambda x: Nat. #{3, x}"),
        ("lambda x: Nat. #{x}", "lambda x: Nat. 1"),
        ("(lambda x: Nat. #{x, 3})(3)", "1"),
        ("(lambda x: Nat. count(x, {x: 2, 3: 1}))(3)", "3"),
        ("(lambda x: Nat. count(3, {x: 2, 3: 1} - {x: 1, 3: 2}))(3)", "0"),
        ("(lambda x: Nat. count(3, Set2Bag({x, 3})))(3)", "1"),
        ("(lambda x: Nat. pick({x, 3}))(5)", "3"),
        ("(lambda x: Nat. f[x -> 1][3 -> 2](x))(3)", "2"),
    ]);
}

#[test]
fn a_condition_that_depends_on_the_variable_ends_the_search_for_a_rule() {
    check(&[("lambda x: Nat. cond(x)", "lambda x: Nat. cond(x)"), ("cond(2)", "4"), ("cond(3)", "9")]);
}

#[test]
fn rules_with_fewer_arguments_go_first() {
    check(&[
        ("k(1)(2)(3)", "f(3)"),
        ("k(1)(2)", "f"),
        ("h(1)(2)", "3"),
        ("(lambda x: Nat. k(1)(x)(3))(2)", "f(3)"),
    ]);
}

#[test]
fn stuck_operands_may_not_matter() {
    check(&[
        ("f(1) * 0", "0"),
        ("0 * f(1)", "0"),
        ("f(1) * 1", "f(1)"),
        ("1 * f(1)", "f(1)"),
        ("f(1) + 0", "f(1)"),
        ("0 + f(1)", "f(1)"),
        ("f(1) - 0", "f(1)"),
        ("0 div (f(1) + 1)", "0"),
        ("0 mod (f(1) + 1)", "0"),
        ("exp(f(1), 0)", "1"),
        ("exp(f(1), 1)", "f(1)"),
        ("max(f(1), f(1))", "f(1)"),
        ("max(0, f(1))", "f(1)"),
        ("min(f(1), 0)", "0"),
        ("max(1, f(1) - 3)", "max(1, f(1) - 3)"),
        ("tail([]) ++ []", "tail([])"),
        ("[f(1)] ++ tail([f(2)])", "[f(1)]"),
        ("f(1) * 2", "f(1) * 2"),
    ]);
}

#[test]
fn operations_on_infinite_sets_and_bags() {
    check(&[
        ("{1, 3} + {x: Nat | x > 5}", "{ x: Nat | 5 < x != x in {1, 3} }"),
        ("{1, 3} + {x: Nat | x > 5} + {x: Nat | x > 5}", "{ x: Nat | 5 < x != x in {1, 3} }"),
        ("{1, 7} * {x: Nat | x > 5}", "{7}"),
        ("{1, 7} - {x: Nat | x > 5}", "{1}"),
        ("{x: Nat | x > 5} - {x: Nat | x > 5}", "{}"),
        ("{x: Nat | x > 5} + {x: Nat | g(x)}", "{ x: Nat | 5 < x || g(x) }"),
        ("!{x: Nat | g(x)}", "{ x: Nat | !g(x) }"),
        ("!!{x: Nat | g(x)}", "{ x: Nat | g(x) }"),
        ("{1: 3} - {x: Nat | 1}", "{1: 2}"),
        ("{1: 3} - {x: Nat | 1} - {x: Nat | 1} - {x: Nat | 1}", "{:}"),
        ("{1: 3} * {x: Nat | 2}", "{1: 2}"),
        ("{x: Nat | 2} * {1: 3}", "{1: 2}"),
        ("{1: 3} + {x: Nat | 2}", "{ x: Nat | if(x == 1, 5, 2) }"),
        ("{x: Nat | 2} - {1: 3}", "{ x: Nat | if(x == 1, 0, 2) }"),
        ("{x: Nat | f(x)} - {x: Nat | f(x)}", "{:}"),
        ("{x: Nat | f(x)} * {x: Nat | two}", "{ x: Nat | min(f(x), 2) }"),
        ("Set2Bag({x: Pos | true})", "{ x: Pos | 1 }"),
        ("Set2Bag({x: Nat | g(x)})", "{ x: Nat | if(g(x), 1, 0) }"),
        ("Bag2Set({x: Nat | f(x)})", "{ x: Nat | 0 < f(x) }"),
        ("count(3, {1: 3} + {x: Nat | x * 2})", "6"),
    ]);
}

#[test]
fn comparisons_over_sorts_without_end() {
    check(&[
        ("{x: Nat | x > 2} == {x: Nat | x > 3}", "false"),
        ("{x: Nat | x > 2} == {x: Nat | 2 < x}", "true"),
        ("{x: Nat | x > 2} == {y: Nat | y > 2}", "true"),
        ("{x: Nat | x > 2} == {1}", "false"),
        ("{x: Nat | x > 2} != {1}", "true"),
        ("{x: Nat | 2} == {1: 1}", "false"),
        ("{x: Nat | 2} == {y: Nat | 1 + 1}", "true"),
        ("!{} <= {0, 1}", "false"),
        ("{0, 1} <= !{}", "true"),
        ("!{0} <= !{}", "true"),
        ("{x: Nat | x > 3} <= {x: Nat | x > 2} ", "{ x: Nat | 3 < x } <= { x: Nat | 2 < x }"),
        ("{x: Nat | x > 2} <= {x: Nat | x > 3} ", "false"),
        ("{x: Nat | x > 2} < {x: Nat | x > 2} ", "false"),
        ("{x: Nat | 2} <= {x: Nat | 1}", "false"),
        ("{1: 1} <= {x: Nat | 2}", "true"),
        ("{1: 1} < {x: Nat | 2}", "true"),
        ("(lambda x: Nat. x + 1) == (lambda y: Nat. y + 1)", "true"),
        ("(lambda x: Nat. x + 1) == (lambda y: Nat. y + two)", "false"),
        ("(lambda x: Nat. p(x)) == (lambda y: Nat. q)", "false"),
    ]);
}

/// A function whose body has no normal form, or a large one, is not evaluated, but it can be
/// applied.
#[test]
fn functions_without_a_normal_form() {
    let mut program = check_specification(&parse_specification(SPECIFICATION).0).0.expect("a specification");
    let (parsed, _) = parse_data_expression("lambda x: Nat. fact(x) + two", &program.words);
    let parsed = parsed.expect("an expression");
    let id = program.check_expression(&parsed.tree, parsed.root, &[], None).expect("well-typed");
    prepare(&mut program);
    let program = Arc::new(program);
    assert_eq!(evaluator::evaluate(&program, id).0, "lambda x: Nat. fact(x) + two");
    let rules = Rules::new(Arc::clone(&program));
    let code = rules.compile(&program, id, &mut Scope::default());
    let mut machine = Machine::new(rules);
    let base = machine.enter(0);
    let function = machine.evaluate(&code, base).expect("a function");
    let four = Value::small(4).expect("small");
    assert_eq!(machine.apply(function, &[four]), Ok(Value::small(26).expect("small")));
}

/// Values from elsewhere have a normal form, but no code.
#[test]
fn functions_without_code_are_applied_by_their_body() {
    let expressions = [
        ("lambda x: Nat. if(x < 3, x + two, fact(x))", true),
        ("lambda x: Nat. #([x, 2] ++ [f(x)]) + count(x, {x: 2, 3: 1})", false),
        ("lambda x: Nat. (lambda y: Nat. y + x)[2 -> x](3) + h(x)(2)", false),
        ("lambda x: Nat. if(x in {y: Nat | y > x || y == 2}, x, 7)", false),
    ];
    for (text, endless) in expressions {
        let mut program =
            check_specification(&parse_specification(SPECIFICATION).0).0.expect("a specification");
        let (parsed, _) = parse_data_expression(text, &program.words);
        let parsed = parsed.expect("an expression");
        let id = program.check_expression(&parsed.tree, parsed.root, &[], None).expect("well-typed");
        prepare(&mut program);
        let program = Arc::new(program);
        let rules = Rules::new(Arc::clone(&program));
        let code = rules.compile(&program, id, &mut Scope::default());
        let mut machine = Machine::new(Arc::clone(&rules));
        let base = machine.enter(0);
        let function = machine.evaluate(&code, base).expect("a function");
        assert_eq!(matches!(machine.heap.head(function), Some(Head::Lambda(_))), endless, "{text}");
        let function = machine.heap.keep(function);
        let mut bytes = Vec::new();
        machine.heap.encode(function, &mut bytes);
        let other_rules = Rules::new(Arc::clone(&program));
        other_rules.compile(&program, id, &mut Scope::default());
        let mut other = Machine::new(other_rules);
        let copy = other.heap.decode(&mut &bytes[..]).expect("a function");
        assert_eq!(other.heap.content_hash(copy), machine.heap.content_hash(function));
        for number in 0..5 {
            let argument = Value::small(number).expect("small");
            let one = machine.apply(function, &[argument]).expect("a value");
            let two = other.apply(copy, &[argument]).expect("a value");
            assert_eq!(machine.heap.content_hash(one), other.heap.content_hash(two), "{text} at {number}");
        }
    }
}

/// Templates of expressions: `@` is an operand, whose kinds follow.
fn forms(kind: char) -> &'static [(&'static str, &'static str)] {
    match kind {
        'n' => &[
            ("(@ + @)", "nn"),
            ("(@ * 2)", "n"),
            ("if(@, @, @)", "bnn"),
            ("@(@)", "fn"),
            ("count(@, @)", "ng"),
            ("m(@)", "n"),
            ("ff(@)", "n"),
        ],
        'b' => &[
            ("(@ < @)", "nn"),
            ("(@ == @)", "nn"),
            ("(@ && @)", "bb"),
            ("(@ || @)", "bb"),
            ("!@", "b"),
            ("(@ in @)", "ns"),
            ("gg(@)", "n"),
            ("(p(@) == p(@))", "nn"),
        ],
        'f' => &[("(lambda $: Nat. @)", "n"), ("(@[@ -> @])", "fnn"), ("h(@)", "n")],
        's' => {
            &[("{$: Nat | @}", "b"), ("(@ + @)", "ss"), ("(@ * @)", "ss"), ("(@ - @)", "ss"), ("(!@)", "s")]
        }
        _ => &[
            ("{$: Nat | @}", "n"),
            ("(@ + @)", "gg"),
            ("(@ * @)", "gg"),
            ("(@ - @)", "gg"),
            ("Set2Bag(@)", "s"),
        ],
    }
}

fn write(
    kind: char,
    depth: usize,
    scope: &mut Vec<String>,
    choices: &mut impl Iterator<Item = usize>,
) -> String {
    let choice = choices.next().unwrap_or(0);
    let forms = forms(kind);
    if depth == 0 || choice.is_multiple_of(4) {
        let pick = choice / 4;
        return match kind {
            'n' if pick.is_multiple_of(2) && !scope.is_empty() => scope[pick / 2 % scope.len()].clone(),
            'n' => ["0", "1", "3", "two"][pick / 2 % 4].to_owned(),
            'b' => ["true", "false", "gg(1)"][pick % 3].to_owned(),
            'f' => ["ff", "(lambda z: Nat. z + 1)", "m"][pick % 3].to_owned(),
            's' => ["{1, 3}", "{z: Nat | z > 2}", "{0}"][pick % 3].to_owned(),
            _ => ["{1: 3}", "{z: Nat | 2}", "{0: 1, 2: 1}"][pick % 3].to_owned(),
        };
    }
    let (form, operands) = forms[choice / 4 % forms.len()];
    let name = ["x", "y", "v", "w"][scope.len() % 4].to_owned();
    let binds = form.contains('$');
    if binds {
        scope.push(name.clone());
    }
    let mut text = String::new();
    let mut operands = operands.chars();
    for part in form.replace('$', &name).split_inclusive('@') {
        match part.strip_suffix('@') {
            Some(before) => {
                text.push_str(before);
                let operand = operands.next().expect("as many as there are places");
                text.push_str(&write(operand, depth - 1, scope, choices));
            }
            None => text.push_str(part),
        }
    }
    if binds {
        scope.pop();
    }
    text
}

/// The values are the same for some arguments.
fn points(kind: char, text: &str) -> String {
    let at = |n: usize| match kind {
        's' => format!("if({n} in {text}, 1, 0)"),
        'g' => format!("count({n}, {text})"),
        _ => format!("({text})({n})"),
    };
    format!("[{}]", (0..5).map(at).collect::<Vec<_>>().join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn fast_and_slow_functions_agree(kind in 0_usize..3, choices in proptest::collection::vec(0_usize..1000, 60)) {
        let kind = ['f', 's', 'g'][kind];
        let text = write(kind, 4, &mut Vec::new(), &mut choices.into_iter());
        let Some((fast, slow)) = both(&points(kind, &text)) else { return Ok(()) };
        prop_assert_eq!(fast, slow, "{}", text);
    }
}

/// The normal forms are the same, except that either may simplify stuck terms further.
#[test]
fn fast_and_slow_normal_forms_are_the_same() {
    let mut seed = 11_usize;
    let mut next = std::iter::from_fn(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((seed >> 33) % 1000)
    });
    let (mut same, mut different) = (0, Vec::new());
    for index in 0..150 {
        let text = write(['f', 's', 'g'][index % 3], 3, &mut Vec::new(), &mut next);
        if let Some((fast, slow)) = both(&text) {
            if fast == slow {
                same += 1;
            } else {
                different.push(format!("{text}\n  fast {fast}\n  slow {slow}"));
            }
        }
    }
    assert!(same >= 100 && different.len() * 10 < same, "{same} same\n{}", different.join("\n"));
}
