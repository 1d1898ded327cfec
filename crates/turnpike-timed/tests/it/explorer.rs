//! What the explorer reports about states and labels, on small networks.

use turnpike_model::{Explorer, Model, Predicates, Successors, Timing};
use turnpike_timed::explore::{Cover, Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::tck;
use turnpike_timed::uppaal::{self, Format};
use turnpike_timed::zone::Extrapolation;

/// Two processes that synchronise, and one that works alone.
const MEETING: &str = "system:meeting
event:go
event:come
event:tau
process:A
clock:1:x
int:1:0:3:1:n
location:A:wait{initial: : invariant: x<=2}
location:A:done{labels: left, over}
edge:A:wait:done:go{provided: x>=1 && n<3 : do: n=n+1}
process:B
location:B:wait{initial:}
location:B:done{labels: right}
edge:B:wait:done:come{}
edge:B:done:wait:tau{do: n=n+2}
sync:A@go:B@come
";

fn open(text: &str, options: &Options) -> TimedModel {
    let (network, _) = tck::read(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let names = Names::of(&network);
    TimedModel::new("m.tck", text, network, names, options).unwrap_or_else(|errors| panic!("{errors:?}")).0
}

fn open_xta(text: &str, options: &Options) -> TimedModel {
    let (network, names, _) =
        uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    TimedModel::new("m.xta", text, network, names, options).unwrap_or_else(|errors| panic!("{errors:?}")).0
}

fn initial(explorer: &mut dyn Explorer) -> Vec<u32> {
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    state
}

/// Labels and targets.
fn steps(model: &TimedModel, explorer: &mut dyn Explorer, state: &[u32]) -> Vec<(String, Vec<u32>)> {
    let mut out = Successors::new(model.info().width);
    explorer.successors(state, &mut out).expect("successors");
    out.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec())).collect()
}

fn values(explorer: &mut dyn Explorer, state: &[u32]) -> Vec<String> {
    let mut values = Vec::new();
    explorer.state_values(state, &mut values);
    values
}

