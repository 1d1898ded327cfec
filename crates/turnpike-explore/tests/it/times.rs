//! How long the page takes to load and to answer a step, on all bundled models. Measured on request only:
//!
//! ```text
//! TURNPIKE_TIMES=1 cargo test -p turnpike-explore --test it times -- --nocapture
//! ```

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use turnpike_session::{Location, ProgramSource, Reading, Source};

use crate::browser::{bundled, in_browser};
use crate::client::Page;

/// Random steps that are taken in each model.
const STEPS: u64 = 100;

fn models() -> Vec<PathBuf> {
    let folders = [bundled("."), bundled("timed")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "mcrl2" || ending == "xta"));
    files.sort();
    files
}

/// Bundled programs, compiled where there is a compiler.
fn programs(folder: &std::path::Path) -> Vec<(String, Source)> {
    let compile = |name: &str| {
        let program = folder.join(name);
        let source = bundled("programs").join(format!("{name}.c"));
        let mut compiler = std::process::Command::new("cc");
        let compiled = compiler.arg("-g").arg(source).args(["-pthread", "-o"]).arg(&program).status();
        compiled.is_ok_and(|status| status.success()).then(|| {
            let source = Source::Program(ProgramSource { path: program, ..ProgramSource::default() });
            (format!("programs/{name}.c"), source)
        })
    };
    ["lock_order_bug", "bounded_queue_ok", "bbuf_ok"].into_iter().filter_map(compile).collect()
}

/// Milliseconds.
fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Milliseconds of each of some random steps. A walk that is stuck begins anew.
fn steps(page: &Page) -> Vec<f64> {
    let mut times = Vec::new();
    let mut here = page.get("/api/visit/0").1;
    for step in 0..STEPS {
        let ways = here["enabled"].as_array().map_or(0, Vec::len) as u64;
        if ways == 0 {
            here = page.get("/api/visit/0").1;
            continue;
        }
        let choice = here["enabled"][(step * 7919 % ways) as usize]["choice"].clone();
        let path = format!("/api/visit/{}/step", here["visit"]);
        let start = Instant::now();
        let (status, next) = page.post(&path, &json!({ "choice": choice }));
        times.push(since(start));
        assert_eq!(status, 200, "{next}");
        here = next;
    }
    times.sort_by(f64::total_cmp);
    times
}

#[test]
fn loading_and_stepping_are_measured_on_request() {
    if std::env::var_os("TURNPIKE_TIMES").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let model = |path: PathBuf| {
        let text = path.display().to_string();
        let source = Source::Model { location: Location::from(text.as_str()), reading: Reading::default() };
        (text.trim_start_matches("../../models/").trim_start_matches("./").to_owned(), source)
    };
    let sources: Vec<(String, Source)> =
        models().into_iter().map(model).chain(programs(folder.path())).collect();
    eprintln!("{:32} {:>10} {:>12} {:>12}   milliseconds", "model", "load", "step median", "step most");
    in_browser((1400, 900), async |browser| {
        for (name, source) in &sources {
            let page = Page::serve(source);
            browser.load(&page).await;
            // Until the last of what the page asked for arrived, and it was ready.
            let load = browser.script("return performance.getEntriesByName('ready')[0].startTime").await;
            let times = steps(&page);
            let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
            eprintln!("{name:32} {:10.0} {median:12.1} {most:12.1}", load.as_f64().unwrap_or(f64::NAN));
            browser.forget_complaints().await;
        }
    });
}
