//! `turnpike explore` as a user starts and ends it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn start(arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_turnpike"))
        .args(["explore", "--no-open"])
        .args(arguments)
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("output")).read_line(&mut line).expect("a line");
    (child, line)
}

/// The status of the answer to a request without a cookie.
fn status(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("connects");
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn the_address_is_printed_and_an_interrupt_ends_it() {
    let (mut child, line) = start(&["builtin:philosophers", "--set", "n=2"]);
    let url = line.trim_end().rsplit(' ').next().expect("an address").to_owned();
    assert!(line.starts_with("exploring builtin:philosophers at http://127.0.0.1:"), "{line}");
    assert_eq!(status(&url), "303");
    assert_eq!(status(url.split('?').next().expect("an address")), "401");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let ended = child.wait().expect("ends");
    assert!(ended.success(), "{ended}");
}

#[test]
fn what_cannot_be_explored_is_refused() {
    for (arguments, words) in [
        (&["no-such-model.mcrl2"][..], "no such file"),
        (&["-"], "standard input"),
        (&["builtin:philosophers", "--trace", "no-such.json"], "no-such.json"),
    ] {
        let (child, _) = start(arguments);
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

#[test]
fn a_trace_says_what_it_belongs_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("witness.json");
    let trace = trace.to_str().expect("text");
    let found = Command::new(env!("CARGO_BIN_EXE_turnpike"))
        .args(["search", "builtin:philosophers", "--set", "n=3", "--trace", trace, "-q"])
        .status()
        .expect("searches");
    assert_eq!(found.code(), Some(1));
    let (mut child, line) = start(&[trace, "--format", "json"]);
    // The first line of an object in several lines: what matters is that it starts.
    assert!(line.starts_with('{'), "{line}");
    child.kill().expect("ends");
    child.wait().expect("ends");
}
