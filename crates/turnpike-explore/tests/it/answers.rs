//! What the page answers.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Page;

fn labels(details: &Value) -> Vec<&str> {
    let enabled = details["enabled"].as_array().expect("a list");
    enabled.iter().map(|way| way["label"].as_str().expect("text")).collect()
}

#[test]
fn steps_lead_on_and_back() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let (status, start) = page.get("/api/visit/0");
    assert_eq!((status, labels(&start)), (200, vec!["lock(1,1)", "lock(2,2)"]));
    let (_, first) = page.post("/api/visit/0/step", &json!({ "choice": 0 }));
    assert_eq!(first["path"][1]["label"], "lock(1,1)");
    let changed: Vec<_> = first["values"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|value| value.get("before").is_some())
        .collect();
    assert!(!changed.is_empty(), "a step changes something: {first}");
    let here = first["visit"].as_u64().expect("a number");
    let (_, few) = page.get(&format!("/api/visit/{here}?label=lock(2,*)"));
    assert_eq!(labels(&few), ["lock(2,2)"]);
    let choice = few["enabled"][0]["choice"].clone();
    let (_, end) = page.post(&format!("/api/visit/{here}/step"), &json!({ "choice": choice }));
    assert_eq!((&end["deadlock"], end["matching"].as_u64()), (&json!(true), Some(0)));
    let (status, back) = page.get("/api/visit/0");
    assert_eq!((status, back), (200, start), "going back changes nothing");
}

#[test]
fn walks_repeat_with_their_seed() {
    let page = Page::of("builtin:philosophers", &["n=5"]);
    let walk = |seed: u64| page.post("/api/visit/0/walk", &json!({ "steps": 30, "seed": seed })).1;
    assert_eq!(walk(3), walk(3));
    assert!((0..10).any(|seed| walk(seed)["path"] != walk(3)["path"]));
    assert_eq!(page.post("/api/visit/0/walk", &json!({ "steps": 999_999, "seed": 1 })).0, 422);
}

/// Names and data of the events of a search.
pub(crate) fn search(page: &Page, options: &Value) -> Vec<(String, Value)> {
    search_and(page, options, |_, _| {})
}

/// The same; `hear` gets each event as it comes.
fn search_and(page: &Page, options: &Value, mut hear: impl FnMut(&str, &Value)) -> Vec<(String, Value)> {
    let form = json!({ "options": options }).to_string();
    let encoded: String = form.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let mut stream = TcpStream::connect(page.address).expect("connects");
    write!(stream, "GET /api/search?form={encoded} HTTP/1.1\r\n{}\r\n", page.headers()).expect("sent");
    let mut events: Vec<(String, Value)> = Vec::new();
    let mut name = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("text");
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.clone(), serde_json::from_str(data).expect("JSON")));
            hear(&name, &events[events.len() - 1].1);
            if name == "finished" {
                break;
            }
        }
    }
    events
}

#[test]
fn a_search_ends_with_a_witness_that_can_be_followed() {
    let page = Page::of("builtin:philosophers", &["n=4"]);
    let events = search(&page, &json!([["find", "deadlock"], ["strategy", "bfs"], ["seed", "7"]]));
    let (name, started) = &events[0];
    assert_eq!(name, "started");
    let command = "turnpike search builtin:philosophers --set n=4 --find deadlock --strategy bfs --seed 7";
    assert_eq!(started["command"], command);
    let (_, finished) = events.last().expect("the end");
    assert_eq!(finished["verdict"], "found");
    let witness = &finished["findings"]["witnesses"][0];
    assert_eq!((&witness["length"], &witness["shortest"]), (&json!(4), &json!(true)));
    let (_, end) = page.get(&format!("/api/visit/{}", witness["visit"]));
    let steps: Vec<&Value> =
        end["path"].as_array().expect("a list")[1..].iter().map(|step| &step["label"]).collect();
    assert_eq!(json!(steps), witness["labels"]);
    assert_eq!(end["deadlock"], true);
}

