//! The report in a real browser: figures are drawn, tables hold what the database holds, phones need no sideways scrolling.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{folder, turnpike_in};
use serde_json::Value;

const EXPERIMENT: &str = r#"
title = "Philosophers <&> forks"
runs = 25
flags = "--find deadlock --max-states 3000"

[[model]]
name = "philosophers({n})"
use = "builtin:philosophers"
flags = "--set n={n}"
vary = { n = [4, 6, 8] }

[[strategy]]
name = "highway {width}"
flags = "--strategy highway --width {width}"
vary = { width = [1, 2, 3, 4] }

[[strategy]]
name = "rdfs"
flags = "--strategy rdfs"

[[published]]
strategy = "rdfs"
states = 1

[[draw]]
kind = "table"

[[draw]]
kind = "success-by-states"

[[draw]]
kind = "survival"

[[draw]]
kind = "histogram"

[[draw]]
kind = "effects"

[[draw]]
kind = "rate-by-parameter"
parameter = "width"
"#;

/// Measures the page in a frame as wide as a phone, and in one as wide as a screen.
const MEASURE: &str = r#"
const measure = (frame) => {
  const page = frame.contentDocument;
  const boxes = [...page.querySelectorAll('svg.chart')].map((svg) => {
    const box = svg.getBoundingClientRect();
    const lines = [...svg.querySelectorAll('path.line')].map((path) => path.getTotalLength());
    const stroke = lines.length ? getComputedStyle(svg.querySelector('path.line')).stroke : '';
    return { width: box.width, height: box.height, lines, stroke, titles: svg.querySelectorAll('title').length };
  });
  return {
    boxes,
    scroll: page.documentElement.scrollWidth,
    width: frame.clientWidth,
    background: getComputedStyle(page.body).backgroundColor,
    cells: [...page.querySelector('td[title]').closest('table').querySelectorAll('tbody tr')].map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.firstChild.textContent.trim())),
    deviating: page.querySelectorAll('td.deviates').length,
    captions: [...page.querySelectorAll('figcaption')].map((caption) => caption.textContent),
  };
};
let left = 2;
const results = {};
for (const frame of document.querySelectorAll('iframe')) {
  frame.onload = () => {
    results[frame.id] = measure(frame);
    if (--left === 0) document.getElementById('measured').textContent = JSON.stringify(results);
  };
  frame.srcdoc = report;
}
"#;

pub(crate) fn browser() -> Option<String> {
    let asked = std::env::var("CHROMIUM").ok();
    let names = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    asked.into_iter().chain(names).find(|name| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

fn measured(browser: &str, folder: &Path, dark: bool) -> Value {
    let html = std::fs::read_to_string(folder.join("out/index.html")).expect("a page");
    // A text in a script must not end it.
    let text = serde_json::to_string(&html).expect("a text").replace("</", "<\\/");
    let page = format!(
        "<!doctype html><meta charset=utf-8><iframe id=phone style='width:360px;height:640px'></iframe>\
         <iframe id=screen style='width:1200px;height:800px'></iframe><pre id=measured></pre>\
         <script>const report = {text};{MEASURE}</script>"
    );
    let file = folder.join("measure.html");
    std::fs::write(&file, page).expect("a page");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser runs");
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = dom.split_once("<pre id=\"measured\">").expect("the page was read");
    let (text, _) = rest.split_once("</pre>").expect("the page ends");
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

#[test]
fn figures_are_drawn_and_tables_hold_the_numbers() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no chromium here (CHROMIUM names one)");
        return;
    };
    let here = folder(&[("phil.toml", EXPERIMENT)]);
    let here = here.path();
    turnpike_in(here, &["lab", "run", "phil.toml"], "").expect(0, &["375 new runs"]);
    turnpike_in(here, &["lab", "report", "phil.toml", "-o", "out"], "").expect(0, &[]);
    let light = measured(&browser, here, false);
    let dark = measured(&browser, here, true);
    for (theme, frame) in [(&light, "phone"), (&light, "screen"), (&dark, "screen")] {
        let page = &theme[frame];
        let boxes = page["boxes"].as_array().expect("figures");
        assert_eq!(boxes.len(), 4 * 3 + 1, "four kinds for each of three models, and one over all");
        for figure in boxes {
            let size = |side: &str| figure[side].as_f64().expect("a number");
            assert!(size("width") > 250.0 && size("height") > 100.0, "{figure}");
            assert!(figure["titles"].as_u64().expect("a number") > 0, "{figure}");
            assert_ne!(figure["stroke"], "none", "{figure}");
            for length in figure["lines"].as_array().expect("lines") {
                assert!(length.as_f64().is_some(), "{figure}");
            }
        }
        assert!(boxes.iter().any(|figure| figure["lines"].as_array().is_some_and(|lines| lines.len() == 5)));
        assert!(
            page["scroll"].as_f64() <= page["width"].as_f64(),
            "the page is wider than the {frame}: {page}"
        );
        for caption in page["captions"].as_array().expect("captions") {
            let caption = caption.as_str().expect("text");
            assert!(caption.contains("25 runs each") && caption.contains("max-states 3000"), "{caption}");
        }
    }
    assert_ne!(light["screen"]["background"], dark["screen"]["background"]);
    assert_eq!(light["screen"]["deviating"], 3, "one state is not what depth-first search needs");

    // What the table says, from the numbers that the database has.
    let text = turnpike_in(here, &["lab", "export", "--csv", "phil.toml"], "").expect(0, &[]).stdout;
    let cells = light["screen"]["cells"].as_array().expect("rows");
    assert_eq!(cells.len(), 3);
    for row in cells {
        let name = row[0].as_str().expect("a name");
        for (column, strategy) in
            ["highway 1", "highway 2", "highway 3", "highway 4", "rdfs"].iter().enumerate()
        {
            let runs: Vec<Vec<&str>> = text
                .lines()
                .filter(|line| line.contains(&format!(",{name},{strategy},")))
                .map(|line| line.split(',').collect())
                .collect();
            assert_eq!(runs.len(), 25);
            let found: Vec<&Vec<&str>> = runs.iter().filter(|run| run[7] == "true").collect();
            let told = row[column + 1].as_str().expect("a cell");
            let parts: Vec<f64> =
                told.split(" / ").map(|part| part.replace(',', "").parse().unwrap_or(f64::NAN)).collect();
            assert_eq!(parts[3], found.len() as f64 * 4.0, "{name} {strategy}: {told}");
            for (field, shown) in [(9, parts[0]), (16, parts[1]), (15, parts[2])] {
                let sum: f64 = found.iter().map(|run| run[field].parse::<f64>().expect("a number")).sum();
                let mean = sum / found.len() as f64;
                assert!(
                    found.is_empty() || (mean - shown).abs() <= 0.51,
                    "{name} {strategy}: {told}, not {mean}"
                );
            }
        }
    }
}
