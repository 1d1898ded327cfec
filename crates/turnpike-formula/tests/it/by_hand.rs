//! Formulas whose verdicts are known.

use turnpike_formula::{Decision, Fragment, Shape, fragment, solve};
use turnpike_lts::LtsModel;
use turnpike_mcrl2::explore::LabelSource;
use turnpike_model::formula::Property;

use crate::{data, decide, holds, requirement, system};

/// 0 -a-> 1 -b-> 0 and 1 -c-> 2.
const LOOP: &str = "des (0,3,3)\n(0,\"a\",1)\n(1,\"b\",0)\n(1,\"c\",2)\n";

#[test]
fn small_formulas() {
    let lts = system(LOOP);
    for (formula, expected) in [
        ("[true*]<true>true", false),
        ("<true*.c>true", true),
        ("nu X. <true>X", true),
        ("mu X. [true]X", false),
        ("[true*.a](mu X. <true>true && [!b]X)", false),
        ("[true*.a.!c]false", false),
        ("<a.b.a.c>true", true),
        ("[(a.b)*.c]false", true),
        ("nu X. mu Y. (<b>X || <!b>Y)", true),
        ("[true*](<c>true => <b>true)", true),
        ("nu X(n: Nat = 0). val(n < 3) && [a]X(n + 1) && [!a]X(n)", false),
        ("exists n: Nat. val(n > 5)", true),
        ("forall n: Nat. val(n < 5)", false),
        ("nu X. X", true),
        ("mu X. X", false),
        ("!nu X. X", false),
        ("<a+.b>true", true),
        ("<(a.b)+.a.c>true", true),
        ("<a + b>true", true),
        ("[a||b]<b>true", true),
        ("!<c>true && <a>!<a>true", true),
        ("<tau>true", false),
        ("nu X. mu X. <a>X || <b>X", false),
        ("form nu X. mu Y. <a>X || <b>Y;", true),
        ("nu Y. mu X. <a>Y || <b>X", true),
        ("(2 > 1) => <a>true", true),
    ] {
        assert_eq!(holds(&lts, formula), expected, "{formula}");
    }
}

/// A condition in front of a repetition moves inwards together with its variables.
#[test]
fn conditions_move_inwards_with_their_variables() {
    let lts = system("des (0,4,3)\n(0,\"a(1,2)\",1)\n(1,\"a(0,2)\",0)\n(1,\"b(2)\",2)\n(2,\"b(2)\",2)\n");
    for (formula, expected) in [
        // Infinitely many numbers meet the condition, but labels determine them.
        ("forall m, n: Nat. val(m > n) => [true*.a(m,n)]false", true),
        ("forall m, n: Nat. val(m < n) => [true*.a(m,n)]false", false),
        ("forall m, n: Nat. val(m > n) => [true*]([a(m,n)]false && <true>true)", true),
        ("forall m: Nat. val(m > 0) => forall n: Nat. val(n < m) => [true*.a(m,n)]false", true),
        ("forall m: Nat. val(m > 0) => [a(m,2)](forall n: Nat. val(n > m) => [b(n)]false)", false),
        ("forall m, n: Nat. val(m >= n) => [true*.exists k: Nat. a(k,m).true*.b(n)]false", false),
        ("forall m, n: Nat. val(m > n) => [true*.exists k: Nat. a(k,m).true*.b(n)]false", true),
        ("exists n: Nat. val(n > 1) && <true*.b(n)>true", true),
        ("exists n: Nat. val(n > 2) && <true*.b(n)>true", false),
        ("exists n: Nat. val(n > 1) && (<true*.b(n)>true || [true]false)", true),
        // Each condition bounds its own variables, also where the rest is decided by data alone.
        ("exists m: Nat. val(m < 1) && exists n: Nat. ([b(2)]false && val(m != 2 || n <= m))", true),
        ("forall m: Nat. val(m < 2) => forall n: Nat. val(n <= m) => val(n < 2) && [b(n)]false", true),
        // A fixed point whose calls the variable reaches stays whole.
        ("exists n: Nat. val(n < 3) && nu X. <true>X && [b(n)]false", true),
        ("forall n: Nat. val(n < 2) => nu X. [true]X && (val(n == 0) || [b(1)]false)", true),
    ] {
        assert_eq!(holds(&lts, formula), expected, "{formula}");
    }
}

