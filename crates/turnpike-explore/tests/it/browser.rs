//! The page in a real browser: loaded, searched, followed, branched off, drawn. Skipped with a word
//! where there is no Chromium with its driver.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use turnpike_model::{Step, Trace};
use turnpike_session::{Location, ProgramSource, Reading, Source};

use crate::client::Page;
use crate::webdriver::Session;

/// The driver's process, with the browser it started in its group.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

/// Starts the driver; gives its port.
fn start_driver() -> Option<(Driver, u16)> {
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = BufReader::new(child.stdout.take()?);
    let driver = Driver(child);
    let mut lines = output.lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    })?;
    // Whoever does not read what it prints stops it.
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

pub(crate) struct Browser {
    pub(crate) session: Session,
    _driver: Driver,
    profile: tempfile::TempDir,
}

impl Browser {
    /// A browser window of this size, or `None` where there is no browser.
    async fn open(size: (u32, u32)) -> Option<Browser> {
        let (driver, port) = start_driver()?;
        let profile = tempfile::tempdir().expect("a folder");
        let options = json!({
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                format!("--window-size={},{}", size.0, size.1),
                format!("--user-data-dir={}", profile.path().display()),
            ],
            "prefs": { "download.default_directory": profile.path().join("saved") },
        });
        let log = json!({ "browser": "ALL" });
        let capabilities = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": log });
        Some(Browser { session: Session::open(port, &capabilities), _driver: driver, profile })
    }

    pub(crate) async fn load(&self, page: &Page) {
        self.session.goto(&page.url);
        self.wait("body[data-ready=true]").await;
    }

    pub(crate) async fn wait(&self, selector: &str) {
        if let Err(error) = self.session.wait(selector) {
            panic!("{selector}: {error}\n{}", self.text("body").await);
        }
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.session.text(&self.session.find(selector).expect(selector))
    }

    pub(crate) async fn click(&self, selector: &str) {
        let element = self.session.find(selector).expect(selector);
        self.session.click(&element).unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    pub(crate) async fn count(&self, selector: &str) -> usize {
        self.session.count(selector)
    }

    /// Types a key that is meant for no field.
    pub(crate) async fn press(&self, key: &str) {
        self.session.type_into(&self.session.find("body").expect("a body"), key);
    }

    /// Runs a script of the page and gives what it returns.
    pub(crate) async fn script(&self, script: &str) -> Value {
        self.session.execute(script).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Sets a field of the tools above a picture, by the beginning of its label.
    pub(crate) async fn set_tool(&self, label: &str, value: &str) {
        let script = format!(
            "const label = [...document.querySelectorAll('#picture-tools label')]
                 .find((one) => one.textContent.trim().startsWith('{label}'));
             const field = label.querySelector('input, select');
             if (field.type === 'checkbox') field.checked = true; else field.value = '{value}';
             field.dispatchEvent(new Event('change'));"
        );
        self.script(&script).await;
    }

    /// What a button saves under this name.
    async fn saved(&self, button: &str, name: &str) -> String {
        self.click(button).await;
        let file = self.profile.path().join("saved").join(name);
        for _ in 0..200 {
            if let Some(text) = std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty()) {
                let _ = std::fs::remove_file(&file);
                return text;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{name} was not saved");
    }

    /// Types into a field that may have a text already.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        let field = self.session.find(selector).expect(selector);
        self.session.clear(&field);
        self.session.type_into(&field, text);
    }

    pub(crate) async fn eventually(&self, selector: &str, words: &str) {
        for _ in 0..200 {
            if self.text(selector).await.contains(words) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{selector} does not say `{words}` but `{}`", self.text(selector).await);
    }

    /// Pictures for the book are made by this test, where a folder is named for them.
    pub(crate) async fn photograph(&self, name: &str) {
        let Some(folder) = picture_folder() else { return };
        self.script("window.scrollTo(0, 0)").await;
        std::fs::write(folder.join(name), self.session.screenshot()).expect("written");
    }

    /// Forgets what the browser complained about so far: it does so about every request that is refused.
    pub(crate) async fn forget_complaints(&self) {
        self.session.console();
    }

    /// Whatever the page complained about fails the test.
    async fn close(self) {
        let log = self.session.console();
        let bad: Vec<&Value> =
            log.iter().filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING").collect();
        assert!(bad.is_empty(), "{bad:#?}");
        self.session.close();
    }
}

/// Runs a test in a browser, or says that it was skipped.
pub(crate) fn in_browser(size: (u32, u32), test: impl AsyncFnOnce(&Browser)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let Some(browser) = Browser::open(size).await else {
            eprintln!("skipped: there is no chromedriver");
            return;
        };
        test(&browser).await;
        browser.close().await;
    });
}

