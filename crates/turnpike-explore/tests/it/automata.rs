//! Timed automata drawn with their current locations.

use serde_json::{Value, json};

use crate::browser::{bundled, in_browser};
use crate::client::Page;

fn fischer() -> Page {
    Page::of("../../models/timed/fischer.xta", &["N=2", "WAIT=1", "WRITE=2"])
}

/// The text of a picture.
fn picture(page: &Page, address: &str) -> String {
    let (status, text) = page.send(format!("GET {address} HTTP/1.1\r\n{}\r\n", page.headers()).as_bytes());
    assert_eq!(status, 200, "{text}");
    text
}

#[test]
fn automata_are_drawn_with_where_they_are() {
    let page = fischer();
    let (_, model) = page.get("/api/model");
    assert_eq!(model["automata"], json!(["P(1)", "P(2)"]));
    let start = picture(&page, "/api/visit/0/chart/automata");
    for words in
        ["turn == 0", "x = 0, turn = 1", "x = 0, turn = 2", "x &gt; 1 &amp;&amp; turn == 1", "x &lt;= 2"]
    {
        assert!(start.contains(words), "{words}: {start}");
    }
    assert!(!start.contains("P(1).x"), "names of the process itself have no prefix: {start}");
    for automaton in 0..2 {
        assert!(
            start.contains(&format!("location here\" data-automaton=\"{automaton}\" data-location=\"0\""))
        );
    }
    assert_eq!(start.matches("class=\"edge enabled\"").count(), 2);
    let (_, details) = page.get("/api/visit/0");
    assert_eq!(
        (&details["enabled"][0]["edges"], &details["enabled"][1]["edges"]),
        (&json!([[0, 0]]), &json!([[1, 0]]))
    );
    let (_, next) = page.post("/api/visit/0/step", &json!({ "choice": 1 }));
    let text = picture(&page, &format!("/api/visit/{}/chart/automata?names=%5B%22P(2)%22%5D", next["visit"]));
    assert!(text.contains("edge taken\" data-automaton=\"1\" data-edge=\"0\""), "{text}");
    assert!(text.contains("location here\" data-automaton=\"1\" data-location=\"1\""), "{text}");
    assert!(!text.contains("data-automaton=\"0\""), "only the named one is drawn");
    assert_eq!(page.get("/api/visit/0/chart/automata?names=%5B%22Q%22%5D").0, 422);
    let other = Page::of("builtin:philosophers", &["n=2"]);
    assert_eq!(other.get("/api/model").1["automata"], json!([]));
    assert_eq!(other.get("/api/visit/0/chart/automata").0, 422);
}

/// Every transition of a walk takes edges that leave the locations before it and lead to those after it.
#[test]
fn edges_are_those_of_the_transitions() {
    for (model, settings) in [
        ("fischer.xta", vec!["N=3"]),
        ("train_gate.xta", vec!["N=3"]),
        ("csma_cd.xta", vec![]),
        ("bang_olufsen.xta", vec![]),
    ] {
        let page = Page::of(&format!("../../models/timed/{model}"), &settings);
        let (_, mut at) = page.post("/api/visit/0/walk", &json!({ "steps": 12, "seed": 5 }));
        let (_, names) = page.get("/api/model");
        let names = names["automata"].as_array().expect("names").clone();
        let location = |details: &Value, automaton: usize| -> Value {
            let values = details["values"].as_array().expect("values");
            let own = values.iter().find(|value| value["name"] == names[automaton]);
            own.map_or(Value::Null, |value| value["value"].clone())
        };
        for _ in 0..6 {
            let Some(way) = at["enabled"].as_array().and_then(|ways| ways.last()).cloned() else { break };
            let (_, next) =
                page.post(&format!("/api/visit/{}/step", at["visit"]), &json!({ "choice": way["choice"] }));
            let edges = way["edges"].as_array().expect("edges").clone();
            assert!(!edges.is_empty(), "{model}: {way}");
            for (automaton, name) in names.iter().enumerate() {
                let moves = edges.iter().any(|edge| edge[0] == automaton);
                assert!(
                    moves || location(&at, automaton) == location(&next, automaton),
                    "{model} {name}: {way}"
                );
            }
            at = next;
        }
    }
}

#[test]
fn automata_in_the_browser() {
    let model = bundled("timed/fischer.xta").display().to_string();
    let page = Page::of(&model, &["N=2", "WAIT=1", "WRITE=2"]);
    in_browser((1600, 1100), async |browser| {
        browser.load(&page).await;
        browser.wait("#picture svg .location.here").await;
        // The edges of the transition that one looks at are marked.
        browser.press("j").await;
        browser.wait("#picture .edge.next[data-automaton='0'][data-edge='0']").await;
        // An edge that can be taken is taken by a click, or by the keyboard.
        browser.script("document.querySelector(\"#picture .edge.enabled[data-automaton='1']\").dispatchEvent(new MouseEvent('click', { bubbles: true }))").await;
        browser.eventually("#place", "after step 1: P(2)@tau").await;
        browser.wait("#picture .location.here[data-automaton='1'][data-location='1']").await;
        browser.wait("#picture .edge.taken[data-automaton='1'][data-edge='0']").await;
        let key = "const edge = document.querySelector(\"#picture .edge.enabled[data-automaton='1']\");
            edge.focus(); edge.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
            return [edge.getAttribute('role'), edge.getAttribute('aria-label')]";
        assert_eq!(browser.script(key).await, json!(["button", "Take P(2): x = 0, turn = 2"]));
        browser.eventually("#place", "after step 2").await;
        browser.fill("#find", "state P(1).critical && P(2).critical").await;
        browser.click("#go").await;
        browser.eventually("#place", "after step 6").await;
        browser.click("#start").await;
        // On the way of a witness, the next step is marked.
        browser.wait("#picture .edge.next").await;
        browser.photograph("fischer-automata.png").await;
    });
}
