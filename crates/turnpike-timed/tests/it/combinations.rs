//! Features of UPPAAL in unusual combinations, with answers found by hand.
//!
//! Every model is explored in three modes: as usual, with each successor computed from scratch, and
//! as for networks with many processes.

use std::collections::BTreeMap;

use turnpike_model::{Claim, Model, Successors};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::uppaal::{self, Format};

/// A model, the conditions that some reachable state meets, and those that none does.
struct Case {
    model: &'static str,
    reachable: &'static [&'static str],
    unreachable: &'static [&'static str],
}

const CASES: &[Case] = &[
    // Windows of receivers decide which of them receive a broadcast.
    Case {
        model: "broadcast chan b; clock x; int n;
            process S() { state a { x <= 10 }, d; init a; trans a -> d { guard x >= 1; sync b!; }; }
            process R(const int lo, const int hi) { state w, g; init w;
                trans w -> g { guard x >= lo && x < hi; sync b?; assign n = n + 1; }; }
            A = R(0, 3); B = R(3, 6); C = R(2, 4); system S, A, B, C;",
        reachable: &["n == 1", "n == 2", "A.g && C.g", "B.g && C.g && x == 3", "S.d && n == 0 && x >= 6"],
        unreachable: &["n == 3", "A.g && B.g", "S.d && n == 0 && x < 6", "S.d && x < 1"],
    },
    // The index is selected, and the receiver's window ends where the sender's begins.
    Case {
        model: "broadcast chan b[3]; clock x; int[0,3] got;
            process S() { state a, d; init a; trans a -> d { select i : int[0,2]; guard x == i + 1; sync b[i]!; }; }
            process R(const int[0,2] me) { state w, g; init w;
                trans w -> g { guard x > me; sync b[me]?; assign got = got + 1; }; }
            system S, R;",
        reachable: &["got == 1", "R(2).g && x == 3"],
        unreachable: &["got == 2", "S.d && got == 0", "R(2).g && x < 3"],
    },
    // A variable bounds the receiver's guard, and the sender changes it.
    Case {
        model: "broadcast chan b; clock x; int[0,5] k = 2;
            process S() { state a { x <= 5 }, d; init a; trans a -> d { sync b!; assign k = 5; }; }
            process R() { state w, g; init w; trans w -> g { guard x >= k; sync b?; }; } system S, R;",
        reachable: &["R.g && x == 2", "S.d && R.w && x < 2", "S.d && R.w && x == 5"],
        unreachable: &["R.g && x < 2", "S.d && k == 2"],
    },
    // Time stops where both sides of an urgent channel are ready.
    Case {
        model: "urgent chan u; clock x, g;
            process S() { state a, d; init a; trans a -> d { guard x >= 3; sync u!; }; }
            process R() { state w, r; init w; trans w -> r { guard x <= 7; sync u?; }; } system S, R;",
        reachable: &["S.a && g == 3", "S.d && x == 3", "S.d && g == 20"],
        unreachable: &["S.d && g < 3", "S.a && g > 3"],
    },
    // The initial state has several zones, because another clock counts as well.
    Case {
        model: "urgent chan u; clock x, y;
            process S() { state a { x <= 2 }, d; init a; trans a -> d { guard y >= 1; sync u!; }; }
            process R() { state w, r; init w; trans w -> r { sync u?; }; } system S, R;",
        reachable: &["S.a && y == 0", "S.a && y == 1", "S.d && x == 1", "S.d && R.r && y > 5"],
        unreachable: &["S.a && y > 1", "S.d && x < 1", "deadlock && S.a"],
    },
    // The same without a receiver.
    Case {
        model: "urgent broadcast chan u; clock x, y; int n;
            process S() { state a, d; init a; trans a -> d { guard y >= 1; sync u!; assign n = 1; }; }
            process Q() { state a { x <= 2 }; init a; } system S, Q;",
        reachable: &["S.a && y == 1", "S.d && x == 1", "S.d && x == 2 && n == 1"],
        unreachable: &["S.a && y > 1", "S.d && y < 1", "x > 2", "deadlock && S.a"],
    },
    // A clock is stopped at first, and its difference to another one matters.
    Case {
        model: "clock x, y;
            process P() { state a { x <= 3 && y' == 0 }, b, c, d; init a;
                trans a -> b { guard x - y >= 2; }, a -> c { guard x - y < 1; }, a -> d { guard x - y > 3; }; }
            system P;",
        reachable: &["P.b", "P.c", "P.a && x == 3 && y == 0"],
        unreachable: &["P.d"],
    },
    // There is no first moment after 2: time cannot pass beyond it, and the broadcast never comes.
    Case {
        model: "urgent broadcast chan u; clock x;
            process S() { state a, d; init a; trans a -> d { guard x > 2; sync u!; }; }
            process R() { state w, r; init w; trans w -> r { guard x >= 2; sync u?; }; } system S, R;",
        reachable: &["S.a && x == 2"],
        unreachable: &["S.d", "x > 2"],
    },
    // A clock is stopped in one location, and the sum of both shows it.
    Case {
        model: "clock x, y; process P() { state run { x <= 4 && y' == 0 }, go { x <= 4 }, e1, e2; init run;
            trans run -> go { guard x >= 2; }, go -> e1 { guard x == 4 && y == 3; },
                go -> e2 { guard x == 4 && y == 1; }; } system P;",
        reachable: &["P.e2"],
        unreachable: &["P.e1"],
    },
    // Another process stops the clock for a chosen time.
    Case {
        model: "clock w; chan stop, resume;
            process T() { clock t; state go { t <= 2 }, halt { t <= 3 && w' == 0 }, over; init go;
                trans go -> halt { guard t == 2; sync stop!; assign t = 0; },
                    halt -> over { guard t == 3; sync resume!; }; }
            process M() { state a, b, c, bad, good; init a;
                trans a -> b { sync stop?; }, b -> c { sync resume?; },
                    c -> bad { guard w < 2; }, c -> good { guard w >= 2 && w <= 2; }; } system T, M;",
        reachable: &["M.good"],
        unreachable: &["M.bad"],
    },
    // The rate is a variable, then a constant.
    Case {
        model: "clock x, y; bool on = false; const bool OFF = false;
            process P() { state a { x <= 3 && y' == on }, b { x <= 6 && y' == (OFF ? 0 : 1) }, c, d; init a;
                trans a -> b { guard x == 3; assign on = true; }, b -> c { guard x == 6 && y == 3; },
                    b -> d { guard x == 6 && y > 3; }; } system P;",
        reachable: &["P.c"],
        unreachable: &["P.d"],
    },
    // Fractions computed from constants.
    Case {
        model: "const double half = 0.5; const double d = half * 3; double unused = 1.25; clock x;
            process P() { state a { x <= d }, b, c; init a;
                trans a -> b { guard x >= 1.5; assign unused = unused * 2.0; }, a -> c { guard x > 1.5; }; }
            system P;",
        reachable: &["P.b", "P.a && x == 1.5"],
        unreachable: &["P.c", "P.a && x > 1.5"],
    },
    // Costs and hybrid clocks have no influence.
    Case {
        model: "hybrid clock h; clock x;
            process P() { state l { x <= 5 && cost' == 3 && h' == 2 }, m; init l;
                trans l -> m { guard x >= 2; assign cost += 7, h = 0, x = 0; }; } system P;",
        reachable: &["P.m && x == 0", "P.l && x == 5"],
        unreachable: &["P.l && x > 5"],
    },
    // Fixed-width integers, in structs, arrays and functions.
    Case {
        model: "typedef int8_t byte; byte t[3] = {1, -1, INT8_MIN}; uint16_t w = 65535;
            typedef struct { uint8_t lo; int8_t hi; } pair; pair p = {255, -128};
            int8_t f(uint8_t x) { return x - 128; }
            process P() { state l, m, k; init l;
                trans l -> m { guard t[2] == -128 && f(p.lo) == 127; assign p.hi = f(0); },
                    m -> k { guard p.hi == INT8_MIN; assign w = w - UINT16_MAX; }; } system P;",
        reachable: &["P.k && w == 0"],
        unreachable: &["P.k && w != 0"],
    },
    // A name refers to an earlier declaration, despite clocks and parameters of the same name.
    Case {
        model: "clock x; int v = 1; chan c;
            process P(const int v) { int w = v; clock x; int g() { return v + w; } state a, b, e; init a;
                trans a -> b { guard g() == 10 && x >= 2; sync c!; }, a -> e { guard g() != 10; }; }
            process Q() { int f() { return v; } int v = 7; state a, b, e; init a;
                trans a -> b { guard f() == 1 && v == 7; sync c?; }, a -> e { guard f() != 1; }; }
            I = P(5); system I, Q;",
        reachable: &["I.b && Q.b && x == 2"],
        unreachable: &["I.e", "Q.e", "I.b && x < 2"],
    },
];

/// A branchpoint after a broadcast, which a receiver accepts depending on its clock.
const BRANCH: &str = r#"<nta><declaration>broadcast chan c; clock x; int n;</declaration>
    <template><name>P</name>
    <location id="a"><name>a</name><label kind="invariant">x &lt;= 4</label></location>
    <location id="b"><name>b</name></location><location id="d"><name>d</name></location>
    <branchpoint id="q"/><init ref="a"/>
    <transition><source ref="a"/><target ref="q"/><label kind="select">i : int[1,2]</label>
        <label kind="guard">x &gt;= i</label><label kind="synchronisation">c!</label>
        <label kind="assignment">n = i</label></transition>
    <transition><source ref="q"/><target ref="b"/><label kind="probability">3</label></transition>
    <transition><source ref="q"/><target ref="d"/><label kind="probability">1</label>
        <label kind="assignment">n = n + 10</label></transition></template>
    <template><name>Q</name><location id="w"><name>w</name></location><location id="g"><name>g</name></location>
    <init ref="w"/><transition><source ref="w"/><target ref="g"/><label kind="guard">x &gt; 3</label>
        <label kind="synchronisation">c?</label></transition></template>
    <system>system P, Q;</system></nta>"#;

fn ways() -> [Options; 3] {
    [
        Options::default(),
        Options { plain: true, ..Options::default() },
        Options { wide: true, ..Options::default() },
    ]
}

/// Whether some reachable state meets a condition; with stopped clocks, confirmed by a run.
fn reaches(text: &str, format: Format, condition: &str, options: &Options) -> bool {
    let (network, names, _) = uppaal::read(text, format, &[]).expect("the model is read");
    let options = Options { conditions: vec![condition.to_owned()], ..options.clone() };
    let (model, _) = TimedModel::new("m", text, network, names, &options).expect("the model is explored");
    let mut explorer = model.explorer();
    let predicate = explorer.predicates().expect("conditions").compile(condition).expect("a condition");
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut out = Successors::new(initial.len());
    let mut seen = BTreeMap::from([(initial.clone(), Vec::new())]);
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        let choices: Vec<u32> = seen[&state].clone();
        if explorer.predicates().expect("conditions").holds(predicate, &state).expect("a value") {
            let confirmed = model.approximation().is_none_or(|approximation| {
                approximation.confirms(&choices, Claim::Reaches(Some(condition))).expect("a run or none")
            });
            if confirmed {
                return true;
            }
        }
        explorer.successors(&state, &mut out).expect("the model takes every step");
        for (choice, (_, target)) in (0..).zip(out.iter()) {
            if !seen.contains_key(target) {
                seen.insert(target.to_vec(), [&choices[..], &[choice]].concat());
                open.push(target.to_vec());
            }
        }
    }
    false
}

fn check(text: &str, format: Format, conditions: &[&str], expected: bool) {
    for (way, options) in ways().iter().enumerate() {
        for condition in conditions {
            let found = reaches(text, format, condition, options);
            assert_eq!(found, expected, "way {way}: {condition} in\n{text}");
        }
    }
}

#[test]
fn features_in_unusual_combinations_mean_what_they_should() {
    for case in CASES {
        check(case.model, Format::Xta, case.reachable, true);
        check(case.model, Format::Xta, case.unreachable, false);
    }
}

#[test]
fn branchpoints_follow_broadcasts_that_clocks_decide() {
    let reachable = ["P.d && n == 12 && Q.g", "P.b && n == 2 && Q.w", "P.d && n == 11 && Q.w && x == 1"];
    check(BRANCH, Format::Xml, &reachable, true);
    let unreachable = ["P.d && n == 11 && x < 1", "P.b && Q.g && x <= 3", "P.b && n == 11"];
    check(BRANCH, Format::Xml, &unreachable, false);
}
