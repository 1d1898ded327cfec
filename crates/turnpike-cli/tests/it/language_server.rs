//! `turnpike lsp`, asked by a scripted editor over its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::folder;

/// An editor with one open file.
struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    uri: &'static str,
    asked: i64,
    /// The last diagnostics that came, for each time that some came.
    shown: Vec<Value>,
}

impl Editor {
    fn open(uri: &'static str, text: &str) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_turnpike"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, input, output, uri, asked: 0, shown: Vec::new() };
        let ready = editor.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(ready["capabilities"]["renameProvider"], json!(true));
        editor.tell("initialized", json!({}));
        let document = json!({"uri": uri, "languageId": "x", "version": 1, "text": text});
        editor.tell("textDocument/didOpen", json!({"textDocument": document}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("an open pipe");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message of the server.
    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("text"), 0, "the server has ended");
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().expect("a number");
            } else if line.trim().is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a whole message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The whole response to a request; diagnostics that come before it are kept.
    fn response(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                return message;
            }
            self.keep(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    fn keep(&mut self, message: Value) {
        if message["method"] == "textDocument/publishDiagnostics" {
            self.shown.push(message["params"]["diagnostics"].clone());
        }
    }

    /// Waits until this many diagnostics were published.
    fn wait(&mut self, count: usize) -> Value {
        while self.shown.len() < count {
            let message = self.receive();
            self.keep(message);
        }
        self.shown.last().expect("some").clone()
    }

    fn at(&self, line: u32, character: u32) -> Value {
        json!({"textDocument": {"uri": self.uri}, "position": {"line": line, "character": character}})
    }

    fn replace_all(&mut self, text: &str) {
        let changes = json!([{"text": text}]);
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": self.uri, "version": 2}, "contentChanges": changes}),
        );
    }

    fn close(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.input = None;
        assert!(self.server.wait().expect("it ends").success());
    }
}

const COUNTER: &str = "\
sort Colour = struct red | green;
map next: Colour -> Colour;
eqn next(red) = green; next(green) = red;
act show: Colour; error;
proc Lamp(c: Colour) = show(c) . Lamp(next(c)) + (c == green) -> error . delta;
init Lamp(red);
";

fn line_of(place: &Value) -> u64 {
    place["range"]["start"]["line"].as_u64().expect("a line")
}

#[test]
fn an_editor_asks_about_a_specification() {
    let mut editor = Editor::open("file:///lamp.mcrl2", COUNTER);
    assert_eq!(editor.wait(1), json!([]), "nothing is wrong");

    let hover = editor.ask("textDocument/hover", editor.at(4, 39));
    assert_eq!(hover["contents"]["value"], "```\nnext: Colour -> Colour\n```");
    let hover = editor.ask("textDocument/hover", editor.at(4, 44));
    assert_eq!(hover["contents"]["value"], "```\nc: Colour\n```");

    let found = editor.ask("textDocument/definition", editor.at(5, 6));
    assert_eq!((line_of(&found), &found["range"]["start"]["character"]), (4, &json!(5)), "{found}");
    let found = editor.ask("textDocument/definition", editor.at(4, 13));
    assert_eq!(line_of(&found), 0, "the sort of a parameter: {found}");

    let mut question = editor.at(1, 5);
    question["context"] = json!({"includeDeclaration": true});
    let places = editor.ask("textDocument/references", question);
    let lines: Vec<u64> = places.as_array().expect("a list").iter().map(line_of).collect();
    assert_eq!(lines, [1, 2, 2, 4]);

    let outline = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": editor.uri}}));
    let names: Vec<&str> =
        outline.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Colour", "red", "green", "next", "show", "error", "Lamp", "init"]);

    let offered = editor.ask("textDocument/completion", editor.at(4, 39));
    let labels: Vec<&str> =
        offered.as_array().expect("a list").iter().filter_map(|one| one["label"].as_str()).collect();
    for word in ["c", "next", "Lamp", "show", "allow"] {
        assert!(labels.contains(&word), "{word} is not offered: {labels:?}");
    }

    let lenses = editor.ask("textDocument/codeLens", json!({"textDocument": {"uri": editor.uri}}));
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["command"]["title"].as_str())
        .collect();
    assert_eq!(titles, ["Search for deadlock", "Search for action error"]);
    editor.close();
}