#[test]
fn a_stopped_search_reports_what_it_has() {
    let page = Page::of("builtin:bakery", &["n=5"]);
    let options = json!([["find", "deadlock"], ["strategy", "bfs"]]);
    let mut number = Value::Null;
    let events = search_and(&page, &options, |name, data| match name {
        "started" => number = data["search"].clone(),
        "progress" => {
            page.post(&format!("/api/search/{number}/stop"), &json!({}));
        }
        _ => {}
    });
    let (_, finished) = events.last().expect("the end");
    assert_eq!((&finished["interrupted"], &finished["verdict"]), (&json!(true), &json!("inconclusive")));
    assert!(finished["findings"]["states"].as_u64().is_some_and(|states| states > 0), "{finished}");
    assert_eq!(page.post(&format!("/api/search/{number}/stop"), &json!({})).0, 404, "it is over");
}

#[test]
fn delays_are_chosen_and_kept() {
    let model = "../../models/timed/fischer.xta";
    let page = Page::of(model, &["N=2", "WAIT=1", "WRITE=2"]);
    let (_, start) = page.get("/api/visit/0");
    assert_eq!(start["moment"]["time"], "0");
    assert_eq!(start["moment"]["waits"][0]["text"], "≥ 0");
    assert_eq!(start["enabled"][0]["windows"][0]["text"], "≥ 0");
    let (status, first) = page.post("/api/visit/0/step", &json!({ "choice": 0, "delay": "1.5" }));
    assert_eq!((status, &first["path"][1]["time"]), (200, &json!("3/2")));
    assert_eq!(first["moment"]["clocks"][1]["value"], "3/2", "the other clock ran: {first}");
    // The first process has to write within two units of time.
    assert_eq!(first["moment"]["waits"][0]["text"], "[0, 2]");
    let here = first["visit"].as_u64().expect("a number");
    let step =
        |delay: &str| page.post(&format!("/api/visit/{here}/step"), &json!({ "choice": 0, "delay": delay }));
    for wrong in ["3", "x", "-1", "1/0"] {
        assert_eq!(step(wrong).0, 422, "{wrong}");
    }
    let (status, second) = step("2");
    assert_eq!((status, &second["path"][2]["time"]), (200, &json!("7/2")));
    let (_, trace) = page.get(&format!("/api/visit/{}/trace", second["visit"]));
    assert_eq!(trace["steps"][1]["delay"], "2");
    let source = trace["source"].as_str().expect("it says what it belongs to");
    assert!(source.contains("fischer.xta") && source.contains("N=2"), "{source}");
    // The zone has both clocks, although one of them does not matter now.
    let zone = trace["steps"][1]["state"]["zone"].as_str().expect("a zone");
    assert!(zone.contains("P(1).x") && zone.contains("P(2).x"), "{zone}");
    let (_, early) = page.post("/api/visit/0/step", &json!({ "choice": 0 }));
    assert_eq!(early["path"][1]["time"], "0", "without a delay nothing is waited for");
}

/// In states where something can happen, too, it is said which guards keep other edges from being taken.
#[test]
fn guards_that_fail_are_named() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2"]);
    let (_, mut details) = page.get("/api/visit/0");
    let mut lines = Vec::new();
    for _ in 0..4 {
        let (status, next) =
            page.post(&format!("/api/visit/{}/step", details["visit"]), &json!({ "choice": 0 }));
        assert_eq!(status, 200);
        details = next;
        let stuck = details["stuck"].as_array().expect("a list").iter();
        lines.extend(stuck.filter_map(|line| line.as_str().map(str::to_owned)));
    }
    let text = lines.join("\n");
    assert!(text.contains("turn =="), "{text}");
}

#[test]
fn what_is_wrong_with_a_form_is_said() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let ask = |options: Value| page.post("/api/command", &json!({ "options": options }));
    let (status, good) = ask(json!([["find", "action eat"]]));
    assert_eq!(
        (status, good["command"].as_str()),
        (200, Some("turnpike search builtin:philosophers --set n=2 --find 'action eat' --seed 0"))
    );
    for (options, words) in [
        (json!([["find", "flying"]]), "flying"),
        (json!([["strategy", "bsf"]]), "bsf"),
        (json!([["max-states", "many"]]), "many"),
        (json!([["no-such-option", "1"]]), "no-such-option"),
        (json!([["set", "n=3"]]), "how the model is read"),
    ] {
        let (status, answer) = ask(options.clone());
        assert_eq!(status, 200, "a form that is not ready yet is no error: {options}");
        assert!(answer["problem"].as_str().is_some_and(|error| error.contains(words)), "{options}: {answer}");
    }
    let unknown = search(&page, &json!([["find", "action eatt"]]));
    let (_, finished) = unknown.last().expect("the end");
    assert!(
        finished["problems"][0]["message"].as_str().is_some_and(|text| text.contains("eatt")),
        "{finished}"
    );
}