/// Where pictures for the book go, if they are to be made.
fn picture_folder() -> Option<PathBuf> {
    std::env::var_os("TURNPIKE_SCREENSHOTS").map(PathBuf::from)
}

/// A bundled model. Tests run in the folder of their crate, but pictures show the paths that readers type.
pub(crate) fn bundled(path: &str) -> PathBuf {
    static TO_THE_ROOT: std::sync::Once = std::sync::Once::new();
    if picture_folder().is_none() {
        return Path::new("../../models").join(path);
    }
    TO_THE_ROOT.call_once(|| std::env::set_current_dir("../..").expect("a folder"));
    Path::new("models").join(path)
}

/// Searches, follows the witness to its start and back to its end, branches off, and draws it.
async fn search_and_follow(browser: &Browser, objective: &str, steps: usize) {
    browser.click("#tab-sequence").await;
    browser.fill("#find", objective).await;
    browser.click("#go").await;
    browser.wait("#results button").await;
    browser.eventually("#place", &format!("after step {steps}")).await;
    browser.wait("#picture svg").await;
    let chart = browser.saved("#picture-tools button", "sequence.svg").await;
    assert!(chart.starts_with("<svg") && chart.contains(&format!("data-step=\"{steps}\"")), "{chart:.200}");
    browser.click("#start").await;
    browser.eventually("#place", "initial state").await;
    for step in 1..=steps {
        browser.press("n").await;
        browser.eventually("#place", &format!("after step {step}:")).await;
    }
    browser.press("b").await;
    let before = if steps == 1 { "initial state".to_owned() } else { format!("after step {}:", steps - 1) };
    browser.eventually("#place", &before).await;
    browser.wait("#picture svg").await;
    browser.click("#start").await;
    browser.eventually("#place", "initial state").await;
    browser.click("#walk").await;
    browser.eventually("#place", "after step").await;
    assert!(browser.count("#tree li").await >= 3, "the walk is a branch of its own");
    browser.click("#results button").await;
    browser.eventually("#place", &format!("after step {steps}")).await;
    // The chart is that of the witness again, with its last step marked.
    browser.wait(&format!("#picture .here[data-step='{steps}']")).await;
}

#[test]
fn a_specification_in_the_browser() {
    let page = Page::of(&bundled("lift.mcrl2").display().to_string(), &[]);
    in_browser((1600, 1100), async |browser| {
        browser.load(&page).await;
        let address = browser.session.url();
        assert!(!address.contains('?'), "the token left the address: {address}");
        search_and_follow(browser, "action protocol_error", 12).await;
        assert_eq!(browser.count("#picture .process").await, 6, "a lane for each component");
        browser.photograph("lift-sequence.png").await;
        browser.click("#tab-timeline").await;
        browser.wait("#picture svg").await;
        // Names are completed: those of actions after `action`, those of values after `state`.
        browser.fill("#find", "action proto").await;
        browser.eventually("#find-words", "protocol_error").await;
        browser.fill("#find", "state Station(3).").await;
        browser.eventually("#find-words", "Station(3).c").await;
        browser.fill("#find", "deadlock").await;
        browser.click("#tab-space").await;
        browser.wait("[data-node='5']").await;
        browser.click("[data-node='5']").await;
        browser.wait("[data-node='5'] .current").await;
        let graph = browser.saved("#save-space", "state-space.svg").await;
        assert!(graph.contains("space-node") && graph.contains("<style"), "{graph:.200}");
        browser.photograph("lift-space.png").await;
    });
}

#[test]
fn timed_automata_in_the_browser() {
    let settings = ["N=3", "WAIT=1", "WRITE=2"];
    let page = Page::of(&bundled("timed/fischer.xta").display().to_string(), &settings);
    in_browser((1600, 1100), async |browser| {
        browser.load(&page).await;
        search_and_follow(browser, "state P(1).critical && P(2).critical", 6).await;
        browser.click("#tab-gantt").await;
        browser.wait("#picture svg").await;
        browser.photograph("fischer-gantt.png").await;
        browser.click("#start").await;
        browser.eventually("#place", "initial state").await;
        browser.fill("#delay-text", "3/2").await;
        browser.eventually("#clocks", "time 3/2").await;
        browser.click("#enabled button").await;
        browser.eventually("#place", "at 3/2").await;
        browser.eventually("#delay-note", "one can wait [0, 2]").await;
    });
}

