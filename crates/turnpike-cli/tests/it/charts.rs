//! Charts of witnesses: their data are right for every kind of system, their pictures are well-formed
//! and pinned, and a page holds them all.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::Command;

use turnpike_lts::trace::{
    self, ArrowKind, Drawing, MAX_CHARTED_STEPS, Run, Timeline, gantt_chart, html_page, sequence_chart,
    timeline_chart, wait_chart,
};
use turnpike_model::{Describer, Model, Step, Successors, Trace, hash};
use turnpike_session::{ProgramSource, Purpose, Reading, Session, Source, add_participants};

use crate::common::{folder, turnpike_in};
use crate::lab_browser::browser;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn open(source: &Source) -> std::sync::Arc<dyn Model> {
    let session = Session::open(source).unwrap_or_else(|problem| panic!("{problem:?}"));
    session.prepare(&Purpose::default()).unwrap_or_else(|problem| panic!("{problem:?}")).model
}

fn model(location: &str, settings: &[&str]) -> std::sync::Arc<dyn Model> {
    let location = match location.starts_with("builtin:") {
        true => location.to_owned(),
        false => models().join(location).to_str().expect("a path in UTF-8").to_owned(),
    };
    let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
    let reading = Reading { settings, ..Reading::default() };
    open(&Source::Model { location: location.as_str().into(), reading })
}

/// A random walk as a trace with everything that a witness has.
fn walk(model: &dyn Model, steps: u64, seed: u64) -> Trace {
    let mut explorer = model.explorer();
    let mut describer = Describer::of_states(model.info());
    let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut state).expect("an initial state");
    let mut trace = Trace { initial: Some(describer.state(&mut *explorer, &state)), ..Trace::default() };
    for step in 0..steps {
        explorer.successors(&state, &mut out).expect("successors");
        if out.is_empty() {
            break;
        }
        let choice = hash::mix(seed, step) as usize % out.len();
        let label = explorer.label(out.label(choice)).text;
        state = out.state(choice).to_vec();
        let values = Some(describer.state(&mut *explorer, &state));
        trace.steps.push(Step { choice: Some(choice as u32), state: values, ..Step::new(label) });
    }
    let choices: Vec<u32> = trace.steps.iter().filter_map(|step| step.choice).collect();
    if let Some(timing) = model.timing() {
        trace.set_times(timing.schedule(&choices, None).expect("times"));
    }
    drop(explorer);
    add_participants(model, &mut trace).expect("participants");
    trace
}

/// The data of a chart say what the trace says.
fn check_data(trace: &Trace) {
    let run = Run::of(trace);
    let left_out = trace.len().saturating_sub(MAX_CHARTED_STEPS);
    let numbers: Vec<usize> = run.events.iter().map(|event| event.step).collect();
    assert_eq!(numbers, (left_out + 1..=trace.len()).collect::<Vec<_>>(), "every step once");
    let name = |lane: usize| run.lanes[lane].name;
    let mut last_time = f64::NEG_INFINITY;
    for event in &run.events {
        let step = &trace.steps[event.step - 1];
        assert_eq!(event.label, step.label);
        let drawn: Vec<(&str, &str)> =
            event.parts.iter().map(|part| (name(part.lane), part.action)).collect();
        let recorded: Vec<(&str, &str)> = match &step.parts {
            Some(parts) => parts.iter().map(|part| (part.component.as_str(), part.action.as_str())).collect(),
            None => vec![("system", step.label.as_str())],
        };
        assert_eq!(drawn, recorded, "step {}", event.step);
        assert_eq!(event.time.is_some(), step.time.is_some());
        if let Some((_, time)) = event.time {
            assert!(time >= last_time, "times do not decrease");
            last_time = time;
        }
        // Who acts together is joined with one of them, who acts alone with nobody.
        let joined: Vec<_> = run
            .arrows
            .iter()
            .filter(|arrow| arrow.to.0 == event.step && arrow.kind != ArrowKind::Handover)
            .collect();
        assert_eq!(joined.len(), event.parts.len().saturating_sub(1));
        let lanes: Vec<usize> = event.parts.iter().map(|part| part.lane).collect();
        for arrow in &joined {
            assert!(arrow.from.0 == event.step && arrow.from.1 != arrow.to.1);
            assert!(lanes.contains(&arrow.from.1) && lanes.contains(&arrow.to.1));
        }
        // What is handed over leads from the step that gave it.
        let given = step.parts.iter().flatten().flat_map(|part| &part.after);
        let handed: Vec<_> = run
            .arrows
            .iter()
            .filter(|arrow| arrow.to.0 == event.step && arrow.kind == ArrowKind::Handover)
            .collect();
        assert_eq!(handed.len(), given.clone().count());
        for (arrow, given) in handed.iter().zip(given) {
            assert!(arrow.from.0 < event.step && name(arrow.from.1) == given.component);
            let Some(from) = arrow.from.0.checked_sub(1) else { continue };
            let giver = trace.steps[from].parts.iter().flatten();
            let mut giver = giver.filter(|part| part.component == given.component);
            let created = given.action.starts_with("create ");
            assert!(giver.any(|part| created || part.action == given.action), "{given:?}");
        }
    }
}

