//! Explanations of deadlocks: the offer of each component, and its obstacle.

use std::collections::HashSet;
use std::path::Path;

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{Model, Obstacle, StuckComponent, Successors};

use crate::public_models;

fn model(text: &str, combinations: Option<usize>) -> Mcrl2Model {
    let options = Options { combinations, ..Options::default() };
    Mcrl2Model::new("test.mcrl2", text, &options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}")).0
}

/// The explanations of the first deadlocks, in breadth-first order.
fn deadlocks(model: &Mcrl2Model, most_states: usize, most: usize) -> Vec<Vec<StuckComponent>> {
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut known = HashSet::from([state.clone()]);
    let (mut queue, mut at, mut found) = (vec![state], 0, Vec::new());
    let mut successors = Successors::new(model.info().width);
    while at < queue.len() && at < most_states && found.len() < most {
        let state = queue[at].clone();
        at += 1;
        explorer.successors(&state, &mut successors).expect("successors");
        if explorer.is_deadlock(&state, &successors) {
            let obstacles = explorer.obstacles().expect("mCRL2 explains deadlocks");
            found.push(obstacles.stuck_components(&state, None).expect("an explanation"));
            assert_eq!(obstacles.stuck_components(&state, Some("true")), Ok(Vec::new()));
        }
        for (_, target) in successors.iter() {
            if known.insert(target.to_vec()) {
                queue.push(target.to_vec());
            }
        }
    }
    found
}

/// A line for each offer in the first deadlock.
fn explain(text: &str) -> Vec<String> {
    let lines = |combinations| {
        let found = deadlocks(&model(text, combinations), 100, 1);
        let first = found.first().unwrap_or_else(|| panic!("no deadlock: {text}"));
        let mut lines = Vec::new();
        for one in first {
            if one.offers.is_empty() {
                lines.push(format!("{} at {}", one.component, one.position));
            }
            for offer in &one.offers {
                lines.push(format!(
                    "{} at {}: {} {}",
                    one.component,
                    one.position,
                    offer.action,
                    reason(&offer.obstacles[0])
                ));
            }
        }
        lines
    };
    let all = lines(None);
    assert_eq!(lines(Some(0)), all, "explanations do not depend on when summands are made");
    all
}

fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Condition { condition, actual } => {
            format!("if {condition}, is {}", actual.as_deref().unwrap_or("-"))
        }
        Obstacle::Partner { action, elsewhere, instead } => {
            let instead: Vec<String> = instead
                .iter()
                .map(|one| {
                    format!(
                        "{} {}{}",
                        one.component,
                        one.action,
                        one.reason.as_ref().map_or(String::new(), |why| format!(" [{why}]"))
                    )
                })
                .collect();
            format!("needs {action}, elsewhere {elsewhere:?}, instead {instead:?}")
        }
        Obstacle::Disallowed { by } => format!("ruled out by {by}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_partner_with_other_data() {
    let text = "act s, r, c: Nat; proc S(n: Nat) = s(n + 1) . S(n + 1); R = r(2) . R; \
        init allow({c}, comm({s|r -> c}, S(2) || R));";
    assert_eq!(
        explain(text),
        [
            "S at S with n = 2: s(3) needs r(3), elsewhere [], instead [\"R r(2)\"]",
            "R at R: r(2) needs s(2), elsewhere [], instead [\"S s(3)\"]",
        ]
    );
}

#[test]
fn a_partner_in_another_position() {
    let text = "act s, r, c; w; proc S = s . S; R = w . r . R; init allow({c}, comm({s|r -> c}, S || R));";
    assert_eq!(
        explain(text),
        ["S at S: s needs r, elsewhere [\"R\"], instead []", "R at R: w ruled out by allow"]
    );
}

#[test]
fn a_condition_of_its_own() {
    let text =
        "act a, b: Nat; proc P(n: Nat) = (n < 2) -> a(n) . P(n + 1) + (n > 5) -> b(n) . P(n); init P(0);";
    assert_eq!(
        explain(text),
        ["P at P with n = 2: a(2) if n < 2, is n = 2", "P at P with n = 2: b(2) if n > 5, is n = 2"]
    );
    // A single condition is decided in advance, so the process disappears.
    let text = "act a: Nat; proc P(n: Nat) = (n < 2) -> a(n) . P(n + 1); init P(0);";
    assert_eq!(explain(text), ["P at delta"]);
}

#[test]
fn a_partner_whose_condition_does_not_hold() {
    let text = "act s, r, c: Nat; proc S(n: Nat) = s(n) . S(n); R(k: Nat) = sum m: Nat. (k > 0) -> r(m) . R(Int2Nat(k - 1)); \
        init allow({c}, comm({s|r -> c}, S(7) || R(1)));";
    assert_eq!(
        explain(text),
        [
            "S at S: s(7) needs r(7), elsewhere [], instead [\"R r(m) [its condition k > 0 does not hold]\"]",
            "R at R with k = 0: r(m) if k > 0, is k = 0",
        ]
    );
}