#[test]
fn a_narrow_window_is_enough_for_a_trace() {
    let steps = ["lock(1,1)", "lock(2,2)"].map(Step::new).to_vec();
    let trace = Trace { steps, ..Trace::default() };
    let reading = Reading { settings: vec!["n=3".to_owned()], ..Reading::default() };
    let source = Source::Model { location: Location::from("builtin:philosophers"), reading };
    let page = Page::serve_at(&source, Some(&trace));
    in_browser((360, 740), async |browser| {
        browser.load(&page).await;
        browser.eventually("#place", "after step 2: lock(2,2)").await;
        browser.press("b").await;
        browser.eventually("#followed", "1 more step").await;
        search_and_follow(browser, "deadlock", 3).await;
        let script = "return document.documentElement.scrollWidth <= window.innerWidth";
        let fits = browser.script(script).await;
        assert_eq!(fits, true, "nothing sticks out at the right");
    });
}

#[test]
fn long_names_do_not_widen_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("long.mcrl2");
    let (action, process) = ("a_".repeat(60), "Process_".repeat(8));
    let text = format!(
        "act {action}: List(Nat); proc {process}(history: List(Nat)) = {action}(history) . \
         {process}(if(#history < 40, 7 |> history, history)); init {process}([]);"
    );
    std::fs::write(&file, text).expect("written");
    let reading = Reading::default();
    let page = Page::serve(&Source::Model { location: Location::File(file.display().to_string()), reading });
    for size in [(360, 740), (1400, 900)] {
        in_browser(size, async |browser| {
            browser.load(&page).await;
            browser.press("r").await;
            browser.eventually("#place", "after step 10").await;
            let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
            assert_eq!(browser.script(fits).await, true, "{size:?}: nothing sticks out at the right");
            let shown = "const cell = document.querySelector('#values tbody td:nth-child(3)');
                const table = cell.closest('.scroll').getBoundingClientRect();
                return cell.getBoundingClientRect().left + 40 <= table.right";
            assert_eq!(browser.script(shown).await, true, "{size:?}: values stand beside their names");
        });
    }
}

/// Controls without a name that a screen reader could say.
const NAMELESS: &str = "
    return [...document.querySelectorAll('button, input, select, [role=tab], [role=button]')]
        .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length
            || one.title))
        .map((one) => one.outerHTML);";

/// Texts that stand out too little: by the rules for contrast, 4.5 to 1 is enough.
const FAINT: &str = "
    const light = (text) => {
        const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((one) => one / 255)
            .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!colour.startsWith('rgba(0, 0, 0, 0')) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    return [...document.querySelectorAll('h2, h3, p, td, th, label, button:not(:disabled), code, li')]
        .filter((one) => one.offsetParent && one.textContent.trim())
        .map((one) => [light(getComputedStyle(one).color), light(behind(one)), one.textContent.trim()])
        .filter(([text, back]) => (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05) < 4.5)
        .map(([, , text]) => text);";

#[test]
fn everything_has_a_key_a_name_and_contrast() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    in_browser((1400, 900), async |browser| {
        browser.load(&page).await;
        browser.press("?").await;
        browser.wait("#keys[open]").await;
        browser.click("#keys button").await;
        browser.press("1").await;
        browser.eventually("#place", "after step 1").await;
        browser.press("b").await;
        browser.eventually("#place", "initial state").await;
        // Keys that are typed faster than the server answers are not lost.
        browser.press("111bb1").await;
        browser.eventually("#place", "after step 2").await;
        browser.press("bb").await;
        browser.eventually("#place", "initial state").await;
        // The second of the listed transitions, with the keyboard alone.
        browser.press("jj").await;
        let label = browser.text(":focus .label").await;
        browser.session.type_into(&browser.session.focused(), "\u{e007}");
        browser.eventually("#place", &format!("after step 1: {label}")).await;
        browser.press("0").await;
        browser.press("r").await;
        browser.eventually("#place", "after step").await;
        for scheme in ["light", "dark"] {
            browser.session.choose_colours(scheme);
            assert_eq!(browser.script(FAINT).await, json!([]), "in {scheme} colours");
        }
        assert_eq!(browser.script(NAMELESS).await, json!([]));
        let twice = "const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
            return ids.filter((id, at) => ids.indexOf(id) !== at)";
        assert_eq!(browser.script(twice).await, json!([]), "ids are unique");
    });
}