/// All pictures of a trace are well-formed, have each step once, and neither style nor identifiers
/// as elements of a page.
fn check_pictures(trace: &Trace) {
    let steps: Vec<String> = (trace.len().saturating_sub(MAX_CHARTED_STEPS) + 1..=trace.len())
        .map(|step| step.to_string())
        .collect();
    let check = |drawing: &Drawing, has_steps: bool| {
        for text in [drawing.file(), drawing.element()] {
            let document = roxmltree::Document::parse(&text).expect("well-formed XML");
            let root = document.root_element();
            assert_eq!((root.tag_name().name(), root.attribute("class")), ("svg", Some("chart")));
            let all = || document.descendants().filter(roxmltree::Node::is_element);
            assert!(all().all(|node| !node.has_attribute("id") && !node.has_attribute("style")));
            let drawn: Vec<&str> = all()
                .filter(|node| node.attribute("class") == Some("step"))
                .filter_map(|node| node.attribute("data-step"))
                .collect();
            assert_eq!(drawn, if has_steps { steps.as_slice() } else { &[] });
        }
        assert!(drawing.file().contains("<style>") && !drawing.element().contains("<style>"));
    };
    check(&sequence_chart(trace, None), true);
    let timed = !trace.is_empty() && trace.steps.iter().all(|step| step.time.is_some());
    assert_eq!(gantt_chart(trace, None).is_ok(), timed || trace.is_empty());
    gantt_chart(trace, None).into_iter().for_each(|drawing| check(&drawing, true));
    let names: Vec<String> =
        trace.initial.iter().flat_map(|values| values.iter()).map(|(name, _)| name.to_owned()).collect();
    check(&timeline_chart(trace, &names, None).expect("values"), true);
    let timeline = Timeline::of(trace, &names).expect("values");
    for row in &timeline.rows {
        let mut at = 0;
        for bar in &row.bars {
            assert!(bar.from == at && bar.to > bar.from, "bars follow each other");
            at = bar.to;
            let state = |index: usize| match timeline.left_out + index {
                0 => trace.initial.as_ref(),
                step => trace.steps[step - 1].state.as_ref(),
            };
            assert!(
                (bar.from..bar.to).all(|index| state(index).is_some_and(|one| &one[row.name] == bar.value))
            );
        }
        assert_eq!(at, timeline.steps.len() + 1);
    }
    wait_chart(trace).into_iter().for_each(|drawing| check(&drawing, false));
    let page = html_page(trace);
    for part in page.split("<svg ").skip(1) {
        let (inside, _) = part.split_once("</svg>").expect("an end");
        let element = format!("<svg {inside}</svg>");
        assert!(roxmltree::Document::parse(&element).is_ok());
    }
}