fn predicates<'e>(explorer: &'e mut (dyn Explorer + '_)) -> &'e mut dyn Predicates {
    explorer.predicates().expect("conditions")
}

#[test]
fn states_labels_and_measures_have_texts() {
    let model = open(MEETING, &Options::default());
    let info = model.info();
    assert_eq!(info.parameters, ["A", "B", "n", "zone"]);
    assert_eq!(info.actions, ["come", "go", "tau"]);
    assert_eq!(info.suggestions, ["deadlock", "state timelock", "label left", "label over", "label right"]);
    assert_eq!((info.width, info.virtual_root), (2, false));
    assert_eq!(model.explorer().covering().map(|covering| covering.key_words()), Some(1));
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    // The upper bound is more than the only lower bound that x is compared with.
    assert_eq!(values(&mut *explorer, &first), ["wait", "wait", "1", "(0<=x)"]);
    let measures = explorer.measures().expect("variables are measures");
    assert_eq!(measures.measure(&first, info.measure("n").expect("a measure")), 1.0);
    let met = steps(&model, &mut *explorer, &first);
    assert_eq!(met.len(), 1);
    assert_eq!(met[0].0, "A@go,B@come");
    // Nothing tests the clock any more.
    assert_eq!(values(&mut *explorer, &met[0].1), ["done", "done", "2", "()"]);
    for (labels, expected) in [("left", true), ("right,over", true), ("right , left,over", true)] {
        let state_labels = explorer.state_labels().expect("locations have labels");
        let set = state_labels.compile_labels(labels).expect("labels");
        assert_eq!(state_labels.has_labels(set, &met[0].1), expected, "{labels}");
        assert!(!state_labels.has_labels(set, &first), "{labels}");
    }
    let state_labels = explorer.state_labels().expect("locations have labels");
    let unknown = state_labels.compile_labels("left,rihgt").expect_err("unknown");
    assert_eq!(unknown.message, "no location has the label `rihgt`");
    assert_eq!(unknown.help.as_deref(), Some("did you mean `right`?"));
}

#[test]
fn values_out_of_range_are_errors_with_a_position_or_no_transition() {
    let model = open(MEETING, &Options::default());
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    let met = steps(&model, &mut *explorer, &first)[0].1.clone();
    let mut out = Successors::new(model.info().width);
    let error = explorer.successors(&met, &mut out).expect_err("n would be 4");
    let line = MEETING.lines().position(|line| line.contains("n=n+2")).expect("there") + 1;
    assert!(error.message.starts_with(&format!("{line}:")), "{}", error.message);
    assert!(error.message.contains("n would be 4"), "{}", error.message);
    // The explorer continues unaffected.
    assert_eq!(steps(&model, &mut *explorer, &first).len(), 1);

    let (mut network, _) = tck::read(MEETING).expect("readable");
    network.out_of_range_disables = true;
    let names = Names::of(&network);
    let (model, _) = TimedModel::new("m", MEETING, network, names, &Options::default()).expect("explorable");
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    let met = steps(&model, &mut *explorer, &first)[0].1.clone();
    assert_eq!(steps(&model, &mut *explorer, &met), []);
}

#[test]
fn several_initial_states_have_a_place_before_them() {
    let text = "system:several\nevent:a\nclock:1:x\nprocess:P\nlocation:P:p{initial:}\nlocation:P:q{initial:}\n\
                location:P:r{initial: : invariant: x>=1}\nedge:P:p:q:a{provided: x>2}\nprocess:Q\nlocation:Q:s{initial:}\n";
    let model = open(text, &Options::default());
    assert!(model.info().virtual_root);
    let mut explorer = model.explorer();
    let root = initial(&mut *explorer);
    let begin = steps(&model, &mut *explorer, &root);
    let places: Vec<String> =
        begin.iter().map(|(_, state)| values(&mut *explorer, state)[0].clone()).collect();
    assert_eq!(places, ["p", "q"]);
    let mut out = Successors::new(model.info().width);
    explorer.successors(&root, &mut out).expect("successors");
    assert!(!explorer.is_deadlock(&root, &Successors::new(model.info().width)));
    // Without an initial state, every property would hold.
    for (text, message) in [
        ("system:none\nprocess:P\nlocation:P:p{}\n", "process `P` has no initial location"),
        (
            "system:none\nclock:1:x\nprocess:P\nlocation:P:p{initial: : invariant: x>=1}\n",
            "the invariant of `P.p` does not hold in the initial state",
        ),
    ] {
        let (network, _) = tck::read(text).expect("a network");
        let names = Names::of(&network);
        let errors = TimedModel::new("m.tck", text, network, names, &Options::default()).expect_err(text);
        assert_eq!(errors[0].message, message);
    }
}

#[test]
fn channels_have_labels_and_broadcasts_reach_all_who_can() {
    let text = "broadcast chan all; chan one[2]; int[0,5] n;
        process S() { state a, b; init a; trans a -> b { sync all!; assign n = n + 1; }, b -> a { sync one[n]!; }; }
        process R(const int[0,1] k) { state a, b, c; init a;
            trans a -> b { sync all?; assign n = n * 2; }, a -> c { guard k == 1; sync all?; },
                  b -> a { sync one[k]?; }, c -> a { }; }
        R0 = R(0); R1 = R(1); system S, R0, R1;";
    let model = open_xta(text, &Options::default());
    assert_eq!(model.info().actions, ["all", "one[0]", "one[1]"]);
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    let sent = steps(&model, &mut *explorer, &first);
    let all = "S@all!,R0@all?,R1@all?";
    assert_eq!(sent.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), [all, all]);
    // Updates run in the order of processes: (0 + 1) * 2 * 2, or * 2 alone.
    assert_eq!(values(&mut *explorer, &sent[0].1)[..4], ["b", "b", "b", "4"]);
    assert_eq!(values(&mut *explorer, &sent[1].1)[..4], ["b", "b", "c", "2"]);
    let mut out = Successors::new(model.info().width);
    explorer.successors(&first, &mut out).expect("successors");
    assert!(explorer.label(out.label(0)).has_action("all"));
    let error = explorer.successors(&sent[0].1, &mut out).expect_err("one[4] is no channel");
    assert!(error.message.starts_with("2:"), "{}", error.message);
}

#[test]
fn states_travel_and_cover() {
    for cover in [Cover::Inclusion, Cover::Alu] {
        let text = "clock x, y; process P() { state a, b, c; init a;
            trans a -> b { guard x <= 1; assign y = 0; }, a -> b { guard x <= 5; assign y = 0; },
                  b -> c { guard x >= 3 && y <= 2; }; } system P;";
        let model = open_xta(text, &Options { cover, ..Options::default() });
        let (mut one, mut other) = (model.explorer(), model.explorer());
        let first = initial(&mut *one);
        let next = steps(&model, &mut *one, &first);
        let (small, large) = (&next[0].1, &next[1].1);
        assert_ne!(small, large);
        let covering = one.covering().expect("zones cover each other");
        assert!(covering.covers(large, small) && covering.covers(small, small));
        assert!(!covering.covers(small, large) && !covering.covers(&first, small));
        let key = covering.key_words();
        let others: Vec<u32> = [&small[key..], &large[key..]].concat();
        let covering = other.covering().expect("zones cover each other");
        assert_eq!(covering.find_covering(large, &others), Some(1));
        assert_eq!(covering.find_covered(large, &others), Some(0));
        assert_eq!(covering.find_covered(small, &[large[key], small[key]]), Some(1));
        // Another model of the same text numbers zones differently, with the same meaning.
        let again = open_xta(text, &Options { cover, ..Options::default() });
        let mut there = again.explorer();
        let first_there = initial(&mut *there);
        let mut next_there = steps(&again, &mut *there, &first_there);
        next_there.reverse();
        let (large_there, small_there) = (&next_there[0].1, &next_there[1].1);
        for (state, same) in [(&first, &first_there), (small, small_there), (large, large_there)] {
            let (mut bytes, mut bytes_there) = (Vec::new(), Vec::new());
            one.encode(state, &mut bytes);
            there.encode(same, &mut bytes_there);
            assert_eq!(bytes, bytes_there);
            assert_eq!(there.content_hash(same), one.content_hash(state));
            assert_eq!(values(&mut *there, same), values(&mut *one, state));
        }
    }
}

