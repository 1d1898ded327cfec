//! Formulas on the page: verdicts, and what shows them.

use serde_json::{Value, json};

use crate::answers::search;
use crate::browser::{bundled, in_browser};
use crate::client::Page;

/// The verdicts on some formulas.
fn verdicts(page: &Page, formulas: &[&str]) -> Vec<Value> {
    let options: Vec<(&str, &str)> = formulas.iter().map(|&formula| ("formula", formula)).collect();
    let events = search(page, &json!(options));
    let (_, finished) = events.last().expect("the end");
    finished["formulas"].as_array().unwrap_or_else(|| panic!("{finished}")).clone()
}

#[test]
fn a_path_that_violates_a_formula_can_be_followed() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    let answers = verdicts(&page, &["[true*]<true>true", "<true*.eat(1)>true", "[true*.eat(1).eat(1)]false"]);
    let verdict = |at: usize| answers[at]["reply"]["verdict"].as_str().expect("a verdict");
    assert_eq!([verdict(0), verdict(1), verdict(2)], ["violated", "holds", "holds"]);
    let evidence = &answers[0]["reply"]["evidence"];
    assert_eq!((&evidence["kind"], &evidence["length"]), (&json!("path"), &json!(3)));
    let (_, end) = page.get(&format!("/api/visit/{}", evidence["visit"]));
    assert_eq!(end["deadlock"], true);
    assert!(answers[2]["reply"].get("evidence").is_none(), "that all was explored is no path");
}

#[test]
fn a_loop_is_drawn_as_one() {
    let page = Page::of("../../models/abp.mcrl2", &[]);
    let (_, model) = page.get("/api/model");
    let files: Vec<&str> =
        model["formulas"].as_array().expect("files").iter().filter_map(Value::as_str).collect();
    let must = files.iter().find(|file| file.ends_with("6-must-be-delivered.mcf")).expect("beside the model");
    let answers = verdicts(&page, &[must]);
    let reply = &answers[0]["reply"];
    assert_eq!(reply["verdict"], "violated", "{reply}");
    assert!(reply["sentence"].as_str().is_some_and(|text| text.contains("can continue forever")), "{reply}");
    let (evidence, loop_start) = (&reply["evidence"], reply["evidence"]["loop"].as_u64().expect("a loop"));
    let (_, end) = page.get(&format!("/api/visit/{}", evidence["visit"]));
    let path = end["path"].as_array().expect("a way");
    let (_, back) = page.get(&format!("/api/visit/{}", path[loop_start as usize]["visit"]));
    assert_eq!(end["hash"], back["hash"], "the loop closes");
}

#[test]
fn timed_automata_and_branching_evidence() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2", "WAIT=1", "WRITE=2"]);
    let answers = verdicts(&page, &["[true*.at_P(1,critical).at_P(2,critical)]false"]);
    let evidence = &answers[0]["reply"]["evidence"];
    let (status, end) = page.get(&format!("/api/visit/{}", evidence["visit"]));
    assert_eq!(status, 200, "{answers:?}");
    let values = end["values"].as_array().expect("values").iter();
    let critical = values.filter(|value| value["value"] == "critical").count();
    assert_eq!(critical, 2, "both are there at once: {end}");
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let answers = verdicts(&page, &["<true>true && <true*.eat(1)>true && <true*.eat(2)>true"]);
    let evidence = &answers[0]["reply"]["evidence"];
    assert_eq!((&answers[0]["reply"]["verdict"], &evidence["kind"]), (&json!("holds"), &json!("strategy")));
    assert!(
        evidence["picture"]
            .as_str()
            .is_some_and(|picture| picture.contains("eat(1)") && picture.contains("eat(2)"))
    );
    assert!(evidence["aut"].as_str().is_some_and(|aut| aut.starts_with("des (0,")));
}

#[test]
fn a_wrong_formula_is_explained() {
    let page = Page::of("../../models/abp.mcrl2", &[]);
    let events = search(&page, &json!([["formula", "[true*.no_such_action]false"]]));
    let (_, finished) = events.last().expect("the end");
    let message = finished["problems"][0]["message"].as_str().expect("a message");
    assert!(message.contains("no_such_action"), "{message}");
}

#[test]
fn formulas_in_the_browser() {
    let page = Page::of(&bundled("abp.mcrl2").display().to_string(), &[]);
    in_browser((1400, 1000), async |browser| {
        browser.load(&page).await;
        browser.click("#formulas summary").await;
        browser.script("document.querySelector(\"[data-formula$='6-must-be-delivered.mcf']\").click()").await;
        browser.eventually("#command", "6-must-be-delivered.mcf").await;
        browser.click("#go").await;
        browser.eventually("#results", "violated").await;
        browser.eventually("#results", "with a loop").await;
        browser.eventually("#place", "after step").await;
        browser.wait("#picture svg .back").await;
        browser.photograph("abp-loop.png").await;
        browser.script("document.querySelector(\"[data-formula$='6-must-be-delivered.mcf']\").click()").await;
        browser.fill("#formula", "<true*.accept(0)>true && <true*.accept(1)>true").await;
        browser.click("#go").await;
        browser.eventually("#results", "holds").await;
        browser.wait("#tab-evidence[aria-selected=true]").await;
        browser.wait("#picture svg .location").await;
        browser.fill("#formula", "[true*.nothing]false").await;
        browser.click("#go").await;
        browser.eventually("#wrong", "nothing").await;
    });
}
