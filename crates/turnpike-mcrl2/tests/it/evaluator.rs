//! Random expressions, compared with the slow rewriter.

use std::sync::Arc;

use proptest::prelude::*;

use crate::random_expressions::{Kind, SPECIFICATION, is_stuck, write};
use crate::rewriter;
use turnpike_mcrl2::compile::evaluator::{Machine, Rules, Scope, prepare};
use turnpike_mcrl2::syntax::{parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::{ExpressionId, Program, check_specification};

/// The results of the evaluator and the rewriter.
pub(crate) struct Both {
    pub(crate) fast: String,
    /// Whether the fast result is completely evaluated.
    pub(crate) is_plain: bool,
    pub(crate) slow: String,
}

/// Evaluates an expression of a specification with both. `None` if it is not well-typed, or if the
/// rewriter takes too long.
pub(crate) fn both(specification: &str, expression: &str) -> Option<Both> {
    let (parsed, _) = parse_specification(specification);
    let mut program = check_specification(&parsed).0.expect("a correct specification");
    let (parsed, _) = parse_data_expression(expression, &program.words);
    let parsed = parsed?;
    let id = program.check_expression(&parsed.tree, parsed.root, &[], None).ok()?;
    prepare(&mut program);
    let shared = Arc::new(program.clone());
    let slow = rewriter::normal_form(&mut program, id, &Default::default()).ok()?.text(&program);
    let (fast, is_plain) = evaluate(&shared, id);
    Some(Both { fast, is_plain, slow })
}

/// The text of an expression's value, and whether it is completely evaluated.
pub(crate) fn evaluate(program: &Arc<Program>, id: ExpressionId) -> (String, bool) {
    let rules = Rules::new(Arc::clone(program));
    let mut scope = Scope::default();
    let code = rules.compile(program, id, &mut scope);
    let mut machine = Machine::new(Arc::clone(&rules));
    let base = machine.enter(scope.size());
    let value = machine.evaluate(&code, base).expect("the rewriter came to an end");
    let kept = machine.heap.keep(value);
    assert!(!machine.heap.is_open(kept));
    (machine.heap.print(&rules.program(), &*rules, kept), machine.heap.is_plain(kept))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_and_slow_evaluation_agree(kind in 0_usize..5, choices in proptest::collection::vec(0_usize..1000, 60)) {
        let mut choices = choices.into_iter();
        let inner = write(Kind::ALL[kind], 5, &mut choices);
        // The names are those of slots in the frame, whose values are known only at run time.
        let expression =
            format!("{inner} whr n0 = 1 + 2, n1 = k(0, 3), b0 = 1 < 2, l0 = down(3), s0 = C(2, false), e0 = {{2, 3}} end");
        let Some(Both { fast, is_plain, slow }) = both(SPECIFICATION, &expression) else { return Ok(()) };
        if !is_plain {
            // Stuck terms may be simplified differently, but both results must be stuck.
            prop_assert!(is_stuck(&fast), "{} is {}, not {}", expression, fast, slow);
        } else if !is_stuck(&slow) || !slow.contains('{') {
            // The evaluator may know more about sets than the rewriter, because it compares their
            // elements as terms.
            prop_assert_eq!(fast, slow, "{}", expression);
        }
    }
}

/// Without well-typed expressions, the test above would be useless.
#[test]
fn the_expressions_make_sense() {
    let found = both(SPECIFICATION, "n0 + len(l0) whr n0 = 1 + 2, l0 = down(3) end").expect("well-typed");
    assert_eq!((found.fast.as_str(), found.is_plain, found.slow.as_str()), ("6", true, "6"));
    let mut seed = 7_usize;
    let mut next = std::iter::from_fn(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((seed >> 33) % 1000)
    });
    let decided =
        (0..40).filter(|_| {
            let inner = write(Kind::Nat, 4, &mut next);
            both(SPECIFICATION, &format!(
            "{inner} whr n0 = 3, n1 = 0, b0 = true, l0 = [3, 2, 1], s0 = C(2, false), e0 = {{2, 3}} end"
        ))
        .is_some()
        });
    assert!(decided.count() >= 30);
}