#[test]
fn values_are_filtered_and_pinned_and_the_state_space_is_folded() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    in_browser((1400, 900), async |browser| {
        browser.load(&page).await;
        browser.click("[aria-label='Pin fork2']").await;
        browser.fill("#filter-values", "philosopher3").await;
        let names = "return [...document.querySelectorAll('#values tbody td:nth-child(2)')].map((one) => one.textContent)";
        assert_eq!(browser.script(names).await, json!(["fork2", "philosopher3"]), "what is pinned stays");
        browser.click("#tab-space").await;
        browser.wait("[data-node='1']").await;
        let all = browser.count("[data-node]").await;
        browser.set_tool("colour by", "fork1").await;
        browser.wait(".key-entry").await;
        let colours = browser.count(".key-entry").await;
        assert!(colours >= 3, "free, or held by one of two: {colours}");
        browser.set_tool("collapse by", "fork1").await;
        browser.wait("[data-node='0'] title").await;
        browser.eventually("#picture-key", &format!("as {colours} nodes")).await;
        assert_eq!(browser.count("[data-node]").await, colours, "a node for each value");
        browser.set_tool("bisimilar", "").await;
        browser.eventually("#picture-key", "these are all states").await;
        assert!(browser.count("[data-node]").await <= all);
        browser.set_tool("highway", "2").await;
        browser.eventually("#picture", "1: 2 of 3").await;
    });
}

#[test]
fn nodes_are_dragged_by_the_mouse() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    in_browser((1400, 900), async |browser| {
        browser.load(&page).await;
        browser.click("#tab-space").await;
        browser.wait("[data-node='1']").await;
        let place =
            "const at = (node) => document.querySelector(`[data-node='${node}']`).getBoundingClientRect();
            return [at(1).x - at(0).x, at(1).y - at(0).y].map(Math.round)";
        let before = browser.script(place).await;
        let node = browser.session.find("[data-node='1']").expect("a node");
        browser.session.drag(&node, 40, 25);
        let after = browser.script(place).await;
        let moved =
            |axis: usize| after[axis].as_f64().expect("a number") - before[axis].as_f64().expect("a number");
        assert!((moved(0) - 40.0).abs() < 3.0 && (moved(1) - 25.0).abs() < 3.0, "{before} {after}");
        assert_eq!(browser.text("#place").await, "in the initial state", "the end of a drag is not a click");
        browser.click("[data-node='1']").await;
        browser.eventually("#place", "after step 1").await;
    });
}

#[test]
fn names_are_never_markup() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("names.aut");
    let label =
        "<script>document.body.dataset.broken=1</script><img src=x onerror=document.body.dataset.broken=1>";
    std::fs::write(
        &file,
        format!("des (0,5,4)\n(0,\"{label}\",1)\n(0,\"b\",2)\n(0,\"c\",3)\n(2,\"d\",0)\n(3,\"e\",0)\n"),
    )
    .expect("written");
    let reading = Reading::default();
    let page = Page::serve(&Source::Model { location: Location::File(file.display().to_string()), reading });
    in_browser((1000, 900), async |browser| {
        browser.load(&page).await;
        search_and_follow(browser, "deadlock", 1).await;
        browser.eventually("#place", "<script>").await;
        browser.wait("#picture svg").await;
        browser.click("#tab-space").await;
        browser.wait("[data-node='1']").await;
        assert_eq!(browser.count("body[data-broken]").await, 0);
        assert_eq!(browser.count("#picture script, #place script, #enabled img").await, 0);
    });
}

#[test]
fn a_program_in_the_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = bundled("programs/lock_order_bug.c");
    let place = if picture_folder().is_some() { Path::new("target") } else { folder.path() };
    let program = place.join("lock_order");
    let compiled =
        Command::new("cc").args(["-g", "-O0", "-pthread", "-o"]).arg(&program).arg(&source).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let page = Page::serve(&Source::Program(ProgramSource { path: program, ..ProgramSource::default() }));
    in_browser((1600, 1300), async |browser| {
        browser.load(&page).await;
        browser.wait(".thread pre .here").await;
        search_and_follow(browser, "deadlock", 2).await;
        browser.eventually("#threads", "waits").await;
        browser.eventually("#threads", "holds accounts[0].lock since").await;
        browser.photograph("lock-order.png").await;
        browser.click("#tab-why").await;
        browser.wait("#picture svg").await;
        browser.eventually("#picture", "held by main.1 since").await;
        browser.photograph("lock-order-why.png").await;
        browser.press("b").await;
    });
}