#[test]
fn charts_of_models_show_each_step_once_and_join_partners() {
    let kinds = [
        ("lift.mcrl2", &["N=3"][..]),
        ("abp.mcrl2", &[]),
        ("buffers.mcrl2", &[]),
        ("philosophers.mcrl2", &[]),
        ("timed/fischer.xta", &[]),
        ("timed/train_gate.xta", &[]),
        ("timed/csma_cd.xta", &[]),
        ("builtin:philosophers", &["n=3"]),
        ("builtin:two-phase-commit", &["n=3"]),
        ("builtin:scc", &[]),
    ];
    for (location, settings) in kinds {
        let model = model(location, settings);
        for seed in 0..3 {
            let trace = walk(&*model, 30, seed);
            assert_eq!(trace.components.is_empty(), location == "builtin:scc", "{location}");
            check_data(&trace);
            check_pictures(&trace);
            // A trace without what was added later is drawn, too.
            let mut old = trace.clone();
            old.components.clear();
            old.steps.iter_mut().for_each(|step| step.parts = None);
            check_pictures(&old);
        }
    }
    check_data(&walk(&*model("lift.mcrl2", &["N=2"]), 450, 1));
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn charts_of_programs_show_what_is_handed_over() {
    let Some(folder) = crate::programs::programs() else { return };
    for name in ["inversion", "counter.hooks"] {
        let path = folder.join(name);
        let model = open(&Source::Program(ProgramSource { path, ..ProgramSource::default() }));
        let mut handed = 0;
        for seed in 0..4 {
            let trace = walk(&*model, 40, seed);
            assert_eq!(trace.components, ["main", "main.0", "main.1"]);
            check_data(&trace);
            check_pictures(&trace);
            handed += Run::of(&trace).arrows.len();
        }
        assert!(handed > 8, "creations, joins and locks: {handed}");
    }
}

/// Compares pictures with those on record; `INSTA_UPDATE=always` writes them anew.
fn pin(name: &str, picture: &str) {
    insta::with_settings!({
        snapshot_path => "../charts", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, picture);
    });
}

/// Searches, draws and reads the pictures back.
fn pictures(folder: &Path, search: &[&str], flags: &[&str], names: &[&str]) -> Vec<String> {
    let arguments = [&["search"], search, &["--trace", "w.json", "--quiet"]].concat();
    turnpike_in(folder, &arguments, "").exits(1);
    turnpike_in(folder, &[&["show", "w.json", "--actions-only"], flags].concat(), "").exits(0);
    names.iter().map(|name| std::fs::read_to_string(folder.join(name)).expect("a picture")).collect()
}

