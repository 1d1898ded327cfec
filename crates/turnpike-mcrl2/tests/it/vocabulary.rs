//! Impossible objectives are recognised, and possible ones are not.

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{Explorer, Model, Successors, Vocabulary, Word};

use crate::naive::trial::{Series, specification};

const SPECIFICATION: &str = "sort Way = struct up | down; \
    act send, get, pass: Nat # Way; hidden, stopped, silent, old, new; forbidden: Bool; unused: Pos; mixed; mixed: Nat; a, b; \
    proc P(n: Nat) = send(n, up) . hidden . stopped . P(n + 1) + forbidden(true) . P(n) + old . mixed(n) . P(n) + (a|b) . P(n); \
    Q = sum n: Nat, w: Way. get(n, w) . Q; \
    init hide({hidden}, block({stopped}, rename({old -> new}, allow({pass, hidden, stopped, old, mixed, a|b}, \
      comm({send|get -> pass}, P(0) || Q)))));";

fn model(text: &str, combinations: Option<usize>) -> Mcrl2Model {
    let options = Options { combinations, ..Options::default() };
    Mcrl2Model::new("test.mcrl2", text, &options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}")).0
}

fn kind(word: &Word) -> String {
    match word {
        Word::Known => "known".to_owned(),
        Word::Unknown { nearest, .. } => format!("unknown, {}", nearest.as_deref().unwrap_or("-")),
        Word::Hidden { name } => format!("hidden {name}"),
        Word::Blocked { name } => format!("blocked {name}"),
        Word::NotAllowed { name } => format!("not allowed {name}"),
        Word::Unused { name } => format!("unused {name}"),
        Word::WrongArity { name, arities, found } => format!("arity {name} {arities:?} {found}"),
        Word::WrongSort { name, position, sort, argument } => {
            format!("sort {name} {position} {sort} {argument}")
        }
        Word::BadArgument { name, position, argument, problem, help } => {
            format!("data {name} {position} {argument}: {problem}, {}", help.as_deref().unwrap_or("-"))
        }
        Word::AmbiguousArgument { name, readings, .. } => format!("ambiguous {name} {readings:?}"),
        Word::NeedsSuffix { label } => format!("suffix {label}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn actions_that_cannot_occur_have_a_reason() {
    for combinations in [None, Some(0)] {
        let model = model(SPECIFICATION, combinations);
        let vocabulary = model.vocabulary().expect("mCRL2 has a vocabulary");
        for (name, expected) in [
            ("pass", "known"),
            ("new", "known"),
            ("mixed", "known"),
            ("tau", "known"),
            ("pasd", "unknown, pass"),
            ("nowhere", "unknown, -"),
            ("hidden", "hidden hidden"),
            ("stopped", "blocked stopped"),
            ("send", "not allowed send"),
            ("forbidden", "not allowed forbidden"),
            ("old", "unused old"),
            ("unused", "unused unused"),
        ] {
            assert_eq!(kind(&vocabulary.action(name)), expected, "{name} {combinations:?}");
        }
        assert_eq!(kind(&vocabulary.argument("pass", 2)), "known");
        assert_eq!(kind(&vocabulary.argument("pass", 3)), "arity pass [2] 3");
    }
}

#[test]
fn labels_are_checked_with_their_data() {
    let model = model(SPECIFICATION, None);
    let vocabulary = model.vocabulary().expect("mCRL2 has a vocabulary");
    for (label, expected) in [
        ("pass(3, up)", "known"),
        // A value that never occurs is not an error.
        ("pass(3, down)", "known"),
        ("pass(123456789,up)", "known"),
        ("pass(*)", "known"),
        ("p*", "known"),
        ("a|b", "known"),
        ("mixed(2)", "known"),
        ("pass", "arity pass [2] 0"),
        ("pass(1)", "arity pass [2] 1"),
        ("pass(up, 3)", "sort pass 1 Nat up"),
        ("pass(3, true)", "sort pass 2 Way true"),
        ("pass(-1, up)", "sort pass 1 Nat -1"),
        ("pass(three, up)", "data pass 1 three: unknown variable, constant or function three, -"),
        ("pass(3, dwn)", "data pass 2 dwn: unknown variable, constant or function dwn, did you mean `down`?"),
        (
            "pass(3, dwn(1))",
            "data pass 2 dwn(1): unknown variable, constant or function dwn, did you mean `down`?",
        ),
        ("pass(n, up)", "data pass 1 n: unknown variable, constant or function n, -"),
        ("pass(_, up)", "data pass 1 _: unknown variable, constant or function _, -"),
        ("pass(1 +, up)", "data pass 1 1 +: expected an expression, found the end of the text, -"),
        ("pass(three, *)", "data pass 1 three: unknown variable, constant or function three, -"),
        ("pass(*, sideways)", "known"),
        ("pass()", "arity pass [2] 1"),
        ("mixed()", "data mixed 1 : an argument is missing, -"),
        ("C(3)", "unknown, a"),
        ("x*", "unknown, -"),
        ("hidden", "hidden hidden"),
        ("a", "not allowed a"),
        ("a|new", "not allowed a|new"),
        ("send(1, up)", "not allowed send"),
    ] {
        assert_eq!(kind(&vocabulary.label(label)), expected, "{label}");
    }
}

#[test]
fn patterns_are_spelt_as_labels_are_printed() {
    let text = "sort D = struct d1 | pr(first: Nat, second: Bool); E = struct e1; \
        map three: Nat; c: Pos -> D; c: Nat -> E; var p: Pos; k: Nat; eqn three = 3; c(p) = d1; c(k) = e1; \
        act a: D; b: List(Nat); f: Nat -> Bool; r: Real; s: Set(Nat); i: Int; n: Nat; n: Bool; x, y; \
            two: Nat # Nat; t: Nat; v: D; v: E; \
        init a(d1) . b([1, 2]) . f(lambda k: Nat. k > 3) . r(1/2) . s({1, 2}) . i(-3) . n(0) . n(true) \
            . (x|y) . two(1, 2) . (n(1)|n(2)) . t(1) @ 2 . v(d1) . v(e1);";
    let model = model(text, None);
    for (pattern, expected) in [
        ("n(1 + 2)", Some("n(3)")),
        ("n(three)", Some("n(3)")),
        ("n(!false)", Some("n(true)")),
        ("n(3)", None),
        ("n( 3 )", None),
        ("s({2,1})", Some("s({1, 2})")),
        ("s({2,1,1})", Some("s({1, 2})")),
        ("s({1,2})", None),
        ("r(2/4)", Some("r(1 / 2)")),
        ("i(0 - 3)", Some("i(-3)")),
        ("b(1 |> [2])", Some("b([1, 2])")),
        ("a(pr(1 + 1, true || false))", Some("a(pr(2, true))")),
        ("f(lambda z: Nat. z > 3)", Some("f(lambda k: Nat. 3 < k)")),
        ("y|x", Some("x|y")),
        ("n(2)|n(1)", Some("n(1)|n(2)")),
        ("two(2 div 2, *)", Some("two(1, *)")),
        ("two(*, 1 + 1)", Some("two(*, 2)")),
        ("two(*)", None),
        ("n(0?)", None),
        ("t(2 div 2) @ 4/2", Some("t(1) @ 2")),
        ("t(2 div 2) @ *", Some("t(1) @ *")),
    ] {
        assert_eq!(kind(&model.label(pattern)), "known", "{pattern}");
        assert_eq!(model.normal_form(pattern).as_deref(), expected, "{pattern}");
    }
    assert_eq!(kind(&model.label("n(03)")), "data n 1 03: a number cannot start with a zero, write `3`");
    let problem = ". cannot be applied to the sorts (Nat, Pos)";
    assert_eq!(kind(&model.label("r(0.5)")), format!("data r 1 0.5: {problem}, write the fraction `1/2`"));
    assert_eq!(kind(&model.label("t(1)")), "suffix t(1)");
    assert_eq!(kind(&model.label("v(c(1))")), "ambiguous v [\"d1\", \"e1\"]");
    assert_eq!(kind(&model.label("v(e1)")), "known");
}

#[test]
fn actions_that_are_not_hidden_are_known() {
    let options = Options { unhide: vec!["hidden".to_owned()], ..Options::default() };
    let (model, _) = Mcrl2Model::new("test.mcrl2", SPECIFICATION, &options).expect("a model");
    assert_eq!(model.action("hidden"), Word::Known);
}

#[test]
fn data_that_never_fits_leaves_no_action() {
    let text = "act s, r, c: Nat; init allow({c}, comm({s|r -> c}, (s(1) . delta) || (r(2) . delta)));";
    assert_eq!(kind(&model(text, None).action("c")), "blocked c");
    // The combinations are unknown if they are not created in advance.
    assert_eq!(kind(&model(text, Some(0)).action("c")), "known");
}

/// The labels of the first states, and the number of these states.
fn accept_all(model: &Mcrl2Model, text: &str) -> usize {
    let vocabulary = model.vocabulary().expect("mCRL2 has a vocabulary");
    let mut explorer = model.explorer();
    let explorer: &mut dyn Explorer = &mut *explorer;
    let mut state = Vec::new();
    if explorer.initial(&mut state).is_err() {
        return 0;
    }
    let (mut queue, mut at, mut seen) = (vec![state.clone()], 0, std::collections::HashSet::from([state]));
    let (mut successors, mut labels) =
        (Successors::new(model.info().width), std::collections::BTreeSet::new());
    while at < queue.len() && at < 40 {
        let state = queue[at].clone();
        at += 1;
        if explorer.successors(&state, &mut successors).is_err() {
            continue;
        }
        for (label, target) in successors.iter() {
            labels.insert(label.0);
            if seen.insert(target.to_vec()) {
                queue.push(target.to_vec());
            }
        }
    }
    for &id in &labels {
        let label = explorer.label(turnpike_model::LabelId(id));
        assert_eq!(vocabulary.label(&label.text), Word::Known, "{}: {text}", label.text);
        assert_eq!(vocabulary.normal_form(&label.text), None, "{}: {text}", label.text);
        for action in &label.actions {
            assert_eq!(vocabulary.action(&action.name), Word::Known, "{}: {text}", action.name);
            for position in 1..=action.arguments.len() {
                assert_eq!(
                    vocabulary.argument(&action.name, position),
                    Word::Known,
                    "{}: {text}",
                    action.name
                );
            }
        }
    }
    labels.len()
}

#[test]
fn every_label_of_a_random_specification_is_accepted() {
    let mut labels = 0;
    for number in 0..1_200 {
        let (random, mut options) = specification(Series { seed: 20_261_116, keep_dead: false }, number);
        let text = random.text();
        options.combinations = if number % 2 == 0 { None } else { Some(0) };
        if let Ok((model, _)) = Mcrl2Model::new("random.mcrl2", &text, &options) {
            labels += accept_all(&model, &text);
        }
    }
    assert!(labels > 2_000, "{labels}");
}

#[test]
fn labels_with_time_and_chance_are_accepted() {
    for text in [
        "act a: Nat; proc P(n: Nat) = a(n) @ (n + 1) . P(n + 1); init P(0);",
        "act a: Nat; proc P(n: Nat) = a(n) . dist k: Nat[if(k < 3, 1/3, 0)] . P(k); init dist b: Bool[1/2]. P(if(b, 0, 1));",
        "act a: List(Nat) # Set(Nat) # (Nat -> Nat); init a([1, 2], {3}, lambda n: Nat. n + 1) . a([], {}, lambda n: Nat. 2);",
        "act a: Real; a: Bool; b: Int; init a(1/3) . b(-4) . a(true) . b(2);",
    ] {
        assert!(accept_all(&model(text, None), text) > 1, "{text}");
    }
}
