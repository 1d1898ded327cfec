//! `turnpike lab` as a user runs it: experiments, results, reports, mistakes.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Ran, folder, turnpike_in};

const PHILOSOPHERS: &str = r#"
title = "Philosophers"
paper = "a paper"
runs = 20
seed = 7
flags = "--find deadlock --no-shorten --max-states 2000"

[[model]]
name = "philosophers({n})"
use = "builtin:philosophers"
flags = "--set n={n}"
vary = { n = [4, 5] }

[[strategy]]
name = "highway {width}"
flags = "--strategy highway --width {width}"
vary = { width = [2, 3] }

[[strategy]]
name = "random"
flags = "--strategy random"
only = ["philosophers({n})"]
runs = 30

[[published]]
model = "philosophers(4)"
strategy = "random"
rate = 0.001
"#;

const LIGHTS: &str =
    "act red, green; proc P(n: Nat) = (n < LIMIT) -> red . P(n + 1) <> green . delta; init P(0);";

fn lab(folder: &Path, arguments: &[&str]) -> Ran {
    let mut all = vec!["lab"];
    all.extend(arguments);
    turnpike_in(folder, &all, "")
}

/// All rows of the export, without the time they took.
fn rows(folder: &Path, file: &str) -> Vec<String> {
    let text = lab(folder, &["export", "--csv", file]).expect(0, &[]).stdout;
    text.lines().skip(1).map(|line| line.rsplit_once(',').expect("a last field").0.to_owned()).collect()
}

#[test]
fn experiments_are_run_once_and_repeat() {
    let here = folder(&[("phil.toml", PHILOSOPHERS)]);
    let here = here.path();
    lab(here, &["list", "phil.toml"]).expect(0, &["models: 2, strategies: 3, runs: 140", "a paper"]);
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    lab(here, &["run", "phil.toml", "--only", "*(5) / random"]).expect(0, &["25 new runs"]);
    lab(here, &["status", "phil.toml"]).expect(0, &["phil: 55 of 140 runs (39%)"]);
    lab(here, &["run", "phil.toml", "--jobs", "2"]).expect(0, &["85 new runs"]);
    lab(here, &["run", "phil.toml"]).expect(0, &["0 new runs"]);
    let first = rows(here, "phil.toml");
    assert_eq!(first.len(), 140);

    // Another database, other workers: the same results.
    let again = folder(&[("phil.toml", PHILOSOPHERS)]);
    let json =
        lab(again.path(), &["run", "phil.toml", "--jobs", "1", "--format", "json"]).expect(0, &[]).json();
    assert_eq!(json["new"], 140);
    assert_eq!(rows(again.path(), "phil.toml"), first);

    // A run of the lab is a run of the search with the command that the report tells.
    lab(here, &["report", "phil.toml", "-o", "out"])
        .expect(0, &["140 runs of 1 experiment", "out/index.html"]);
    let page = std::fs::read_to_string(here.join("out/index.html")).expect("a page");
    let command = "search builtin:philosophers --find deadlock --no-shorten --max-states 2000 --set n=4 --strategy highway --width 2 --seed 7 --runs 20";
    assert!(page.contains(command), "{page}");
    let mut words: Vec<&str> = command.split(' ').collect();
    words.extend(["--format", "json"]);
    let runs = turnpike_in(here, &words, "").json()["runs"].as_array().expect("runs").clone();
    let searched: Vec<_> =
        runs.iter().map(|run| (run["seed"].to_string(), run["states"].to_string())).collect();
    let field = |row: &String, index: usize| row.split(',').nth(index).expect("a field").to_owned();
    let kept: Vec<_> = first
        .iter()
        .filter(|row| row.contains("philosophers(4),highway 2"))
        .map(|row| (field(row, 6), field(row, 9)))
        .collect();
    assert_eq!(kept, searched);
}