#[test]
fn partners_that_fit_one_by_one_but_not_together() {
    let of = |sender: &str, receiver: &str| {
        let text = format!(
            "act s, r, c: Nat; proc S = {sender} . S; R = {receiver} . R; \
             init allow({{c}}, comm({{s|r -> c}}, S || R));"
        );
        explain(&text)
    };
    assert_eq!(
        of("sum x: Nat. (x > 3) -> s(x)", "sum y: Nat. (y < 2) -> r(y)"),
        [
            "S at S: s(x) needs r(x), elsewhere [], instead [\"R r(y) [no value satisfies both y < 2 and x > 3]\"]",
            "R at R: r(y) needs s(y), elsewhere [], instead [\"S s(x) [no value satisfies both x > 3 and y < 2]\"]",
        ]
    );
    assert_eq!(
        of("s(7)", "sum y: Nat. (y < 2) -> r(y)"),
        [
            "S at S: s(7) needs r(7), elsewhere [], instead [\"R r(y) [its condition y < 2 does not hold for s(7)]\"]",
            "R at R: r(y) needs s(y), elsewhere [], instead [\"S s(7) [y < 2 does not hold for it]\"]",
        ]
    );
}

#[test]
fn blocked_and_nothing_left() {
    let text = "act a, b; proc P = a . P; Q = delta; init block({a}, P || Q);";
    assert_eq!(explain(text), ["P at P: a ruled out by block", "Q at delta"]);
}

#[test]
fn several_partners_and_alternatives() {
    let text = "act a, b, c, d, e; proc P = a . P; Q = b . Q; \
        init allow({e}, comm({a|b|c -> e}, P || Q));";
    assert_eq!(
        explain(text),
        [
            "P at P: a needs b|c, elsewhere [], instead [\"Q b [no other component offers c as well]\"]",
            "Q at Q: b needs a|c, elsewhere [], instead [\"P a [no other component offers c as well]\"]",
        ]
    );
    let text = "act a, b, c; proc P = a . P; init allow({a|b, a|c}, P || P);";
    let lines = explain(text);
    assert_eq!(lines[0], "P1 at P: a needs b or c, elsewhere [], instead []");
}

#[test]
fn multi_actions_without_communication_and_renaming() {
    let text =
        "act a, b, x: Nat; proc P = a(1) . P; Q = b(2) . Q; init allow({a|x}, P || rename({b -> a}, Q));";
    let lines = explain(text);
    assert_eq!(lines[0], "P at P: a(1) needs x, elsewhere [], instead []");
    let text = "act a, b, c: Nat; proc P = a(1) . P; Q = b(2) . Q; init allow({c}, comm({a|a -> c}, P || rename({b -> a}, Q)));";
    let lines = explain(text);
    assert_eq!(lines[0], "P at P: a(1) needs a(1), elsewhere [], instead [\"Q b(2)\"]");
}

#[test]
fn termination_waits_for_all() {
    let text = "act a, b; proc P = a; Q = b . Q; init allow({a}, P || Q);";
    let found = explain(text);
    assert_eq!(
        found,
        [
            "P at terminated: Terminate needs Terminate, elsewhere [], instead [\"Q b [it never terminates]\"]",
            "Q at Q: b ruled out by allow"
        ]
    );
}

#[test]
fn time_that_has_passed() {
    let text = "act a: Nat; proc P(n: Nat) = a(n) @ 3 . P(n + 1); init P(0);";
    assert_eq!(explain(text), ["P at P with n = 1: a(1) if now < 3, is now = 3"]);
}

#[test]
fn deadlocks_of_bundled_models_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut explained = 0;
    for path in public_models::below(&folder) {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        for stuck in deadlocks(&model(&text, None), 1_500, 3) {
            explained += 1;
            assert!(!stuck.is_empty(), "{}", path.display());
            for offer in stuck.iter().flat_map(|one| &one.offers) {
                assert!(!offer.obstacles.is_empty(), "{}: {offer:?}", path.display());
                let unexplained = |one: &Obstacle| matches!(one, Obstacle::Condition { condition, .. } if condition == "true");
                assert!(!offer.obstacles.iter().any(unexplained), "{}: {offer:?}", path.display());
            }
        }
    }
    assert!(explained > 3, "{explained}");
}

#[test]
fn philosophers_who_all_hold_one_fork() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/philosophers.mcrl2");
    let text = std::fs::read_to_string(path).expect("a readable model").replace("N = 5", "N = 2");
    let found = deadlocks(&model(&text, None), 500, 1);
    let first = &found[0][0];
    assert!(first.component.starts_with("Philosopher("), "{first:?}");
    let Obstacle::Partner { elsewhere, .. } = &first.offers[0].obstacles[0] else { panic!("{first:?}") };
    assert!(elsewhere.iter().any(|one| one.starts_with("Fork(")), "{first:?}");
}