/// Compiled code is shared by all formulas about a model.
#[test]
fn formulas_about_one_model_do_not_affect_each_other() {
    let lts = system(LOOP);
    let (data, model) = (data(&lts, ""), LtsModel::new("system", lts).expect("a system"));
    for (formula, expected) in [
        ("val(exists n: Nat. n < n)", Decision::Violated),
        ("val(forall n: Nat. n <= n)", Decision::Holds),
        ("val(forall n: Nat. n >= n)", Decision::Holds),
        ("val(exists n: Nat. n > n)", Decision::Violated),
    ] {
        let (requirement, _) = data.requirement(formula, LabelSource::Declared).expect("a formula");
        let outcome = solve(&model, &requirement, &mut |_| false).expect("a verdict");
        assert_eq!(outcome.decision, expected, "{formula}");
    }
}

/// Exploring stops at the first state that decides a formula, if a path to it does.
#[test]
fn exploring_stops_where_a_path_decides() {
    let ring = (0..5_000).map(|state| format!("({state},\"a\",{})\n", (state + 1) % 5_000));
    let steps: String = ring.chain(["(600,\"c\",5000)\n".to_owned()]).collect();
    let lts = system(&format!("des (0,5001,5001)\n{steps}"));
    for (formula, kind, expected) in [
        ("[true*.c]false", Fragment::Safety, false),
        ("<true*.c>true", Fragment::Reachability, true),
        ("[true*]<true>true", Fragment::Invariant, false),
        ("[true*](<a>true || <c>true)", Fragment::Invariant, false),
        ("nu X. (<a>true || <c>true) && [true]X", Fragment::Invariant, false),
        ("<true*>[true]false", Fragment::Attainability, true),
        ("<true*>([a]false && [c]false)", Fragment::Attainability, true),
        ("nu X(n: Nat = 0). val(n < 601) && [a]X(n + 1)", Fragment::Safety, false),
    ] {
        let requirement = requirement(&lts, formula).expect("a formula");
        assert_eq!(fragment(requirement.formula()), kind, "{formula}");
        let outcome = decide(&lts, formula);
        assert_eq!(outcome.decision == Decision::Holds, expected, "{formula}");
        assert!(outcome.progress.states < 610, "{formula}: {} states", outcome.progress.states);
    }
}

#[test]
fn quantifiers_are_bound_by_labels() {
    let lts =
        system("des (0,4,4)\n(0,\"r(1)\",1)\n(1,\"s(1)\",0)\n(0,\"r(2)\",2)\n(2,\"s(3)|t(yes,true)\",3)\n");
    for (formula, expected) in [
        ("forall n: Nat. [r(n)]<s(n)>true", false),
        ("exists n: Nat. <r(n)>(exists m: Nat. <s(m)>val(m == n))", true),
        ("[true*] forall n: Nat. [r(n)]<exists m: Nat, b: Bool. s(n) || s(m)|t(yes, b)>true", true),
        ("exists n: Nat. <r(n)>exists m: Nat. <s(m)|t(yes,true)>val(m == n + 1)", true),
        ("forall i, j: Nat. val(i != j) => !(<r(i)>true && <r(j)>true)", false),
        ("forall i, j: Nat. val(i > 2) => !(<r(i)>true && <r(j)>true)", true),
        ("forall d: Data. <true*.exists n: Nat. s(n)|t(d,true)>true", true),
        ("[true*] forall n: Nat. val(n < 3) => <true*>([true]false || <r(n) || true>true)", true),
    ] {
        assert_eq!(holds(&lts, formula), expected, "{formula}");
    }
}

