//! Whom the page refuses. Nothing that is refused changes anything.

use serde_json::json;
use turnpike_session::{
    Goals, Limits, ProgramSource, Reading, Running, Section, TimedReading, WitnessSettings, strategy,
};

use crate::answers::search;
use crate::client::Page;

/// A small generator: a test needs no better one.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn letters(&mut self, most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| char::from(b' ' + self.below(94) as u8)).collect()
    }
}

#[test]
fn the_token_is_asked_for_and_leaves_the_address() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let host = format!("host: {}\r\nconnection: close\r\n", page.address);
    let (status, _) = page.send(format!("GET / HTTP/1.1\r\n{host}\r\n").as_bytes());
    assert_eq!(status, 401, "without a token");
    let (status, _) = page.send(format!("GET /?token=0000 HTTP/1.1\r\n{host}\r\n").as_bytes());
    assert_eq!(status, 401, "with another token");
    let (status, text) = page.send(format!("GET /?token={} HTTP/1.1\r\n{host}\r\n", page.token).as_bytes());
    assert_eq!(status, 303);
    let headers = text.to_ascii_lowercase();
    assert!(headers.contains("location: /\r\n"), "{text}");
    assert!(headers.contains("httponly") && headers.contains("samesite=strict"), "{text}");
    let (status, text) = page.send(format!("GET / HTTP/1.1\r\n{}\r\n", page.headers()).as_bytes());
    assert_eq!(status, 200);
    let headers = text.to_ascii_lowercase();
    assert!(headers.contains("content-security-policy: default-src 'none'"), "{text}");
    assert!(headers.contains("referrer-policy: no-referrer") && headers.contains("nosniff"), "{text}");
}

#[test]
fn foreign_names_and_origins_are_refused() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let port = page.address.port();
    let cookie = format!("cookie: turnpike-{port}={}\r\nconnection: close\r\n", page.token);
    for (host, origin, status) in [
        (format!("127.0.0.1:{port}"), String::new(), 200),
        (format!("localhost:{port}"), String::new(), 200),
        ("rebound.example".to_owned(), String::new(), 403),
        (format!("rebound.example:{port}"), String::new(), 403),
        (format!("127.0.0.1:{port}"), "origin: http://foreign.example\r\n".to_owned(), 403),
        (format!("127.0.0.1:{port}"), "origin: null\r\n".to_owned(), 403),
        (format!("127.0.0.1:{port}"), format!("origin: http://127.0.0.1:{port}\r\n"), 200),
    ] {
        let request = format!("GET /api/model HTTP/1.1\r\nhost: {host}\r\n{origin}{cookie}\r\n");
        assert_eq!(page.send(request.as_bytes()).0, status, "{host} {origin}");
    }
}

#[test]
fn random_requests_change_nothing() {
    let page = Page::of("builtin:philosophers", &["n=3"]);
    let state = || (page.get("/api/model"), page.get("/api/visit/0"));
    let before = state();
    let mut chance = Chance(17);
    for number in 0..10_000 {
        let method = chance.pick(&["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "FLY"]);
        let path = match chance.below(4) {
            0 => chance
                .pick(&["/api/visit/7", "/api/visit/-1", "/api/visit/99999999999", "/api/visit/0/step"])
                .to_owned(),
            1 => chance
                .pick(&["/page/../Cargo.toml", "/page/%2e%2e%2fmain.rs", "/etc/passwd", "/api/search"])
                .to_owned(),
            2 => chance
                .pick(&["/api/search?form=%7B", "/api/visit/0/chart/none", "/api/graph", "/api/command"])
                .to_owned(),
            _ => format!("/none{}", chance.letters(40).replace(' ', "%20")),
        };
        // Half of them come with the right cookie: what they ask is wrong all the same.
        let headers = if chance.below(2) == 0 {
            page.headers()
        } else {
            format!(
                "host: {}\r\ncookie: turnpike-{}={}\r\nconnection: close\r\n",
                page.address,
                page.address.port(),
                chance.letters(32).replace(['\r', '\n'], "")
            )
        };
        let body = match chance.below(5) {
            0 => String::new(),
            1 => "{\"choice\":".to_owned(),
            2 => "[".repeat(1 + chance.below(3000)),
            3 => "x".repeat(chance.below(100_000)),
            _ => chance.letters(200),
        };
        // The length that is announced is not always that of the body.
        let length = if chance.below(6) == 0 { body.len() + chance.below(50) } else { body.len() };
        let kind = chance.pick(&["application/json", "text/plain", ""]);
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\n{headers}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        if chance.below(8) == 0 {
            let cut = chance.below(request.len() + 1);
            request = request.chars().take(cut).collect();
        }
        let (status, text) = page.send_part(request.as_bytes());
        // Nothing at all is answered to what never became a request.
        assert!(status == 0 || (400..500).contains(&status), "request {number}: {request:.200}\n{text:.300}");
    }
    assert_eq!(state(), before);
}

#[test]
fn what_is_too_large_is_refused() {
    let page = Page::of("builtin:philosophers", &["n=2"]);
    let choices: Vec<u32> = vec![0; 60_000];
    let (status, _) = page.post("/api/visit/0/follow", &json!({ "choices": choices }));
    // It may hang up before it was told everything.
    assert!(status == 413 || status == 0, "{status}");
    let (status, _) = page.get(&format!("/api/visit/0?label={}", "x".repeat(1 << 20)));
    assert!((400..500).contains(&status) || status == 0, "{status}");
}

/// The names of all options that a request can have.
fn all_options() -> Vec<&'static str> {
    fn of<T: Section>() -> impl Iterator<Item = &'static str> {
        T::OPTIONS.iter().map(|option| option.name)
    }
    let of_strategies = strategy::STRATEGIES.iter().flat_map(|strategy| strategy.options);
    of::<Reading>()
        .chain(of::<TimedReading>())
        .chain(of::<ProgramSource>())
        .chain(of::<Goals>())
        .chain(of::<Limits>())
        .chain(of::<Running>())
        .chain(of::<WitnessSettings>())
        .chain(["strategy"])
        .chain(of_strategies.map(|option| option.name))
        .collect()
}

