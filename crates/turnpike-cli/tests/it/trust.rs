//! A trace can come from anyone: what it names is not executed, and what it says does not reach the terminal as
//! commands.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{command, folder, read, turnpike_in};

/// A trace that says that it belongs to this source.
fn write_trace(folder: &Path, name: &str, source: &Value) {
    turnpike_in(folder, &["search", "builtin:philosophers", "--set", "n=2", "--trace", name, "-q"], "")
        .exits(1);
    let file = folder.join(name);
    let mut trace: Value = serde_json::from_str(&read(&file)).expect("JSON");
    trace["source"] = source.to_string().into();
    std::fs::write(&file, trace.to_string()).expect("writes");
}

#[test]
fn a_program_that_only_a_trace_names_is_not_executed() {
    let folder = folder(&[]);
    let mark = folder.path().join("executed");
    let source =
        json!({ "program": { "path": "/usr/bin/touch", "arguments": [mark.display().to_string()] } });
    write_trace(folder.path(), "evil.json", &source);
    for arguments in [
        &["replay", "evil.json"][..],
        &["replay", "evil.json", "--gdb"],
        &["replay", "evil.json", "--rr"],
        &["explore", "evil.json", "--no-open"],
    ] {
        let words =
            ["evil.json asks to execute a program", "searched here: /usr/bin/touch /", "--program PATH"];
        turnpike_in(folder.path(), arguments, "").expect(2, &words);
        assert!(!mark.exists(), "{arguments:?}");
    }
}

#[test]
fn a_model_that_a_trace_names_is_a_file() {
    let folder = folder(&[]);
    write_trace(folder.path(), "evil.json", &json!({ "model": { "location": "/dev/zero" } }));
    for command in ["replay", "explore"] {
        let ran = turnpike_in(folder.path(), &[command, "evil.json"], "");
        ran.expect(2, &["/dev/zero", "not a regular file"]);
    }
}

const GUEST: &str = "#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *x) {
  pthread_mutex_lock(&b); pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
  return x;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_mutex_lock(&a); pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
  return pthread_join(t, 0);
}
";

/// Compiles the program above; false where that is not possible.
fn compile(folder: &Path) -> bool {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let arguments = ["-g", "guest.c", "-lpthread", "-o", "guest"];
    Command::new(compiler).args(arguments).current_dir(folder).status().is_ok_and(|status| status.success())
}

#[test]
fn a_program_is_executed_again_where_it_was_searched() {
    let folder = folder(&[("guest.c", GUEST)]);
    if !compile(folder.path()) {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let run = |home: &str, arguments: &[&str]| {
        let output = command(arguments)
            .env("XDG_STATE_HOME", folder.path().join(home))
            .current_dir(folder.path())
            .output()
            .expect("runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let search = ["search", "--program", "./guest", "--find", "deadlock", "--trace", "w.json"];
    assert_eq!(run("here", &search).0, Some(1));
    assert_eq!(run("here", &["replay", "w.json"]).0, Some(0), "it was searched here");
    let (code, text) = run("elsewhere", &["replay", "w.json"]);
    assert!(code == Some(2) && text.contains("have not searched here"), "{text}");
    assert_eq!(run("elsewhere", &["replay", "--program", "./guest", "w.json"]).0, Some(0));
    assert_eq!(run("elsewhere", &["replay", "w.json"]).0, Some(0), "it was named once");
    let text =
        read(&folder.path().join("w.json")).replace("\\\"arguments\\\":[]", "\\\"arguments\\\":[\\\"1\\\"]");
    assert!(text.contains("[\\\"1\\\"]"), "the trace names arguments: {text}");
    std::fs::write(folder.path().join("other.json"), text).expect("writes");
    assert_eq!(run("here", &["replay", "other.json"]).0, Some(2), "other arguments are another program");
}

#[test]
fn threads_are_explained_by_their_locks_and_the_users_code() {
    let folder = folder(&[("guest.c", GUEST)]);
    if !compile(folder.path()) {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let search = ["search", "--program", "./guest", "--find", "deadlock", "--trace", "w.json"];
    turnpike_in(folder.path(), &search, "").exits(1);
    let simulate = ["simulate", "--program", "./guest", "--trace", "w.json"];
    let text = turnpike_in(folder.path(), &simulate, "why\nquit\n").exits(0).stdout;
    for words in
        ["holds a since guest.c:", "waits to lock b, which main.0 has had since guest.c:", "guest.c:"]
    {
        assert!(text.contains(words), "'{words}' is missing in:\n{text}");
    }
    assert!(!text.contains("memfd:"), "{text}");
}

#[test]
fn flags_beside_a_trace_that_says_it_all_are_refused() {
    let folder = folder(&[]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "builtin:philosophers", "--set", "n=2", "--trace", "w.json", "-q"]).exits(1);
    for command in ["replay", "explore"] {
        run(&[command, "w.json", "--set", "n=3"]).expect(2, &["--set", "w.json says that already", "MODEL"]);
    }
    run(&["replay", "w.json"]).exits(0);
}

#[test]
fn control_characters_are_written_as_text() {
    let folder = folder(&[("w.txt", "a\x1b[31m(1)\n\u{9b}2J\nb\u{202e}c\n")]);
    let text = turnpike_in(folder.path(), &["show", "w.txt"], "").exits(0).stdout;
    assert!(
        text.contains("a\\x1b[31m(1)") && text.contains("\\x9b2J") && text.contains("b\\u{202e}c"),
        "{text}"
    );
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn what_is_not_possible_is_explained_as_such() {
    let model = crate::common::root().join("models/abp.mcrl2");
    let model = model.to_str().expect("text");
    let folder = folder(&[]);
    let text = turnpike_in(folder.path(), &["simulate", model], "why\nquit\n").exits(0).stdout;
    assert!(text.contains("what is not possible now, and why:"), "{text}");
    assert!(!text.contains("why nothing can happen"), "{text}");
}
