//! Largest and smallest values: on small models by hand, and on random ones against integer time.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::query::QueryKind;
use crate::uppaal::{Format, read};

/// The answer to a query about a model.
fn asked(text: &str, query: &str) -> Result<Answer, String> {
    let (network, names, _) =
        read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let query = names.query(&network, query).map_err(|error| error.message)?;
    let QueryKind::Extremum { extremum, condition, quantities } = query.kind else { panic!("{query:?}") };
    let question = Question { extremum, condition, quantities };
    let options = Options::default();
    measure(("m.xta", text), &network, &names, &options, &question, |states| states < 20_000).map_err(
        |failure| match failure {
            Failure::Refused(errors) => errors[0].message.clone(),
            Failure::Step(error) => error.message,
        },
    )
}

fn exactly(value: i64) -> End {
    End::Value { value, strict: false }
}

fn close_to(value: i64) -> End {
    End::Value { value, strict: true }
}

/// `a` until 5, then `b`, which is left from 7 on and before 12; nothing happens in `c`.
const STEPS: &str = "clock x, y; int[0,9] n = 2; process P() { state a { x <= 5 }, b { x < 12 }, c { y <= 3 }; init a;
    trans a -> b { guard x >= 1; assign n = n + 4, y = 0; }, b -> c { guard x >= 7; assign y = 0; }; } system P;";

#[test]
fn values_are_exact_with_their_strictness() {
    for (query, low, high) in [
        ("sup: n", exactly(2), exactly(6)),
        ("inf: n", exactly(2), exactly(6)),
        ("bounds: n * 2 + 1", exactly(5), exactly(13)),
        ("bounds{P.a}: n", exactly(2), exactly(2)),
        ("sup{P.a}: x", exactly(0), exactly(5)),
        ("bounds{P.b}: x", exactly(1), close_to(12)),
        ("bounds{P.b}: y", exactly(0), close_to(11)),
        // Up to three more in `c`.
        ("bounds{P.c}: x", exactly(7), close_to(15)),
        ("bounds{P.c && x > 9}: x", close_to(9), close_to(15)),
        ("inf{P.b && x > 3}: x", close_to(3), close_to(12)),
        ("bounds{x >= 2 && P.a || P.c && y == 3}: x", exactly(2), close_to(15)),
        ("bounds{deadlock}: x", exactly(7), close_to(15)),
    ] {
        let answer = asked(STEPS, query).unwrap_or_else(|error| panic!("{query}: {error}"));
        assert!(answer.complete, "{query}");
        let [Measured { low: least, high: most }] = answer.values[..] else { panic!("{query}: {answer:?}") };
        if !query.starts_with("inf") {
            assert_eq!(most, high, "{query}");
        }
        if !query.starts_with("sup") {
            assert_eq!(least, low, "{query}");
        }
    }
    let several = asked(STEPS, "sup: n, x, y").expect("an answer");
    let highs: Vec<End> = several.values.iter().map(|measured| measured.high).collect();
    assert_eq!(highs, [exactly(6), close_to(15), close_to(11)]);
    let nothing = asked(STEPS, "sup{n > 8}: x").expect("an answer");
    assert!(nothing.complete && nothing.values.is_empty());
}

#[test]
fn values_far_beyond_the_constants_are_found() {
    // Twenty rounds of up to 7 units, and up to 7 more.
    let text = "clock x, g; int[0,20] n; process P() { state a { x <= 7 }, end { x <= 7 }; init a;
        trans a -> a { guard x >= 2 && n < 20; assign n = n + 1, x = 0; }, a -> end { guard n == 20; }; } system P;";
    assert_eq!(asked(text, "sup: g").expect("an answer").values[0].high, exactly(147));
    assert_eq!(asked(text, "inf{P.end}: g").expect("an answer").values[0].low, exactly(40));
}

#[test]
fn what_has_no_bound_is_told() {
    let rests =
        "clock x; process P() { state a { x <= 3 }, b; init a; trans a -> b { guard x >= 1; }; } system P;";
    assert_eq!(asked(rests, "sup: x").expect("an answer").values[0].high, End::Unbounded);
    assert_eq!(asked(rests, "sup{P.a}: x").expect("an answer").values[0].high, exactly(3));
    // Time cannot diverge in any location, but there are infinitely many rounds, of equal or
    // different lengths.
    for guard in ["x == 5", "x >= 2", "x > 2 && x < 5"] {
        let rounds = format!(
            "clock x, g; process P() {{ state a {{ x <= 5 }}; init a; trans a -> a {{ guard {guard}; assign x = 0; }}; }} system P;"
        );
        let answer = asked(&rounds, "bounds: g, x").expect("an answer");
        assert_eq!(answer.values[0], Measured { low: exactly(0), high: End::Unbounded }, "{guard}");
        assert!(matches!(answer.values[1].high, End::Value { value: 5, .. }), "{guard}");
    }
    // Rounds that take no time do not count.
    let idle =
        "clock x, g; process P() { state a { x <= 5 }; init a; trans a -> a { guard x <= 2; }; } system P;";
    assert_eq!(asked(idle, "sup: g").expect("an answer").values[0].high, exactly(5));
}

#[test]
fn what_cannot_be_measured_is_refused_and_what_is_not_known_is_told() {
    assert!(asked(STEPS, "sup: x - y").is_err_and(|error| error.contains("differences of clocks")));
    assert!(asked(STEPS, "sup: x + 1").is_err_and(|error| error.contains("sums of clocks")));
    assert!(asked(STEPS, "sup: z").is_err_and(|error| error.contains("no name `z`")));
    let text = "int n; process P() { state a; init a; trans a -> a { guard n < 30000; assign n = n + 1; }; } system P;";
    let answer = asked(text, "sup: n").expect("an answer");
    assert!(!answer.complete, "{answer:?}");
}