#[test]
fn own_models_are_changed_and_public_ones_preferred() {
    let experiment = r#"
title = "Lights"
runs = 5
flags = "--find 'action green' --strategy bfs"

[[model]]
name = "lights({n})"
use = "lights.mcrl2"
replace = [{ text = "LIMIT", with = "{n}" }]
vary = { n = [3, 6] }
[model.public]
file = "traffic/lights.mcrl2"
replace = [{ text = "LIMIT", with = "{n} + 1" }]

[[strategy]]
name = "bfs"
flags = ""
"#;
    let here = folder(&[("lights.toml", experiment), ("lights.mcrl2", LIGHTS)]);
    let here = here.path();
    let lengths = || -> BTreeSet<String> {
        rows(here, "lights.toml")
            .iter()
            .map(|row| row.split(',').nth(15).expect("a length").to_owned())
            .collect()
    };
    lab(here, &["run", "lights.toml"]).expect(0, &["10 new runs"]);
    assert_eq!(lengths(), ["4", "7"].map(str::to_owned).into());
    lab(here, &["report", "lights.toml", "-o", "out"]).expect(0, &[]);
    assert!(
        std::fs::read_to_string(here.join("out/index.html")).expect("a page").contains("stand-in</span>")
    );

    std::fs::create_dir_all(here.join("examples/traffic")).expect("a folder");
    std::fs::write(here.join("examples/traffic/lights.mcrl2"), LIGHTS).expect("a file");
    lab(here, &["run", "lights.toml", "--models", "examples"]).expect(0, &["10 new runs"]);
    assert_eq!(lengths(), ["5", "8"].map(str::to_owned).into(), "the public ones count");
    lab(here, &["report", "lights.toml", "-o", "out"]).expect(0, &[]);
    assert!(
        !std::fs::read_to_string(here.join("out/index.html")).expect("a page").contains("stand-in</span>")
    );

    // A change that fits twice, or never, is an error.
    for text in [format!("{LIGHTS} % LIMIT"), LIGHTS.replace("LIMIT", "9")] {
        std::fs::write(here.join("lights.mcrl2"), text).expect("a file");
        lab(here, &["run", "lights.toml"]).expect(2, &["must match exactly once", "`LIMIT`"]);
    }
}

#[test]
fn programs_are_compiled_and_executed() {
    let source = "#include <pthread.h>\n#include <turnpike.h>\nstatic pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;\n\
        static int steps;\nstatic void *add(void *p) { pthread_mutex_lock(&a); steps++; pthread_mutex_unlock(&a); return p; }\n\
        int main(int argc, char **argv) { (void)argv; pthread_t t; pthread_create(&t, 0, add, 0);\n\
        pthread_mutex_lock(&a); int early = steps; pthread_mutex_unlock(&a); pthread_join(t, 0);\n\
        tp_assert(early || argc == LEAST); return 0; }\n";
    let experiment = r#"
title = "A program"
runs = 6
flags = "--strategy random --restart --max-executions 200"

[[model]]
name = "wrong"
use = "early.c"
compile = "-DLEAST=1"
arguments = "x"

[[model]]
name = "right"
use = "early.c"
compile = "-DLEAST=2"
arguments = "x"

[[strategy]]
name = "random"
flags = ""

[[draw]]
kind = "table"
measures = ["executions", "length", "rate"]
"#;
    let here = folder(&[("early.toml", experiment), ("early.c", source)]);
    let here = here.path();
    lab(here, &["run", "early.toml"]).expect(0, &["12 new runs"]);
    let rows = rows(here, "early.toml");
    let found = |name: &str| rows.iter().filter(|row| row.contains(name) && row.contains(",true,")).count();
    assert_eq!((found(",wrong,"), found(",right,")), (6, 0));
    lab(here, &["report", "early.toml", "-o", "out"]).expect(0, &[]);
    let page = std::fs::read_to_string(here.join("out/index.html")).expect("a page");
    assert!(
        page.contains("--program ./early")
            && page.contains("--runs 6 -- x")
            && page.contains("compiled from early.c -DLEAST=1")
    );

    std::fs::write(here.join("early.c"), "int main(void) { return nonsense; }").expect("a file");
    lab(here, &["run", "early.toml"]).expect(2, &["cannot compile", "nonsense"]);
}