#[test]
fn renaming_renames_what_is_meant_and_refuses_what_would_change_it() {
    let mut editor = Editor::open("file:///lamp.mcrl2", COUNTER);
    let mut question = editor.at(4, 10);
    question["newName"] = json!("colour");
    let edit = editor.ask("textDocument/rename", question.clone());
    let edits = edit["changes"][editor.uri].as_array().expect("edits").len();
    assert_eq!(edits, 4, "the parameter and its three uses: {edit}");
    for (taken, why) in
        [("red", "means something else"), ("sum", "word of the language"), ("1x", "not a name")]
    {
        question["newName"] = json!(taken);
        let response = editor.response("textDocument/rename", question.clone());
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(why) || message.contains("mean something else"), "{taken}: {response}");
    }
    editor.close();
}

#[test]
fn mistakes_are_shown_where_they_are_and_vanish() {
    let mut editor = Editor::open("file:///lamp.mcrl2", &COUNTER.replace("Lamp(next(c))", "Lamp(nxt(c))"));
    let shown = editor.wait(1);
    assert_eq!(shown[0]["range"]["start"], json!({"line": 4, "character": 38}), "{shown}");
    let message = shown[0]["message"].as_str().expect("text");
    assert!(message.contains("unknown") && message.contains("did you mean `next`?"), "{message}");
    // What is not wrong can still be asked for.
    let found = editor.ask("textDocument/definition", editor.at(5, 6));
    assert_eq!(line_of(&found), 4);
    let before = editor.shown.len();
    editor.replace_all(COUNTER);
    assert_eq!(editor.wait(before + 1), json!([]));
    editor.close();
}

#[test]
fn formulas_know_the_names_of_their_specification() {
    let folder = folder(&[("lamp.mcrl2", COUNTER)]);
    let address = |name: &str| format!("file://{}/{name}", folder.path().display());
    let text = "[true* . show(red) . show(red)]false";
    let mut editor = Editor::open(address("lamp.mcf").leak(), text);
    assert_eq!(editor.wait(1), json!([]), "nothing is wrong");
    let hover = editor.ask("textDocument/hover", editor.at(0, 10));
    assert_eq!(hover["contents"]["value"], "```\nact show: Colour\n```");
    let found = editor.ask("textDocument/definition", editor.at(0, 10));
    assert_eq!((line_of(&found), &found["uri"]), (3, &json!(address("lamp.mcrl2"))), "{found}");
    let offered = editor.ask("textDocument/completion", editor.at(0, 10));
    let offered = offered.as_array().expect("a list").iter().filter_map(|one| one["label"].as_str());
    assert!(["show", "green", "next", "nu"].iter().all(|word| offered.clone().any(|one| one == *word)));
    let mut question = editor.at(0, 10);
    question["newName"] = json!("display");
    let response = editor.response("textDocument/rename", question);
    assert!(response["error"]["message"].as_str().is_some_and(|text| text.contains("specification")));

    let before = editor.shown.len();
    editor.replace_all(&text.replace("red)]", "blue)]"));
    let shown = editor.wait(before + 1);
    assert_eq!(shown[0]["range"]["start"], json!({"line": 0, "character": 26}), "{shown}");
    // The specification counts as it is in the editor.
    let before = editor.shown.len();
    let more = COUNTER.replace("red | green", "red | green | blue");
    let document = json!({"uri": address("lamp.mcrl2"), "languageId": "x", "version": 1, "text": more});
    editor.tell("textDocument/didOpen", json!({"textDocument": document}));
    let shown = editor.wait(before + 2);
    assert_eq!(shown, json!([]), "blue is a colour now");
    editor.close();
}

#[test]
fn timed_automata_are_served_too() {
    let text = "system:s\nevent:go\nprocess:P\nclock:1:x\nlocation:P:a{initial:}\nlocation:P:b{}\nedge:P:a:b:go{provided:x>1}\n";
    let mut editor = Editor::open("file:///a.tck", text);
    assert_eq!(editor.wait(1), json!([]));
    let found = editor.ask("textDocument/definition", editor.at(6, 12));
    assert_eq!(line_of(&found), 1, "the event: {found}");
    editor.replace_all(&text.replace("x>1", "y>1"));
    let count = editor.shown.len() + 1;
    assert_ne!(editor.wait(count), json!([]), "an unknown clock");
    editor.close();

    let text = "clock x ;\nprocess P() { state a ,b; init a; trans a -> b { guard x > 1; }; }\nsystem P;\n";
    let mut editor = Editor::open("file:///a.xta", text);
    assert_eq!(editor.wait(1), json!([]));
    let edits = editor.ask(
        "textDocument/formatting",
        json!({"textDocument": {"uri": editor.uri}, "options": {"tabSize": 4, "insertSpaces": true}}),
    );
    assert_eq!(edits[0]["newText"], text.replace(" ;", ";").replace(" ,", ", "));
    editor.close();
}
