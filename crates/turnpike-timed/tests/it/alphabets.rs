//! Networks with both internal edges and events: the order of transitions, their labels, and
//! schedules.

use turnpike_model::{Model, Successors, Timing, Vocabulary, Word};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::uppaal::{self, Format};

const TEXT: &str = "chan a, b; clock x; int[0,9] n;
    process P() { state s, t; init s; trans s -> s { assign n = 1; }, s -> t { sync a; assign n = 2 * n + 1; }, t -> s { sync b; }; }
    process Q() { state s, t; init s; trans s -> t { guard x >= 2; sync a; assign n = 2 * n + 2, x = 0; }, s -> s { sync a; }, t -> s { sync b; }; }
    process R() { state s { x <= 5 }; init s; trans s -> s { guard n < 3; sync b; }, s -> s { guard x > 3; assign n = 0; }; }
    system P, Q, R;
    IO P { a } IO Q { a, b } IO R { b }";

fn model(text: &str) -> TimedModel {
    let (network, names, _) =
        uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let (model, _) = TimedModel::new("m", text, network, names, &Options::default())
        .unwrap_or_else(|errors| panic!("{errors:#?}"));
    model
}

#[test]
fn vectors_come_first_then_what_is_taken_alone() {
    let model = model(TEXT);
    let mut explorer = model.explorer();
    let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut state).expect("begins");
    let mut labels = |state: &[u32], out: &mut Successors| {
        explorer.successors(state, out).expect("steps");
        out.iter().map(|(label, _)| explorer.label(label).text).collect::<Vec<String>>()
    };
    assert_eq!(labels(&state, &mut out), ["P@a,Q@a", "P@a,Q@a", "P@tau", "R@tau"]);
    // Updates in the order of the system: 2 * (2 * 0 + 1) + 2.
    let both = out.state(0).to_vec();
    // `b` is unknown to P, which takes it alone; Q needs R, whose guard is false.
    assert_eq!(labels(&both, &mut out), ["P@b", "R@tau"]);
    let reset = out.state(1).to_vec();
    assert_eq!(labels(&reset, &mut out), ["Q@b,R@b", "P@b", "R@tau"]);
}

#[test]
fn ways_have_schedules() {
    let model = model(TEXT);
    // Together, alone, together.
    let schedule = model.schedule(&[0, 1, 0], None).expect("scheduled");
    let delays: Vec<&str> = schedule.moments.iter().map(|moment| moment.delay.as_str()).collect();
    assert_eq!(delays.len(), 3);
    assert_eq!(delays[0], "2");
}

#[test]
fn the_vocabulary_has_what_transitions_can_have() {
    let model = model(
        "chan a[3], lonely, unused; broadcast chan all; int[0,2] i;
         process P() { state s; init s;
             trans s -> s { sync a[i]!; }, s -> s { sync lonely!; }, s -> s { sync all!; }, s -> s { assign i = 1; }; }
         process Q() { state s; init s; trans s -> s { sync a[1]?; }, s -> s { sync all?; }; }
         system P, Q;",
    );
    let unknown =
        |name: &str, nearest: &str| Word::Unknown { name: name.into(), nearest: Some(nearest.into()) };
    for name in ["a[1]", "all", "tau"] {
        assert_eq!(model.action(name), Word::Known, "{name}");
    }
    assert_eq!(model.action("a[0]"), Word::Blocked { name: "a[0]".into() }, "nothing receives it");
    assert_eq!(model.action("lonely"), Word::Blocked { name: "lonely".into() });
    assert_eq!(model.action("unused"), Word::Unused { name: "unused".into() });
    assert_eq!(model.action("al"), unknown("al", "all"));
    assert_eq!(Vocabulary::names(&model), ["a[1]", "all"]);
    for pattern in ["*", "P@a[1]!,Q@a[1]?", "*all*", "P@tau", "initial", "P@all!,*"] {
        assert_eq!(model.label(pattern), Word::Known, "{pattern}");
    }
    assert_eq!(model.label("P@al!"), unknown("P@al!", "P@all!"));
    assert!(!model.label("R@*").is_known());
}