/// Each round takes one unit of time at most, so a limit on states comes before the largest limit for the clock.
#[test]
fn a_search_that_is_stopped_says_so() {
    let text = "clock x, y, g; process P() { state l0 { y <= 0 }, l1 { y <= 0 }, l2 { y <= 1 }; init l0;
        trans l1 -> l2 { guard x >= 0 && y <= 0; }, l0 -> l1 { guard x >= 0 && y <= 0; },
        l1 -> l0 { guard x >= 0 && y <= 0; assign x = 0; }, l2 -> l0 { guard x >= 0 && y <= 1; assign y = 0; }; } system P;";
    let answer = asked(text, "bounds: x, y, g").expect("an answer");
    assert!(!answer.complete && answer.states >= 20_000, "{answer:?}");
    assert_eq!((answer.values[1].high, answer.values[2].high), (exactly(1), End::Unbounded));
}

/// A location and integer values of all clocks.
type Whole = (usize, i64, i64, i64);

/// A random automaton with closed bounds on two clocks: locations with an invariant on `x`, edges
/// with bounds and resets.
#[derive(Clone, Debug)]
struct Automaton {
    invariants: Vec<(i64, bool)>,
    edges: Vec<(usize, usize, i64, i64, bool, bool)>,
}

fn automata() -> impl Strategy<Value = Automaton> {
    let edge = (0..3usize, 0..3usize, 0..4i64, 0..4i64, any::<bool>(), any::<bool>());
    (proptest::collection::vec((0..5i64, any::<bool>()), 3), proptest::collection::vec(edge, 1..5))
        .prop_map(|(invariants, edges)| Automaton { invariants, edges })
}

impl Automaton {
    /// The invariant of a location bounds `x` or `y`.
    fn text(&self) -> String {
        let clock = |first: bool| if first { "x" } else { "y" };
        let states: Vec<String> = self
            .invariants
            .iter()
            .enumerate()
            .map(|(at, &(bound, first))| format!("l{at} {{ {} <= {bound} }}", clock(first)))
            .collect();
        let edges: Vec<String> = self
            .edges
            .iter()
            .map(|&(source, target, least, most, reset_x, reset_y)| {
                let resets: Vec<&str> =
                    [("x = 0", reset_x), ("y = 0", reset_y)].iter().filter(|r| r.1).map(|r| r.0).collect();
                let assign =
                    if resets.is_empty() { String::new() } else { format!("assign {};", resets.join(", ")) };
                format!("l{source} -> l{target} {{ guard x >= {least} && y <= {most}; {assign} }}")
            })
            .collect();
        format!(
            "clock x, y, g; process P() {{ state {}; init l0; trans {}; }} system P;",
            states.join(", "),
            edges.join(", ")
        )
    }

    /// Values of all clocks in whole units of time, capped.
    fn reachable(&self, cap: i64) -> BTreeSet<Whole> {
        let inside = |location: usize, x: i64, y: i64| {
            let (bound, first) = self.invariants[location];
            (if first { x } else { y }) <= bound
        };
        let mut seen = BTreeSet::new();
        let mut open = vec![(0usize, 0i64, 0i64, 0i64)];
        while let Some(state) = open.pop() {
            let (location, x, y, g) = state;
            if !inside(location, x, y) || !seen.insert(state) {
                continue;
            }
            open.push((location, (x + 1).min(cap), (y + 1).min(cap), (g + 1).min(cap)));
            for &(source, target, least, most, reset_x, reset_y) in &self.edges {
                if source == location && x >= least && y <= most {
                    open.push((target, if reset_x { 0 } else { x }, if reset_y { 0 } else { y }, g));
                }
            }
        }
        seen
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With closed bounds, integer times reach the largest and smallest values.
    #[test]
    fn values_are_those_of_whole_units_of_time(automaton in automata()) {
        let cap = 60;
        let states = automaton.reachable(cap);
        prop_assume!(!states.is_empty());
        let text = automaton.text();
        let answer = asked(&text, "bounds: x, y, g").map_err(TestCaseError::fail)?;
        let values: [fn(&Whole) -> i64; 3] = [|s| s.1, |s| s.2, |s| s.3];
        for (value, measured) in values.iter().zip(&answer.values) {
            let most = states.iter().map(value).max().expect("a state");
            if most == cap {
                let told = matches!(measured.high, End::Unbounded | End::Beyond(_)) || !answer.complete;
                prop_assert!(told, "{} {:?}", text, measured);
            } else {
                prop_assert_eq!(measured.high, exactly(most), "{}", text);
            }
            prop_assert_eq!(measured.low, exactly(0));
        }
        for location in 0..3 {
            let there: Vec<_> = states.iter().filter(|state| state.0 == location).collect();
            let answer = asked(&text, &format!("inf{{P.l{location}}}: x, y, g")).map_err(TestCaseError::fail)?;
            prop_assert_eq!(answer.values.is_empty(), there.is_empty(), "{}", text);
            for (value, measured) in values.iter().zip(&answer.values) {
                let least = there.iter().map(|state| value(state)).min().expect("a state");
                prop_assert_eq!(measured.low, exactly(least), "{} l{}", text, location);
            }
        }
    }
}
