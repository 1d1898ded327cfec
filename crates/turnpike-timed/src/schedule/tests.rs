//! Runs of small networks, by hand and by random walks.

use turnpike_model::{Delay, Delays, Model, Schedule, Successors, Timing, Window, hash};

use crate::explore::{Options, TimedModel};
use crate::query::Names;
use crate::tck;
use crate::uppaal::{self, Format};

fn model(text: &str, conditions: &[&str]) -> TimedModel {
    let (network, _) = tck::read(text).expect("a model");
    let names = Names::of(&network);
    let conditions = conditions.iter().map(|&text| text.to_owned()).collect();
    let options = Options { conditions, ..Options::default() };
    TimedModel::new("test", text, network, names, &options).expect("a model").0
}

fn delays(schedule: &Schedule) -> Vec<&str> {
    schedule.moments.iter().map(|moment| moment.delay.as_str()).collect()
}

const LIGHT: &str = "system:light
event:press
event:glow
clock:1:x
clock:1:y
process:P
location:P:off{initial:}
location:P:low{invariant:x<=10}
location:P:high{invariant:y<7}
edge:P:off:low:press{do:x=0}
edge:P:low:high:glow{provided:x>5:do:y=0}
edge:P:high:off:press{provided:y>=3&&x<9}
";

#[test]
fn times_are_the_earliest() {
    let model = model(LIGHT, &[]);
    let schedule = model.schedule(&[0, 0, 0], None).unwrap();
    assert_eq!(delays(&schedule), ["0", "11/2", "3"]);
    let times: Vec<&str> = schedule.moments.iter().map(|moment| moment.time.as_str()).collect();
    assert_eq!(times, ["0", "11/2", "17/2"]);
    let last: Vec<(&str, &str)> = schedule.moments[2].clocks.iter().collect();
    assert_eq!(last, [("x", "17/2"), ("y", "3")]);
}

#[test]
fn the_last_state_waits_for_the_target() {
    let model = model(LIGHT, &["y > 4 && y < 5"]);
    let schedule = model.schedule(&[0, 0], Some("y > 4 && y < 5")).unwrap();
    assert_eq!(schedule.last_delay.as_deref(), Some("9/2"));
}

#[test]
fn chosen_delays_are_kept() {
    let model = model(LIGHT, &[]);
    let delay = |text: &str| Some(text.parse::<Delay>().unwrap());
    let schedule = model.schedule_with(&[0, 0, 0], &[delay("2"), None, delay("3.25")]).unwrap();
    // The unit is divided as finely as the chosen delays require.
    assert_eq!(delays(&schedule), ["2", "21/4", "13/4"]);
    assert_eq!(model.schedule_with(&[0, 0], &[]), model.schedule(&[0, 0], None));
    let error = model.schedule_with(&[0, 0], &[None, delay("5")]).unwrap_err();
    assert!(error.message.contains("after these delays"), "{}", error.message);
}

#[test]
fn windows_are_those_of_the_guards() {
    let model = model(LIGHT, &[]);
    let texts = |windows: &[Window]| windows.iter().map(Window::to_string).collect::<Vec<_>>();
    let look =
        |choices: &[u32], delays: &[Option<Delay>]| model.outlook(choices, delays, &[0]).unwrap().unwrap();
    let start = look(&[], &[]);
    assert_eq!((start.time.as_str(), texts(&start.waits)), ("0", vec!["≥ 0".to_owned()]));
    let low = look(&[0], &[]);
    assert_eq!((texts(&low.waits), texts(&low.windows[0])), (vec!["[0, 10]".into()], vec!["(5, 10]".into()]));
    let high = look(&[0, 0], &[None, Some("6".parse().unwrap())]);
    assert_eq!(texts(&high.windows[0]), Vec::<String>::new(), "x is 6 already, and y must become 3");
    assert_eq!(texts(&high.waits), ["[0, 7)"]);
    let high = look(&[0, 0], &[None, Some("11/2".parse().unwrap())]);
    assert_eq!(texts(&high.windows[0]), ["[3, 7/2)"]);
    let x = &high.clocks[0];
    assert_eq!((x.name.as_str(), x.value.as_str(), x.runs), ("x", "11/2", true));
}

