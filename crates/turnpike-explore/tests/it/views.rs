//! What the views of the page show, in a real browser.

use std::time::Duration;

use serde_json::json;

use crate::browser::{Browser, in_browser};
use crate::client::Page;

/// Serves a model that is written to a file.
fn page_of(folder: &tempfile::TempDir, name: &str, text: &str) -> Page {
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("writes");
    Page::of(&file.display().to_string(), &[])
}

/// Looks for a deadlock and draws why it is one.
async fn draw_deadlock(browser: &Browser, page: &Page, words: &[&str]) {
    browser.load(page).await;
    browser.fill("#find", "deadlock").await;
    browser.click("#go").await;
    browser.wait("#results button").await;
    browser.wait("#tab-why:not([hidden])").await;
    browser.click("#tab-why").await;
    browser.wait("#picture svg").await;
    for words in words {
        browser.eventually("#picture", words).await;
    }
}

#[test]
fn why_a_specification_is_stuck_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "act s, r, c: Nat; proc S = s(1) . delta; proc R = r(2) . delta; \
                init allow({c}, comm({s|r -> c}, S || R));";
    let page = page_of(&folder, "stuck.mcrl2", text);
    in_browser((1280, 900), async |browser| {
        draw_deadlock(browser, &page, &["s(1)", "r(2)"]).await;
    });
}

#[test]
fn why_a_timed_automaton_is_stuck_later_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "clock x; process P() { state A, B; init A; \
                trans A -> B { guard x >= 3; }, B -> A { guard x <= 10; assign x = 0; }; } p = P(); system p;";
    let page = page_of(&folder, "later.xta", text);
    in_browser((1280, 900), async |browser| {
        draw_deadlock(browser, &page, &["x <= 10"]).await;
        browser.eventually("#hindered-title", "once time has passed").await;
    });
}

#[test]
fn delays_are_added_exactly_and_queries_are_answered() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2", "WAIT=1", "WRITE=2"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.fill("#delay-text", "1/3").await;
        browser.eventually("#clocks", "time 1/3").await;
        browser.click("#enabled button").await;
        browser.eventually("#place", "at 1/3").await;
        browser.fill("#delay-text", "0.25").await;
        browser.eventually("#clocks", "time 7/12").await;
        browser.fill("#queries", "sup: P(1).x").await;
        browser.click("#go").await;
        browser.eventually("#results", "P(1).x has no bound").await;
    });
}

#[test]
fn the_reason_of_a_refusal_is_shown() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.script("document.getElementById('more-options').open = true").await;
        browser.fill("#max-states", "many").await;
        browser.eventually("#wrong", "many").await;
        browser.script("document.getElementById('wrong').textContent = ''").await;
        browser.click("#go").await;
        browser.eventually("#wrong", "many").await;
        browser.forget_complaints().await;
        browser.fill("#max-states", "1000").await;
        browser.click("#go").await;
        browser.eventually("#results", "2 steps").await;
        browser.click("#end").await;
        browser.eventually("#notice", "has ended").await;
        // What is typed afterwards is answered by nobody, and breaks nothing.
        let typing = "window.typing = setInterval(
            () => document.getElementById('form').dispatchEvent(new Event('input')), 100)";
        browser.script(typing).await;
        browser.eventually("#wrong", "no longer answers").await;
        browser.script("clearInterval(window.typing)").await;
        browser.forget_complaints().await;
    });
}

#[test]
fn a_very_large_window_is_used() {
    let page = Page::of("../../models/lift.mcrl2", &[]);
    in_browser((3840, 2160), async |browser| {
        browser.load(&page).await;
        browser.fill("#find", "action protocol_error").await;
        browser.click("#go").await;
        browser.wait("#picture svg.chart [data-step='12']").await;
        let script = "return [document.documentElement.scrollWidth <= window.innerWidth,
            document.getElementById('views').clientWidth > window.innerWidth / 2]";
        assert_eq!(browser.script(script).await, json!([true, true]));
    });
}

/// Only texts change while a search reports: no element is made anew, so nothing flickers.
#[test]
fn progress_makes_no_new_elements() {
    let page = Page::of("builtin:bakery", &["n=5"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.script("const s = document.getElementById('strategy'); s.value = 'bfs'; s.dispatchEvent(new Event('change'))").await;
        browser.fill("#find", "deadlock").await;
        browser.click("#go").await;
        browser.wait("#progress dd").await;
        let watch = "window.made = [];
            new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
                if (node.nodeType === Node.ELEMENT_NODE) window.made.push(node.outerHTML);
            }))).observe(document.body, { childList: true, subtree: true });";
        browser.script(watch).await;
        let mut texts = Vec::new();
        for _ in 0..600 {
            let text = browser.text("#progress").await;
            if texts.last() != Some(&text) {
                texts.push(text);
            }
            if texts.len() >= 10 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(texts.len() >= 10, "progress is shown: {texts:?}");
        assert_eq!(browser.script("return window.made").await, json!([]));
        browser.click("#stop").await;
        browser.eventually("#notice", "stopped").await;
    });
}

