//! What people try first, and what goes wrong around the program: closed pipes, full disks, odd values, odd wishes.

use crate::common;

use std::process::Stdio;

use common::{command, folder, json, root, turnpike, turnpike_in};

const MODEL: &str = "builtin:philosophers";

#[test]
fn a_reader_that_goes_away_does_not_change_the_verdict() {
    let mut child =
        command(&["search", MODEL]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let ran: common::Ran = child.wait_with_output().expect("ends").into();
    assert_eq!(ran.exits(1).stderr, "");
    // Endless commands end with their reader.
    let mut child = command(&["simulate", "builtin:scc"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("a pipe");
    let mut written = 0;
    while std::io::Write::write_all(&mut input, b"u\nr\n").is_ok() {
        written += 1;
        assert!(written < 1_000_000, "it still reads");
    }
    assert_eq!(child.wait().expect("ends").code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opens");
    for arguments in [
        &["search", MODEL][..],
        &["search", MODEL, "--format", "json"],
        &["completions", "bash"],
        &["generate", MODEL, "-o", "-"],
        &["reduce", MODEL, "-o", "-"],
    ] {
        let child = command(arguments).stdout(full()).stderr(Stdio::piped()).spawn().expect("starts");
        let ran: common::Ran = child.wait_with_output().expect("ends").into();
        let ran = ran.expect(2, &["cannot write"]);
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn negative_numbers_are_values() {
    turnpike(&["search", MODEL, "--strategy", "highway", "--width", "-1"])
        .expect(2, &["'-1' for '--width <N>': it must be a whole number"]);
    turnpike(&["search", MODEL, "--seed", "-1"]).expect(2, &["'-1' for '--seed <SEED>': a seed is"]);
    turnpike(&["search", MODEL, "-q"]).expect(1, &["found: "]);
}

#[test]
fn state_expressions_are_pointed_into() {
    let find = ["search", MODEL, "--find"];
    turnpike(&[&find[..], &["state waiting >"]].concat()).expect(2, &["1 | waiting >", "^"]);
    turnpike(&[&find[..], &["state eating > 0", "--find", "state  waitin > 3"]].concat())
        .expect(2, &["1 | waitin > 3", "^^^^^^ unknown name", "did you mean `waiting`?"]);
}

#[test]
fn odd_wishes_are_warned_about() {
    let folder = folder(&[("a.aut", "des (0,2,2)\n(0,\"go\",1)\n(1,\"back\",0)\n")]);
    for (arguments, words) in [
        (&["--find", "race", "--allow-unknown"][..], "race cannot occur in a.aut"),
        (&["--tau", "back"], "--tau has no effect"),
        (&["--find", "action go", "--lookahead"], "--lookahead has no effect"),
    ] {
        let all = [&["search", "a.aut"], arguments].concat();
        let ran = turnpike_in(folder.path(), &all, "");
        assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains(words), "{}", ran.text());
        let json = turnpike_in(folder.path(), &[&all[..], &["--format", "json"]].concat(), "").json();
        assert_eq!(json["warnings"].as_array().map(Vec::len), Some(1), "{json:#}");
    }
}

/// Components are suggested as states show them, and not functions with similar names.
#[test]
fn misspelt_components_are_suggested() {
    let ran =
        turnpike(&["search", "../../models/lift.mcrl2", "--find", "state Statoin(3) == First"]).exits(2);
    assert!(ran.stderr.contains("help: did you mean `Station(3)`?"), "{}", ran.text());
}

/// Objectives, queries and formulas without their flags.
#[test]
fn words_without_their_flag_are_recognised() {
    for (word, flag) in [
        ("deadlock", "--find deadlock"),
        ("action eat", "--find 'action eat'"),
        ("E<> waiting > 1", "--query 'E<> waiting > 1'"),
        ("a --> b", "--query 'a --> b'"),
        ("these.q", "--queries these.q"),
        ("never.mcf", "--formula never.mcf"),
    ] {
        turnpike(&["search", MODEL, word])
            .expect(2, &["unexpected argument", &format!("tip: write `{flag}`")]);
    }
    let json = turnpike(&["search", MODEL, "deadlock", "--format", "json"]).exits(2).json();
    assert_eq!(json["errors"][0]["help"], "write `--find deadlock`", "{json:#}");
    let ran = turnpike(&["search", MODEL, "other.aut"]).exits(2);
    assert!(!ran.stderr.contains("tip: "), "{}", ran.stderr);
}

#[test]
fn files_of_another_kind_are_recognised() {
    let folder =
        folder(&[("a.q", "A[] true"), ("a.mcf", "true"), ("lift.aut", ""), ("a.json", "{}"), ("a.x", "")]);
    for (file, words) in [
        ("a.q", "--queries"),
        ("a.mcf", "--formula"),
        ("a.json", "turnpike show"),
        ("a.x", "known extensions"),
        ("lfit.aut", "did you mean `lift.aut`?"),
        ("./lfit.aut", "did you mean `./lift.aut`?"),
    ] {
        turnpike_in(folder.path(), &["search", file], "").expect(2, &["error: ", words]);
    }
}

/// One error that names the language, instead of one for every line.
#[test]
fn texts_in_another_language_are_recognised() {
    let mcrl2 = "% A clock.\nact tick;\nproc P = tick . P;\ninit P;\n";
    let xta = "clock x;\nint n;\nprocess P() { state a; init a; }\nsystem P;\n";
    let tck = "system:s\nprocess:P\nlocation:P:l{initial:}\n";
    for (name, text, words) in [
        ("a.mcrl2", xta, "--as xta"),
        ("b.mcrl2", tck, "--as tck"),
        ("c.mcrl2", "\u{7f}ELF\0\0\0", "the file is binary"),
        ("d.tck", mcrl2, "--as mcrl2"),
        ("e.tck", xta, "--as xta"),
        ("f.xta", tck, "--as tck"),
        ("g.xml", xta, "--as xta"),
        ("h.xta", "<?xml version='1.0'?>\n<nta></nta>", "--as xml"),
        ("i.mcrl2", "des (0,1,2)\n(0,\"a\",1)\n", "--as aut"),
    ] {
        let folder = folder(&[(name, text)]);
        let ran = turnpike_in(folder.path(), &["search", name], "").expect(2, &[words]);
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{name}: {}", ran.stderr);
        if let Some((_, format)) = words.split_once("--as ") {
            let right = turnpike_in(folder.path(), &["search", name, "--as", format], "");
            assert!(right.code != 2 || name == "h.xta", "{name}: {}", right.text());
        }
    }
    // Mistakes in the right language are all shown.
    let wrong = mcrl2.replace("tick . P", "tik . Q");
    let folder = folder(&[("wrong.mcrl2", &wrong)]);
    let ran = turnpike_in(folder.path(), &["search", "wrong.mcrl2"], "").exits(2);
    assert!(
        ran.stderr.contains("did you mean `tick`?") && !ran.stderr.contains("the format"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_a_model_cannot_do_is_refused() {
    let system = "des (0,3,2)\n(0,\"go(1)\",1)\n(1,\"back\",0)\n(1,\"a|b\",0)\n";
    let folder = folder(&[("a.aut", system)]);
    for (objective, words) in [
        ("race", "race cannot occur in a.aut"),
        ("assertion", "no assertions"),
        ("action bck", "did you mean `back`?"),
        ("action go,bck", "a.aut has no action `bck`"),
        ("label Zeta(3)", "its actions are a, b, back, go"),
        ("label go(1,2)", "`go` takes 1 argument in a.aut, not 2"),
        ("label go", "`go` takes 1 argument in a.aut, not 0"),
        ("label b", "`b` cannot occur in a.aut"),
        ("label z*", "a.aut has no label like `z*`"),
        ("cover bakc*", "a.aut has no label like `bakc*`"),
        ("max go.2", "`go` takes 1 argument in a.aut, not 2"),
        ("max bck.1", "did you mean `back`?"),
        ("livelock' --tau 'bck", "did you mean `back`?"),
    ] {
        let (objective, tau) = objective.split_once("' --tau '").unwrap_or((objective, "tau"));
        let all = ["search", "a.aut", "--find", objective, "--tau", tau];
        let ran = turnpike_in(folder.path(), &all, "").exits(2);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(words), "{}", ran.text());
        assert_eq!(ran.stdout, "");
        let allowed = [&all[..], &["--allow-unknown"]].concat();
        let ran = turnpike_in(folder.path(), &allowed, "");
        assert!(ran.stderr.contains(words) && ran.stderr.contains("warning: "), "{}", ran.text());
        assert!(!ran.stdout.is_empty(), "{}", ran.text());
    }
    // A value that never occurs is not an error.
    for objective in ["label go(99)", "label *(7)", "action go", "label a|b", "label tau"] {
        let ran = turnpike_in(folder.path(), &["search", "a.aut", "--find", objective], "");
        assert!(ran.stderr.is_empty(), "{objective}: {}", ran.text());
    }
}

#[test]
fn expansions_are_never_more_than_states() {
    let ran = turnpike(&["search", MODEL, "--find", "state waiting > 5"]).exits(0);
    assert!(ran.stdout.contains("counted: 560 expansions of 392 states, "), "{}", ran.stdout);
    let ran = turnpike(&["search", MODEL, "--find", "state waiting > 5", "--strategy", "bfs"]).exits(0);
    assert!(ran.stdout.contains("counted: 392 states expanded, 392 considered, "), "{}", ran.stdout);
}

#[test]
fn an_inconclusive_search_says_why() {
    let lossy = ["search", MODEL, "--find", "state waiting > 5", "--strategy", "bfs", "--store", "compact"];
    let ran = turnpike(&lossy).exits(3);
    let (verdict, rest) = ran.stdout.split_once('\n').expect("lines");
    assert!(verdict.starts_with("inconclusive: ") && verdict.contains("lossy store"), "{verdict}");
    assert!(!rest.contains("every reachable state was expanded"), "{rest}");
    assert!(
        rest.contains("stopped: nothing was left to try; this proves nothing because the lossy"),
        "{rest}"
    );
    let ran = turnpike(&[&lossy[..], &["--runs", "2"]].concat()).exits(3);
    assert!(ran.stdout.contains("stopped: 2 because nothing was left to try; this proves"), "{}", ran.stdout);
}

#[test]
fn a_covered_space_is_told_by_its_size() {
    // The portfolio expands states more than once; the space has 392.
    let ran = turnpike(&["search", MODEL, "--find", "state waiting > 5"]).exits(0);
    assert!(ran.stdout.starts_with("none: no state waiting > 5 in 392 states (complete)"), "{}", ran.stdout);
    assert_eq!(json(0, &["search", MODEL, "--find", "state waiting > 5"])["considered"], 392);
}

#[test]
fn many_runs_group_their_digits() {
    let ran = turnpike(&["search", MODEL, "--strategy", "bfs", "--runs", "1200"]).exits(1);
    assert!(ran.stdout.starts_with("found: deadlock in 1,200 of 1,200 runs (100%)"), "{}", ran.stdout);
}

#[test]
fn a_trace_that_cannot_be_written_is_told() {
    let folder = folder(&[]);
    let search = ["search", "builtin:scc", "--strategy", "bfs", "--trace", "w.json", "--find"];
    turnpike_in(folder.path(), &[&search[..], &["max report.1"]].concat(), "")
        .expect(0, &["not written: w.json (there is no witness)"]);
    assert!(!folder.path().join("w.json").exists());
    turnpike_in(folder.path(), &[&search[..], &["deadlock"]].concat(), "").expect(1, &["wrote: w.json"]);
}

#[test]
fn info_tells_the_size_of_a_file() {
    let folder = folder(&[("a.aut", "des (0,2,2)\n(0,\"go\",1)\n(1,\"back\",0)\n")]);
    turnpike_in(folder.path(), &["info", "a.aut"], "").expect(0, &["size: 2 states, 2 transitions"]);
    let report = turnpike_in(folder.path(), &["info", "a.aut", "--format", "json"], "").json();
    assert_eq!(report["size"], serde_json::json!({"states": 2, "transitions": 2}));
    assert_eq!(json(0, &["info", MODEL])["size"], serde_json::Value::Null);
}

#[test]
fn help_keeps_flags_under_their_headings() {
    for command in ["reduce", "compare"] {
        let help = turnpike(&[command, "--help"]).exits(0).stdout;
        let limits = help.find("\nLimits:").expect("a heading");
        assert!(help.find("--cadp").is_some_and(|at| at < limits), "{help}");
    }
    let help = turnpike(&["simulate", "--help"]).exits(0).stdout;
    assert!(help.contains("\n  u, undo [N] "), "{help}");
}

#[test]
fn an_objective_counts_once() {
    let twice = ["search", MODEL, "--find", "deadlock", "--find", " deadlock", "--all", "-q"];
    assert_eq!(turnpike(&twice).exits(1).stdout.matches("deadlock").count(), 1);
}

#[test]
fn success_is_what_is_expected() {
    let find = |expect: &str, objective: &str| {
        turnpike(&["search", MODEL, "-q", "--find", objective, "--expect", expect])
    };
    let (met, unmet) = ("deadlock", "state waiting > 5");
    for (expect, found, none) in [("found", 0, 1), ("none", 1, 0), ("any", 0, 0)] {
        find(expect, met).exits(found);
        find(expect, unmet).exits(none);
    }
    find("satisfied", met).expect(2, &["is the result of a query", "--expect takes found, none or any"]);
    turnpike(&["search", MODEL, "-q", "--expect", "found", "--max-states", "1", "--strategy", "bfs"])
        .exits(3);
    assert_eq!(json(0, &["search", MODEL, "--expect", "found"])["expected"], true);
}

#[test]
fn results_for_continuous_integration() {
    let run = |arguments: &[&str]| turnpike(arguments);
    let junit = run(&["search", MODEL, "--format", "junit"]).exits(1).stdout;
    let document = roxmltree::Document::parse(&junit).unwrap_or_else(|error| panic!("{error}\n{junit}"));
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert!(failure.attribute("message").is_some_and(|text| text.starts_with("found: deadlock")));
    assert!(failure.text().is_some_and(|steps| steps.starts_with("1 lock(")), "{junit}");
    let sarif: serde_json::Value = serde_json::from_str(
        &run(&["search", MODEL, "--expect", "found", "--format", "sarif"]).exits(0).stdout,
    )
    .expect("JSON");
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    // Mistakes are results, too.
    let wrong = run(&["search", MODEL, "--find", "action eatt", "--format", "sarif"]).exits(2).stdout;
    let sarif: serde_json::Value = serde_json::from_str(&wrong).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "error");
    let folder = folder(&[("bad.mcrl2", "init\n  nothing;\n"), ("good.mcrl2", "act a; init a;")]);
    let check =
        |file: &str, format: &str| turnpike_in(folder.path(), &["check", file, "--format", format], "");
    let sarif: serde_json::Value =
        serde_json::from_str(&check("bad.mcrl2", "sarif").exits(2).stdout).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"bad.mcrl2".into(), &2.into())
    );
    let junit = check("good.mcrl2", "junit").exits(0).stdout;
    assert!(
        roxmltree::Document::parse(&junit).is_ok() && junit.contains("failures=\"0\" errors=\"0\""),
        "{junit}"
    );
    run(&["info", MODEL, "--format", "junit"]).expect(2, &["junit and sarif are for search and check"]);
}

#[test]
fn witnesses_are_short_and_say_whether_they_are_shortest() {
    for (n, steps) in [("5", 5), ("9", 9), ("12", 12)] {
        let report = json(1, &["search", "builtin:philosophers", "--set", &format!("n={n}")]);
        assert_eq!(report["witness"]["length"], steps, "{report:#}");
    }
    turnpike(&["search", MODEL]).expect(1, &["witness: deadlock in 5 steps", "; it is shortest"]);
    let quick = ["search", "builtin:philosophers", "--set", "n=9", "--shorten-budget", "0"];
    turnpike(&quick).expect(1, &["; not known to be shortest"]);
    assert_eq!(json(1, &["search", MODEL, "--strategy", "bfs"])["witness"]["shortest"], true);
    assert_eq!(
        json(1, &["search", MODEL, "--strategy", "dfs", "--no-shorten"])["witness"]["shortest"],
        false
    );
}

#[test]
fn programs_are_not_models() {
    let folder = folder(&[("x.c", "int main(void) { return 0; }\n"), ("a.out", "\x7fELF...")]);
    let search = |model: &str| turnpike_in(folder.path(), &["search", model], "");
    search("./a.out").expect(2, &["./a.out is a program, not a model", "--program ./a.out"]);
    search("a.out").expect(2, &["--program ./a.out"]);
    search("x.c").expect(
        2,
        &["x.c is the source of a program", "cc -g -fsanitize=thread x.c -o x -pthread", "--program ./x"],
    );
}

#[test]
fn inputs_of_another_kind_say_how_they_are_read() {
    let folder = folder(&[("x.c", "int main(void) { return 0; }\n"), ("x.cpp", "int main() {}\n")]);
    let program = |path: &str| turnpike_in(folder.path(), &["search", "--program", path], "");
    program("./x.c").expect(2, &["./x.c is the source of a program", "cc -g -fsanitize=thread ./x.c -o x"]);
    program("x.cpp").expect(2, &["c++ -g -fsanitize=thread x.cpp", "turnpike search --program ./x`"]);
    program("y.c").expect(2, &["cannot read y.c"]);
    let model = std::fs::read_to_string(root().join("models/abp.mcrl2")).expect("reads");
    let help = "standard input is read as an .aut file; --as names another format";
    turnpike_in(folder.path(), &["search", "-"], &model).expect(2, &["an .aut file starts with", help]);
    turnpike_in(folder.path(), &["info", "-", "--as", "mcrl2"], &model).expect(0, &["accept"]);
    let timed = root().join("models/timed/fischer.xta");
    let timed = timed.to_str().expect("text");
    turnpike(&["search", timed, "--query", "fischer.q"]).expect(2, &["from a file, use --queries"]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_are_named() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.json");
    for format in ["human", "json"] {
        let ran: common::Ran =
            command(&["show", "--format", format]).arg(name).output().expect("starts").into();
        ran.expect(2, &["xFF.json", "is not valid UTF-8", "make a link"]);
    }
}

#[test]
fn help_is_found_where_people_look() {
    let long = turnpike(&["search", "--help"]).exits(0).stdout;
    assert_eq!(turnpike(&["help", "search"]).exits(0).stdout, long);
    let short = turnpike(&["search", "-h"]).exits(0).stdout;
    assert!(short.lines().count() <= 28 && short.contains("See --help"), "{short}");
    for flag in ["--find", "--strategy", "--max-time", "--trace", "--program"] {
        assert!(short.contains(flag), "{flag}");
    }
    assert!(!short.contains("--quantifier-limit") && long.contains("--quantifier-limit"));
}

#[test]
fn a_trace_remembers_what_it_belongs_to() {
    let folder = folder(&[("m.mcrl2", "act a; init a;")]);
    let run = |arguments: &[&str]| turnpike_in(folder.path(), arguments, "");
    run(&["search", "builtin:philosophers", "--set", "n=3", "--trace", "w.json", "-q"]).exits(1);
    run(&["replay", "w.json"])
        .expect(0, &["on builtin:philosophers(n=3)", "the trace fits", "objective met"]);
    run(&["replay", "builtin:philosophers", "w.json"]).expect(0, &["philosophers(n=3)", "the trace fits"]);
    run(&["replay", "builtin:philosophers", "w.json", "--set", "n=2"]).expect(1, &["does not fit"]);
    std::fs::write(folder.path().join("w.txt"), "lock(1,1)\n").expect("writes");
    run(&["replay", "w.txt"]).expect(2, &["w.txt does not say which model it belongs to"]);
    run(&["show", "m.mcrl2"]).expect(2, &["m.mcrl2 is a model, not a trace"]);
    run(&["show", "w.json", "--chart", "w.svg"]).expect(0, &["wrote w.svg"]);
    let chart = std::fs::read_to_string(folder.path().join("w.svg")).expect("a picture");
    assert!(roxmltree::Document::parse(&chart).is_ok() && chart.contains("lock(1,1)"), "{chart}");
}
