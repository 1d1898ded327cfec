use super::*;

fn key(strategy: &str) -> CellKey {
    CellKey {
        experiment: "philosophers".into(),
        model: "philosophers(17)".into(),
        strategy: strategy.into(),
        flags: "--find deadlock".into(),
        content: u64::MAX,
        source: "builtin:philosophers(n=17)".into(),
        stand_in: false,
        version: "0.1.0".into(),
    }
}

fn record(number: u64) -> Record {
    Record {
        number,
        seed: u64::MAX - number,
        found: number.is_multiple_of(2),
        stop: "found".into(),
        states: 17,
        length: Some(5),
        seconds: 0.25,
        extra: Some("{}".into()),
        ..Record::default()
    }
}

#[test]
fn what_was_committed_is_there_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a new database");
    let cell = store.cell(&key("random")).expect("a cell");
    for number in [3, 1, 20] {
        store.add(cell, &record(number)).expect("a run");
    }
    store.commit().expect("committed");
    // Not committed when the process dies: what its files hold then is what the next lab finds.
    store.add(cell, &record(99)).expect("a run");
    for suffix in ["", "-wal"] {
        let file = |name: &str| folder.path().join(format!("{name}.db{suffix}"));
        std::fs::copy(file("results"), file("left")).expect("copied");
    }
    let mut store = Store::open(&folder.path().join("left.db")).expect("the same database");
    let cell = store.cell(&key("random")).expect("the same cell");
    assert_eq!(store.numbers(cell).expect("numbers"), [1, 3, 20]);
    assert_eq!(store.runs(cell).expect("runs"), [record(1), record(3), record(20)]);
    assert_eq!(store.cells("philosophers").expect("cells"), [(cell, key("random"))]);
    assert_eq!(store.experiments().expect("experiments"), [("philosophers".to_owned(), 3)]);
}

#[test]
fn cells_differ_by_everything_that_matters() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a new database");
    let first = store.cell(&key("random")).expect("a cell");
    let changed = [
        CellKey { content: 1, ..key("random") },
        CellKey { flags: "--find livelock".into(), ..key("random") },
        CellKey { version: "0.2.0".into(), ..key("random") },
        key("rdfs"),
    ];
    for other in changed {
        assert_ne!(store.cell(&other).expect("a cell"), first, "{other:?}");
    }
    assert_eq!(store.cell(&key("random")).expect("a cell"), first);
}

#[test]
fn a_run_is_kept_as_it_was_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("results.db")).expect("a new database");
    let cell = store.cell(&key("random")).expect("a cell");
    store.add(cell, &record(1)).expect("a run");
    store.add(cell, &Record { states: 99, ..record(1) }).expect("the same run again");
    store.commit().expect("committed");
    assert_eq!(store.runs(cell).expect("runs"), [record(1)]);
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "These are notes, long enough not to be taken for an empty database. ".repeat(40))
        .expect("written");
    let message = |path: &Path| Store::open(path).map(|_| ()).expect_err("refused").message;
    assert!(message(&text).contains("notes.txt"), "{}", message(&text));

    let other = folder.path().join("other.db");
    Connection::open(&other)
        .and_then(|other| other.execute_batch("CREATE TABLE a (b)"))
        .expect("another database");
    assert!(message(&other).contains("not one of results"));

    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer).expect("ours"));
    Connection::open(&newer).and_then(|newer| newer.pragma_update(None, "user_version", 9)).expect("changed");
    assert!(message(&newer).contains("schema 9"));
}

#[test]
fn experiments_are_kept_as_they_were_run_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.db");
    let mut store = Store::open(&path).expect("a new database");
    store.keep_experiment("b", "title = 'one'").expect("kept");
    store.keep_experiment("b", "title = 'two'").expect("kept again");
    store.keep_experiment("a", "").expect("kept");
    drop(store);
    let store = Store::open(&path).expect("the same database");
    assert_eq!(store.experiment("b").expect("a text").as_deref(), Some("title = 'two'"));
    assert_eq!(store.experiment("c").expect("none"), None);
    assert_eq!(store.experiments().expect("names"), [("a".to_owned(), 0), ("b".to_owned(), 0)]);
}

#[test]
fn older_databases_are_brought_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.db");
    let mut store = Store::open(&path).expect("a new database");
    let cell = store.cell(&key("random")).expect("a cell");
    store.add(cell, &record(1)).expect("a run");
    drop(store);
    // What schema 1 did not have.
    Connection::open(&path)
        .and_then(|old| old.execute_batch("DROP TABLE experiment; PRAGMA user_version = 1"))
        .expect("an old database");
    let mut store = Store::open(&path).expect("the same database, newer");
    assert_eq!(store.runs(cell).expect("runs"), [record(1)]);
    assert_eq!(store.experiment("philosophers").expect("unknown"), None);
    assert_eq!(store.experiments().expect("experiments"), [("philosophers".to_owned(), 1)]);
    store.keep_experiment("philosophers", "text").expect("kept");
    drop(store);
    let store = Store::open(&path).expect("the same database again");
    assert_eq!(store.experiment("philosophers").expect("a text").as_deref(), Some("text"));
}
