use super::*;
use crate::experiment::Experiment;
use crate::runner::key;
use crate::store::{Record, Store};

const FILE: &str = r#"
title = "Two <strategies>"
paper = "A paper, table 1"
runs = 4
flags = "--find 'action error' --max-states 100"

[[model]]
name = "m"
use = "m.mcrl2"
public = { file = "public/m.mcrl2" }

[[strategy]]
name = "highway {width}"
flags = "--strategy highway --width {width}"
vary = { width = [1, 2] }

[[published]]
strategy = "highway 1"
states = 30
length = 5
rate = 0.1

[[draw]]
kind = "table"

[[draw]]
kind = "success-by-states"

[[draw]]
kind = "survival"

[[draw]]
kind = "rate-by-parameter"
parameter = "width"
"#;

fn results() -> Results {
    let experiment = Experiment::parse(FILE).expect("an experiment");
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a database");
    for cell in experiment.cells(false) {
        let id = store.cell(&key("two", "1", &cell, 7)).expect("a cell");
        for number in 0..4u64 {
            let found = number > 0;
            let record = Record {
                number,
                seed: number,
                found,
                states: number * 10,
                length: found.then_some(5),
                original_length: found.then_some(8),
                stop: "found".into(),
                ..Record::default()
            };
            store.add(id, &record).expect("a run");
        }
    }
    store.commit().expect("committed");
    Results::gather("two", experiment, &store).expect("results")
}

/// Two published columns, the first of which a third one explains.
const SWITCH: &str = r#"
title = "a switch"
runs = 40
[[model]]
name = "m"
use = "m.mcrl2"
[[strategy]]
name = "ours"
flags = "--strategy rdfs"
[[strategy]]
name = "theirs"
flags = "--strategy rdfs --seen considered"
explains = "ours"
[[strategy]]
name = "other"
flags = "--strategy random"
[[published]]
strategy = "ours"
states = 100
rate = 1.0
[[published]]
strategy = "other"
states = 100
explained = { states = "another machine" }
"#;

/// Published cells beside runs that all take `states[column]` states, give or take one: `runs[column]` of them.
fn standings_in(file: &str, states: [u64; 3], runs: [u64; 3]) -> Vec<(String, &'static str, String)> {
    let experiment = Experiment::parse(file).expect("an experiment");
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a database");
    for ((cell, states), runs) in experiment.cells(false).iter().zip(states).zip(runs) {
        let id = store.cell(&key("two", "1", cell, 7)).expect("a cell");
        for number in 0..runs {
            let states = states + number % 3;
            let record = Record { number, found: true, states, stop: "found".into(), ..Record::default() };
            store.add(id, &record).expect("a run");
        }
    }
    store.commit().expect("committed");
    let results = [Results::gather("two", experiment, &store).expect("results")];
    let found = published::comparisons(&results);
    found.into_iter().map(|one| (one.strategy, one.standing.word(), one.explained_by)).collect()
}

fn standings(states: [u64; 3]) -> Vec<(String, &'static str, String)> {
    standings_in(SWITCH, states, [40; 3])
}

#[test]
fn published_cells_are_equal_explained_or_open() {
    let row = |strategy: &str, standing, by: &str| (strategy.to_owned(), standing, by.to_owned());
    let switched = standings([200, 101, 99]);
    let with = "theirs (40 runs: rate 1 beside 1 (equal); states 102 beside 100 (equal))";
    assert_eq!(switched, [row("ours", "explained by a switch", with), row("other", "equal", "")]);
    let otherwise = standings([200, 300, 400]);
    assert_eq!(
        otherwise,
        [row("ours", "open", ""), row("other", "explained otherwise", "states: another machine")]
    );
    // Equal figures need no switch.
    assert_eq!(standings([100, 300, 100])[0], row("ours", "equal", ""));
}

#[test]
fn few_runs_of_a_switch_explain_nothing() {
    for (runs, standing) in [(0, "open"), (5, "open"), (9, "open"), (40, "explained by a switch")] {
        assert_eq!(standings_in(SWITCH, [200, 100, 100], [40, runs, 40])[0].1, standing, "{runs} runs");
    }
}

#[test]
fn a_reason_explains_only_the_figure_it_names() {
    // Our rate is 1, and so differs as well.
    let rate = SWITCH.replace("states = 100\nexplained", "states = 100\nrate = 0.27\nexplained");
    assert_ne!(rate, SWITCH);
    assert_eq!(standings_in(&rate, [100, 100, 400], [40; 3])[1].1, "open");
    let both = rate.replace("{ states =", "{ rate = \"a count\", states =");
    let said = standings_in(&both, [100, 100, 400], [40; 3]).remove(1);
    assert_eq!((said.1, said.2.as_str()), ("explained otherwise", "rate: a count; states: another machine"));
    // Read as 27 of 27, the rate is the same: the states need their own reason all the same.
    let count = rate.replace("rate = 0.27", "rate = 0.27\nsuccesses = 27\ntrials = 27");
    assert_eq!(standings_in(&count, [100, 100, 400], [40; 3])[1].2, "states: another machine");
    assert_eq!(standings_in(&count, [100, 100, 100], [400; 3])[1].1, "equal");
}