#[test]
fn fragments_are_recognised() {
    let lts = system(LOOP);
    for (formula, expected) in [
        ("[true*.a.(!b)*.c]false", Fragment::Safety),
        ("nu X. [true]X && [c]false", Fragment::Safety),
        ("nu X(n: Nat = 0). val(n < 3) && [a]X(n + 1) && [!a]X(n)", Fragment::Safety),
        ("<true*.c>true", Fragment::Reachability),
        ("[true*]<true>true", Fragment::Invariant),
        ("[true*](<c>true => <b>true)", Fragment::Invariant),
        ("<true*>[true]false", Fragment::Attainability),
        ("nu X. <true>X", Fragment::Linear { refutes: false }),
        ("nu X. mu Y. (<b>X || <!b>Y)", Fragment::Linear { refutes: false }),
        ("mu X. [true]X", Fragment::Linear { refutes: true }),
        ("[true*]<true*.c>true", Fragment::Full),
    ] {
        let requirement = requirement(&lts, formula).expect(formula);
        assert_eq!(fragment(requirement.formula()), expected, "{formula}");
    }
}

#[test]
fn evidence_is_a_path_or_a_lasso() {
    let lts = system(LOOP);
    let outcome = decide(&lts, "[true*]<true>true");
    assert_eq!(outcome.decision, Decision::Violated);
    let evidence = outcome.evidence.expect("evidence");
    assert_eq!(evidence.shape(), Shape::Path(2));
    assert_eq!(evidence.path().iter().map(|edge| edge.label.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    let outcome = decide(&lts, "mu X. [true]X");
    assert_eq!(outcome.evidence.expect("evidence").shape(), Shape::Lasso { stem: 0, cycle: 2 });
}

#[test]
fn mistakes_have_places() {
    let lts = system(LOOP);
    for (formula, place, message) in [
        ("<aa>true", 1..3, "unknown action aa"),
        ("[a(1)]false", 1..2, "action a takes no data"),
        ("mu X. !X", 7..8, "X occurs under an odd number of negations"),
        ("nu X. (X => <a>X)", 7..8, "X occurs under an odd number of negations"),
        ("<a>val(n > 1)", 7..8, "unknown variable, constant or function n"),
        ("<a>Y", 3..4, "unknown variable, constant or function Y"),
        ("nu X(n: Nat = 0). <a>X", 21..22, "X takes 1 argument, not 0"),
        ("nu X(n: Nat = true). <a>X(n)", 14..18, "the first value of this parameter must have sort Nat"),
        ("delay", 0..5, "`delay` is not supported"),
        ("<a @ 1>true", 3..4, "`@` is not supported"),
        ("<a>true + <b>true", 8..9, "quantitative"),
        ("<a>", 3..3, "expected a formula"),
        ("[(a.b) && c]true", 1..6, "expected a single step"),
        ("<val(1 < 2) < 3>true", 12..13, "a comparison among actions needs `val`"),
    ] {
        let Err(all) = requirement(&lts, formula) else { panic!("{formula}: no mistake") };
        let found = all[0].span.as_ref().map(|span| span.range.clone());
        assert!(all[0].message.contains(message), "{formula}: {}", all[0].message);
        assert_eq!(found, Some(place), "{formula}: {}", all[0].message);
    }
}

#[test]
fn deep_formulas_are_refused_with_a_place() {
    let lts = system(LOOP);
    for (open, close) in [("(", ")"), ("!", ""), ("[a]", ""), ("mu X. ", ""), ("<a.", ">true"), ("[(", ")]")]
    {
        let formula = format!("{}{}{}", open.repeat(10_000), "true", close.repeat(10_000));
        let Err(all) = requirement(&lts, &formula) else { panic!("{open}: no mistake") };
        assert!(all[0].span.is_some(), "{open}: {}", all[0].message);
    }
    let deep = format!("{}true", "<a>[b]".repeat(300));
    assert!(requirement(&lts, &deep).is_ok());
}

#[test]
fn a_quantifier_that_nothing_bounds_is_refused_by_name() {
    let lts = system(LOOP);
    let formula = "forall number: Nat. [true*]<true*>(val(number > 3) || <b>true)";
    let requirement = requirement(&lts, formula).expect("well typed");
    let model = turnpike_lts::LtsModel::new("system", lts).expect("a system");
    let Err(turnpike_formula::Failure::Data(error)) =
        turnpike_formula::solve(&model, &requirement, &mut |_| false)
    else {
        panic!("it is decided")
    };
    assert!(error.message.starts_with("the values of number cannot be enumerated"), "{error}");
    assert_eq!(error.place, Some(7..13));
}