/// The figures of a cell that looks for what no step has would be a row of zeros.
#[test]
fn labels_that_no_step_of_a_program_has_are_refused() {
    let source = "#include <pthread.h>\npthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *work(void *p) { pthread_mutex_lock(&gate); pthread_mutex_unlock(&gate); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }\n";
    let experiment = "title = \"A label\"\nruns = 1\nflags = \"--strategy bfs\"\n[[model]]\nname = \"gate\"\n\
        use = \"gate.c\"\n[[strategy]]\nname = \"lock\"\nflags = \"--find 'label lock(*, NAME, *)' MORE\"\n";
    let run = |name: &str, more: &str| {
        let text = experiment.replace("NAME", name).replace("MORE", more);
        let here = folder(&[("a.toml", &text), ("gate.c", source)]);
        lab(here.path(), &["run", "a.toml"])
    };
    run("gaet", "").expect(2, &["gate / lock", "cannot be `gaet`", "did you mean `gate`?"]);
    run("gaet", "--allow-unknown").expect(0, &["1 new runs"]);
    run("gate", "").expect(0, &["1 new runs"]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases = [
        (PHILOSOPHERS.replace("runs = 20", "runs = many"), "broken.toml:4:8"),
        (PHILOSOPHERS.replace("title", "titel"), "titel"),
        (
            PHILOSOPHERS.replace("only = [\"philosophers({n})\"]", "only = [\"philosophers\"]"),
            "there is no model `philosophers`",
        ),
        (PHILOSOPHERS.replace("rate = 0.001", "rates = 0.001"), "there is no figure `rates`"),
        (PHILOSOPHERS.replace("--width {width}", "--width {with}"), "{with}"),
        (PHILOSOPHERS.replace("--strategy random", "--strategy randum"), "broken.toml:21:21"),
        (PHILOSOPHERS.replace("builtin:philosophers", "nosuch.mcrl2"), "nosuch.mcrl2"),
        (PHILOSOPHERS.replace("--find deadlock", "--runs 3"), "--runs"),
        (PHILOSOPHERS.replace("--find deadlock", "--threads=3"), "the lab sets"),
        (PHILOSOPHERS.replace("runs = 30", "runs = 0"), "at least one run"),
        (
            PHILOSOPHERS.replace("vary = { width = [2, 3] }", "vary = { width = [2, 3], n = [1] }"),
            "both vary `n`",
        ),
    ];
    for (text, said) in cases {
        let here = folder(&[("broken.toml", &text)]);
        lab(here.path(), &["run", "broken.toml"]).expect(2, &[said]);
    }
    let here = folder(&[("phil.toml", PHILOSOPHERS), ("text.db", "this is no database, but a text")]);
    let here = here.path();
    lab(here, &["run", "nosuch.toml"]).expect(2, &["nosuch.toml"]);
    lab(here, &["run"]).expect(2, &["experiments", "lab new"]);
    lab(here, &["run", "phil.toml", "--scale", "0"]).expect(2, &["--scale"]);
    lab(here, &["run", "phil.toml", "--models", "nosuch"]).expect(2, &["nosuch"]);
    lab(here, &["run", "phil.toml", "--only", "nosuch*"]).expect(2, &["nosuch*", "MODEL / STRATEGY"]);
    lab(here, &["run", "phil.toml", "--only", "higway 3"]).expect(2, &["did you mean `highway 3`?"]);
    lab(here, &["run", "phil.toml", "--database", "text.db"]).expect(2, &["text.db"]);
    lab(here, &["report", "phil.toml"]).expect(2, &["turnpike-lab.db", "lab run"]);
    assert_eq!(
        std::fs::read_to_string(here.join("text.db")).expect("a file"),
        "this is no database, but a text"
    );
}

#[test]
fn a_new_experiment_runs_as_it_is() {
    let here = folder(&[("lights.mcrl2", &LIGHTS.replace("LIMIT", "20"))]);
    let here = here.path();
    let written =
        lab(here, &["new", "lights.mcrl2", "--find", "action green"]).expect(0, &["[[model]]"]).stdout;
    std::fs::write(here.join("mine.toml"), written).expect("a file");
    lab(here, &["run", "mine.toml", "--scale", "0.1"]).expect(0, &["new runs"]);
    lab(here, &["report", "mine.toml"]).expect(0, &["turnpike-report/index.html"]);

    // Objectives may hold quotes, and are read as they were written.
    let quoted = lab(here, &["new", "lights.mcrl2", "--find", "label it's"]).expect(0, &[]).stdout;
    std::fs::write(here.join("quoted.toml"), quoted).expect("a file");
    lab(here, &["run", "quoted.toml", "--only", "* / bfs*"]).expect(2, &["no cell"]);
    lab(here, &["run", "quoted.toml", "--only", "* / rdfs", "--scale", "0.1"])
        .expect(2, &["has no action `it's`"]);
}

/// What `status` prints below each experiment.
fn cell_names(folder: &Path) -> Vec<String> {
    let text = lab(folder, &["status", "--cells"]).expect(0, &[]).stdout;
    let cells = text.lines().filter_map(|line| line.strip_prefix("  "));
    cells.map(|line| line.rsplit_once(": ").expect("a number of runs").0.to_owned()).collect()
}

#[test]
fn results_need_only_the_database() {
    let here = folder(&[("phil.toml", PHILOSOPHERS)]);
    let here = here.path();
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    let before = rows(here, "phil.toml");
    lab(here, &["report", "-o", "first"]).expect(0, &["30 runs of 1 experiment"]);

    // The file is changed, broken, gone; the folder, too.
    let changed = PHILOSOPHERS.replace("--width {width}", "--width 1{width}");
    for text in [Some(changed.as_str()), Some("title = "), None] {
        match text {
            Some(text) => std::fs::write(here.join("phil.toml"), text).expect("written"),
            None => std::fs::remove_file(here.join("phil.toml")).expect("removed"),
        }
        lab(here, &["status", "phil.toml"]).expect(0, &["phil: 30 of 140 runs (21%)"]);
        lab(here, &["status"]).expect(0, &["phil: 30 of 140 runs (21%)"]);
        let report = lab(here, &["report", "phil.toml", "-o", "again"]).expect(0, &["30 runs"]);
        let says = report.stderr.contains("note: phil.toml has changed since its last run");
        assert_eq!(says, text.is_some(), "{}", report.stderr);
        for file in ["index.html", "cells.csv", "phil.csv"] {
            let read = |folder: &str| std::fs::read_to_string(here.join(folder).join(file)).expect("a file");
            assert_eq!(read("again"), read("first"), "{file}");
        }
        assert_eq!(rows(here, "phil.toml"), before);
    }
    let there = folder(&[]);
    std::fs::copy(here.join("turnpike-lab.db"), there.path().join("copy.db")).expect("copied");
    let elsewhere = |arguments: &[&str]| lab(there.path(), &[arguments, &["--database", "copy.db"]].concat());
    let status = elsewhere(&["status", "--format", "json"]).expect(0, &[]).json();
    assert_eq!(status["experiments"][0]["asked"], 140);
    assert_eq!(status["experiments"][0]["cells"].as_array().map(Vec::len), Some(6));
    elsewhere(&["report", "phi*"]).expect(0, &["wrote turnpike-report/phil.csv"]);
    assert_eq!(elsewhere(&["export", "--csv"]).expect(0, &[]).stdout.lines().count(), 31);
    elsewhere(&["report", "phyl"]).expect(2, &["copy.db has no experiment `phyl`", "did you mean `phil`?"]);
    elsewhere(&["report", "phyl.toml"]).expect(2, &["no experiment `phyl`"]);
    elsewhere(&["export"]).expect(2, &["--csv", "--figures"]);
    // What to do next is about the same database.
    std::fs::write(there.path().join("phil.toml"), PHILOSOPHERS).expect("written");
    let run = ["run", "phil.toml", "--scale", "0.1"];
    lab(there.path(), &run).expect(0, &["run `turnpike lab report` to see"]);
    elsewhere(&run).expect(0, &["run `turnpike lab report --database copy.db` to see"]);
}

#[test]
fn old_runs_are_drawn_anew_with_another_file() {
    let here = folder(&[("phil.toml", PHILOSOPHERS)]);
    let here = here.path();
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    std::fs::write(
        here.join("phil.toml"),
        PHILOSOPHERS.replace("title = \"Philosophers\"", "title = \"Forks\""),
    )
    .expect("written");
    let page = |arguments: &[&str]| {
        lab(here, &[&["report", "-o", "out"], arguments].concat()).expect(0, &["30 runs"]);
        std::fs::read_to_string(here.join("out/index.html")).expect("a page")
    };
    assert!(page(&[]).contains("<h2>Philosophers</h2>"));
    assert!(page(&["--redraw", "phil.toml"]).contains("<h2>Forks</h2>"));
    // A run of the changed file, which has all its runs already, makes the change stay.
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["0 new runs"]);
    assert!(page(&[]).contains("<h2>Forks</h2>"));
}