#[test]
fn figures_of_models_of_our_own_compare_in_kind_only() {
    let own = SWITCH.replace("use = \"m.mcrl2\"", "use = \"m.mcrl2\"\nin_kind = true");
    for states in [[200, 100, 100], [100, 300, 100], [400, 400, 400]] {
        let words: Vec<_> = standings_in(&own, states, [40; 3]).iter().map(|one| one.1).collect();
        assert_eq!(words, ["another model"; 2], "{states:?}");
    }
}

#[test]
fn cells_are_condensed() {
    let results = results();
    let cell = results.cell("m", "highway 1").expect("a cell");
    assert_eq!(cell.measure("states").mean(), Some(20.0));
    assert_eq!(cell.rate().rate(), Some(0.75));
    assert_eq!(cell.cost_per_success(), Some(20.0));
    assert_eq!(
        cell.command(),
        "turnpike search m.mcrl2 --find 'action error' --max-states 100 --strategy highway --width 1 --seed 0 --runs 4"
    );
}

#[test]
fn the_page_holds_what_the_database_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = write(&[results()], "1.2.3", folder.path()).expect("a report");
    let html = std::fs::read_to_string(&written[0]).expect("a page");
    assert!(
        html.contains("Two &#60;strategies&#62;") || html.contains("Two &lt;strategies&gt;"),
        "not escaped"
    );
    assert!(html.contains("20 / 8 / 5 / 75"), "our figures");
    assert!(html.contains("30 / · / 5 / 10"), "the paper's figures");
    assert_eq!(html.matches("class=\"deviates\"").count(), 1, "30 is further from 20 than the noise");
    let legend =
        "length of the witness as found (mean) / length of the reported witness, after shortening (mean)";
    assert!(html.contains(legend), "both lengths, told apart");
    assert!(html.contains("stand-in"));
    assert_eq!(html.matches("<svg").count(), 3);
    assert!(html.contains("4 runs each; max-states 100"));
    assert!(!html.contains("http://") && !html.contains("https://"), "the page needs no network");
    let csv = std::fs::read_to_string(&written[2]).expect("numbers");
    assert_eq!(csv.lines().count(), 1 + 8);
    let cells = std::fs::read_to_string(&written[1]).expect("cells");
    let lines: Vec<Vec<&str>> = cells.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 2);
    let value = |name: &str| lines[1][lines[0].iter().position(|head| *head == name).expect(name)];
    assert_eq!(
        [value("runs"), value("budget"), value("rate"), value("rate_published")],
        ["4", "max-states 100", "0.75", "0.1"]
    );
    assert_eq!([value("original_length_median"), value("length_median")], ["8", "5"]);
    assert_eq!([value("states"), value("states_published"), value("depth_published")], ["20", "30", ""]);
    assert!(csv.contains("two,m,highway 2,m.mcrl2,true,3,3,true,found,30,,,,0,0,5,8,0,,0\n"), "{csv}");
}

#[test]
fn auto_is_compared_with_the_cheapest() {
    let file = FILE
        .replace("highway {width}", "{name}")
        .replace("--strategy highway --width {width}", "--strategy {name}")
        .replace(
            "vary = { width = [1, 2] }",
            "vary = { name = [\"auto\", \"dear\", \"cheap\", \"hopeless\"] }",
        );
    let file = file.split("[[published]]").next().expect("a part");
    let experiment = Experiment::parse(file).expect("an experiment");
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a database");
    // States of a run, those of shortening, how many of four runs succeed: 4 * 30 / 2, 4 * 100 / 4, 4 * 20 / 4.
    for (cell, (states, shorten, successes)) in
        experiment.cells(false).iter().zip([(20, 10, 2), (100, 0, 4), (20, 0, 4), (1, 0, 0)])
    {
        let id = store.cell(&key("two", "1", cell, 7)).expect("a cell");
        for number in 0..4u64 {
            let found = number < successes;
            let record = Record {
                number,
                found,
                states,
                shorten_states: shorten,
                length: found.then_some(3),
                ..Record::default()
            };
            store.add(id, &record).expect("a run");
        }
    }
    store.commit().expect("committed");
    let results = Results::gather("two", experiment, &store).expect("results");
    let results = [results];
    let comparisons = portfolio::comparisons(&results);
    assert!(portfolio::failures(&results).is_empty());
    assert_eq!(comparisons.len(), 1);
    assert_eq!((comparisons[0].best.as_str(), comparisons[0].costs), ("cheap", (60.0, 20.0)));
    let sentence = portfolio::sentence(&comparisons, &["q".to_owned()]).expect("a sentence");
    assert!(
        sentence.contains("costs 3.00 times")
            && sentence.contains("longer on 0 of them")
            && sentence.contains("never succeeded on q"),
        "{sentence}"
    );
    assert_eq!(portfolio::sentence(&[], &[]), None);
}

