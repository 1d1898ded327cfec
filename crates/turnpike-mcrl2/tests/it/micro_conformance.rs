//! Small specifications that each test a single feature, from text to transition system. The
//! expected results are those of the reference tools.

use turnpike_lts::{Comparison, DEFAULT_LIMIT, Equivalence, compare};
use turnpike_lts::{Lts, Transition};
use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{LabelId, Model, Successors};

/// The states within `most` expansions, in breadth-first order. An error ends the exploration and
/// is returned with the states so far.
fn explore(text: &str, most: usize) -> (Lts, Option<String>) {
    let (model, _) = Mcrl2Model::new("test.mcrl2", text, &Options::default())
        .unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut states = vec![state];
    let mut lts = Lts::default();
    let mut successors = Successors::new(states[0].len());
    let mut failure = None;
    let mut at = 0;
    while at < states.len() && at < most {
        if let Err(error) = explorer.successors(&states[at].clone(), &mut successors) {
            failure = Some(error.message);
            break;
        }
        for (label, target) in successors.iter() {
            let to = states.iter().position(|known| known == target).unwrap_or_else(|| {
                states.push(target.to_vec());
                states.len() - 1
            });
            let label = label_of(&mut lts, &explorer.label(label).text);
            lts.transitions.push(Transition { from: at as u32, label, to: to as u32 });
        }
        at += 1;
    }
    lts.states = states.len() as u32;
    (lts, failure)
}

fn label_of(lts: &mut Lts, text: &str) -> LabelId {
    let at = lts.labels.iter().position(|known| known == text).unwrap_or_else(|| {
        lts.labels.push(text.to_owned());
        lts.labels.len() - 1
    });
    LabelId(at as u32)
}

/// Parses a system with lines `0 --label-> 1`.
fn system(lines: &[&str]) -> Lts {
    let mut lts = Lts { states: 1, ..Lts::default() };
    for line in lines {
        let (from, rest) = line.split_once(" --").expect("a source");
        let (label, to) = rest.rsplit_once("-> ").expect("a target");
        let [from, to] = [from, to].map(|number| number.trim().parse::<u32>().expect("a number"));
        let label = label_of(&mut lts, label);
        lts.states = lts.states.max(from + 1).max(to + 1);
        lts.transitions.push(Transition { from, label, to });
    }
    lts
}

/// Asserts that the specification is strongly bisimilar to this system.
#[track_caller]
fn does(text: &str, lines: &[&str]) {
    let (found, failure) = explore(text, 1000);
    assert_eq!(failure, None, "{text}");
    let comparison = compare(&found, &system(lines), Equivalence::Strong, DEFAULT_LIMIT);
    if let Comparison::Different(difference) = comparison.expect("decidable") {
        let found: Vec<String> = found
            .transitions
            .iter()
            .map(|one| format!("{} --{}-> {}", one.from, found.label(one.label), one.to))
            .collect();
        panic!("{text}\n(left is what was found)\n{difference}\n{}", found.join("\n"));
    }
}

