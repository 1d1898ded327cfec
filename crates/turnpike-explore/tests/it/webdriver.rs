//! A client of the WebDriver protocol, JSON over HTTP: the commands that tests of the page need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The field with the id of an element, by the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What a command returned, or the driver's message.
type Answer = Result<Value, String>;

/// A browser that a driver on this machine controls.
pub(crate) struct Session {
    port: u16,
    path: String,
}

/// An element of the page, by its id.
pub(crate) struct Element(String);

impl Session {
    pub(crate) fn open(port: u16, capabilities: &Value) -> Session {
        let start = Session { port, path: "/session".to_owned() };
        let made = start.post("", &json!({ "capabilities": { "alwaysMatch": capabilities } }));
        let made = made.expect("the browser starts");
        let path = format!("/session/{}", made["sessionId"].as_str().expect("a session"));
        Session { port, path }
    }

    pub(crate) fn close(&self) {
        self.ask("DELETE", "", "").expect("closes");
    }

    pub(crate) fn goto(&self, url: &str) {
        self.post("/url", &json!({ "url": url })).expect("loads");
    }

    pub(crate) fn url(&self) -> String {
        text(&self.get("/url").expect("an address"))
    }

    pub(crate) fn execute(&self, script: &str) -> Answer {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// A picture of the window, as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        decode_base64(&text(&self.get("/screenshot").expect("a picture")))
    }

    /// The element that a selector of CSS finds first.
    pub(crate) fn find(&self, selector: &str) -> Result<Element, String> {
        self.post("/element", &css(selector)).map(|found| Element(text(&found[ELEMENT])))
    }

    pub(crate) fn count(&self, selector: &str) -> usize {
        let found = self.post("/elements", &css(selector)).expect("a list");
        found.as_array().expect("a list").len()
    }

    /// Waits up to a minute until a selector finds an element.
    pub(crate) fn wait(&self, selector: &str) -> Result<Element, String> {
        let start = Instant::now();
        loop {
            let found = self.find(selector);
            if found.is_ok() || start.elapsed() > Duration::from_secs(60) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The element that has the focus.
    pub(crate) fn focused(&self) -> Element {
        Element(text(&self.get("/element/active").expect("something has the focus")[ELEMENT]))
    }

    pub(crate) fn text(&self, element: &Element) -> String {
        text(&self.get(&format!("/element/{}/text", element.0)).expect("text"))
    }

    pub(crate) fn click(&self, element: &Element) -> Answer {
        self.post(&format!("/element/{}/click", element.0), &json!({}))
    }

    pub(crate) fn clear(&self, element: &Element) {
        self.post(&format!("/element/{}/clear", element.0), &json!({})).expect("cleared");
    }

    pub(crate) fn type_into(&self, element: &Element, keys: &str) {
        self.post(&format!("/element/{}/value", element.0), &json!({ "text": keys })).expect("typed");
    }

    /// Drags an element with the left button of the mouse.
    pub(crate) fn drag(&self, element: &Element, x: i32, y: i32) {
        let origin = json!({ ELEMENT: element.0 });
        let actions = json!([
            { "type": "pointerMove", "origin": origin, "x": 0, "y": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerMove", "origin": "pointer", "duration": 50, "x": x, "y": y },
            { "type": "pointerUp", "button": 0 },
        ]);
        let mouse = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.post("/actions", &json!({ "actions": [mouse] })).expect("dragged");
    }

    /// What the page wrote to the browser's console since the last call.
    pub(crate) fn console(&self) -> Vec<Value> {
        let log = self.post("/se/log", &json!({ "type": "browser" })).expect("the console");
        log.as_array().expect("a list").clone()
    }

    /// Asks the browser for dark or light colours, as the settings of a desktop do.
    pub(crate) fn choose_colours(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        let command = json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": [feature] } });
        self.post("/goog/cdp/execute", &command).expect("colours are chosen");
    }

    fn get(&self, command: &str) -> Answer {
        self.ask("GET", command, "")
    }

    fn post(&self, command: &str, body: &Value) -> Answer {
        self.ask("POST", command, &body.to_string())
    }

    fn ask(&self, method: &str, command: &str, body: &str) -> Answer {
        let Session { port, path } = self;
        let mut stream = TcpStream::connect(("127.0.0.1", *port)).expect("the driver answers");
        let length = body.len();
        write!(
            stream,
            "{method} {path}{command} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\
             content-type: application/json; charset=utf-8\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        let mut answer = BufReader::new(stream);
        let mut lines = answer.by_ref().lines().map(|line| line.expect("a header").to_lowercase());
        let is_good = lines.next().expect("a status").contains(" 200 ");
        let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length:")).expect("a length");
        let mut body = vec![0; length.trim().parse().expect("a number")];
        answer.read_exact(&mut body).expect("an answer");
        let value = serde_json::from_slice::<Value>(&body).expect("JSON")["value"].take();
        if is_good { Ok(value) } else { Err(text(&value["message"])) }
    }
}

fn css(selector: &str) -> Value {
    json!({ "using": "css selector", "value": selector })
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0_u32, 0);
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|&digit| digit == byte)) {
        (word, bits) = (word << 6 | digit as u32, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}

#[test]
fn pictures_are_decoded() {
    for (text, bytes) in [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9vYmFy", b"foobar")] {
        assert_eq!(decode_base64(text), bytes);
    }
}