#[test]
fn conditions_are_asked_of_zones() {
    let text = "clock x; int[0,3] n; process P() { state a { x <= 4 }, b; init a; trans a -> b { guard x >= 2; assign n = 2; }; }
        system P;";
    let asked = ["P.a && x > 3", "P.a && x > 4", "x < 2 || n == 2", "not (x >= 2) && n == 2", "deadlock"];
    let options = Options { conditions: asked.map(str::to_owned).to_vec(), ..Options::default() };
    let model = open_xta(text, &options);
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    let last = steps(&model, &mut *explorer, &first)[0].1.clone();
    let mut ask = |text: &str, state: &[u32]| {
        let predicates = explorer.predicates().expect("conditions");
        let predicate = predicates.compile(text).expect("a condition");
        predicates.holds(predicate, state).expect("a value")
    };
    assert_eq!(asked.map(|text| ask(text, &first)), [true, false, true, false, false]);
    assert_eq!(asked.map(|text| ask(text, &last)), [false, false, true, false, true]);
    assert!(ask("n == 2 && P.b", &last) && !ask("n == 2 && P.b", &first));
    let predicates = explorer.predicates().expect("conditions");
    let late = predicates.compile("x < 1").expect_err("not known in time");
    assert!(late.message.contains("clocks"), "{late}");
    assert!(predicates.compile("n ==").is_err());
}

#[test]
fn what_would_be_wrong_is_refused() {
    let refused = |text: &str, options: &Options| {
        let (network, names, _) = uppaal::read(text, Format::Xta, &[]).expect("readable");
        let errors = TimedModel::new("m", text, network, names, options).expect_err("refused");
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>()
    };
    let plain = "clock x, y; process P() { state a; init a; trans a -> a { guard x - y < 1; }; } system P;";
    let lu = Options { extrapolation: Some(Extrapolation::LuPlus), ..Options::default() };
    assert!(refused(plain, &lu)[0].contains("differences of clocks"));
    let simple = "clock x; process P() { state a; init a; trans a -> a { guard x < 1; }; } system P;";
    assert!(refused(simple, &Options { deadlock: true, ..lu })[0].contains("deadlocks"));
    let unknown = Options { conditions: vec!["P.nowhere".to_owned()], ..Options::default() };
    assert_eq!(refused(simple, &unknown).len(), 1);
}

/// Waiting too long in `a` is a timelock; in `b` nothing happens any more, but time diverges.
#[test]
fn a_deadlock_is_a_timelock_when_time_stops_too() {
    let text = "system:stuck
event:tau
process:P
clock:1:x
location:P:a{initial: : invariant: x<=3}
location:P:b{}
edge:P:a:b:tau{provided: x<=1}
";
    let conditions = vec!["timelock".to_owned(), "deadlock".to_owned()];
    let model = open(text, &Options { conditions, ..Options::default() });
    let mut explorer = model.explorer();
    let [timelock, deadlock] =
        ["timelock", "deadlock"].map(|text| predicates(&mut *explorer).compile(text).expect("a predicate"));
    let first = initial(&mut *explorer);
    let second = steps(&model, &mut *explorer, &first)[0].1.clone();
    let told = |explorer: &mut dyn Explorer, state: &[u32]| {
        [timelock, deadlock]
            .map(|predicate| predicates(&mut *explorer).holds(predicate, state).expect("an answer"))
    };
    assert_eq!(told(&mut *explorer, &first), [true, true]);
    assert_eq!(told(&mut *explorer, &second), [false, true]);
}

/// Constants too large for zones are reported in multiples of their common divisor.
#[test]
fn large_constants_are_scaled() {
    let text = "system:large
event:tau
process:P
clock:1:x
location:P:a{initial: : invariant: x<=200000000}
location:P:b{}
edge:P:a:b:tau{provided: x>=100000000 : do: x=100000000}
edge:P:b:a:tau{provided: x>200000000 : do: x=0}
";
    let conditions = vec!["x == 100000000".to_owned()];
    let model = open(text, &Options { conditions, ..Options::default() });
    let mut explorer = model.explorer();
    let first = initial(&mut *explorer);
    assert_eq!(values(&mut *explorer, &first).last().expect("a zone"), "100000000*(0<=x)");
    let schedule = model.schedule(&[0, 0], Some("x == 100000000")).expect("a run");
    assert_eq!(schedule.moments[0].time, "100000000");
    assert_eq!(schedule.last_delay.as_deref(), Some("100000000"));
    // One of two constants is not a multiple of the other.
    let odd = text.replace("x>200000000", "x>200000001");
    let (network, _) = tck::read(&odd).expect("a model");
    let names = Names::of(&network);
    let errors = TimedModel::new("m.tck", &odd, network, names, &Options::default()).expect_err("too large");
    assert!(errors[0].message.contains("too large"), "{errors:?}");
}