/// A delay within a window can be chosen, and one outside cannot: checked by executing the run.
#[test]
fn windows_agree_with_runs() {
    let value = |text: &str| -> f64 {
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap()
    };
    let inside = |delay: f64, window: &Window| {
        let from = value(&window.from);
        let to = window.to.as_deref().map_or(f64::INFINITY, value);
        (delay > from || (delay == from && !window.after)) && (delay < to || (delay == to && !window.before))
    };
    let urgent = "system:urgent
event:a
event:b
clock:1:x
clock:1:y
process:P
location:P:l{initial:}
location:P:m{invariant:y<=4&&x<6}
edge:P:l:m:a{provided:x>1&&x<=4:do:y=0}
edge:P:m:l:b{provided:y>=2:do:x=0}
edge:P:m:m:a{provided:x-y<3}
";
    let mut compared = 0;
    for (number, text) in [LIGHT, COPIES, urgent].into_iter().enumerate() {
        let model = model(text, &[]);
        for seed in 0..12 {
            let mut choices: Vec<u32> = Vec::new();
            let mut chosen: Vec<Option<Delay>> = Vec::new();
            for step in 0..6 {
                let mut explorer = model.explorer();
                let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
                explorer.initial(&mut state).unwrap();
                for &choice in &choices {
                    explorer.successors(&state, &mut out).unwrap();
                    state = out.state(choice as usize).to_vec();
                }
                explorer.successors(&state, &mut out).unwrap();
                let next: Vec<u32> = (0..out.len() as u32).collect();
                // Earlier steps are unchanged.
                let before = model.schedule_with(&choices, &chosen).unwrap();
                let shown: Vec<Option<Delay>> =
                    before.moments.iter().map(|moment| Some(moment.delay.parse().unwrap())).collect();
                let Some(outlook) = model.outlook(&choices, &shown, &next).unwrap() else { break };
                let mut open = Vec::new();
                for (&choice, windows) in next.iter().zip(&outlook.windows) {
                    for quarter in 0..40 {
                        let delay: Delay = format!("{quarter}/4").parse().unwrap();
                        let longer: Vec<u32> = choices.iter().copied().chain([choice]).collect();
                        let delays: Vec<Option<Delay>> = shown.iter().copied().chain([Some(delay)]).collect();
                        let expected = windows.iter().any(|window| inside(f64::from(quarter) / 4.0, window));
                        let kept = model.schedule_with(&longer, &delays).is_ok();
                        assert_eq!(kept, expected, "model {number}, {longer:?} after {delay}: {windows:?}");
                        compared += 1;
                        if expected {
                            open.push((choice, delay));
                        }
                    }
                }
                let draw = hash::mix(seed, step) as usize;
                let Some(&(choice, delay)) = open.get(draw % open.len().max(1)) else { break };
                choices.push(choice);
                if !draw.is_multiple_of(3) {
                    chosen = shown.into_iter().chain([Some(delay)]).collect();
                } else {
                    chosen.push(None);
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn choices_that_are_not_there_are_refused() {
    assert!(model(LIGHT, &[]).schedule(&[0, 7], None).is_err());
}

const COPIES: &str = "system:copies
event:a
event:b
event:c
clock:1:x
clock:1:y
process:P
location:P:l{initial:}
location:P:m{invariant:y<=6}
location:P:n{urgent:}
edge:P:l:m:a{provided:x>=1:do:y=x+2}
edge:P:m:n:b{provided:y==6:do:x=y}
edge:P:n:l:c{provided:x<=7:do:x=0;y=0}
process:Q
location:Q:k{initial:}
edge:Q:k:k:a{provided:x-y<=0}
";

/// Random walks of every model have schedules: zones imply that, and the interpreter checks it.
#[test]
fn random_walks_are_runs() {
    for (number, text) in [LIGHT, COPIES].into_iter().enumerate() {
        let model = model(text, &[]);
        let mut explorer = model.explorer();
        let mut out = Successors::new(model.info().width);
        for walk in 0..40_u64 {
            let (mut state, mut choices) = (Vec::new(), Vec::new());
            explorer.initial(&mut state).unwrap();
            for step in 0..30 {
                explorer.successors(&state, &mut out).unwrap();
                if out.is_empty() {
                    break;
                }
                let choice = hash::mix(walk, step) % out.len() as u64;
                choices.push(choice as u32);
                state = out.state(choice as usize).to_vec();
            }
            let schedule = model.schedule(&choices, None);
            assert!(schedule.is_ok(), "model {number}, {choices:?}: {schedule:?}");
        }
    }
}

/// The times along the path of first choices.
fn first_choices(text: &str, count: usize) -> Vec<String> {
    let (network, names, _) = uppaal::read(text, Format::Xta, &[]).expect("a model");
    let (model, _) = TimedModel::new("test", text, network, names, &Options::default()).expect("a model");
    let schedule = model.schedule(&vec![0; count], None).expect("a run");
    schedule.moments.into_iter().map(|moment| moment.time).collect()
}

#[test]
fn steps_wait_until_no_higher_one_is_possible() {
    let channels = |high: &str| {
        format!(
            "clock x; chan low; broadcast chan high; chan priority low < high;
             process P() {{ state a, b; init a; trans a -> b {{ sync low!; }}; }}
             process Q() {{ state a; init a; trans a -> a {{ sync low?; }}; }}
             process R() {{ state a; init a; trans a -> a {{ guard {high}; sync high!; }}; }} system P, Q, R;"
        )
    };
    for (high, times) in [
        // Possible only up to 3.
        ("x <= 3", vec!["4"]),
        ("x < 3", vec!["3"]),
        // Not yet possible.
        ("x >= 2 && x <= 5", vec!["0"]),
        ("x > 0 && x <= 5", vec!["0"]),
    ] {
        assert_eq!(first_choices(&channels(high), 1), times, "{high}");
    }
    let processes = "clock x; process P() { state a, b, c; init a; trans a -> b { guard x >= 1; }, b -> c { }; }
        process Q() { state a { x <= 7 }, b; init a; trans a -> b { guard x >= 1 && x <= 4; assign x = 0; }; } system P < Q;";
    // P moves only when Q no longer can.
    assert_eq!(first_choices(processes, 2), ["5", "5"]);
}
