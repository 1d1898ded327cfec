//! A server in a thread, and a client that speaks to it in plain bytes: nothing is made right on the
//! way.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use turnpike_explore::Server;
use turnpike_model::Trace;
use turnpike_session::{Location, Reading, Source};

/// A server that ends when it is dropped.
pub(crate) struct Page {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    pub(crate) token: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    /// Serves a model.
    pub(crate) fn of(model: &str, settings: &[&str]) -> Page {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let reading = Reading { settings, ..Reading::default() };
        Page::serve(&Source::Model { location: Location::from(model), reading })
    }

    pub(crate) fn serve(source: &Source) -> Page {
        Page::serve_at(source, None)
    }

    /// Serves a page that begins at the end of a trace.
    pub(crate) fn serve_at(source: &Source, trace: Option<&Trace>) -> Page {
        let server = Server::open(source, trace, 0).unwrap_or_else(|problem| panic!("{problem}"));
        let (address, url) = (server.address(), server.url());
        let token = url.split_once("token=").expect("a token").1.to_owned();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&flag).expect("serves"));
        Page { address, url, token, stop, thread: Some(thread) }
    }

    /// Headers of a page of this server that was let in.
    pub(crate) fn headers(&self) -> String {
        let Page { address, token, .. } = self;
        format!("host: {address}\r\ncookie: turnpike-{}={token}\r\nconnection: close\r\n", address.port())
    }

    /// Sends a whole request; gives the status and all that was answered. The status is 0 if the
    /// server hung up without a word.
    pub(crate) fn send(&self, bytes: &[u8]) -> (u16, String) {
        self.send_and(bytes, false)
    }

    /// Sends what may be less than a request, and then nothing more.
    pub(crate) fn send_part(&self, bytes: &[u8]) -> (u16, String) {
        self.send_and(bytes, true)
    }

    fn send_and(&self, bytes: &[u8], hang_up: bool) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out");
        // A server that has read enough to refuse may hang up before all was sent.
        let _ = stream.write_all(bytes);
        if hang_up {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.send(format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers()).as_bytes());
        (status, body(&text))
    }

    pub(crate) fn post(&self, path: &str, json: &Value) -> (u16, Value) {
        let json = json.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}content-type: application/json\r\ncontent-length: {}\r\n\r\n{json}",
            self.headers(),
            json.len()
        );
        let (status, text) = self.send(request.as_bytes());
        (status, body(&text))
    }
}

/// The JSON after the headers; null if it is none.
fn body(answer: &str) -> Value {
    let text = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(text).unwrap_or(Value::Null)
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server ends well");
        }
    }
}
