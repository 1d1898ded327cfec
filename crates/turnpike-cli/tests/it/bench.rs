//! `bench`: everything runs at small sizes, and the table is whole.

use crate::common::turnpike;

#[test]
fn the_quick_table_is_whole() {
    let report = turnpike(&["bench", "engine", "--quick", "--format", "json"]).expect(0, &[]).json();
    assert_eq!(report["suite"], "engine");
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    for name in [
        "hand-written, counting",
        "generate",
        "generate --store tree",
        "highway --width 100000",
        "bfs, 1 thread",
        "bfs, 2 threads",
        "write .aut",
        "read .aut",
        "reduce, strong",
    ] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    for row in rows {
        assert!(row["transitions"].as_u64() > Some(0), "{row}");
        assert!(row["seconds"].as_f64() >= Some(0.0), "{row}");
        let targets = row["targets"].as_array().expect("targets");
        assert!(targets.iter().all(|target| target["met"].is_null()), "small sizes are not judged: {row}");
    }
}

#[test]
fn the_table_is_for_people() {
    turnpike(&["bench", "--quick"]).expect(0, &["Mtrans/s", "hand-written", "times the rate of generate"]);
    turnpike(&["bench", "nosuch"]).expect(2, &["nosuch", "engine"]);
    turnpike(&["bench", "--repeat", "0"]).expect(2, &["at least 1"]);
}

#[test]
fn timed_automata_are_measured() {
    let report = turnpike(&["bench", "timed", "--quick", "--format", "json"]).expect(0, &[]).json();
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!((&rows[0]["model"], &rows[0]["transitions"]), (&"fischer(4)".into(), &552.into()));
    assert!(rows[0]["peak_bytes"].as_u64() > Some(1 << 20), "{}", rows[0]);
    assert_eq!(rows[1]["model"], "5 clocks");
    turnpike(&["bench", "timed", "--quick"]).expect(0, &["fischer(4)", "cost of a zone successor"]);
    turnpike(&["bench", "timed", "--oracle", "x"]).expect(2, &["--models"]);
    turnpike(&["bench", "formula", "--quick"]).expect(0, &["in-order", "abp"]);
}

#[test]
fn programs_are_measured() {
    let report = turnpike(&["bench", "program", "--quick", "--format", "json"]).expect(0, &[]).json();
    let rows = report["rows"].as_array().expect("rows");
    assert!(rows.len() >= 16, "{report}");
    for row in rows {
        assert!(row["states"].as_u64() > Some(0) && row["transitions"].as_u64() > Some(0), "{row}");
    }
    assert_eq!(rows[0]["name"], "Rust, random");
}

#[test]
fn the_lab_is_measured() {
    let report = turnpike(&["bench", "lab", "--quick", "--format", "json"]).expect(0, &[]).json();
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[1]["states"].as_u64(), rows[2]["states"].as_u64()), (Some(5), Some(1000)));
}

#[test]
fn workers_are_measured() {
    let report = turnpike(&["bench", "scale", "--quick", "--format", "json"]).expect(0, &[]).json();
    let rows = report["rows"].as_array().expect("rows");
    for model in ["philosophers(8)", "two-phase-commit(4)", "lift(2)", "linklayer(2)", "fischer(3)"] {
        let of_model: Vec<_> = rows.iter().filter(|row| row["model"] == model).take(3).collect();
        let names: Vec<&str> = of_model.iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names, ["1 thread", "2 threads", "2 processes"], "{model}");
        for row in &of_model {
            assert_eq!(row["transitions"], of_model[0]["transitions"], "{row}");
            assert!(row["peak_bytes"].as_u64() > Some(1 << 20), "{row}");
        }
        let sent = of_model[2]["targets"][0]["promise"].as_str().expect("what was sent");
        assert!(sent.ends_with("bytes sent a transition"), "{sent}");
        let promised =
            |row: usize| of_model[row]["targets"].as_array().and_then(|all| all.last()?["promise"].as_str());
        assert!(promised(1).is_some_and(|text| text.contains("times the rate of 1 thread")), "{model}");
        assert!(promised(2).is_some_and(|text| text.starts_with("1.4 times the rate")), "{model}");
    }
    let last = |name: &str| rows.iter().rfind(|row| row["name"] == name).expect(name)["targets"].to_string();
    assert!(last("highway --width 100000").contains("0.5 times the rate of 1 thread"));
    assert!(last("4 processes").contains("memory of a process at most 0.35"));
}