#[test]
fn a_larger_part_of_the_state_space_stays_in_view() {
    let page = Page::of("builtin:bakery", &["n=3"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.click("#tab-space").await;
        browser.wait("[data-node='20']").await;
        browser.set_tool("states", "1500").await;
        browser.wait("[data-node='1000']").await;
        let script = "const outer = document.getElementById('picture').getBoundingClientRect();
            const inner = document.querySelector(\"[data-node='0']\").getBoundingClientRect();
            return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom";
        assert_eq!(browser.script(script).await, true, "the initial state is in view");
        // Labels that are drawn do not cover each other.
        browser.set_tool("states", "12").await;
        browser.wait(".space-label").await;
        let covering = "const boxes = [...document.querySelectorAll('.space-label')].map((one) => one.getBoundingClientRect());
            return boxes.filter((one, at) => boxes.some((other, place) => place < at
                && one.left < other.right - 2 && other.left < one.right - 2 && one.top < other.bottom - 3 && other.top < one.bottom - 3)).length";
        assert_eq!(browser.script(covering).await, 0);
    });
}

/// Exact zones may be infinitely many; the picture has those that a search explores, and they can be merged.
#[test]
fn the_state_space_of_timed_automata_is_finite() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2"]);
    let (_, all) = page.post("/api/graph", &json!({ "limit": 3000 }));
    let (_, merged) = page.post("/api/graph", &json!({ "limit": 3000, "bisimilar": true }));
    let nodes = |graph: &serde_json::Value| graph["nodes"].as_array().expect("nodes").clone();
    let all_nodes = nodes(&all);
    assert_eq!((&all["complete"], all_nodes.len()), (&json!(true), 21));
    assert!(nodes(&merged).len() < all_nodes.len(), "{}", nodes(&merged).len());
    // Every node can be looked at, and is found again.
    for node in &all_nodes {
        let body = json!({ "choices": node["choices"], "drawn": true });
        let (status, details) = page.post("/api/visit/0/follow", &body);
        assert_eq!(status, 200, "{details}");
        let (_, place) = page.get(&format!("/api/visit/{}/place", details["visit"]));
        assert!(node["hashes"].as_array().is_some_and(|own| own.contains(&place["hash"])), "{place} {node}");
    }
}

#[test]
fn nodes_are_moved_by_hand() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.click("#tab-space").await;
        browser.wait("[data-node='2']").await;
        let place = "const circle = document.querySelector(\"[data-node='2'] circle\");
            return [Number(circle.getAttribute('cx')), Number(circle.getAttribute('cy'))]";
        let before = browser.script(place).await;
        let way = "return document.querySelectorAll('.space-edge')[1].getAttribute('d')";
        let line = browser.script(way).await;
        let key = "const node = document.querySelector(\"[data-node='2']\"); node.focus();
            node.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }));
            return document.activeElement === node";
        assert_eq!(browser.script(key).await, true, "it keeps the focus");
        let after = browser.script(place).await;
        assert_eq!(after[0].as_f64().zip(before[0].as_f64()).map(|(new, old)| new - old), Some(11.0));
        assert_ne!(browser.script(way).await, line, "its edges come along");
        browser.click("#arrange").await;
        browser.wait(&format!("[data-node='2'] circle[cx='{}']", before[0])).await;
        browser.wait("#arrange[hidden]").await;
        assert_eq!(browser.script(place).await, before);
    });
}

/// Whether a picture stays within its place, and is large enough to read.
const FIT: &str = "
    const picture = document.querySelector('#picture');
    const svg = picture.querySelector('svg.chart');
    const scale = svg.getBoundingClientRect().width / Number(svg.getAttribute('width'));
    return [picture.scrollWidth <= picture.clientWidth + 1, scale > 0.75];";

#[test]
fn pictures_fit_their_window_and_can_be_read() {
    let page = Page::of("../../models/timed/train_gate.xta", &[]);
    for size in [(1400, 900), (820, 900)] {
        in_browser(size, async |browser| {
            browser.load(&page).await;
            browser.press("r").await;
            browser.eventually("#place", "after step 10").await;
            for view in ["automata", "gantt", "timeline", "sequence"] {
                browser.click(&format!("#tab-{view}")).await;
                for _ in 0..100 {
                    if browser.script(FIT).await == json!([true, true]) {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                assert_eq!(browser.script(FIT).await, json!([true, true]), "{view} in {size:?}");
            }
        });
    }
}

#[test]
fn a_zone_shows_which_bounds_are_new() {
    let page = Page::of("../../models/timed/fischer.xta", &["N=2"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        assert_eq!(browser.count(".zone :is(ins, del)").await, 0, "nothing is before the initial state");
        browser.press("1").await;
        browser.wait(".zone ins").await;
        let bounds =
            "return [...document.querySelectorAll('.zone > :not(del)')].map((one) => one.textContent)";
        let shown = browser.script(bounds).await;
        let shown = shown.as_array().expect("bounds");
        assert!(shown.len() > 1 && shown.iter().all(|bound| !bound.as_str().unwrap_or("&").contains('&')));
    });
}

#[test]
fn a_server_that_is_gone_is_said_to_be() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        assert_eq!(page.post("/api/end", &json!({})).0, 200);
        for _ in 0..200 {
            browser.press("1").await;
            if browser.text("#notice").await.contains("turnpike no longer answers") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        browser.eventually("#notice", "turnpike no longer answers").await;
        browser.forget_complaints().await;
    });
}

#[test]
fn a_result_has_the_extreme_value_and_why_the_search_stopped() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    in_browser((1280, 900), async |browser| {
        browser.load(&page).await;
        browser.fill("#find", "min enabled").await;
        browser.click("#go").await;
        browser.eventually("#results", "min enabled = 0").await;
        browser.script("document.getElementById('more-options').open = true").await;
        browser.fill("#max-states", "2").await;
        browser.click("#go").await;
        browser.eventually("#results", "the limit on states was reached").await;
    });
}