#[test]
fn older_databases_say_what_they_lack() {
    let here = folder(&[("phil.toml", PHILOSOPHERS)]);
    let here = here.path();
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    rusqlite::Connection::open(here.join("turnpike-lab.db"))
        .and_then(|old| old.execute_batch("DROP TABLE experiment; PRAGMA user_version = 1"))
        .expect("an old database");
    lab(here, &["status"]).expect(0, &["phil: 30 runs of an older version, without the experiment"]);
    for command in [&["report"][..], &["export", "--csv"]] {
        lab(here, command).expect(2, &["not the experiment itself", "--redraw phil.toml"]);
    }
    lab(here, &["report", "--redraw", "phil.toml"]).expect(0, &["30 runs of 1 experiment"]);
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["0 new runs"]);
    lab(here, &["report"]).expect(0, &["30 runs of 1 experiment"]);
}

#[test]
fn printed_names_select_what_they_name() {
    let named = PHILOSOPHERS
        .replace("name = \"philosophers({n})\"", "name = \"phil (n={n}) [old] a*b\"")
        .replace("only = [\"philosophers({n})\"]", "")
        .split("[[published]]")
        .next()
        .expect("a part")
        .to_owned();
    let here = folder(&[("odd.toml", &named)]);
    let here = here.path();
    lab(here, &["run", "odd.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    let names = cell_names(here);
    assert_eq!(names.len(), 6);
    assert_eq!(names[0], "phil (n=4) [old] a*b / highway 2");
    for name in &names {
        let (model, strategy) = name.split_once(" / ").expect("two names");
        for (asked, cells) in [(name.as_str(), 1), (model, 3), (strategy, 2)] {
            let only = lab(here, &["status", "--cells", "--only", asked]).expect(0, &[]).stdout;
            assert_eq!(only.lines().count(), 1 + cells, "{asked}: {only}");
            assert!(only.contains(&format!("  {name}: ")), "{asked}: {only}");
            lab(here, &["run", "odd.toml", "--scale", "0.1", "--only", asked]).expect(0, &["0 new runs"]);
        }
    }
    let csv =
        lab(here, &["export", "--csv", "--only", "highway 2", "--only", "random"]).expect(0, &[]).stdout;
    assert_eq!(csv.lines().count(), 1 + 4 * 5);
    lab(here, &["report", "--only", &names[1], "-o", "out"]).expect(0, &["5 runs of 1 experiment"]);
}

#[test]
fn public_models_come_from_several_folders_and_absent_ones_are_skipped() {
    let experiment = r#"
title = "Lights"
runs = 20
flags = "--find 'action green' --strategy bfs"

[[model]]
name = "old"
use = "lights.mcrl2"
public = { file = "old.mcrl2" }

[[model]]
name = "new"
use = "lights.mcrl2"
public = { file = "new.mcrl2" }

[[model]]
name = "absent"
use = "lights.mcrl2"
public = { file = "absent.mcrl2" }

[[model]]
name = "our own"
use = "lights.mcrl2"

[[strategy]]
name = "bfs"
flags = ""
"#;
    let lights = |limit: &str| LIGHTS.replace("LIMIT", limit);
    let here = folder(&[("lights.toml", experiment), ("lights.mcrl2", &lights("2"))]);
    let here = here.path();
    for (file, limit) in [("a/old.mcrl2", "4"), ("b/old.mcrl2", "9"), ("b/new.mcrl2", "6")] {
        std::fs::create_dir_all(here.join(file).parent().expect("a folder")).expect("a folder");
        std::fs::write(here.join(file), lights(limit)).expect("a file");
    }
    let two = ["run", "lights.toml", "--models", "a", "--models", "b", "--scale", "0.05", "--least", "1"];
    let said = ["3 new runs", "lights: skipped absent: no folder of --models has absent.mcrl2"];
    lab(here, &two).expect(0, &said);
    let lengths: Vec<String> = rows(here, "lights.toml")
        .iter()
        .map(|row| {
            format!("{} {}", row.split(',').nth(1).expect("a row"), row.split(',').nth(15).expect("a length"))
        })
        .collect();
    assert_eq!(lengths, ["old 5", "new 7", "our own 3"], "the first folder that has a model counts");
    let json = lab(here, &[&two[..], &["--format", "json"]].concat()).expect(0, &[]).json();
    assert_eq!(json["skipped"][0]["models"][0], "absent");
    lab(here, &["status", "--time"])
        .expect(0, &["3 of 80 runs (4%), 1 cells without runs", "of work", "left"]);
    lab(here, &["run", "lights.toml", "--models", "nowhere"]).expect(2, &["there is no such folder"]);
}

/// The rerun that the study documents: every model is found and read, and every search can begin.
#[test]
fn the_experiments_of_the_study_can_begin() {
    use turnpike_lab::experiment::ExperimentFile;
    use turnpike_lab::{Happening, How, Lab};
    let Some(corpus) = turnpike_corpus::open() else { return };
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let entries =
        std::fs::read_dir(experiments).expect("experiments").map(|entry| entry.expect("a file").path());
    // Programs are compiled, which takes long; `builds.rs` compiles those of ours.
    let files: Vec<ExperimentFile> = entries
        .map(|path| {
            ExperimentFile::read(&path).unwrap_or_else(|problem| panic!("{}: {problem:?}", path.display()))
        })
        .filter(|file| !file.text.contains(".c\""))
        .collect();
    assert!(files.len() > 20, "{} experiments", files.len());
    let models = ["models-2008", "models/mcrl2", "models/timed"].map(|folder| corpus.path(folder)).to_vec();
    let folder = folder(&[]);
    let mut lab = Lab::open(&folder.path().join("lab.db")).expect("a database");
    // Interrupted from the start, the lab checks everything and runs nothing.
    let how = How { models, ..How::default() };
    let mut skipped = Vec::new();
    let interrupted = std::sync::atomic::AtomicBool::new(true);
    let new = lab.run(&files, &how, &interrupted, &mut |happening| {
        if let Happening::Skipped(name, rows) = happening {
            skipped.push((name.to_owned(), rows));
        }
    });
    assert_eq!(new.unwrap_or_else(|problem| panic!("{problem:?}")), 0);
    assert_eq!(skipped, [], "models that no folder has");
}

#[test]
fn objectives_that_cannot_be_met_are_errors_before_any_run() {
    let experiment = r#"
title = "Lights"
runs = 5
flags = "--strategy bfs"

[[model]]
name = "lights"
use = "lights.mcrl2"

[[strategy]]
name = "right"
flags = "--find 'action green'"

[[strategy]]
name = "last"
flags = "--find 'OBJECTIVE'"
"#;
    for (objective, said) in [
        ("action gren", "lights / last: lights.mcrl2 has no action `gren`"),
        ("label gren*", "no label like `gren*`"),
        ("state P.m > 3", "P.m"),
        ("akshun green", "akshun"),
    ] {
        let text = experiment.replace("OBJECTIVE", objective);
        let files =
            [("a.toml", PHILOSOPHERS), ("b.toml", &text), ("lights.mcrl2", &LIGHTS.replace("LIMIT", "3"))];
        let here = folder(&files);
        let ran = lab(here.path(), &["run", "a.toml", "b.toml"]).expect(2, &[said, "b.toml:16:"]);
        assert!(!ran.text().contains("runs"), "nothing ran: {}", ran.text());
        let done = lab(here.path(), &["export", "--csv"]).text();
        assert!(!done.contains("philosophers"), "{objective}: {done}");
    }
    let here = folder(&[
        ("b.toml", &experiment.replace("OBJECTIVE", "action gren")),
        ("lights.mcrl2", &LIGHTS.replace("LIMIT", "3")),
    ]);
    lab(here.path(), &["run", "b.toml"]).expect(2, &["did you mean `green`?"]);
}

#[test]
fn figures_are_exported() {
    let drawn =
        format!("{PHILOSOPHERS}\n[[draw]]\nkind = \"table\"\n\n[[draw]]\nkind = \"success-by-states\"\n");
    let here = folder(&[("phil.toml", &drawn)]);
    let here = here.path();
    lab(here, &["run", "phil.toml", "--scale", "0.1"]).expect(0, &["30 new runs"]);
    let said = lab(here, &["export", "--figures", "pictures"]).expect(0, &[]).stdout;
    let files: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("wrote ")).collect();
    assert_eq!(
        files,
        [
            "pictures/phil-01-table.csv",
            "pictures/phil-02-success-by-states-philosophers-4.svg",
            "pictures/phil-02-success-by-states-philosophers-4.csv",
            "pictures/phil-03-success-by-states-philosophers-5.svg",
            "pictures/phil-03-success-by-states-philosophers-5.csv",
        ]
    );
    let read = |name: &str| std::fs::read_to_string(here.join(name)).expect("a file");
    assert!(read(files[1]).starts_with("<svg xmlns="));
    assert!(read(files[2]).starts_with("line,kind,states,successful runs\nhighway 2,point,"));
    assert!(read(files[0]).contains("states,states_published,original_length,"));
    let json = lab(here, &["export", "--figures", "pictures", "--format", "json"]).expect(0, &[]).json();
    assert_eq!(json["files"].as_array().map(Vec::len), Some(5));
}

#[test]
fn wrong_formulas_and_conditions_are_found_in_the_experiment() {
    for (flags, said) in [
        (r"--formula '[true*.delver(1)]false'", "unknown action delver in `[true*.delver(1)]false`"),
        (r"--find 'state Sendr == 1'", "unknown variable, constant or function Sendr in `Sendr == 1`"),
    ] {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/abp.mcrl2");
        let text = format!(
            "title = \"t\"\nruns = 2\nflags = \"{flags}\"\n[[model]]\nname = \"m\"\nuse = \"{model}\"\n[[strategy]]\nname = \"bfs\"\nflags = \"--strategy bfs\"\n"
        );
        let here = folder(&[("wrong.toml", &text)]);
        lab(here.path(), &["run", "wrong.toml"]).expect(2, &[said, "wrong.toml:3:", "did you mean"]);
    }
}