#[test]
fn proofs_are_successes_where_they_are_asked_for() {
    let file = FILE
        .split("[[published]]")
        .next()
        .expect("a part")
        .replace("runs = 4", "runs = 4\nsuccess = \"proof\"");
    let experiment = Experiment::parse(&file).expect("an experiment");
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a database");
    let id = store.cell(&key("two", "1", &experiment.cells(false)[0], 7)).expect("a cell");
    for (number, (found, stop)) in
        [(false, "exhausted"), (false, "max-states"), (true, "found")].into_iter().enumerate()
    {
        let record =
            Record { number: number as u64, found, stop: stop.into(), states: 5, ..Record::default() };
        store.add(id, &record).expect("a run");
    }
    store.commit().expect("committed");
    let results = Results::gather("two", experiment, &store).expect("results");
    let cell = results.cell("m", "highway 1").expect("a cell");
    assert_eq!(cell.runs.iter().map(|run| run.found).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(cell.cost_per_success(), Some(15.0));
}

#[test]
fn figures_are_written_as_pictures_and_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("pictures");
    let written = write_figures(&[results()], &folder).expect("figures");
    let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(
        names,
        [
            "two-01-table.csv",
            "two-02-success-by-states-m.svg",
            "two-02-success-by-states-m.csv",
            "two-03-survival-m.svg",
            "two-03-survival-m.csv",
            "two-04-rate-by-parameter.svg",
            "two-04-rate-by-parameter.csv",
        ]
    );
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    for name in names.iter().filter(|name| name.ends_with(".svg")) {
        let text = read(name);
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let root = document.root_element();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"), "a file of its own");
        let texts: Vec<_> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        for said in ["highway", "4 runs each; max-states 100; on a stand-in for the paper's model"] {
            assert!(texts.iter().any(|text| text.contains(said)), "{said}: {text}");
        }
        // Every class that is drawn with a colour has one.
        for colour in ["c0", "c1"].iter().filter(|colour| text.contains(&format!("line {colour}"))) {
            assert!(text.contains(&format!(".line.{colour}, .mark.{colour} {{ stroke: #")), "{text}");
        }
    }
    assert_eq!(
        read("two-01-table.csv").lines().next(),
        Some(
            "model,strategy,stand_in,runs,states,states_published,original_length,original_length_published,\
             length,length_published,rate,rate_published"
        )
    );
    assert!(read("two-01-table.csv").contains("\nm,highway 1,true,4,20,30,8,,5,5,0.75,0.1\n"));
    assert_eq!(
        read("two-02-success-by-states-m.csv").lines().take(4).collect::<Vec<_>>(),
        [
            "line,kind,states,successful runs",
            "highway 1,point,10,0.25",
            "highway 1,point,20,0.5",
            "highway 1,point,30,0.75",
        ]
    );
    let rates = read("two-04-rate-by-parameter.csv");
    assert!(rates.starts_with("line,kind,width,successful runs\n"), "{rates}");
    assert!(rates.contains(",point,1,0.75\n") && rates.contains(",published,1,0.1\n"), "{rates}");
}

#[test]
fn pictures_have_the_colours_of_the_page() {
    let page = include_str!("../../templates/report.html");
    for (index, colour) in pictures::COLOURS.iter().enumerate() {
        assert!(page.contains(&format!("--c{index}: {colour};")), "colour {index}");
    }
}

#[test]
fn lengths_as_found_can_be_drawn() {
    let drawn = |measure: &str| {
        let more = format!("\n[[draw]]\nkind = \"success-by-length\"\n{measure}");
        let experiment = Experiment::parse(&format!("{FILE}{more}")).expect("an experiment");
        let drawing = experiment.drawings.last().expect("a drawing").clone();
        let figure = drawing::figures(&results(), &drawing).remove(0);
        (figure.chart.x_label, figure.chart.series[0].points[0].0)
    };
    assert_eq!(drawn(""), ("length of the reported witness".to_owned(), 5.0));
    assert_eq!(drawn("measure = \"original_length\""), ("length of the witness as found".to_owned(), 8.0));
}