/// Asserts that this sequence of labels is the whole behaviour.
#[track_caller]
fn runs(text: &str, labels: &[&str]) {
    let lines: Vec<String> =
        labels.iter().enumerate().map(|(at, label)| format!("{at} --{label}-> {}", at + 1)).collect();
    does(text, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Asserts that the behaviour is a choice of these labels.
#[track_caller]
fn offers(text: &str, labels: &[&str]) {
    let lines: Vec<String> = labels.iter().map(|label| format!("0 --{label}-> 1")).collect();
    does(text, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Whether there is a path with these labels.
fn follows(lts: &Lts, labels: &[&str]) -> bool {
    let mut states = vec![lts.initial];
    for label in labels {
        states = lts
            .transitions
            .iter()
            .filter(|one| states.contains(&one.from) && lts.label(one.label) == *label)
            .map(|one| one.to)
            .collect();
    }
    !states.is_empty()
}

#[test]
fn parallel_composition() {
    does(
        "act a,b; init a||b;",
        &["0 --a-> 1", "0 --b-> 2", "0 --a|b-> 3", "1 --b-> 3", "2 --a-> 3", "3 --Terminate-> 4"],
    );
    does(
        "act a,b; init allow({a,b}, a||b);",
        &["0 --a-> 1", "0 --b-> 2", "1 --b-> 3", "2 --a-> 3", "3 --Terminate-> 4"],
    );
    does("act a,b; init a.delta || b;", &["0 --a-> 1", "0 --b-> 2", "0 --a|b-> 3", "1 --b-> 3", "2 --a-> 3"]);
    does(
        "act a; init tau.delta || a.delta;",
        &["0 --tau-> 1", "0 --a-> 2", "0 --a-> 3", "1 --a-> 3", "2 --tau-> 3"],
    );
}

#[test]
fn communication() {
    does(
        "act a,c:Nat; init comm({a|a->c}, a(1)||a(1)||a(1));",
        &[
            "0 --a(1)-> 1",
            "0 --c(1)-> 2",
            "0 --a(1)|c(1)-> 3",
            "1 --a(1)-> 2",
            "1 --c(1)-> 3",
            "2 --a(1)-> 3",
            "3 --Terminate-> 4",
        ],
    );
    does(
        "act a,b,c:Nat; init allow({c,a}, comm({a|a|b->c}, a(1)||a(1)||b(1)||a(1)));",
        &[
            "0 --a(1)-> 1",
            "0 --c(1)-> 4",
            "1 --a(1)-> 2",
            "1 --c(1)-> 5",
            "2 --a(1)-> 3",
            "4 --a(1)-> 5",
            "5 --Terminate-> 6",
        ],
    );
    runs(
        "act r,s,c:Real; init allow({c}, comm({r|s->c}, (sum x:Real. r(x).delta) || s(3/2).delta));",
        &["c(3 / 2)"],
    );
}

#[test]
fn sums() {
    offers("act a:Nat; init sum n:Nat. (n<4) -> a(n).delta;", &["a(0)", "a(1)", "a(2)", "a(3)"]);
    offers("act a:Int; init sum n:Int. (n<2 && -3<n) -> a(n).delta;", &["a(-2)", "a(-1)", "a(0)", "a(1)"]);
    offers(
        "act a:List(Bool); init sum l:List(Bool). (#l<=2) -> a(l).delta;",
        &[
            "a([])",
            "a([true])",
            "a([false])",
            "a([true, true])",
            "a([true, false])",
            "a([false, true])",
            "a([false, false])",
        ],
    );
    offers(
        "act a:Set(Bool); init sum s:Set(Bool). a(s).delta;",
        &["a({})", "a({true})", "a({false})", "a({false, true})"],
    );
    // The value does not matter: there is a single transition for all values, and the sort may be
    // infinite.
    offers("act a; init sum n:Nat. a.delta;", &["a"]);
    offers("act a; init sum n:Nat. (n > 3 && n < 5) -> a.delta;", &["a"]);
}

#[test]
fn rewriting() {
    runs("act a:Nat; map f:Nat->Nat; var n:Nat; eqn f(0)=2; f(n)=1; init a(f(0)).delta;", &["a(1)"]);
    runs(
        "act a:Nat; map f:Nat#Nat->Nat; var n,m:Nat; eqn f(n,n)=2; n!=m -> f(n,m)=1; init a(f(1+1,2)).a(f(5,0)).delta;",
        &["a(2)", "a(1)"],
    );
    runs(
        "act a:Nat; map ite:Bool#Nat#Nat->Nat; f:Nat->Nat; var x,y,n:Nat; eqn ite(true,x,y)=x; ite(false,x,y)=y; \
         f(n)=ite(n==0,0,f(Int2Nat(n-1))); init a(f(5)).delta;",
        &["a(0)"],
    );
}

#[test]
fn stuck_terms_are_values_but_no_conditions() {
    let (lts, failure) = explore("act a:Nat; proc P(l:List(Nat)) = a(head(l)).P(tail(l)); init P([1]);", 3);
    assert_eq!(failure, None);
    assert!(follows(&lts, &["a(1)", "a(head([]))", "a(head(tail([])))"]));
    let (lts, failure) = explore(
        "act a:Nat;\nproc P(l:List(Nat)) =\n  (head(l)>0) -> a(head(l)).P(tail(l));\ninit P([1]);",
        10,
    );
    assert!(follows(&lts, &["a(1)"]));
    let failure = failure.expect("an error");
    assert!(failure.contains("does not rewrite to true or false"), "{failure}");
    assert!(failure.contains("head([])"), "{failure}");
}

#[test]
fn data() {
    runs(
        "act a:Int; init a(-7 div 2).a(-7 mod 3).a(round(5/2)).a(floor(-7/2)).delta;",
        &["a(-4)", "a(2)", "a(3)", "a(-4)"],
    );
    runs("act a:Real; init a(1/3+1/6).a(-1/3).a(1/0).delta;", &["a(1 / 2)", "a(-1 / 3)", "a(1 / 0)"]);
    runs(
        "sort S=struct A|B(x:Nat)|C(y:Nat,z:Bool); act a:Bool; \
         init a(A<B(0)).a(B(100)<C(0,false)).a(C(1,true)<C(1,false)).delta;",
        &["a(true)", "a(true)", "a(false)"],
    );
    runs(
        "act a:Bool; init a({1}<{2}).a({1}<={1,2}).a([2]<[1,5]).a([]<[1]).a(false<true).delta;",
        &["a(false)", "a(true)", "a(false)", "a(true)", "a(true)"],
    );
    runs("sort D; cons d1,d2:D; act a:Bool; init a(d1==d2).a(d1==d1).delta;", &["a(d1 == d2)", "a(true)"]);
    runs("act a:Bag(Nat); init a({1:2,3:0,1:1}).a(Set2Bag({1,2})).delta;", &["a({1: 3})", "a({1: 1, 2: 1})"]);
    runs(
        "act a:Bool; init a(exists n:Nat. n<3 && n>1).a(forall n:Nat. n>=0).a((lambda x:Nat.x)==(lambda y:Nat.y)).delta;",
        &["a(true)", "a(true)", "a(true)"],
    );
    runs("act a:Nat; a:Bool; init a(1).a(true).delta;", &["a(1)", "a(true)"]);
    runs("act a:Nat; b:Bool; glob x:Nat; glob y:Bool; init a(x).b(y).delta;", &["a(0)", "b(false)"]);
}

#[test]
fn functions_as_parameters() {
    let (lts, failure) = explore(
        "act a:Nat->Nat; proc P(f:Nat->Nat) = a(f).P(f[1->2]) + a(f).P(f[2->3]) + a(f).P(f[1->0]) + a(f).P(f[2->0]); \
         init P(lambda x:Nat.0);",
        100,
    );
    assert_eq!((failure, lts.states), (None, 4));
}

#[test]
fn process_calls() {
    does(
        "act a,b:Nat; proc P(n:Nat) = b(n).(sum n:Nat.(n==7||n==8) -> a(n).P()); init P(1);",
        &["0 --b(1)-> 1", "1 --a(7)-> 2", "1 --a(8)-> 3", "2 --b(7)-> 1", "3 --b(8)-> 1"],
    );
    does("act a:Nat; proc P(n,m:Nat) = a(n).P(m=n,n=m); init P(1,2);", &["0 --a(1)-> 1", "1 --a(2)-> 0"]);
    let (lts, _) = explore("act a:Nat; proc P(n,m:Nat) = a(n).P(m=n,n=m); init P(1,2);", 100);
    assert_eq!(lts.states, 2);
    runs("act a,b; proc P(n:Nat) = (n<3) -> a.P(n+1) <> b; init P(0).a.delta;", &["a", "a", "a", "b", "a"]);
    let (lts, failure) = explore("act a,b,c; proc P = a.P.b + c; init P;", 60);
    assert_eq!(failure, None);
    assert!(follows(&lts, &["a", "a", "c", "b", "b", "Terminate"]));
    assert!(!follows(&lts, &["a", "c", "b", "b"]));
    assert!(!follows(&lts, &["a", "a", "c", "b", "Terminate"]));
}

#[test]
fn operators_on_actions() {
    runs("act a,b,c; init rename({a->b,b->a}, a.b.c.delta);", &["b", "a", "c"]);
    runs("act a,b,c; init hide({a}, (a|b).a.c.delta);", &["b", "tau", "c"]);
    runs("act a,b; init block({b}, (a|b).delta + a.delta);", &["a"]);
}

#[test]
fn chance() {
    does(
        "act throw:Bool; a; init a.dist b:Bool[if(b,1/3,2/3)].throw(b).delta;",
        &["0 --a [1/3]-> 1", "0 --a [2/3]-> 2", "1 --throw(true)-> 3", "2 --throw(false)-> 3"],
    );
    does(
        "act throw:Bool; init dist b:Bool[if(b,1/3,2/3)].throw(b).delta;",
        &["0 --dist [1/3]-> 1", "0 --dist [2/3]-> 2", "1 --throw(true)-> 3", "2 --throw(false)-> 3"],
    );
    does(
        "act throw:Bool#Bool; a; init a.dist b,c:Bool[if(c,1/3,2/3)*if(b==c,1,0)].throw(b,c).delta;",
        &["0 --a [1/3]-> 1", "0 --a [2/3]-> 2", "1 --throw(true, true)-> 3", "2 --throw(false, false)-> 3"],
    );
    let stuck = "act a; map f:Bool->Real; eqn f(true)=1/2; init a.dist b,c:Bool[if(b,1/3,2/3)*f(c)].a.delta;";
    let failure = explore(stuck, 10).1.expect("an error");
    assert!(failure.contains("culprit: f(false)"), "{failure}");
    let (_, failure) = explore("act a; throw:Bool; init a.dist b:Bool[1/3].throw(b).delta;", 10);
    let failure = failure.expect("an error");
    assert!(failure.contains("probabilities [1/3, 1/3] do not add up to one"), "{failure}");
}

#[test]
fn time() {
    runs("act a,b,c; init a@1.b@3.c@2.delta;", &["a @ 1", "b @ 3"]);
}

#[test]
fn refusals() {
    for text in [
        "act a:Nat; proc P(n:Nat)=a(n).P(n-1); init P(3);",
        "act a:Nat; a:Int; init a(1);",
        "act a,b,c,d; init comm({a|b->c,a|d->b}, a||b||d);",
        "act a; proc P=a.(P||P); init P;",
        "act a; proc P=P+a; init P;",
    ] {
        let refusal = Mcrl2Model::new("test.mcrl2", text, &Options::default()).expect_err(text);
        assert!(!refusal.diagnostics.is_empty(), "{text}");
    }
}

#[test]
fn termination_is_not_a_deadlock() {
    for (text, deadlocks) in [
        ("act a; init a;", 0),
        ("act a; init a.delta;", 1),
        // Both end states have no transitions, but one is not a deadlock.
        ("act a,b; init a.delta + b;", 1),
        ("act a,b; init a.delta || b;", 1),
        ("act a,b; init (a + b.delta) || (a + b.delta);", 1),
    ] {
        let (model, _) = Mcrl2Model::new("test.mcrl2", text, &Options::default()).expect(text);
        let mut explorer = model.explorer();
        let mut state = Vec::new();
        explorer.initial(&mut state).expect(text);
        let mut states = vec![state];
        let mut successors = Successors::new(states[0].len());
        let (mut at, mut found) = (0, 0);
        while at < states.len() {
            explorer.successors(&states[at].clone(), &mut successors).expect(text);
            found += usize::from(explorer.is_deadlock(&states[at].clone(), &successors));
            for (_, target) in successors.iter() {
                if !states.iter().any(|known| known == target) {
                    states.push(target.to_vec());
                }
            }
            at += 1;
        }
        assert_eq!(found > 0, deadlocks > 0, "{text}");
    }
}

#[test]
fn hidden_names_may_communicate_below_allow() {
    let both = &["0 --tau-> 0", "0 --d-> 0"];
    let specification = |init: &str| format!("act b,c,d,e; proc B=b.B; C=c.C; D=d.D; init {init};");
    does(&specification("allow({d}, hide({b}, comm({b|c->d}, B||C)))"), both);
    does(&specification("allow({d}, hide({c}, comm({b|c->d}, B||C)))"), both);
    does(&specification("allow({d}, rename({e->d}, hide({b}, comm({b|c->e}, B||C))))"), both);
    does(&specification("rename({e->d}, allow({e}, hide({b}, comm({b|c->e}, B||C))))"), both);
    does(&specification("allow({d}, hide({b}, block({c}, comm({b|c->d}, B||C))))"), both);
    does(&specification("allow({d}, hide({b,c}, comm({b|c->d}, B||C)))"), both);
    // The result of communication is hidden, but its operands are not.
    does(
        &specification("allow({b,c}, hide({d}, comm({b|c->d}, B||C)))"),
        &["0 --tau-> 0", "0 --b-> 0", "0 --c-> 0"],
    );
    // Hidden inside and outside another communication.
    does(
        &specification("allow({e}, hide({b}, comm({b|c->e}, hide({d}, B||C||D))))"),
        &["0 --tau-> 0", "0 --e-> 0"],
    );
}

#[test]
fn choices_are_made_once() {
    let loops = &["0 --dist [1/2]-> 1", "1 --a [1/2]-> 1"];
    does("act a; proc P = dist b: Bool[1/2] . a . P; init P;", loops);
    does("act a; proc P = a.P; init dist b:Bool[1/2].P;", &["0 --dist [1/2]-> 1", "1 --a-> 1"]);
    does("act a; proc P = (true -> delta <> (dist x:Bool[1/2].a)).P; init P;", &[]);
    does("act a; proc P = (true -> (dist x:Bool[1/2].a) <> delta).P; init P;", loops);
    does("act a; init dist b:Bool[1/2].a;", &["0 --dist [1/2]-> 1", "1 --a-> 2", "2 --Terminate-> 3"]);
    // Each component makes a choice, whose outcome is not used.
    does(
        "act a,b; proc P = dist x:Bool[1/2].a.P; Q = dist y:Bool[1/2].b.Q; init allow({a,b},P||Q);",
        &["0 --dist [1/4]-> 1", "1 --a [1/2]-> 1", "1 --b [1/2]-> 1"],
    );
}

/// The probabilities of all steps of the first `most` states add up to integers.
fn probabilities_add_up(text: &str, most: usize) -> Vec<usize> {
    let (lts, failure) = explore(text, most);
    assert_eq!(failure, None, "{text}");
    let mut counts = vec![0; lts.states as usize];
    let mut totals = vec![0.0; lts.states as usize];
    for one in &lts.transitions {
        let label = lts.label(one.label);
        let chance = label.rsplit_once('[').map(|(_, rest)| rest.trim_end_matches(']'));
        let (up, down) = chance.and_then(|chance| chance.split_once('/')).unwrap_or(("1", "1"));
        counts[one.from as usize] += 1;
        totals[one.from as usize] +=
            up.parse::<f64>().expect("a number") / down.parse::<f64>().expect("a number");
    }
    assert!(totals.iter().all(|total: &f64| (total - total.round()).abs() < 1e-9), "{text}: {totals:?}");
    counts
}

#[test]
fn outcomes_that_look_alike_all_count() {
    // Neither the values of the sum nor the outcomes of the choice matter.
    let alike = "act a; b: Bool; proc P = sum n:Nat,m:Bool. (n < 3) -> b(m) . dist x:Bool[1/2].P; init P;";
    assert_eq!(probabilities_add_up(alike, 10), [4]);
}

#[test]
fn the_same_choice_twice_draws_twice() {
    let quarters = &[
        "0 --dist [1/4]-> 1",
        "0 --dist [1/4]-> 2",
        "0 --dist [1/4]-> 3",
        "1 --a(true)-> 4",
        "2 --a(true)-> 4",
        "2 --a(false)-> 4",
        "3 --a(false)-> 4",
    ];
    let once = "act a: Bool; proc P = dist x:Bool[1/2].a(x).delta;";
    does(&format!("{once} Q = P + P; init Q;"), quarters);
    does(&format!("{once} init P + P;"), quarters);
    does(&format!("{once} Q(n: Nat) = (n > 0) -> P <> delta; init Q(1) + Q(2);"), quarters);
    let paired = &[
        "0 --dist [1/4]-> 1",
        "0 --dist [1/4]-> 2",
        "0 --dist [1/4]-> 3",
        "0 --dist [1/4]-> 4",
        "1 --a(true, true)-> 5",
        "1 --a(false, true)-> 5",
        "2 --a(true, true)-> 5",
        "2 --a(false, false)-> 5",
        "3 --a(true, false)-> 5",
        "3 --a(false, true)-> 5",
        "4 --a(true, false)-> 5",
        "4 --a(false, false)-> 5",
    ];
    does("act a: Bool#Bool; init sum b:Bool. dist x:Bool[1/2]. a(b,x) . delta;", paired);
    does(
        "act a: Bool#Bool; proc P(b: Bool) = dist x:Bool[1/2]. a(b,x) . delta; init sum b:Bool. P(b);",
        paired,
    );
    // Recursion through such a sum terminates.
    let around = "act a: Bool#Bool; proc P = sum b:Bool. dist x:Bool[1/2]. a(b,x) . P; init P;";
    assert_eq!(probabilities_add_up(around, 20), [4, 8, 8, 8, 8]);
    let deeper = "act a: Bool; proc P(n: Nat) = a(n > 1) . (Q(n) + Q((n + 1) mod 3)); \
                  Q(n: Nat) = dist x:Bool[1/2]. a(x) . P((n + 1) mod 3); init P(0);";
    assert!(probabilities_add_up(deeper, 100).len() > 5);
}

#[test]
fn a_repeated_choice_preserves_its_last_outcome() {
    does(
        "act a; u: Bool; proc P = dist x: Bool[1/2]. a . (u(x).delta + P); init P;",
        &[
            "0 --dist [1/2]-> 1",
            "0 --dist [1/2]-> 2",
            // States 3 to 6 are pairs of the last outcome and the next one.
            "1 --a [1/2]-> 3",
            "1 --a [1/2]-> 4",
            "2 --a [1/2]-> 5",
            "2 --a [1/2]-> 6",
            "3 --u(true)-> 7",
            "4 --u(true)-> 7",
            "5 --u(false)-> 7",
            "6 --u(false)-> 7",
            "3 --a [1/2]-> 3",
            "3 --a [1/2]-> 4",
            "4 --a [1/2]-> 5",
            "4 --a [1/2]-> 6",
            "5 --a [1/2]-> 3",
            "5 --a [1/2]-> 4",
            "6 --a [1/2]-> 5",
            "6 --a [1/2]-> 6",
        ],
    );
    let condition = "act a, b; proc P = dist z: Bool[1/2]. (a . (((z) -> P) + b.delta)); init P;";
    does(
        condition,
        &[
            "0 --dist [1/2]-> 1",
            "0 --dist [1/2]-> 2",
            "1 --a [1/2]-> 3",
            "1 --a [1/2]-> 4",
            "2 --a [1]-> 5",
            "3 --b-> 6",
            "4 --b-> 6",
            "5 --b-> 6",
            "3 --a [1/2]-> 3",
            "3 --a [1/2]-> 4",
            "4 --a [1]-> 5",
        ],
    );
    does(
        "act a; proc Q(x: Bool) = (x) -> a <> (dist x: Bool[1/2]. (a . Q())); init Q(true);",
        &["0 --a-> 1", "1 --Terminate-> 2"],
    );
}

#[test]
fn a_multi_action_with_delta_never_happens() {
    does("act a,b; init a|delta + b.(a|delta|b);", &["0 --b-> 1"]);
    does("act a,b; init (delta|tau) + (a|delta).b + b.delta;", &["0 --b-> 1"]);
    does("act a,b; init (a|delta)@1 + sum n:Nat. (n<2) -> (a|delta);", &[]);
}