#[test]
fn pictures_of_models_are_pinned() {
    let folder = folder(&[]);
    let models = models();
    let path = |name: &str| models.join(name).to_str().expect("a path in UTF-8").to_owned();
    let lift = ["--set", "N=3", "--find", "action protocol_error", "--strategy", "bfs"];
    let drawn = pictures(
        folder.path(),
        &[&[&*path("lift.mcrl2")], &lift[..]].concat(),
        &["--chart", "a.svg"],
        &["a.svg"],
    );
    pin("lift", &drawn[0]);
    let deadlock = ["--find", "deadlock", "--strategy", "bfs"];
    let flags = ["--svg", "a.svg", "--why", "b.svg", "--timeline", "Fork(*),Philosopher(1)", "c.svg"];
    let drawn = pictures(
        folder.path(),
        &[&[&*path("philosophers.mcrl2")], &deadlock[..]].concat(),
        &flags,
        &["a.svg", "b.svg", "c.svg"],
    );
    pin("philosophers", &drawn[0]);
    pin("philosophers-why", &drawn[1]);
    pin("philosophers-timeline", &drawn[2]);
    let flags = ["--chart", "a.svg", "--gantt", "b.svg", "--timeline", "turn", "c.svg"];
    let both = "state P(1).critical && P(2).critical";
    let fischer = ["--set", "WAIT=1", "--set", "WRITE=2", "--find", both, "--strategy", "bfs"];
    let drawn = pictures(
        folder.path(),
        &[&[&*path("timed/fischer.xta")], &fischer[..]].concat(),
        &flags,
        &["a.svg", "b.svg", "c.svg"],
    );
    pin("fischer", &drawn[0]);
    pin("fischer-gantt", &drawn[1]);
    pin("fischer-timeline", &drawn[2]);
    let stuck = "clock x; chan go; process P() { state A { x <= 3 }, B; init A; trans A -> B { sync go!; }; }
        process Q() { state A, B; init A; trans A -> B { guard x >= 5; sync go?; }; }
        p = P(); q = Q(); system p, q;";
    std::fs::write(folder.path().join("stuck.xta"), stuck).expect("writes");
    let search = ["stuck.xta", "--find", "deadlock"];
    pin("timed-why", &pictures(folder.path(), &search, &["--why", "a.svg"], &["a.svg"])[0]);
    let both =
        "state exists (i : train_t) exists (j : train_t) i < j && Train(i).crossing && Train(j).crossing";
    let trains = ["--set", "FAULTY=true", "--find", both, "--strategy", "bfs"];
    let train_gate = path("timed/train_gate.xta");
    let search = [&[&*train_gate], &trains[..]].concat();
    pin("train-gate", &pictures(folder.path(), &search, &["--chart", "a.svg"], &["a.svg"])[0]);
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn pictures_of_programs_are_pinned() {
    let Some(folder) = crate::programs::programs() else { return };
    let program = |name: &'static str| ["--program", name];
    let flags = ["--chart", "order.svg", "--why", "why.svg"];
    let drawn = pictures(folder, &program("./inversion"), &flags, &["order.svg", "why.svg"]);
    pin("lock-order", &drawn[0]);
    pin("lock-order-why", &drawn[1]);
    let drawn = pictures(folder, &program("./counter.hooks"), &["--chart", "lost.svg"], &["lost.svg"]);
    pin("lost-update", &drawn[0]);
    // A schedule from before traces recorded who takes part is known by its labels.
    let text = std::fs::read_to_string(folder.join("w.json")).expect("the trace");
    let mut old: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    old.as_object_mut().expect("an object").remove("components").expect("threads");
    for step in old["steps"].as_array_mut().expect("steps") {
        step.as_object_mut().expect("a step").remove("parts").expect("a thread");
    }
    std::fs::write(folder.join("old.json"), old.to_string()).expect("writes");
    turnpike_in(folder, &["show", "old.json", "--chart", "old.svg"], "").exits(0);
    let old = std::fs::read_to_string(folder.join("old.svg")).expect("a picture");
    let count = |text: &str, class: &str| text.matches(&format!("class=\"{class}\"")).count();
    assert_eq!((count(&old, "lifeline"), count(&old, "handover")), (3, 0));
    assert_eq!(count(&old, "dot"), count(&drawn[0], "dot"));
}

#[test]
fn a_page_holds_everything_and_nothing_in_it_is_markup() {
    let evil = "<script>alert(1)</script>";
    let system = format!("des (0,2,3)\n(0,\"{evil}\",1)\n(1,\"a&b\",2)\n");
    let folder = folder(&[("<script>.aut", &system)]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "<script>.aut", "--find", "deadlock", "--trace", "w.json", "-q"]).exits(1);
    run(&["show", "w.json", "--html", "w.html", "--svg", "w.svg"])
        .expect(0, &["wrote w.html", "wrote w.svg"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let (page, picture) = (read("w.html"), read("w.svg"));
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !picture.contains("<script"));
    assert!(roxmltree::Document::parse(&picture).is_ok());
    assert!(!page.contains("://") && !page.contains("src=") && !page.contains("href="));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn what_a_trace_does_not_have_is_refused_with_a_word() {
    let folder = folder(&[("w.txt", "send(1)\nreceive(1)\n")]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), &[&["show", "w.txt"], arguments].concat(), "");
    run(&["--why", "a.svg"]).expect(2, &["w.txt", "does not say what its components wait for", "help"]);
    run(&["--timeline", "x", "a.svg"]).expect(2, &["w.txt", "have no values", "help"]);
    run(&["--html", "a.svg"]).expect(2, &["--html writes an .html file"]);
    run(&["--why", "a.png"]).expect(2, &["--why draws an .svg file"]);
    run(&["--timeline", "x"]).exits(2);
    run(&["--html", "no/such/a.html"]).expect(2, &["no/such/a.html"]);
    let search = ["search", "builtin:philosophers", "--set", "n=2", "--trace", "w.json", "-q"];
    turnpike_in(folder.path(), &search, "").exits(1);
    let show = ["show", "w.json", "--timeline", "fork1, frok2", "a.svg"];
    turnpike_in(folder.path(), &show, "").expect(2, &["no value `frok2`", "fork2"]);
    turnpike_in(folder.path(), &["show", "w.json", "--timeline", "fork*", "a.svg"], "").exits(0);
    let drawn = std::fs::read_to_string(folder.path().join("a.svg")).expect("a picture");
    assert!(drawn.contains("fork1 = held-by-1 from step 1") && !drawn.contains("philosopher1"));
}

#[test]
fn traces_say_who_takes_part_wherever_they_come_from() {
    let folder = folder(&[]);
    let lift = models().join("lift.mcrl2");
    let lift = lift.to_str().expect("a path in UTF-8");
    let run = |arguments: &[&str], input: &str| turnpike_in(folder.path(), arguments, input).exits(0);
    run(&["simulate", lift, "--set", "N=2", "--seed", "1"], "random 8\nsave walk.json\nquit\n");
    let read = |name: &str| trace::read_file(folder.path().join(name)).expect("a trace");
    let walked = read("walk.json");
    assert_eq!(walked.components, ["Station(2)", "Link(2)", "Station(1)", "Link(1)"]);
    assert!(walked.steps.iter().all(|step| step.parts.as_ref().is_some_and(|parts| !parts.is_empty())));
    // A trace of labels gets them by being followed.
    run(&["show", "walk.json", "-o", "walk.txt"], "");
    run(&["replay", lift, "--set", "N=2", "walk.txt", "--trace", "again.json"], "");
    assert_eq!(read("again.json").components, walked.components);
    assert!(read("again.json").steps.iter().all(|step| step.parts.is_some()));
}

/// What a reader does with the page, and what it looks like then.
const USE: &str = r#"
const frame = document.querySelector('iframe');
const errors = [];
frame.onload = () => {
  const page = frame.contentDocument;
  const view = frame.contentWindow;
  view.addEventListener('error', (event) => errors.push(event.message));
  const shown = () => [...page.querySelectorAll('.variable .row')].filter((row) => row.offsetHeight > 0).length;
  const boxes = page.querySelectorAll('.variable input');
  const result = { rows: shown(), scroll: page.documentElement.scrollWidth, width: frame.clientWidth };
  boxes[0].click();
  result.unchecked = shown();
  const field = page.querySelector('#choice input');
  field.value = 'PHILO';
  field.dispatchEvent(new view.Event('input'));
  result.filtered = shown();
  page.querySelector('#sequence .step[data-step="2"]').dispatchEvent(new view.MouseEvent('click', { bubbles: true }));
  result.chosen = [...page.querySelectorAll('.chosen')].map((one) => one.dataset.step);
  const arrow = page.querySelector('.arrow');
  result.stroke = view.getComputedStyle(arrow).stroke;
  result.sections = [...page.querySelectorAll('section')].map((section) => section.id);
  result.alert = view.injected === true;
  result.errors = errors;
  document.getElementById('seen').textContent = JSON.stringify(result);
};
frame.srcdoc = text;
"#;

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no chromium here (CHROMIUM names one)");
        return;
    };
    let folder = folder(&[]);
    let model = models().join("philosophers.mcrl2");
    let model = model.to_str().expect("a path in UTF-8");
    let search = ["search", model, "--find", "deadlock", "--strategy", "bfs", "--trace", "w.json", "-q"];
    turnpike_in(folder.path(), &search, "").exits(1);
    let mut trace = trace::read_file(folder.path().join("w.json")).expect("a trace");
    trace.notes = vec!["<img src=x onerror='window.injected = true'>".to_owned()];
    let text = serde_json::to_string(&html_page(&trace)).expect("a text").replace("</", "<\\/");
    let page = format!(
        "<!doctype html><meta charset=utf-8><iframe style='width:360px;height:640px'></iframe>\
         <pre id=seen></pre><script>const text = {text};{USE}</script>"
    );
    let file = folder.path().join("use.html");
    std::fs::write(&file, page).expect("writes");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser runs");
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let seen = seen.unwrap_or_else(|| panic!("the page was not read: {dom}")).0.replace("&gt;", ">");
    let seen: serde_json::Value =
        serde_json::from_str(&seen).unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    let sections = ["explanation", "why", "sequence", "timeline", "steps"];
    assert_eq!(seen["sections"], serde_json::json!(sections));
    let number = |name: &str| seen[name].as_u64().unwrap_or_else(|| panic!("{name} in {seen}"));
    // Five philosophers, five forks with a parameter, and the axis.
    assert_eq!(
        (number("rows"), number("unchecked")),
        (number("filtered") + 10, number("rows") - 1),
        "{seen}"
    );
    assert!(number("scroll") <= number("width"), "sheets scroll, not the page: {seen}");
    // The step in the chart, on the axis of values and in the table.
    assert_eq!(seen["chosen"], serde_json::json!(["2", "2", "2"]), "{seen}");
    assert_eq!((&seen["alert"], &seen["stroke"]), (&false.into(), &"rgb(31, 41, 51)".into()), "{seen}");
}