#[test]
fn a_search_stops_when_its_page_goes_away() {
    let page = Page::of("builtin:philosophers", &["n=14"]);
    let form = "%7B%22options%22%3A%5B%5B%22find%22%2C%22action%20fly%22%5D%2C%5B%22allow-unknown%22%2C%22%22%5D%5D%7D";
    for _ in 0..12 {
        // More than may run at once: those before must have stopped.
        let begun = Instant::now();
        loop {
            let mut stream = TcpStream::connect(page.address).expect("connects");
            write!(stream, "GET /api/search?form={form} HTTP/1.1\r\n{}\r\n", page.headers()).expect("sent");
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).expect("an answer");
            if line.contains("200") {
                break;
            }
            assert!(line.contains("429"), "{line}");
            assert!(begun.elapsed() < Duration::from_secs(30), "searches do not stop");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn two_pages_do_not_disturb_each_other() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    let alone = page.post("/api/visit/0/walk", &json!({ "steps": 20, "seed": 1 })).1;
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let page = &page;
            scope.spawn(move || {
                for _ in 0..20 {
                    let (status, _) = page.post("/api/visit/0/walk", &json!({ "steps": 20, "seed": seed }));
                    assert_eq!(status, 200);
                }
            });
        }
    });
    let again = page.post("/api/visit/0/walk", &json!({ "steps": 20, "seed": 1 })).1;
    assert_eq!(again["path"], alone["path"]);
}

#[test]
fn the_page_ends_when_it_is_told() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    assert_eq!(page.post("/api/end", &json!({})).0, 200);
    let begun = Instant::now();
    while TcpStream::connect(page.address).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it still listens");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Queries for extreme values come with the values.
#[test]
fn measured_values_are_answered() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2"]);
    let events = search(&page, &json!([["query", "sup: P(1).x"]]));
    let (_, finished) = events.last().expect("the end");
    let reply = &finished["answers"][0]["reply"];
    assert!(reply["values"][0].as_str().is_some_and(|value| value.starts_with("P(1).x")), "{finished}");
}

/// Nothing can happen in a part of this state: when x is more than 10.
const STUCK_LATER: &str = "clock x; process P() { state A, B; init A; \
    trans A -> B { guard x >= 3; }, B -> A { guard x <= 10; assign x = 0; }; } p = P(); system p;";

#[test]
fn a_state_that_becomes_a_deadlock_with_time_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("later.xta");
    std::fs::write(&file, STUCK_LATER).expect("writes");
    let page = Page::of(&file.display().to_string(), &[]);
    let (_, start) = page.get("/api/visit/0");
    assert_eq!(start["deadlock"], false, "{start}");
    let (_, stuck) = page.post("/api/visit/0/step", &json!({ "choice": 0 }));
    assert_eq!((&stuck["deadlock"], stuck["matching"].as_u64()), (&json!(true), Some(1)), "{stuck}");
    let lines: Vec<&str> =
        stuck["stuck"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!(lines[0], "why nothing can happen any more once time has passed:");
    assert!(lines.iter().any(|line| line.contains("x <= 10 does not hold then, but x > 10")), "{lines:?}");
    let address = format!("/api/visit/{}/chart/why-stuck", stuck["visit"]);
    assert_eq!(page.get(&address).0, 200, "there is a picture of it");
    let (_, graph) = page.post("/api/graph", &json!({ "limit": 5 }));
    let nodes = graph["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["deadlock"] == true), "{graph}");
}

#[test]
fn what_is_not_possible_is_not_called_a_deadlock() {
    let page = Page::of("../../models/abp.mcrl2", &[]);
    let (_, start) = page.get("/api/visit/0");
    assert_eq!(
        (&start["deadlock"], &start["stuck"][0]),
        (&json!(false), &json!("what is not possible now, and why:"))
    );
}

#[test]
fn the_help_of_a_refusal_is_given_once() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let (_, answer) = page.post("/api/command", &json!({ "options": [["strategy", "bsf"]] }));
    let problem = answer["problem"].as_str().expect("a problem");
    assert_eq!(problem.matches("bfs").count(), 1, "{problem}");
}
