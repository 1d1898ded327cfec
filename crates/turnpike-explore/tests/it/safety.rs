//! Whom the page refuses. Nothing that is refused changes anything.

use serde_json::json;

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