/// Whoever may ask may still not read files of this machine.
#[test]
fn no_option_opens_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = "turnpike_secret_line";
    for name in ["secret", "secret.mcf", "secret.q", "secret.json"] {
        std::fs::write(folder.path().join(name), format!("{secret} {secret}\n{secret}")).expect("writes");
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let paths = [path("secret"), path("secret.mcf"), path("secret.q"), path("secret.json"), path("")];
    let page = Page::of("../../models/timed/fischer.xta", &["N=2"]);
    for option in all_options() {
        for path in &paths {
            let options = json!([[option, path], ["max-states", "10"]]);
            let (_, preview) = page.post("/api/command", &json!({ "options": options }));
            let outcome = search(&page, &options);
            let text = format!("{preview} {outcome:?}");
            assert!(!text.contains(secret), "{option} {path}: {text}");
        }
    }
    // Those that name files are refused by name, whatever the value is.
    for (option, value) in
        [("queries", "x"), ("queries", "/dev/zero"), ("formula", "/dev/null.mcf"), ("formula", "/")]
    {
        let form = json!({ "options": [[option, value]] });
        let (_, answer) = page.post("/api/command", &form);
        assert!(answer["problem"].is_string(), "{option} {value}: {answer}");
        assert!(search(&page, &form["options"]).is_empty(), "{option} {value}");
    }
    let (_, formula) = page.post("/api/command", &json!({ "options": [["formula", "[true*]<true>true"]] }));
    assert!(formula["command"].is_string(), "a formula itself is not a file: {formula}");
}

/// A page that visited too much can still look at what it visited, and other pages are not disturbed.
#[test]
fn a_page_that_visited_too_much_disturbs_nobody() {
    let page = Page::of("builtin:bakery", &["n=2"]);
    let walk = |number: u64, seed: u64| {
        page.post(&format!("/api/visit/0/walk?page={number}"), &json!({ "steps": 10_000, "seed": seed }))
    };
    let mut at = json!(0);
    let refused = (0..40).find_map(|seed| {
        let (status, details) = walk(1, seed);
        if status != 200 {
            return Some((status, details));
        }
        at = details["visit"].clone();
        None
    });
    let (status, refusal) = refused.expect("at some time it is too much");
    assert_eq!(status, 429, "{refusal}");
    assert!(refusal["error"].as_str().is_some_and(|error| error.contains("load it anew")), "{refusal}");
    assert_eq!(page.get("/api/visit/0?page=1").0, 200, "what was visited can be looked at");
    assert_eq!(page.post("/api/visit/0/step?page=1", &json!({ "choice": 9_999 })).0, 422);
    assert_eq!(walk(2, 1).0, 200, "another page");
    // The page that asked longest ago is forgotten.
    for number in 2..12 {
        assert_eq!(page.get(&format!("/api/visit/0?page={number}")).0, 200);
    }
    assert_eq!(page.get(&format!("/api/visit/{at}?page=1")).0, 404);
    assert_eq!(walk(1, 1).0, 200, "it begins anew");
}
